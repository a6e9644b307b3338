/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "profile/call_tree.h"

/* The part of each item that is its key, followed by the counts. */
enum {
	FRAME_KEY = sizeof(struct call_tree_frame),
	MODULE_KEY = offsetof(struct call_tree_module, build_id),
	NODE_KEY = sizeof(struct call_tree_node),
	TASK_KEY = sizeof(struct call_tree_task),
	TRACE_KEY = sizeof(struct call_tree_trace),
	ROW_KEY = offsetof(struct call_tree_row, samples),
};

struct call_tree *call_tree_new(struct tare_error *err)
{
	static const struct call_tree_node root = { SET_NONE, SET_NONE };
	static const struct call_tree_trace none = { .parent = SET_NONE };
	struct call_tree *s = calloc(1, sizeof(*s));

	if (s && words_add(&s->names, "", 0) != WORDS_NONE &&
	    set_add(&s->node_set, &root, sizeof(root), NODE_KEY, NULL) == 0 &&
	    set_add(&s->trace_set, &none, sizeof(none), TRACE_KEY, NULL) == 0)
		return s;
	call_tree_free(s);
	tare_fail_nomem(err);
	return NULL;
}

void call_tree_free(struct call_tree *s)
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
	sample_log_free(&s->sample_log);
	free(s);
}

uint32_t call_tree_add_name(struct call_tree *s, const char *name)
{
	return words_add(&s->names, name, strlen(name));
}

uint32_t call_tree_add_frame(struct call_tree *s, const struct call_tree_frame *frame)
{
	return set_add(&s->frame_set, frame, sizeof(*frame), FRAME_KEY, NULL);
}

uint32_t call_tree_add_module(struct call_tree *s, uint32_t name, const char *build_id)
{
	struct call_tree_module module = { .name = name,
					   .build_id = call_tree_add_name(s, build_id) };
	bool fresh;
	uint32_t at = module.build_id == WORDS_NONE
		? SET_NONE
		: set_add(&s->module_set, &module, sizeof(module), MODULE_KEY, &fresh);
	struct call_tree_module *is = at == SET_NONE
		? NULL
		: (struct call_tree_module *)s->module_set.item + at;

	if (is && is->build_id != module.build_id)
		is->build_id = 0;
	return at;
}

void call_tree_place_module(struct call_tree *s, uint32_t number, uint64_t address, uint64_t size,
			    uint64_t offset, uint64_t base)
{
	struct call_tree_module *is = (struct call_tree_module *)s->module_set.item + number;
	bool same = is->address == address && is->size == size && is->offset == offset &&
		is->base == base;

	if (is->placed && !same)
		is->address = is->size = is->offset = is->base = 0;
	else if (!is->placed)
		is->address = address, is->size = size, is->offset = offset, is->base = base;
	is->placed = 1;
}

const struct call_tree_module *call_tree_module(const struct call_tree *s, uint32_t name)
{
	struct call_tree_module key = { .name = name };
	uint32_t at = set_find(&s->module_set, &key, sizeof(key), MODULE_KEY);

	return at == SET_NONE ? NULL : (const struct call_tree_module *)s->module_set.item + at;
}

const char *call_tree_build_id(const struct call_tree *s, uint32_t module)
{
	const struct call_tree_module *is = call_tree_module(s, module);

	return is ? call_tree_name(s, is->build_id) : "";
}

uint32_t call_tree_add_node(struct call_tree *s, uint32_t parent, uint32_t frame)
{
	struct call_tree_node node = { parent, frame };

	return set_add(&s->node_set, &node, sizeof(node), NODE_KEY, NULL);
}

uint32_t call_tree_add_task(struct call_tree *s, uint32_t pid, uint32_t tid, uint32_t comm)
{
	return call_tree_add_task_of(s, &(struct call_tree_task){ pid, tid, comm, 0 });
}

uint32_t call_tree_add_task_of(struct call_tree *s, const struct call_tree_task *task)
{
	return set_add(&s->task_set, task, sizeof(*task), TASK_KEY, NULL);
}

uint32_t call_tree_add_trace(struct call_tree *s, const struct call_tree_trace *trace)
{
	return set_add(&s->trace_set, trace, sizeof(*trace), TRACE_KEY, NULL);
}

size_t call_tree_trace_values(const struct call_tree *s, uint32_t trace,
			      const struct call_tree_trace *value[CALL_TREE_TRACE_MOST])
{
	const struct call_tree_trace *all = s->trace_set.item;
	size_t n = 0;

	for (uint32_t at = trace; at && n < CALL_TREE_TRACE_MOST; at = all[at].parent)
		value[n++] = &all[at];
	for (size_t i = 0; i < n / 2; i++) {
		const struct call_tree_trace *swap = value[i];

		value[i] = value[n - 1 - i];
		value[n - 1 - i] = swap;
	}
	return n;
}

size_t call_tree_threads(const struct call_tree *s, uint32_t *of)
{
	size_t n, threads;
	const struct call_tree_task *task = call_tree_tasks(s, &n);
	struct set seen = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct call_tree_task key = { task[i].pid, task[i].tid, 0, task[i].again };

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

uint32_t call_tree_add_column(struct call_tree *s, const char *name, const char *unit)
{
	struct call_tree_column column = { .name = call_tree_add_name(s, name),
					   .unit = call_tree_add_name(s, unit) };

	if (!array_one_more(&s->column, s->columns, sizeof(*s->column)) ||
	    column.name == WORDS_NONE || column.unit == WORDS_NONE)
		return SET_NONE;
	s->column[s->columns] = column;
	return s->columns++;
}

int call_tree_count(struct call_tree *s, const struct call_tree_row *row, double squares,
		    struct tare_error *err)
{
	bool fresh;
	uint32_t at = set_add(&s->row_set, row, sizeof(*row), ROW_KEY, &fresh);
	struct call_tree_column *c = &s->column[row->column];

	if (at == SET_NONE)
		return tare_fail_nomem(err);
	if (!fresh) {
		struct call_tree_row *r = (struct call_tree_row *)s->row_set.item + at;

		r->samples += row->samples;
		r->amount += row->amount;
	}
	c->samples += row->samples;
	c->amount += row->amount;
	c->squares += squares;
	return 0;
}

void call_tree_sums(const struct call_tree *s, uint32_t column, uint32_t task, uint64_t *self,
		    uint64_t *total)
{
	size_t n, rows;
	const struct call_tree_node *node = call_tree_nodes(s, &n);
	const struct call_tree_row *row = call_tree_rows(s, &rows);

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
