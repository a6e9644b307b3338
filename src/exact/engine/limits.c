/* SPDX-License-Identifier: MIT */
/*
 * The program's own limits on address space and data (setrlimit). What the engine has mapped would count against
 * them, so the kernel is given that much more, and the program is told what it has set. The kernel's hard limit
 * lies above the program's by ENGINE_MOST: it refuses to raise the one exactly where it would the other.
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
	return limit == NONE ? NONE : limit + by < limit || limit + by == NONE ? NONE - 1 : limit + by;
}

/* Have the kernel enforce `wish` in the process `pid` (0: this one), which has `mapped` bytes of the engine's. */
static long enforce(int64_t pid, int which, struct limit wish, bool raises, uint64_t mapped)
{
	struct limit in_force, new = { more(wish.cur, mapped), more(wish.max, ENGINE_MOST) };
	long ret = sys(__NR_prlimit64, pid, resources[which], 0, &in_force);

	if (ret < 0)
		return ret;
	if (!raises && new.max > in_force.max)
		new.max = in_force.max;
	/* None, where there may be more: Linux lets old programs have it. Source: mm/mmap.c, may_expand_vm(). */
	if (which == LIMIT_DATA && !wish.cur)
		new.cur = 0;
	if (new.cur > new.max)
		new.cur = new.max;
	return sys(__NR_prlimit64, pid, resources[which], &new, 0);
}

/* After the engine has mapped something, or before. */
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

/* `space` bytes more, or less, are the engine's, of which `data` private and writable. */
void limits_mapped(int64_t space, int64_t data)
{
	eng.mapped[LIMIT_SPACE] += (uint64_t)space;
	eng.mapped[LIMIT_DATA] += (uint64_t)data;
	note_mapped();
	enforce_again(eng.process);
}

/* What the supervisor has mapped is written down in the process. */
void limits_first(void)
{
	memcpy(eng.mapped, eng.process->mapped, sizeof eng.mapped);
	enforce_again(eng.process);
}

/* In a forked child, whose memory is a copy; or after a child that shared the memory may have mapped more. */
void limits_of(struct process *p)
{
	memcpy(p->mapped, eng.mapped, sizeof eng.mapped);
	enforce_again(p);
}

/* The program that is executed next runs uncounted, under the program's own limits. */
void limits_for_real(const struct process *p)
{
	for (int i = 0; i < LIMITS; i++)
		if (p->limited & 1u << i)
			sys(__NR_prlimit64, 0, resources[i], &p->limits[i], 0);
}

/* It was not executed, after all. */
void limits_after_exec(const struct process *p)
{
	for (int i = 0; i < LIMITS; i++)
		if ((p->limited & 1u << i) && enforce(0, i, p->limits[i], true, eng.mapped[i]) < 0)
			refuse("an exec that failed, after which the limits of this process leave the exact engine no memory", 0);
}

static long set(struct process *p, int64_t pid, int which, struct limit new, struct limit old)
{
	bool raises = new.max > old.max;
	long ret;

	if (new.cur > new.max)
		return -EINVAL;
	ret = enforce(pid, which, new, raises, p == eng.process ? eng.mapped[which] : p->mapped[which]);
	if (ret < 0)
		return ret;
	p->limits[which] = new;
	p->limited |= 1u << which;
	return 0;
}

/* A child knows its number a moment after its parent does. */
static struct process *counted_soon(int64_t pid)
{
	struct process *p = counted(pid);

	for (int tries = 0; !p && tries < BIRTH_MS; tries++) {
		bool unborn = false;

		for (uint32_t i = 0; i < board_processes(eng.board); i++)
			unborn |= process_at(i)->state == PROCESS_LIVE && !process_at(i)->pid;
		if (!unborn)
			break;
		futex_wait(&eng.board->gone, 0, 1);
		p = counted(pid);
	}
	return p;
}

/* prlimit64(pid, resource, new, old), setrlimit(resource, new), getrlimit(resource, old); false: not of ours. */
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
	if (ret == 0 && (old_at || r[RAX] == __NR_getrlimit) && copy_bytes((void *)old_at, &old, sizeof old) != sizeof old)
		ret = -EFAULT;
	finish(t, ret);
	return true;
}
