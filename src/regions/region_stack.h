/* SPDX-License-Identifier: MIT */
/*
 * Turns begins and ends into regions with total and self cost. One stack per thread of a recording.
 */
#ifndef REGIONS_REGION_STACK_H
#define REGIONS_REGION_STACK_H

#include "regions/timeline/timeline.h"

struct region_frame {
	uint64_t offset; /* of its begin in the file */
	uint32_t label;
	uint8_t no_begin;    /* counters not read at its begin */
	uint8_t no_children; /* counters with unknown cost of a child */
	uint8_t repaired;    /* repairs of its begin or end: enum timeline_repair */
};

struct region_stack {
	size_t n_counters, depth, room;
	struct region_frame *frame;
	/* per frame: n_counters values at its begin, n_counters costs of its children */
	uint64_t *value;
};

/* A region that ended; valid until the next call. */
struct region_done {
	const struct region_frame *frame;
	const uint64_t *begin;
	uint64_t cost[TIMELINE_COUNTERS_MAX];
	int64_t self[TIMELINE_COUNTERS_MAX];
	uint8_t no_cost, no_self; /* counters with unknown cost */
	uint8_t backwards;        /* of no_cost: the counter decreased */
};

void region_stack_init(struct region_stack *s, size_t n_counters);
void region_stack_free(struct region_stack *s);
/* Reserve room for more regions. false: out of memory. */
bool region_stack_reserve(struct region_stack *s, size_t more);

static inline const struct region_frame *region_stack_top(const struct region_stack *s)
{
	return s->depth ? &s->frame[s->depth - 1] : NULL;
}

/* For points of these kinds. false: out of memory. */
bool region_stack_begin(struct region_stack *s, const struct timeline_point *p);
/* The innermost region. There must be one. */
void region_stack_end(struct region_stack *s, const struct timeline_point *p,
		      struct region_done *out);

/*
 * Nearly all points are plain: an unrepaired begin or end with all counters. These functions handle
 * them in a few instructions, for callers that process many points and keep a `struct region_walk`
 * in registers. Do not use the stack meanwhile. n is n_counters, a compile-time constant when it is
 * 1.
 */
struct region_walk {
	struct region_frame *bottom, *frame; /* frame: the next free one */
	uint64_t *value;                     /* of `frame` */
};

static inline bool region_is_plain(const struct timeline_point *p)
{
	return p->kind <= TIMELINE_END && !(p->repaired | p->missing);
}

/* Only as many begins as region_stack_reserve() made room for. */
static inline __attribute__((always_inline)) struct region_walk region_walk_from(
	const struct region_stack *s, size_t n)
{
	return (struct region_walk){ s->frame, s->frame + s->depth, s->value + s->depth * 2 * n };
}

static inline __attribute__((always_inline)) void region_walk_to(struct region_stack *s,
								 const struct region_walk *w)
{
	s->depth = (size_t)(w->frame - w->bottom);
}

static inline __attribute__((always_inline)) const struct region_frame *region_walk_top(
	const struct region_walk *w)
{
	return w->frame > w->bottom ? w->frame - 1 : NULL;
}

static inline __attribute__((always_inline)) void region_walk_begin(struct region_walk *w,
								    const struct timeline_point *p,
								    size_t n)
{
	w->frame->offset = p->offset;
	w->frame->label = p->label;
	w->frame->no_begin = w->frame->no_children = w->frame->repaired = 0;
	for (size_t c = 0; c < n; c++) {
		w->value[c] = p->value[c];
		w->value[n + c] = 0;
	}
	w->frame++;
	w->value += 2 * n;
}

/*
 * End the innermost region. There must be one. false: a counter's total or self cost is not known;
 * nothing was changed.
 */
static inline __attribute__((always_inline)) bool region_walk_end(struct region_walk *w,
								  const struct timeline_point *p,
								  size_t n, uint64_t *cost,
								  uint64_t *self)
{
	const struct region_frame *f = w->frame - 1;
	uint64_t *value = w->value - 2 * n;

	if (f->no_begin | f->no_children | f->repaired)
		return false;
	for (size_t c = 0; c < n; c++) {
		uint64_t begin = value[c], end = p->value[c];

		if (end < begin)
			return false;
		cost[c] = end - begin;
		self[c] = cost[c] - value[n + c];
	}
	w->frame--;
	w->value = value;
	for (size_t c = 0; c < n && w->frame > w->bottom; c++)
		value[(ptrdiff_t)c - (ptrdiff_t)n] += cost[c];
	return true;
}

#endif
