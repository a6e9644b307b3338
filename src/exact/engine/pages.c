/* SPDX-License-Identifier: MIT */
/*
 * Self-modifying code. Writable pages with translated code are write-protected ("watched"). A write
 * to one discards its blocks and makes the page writable again. Memory whose writes cannot be
 * detected (shared mappings, stacks, pages that thrash, pages that the kernel is writing to:
 * "pinned") is translated into blocks that compare their bytes before every execution.
 */
#include <asm/unistd.h>
#include <linux/mman.h>
#include "exact/engine/engine.h"

enum { PAGE_BITS_FIRST = 10, PINS_MAX = 256 };

/* Memory that the kernel may be writing to. */
struct pin {
	uint64_t file; /* 0: by address; else by file offset, in all regions that map the file */
	uint64_t start, end;
	const struct thread *of; /* until its system call returns; NULL: forever */
};

static struct pin pins[PINS_MAX];
static uint32_t n_pins;

void pages_first(void)
{
	eng.page_bits = PAGE_BITS_FIRST;
	eng.pages = reserve(sizeof(struct code_page) << eng.page_bits);
}

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
	unreserve(old, n * sizeof(struct code_page));
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

/* Each page of [start, end) with translated code. */
static void each_page(uint64_t start, uint64_t end, void (*f)(struct code_page *))
{
	uint64_t first = start / PAGE, last = (end - 1) / PAGE;

	if (start >= end)
		return;
	if (last - first >= 1u << eng.page_bits) {
		for (uint32_t i = 0; i < 1u << eng.page_bits; i++)
			if (eng.pages[i].page && eng.pages[i].page >= first &&
			    eng.pages[i].page <= last)
				f(&eng.pages[i]);
		return;
	}
	for (uint64_t page = first; page <= last; page++) {
		struct code_page *p = page_find(page);

		if (p)
			f(p);
	}
}

static uint64_t offset_of(const struct region *r, uint64_t page)
{
	return r->offset + (page * PAGE - r->start);
}

/* False: it cannot be protected. */
static bool watch(struct code_page *p, const struct region *r)
{
	if (p->watched)
		return true;
	if (r->followed) {
		if (!shared_watch(r->file, offset_of(r, p->page)))
			return false;
	} else {
		sys(__NR_mprotect, p->page * PAGE, PAGE, PROT_READ | PROT_EXEC);
	}
	p->watched = 1;
	return true;
}

static bool pinned(uint64_t page, const struct region *r)
{
	for (uint32_t i = 0; i < n_pins; i++) {
		uint64_t at = pins[i].file ? offset_of(r, page) : page * PAGE;

		if ((!pins[i].file || (r->followed && r->file == pins[i].file)) &&
		    pins[i].start < at + PAGE && pins[i].end > at)
			return true;
	}
	return false;
}

/*
 * Called before [start, end) is read for translation, so that no write goes undetected. Returns
 * whether the block must compare its bytes.
 */
bool watch_code(uint64_t start, uint64_t end)
{
	bool checked = false;

	for (uint64_t page = start / PAGE; page <= (end - 1) / PAGE; page++) {
		const struct region *r = region_of(page * PAGE);

		if (!r || !can_change(r))
			continue;

		struct code_page *p = page_get(page);

		if (r->checked || p->faults >= WATCH_FAULTS_MAX || pinned(page, r))
			checked = true;
		else
			checked |= !watch(p, r);
	}
	return checked;
}

/* Add the block to its first page. */
void page_join(struct block *b)
{
	struct code_page *p = page_get(b->pc / PAGE);

	b->page_next = p->head;
	p->head = (uint32_t)(b - eng.blocks);
}

/* All translations are retired. */
void pages_without_code(void)
{
	for (uint32_t i = 0; i < 1u << eng.page_bits; i++)
		eng.pages[i].head = 0;
}

/* Reset the state of all pages for which `keep` returns false. */
void pages_keep(bool (*keep)(uint64_t address))
{
	for (uint32_t i = 0; i < 1u << eng.page_bits; i++)
		if (eng.pages[i].page && !keep(eng.pages[i].page * PAGE))
			eng.pages[i] = (struct code_page){ .page = eng.pages[i].page };
}

/* ---- forgetting ---- */

static struct {
	uint64_t start, end;
} forgotten;

static void forget_in(struct code_page *p)
{
	for (uint32_t *link = &p->head; *link;) {
		struct block *b = &eng.blocks[*link];

		if (b->pc < forgotten.end && b->pc + b->src_len > forgotten.start) {
			*link = b->page_next;
			block_kill(b);
		} else {
			link = &b->page_next;
		}
	}
}

static void not_watched(struct code_page *p)
{
	p->watched = 0;
}

/* Translations of [start, end) are stale. The protection is not changed. */
static void forget_blocks(uint64_t start, uint64_t end)
{
	forgotten.start = start;
	forgotten.end = end;
	/* a block may start in the page before */
	each_page(start >= PAGE ? start - PAGE : 0, end, forget_in);
}

static bool all_watchable(const struct block *b)
{
	for (uint64_t page = b->pc / PAGE; page <= (b->pc + b->src_len - 1) / PAGE; page++) {
		const struct region *r = region_of(page * PAGE);

		if (!r || r->checked || pinned(page, r))
			return false;
	}
	return true;
}

/*
 * A block compared its bytes and found them unchanged. A page that was written often while its code
 * was generated is watched again after a while: then returns true, and its blocks are discarded,
 * including this one.
 */
bool page_settles(const struct block *b)
{
	struct code_page *p = page_find(b->pc / PAGE);

	if (!p || p->faults < WATCH_FAULTS_MAX ||
	    ++p->unchanged < (uint32_t)UNCHANGED_MIN << p->settled)
		return false;
	p->unchanged = 0;
	if (!all_watchable(b))
		return false;
	for (uint64_t page = b->pc / PAGE; page <= (b->pc + b->src_len - 1) / PAGE; page++) {
		struct code_page *of = page_find(page);

		if (!of)
			continue;
		of->settled += of->settled < SETTLED_MAX;
		of->faults = WATCH_FAULTS_MAX - WATCH_FAULTS_AGAIN;
		forget_blocks(page * PAGE, page * PAGE + PAGE);
	}
	return true;
}

/* A block found its bytes changed. */
void page_changes(uint64_t pc)
{
	struct code_page *p = page_find(pc / PAGE);

	if (p)
		p->unchanged = 0;
}

/* The same, after the program changed the mappings themselves. */
void forget_code(uint64_t start, uint64_t end)
{
	forget_blocks(start, end);
	each_page(start, end, not_watched);
}

/*
 * The page of the file is about to be written: discard its translations, in each mapping of the
 * file.
 */
void unwatch_file(uint64_t file, uint64_t offset)
{
	for (uint32_t i = 0; i < eng.n_regions; i++) {
		const struct region *r = &eng.regions[i];
		struct code_page *p;

		if (!r->followed || r->file != file || offset - r->offset >= r->end - r->start)
			continue;
		p = page_find((r->start + (offset - r->offset)) / PAGE);
		if (!p || !p->watched)
			continue;
		p->faults++;
		forget_blocks(p->page * PAGE, p->page * PAGE + PAGE);
		p->watched = 0;
	}
}

/* Calls `each` for the parts of regions that map [from, to) of a file and follow it. */
static void in_file(uint64_t file, uint64_t from, uint64_t to,
		    void (*each)(uint64_t start, uint64_t end))
{
	for (uint32_t i = 0; i < eng.n_regions; i++) {
		const struct region *r = &eng.regions[i];
		uint64_t first = from > r->offset ? from - r->offset : 0, size = r->end - r->start;
		uint64_t last = to < r->offset ? 0 : to - r->offset < size ? to - r->offset : size;

		if (r->followed && r->file == file && first < last)
			each(r->start + first, r->start + last);
	}
}

/* Discard translations of [from, to) of the file, and make its pages writable. */
void forget_file(uint64_t file, uint64_t from, uint64_t to)
{
	in_file(file, from, to, code_written);
}

/* Make the page writable again. */
static void unwatch(struct code_page *p)
{
	const struct region *r = region_any(p->page * PAGE);

	if (!p->watched)
		return;
	if (r && r->followed) {
		uint64_t file = r->file, offset = offset_of(r, p->page);

		unwatch_file(file, offset);
		shared_unwatch(file, offset);
		return;
	}
	p->faults++;
	forget_blocks(p->page * PAGE, p->page * PAGE + PAGE);
	p->watched = 0;
	if (sys(__NR_mprotect, p->page * PAGE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC) < 0)
		refuse("memory that the kernel no longer lets be written and executed (mseal?), at",
		       p->page * PAGE);
}

void unwatch_range(uint64_t start, uint64_t end)
{
	each_page(start, end, unwatch);
}

/* [start, end) was written in a way the engine did not detect. */
void code_written(uint64_t start, uint64_t end)
{
	each_page(start, end, unwatch);
	forget_blocks(start, end);
	region_changed(start, end);
}

/*
 * A write faulted at `address`: is the page write-protected by the engine? Then make it writable
 * again.
 */
bool watch_fault(uint64_t address)
{
	struct code_page *p = page_find(address / PAGE);
	const struct region *r = region_of(address);

	if (shared_fault(address))
		return true;
	if (!p || !r || !r->writable)
		return false;
	unwatch(p); /* or another thread faulted first */
	return true;
}

/* ---- what the kernel writes to ---- */

static void pin_pages(struct pin p)
{
	p.start &= ~(uint64_t)(PAGE - 1);
	p.end = p.end > ~0ull - PAGE ? p.end : (p.end + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	for (uint32_t i = 0; i < n_pins; i++)
		if (!pins[i].of && pins[i].file == p.file && pins[i].start <= p.start &&
		    pins[i].end >= p.end)
			return;
	if (n_pins == PINS_MAX) { /* correct, but slow */
		n_pins = 0;
		p = (struct pin){ .end = ~0ull };
	}
	pins[n_pins++] = p;
	if (p.file)
		in_file(p.file, p.start, p.end, unwatch_range);
	else
		unwatch_range(p.start, p.end);
}

/*
 * The kernel is about to write to [start, end): its pages stay writable until the call of thread
 * `of` returns, even if they are executed. NULL: forever.
 */
void pin(uint64_t start, uint64_t end, const struct thread *of)
{
	pin_pages((struct pin){ 0, start, end, of });
}

/* The same for [start, end) of a file, in all of its mappings. */
void pin_file(uint64_t file, uint64_t start, uint64_t end, const struct thread *of)
{
	pin_pages((struct pin){ file, start, end, of });
}

/*
 * The thread's call returned: blocks translated meanwhile compare their bytes, and no longer need
 * to.
 */
void unpin(const struct thread *of)
{
	for (uint32_t i = 0; i < n_pins;)
		if (pins[i].of == of) {
			struct pin p = pins[i];

			pins[i] = pins[--n_pins];
			if (p.file)
				in_file(p.file, p.start, p.end, forget_blocks);
			else
				forget_blocks(p.start, p.end);
		} else {
			i++;
		}
}

/* In a forked child, which does not have the parent's other threads. */
void unpin_others(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_pins; i++)
		if (!pins[i].of)
			pins[n++] = pins[i];
	n_pins = n;
}
