/* SPDX-License-Identifier: MIT */
/*
 * The event that counts interrupts of user code on a CPU (data/interrupts.txt): what
 * instructions-minus-irqs:u subtracts.
 */
#ifndef PMU_INTERRUPTS_H
#define PMU_INTERRUPTS_H

#include "base/error.h"

#define INSTRUCTIONS_MINUS_IRQS "instructions-minus-irqs:u"

struct interrupts_event {
	char event[64];
	char known[16]; /* "documented", "seen", "guessed" */
	char note[96];  /* the same with the author, for the recording */
};

/* The row of a CPU, named by machine_cpu(). -ENOENT: no such event is known. */
int interrupts_of_cpu(struct interrupts_event *out, const char *cpu, struct tare_error *err);

#endif
