/* SPDX-License-Identifier: MIT */
/*
 * Points that a signal handler records while it interrupts another point of its thread. The stream
 * is not whole at that moment, so the handler reads the counters and keeps the point in a list of
 * its thread. The thread writes the list to its stream, in order of time, before its next point.
 *
 * Only the thread and its handlers use the list: there is no lock. A handler can interrupt another
 * one at any instruction; the thread itself continues only after all of them have returned.
 */
#ifndef REGIONS_RUNTIME_REGION_KEPT_H
#define REGIONS_RUNTIME_REGION_KEPT_H

#include <stdbool.h>
#include "regions/runtime/region_stream.h"

/*
 * Points per list. More are needed only if handlers record more than half as many regions within
 * one point of their thread.
 */
enum { KEPT_POINTS = 4096 };

struct kept_point {
	/* while its label is TARE_LABEL_UNKNOWN: the label is created when the point is written */
	struct tare_region *region;
	tare_label label; /* with TARE_LABEL_END */
	enum point_op op;
	uint64_t number;
	unsigned generation; /* of the recording */
	unsigned process;    /* region_process() */
	bool counted;     /* the recording counts it as lost until it is written: its process may be
			     killed before */
	uint32_t missing; /* counters that could not be read */
	uint64_t value[FILE_COUNTERS];
	bool whole; /* set last */
};

/* The calling thread has kept points that are not written. May be true without any. */
extern __thread bool region_kept_waits __attribute__((tls_model("initial-exec")));

/*
 * Keep *p, with the values that the counters `c` have now (NULL: they are not known). pmu: the
 * calling thread's counters, or NULL: the events of the PMU cannot be read now. False: there is no
 * room, or no memory. Where there is no room for a begin and its end, neither is kept. One mmap(2)
 * at a thread's first.
 */
bool region_kept_add(const struct kept_point *p, const struct region_counters *c,
		     struct thread_counters *pmu);

/* Write the points kept so far to the calling thread's stream; handlers may add more meanwhile.
 * False: not possible now; the points stay. */
bool region_kept_write(struct region_stream *s);

/*
 * Values that the calling thread read, for a point that it writes before the kept ones, although
 * handlers read earlier values while it was about to: set back to theirs.
 */
void region_kept_set_back(const struct region_stream *s, uint64_t *value);

/* How many there are. */
uint32_t region_kept_number(void);

/* Drop them. Returns how many of them no recording has counted as lost. */
uint32_t region_kept_drop(void);

/* Free the memory of an empty list, at a thread's end. */
void region_kept_free(void);

#endif
