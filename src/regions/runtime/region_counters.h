/* SPDX-License-Identifier: MIT */
/*
 * The counters of a recording of regions: which there are, from words, and reading them on a thread, all at once.
 * A value means something by its difference to another of the same thread, modulo `mask`.
 */
#ifndef REGIONS_RUNTIME_REGION_COUNTERS_H
#define REGIONS_RUNTIME_REGION_COUNTERS_H

#include <time.h>
#include "base/error.h"
#include "recording/region_format.h"
#include "tare/event.h"
#include "tare/exact.h"
#include "tare/group.h"
#include "tare/page.h"
#include "tare/pinned.h"

enum counter_from {
	FROM_CLOCK,   /* the CPU's, in ticks */
	FROM_KERNEL,  /* clock_gettime, in ns */
	FROM_EXACT,   /* the exact engine's running count */
	FROM_PMU,     /* an event's counter */
	FROM_PMU_LESS, /* one less another: the one after it */
};

/* How all of them are read. */
enum counters_mode { READ_NOTHING, READ_CLOCK, READ_EXACT, READ_SEVERAL };

struct region_counters {
	enum counters_mode mode;
	unsigned n, n_pmu;
	enum counter_from from[FILE_COUNTERS];
	uint8_t pmu[FILE_COUNTERS]; /* which of the events */
	bool pinned;		    /* events are read by cached registers; else each by its page, or a system call */
	uint32_t clocks;	    /* bit per counter: goes on while the recorder works, and is not set back */
	uint32_t mult, shift;	    /* of the clock, as in struct file_process */
	struct tare_events *events; /* of the PMU */
	/* What an event counts more when a read has to begin again: until the register is read; in all. */
	struct {
		uint64_t before, whole;
	} detour[FILE_COUNTERS];
	struct file_counter info[FILE_COUNTERS];
};

/* What one thread reads them by. */
struct thread_counters {
	struct tare_pinned *pinned;
	struct tare_group *group; /* instead, where events cannot be pinned */
	const struct perf_event_mmap_page *page[FILE_COUNTERS];
	uint64_t skip[FILE_COUNTERS]; /* of each event, what was the recorder's and not the program's */
	uint32_t stale;		      /* makes the next read begin again */
	uint64_t mask[FILE_COUNTERS];
	uint32_t missing; /* that cannot be read on this thread, or any more */
};

/* Set by tests: the CPU's clock is wall-time wherever they run, and short points are written. */
extern bool region_trust_clock;

/* "wall-time,instructions:u" and so on; proves that the calling thread can read them. */
int region_counters_new(struct region_counters *c, const char *words, struct tare_error *err);
void region_counters_free(struct region_counters *c);

/* For the calling thread. What cannot be had is in t->missing; `err` (may be NULL) says why. */
int thread_counters_open(struct thread_counters *t, const struct region_counters *c, struct tare_error *err);
void thread_counters_close(struct thread_counters *t);

static inline uint64_t kernel_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The rarer combinations; out of line. */
void thread_counters_read_several(struct thread_counters *t, const struct region_counters *c, uint64_t clock,
				  uint64_t *value);

/*
 * All counters. `clock`: the ticks, when they were read already, else 0. Takes the same number of instructions each time;
 * where the kernel moved something meanwhile it takes more, which are taken off.
 */
static inline void thread_counters_read(struct thread_counters *t, const struct region_counters *c, uint64_t clock,
					uint64_t *value)
{
	switch (c->mode) {
	case READ_NOTHING:
		break;
	case READ_CLOCK:
		value[0] = clock ? clock : tare_pmc_clock();
		break;
	case READ_EXACT:
		value[0] = (uint64_t)tare_exact_now();
		break;
	default:
		thread_counters_read_several(t, c, clock, value);
	}
}

/* The clock and the kernel's, as near to each other as can be. */
void region_clock_pair(uint64_t *ticks, uint64_t *ns);

#endif
