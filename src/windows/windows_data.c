/* SPDX-License-Identifier: MIT */
/* Windows for programs: CSV, one row per window, and the document tare/windows/1. */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "output/csv.h"
#include "output/json.h"
#include "output/packed.h"
#include "count/partial.h"
#include "windows/windows_view.h"

enum { PACK_FROM = 1000 };

static void put_field(struct text *out, const char *s)
{
	csv_field(out, s, ',');
	out->len -= out->len > 0; /* callers write the separator */
	if (out->s)
		out->s[out->len] = '\0';
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

void windows_csv(struct text *out, const struct windows_table *t, const struct windows_about *about)
{
	text_add(out, "thread,pid,tid,comm,window,begin,time_ns,wall_ns,cpu,ended,phase,quality");
	for (size_t e = 0; e < t->n_events; e++) {
		text_put(out, ",", 1);
		put_field(out, t->event[e].name);
	}
	for (size_t m = 0; m < t->n_metrics; m++) {
		text_put(out, ",", 1);
		text_add(out, "metric.");
		put_field(out, t->metric[m].name);
	}
	text_put(out, "\n", 1);
	for (size_t k = 0; k < t->n_threads; k++) {
		const struct windows_thread *th = &t->thread[k];

		for (size_t i = 0; i < th->n; i++) {
			size_t r = th->first + i;
			const struct windows_row *row = &t->row[r];
			unsigned phase = phase_of(th, i);

			text_add(out, "%" PRIu64 ",%u,%u,", th->number, th->pid, th->tid);
			put_field(out, th->comm);
			text_add(out, ",%zu,%" PRIu64 ",%" PRIu64 ",", i + 1, row->begin, row->time_ns);
			if (row->wall_ns)
				text_add(out, "%" PRIu64, row->wall_ns);
			text_put(out, ",", 1);
			if (row->cpu >= 0)
				text_add(out, "%d", row->cpu);
			text_add(out, ",%s,", ended(row));
			if (phase)
				text_add(out, "%u", phase);
			text_add(out, ",%s", about->engine[0] == 'e' ? "exact" : "counted");
			for (size_t e = 0; e < t->n_events; e++)
				text_add(out, ",%" PRIu64, t->value[r * t->n_events + e]);
			for (size_t m = 0; m < t->n_metrics; m++) {
				double v = t->metric_value[r * t->n_metrics + m];

				text_put(out, ",", 1);
				if (!isnan(v))
					text_add(out, "%.9g", v);
			}
			text_put(out, "\n", 1);
		}
	}
}

static void put_uints(struct json *j, const char *key, const uint64_t *first, size_t stride, size_t n, bool packed)
{
	if (packed && n >= PACK_FROM) {
		packed_uints(j, key, first, stride, n);
		return;
	}
	json_array(j, key);
	for (size_t i = 0; i < n; i++)
		json_uint(j, NULL, *(const uint64_t *)(const void *)((const char *)first + i * stride));
	json_end(j);
}

static void put_reals(struct json *j, const double *first, size_t step, size_t n, bool packed)
{
	if (packed && n >= PACK_FROM) {
		packed_reals(j, NULL, first, step * sizeof(*first), n);
		return;
	}
	json_array(j, NULL);
	for (size_t i = 0; i < n; i++)
		json_real(j, NULL, first[i * step]);
	json_end(j);
}

/* Where each window ran and how it ended, which no plot shows. */
static void put_places(struct json *j, const struct windows_row *row, size_t n)
{
	json_array(j, "cpu");
	for (size_t i = 0; i < n; i++)
		json_int(j, NULL, row[i].cpu);
	json_end(j);
	json_array(j, "ended");
	for (size_t i = 0; i < n; i++)
		json_string(j, NULL, ended(&row[i]));
	json_end(j);
}

static void put_thread(struct json *j, const struct windows_table *t, const struct windows_thread *th, bool packed)
{
	const struct windows_row *row = t->row + th->first;

	json_object(j, NULL);
	json_uint(j, "thread", th->number);
	json_uint(j, "pid", th->pid);
	json_uint(j, "tid", th->tid);
	json_string(j, "comm", th->comm);
	json_uint(j, "whole", windows_whole(t, th));
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
	/* By column, as plots want them; row by row it would be five times as long. */
	json_object(j, "columns");
	put_uints(j, "begin", &row->begin, sizeof(*row), th->n, packed);
	put_uints(j, "time_ns", &row->time_ns, sizeof(*row), th->n, packed);
	put_uints(j, "wall_ns", &row->wall_ns, sizeof(*row), th->n, packed);
	if (!packed || th->n < PACK_FROM)
		put_places(j, row, th->n);
	json_array(j, "events");
	for (size_t e = 0; e < t->n_events; e++)
		put_uints(j, NULL, t->value + th->first * t->n_events + e, t->n_events * sizeof(*t->value), th->n, packed);
	json_end(j);
	json_array(j, "metrics");
	for (size_t m = 0; m < t->n_metrics; m++)
		put_reals(j, t->metric_value + th->first * t->n_metrics + m, t->n_metrics, th->n, packed);
	json_end(j);
	json_end(j);
	json_end(j);
}

static void put_document(struct text *out, const struct windows_table *t, const struct windows_about *about, bool packed)
{
	struct json j = { 0 };

	json_object(&j, NULL);
	json_string(&j, "schema", "tare/windows/1");
	if (about->argv) {
		json_array(&j, "command");
		for (char *const *a = about->argv; *a; a++)
			json_string(&j, NULL, *a);
		json_end(&j);
	} else {
		json_null(&j, "command");
	}
	if (about->exit_status >= 0)
		json_int(&j, "exit_status", about->exit_status);
	else
		json_null(&j, "exit_status");
	json_string(&j, "mode", about->mode);
	json_string(&j, "engine", about->engine);
	json_string(&j, "quality", about->engine[0] == 'e' ? "exact" : "counted");
	json_uint(&j, "every", about->every);
	json_uint(&j, "wall_ns", about->end->wall_ns);
	json_uint(&j, "lost", about->end->lost);
	json_uint(&j, "throttled", about->end->throttled);
	json_bool(&j, "kernel_left_out", about->end->kernel_left_out);
	json_bool(&j, "children_left_out", about->end->children_left_out);
	json_bool(&j, "rests_unknown", about->end->rests_unknown);
	if (about->end->unseen)
		json_uint(&j, "threads_without_windows", about->end->unseen);
	if (about->end->rest)
		put_uints(&j, "rest", about->end->rest, sizeof(*about->end->rest), t->n_events, false);
	if (about->end->uncounted[0])
		json_string(&j, "uncounted", about->end->uncounted);
	partial_json(&j, &about->end->partial);
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
		put_thread(&j, t, &t->thread[k], packed);
	json_end(&j);
	json_end(&j);
	json_into(out, &j);
}

void windows_json(struct text *out, const struct windows_table *t, const struct windows_about *about)
{
	put_document(out, t, about, false);
}

void windows_page(struct text *out, const struct windows_table *t, const struct windows_about *about)
{
	put_document(out, t, about, true);
}
