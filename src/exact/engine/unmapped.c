/* SPDX-License-Identifier: MIT */
/*
 * System calls that report whether memory is mapped, or that read or write it: they treat the
 * engine's memory as unmapped, as it is without tare. map_calls.c does the same for calls
 * that change mappings.
 */
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/mman.h>
#include "exact/engine/engine.h"

enum {
	UNMAPPED = 0x800, /* an address that is not mapped: in page 0, and no null pointer */
	VECTORS = 64,
};

static bool failed(long ret)
{
	return ret < 0 && ret > -4096;
}

/* The first byte of engine memory in [start, start + size); start + size if there is none. */
static uint64_t until_ours(uint64_t start, uint64_t size)
{
	uint64_t end = start + size < start ? ~0ull : start + size;
	const struct range *r;

	lock();
	r = own_first(start, end);
	end = !r ? end : r->start < start ? start : r->start;
	unlock();
	return end;
}

/* mincore, mlock, mlock2, munlock: up to the hole, then ENOMEM. */
static bool range_call(struct thread *t)
{
	const uint64_t *r = t->regs;
	uint64_t start = r[RAX] == __NR_mincore ? r[RDI] : r[RDI] & ~(uint64_t)(PAGE - 1);
	uint64_t end = until_ours(start, r[RDI] - start + r[RSI]);
	long ret = 0;

	if (end - start >= r[RDI] - start + r[RSI] || start % PAGE)
		return false;
	if (end > start)
		ret = sys(r[RAX], start, end - start, r[RDX]);
	finish(t, failed(ret) ? ret : -ENOMEM);
	return true;
}

/* msync() continues after a hole and returns ENOMEM at the end. Source: linux/mm/msync.c. */
static bool sync_call(struct thread *t)
{
	uint64_t start = t->regs[RDI], end = start + t->regs[RSI], flags = t->regs[RDX];
	bool ours = false;
	long ret = 0;

	if (start % PAGE || end < start ||
	    (flags & ~(uint64_t)(MS_ASYNC | MS_INVALIDATE | MS_SYNC)) ||
	    ((flags & MS_ASYNC) && (flags & MS_SYNC)))
		return false;
	lock();
	for (const struct range *r; start < end && (r = own_first(start, end)); start = r->end) {
		ours = true;
		if (r->start > start && (!failed(ret) || ret == -ENOMEM))
			ret = sys(__NR_msync, start, r->start - start, flags);
	}
	if (ours && start < end && (!failed(ret) || ret == -ENOMEM))
		ret = sys(__NR_msync, start, end - start, flags);
	unlock();
	if (ours)
		finish(t, failed(ret) ? ret : -ENOMEM);
	return ours;
}

/*
 * The kernel reads or writes `size` bytes at argument `at`: shorten that to end before the engine's
 * memory.
 */
static bool bytes_call(struct thread *t, enum reg at, enum reg size)
{
	uint64_t *r = t->regs, args[16], end = until_ours(r[at], r[size]);

	if (end - r[at] >= r[size] || !r[size])
		return false;
	shared_file_written_apart(t);
	memcpy(args, r, sizeof args);
	if (end == r[at])
		args[at] = UNMAPPED;
	else
		args[size] = end - r[at];
	finish(t, sys(r[RAX], args[RDI], args[RSI], args[RDX], args[R10], args[R8], args[R9]));
	return true;
}

/*
 * Argument `at` points to `n` struct iovec. If some point into engine memory, pass a copy that
 * has unmapped addresses there.
 */
static bool vector_call(struct thread *t, enum reg at, enum reg n)
{
	uint64_t *r = t->regs, args[16], v[VECTORS][2], bytes = r[n] * sizeof v[0];
	bool ours = false;

	if (r[n] > VECTORS || copy_bytes(v, (const void *)r[at], bytes) != bytes)
		return false;
	for (uint64_t i = 0; i < r[n]; i++) {
		uint64_t end = until_ours(v[i][0], v[i][1]);

		if (end - v[i][0] >= v[i][1])
			continue;
		ours = true;
		if (end == v[i][0]) {
			v[i][0] = UNMAPPED;
		} else { /* the call must stop where engine memory begins: unmap the next one */
			v[i][1] = end - v[i][0];
			if (i + 1 < r[n])
				v[i + 1][0] = UNMAPPED;
		}
	}
	if (!ours)
		return false;
	shared_file_written_apart(t);
	memcpy(args, r, sizeof args);
	args[at] = (uint64_t)v;
	finish(t, sys(r[RAX], args[RDI], args[RSI], args[RDX], args[R10], args[R8], args[R9]));
	return true;
}

/* process_vm_readv and process_vm_writev on the process itself. */
static bool own_memory_call(struct thread *t)
{
	const uint64_t *r = t->regs;

	return !sys(__NR_tgkill, sys(__NR_getpid), r[RDI], 0) && vector_call(t, R10, R8);
}

/* Calls that only read memory at this argument, and check it for EFAULT first. */
static bool pointer_call(struct thread *t, enum reg at)
{
	uint64_t address = t->regs[at];

	if (until_ours(address, 1) == address + 1)
		return false;
	finish(t, -EFAULT);
	return true;
}

bool unmapped_call(struct thread *t)
{
	const uint64_t *r = t->regs;

	switch (r[RAX]) {
	case __NR_mincore:
	case __NR_mlock:
	case __NR_mlock2:
	case __NR_munlock:
		return range_call(t);
	case __NR_msync:
		return sync_call(t);
	case __NR_read:
	case __NR_write:
	case __NR_pread64:
	case __NR_pwrite64:
	case __NR_sendto:
	case __NR_recvfrom:
		return bytes_call(t, RSI, RDX);
	case __NR_readv:
	case __NR_writev:
	case __NR_preadv:
	case __NR_pwritev:
	case __NR_preadv2:
	case __NR_pwritev2:
	case __NR_vmsplice:
		return vector_call(t, RSI, RDX);
	case __NR_process_vm_readv:
	case __NR_process_vm_writev:
		return own_memory_call(t);
	case __NR_access:
	case __NR_open:
	case __NR_stat:
	case __NR_lstat:
	case __NR_chdir:
	case __NR_unlink:
		return pointer_call(t, RDI);
	case __NR_openat:
	case __NR_newfstatat:
	case __NR_faccessat:
	case __NR_faccessat2:
	case __NR_rt_sigprocmask:
		return pointer_call(t, RSI);
	default:
		return false;
	}
}
