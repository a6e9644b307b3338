/* SPDX-License-Identifier: MIT */
/*
 * The counters of a recording of regions: parse their names, and read all of them at once on a
 * thread. Only the difference between two values of the same thread, modulo `mask`, has a meaning.
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
	FROM_CLOCK,    /* the CPU's, in ticks */
	FROM_KERNEL,   /* clock_gettime, in ns */
	FROM_EXACT,    /* the exact engine's running count */
	FROM_PMU,      /* an event's counter */
	FROM_PMU_LESS, /* an event minus another one, which follows it */
};

/* How to read all of them. */
enum counters_mode { READ_NOTHING, READ_CLOCK, READ_EXACT, READ_SEVERAL };

struct region_counters {
	enum counters_mode mode;
	unsigned n, n_pmu;
	enum counter_from from[FILE_COUNTERS];
	uint8_t pmu[FILE_COUNTERS]; /* index of the event */
	/* events are read by cached registers, otherwise by their page or a system call */
	bool pinned;
	/* bit per counter: continues during the recorder's work and is never set back */
	uint32_t clocks;
	uint32_t mult, shift;       /* of the clock, as in struct file_process */
	struct tare_events *events; /* of the PMU */
	/*
	 * The additional counts of an event if a read is repeated: up to the register read, and in
	 * total.
	 */
	struct {
		uint64_t before, whole;
	} detour[FILE_COUNTERS];
	struct file_counter info[FILE_COUNTERS];
};

/* The counters of one thread. */
struct thread_counters {
	struct tare_pinned *pinned;
	struct tare_group *group; /* used instead if the events cannot be pinned */
	const struct perf_event_mmap_page *page[FILE_COUNTERS];
	uint64_t skip[FILE_COUNTERS]; /* per event: counts of the recorder, not of the program */
	uint32_t stale;               /* makes the next read repeat */
	uint64_t mask[FILE_COUNTERS];
	uint32_t missing; /* counters that cannot be read on this thread, or not any more */
};

/* Set by tests: use the CPU's clock as wall-time on any machine, and write short points. */
extern bool region_trust_clock;

/* Parse "wall-time,instructions:u" and so on, and check that the calling thread can read them. */
int region_counters_new(struct region_counters *c, const char *words, struct tare_error *err);
void region_counters_free(struct region_counters *c);

/*
 * For the calling thread. t->missing gets the counters that are unavailable; `err` (may be NULL)
 * the reason.
 */
int thread_counters_open(struct thread_counters *t, const struct region_counters *c,
			 struct tare_error *err);
void thread_counters_close(struct thread_counters *t);

static inline uint64_t kernel_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The rare combinations, out of line. */
void thread_counters_read_several(struct thread_counters *t, const struct region_counters *c,
				  uint64_t clock, uint64_t *value);

/*
 * Read all counters. `clock`: the ticks if they were read already, else 0. Takes the same number of
 * instructions each time; if the kernel changed the counters meanwhile it takes more, which are
 * subtracted.
 */
static inline void thread_counters_read(struct thread_counters *t, const struct region_counters *c,
					uint64_t clock, uint64_t *value)
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

/* Read the CPU's clock and the kernel's as close to each other as possible. */
void region_clock_pair(uint64_t *ticks, uint64_t *ns);

#endif
