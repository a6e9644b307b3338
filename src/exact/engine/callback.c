/* SPDX-License-Identifier: MIT */
/*
 * tare_exact_every(): calls a function of the program after every n-th instruction of a thread. Its
 * countdown is one more event of sample_period.c, after the sampled ones. Blocks subtract from it
 * after the first registration in a process. The function is called like a signal handler, with a
 * frame on the thread's stack (deliver.c). This frame needs the vector state, so the engine sends
 * itself a signal. It always handles this signal, so the program cannot block it.
 */
#include <asm/unistd.h>
#include <linux/errno.h>
#include "exact/engine/signal.h"

enum { CALLBACK_CODE = -0x7a4b }; /* si_code, in place of SI_USER and the like */

static unsigned event_of_calls(void)
{
	return eng.every.n_events;
}

static bool is_used(void)
{
	return eng.countdowns > event_of_calls();
}

/* Does this event of the thread not count? Then code without the countdown may be corrected. */
bool callback_is_off(const struct thread *t, unsigned event)
{
	return event == event_of_calls() && !t->callback.n;
}

/* Translated code does not count down yet: discard it. Needs the lock. */
static void use(void)
{
	eng.every.event[event_of_calls()] = (struct every_event){ .n = 1,
								  .class = EXACT_INSTRUCTIONS };
	eng.countdowns = event_of_calls() + 1;
	eng.mode |= COUNT_EVERY;
	for (uint32_t i = eng.first_block; i < eng.n_blocks; i++)
		if (!(eng.blocks[i].flags & B_ONCE))
			block_kill(&eng.blocks[i]);
}

/* arch_prctl(EXACT_EVERY, n, enter, call, with). */
long callback_set(struct thread *t)
{
	const uint64_t *r = t->regs;
	uint64_t n = r[RSI];

	if (n > NEVER)
		return -EINVAL;
	lock();
	if (n && !is_used())
		use();
	unlock();
	memset(&t->callback, 0, sizeof t->callback);
	t->callback.n = n;
	t->callback.enter = r[RDX];
	t->callback.call = r[R10];
	t->callback.with = r[R8];
	if (is_used())
		period_restart(t, event_of_calls(), n ? (int64_t)n - 1 : NEVER);
	return 0;
}

/* An instruction has retired. If it is the n-th, the call is made when the engine is left. */
void callback_take(struct thread *t)
{
	unsigned event = event_of_calls();

	if (!is_used() || t->left[event] >= 0)
		return;
	if (!t->callback.n) {
		period_restart(t, event, NEVER);
		return;
	}
	period_restart(t, event, t->left[event] + (int64_t)t->callback.n);
	t->callback.calls++;
	t->callback.due = 1;
	__atomic_fetch_or(&t->pending, CALL_DUE, __ATOMIC_RELAXED);
}

/* All signals are blocked until the engine is left. */
void callback_send(const struct thread *t)
{
	struct info info = { .signo = SIGTRAP, .code = CALLBACK_CODE };

	if (t->callback.due)
		sys(__NR_rt_tgsigqueueinfo, sys(__NR_getpid), sys(__NR_gettid), SIGTRAP, &info);
}

static void begin_call(struct thread *t, struct context *c)
{
	unsigned event = event_of_calls();

	t->callback.due = 0;
	t->callback.inside = 1;
	t->callback.left = t->left[event] + t->sampler[event].left_more;
	period_restart(t, event, NEVER);
	if (!deliver_call(t, t->callback.enter, c))
		return;
	c->rdi = t->callback.calls * t->callback.n;
	c->rdx = t->callback.with;
	c->rcx = t->callback.call;
}

/*
 * A SIGTRAP arrived while a call is due. False: it is not the one of callback_send(), because the
 * kernel queues only one SIGTRAP. callback_send() sends it again.
 */
bool callback_signal(struct thread *t, const struct info *info, struct context *c)
{
	bool sent = info->code == CALLBACK_CODE;

	if (sent && locate(t, c, false) == AT_BORDER)
		begin_call(t, c);
	else
		__atomic_fetch_or(&t->pending, CALL_DUE, __ATOMIC_RELAXED);
	return sent;
}

/* arch_prctl(EXACT_RETURN, context). */
void callback_return(struct thread *t)
{
	if (t->callback.inside && is_used())
		period_restart(t, event_of_calls(), t->callback.left);
	t->callback.inside = 0;
	t->regs[RSP] = t->regs[RSI];
	signal_return(t);
}
