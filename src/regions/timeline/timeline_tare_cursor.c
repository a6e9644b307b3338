/* SPDX-License-Identifier: MIT */
/*
 * The points of one thread, block by block. A block with a wrong checksum counts as missing. Begins
 * and ends are made to nest: an end also closes the regions that are still open inside, and an end
 * without a begin gets one at the same place. If points are missing, all regions are closed,
 * because it is not known which of them ended there. The counts up to the next available point are
 * a region of their own.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/array.h"
#include "regions/timeline/timeline_tare.h"

struct tare_cursor {
	struct cursor base;
	struct tare_block *block, *last; /* the current one; end of the thread's blocks */
	uint32_t process;
	unsigned n;
	uint8_t *data; /* data of the block */
	const uint8_t *at, *end;
	uint64_t offset; /* of `data` in the file */
	uint64_t seq;    /* expected for the next block */
	uint64_t points; /* number of points expected before it */
	struct format_point rec;
	uint32_t rec_label;
	uint64_t rec_offset;
	bool have; /* rec is not returned yet */
	/* points are missing before it; returned so far: nothing, the begin, the number */
	enum { WHOLE, LOST, IN_GAP, GAP_TOLD } gap;
	bool begun, after_gap; /* the thread had a point or a gap before */
	uint64_t n_lost;
	uint64_t behind[FILE_COUNTERS]; /* raw values after the gap */
	uint8_t missing_behind;
	uint64_t raw[FILE_COUNTERS], value[FILE_COUNTERS];
	uint8_t missing; /* as in the file */
	uint8_t stepped; /* counters that decreased at this point */
	uint32_t *open;  /* open labels, outermost first */
	size_t depth, room;
	uint32_t *count; /* number of open regions per label, created on first use */
	size_t n_count;
	const uint8_t *plain; /* a point before this position may be plain; NULL: none */
	uint64_t zero[FILE_COUNTERS], scale[FILE_COUNTERS]; /* as computed by shown() */
	/* labels of narrow points so far; UNSEEN; the last is WIDE */
	uint32_t by_number[POINT_WIDE + 1];
	struct timeline_point point[TIMELINE_AT_ONCE]; /* the returned points */
	uint64_t values[TIMELINE_AT_ONCE * FILE_COUNTERS];
	bool mixed; /* some of those are not plain */
};

enum {
	UNSEEN = UINT32_MAX, /* larger than any label's index */
	WIDE = UNSEEN - 1,
	/*
	 * size of a plain point's value above the counter's zero, so that neither one more
	 * difference nor the product with any scale overflows
	 */
	VALUE_BITS = 55,
};

int tare_cursor_open(struct timeline *base, size_t thread, struct cursor **out,
		     struct tare_error *err)
{
	struct tare_timeline *t = (struct tare_timeline *)base;
	struct tare_cursor *c = calloc(1, sizeof(*c));

	if (thread >= t->base.info.n_threads) {
		free(c);
		return tare_fail(err, EINVAL, "%.200s: has %zu threads, not %zu", t->base.info.path,
				 t->base.info.n_threads, thread + 1);
	}
	if (c)
		c->data = malloc(BLOCK_BYTES);
	if (!c || !c->data) {
		free(c);
		return tare_fail_nomem(err);
	}
	memset(c->by_number, 0xff, sizeof(c->by_number));
	c->by_number[POINT_WIDE] = WIDE;
	c->base.of = base;
	c->block = &t->block[t->span[thread].first];
	c->last = c->block + t->span[thread].n;
	c->process = c->block->process;
	c->n = (unsigned)t->base.info.n_counters;
	for (unsigned i = 0; i < c->n; i++) {
		c->zero[i] = t->is_clock >> i & 1 ? t->zero_ticks
			: t->is_clock_ns >> i & 1 ? t->zero_ns
						  : 0;
		c->scale[i] = t->is_clock >> i & 1 ? t->scale : (uint64_t)1 << SCALE_SHIFT;
	}
	c->mixed = true;
	*out = &c->base;
	return 0;
}

void tare_cursor_close(struct cursor *base)
{
	struct tare_cursor *c = (struct tare_cursor *)base;

	if (!c)
		return;
	free(c->data);
	free(c->open);
	free(c->count);
	free(c);
}

/* For a clock, in ns of the recording; otherwise unchanged. Monotonic in `raw`. */
static uint64_t shown(const struct tare_timeline *t, unsigned i, uint64_t raw)
{
	unsigned __int128 ns;

	if (t->is_clock >> i & 1) {
		ns = raw > t->zero_ticks
			? (unsigned __int128)(raw - t->zero_ticks) * t->scale >> SCALE_SHIFT
			: 0;
		return ns > UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
	}
	if (t->is_clock_ns >> i & 1)
		return raw > t->zero_ns ? raw - t->zero_ns : 0;
	return raw;
}

static bool load(struct tare_cursor *c, const struct tare_block *b)
{
	struct tare_timeline *t = (struct tare_timeline *)c->base.of;
	struct tare_block now = *b; /* a copy, because several cursors may share it */
	struct block_head h;

	if (b->bad || (b->cut && b->sealed) || !tare_block_fetch(t, &now, &h, c->data))
		return false;
	c->at = c->data;
	c->end = c->data + b->used; /* data written since then is not shown */
	c->offset = now.offset + sizeof(h);
	c->missing_behind = (uint8_t)h.missing;
	/*
	 * Values continue from the end of the previous block, because only the recorder's work is
	 * in between. After a missing block they begin with the values in the head; smaller values,
	 * as in a damaged file, are ignored.
	 */
	memcpy(c->behind, c->raw, sizeof(c->behind));
	for (unsigned i = 0; i < c->n && (b->seq != c->seq || !c->seq); i++)
		if (h.value[i] > c->raw[i])
			c->behind[i] = h.value[i];
	return true;
}

static uint8_t all_counters(const struct tare_cursor *c)
{
	return (uint8_t)((1u << c->n) - 1);
}

/* Continue with the first value of the loaded block. */
static void go_on(struct tare_cursor *c)
{
	memcpy(c->raw, c->behind, sizeof(c->raw));
	c->missing = c->missing_behind;
	c->stepped = 0;
}

/* Load the next readable block. Returns 1, or 0 if there is none. */
static int next_block(struct tare_cursor *c)
{
	while (c->block < c->last) {
		const struct tare_block *b = c->block++;

		if (b->seq < c->seq)
			continue; /* another copy of a block already read */
		if (!load(c, b))
			continue;
		if (b->first != c->points) {
			c->gap = LOST;
			c->n_lost = b->first > c->points ? b->first - c->points : 0;
		} else {
			go_on(c);
		}
		c->points = b->first + b->points;
		c->seq = b->seq + 1;
		return 1;
	}
	/* The last blocks cannot be read. */
	if (c->last[-1].seq >= c->seq && c->seq != UINT64_MAX) {
		const struct tare_block *b = &c->last[-1];

		/* The last one has the number of all missing points, if its own number is valid. */
		c->n_lost = b->points == NOT_COUNTED || b->first < c->points
			? 0
			: b->first - c->points + b->points;
		c->gap = b->points == NOT_COUNTED || c->n_lost > 0 ? LOST : WHOLE;
		c->missing_behind = all_counters(c); /* the counts are not known */
		memcpy(c->behind, c->raw, sizeof(c->behind));
		c->seq = UINT64_MAX;
	}
	return 0;
}

static void advance(struct tare_cursor *c)
{
	c->stepped = 0;
	for (unsigned i = 0; i < c->n; i++) {
		/* If a clock stepped back, repeat the last value here and continue from there. */
		if (c->rec.gap[i] >> 63 || c->raw[i] + c->rec.gap[i] < c->raw[i]) {
			c->stepped |= (uint8_t)(1u << i);
			continue;
		}
		c->raw[i] += c->rec.gap[i];
	}
}

/* Read the next point into c->rec. Returns 1, 0 at the end, or an error. */
static int next_record(struct tare_cursor *c)
{
	const struct tare_timeline *t = (const struct tare_timeline *)c->base.of;

	for (;;) {
		size_t n = c->at < c->end ? format_point(c->at, c->end, c->n, &c->rec) : 0;

		if (!n) {
			/* A sealed block must end with its last record. */
			int ret = next_block(c);

			if (ret <= 0)
				return ret;
			if (c->gap)
				return 1; /* the gap comes first */
			continue;
		}
		c->rec_offset = c->offset + (uint64_t)(c->at - c->data);
		c->at += n;
		if (c->rec.op == OP_MISSING) {
			c->missing = (uint8_t)c->rec.number;
			continue;
		}
		advance(c);
		c->rec_label = tare_timeline_label(t, c->process, c->rec.label);
		c->have = c->begun = true;
		return 1;
	}
}

static int push(struct tare_cursor *c, uint32_t label)
{
	if (!array_reserve(&c->open, &c->room, c->depth + 1, sizeof(*c->open)))
		return -ENOMEM;
	c->open[c->depth++] = label;
	if (c->count && label < c->n_count)
		c->count[label]++;
	return 0;
}

static uint32_t pop(struct tare_cursor *c)
{
	uint32_t label = c->open[--c->depth];

	if (c->count && label < c->n_count)
		c->count[label]--;
	return label;
}

static bool is_open(struct tare_cursor *c, uint32_t label)
{
	size_t n = c->base.of->info.n_labels;

	if (!c->count || c->n_count < n) {
		free(c->count);
		c->count = calloc(n + 1, sizeof(*c->count));
		c->n_count = c->count ? n : 0;
		for (size_t i = 0; i < c->depth && c->count; i++)
			c->count[c->open[i]]++;
	}
	return c->count && label < c->n_count && c->count[label];
}

static void give(struct tare_cursor *c, struct timeline_point *p, enum timeline_kind kind,
		 uint32_t label)
{
	const struct tare_timeline *t = (const struct tare_timeline *)c->base.of;

	for (unsigned i = 0; i < c->n; i++)
		if (!(c->missing >> i & 1))
			c->value[i] = shown(t, i, c->raw[i]);
	*p = (struct timeline_point){ .kind = kind,
				      .label = label,
				      .value = c->value,
				      .offset = c->rec_offset,
				      .missing = c->missing | c->stepped };
}

static void put_in(struct tare_cursor *c, struct timeline_point *p, enum timeline_kind kind,
		   uint32_t label, enum timeline_repair why)
{
	give(c, p, kind, label);
	p->repaired = (uint8_t)why;
	p->put_in = true;
}

/* The point of the record; begin and end nest. Returns 1, or an error. */
static int give_record(struct tare_cursor *c, struct timeline_point *p)
{
	uint32_t label = c->rec_label;

	c->have = false;
	switch (c->rec.op) {
	case OP_BEGIN:
		give(c, p, TIMELINE_BEGIN, label);
		return push(c, label) < 0 ? -ENOMEM : 1;
	case OP_END:
		if (c->depth && c->open[c->depth - 1] == label) {
			give(c, p, TIMELINE_END, pop(c));
			p->repaired = c->rec.number ? TIMELINE_REPAIRED : TIMELINE_AS_RECORDED;
			return 1;
		}
		c->have = true;
		if (c->depth && is_open(c, label)) {
			put_in(c, p, TIMELINE_END, pop(c), TIMELINE_REPAIRED);
		} else {
			put_in(c, p, TIMELINE_BEGIN, label,
			       c->after_gap ? TIMELINE_AT_GAP : TIMELINE_REPAIRED);
			if (push(c, label) < 0)
				return -ENOMEM;
		}
		return 1;
	case OP_INSTANT:
		give(c, p, TIMELINE_INSTANT, label);
		return 1;
	case OP_INTEGER:
		give(c, p, TIMELINE_INTEGER, label);
		p->number = c->rec.number;
		return 1;
	default:
		give(c, p, c->rec.op == OP_START ? TIMELINE_START : TIMELINE_FINISH, label);
		/* Numbers are unique within a process. */
		p->number = (uint64_t)c->process << 48 ^ c->rec.number;
		return 1;
	}
}

/* The points that represent a gap. */
static void give_gap(struct tare_cursor *c, struct timeline_point *p)
{
	const struct tare_timeline *t = (const struct tare_timeline *)c->base.of;

	switch (c->gap) {
	case LOST:
		put_in(c, p, TIMELINE_BEGIN, t->gap, TIMELINE_AT_GAP);
		if (!c->begun)
			/* the values at the thread's begin are not known */
			p->missing = all_counters(c);
		go_on(c);
		c->gap = IN_GAP;
		return;
	case IN_GAP:
		give(c, p, TIMELINE_LOST, 0);
		p->number = c->n_lost;
		c->gap = GAP_TOLD;
		return;
	default:
		put_in(c, p, TIMELINE_END, t->gap, TIMELINE_AT_GAP);
		c->gap = WHOLE;
		c->after_gap = true;
	}
}

/* The general case. */
static int next_any(struct tare_cursor *c, struct timeline_point *p, struct tare_error *err)
{
	int ret = 1;

	if (!c->have && !c->gap)
		ret = next_record(c);
	if (ret < 0)
		return tare_fail_nomem(err);
	/* It is not known which regions ended in a gap, or after the end. */
	if (c->gap || ret == 0) {
		if (c->depth) {
			put_in(c, p, TIMELINE_END, pop(c),
			       c->gap ? TIMELINE_AT_GAP : TIMELINE_AT_END);
			return 1;
		}
		if (!c->gap)
			return 0;
		give_gap(c, p);
		return 1;
	}
	ret = give_record(c, p);
	return ret < 0 ? tare_fail_nomem(err) : ret;
}

/* The label of narrow points with this number. */
static __attribute__((noinline)) uint32_t learn(struct tare_cursor *c, size_t number)
{
	return c->by_number[number] = tare_timeline_label((const struct tare_timeline *)c->base.of,
							  c->process, (uint32_t)number);
}

/*
 * The fast path for nearly all points: narrow points that begin a region or end the innermost one,
 * with all counters valid and not decreasing. Stores the next such points to c->point[most], in a
 * quarter of the instructions of the general case, and stops before any other point. n is c->n, a
 * compile-time constant when it is 1.
 */
static inline __attribute__((always_inline)) size_t plain_points(struct tare_cursor *c, size_t from,
								 size_t most, unsigned n)
{
	static const uint64_t first_mask[4] = { 0, 0xffffff, 0xffffffff, UINT64_MAX },
			      mask[4] = { 0, 0xffff, 0xffffffff, UINT64_MAX };
	static const uint8_t first_size[4] = { 0, 3, 4, 8 };
	const uint8_t *at = c->at, *const plain = c->plain;
	const uint64_t offset = c->offset - (uint64_t)(uintptr_t)c->data, *const scale = c->scale;
	const uint32_t *const by_number = c->by_number;
	uint32_t *const open = c->open, *top = open + c->depth, *const full = open + c->room;
	uint64_t now[FILE_COUNTERS], next[FILE_COUNTERS], *value = &c->values[from * n];
	struct timeline_point *p = &c->point[from], *const first = p, *const end = &c->point[most];
	const uint64_t first_scale = scale[0];

	for (unsigned i = 0; i < n; i++)
		now[i] = c->raw[i] - c->zero[i];
	for (; p < end && at < plain; p++, value += n) {
		const uint8_t *behind;
		uint64_t w, x;
		uint32_t label;
		bool good;

		memcpy(&w, at, 8);
		behind = at + first_size[w & 3];
		next[0] = n ? now[0] + ((w & first_mask[w & 3]) >> 14) : 0;
		good = w & 3 && !(next[0] >> VALUE_BITS);
		for (unsigned i = 1; i < n; i++) {
			memcpy(&x, behind, 8);
			next[i] = now[i] + ((x & mask[x & 3]) >> 2);
			behind += (size_t)1 << (x & 3);
			good &= x & 3 && !(next[i] >> VALUE_BITS);
		}
		label = by_number[w >> 3 & POINT_WIDE];
		if (!good || label == WIDE)
			break;
		if (__builtin_expect(label == UNSEEN, 0))
			label = learn(c, w >> 3 & POINT_WIDE);
		if (w & 4) {
			if (top == open || top[-1] != label)
				break;
			top--;
			p->kind = TIMELINE_END;
		} else {
			if (top == full)
				break;
			*top++ = label;
			p->kind = TIMELINE_BEGIN;
		}
		p->label = label;
		p->offset = offset + (uint64_t)(uintptr_t)at;
		for (unsigned i = 0; i < n; i++) {
			now[i] = next[i];
			value[i] = (uint64_t)((unsigned __int128)now[i] *
						      (i ? scale[i] : first_scale) >>
					      SCALE_SHIFT);
		}
		at = behind;
	}
	if (p == first)
		return 0;
	c->at = at;
	c->depth = (size_t)(top - open);
	c->rec_offset = p[-1].offset;
	c->stepped = 0;
	for (unsigned i = 0; i < n; i++) {
		c->raw[i] = now[i] + c->zero[i];
		c->value[i] = value[(int)i - (int)n];
	}
	return (size_t)(p - first);
}

static __attribute__((noinline)) size_t plain_of_one(struct tare_cursor *c, size_t from,
						     size_t most)
{
	return plain_points(c, from, most, 1);
}

static __attribute__((noinline)) size_t plain_of_several(struct tare_cursor *c, size_t from,
							 size_t most)
{
	return plain_points(c, from, most, c->n);
}

/* Can plain points come next, and up to which position in the block? */
static const uint8_t *plain_before(const struct tare_cursor *c)
{
	bool may = !c->have && !c->gap && !c->missing && !c->count && c->room;
	size_t longest = 8 * (c->n ? c->n : 1);

	for (unsigned i = 0; i < c->n; i++)
		may &= c->raw[i] >= c->zero[i] && !((c->raw[i] - c->zero[i]) >> VALUE_BITS) &&
			!(c->zero[i] >> 63);
	return may && (size_t)(c->end - c->at) >= longest ? c->end - longest + 1 : NULL;
}

/* Most non-plain points are wide. A single plain point is not worth switching. */
static bool wide_is_next(const struct tare_cursor *c)
{
	return c->at < c->plain && ((c->at[0] | c->at[1] << 8) >> 3 & POINT_WIDE) == POINT_WIDE;
}

/* Reset the fields that all plain points have in common. */
static void make_plain(struct tare_cursor *c)
{
	for (size_t i = 0; i < TIMELINE_AT_ONCE; i++)
		c->point[i] = (struct timeline_point){ .value = &c->values[i * c->n] };
	c->mixed = false;
}

int tare_cursor_read(struct cursor *base, size_t most, const struct timeline_point **points,
		     struct tare_error *err)
{
	struct tare_cursor *c = (struct tare_cursor *)base;
	size_t n = 0;

	if (c->mixed)
		make_plain(c);
	while (n < most) {
		struct timeline_point *p;
		int ret;

		if (c->plain && !wide_is_next(c))
			n += c->n == 1 ? plain_of_one(c, n, most) : plain_of_several(c, n, most);
		if (n == most)
			break;
		p = &c->point[n];
		c->mixed = true;
		ret = next_any(c, p, err);
		if (ret < 0)
			return ret;
		if (ret == 0)
			break;
		p->value = &c->values[n * c->n];
		for (unsigned i = 0; i < c->n; i++)
			c->values[n * c->n + i] = c->value[i];
		c->plain = plain_before(c);
		n++;
	}
	*points = c->point;
	return (int)n;
}
