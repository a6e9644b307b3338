/* SPDX-License-Identifier: MIT */
/*
 * mlockall(): applied to the program's memory only. The engine reserves hundreds of gigabytes of
 * addresses and uses few of them; locking would populate all of it. Later mappings are locked here,
 * as the kernel would lock the engine's, too. Source: mlockall(2); linux/mm/mlock.c,
 * apply_mlockall_flags().
 */
#include <asm/resource.h>
#include <asm/unistd.h>
#include <linux/capability.h>
#include <linux/errno.h>
#include <linux/mman.h>
#include "exact/engine/engine.h"

static bool failed(long ret)
{
	return ret < 0 && ret > -4096;
}

/* Is its locked memory unlimited? */
static bool may_lock_all(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	return !failed(sys(__NR_capget, &head, data)) && (data[0].effective & 1u << CAP_IPC_LOCK);
}

struct locking {
	uint64_t bytes; /* of the program's memory */
	long ret;
	bool fill; /* populate now; else on first access */
};

/* Call `each` for the program's parts of [start, end). */
static void around_ours(uint64_t start, uint64_t end,
			void (*each)(uint64_t start, uint64_t end, struct locking *l),
			struct locking *l)
{
	const struct range *r;

	for (; start < end && (r = own_first(start, end)); start = r->end)
		if (r->start > start)
			each(start, r->start, l);
	if (start < end)
		each(start, end, l);
}

static void measure_piece(uint64_t start, uint64_t end, struct locking *l)
{
	l->bytes += end - start;
}

/* Memory that cannot be populated is locked nevertheless. */
static void lock_piece(uint64_t start, uint64_t end, struct locking *l)
{
	if (!failed(l->ret))
		l->ret = sys(__NR_mlock2, start, end - start, MLOCK_ONFAULT);
	if (!failed(l->ret) && l->fill)
		sys(__NR_mlock, start, end - start);
}

static void measure(uint64_t start, uint64_t end, void *of)
{
	around_ours(start, end, measure_piece, of);
}

static void lock_mapping(uint64_t start, uint64_t end, void *of)
{
	around_ours(start, end, lock_piece, of);
}

static long lock_all(uint64_t flags)
{
	struct locking l = { .fill = !(flags & MCL_ONFAULT) };
	struct limit most;
	bool free;

	if (!flags || flags == MCL_ONFAULT ||
	    (flags & ~(uint64_t)(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT)))
		return -EINVAL;
	free = may_lock_all();
	sys(__NR_prlimit64, 0, RLIMIT_MEMLOCK, 0, &most);
	if (!free && !most.cur)
		return -EPERM;
	if (!each_mapping(measure, &l))
		refuse("the program locks all of its memory (mlockall), and the exact engine cannot read /proc/self/maps to find it",
		       0);
	if (!free && (flags & MCL_CURRENT) && l.bytes > most.cur)
		return -ENOMEM;
	eng.locks_later = flags & MCL_FUTURE ? (uint32_t)flags : 0;
	if (flags & MCL_CURRENT)
		each_mapping(lock_mapping, &l);
	return l.ret;
}

/*
 * The program mapped [start, end), or grew its heap. False if that may not be locked: natively the
 * call would have failed.
 */
bool locked_too(uint64_t start, uint64_t end)
{
	struct locking l = { .fill = !(eng.locks_later & MCL_ONFAULT) };

	if (eng.locks_later)
		lock_piece(start & ~(uint64_t)(PAGE - 1), (end + PAGE - 1) & ~(uint64_t)(PAGE - 1),
			   &l);
	return !failed(l.ret);
}

/* mlockall, munlockall, brk; false: the kernel can make the call unchanged. */
bool lock_calls(struct thread *t)
{
	const uint64_t *r = t->regs;
	uint64_t before;
	long ret;

	if (r[RAX] != __NR_mlockall && r[RAX] != __NR_munlockall &&
	    (r[RAX] != __NR_brk || !eng.locks_later))
		return false;
	lock();
	if (r[RAX] == __NR_mlockall) {
		ret = lock_all((uint32_t)r[RDI]);
	} else if (r[RAX] == __NR_munlockall) {
		ret = sys(__NR_munlockall);
		eng.locks_later = 0;
	} else {
		before = (uint64_t)sys(__NR_brk, 0);
		ret = sys(__NR_brk, r[RDI]);
		if ((uint64_t)ret > before && !locked_too(before, (uint64_t)ret))
			ret = sys(__NR_brk, before);
	}
	unlock();
	finish(t, ret);
	return true;
}
