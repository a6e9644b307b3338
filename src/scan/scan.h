/* SPDX-License-Identifier: MIT */
/*
 * A sweep over event selectors: each counts the same pieces of work of known size, in batches of as many as there are counters, and
 * what it said of each is kept. src/scan/finding.h makes sense of it. Nothing is written but event selects, and those by the kernel.
 */
#ifndef SCAN_SCAN_H
#define SCAN_SCAN_H

#include "exact/classes.h"
#include "pmu/format.h"
#include "verify/workshop.h"

/* Each kind of work at two lengths, and the loop at one more, long enough for interrupts to come. */
enum { SCAN_ROWS_MOST = 2 * (KERNELS_MOST + 1) + 1, SCAN_ROUNDS = 5, SCAN_SAMPLES_MOST = SCAN_ROWS_MOST * SCAN_ROUNDS };

struct scan_row {
	unsigned kind;
	uint64_t turns;
};

/* The rows on this machine; those that need a second CPU are left out where there is none. */
size_t scan_rows(struct workshop *w, struct scan_row out[SCAN_ROWS_MOST]);

enum scan_state {
	SCAN_DEAD,	/* 0, whatever was done */
	SCAN_LIVE,	/* it has samples */
	SCAN_REFUSED,	/* the kernel takes no such event */
	SCAN_UNCOUNTED, /* it never got onto a counter */
};

#define SCAN_COUNT_MOST (INT64_C(1) << 60) /* beyond it no differences are taken: such a counter is broken */

/* An event select with a unit mask. */
struct scan_event {
	uint32_t select, umask;
	enum scan_state state;
	/* Of SCAN_LIVE, within SCAN_COUNT_MOST, rows of the first round, of the second, ...: what the work added (of pages: new ones less the same again). */
	int64_t *count;
	uint32_t *interrupts; /* likewise: of the CPU, meanwhile */
	bool has_command;     /* what a command of the user's counted: */
	uint64_t command;
};

/* One machine's; zero-initialise but for the first members. Events are in order of select, then umask. */
struct scan {
	char cpu[64], pmu[64];
	char machine[224]; /* CPU, microcode, kernel and hypervisor: what is found holds for no other */
	struct scan_row row[SCAN_ROWS_MOST];
	size_t rows;
	bool interrupts_guessed; /* nobody tells how many came: one for each millisecond and one more are taken for possible */
	uint64_t command; /* a hash of the words of the command that was counted; 0: none */
	struct scan_event *event;
	size_t n, room;
};

const struct scan_event *scan_find(const struct scan *s, uint32_t select, uint32_t umask);
/* Takes the arrays over; replaces what is there. */
int scan_put(struct scan *s, const struct scan_event *e, struct tare_error *err);
/* Forget which events were refused or never got onto a counter: what stood in the way, another user of the counters or a setting, may be gone. */
void scan_retry(struct scan *s);
void scan_free(struct scan *s);

struct scan_range {
	uint32_t from, to;
};

struct scan_plan {
	const struct source *source;
	struct workshop *shop;
	uint32_t type; /* of the PMU, as perf_event_attr has it */
	enum pmu_place place;
	struct format event, umask; /* where their bits go; umask.mask 0: there is none */
	struct scan_range range[16];
	size_t ranges;
	unsigned counters;
	bool kernel; /* count in the kernel, too */
	/* After each batch: so many of `all` selectors of this pass (1: all bits and none; 2: each bit) are done. Non-zero stops. */
	int (*progress)(void *with, int pass, size_t done, size_t all);
	void *with;
};

/* An encoding of one selector. */
struct encoding scan_encoding(const struct scan_plan *p, const char *pmu, uint32_t select, uint32_t umask);

/*
 * Measure what is in the plan and not yet in `s`: all bits of the unit mask and none of them first, then each bit of the selectors
 * that counted something. 0; what `progress` returned, if it was not 0; or -errno: counting failed (other than for one event).
 */
int scan_sweep(struct scan *s, const struct scan_plan *p, struct tare_error *err);

/* The same pieces, counted by any event, alone: `state` and samples of *out are filled in. -errno: it cannot be opened. */
int scan_column(struct scan_event *out, struct scan *s, const struct scan_plan *p, const struct encoding *e, struct tare_error *err);

/*
 * Count a command by every live event of one bit or none that has no count of it yet: a run for each batch. What it writes nobody
 * sees. 0; a signal that stopped it, or what `progress` returned (pass 3); or -errno.
 */
int scan_command(struct scan *s, const struct scan_plan *p, char *const argv[], struct tare_error *err);
/* What the command retires of each of the exact engine's classes, which the first of enum work_class are. -errno: it cannot be had. */
int scan_command_classes(uint64_t out[EXACT_CLASSES], char *const argv[], struct tare_error *err);

#endif
