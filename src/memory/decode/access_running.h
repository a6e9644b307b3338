/* SPDX-License-Identifier: MIT */
/*
 * Which thread ran on a CPU at a time, from the context switch records. Used for SPE records that
 * do not name their thread.
 */
#ifndef MEMORY_DECODE_ACCESS_RUNNING_H
#define MEMORY_DECODE_ACCESS_RUNNING_H

#include "base/error.h"
#include "base/set.h"
#include "perfdata/perfdata.h"

struct running {
	struct set cpus; /* one list of time slices per CPU, in order of time */
};

/*
 * A SWITCH record of a task or (recorded with -a) of a CPU; those of one CPU come in order of time.
 * Other records, and those without time and CPU, are ignored.
 */
int running_learn(struct running *r, const struct perfdata_record *rec, struct tare_error *err);
/* UINT32_MAX: no recorded thread, or not known. */
uint32_t running_at(const struct running *r, uint32_t cpu, uint64_t time_ns);
void running_free(struct running *r);

#endif
