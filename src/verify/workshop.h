/* SPDX-License-Identifier: MIT */
/*
 * Where work of known size is done while counters count it: the kernels of arch/kernels.h, and pages touched for the first time.
 * `tare verify` and `tare scan` count here; a test has a workshop of its own, which tells its counters what they would have counted.
 */
#ifndef VERIFY_WORKSHOP_H
#define VERIFY_WORKSHOP_H

#include "arch/kernels.h"
#include "source/source.h"

/* Kinds of work: the numbers of the kernels, and this one, whose turns are pages, KERNEL_PAGES_MOST at most. */
enum { WORK_PAGES = KERNELS_MOST, WORK_KINDS, WORK_PAGES_MOST = 64 };

struct workshop {
	int cpu; /* all of it happens there */
	/* Before a kind: new pages, another thread to contend with. -ENOTSUP: not here. */
	int (*prepare)(struct workshop *w, unsigned kind, struct tare_error *err);
	/* May be called again without prepare: the pages are then no longer new. */
	void (*work)(struct workshop *w, unsigned kind, uint64_t turns);
	void (*leave)(struct workshop *w, unsigned kind);
	uint64_t (*now_ns)(struct workshop *w);
	/* All that the CPU took until now; false: not known. */
	bool (*interrupts)(struct workshop *w, uint64_t *out);
};

/* The calling thread's own, on that CPU (-1: where it is), until it is closed. Touches KERNEL_MEMORY bytes: some milliseconds. */
int workshop_open(struct workshop **out, int cpu, struct tare_error *err);
void workshop_close(struct workshop *w);

/* "loop", ..., "pages"; NULL past the last, and for numbers between that no kernel has. */
const char *work_name(unsigned kind);
const char *work_about(unsigned kind);
/* How many of a class the work retires, pages included when they are new; *sure is false where it is not known to the last one. */
uint64_t work_retires(unsigned kind, enum work_class c, uint64_t turns, bool *sure);

/* One piece of work, as a group of counters saw it. */
struct work_counted {
	struct tare_reading *before, *after; /* room for the group, given by the caller */
	uint64_t ns, interrupts;	     /* meanwhile, and a little before and after */
	bool interrupts_known;
};

int work_count(struct workshop *w, const struct source *source, struct counters *c, unsigned kind, uint64_t turns, struct work_counted *out,
	       struct tare_error *err);

#endif
