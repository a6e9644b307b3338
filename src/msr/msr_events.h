/* SPDX-License-Identifier: MIT */
/* Converts requested events, and the CPU they are for, to the input of a register plan. */
#ifndef MSR_MSR_EVENTS_H
#define MSR_MSR_EVENTS_H

#include "msr/plan.h"
#include "pmu/fit.h"

/* The maker of this machine's CPUs; 0: neither, as on Arm. */
unsigned msr_maker_here(void);

/*
 * `model` as in data/cpus.txt; NULL: this machine, by CPUID. -ENODATA: no counters, or not known.
 */
int msr_cpu_for(struct msr_cpu *out, struct counter_facts *facts, const char *model,
		struct tare_error *err);

/*
 * enc must live as long as *out. -EINVAL, -EOPNOTSUPP: no register counts it; err has the reason.
 */
int msr_event_for(struct msr_event *out, const struct msr_cpu *cpu,
		  const struct counter_facts *facts, const struct encoding *enc,
		  struct tare_error *err);

#endif
