/* SPDX-License-Identifier: MIT */
#include "regions/runtime/region_stream.h"
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/pages.h"
#include "regions/runtime/region_fiber.h"
#include "regions/runtime/region_kept.h"
#include "regions/runtime/region_map.h"
#include "regions/runtime/region_process.h"

enum { SLACK = 2 * POINT_MAX + 16 };

struct region_recording region_nobody;
uint8_t *const region_no_room = NULL;

static uint8_t *data_of(struct block_head *b)
{
	return (uint8_t *)(b + 1);
}

void region_recording_put(struct region_recording *r)
{
	if (!r || __atomic_sub_fetch(&r->references, 1, __ATOMIC_ACQ_REL))
		return;
	while (r->spare) {
		struct region_stream *s = r->spare;

		r->spare = s->next;
		region_stream_forget(s);
	}
	region_labels_close(&r->labels);
	region_labels_free(&r->labels);
	if (r->block)
		region_unmap(r->block, FILE_PAGE);
	region_counters_free(&r->counters);
	region_file_close(&r->file);
	pages_free(r, sizeof(*r));
}

void region_recording_lose(struct region_recording *r, uint64_t points, int code)
{
	__atomic_add_fetch(&r->lost, points, __ATOMIC_RELAXED);
	if (code)
		__atomic_store_n(&r->lost_errno, code, __ATOMIC_RELAXED);
	if (r->process) {
		__atomic_add_fetch(&r->process->lost, points, __ATOMIC_RELAXED);
		if (code)
			__atomic_store_n(&r->process->lost_errno, (uint32_t)code, __ATOMIC_RELAXED);
	}
}

void region_recording_found(struct region_recording *r, uint64_t points)
{
	__atomic_sub_fetch(&r->lost, points, __ATOMIC_RELAXED);
	if (r->process)
		__atomic_sub_fetch(&r->process->lost, points, __ATOMIC_RELAXED);
}

void region_recording_lose_of(struct region_recording *r, unsigned bit)
{
	if (r->process)
		__atomic_or_fetch(&r->process->lost_label[bit / 64], (uint64_t)1 << bit % 64,
				  __ATOMIC_RELAXED);
}

/* Points that the inline functions write have three bytes and are not counted one by one. */
static uint64_t points_in(const struct region_stream *s)
{
	return ((uint64_t)(s->at - data_of(s->block)) - s->beyond) / 3;
}

/*
 * The values from which the next differences are computed. Counts: always; clocks: only initially,
 * because they are not per thread.
 */
static void rebase(struct region_stream *s, bool clocks)
{
	const struct region_counters *c = &s->of->counters;
	uint64_t value[FILE_COUNTERS] = { 0 };

	thread_counters_read(&s->counters, c, 0, value);
	for (unsigned i = 0; i < c->n; i++) {
		if (s->counters.missing >> i & 1 || (!clocks && c->clocks >> i & 1))
			continue;
		s->last[i] = value[i];
		if (i == 0)
			s->here->last = value[0];
	}
}

/* The block's points are already written to the file. It is FREE until it is begun again. */
static void clear(struct region_stream *s)
{
	__atomic_store_n(&s->block->state, BLOCK_FREE, __ATOMIC_RELEASE);
	memset(s->block + 1, 0, s->bytes - sizeof(*s->block));
}

static void put_name(const struct region_stream *s, char *name)
{
	if (s->tid)
		memcpy(name, s->name, STREAM_NAME);
	else
		prctl(PR_GET_NAME, name);
}

/* Begin the block, with all data zeroed. */
static void begin_block(struct region_stream *s, uint64_t seq, uint64_t lost)
{
	struct block_head *b = s->block, head = { 0 };

	head.magic = BLOCK_MAGIC;
	head.kind = BLOCK_POINTS;
	head.size = s->bytes;
	head.process = s->of->serial;
	head.thread = s->thread;
	head.pid = (uint32_t)getpid();
	head.tid = s->tid ? s->tid : (uint32_t)syscall(SYS_gettid);
	head.seq = seq;
	head.lost = lost;
	head.first = s->first;
	s->beyond = 0;
	region_clock_pair(&head.ticks, &head.clock_ns);
	put_name(s, head.name);
	head.missing = s->missing;
	for (unsigned i = 0; i < s->of->counters.n; i++)
		head.value[i] = i ? s->last[i] : s->here->last;
	head.state = BLOCK_FREE;
	head.head_sum = format_head_sum(&head);
	format_begin_block(b, &head);
	s->at = data_of(b);
	__atomic_store_n(&b->state, BLOCK_OPEN, __ATOMIC_RELEASE);
}

static void seal(struct region_stream *s)
{
	struct block_head *b = s->block;

	b->used = (uint32_t)(s->at - data_of(b));
	put_name(s, b->name);
	b->sum = format_block_sum(b, data_of(b));
	b->points = points_in(s);
	b->seal_sum = format_seal_sum(b);
	s->first += b->points;
	__atomic_store_n(&b->state, BLOCK_SEALED, __ATOMIC_RELEASE);
}

/* The inline functions write only points with a single clock. */
static void set_limit(struct region_stream *s)
{
	s->limit = (uint8_t *)s->block + s->bytes - SLACK;
	__atomic_store_n(s->end, s->of->counters.mode == READ_CLOCK ? s->limit : NULL,
			 __ATOMIC_RELAXED);
	s->here->end = s->end;
}

/*
 * A thread that filled a small block continues in a full-size one. True: the new block is there and
 * empty.
 */
static bool grow(struct region_stream *s)
{
	struct block_head *old = s->block, *more;
	uint64_t offset;

	if (s->bytes == BLOCK_BYTES)
		return false;
	more = region_file_map(&s->of->file, BLOCK_BYTES, true, &offset);
	if (!more)
		return false;
	__atomic_store_n(&old->state, BLOCK_FREE, __ATOMIC_RELEASE);
	s->block = more;
	s->offset = offset;
	region_unmap(old, s->bytes);
	s->bytes = BLOCK_BYTES;
	set_limit(s);
	return true;
}

/* Append the full block to the file and begin it again. */
static __attribute__((noinline)) void flush(struct region_stream *s)
{
	struct block_head *b = s->block;
	uint64_t lost = b->lost, seq = b->seq + 1;
	int kept = errno, ret;

	if (s->scratch) {
		s->at = data_of(b);
		return;
	}
	seal(s);
	ret = region_file_append(&s->of->file, &s->page->out, b, sizeof(*b) + b->used);
	if (ret < 0) {
		lost += b->points;
		__atomic_add_fetch(&s->of->lost, b->points, __ATOMIC_RELAXED);
		region_recording_lose(s->of, 0, -ret); /* the next block has the number */
	} else {
		lost = 0;
	}
	if (!grow(s))
		clear(s);
	begin_block(s, seq, lost);
	rebase(s, false);
	errno = kept;
}

static void put64(uint8_t *p, uint64_t x)
{
	memcpy(p, &x, sizeof(x));
}

/*
 * By the highest set bit of the first gap: the size code and bytes of its word, and the code for
 * further gaps. A table, because the compiler turns comparisons into branches, and points must take
 * the same number of instructions for every gap.
 */
struct size {
	uint8_t code, bytes, next; /* next: further gaps have 1 << next bytes */
};

static const struct size sizes[64] = {
	[0 ... 9] = { 1, 3, 1 },   [10 ... 13] = { 2, 4, 1 }, [14 ... 17] = { 2, 4, 2 },
	[18 ... 29] = { 3, 8, 2 }, [30 ... 63] = { 3, 8, 3 },
};

static inline const struct size *size_of(uint64_t gap)
{
	return &sizes[63 - __builtin_clzll(gap | 1)];
}

/*
 * The exact engine's counts of a process and of a child in its memory are at least 2^49 apart
 * (tare/exact.h). A step from one to the other is written as a step back, which readers treat as
 * unknown.
 */
static uint64_t no_step(enum counter_from from, uint64_t gap)
{
	return from == FROM_EXACT && gap >> 49 ? (uint64_t)1 << 63 : gap;
}

static void put_wide(struct region_stream *s, tare_label label, enum point_op op, uint64_t number,
		     const uint64_t *gap)
{
	uint8_t *at = s->at;

	put64(at + 8, number);
	for (unsigned i = 0; i < s->of->counters.n; i++)
		put64(at + 16 + 8 * i, gap[i]);
	/* Last, so that a reader, also after a kill here, sees the complete point or no point. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	put64(at,
	      3 | (uint64_t)POINT_WIDE << 3 | (uint64_t)op << 14 |
		      (uint64_t)(label >> 3 & 0x0fffffff) << 20);
	s->at = at + 16 + 8 * s->of->counters.n;
}

static uint64_t *last_of(struct region_stream *s, unsigned i)
{
	return i ? &s->last[i] : &s->here->last;
}

/* The distance of a value from the last one. False: it is before the last one. */
static bool is_after(const struct region_stream *s, unsigned i, uint64_t value, uint64_t last,
		     uint64_t *gap)
{
	uint64_t mask = s->counters.mask[i], back = (last - value) & mask;

	*gap = (value - last) & mask;
	if (*gap <= mask >> 1 || (s->of->counters.from[i] == FROM_EXACT && back >> 49))
		*gap = no_step(s->of->counters.from[i], *gap);
	else
		return false;
	return true;
}

/* Handlers ran since this point began, and their points are written after it. */
static __attribute__((noinline, cold)) void before_kept(struct region_stream *s, uint64_t *value)
{
	uint64_t gap;

	region_kept_set_back(s, value);
	for (unsigned i = 0; i < s->of->counters.n; i++)
		if (!is_after(s, i, value[i], *last_of(s, i), &gap))
			value[i] = *last_of(s, i);
}

static __attribute__((noinline)) void any_point(struct region_stream *s, tare_label label,
						enum point_op op, uint64_t number, uint64_t clock)
{
	static const uint64_t still[FILE_COUNTERS];
	const struct region_counters *c = &s->of->counters;
	struct tare_region_here *here = s->here;
	uint64_t value[FILE_COUNTERS], gap[FILE_COUNTERS], wide;
	uint8_t *from;

	if (__builtin_expect(!s->block, 0)) {
		region_recording_lose(s->of, 1, 0);
		return;
	}
	if (__builtin_expect(s->at >= s->limit, 0)) /* the inline functions filled it */
		flush(s);
	value[0] = gap[0] = 0;
	thread_counters_read(&s->counters, c, clock, value);
	if (__builtin_expect(region_kept_waits, 0))
		before_kept(s, value);
	from = s->at;
	if (__builtin_expect(s->counters.missing != 0, 0)) {
		value[0] = s->counters.missing & 1 ? here->last : value[0];
		for (unsigned i = 1; i < c->n; i++)
			value[i] = s->counters.missing >> i & 1 ? s->last[i] : value[i];
		if (s->counters.missing != s->missing) {
			s->missing = s->counters.missing;
			put_wide(s, 0, OP_MISSING, s->missing, still);
		}
	}
	if (c->n) {
		gap[0] = no_step(c->from[0], (value[0] - here->last) & s->counters.mask[0]);
		here->last = value[0];
	}
	wide = gap[0] >> 50 | (op != OP_BEGIN) | label >> 14;
	for (unsigned i = 1; i < c->n; i++) {
		gap[i] = no_step(c->from[i], (value[i] - s->last[i]) & s->counters.mask[i]);
		s->last[i] = value[i];
		wide |= gap[i] >> 62;
	}
	if (__builtin_expect(!wide, 1)) {
		uint8_t *at = s->at;
		const struct size *size = size_of(gap[0]);

		put64(at, gap[0] << 14 | (label & ~3u) | size->code);
		at += size->bytes;
		for (unsigned i = 1; i < c->n; i++) {
			unsigned next = size_of(gap[i])->next;

			put64(at, gap[i] << 2 | next);
			at += (size_t)1 << next;
		}
		s->at = at;
	} else {
		put_wide(s, label, op == OP_BEGIN && label & TARE_LABEL_END ? OP_END : op, number,
			 gap);
	}
	s->beyond += (uint64_t)(s->at - from) - 3;
	if (__builtin_expect(s->at >= s->limit, 0))
		flush(s);
}

/* Write a point with one counter and a short label. False: the point has another form. */
static inline bool short_point(struct region_stream *s, tare_label label, uint64_t clock)
{
	const struct region_counters *c = &s->of->counters;
	struct tare_region_here *here = s->here;
	uint8_t *at = s->at;
	uint64_t value, gap;
	const struct size *size;

	if (__builtin_expect(at >= s->limit || !s->single || label >> 14, 0))
		return false;
	if (c->mode == READ_EXACT)
		value = (uint64_t)tare_exact_now();
	else
		value = clock ? clock : tare_pmc_clock();
	gap = (value - here->last) & s->counters.mask[0];
	if (__builtin_expect(gap >> 49 != 0 || region_kept_waits, 0))
		return false;
	here->last = value;
	size = size_of(gap);
	put64(at, gap << 14 | (label & ~3u) | size->code);
	at += size->bytes;
	s->at = at;
	s->beyond += size->bytes - 3u;
	if (__builtin_expect(at >= s->limit, 0))
		flush(s);
	return true;
}

void region_stream_point(struct region_stream *s, tare_label label, enum point_op op,
			 uint64_t number, uint64_t clock)
{
	any_point(s, label, op, number, clock);
}

void region_stream_begin_or_end(struct region_stream *s, tare_label label, uint64_t clock)
{
	if (!short_point(s, label, clock))
		any_point(s, label, OP_BEGIN, 0, clock);
}

/*
 * Write a full block first. The last counts stay as they were: the caller subtracts the cost of
 * writing.
 */
static void make_room(struct region_stream *s)
{
	const struct region_counters *c = &s->of->counters;
	uint64_t last[FILE_COUNTERS];

	if (s->at < s->limit)
		return;
	for (unsigned i = 0; i < c->n; i++)
		last[i] = *last_of(s, i);
	flush(s);
	for (unsigned i = 0; i < c->n; i++)
		if (!(c->clocks >> i & 1))
			*last_of(s, i) = last[i];
}

static void put_missing(struct region_stream *s, uint32_t missing)
{
	static const uint64_t still[FILE_COUNTERS];

	if (s->missing == missing)
		return;
	make_room(s);
	s->missing = missing;
	s->beyond += 16 + 8 * (uint64_t)s->of->counters.n;
	put_wide(s, 0, OP_MISSING, missing, still);
}

void region_stream_before_kept(struct region_stream *s, struct region_before *b)
{
	region_stream_pause(s, &b->pause);
	for (unsigned i = 0; i < s->of->counters.n; i++)
		b->last[i] = *last_of(s, i);
}

void region_stream_kept(struct region_stream *s, tare_label label, enum point_op op,
			uint64_t number, const uint64_t *value, uint32_t missing)
{
	const struct region_counters *c = &s->of->counters;
	uint64_t gap[FILE_COUNTERS] = { 0 };

	missing = (missing | s->counters.missing) & ((1u << c->n) - 1);
	for (unsigned i = 0; i < c->n; i++) {
		uint64_t *last = last_of(s, i);

		if (missing >> i & 1)
			continue;
		if (!is_after(s, i, value[i], *last, &gap[i])) {
			gap[i] = 0;
			/*
			 * A count before the last one is due to the recorder's overhead, which is
			 * in no interval.
			 */
			if (c->clocks >> i & 1) {
				missing |= 1u << i;
				continue;
			}
		}
		*last = value[i];
	}
	put_missing(s, missing);
	make_room(s);
	s->beyond += 16 + 8 * (uint64_t)c->n - 3;
	put_wide(s, label, op == OP_BEGIN && label & TARE_LABEL_END ? OP_END : op, number, gap);
}

void region_stream_behind_kept(struct region_stream *s, const struct region_before *b)
{
	const struct region_counters *c = &s->of->counters;
	uint64_t gap;

	if (!s->block)
		return;
	put_missing(s, s->counters.missing);
	make_room(s);
	for (unsigned i = 0; i < c->n; i++)
		if (!(c->clocks >> i & 1) && is_after(s, i, b->last[i], *last_of(s, i), &gap))
			*last_of(s, i) = b->last[i];
	region_stream_resume(&b->pause);
}

/* A stream opened later begins with the first of them. */
static void begin_with_kept(struct region_stream *s)
{
	const struct region_counters *c = &s->of->counters;
	uint64_t value[FILE_COUNTERS];

	for (unsigned i = 0; i < c->n; i++)
		value[i] = *last_of(s, i);
	region_kept_set_back(s, value);
	for (unsigned i = 0; i < c->n; i++) {
		uint64_t start = c->from[i] == FROM_KERNEL ? s->of->start_clock_ns
							   : s->of->start_ticks;

		if (c->clocks >> i & 1)
			*last_of(s, i) = value[i] > start ? value[i] : start;
	}
}

static void attach(struct region_stream *s)
{
	struct region_recording *r = s->of;

	set_limit(s);
	s->missing = s->counters.missing;
	s->single = !s->missing &&
		(r->counters.mode == READ_EXACT || r->counters.mode == READ_CLOCK);
	s->at = data_of(s->block);
	rebase(s, true);
}

void region_stream_pause(struct region_stream *s, struct region_pause *p)
{
	p->of = s && s->block && s->of->counters.mode != READ_CLOCK ? s : NULL;
	if (p->of)
		thread_counters_read(&s->counters, &s->of->counters, 0, p->value);
}

void region_stream_resume(const struct region_pause *p)
{
	struct region_stream *s = p->of;
	uint64_t value[FILE_COUNTERS] = { 0 };

	if (!s)
		return;
	thread_counters_read(&s->counters, &s->of->counters, 0, value);
	for (unsigned i = 0; i < s->of->counters.n; i++) {
		if ((s->counters.missing | s->of->counters.clocks) >> i & 1)
			continue;
		s->last[i] += value[i] - p->value[i];
		if (i == 0)
			s->here->last += value[0] - p->value[0];
	}
}

void region_stream_skip(struct region_stream *s, tare_label label, const uint64_t *out)
{
	const struct region_counters *c = &s->of->counters;
	uint64_t in[FILE_COUNTERS] = { 0 }, before[FILE_COUNTERS] = { 0 },
		 away[FILE_COUNTERS] = { 0 };

	if (label && s->at >= s->limit)
		flush(s);
	thread_counters_read(&s->counters, c, 0, in);
	for (unsigned i = 0; i < c->n; i++) {
		uint64_t *last = i ? &s->last[i] : &s->here->last, gap = in[i] - out[i];
		bool clock = c->clocks >> i & 1;

		if (s->counters.missing >> i & 1 || (clock && !label))
			continue;
		if (!label) {
			*last += gap;
			continue;
		}
		before[i] = no_step(c->from[i], (out[i] - *last) & s->counters.mask[i]);
		away[i] = clock ? gap : 0;
		*last = in[i];
	}
	if (!label)
		return;
	put_wide(s, label, OP_BEGIN, 0, before);
	put_wide(s, label, OP_END, 0, away);
	s->beyond += 2 * (16 + 8 * (uint64_t)c->n - 3);
	if (s->at >= s->limit)
		flush(s);
	else if (c->mode != READ_CLOCK)
		rebase(s, false); /* the cost of writing that */
}

struct region_stream *region_stream_open(struct region_recording *r, struct tare_region_here *here)
{
	struct region_stream *s;
	bool fresh = false, locked = region_lock();
	int kept = errno, code;

	s = r->spare;
	if (s)
		r->spare = s->next;
	else if ((s = pages_new(sizeof(*s))) && !(s->page = pages_new_wiped(sizeof(*s->page)))) {
		pages_free(s, sizeof(*s));
		s = NULL;
	}
	if (s) {
		s->end = &s->page->end;
		if (!s->block) {
			/*
			 * A child of fork is mostly short-lived. Pages that it does not need would
			 * cost more than everything else, and so would freeing them, because the
			 * kernel then writes to the disk.
			 */
			s->bytes = r->forked ? SMALL_BYTES : BLOCK_BYTES;
			s->block = region_file_map(&r->file, s->bytes, !r->forked, &s->offset);
			fresh = true;
		}
		code = errno;
		s->of = r;
		s->process = region_process();
		__atomic_add_fetch(&r->references, 1, __ATOMIC_RELAXED);
		s->here = here;
		s->thread = r->threads++;
		s->timings = 0;
		s->first = 0;
		s->next = r->streams;
		s->link = &r->streams;
		if (s->next)
			s->next->link = &s->next;
		r->streams = s;
		if (s->block && r->process)
			__atomic_add_fetch(&r->process->threads, 1, __ATOMIC_RELAXED);
		if (!s->block) {
			s->at = NULL;
			here->end = &region_no_room;
			region_recording_lose(r, 0, code);
			if (r->process)
				r->process->lost_threads++;
		}
	}
	if (locked)
		region_unlock();
	if (s && s->block) {
		if (!region_fiber_begin(s))
			thread_counters_open(&s->counters, &r->counters, NULL);
		attach(s);
		if (region_kept_waits)
			begin_with_kept(s);
		if (!fresh)
			clear(s);
		begin_block(s, 0, 0);
		rebase(s, false);
	}
	errno = kept;
	return s;
}

void region_stream_forget(struct region_stream *s)
{
	if (!s->page)
		return;
	region_unmap(s->block, s->bytes);
	pages_free(s->page, sizeof(*s->page));
	pages_free(s, sizeof(*s));
}

static void unlink_stream(struct region_stream *s)
{
	if (s->link)
		*s->link = s->next;
	if (s->next)
		s->next->link = s->link;
}

void region_stream_bury(struct region_stream *s)
{
	if (s->block)
		mmap(s->block, s->bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	s->here->end = &region_no_room;
	unlink_stream(s);
	region_nobody = *s->of;
	s->of = &region_nobody;
	s->scratch = true;
}

/*
 * Remove the stream from the list. Its block goes to another thread once its points are written to
 * the file.
 */
static void detach(struct region_stream *s, bool spare)
{
	struct region_recording *r = s->of;
	/* false: this thread has the lock, before or after a fork, where it uses no list */
	bool locked = region_lock();

	unlink_stream(s);
	if (spare) {
		s->next = r->spare;
		r->spare = s;
	}
	if (locked)
		region_unlock();
	if (!spare)
		region_stream_forget(s);
}

void region_stream_close(struct region_stream *s, bool reuse)
{
	struct region_recording *r = s->of;
	int kept = errno;
	bool spare = false;

	if (s->block) {
		uint64_t used = (uint64_t)(s->at - (uint8_t *)s->block),
			 pages = (used + FILE_PAGE - 1) & -FILE_PAGE;

		s->block->flags = BLOCK_LAST;
		seal(s);
		thread_counters_close(&s->counters);
		int ret = reuse ? region_file_append(&r->file, &s->page->out, s->block, used) : -1;

		if (ret == 0) {
			__atomic_store_n(&s->block->state, BLOCK_FREE, __ATOMIC_RELEASE);
			spare = true;
		} else {
			/*
			 * The points stay in this block. The error explains why the file ends
			 * early.
			 */
			if (reuse)
				region_recording_lose(r, 0, -ret);
			if (s->bytes == BLOCK_BYTES && s->process == region_process())
				region_file_punch(&r->file, s->offset + pages, BLOCK_BYTES - pages);
		}
	}
	s->here->end = &region_no_room;
	detach(s, spare);
	region_recording_put(r);
	errno = kept;
}

void region_stream_private(struct region_stream *s, struct region_recording *r,
			   struct tare_region_here *here, void *memory)
{
	memset(s, 0, sizeof(*s));
	s->of = r;
	s->process = region_process();
	s->here = here;
	s->block = memory;
	s->bytes = BLOCK_BYTES;
	s->scratch = true;
	s->end = &s->private_end;
	thread_counters_open(&s->counters, &r->counters, NULL);
	attach(s);
}
