/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "profile/counted.h"

#define NO_FILE     "[code in no file]"
#define NOT_SAMPLED "[not sampled]"

/* ---- before frames have names ---- */

int counted_place(struct raw *raw, const struct exact_places *p, struct tare_error *err)
{
	raw->place_frame = malloc((p->n + 1) * sizeof(*raw->place_frame));
	raw->place_module = malloc((p->modules + 1) * sizeof(*raw->place_module));
	if (!raw->place_frame || !raw->place_module)
		return tare_fail_nomem(err);
	for (size_t i = 0; i < p->modules; i++) {
		const struct exact_places_module *m = &p->module[i];
		enum module_kind kind = modules_kind(m->path);
		struct call_tree_frame f = { .module = modules_add(&raw->modules, kind, m->path,
								   NULL, 0, 0) };

		if (f.module == SET_NONE)
			return tare_fail_nomem(err);
		if (kind != MODULE_FILE && kind != MODULE_VDSO)
			return tare_fail(err, EBADMSG,
					 "counts of code in %.100s, which is not a file", m->path);
		raw->place_module[i] = f.module;
		for (size_t k = m->first; k < m->first + m->n; k++) {
			f.address = p->offset[k];
			raw->place_frame[k] = call_tree_add_frame(raw->call_tree, &f);
			if (raw->place_frame[k] == SET_NONE)
				return tare_fail_nomem(err);
		}
	}
	raw->places = p;
	return 0;
}

/* ---- sums per group ---- */

/*
 * A group is a frame that is innermost in some stacks; group `frames` stands for all frames without
 * a count.
 */
struct spreading {
	const struct raw *raw;
	const struct counted_names *names;
	struct call_tree *to;
	size_t frames, events;
	bool *by_samples; /* per frame: it has no count */
	/* per frame: a raw frame that became it; SET_NONE: none with a count */
	uint32_t *raw_frame;
	uint64_t *counted, *sampled, *passed, *given; /* per group and event */
	uint32_t *event;                              /* per column: its event; SET_NONE: none */
	uint32_t *column;                             /* per event */
	uint32_t task; /* for counts without samples; SET_NONE: not made yet */
	struct tare_error *err;
};

static uint32_t innermost(const struct counted_names *n, uint32_t raw_frame)
{
	return n->made[n->first[raw_frame] + n->count[raw_frame] - 1];
}

static bool prepare(struct spreading *s)
{
	size_t cells = (s->frames + 1) * s->events;

	s->by_samples = calloc(s->frames + 1, sizeof(*s->by_samples));
	s->raw_frame = malloc((s->frames + 1) * sizeof(*s->raw_frame));
	s->counted = calloc(cells, sizeof(*s->counted));
	s->sampled = calloc(cells, sizeof(*s->sampled));
	s->passed = calloc(cells, sizeof(*s->passed));
	s->given = calloc(cells, sizeof(*s->given));
	s->column = malloc(s->events * sizeof(*s->column));
	s->event = malloc((s->to->columns + 1) * sizeof(*s->event));
	if (!s->by_samples || !s->raw_frame || !s->counted || !s->sampled || !s->passed ||
	    !s->given || !s->column || !s->event)
		return false;
	memset(s->raw_frame, 0xff, (s->frames + 1) * sizeof(*s->raw_frame));
	memset(s->event, 0xff, (s->to->columns + 1) * sizeof(*s->event));
	for (size_t e = 0; e < s->events; e++) {
		s->column[e] = s->names->column[s->raw->column[e]];
		s->event[s->column[e]] = (uint32_t)e;
	}
	return true;
}

static bool find_uncounted(struct spreading *s)
{
	size_t n;
	const struct call_tree_frame *from = call_tree_frames(s->raw->call_tree, &n);
	const struct exact_places *p = s->raw->places;
	bool *counted = calloc(s->raw->modules.key.n + 1, sizeof(*counted));

	for (size_t k = 0; counted && k < p->modules; k++)
		counted[s->raw->place_module[k]] = true;
	for (size_t i = 0; counted && i < n; i++)
		if (from[i].flags & CALL_TREE_MARK || !counted[from[i].module])
			s->by_samples[innermost(s->names, (uint32_t)i)] = true;
	if (!counted)
		return false;
	free(counted);
	return true;
}

static size_t group_of(const struct spreading *s, uint32_t frame)
{
	return frame == SET_NONE || s->by_samples[frame] ? s->frames : frame;
}

/* A file can contain any values. */
static uint64_t plus(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static void add_counted(struct spreading *s)
{
	const struct exact_places *p = s->raw->places;

	for (size_t e = 0; e < s->events; e++)
		s->counted[s->frames * s->events + e] = p->no_place[e];
	for (size_t i = 0; i < p->n; i++) {
		uint32_t frame = innermost(s->names, s->raw->place_frame[i]);
		uint64_t *sum = s->counted + group_of(s, frame) * s->events;

		s->raw_frame[frame] = s->raw->place_frame[i];
		for (size_t e = 0; e < s->events; e++)
			sum[e] += p->value[i * p->events + e];
	}
}

/* ---- replace amounts by samples with counts ---- */

static uint32_t leaf_of(const struct spreading *s, const struct call_tree_row *row)
{
	size_t n;

	return row->node ? call_tree_nodes(s->to, &n)[row->node].frame : SET_NONE;
}

static void add_sampled(struct spreading *s)
{
	size_t n;
	const struct call_tree_row *row = call_tree_rows(s->to, &n);

	for (size_t i = 0; i < n; i++) {
		uint32_t e = s->event[row[i].column];
		size_t cell = group_of(s, leaf_of(s, &row[i])) * s->events + e;

		if (e != SET_NONE)
			s->sampled[cell] = plus(s->sampled[cell], row[i].amount);
	}
}

/*
 * The next share of the count of `cell`: `weight` out of the samples of `of`. All shares add up to
 * the whole count.
 */
static uint64_t part(struct spreading *s, size_t cell, size_t of, uint64_t weight)
{
	uint64_t before = s->given[cell];

	s->passed[cell] = plus(s->passed[cell], weight);
	s->given[cell] = (uint64_t)((unsigned __int128)s->counted[cell] * s->passed[cell] /
				    s->sampled[of]);
	return s->given[cell] - before;
}

/*
 * The event that weights a group's counts of event e: e itself, or the first event with samples
 * there; SET_NONE: none.
 */
static uint32_t weights(const struct spreading *s, size_t group, uint32_t e)
{
	if (s->sampled[group * s->events + e])
		return e;
	for (uint32_t k = 0; k < s->events; k++)
		if (s->sampled[group * s->events + k])
			return k;
	return SET_NONE;
}

static bool add_row(struct spreading *s, uint32_t node, uint32_t task, uint32_t e, uint32_t trace,
		    uint64_t amount)
{
	struct call_tree_row row = { node, task, s->column[e], trace, 0, amount };

	return !amount || call_tree_count(s->to, &row, 0, s->err) == 0;
}

static int spread(struct spreading *s)
{
	size_t n;

	call_tree_rows(s->to, &n);
	for (size_t i = 0; i < n; i++) {
		struct call_tree_row *row = (struct call_tree_row *)s->to->row_set.item + i;
		const struct call_tree_row was = *row;
		uint32_t own = s->event[was.column];
		size_t group = group_of(s, leaf_of(s, row));

		for (uint32_t e = 0; own != SET_NONE && e < s->events; e++) {
			uint32_t by = weights(s, group, e);
			uint64_t amount = by == own
				? part(s, group * s->events + e, group * s->events + by, was.amount)
				: 0;

			if (by == own && e == own)
				((struct call_tree_row *)s->to->row_set.item + i)->amount = amount;
			else if (by == own && !add_row(s, was.node, was.task, e, was.trace, amount))
				return -ENOMEM;
		}
	}
	return 0;
}

/* ---- counts of code without samples ---- */

static uint32_t task_of(struct spreading *s)
{
	struct call_tree_task task = s->raw->alone;

	if (s->task != SET_NONE)
		return s->task;
	task.comm = call_tree_add_name(
		s->to,
		s->raw->comms == 1 ? call_tree_name(s->raw->call_tree, s->raw->alone.comm)
				   : NOT_SAMPLED);
	if (s->raw->comms != 1)
		task.pid = task.tid = task.again = 0;
	s->task = task.comm == WORDS_NONE ? SET_NONE : call_tree_add_task_of(s->to, &task);
	return s->task;
}

/* Added at the root: its caller is not known. */
static uint32_t node_of(struct spreading *s, size_t group)
{
	const struct counted_names *n = s->names;
	uint32_t at = 0;

	if (group == s->frames) {
		struct call_tree_frame mark = { .function = call_tree_add_name(s->to, NO_FILE),
						.flags = CALL_TREE_MARK };
		uint32_t frame = call_tree_add_frame(s->to, &mark);

		return frame == SET_NONE ? SET_NONE : call_tree_add_node(s->to, 0, frame);
	}
	for (uint32_t k = 0; k < n->count[s->raw_frame[group]] && at != SET_NONE; k++)
		at = call_tree_add_node(s->to, at, n->made[n->first[s->raw_frame[group]] + k]);
	return at;
}

static int add_unsampled(struct spreading *s)
{
	for (size_t group = 0; group <= s->frames; group++)
		for (uint32_t e = 0; e < s->events; e++) {
			uint64_t amount = s->counted[group * s->events + e];
			uint32_t node, task;

			if (!amount || weights(s, group, e) != SET_NONE)
				continue;
			node = node_of(s, group);
			task = task_of(s);
			if (node == SET_NONE || task == SET_NONE ||
			    !add_row(s, node, task, e, 0, amount))
				return -ENOMEM;
		}
	return 0;
}

/* ---- main function ---- */

static void note_columns(struct spreading *s, const uint64_t *samples, const uint64_t *amount)
{
	const struct exact_places *p = s->raw->places;

	for (size_t e = 0; e < s->events; e++) {
		struct call_tree_column *c = &s->to->column[s->column[e]];
		uint64_t sum = p->no_place[e];

		for (size_t i = 0; i < p->n; i++)
			sum += p->value[i * p->events + e];
		c->samples = samples[s->column[e]];
		c->sampled = amount[s->column[e]];
		c->amount = c->total = sum;
		c->counted = c->has_total = true;
	}
}

/* Per frame, including the frames that were made for counts without samples. */
static int note_frames(struct spreading *s)
{
	s->to->by_samples = calloc(s->to->frame_set.n + 1, sizeof(*s->to->by_samples));
	if (!s->to->by_samples)
		return -ENOMEM;
	memcpy(s->to->by_samples, s->by_samples, s->frames * sizeof(*s->by_samples));
	return 0;
}

int counted_apply(const struct raw *raw, const struct counted_names *names, struct tare_error *err)
{
	struct spreading s = { .raw = raw,
			       .names = names,
			       .to = names->to,
			       .events = raw->places->events,
			       .task = SET_NONE,
			       .err = err };
	uint64_t *samples = calloc(2 * ((size_t)s.to->columns + 1), sizeof(*samples)),
		 *amount = samples + s.to->columns + 1;
	int ret;

	s.frames = s.to->frame_set.n;
	ret = samples && prepare(&s) ? 0 : -ENOMEM;
	for (uint32_t c = 0; samples && c < s.to->columns; c++) {
		samples[c] = s.to->column[c].samples;
		amount[c] = s.to->column[c].amount;
	}
	if (ret == 0) {
		ret = find_uncounted(&s) ? 0 : -ENOMEM;
		add_counted(&s);
		add_sampled(&s);
	}
	if (ret == 0)
		ret = spread(&s);
	if (ret == 0)
		ret = add_unsampled(&s);
	if (ret == 0)
		ret = note_frames(&s);
	if (ret == 0)
		note_columns(&s, samples, amount);
	free(samples);
	free(s.by_samples);
	free(s.raw_frame);
	free(s.counted);
	free(s.sampled);
	free(s.passed);
	free(s.given);
	free(s.column);
	free(s.event);
	return ret < 0 ? tare_fail_nomem(err) : 0;
}
