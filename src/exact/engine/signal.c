/* SPDX-License-Identifier: MIT */
/*
 * The program's signals. The kernel knows one handler, on_signal, on a stack of the engine's; it
 *builds the frame the kernel would have built, on the program's stack and with the program's
 *context, and has the program's handler run translated. Its rt_sigreturn goes the same way back.
 *
 * A signal that comes
 *	between two of the program's instructions  is delivered at once;
 *	inside the copy of one, or while counting  is kept while single steps bring us to the next
 *border; in the engine                              is queued again, blocked, until the engine
 *leaves.
 */
#include <asm/prctl.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/signal.h>
#include "exact/engine/engine.h"
#include "exact/engine/context.h"

#define BIT(sig) (1ull << ((sig)-1))

enum {
	SECCOMP_CODE = 1, /* SYS_SECCOMP */
	RED_ZONE = 128,
	FP_LEGACY_SIZE = 512,
	FP_MAGIC_AT = 464, /* sw_reserved: magic, then the size of all of it */
	FP_MAGIC = 0x46505853,
	FP_HEADER_AT = 512, /* XSTATE_BV */
	FP_MAX = 16384,
	EFLAGS_TF = 0x100,
	EFLAGS_DF = 0x400,
	EFLAGS_RF = 0x10000,
	FAULT_WRITE = 2, /* in the processor's error code */
	STACK_DISABLE = 2,
	STACK_ON = 1,
	STACK_MIN = 2048,
};

#define STACK_AUTODISARM (1u << 31)
#define ACTION_FLAGS                                                                               \
	(SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER |         \
	 SA_RESETHAND | 0x04000000u /* SA_RESTORER */)

/* The processor's own: the engine always hears them, whatever the program blocks. */
static const uint64_t FAULTS =
    BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGILL) | BIT(SIGFPE) | BIT(SIGTRAP);
/* These, too, leave a core: the engine hears them even where they simply end the program, so that it ends where it was. */
static const uint64_t CORES = BIT(SIGQUIT) | BIT(SIGABRT) | BIT(SIGXCPU) | BIT(SIGXFSZ) | BIT(SIGSYS);
static const uint64_t NEVER_BLOCKED = BIT(SIGKILL) | BIT(SIGSTOP);

static const char STEPS_ITSELF[] = "the program sets the trap flag to step itself, which the exact engine does not run, at";

static struct thread *self(void)
{
	struct thread *t;

	__asm__("mov %%gs:%c1, %0" : "=r"(t) : "i"(T_SELF));
	return t;
}

/* The same where GS may be the program's for the moment: the slot this stack lies in. */
static struct thread *of_this_stack(void)
{
	uint64_t sp;

	__asm__ volatile("mov %%rsp, %0" : "=r"(sp));
	return (struct thread *)(sp & ~(THREAD_STRIDE - 1));
}

/* ---- masks ---- */

static void kernel_mask(uint64_t mask, uint64_t *old)
{
	sys(__NR_rt_sigprocmask, SIG_SETMASK, &mask, old, 8);
}

/* Block everything; what was blocked before. */
uint64_t block_signals(void)
{
	struct thread *t = self();
	uint64_t old = 0;

	kernel_mask(~0ull, &old);
	return t->pending & PUT_OFF ? t->frame_mask : old;
}

void set_signal_mask(uint64_t mask)
{
	struct thread *t = self();

	t->frame_mask = mask; /* for what was put off; else meaningless */
	if (!(t->pending & PUT_OFF))
		kernel_mask(mask, NULL);
}

static uint64_t masked_for_kernel(uint64_t mask)
{
	return mask & ~FAULTS;
}

/* `whole`: signals that are kept go to the kernel, and it blocks them indeed; else the engine hears faults. */
void set_program_mask(struct thread *t, bool whole)
{
	if (whole) {
		block_signals();
		hand_over_kept(t, ~0ull);
	}
	set_signal_mask(whole ? t->mask : masked_for_kernel(t->mask));
}

long signal_mask(struct thread *t, long how, uint64_t set, uint64_t old, uint64_t size)
{
	uint64_t before = t->mask, mask;

	if (size != 8)
		return -EINVAL;
	if (set) {
		if (copy_bytes(&mask, (const void *)set, 8) != 8)
			return -EFAULT;
		mask &= ~NEVER_BLOCKED;
		if (how == SIG_BLOCK)
			t->mask |= mask;
		else if (how == SIG_UNBLOCK)
			t->mask &= ~mask;
		else if (how == SIG_SETMASK)
			t->mask = mask;
		else
			return -EINVAL;
		set_signal_mask(masked_for_kernel(t->mask));
		look_at_kept(t);
	}
	if (old && copy_bytes((void *)old, &before, 8) != 8)
		return -EFAULT;
	return 0;
}

/* ---- the kernel's handler ---- */

static void on_signal(int sig, struct info *info, struct context *c);

static void install(int sig, uint64_t flags)
{
	struct action a = {
		.handler = (uint64_t)on_signal,
		.flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | 0x04000000u |
			 (flags & (SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT)),
		.restorer = (uint64_t)signal_restorer,
		.mask = ~0ull, /* faults too: who sends them as fast as he can would fill the stack. See hear_faults() */
	};

	sys(__NR_rt_sigaction, sig, &a, 0, 8);
}

static void set_kernel_action(int sig, uint64_t handler, uint64_t flags)
{
	struct action a = { .handler = handler, .flags = flags };

	sys(__NR_rt_sigaction, sig, &a, 0, 8);
}

void set_alt_stack(struct thread *t)
{
	struct {
		uint64_t sp;
		int32_t flags;
		uint32_t pad;
		uint64_t size;
	} ss = { .sp = (uint64_t)t + ALT_STACK, .size = ALT_STACK_SIZE };

	sys(__NR_sigaltstack, &ss, 0);
}

/* What the kernel is to do with the signal when the program wants `a`. */
static void install_for(int sig, const struct action *a)
{
	if (FAULTS & BIT(sig))
		install(sig, SA_RESTART);
	else if (a->handler > (uint64_t)SIG_IGN || (a->handler == (uint64_t)SIG_DFL && (CORES & BIT(sig))))
		install(sig, a->flags);
	else
		set_kernel_action(sig, a->handler, a->flags & ~0x04000000ull);
}

/* The signals that the engine hears whatever the program wants; `anew`: what is there is the program's wish. */
static void install_own(struct process *p, bool anew)
{
	for (int sig = 1; sig <= SIGNALS; sig++)
		if ((FAULTS | CORES) & BIT(sig)) {
			if (anew)
				sys(__NR_rt_sigaction, sig, 0, &p->actions[sig - 1], 8);
			install_for(sig, &p->actions[sig - 1]);
		}
}

void signals_first(struct thread *t)
{
	struct process *p = process_at(t->process);

	set_alt_stack(t);
	install_own(p, true);
	t->mask = p->signal_mask & ~NEVER_BLOCKED;
	set_signal_mask(masked_for_kernel(t->mask));
}

/* What exec passes on: ignored signals. (The supervisor passes on the mask.) */
void signals_for_exec(struct thread *t)
{
	const struct process *p = process_at(t->process);

	for (int sig = 1; sig <= SIGNALS; sig++)
		if ((FAULTS & BIT(sig)) && p->actions[sig - 1].handler == (uint64_t)SIG_IGN)
			set_kernel_action(sig, (uint64_t)SIG_IGN, 0);
}

void signals_after_exec(struct thread *t)
{
	install_own(process_at(t->process), false);
}

/* CLONE_CLEAR_SIGHAND: a child whose handlers are gone, and ours with them. */
void signals_cleared(struct thread *t)
{
	struct process *p = process_at(t->process);

	for (int i = 0; i < SIGNALS; i++)
		if (p->actions[i].handler > (uint64_t)SIG_IGN)
			p->actions[i] = (struct action){ 0 };
	install_own(p, false);
}

long signal_action(struct thread *t, long sig, uint64_t act, uint64_t old, uint64_t size)
{
	struct process *p = process_at(t->process);
	struct action new, before;

	if (size != 8 || sig < 1 || sig > SIGNALS || (act && (NEVER_BLOCKED & BIT(sig))))
		return -EINVAL;
	if (act && copy_bytes(&new, (const void *)act, sizeof new) != sizeof new)
		return -EFAULT;
	lock();
	before = p->actions[sig - 1];
	/* What was there at exec the kernel knows best. */
	if (before.handler <= (uint64_t)SIG_IGN && !((FAULTS | CORES) & BIT(sig)))
		sys(__NR_rt_sigaction, sig, 0, &before, 8);
	if (act) {
		new.flags &= ACTION_FLAGS;
		new.mask &= ~NEVER_BLOCKED;
		p->actions[sig - 1] = new;
		if (!(FAULTS & BIT(sig)))
			install_for((int)sig, &new);
		else if (new.handler == (uint64_t)SIG_IGN)
			forget_kept(t, (int)sig);
	}
	unlock();
	if (old && copy_bytes((void *)old, &before, sizeof before) != sizeof before)
		return -EFAULT;
	return 0;
}

/* ---- the program's alternate stack ---- */

static bool on_alt_stack(const struct thread *t, uint64_t rsp)
{
	return !(t->alt_flags & (STACK_DISABLE | STACK_AUTODISARM)) && rsp > t->alt_sp &&
	       rsp - t->alt_sp <= t->alt_size;
}

long signal_stack(struct thread *t, uint64_t ss, uint64_t old)
{
	struct {
		uint64_t sp;
		uint32_t flags, pad;
		uint64_t size;
	} new, before = { .sp = t->alt_sp,
			  .flags = t->alt_flags | (on_alt_stack(t, t->regs[RSP]) ? STACK_ON : 0),
			  .size = t->alt_size };

	if (ss) {
		if (copy_bytes(&new, (const void *)ss, sizeof new) != sizeof new)
			return -EFAULT;
		if (on_alt_stack(t, t->regs[RSP]))
			return -EPERM;

		uint32_t mode = new.flags & ~STACK_AUTODISARM;

		if (mode != STACK_DISABLE && mode != STACK_ON && mode != 0)
			return -EINVAL;
		if (mode == STACK_DISABLE)
			new.sp = new.size = 0;
		else if (new.size < STACK_MIN)
			return -ENOMEM;
		t->alt_sp = new.sp;
		t->alt_size = new.size;
		t->alt_flags = new.flags & ~(uint32_t)STACK_ON;
	}
	if (old && copy_bytes((void *)old, &before, sizeof before) != sizeof before)
		return -EFAULT;
	return 0;
}

/* ---- delivery ---- */

uint64_t fp_size(uint64_t fpstate)
{
	const uint32_t *magic = (const uint32_t *)(fpstate + FP_MAGIC_AT);

	if (!fpstate)
		return 0;
	return magic[0] == FP_MAGIC && magic[1] <= FP_MAX ? magic[1] : FP_LEGACY_SIZE;
}

/* The handler begins with the processor's initial vector state, as the kernel arranges it. */
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

/* In the handler they are blocked, but where it touches the program's memory. */
void hear_faults(bool yes)
{
	kernel_mask(yes ? ~(BIT(SIGSEGV) | BIT(SIGBUS)) : ~0ull, NULL);
}

/* Lay the frame on the program's stack; 0 when there is no room. */
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

/* `c` is the program's context; make it the one in which its handler begins. */
static void deliver(struct thread *t, int sig, const struct info *info, struct context *c,
		    bool fault)
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
		struct info segv = { .signo = SIGSEGV, .code = SI_KERNEL };

		die(t, SIGSEGV, &segv, c);
		return;
	}
	if (a.flags & SA_RESETHAND) {
		p->actions[sig - 1].handler = (uint64_t)SIG_DFL;
		if (!((FAULTS | CORES) & BIT(sig)))
			set_kernel_action(sig, (uint64_t)SIG_DFL, 0);
	}
	t->mask |= a.mask | (a.flags & SA_NODEFER ? 0 : BIT(sig));
	t->mask &= ~NEVER_BLOCKED;
	c->mask = masked_for_kernel(t->mask);
	c->rdi = (uint64_t)sig;
	c->rsi = at + offsetof(struct frame, info);
	c->rdx = at + offsetof(struct frame, context);
	c->rax = 0;
	c->rsp = at;
	c->eflags &= ~(uint64_t)(EFLAGS_TF | EFLAGS_DF | EFLAGS_RF);
	c->rip = (uint64_t)engine_dispatch;
	t->target = a.handler;
	t->edge = 0;
	reset_fp(c->fpstate);
}

/* ---- putting off ---- */

static void put_off(struct thread *t, int sig, const struct info *info, struct context *c)
{
	sys(__NR_rt_tgsigqueueinfo, sys(__NR_getpid), sys(__NR_gettid), sig, info);
	t->frame_mask = c->mask;
	__atomic_fetch_or(&t->pending, PUT_OFF, __ATOMIC_RELAXED);
	c->mask = ~FAULTS;
}

/*
 * A signal that comes of what the thread does, as the kernel forces it: when the engine leaves, even if it is
 * blocked or ignored, which it survives no more than a fatal one.
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

enum { STEP_NONE, STEP_TO_BORDER, STEP_NATIVE };

/* The engine is about to leave: let what was put off come, at unblock_after. */
void deliver_pending(struct thread *t)
{
	uint64_t mask = block_signals();

	if (t->stepping == STEP_NATIVE) { /* not begun: it will be when the handlers are done */
		t->stepping = STEP_NONE;
		t->flags &= ~(uint64_t)EFLAGS_TF;
		t->jump = (uint64_t)engine_dispatch;
		t->edge = 0;
		mask = t->step_mask;
	}
	hand_over_kept(t, ~t->mask);
	t->pending = 0;
	raw_unblock(__NR_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, 8);
}

static void step_to_border(struct thread *t, int sig, const struct info *info, struct context *c)
{
	memcpy(t->step_info, info, sizeof *info);
	t->step_signal = (uint32_t)sig;
	t->step_mask = c->mask;
	t->stepping = STEP_TO_BORDER;
	c->eflags |= EFLAGS_TF;
	c->mask = ~FAULTS;
}

/* One instruction that names GS runs with the program's own GS base. */
static void swap_gs(struct thread *t, bool to_program)
{
	if (to_program == t->gs_swapped)
		return;
	if (to_program) {
		sys(__NR_arch_prctl, ARCH_SET_GS, t->user_gs);
	} else {
		sys(__NR_arch_prctl, ARCH_GET_GS, &t->user_gs);
		sys(__NR_arch_prctl, ARCH_SET_GS, t);
	}
	t->gs_swapped = to_program;
}

static void end_step(struct thread *t, struct context *c)
{
	swap_gs(t, false);
	t->stepping = STEP_NONE;
	c->eflags &= ~(uint64_t)EFLAGS_TF;
	c->mask = t->step_mask;
}

/*
 * One instruction of the program was executed where it stands: go on translated. An int3 has its own signal; where none
 * came the kernel had put it there, and has executed what stood in its place, which is not known here.
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
		refuse("a uprobe (perf probe, bpftrace) stands in the program's code, at", t->target);
	lock();
	eng.tid = t->tid;
	count_special(t, &in, t->target);
	unlock();
	if (breakpoint) {
		deliver(t, SIGTRAP, info, c, true);
		return;
	}
	t->target = c->rip;
	t->edge = 0;
	c->rip = (uint64_t)engine_dispatch;
}

static void on_step(struct thread *t, const struct info *now, struct context *c)
{
	struct info info;

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
		deliver(t, (int)t->step_signal, &info, c, false);
		return;
	default:
		end_step(t, c);
		put_off(t, (int)t->step_signal, &info, c);
	}
}

/*
 * Have the processor execute the instruction at t->target by itself, with a trap behind it: it is
 * unknown to the decoder, or lies in memory that may not be executed, and the fault must be the
 * real one.
 */
void step_natively(struct thread *t)
{
	if (in_cache(t->target) || t->target - eng.image < eng.image_size)
		refuse("the program jumped into the exact engine's own memory, at", t->target);
	t->step_mask = block_signals();
	t->stepping = STEP_NATIVE;
	t->flags |= EFLAGS_TF;
	t->jump = t->target;
	kernel_mask(~FAULTS, NULL);
}

/* A write to a page with translated code: forget the code, and make the write. */
static bool on_watched_write(struct thread *t, const struct info *info, struct context *c)
{
	struct block *b;
	bool ours;

	if (info->code != SEGV_ACCERR || !(c->err & FAULT_WRITE) ||
	    (c->rip - eng.image < eng.image_size && c->rip != (uint64_t)copy_insn))
		return false;
	lock();
	ours = watch_fault(info->address);
	b = ours ? block_of_code(c->rip) : NULL;
	/* The write changes its own block, perhaps: that block must not go on. */
	if (b && (b->flags & B_DEAD) && locate(t, c, true) == AT_BORDER) {
		t->target = c->rip;
		t->edge = 0;
		t->one_shot = 1;
		c->rip = (uint64_t)engine_dispatch;
	}
	unlock();
	return ours;
}

static void on_fault(struct thread *t, int sig, const struct info *info, struct context *c)
{
	enum place place;

	if (c->rip == (uint64_t)ticks_insn) {
		c->rip = (uint64_t)ticks_failed;
		return;
	}
	if (c->rip == (uint64_t)exec_failed_after)
		return; /* the supervisor, which this trap was for, is gone */
	if (sig == SIGTRAP && t->stepping) {
		on_step(t, info, c);
		return;
	}
	if (sig == SIGTRAP && info->code == TRAP_TRACE)
		refuse(STEPS_ITSELF, in_cache(c->rip) ? 0 : t->target);
	if (sig == SIGSEGV && on_watched_write(t, info, c))
		return;
	if (c->rip == (uint64_t)copy_insn) {
		c->rip = (uint64_t)copy_after;
		return;
	}
	if (t->stepping == STEP_NATIVE) {
		end_step(t, c);
		if (c->rip != t->target) /* the jump to it failed: no address at all */
			locate(t, c, true);
		c->eflags &= ~(uint64_t)EFLAGS_TF; /* ours */
		deliver(t, sig, info, c, true);
		return;
	}
	if (t->stepping) { /* the kept signal comes after the fault */
		struct info kept;

		memcpy(&kept, t->step_info, sizeof kept);
		end_step(t, c);
		sys(__NR_rt_tgsigqueueinfo, sys(__NR_getpid), sys(__NR_gettid), t->step_signal,
		    &kept);
	}
	place = locate(t, c, sig != SIGTRAP);
	if (place == AT_BORDER)
		deliver(t, sig, info, c, true);
	else if (place == AT_WORK)
		step_to_border(t, sig, info, c);
	else if (place == IN_ENGINE)
		refuse("the exact engine itself failed at (offset in its image)",
		       c->rip - eng.image);
	else
		refuse("the program left the exact engine, at", c->rip);
}

static bool step_is_over(const struct thread *t, const struct context *c)
{
	return t->stepping == STEP_NATIVE && c->rip != t->target &&
	       !(c->rip >= (uint64_t)leave_begin && c->rip < (uint64_t)leave_end);
}

/* The kernel ends the step over a uprobe by a signal that looks sent. Source: arch_uprobe_post_xol(). */
static bool ends_uprobe(const struct thread *t, int sig, const struct context *c)
{
	return sig == SIGTRAP && step_is_over(t, c) && code_room(c->rip) && *(const uint8_t *)t->target == 0xcc;
}

/* The step's own trap is gone, where one that was sent stood in its way. */
static void after_sent(struct thread *t, int sig, const struct info *info, struct context *c)
{
	if (sig == SIGTRAP && step_is_over(t, c))
		on_native_step(t, info, c);
}

static void on_signal(int sig, struct info *info, struct context *c)
{
	struct thread *t = of_this_stack();

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

/* The program's rt_sigreturn: its frame, with the engine's pc, mask and stack in place of its own.
 */
void signal_return(struct thread *t)
{
	struct frame f;

	if (copy_bytes(&f.context, (const void *)t->regs[RSP], sizeof f.context) !=
	    sizeof f.context) {
		struct info info = { .signo = SIGSEGV, .code = SI_KERNEL };

		set_kernel_action(SIGSEGV, (uint64_t)SIG_DFL, 0);
		sys(__NR_rt_tgsigqueueinfo, sys(__NR_getpid), sys(__NR_gettid), SIGSEGV, &info);
		kernel_mask(0, NULL);
	}
	if (f.context.eflags & EFLAGS_TF)
		refuse(STEPS_ITSELF, f.context.rip);
	t->mask = f.context.mask & ~NEVER_BLOCKED;
	look_at_kept(t);
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
