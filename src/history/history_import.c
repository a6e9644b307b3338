/* SPDX-License-Identifier: MIT */
/*
 * Formats:
 *
 * - data.js and data.json of github-action-benchmark: {"entries": {SUITE: [{"commit": {"id",
 *   "message", "timestamp"}, "date": ms, "tool", "benches": [{"name", "value", "unit"}]}]}}; data.js
 *   has "window.BENCHMARK_DATA = " in front. Source: its src/write.ts and src/extract.ts.
 * - Bencher Metric Format: {BENCHMARK: {MEASURE: {"value"}}}, without commits and units. Source:
 *   bencher.dev, "Bencher Metric Format (BMF)".
 * - tare/history-export/1: docs/schema/tare-history-export-1.json.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "base/arena.h"
#include "base/array.h"
#include "base/set.h"
#include "history/history_document.h"
#include "history/history_import.h"
#include "output/reader/json_value.h"

#define DATA_JS "window.BENCHMARK_DATA ="

enum {
	VALUES_MAX = 4000000,
	MEASUREMENT_MAX = 4096,
	COMMIT_MAX = 1000,
	SUBJECT_MAX = 1000,
	CONDITION_MAX = 4000
};

struct reader {
	const char *name;
	const struct history_import *how;
	struct history_batch *to;
	size_t values;
	struct tare_error *err;
};

static int wrong(struct reader *r, const char *what)
{
	return tare_fail(r->err, EINVAL, "%.200s: %s", r->name, what);
}

static const char *keep(struct reader *r, const char *s, size_t n)
{
	return arena_string(&r->to->strings, s, n);
}

static bool number_of(const struct json_t *v, struct history_number *out)
{
	*out = (struct history_number){ 0 };
	out->whole = json_whole(v, &out->count);
	return out->whole ||
		(json_double(v, &out->real) && isfinite(out->real) && fabs(out->real) < 0x1p200);
}

/* A string of at most `most` bytes; NULL: not a string, or too long. */
static const char *text_of(const struct json_t *object, const char *key, size_t most)
{
	const char *s = json_member_text(object, key);

	return s && strlen(s) <= most ? s : NULL;
}

/* ---- a value of another tool ---- */

struct foreign {
	const char *suite; /* NULL: none */
	const char *name, *event, *unit, *tool;
	const struct json_t *value;
};

/* "SUITE: NAME", or the name alone */
static const char *benchmark_of(struct reader *r, const struct foreign *f)
{
	struct text t = { 0 };
	const char *s;

	text_add(&t, "%s%s%s", f->suite ? f->suite : "", f->suite ? ": " : "", f->name);
	s = t.failed || t.len > HISTORY_NAME_MAX ? NULL : keep(r, t.s, t.len);
	text_free(&t);
	return s;
}

static bool is_known(const struct history_run *run, const struct history_series *s)
{
	for (size_t i = 0; i < run->n; i++)
		if (!strcmp(run->result[i].series.benchmark, s->benchmark) &&
		    !strcmp(run->result[i].series.event, s->event) &&
		    !strcmp(run->result[i].series.unit, s->unit))
			return true;
	return false;
}

struct history_result history_imported(const struct history_series *series, const char *tool,
				       const struct history_number *n,
				       const struct history_import *how)
{
	return (struct history_result){ .series = *series,
					.conditions = { .tare = "",
							.engine = tool,
							.quality = "imported",
							.isa = "",
							.fixed = "",
							.command = "",
							.machine = how->machine },
					.value = *n,
					.least = *n,
					.most = *n,
					.runs = 1 };
}

static int take_foreign(struct reader *r, struct history_run *run, const struct foreign *f)
{
	struct history_result *to;
	struct history_number n;
	struct history_series s = { .benchmark = benchmark_of(r, f),
				    .event = keep(r, f->event, strlen(f->event)),
				    .unit = keep(r, f->unit, strlen(f->unit)),
				    .region = "" };

	if (!s.benchmark || !s.event || !s.unit)
		return wrong(r, "a name is too long");
	if (!number_of(f->value, &n))
		return tare_fail(r->err, EINVAL, "%.200s: the value of %.60s is not a number",
				 r->name, s.benchmark);
	if (is_known(run, &s))
		return tare_fail(r->err, EINVAL, "%.200s: %.60s occurs twice for one commit",
				 r->name, s.benchmark);
	if (++r->values > VALUES_MAX || run->n == MEASUREMENT_MAX)
		return wrong(r, "it has too many values");
	to = history_add_result(run);
	if (!to)
		return tare_fail_nomem(r->err);
	*to = history_imported(&s, keep(r, f->tool, strlen(f->tool)), &n, r->how);
	history_digest_add(&run->digest, s.benchmark, strlen(s.benchmark) + 1);
	history_digest_add(&run->digest, s.event, strlen(s.event) + 1);
	history_digest_add(&run->digest, s.unit, strlen(s.unit) + 1);
	history_digest_add(&run->digest, &n.count, sizeof(n.count));
	history_digest_add(&run->digest, &n.real, sizeof(n.real));
	return to->conditions.engine ? 0 : tare_fail_nomem(r->err);
}

static struct history_run *begin_run(struct reader *r, const char *format)
{
	struct history_run *run = history_add_run(r->to);

	if (!run)
		return NULL;
	run->commit = (struct history_commit){ .name = "", .parent = "", .subject = "" };
	history_digest_begin(&run->digest);
	history_digest_add(&run->digest, format, strlen(format) + 1);
	return run;
}

/* ---- github-action-benchmark ---- */

/* "2020-07-01T12:00:00+09:00", or with Z. */
static bool time_of(const char *s, int64_t *out)
{
	struct tm tm = { 0 };
	const char *end = s ? strptime(s, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
	int hours, minutes, at = 0;
	char sign;

	if (!end)
		return false;
	*out = timegm(&tm);
	if (*end == '.')
		end += 1 + strspn(end + 1, "0123456789");
	if (!strcmp(end, "Z"))
		return true;
	if (sscanf(end, "%c%2d:%2d%n", &sign, &hours, &minutes, &at) != 3 || end[at] ||
	    (sign != '+' && sign != '-'))
		return false;
	*out -= (sign == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
	return true;
}

static int take_commit(struct reader *r, const struct json_t *entry, struct history_commit *to)
{
	const struct json_t *commit = json_member(entry, "commit");
	const char *id = text_of(commit, "id", COMMIT_MAX),
		   *message = json_member_text(commit, "message");
	size_t subject;
	double ms;

	if (!id || !*id) {
		wrong(r, "an entry has no commit");
		tare_hint(
			r->err,
			"give each entry its \"commit\": {\"id\": ...}, or import Bencher's JSON with --commit");
		return -EINVAL;
	}
	if (!time_of(json_member_text(commit, "timestamp"), &to->time)) {
		if (!json_double(json_member(entry, "date"), &ms) || !(fabs(ms) < 1e15))
			return wrong(r, "an entry has no date");
		to->time = (int64_t)floor(ms / 1000);
	}
	message = message ? message : "";
	to->name = keep(r, id, strlen(id));
	subject = strcspn(message, "\n");
	to->subject = keep(r, message, subject < SUBJECT_MAX ? subject : SUBJECT_MAX);
	return to->name && to->subject ? 0 : tare_fail_nomem(r->err);
}

static int take_entry(struct reader *r, const char *suite, const struct json_t *entry)
{
	const struct json_t *benches = json_member(entry, "benches");
	const char *tool = text_of(entry, "tool", HISTORY_NAME_MAX);
	struct history_run *run = begin_run(r, "github-action-benchmark");
	int ret = run ? take_commit(r, entry, &run->commit) : tare_fail_nomem(r->err);

	if (ret == 0 && !json_length(benches))
		ret = wrong(r, "an entry has no benches");
	for (size_t i = 0; ret == 0 && i < json_length(benches); i++) {
		const struct json_t *b = json_element(benches, i);
		const char *unit = json_member_text(b, "unit");
		const struct foreign f = { .suite = suite,
					   .name = json_member_text(b, "name"),
					   .event = "value",
					   .unit = unit ? unit : "",
					   .tool = tool ? tool : "",
					   .value = json_member(b, "value") };

		if (!f.name || !*f.name || strlen(f.unit) > HISTORY_NAME_MAX)
			ret = wrong(r, "a bench has no name, or a long unit");
		else
			ret = take_foreign(r, run, &f);
	}
	if (ret == 0) {
		history_digest_add(&run->digest, &run->commit.time, sizeof(run->commit.time));
		history_seal(run);
	}
	return ret;
}

static int take_action(struct reader *r, const struct json_t *suites)
{
	int ret = 0;

	for (void *at = json_first(suites); ret == 0 && at; at = json_next(suites, at))
		for (size_t i = 0; ret == 0 && i < json_length(json_at(at)); i++)
			ret = take_entry(r, json_key(at), json_element(json_at(at), i));
	return ret;
}

/* ---- Bencher ---- */

static bool is_bmf(const struct json_t *root)
{
	for (void *at = json_first(root); at; at = json_next(root, at)) {
		const struct json_t *measures = json_at(at);

		for (void *m = json_first(measures); m; m = json_next(measures, m))
			if (json_kind(json_member(json_at(m), "value")) == JSON_IS_NUMBER)
				return true;
	}
	return false;
}

static int take_bmf(struct reader *r, const struct json_t *root)
{
	struct history_run *run;
	int ret = 0;

	if (!r->how->commit) {
		wrong(r, "Bencher's JSON does not name the commit that was measured");
		tare_hint(r->err, "--commit REV");
		return -EINVAL;
	}
	run = begin_run(r, "bmf");
	if (!run)
		return tare_fail_nomem(r->err);
	run->commit = *r->how->commit;
	for (void *at = json_first(root); ret == 0 && at; at = json_next(root, at)) {
		const struct json_t *measures = json_at(at);

		if (json_kind(measures) != JSON_IS_OBJECT)
			return wrong(r, "a benchmark is not an object");
		for (void *m = json_first(measures); ret == 0 && m; m = json_next(measures, m)) {
			const struct foreign f = { .name = json_key(at),
						   .event = json_key(m),
						   .unit = "",
						   .tool = "",
						   .value = json_member(json_at(m), "value") };

			ret = *f.name && *f.event && strlen(f.event) <= HISTORY_NAME_MAX
				? take_foreign(r, run, &f)
				: wrong(r, "a name is empty or too long");
		}
	}
	if (ret == 0)
		history_seal(run);
	return ret;
}

/* ---- tare/history-export/1 ---- */

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool digest_of(const struct json_t *row, struct history_digest *out)
{
	const char *s = json_member_text(row, "measurement");

	if (!s || strlen(s) != 2 * HISTORY_DIGEST_BYTES)
		return false;
	for (size_t i = 0; i < HISTORY_DIGEST_BYTES; i++) {
		int high = hex_digit(s[2 * i]), low = hex_digit(s[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		out->byte[i] = (unsigned char)(high << 4 | low);
	}
	return true;
}

/* The key that is missing or wrong; NULL: none. */
static const char *take_row(struct reader *r, const struct json_t *row, struct history_run *run,
			    struct history_result *to)
{
	const struct {
		const char *key;
		const char **to;
		size_t most;
	} words[] = {
		{ "benchmark", &to->series.benchmark, HISTORY_NAME_MAX },
		{ "event", &to->series.event, HISTORY_NAME_MAX },
		{ "unit", &to->series.unit, HISTORY_NAME_MAX },
		{ "region", &to->series.region, HISTORY_NAME_MAX },
		{ "tare", &to->conditions.tare, CONDITION_MAX },
		{ "engine", &to->conditions.engine, CONDITION_MAX },
		{ "quality", &to->conditions.quality, CONDITION_MAX },
		{ "isa", &to->conditions.isa, CONDITION_MAX },
		{ "fixed", &to->conditions.fixed, CONDITION_MAX },
		{ "command", &to->conditions.command, CONDITION_MAX },
		{ "machine", &to->conditions.machine, CONDITION_MAX },
		{ "commit", &run->commit.name, COMMIT_MAX },
		{ "parent", &run->commit.parent, COMMIT_MAX },
		{ "subject", &run->commit.subject, SUBJECT_MAX },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		const char *s = text_of(row, words[i].key, words[i].most);

		*words[i].to = s ? keep(r, s, strlen(s)) : NULL;
		if (!*words[i].to)
			return words[i].key;
	}
	run->commit.dirty = json_is_set(json_member(row, "dirty"));
	if (!*run->commit.name)
		return "commit";
	if (!time_of(json_member_text(row, "date"), &run->commit.time))
		return "date";
	if (!json_whole(json_member(row, "depth"), &run->commit.depth) ||
	    run->commit.depth > INT64_MAX)
		return "depth";
	if (!json_whole(json_member(row, "runs"), &to->runs) || !to->runs || to->runs > INT32_MAX)
		return "runs";
	if (!number_of(json_member(row, "value"), &to->value))
		return "value";
	if (!number_of(json_member(row, "min"), &to->least) ||
	    history_real(&to->least) > history_real(&to->value))
		return "min";
	if (!number_of(json_member(row, "max"), &to->most) ||
	    history_real(&to->most) < history_real(&to->value))
		return "max";
	return NULL;
}

struct placed {
	struct history_digest digest;
	uint32_t run;
};

static int take_export(struct reader *r, const struct json_t *rows)
{
	struct set runs = { 0 };
	int ret = 0;

	if (json_length(rows) > VALUES_MAX)
		return wrong(r, "it has too many values");
	for (size_t i = 0; ret == 0 && i < json_length(rows); i++) {
		const struct json_t *row = json_element(rows, i);
		struct history_result result = { .runs = 0 }, *to;
		struct history_run run = { .n = 0 }, *of;
		struct placed place = { .run = (uint32_t)r->to->n };
		const char *key = digest_of(row, &place.digest) ? take_row(r, row, &run, &result)
								: "measurement";
		uint32_t number;
		bool fresh;

		if (key) {
			ret = tare_fail(r->err, EINVAL,
					"%.200s: row %zu: the key \"%s\" is missing or wrong",
					r->name, i + 1, key);
			break;
		}
		number = set_add(&runs, &place, sizeof(place), sizeof(place.digest), &fresh);
		of = number == SET_NONE ? NULL
			: fresh         ? history_add_run(r->to)
					: &r->to->run[((struct placed *)runs.item)[number].run];
		if (of && fresh) {
			*of = run;
			of->digest = place.digest;
		}
		if (of && (of->n == MEASUREMENT_MAX || is_known(of, &result.series))) {
			ret = tare_fail(
				r->err, EINVAL,
				"%.200s: row %zu: its measurement has this series twice, or too many",
				r->name, i + 1);
			break;
		}
		to = of ? history_add_result(of) : NULL;
		if (to)
			*to = result;
		else
			ret = tare_fail_nomem(r->err);
	}
	set_free(&runs);
	return ret;
}

/* ---- all ---- */

static int take_document(struct reader *r, const struct json_t *root)
{
	const char *schema = json_member_text(root, "schema");

	if (schema && !strcmp(schema, "tare/history-export/1"))
		return take_export(r, json_member(root, "values"));
	if (json_kind(json_member(root, "entries")) == JSON_IS_OBJECT)
		return take_action(r, json_member(root, "entries"));
	if (!schema && is_bmf(root))
		return take_bmf(r, root);
	wrong(r, "its format is not known");
	tare_hint(
		r->err,
		schema && strstr(schema, "tare/") == schema
			? "tare history add takes documents of tare stat and tare gate"
			: "known: github-action-benchmark's data.js, Bencher's JSON, tare history export");
	return -EINVAL;
}

int history_import_parse(struct history_batch *to, const char *text, size_t n, const char *name,
			 const struct history_import *how, struct tare_error *err)
{
	struct reader r = { .name = name, .how = how, .to = to, .err = err };
	const size_t before = to->n, skip = strlen(DATA_JS);
	struct json_t *root;
	int ret;

	if (n >= skip && !memcmp(text, DATA_JS, skip)) {
		text += skip;
		n -= skip;
		while (n && strchr("; \t\r\n", text[n - 1]))
			n--;
	}
	ret = json_parse(&root, text, n, name, 1, err);
	if (ret == 0)
		ret = take_document(&r, root);
	if (ret == 0 && to->n == before)
		ret = wrong(&r, "it has no values");
	json_release(root);
	return ret;
}
