/* SPDX-License-Identifier: MIT */
/*
 * A sweep over event selectors: each counts the same pieces of work of known size, in batches of
 * as many selectors as there are counters, and the counts are stored. src/scan/finding.h
 * interprets them. The only registers written are event selects, by the kernel.
 */
#ifndef SCAN_SCAN_H
#define SCAN_SCAN_H

#include "exact/classes.h"
#include "pmu/format.h"
#include "verify/calibration.h"

/* Each kind of work with two lengths; the loop with a third one that is long enough for
 * interrupts to arrive. */
enum {
	SCAN_ROWS_MOST = 2 * (KERNELS_MOST + 1) + 1,
	SCAN_ROUNDS = 5,
	SCAN_SAMPLES_MOST = SCAN_ROWS_MOST * SCAN_ROUNDS
};

struct scan_row {
	unsigned kind;
	uint64_t turns;
};

/* The rows on this machine, without those that need a second CPU if there is none. */
size_t scan_rows(struct calibration *w, struct scan_row out[SCAN_ROWS_MOST]);

enum scan_state {
	SCAN_DEAD,      /* 0 for all work */
	SCAN_LIVE,      /* it has samples */
	SCAN_REFUSED,   /* the kernel rejects this event */
	SCAN_UNCOUNTED, /* it was never scheduled on a counter */
};

#define SCAN_COUNT_MOST                                                                            \
	(INT64_C(1) << 60) /* a counter beyond it is broken: no differences are computed */

/* An event select with a unit mask. */
struct scan_event {
	uint32_t select, umask;
	enum scan_state state;
	/* Of SCAN_LIVE, within SCAN_COUNT_MOST: the rows of the first round, of the second, ...;
	 * each is what the work added (for pages: new pages minus the same again). */
	int64_t *count;
	uint32_t *interrupts; /* likewise: the CPU's interrupts during the work */
	bool has_command;     /* its count of a user's command: */
	uint64_t command;
};

/* One machine's scan; zero-initialised except for the first members. Events are sorted by
 * select, then umask. */
struct scan {
	char cpu[64], pmu[64];
	char machine
		/* CPU, microcode, kernel and hypervisor: the findings are valid only for them */
		[224];
	struct scan_row row[SCAN_ROWS_MOST];
	size_t rows;
	bool interrupts_guessed; /* the number of interrupts is unknown: assumes up to one per
				  * millisecond and one more */
	uint64_t command;        /* hash of the words of the counted command; 0: none */
	struct scan_event *event;
	size_t n, room;
};

const struct scan_event *scan_find(const struct scan *s, uint32_t select, uint32_t umask);
/* Takes ownership of the arrays; replaces an existing event. */
int scan_put(struct scan *s, const struct scan_event *e, struct tare_error *err);
/* Forgets which events were refused or never scheduled on a counter: the cause, another user of
 * the counters or a setting, may be gone. */
void scan_retry(struct scan *s);
void scan_free(struct scan *s);

struct scan_range {
	uint32_t from, to;
};

struct scan_plan {
	const struct source *source;
	struct calibration *shop;
	uint32_t type; /* of the PMU, as in perf_event_attr */
	enum pmu_place place;
	struct format event,
		umask; /* the positions of their bits; umask.mask 0: there is no umask */
	struct scan_range range[16];
	size_t ranges;
	unsigned counters;
	bool kernel; /* count in the kernel, too */
	/* Called after each batch: `done` of `all` selectors of this pass (1: all bits and none;
	 * 2: each bit) are finished. Non-zero stops the sweep. */
	int (*progress)(void *with, int pass, size_t done, size_t all);
	void *with;
};

/* An encoding of one selector. */
struct encoding scan_encoding(const struct scan_plan *p, const char *pmu, uint32_t select,
			      uint32_t umask);

/*
 * Measures the plan's selectors that are not yet in `s`: first all bits of the unit mask and none
 * of them, then each bit of the selectors that counted something. Returns 0, the value of
 * `progress` if not 0, or -errno if counting failed (other than for one event).
 */
int scan_sweep(struct scan *s, const struct scan_plan *p, struct tare_error *err);

/* Any event, alone, on the same pieces: sets `state` and samples of *out. -errno: it cannot be
 * opened. */
int scan_column(struct scan_event *out, struct scan *s, const struct scan_plan *p,
		const struct encoding *e, struct tare_error *err);

/*
 * Counts a command with every live event of one bit or none that has no count of it yet: one run
 * for each batch, with its output hidden. Returns 0; a signal that stopped it, or the value of
 * `progress` (pass 3); or -errno.
 */
int scan_command(struct scan *s, const struct scan_plan *p, char *const argv[],
		 struct tare_error *err);
/* How many instructions of each of the exact engine's classes, the first of enum work_class, the
 * command retires. -errno: not available. */
int scan_command_classes(uint64_t out[EXACT_CLASSES], char *const argv[], struct tare_error *err);

#endif
