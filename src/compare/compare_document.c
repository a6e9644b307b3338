/* SPDX-License-Identifier: MIT */
/* Documents of schema tare/stat/1 (docs/schema/tare-stat-1.json) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "compare/compare_document.h"
#include "compare/compare_run.h"
#include "output/reader/json_value.h"

enum { DOCUMENT_BYTES_MAX = 256 << 20 };

struct pair {
	const char *const *path;
	struct json_t *root[COMPARE_SIDES];
	struct compare_documents *out;
	struct tare_error *err;
};

static void note(struct compare_documents *d, const char *words)
{
	if (d->notes < DOCUMENT_NOTES_MAX && (d->note[d->notes] = strdup(words)))
		d->notes++;
}

static int load(struct pair *p, int side)
{
	const char *path = p->path[side], *schema;
	char *text = NULL;
	size_t n;
	int ret = file_read(NULL, path, DOCUMENT_BYTES_MAX, &text, &n, p->err);

	if (ret < 0)
		return ret;
	ret = json_parse(&p->root[side], text, n, path, 1, p->err);
	free(text);
	if (ret == -EOPNOTSUPP)
		return ret;
	schema = json_member_text(p->root[side], "schema");
	if (ret == 0 && schema && !strcmp(schema, "tare/stat/1"))
		return 0;
	if (ret == 0)
		tare_fail(p->err, EINVAL,
			  "%.200s is not a document of tare stat (tare/stat/1)%s%.60s", path,
			  schema ? " but of " : "", schema ? schema : "");
	tare_hint(
		p->err,
		"tare stat -r 2 --deterministic --format json -o FILE -- COMMAND; recordings of regions: tare diff");
	return -EINVAL;
}

/* ---- conditions ---- */

static int command(struct pair *p, int side)
{
	const struct json_t *words = json_member(p->root[side], "command");
	size_t n = json_length(words);

	for (size_t i = 0; i < n && i < DOCUMENT_WORDS_MAX; i++) {
		const char *word = json_text(json_element(words, i));

		p->out->argv[side][i] = strdup(word ? word : "");
		if (!p->out->argv[side][i])
			return tare_fail_nomem(p->err);
	}
	return 0;
}

/* Joins an array of strings. */
static void joined(struct text *out, const struct json_t *array)
{
	for (size_t i = 0; i < json_length(array); i++) {
		const char *s = json_text(json_element(array, i));

		text_add(out, "%s%s", i ? ", " : "", s ? s : "?");
	}
	if (!out->len)
		text_add(out, "nothing");
}

static int same_model(struct pair *p, const struct json_t *const c[COMPARE_SIDES])
{
	const char *a = json_member_text(c[0], "isa"), *b = json_member_text(c[1], "isa");

	if (!a == !b && (!a || !strcmp(a, b)))
		return 0;
	tare_fail(
		p->err, EINVAL,
		"the commands saw different CPU models: %.60s before, %.60s after; their counts are not comparable",
		a ? a : "the machine's own", b ? b : "the machine's own");
	tare_hint(p->err, "count both with tare stat --deterministic=+isa=%.60s",
		  a           ? a
			  : b ? b
			      : "");
	return -EINVAL;
}

static int same_engine(struct pair *p, const struct json_t *const c[COMPARE_SIDES])
{
	const char *a = json_member_text(c[0], "engine"), *b = json_member_text(c[1], "engine");

	if (!a || !b)
		return tare_fail(p->err, EINVAL, "%.200s does not name its engine (conditions)",
				 p->path[!a ? 0 : 1]);
	if (!strcmp(a, b)) {
		snprintf(p->out->engine, sizeof(p->out->engine), "%s", a);
		return 0;
	}
	tare_fail(p->err, EINVAL, "counted by different engines: %.20s before, %.20s after", a, b);
	tare_hint(p->err, "count both with tare stat --engine exact");
	return -EINVAL;
}

static int same_end(struct pair *p, bool allow_failure)
{
	uint64_t status[COMPARE_SIDES] = { 0 };

	for (int side = 0; side < COMPARE_SIDES; side++)
		json_whole(json_member(p->root[side], "exit_status"), &status[side]);
	for (int side = 0; side < COMPARE_SIDES; side++) {
		if (!status[side] || (allow_failure && status[0] == status[1]))
			continue;
		tare_fail(p->err, EINVAL, "%.200s: the command failed with exit status %llu",
			  p->path[side], (unsigned long long)status[side]);
		tare_hint(p->err,
			  "--allow-failure compares commands that fail the same way on both sides");
		return -EINVAL;
	}
	p->out->measured.wait_status = (int)(status[0] << 8);
	return 0;
}

static int conditions(struct pair *p, bool allow_failure)
{
	const struct json_t *c[COMPARE_SIDES] = { json_member(p->root[0], "conditions"),
						  json_member(p->root[1], "conditions") };
	struct text fixed[COMPARE_SIDES] = { 0 }, words = { 0 };
	uint64_t bytes[COMPARE_SIDES] = { 0 };
	int ret = same_engine(p, c);

	if (ret == 0)
		ret = same_model(p, c);
	if (ret == 0)
		ret = same_end(p, allow_failure);
	for (int side = 0; side < COMPARE_SIDES; side++) {
		joined(&fixed[side], json_member(c[side], "fixed"));
		json_whole(json_member(c[side], "environment_bytes"), &bytes[side]);
	}
	if (ret == 0 && !fixed[0].failed && !fixed[1].failed && strcmp(fixed[0].s, fixed[1].s)) {
		text_add(
			&words,
			"The conditions differ, and may be the cause of a change: fixed before: %s; after: %s",
			fixed[0].s, fixed[1].s);
		note(p->out, words.s ? words.s : "");
	}
	if (ret == 0 && bytes[0] != bytes[1])
		note(p->out,
		     "The size of arguments and environment differs, and may be the cause of a change: use --deterministic=+env");
	text_free(&words);
	text_free(&fixed[0]);
	text_free(&fixed[1]);
	return ret;
}

/* ---- events ---- */

/* The event of that name in a document; one per name is used. */
static const struct json_t *event_named(const struct json_t *root, const char *name)
{
	const struct json_t *list = json_member(root, "events");

	for (size_t i = 0; i < json_length(list); i++) {
		const struct json_t *e = json_element(list, i);
		const char *s = json_member_text(e, "event");

		if (s && !strcmp(s, name))
			return e;
	}
	return NULL;
}

static bool has_numbers(const struct json_t *e)
{
	const char *quality = json_member_text(e, "quality");

	return quality && strcmp(quality, "unavailable") != 0 &&
		json_length(json_member(e, "runs")) &&
		!json_is_set(json_member(e, "with_engine_work"));
}

static int values(struct pair *p, int side, const struct json_t *e, const char *name,
		  struct compare_values *to)
{
	const struct json_t *runs = json_member(e, "runs");

	for (size_t i = 0; i < json_length(runs); i++) {
		const struct json_t *v = json_element(runs, i);
		uint64_t n;
		int ret;

		if (json_kind(v) == JSON_IS_NULL)
			continue; /* this run has no number */
		if (!json_whole(v, &n))
			return tare_fail(p->err, EINVAL, "%.200s: run %zu of %.60s is not a count",
					 p->path[side], i + 1, name);
		if (to->n == COMPARE_RUNS_MAX)
			return tare_fail(p->err, E2BIG, "%.200s: more than %d runs", p->path[side],
					 COMPARE_RUNS_MAX);
		ret = compare_add(to, n, p->err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int event(struct pair *p, const struct json_t *of[COMPARE_SIDES], const char *name,
		 double threshold)
{
	struct compare_measured *m = &p->out->measured;
	struct compare_event *e = &m->event[m->n++];
	const char *unit = json_member_text(of[0], "unit");
	int ret = 0;

	*e = (struct compare_event){
		.name = strdup(name),
		.time = unit && !strcmp(unit, "ns"),
		.exact = !strcmp(json_member_text(of[0], "quality"), "exact") &&
			!strcmp(json_member_text(of[1], "quality"), "exact"),
		.in_blocks = true,
		.allowed = threshold >= 0 ? threshold : 0,
	};
	e->threshold = threshold >= 0 ? threshold
		: e->time             ? COMPARE_THRESHOLD_TIME
				      : COMPARE_THRESHOLD_COUNT;
	if (!e->name)
		return tare_fail_nomem(p->err);
	for (int side = 0; ret == 0 && side < COMPARE_SIDES; side++)
		ret = values(p, side, of[side], name, &e->of[side]);
	if (ret < 0)
		return ret;
	if (e->of[0].n && e->of[1].n)
		return compare_judge(e, p->err);
	compare_event_free(e);
	m->n--;
	return 0;
}

static int events(struct pair *p, double threshold)
{
	struct compare_measured *m = &p->out->measured;
	const struct json_t *list = json_member(p->root[0], "events");
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < json_length(list) && m->n < COMPARE_EVENTS_MAX; i++) {
		const struct json_t *of[COMPARE_SIDES] = { json_element(list, i) };
		const char *name = json_member_text(of[0], "event");

		of[1] = name ? event_named(p->root[1], name) : NULL;
		if (!of[1] || event_named(p->root[0], name) != of[0] || !has_numbers(of[0]) ||
		    !has_numbers(of[1]))
			continue;
		ret = event(p, of, name, threshold);
	}
	if (ret == 0 && !m->n) {
		tare_fail(p->err, ENODATA,
			  "the two documents have no event with numbers in common");
		tare_hint(p->err, "count the same events (-e) in both");
		ret = -ENODATA;
	}
	return ret;
}

/* A part of a run is not comparable with a whole one. */
static int whole_run(struct pair *p, int side)
{
	const struct json_t *c = json_member(p->root[side], "conditions");
	bool interrupted = json_is_set(json_member(c, "interrupted"));

	if (!interrupted && !json_is_set(json_member(c, "timed_out")))
		return 0;
	tare_fail(p->err, EINVAL, "%.200s is of a part of a run: it was %s", p->path[side],
		  interrupted ? "interrupted" : "ended by --timeout");
	tare_hint(p->err, "count the whole run");
	return -EINVAL;
}

static void note_event(struct compare_documents *d, const char *name, enum compare_side lacks)
{
	struct text words = { 0 };

	text_add(&words, "%s was not compared: the document %s has no number for it", name,
		 compare_side_name(lacks));
	note(d, words.s ? words.s : "");
	text_free(&words);
}

/* Events with numbers in one document alone are not compared. */
static void note_missing(struct pair *p)
{
	for (int side = 0; side < COMPARE_SIDES; side++) {
		const struct json_t *list = json_member(p->root[side], "events");

		for (size_t i = 0; i < json_length(list); i++) {
			const struct json_t *e = json_element(list, i), *other;
			const char *name = json_member_text(e, "event");

			other = name ? event_named(p->root[!side], name) : NULL;
			if (!name || !has_numbers(e) || (other && has_numbers(other)))
				continue;
			note_event(p->out, name, (enum compare_side) !side);
		}
	}
}

/* One run of each side does not show whether counts repeat. */
static void note_single(struct pair *p)
{
	const struct compare_measured *m = &p->out->measured;

	for (size_t i = 0; i < m->n; i++) {
		const struct compare_event *e = &m->event[i];

		if (!e->by_equality || (e->of[0].n > 1 && e->of[1].n > 1))
			continue;
		note(p->out,
		     "One run of a side does not prove that its exact counts repeat: use tare stat -r 2");
		return;
	}
}

static void note_partial(struct pair *p)
{
	for (int side = 0; side < COMPARE_SIDES; side++)
		if (json_member(json_member(p->root[side], "conditions"), "without_processes"))
			note(p->out,
			     side ? "After: some processes were not counted to their end"
				  : "Before: some processes were not counted to their end");
}

int compare_documents_read(struct compare_documents *out, const char *const path[COMPARE_SIDES],
			   double threshold, bool allow_failure, struct tare_error *err)
{
	struct pair p = { .path = path, .out = out, .err = err };
	int ret = 0;

	*out = (struct compare_documents){ 0 };
	for (int side = 0; ret == 0 && side < COMPARE_SIDES; side++)
		ret = load(&p, side);
	for (int side = 0; ret == 0 && side < COMPARE_SIDES; side++)
		ret = command(&p, side);
	for (int side = 0; ret == 0 && side < COMPARE_SIDES; side++)
		ret = whole_run(&p, side);
	if (ret == 0)
		ret = conditions(&p, allow_failure);
	if (ret == 0)
		ret = events(&p, threshold);
	if (ret == 0) {
		note_missing(&p);
		note_single(&p);
		note_partial(&p);
	}
	for (int side = 0; side < COMPARE_SIDES; side++)
		json_release(p.root[side]);
	return ret;
}

void compare_documents_free(struct compare_documents *d)
{
	for (int side = 0; side < COMPARE_SIDES; side++)
		for (size_t i = 0; d->argv[side][i]; i++)
			free(d->argv[side][i]);
	for (size_t i = 0; i < d->notes; i++)
		free(d->note[i]);
	compare_measured_free(&d->measured);
	*d = (struct compare_documents){ 0 };
}
