/* SPDX-License-Identifier: MIT */
/* Counts a user's command with every live event of a scan: as many at a time as there are
 * counters. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "base/signal_name.h"
#include "exact/exact.h"
#include "launch/output_hash.h"
#include "scan/scan.h"
#include "stat/stat.h"

enum { BATCH_MOST = 16 };

struct memory {
	struct sink sink;
	bool counted[BATCH_MOST + EXACT_CLASSES];
	uint64_t count[BATCH_MOST + EXACT_CLASSES];
	int never_began; /* the signal that ended the command before its first instruction */
};

static int keep(struct sink *self, const struct fact *f, struct tare_error *err)
{
	struct memory *m = (struct memory *)self;

	(void)err;
	if (f->kind == FACT_READING && f->reading.event < BATCH_MOST + EXACT_CLASSES) {
		m->counted[f->reading.event] = f->reading.value.quality == TARE_COUNTED ||
			f->reading.value.quality == TARE_EXACT;
		m->count[f->reading.event] = f->reading.value.raw;
	}
	if (f->kind == FACT_RUN_END && f->end.never_began)
		m->never_began = WTERMSIG(f->end.wait_status);
	return 0;
}

/* One run with its output hidden. Returns 0, a signal that stopped tare, or -errno. */
static int run_once(struct memory *m, const struct encoding_list *list,
		    const struct launcher *launcher, char *const argv[], struct tare_error *err)
{
	const struct stat_plan plan = { .events = list,
					.argv = argv,
					.launcher = launcher,
					.target = { .inherit = true },
					.runs = 1 };
	struct stat_outcome outcome = { 0 };
	struct output_hash hidden;
	char by[SIGNAL_NAME_ROOM];
	int ret = output_hash_begin(&hidden, err);

	if (ret < 0)
		return ret;
	*m = (struct memory){ .sink.put = keep };
	ret = stat_run(&plan, &m->sink, &outcome, err);
	output_hash_end(&hidden);
	if (ret == 0 && m->never_began && !outcome.by_signal)
		ret = tare_fail(err, ENODATA,
				"the command was ended by %s before its first instruction",
				signal_name(m->never_began, by));
	return ret < 0 ? ret : outcome.by_signal;
}

static int count_batch(struct scan *s, struct encoding *enc, const size_t *at, size_t n,
		       char *const argv[], struct tare_error *err)
{
	const struct encoding_list list = { .enc = enc, .n = n, .groups = (unsigned)n };
	struct memory m;
	int ret = run_once(&m, &list, &launch_plain, argv, err);

	for (size_t i = 0; ret == 0 && i < n; i++) {
		s->event[at[i]].has_command = m.counted[i];
		s->event[at[i]].command = m.count[i];
	}
	return ret;
}

/* FNV-1a over the words and their ends. */
static uint64_t hash_of(char *const argv[])
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (; *argv; argv++)
		for (const char *p = *argv;; p++) {
			h = (h ^ (unsigned char)*p) * 0x100000001b3ull;
			if (!*p)
				break;
		}
	return h ? h : 1;
}

int scan_command(struct scan *s, const struct scan_plan *p, char *const argv[],
		 struct tare_error *err)
{
	size_t most = p->counters < BATCH_MOST ? p->counters : BATCH_MOST, at[BATCH_MOST], n = 0,
	       done = 0;
	struct encoding enc[BATCH_MOST];
	int ret = 0;

	for (size_t i = 0; s->command != hash_of(argv) && i < s->n; i++)
		s->event[i].has_command = false;
	s->command = hash_of(argv);
	for (size_t i = 0; ret == 0 && i < s->n; i++) {
		const struct scan_event *e = &s->event[i];

		if (e->state == SCAN_LIVE && __builtin_popcount(e->umask) <= 1 && !e->has_command) {
			enc[n] = scan_encoding(p, s->pmu, e->select, e->umask);
			enc[n].event = enc[n].group = (unsigned)n;
			at[n++] = i;
		}
		if (n && (n >= (most ? most : 1) || i + 1 == s->n)) {
			ret = count_batch(s, enc, at, n, argv, err);
			n = 0;
			done = i + 1;
			if (ret == 0 && p->progress)
				ret = p->progress(p->with, 3, done, s->n);
		}
	}
	return ret;
}

int scan_command_classes(uint64_t out[EXACT_CLASSES], char *const argv[], struct tare_error *err)
{
	const struct encode_options how = { .keep_unavailable = true };
	struct machine *machine = machine_open(NULL, err);
	struct event_list events = { 0 };
	struct encoding_list list = { 0 };
	struct text names = { 0 };
	struct memory m;
	int ret = machine ? exact_probe(err) : -1;

	for (int c = 0; c < EXACT_CLASSES; c++)
		text_add(&names, "%sexact/%s/", c ? "," : "", exact_class_names[c]);
	if (ret == 0)
		ret = event_list_parse(names.s, &events, err);
	if (ret == 0)
		ret = pmu_encode(machine, &events, &how, &list, err);
	if (ret == 0)
		ret = run_once(&m, &list, &launch_exact, argv, err);
	for (int c = 0; ret == 0 && c < EXACT_CLASSES; c++) {
		if (!m.counted[c])
			ret = tare_fail(err, ENODATA,
					"the exact engine did not count all of the command");
		out[c] = m.count[c];
	}
	text_free(&names);
	encoding_list_free(&list);
	event_list_free(&events);
	machine_close(machine);
	return ret;
}
