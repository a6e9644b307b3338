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

bool region_stack_grow(struct region_stack *s)
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
