/* SPDX-License-Identifier: MIT */
/* A recording that is a table of points, for tests of what reads recordings. */
#ifndef TESTS_MADE_TIMELINE_H
#define TESTS_MADE_TIMELINE_H

#include <stdlib.h>
#include <string.h>
#include "regions/timeline/timeline_format.h"

enum { MADE_POINTS = 64, MADE_THREADS = 4, MADE_LABELS = 16, MADE_AT_ONCE = 3 };

struct made_point {
	enum timeline_kind kind;
	const char *label;
	uint64_t value[2];
	uint64_t number;
	uint8_t missing, repaired;
};

struct made {
	struct timeline base;
	struct timeline_counter counter[2];
	struct timeline_thread thread[MADE_THREADS];
	struct timeline_label label[MADE_LABELS];
	const struct made_point *point[MADE_THREADS];
	size_t n[MADE_THREADS];
};

struct made_cursor {
	struct cursor base;
	size_t thread, at;
	struct timeline_point point[MADE_AT_ONCE];
};

static const char *const made_no_arguments[] = { NULL };

static uint32_t made_number(struct made *m, const char *name)
{
	size_t i = 0;

	while (i < m->base.info.n_labels && strcmp(m->label[i].name, name))
		i++;
	if (i == MADE_LABELS)
		abort();
	if (i == m->base.info.n_labels)
		m->label[m->base.info.n_labels++] = (struct timeline_label){
			.name = name,
			.kind = "",
			.arg = made_no_arguments,
			.group = (uint32_t)i,
			.gap = !strcmp(name, "(lost)")
		};
	return (uint32_t)i;
}

static const struct timeline_label *made_label(struct timeline *t, uint32_t index)
{
	return &((struct made *)t)->label[index];
}

static int made_thread(struct timeline *t, size_t thread, struct cursor **out,
		       struct tare_error *err)
{
	struct made_cursor *c = calloc(1, sizeof(*c));

	(void)err;
	if (!c)
		abort();
	*c = (struct made_cursor){ .base = { .of = t }, .thread = thread };
	*out = &c->base;
	return 0;
}

static int made_read(struct cursor *base, size_t most, const struct timeline_point **points,
		     struct tare_error *err)
{
	struct made_cursor *c = (struct made_cursor *)base;
	struct made *m = (struct made *)base->of;
	size_t n = 0;

	(void)err;
	for (; n < most && n < MADE_AT_ONCE && c->at < m->n[c->thread]; n++, c->at++) {
		const struct made_point *q = &m->point[c->thread][c->at];

		c->point[n] = (struct timeline_point){ .kind = q->kind,
						       .label = made_number(
							       m, q->label ? q->label : ""),
						       .number = q->number,
						       .value = q->value,
						       .missing = q->missing,
						       .repaired = q->repaired,
						       .put_in = q->repaired,
						       .offset = 100 * c->thread + c->at };
	}
	*points = c->point;
	return (int)n;
}

static void made_cursor_close(struct cursor *c)
{
	free(c);
}

static const struct timeline_format made_format = { .label = made_label,
						    .thread = made_thread,
						    .read = made_read,
						    .cursor_close = made_cursor_close };

/* No threads yet; two counters, a clock "wall-time" and "faults" (or one, "wall-time"). */
__attribute__((unused)) static void made_init(struct made *m, const char *path, size_t n_counters)
{
	memset(m, 0, sizeof(*m));
	m->counter[0] = (struct timeline_counter){ .name = "wall-time",
						   .unit = "ns",
						   .quality = TARE_COUNTED };
	m->counter[1] = (struct timeline_counter){ .name = "faults",
						   .unit = "",
						   .quality = TARE_EXACT };
	m->base.format = &made_format;
	m->base.info = (struct timeline_info){ .path = path,
					       .format = "made",
					       .command = "",
					       .time = 0,
					       .counter = m->counter,
					       .n_counters = n_counters,
					       .thread = m->thread };
}

__attribute__((unused)) static void made_add(struct made *m, uint64_t tid,
					     const struct made_point *point, size_t n)
{
	size_t i = m->base.info.n_threads++;

	m->thread[i] = (struct timeline_thread){
		.pid = 1, .tid = tid, .name = "", .complete = true
	};
	m->point[i] = point;
	m->n[i] = n;
	for (size_t k = 0; k < n; k++)
		made_number(m, point[k].label ? point[k].label : "");
}

#define MADE_ADD(m, tid, points) made_add(m, tid, points, sizeof(points) / sizeof((points)[0]))

#endif
