/* SPDX-License-Identifier: MIT */
/* What the machine did around a run that no counter of the run tells: read before and after. */
#ifndef LAUNCH_AROUND_H
#define LAUNCH_AROUND_H

#include <stdbool.h>
#include <stdint.h>

/* Until now, or between two readings (around_between). A number is 0 where it is not known. */
struct around {
	uint64_t interrupts; /* that the CPUs took which this process may use */
	uint64_t steal_ns;   /* time that a hypervisor gave to others, of all CPUs */
	uint64_t smi;	     /* system management interrupts of CPU 0: they stop all CPUs */
	uint64_t switches, faults; /* of the command: see struct fact_end. Left alone here */
	bool interrupts_known, steal_known, smi_known, used_known;
};

/* Some 100 us. `root` is put before /proc and /dev; NULL: this machine. */
void around_read(struct around *a, const char *root);
struct around around_between(const struct around *before, const struct around *after);

/* The sum of the columns of /proc/interrupts that `wanted` says yes to. False: none of them is there. Source: proc(5). */
bool around_interrupts(const char *text, bool (*wanted)(void *with, int cpu), void *with, uint64_t *out);

#endif
