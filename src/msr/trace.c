/* SPDX-License-Identifier: MIT */
/* A plan in the format of the kernel's trace. Source: Linux, arch/x86/include/asm/msr-trace.h. */
#include "msr/plan.h"

static void line(struct text *out, const struct tare_msr_op *op, const char *value)
{
	text_add(out, "%s_msr: %x, value ", op->kind == TARE_MSR_READ ? "read" : "write", op->msr);
	if (value)
		text_add(out, "%s\n", value);
	else
		text_add(out, "%llx\n", (unsigned long long)op->value);
}

static bool seen(const struct msr_plan *p, size_t before, uint32_t msr)
{
	for (size_t i = 0; i < before; i++)
		if (p->step[i].op.msr == msr && p->step[i].op.kind == TARE_MSR_WRITE)
			return true;
	return false;
}

void msr_plan_trace(struct text *out, const struct msr_plan *p, const struct msr_cpu *cpu,
		    bool module)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct msr_step *s = &p->step[i];
		const struct msr_row *row = msr_row_of(s->op.msr, cpu->maker);
		bool keeps = !row || !(row->flags & TARE_MSR_CLEAR);

		if (module && s->phase == MSR_SAVE)
			continue;
		if (module && s->op.kind == TARE_MSR_WRITE && keeps && !seen(p, i, s->op.msr)) {
			struct tare_msr_op before = { .msr = s->op.msr, .kind = TARE_MSR_READ };

			line(out, &before, "?");
		}
		line(out, &s->op,
		     s->op.kind == TARE_MSR_READ       ? "?"
			     : msr_step_is_saved(p, i) ? "saved"
						       : NULL);
	}
}
