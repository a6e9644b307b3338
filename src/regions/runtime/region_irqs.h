/* SPDX-License-Identifier: MIT */
/*
 * instructions-minus-irqs:u: find the event that counts interrupts on this CPU
 * (data/interrupts.txt), and check that instructions minus that event is exact here.
 */
#ifndef REGIONS_RUNTIME_REGION_IRQS_H
#define REGIONS_RUNTIME_REGION_IRQS_H

#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "pmu/interrupts.h"
#include "tare/pinned.h"

/* For this machine. */
int region_irqs_find(struct interrupts_event *out, struct tare_error *err);

/* The counts of one run of a loop of known size. */
struct irq_run {
	uint64_t instructions, interrupts;
};

enum { IRQ_RUNS = 256, IRQS_WANTED = 8 };

/*
 * Judge n runs of a loop of `known` instructions. Returns 0 if at least IRQS_WANTED interrupts
 * occurred and instructions minus interrupts were the same in every run, and at most 200 more than
 * `known`. -EAGAIN: too few interrupts so far; -EOPNOTSUPP: the result is wrong, and how.
 */
int region_irqs_judge(const struct irq_run *run, size_t n, uint64_t known, struct tare_error *err);

/*
 * Test it: counter k of n is instructions, k + 1 interrupts. Runs until interrupts occur, at most
 * some seconds. Adds the result to the note.
 */
int region_irqs_prove(struct tare_pinned *p, uint32_t n, unsigned k, char *note, size_t room,
		      struct tare_error *err);

#endif
