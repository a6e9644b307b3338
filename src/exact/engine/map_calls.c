/* SPDX-License-Identifier: MIT */
/*
 * The program's own mmap, munmap, mprotect, mremap and their kin: made here, under the lock, so that what
 * is known of executable memory (regions.c) is what the kernel has, also after a call that fails half way.
 */
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/ipc.h>
#include <linux/mman.h>
#include <linux/personality.h>
#include <asm/posix_types.h>
#include <asm/ipcbuf.h>
#include <asm/shmbuf.h>
#include "exact/engine/engine.h"

enum {
	STACK_ROOM = 8 << 20, /* as for the stack in inject.c */
	/* of kernels newer than the headers this is built with */
	MADV_DONTNEED_LOCKED_ = 24,
	MADV_GUARD_INSTALL_ = 102,
	SHM_EXEC = 0100000,
	SHM_REMAP_ = 040000,
};

static long same(struct thread *t)
{
	const uint64_t *r = t->regs;

	return sys(r[RAX], r[RDI], r[RSI], r[RDX], r[R10], r[R8], r[R9]);
}

static bool failed(long ret)
{
	return ret < 0 && ret > -4096;
}

/* What the kernel makes of a wish for `prot`. */
static int in_force(uint64_t prot)
{
	return (int)prot | (eng.read_implies_exec && (prot & PROT_READ) ? PROT_EXEC : 0);
}

/*
 * A program that wants no memory of its own to become executable (prctl PR_SET_MDWE) would take from the engine
 * what it needs, so its wish is kept here; for the programs it executes it is passed on (exec_like).
 * Source: PR_SET_MDWE(2const); linux/mm.h, map_deny_write_exec().
 */
enum { PR_SET_MDWE_ = 65, PR_GET_MDWE_ = 66, REFUSE_EXEC_GAIN = 1, NO_INHERIT = 2 };

static bool no_gain_call(struct thread *t)
{
	const uint64_t *r = t->regs;
	uint64_t bits = r[RSI];

	if ((r[RDI] != PR_SET_MDWE_ && r[RDI] != PR_GET_MDWE_) || failed(sys(__NR_prctl, PR_GET_MDWE_)))
		return false; /* nor does the kernel know it */
	if (r[RDI] == PR_GET_MDWE_)
		finish(t, r[RSI] | r[RDX] | r[R10] | r[R8] ? -EINVAL : sys(__NR_prctl, PR_GET_MDWE_) | eng.no_gain);
	else if (r[RDX] | r[R10] | r[R8] || bits > 3 || bits == NO_INHERIT)
		finish(t, -EINVAL);
	else if (eng.alias) /* in force already, for the engine as well */
		finish(t, same(t));
	else if (eng.no_gain && eng.no_gain != bits)
		finish(t, -EPERM);
	else
		finish(t, (eng.no_gain = (uint8_t)bits, 0));
	return true;
}

void no_gain_for_exec(void)
{
	if (eng.no_gain == REFUSE_EXEC_GAIN)
		sys(__NR_prctl, PR_SET_MDWE_, REFUSE_EXEC_GAIN);
}

void no_gain_for_child(void)
{
	if (eng.no_gain & NO_INHERIT)
		eng.no_gain = 0;
}

static bool denied(uint64_t prot)
{
	return eng.no_gain && (in_force(prot) & PROT_EXEC) && (in_force(prot) & PROT_WRITE);
}

/* Is all of it executable already? */
static bool executable(uint64_t start, uint64_t end)
{
	while (start < end) {
		const struct region *r = region_of(start);

		if (!r)
			return false;
		start = r->end;
	}
	return true;
}

/*
 * A call failed, and may have unmapped something first (MAP_FIXED, MREMAP_FIXED): what is no longer there?
 * Source: mincore(2), "Errors", ENOMEM.
 */
static void look_again(uint64_t start, uint64_t end)
{
	uint8_t in_core;

	start &= ~(uint64_t)(PAGE - 1);
	for (const struct region *r; start < end && (r = region_in(start, end));) {
		uint64_t from = r->start > start ? r->start : start, to = r->end < end ? r->end : end;

		for (start = to; from < to; from += PAGE)
			if (sys(__NR_mincore, from, PAGE, &in_core) == -ENOMEM)
				region_set(from, from + PAGE, 0, NULL);
	}
}

static void map_call(struct thread *t)
{
	const uint64_t *r = t->regs;
	uint64_t start = r[RDI] & ~(uint64_t)(PAGE - 1), flags = r[R10];
	struct region what = { 0 };
	long ret;

	if (denied(r[RDX])) {
		finish(t, -EACCES);
		return;
	}
	lock();
	ret = same(t);
	if (failed(ret)) {
		if (flags & MAP_FIXED)
			look_again(start, start + r[RSI]);
	} else {
		if (!(flags & MAP_ANONYMOUS))
			file_mapped((int)r[R8], in_force(r[RDX]), flags & MAP_SHARED, &what);
		what.checked |= flags & MAP_SHARED;
		region_set((uint64_t)ret, (uint64_t)ret + r[RSI], in_force(r[RDX]), &what);
	}
	unlock();
	finish(t, ret);
}

static void unmap_call(struct thread *t)
{
	uint64_t start = t->regs[RDI], end = start + t->regs[RSI];
	long ret;

	if (region_in(start, end))
		files_unchanged(start, end);
	lock();
	ret = same(t);
	if (!failed(ret))
		region_set(start, end, 0, NULL);
	else
		look_again(start, end);
	unlock();
	finish(t, ret);
}

/*
 * A call that fails at a hole has changed all before it. How far: as far as single pages still take it.
 * Source: mprotect(2), "Errors", ENOMEM.
 */
static uint64_t protected_until(uint64_t start, uint64_t end, long prot)
{
	while (start < end && !failed(sys(__NR_mprotect, start, PAGE, prot)))
		start += PAGE;
	return start;
}

/*
 * What is this memory, of which nothing is known as it could not be executed until now? Only anonymous
 * private memory can be wiped on fork; no fork comes between, as the lock is held.
 * Source: madvise(2), MADV_WIPEONFORK.
 */
static struct region unknown_memory(uint64_t start, uint64_t end)
{
	bool anonymous = !sys(__NR_madvise, start, end - start, MADV_WIPEONFORK);

	sys(__NR_madvise, start, end - start, MADV_KEEPONFORK);
	return (struct region){ .checked = !anonymous && memory_shared(start, end) };
}

static void protect_call(struct thread *t)
{
	uint64_t start = t->regs[RDI], end = (start + t->regs[RSI] + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	int prot = in_force(t->regs[RDX]);
	struct region what = { 0 };
	long ret;

	lock();
	if (denied(t->regs[RDX]) || (eng.no_gain && (prot & PROT_EXEC) && !executable(start, end))) {
		unlock();
		finish(t, -EACCES);
		return;
	}
	ret = same(t);
	if (failed(ret) && end > start)
		end = ret == -EINVAL ? start : protected_until(start, end, (long)t->regs[RDX]);
	if (end > start) {
		const struct region *r = region_any(start);

		if (r)
			what = *r;
		if ((prot & PROT_EXEC) && (!r || r->end < end))
			what = unknown_memory(start, end);
		if (prot & PROT_GROWSDOWN) { /* a stack, all of it */
			what.checked = 1;
			start -= STACK_ROOM;
		}
		region_set(start, end, prot, &what);
	}
	unlock();
	finish(t, ret);
}

static void remap_call(struct thread *t)
{
	uint64_t start = t->regs[RDI], old = t->regs[RSI], size = t->regs[RDX], flags = t->regs[R10];
	const struct region *r;
	struct region what = { 0 };
	int prot = 0;
	long ret;

	lock();
	unwatch_range(start, start + old); /* our protection would cut it in pieces, and come along */
	r = region_any(start);
	if (r) {
		what = *r;
		prot = (r->exec ? PROT_EXEC : 0) | (r->writable ? PROT_WRITE : 0);
	}
	ret = same(t);
	if (failed(ret)) {
		look_again(start, start + old);
		if (flags & MREMAP_FIXED)
			look_again(t->regs[R8], t->regs[R8] + size);
	} else {
		if (flags & MREMAP_DONTUNMAP)
			code_written(start, start + old);
		else if (old)
			region_set(start, start + old, 0, NULL);
		region_set((uint64_t)ret, (uint64_t)ret + size, prot, r ? &what : NULL);
	}
	unlock();
	finish(t, ret);
}

/* Advice that empties memory, now or later; false when it is none. */
static bool advise_call(struct thread *t)
{
	uint64_t start = t->regs[RDI], end = start + t->regs[RSI], advice = t->regs[RDX];
	bool ours;
	long ret;

	if (advice != MADV_DONTNEED && advice != MADV_FREE && advice != MADV_REMOVE &&
	    advice != MADV_DONTNEED_LOCKED_ && advice != MADV_GUARD_INSTALL_ && advice != MADV_WIPEONFORK)
		return false;
	lock();
	ours = region_in(start, end);
	if (ours && advice == MADV_WIPEONFORK)
		refuse("executable memory that is wiped on fork, which the exact engine does not run, at", start);
	if (ours) {
		ret = same(t);
		code_written(start, end);
	}
	unlock();
	if (ours)
		finish(t, ret);
	return ours;
}

/* shmat, and shmdt, of which the kernel alone knows the size. */
static void shm_call(struct thread *t)
{
	const struct region *r;
	long ret;

	lock();
	ret = same(t);
	if (t->regs[RAX] == __NR_shmdt) {
		r = region_any(t->regs[RDI]);
		if (r)
			look_again(r->start, r->end);
	} else if (!failed(ret)) {
		struct region what = { .checked = 1 };
		struct shmid64_ds ds;

		if (sys(__NR_shmctl, t->regs[RDI], IPC_STAT, &ds) < 0)
			refuse("shared memory whose size is not told, at", (uint64_t)ret);
		region_set((uint64_t)ret, (uint64_t)ret + ds.shm_segsz,
			   t->regs[RDX] & SHM_EXEC ? PROT_EXEC | PROT_WRITE : 0, &what);
	}
	unlock();
	finish(t, ret);
}

/* Source: personality(2), READ_IMPLIES_EXEC. */
static void personality_call(struct thread *t)
{
	long ret = same(t);

	if (!failed(ret) && (uint32_t)t->regs[RDI] != 0xffffffff)
		eng.read_implies_exec = !!(t->regs[RDI] & READ_IMPLIES_EXEC);
	finish(t, ret);
}

static bool ours(uint64_t start, uint64_t size)
{
	const struct process *p = eng.process;
	uint64_t image = eng.image, end = start + size < start ? ~0ull : start + size;

	return (start < p->board_at + p->board_size && end > p->board_at) || (start < image + eng.image_size && end > image);
}

/* Nothing of the program lies where the engine and its board do: whoever changes that memory means the engine. */
static void keep_ours(const struct thread *t)
{
	const uint64_t *r = t->regs;
	bool hit = false;

	switch (r[RAX]) {
	case __NR_mmap:
		hit = (r[R10] & MAP_FIXED) && ours(r[RDI], r[RSI]);
		break;
	case __NR_mremap:
		hit = ours(r[RDI], r[RSI] ? r[RSI] : 1) || ((r[R10] & MREMAP_FIXED) && ours(r[R8], r[RDX]));
		break;
	case __NR_munmap:
	case __NR_mprotect:
	case __NR_pkey_mprotect:
	case __NR_madvise:
		hit = ours(r[RDI], r[RSI]);
		break;
	case __NR_shmat:
		hit = (r[RDX] & SHM_REMAP_) && ours(r[RSI], 1);
		break;
	default:
		break;
	}
	if (hit)
		refuse("the program changes the exact engine's own memory, at", r[RAX] == __NR_shmat ? r[RSI] : r[RDI]);
}

bool map_calls(struct thread *t)
{
	keep_ours(t);
	switch (t->regs[RAX]) {
	case __NR_mmap:
		map_call(t);
		return true;
	case __NR_munmap:
		unmap_call(t);
		return true;
	case __NR_mprotect:
	case __NR_pkey_mprotect:
		protect_call(t);
		return true;
	case __NR_mremap:
		remap_call(t);
		return true;
	case __NR_prctl:
		return no_gain_call(t);
	case __NR_madvise:
		return advise_call(t);
	case __NR_personality:
		personality_call(t);
		return true;
	case __NR_shmat:
	case __NR_shmdt:
		shm_call(t);
		return true;
	default:
		return false;
	}
}
