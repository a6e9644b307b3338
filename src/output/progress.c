/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/text.h"
#include "output/progress.h"

#define STEP_NS        UINT64_C(100000000)
#define STEP_SHARED_NS UINT64_C(1000000000)

void progress_begin(struct progress *p, const char *name, bool shared)
{
	*p = (struct progress){ .name = isatty(STDERR_FILENO) ? name : NULL,
				.shared = shared && isatty(STDOUT_FILENO) };
}

static void put_left(struct text *line, double seconds)
{
	unsigned long s = (unsigned long)(seconds + 0.5);

	if (s >= 3600)
		text_add(line, ", about %lu h %lu min left", s / 3600, s % 3600 / 60);
	else if (s >= 60)
		text_add(line, ", about %lu min %lu s left", s / 60, s % 60);
	else
		text_add(line, ", about %lu s left", s);
}

void progress_show(struct progress *p, double part, const char *fmt, ...)
{
	uint64_t now = clock_now_ns();
	struct text line = { 0 };
	char words[160];
	va_list args;

	if (!p->name || (p->shown && now - p->last_ns < (p->shared ? STEP_SHARED_NS : STEP_NS)))
		return;
	va_start(args, fmt);
	vsnprintf(words, sizeof(words), fmt, args);
	va_end(args);
	text_add(&line, "%stare %s: %s", p->shared ? "" : "\r", p->name, words);
	if (!p->shown) {
		p->begun_ns = now;
		p->begun = part;
	} else if (part > p->begun && part <= 1) {
		put_left(&line, (double)(now - p->begun_ns) / 1e9 * (1 - part) / (part - p->begun));
	}
	text_add(&line, "%s", p->shared ? "\n" : "\033[K");
	if (!line.failed)
		fputs(line.s, stderr);
	text_free(&line);
	p->shown = true;
	p->last_ns = now;
}

void progress_end(struct progress *p)
{
	if (p->name && p->shown && !p->shared)
		fputs("\r\033[K", stderr);
	p->name = NULL;
}
