/* SPDX-License-Identifier: MIT */
/*
 * The program's mmap, munmap, mprotect, mremap and similar calls. They are made here, under the
 * lock, so that the engine's list of executable memory (regions.c) matches the kernel's, also after
 * a call that fails half way.
 */
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/ioctl.h>
#include <linux/ipc.h>
#include <linux/mman.h>
#include <linux/personality.h>
#include <linux/userfaultfd.h>
#include <asm/posix_types.h>
#include <asm/ipcbuf.h>
#include <asm/shmbuf.h>
#include "exact/engine/engine.h"

enum {
	STACK_ROOM = 8 << 20, /* as for the stack in inject.c */
	/* of Linux 6.13, newer than the headers this is built with */
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

/* The protection that the kernel applies for `prot`. */
static int in_force(uint64_t prot)
{
	return (int)prot | (eng.read_implies_exec && (prot & PROT_READ) ? PROT_EXEC : 0);
}

/*
 * PR_SET_MDWE forbids new executable memory in a process. The engine needs such memory, so the
 * setting is kept here and passed on to the programs that the process executes (exec_like). Source:
 * PR_SET_MDWE(2const); linux/mm.h, map_deny_write_exec().
 */
enum { PR_SET_MDWE_ = 65, PR_GET_MDWE_ = 66, REFUSE_EXEC_GAIN = 1, NO_INHERIT = 2 };

static bool no_gain_call(struct thread *t)
{
	const uint64_t *r = t->regs;
	uint64_t bits = r[RSI];

	if ((r[RDI] != PR_SET_MDWE_ && r[RDI] != PR_GET_MDWE_) ||
	    failed(sys(__NR_prctl, PR_GET_MDWE_)))
		return false; /* the kernel does not know it either */
	if (r[RDI] == PR_GET_MDWE_)
		finish(t,
		       r[RSI] | r[RDX] | r[R10] | r[R8]
			       ? -EINVAL
			       : sys(__NR_prctl, PR_GET_MDWE_) | eng.no_gain);
	else if (r[RDX] | r[R10] | r[R8] || bits > 3 || bits == NO_INHERIT)
		finish(t, -EINVAL);
	else if (eng.alias) /* already in effect, for the engine as well */
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
 * A call failed, and may have unmapped something first (MAP_FIXED, MREMAP_FIXED): find the new
 * holes. Source: mincore(2), "Errors", ENOMEM.
 */
static void look_again(uint64_t start, uint64_t end)
{
	uint8_t in_core;

	start &= ~(uint64_t)(PAGE - 1);
	for (const struct region *r; start < end && (r = region_in(start, end));) {
		uint64_t from = r->start > start ? r->start : start,
			 to = r->end < end ? r->end : end;

		for (start = to; from < to; from += PAGE)
			if (sys(__NR_mincore, from, PAGE, &in_core) == -ENOMEM)
				region_set(from, from + PAGE, 0, NULL);
	}
}

/*
 * The program's mapping is to replace [start, end). Natively the engine's memory would not
 * be there.
 */
static void never_over_ours(uint64_t start, uint64_t end)
{
	const struct range *r = own_first(start, end);

	if (r)
		refuse("the program maps memory over the exact engine's own, at",
		       r->start < start ? start : r->start);
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
	if (flags & MAP_FIXED)
		never_over_ours(start, start + r[RSI]);
	ret = same(t);
	if (!failed(ret) && !locked_too((uint64_t)ret, (uint64_t)ret + r[RSI])) {
		sys(__NR_munmap, ret, r[RSI]);
		ret = -EAGAIN;
	}
	if (failed(ret)) {
		if (flags & MAP_FIXED)
			look_again(start, start + r[RSI]);
	} else {
		what.start = (uint64_t)ret;
		what.end = ((uint64_t)ret + r[RSI] + PAGE - 1) & ~(uint64_t)(PAGE - 1);
		what.offset = r[R9];
		what.checked = flags & MAP_SHARED;
		shared_unmapped(what.start, what.end);
		if (!(flags & MAP_ANONYMOUS)) {
			file_mapped((int)r[R8], in_force(r[RDX]), flags & MAP_SHARED, &what);
		} else if ((flags & MAP_SHARED) && shared_anonymous(in_force(r[RDX]), &what)) {
			what.followed = 1;
			what.checked = 0;
		}
		region_set((uint64_t)ret, (uint64_t)ret + r[RSI], in_force(r[RDX]), &what);
	}
	unlock();
	finish(t, ret);
}

/*
 * Unmap all but the engine's memory, the last part first: the kernel refuses an invalid range
 * before anything is unmapped.
 */
static long unmap_around(struct thread *t)
{
	uint64_t start = t->regs[RDI],
		 end = (start + t->regs[RSI] + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	const struct range *r = start % PAGE ? NULL : own_last(start, end);
	long ret = 0;

	if (!r)
		return same(t);
	for (; !failed(ret) && r; r = own_last(start, end)) {
		if (r->end < end)
			ret = sys(__NR_munmap, r->end, end - r->end);
		end = r->start;
	}
	return failed(ret) || end <= start ? ret : sys(__NR_munmap, start, end - start);
}

static void unmap_call(struct thread *t)
{
	uint64_t start = t->regs[RDI], end = start + t->regs[RSI];
	long ret;

	if (region_in(start, end))
		files_unchanged(start, end);
	lock();
	ret = unmap_around(t);
	if (!failed(ret)) {
		shared_unmapped(start, end);
		region_set(start, end, 0, NULL);
	} else {
		look_again(start, end);
	}
	unlock();
	finish(t, ret);
}

/*
 * A call that fails at a hole has changed everything before it. To find how far, change single
 * pages. Source: mprotect(2), "Errors", ENOMEM.
 */
static uint64_t protected_until(uint64_t start, uint64_t end, long prot)
{
	while (start < end && !failed(sys(__NR_mprotect, start, PAGE, prot)))
		start += PAGE;
	return start;
}

/*
 * Describe memory that was not executable until now, so it was not recorded. Only anonymous
 * private memory can be wiped on fork; the lock prevents forks in between. Source: madvise(2),
 * MADV_WIPEONFORK.
 */
static struct region unknown_memory(uint64_t start, uint64_t end)
{
	bool anonymous = !sys(__NR_madvise, start, end - start, MADV_WIPEONFORK);

	sys(__NR_madvise, start, end - start, MADV_KEEPONFORK);
	return (struct region){ .checked = !anonymous && memory_shared(start, end) };
}

/* Each part of [start, end) keeps its region, with another protection. */
static void regions_protected(uint64_t start, uint64_t end, int prot)
{
	for (uint64_t at = start & ~(uint64_t)(PAGE - 1), to; at < end; at = to) {
		const struct region *r = region_in(at, end);
		struct region what = { 0 };

		if (r && r->start <= at) {
			what = *r;
			to = r->end < end ? r->end : end;
		} else {
			to = r ? r->start : end;
			if ((prot & PROT_EXEC) && !shared_known(at, to, &what))
				what = unknown_memory(at, to);
		}
		region_set(at, to, prot, &what);
	}
}

/*
 * When the engine read such code it would wait, holding its lock, for a thread that needs the lock
 * to fill the page.
 */
static void refuse_served(uint64_t start)
{
	refuse("code in memory that userfaultfd serves, which the exact engine does not support, at",
	       start);
}

static void protect_call(struct thread *t)
{
	uint64_t start = t->regs[RDI],
		 end = (start + t->regs[RSI] + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	int prot = in_force(t->regs[RDX]);
	const struct range *hole;
	long ret;

	lock();
	if (denied(t->regs[RDX]) ||
	    (eng.no_gain && (prot & PROT_EXEC) && !executable(start, end))) {
		unlock();
		finish(t, -EACCES);
		return;
	}
	shared_changes(start, end);
	hole = own_first(start, end);
	if (hole) { /* natively the call ends here: nothing is mapped */
		end = hole->start > start ? hole->start : start;
		ret = end > start
			? sys(t->regs[RAX], start, end - start, t->regs[RDX], t->regs[R10])
			: 0;
	} else {
		ret = same(t);
	}
	if (failed(ret) && end > start)
		end = ret == -EINVAL ? start : protected_until(start, end, (long)t->regs[RDX]);
	if (end > start) {
		if ((prot & PROT_EXEC) && eng.serves && memory_served(start, end))
			refuse_served(start);
		shared_protected(start, end, prot);
		if (prot & PROT_GROWSDOWN) /* a whole stack */
			region_set(start - STACK_ROOM, end, prot, &(struct region){ .checked = 1 });
		else
			regions_protected(start, end, prot);
	}
	unlock();
	finish(t, hole && !failed(ret) ? -ENOMEM : ret);
}

/*
 * Does the call move or grow memory that natively is not mapped? Shrinking such a range unmaps
 * memory; the same size has no effect.
 */
static bool moves_ours(uint64_t start, uint64_t old, uint64_t size, uint64_t flags)
{
	const struct range *r = own_first(start, start + (old ? old : 1));

	if (r && r->start > start && size < old && !(flags & MREMAP_FIXED))
		refuse("the program shrinks a range that holds memory of the exact engine's, at",
		       r->start);
	return r && (r->start <= start || size != old || (flags & MREMAP_FIXED));
}

static void remap_call(struct thread *t)
{
	uint64_t start = t->regs[RDI], old = t->regs[RSI], size = t->regs[RDX],
		 flags = t->regs[R10];
	const struct region *r;
	struct region what = { 0 };
	int prot = 0;
	long ret;

	lock();
	if (moves_ours(start, old, size, flags)) {
		unlock();
		finish(t, -EFAULT);
		return;
	}
	if (flags & MREMAP_FIXED)
		never_over_ours(t->regs[R8], t->regs[R8] + size);
	shared_moves(start, start + (old ? old : PAGE));
	if (flags & MREMAP_FIXED)
		shared_moves(t->regs[R8], t->regs[R8] + size);
	/* our write protection would split it, and move with it */
	unwatch_range(start, start + old);
	r = region_any(start);
	if (r) {
		what = *r;
		what.version.inode = 0;
		prot = (r->exec ? PROT_EXEC : 0) | (r->writable ? PROT_WRITE : 0);
	}
	ret = same(t);
	if (failed(ret)) {
		look_again(start, start + old);
		if (flags & MREMAP_FIXED)
			look_again(t->regs[R8], t->regs[R8] + size);
	} else {
		if (flags & MREMAP_DONTUNMAP) {
			code_written(start, start + old);
		} else if (old) {
			shared_unmapped(start, start + old);
			region_set(start, start + old, 0, NULL);
		}
		shared_unmapped((uint64_t)ret, (uint64_t)ret + size);
		region_set((uint64_t)ret, (uint64_t)ret + size, prot, r ? &what : NULL);
	}
	unlock();
	finish(t, ret);
}

/* Advice that discards memory, now or later. */
static bool empties(uint64_t advice)
{
	return advice == MADV_DONTNEED || advice == MADV_FREE || advice == MADV_REMOVE ||
		advice == MADV_DONTNEED_LOCKED || advice == MADV_GUARD_INSTALL_ ||
		advice == MADV_WIPEONFORK;
}

/*
 * Advise all but the engine's memory. Natively that is a hole, so the call continues and reports
 * the hole at the end.
 */
static long advise_around(struct thread *t)
{
	uint64_t start = t->regs[RDI], end = start + t->regs[RSI], advice = t->regs[RDX];
	const struct range *r = start % PAGE ? NULL : own_first(start, end);
	long ret = 0;

	if (!r)
		return same(t);
	for (; start < end && (!failed(ret) || ret == -ENOMEM); r = own_first(start, end)) {
		uint64_t to = r ? r->start : end;

		if (to > start)
			ret = sys(__NR_madvise, start, to - start, advice);
		start = r ? r->end : end;
	}
	return failed(ret) ? ret : -ENOMEM;
}

/* False: the kernel can make the call unchanged. */
static bool advise_call(struct thread *t)
{
	uint64_t start = t->regs[RDI], end = start + t->regs[RSI], advice = t->regs[RDX];
	bool code, ours, shared;
	long ret;

	lock();
	shared = empties(advice) && shared_changes(start, end);
	code = empties(advice) && region_in(start, end);
	ours = own_first(start, end);
	if (code && advice == MADV_WIPEONFORK)
		refuse("executable memory that is wiped on fork, which the exact engine does not run, at",
		       start);
	if (code || ours || shared)
		ret = advise_around(t);
	if (code)
		code_written(start, end);
	unlock();
	if (code || ours || shared)
		finish(t, ret);
	return code || ours || shared;
}

/* shmat and shmdt: only the kernel knows the size. */
static void shm_call(struct thread *t)
{
	const struct region *r;
	struct shmid64_ds ds;
	long ret;

	lock();
	if (t->regs[RAX] == __NR_shmat && (t->regs[RDX] & SHM_REMAP_) &&
	    sys(__NR_shmctl, t->regs[RDI], IPC_STAT, &ds) >= 0)
		never_over_ours(t->regs[RSI], t->regs[RSI] + ds.shm_segsz);
	ret = same(t);
	if (t->regs[RAX] == __NR_shmdt) {
		r = region_any(t->regs[RDI]);
		if (r)
			look_again(r->start, r->end);
	} else if (!failed(ret)) {
		struct region what = { .checked = 1 };

		if (sys(__NR_shmctl, t->regs[RDI], IPC_STAT, &ds) < 0)
			refuse("shared memory of unknown size, at", (uint64_t)ret);
		if (locked_too((uint64_t)ret, (uint64_t)ret + ds.shm_segsz))
			region_set((uint64_t)ret, (uint64_t)ret + ds.shm_segsz,
				   t->regs[RDX] & SHM_EXEC ? PROT_EXEC | PROT_WRITE : 0, &what);
		else
			ret = (sys(__NR_shmdt, ret), -EAGAIN);
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

/* UFFDIO_REGISTER. Source: ioctl_userfaultfd(2), struct uffdio_register: start, length, mode. */
static bool register_call(struct thread *t)
{
	uint64_t range[2];
	bool code;
	long ret;

	if ((uint32_t)t->regs[RSI] != UFFDIO_REGISTER ||
	    copy_bytes(range, (const void *)t->regs[RDX], sizeof range) != sizeof range)
		return false;
	ret = same(t);
	lock();
	code = !failed(ret) && region_in(range[0], range[0] + range[1]);
	eng.serves |= !failed(ret);
	unlock();
	if (code)
		refuse_served(range[0]);
	finish(t, ret);
	return true;
}

bool map_calls(struct thread *t)
{
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
	case __NR_ioctl:
		return register_call(t);
	case __NR_personality:
		personality_call(t);
		return true;
	case __NR_shmat:
	case __NR_shmdt:
		shm_call(t);
		return true;
	default:
		return lock_calls(t);
	}
}
