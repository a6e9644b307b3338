/* SPDX-License-Identifier: MIT */
/* A recording in memory, for tests: its points are an array. */
#ifndef EXPORT_EXPORT_LITERAL_H
#define EXPORT_EXPORT_LITERAL_H

#include <stdlib.h>
#include "regions/timeline/timeline_format.h"

struct literal_point {
	size_t thread;
	enum timeline_kind kind;
	uint32_t label;
	uint64_t number, value[TIMELINE_COUNTERS_MAX];
	uint8_t missing;
	uint8_t repaired; /* enum timeline_repair */
};

struct literal {
	struct timeline base;
	const struct timeline_label *label;
	const struct literal_point *point;
	size_t n_points;
};

struct literal_cursor {
	struct cursor base;
	size_t thread, at;
	struct timeline_point point;
};

static inline const struct timeline_label *literal_label(struct timeline *t, uint32_t index)
{
	return &((struct literal *)t)->label[index];
}

static inline int literal_thread(struct timeline *t, size_t thread, struct cursor **out,
				 struct tare_error *err)
{
	struct literal_cursor *c = calloc(1, sizeof(*c));

	(void)err;
	if (!c)
		abort();
	c->base.of = t;
	c->thread = thread;
	*out = &c->base;
	return 0;
}

static inline int literal_read(struct cursor *cursor, size_t most,
			       const struct timeline_point **points, struct tare_error *err)
{
	struct literal_cursor *c = (struct literal_cursor *)cursor;
	const struct literal *l = (const struct literal *)cursor->of;

	(void)most, (void)err;
	for (; c->at < l->n_points; c->at++) {
		const struct literal_point *from = &l->point[c->at];

		if (from->thread != c->thread)
			continue;
		c->point = (struct timeline_point){ .kind = from->kind,
						    .label = from->label,
						    .number = from->number,
						    .value = from->value,
						    .missing = from->missing,
						    .repaired = from->repaired,
						    .offset = c->at };
		c->at++;
		*points = &c->point;
		return 1;
	}
	return 0;
}

static inline void literal_cursor_close(struct cursor *c)
{
	free(c);
}

static const struct timeline_format literal_format = {
	.label = literal_label,
	.thread = literal_thread,
	.read = literal_read,
	.cursor_close = literal_cursor_close,
};

#endif
