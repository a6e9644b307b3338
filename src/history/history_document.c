/* SPDX-License-Identifier: MIT */
/* JSON documents of tare stat and tare gate. */
#include <math.h>
#include <string.h>
#include "base/arena.h"
#include "history/history_document.h"
#include "output/escape.h"
#include "output/reader/json_value.h"

enum { EVENTS_MAX = 4096, FUNCTIONS_MAX = 100000 };

/* Rows of these are parts of a total. */
static const char *const part_keys[] = { "cpu",          "core",   "die",
					 "socket",       "node",   "thread",
					 "comm",         "cgroup", "process_number",
					 "thread_number" };

struct reader {
	const char *name;
	const struct history_about *about;
	const struct json_t *root, *conditions;
	struct history_batch *to;
	struct history_run *run;
	const char *benchmark, *fixed, *isa;
	struct tare_error *err;
};

static const char *keep(struct reader *r, const char *s)
{
	return arena_string(&r->to->strings, s, strlen(s));
}

static bool number_of(const struct json_t *v, struct history_number *out)
{
	*out = (struct history_number){ 0 };
	out->whole = json_whole(v, &out->count);
	if (out->whole)
		return true;
	return json_double(v, &out->real) && isfinite(out->real) && fabs(out->real) < 0x1p200;
}

static bool is_above(const struct history_number *a, const struct history_number *b)
{
	return a->whole && b->whole ? a->count > b->count : history_real(a) > history_real(b);
}

static int wrong(struct reader *r, const char *what)
{
	return tare_fail(r->err, EINVAL, "%.200s: %s", r->name, what);
}

/* ---- tare stat ---- */

static int whole_run(struct reader *r)
{
	struct history_number status = { .whole = true };
	const struct json_t *given = json_member(r->root, "exit_status");

	if (json_is_set(json_member(r->conditions, "interrupted")) ||
	    json_is_set(json_member(r->conditions, "timed_out")))
		wrong(r, "it is of a part of a run");
	else if (given && json_kind(given) != JSON_IS_NULL &&
		 (!number_of(given, &status) || !status.whole || status.count))
		wrong(r, "the command failed");
	else
		return 0;
	tare_hint(r->err, "add only whole runs of commands that succeed");
	return -EINVAL;
}

static int find_benchmark(struct reader *r)
{
	const struct json_t *words = json_member(r->root, "command");
	const char *word[64];
	struct text all = { 0 };
	size_t n = json_length(words);

	if (r->about->benchmark) {
		r->benchmark = r->about->benchmark;
		return 0;
	}
	for (size_t i = 0; i < n && n <= ARRAY_SIZE(word); i++)
		if (!(word[i] = json_text(json_element(words, i))))
			return wrong(r, "a word of the command is not a string");
	if (n <= ARRAY_SIZE(word))
		escape_command(&all, word, n);
	if (!all.len || all.len > HISTORY_NAME_MAX || all.failed) {
		text_free(&all);
		wrong(r, n ? "the command is too long for a name" : "there is no command");
		tare_hint(r->err, "name it: --benchmark NAME");
		return -EINVAL;
	}
	r->benchmark = keep(r, all.s);
	text_free(&all);
	return r->benchmark ? 0 : tare_fail_nomem(r->err);
}

/* An item with its value: "cpus=1". */
static void put_item(struct text *out, const struct reader *r, const char *item)
{
	struct history_number n;

	text_add(out, "%s%s", out->len ? ", " : "", item);
	if (!strcmp(item, "isa"))
		text_add(out, "=%s", r->isa);
	else if (!strcmp(item, "clock") && json_member_text(r->conditions, "clock"))
		text_add(out, "=%s", json_member_text(r->conditions, "clock"));
	else if (!strcmp(item, "cpus") && number_of(json_member(r->conditions, "cpus"), &n))
		text_add(out, "=%.0f", history_real(&n));
	else if (!strcmp(item, "environment") &&
		 number_of(json_member(r->conditions, "environment_bytes"), &n))
		text_add(out, "=%.0f", history_real(&n));
}

static int find_conditions(struct reader *r)
{
	const struct json_t *items = json_member(r->conditions, "fixed");
	const char *isa = json_member_text(r->conditions, "isa");
	struct text fixed = { 0 };

	r->isa = keep(r, isa ? isa : "");
	if (!r->isa)
		return tare_fail_nomem(r->err);
	for (size_t i = 0; i < json_length(items); i++) {
		const char *item = json_text(json_element(items, i));

		if (!item) {
			text_free(&fixed);
			return wrong(r, "a fixed item is not a string");
		}
		put_item(&fixed, r, item);
	}
	r->fixed = fixed.failed ? NULL : keep(r, fixed.s ? fixed.s : "");
	text_free(&fixed);
	return r->fixed ? 0 : tare_fail_nomem(r->err);
}

static bool was_taken(const struct reader *r, const char *event)
{
	for (size_t i = 0; i < r->run->n; i++)
		if (!strcmp(r->run->result[i].series.event, event))
			return true;
	return false;
}

static int take_value(struct reader *r, const char *event, const struct json_t *v, const char *unit,
		      const char *engine, const char *quality, const struct json_t *runs)
{
	bool exact = !strcmp(quality, "exact");
	const char *tare = json_member_text(r->conditions, "tare");
	struct history_result *to = history_add_result(r->run);
	struct history_number n;

	if (!to)
		return tare_fail_nomem(r->err);
	*to = (struct history_result){
		.series = { r->benchmark, keep(r, event), keep(r, unit), "" },
		.conditions = { .tare = keep(r, exact && tare ? tare : ""),
				.engine = keep(r, engine),
				.quality = keep(r, quality),
				.isa = r->isa,
				.fixed = r->fixed,
				.command = "",
				.machine = exact && *r->isa ? "" : r->about->machine },
	};
	if (!to->series.event || !to->series.unit || !to->conditions.tare ||
	    !to->conditions.engine || !to->conditions.quality)
		return tare_fail_nomem(r->err);
	if (number_of(json_member(v, "value"), &to->value) &&
	    number_of(json_member(v, "min"), &to->least) &&
	    number_of(json_member(v, "max"), &to->most) && !is_above(&to->least, &to->value) &&
	    !is_above(&to->value, &to->most) && number_of(runs, &n) && n.whole && n.count &&
	    n.count <= INT32_MAX) {
		to->runs = n.count;
		return 0;
	}
	return tare_fail(r->err, EINVAL, "%.200s: the numbers of %.60s are missing or wrong",
			 r->name, event);
}

static bool is_part(const struct json_t *event)
{
	for (size_t i = 0; i < ARRAY_SIZE(part_keys); i++)
		if (json_member(event, part_keys[i]))
			return true;
	return false;
}

static int take_event(struct reader *r, const struct json_t *e)
{
	const char *event = json_member_text(e, "event"), *unit = json_member_text(e, "unit"),
		   *engine = json_member_text(e, "engine"),
		   *quality = json_member_text(e, "quality");

	if (!event || !*event || strlen(event) > HISTORY_NAME_MAX || !unit || !engine || !quality ||
	    strlen(unit) > HISTORY_NAME_MAX)
		return wrong(r, "an event is wrong");
	if (is_part(e) || !strcmp(quality, "unavailable") ||
	    json_is_set(json_member(e, "with_engine_work")) || was_taken(r, event))
		return 0;
	return take_value(r, event, e, unit, engine, quality, json_member(e, "n"));
}

static int take_stat(struct reader *r, const char *text, size_t n)
{
	const struct json_t *events = json_member(r->root, "events"),
			    *times = json_member(r->root, "times_ns");
	int ret;

	r->conditions = json_member(r->root, "conditions");
	r->run = history_add_run(r->to);
	if (!r->run)
		return tare_fail_nomem(r->err);
	r->run->commit = (struct history_commit){ .name = "", .parent = "", .subject = "" };
	ret = whole_run(r);
	if (ret == 0)
		ret = find_benchmark(r);
	if (ret == 0)
		ret = find_conditions(r);
	if (ret == 0 && json_length(events) > EVENTS_MAX)
		ret = wrong(r, "it has too many events");
	for (size_t i = 0; ret == 0 && i < json_length(events); i++)
		ret = take_event(r, json_element(events, i));
	if (ret == 0 && json_member(times, "wall") &&
	    !json_is_set(json_member(times, "with_engine_work")))
		ret = take_value(r, "wall", json_member(times, "wall"), "ns", "clock", "counted",
				 json_member(r->root, "runs"));
	if (ret == 0 && !r->run->n) {
		wrong(r, "it has no values");
		tare_hint(r->err, "values of processes, threads and CPUs are not stored");
		ret = -EINVAL;
	}
	history_digest_begin(&r->run->digest);
	history_digest_add(&r->run->digest, text, n);
	if (ret == 0)
		history_digest_add(&r->run->digest, r->benchmark, strlen(r->benchmark) + 1);
	return ret;
}

/* ---- tare gate ---- */

static const struct json_t *benchmark_of(const struct reader *r, const char *name)
{
	const struct json_t *list = json_member(r->root, "benchmarks");

	for (size_t i = 0; i < json_length(list); i++) {
		const struct json_t *b = json_element(list, i);
		const char *of = json_member_text(b, "benchmark");

		if (of && !strcmp(of, name))
			return b;
	}
	return NULL;
}

static int take_function(struct reader *r, struct history_finding *to, const char *name,
			 const char *module, const struct json_t *count)
{
	struct history_function *f = history_add_function(to);

	if (!f)
		return tare_fail_nomem(r->err);
	if (!name || !module || strlen(name) > HISTORY_NAME_MAX ||
	    strlen(module) > HISTORY_NAME_MAX || !json_whole(count, &f->count))
		return wrong(r, "a function is wrong");
	f->name = keep(r, name);
	f->module = keep(r, module);
	return f->name && f->module ? 0 : tare_fail_nomem(r->err);
}

/* The verdict and the functions of a benchmark. */
static int take_finding(struct reader *r, struct history_finding *to, const struct json_t *b)
{
	const struct json_t *functions = json_member(b, "functions"),
			    *rows = json_member(functions, "rows");
	const char *verdict = json_member_text(b, "verdict"), *why = json_member_text(b, "why");
	int ret = 0;

	if (verdict) {
		to->verdict = keep(r, verdict);
		to->why = keep(r, why ? why : "");
		if (!to->verdict || !to->why)
			return tare_fail_nomem(r->err);
	}
	if (!json_length(rows))
		return 0;
	if (json_length(rows) > FUNCTIONS_MAX)
		return wrong(r, "it has too many functions");
	for (size_t i = 0; ret == 0 && i < json_length(rows); i++) {
		const struct json_t *row = json_element(rows, i);
		const char *name = json_member_text(row, "function");

		ret = take_function(r, to, name && *name ? name : NULL,
				    json_member_text(row, "module"), json_member(row, "count"));
	}
	return ret == 0 ? take_function(r, to, "", "", json_member(functions, "others")) : ret;
}

static int take_gate(struct reader *r, const char *text, size_t n)
{
	size_t before = r->to->n;
	const char *name = json_member_text(r->root, "commit");
	struct history_commit commit = { .name = keep(r, name ? name : ""),
					 .parent = "",
					 .subject = "" };
	struct gate_records records = { 0 };
	int ret = gate_records_parse(&records, text, n, r->name, r->err);

	if (ret == 0 && !commit.name)
		ret = tare_fail_nomem(r->err);
	if (ret == 0 && !records.n)
		ret = wrong(r, "it has no values");
	if (ret == 0)
		ret = history_add_records(r->to, &records, &commit, r->err);
	for (size_t i = before; ret == 0 && i < r->to->n; i++)
		ret = take_finding(r, &r->to->run[i].finding,
				   benchmark_of(r, r->to->run[i].result[0].series.benchmark));
	gate_records_free(&records);
	return ret;
}

/* ---- all ---- */

int history_document_parse(struct history_batch *to, const char *text, size_t n, const char *name,
			   const struct history_about *about, struct tare_error *err)
{
	struct reader r = { .name = name, .about = about, .to = to, .err = err };
	struct json_t *root;
	const char *schema;
	int ret = json_parse(&root, text, n, name, 1, err);

	if (ret < 0)
		return ret;
	r.root = root;
	schema = json_member_text(root, "schema");
	if (schema && !strcmp(schema, "tare/stat/1")) {
		ret = take_stat(&r, text, n);
	} else if (schema && !strcmp(schema, "tare/gate/1")) {
		ret = take_gate(&r, text, n);
	} else {
		tare_fail(err, EINVAL, "%.200s is not a document of tare stat or tare gate", name);
		tare_hint(err, "tare stat --format json -o FILE -- COMMAND");
		ret = -EINVAL;
	}
	json_release(root);
	return ret;
}
