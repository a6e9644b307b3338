/* SPDX-License-Identifier: MIT */
/*
 * instructions-minus-irqs:u: the event that counts interrupts on this CPU (data/interrupts.txt), and whether
 * instructions less that event come out right here.
 */
#ifndef RECORD_REGION_IRQS_H
#define RECORD_REGION_IRQS_H

#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "tare/pinned.h"

struct region_irqs {
	char event[64];
	char known[16]; /* "documented", "seen", "guessed" */
	char note[96];	/* the same with by whom, for the recording */
};

/* The row of a CPU, as machine_cpu() names it. -ENOENT: nobody knows such an event. */
int region_irqs_of_cpu(struct region_irqs *out, const char *cpu, struct tare_error *err);
/* This machine's. */
int region_irqs_find(struct region_irqs *out, struct tare_error *err);

/* One run of a loop of known size: what was counted. */
struct irq_run {
	uint64_t instructions, interrupts;
};

enum { IRQ_RUNS = 256, IRQS_WANTED = 8 };

/*
 * From n runs of a loop of `known` instructions: 0 when at least IRQS_WANTED interrupts came and instructions less
 * interrupts were the same in every run, and at most 200 more than `known`. -EAGAIN: too few interrupts came yet;
 * -EOPNOTSUPP: it does not come out right, and how.
 */
int region_irqs_judge(const struct irq_run *run, size_t n, uint64_t known, struct tare_error *err);

/* Try it: counter k of n is instructions, k + 1 interrupts. Takes until interrupts came, at most some seconds. Adds
 * what came out to the note. */
int region_irqs_prove(struct tare_pinned *p, uint32_t n, unsigned k, char *note, size_t room, struct tare_error *err);

#endif
