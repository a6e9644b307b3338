/* SPDX-License-Identifier: MIT */
/*
 * Delivers a signal to the program: builds the frame that the kernel would build on the program's
 * stack, and handles the rt_sigreturn. Or keeps the signal until the engine leaves.
 */
#include "exact/engine/signal.h"

enum {
	RED_ZONE = 128,
	FP_LEGACY_SIZE = 512,
	FP_MAGIC_AT = 464, /* sw_reserved: magic, then the total size */
	FP_MAGIC = 0x46505853,
	FP_HEADER_AT = 512, /* XSTATE_BV */
	FP_MAX = 16384,
	EFLAGS_DF = 0x400,
	EFLAGS_RF = 0x10000,
};

uint64_t fp_size(uint64_t fpstate)
{
	const uint32_t *magic = (const uint32_t *)(fpstate + FP_MAGIC_AT);

	if (!fpstate)
		return 0;
	return magic[0] == FP_MAGIC && magic[1] <= FP_MAX ? magic[1] : FP_LEGACY_SIZE;
}

/* The handler starts with the processor's initial vector state, as under the kernel. */
static void reset_fp(uint64_t fpstate)
{
	if (!fpstate)
		return;
	if (fp_size(fpstate) > FP_LEGACY_SIZE)
		*(uint64_t *)(fpstate + FP_HEADER_AT) = 0;
	else
		memset((void *)(fpstate + 32), 0, FP_LEGACY_SIZE - 32 - 96);
	*(uint16_t *)fpstate = 0x37f;         /* x87 control word */
	*(uint32_t *)(fpstate + 24) = 0x1f80; /* MXCSR */
}

/* Faults are blocked in the handler, except while it accesses the program's memory. */
void hear_faults(bool yes)
{
	kernel_mask(yes ? ~(BIT(SIGSEGV) | BIT(SIGBUS)) : ~0ull, NULL);
}

/* Build the frame on the program's stack; 0 when there is no room. */
static uint64_t push_frame(struct thread *t, int sig, const struct info *info,
			   const struct context *c, const struct action *a)
{
	uint64_t size = fp_size(c->fpstate), sp = c->rsp - RED_ZONE, fp, at;
	bool on_alt = on_alt_stack(t, c->rsp), done;
	struct frame f = { .restorer = a->restorer, .context = *c, .info = *info };

	(void)sig;
	if ((a->flags & SA_ONSTACK) && !on_alt && !(t->alt_flags & STACK_DISABLE))
		sp = t->alt_sp + t->alt_size;
	fp = (sp - size) & ~63ull;
	at = ((fp - sizeof f) & ~15ull) - 8;
	f.context.stack_sp = t->alt_sp;
	f.context.stack_size = t->alt_size;
	f.context.stack_flags = t->alt_flags | (on_alt ? STACK_ON : 0);
	f.context.mask = t->mask;
	f.context.fpstate = c->fpstate ? fp : 0;
	f.context.gs = 0;
	hear_faults(true);
	done = copy_bytes((void *)fp, (const void *)c->fpstate, size) == size &&
		copy_bytes((void *)at, &f, sizeof f) == sizeof f;
	hear_faults(false);
	if (!done)
		return 0;
	if (t->alt_flags & STACK_AUTODISARM)
		t->alt_flags = STACK_DISABLE, t->alt_sp = t->alt_size = 0;
	return at;
}

/* The frame at `at` is complete: `c` becomes the context in which `handler` starts. */
static void start_handler(struct thread *t, uint64_t handler, uint64_t at, struct context *c)
{
	c->mask = masked_for_kernel(t->mask);
	c->rsi = at + offsetof(struct frame, info);
	c->rdx = at + offsetof(struct frame, context);
	c->rax = 0;
	c->rsp = at;
	c->eflags &= ~(uint64_t)(EFLAGS_TF | EFLAGS_DF | EFLAGS_RF);
	c->rip = (uint64_t)engine_dispatch;
	t->target = handler;
	t->edge = 0;
	reset_fp(c->fpstate);
}

static void die_without_stack(struct thread *t, struct context *c)
{
	struct info segv = { .signo = SIGSEGV, .code = SI_KERNEL };

	die(t, SIGSEGV, &segv, c);
}

bool deliver_call(struct thread *t, uint64_t handler, struct context *c)
{
	const struct info info = { .signo = SIGTRAP };
	const struct action a = { .handler = handler };
	uint64_t at = push_frame(t, SIGTRAP, &info, c, &a);

	if (!at) {
		die_without_stack(t, c);
		return false;
	}
	start_handler(t, handler, at, c);
	c->rsi = at + offsetof(struct frame, context);
	return true;
}

/* `c` is the program's context; change it to that in which its handler starts. */
void deliver(struct thread *t, int sig, const struct info *info, struct context *c, bool fault)
{
	struct process *p = process_at(t->process);
	struct action a = p->actions[sig - 1];
	uint64_t at;

	if (fault && ((t->mask & BIT(sig)) || a.handler == (uint64_t)SIG_IGN))
		a.handler = (uint64_t)SIG_DFL;
	if (a.handler == (uint64_t)SIG_IGN) {
		t->target = c->rip;
		t->edge = 0;
		c->rip = (uint64_t)engine_dispatch;
		c->mask = masked_for_kernel(c->mask);
		return;
	}
	if (a.handler == (uint64_t)SIG_DFL) {
		die(t, sig, info, c);
		return;
	}
	at = push_frame(t, sig, info, c, &a);
	if (!at) {
		die_without_stack(t, c);
		return;
	}
	if (a.flags & SA_RESETHAND) {
		/* flags and mask are kept, and can be queried */
		p->actions[sig - 1].handler = (uint64_t)SIG_DFL;
		if (!((FAULTS | CORES) & BIT(sig)))
			sys(__NR_rt_sigaction, sig, &p->actions[sig - 1], 0, 8);
	}
	t->mask |= a.mask | (a.flags & SA_NODEFER ? 0 : BIT(sig));
	t->mask &= ~NEVER_BLOCKED;
	c->rdi = (uint64_t)sig;
	start_handler(t, a.handler, at, c);
}

void put_off(struct thread *t, int sig, const struct info *info, struct context *c)
{
	sys(__NR_rt_tgsigqueueinfo, sys(__NR_getpid), sys(__NR_gettid), sig, info);
	t->frame_mask = c->mask;
	t->last_signal = (uint32_t)sig;
	__atomic_fetch_or(&t->pending, PUT_OFF, __ATOMIC_RELAXED);
	c->mask = ~FAULTS;
}

/*
 * A signal caused by what the thread does. Like the kernel's force_sig, it is sent when the engine
 * leaves, even if it is blocked or ignored; then it is fatal.
 */
void force_signal(struct thread *t, int sig, const struct info *info, bool fatal)
{
	struct action *a = &process_at(t->process)->actions[sig - 1];
	uint64_t mask = block_signals();

	if (fatal || (t->mask & BIT(sig)) || a->handler == (uint64_t)SIG_IGN) {
		a->handler = (uint64_t)SIG_DFL;
		t->mask &= ~BIT(sig);
		install(sig, 0);
	}
	sys(__NR_rt_tgsigqueueinfo, sys(__NR_getpid), sys(__NR_gettid), sig, info);
	t->frame_mask = mask & ~BIT(sig);
	__atomic_fetch_or(&t->pending, PUT_OFF, __ATOMIC_RELAXED);
}

/* The engine is about to leave: deliver deferred signals at unblock_after. */
void deliver_pending(struct thread *t)
{
	uint64_t mask = block_signals();

	if (t->stepping == STEP_NATIVE) { /* not started: it will be after the handlers */
		t->stepping = STEP_NONE;
		t->flags &= ~(uint64_t)EFLAGS_TF;
		t->jump = (uint64_t)engine_dispatch;
		t->edge = 0;
		mask = t->step_mask;
	}
	hand_over_pending(t, ~t->mask);
	callback_send(t);
	t->pending = 0;
	raw_unblock(__NR_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, 8);
}

/* The program's rt_sigreturn: its frame, with the engine's pc, mask and stack. */
void signal_return(struct thread *t)
{
	struct frame f;

	turn_returns(t);
	if (copy_bytes(&f.context, (const void *)t->regs[RSP], sizeof f.context) !=
	    sizeof f.context) {
		struct info info = { .signo = SIGSEGV, .code = SI_KERNEL };

		process_at(t->process)->ending = SIGSEGV;
		folds_hold(process_at(t->process));
		set_kernel_action(SIGSEGV, (uint64_t)SIG_DFL, 0);
		sys(__NR_rt_tgsigqueueinfo, sys(__NR_getpid), sys(__NR_gettid), SIGSEGV, &info);
		kernel_mask(0, NULL);
	}
	if (f.context.eflags & EFLAGS_TF)
		refuse(STEPS_ITSELF, f.context.rip);
	/* The kernel rejects other code segments (frame_not_taken). */
	if ((f.context.cs | 3) == CODE_32 || (f.context.cs & OF_LDT))
		refuse("a return from a signal into another code segment, which the exact engine does not run, at",
		       f.context.rip);
	t->mask = f.context.mask & ~NEVER_BLOCKED;
	look_at_pending(t);
	t->alt_sp = f.context.stack_sp;
	t->alt_size = f.context.stack_size;
	t->alt_flags = f.context.stack_flags & ~(uint32_t)STACK_ON;
	t->target = f.context.rip;
	t->edge = 0;
	f.context.rip = (uint64_t)engine_dispatch;
	f.context.eflags &= ~(uint64_t)EFLAGS_TF;
	f.context.mask = masked_for_kernel(t->mask);
	f.context.stack_sp = (uint64_t)t + ALT_STACK;
	f.context.stack_size = ALT_STACK_SIZE;
	f.context.stack_flags = 0;
	resume_frame(&f.context);
}
