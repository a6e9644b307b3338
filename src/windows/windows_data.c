/* SPDX-License-Identifier: MIT */
/* JSON and CSV output of windows: one row per window, and the document tare/windows/1. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "output/csv.h"
#include "output/json.h"
#include "output/base64_column.h"
#include "count/partial.h"
#include "windows/windows_view.h"

enum { PACK_FROM = 1000 };

static void add_field(struct text *t, const char *s)
{
	csv_field(t, s, ',');
	t->len -= !t->failed; /* callers write the separator */
}

static void put_made(struct out *out, const struct text *t)
{
	if (t->failed && !out->error)
		out->error = -ENOMEM;
	out_put(out, t->s, t->failed ? 0 : t->len);
}

static void put_field(struct out *out, const char *s)
{
	struct text t = { 0 };

	add_field(&t, s);
	put_made(out, &t);
	text_free(&t);
}

static const char *ended(const struct windows_row *r)
{
	return r->rest ? "rest" : r->moved ? "moved" : "whole";
}

static unsigned phase_of(const struct windows_thread *th, size_t i)
{
	for (size_t k = 0; k < th->phases.segments; k++)
		if (i - th->phases.segment[k].first < th->phases.segment[k].n)
			return th->phases.segment[k].phase + 1;
	return 0;
}

void windows_csv(struct out *out, const struct windows_table *t, const struct windows_about *about)
{
	out_text(out, "thread,pid,tid,comm,window,begin,time_ns,wall_ns,cpu,ended,phase,quality");
	for (size_t e = 0; e < t->n_events; e++) {
		out_text(out, ",");
		put_field(out, t->event[e].name);
	}
	for (size_t m = 0; m < t->n_metrics; m++) {
		out_text(out, ",metric.");
		put_field(out, t->metric[m].name);
	}
	out_text(out, "\n");
	for (size_t k = 0; k < t->n_threads; k++) {
		const struct windows_thread *th = t->thread[k];
		struct text comm = { 0 };

		add_field(&comm, th->comm);
		for (size_t i = 0; i < th->n; i++) {
			const struct windows_row *row = windows_row(t, th, i);
			unsigned phase = phase_of(th, i);

			out_add(out, "%" PRIu64 ",%u,%u,", th->number, th->pid, th->tid);
			put_made(out, &comm);
			out_add(out, ",%zu,%" PRIu64 ",%" PRIu64 ",", i + 1, row->begin,
				row->time_ns);
			if (row->wall_ns)
				out_u64(out, row->wall_ns);
			out_text(out, ",");
			if (row->cpu >= 0)
				out_add(out, "%d", row->cpu);
			out_add(out, ",%s,", ended(row));
			if (phase)
				out_u64(out, phase);
			out_add(out, ",%s", about->engine->exact ? "exact" : "counted");
			for (size_t e = 0; e < t->n_events; e++)
				out_add(out, ",%" PRIu64, row->value[e]);
			for (size_t m = 0; m < t->n_metrics; m++) {
				double v = windows_metric(t, row, m);

				out_text(out, ",");
				if (!isnan(v))
					out_add(out, "%.9g", v);
			}
			out_text(out, "\n");
		}
		text_free(&comm);
	}
}

/* A column of a thread: the i-th event or metric. */
struct column {
	const struct windows_table *t;
	const struct windows_thread *th;
	size_t at;
};

static const struct windows_row *row_of(const void *column, size_t i)
{
	const struct column *c = column;

	return windows_row(c->t, c->th, i);
}

static uint64_t get_begin(void *with, size_t i)
{
	return row_of(with, i)->begin;
}

static uint64_t get_time(void *with, size_t i)
{
	return row_of(with, i)->time_ns;
}

static uint64_t get_wall(void *with, size_t i)
{
	return row_of(with, i)->wall_ns;
}

static uint64_t get_event(void *with, size_t i)
{
	const struct column *c = with;

	return row_of(c, i)->value[c->at];
}

static double get_metric(void *with, size_t i)
{
	const struct column *c = with;

	return windows_metric(c->t, row_of(c, i), c->at);
}

static void put_uints(struct json *j, const char *key, uint64_t (*get)(void *, size_t),
		      struct column *c, bool packed)
{
	size_t n = c->th->n;

	if (packed && n >= PACK_FROM) {
		base64_uints(j, key, get, c, n);
		return;
	}
	json_array(j, key);
	for (size_t i = 0; i < n; i++)
		json_uint(j, NULL, get(c, i));
	json_end(j);
}

static void put_reals(struct json *j, double (*get)(void *, size_t), struct column *c, bool packed)
{
	size_t n = c->th->n;

	if (packed && n >= PACK_FROM) {
		base64_reals(j, NULL, get, c, n);
		return;
	}
	json_array(j, NULL);
	for (size_t i = 0; i < n; i++)
		json_real(j, NULL, get(c, i));
	json_end(j);
}

/* The CPU of each window and how it ended, which plots do not show. */
static void put_places(struct json *j, const struct column *c)
{
	json_array(j, "cpu");
	for (size_t i = 0; i < c->th->n; i++)
		json_int(j, NULL, row_of(c, i)->cpu);
	json_end(j);
	json_array(j, "ended");
	for (size_t i = 0; i < c->th->n; i++)
		json_string(j, NULL, ended(row_of(c, i)));
	json_end(j);
}

static void put_thread(struct json *j, const struct windows_table *t,
		       const struct windows_thread *th, bool packed)
{
	struct column c = { .t = t, .th = th };

	json_object(j, NULL);
	json_uint(j, "thread", th->number);
	json_uint(j, "pid", th->pid);
	json_uint(j, "tid", th->tid);
	json_string(j, "comm", th->comm);
	json_uint(j, "whole", th->whole);
	json_array(j, "phases");
	for (size_t k = 0; k < th->phases.segments; k++) {
		const struct segment *s = &th->phases.segment[k];

		json_object(j, NULL);
		json_uint(j, "phase", s->phase + 1);
		json_uint(j, "first_window", s->first + 1);
		json_uint(j, "windows", s->n);
		json_end(j);
	}
	json_end(j);
	/* By column, as needed for plots; by row it would be five times as long. */
	json_object(j, "columns");
	put_uints(j, "begin", get_begin, &c, packed);
	put_uints(j, "time_ns", get_time, &c, packed);
	put_uints(j, "wall_ns", get_wall, &c, packed);
	if (!packed || th->n < PACK_FROM)
		put_places(j, &c);
	json_array(j, "events");
	for (c.at = 0; c.at < t->n_events; c.at++)
		put_uints(j, NULL, get_event, &c, packed);
	json_end(j);
	json_array(j, "metrics");
	for (c.at = 0; c.at < t->n_metrics; c.at++)
		put_reals(j, get_metric, &c, packed);
	json_end(j);
	json_end(j);
	json_end(j);
}

static void put_document(struct out *out, const struct windows_table *t,
			 const struct windows_about *about, bool packed)
{
	struct json j = { .to = out };

	json_object(&j, NULL);
	json_string(&j, "schema", "tare/windows/1");
	if (about->argv) {
		json_strings(&j, "command", (const char *const *)about->argv);
	} else {
		json_null(&j, "command");
	}
	json_int_if(&j, "exit_status", about->exit_status >= 0, about->exit_status);
	json_string(&j, "mode", about->mode);
	json_string(&j, "engine", about->engine->name);
	json_string(&j, "quality", about->engine->exact ? "exact" : "counted");
	json_uint(&j, "every", about->every);
	json_uint(&j, "wall_ns", about->end->wall_ns);
	json_uint(&j, "lost", about->end->lost);
	json_uint(&j, "throttled", about->end->throttled);
	json_bool(&j, "kernel_left_out", about->end->kernel_left_out);
	json_bool(&j, "children_left_out", about->end->children_left_out);
	json_bool(&j, "rests_unknown", about->end->rests_unknown);
	if (about->end->unseen)
		json_uint(&j, "threads_without_windows", about->end->unseen);
	if (about->end->rest) {
		json_array(&j, "rest");
		for (size_t e = 0; e < t->n_events; e++)
			json_uint(&j, NULL, about->end->rest[e]);
		json_end(&j);
	}
	if (about->end->uncounted[0])
		json_string(&j, "uncounted", about->end->uncounted);
	partial_json(&j, &about->end->partial);
	if (about->end->cut_off)
		json_bool(&j, "cut_off", true);
	if (about->end->never_began)
		json_bool(&j, "never_began", true);
	json_array(&j, "events");
	for (size_t e = 0; e < t->n_events; e++) {
		json_object(&j, NULL);
		json_string(&j, "event", t->event[e].name);
		json_string(&j, "unit", t->event[e].unit);
		json_real(&j, "scale", t->event[e].scale);
		json_end(&j);
	}
	json_end(&j);
	json_array(&j, "metrics");
	for (size_t m = 0; m < t->n_metrics; m++) {
		json_object(&j, NULL);
		json_string(&j, "metric", t->metric[m].name);
		json_string(&j, "unit", t->metric[m].percent ? "%" : t->metric[m].unit);
		json_end(&j);
	}
	json_end(&j);
	json_array(&j, "threads");
	for (size_t k = 0; k < t->n_threads; k++)
		put_thread(&j, t, t->thread[k], packed);
	json_end(&j);
	json_end(&j);
	json_finish(&j);
}

void windows_json(struct out *out, const struct windows_table *t, const struct windows_about *about)
{
	put_document(out, t, about, false);
}

void windows_page(struct out *out, const struct windows_table *t, const struct windows_about *about)
{
	put_document(out, t, about, true);
}
