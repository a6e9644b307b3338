/* SPDX-License-Identifier: MIT */
/*
 * What the kernel will write in a system call of the program. Pages of translated code are
 * write-protected, so a call that writes there would fail, perhaps after side effects that cannot
 * be repeated. Such pages are pinned first, until the call returns. By default the kernel is
 * assumed to write to every argument that can be a pointer, with the largest other argument that
 * can be a length; `rows` has the exceptions. A range that is too large only costs time.
 */
#include <asm/unistd.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include "exact/engine/engine.h"

enum shape {
	NO_MORE,
	NOTHING,  /* only reads memory */
	SIZED,    /* argument `at`: argument `by` times `size` bytes */
	FIXED,    /* argument `at`: less than a page */
	LENGTH,   /* argument `at`: the length is stored where argument `by` points */
	VECTOR,   /* argument `at`: argument `by` times struct iovec; by 6: one */
	MESSAGE,  /* argument `at`: a struct msghdr */
	MESSAGES, /* argument `at`: argument `by` times struct mmsghdr */
	WORDS,    /* argument `at`: a struct in which each word may be a pointer */
};

enum {
	ARGS = 6,
	ROWS_MAX = 3,
	LOWEST = 0x10000,
	VECTOR_MAX = 1024,
	MMESSAGE_SIZE = 64,
	STRUCT_WORDS = 16
};

/* Source: read(2), "Notes": no call transfers more */
static const uint64_t LENGTH_MAX = 1ull << 31;

static const struct row {
	uint8_t shape, at, by, size;
} rows[][ROWS_MAX] = {
	[__NR_read] = { { SIZED, 1, 2, 1 } },
	[__NR_pread64] = { { SIZED, 1, 2, 1 } },
	[__NR_getrandom] = { { SIZED, 0, 1, 1 } },
	[__NR_recvfrom] = { { SIZED, 1, 2, 1 }, { FIXED, 4 }, { FIXED, 5 } },
	[__NR_readv] = { { VECTOR, 1, 2 } },
	[__NR_preadv] = { { VECTOR, 1, 2 } },
	[__NR_preadv2] = { { VECTOR, 1, 2 } },
	[__NR_process_vm_readv] = { { VECTOR, 1, 2 } },
	/* of this process; pokes_memory() handles others */
	[__NR_process_vm_writev] = { { VECTOR, 3, 4 } },
	[__NR_vmsplice] = { { VECTOR, 1, 2 } },
	[__NR_recvmsg] = { { MESSAGE, 1 } },
	[__NR_recvmmsg] = { { MESSAGES, 1, 2 }, { FIXED, 4 } },
	[__NR_poll] = { { SIZED, 0, 1, 8 } },
	[__NR_ppoll] = { { SIZED, 0, 1, 8 }, { FIXED, 2 } },
	[__NR_epoll_wait] = { { SIZED, 1, 2, 12 } },
	[__NR_epoll_pwait] = { { SIZED, 1, 2, 12 } },
	[__NR_epoll_pwait2] = { { SIZED, 1, 2, 12 } },
	[__NR_getgroups] = { { SIZED, 1, 0, 4 } },
	[__NR_io_getevents] = { { SIZED, 3, 2, 32 } },
	[__NR_io_pgetevents] = { { SIZED, 3, 2, 32 } },
	[__NR_move_pages] = { { SIZED, 4, 1, 4 } },
	[__NR_getsockopt] = { { LENGTH, 3, 4 }, { FIXED, 4 } },
	[__NR_ptrace] = { { VECTOR, 3, ARGS }, { FIXED, 3 } },
	[__NR_ioctl] = { { FIXED, 2 }, { WORDS, 2 } },
	[__NR_bpf] = { { WORDS, 1 } },
	[__NR_clone] = { { FIXED, 2 }, { FIXED, 3 } },
	[__NR_clone3] = { { WORDS, 0 } },
	[__NR_write] = { { NOTHING } },
	[__NR_pwrite64] = { { NOTHING } },
	[__NR_writev] = { { NOTHING } },
	[__NR_pwritev] = { { NOTHING } },
	[__NR_pwritev2] = { { NOTHING } },
	[__NR_sendto] = { { NOTHING } },
	[__NR_sendmsg] = { { NOTHING } },
	[__NR_open] = { { NOTHING } },
	[__NR_openat] = { { NOTHING } },
	[__NR_mlock] = { { NOTHING } },
	[__NR_munlock] = { { NOTHING } },
	[__NR_msync] = { { NOTHING } },
	[__NR_mincore] = { { SIZED, 2, 1, 1 } },
	[__NR_madvise] = { { NOTHING } },
	[__NR_exit_group] = { { NOTHING } },
	[__NR_brk] = { { NOTHING } },
	[__NR_set_robust_list] = { { NOTHING } },
};

static bool read_words(uint64_t *to, uint64_t from, unsigned n)
{
	return copy_bytes(to, (const void *)from, n * 8ul) == n * 8ul;
}

/* Can a watched page overlap [start, start + size)? */
static bool near(uint64_t start, uint64_t size)
{
	return start < eng.watch_end && start + size > eng.watch_start && start >= LOWEST;
}

/* The kernel writes `size` bytes at `start`. True if that is watched memory. */
static bool writes(const struct thread *of, uint64_t start, uint64_t size)
{
	bool any = false;

	if (size > LENGTH_MAX)
		size = LENGTH_MAX;
	if (size)
		any = shared_kernel_writes(of, start, size);
	if (!size || !near(start, size))
		return any;
	lock();
	for (uint64_t at = start; at < start + size;) {
		const struct region *r = region_in(at, start + size);

		if (!r)
			break;
		if (r->exec && r->writable && !r->checked && !r->followed) {
			pin(r->start > at ? r->start : at,
			    r->end < start + size ? r->end : start + size, of);
			any = true;
		}
		at = r->end;
	}
	unlock();
	return any;
}

static bool writes_vector(const struct thread *t, uint64_t at, uint64_t n)
{
	uint64_t v[2];
	bool any = false;

	for (uint64_t i = 0; i < n && i < VECTOR_MAX && read_words(v, at + 16 * i, 2); i++)
		any |= writes(t, v[0], v[1]);
	return any;
}

/*
 * Source: recvmsg(2), struct msghdr: name, its length, vector, count, control, its length, flags.
 */
static bool writes_message(const struct thread *t, uint64_t at)
{
	uint64_t m[6];
	bool any;

	if (!read_words(m, at, 6))
		return false;
	any = writes(t, at, MMESSAGE_SIZE);
	any |= writes(t, m[0], (uint32_t)m[1]);
	any |= writes_vector(t, m[2], m[3]);
	any |= writes(t, m[4], m[5]);
	return any;
}

static bool writes_words(const struct thread *t, uint64_t at)
{
	uint64_t w;
	bool any = false;

	for (unsigned i = 0; i < STRUCT_WORDS && read_words(&w, at + 8 * i, 1); i++)
		any |= writes(t, w, PAGE);
	return any;
}

static bool writes_by_row(const struct thread *t, const struct row *row, const uint64_t *args)
{
	uint64_t at = args[row->at], n = row->by < ARGS ? args[row->by] : 1;
	bool any = false;
	uint64_t length = 0;

	switch (row->shape) {
	case SIZED:
		return writes(t, at, n > LENGTH_MAX / row->size ? LENGTH_MAX : n * row->size);
	case FIXED:
		return writes(t, at, PAGE);
	case LENGTH:
		return copy_bytes(&length, (const void *)n, 4) == 4 && writes(t, at, length);
	case VECTOR:
		return writes_vector(t, at, n);
	case MESSAGE:
		return writes_message(t, at);
	case MESSAGES:
		for (uint64_t i = 0; i < n && i < VECTOR_MAX; i++)
			any |= writes_message(t, at + i * MMESSAGE_SIZE);
		return any;
	case WORDS:
		return writes_words(t, at);
	default:
		return false;
	}
}

/* Any pointer, with any length. */
static bool writes_by_default(const struct thread *t, const uint64_t *args)
{
	uint64_t size = PAGE;
	bool any = false;

	for (unsigned i = 0; i < ARGS; i++)
		if (args[i] > size && args[i] <= LENGTH_MAX)
			size = args[i];
	for (unsigned i = 0; i < ARGS; i++)
		any |= writes(t, args[i], size);
	return any;
}

/*
 * A shared futex is refused in anonymous memory that is read-only. Source:
 * linux/kernel/futex/core.c.
 */
static bool only_waits(uint64_t op)
{
	if (!(op & FUTEX_PRIVATE_FLAG))
		return false;
	switch (op & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAKE:
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAKE_BITSET:
		return true;
	default:
		return false;
	}
}

/*
 * The call is about to be made. True if it may write to watched memory: then unpin() must follow
 * the call.
 */
bool kernel_writes(const struct thread *t)
{
	const uint64_t *r = t->regs, args[ARGS] = { r[RDI], r[RSI], r[RDX], r[R10], r[R8], r[R9] };
	const struct row *row = r[RAX] < sizeof rows / sizeof *rows ? rows[r[RAX]] : NULL;
	bool any = shared_file_written(t);

	if ((!eng.watch_end && !eng.views_matter) || (r[RAX] == __NR_futex && only_waits(r[RSI])))
		return any;
	if (!row || row->shape == NO_MORE)
		return writes_by_default(t, args) | any;
	for (unsigned i = 0; i < ROWS_MAX && row[i].shape != NO_MORE; i++)
		any |= writes_by_row(t, &row[i], args);
	return any;
}

/* Memory that the kernel writes to asynchronously, after the call. */
void kernel_writes_for_good(const struct thread *t)
{
	const uint64_t *r = t->regs;
	uint64_t args[8];

	switch (r[RAX]) {
	case __NR_set_tid_address:
		writes(NULL, r[RDI], 4);
		break;
	case __NR_rseq:
		writes(NULL, r[RDI], r[RSI]);
		break;
	case __NR_clone:
		if (r[RDI] & CLONE_CHILD_CLEARTID)
			writes(NULL, r[R10], 4);
		break;
	case __NR_clone3:
		if (read_words(args, r[RDI], 8) && (args[0] & CLONE_CHILD_CLEARTID))
			writes(NULL, args[2], 4);
		break;
	case __NR_io_setup:
	case __NR_io_uring_setup:
		lock();
		pin(0, ~0ull, NULL);
		unlock();
		break;
	}
}
