/* SPDX-License-Identifier: MIT */
/*
 * The program's signals. The kernel knows one handler, on_signal, on the engine's signal stack.
 * deliver.c builds the frame that the kernel would have built, on the program's stack and with the
 * program's context, and runs the program's handler translated. Its rt_sigreturn is handled the
 * same way.
 *
 * A signal that arrives
 *	between two of the program's instructions  is delivered at once;
 *	inside an instruction's copy, or while counting  is kept while single steps lead to the next boundary (step.c);
 *	in the engine                              is queued again and blocked until the engine leaves.
 */
#include "exact/engine/signal.h"

enum {
	SECCOMP_CODE = 1, /* SYS_SECCOMP */
	FAULT_WRITE = 2,  /* in the processor's error code */
};

/* GS may be the program's at the moment, so find the slot that contains this stack. */
static struct thread *of_this_stack(void)
{
	uint64_t sp;

	__asm__ volatile("mov %%rsp, %0" : "=r"(sp));
	return (struct thread *)(sp & ~(THREAD_STRIDE - 1));
}

static bool stores_pair(uint64_t rip)
{
	return rip >= (uint64_t)store_begin && rip < (uint64_t)store_end;
}

/* A write to a page with translated code: discard the code, and allow the write. */
static bool on_watched_write(struct thread *t, const struct info *info, struct context *c)
{
	struct block *b;
	bool ours;

	if (info->code != SEGV_ACCERR || !(c->err & FAULT_WRITE) ||
	    (c->rip - eng.image < eng.image_size && c->rip != (uint64_t)copy_insn &&
	     !stores_pair(c->rip)))
		return false;
	lock();
	ours = watch_fault(info->address);
	b = ours ? block_of_code(c->rip) : NULL;
	/* The write may change its own block: that block must not continue. */
	if (b && (b->flags & B_DEAD) && locate(t, c, true) == AT_BORDER) {
		t->target = c->rip;
		t->edge = 0;
		t->one_shot = 1;
		c->rip = (uint64_t)engine_dispatch;
	}
	unlock();
	return ours;
}

/*
 * The program's own frame from signal_return(): the kernel restored its registers, but rejected its
 * vector state or its segments. Natively that is the program's fault, too, at the pc in the frame.
 */
static void frame_not_taken(struct thread *t, int sig, const struct info *info, struct context *c)
{
	c->rip = t->target;
	deliver(t, sig, info, c, true);
	c->cs = CODE_64;
	c->ss = DATA;
}

static bool dies_of(const struct thread *t, int sig)
{
	return (t->mask & BIT(sig)) ||
		process_at(t->process)->actions[sig - 1].handler <= (uint64_t)SIG_IGN;
}

/*
 * locate() for a fault: replaces the address of the copy by that of the instruction. (Instructions
 * that trap are never copied.)
 */
static enum place locate_fault(struct thread *t, int sig, struct info *info, struct context *c)
{
	bool of_insn = (sig == SIGILL || sig == SIGFPE) && info->address == c->rip;
	enum place place = locate(t, c, sig != SIGTRAP);

	if (of_insn && place == AT_BORDER)
		info->address = c->rip;
	return place;
}

static void on_fault(struct thread *t, int sig, struct info *info, struct context *c)
{
	enum place place;
	bool translated;

	if (c->rip == (uint64_t)ticks_insn) {
		c->rip = (uint64_t)ticks_failed;
		return;
	}
	if (c->rip == (uint64_t)gate_insn) {
		c->rip = (uint64_t)gate_failed;
		return;
	}
	if (c->rip == (uint64_t)readable_insn) {
		c->rip = (uint64_t)readable_after;
		return;
	}
	if (c->rip == (uint64_t)exec_failed_after)
		return; /* the supervisor, for which this trap was meant, is gone */
	if (sig == SIGTRAP && t->stepping) {
		on_step(t, info, c);
		return;
	}
	if (sig == SIGTRAP && info->code == TRAP_TRACE)
		refuse(STEPS_ITSELF, in_cache(c->rip) ? program_address(c->rip) : t->target);
	if (sig == SIGSEGV && on_watched_write(t, info, c))
		return;
	if (c->rip == (uint64_t)copy_insn) {
		c->rip = (uint64_t)copy_after;
		return;
	}
	if (stores_pair(c->rip)) {
		c->rip = (uint64_t)store_failed;
		return;
	}
	if (t->stepping == STEP_PROOF && c->rip != t->target)
		refuse_wrong(OVERWRITTEN, t->target);
	if (t->stepping == STEP_NATIVE || t->stepping == STEP_PROOF) {
		end_step(t, c);
		if (c->rip != t->target) /* the jump to it faulted: not a canonical address */
			locate(t, c, true);
		c->eflags &= ~(uint64_t)EFLAGS_TF; /* ours */
		deliver(t, sig, info, c, true);
		return;
	}
	if (t->stepping) { /* the kept signal follows after the fault */
		struct info kept;

		memcpy(&kept, t->step_info, sizeof kept);
		end_step(t, c);
		sys(__NR_rt_tgsigqueueinfo, sys(__NR_getpid), sys(__NR_gettid), t->step_signal,
		    &kept);
	}
	if (info->code == SI_KERNEL && c->rip == (uint64_t)engine_dispatch) {
		frame_not_taken(t, sig, info, c);
		return;
	}
	translated = in_cache(c->rip);
	if (sig == SIGTRAP && info->code == SI_KERNEL && translated) /* an int3 is never copied */
		refuse_wrong(OVERWRITTEN, c->rip);
	place = locate_fault(t, sig, info, c);
	if (place == AT_BORDER && translated && dies_of(t, sig))
		step_proof(t, c);
	else if (place == AT_BORDER)
		deliver(t, sig, info, c, true);
	else if (place == AT_WORK)
		step_to_border(t, sig, info, c);
	else if (place == IN_ENGINE)
		refuse_wrong("the exact engine itself failed at (offset in its image)",
			     c->rip - eng.image);
	else
		refuse_wrong(c->rip ? "the program left the exact engine, at"
				    : "the program left the exact engine, at 0x0",
			     c->rip);
}

static void handle(struct thread *t, int sig, struct info *info, struct context *c)
{
	if (info->code == PARK_CODE && process_at(t->process)->dying_tid) {
		come_out(t, info, c);
		return;
	}
	if (sig == SIGTRAP && t->callback.due && callback_signal(t, info, c))
		return;
	if (sig == SIGSYS && info->code == SECCOMP_CODE)
		info->address = t->target;
	if ((FAULTS & BIT(sig)) && (info->code > 0 || ends_uprobe(t, sig, c))) {
		on_fault(t, sig, info, c);
		return;
	}
	was_passed_on(info);
	if ((FAULTS & BIT(sig)) && keep_unwanted(t, sig, info, c)) {
		after_sent(t, sig, info, c);
		return;
	}
	if (t->stepping) {
		keep(t, sig, info);
		after_sent(t, sig, info, c);
		return;
	}
	switch (locate(t, c, false)) {
	case AT_BORDER:
		deliver(t, sig, info, c, false);
		return;
	case AT_WORK:
		step_to_border(t, sig, info, c);
		return;
	default:
		if (FAULTS & BIT(sig))
			keep(t, sig, info);
		else
			put_off(t, sig, info, c);
	}
}

void on_signal(int sig, struct info *info, struct context *c)
{
	struct thread *t = of_this_stack();

	t->handling++;
	handle(t, sig, info, c);
	t->handling--;
}
