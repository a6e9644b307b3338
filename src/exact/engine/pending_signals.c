/* SPDX-License-Identifier: MIT */
/*
 * Fault signals (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP) that were sent by a process. The engine
 * must handle real faults, so the kernel never blocks these signals while the engine or the program
 * runs. One that is sent arrives at once, even if the program blocks it, and also inside the
 * engine. It is kept here, one of each kind as in the kernel,
 *	until the program unblocks it, or
 *	until the engine leaves, if it arrived inside the engine.
 * Before system calls that look for such signals it is sent again and blocked in the kernel:
 * sigsuspend(), sigwaitinfo(), sigpending(), those on a signalfd, and exec.
 */
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/signal.h>
#include "exact/engine/engine.h"
#include "exact/engine/context.h"

/* In place of SI_USER, which the kernel does not let one thread send to another. */
enum { PASSED_ON = -0x7a4e };

static const uint8_t kinds[PENDING_MAX] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP };

static uint64_t bit(int sig)
{
	return 1ull << (sig - 1);
}

static void queue(int32_t tid, int sig, const void *info)
{
	sys(__NR_rt_tgsigqueueinfo, sys(__NR_getpid), tid, sig, info);
}

static bool to_process(const struct info *info)
{
	return info->code == SI_USER || info->code == SI_QUEUE;
}

static void pass_on(const struct thread *to, int sig, const struct info *info)
{
	struct info as = *info;

	if (as.code == SI_USER)
		as.code = to->waits & bit(sig) ? SI_QUEUE : PASSED_ON;
	queue(to->tid, sig, &as);
}

/* The thread that the signal was passed to received it. */
void was_passed_on(struct info *info)
{
	if (info->code == PASSED_ON)
		info->code = SI_USER;
}

/* Another thread that would receive the signal natively, if it was sent to the process. */
static struct thread *one_that_hears(const struct thread *t, int sig)
{
	for (uint32_t i = 0; i < shared_threads(eng.shared); i++) {
		struct thread *other = thread_at(i);

		if (eng.shared->thread_states[i] == THREAD_LIVE && other->process == t->process &&
		    other != t && other->tid &&
		    (!(other->mask & bit(sig)) || (other->waits & bit(sig))))
			return other;
	}
	return NULL;
}

/* A call was interrupted by a signal that the program blocks or ignores: restart it. */
static void call_again(const struct thread *t, struct context *c)
{
	bool back = c->rip == (uint64_t)syscall_after_back;

	if ((!back && c->rip != (uint64_t)syscall_after) || c->rax != (uint64_t)-EINTR)
		return;
	c->rax = t->regs[RAX];
	c->rcx = 0;
	c->rip = (uint64_t)(back ? syscall_insn_back : syscall_insn);
}

/* Is the thread in a system call with a mask argument, which the kernel has applied? */
static bool by_mask_of_call(const struct thread *t, const struct context *c)
{
	const uint64_t *r = t->regs;
	uint64_t mask;
	bool given;

	if ((c->rip != (uint64_t)syscall_after_back && c->rip != (uint64_t)syscall_after) ||
	    c->rax != (uint64_t)-EINTR)
		return false;
	switch (r[RAX]) {
	case __NR_rt_sigsuspend:
		return true;
	case __NR_ppoll:
		return r[R10];
	case __NR_epoll_pwait:
	case __NR_epoll_pwait2:
		return r[R8];
	case __NR_pselect6:
		hear_faults(true);
		given = r[R9] && copy_bytes(&mask, (const void *)r[R9], 8) == 8 && mask;
		hear_faults(false);
		return given;
	default:
		return false;
	}
}

static struct pending_signals *of_process(const struct thread *t)
{
	return &process_at(t->process)->kept;
}

static void put_signal(struct pending_signals *to, int sig, const void *info)
{
	for (int i = 0; i < PENDING_MAX; i++)
		if (kinds[i] == sig && !(to->which & bit(sig))) {
			memcpy(to->info[i], info, sizeof to->info[i]);
			__atomic_fetch_or(&to->which, bit(sig), __ATOMIC_SEQ_CST);
		}
}

/* Keep it until the program unblocks it, or the engine leaves. */
void keep(struct thread *t, int sig, const struct info *info)
{
	put_signal(to_process(info) ? of_process(t) : &t->kept, sig, info);
	look_at_pending(t);
}

/* The signal was sent. True if the program blocks or ignores it; then it was handled here. */
bool keep_unwanted(struct thread *t, int sig, const struct info *info, struct context *c)
{
	bool ignored = process_at(t->process)->actions[sig - 1].handler == (uint64_t)SIG_IGN;
	bool blocked = (t->mask & bit(sig)) && !by_mask_of_call(t, c);
	struct thread *other;

	if (!blocked && !ignored)
		return false;
	call_again(t, c);
	if (!blocked)
		return true;
	keep(t, sig, info);
	/*
	 * The order matters: a thread that starts to wait announces that before it checks for kept
	 * signals.
	 */
	if (to_process(info) && (other = one_that_hears(t, sig)) &&
	    (__atomic_fetch_and(&of_process(t)->which, ~bit(sig), __ATOMIC_SEQ_CST) & bit(sig)))
		pass_on(other, sig, info);
	return true;
}

static void give_to_kernel(struct pending_signals *from, uint64_t which, const struct thread *t)
{
	uint64_t had = __atomic_fetch_and(&from->which, ~which, __ATOMIC_ACQUIRE) & which;
	bool process = from != &t->kept && process_at(t->process)->threads == 1 &&
		t->tid == sys(__NR_getpid);

	for (int i = 0; i < PENDING_MAX; i++)
		if ((had & bit(kinds[i])) && process)
			sys(__NR_rt_sigqueueinfo, sys(__NR_getpid), kinds[i], from->info[i]);
		else if (had & bit(kinds[i]))
			queue(t->tid, kinds[i], from->info[i]);
}

/* Send the kept signals in `which` to the kernel. All signals are blocked. */
void hand_over_pending(struct thread *t, uint64_t which)
{
	give_to_kernel(&t->kept, which, t);
	give_to_kernel(of_process(t), which, t);
}

/*
 * Signals pending for this program are pending for the next. A SIGTRAP in the kernel would be taken
 * for one of the supervisor's.
 */
void keep_for_exec(struct thread *t, bool watched)
{
	if (!watched) {
		hand_over_pending(t, ~0ull);
		return;
	}
	for (int i = 0; i < PENDING_MAX; i++)
		if (t->kept.which & bit(kinds[i]))
			put_signal(of_process(t), kinds[i], t->kept.info[i]);
	t->kept.which = 0;
}

/* Does the thread's next call look for pending signals, and may one be kept? */
bool looks_for_pending(struct thread *t)
{
	const uint64_t *r = t->regs;
	uint64_t set;

	switch (r[RAX]) {
	case __NR_rt_sigtimedwait:
		if (copy_bytes(&set, (const void *)r[RDI], 8) == 8)
			__atomic_store_n(&t->waits, set, __ATOMIC_SEQ_CST);
		return true;
	case __NR_rt_sigsuspend:
	case __NR_rt_sigpending:
	case __NR_read: /* and these, on a signalfd */
	case __NR_readv:
	case __NR_poll:
	case __NR_ppoll:
	case __NR_select:
	case __NR_pselect6:
	case __NR_epoll_wait:
	case __NR_epoll_pwait:
	case __NR_epoll_pwait2:
		return t->kept.which | of_process(t)->which;
	default:
		return false;
	}
}

/* The program's mask changed, or a signal was kept. */
void look_at_pending(struct thread *t)
{
	if ((t->kept.which | of_process(t)->which) & ~t->mask)
		__atomic_fetch_or(&t->pending, KEPT, __ATOMIC_RELAXED);
}

/* The program now ignores the signal: discard pending ones. */
void forget_pending(const struct thread *t, int sig)
{
	__atomic_fetch_and(&of_process(t)->which, ~bit(sig), __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < shared_threads(eng.shared); i++)
		if (eng.shared->thread_states[i] == THREAD_LIVE &&
		    thread_at(i)->process == t->process)
			__atomic_fetch_and(&thread_at(i)->kept.which, ~bit(sig), __ATOMIC_RELAXED);
}
