/* SPDX-License-Identifier: MIT */
/*
 * The program's system calls. Most are made with the program's own registers (syscall_go in
 * dispatch.S); those that would show the engine, or that change what it must know, are made here.
 */
#include <asm/unistd.h>
#include <asm/prctl.h>
#include <linux/errno.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include "exact/engine/engine.h"

enum { SECCOMP_SET_MODE_STRICT_ = 0, SECCOMP_SET_MODE_FILTER_ = 1 };

/* The call is over: `ret` is its result, and the program goes on behind it. */
void finish(struct thread *t, long ret)
{
	t->regs[RAX] = (uint64_t)ret;
	t->regs[RCX] = t->target;
	t->regs[R11] = t->flags;
	t->edge = 0;
	dispatch(t);
}

/*
 * A signal came before a call that must not be interrupted: it goes first, and the syscall
 * instruction is executed afterwards, counted then.
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

static bool failed(long ret)
{
	return ret < 0 && ret > -4096;
}

static void map_call(struct thread *t)
{
	const uint64_t *r = t->regs;
	long ret;

	lock();
	ret = same(t);
	if (!failed(ret))
		region_set((uint64_t)ret, (uint64_t)ret + r[RSI], (int)r[RDX], r[R10] & MAP_SHARED);
	unlock();
	finish(t, ret);
}

static void unmap_call(struct thread *t)
{
	uint64_t start = t->regs[RDI], size = t->regs[RSI];
	long ret;

	lock();
	ret = same(t);
	if (!failed(ret))
		region_set(start, start + size, 0, false);
	unlock();
	finish(t, ret);
}

/*
 * A call that fails at a hole has changed all before it. How far: as far as single pages still take it.
 * Source: mprotect(2), "Errors", ENOMEM.
 */
static uint64_t protected_until(uint64_t start, uint64_t end, long prot)
{
	while (start < end && !failed(sys(__NR_mprotect, start, 4096, prot)))
		start += 4096;
	return start;
}

static void protect_call(struct thread *t)
{
	uint64_t start = t->regs[RDI], size = t->regs[RSI];
	const struct region *r;
	bool shared;
	long ret;

	lock();
	r = region_of(start);
	shared = r && r->shared;
	ret = same(t);
	if (failed(ret) && ret != -EINVAL)
		size = protected_until(start, start + size, (long)t->regs[RDX]) - start;
	if (!failed(ret) || (ret != -EINVAL && size))
		region_set(start, start + size, (int)t->regs[RDX], shared);
	unlock();
	finish(t, ret);
}

static void remap_call(struct thread *t)
{
	uint64_t start = t->regs[RDI], old = t->regs[RSI], size = t->regs[RDX];
	const struct region *r;
	int prot = 0;
	bool shared;
	long ret;

	lock();
	r = region_of(start);
	if (r)
		prot = PROT_EXEC | (r->writable ? PROT_WRITE : 0);
	shared = r && r->shared;
	ret = same(t);
	if (!failed(ret) && ((uint64_t)ret != start || r || size < old)) {
		region_set(start, start + (old > size ? old : size), 0, false);
		region_set((uint64_t)ret, (uint64_t)ret + size, prot, shared);
	}
	unlock();
	finish(t, ret);
}

/* The program asks for its thread's counts: of `n` classes. */
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

static void arch_call(struct thread *t)
{
	uint64_t arg = t->regs[RSI];

	switch (t->regs[RDI]) {
	case ARCH_SET_GS:
		t->user_gs = arg;
		finish(t, 0);
		return;
	case EXACT_READ:
		finish(t, read_counts(t, arg, t->regs[RDX]));
		return;
	case ARCH_GET_GS:
		finish(t, copy_bytes((void *)arg, &t->user_gs, 8) == 8 ? 0 : -EFAULT);
		return;
	default:
		finish(t, same(t));
	}
}

/* rseq(area, size, flags, signature): flag 1 takes the registration back. */
static void rseq_call(struct thread *t)
{
	long ret = same(t);

	if (ret == 0)
		t->rseq = t->regs[RDX] & 1 ? 0 : t->regs[RDI];
	finish(t, ret);
}

/* unshare(flags), setns(fd, kind): may give the children a pid namespace of their own. */
static void namespace_call(struct thread *t, uint64_t flags)
{
	long ret = same(t);

	if (ret == 0 && (flags & CLONE_NEWPID))
		process_at(t->process)->makes_foreign = 1;
	finish(t, ret);
}

static void go(struct thread *t)
{
	t->jump = (uint64_t)syscall_go;
	if (eng.watched) {
		t->after = AFTER_FAULT;
		t->syscall_nr = t->regs[RAX];
		t->jump = (uint64_t)syscall_go_back;
	}
}

void system_call(struct thread *t)
{
	const uint64_t *r = t->regs;

	switch (r[RAX]) {
	case __NR_mmap:
		map_call(t);
		return;
	case __NR_munmap:
		unmap_call(t);
		return;
	case __NR_mprotect:
	case __NR_pkey_mprotect:
		protect_call(t);
		return;
	case __NR_mremap:
		remap_call(t);
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

/*
 * The kernel was to write into memory that is write-protected for our sake: give it back and make
 * the call again.
 */
void system_call_done(struct thread *t)
{
	if (t->after == AFTER_FAULT && (long)t->regs[RAX] == -EFAULT && eng.watched) {
		lock();
		unwatch_all();
		unlock();
		t->regs[RAX] = t->syscall_nr;
		t->after = AFTER_NOTHING;
		t->jump = (uint64_t)syscall_go;
		return;
	}
	t->edge = 0;
	dispatch(t);
}
