/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "profile/stacks.h"

/* The part of each item that is its key, followed by the counts. */
enum {
	FRAME_KEY = sizeof(struct stacks_frame),
	MODULE_KEY = offsetof(struct stacks_module, build_id),
	NODE_KEY = sizeof(struct stacks_node),
	TASK_KEY = sizeof(struct stacks_task),
	TRACE_KEY = sizeof(struct stacks_trace),
	ROW_KEY = offsetof(struct stacks_row, samples),
};

struct stacks *stacks_new(struct tare_error *err)
{
	static const struct stacks_node root = { SET_NONE, SET_NONE };
	static const struct stacks_trace none = { .parent = SET_NONE };
	struct stacks *s = calloc(1, sizeof(*s));

	if (s && words_add(&s->names, "", 0) != WORDS_NONE &&
	    set_add(&s->node_set, &root, sizeof(root), NODE_KEY, NULL) == 0 &&
	    set_add(&s->trace_set, &none, sizeof(none), TRACE_KEY, NULL) == 0)
		return s;
	stacks_free(s);
	tare_fail_nomem(err);
	return NULL;
}

void stacks_free(struct stacks *s)
{
	if (!s)
		return;
	words_free(&s->names);
	set_free(&s->frame_set);
	set_free(&s->module_set);
	set_free(&s->node_set);
	set_free(&s->task_set);
	set_free(&s->row_set);
	set_free(&s->trace_set);
	free(s->column);
	free(s->by_samples);
	moments_free(&s->moments);
	free(s);
}

uint32_t stacks_add_name(struct stacks *s, const char *name)
{
	return words_add(&s->names, name, strlen(name));
}

uint32_t stacks_add_frame(struct stacks *s, const struct stacks_frame *frame)
{
	return set_add(&s->frame_set, frame, sizeof(*frame), FRAME_KEY, NULL);
}

uint32_t stacks_add_module(struct stacks *s, uint32_t name, const char *build_id)
{
	struct stacks_module module = { .name = name, .build_id = stacks_add_name(s, build_id) };
	bool fresh;
	uint32_t at = module.build_id == WORDS_NONE
		? SET_NONE
		: set_add(&s->module_set, &module, sizeof(module), MODULE_KEY, &fresh);
	struct stacks_module *is = at == SET_NONE ? NULL
						  : (struct stacks_module *)s->module_set.item + at;

	if (is && is->build_id != module.build_id)
		is->build_id = 0;
	return at;
}

void stacks_place_module(struct stacks *s, uint32_t number, uint64_t address, uint64_t size,
			 uint64_t offset, uint64_t base)
{
	struct stacks_module *is = (struct stacks_module *)s->module_set.item + number;
	bool same = is->address == address && is->size == size && is->offset == offset &&
		is->base == base;

	if (is->placed && !same)
		is->address = is->size = is->offset = is->base = 0;
	else if (!is->placed)
		is->address = address, is->size = size, is->offset = offset, is->base = base;
	is->placed = 1;
}

const struct stacks_module *stacks_module(const struct stacks *s, uint32_t name)
{
	struct stacks_module key = { .name = name };
	uint32_t at = set_find(&s->module_set, &key, sizeof(key), MODULE_KEY);

	return at == SET_NONE ? NULL : (const struct stacks_module *)s->module_set.item + at;
}

const char *stacks_build_id(const struct stacks *s, uint32_t module)
{
	const struct stacks_module *is = stacks_module(s, module);

	return is ? stacks_name(s, is->build_id) : "";
}

uint32_t stacks_add_node(struct stacks *s, uint32_t parent, uint32_t frame)
{
	struct stacks_node node = { parent, frame };

	return set_add(&s->node_set, &node, sizeof(node), NODE_KEY, NULL);
}

uint32_t stacks_add_task(struct stacks *s, uint32_t pid, uint32_t tid, uint32_t comm)
{
	return stacks_add_task_of(s, &(struct stacks_task){ pid, tid, comm, 0 });
}

uint32_t stacks_add_task_of(struct stacks *s, const struct stacks_task *task)
{
	return set_add(&s->task_set, task, sizeof(*task), TASK_KEY, NULL);
}

uint32_t stacks_add_trace(struct stacks *s, const struct stacks_trace *trace)
{
	return set_add(&s->trace_set, trace, sizeof(*trace), TRACE_KEY, NULL);
}

size_t stacks_trace_values(const struct stacks *s, uint32_t trace,
			   const struct stacks_trace *value[STACKS_TRACE_MOST])
{
	const struct stacks_trace *all = s->trace_set.item;
	size_t n = 0;

	for (uint32_t at = trace; at && n < STACKS_TRACE_MOST; at = all[at].parent)
		value[n++] = &all[at];
	for (size_t i = 0; i < n / 2; i++) {
		const struct stacks_trace *swap = value[i];

		value[i] = value[n - 1 - i];
		value[n - 1 - i] = swap;
	}
	return n;
}

size_t stacks_threads(const struct stacks *s, uint32_t *of)
{
	size_t n, threads;
	const struct stacks_task *task = stacks_tasks(s, &n);
	struct set seen = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct stacks_task key = { task[i].pid, task[i].tid, 0, task[i].again };

		of[i] = set_add(&seen, &key, sizeof(key), sizeof(key), NULL);
		if (of[i] == SET_NONE) {
			set_free(&seen);
			return SIZE_MAX;
		}
	}
	threads = seen.n;
	set_free(&seen);
	return threads;
}

uint32_t stacks_add_column(struct stacks *s, const char *name, const char *unit)
{
	struct stacks_column column = { .name = stacks_add_name(s, name),
					.unit = stacks_add_name(s, unit) };

	if (!array_one_more(&s->column, s->columns, sizeof(*s->column)) ||
	    column.name == WORDS_NONE || column.unit == WORDS_NONE)
		return SET_NONE;
	s->column[s->columns] = column;
	return s->columns++;
}

int stacks_count(struct stacks *s, const struct stacks_row *row, double squares,
		 struct tare_error *err)
{
	bool fresh;
	uint32_t at = set_add(&s->row_set, row, sizeof(*row), ROW_KEY, &fresh);
	struct stacks_column *c = &s->column[row->column];

	if (at == SET_NONE)
		return tare_fail_nomem(err);
	if (!fresh) {
		struct stacks_row *r = (struct stacks_row *)s->row_set.item + at;

		r->samples += row->samples;
		r->amount += row->amount;
	}
	c->samples += row->samples;
	c->amount += row->amount;
	c->squares += squares;
	return 0;
}

void stacks_sums(const struct stacks *s, uint32_t column, uint32_t task, uint64_t *self,
		 uint64_t *total)
{
	size_t n, rows;
	const struct stacks_node *node = stacks_nodes(s, &n);
	const struct stacks_row *row = stacks_rows(s, &rows);

	if (self)
		memset(self, 0, n * sizeof(*self));
	if (total)
		memset(total, 0, n * sizeof(*total));
	for (size_t i = 0; i < rows; i++) {
		if (row[i].column != column || (task != SET_NONE && row[i].task != task))
			continue;
		if (self)
			self[row[i].node] += row[i].amount;
		if (total)
			total[row[i].node] += row[i].amount;
	}
	for (size_t i = n; total && i-- > 1;)
		total[node[i].parent] += total[i];
}
