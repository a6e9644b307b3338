/* SPDX-License-Identifier: MIT */
/* Begin and end -> regions, each with what it cost and what of that was its own. One stack per thread of a recording. */
#ifndef ANALYZE_REGION_STACK_H
#define ANALYZE_REGION_STACK_H

#include "record/timeline.h"

struct region_frame {
	uint64_t offset;   /* of its begin in the file */
	uint32_t label;
	uint8_t no_begin;    /* counters not read at its begin */
	uint8_t no_children; /* counters of which a child's cost is not known */
	uint8_t repaired;    /* of its begin or its end: enum timeline_repair */
};

struct region_stack {
	size_t n_counters, depth, room;
	struct region_frame *frame;
	uint64_t *value; /* per frame: n_counters at its begin, n_counters within its children */
};

/* A region that ended; valid until the next call. */
struct region_done {
	const struct region_frame *frame;
	const uint64_t *begin;
	uint64_t cost[TIMELINE_COUNTERS_MAX];
	int64_t self[TIMELINE_COUNTERS_MAX];
	uint8_t no_cost, no_self; /* counters of which it is not known */
	uint8_t backwards;	  /* of no_cost: the counter was less at the end than at the begin */
};

void region_stack_init(struct region_stack *s, size_t n_counters);
void region_stack_free(struct region_stack *s);
bool region_stack_grow(struct region_stack *s);

static inline const struct region_frame *region_stack_top(const struct region_stack *s)
{
	return s->depth ? &s->frame[s->depth - 1] : NULL;
}

/* The following are run for each point: n is n_counters, known to the compiler where it is 1. */

/* For points of these kinds. false: out of memory. */
static inline __attribute__((always_inline)) bool region_stack_begin_of(struct region_stack *s, const struct timeline_point *p, size_t n)
{
	uint64_t *value;

	if (s->depth == s->room && !region_stack_grow(s))
		return false;
	value = s->value + s->depth * 2 * n;
	for (size_t c = 0; c < n; c++) {
		value[c] = p->value[c];
		value[n + c] = 0;
	}
	s->frame[s->depth++] =
		(struct region_frame){ .label = p->label, .offset = p->offset, .no_begin = p->missing, .repaired = p->repaired };
	return true;
}

/* Of the innermost; there is one. */
static inline __attribute__((always_inline)) void region_stack_end_of(struct region_stack *s, const struct timeline_point *p, struct region_done *out, size_t n)
{
	struct region_frame *f = &s->frame[--s->depth], *around = s->depth ? f - 1 : NULL;
	uint64_t *value = s->value + s->depth * 2 * n, *outer = value - n;

	f->repaired |= p->repaired;
	out->frame = f;
	out->begin = value;
	out->no_cost = f->no_begin | p->missing;
	out->backwards = 0;
	for (size_t c = 0; c < n; c++) {
		uint8_t bit = (uint8_t)(1u << c);

		if (!(out->no_cost & bit) && p->value[c] < value[c]) {
			out->no_cost |= bit;
			out->backwards |= bit;
		}
		out->cost[c] = out->no_cost & bit ? 0 : p->value[c] - value[c];
		out->self[c] = (int64_t)(out->cost[c] - value[n + c]);
		if (around && !(out->no_cost & bit))
			outer[c] += out->cost[c];
	}
	out->no_self = out->no_cost | f->no_children;
	if (around)
		around->no_children |= out->no_cost;
}

#endif
