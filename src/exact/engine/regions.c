/* SPDX-License-Identifier: MIT */
/*
 * The program's executable memory, tracked by its mmap, mprotect and munmap calls (map_calls.c);
 * for the profile also which file is mapped there.
 */
#include <linux/mman.h>
#include "exact/engine/engine.h"

enum { ASK_MS = 100 };

static void insert(uint32_t i, struct region r)
{
	if (eng.n_regions == REGIONS_MAX)
		refuse("the program has more executable mappings than the exact engine can follow",
		       r.start);
	for (uint32_t k = eng.n_regions++; k > i; k--)
		eng.regions[k] = eng.regions[k - 1];
	eng.regions[i] = r;
}

static void erase(uint32_t i)
{
	eng.n_regions--;
	for (uint32_t k = i; k < eng.n_regions; k++)
		eng.regions[k] = eng.regions[k + 1];
}

/* The first region that ends after `pc`. */
static uint32_t first_after(uint64_t pc)
{
	uint32_t low = 0, high = eng.n_regions;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (eng.regions[mid].end <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* The range that contains all pages the engine may write-protect. */
void note_bounds(void)
{
	eng.watch_start = eng.watch_end = 0;
	for (uint32_t i = 0; i < eng.n_regions; i++) {
		const struct region *r = &eng.regions[i];

		if (!r->exec || !r->writable || r->checked || r->followed)
			continue;
		if (!eng.watch_end)
			eng.watch_start = r->start;
		eng.watch_end = r->end;
	}
}

/* Merge region i with the one before, if they are equal. */
static void join(uint32_t i)
{
	struct region *r = &eng.regions[i];

	if (i == 0 || i >= eng.n_regions || r[-1].end != r->start || r[-1].exec != r->exec ||
	    r[-1].writable != r->writable || r[-1].checked != r->checked ||
	    r[-1].mapping != r->mapping || r[-1].file != r->file ||
	    r[-1].written_ns != r->written_ns || r[-1].followed != r->followed ||
	    r[-1].version.inode || r->version.inode ||
	    (r->followed && r[-1].offset + (r->start - r[-1].start) != r->offset))
		return;
	r[-1].end = r->end;
	erase(i);
}

/*
 * [start, end) becomes a region like `what` (mapping, file, whether it is checked); NULL: nothing
 * of interest. Memory that is not executable is recorded only if that helps to identify it when it
 * becomes executable.
 */
void region_set(uint64_t start, uint64_t end, int prot, const struct region *what)
{
	uint32_t i = first_after(start);
	bool known = false;

	start &= ~(uint64_t)(PAGE - 1);
	end = (end + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	if (eng.n_awaited)
		snapshot_region(start, end, prot, what);
	for (uint32_t k = 0; k < TOLD_MAX; k++)
		if (eng.told[k].start < end && start < eng.told[k].end)
			eng.told[k].end = eng.told[k].start;
	/* Remove overlapping parts. */
	while (i < eng.n_regions && eng.regions[i].start < end) {
		struct region r = eng.regions[i], tail = r;

		known = true;
		erase(i);
		r.version.inode = tail.version.inode = 0; /* the rest is not a whole mapping */
		if (r.start < start) {
			r.end = start;
			insert(i++, r);
		}
		if (tail.end > end) {
			tail.offset += end - tail.start;
			tail.start = end;
			insert(i, tail);
			break;
		}
	}
	if (known)
		forget_code(start, end);
	if (what && start < end && ((prot & PROT_EXEC) || known)) {
		struct region r = *what;

		r.offset = what->offset + (start - what->start);
		r.start = start;
		r.end = end;
		r.exec = !!(prot & PROT_EXEC);
		r.writable = !!(prot & PROT_WRITE);
		if (r.writable)
			r.version.inode = 0;
		r.mapping = 0;
		i = first_after(start);
		insert(i, r);
		join(i + 1);
		join(i);
		known = true;
	}
	if (known)
		note_bounds();
}

/* [start, end) may no longer have the contents of its file. */
void region_changed(uint64_t start, uint64_t end)
{
	for (uint32_t i = first_after(start); i < eng.n_regions && eng.regions[i].start < end; i++)
		eng.regions[i].version.inode = 0;
}

/* The region of `address`, executable now or before, or NULL. */
struct region *region_any(uint64_t address)
{
	uint32_t i = first_after(address);

	return i < eng.n_regions && eng.regions[i].start <= address ? &eng.regions[i] : NULL;
}

/* The first region of [start, end), or NULL. */
struct region *region_in(uint64_t start, uint64_t end)
{
	uint32_t i = first_after(start);

	return i < eng.n_regions && eng.regions[i].start < end ? &eng.regions[i] : NULL;
}

void regions_first(const struct process *p)
{
	static const struct file_version of_kernel = { .dev = ~0ull, .inode = ~0ull };

	eng.regions = reserve(REGIONS_MAX * sizeof(struct region));
	if (p->n_regions > EXEC_REGIONS)
		refuse_overwritten();
	for (uint32_t i = 0; i < p->n_regions && i < EXEC_REGIONS; i++) {
		const struct exec_region *r = &p->regions[i];

		insert(eng.n_regions,
		       (struct region){ .start = r->start,
					.end = r->end,
					.exec = 1,
					.writable = r->writable,
					.file = r->inode ? file_of(r->dev, r->inode) : 0,
					.written_ns = r->written_ns,
					.first = 1,
					.version = r->kernel ? of_kernel : r->version,
					.checked = r->shared || r->checked });
	}
	note_bounds();
}

/* region_of() by search. */
struct region *region_found(uint64_t pc)
{
	uint32_t i = first_after(pc);

	if (i == eng.n_regions || pc < eng.regions[i].start || !eng.regions[i].exec)
		return NULL;
	eng.last_region = i;
	return &eng.regions[i];
}

/* code_room() close to the end of a page. */
size_t room_at_end(uint64_t pc, const struct region *r)
{
	uint64_t next = (pc | (PAGE - 1)) + 1;

	return next - pc >= 15 || ((next < r->end || region_of(next)) && page_there(next))
		? 15
		: next - pc;
}

/* Is the code at `pc`, of `size` bytes, less than a page, unchanged? */
bool code_is(uint64_t pc, const void *bytes, size_t size)
{
	return code_room(pc) && code_room(pc + size - 1) && !memcmp((const void *)pc, bytes, size);
}

/* ---- mappings, for the profile ---- */

static void ask(struct question *q, uint64_t pc)
{
	if (eng.shared->gone) /* the supervisor is gone: do not wait for an answer */
		return;
	q->tid = eng.tid;
	q->pc = pc;
	__atomic_store_n(&q->state, QUESTION_ASKED, __ATOMIC_RELEASE);
	ring();
	while (q->state == QUESTION_ASKED) {
		futex_wait(&q->state, QUESTION_ASKED, ASK_MS);
		if (q->state == QUESTION_ASKED && supervisor_gone())
			break;
	}
}

/* Split the region so that one part of it is exactly one mapping. */
static void divide(struct region *r, uint64_t start, uint64_t end, uint32_t mapping)
{
	uint32_t i = (uint32_t)(r - eng.regions);
	struct region before = *r, after = *r;

	if (r->end > end) {
		r->end = after.start = end;
		after.offset += end - before.start;
		insert(i + 1, after);
	}
	eng.regions[i].mapping = mapping;
	if (before.start < start) {
		eng.regions[i].offset += start - before.start;
		eng.regions[i].start = before.end = start;
		insert(i, before);
	}
}

/*
 * The number of the mapping at `pc`, for the profile. The supervisor reads it from the kernel's
 * list, which cannot change meanwhile, as the lock is held.
 */
uint32_t mapping_of(uint64_t pc)
{
	struct question *q = &eng.process->question;
	struct region *r;

	if (!(eng.mode & COUNT_PROFILE))
		return 0;
	r = region_of(pc);
	if (!r || eng.process->foreign)
		return MAPPING_UNKNOWN;
	if (r->mapping)
		return r->mapping;
	q->data = 0;
	ask(q, pc);
	if (q->state != QUESTION_ANSWERED)
		return MAPPING_UNKNOWN;
	q->state = QUESTION_NONE;
	if (q->start <= pc && q->end > pc && eng.n_regions < REGIONS_MAX / 2)
		divide(r, q->start, q->end, q->mapping);
	return q->mapping;
}

/*
 * The reader of samples also needs the mapping of the data that a sampled instruction accesses. It
 * is reported once, again after calls have changed it, and once more by the thread that uses it as
 * its stack. Needs the lock.
 */
void mapping_of_data(uint64_t address, uint64_t sp, uint64_t tsc)
{
	struct question *q = &eng.process->question;

	if (!(eng.mode & COUNT_PROFILE) || eng.process->foreign)
		return;
	for (uint32_t i = 0; i < TOLD_MAX; i++) {
		struct told *k = &eng.told[i];

		if (address >= k->start && address < k->end) {
			if (k->as_stack || sp < k->start || sp >= k->end)
				return;
			k->end = k->start;
		}
	}
	q->data = 1;
	q->sp = sp;
	q->tsc = tsc;
	ask(q, address);
	if (q->state == QUESTION_ANSWERED && q->start < q->end)
		eng.told[eng.next_told++ % TOLD_MAX] = (struct told){
			q->start, q->end, sp >= q->start && sp < q->end
		};
	q->state = QUESTION_NONE;
	q->data = 0;
}
