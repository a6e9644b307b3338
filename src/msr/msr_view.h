/* SPDX-License-Identifier: MIT */
/* Registers, batches, plans and rates as text, JSON and lines in the kernel's trace format. */
#ifndef MSR_MSR_VIEW_H
#define MSR_MSR_VIEW_H

#include "base/cpus.h"
#include "msr/batch.h"
#include "msr/plan.h"
#include "output/json.h"
#include "output/style.h"

struct msr_done {
	const struct cpus *on;
	const struct tare_msr_op *op; /* n per CPU */
	const struct msr_bits *field; /* for each operation; bits 0: the whole register */
	const uint64_t (*span)[2];    /* for each CPU; NULL: none */
	size_t n;
	unsigned maker;
	const char *via;
};

void msr_done_text(struct text *out, const struct msr_done *d);
void msr_done_trace(struct text *out, const struct msr_done *d);
void msr_done_json(struct text *out, const struct msr_done *d);

void msr_plan_text(struct text *out, const struct msr_plan *p, const struct msr_cpu *cpu,
		   const struct msr_event *ev, const struct style *style);
void msr_plan_json(struct text *out, const struct msr_plan *p, const struct msr_cpu *cpu,
		   const struct msr_event *ev);

/* Every register of that maker, or the named ones. */
void msr_list_text(struct text *out, unsigned maker);
void msr_list_json(struct text *out, unsigned maker);
void msr_row_text(struct text *out, const struct msr_row *row, uint32_t msr);

struct msr_tick {
	double time_s, seconds; /* since the start; since the last tick */
	int cpu;
	uint32_t msr;
	const struct msr_bits *field; /* bits 0: the whole register */
	unsigned maker;
	uint64_t value, before; /* of the whole register */
	bool first;
};
void msr_tick_text(struct text *out, const struct msr_tick *t, const struct style *style);
void msr_tick_json(struct json *j, const struct msr_tick *t);

#endif
