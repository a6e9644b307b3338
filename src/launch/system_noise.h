/* SPDX-License-Identifier: MIT */
/*
 * Activity of the machine during a run that the run's counters do not show: read before and after.
 */
#ifndef LAUNCH_SYSTEM_NOISE_H
#define LAUNCH_SYSTEM_NOISE_H

#include <stdbool.h>
#include <stdint.h>

/* Totals, or the difference of two readings (system_noise_between). Unknown numbers are 0. */
struct system_noise {
	uint64_t interrupts; /* on the CPUs that this process may use */
	/* time that the hypervisor gave to other guests, summed over all CPUs */
	uint64_t steal_ns;
	uint64_t smi;              /* system management interrupts of CPU 0: they stop all CPUs */
	uint64_t switches, faults; /* of the command: see struct fact_end. Not set here */
	bool interrupts_known, steal_known, smi_known, used_known;
};

/* Takes about 100 us. `root` is a prefix of /proc and /dev; NULL: this machine. */
void system_noise_read(struct system_noise *a, const char *root);
struct system_noise system_noise_between(const struct system_noise *before,
					 const struct system_noise *after);

/*
 * The sum of the columns of /proc/interrupts for which `wanted` returns true. False: there is none.
 * Source: proc(5).
 */
bool system_noise_interrupts(const char *text, bool (*wanted)(void *with, int cpu), void *with,
			     uint64_t *out);

#endif
