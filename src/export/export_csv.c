/* SPDX-License-Identifier: MIT */
/*
 * CSV by RFC 4180, with a header: a row for each region (in the order of their ends), instant,
 * number, async span and loss of a thread. Values that were not read are empty, never 0. For
 * samples: one row each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "output/csv.h"
#include "export/export_private.h"
#include "output/json.h"
#include "profile/report/traced_view.h"

static void field(struct out *o, const char *s)
{
	struct text t = { 0 };

	csv_cell(&t, s, ",");
	out_put(o, t.s, t.len);
	if (t.failed && o->error == 0)
		o->error = -ENOMEM;
	text_free(&t);
}

static int begin_csv(struct export *x, struct tare_error *err)
{
	const struct timeline_info *info = x->of->info;
	const char *unit = info->counter[x->of->counter].unit;

	(void)err;
	if (x->of->call_tree) {
		out_text(
			x->out,
			"time_ns,pid,tid,command,cpu,event,amount,function,module,file,line,address,stack,fields\r\n");
		return 0;
	}
	unit = *unit ? unit : info->counter[x->of->counter].name;
	out_text(x->out, "kind,pid,tid,thread,depth,label,category,arguments,number,");
	for (int k = 0; k < 2; k++) {
		char name[256];

		snprintf(name, sizeof(name), "%s_%.200s", k ? "duration" : "start", unit);
		field(x->out, name);
		out_text(x->out, ",");
	}
	for (size_t c = 0; c < info->n_counters; c++) {
		if (c == x->of->counter)
			continue;
		field(x->out, info->counter[c].name);
		out_text(x->out, ",");
	}
	out_text(x->out, "repaired,at_gap\r\n");
	return 0;
}

static void head(struct export *x, const char *kind, unsigned depth, uint32_t label, bool labelled)
{
	const struct timeline_thread *t = &x->of->info->thread[x->thread];
	const struct timeline_label *l = labelled ? export_label(x, label) : NULL;
	struct out *o = x->out;

	out_text(o, kind);
	out_text(o, ",");
	out_u64(o, t->pid);
	out_text(o, ",");
	out_u64(o, t->tid);
	out_text(o, ",");
	field(o, t->name ? t->name : "");
	out_text(o, ",");
	out_u64(o, depth);
	out_text(o, ",");
	field(o, l ? l->name : "");
	out_text(o, ",");
	field(o, l ? l->kind : "");
	out_text(o, ",");
	if (l && l->arg && l->arg[0]) {
		struct text list = { 0 };

		text_put(&list, "[", 1);
		for (size_t i = 0; l->arg[i]; i++) {
			text_put(&list, ",", i > 0);
			json_quote(&list, l->arg[i]);
		}
		text_put(&list, "]", 1);
		field(o, list.s ? list.s : "");
		text_free(&list);
	}
	out_text(o, ",");
}

static void close_span(struct export *x, const struct export_span *s)
{
	struct out *o = x->out;

	head(x, "region", s->depth, s->label, true);
	out_text(o, ",");
	if (!s->begin_unknown)
		out_u64(o, s->begin);
	out_text(o, ",");
	if (!s->begin_unknown && !s->end_unknown && s->end >= s->begin)
		out_u64(o, s->end - s->begin);
	for (size_t c = 0; c < x->of->info->n_counters; c++) {
		if (c == x->of->counter)
			continue;
		out_text(o, ",");
		if (!(s->missing >> c & 1))
			out_u64(o, s->to[c] - s->from[c]);
	}
	out_text(o, s->repaired ? ",yes," : ",,");
	out_text(o, s->at_gap ? s->at_gap : "");
	out_text(o, "\r\n");
}

static void mark(struct export *x, const struct export_mark *m)
{
	static const char *const kinds[] = {
		[TIMELINE_INSTANT] = "instant", [TIMELINE_INTEGER] = "integer",
		[TIMELINE_START] = "start",     [TIMELINE_FINISH] = "finish",
		[TIMELINE_LOST] = "lost",
	};
	struct out *o = x->out;

	head(x, kinds[m->kind], m->depth, m->label, m->kind != TIMELINE_LOST);
	if (m->kind != TIMELINE_INSTANT && !(m->kind == TIMELINE_LOST && m->number == 0))
		out_u64(o, m->number);
	out_text(o, ",");
	if (!m->at_unknown)
		out_u64(o, m->at);
	for (size_t c = 0; c < x->of->info->n_counters; c++)
		out_text(o, ",");
	out_text(o, ",,\r\n");
}

/* "main;parse;leaf", outermost first, as in folded stacks. */
static void put_stack(struct out *o, const struct call_tree *s, uint32_t node)
{
	size_t n, ignored, depth = 0;
	const struct call_tree_node *nodes = call_tree_nodes(s, &n);
	const struct call_tree_frame *frame = call_tree_frames(s, &ignored);
	char room[EXPORT_NAME_ROOM];
	struct text t = { 0 };
	uint32_t *path;

	for (uint32_t up = node; up; up = nodes[up].parent)
		depth++;
	path = calloc(depth + 1, sizeof(*path));
	if (!path) {
		o->error = -ENOMEM;
		return;
	}
	for (uint32_t up = node, i = (uint32_t)depth; up; up = nodes[up].parent)
		path[--i] = nodes[up].frame;
	for (size_t i = 0; i < depth; i++) {
		text_put(&t, ";", i > 0);
		for (const char *p =
			     export_shorten(call_tree_name(s, frame[path[i]].function), room);
		     *p; p++)
			text_put(&t, *p == ';' ? ":" : p, 1);
	}
	field(o, t.s ? t.s : "");
	text_free(&t);
	free(path);
}

/* The fields of a tracepoint as a JSON object. */
static void put_fields(struct out *o, const struct call_tree *s, uint32_t trace)
{
	struct text t = { 0 };

	if (!trace)
		return;
	traced_line(&t, s, trace);
	field(o, t.s ? t.s : "");
	text_free(&t);
}

static void sample(struct export *x, const struct export_sample *e)
{
	const struct timeline_thread *t = &x->of->info->thread[x->thread];
	const struct call_tree *s = x->of->call_tree;
	size_t n, ignored;
	const struct call_tree_node *node = call_tree_nodes(s, &n);
	const struct call_tree_frame *frames = call_tree_frames(s, &ignored),
				     *f = e->node ? &frames[node[e->node].frame] : NULL;
	char room[EXPORT_NAME_ROOM];
	struct out *o = x->out;

	out_u64(o, e->at);
	out_add(o, ",%llu,%llu,", (unsigned long long)t->pid, (unsigned long long)t->tid);
	field(o, e->command);
	out_text(o, ",");
	if (e->cpu != UINT32_MAX)
		out_u64(o, e->cpu);
	out_text(o, ",");
	field(o, x->of->info->counter[e->counter].name);
	out_text(o, ",");
	out_u64(o, e->amount);
	out_text(o, ",");
	field(o, f ? export_shorten(call_tree_name(s, f->function), room) : "");
	out_text(o, ",");
	field(o, f ? call_tree_name(s, f->module) : "");
	out_text(o, ",");
	field(o, f ? call_tree_name(s, f->file) : "");
	out_text(o, ",");
	if (f && f->file)
		out_u64(o, f->line);
	out_text(o, ",");
	if (f && f->address)
		out_add(o, "0x%llx", (unsigned long long)f->address);
	out_text(o, ",");
	put_stack(o, s, e->node);
	out_text(o, ",");
	put_fields(o, s, e->trace);
	out_text(o, "\r\n");
}

static void end(struct export *x)
{
	(void)x;
}

const struct exporter export_csv = {
	.name = "csv",
	.about = "CSV, a row for each region, mark or sample: spreadsheets, DuckDB, pandas",
	.ending = ".csv",
	.by_address = true,
	.fields = true,
	.begin = begin_csv,
	.close = close_span,
	.mark = mark,
	.sample = sample,
	.end = end,
};
