/* SPDX-License-Identifier: MIT */
/*
 * The program's own limits on address space and data (setrlimit). The engine's mappings would count
 * against them, so the kernel gets higher limits, and the program reads back what it set. The
 * kernel's hard limit is ENGINE_MOST above the program's, so it refuses to raise the limit in
 * exactly the same cases.
 */
#include <asm/resource.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/resource.h>
#include "exact/engine/engine.h"

enum { BIRTH_MS = 50 };

static const uint64_t NONE = ~0ull, ENGINE_MOST = 1ull << 42;

static const uint8_t resources[LIMITS] = { [LIMIT_SPACE] = RLIMIT_AS, [LIMIT_DATA] = RLIMIT_DATA };

static uint64_t more(uint64_t limit, uint64_t by)
{
	return limit == NONE                               ? NONE
		: limit + by < limit || limit + by == NONE ? NONE - 1
							   : limit + by;
}

/*
 * Set the kernel's limit for the program's limit `wish` in process `pid` (0: this one), in which
 * the engine has mapped `mapped` bytes.
 */
static long enforce(int64_t pid, int which, struct limit wish, bool raises, uint64_t mapped)
{
	struct limit in_force, new = { more(wish.cur, mapped), more(wish.max, ENGINE_MOST) };
	long ret = sys(__NR_prlimit64, pid, resources[which], 0, &in_force);

	if (ret < 0)
		return ret;
	if (!raises && new.max > in_force.max)
		new.max = in_force.max;
	/*
	 * A limit of 0 stays 0: Linux tolerates it for old programs. Source: mm/mmap.c,
	 * may_expand_vm().
	 */
	if (which == LIMIT_DATA && !wish.cur)
		new.cur = 0;
	if (new.cur > new.max)
		new.cur = new.max;
	return sys(__NR_prlimit64, pid, resources[which], &new, 0);
}

/* Before or after the engine maps memory. */
static void enforce_again(const struct process *p)
{
	for (int i = 0; i < LIMITS; i++)
		if (p->limited & 1u << i)
			enforce(0, i, p->limits[i], false, eng.mapped[i]);
}

static void note_mapped(void)
{
	memcpy(eng.process->mapped, eng.mapped, sizeof eng.mapped);
}

/*
 * The engine's memory grows by `space` bytes, `data` of them private and writable; negative: it
 * shrinks.
 */
void limits_mapped(int64_t space, int64_t data)
{
	eng.mapped[LIMIT_SPACE] += (uint64_t)space;
	eng.mapped[LIMIT_DATA] += (uint64_t)data;
	note_mapped();
	enforce_again(eng.process);
}

/* The supervisor recorded its mappings in the process. */
void limits_first(void)
{
	memcpy(eng.mapped, eng.process->mapped, sizeof eng.mapped);
	enforce_again(eng.process);
}

/*
 * In a forked child, with a copy of the memory; or after a child that shared the memory and may
 * have mapped more.
 */
void limits_of(struct process *p)
{
	memcpy(p->mapped, eng.mapped, sizeof eng.mapped);
	enforce_again(p);
}

/* The next program runs uncounted, under the program's own limits. */
void limits_for_real(const struct process *p)
{
	for (int i = 0; i < LIMITS; i++)
		if (p->limited & 1u << i)
			sys(__NR_prlimit64, 0, resources[i], &p->limits[i], 0);
}

/* The exec failed. */
void limits_after_exec(const struct process *p)
{
	for (int i = 0; i < LIMITS; i++)
		if ((p->limited & 1u << i) && enforce(0, i, p->limits[i], true, eng.mapped[i]) < 0)
			refuse("an exec that failed, after which the limits of this process leave the exact engine no memory",
			       0);
}

static long set(struct process *p, int64_t pid, int which, struct limit new, struct limit old)
{
	bool raises = new.max > old.max;
	long ret;

	if (new.cur > new.max)
		return -EINVAL;
	ret = enforce(pid, which, new, raises,
		      p == eng.process ? eng.mapped[which] : p->mapped[which]);
	if (ret < 0)
		return ret;
	p->limits[which] = new;
	p->limited |= 1u << which;
	return 0;
}

/* The parent may know a child's pid before the child has recorded it: retry. */
static struct process *counted_soon(int64_t pid)
{
	struct process *p = counted(pid);

	for (int tries = 0; !p && tries < BIRTH_MS; tries++) {
		bool unborn = false;

		for (uint32_t i = 0; i < shared_processes(eng.shared); i++)
			unborn |= process_at(i)->state == PROCESS_LIVE && !process_at(i)->pid;
		if (!unborn)
			break;
		futex_wait(&eng.shared->gone, 0, 1);
		p = counted(pid);
	}
	return p;
}

/*
 * prlimit64(pid, resource, new, old), setrlimit(resource, new), getrlimit(resource, old); false:
 * another call.
 */
bool limit_call(struct thread *t)
{
	const uint64_t *r = t->regs;
	bool any = r[RAX] == __NR_prlimit64;
	uint32_t resource = (uint32_t)(any ? r[RSI] : r[RDI]);
	uint64_t new_at = any ? r[RDX] : r[RAX] == __NR_setrlimit ? r[RSI] : 0;
	uint64_t old_at = any ? r[R10] : r[RAX] == __NR_getrlimit ? r[RSI] : 0;
	int64_t pid = any ? (int32_t)r[RDI] : 0;
	struct process *p = process_at(t->process);
	struct limit new, old;
	int which = 0;
	long ret;

	while (which < LIMITS && resources[which] != resource)
		which++;
	if (which == LIMITS)
		return false;
	if (pid)
		p = counted_soon(pid);
	if (!p)
		return false;
	if (new_at && copy_bytes(&new, (const void *)new_at, sizeof new) != sizeof new) {
		finish(t, -EFAULT);
		return true;
	}
	lock();
	ret = sys(__NR_prlimit64, pid, resource, 0, &old);
	if (ret == 0 && (p->limited & 1u << which))
		old = p->limits[which];
	if (ret == 0 && new_at)
		ret = set(p, pid, which, new, old);
	unlock();
	if (ret == 0 && (old_at || r[RAX] == __NR_getrlimit) &&
	    copy_bytes((void *)old_at, &old, sizeof old) != sizeof old)
		ret = -EFAULT;
	finish(t, ret);
	return true;
}
