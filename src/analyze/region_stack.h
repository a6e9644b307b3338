/* SPDX-License-Identifier: MIT */
/* Begin and end -> regions, each with what it cost and what of that was its own. One stack per thread of a recording. */
#ifndef ANALYZE_REGION_STACK_H
#define ANALYZE_REGION_STACK_H

#include "record/timeline.h"

struct region_frame {
	uint64_t children; /* regions directly in it */
	uint64_t inner;	   /* regions in it at any depth */
	uint64_t offset;   /* of its begin in the file */
	uint32_t label;
	uint8_t no_begin;    /* counters not read at its begin */
	uint8_t no_children; /* counters of which a child's cost is not known */
	bool cut;	     /* its begin, or end, is not in the file */
	bool hole;	     /* points were lost while it was open */
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
/* For points of these kinds. false: out of memory. */
bool region_stack_begin(struct region_stack *s, const struct timeline_point *p);
/* Of the innermost; there is one. */
void region_stack_end(struct region_stack *s, const struct timeline_point *p, struct region_done *out);
void region_stack_lost(struct region_stack *s);

static inline const struct region_frame *region_stack_top(const struct region_stack *s)
{
	return s->depth ? &s->frame[s->depth - 1] : NULL;
}

#endif
