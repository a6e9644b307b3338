/* SPDX-License-Identifier: MIT */
/* JSON documents of tare stat and tare gate, by jansson. */
#include <jansson.h>
#include <math.h>
#include <string.h>
#include "base/arena.h"
#include "base/library.h"
#include "base/num.h"
#include "history/history_document.h"
#include "output/escape.h"

/* clang-format off */
#define FUNCTIONS(F) \
	F(json_array_get) F(json_array_size) F(json_delete) F(json_integer_value) F(json_loadb) \
	F(json_object_get) F(json_real_value) F(json_string_value)
/* clang-format on */
LIBRARY(jansson, "libjansson.so.4", FUNCTIONS)

enum { EVENTS_MAX = 4096 };

/* Rows of these are parts of a total. */
static const char *const part_keys[] = { "cpu",          "core",   "die",
					 "socket",       "node",   "thread",
					 "comm",         "cgroup", "process_number",
					 "thread_number" };

struct reader {
	const char *name;
	const struct history_about *about;
	const json_t *root, *conditions;
	struct history_batch *to;
	struct history_run *run;
	const char *benchmark, *fixed, *isa;
	struct tare_error *err;
};

static const json_t *get(const json_t *object, const char *key)
{
	return object ? jansson.json_object_get(object, key) : NULL;
}

/* NULL if it is no string. */
static const char *string_of(const json_t *object, const char *key)
{
	const json_t *v = get(object, key);

	return v ? jansson.json_string_value(v) : NULL;
}

static size_t size_of(const json_t *array)
{
	return array ? jansson.json_array_size(array) : 0;
}

static bool is_true(const json_t *v)
{
	return v && json_typeof(v) == JSON_TRUE;
}

static const char *keep(struct reader *r, const char *s)
{
	return arena_string(&r->to->strings, s, strlen(s));
}

/* Whole numbers above 2^53 are strings of digits. */
static bool number_of(const json_t *v, struct history_number *out)
{
	const char *s = v ? jansson.json_string_value(v) : NULL;
	json_int_t n;

	*out = (struct history_number){ .whole = true };
	if (s)
		return *s && strspn(s, "0123456789") == strlen(s) &&
			num_parse(s, &out->count, NULL) == 0;
	if (!v || (json_typeof(v) != JSON_INTEGER && json_typeof(v) != JSON_REAL))
		return false;
	n = jansson.json_integer_value(v);
	if (json_typeof(v) == JSON_INTEGER && n >= 0) {
		out->count = (uint64_t)n;
		return true;
	}
	out->whole = false;
	out->real = json_typeof(v) == JSON_REAL ? jansson.json_real_value(v) : (double)n;
	return isfinite(out->real) && fabs(out->real) < 0x1p200;
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
	const json_t *given = get(r->root, "exit_status");

	if (is_true(get(r->conditions, "interrupted")) || is_true(get(r->conditions, "timed_out")))
		wrong(r, "it is of a part of a run");
	else if (given && json_typeof(given) != JSON_NULL &&
		 (!number_of(given, &status) || !status.whole || status.count))
		wrong(r, "the command failed");
	else
		return 0;
	tare_hint(r->err, "add only whole runs of commands that succeed");
	return -EINVAL;
}

static int find_benchmark(struct reader *r)
{
	const json_t *words = get(r->root, "command");
	const char *word[64];
	struct text all = { 0 };
	size_t n = size_of(words);

	if (r->about->benchmark) {
		r->benchmark = r->about->benchmark;
		return 0;
	}
	for (size_t i = 0; i < n && n <= ARRAY_SIZE(word); i++)
		if (!(word[i] = jansson.json_string_value(jansson.json_array_get(words, i))))
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
	else if (!strcmp(item, "clock") && string_of(r->conditions, "clock"))
		text_add(out, "=%s", string_of(r->conditions, "clock"));
	else if (!strcmp(item, "cpus") && number_of(get(r->conditions, "cpus"), &n))
		text_add(out, "=%.0f", history_real(&n));
	else if (!strcmp(item, "environment") &&
		 number_of(get(r->conditions, "environment_bytes"), &n))
		text_add(out, "=%.0f", history_real(&n));
}

static int find_conditions(struct reader *r)
{
	const json_t *items = get(r->conditions, "fixed");
	const char *isa = string_of(r->conditions, "isa");
	struct text fixed = { 0 };

	r->isa = keep(r, isa ? isa : "");
	if (!r->isa)
		return tare_fail_nomem(r->err);
	for (size_t i = 0; i < size_of(items); i++) {
		const char *item = jansson.json_string_value(jansson.json_array_get(items, i));

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

static int take(struct reader *r, const char *event, const json_t *v, const char *unit,
		const char *engine, const char *quality, const json_t *runs)
{
	bool exact = !strcmp(quality, "exact");
	const char *tare = string_of(r->conditions, "tare");
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
	if (number_of(get(v, "value"), &to->value) && number_of(get(v, "min"), &to->least) &&
	    number_of(get(v, "max"), &to->most) && !is_above(&to->least, &to->value) &&
	    !is_above(&to->value, &to->most) && number_of(runs, &n) && n.whole && n.count &&
	    n.count <= INT32_MAX) {
		to->runs = n.count;
		return 0;
	}
	return tare_fail(r->err, EINVAL, "%.200s: the numbers of %.60s are missing or wrong",
			 r->name, event);
}

static bool is_part(const json_t *event)
{
	for (size_t i = 0; i < ARRAY_SIZE(part_keys); i++)
		if (get(event, part_keys[i]))
			return true;
	return false;
}

static int take_event(struct reader *r, const json_t *e)
{
	const char *event = string_of(e, "event"), *unit = string_of(e, "unit"),
		   *engine = string_of(e, "engine"), *quality = string_of(e, "quality");

	if (!event || !*event || strlen(event) > HISTORY_NAME_MAX || !unit || !engine || !quality ||
	    strlen(unit) > HISTORY_NAME_MAX)
		return wrong(r, "an event is wrong");
	if (is_part(e) || !strcmp(quality, "unavailable") || is_true(get(e, "with_engine_work")) ||
	    was_taken(r, event))
		return 0;
	return take(r, event, e, unit, engine, quality, get(e, "n"));
}

static int take_stat(struct reader *r, const char *text, size_t n)
{
	const json_t *events = get(r->root, "events"), *times = get(r->root, "times_ns");
	int ret;

	r->conditions = get(r->root, "conditions");
	r->run = history_add_run(r->to);
	if (!r->run)
		return tare_fail_nomem(r->err);
	r->run->commit = (struct history_commit){ .name = "", .parent = "", .subject = "" };
	ret = whole_run(r);
	if (ret == 0)
		ret = find_benchmark(r);
	if (ret == 0)
		ret = find_conditions(r);
	if (ret == 0 && size_of(events) > EVENTS_MAX)
		ret = wrong(r, "it has too many events");
	for (size_t i = 0; ret == 0 && i < size_of(events); i++)
		ret = take_event(r, jansson.json_array_get(events, i));
	if (ret == 0 && get(times, "wall") && !is_true(get(times, "with_engine_work")))
		ret = take(r, "wall", get(times, "wall"), "ns", "clock", "counted",
			   get(r->root, "runs"));
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

static int take_gate(struct reader *r, const char *text, size_t n)
{
	const char *name = string_of(r->root, "commit");
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
	gate_records_free(&records);
	return ret;
}

/* ---- all ---- */

int history_document_parse(struct history_batch *to, const char *text, size_t n, const char *name,
			   const struct history_about *about, struct tare_error *err)
{
	struct reader r = { .name = name, .about = about, .to = to, .err = err };
	json_error_t where;
	const char *schema;
	json_t *root;
	int ret;

	if (!jansson_load())
		return library_missing(err, EOPNOTSUPP, "libjansson.so.4, which reads JSON",
				       "apt install libjansson4");
	root = jansson.json_loadb(text, n, JSON_REJECT_DUPLICATES, &where);
	if (!root)
		return tare_fail(err, EINVAL, "%.200s: line %d: not JSON: %.120s", name, where.line,
				 where.text);
	r.root = root;
	schema = string_of(root, "schema");
	if (schema && !strcmp(schema, "tare/stat/1")) {
		ret = take_stat(&r, text, n);
	} else if (schema && !strcmp(schema, "tare/gate/1")) {
		ret = take_gate(&r, text, n);
	} else {
		tare_fail(err, EINVAL, "%.200s is not a document of tare stat or tare gate", name);
		tare_hint(err, "tare stat --format json -o FILE -- COMMAND");
		ret = -EINVAL;
	}
	jansson.json_delete(root);
	return ret;
}
