/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "regions/region_stack.h"

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

bool region_stack_reserve(struct region_stack *s, size_t more)
{
	size_t room = s->room;

	return array_reserve(&s->frame, &room, s->depth + more, sizeof(*s->frame)) &&
		array_reserve(&s->value, &s->room, room, 2 * s->n_counters * sizeof(*s->value));
}

bool region_stack_begin(struct region_stack *s, const struct timeline_point *p)
{
	size_t n = s->n_counters;
	uint64_t *value;

	if (!region_stack_reserve(s, 1))
		return false;
	value = s->value + s->depth * 2 * n;
	memcpy(value, p->value, n * sizeof(*value));
	memset(value + n, 0, n * sizeof(*value));
	s->frame[s->depth++] = (struct region_frame){ .label = p->label,
						      .offset = p->offset,
						      .no_begin = p->missing,
						      .repaired = p->repaired };
	return true;
}

void region_stack_end(struct region_stack *s, const struct timeline_point *p,
		      struct region_done *out)
{
	struct region_frame *f = &s->frame[--s->depth], *around = s->depth ? f - 1 : NULL;
	size_t n = s->n_counters;
	uint64_t *value = s->value + s->depth * 2 * n;

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
			value[(ptrdiff_t)c - (ptrdiff_t)n] += out->cost[c];
	}
	out->no_self = out->no_cost | f->no_children;
	if (around)
		around->no_children |= out->no_cost;
}
