/* SPDX-License-Identifier: MIT */
/*
 * What the program may execute, kept from its own mmap, mprotect and munmap calls, and code that is
 * written while it runs: pages that were translated from and can be written are write-protected,
 * and a write to one forgets its blocks. Memory whose writes cannot be seen (shared mappings,
 * stacks) is translated into blocks that compare their bytes before every execution.
 */
#include <asm/unistd.h>
#include <linux/mman.h>
#include "exact/engine/engine.h"

enum { PAGE = 4096, PAGE_BITS_FIRST = 10, ASK_MS = 100 };

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

void region_set(uint64_t start, uint64_t end, int prot, bool shared)
{
	uint32_t i = first_after(start);
	bool translated = false;

	start &= ~(uint64_t)(PAGE - 1);
	end = (end + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	/* Cut what overlaps. */
	while (i < eng.n_regions && eng.regions[i].start < end) {
		struct region r = eng.regions[i], tail = r;

		translated = true;
		erase(i);
		if (r.start < start) {
			r.end = start;
			insert(i++, r);
		}
		if (tail.end > end) {
			tail.start = end;
			insert(i, tail);
			break;
		}
	}
	if (translated)
		forget_code(start, end);
	if (prot & PROT_EXEC)
		insert(first_after(start), (struct region){ .start = start,
							    .end = end,
							    .writable = !!(prot & PROT_WRITE),
							    .shared = shared,
							    .checked = shared });
}

void regions_first(const struct process *p)
{
	eng.regions = reserve(REGIONS_MAX * sizeof(struct region));
	eng.page_bits = PAGE_BITS_FIRST;
	eng.pages = reserve(sizeof(struct code_page) << eng.page_bits);
	for (uint32_t i = 0; i < p->n_regions; i++) {
		const struct exec_region *r = &p->regions[i];

		insert(eng.n_regions, (struct region){ .start = r->start,
						       .end = r->end,
						       .writable = r->writable,
						       .shared = r->shared,
						       .checked = r->checked });
	}
}

struct region *region_of(uint64_t pc)
{
	static uint32_t last;
	uint32_t i = last;

	if (i < eng.n_regions && pc >= eng.regions[i].start && pc < eng.regions[i].end)
		return &eng.regions[i];
	i = first_after(pc);
	if (i == eng.n_regions || pc < eng.regions[i].start)
		return NULL;
	last = i;
	return &eng.regions[i];
}

/* How many bytes of code may be read at `pc`, 15 at most; 0 where nothing may be executed. */
size_t code_room(uint64_t pc)
{
	const struct region *r = region_of(pc);

	if (!r)
		return 0;
	if (r->end - pc >= 15)
		return 15;

	const struct region *next = region_of(r->end);

	return next ? 15 : r->end - pc;
}

/* ---- for the profile: what is mapped ---- */

static void ask(struct question *q, uint64_t pc)
{
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

/* The region is divided so that one piece of it is what one mapping holds. */
static void divide(struct region *r, uint64_t start, uint64_t end, uint32_t mapping)
{
	uint32_t i = (uint32_t)(r - eng.regions);
	struct region before = *r, after = *r;

	if (r->end > end) {
		r->end = after.start = end;
		insert(i + 1, after);
	}
	eng.regions[i].mapping = mapping;
	if (before.start < start) {
		eng.regions[i].start = before.end = start;
		insert(i, before);
	}
}

/*
 * The number of the mapping that holds `pc`, for the profile. The supervisor knows: it reads the kernel's
 * own list while nothing here can change it, as the lock is held.
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
	ask(q, pc);
	if (q->state != QUESTION_ANSWERED)
		return MAPPING_UNKNOWN;
	q->state = QUESTION_NONE;
	if (q->start <= pc && q->end > pc && eng.n_regions < REGIONS_MAX / 2)
		divide(r, q->start, q->end, q->mapping);
	return q->mapping;
}

/* ---- pages with translated code ---- */

static struct code_page *page_find(uint64_t page)
{
	uint32_t mask = (1u << eng.page_bits) - 1;

	for (uint32_t h = (uint32_t)(page * 0x9e3779b1u) & mask; eng.pages[h].page;
	     h = (h + 1) & mask)
		if (eng.pages[h].page == page)
			return &eng.pages[h];
	return NULL;
}

static struct code_page *page_add(uint64_t page)
{
	uint32_t mask = (1u << eng.page_bits) - 1;
	uint32_t h = (uint32_t)(page * 0x9e3779b1u) & mask;

	while (eng.pages[h].page)
		h = (h + 1) & mask;
	eng.pages[h].page = page;
	eng.page_used++;
	return &eng.pages[h];
}

static void pages_grow(void)
{
	struct code_page *old = eng.pages;
	uint32_t n = 1u << eng.page_bits;

	eng.page_bits++;
	eng.page_used = 0;
	eng.pages = reserve(sizeof(struct code_page) << eng.page_bits);
	for (uint32_t i = 0; i < n; i++)
		if (old[i].page)
			*page_add(old[i].page) = old[i];
	sys(__NR_munmap, old, n * sizeof(struct code_page));
}

static struct code_page *page_get(uint64_t page)
{
	struct code_page *p = page_find(page);

	if (p)
		return p;
	if (eng.page_used * 2 > 1u << eng.page_bits)
		pages_grow();
	return page_add(page);
}

static void protect(struct code_page *p)
{
	if (p->watched)
		return;
	p->watched = 1;
	eng.watched++;
	sys(__NR_mprotect, p->page * PAGE, PAGE, PROT_READ | PROT_EXEC);
}

static void unprotect(struct code_page *p)
{
	if (!p->watched)
		return;
	p->watched = 0;
	eng.watched--;
	sys(__NR_mprotect, p->page * PAGE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
}

/*
 * Before the bytes of [start, end) are read for translation: no write to them may go unseen.
 * Returns whether the block has to check them itself.
 */
bool watch_code(uint64_t start, uint64_t end)
{
	bool checked = false;

	for (uint64_t page = start / PAGE; page <= (end - 1) / PAGE; page++) {
		const struct region *r = region_of(page * PAGE);

		if (!r || (!r->writable && !r->checked))
			continue;

		struct code_page *p = page_get(page);

		if (r->checked || p->faults >= WATCH_FAULTS_MAX)
			checked = true;
		else
			protect(p);
	}
	return checked;
}

/* The block is part of its first page from now on. */
void page_join(struct block *b)
{
	struct code_page *p = page_get(b->pc / PAGE);

	b->page_next = p->head;
	p->head = (uint32_t)(b - eng.blocks);
}

static void forget_page(uint64_t page, uint64_t start, uint64_t end)
{
	struct code_page *p = page_find(page);
	uint32_t *link;

	if (!p)
		return;
	for (link = &p->head; *link;) {
		struct block *b = &eng.blocks[*link];

		if (b->pc < end && b->pc + b->src_len > start) {
			*link = b->page_next;
			block_kill(b);
		} else {
			link = &b->page_next;
		}
	}
}

/* Whatever was translated from [start, end) is stale. */
void forget_code(uint64_t start, uint64_t end)
{
	uint64_t pages = (end - start) / PAGE + 2;

	if (pages > 1u << eng.page_bits) {
		for (uint32_t i = 0; i < 1u << eng.page_bits; i++) {
			struct code_page *p = &eng.pages[i];

			if (p->page && p->page >= start / PAGE - 1 &&
			    p->page < (end + PAGE - 1) / PAGE) {
				forget_page(p->page, start, end);
				if (p->watched && p->page >= start / PAGE) {
					p->watched = 0;
					eng.watched--;
				}
			}
		}
		return;
	}
	/* A block may begin in the page before. */
	for (uint64_t page = start / PAGE - 1; page <= (end - 1) / PAGE; page++) {
		struct code_page *p = page_find(page);

		forget_page(page, start, end);
		if (p && p->watched && page >= start / PAGE) {
			p->watched = 0;
			eng.watched--;
		}
	}
}

/* A write was refused at `address`: was it for our sake? Then its page is the program's again. */
bool watch_fault(uint64_t address)
{
	struct code_page *p = page_find(address / PAGE);
	const struct region *r = region_of(address);

	if (!p || !r || !r->writable)
		return false;
	if (!p->watched)
		return true; /* another thread's fault was first */
	p->faults++;
	forget_code(p->page * PAGE, p->page * PAGE + PAGE);
	p->watched = 1, eng.watched++;
	unprotect(p);
	return true;
}

/* The kernel is to write where we forbade it: give back every page. */
void unwatch_all(void)
{
	for (uint32_t i = 0; i < 1u << eng.page_bits; i++)
		if (eng.pages[i].watched)
			watch_fault(eng.pages[i].page * PAGE);
}
