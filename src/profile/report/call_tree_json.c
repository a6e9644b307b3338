/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "output/base64_column.h"
#include "output/json.h"
#include "profile/report/call_tree_json.h"

struct shrunk {
	const struct call_tree *s;
	struct sample_log *samples; /* NULL: none */
	const struct call_tree_node *node;
	size_t n;
	/* by column, then node; self of removed nodes was added to the parent */
	uint64_t **self, **total;
	bool *out;        /* left out */
	uint32_t *number; /* of the remaining ones */
};

static bool small(const struct shrunk *w, size_t i, double least)
{
	for (uint32_t c = 0; c < w->s->columns; c++)
		if ((double)w->total[c][i] > least * (double)w->total[c][0])
			return false;
	return true;
}

/*
 * A parent's number is less than its children's: removed nodes pass their amounts up, from the
 * leaves to the root.
 */
static void shrink(struct shrunk *w, double least)
{
	uint32_t next = 1;

	for (size_t i = 1; i < w->n; i++)
		w->out[i] = w->out[w->node[i].parent] || small(w, i, least);
	for (size_t i = w->n; i-- > 1;)
		for (uint32_t c = 0; w->out[i] && c < w->s->columns; c++)
			w->self[c][w->node[i].parent] += w->self[c][i];
	for (size_t i = 1; i < w->n; i++)
		if (!w->out[i])
			w->number[i] = next++;
}

static void put_key(struct out *o, const char *key)
{
	out_text(o, ",\"");
	out_text(o, key);
	out_text(o, "\":");
}

/* One array, from a field of the frames. */
static void put_frames(struct out *o, const struct call_tree *s, const char *key, size_t field)
{
	size_t n;
	const struct call_tree_frame *f = call_tree_frames(s, &n);

	out_text(o, key);
	out_text(o, "[");
	for (size_t i = 0; i < n; i++) {
		uint32_t v;

		memcpy(&v, (const char *)&f[i] + field, sizeof(v));
		out_text(o, i ? "," : "");
		out_u64(o, v);
	}
	out_text(o, "]");
}

static void put_nodes(struct out *o, const struct shrunk *w)
{
	out_text(o, "\"parent\":[0");
	for (size_t i = 1; i < w->n; i++)
		if (!w->out[i]) {
			out_text(o, ",");
			out_u64(o, w->number[w->node[i].parent]);
		}
	out_text(o, "],\"frame\":[0");
	for (size_t i = 1; i < w->n; i++)
		if (!w->out[i]) {
			out_text(o, ",");
			out_u64(o, w->node[i].frame);
		}
	out_text(o, "],\n\"self\":[");
	for (uint32_t c = 0; c < w->s->columns; c++) {
		out_text(o, c ? ",\n[" : "[");
		for (size_t i = 0; i < w->n; i++)
			if (!w->out[i]) {
				out_text(o, i ? "," : "");
				out_json_u64(o, w->self[c][i]);
			}
		out_text(o, "]");
	}
	out_text(o, "]");
}

/* ---- by process: each node's self amount, split by process ---- */

struct process { /* a program of a process; key */
	uint32_t pid, comm;
};

struct part { /* key: node and process */
	uint32_t node, process;
};

struct parts {
	struct set processes, parts;
	uint32_t *process_of; /* by task */
	uint64_t *amount;     /* by column, then part */
	size_t room;          /* capacity of parts */
};

/* A thread belongs to its process, which is named after its first thread. */
static uint32_t comm_of(const struct call_tree_task *task, size_t n, size_t i)
{
	uint32_t comm = task[i].comm;

	for (size_t k = 0; task[i].tid != task[i].pid && k < n; k++)
		if (task[k].tid == task[i].pid)
			comm = task[k].comm;
	return comm;
}

static bool find_processes(struct parts *p, const struct call_tree *s)
{
	size_t n;
	const struct call_tree_task *task = call_tree_tasks(s, &n);

	p->process_of = calloc(n + 1, sizeof(*p->process_of));
	for (size_t i = 0; p->process_of && i < n; i++) {
		struct process is = { task[i].pid, comm_of(task, n, i) };

		p->process_of[i] = set_add(&p->processes, &is, sizeof(is), sizeof(is), NULL);
		if (p->process_of[i] == SET_NONE)
			return false;
	}
	return p->process_of != NULL;
}

static bool find_parts(struct parts *p, const struct shrunk *w)
{
	size_t n;
	const struct call_tree_row *row = call_tree_rows(w->s, &n);

	p->room = n;
	p->amount = calloc((size_t)w->s->columns * n + 1, sizeof(*p->amount));
	for (size_t i = 0; p->amount && i < n; i++) {
		struct part is = { row[i].node, p->process_of[row[i].task] };
		uint32_t at;

		while (w->out[is.node])
			is.node = w->node[is.node].parent;
		is.node = is.node ? w->number[is.node] : 0;
		at = set_add(&p->parts, &is, sizeof(is), sizeof(is), NULL);
		if (at == SET_NONE)
			return false;
		p->amount[row[i].column * n + at] += row[i].amount;
	}
	return p->amount != NULL;
}

/* An array of one member of each item of a set. */
static void put_member(struct out *o, const char *key, const struct set *s, size_t each,
		       size_t member)
{
	out_text(o, key);
	out_text(o, "[");
	for (size_t i = 0; i < s->n; i++) {
		uint32_t v;

		memcpy(&v, (const char *)s->item + i * each + member, sizeof(v));
		out_text(o, i ? "," : "");
		out_u64(o, v);
	}
	out_text(o, "]");
}

/* A single process needs no split. False: out of memory. */
static bool put_processes(struct out *o, const struct shrunk *w)
{
	struct parts p = { 0 };
	bool good = find_processes(&p, w->s);

	if (good && p.processes.n > 1) {
		good = find_parts(&p, w);
		if (good) {
			put_member(o, ",\n\"processes\":{\"pid\":", &p.processes,
				   sizeof(struct process), offsetof(struct process, pid));
			put_member(o, ",\"command\":", &p.processes, sizeof(struct process),
				   offsetof(struct process, comm));
			put_member(o, "},\n\"parts\":{\"node\":", &p.parts, sizeof(struct part),
				   offsetof(struct part, node));
			put_member(o, ",\"process\":", &p.parts, sizeof(struct part),
				   offsetof(struct part, process));
			out_text(o, ",\n\"self\":[");
			for (uint32_t c = 0; c < w->s->columns; c++) {
				out_text(o, c ? ",\n[" : "[");
				for (size_t i = 0; i < p.parts.n; i++) {
					out_text(o, i ? "," : "");
					out_json_u64(o, p.amount[c * p.room + i]);
				}
				out_text(o, "]");
			}
			out_text(o, "]}");
		}
	}
	set_free(&p.processes);
	set_free(&p.parts);
	free(p.process_of);
	free(p.amount);
	return good;
}

/* ---- the samples one by one, for a selection of time ---- */

enum { SAMPLES_MOST = 4 << 20 }; /* a page of 40 MB */

struct gathered {
	const struct shrunk *w;
	const uint32_t *thread_of; /* by task */
	size_t n;
	uint64_t first, last, tick_ns, *at, *amount;
	uint32_t *thread, *node, *column;
};

static int gather(void *with, const struct logged_sample *one)
{
	struct gathered *g = with;
	uint32_t node = one->node;

	while (g->w->out[node])
		node = g->w->node[node].parent;
	g->at[g->n] = one->time_ns;
	g->amount[g->n] = one->amount;
	g->thread[g->n] = g->thread_of[one->task];
	g->node[g->n] = node ? g->w->number[node] : 0;
	g->column[g->n++] = one->column;
	g->first = one->time_ns < g->first ? one->time_ns : g->first;
	g->last = one->time_ns > g->last ? one->time_ns : g->last;
	return 0;
}

static uint64_t at_of(void *with, size_t i)
{
	const struct gathered *g = with;

	return (g->at[i] - g->first) / g->tick_ns;
}

static uint64_t amount_of(void *with, size_t i)
{
	return ((struct gathered *)with)->amount[i];
}

static uint64_t thread_of(void *with, size_t i)
{
	return ((struct gathered *)with)->thread[i];
}

static uint64_t node_of(void *with, size_t i)
{
	return ((struct gathered *)with)->node[i];
}

static uint64_t column_of(void *with, size_t i)
{
	return ((struct gathered *)with)->column[i];
}

/* A thread has the name that it had last. */
static bool put_threads(struct json *j, const struct call_tree *s, const uint32_t *of,
			size_t threads)
{
	size_t n;
	const struct call_tree_task *task = call_tree_tasks(s, &n);
	size_t *last = calloc(threads + 1, sizeof(*last));

	for (size_t i = 0; last && i < n; i++)
		last[of[i]] = i;
	json_array(j, "threads");
	for (size_t t = 0; last && t < threads; t++) {
		json_object(j, NULL);
		json_uint(j, "pid", task[last[t]].pid);
		json_uint(j, "tid", task[last[t]].tid);
		json_string(j, "command", call_tree_name(s, task[last[t]].comm));
		json_end(j);
	}
	json_end(j);
	free(last);
	return last != NULL;
}

static bool put_gathered(struct out *o, struct gathered *g, const struct call_tree *s,
			 size_t threads)
{
	struct json j = { .to = o };
	bool good;

	/* offsets fit in 32 bits */
	g->tick_ns = (g->last - g->first) / UINT32_MAX + 1;
	put_key(o, "samples");
	json_object(&j, NULL);
	json_uint(&j, "tick_ns", g->tick_ns);
	good = put_threads(&j, s, g->thread_of, threads);
	base64_uints(&j, "at", at_of, g, g->n);
	base64_uints(&j, "thread", thread_of, g, g->n);
	base64_uints(&j, "node", node_of, g, g->n);
	base64_uints(&j, "column", column_of, g, g->n);
	base64_uints(&j, "amount", amount_of, g, g->n);
	json_end(&j);
	json_finish(&j);
	return good;
}

/* False: out of memory. */
static bool put_samples(struct out *o, const struct shrunk *w, struct tare_error *err)
{
	struct sample_log *log = w->samples;
	struct gathered g = { .w = w, .first = UINT64_MAX };
	size_t tasks, threads;
	uint32_t *of;
	bool good;

	if (!log || !log->n || log->n > SAMPLES_MOST)
		return true;
	call_tree_tasks(w->s, &tasks);
	g.thread_of = of = calloc(tasks + 1, sizeof(*of));
	g.at = calloc(log->n, sizeof(*g.at));
	g.amount = calloc(log->n, sizeof(*g.amount));
	g.thread = calloc(log->n, sizeof(*g.thread));
	g.node = calloc(log->n, sizeof(*g.node));
	g.column = calloc(log->n, sizeof(*g.column));
	good = of && g.at && g.amount && g.thread && g.node && g.column;
	threads = good ? call_tree_threads(w->s, of) : SIZE_MAX;
	good = threads != SIZE_MAX;
	if (good) {
		log->thread = of;
		good = sample_log_each(log, gather, &g, err) == 0 &&
			put_gathered(o, &g, w->s, threads);
		log->thread = NULL;
	}
	free(of);
	free(g.at);
	free(g.amount);
	free(g.thread);
	free(g.node);
	free(g.column);
	return good;
}

static bool put_tree(struct out *o, const struct shrunk *w, const struct call_tree_about *about,
		     struct tare_error *err)
{
	bool good;

	const struct call_tree *s = w->s;
	size_t left_out = 0;

	for (size_t i = 0; i < w->n; i++)
		left_out += w->out[i];
	out_text(o, "{\"schema\":\"tare/stacks/1\"");
	if (about->title) {
		put_key(o, "title");
		out_json(o, about->title);
	}
	if (about->about) {
		put_key(o, "about");
		out_json(o, about->about);
	}
	put_key(o, "program");
	out_json(o, about->program);
	if (about->broke_off) {
		put_key(o, "broke_off");
		out_text(o, "true");
	}
	put_key(o, "left_out");
	out_u64(o, left_out);
	put_key(o, "columns");
	out_text(o, "[");
	for (uint32_t c = 0; c < s->columns; c++) {
		out_text(o, c ? ",{\"name\":" : "{\"name\":");
		out_json(o, call_tree_name(s, s->column[c].name));
		put_key(o, "unit");
		out_json(o, call_tree_name(s, s->column[c].unit));
		if (about->quality) {
			put_key(o, "quality");
			out_json(o, tare_quality_name(about->quality[c]));
		}
		if (about->difference) {
			put_key(o, "squares");
			out_add(o, "%.17g", s->column[c].squares);
			put_key(o, "lost");
			out_add(o, "%.17g", s->column[c].lost);
		}
		out_text(o, "}");
	}
	out_text(o, "]");
	if (about->difference) {
		put_key(o, "difference");
		out_add(o, "{\"before\":0,\"after\":1,\"shares\":%s,\"exact\":%s}",
			about->shares ? "true" : "false", about->exact ? "true" : "false");
	}
	out_text(o, ",\n\"names\":[");
	for (uint32_t i = 0; i < s->names.n; i++) {
		out_text(o, i ? "," : "");
		out_json(o, call_tree_name(s, i));
	}
	out_text(o, "],\n\"frames\":{");
	put_frames(o, s, "\"name\":", offsetof(struct call_tree_frame, function));
	put_frames(o, s, ",\"module\":", offsetof(struct call_tree_frame, module));
	put_frames(o, s, ",\"file\":", offsetof(struct call_tree_frame, file));
	put_frames(o, s, ",\"line\":", offsetof(struct call_tree_frame, line));
	out_text(o, "},\n\"nodes\":{");
	put_nodes(o, w);
	out_text(o, "}");
	good = about->difference || (put_processes(o, w) && put_samples(o, w, err));
	out_text(o, "}");
	return good;
}

int call_tree_json(struct out *o, const struct call_tree *s, const struct call_tree_about *about,
		   struct tare_error *err)
{
	struct shrunk w = { .s = s, .samples = about->samples };
	uint64_t *room;
	int ret = 0;

	w.node = call_tree_nodes(s, &w.n);
	room = calloc(2 * (size_t)s->columns * w.n + 1, sizeof(*room));
	w.self = calloc(2 * (size_t)s->columns + 1, sizeof(*w.self));
	w.out = calloc(w.n, sizeof(*w.out));
	w.number = calloc(w.n, sizeof(*w.number));
	if (room && w.self && w.out && w.number) {
		w.total = w.self + s->columns;
		for (uint32_t c = 0; c < s->columns; c++) {
			w.self[c] = room + c * w.n;
			w.total[c] = room + (s->columns + c) * w.n;
			call_tree_sums(s, c, SET_NONE, w.self[c], w.total[c]);
		}
		shrink(&w, about->least);
		if (!put_tree(o, &w, about, err))
			ret = err->code ? -err->code : tare_fail_nomem(err);
	} else {
		ret = tare_fail_nomem(err);
	}
	free(room);
	free(w.self);
	free(w.out);
	free(w.number);
	return ret;
}
