/* SPDX-License-Identifier: MIT */
/*
 * Does work of known size while counters count it: the kernels of arch/kernels.h, and new pages.
 * Used by `tare verify` and `tare scan`; a test has a calibration of its own, which tells its
 * counters what they would have counted.
 */
#ifndef VERIFY_CALIBRATION_H
#define VERIFY_CALIBRATION_H

#include "arch/kernels.h"
#include "source/source.h"

/*
 * Kinds of work: the numbers of the kernels, and this one, which touches pages, at most
 * KERNEL_PAGES_MOST.
 */
enum { WORK_PAGES = KERNELS_MOST, WORK_KINDS, WORK_PAGES_MOST = 64 };

struct calibration {
	int cpu; /* all work runs there */
	/*
	 * Called before a kind of work: new pages, another thread to contend with. -ENOTSUP: not
	 * available.
	 */
	int (*prepare)(struct calibration *w, unsigned kind, struct tare_error *err);
	/* May be called again without prepare: the pages are then no longer new. */
	void (*work)(struct calibration *w, unsigned kind, uint64_t turns);
	void (*leave)(struct calibration *w, unsigned kind);
	uint64_t (*now_ns)(struct calibration *w);
	/* All interrupts of the CPU so far; false: not known. */
	bool (*interrupts)(struct calibration *w, uint64_t *out);
};

/*
 * Set up for the calling thread, on that CPU (-1: the current one), until it is closed. Touches
 * KERNEL_MEMORY bytes: takes a few milliseconds.
 */
int calibration_open(struct calibration **out, int cpu, struct tare_error *err);
void calibration_close(struct calibration *w);

/* "loop", ..., "pages"; NULL after the last, and for unused numbers in between. */
const char *work_name(unsigned kind);
const char *work_about(unsigned kind);
/*
 * The number of events of a class that the work retires, including pages if they are new; *sure is
 * false if it is not exactly known.
 */
uint64_t work_retires(unsigned kind, enum work_class c, uint64_t turns, bool *sure);

/* One piece of work, as counted by a group of counters. */
struct work_counted {
	struct tare_reading *before, *after; /* memory for the group, from the caller */
	uint64_t ns, interrupts;             /* during the work, and shortly before and after */
	bool interrupts_known;
};

int work_count(struct calibration *w, const struct source *source, struct counters *c,
	       unsigned kind, uint64_t turns, struct work_counted *out, struct tare_error *err);

#endif
