/* SPDX-License-Identifier: MIT */
/*
 * Reports the names that threads give themselves and each other to the reader of samples. Until a
 * thread of a process does so, its threads have their program's name, and nothing is reported.
 * Reports are in the same order as the kernel's changes: the lock is held for both.
 */
#include <asm/unistd.h>
#include <linux/prctl.h>
#include "exact/engine/engine.h"

enum { NAME_SIZE = 16 }; /* with the terminating NUL. Source: prctl(2), PR_SET_NAME */

static void tell(const struct thread *t, const char name[NAME_SIZE])
{
	const struct process *p = process_at(t->process);
	struct happening h = { .serial = p->serial,
			       .born = t->born,
			       .pid = p->pid,
			       .tid = t->tid,
			       .tsc = read_ticks() };

	memcpy(h.name, name, NAME_SIZE);
	note_happening(eng.shared, HAPPENED_NAME, &h);
}

static void tell_own(const struct thread *t)
{
	char name[NAME_SIZE] = { 0 };

	if (sys(__NR_prctl, PR_GET_NAME, name) == 0)
		tell(t, name);
}

/* A thread started, with its creator's name. */
void name_born(const struct thread *t)
{
	if (!eng.every.n_events)
		return;
	/* a thread that sets this name finds it by its tid, or has already marked the process */
	lock();
	if (process_at(t->process)->renamed)
		tell_own(t);
	unlock();
}

static bool names_itself(struct thread *t)
{
	const uint64_t *r = t->regs;
	long ret;

	if (r[RAX] != __NR_prctl || (int)r[RDI] != PR_SET_NAME)
		return false;
	lock();
	process_at(t->process)->renamed = 1;
	ret = sys(__NR_prctl, r[RDI], r[RSI], r[RDX], r[R10], r[R8]);
	if (ret == 0)
		tell_own(t);
	unlock();
	finish(t, ret);
	return true;
}

static const struct thread *thread_of(const struct thread *t, int64_t tid)
{
	for (uint32_t i = 0; i < shared_threads(eng.shared); i++) {
		const struct thread *other = thread_at(i);

		if (eng.shared->thread_states[i] == THREAD_LIVE && other->process == t->process &&
		    other->tid == tid)
			return other;
	}
	return NULL; /* it is new, and reports its name itself */
}

/* A write to /proc/PID/task/TID/comm: the kernel uses the first 15 bytes. Source: proc(5). */
static bool names_other(struct thread *t)
{
	const uint64_t *r = t->regs;
	const struct thread *other;
	char name[NAME_SIZE] = { 0 };
	int64_t tid;
	long ret;

	if (!eng.name_opened || (r[RAX] != __NR_write && r[RAX] != __NR_pwrite64))
		return false;
	tid = proc_file((int)r[RDI], "/comm");
	if (!tid)
		return false;
	copy_bytes(name, (const void *)r[RSI], r[RDX] < NAME_SIZE ? r[RDX] : NAME_SIZE - 1);
	lock();
	process_at(t->process)->renamed = 1;
	ret = sys(r[RAX], r[RDI], r[RSI], r[RDX], r[R10]);
	other = thread_of(t, tid);
	if (ret >= 0 && other)
		tell(other, name);
	unlock();
	finish(t, ret);
	return true;
}

bool gives_name(struct thread *t)
{
	return eng.every.n_events && (names_itself(t) || names_other(t));
}
