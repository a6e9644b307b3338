/* SPDX-License-Identifier: MIT */
/*
 * The other threads of a process that dumps core. Each one must be at its own pc with its own
 * registers, so that the core shows it as without the engine. A thread cannot stop itself that way,
 * so the supervisor traces it (../park.c). The supervisor corrects the registers of threads that
 * wait in a system call. The others it asks to leave the engine: they return to their place in the
 * program, where a queued signal stops them before they execute anything.
 */
#include <asm/prctl.h>
#include <asm/resource.h>
#include "exact/engine/signal.h"

enum {
	WAIT_MS = 100,
	WAITS_ALONE = 3,
	WAITS_MAX = 50, /* a thread that cannot leave must not delay the process's end for long */
	WAITS_FOR_END = 2 * WAITS_MAX
};

static struct process *of(const struct thread *t)
{
	return process_at(t->process);
}

bool leaves_core(void)
{
	struct limit limit;

	return eng.shared->cores_piped || sys(__NR_prlimit64, 0, RLIMIT_CORE, 0, &limit) < 0 ||
		limit.cur;
}

/* Does another process run in this address space? */
static bool memory_is_lent(const struct thread *t)
{
	for (uint32_t i = 0; i < shared_threads(eng.shared); i++)
		if (eng.shared->thread_states[i] == THREAD_LIVE &&
		    thread_at(i)->space == t->space && thread_at(i)->process != t->process)
			return true;
	return false;
}

/*
 * Hundreds of busy threads may leave no processor to the supervisor that is to stop them: make them
 * wait. Avoided where possible, as it interrupts their system calls.
 */
static void hold_others(const struct thread *t)
{
	for (uint32_t i = 0; i < shared_threads(eng.shared); i++) {
		const struct thread *other = thread_at(i);
		struct info come = { .signo = SIGTRAP, .code = PARK_CODE };

		if (eng.shared->thread_states[i] == THREAD_LIVE && other->process == t->process &&
		    other != t && other->tid)
			sys(__NR_rt_tgsigqueueinfo, sys(__NR_getpid), other->tid, SIGTRAP, &come);
	}
}

/* The process dies by signal `sig` of this thread. True if no thread needs the engine any more. */
bool park_others(struct thread *t, int sig)
{
	struct process *p = of(t);

	p->park_signal = sig == SIGSYS ? SIGXFSZ : SIGSYS;
	__atomic_store_n(&p->dying, DYING_ASKED, __ATOMIC_RELEASE);
	ring();
	for (int i = 0; i < WAITS_MAX && (p->dying == DYING_ASKED || p->dying == DYING_SEEN) &&
	     !supervisor_gone();
	     i++) {
		if (i >= WAITS_ALONE && p->dying == DYING_ASKED)
			hold_others(t);
		futex_wait(&p->dying, p->dying == DYING_SEEN ? DYING_SEEN : DYING_ASKED, WAIT_MS);
	}
	return p->dying == DYING_PARKED && !memory_is_lent(t);
}

/* `c` is the program's context: return to it, into the stop that the supervisor waits for. */
void park_here(struct thread *t, struct context *c)
{
	int sig = of(t)->park_signal;
	struct info out = { .signo = sig, .code = PARKED_CODE };

	sys(__NR_rt_tgsigqueueinfo, sys(__NR_getpid), sys(__NR_gettid), sig, &out);
	c->eflags &= ~(uint64_t)EFLAGS_TF;
	c->mask = ~BIT(sig);
	sys(__NR_arch_prctl, ARCH_SET_GS, t->user_gs);
}

/* Inside the engine, which the thread leaves soon: park then. */
void come_out_later(struct thread *t, struct context *c)
{
	int sig = of(t)->park_signal;
	struct info again = { .signo = sig, .code = PARK_CODE };
	uint64_t mask = t->pending & PUT_OFF ? t->frame_mask : c->mask;

	install(sig, 0);
	put_off(t, sig, &again, c);
	t->frame_mask = mask & ~BIT(sig);
}

/* Wait until the supervisor traces the thread. False: the process does not end after all. */
static bool wait_for_trace(const struct thread *t)
{
	volatile uint32_t *park = &((struct thread *)t)->park;

	for (int i = 0; i < WAITS_FOR_END && !*park && !supervisor_gone(); i++)
		futex_wait(park, 0, WAIT_MS);
	return *park;
}

/* A request to leave the engine, as soon as the supervisor traces the thread. */
void come_out(struct thread *t, const struct info *info, struct context *c)
{
	if (!wait_for_trace(t))
		return;
	if (t->stepping) /* it leaves at the next instruction boundary */
		return;
	switch (locate(t, c, false)) {
	case AT_BORDER:
		park_here(t, c);
		return;
	case AT_WORK:
		step_to_border(t, 0, info, c);
		return;
	case IN_ENGINE:
		come_out_later(t, c);
		return;
	default:
		return;
	}
}

/* This thread got a fatal signal after another one. False: the process does not die of that. */
bool wait_and_park(struct thread *t, struct context *c)
{
	if (!wait_for_trace(t))
		return false;
	park_here(t, c);
	return true;
}
