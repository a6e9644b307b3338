/* SPDX-License-Identifier: MIT */
/*
 * The program's system calls. Most are made with the program's own registers (syscall_go in
 * dispatch.S). Those that would reveal the engine, or that change what it tracks, are made here.
 */
#include <asm/unistd.h>
#include <asm/prctl.h>
#include <linux/errno.h>
#include <linux/prctl.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/wait.h>
#include "exact/engine/context.h"
#include "exact/engine/engine.h"

enum { USER_DISPATCH = 59, /* PR_SET_SYSCALL_USER_DISPATCH */ STOPS_WITHIN_MS = 1000 };

/* Source: linux/arch/x86/include/asm/page_64.h, TASK_SIZE_MAX with four levels of page tables. */
static const uint64_t LOWER_HALF = 0x7ffffffff000;

/* The call is done: `ret` is its result, and the program continues after it. */
void finish(struct thread *t, long ret)
{
	t->regs[RAX] = (uint64_t)ret;
	t->regs[RCX] = t->target;
	t->regs[R11] = t->flags;
	t->edge = 0;
	dispatch(t);
}

/*
 * A signal arrived before a call that must not be interrupted: deliver it first. The syscall
 * instruction is executed, and counted, afterwards.
 */
void undo_syscall(struct thread *t)
{
	struct insn in = { .len = 2, .kind = K_SYSCALL };

	t->target -= 2;
	uncount_special(t, &in, t->target);
	t->edge = 0;
	dispatch(t);
}

static long same(struct thread *t)
{
	const uint64_t *r = t->regs;

	return sys(r[RAX], r[RDI], r[RSI], r[RDX], r[R10], r[R8], r[R9]);
}

static void call_over(struct thread *t)
{
	if (t->after & AFTER_UNPIN) {
		lock();
		unpin(t);
		unlock();
	}
	if (t->after & AFTER_MASK) {
		t->waits = 0;
		set_program_mask(t, false);
	}
	t->after = AFTER_NOTHING;
}

/*
 * Let the kernel make the call. Decides whether the thread returns to the engine afterwards, and
 * for what.
 */
static void go(struct thread *t)
{
	t->after = AFTER_NOTHING;
	if (kernel_writes(t))
		t->after |= AFTER_UNPIN;
	if (opens_to_write(t))
		t->after |= AFTER_OPEN;
	else if (opens(t))
		t->after |= AFTER_LOOK;
	if (looks_for_pending(t)) {
		t->after |= AFTER_MASK;
		set_program_mask(t, true);
	}
	if (t->timeout)
		t->after |= AFTER_WAIT;
	/*
	 * A sampled call returns to the engine, so that the sample is taken after the call; with
	 * SAME_TURNS the thread may have lost its turn.
	 */
	t->jump = (uint64_t)(t->after || t->drafted || t->ordered ? syscall_go_back : syscall_go);
}

/* The program reads its thread's counts, `n` classes. */
static long read_counts(struct thread *t, uint64_t out, uint64_t n)
{
	int64_t sums[EXACT_CLASSES];

	if (n == 0 || n > EXACT_CLASSES)
		return -EINVAL;
	if (n > 1 && !(eng.mode & COUNT_TAKEN))
		return -ENODATA;
	thread_sums(t, sums);
	return copy_bytes((void *)out, sums, n * 8) == n * 8 ? 0 : -EFAULT;
}

/*
 * Above the range that every kernel accepts, ask this one: make the call itself, at a point where
 * the engine's own base is not needed.
 */
static long set_gs(struct thread *t, uint64_t base)
{
	if (base >= LOWER_HALF) {
		uint64_t mask = block_signals();
		long ret = sys(__NR_arch_prctl, ARCH_SET_GS, base);

		sys(__NR_arch_prctl, ARCH_SET_GS, t);
		set_signal_mask(mask);
		if (ret < 0)
			return ret;
	}
	t->user_gs = base;
	return 0;
}

static void arch_call(struct thread *t)
{
	uint64_t arg = t->regs[RSI];

	switch (t->regs[RDI]) {
	case ARCH_SET_GS:
		finish(t, set_gs(t, arg));
		return;
	case EXACT_READ:
		finish(t, read_counts(t, arg, t->regs[RDX]));
		return;
	case EXACT_EVERY:
		finish(t, callback_set(t));
		return;
	case EXACT_RETURN:
		callback_return(t);
		return;
	case ARCH_GET_GS:
		finish(t, copy_bytes((void *)arg, &t->user_gs, 8) == 8 ? 0 : -EFAULT);
		return;
	default:
		go(t);
	}
}

/* rseq(area, size, flags, signature): flag 1 unregisters. */
static void rseq_call(struct thread *t)
{
	long ret = same(t);

	if (ret == 0)
		t->rseq = t->regs[RDX] & 1 ? 0 : t->regs[RDI];
	finish(t, ret);
}

/* unshare(flags), setns(fd, kind): may put the children into another pid namespace. */
static void namespace_call(struct thread *t, uint64_t flags)
{
	long ret = same(t);

	if (ret == 0 && (flags & CLONE_NEWPID))
		process_at(t->process)->makes_foreign = 1;
	finish(t, ret);
}

/*
 * A thread stopped during a sleep restarts its system call when it is continued: the kernel sets
 * the pc back, and the engine cannot see that the instruction is executed again. So stops are
 * counted and reported with the counts.
 */
static void note_stop(const struct thread *t)
{
	const uint64_t *r = t->regs;
	bool of_thread = r[RAX] == __NR_tgkill || r[RAX] == __NR_rt_tgsigqueueinfo;
	int sig = (int)(of_thread ? r[RDX] : r[RSI]);

	if (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU)
		__atomic_fetch_add(&eng.shared->stops_sent, STOP_UNIT, __ATOMIC_RELAXED);
}

/*
 * The kernel would send system calls, including the engine's own, to a handler of the program's:
 * depending on a byte (1), or those from a range (2, from Linux 6.18). Kernels before 5.11 support
 * neither. Source: prctl(2), PR_SET_SYSCALL_USER_DISPATCH.
 */
static void check_user_dispatch(const struct thread *t)
{
	const uint64_t *r = t->regs;

	if ((int)r[RDI] == USER_DISPATCH && (r[RSI] == 1 || r[RSI] == 2) &&
	    !sys(__NR_prctl, USER_DISPATCH, 0))
		refuse("PR_SET_SYSCALL_USER_DISPATCH, by which the engine's own system calls would come to the program, at",
		       t->target);
}

/*
 * A tracer in the same memory (as in LeakSanitizer) needs the lock itself. A thread that it stops
 * must not hold the lock, so the tracer holds it until the other thread has stopped.
 */
static bool stops_sharer(struct thread *t)
{
	const uint64_t *r = t->regs;
	struct info seen = { 0 };
	volatile uint32_t nobody = 0;
	long ret;

	if (r[RAX] != __NR_ptrace || !eng.lent ||
	    (r[RDI] != PTRACE_ATTACH && r[RDI] != PTRACE_INTERRUPT))
		return false;
	lock();
	ret = same(t);
	for (int ms = 0; ret == 0 && ms < STOPS_WITHIN_MS; ms++) {
		if (sys(__NR_waitid, P_PID, (int32_t)r[RSI], &seen,
			WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL, 0) < 0 ||
		    seen.signo)
			break;
		futex_wait(&nobody, 0, 1);
	}
	unlock();
	finish(t, ret);
	return true;
}

void system_call(struct thread *t)
{
	const uint64_t *r = t->regs;

	if (t->after & (AFTER_UNPIN | AFTER_MASK)) /* a signal ended the call */
		call_over(t);
	if ((t->filter || t->strict) && !seccomp_allows(t))
		return;
	if (t->ordered && turn_call(t))
		return;
	if ((eng.mode & SAME_CLOCK) && (clock_call(t) || file_time_call(t)))
		return;
	shared_call(t);
	if (map_calls(t) || unmapped_call(t) || proc_call(t) || writes_memory(t) ||
	    pokes_memory(t) || gives_name(t) || stops_sharer(t))
		return;
	kernel_writes_for_good(t);
	switch (r[RAX]) {
	case __NR_getrandom:
	case __NR_open:
	case __NR_openat:
		if (!random_call(t) && !cpus_call(t))
			go(t);
		return;
	case __NR_getcpu:
	case __NR_sched_getaffinity:
	case __NR_sched_setaffinity:
		if (!cpus_call(t))
			go(t);
		return;
	case __NR_ioctl:
		if (!terminal_call(t))
			go(t);
		return;
	case __NR_memfd_create: {
		long ret = same(t);

		if (ret >= 0)
			shared_made((int)ret);
		finish(t, ret);
		return;
	}
	case __NR_getdents64:
		if (!directory_call(t))
			go(t);
		return;
	case __NR_prctl:
		check_user_dispatch(t);
		/* fall through */
	case __NR_seccomp:
		if (!seccomp_call(t))
			go(t);
		return;
	case __NR_arch_prctl:
		arch_call(t);
		return;
	case __NR_clone:
	case __NR_clone3:
	case __NR_fork:
	case __NR_vfork:
		fork_like(t, (long)r[RAX]);
		return;
	case __NR_rseq:
		if (!cpus_call(t))
			rseq_call(t);
		return;
	case __NR_unshare:
		namespace_call(t, r[RDI]);
		return;
	case __NR_setns:
		namespace_call(t, r[RSI] ? r[RSI] : CLONE_NEWPID);
		return;
	case __NR_execve:
	case __NR_execveat:
		exec_like(t, (long)r[RAX]);
		return;
	case __NR_exit:
		end_thread(t, (long)r[RDI]);
		return;
	case __NR_exit_group:
		end_process(t, (long)r[RDI]);
		go(t);
		return;
	case __NR_kill:
	case __NR_tgkill:
		if ((int)(r[RAX] == __NR_kill ? r[RSI] : r[RDX]) == SIGKILL && kill_process(t))
			return;
		note_stop(t);
		go(t);
		return;
	case __NR_tkill:
	case __NR_rt_sigqueueinfo:
	case __NR_rt_tgsigqueueinfo:
	case __NR_pidfd_send_signal:
		note_stop(t);
		go(t);
		return;
	case __NR_prlimit64:
	case __NR_setrlimit:
	case __NR_getrlimit:
		if (!limit_call(t))
			go(t);
		return;
	case __NR_rt_sigaction:
		finish(t, signal_action(t, (long)r[RDI], r[RSI], r[RDX], r[R10]));
		return;
	case __NR_rt_sigprocmask:
		finish(t, signal_mask(t, (long)r[RDI], r[RSI], r[RDX], r[R10]));
		return;
	case __NR_sigaltstack:
		finish(t, signal_stack(t, r[RDI], r[RSI]));
		return;
	case __NR_rt_sigreturn:
		signal_return(t);
		return;
	default:
		go(t);
	}
}

void system_call_done(struct thread *t)
{
	long ret = (long)t->regs[RAX];

	if ((t->after & AFTER_OPEN) && ret >= 0)
		file_opened((int)ret);
	if ((t->after & (AFTER_OPEN | AFTER_LOOK)) && ret >= 0)
		proc_file_opened((int)ret);
	if (t->after & AFTER_WAIT)
		clock_waited(t, ret);
	t->until = 0;
	call_over(t);
	t->edge = 0;
	dispatch(t);
}
