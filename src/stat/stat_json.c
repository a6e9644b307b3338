/* SPDX-License-Identifier: MIT */
/* tare/stat/1, and CSV with a header, with all details of each number. */
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/wait.h>
#include "output/csv.h"
#include "launch/determinism_json.h"
#include "output/interval_view.h"
#include "output/json.h"
#include "count/partial.h"
#include "profile/report/profile_view.h"
#include "stat/stat_view.h"

/* Counts are integers; events with a scale (joules, units of 64 bytes) are real numbers. */
static void json_count(struct json *j, const char *key, const struct encoding *e, uint64_t n)
{
	if (e->scale != 1 && e->scale != 0)
		json_real(j, key, (double)n * e->scale);
	else
		json_uint(j, key, n);
}

static void key(struct json *j, const struct stat_table *t, const struct stat_row *r)
{
	const struct {
		const char *name;
		int value;
	} parts[] = {
		{ "cpu", r->key.at.cpu },   { "core", r->key.at.core },
		{ "die", r->key.at.die },   { "socket", r->key.at.socket },
		{ "node", r->key.at.node }, { "thread", r->key.thread > 0 ? r->key.thread : -1 }
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (parts[i].value >= 0)
			json_int(j, parts[i].name, parts[i].value);
	if (r->key.part)
		json_uint(j, t->by == BY_PROCESS ? "process_number" : "thread_number", r->key.part);
	if (r->key.thread > 0 || r->key.part)
		json_string(j, "comm", r->key.comm);
	if (r->key.cgroup)
		json_string(j, "cgroup", r->key.cgroup);
}

static void quality(struct json *j, const struct stat_row *r)
{
	struct text words = { 0 };

	stat_quality(&words, r);
	json_string(j, "quality", words.failed ? "" : words.s);
	if (r->without && r->quality != TARE_UNAVAILABLE)
		json_uint(j, "without_processes", r->without);
	if (r->without && r->quality != TARE_UNAVAILABLE && r->why[0])
		json_string(j, "without_reason", r->why);
	text_free(&words);
}

static void event(struct json *j, const struct stat_table *t, const struct stat_row *r,
		  const struct trust_view *trust)
{
	const struct encoding *e = &t->enc[r->event];
	bool have = r->quality != TARE_UNAVAILABLE;

	json_object(j, NULL);
	json_string(j, "event", e->name);
	key(j, t, r);
	if (have)
		json_count(j, "value", e, r->spread.median);
	else
		json_null(j, "value");
	json_string(j, "unit", e->unit);
	quality(j, r);
	json_string(j, "engine", encoding_source(e)->name);
	if (trust)
		trust_json(j, trust, r);
	if (stat_with_overhead(r))
		json_bool(j, "with_engine_work", true);
	json_real_if(j, "share", have, r->enabled_ns ? r->share : 1.0);
	if (r->of_core_type)
		json_bool(j, "share_of_core_type", true);
	json_uint(j, "n", r->spread.n);
	if (have) {
		json_count(j, "min", e, r->spread.min);
		json_count(j, "median", e, r->spread.median);
		json_count(j, "max", e, r->spread.max);
		json_count(j, "low", e, r->low);
		json_count(j, "high", e, r->high);
		json_interval(j, r->interval, (double)r->low, (double)r->spread.median,
			      (double)r->high);
		json_array(j, "runs");
		for (unsigned k = 0; k < t->runs; k++)
			if (r->run[k].quality == TARE_UNAVAILABLE)
				json_null(j, NULL);
			else
				json_count(j, NULL, e, r->run[k].value);
		json_end(j);
		json_array(j, "outliers"); /* numbers of runs, from 0 */
		for (unsigned k = 0; k < t->runs; k++)
			if (r->outlier[k])
				json_uint(j, NULL, k);
		json_end(j);
	} else {
		json_null(j, "min");
		json_null(j, "median");
		json_null(j, "max");
	}
	json_uint(j, "enabled_ns", r->enabled_ns);
	json_uint(j, "running_ns", r->running_ns);
	if (r->less && have) {
		json_object(j, "less");
		json_string(j, "event", t->enc[r->less->by].name);
		json_string(j, "known", r->less->known);
		json_uint(j, "counted", r->counted);
		json_uint(j, "value", r->taken);
		json_end(j);
	}
	json_string(j, "reason", have ? NULL : r->why);
	if (!have && r->remedy[0])
		json_string(j, "remedy", r->remedy);
	json_end(j);
}

static void events(struct json *j, const struct stat_table *t, const struct trust_view *trust)
{
	json_array(j, "events");
	for (size_t step = 0, i; stat_next_row(t, &step, &i);)
		event(j, t, &t->row[i], trust);
	json_end(j);
}

static double factor(const struct stat_metric *m)
{
	return !m->prefix[0] ? 1 : m->prefix[0] == 'K' ? 1e3 : m->prefix[0] == 'M' ? 1e6 : 1e9;
}

static void metrics(struct json *j, const struct stat_table *t, const struct stat_metrics *m)
{
	json_array(j, "metrics");
	for (size_t i = 0; m && i < m->n; i++) {
		const struct stat_metric *v = &m->metric[i];
		bool have = v->quality != TARE_UNAVAILABLE;

		json_object(j, NULL);
		json_string(j, "metric", v->row->name);
		if (v->beside < t->n) {
			json_string(j, "event", t->enc[t->row[v->beside].event].name);
			key(j, t, &t->row[v->beside]);
		}
		if (have) {
			json_real(j, "value", v->value * factor(v));
			json_real(j, "low", v->low * factor(v));
			json_real(j, "high", v->high * factor(v));
		} else {
			json_null(j, "value");
			json_null(j, "low");
			json_null(j, "high");
		}
		json_string(j, "unit", v->row->percent ? "%" : v->row->unit);
		if (have) {
			json_uint(j, "digits", stat_metric_digits(v));
			json_string(j, "prefix", v->prefix);
		}
		json_string(j, "quality", tare_quality_name(v->quality));
		if (!have)
			json_string(j, "reason", v->why);
		json_end(j);
	}
	json_end(j);
}

/* The end of each run, in the order of an event's runs. */
static void each_run(struct json *j, const struct stat_table *t)
{
	json_array(j, "each_run");
	for (unsigned k = 0; k < t->runs; k++) {
		const struct stat_end *e = &t->end[k];
		bool died = e->has_status && WIFSIGNALED(e->wait_status);

		json_object(j, NULL);
		json_int_if(j, "exit_status", e->has_status && !died, WEXITSTATUS(e->wait_status));
		json_int_if(j, "signal", died, WTERMSIG(e->wait_status));
		json_string(j, "ended_by",
			    e->by_signal                ? "interrupt"
				    : e->timed_out      ? "time limit"
				    : e->intervals_done ? "interval count"
				    : e->stopped        ? "control"
							: "itself");
		json_bool(j, "left_out", e->left_out);
		if (e->never_began)
			json_bool(j, "never_began", true);
		json_end(j);
	}
	json_end(j);
}

static void time_of(struct json *j, const char *name, const struct spread *s)
{
	bool mean;

	json_object(j, name);
	json_uint(j, "value", stat_typical_time(s, &mean));
	json_uint(j, "median", s->median);
	json_uint(j, "min", s->min);
	json_uint(j, "max", s->max);
	if (mean) { /* low and high would be limits of the median */
		json_uint(j, "mean", stat_typical_time(s, &mean));
	} else {
		json_uint(j, "low", s->low);
		json_uint(j, "high", s->high);
	}
	json_interval(j, mean ? INTERVAL_NONE : spread_interval(s->n), (double)s->low,
		      (double)s->median, (double)s->high);
	json_end(j);
}

static void times(struct json *j, const struct stat_times *t)
{
	json_object(j, "times_ns");
	if (t->added_work)
		json_bool(j, "with_engine_work", true);
	time_of(j, "wall", &t->wall);
	time_of(j, "counted", &t->counted);
	if (t->has_command) {
		time_of(j, "user", &t->user);
		time_of(j, "system", &t->system);
	}
	json_end(j);
}

/* On one line: the writer's line breaks are all outside strings. */
static void put_line(struct text *out, const struct text *document)
{
	for (size_t i = 0; i < document->len; i++) {
		if (document->s[i] != '\n') {
			text_put(out, document->s + i, 1);
			continue;
		}
		while (document->s[i + 1] == ' ')
			i++;
	}
	text_put(out, "\n", 1);
}

static void notes(struct json *j, const struct stat_table *t, const struct stat_about *about)
{
	static const struct style style = { .thousands = true, .utf8 = true, .width = INT_MAX };
	struct text lines = { 0 };

	stat_notes(&lines, t, about, &style);
	json_notes(j, "notes", &lines);
}

void stat_json(struct text *out, const struct stat_table *t, const struct stat_metrics *m,
	       const struct stat_about *about)
{
	struct json j = { 0 };

	json_object(&j, NULL);
	json_string(&j, "schema", "tare/stat/1");
	json_strings(&j, "command", (const char *const *)about->argv);
	if (about->target)
		json_string(&j, "target", about->target);
	json_int_if(&j, "exit_status", about->exit_status >= 0, about->exit_status);
	json_uint(&j, "runs", t->runs);
	json_uint(&j, "runs_each", stat_runs_each(t, about));
	each_run(&j, t);
	json_object(&j, "conditions");
	json_string(&j, "tare", TARE_VERSION);
	json_bool(&j, "aslr", about->aslr && !(determinism_had(about->fixed) & FIXED(ASLR)));
	json_string(&j, "launch", about->fixed ? "fixed" : "plain");
	if (determinism_had(about->fixed) & FIXED(ENVIRONMENT)) {
		json_uint(&j, "environment_bytes", about->environment_bytes);
		json_string(&j, "environment_padding", about->padding);
	}
	if (about->fixed)
		determinism_json(&j, about->fixed);
	json_string(&j, "engine", about->engine->name);
	json_bool(&j, "interrupted", t->by_signal != 0);
	json_bool(&j, "timed_out", t->timed_out);
	json_uint(&j, "batches", about->batches);
	if (about->clean_times)
		json_bool(&j, "clean_times", true);
	if (t->times.stops)
		json_uint(&j, "stops", t->times.stops);
	if (t->times.left.n)
		json_uint(&j, "left_running", t->times.left.n);
	partial_json(&j, &t->times.partial);
	if (t->times.slow.compared)
		json_uint(&j, "compared_blocks", t->times.slow.compared);
	if (t->times.slow.stepped)
		json_uint(&j, "single_steps", t->times.slow.stepped);
	json_end(&j);
	events(&j, t, about->trust);
	times(&j, &t->times);
	metrics(&j, t, m);
	if (about->trust && about->trust->n_faults)
		trust_json_faults(&j, about->trust);
	trust_json_corrected(&j, about->trust, t);
	notes(&j, t, about);
	if (about->explained)
		explain_json(&j, about->explained);
	if (about->profile)
		profile_json(&j, about->profile, about->profile_limit);
	json_end(&j);
	if (about->one_line)
		put_line(out, &j.out);
	else
		text_put(out, j.out.s, j.out.len);
	out->failed |= j.out.failed;
	text_free(&j.out);
}

void stat_json_interval(struct text *out, const struct stat_table *t, const struct stat_metrics *m)
{
	struct json j = { 0 };

	json_object(&j, NULL);
	json_string(&j, "schema", "tare/stat-interval/1");
	json_uint(&j, "time_ns", t->time_ns);
	events(&j, t, NULL);
	metrics(&j, t, m);
	json_end(&j);
	put_line(out, &j.out);
	out->failed |= j.out.failed;
	text_free(&j.out);
}

/* ---- CSV ---- */

static void field(struct text *out, const char *s)
{
	csv_field(out, s, ',');
}

static void value(struct text *out, const struct encoding *e, uint64_t n)
{
	if (e->scale != 1 && e->scale != 0)
		text_add(out, "%.17g,", (double)n * e->scale);
	else
		text_add(out, "%" PRIu64 ",", n);
}

void stat_csv(struct text *out, const struct stat_table *t, const struct stat_metrics *m,
	      bool interval, bool header)
{
	if (header)
		text_add(
			out,
			"%skey,event,value,unit,quality,engine,share,n,min,max,low,high,outliers,"
			"metric,"
			"metric_value,metric_low,metric_high,reason,with_engine_work,interval,without_processes\n",
			interval ? "time_s," : "");
	for (size_t step = 0, i; stat_next_row(t, &step, &i);) {
		const struct stat_row *r = &t->row[i];
		const struct encoding *e = &t->enc[r->event];
		const struct stat_metric *metric = NULL;
		struct text name = { 0 };

		for (size_t k = 0; m && !metric && k < m->n; k++)
			if (m->metric[k].beside == i && m->metric[k].quality != TARE_UNAVAILABLE)
				metric = &m->metric[k];
		if (interval)
			text_add(out, "%" PRIu64 ".%09" PRIu64 ",", t->time_ns / 1000000000,
				 t->time_ns % 1000000000);
		stat_key_name(&name, t, r);
		field(out, name.s ? name.s : "");
		text_free(&name);
		field(out, e->name);
		if (r->quality == TARE_UNAVAILABLE)
			text_put(out, ",", 1);
		else
			value(out, e, r->spread.median);
		field(out, e->unit);
		stat_quality(&name, r);
		field(out, name.failed ? "" : name.s);
		text_free(&name);
		text_add(out, "%s,", encoding_source(e)->name);
		if (r->quality == TARE_UNAVAILABLE) {
			text_add(out, ",0,,,,,,");
		} else {
			text_add(out, "%.6f,%zu,", r->enabled_ns ? r->share : 1.0, r->spread.n);
			value(out, e, r->spread.min);
			value(out, e, r->spread.max);
			value(out, e, r->low);
			value(out, e, r->high);
			text_add(out, "%zu,", r->spread.outliers);
		}
		if (metric)
			text_add(out, "%s,%.9g,%.9g,%.9g,", metric->row->name,
				 metric->value * factor(metric), metric->low * factor(metric),
				 metric->high * factor(metric));
		else
			text_put(out, ",,,,", 4);
		field(out, r->quality == TARE_UNAVAILABLE || r->without ? r->why : "");
		text_add(out, "%s,%s,", stat_with_overhead(r) ? "yes" : "",
			 r->quality != TARE_UNAVAILABLE && r->interval ? interval_name(r->interval)
								       : "");
		if (r->without && r->quality != TARE_UNAVAILABLE)
			text_add(out, "%u", r->without);
		text_put(out, "\n", 1);
	}
}
