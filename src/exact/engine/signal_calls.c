/* SPDX-License-Identifier: MIT */
/*
 * The program's signal settings: mask, dispositions, alternate stack; and the settings that the
 * kernel gets instead.
 */
#include <linux/errno.h>
#include "exact/engine/signal.h"

enum { STACK_MIN = 2048 };

#define ACTION_FLAGS                                                                               \
	(SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER |         \
	 SA_RESETHAND | 0x04000000u /* SA_RESTORER */)

static struct thread *self(void)
{
	struct thread *t;

	__asm__("mov %%gs:%c1, %0" : "=r"(t) : "i"(T_SELF));
	return t;
}

/* Block everything; returns the previous mask. */
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

	t->frame_mask = mask; /* only used for deferred signals */
	if (!(t->pending & PUT_OFF))
		kernel_mask(mask, NULL);
}

/*
 * `whole`: the kernel gets kept signals and really blocks them; otherwise the engine handles
 * faults.
 */
void set_program_mask(struct thread *t, bool whole)
{
	if (whole) {
		block_signals();
		hand_over_pending(t, ~0ull);
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
		look_at_pending(t);
	}
	if (old && copy_bytes((void *)old, &before, 8) != 8)
		return -EFAULT;
	return 0;
}

/* ---- what the kernel does with them ---- */

void install(int sig, uint64_t flags)
{
	struct action a = {
		.handler = (uint64_t)engine_signal,
		.flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | 0x04000000u |
			(flags & (SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT)),
		.restorer = (uint64_t)signal_restorer,
		/*
		 * faults, too: a flood of sent signals would overflow the stack. See hear_faults()
		 */
		.mask = ~0ull,
	};

	sys(__NR_rt_sigaction, sig, &a, 0, 8);
}

void set_kernel_action(int sig, uint64_t handler, uint64_t flags)
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

/* The kernel's disposition of the signal when the program sets `a`. */
static void install_for(int sig, const struct action *a)
{
	if (FAULTS & BIT(sig))
		install(sig, SA_RESTART);
	else if (a->handler > (uint64_t)SIG_IGN ||
		 (a->handler == (uint64_t)SIG_DFL && (CORES & BIT(sig))))
		install(sig, a->flags);
	else
		set_kernel_action(sig, a->handler, a->flags & ~0x04000000ull);
}

/*
 * Install handlers for the signals that the engine always handles. `anew`: the current dispositions
 * are the program's.
 */
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

/* Before exec, which passes on ignored signals. (The supervisor passes on the mask.) */
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

/* CLONE_CLEAR_SIGHAND: a child starts with all handlers reset, including the engine's. */
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

	if (size != 8)
		return -EINVAL;
	if (act && copy_bytes(&new, (const void *)act, sizeof new) != sizeof new)
		return -EFAULT;
	if (sig < 1 || sig > SIGNALS || (act && (NEVER_BLOCKED & BIT(sig))))
		return -EINVAL;
	lock();
	before = p->actions[sig - 1];
	/* The dispositions after exec are known only to the kernel. */
	if (before.handler <= (uint64_t)SIG_IGN && !((FAULTS | CORES) & BIT(sig)))
		sys(__NR_rt_sigaction, sig, 0, &before, 8);
	if (act) {
		new.flags &= ACTION_FLAGS;
		new.mask &= ~NEVER_BLOCKED;
		p->actions[sig - 1] = new;
		if (!(FAULTS & BIT(sig)))
			install_for((int)sig, &new);
		else if (new.handler == (uint64_t)SIG_IGN)
			forget_pending(t, (int)sig);
	}
	unlock();
	if (old && copy_bytes((void *)old, &before, sizeof before) != sizeof before)
		return -EFAULT;
	return 0;
}

/* ---- the program's alternate stack ---- */

long signal_stack(struct thread *t, uint64_t ss, uint64_t old)
{
	struct {
		uint64_t sp;
		uint32_t flags, pad;
		uint64_t size;
	} new,
		before = { .sp = t->alt_sp,
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
