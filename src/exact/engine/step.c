/* SPDX-License-Identifier: MIT */
/*
 * Single-stepping: to the next boundary between two of the program's instructions, or over one that
 * is executed in place.
 */
#include <asm/prctl.h>
#include "exact/engine/signal.h"

void step_to_border(struct thread *t, int sig, const struct info *info, struct context *c)
{
	memcpy(t->step_info, info, sizeof *info);
	t->step_signal = (uint32_t)sig;
	t->step_mask = c->mask;
	t->stepping = STEP_TO_BORDER;
	c->eflags |= EFLAGS_TF;
	c->mask = ~FAULTS;
}

/* One instruction that uses GS runs with the program's own GS base. */
static void swap_gs(struct thread *t, bool to_program)
{
	if (to_program == t->gs_swapped)
		return;
	if (to_program) {
		/* wrgsbase, which is enabled then, also accepts kernel addresses. */
		if (sys(__NR_arch_prctl, ARCH_SET_GS, t->user_gs) < 0)
			__asm__ volatile("wrgsbase %0" : : "r"(t->user_gs));
	} else {
		sys(__NR_arch_prctl, ARCH_GET_GS, &t->user_gs);
		sys(__NR_arch_prctl, ARCH_SET_GS, t);
	}
	t->gs_swapped = to_program;
}

void end_step(struct thread *t, struct context *c)
{
	swap_gs(t, false);
	t->stepping = STEP_NONE;
	c->eflags &= ~(uint64_t)EFLAGS_TF;
	c->mask = t->step_mask;
}

/*
 * One instruction of the program was executed in place: continue in translated code. An int3 raises
 * its own signal. If none came, the int3 belongs to a uprobe, and the kernel executed the original
 * instruction, which is not known here.
 */
static void on_native_step(struct thread *t, const struct info *info, struct context *c)
{
	struct insn in;
	bool breakpoint;

	if (c->rip >= (uint64_t)leave_begin && c->rip < (uint64_t)leave_end)
		return;
	if (c->rip == t->target) {
		swap_gs(t, true);
		return;
	}
	end_step(t, c);
	hear_faults(true);
	if (!insn_decode(&in, (const uint8_t *)t->target, code_room(t->target)))
		in = (struct insn){ .kind = K_PLAIN };
	hear_faults(false);
	breakpoint = insn_breakpoint(&in);
	if (breakpoint && info->code != SI_KERNEL)
		refuse("a uprobe (perf probe, bpftrace) is set in the program's code, at",
		       t->target);
	lock();
	eng.tid = t->tid;
	count_special(t, &in, t->target, c->rip);
	unlock();
	if (breakpoint) {
		deliver(t, SIGTRAP, info, c, true);
		return;
	}
	if (t->park) {
		park_here(t, c);
		return;
	}
	t->target = c->rip;
	t->edge = 0;
	c->rip = (uint64_t)engine_dispatch;
}

void on_step(struct thread *t, const struct info *now, struct context *c)
{
	struct info info;

	if (t->stepping == STEP_PROOF)
		refuse_wrong(OVERWRITTEN, t->target);
	if (t->stepping == STEP_NATIVE) {
		on_native_step(t, now, c);
		return;
	}
	memcpy(&info, t->step_info, sizeof info);
	switch (locate(t, c, false)) {
	case AT_WORK:
		return;
	case AT_BORDER:
		end_step(t, c);
		if (t->park)
			park_here(t, c);
		else
			deliver(t, (int)t->step_signal, &info, c, false);
		return;
	default:
		end_step(t, c);
		if (t->park)
			come_out_later(t, c);
		else
			put_off(t, (int)t->step_signal, &info, c);
	}
}

/*
 * Make the processor execute the instruction at t->target in place, with a trap after it. The
 * decoder does not know it, or it is not in executable memory, and the fault must be the real one.
 */
void step_natively(struct thread *t)
{
	if (in_cache(t->target) || t->target - eng.image < eng.image_size)
		refuse_wrong("the program jumped into the exact engine's own memory, at",
			     t->target);
	__atomic_fetch_add(&eng.process->stepped, 1, __ATOMIC_RELAXED);
	t->step_mask = block_signals();
	t->stepping = STEP_NATIVE;
	t->flags |= EFLAGS_TF;
	t->jump = t->target;
	kernel_mask(~FAULTS, NULL);
}

/*
 * Translated code faulted, and the program would die. It does so only if its own instruction faults
 * in place, too. Otherwise the engine's code or its jump tables were overwritten. `c` is the
 * program's context.
 */
void step_proof(struct thread *t, struct context *c)
{
	t->target = c->rip;
	t->step_mask = c->mask;
	t->stepping = STEP_PROOF;
	c->eflags |= EFLAGS_TF;
	c->mask = ~FAULTS;
}

static bool step_is_over(const struct thread *t, const struct context *c)
{
	return t->stepping == STEP_NATIVE && c->rip != t->target &&
		!(c->rip >= (uint64_t)leave_begin && c->rip < (uint64_t)leave_end);
}

/*
 * The kernel ends a step over a uprobe by a signal that looks as if it was sent. Source:
 * arch_uprobe_post_xol().
 */
bool ends_uprobe(const struct thread *t, int sig, const struct context *c)
{
	return sig == SIGTRAP && step_is_over(t, c) && region_of(c->rip) &&
		*(const uint8_t *)t->target == 0xcc;
}

/* The step's own trap is lost if a signal that was sent was pending instead. */
void after_sent(struct thread *t, int sig, const struct info *info, struct context *c)
{
	if (sig == SIGTRAP && step_is_over(t, c))
		on_native_step(t, info, c);
}
