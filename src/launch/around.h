/* SPDX-License-Identifier: MIT */
/*
 * Activity of the machine during a run that the run's counters do not show: read before and after.
 */
#ifndef LAUNCH_AROUND_H
#define LAUNCH_AROUND_H

#include <stdbool.h>
#include <stdint.h>

/* Totals, or the difference of two readings (around_between). Unknown numbers are 0. */
struct around {
	uint64_t interrupts; /* on the CPUs that this process may use */
	/* time that the hypervisor gave to other guests, summed over all CPUs */
	uint64_t steal_ns;
	uint64_t smi;              /* system management interrupts of CPU 0: they stop all CPUs */
	uint64_t switches, faults; /* of the command: see struct fact_end. Not set here */
	bool interrupts_known, steal_known, smi_known, used_known;
};

/* Takes about 100 us. `root` is a prefix of /proc and /dev; NULL: this machine. */
void around_read(struct around *a, const char *root);
struct around around_between(const struct around *before, const struct around *after);

/*
 * The sum of the columns of /proc/interrupts for which `wanted` returns true. False: there is none.
 * Source: proc(5).
 */
bool around_interrupts(const char *text, bool (*wanted)(void *with, int cpu), void *with,
		       uint64_t *out);

#endif
