/* SPDX-License-Identifier: MIT */
/*
 * instructions-minus-irqs:u: the event that counts interrupts on this CPU (data/interrupts.txt), and whether
 * instructions less that event come out right here.
 */
#ifndef REGIONS_RUNTIME_REGION_IRQS_H
#define REGIONS_RUNTIME_REGION_IRQS_H

#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "pmu/interrupts.h"
#include "tare/pinned.h"

/* This machine's. */
int region_irqs_find(struct interrupts_event *out, struct tare_error *err);

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
