/* SPDX-License-Identifier: MIT */
/*
 * The stacks of both profiles become lines of one list, which is sorted and merged. In a frame's
 * name ';' and line ends would be misread: they become ':' and '?'.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "output/escape.h"
#include "profile/report/folded.h"

enum { FLUSH_AT = 1 << 16 };

struct line {
	const char *text; /* of the stack */
	uint64_t before;
	uint64_t *after; /* per column */
};

struct list {
	struct line *line;
	size_t n, room;
};

static void put_frame(struct text *t, const char *name)
{
	if (t->len)
		text_put(t, ";", 1);
	escape_frame(t, name);
}

/* Per stack: a row's stack is a path to the root, written outermost first. */
static char *stack_text(const struct call_tree *s, uint32_t node, const char *comm, uint32_t *path,
			size_t path_room)
{
	size_t n;
	const struct call_tree_node *nodes = call_tree_nodes(s, &n);
	const struct call_tree_frame *frames = call_tree_frames(s, &n);
	struct text t = { 0 };
	size_t depth = 0;

	if (comm)
		put_frame(&t, comm);
	for (; node && depth < path_room; node = nodes[node].parent)
		path[depth++] = nodes[node].frame;
	while (depth > 0)
		put_frame(&t, call_tree_name(s, frames[path[--depth]].function));
	return text_take(&t);
}

static size_t depth_most(const struct call_tree *s)
{
	size_t n, most = 0;
	const struct call_tree_node *node = call_tree_nodes(s, &n);
	uint32_t *depth = calloc(n, sizeof(*depth));

	for (size_t i = 1; depth && i < n; i++) {
		depth[i] = depth[node[i].parent] + 1;
		if (depth[i] > most)
			most = depth[i];
	}
	free(depth);
	return most;
}

struct row_key {
	uint32_t node, comm;
};

/* Adds the lines of one profile; its rows of several threads and columns become one line. */
static int add_lines(struct list *l, const struct call_tree *s, bool with_comm, bool is_before,
		     uint32_t column)
{
	size_t rows, tasks, path_room = depth_most(s) + 1, base = l->n;
	const struct call_tree_row *row = call_tree_rows(s, &rows);
	const struct call_tree_task *task = call_tree_tasks(s, &tasks);
	uint32_t *path = calloc(path_room, sizeof(*path));
	struct set seen = { 0 };
	int ret = path ? 0 : -ENOMEM;

	for (size_t i = 0; ret == 0 && i < rows; i++) {
		struct row_key key = { row[i].node, with_comm ? task[row[i].task].comm : 0 };
		bool fresh;
		uint32_t at = set_add(&seen, &key, sizeof(key), sizeof(key), &fresh);
		struct line *line;

		if (at == SET_NONE) {
			ret = -ENOMEM;
			break;
		}
		if (fresh && !array_reserve(&l->line, &l->room, l->n + 1, sizeof(*l->line))) {
			ret = -ENOMEM;
			break;
		}
		line = &l->line[base + at];
		if (fresh) {
			*line = (struct line){
				.text = stack_text(s, key.node,
						   with_comm ? call_tree_name(s, key.comm) : NULL,
						   path, path_room)
			};
			if (!is_before)
				line->after = calloc(s->columns, sizeof(*line->after));
			l->n++;
			if (!line->text || (!is_before && !line->after))
				ret = -ENOMEM;
		}
		if (ret == 0 && is_before)
			line->before += row[i].column == column ? row[i].amount : 0;
		else if (ret == 0)
			line->after[row[i].column] += row[i].amount;
	}
	set_free(&seen);
	free(path);
	return ret;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

/* Merges equal lines into the first of them. */
static void merge(struct list *l, uint32_t columns)
{
	size_t n = 0;

	qsort(l->line, l->n, sizeof(*l->line), by_text);
	for (size_t i = 0; i < l->n; i++) {
		struct line *to = n ? &l->line[n - 1] : NULL;

		if (!to || strcmp(to->text, l->line[i].text)) {
			l->line[n++] = l->line[i];
			continue;
		}
		to->before += l->line[i].before;
		if (!to->after) {
			to->after = l->line[i].after;
			l->line[i].after = NULL;
		}
		for (uint32_t c = 0; l->line[i].after && c < columns; c++)
			to->after[c] += l->line[i].after[c];
		free((char *)l->line[i].text);
		free(l->line[i].after);
	}
	l->n = n;
}

static void put_line(struct text *out, const struct line *line, const struct folded_options *o,
		     double scale)
{
	uint64_t after = line->after ? line->after[o->column] : 0;
	double ratio;

	if (!after && !line->before)
		return;
	text_put(out, line->text, strlen(line->text));
	if (o->before && scale != 1)
		text_add(out, " %.0f", (double)line->before * scale);
	else if (o->before)
		text_add(out, " %llu", (unsigned long long)line->before);
	text_add(out, " %llu", (unsigned long long)after);
	if (o->ratio && line->after && derived_of(o->ratio, line->after, &ratio))
		text_add(out, " %.6g", ratio);
	else if (o->ratio)
		text_add(out, " -");
	text_put(out, "\n", 1);
}

int folded_write(struct text *out, const struct call_tree *s, const struct folded_options *o,
		 int (*put)(void *arg, struct text *out, struct tare_error *err), void *arg,
		 struct tare_error *err)
{
	struct list l = { 0 };
	double scale = 1;
	int ret = add_lines(&l, s, o->with_comm, false, 0);

	if (ret == 0 && o->before)
		ret = add_lines(&l, o->before, o->with_comm, true, o->before_column);
	if (ret < 0) {
		tare_fail_nomem(err);
		goto out;
	}
	if (l.n)
		merge(&l, s->columns);
	if (o->normalise && o->before && o->before->columns &&
	    o->before->column[o->before_column].amount)
		scale = (double)s->column[o->column].amount /
			(double)o->before->column[o->before_column].amount;
	for (size_t i = 0; ret == 0 && i < l.n; i++) {
		put_line(out, &l.line[i], o, scale);
		if (out->len >= FLUSH_AT)
			ret = put(arg, out, err);
	}
	if (ret == 0)
		ret = put(arg, out, err);
out:
	for (size_t i = 0; i < l.n; i++) {
		free((char *)l.line[i].text);
		free(l.line[i].after);
	}
	free(l.line);
	return ret;
}
