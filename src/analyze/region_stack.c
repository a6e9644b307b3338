/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "analyze/region_stack.h"

void region_stack_init(struct region_stack *s, size_t n_counters)
{
	*s = (struct region_stack){ .n_counters = n_counters };
}

void region_stack_free(struct region_stack *s)
{
	free(s->frame);
	free(s->value);
	*s = (struct region_stack){ 0 };
}

static bool grow(struct region_stack *s)
{
	size_t room = s->room ? 2 * s->room : 32;
	void *frame = realloc(s->frame, room * sizeof(*s->frame)), *value;

	if (!frame)
		return false;
	s->frame = frame;
	value = realloc(s->value, room * 2 * s->n_counters * sizeof(*s->value) + 1);
	if (!value)
		return false;
	s->value = value;
	s->room = room;
	return true;
}

/* n is n_counters, known to the compiler where it is 1. */
static inline __attribute__((always_inline)) void begin(struct region_stack *s, const struct timeline_point *p, size_t n)
{
	uint64_t *value = s->value + s->depth * 2 * n;

	for (size_t c = 0; c < n; c++) {
		value[c] = p->value[c];
		value[n + c] = 0;
	}
	s->frame[s->depth++] =
		(struct region_frame){ .label = p->label, .offset = p->offset, .no_begin = p->missing, .cut = p->repaired };
}

bool region_stack_begin(struct region_stack *s, const struct timeline_point *p)
{
	if (s->depth == s->room && !grow(s))
		return false;
	if (s->n_counters == 1)
		begin(s, p, 1);
	else
		begin(s, p, s->n_counters);
	return true;
}

static inline __attribute__((always_inline)) void end(struct region_stack *s, const struct timeline_point *p, struct region_done *out, size_t n)
{
	struct region_frame *f = &s->frame[--s->depth], *around = s->depth ? f - 1 : NULL;
	uint64_t *value = s->value + s->depth * 2 * n, *outer = value - n;

	f->cut |= p->repaired;
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
	if (around) {
		around->children++;
		around->inner += f->inner + 1;
		around->no_children |= out->no_cost;
	}
}

void region_stack_end(struct region_stack *s, const struct timeline_point *p, struct region_done *out)
{
	if (s->n_counters == 1)
		end(s, p, out, 1);
	else
		end(s, p, out, s->n_counters);
}

void region_stack_lost(struct region_stack *s)
{
	for (size_t i = 0; i < s->depth; i++)
		s->frame[i].hole = true;
}
