/* SPDX-License-Identifier: MIT */
/*
 * A source whose answers a test writes: which events open where, and what each reading says. For
 * machines that are not at hand, and for kernels that refuse.
 */
#ifndef TESTS_SCRIPTED_H
#define TESTS_SCRIPTED_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "source/source.h"

struct scripted_call {
	const struct encoding *enc;
	struct target on;
	size_t in_group, of_group; /* its place in the group, and the group's size */
	unsigned reads;            /* how often it was read before */
	bool on_now;               /* started and not stopped, or to start at exec */
};

/* A test sets these. open: 0 or a negative errno. read: fills the reading; 0 or a negative errno.
 */
static int (*scripted_open)(const struct scripted_call *call, struct tare_error *err);
static int (*scripted_read)(const struct scripted_call *call, struct tare_reading *out);

/* What happened, as lines of text for a test to compare. */
static char scripted_log[16384];
static unsigned scripted_open_now;

__attribute__((format(printf, 1, 2), unused)) static void scripted_say(const char *fmt, ...)
{
	size_t n = strlen(scripted_log);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(scripted_log + n, sizeof(scripted_log) - n, fmt, ap);
	va_end(ap);
}

struct scripted_group {
	const struct source *source;
	struct target on;
	size_t n;
	unsigned reads;
	bool on_now;
	struct encoding enc[16];
};

static const struct source source_scripted;

static int scripted_do_open(struct counters **out, const struct encoding *const *enc, size_t n,
			    const struct target *on, size_t *failed, struct tare_error *err)
{
	struct scripted_group *g = calloc(1, sizeof(*g));

	*g = (struct scripted_group){
		.source = &source_scripted, .on = *on, .n = n, .on_now = on->enable_on_exec
	};
	for (size_t i = 0; i < n; i++) {
		struct scripted_call call = { enc[i], *on, i, n, 0, false };
		int ret = scripted_open ? scripted_open(&call, err) : 0;

		if (ret < 0) {
			if (failed)
				*failed = i;
			if (err && !err->code)
				tare_fail(err, -ret, "the script refuses %s", enc[i]->name);
			free(g);
			return ret;
		}
		g->enc[i] = *enc[i];
	}
	scripted_open_now++;
	*out = (struct counters *)g;
	return 0;
}

static int scripted_start(struct counters *c, struct tare_error *err)
{
	(void)err;
	((struct scripted_group *)c)->on_now = true;
	scripted_say("start %s\n", ((struct scripted_group *)c)->enc[0].name);
	return 0;
}

static int scripted_stop(struct counters *c, struct tare_error *err)
{
	(void)err;
	((struct scripted_group *)c)->on_now = false;
	scripted_say("stop %s\n", ((struct scripted_group *)c)->enc[0].name);
	return 0;
}

static int scripted_do_read(struct counters *c, struct tare_reading *out, struct tare_error *err)
{
	struct scripted_group *g = (struct scripted_group *)c;

	for (size_t i = 0; i < g->n; i++) {
		struct scripted_call call = { &g->enc[i], g->on, i, g->n, g->reads, g->on_now };

		out[i] = (struct tare_reading){ 100 * (g->reads + 1), 1000, 1000, TARE_COUNTED };

		int ret = scripted_read ? scripted_read(&call, &out[i]) : 0;

		if (ret < 0)
			return tare_fail(err, -ret, "the script does not read %s", g->enc[i].name);
	}
	g->reads++;
	return 0;
}

static void scripted_close(struct counters *c)
{
	scripted_open_now -= c != NULL;
	free(c);
}

static const struct source source_scripted = {
	.name = "scripted",
	.open = scripted_do_open,
	.start = scripted_start,
	.stop = scripted_stop,
	.read = scripted_do_read,
	.close = scripted_close,
};

#endif
