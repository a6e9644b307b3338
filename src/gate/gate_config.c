/* SPDX-License-Identifier: MIT */
/* tare.json. An unknown key is an error: a misspelled limit would limit nothing. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "gate/gate.h"
#include "output/reader/json_value.h"

enum { WORDS_MAX = 4096, RUNS_MAX = 100 };

struct reader {
	const char *name;
	struct gate_config *out;
	char path[320]; /* of the value that is read: "benchmarks.gzip.command" */
	struct tare_error *err;
};

static int wrong(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int wrong(struct reader *r, const char *fmt, ...)
{
	char what[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	tare_fail(r->err, EINVAL, "%.150s: %.220s: %s", r->name, r->path[0] ? r->path : "$", what);
	tare_hint(r->err, "tare-gate(1), CONFIGURATION, has all keys and an example");
	return -EINVAL;
}

/* Names come from the file: only what can be shown on a terminal. */
static bool printable(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return false;
	return true;
}

static void enter(struct reader *r, const char *parent, const char *key)
{
	snprintf(r->path, sizeof(r->path), "%.180s%s%.120s", parent, *parent ? "." : "",
		 printable(key) ? key : "?");
}

static bool is_string(const struct json_t *v)
{
	return json_kind(v) == JSON_IS_STRING;
}

static int take_string(struct reader *r, const struct json_t *v, char **to)
{
	if (!is_string(v) || !*json_text(v))
		return wrong(r, "must be a string that is not empty");
	free(*to);
	*to = strdup(json_text(v));
	return *to ? 0 : tare_fail_nomem(r->err);
}

/* ---- values ---- */

static int take_argv(struct reader *r, const struct json_t *v, char ***to)
{
	const char *shell[] = { "sh", "-c", json_text(v) };
	size_t n = is_string(v) ? ARRAY_SIZE(shell) : json_length(v);

	if (!n || n > WORDS_MAX || (is_string(v) && !*shell[2]))
		return wrong(r, "must be a list of strings, or a shell command as one string");
	*to = calloc(n + 1, sizeof(**to));
	if (!*to)
		return tare_fail_nomem(r->err);
	for (size_t i = 0; i < n; i++) {
		const struct json_t *word = is_string(v) ? v : json_element(v, i);

		if (!is_string(word))
			return wrong(r, "word %zu is not a string", i + 1);
		(*to)[i] = strdup(is_string(v) ? shell[i] : json_text(word));
		if (!(*to)[i])
			return tare_fail_nomem(r->err);
	}
	return **to[0] ? 0 : wrong(r, "the first word is empty");
}

/* Moves the times out of the events: they are not counted. */
static int split_times(struct reader *r, struct gate_benchmark *b)
{
	struct text counts = { 0 };

	for (const char *at = b->events; *at; at += *at == ',') {
		size_t n = strcspn(at, ",");
		bool is_time = false;

		for (int t = 0; t < COMPARE_TIMES; t++) {
			const char *name = compare_time_names[t];

			if (strlen(name) == n && !strncmp(at, name, n))
				is_time = b->time[t] = true;
		}
		if (!is_time)
			text_add(&counts, "%s%.*s", counts.len ? "," : "", (int)n, at);
		at += n;
	}
	free(b->events);
	b->only_times = !counts.len;
	b->events = b->only_times ? NULL : text_take(&counts);
	return b->only_times || b->events ? 0 : tare_fail_nomem(r->err);
}

static int take_events(struct reader *r, const struct json_t *v, char **to)
{
	size_t n = json_length(v);
	struct text all = { 0 };

	if (is_string(v))
		return take_string(r, v, to);
	for (size_t i = 0; i < n; i++) {
		const struct json_t *event = json_element(v, i);

		if (!is_string(event)) {
			text_free(&all);
			return wrong(r, "event %zu is not a string", i + 1);
		}
		text_add(&all, "%s%s", i ? "," : "", json_text(event));
	}
	if (!all.len) {
		text_free(&all);
		return wrong(r, "must be a list of events, or one string");
	}
	free(*to);
	*to = text_take(&all);
	return *to ? 0 : tare_fail_nomem(r->err);
}

/* Copies of a list's strings, after `before` empty entries; NULL: out of memory. */
static char **copy_words(const struct json_t *list, size_t before)
{
	size_t n = json_length(list);
	char **words = calloc(before + n + 1, sizeof(*words));

	for (size_t i = 0; words && i < n; i++) {
		const char *s = json_text(json_element(list, i));

		words[before + i] = s ? strdup(s) : NULL;
	}
	return words;
}

static bool is_list_of_strings(const struct json_t *v, size_t most)
{
	if (json_kind(v) != JSON_IS_ARRAY || !json_length(v) || json_length(v) > most)
		return false;
	for (size_t i = 0; i < json_length(v); i++)
		if (!is_string(json_element(v, i)))
			return false;
	return true;
}

/* The value is `true`, for all regions, or a list of labels. */
static int take_regions(struct reader *r, const struct json_t *v, struct gate_benchmark *b)
{
	b->all_regions = json_is_set(v);
	if (b->all_regions)
		return 0;
	if (!is_list_of_strings(v, GATE_EVENTS_MAX / 2))
		return wrong(r, "must be true, or a list of 1 to %d labels", GATE_EVENTS_MAX / 2);
	b->regions = copy_words(v, 0);
	return b->regions ? 0 : tare_fail_nomem(r->err);
}

/* The arguments of tare bench: a string (one file), or a list. */
static int take_bench(struct reader *r, const struct json_t *v, char ***to)
{
	enum { TARE, BENCH, BEFORE };
	char **words;

	if (!is_string(v) && !is_list_of_strings(v, WORDS_MAX))
		return wrong(r, "must be a file, or a list of arguments of tare bench");
	words = is_string(v) ? calloc(BEFORE + 2, sizeof(*words)) : copy_words(v, BEFORE);
	if (!words)
		return tare_fail_nomem(r->err);
	words[TARE] = strdup("tare");
	words[BENCH] = strdup("bench");
	if (is_string(v))
		words[BEFORE] = strdup(json_text(v));
	*to = words;
	return words[TARE] && words[BENCH] && words[BEFORE] ? 0 : tare_fail_nomem(r->err);
}

/* determinism items are separated by commas, kept variables by colons */
static bool is_variable(const char *name)
{
	return *name &&
		strspn(name,
		       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		       "0123456789_") == strlen(name);
}

static int take_environment(struct reader *r, const struct json_t *v, char ***to)
{
	size_t n = json_length(v), i = 0;

	if (json_kind(v) != JSON_IS_OBJECT || n > WORDS_MAX)
		return wrong(r, "must be an object: {\"NAME\": \"value\"}");
	*to = calloc(n + 1, sizeof(**to));
	if (!*to)
		return tare_fail_nomem(r->err);
	for (void *at = json_first(v); at; at = json_next(v, at)) {
		const char *name = json_key(at);
		const struct json_t *value = json_at(at);

		if (!is_variable(name) || !is_string(value))
			return wrong(r, "%.60s must be a variable name with a string value",
				     printable(name) ? name : "a variable");
		if (asprintf(&(*to)[i], "%s=%s", name, json_text(value)) < 0) {
			(*to)[i] = NULL;
			return tare_fail_nomem(r->err);
		}
		i++;
	}
	return 0;
}

static int take_number(struct reader *r, const struct json_t *v, uint64_t least, uint64_t most,
		       uint64_t *to)
{
	if (json_kind(v) != JSON_IS_NUMBER || !json_whole(v, to) || *to < least || *to > most)
		return wrong(r, "must be a whole number from %llu to %llu",
			     (unsigned long long)least, (unsigned long long)most);
	return 0;
}

/* "1 %", or a number of events */
static int take_one_limit(struct reader *r, const struct json_t *v, const char *event,
			  struct gate_benchmark *b)
{
	struct gate_limit *l = &b->limit[b->limits];
	const char *s = is_string(v) ? json_text(v) : NULL;
	char *end;

	if (b->limits == GATE_LIMITS_MAX / 2)
		return wrong(r, "more than %d limits", GATE_LIMITS_MAX / 2);
	for (int t = 0; event && !s && t < COMPARE_TIMES; t++)
		if (!strcmp(event, compare_time_names[t]))
			return wrong(r, "must be a percentage like \"1 %%\": it is of a time");
	*l = (struct gate_limit){ .relative = s };
	if (s) {
		l->percent = *s >= '0' && *s <= '9' ? strtod(s, &end) : -1;
		if (l->percent < 0 || !isfinite(l->percent) || l->percent > 1000000 ||
		    strcmp(end + strspn(end, " "), "%") != 0)
			return wrong(r,
				     "must be a percentage like \"1 %%\", or a number of events");
	} else if (take_number(r, v, 0, INT64_MAX, &l->amount) < 0) {
		return wrong(r, "must be a percentage like \"1 %%\", or a number of events");
	}
	if (event && !(l->event = strdup(event)))
		return tare_fail_nomem(r->err);
	b->limits++;
	return 0;
}

static int take_limits(struct reader *r, const struct json_t *v, struct gate_benchmark *b)
{
	char here[sizeof(r->path)];
	int ret = 0;

	if (json_kind(v) != JSON_IS_OBJECT)
		return take_one_limit(r, v, NULL, b);
	snprintf(here, sizeof(here), "%s", r->path);
	for (void *at = json_first(v); ret == 0 && at; at = json_next(v, at)) {
		const char *event = json_key(at);

		enter(r, here, event);
		ret = take_one_limit(r, json_at(at), event, b);
	}
	return ret;
}

/* ---- benchmarks ---- */

static const char *const keys[] = { "command",     "setup", "directory", "events",  "limit", "isa",
				    "environment", "runs",  "timeout",   "regions", "bench" };
static const char *const outer_keys[] = { "benchmarks", "build", "limit", "$schema" };

static int unknown(struct reader *r, const char *const *names, size_t n, const char *key)
{
	struct text near = { 0 };

	if (printable(key))
		text_nearest(&near, key, names, n, 1);
	wrong(r, "there is no such key%s%s", near.len ? "; did you mean " : "",
	      near.len ? near.s : "");
	text_free(&near);
	return -EINVAL;
}

static int take_key(struct reader *r, struct gate_benchmark *b, const char *key,
		    const struct json_t *v)
{
	uint64_t number = 0;
	int ret;

	if (!strcmp(key, "command") || !strcmp(key, "bench")) {
		if (b->argv)
			return wrong(r,
				     "a benchmark has either \"command\" or \"bench\", not both");
		b->bench = *key == 'b';
		return b->bench ? take_bench(r, v, &b->argv) : take_argv(r, v, &b->argv);
	}
	if (!strcmp(key, "regions"))
		return take_regions(r, v, b);
	if (!strcmp(key, "setup"))
		return take_string(r, v, &b->setup);
	if (!strcmp(key, "directory"))
		return take_string(r, v, &b->directory);
	if (!strcmp(key, "events")) {
		ret = take_events(r, v, &b->events);
		return ret == 0 ? split_times(r, b) : ret;
	}
	if (!strcmp(key, "limit"))
		return take_limits(r, v, b);
	if (!strcmp(key, "isa")) {
		ret = take_string(r, v, &b->isa);
		return ret == 0 && strchr(b->isa, ',') ? wrong(r, "must be one CPU model") : ret;
	}
	if (!strcmp(key, "environment"))
		return take_environment(r, v, &b->environment);
	if (!strcmp(key, "runs")) {
		ret = take_number(r, v, 2, RUNS_MAX, &number);
		b->runs = (unsigned)number;
		return ret;
	}
	if (!strcmp(key, "timeout")) { /* in seconds */
		ret = take_number(r, v, 1, 1000000, &number);
		b->timeout_ns = number * 1000000000;
		return ret;
	}
	return unknown(r, keys, ARRAY_SIZE(keys), key);
}

static int take_benchmark(struct reader *r, const char *name, const struct json_t *v)
{
	struct gate_benchmark *b = &r->out->benchmark[r->out->n];
	char here[sizeof(r->path)];
	int ret = 0;

	enter(r, "benchmarks", name);
	if (!*name || strlen(name) >= GATE_NAME_BYTES || !printable(name))
		return wrong(r, "a name has 1 to %d printable characters", GATE_NAME_BYTES - 1);
	*b = (struct gate_benchmark){ .name = strdup(name), .runs = 2 };
	if (!b->name)
		return tare_fail_nomem(r->err);
	r->out->n++;
	if (json_kind(v) != JSON_IS_OBJECT)
		return wrong(r, "must be an object");
	snprintf(here, sizeof(here), "%s", r->path);
	for (void *at = json_first(v); ret == 0 && at; at = json_next(v, at)) {
		const char *key = json_key(at);

		enter(r, here, key);
		ret = take_key(r, b, key, json_at(at));
	}
	snprintf(r->path, sizeof(r->path), "%s", here);
	if (ret == 0 && !b->argv)
		ret = wrong(r, "there is no command");
	if (ret == 0 && b->bench && (b->regions || b->all_regions))
		ret = wrong(r, "\"regions\" is for a command, not for \"bench\"");
	if (ret == 0 && b->bench && gate_has_times(b))
		ret = wrong(r, "times are compared of a command, not of \"bench\"");
	if (ret == 0 && b->only_times && (b->regions || b->all_regions))
		ret = wrong(r, "\"regions\" counts instructions: add them to \"events\"");
	return ret;
}

/* The usual limits, after the benchmark's own. */
static int add_usual(struct reader *r, const struct json_t *v)
{
	int ret = 0;

	for (size_t i = 0; v && ret == 0 && i < r->out->n; i++) {
		struct gate_benchmark *b = &r->out->benchmark[i], usual = { 0 };

		enter(r, "", "limit");
		ret = take_limits(r, v, &usual);
		for (size_t k = 0; k < usual.limits; k++)
			usual.limit[k].usual = true;
		memcpy(b->limit + b->limits, usual.limit, usual.limits * sizeof(*b->limit));
		b->limits += usual.limits;
	}
	return ret;
}

static int take_all(struct reader *r, const struct json_t *root)
{
	const struct json_t *list = json_member(root, "benchmarks"), *v;
	size_t n = json_length(list);
	int ret = 0;

	for (void *at = json_first(root); ret == 0 && at; at = json_next(root, at)) {
		const char *key = json_key(at);
		bool known = false;

		for (size_t i = 0; i < ARRAY_SIZE(outer_keys); i++)
			known |= !strcmp(key, outer_keys[i]);
		enter(r, "", key);
		if (!known)
			ret = unknown(r, outer_keys, ARRAY_SIZE(outer_keys), key);
	}
	if (ret < 0)
		return ret;
	enter(r, "", "benchmarks");
	if (!n || n > GATE_BENCHMARKS_MAX)
		return wrong(r, "must be an object with 1 to %d benchmarks", GATE_BENCHMARKS_MAX);
	r->out->benchmark = calloc(n, sizeof(*r->out->benchmark));
	if (!r->out->benchmark)
		return tare_fail_nomem(r->err);
	for (void *at = json_first(list); ret == 0 && at; at = json_next(list, at))
		ret = take_benchmark(r, json_key(at), json_at(at));
	if (ret == 0 && (v = json_member(root, "build"))) {
		enter(r, "", "build");
		ret = take_string(r, v, &r->out->build);
	}
	return ret < 0 ? ret : add_usual(r, json_member(root, "limit"));
}

int gate_config_parse(struct gate_config *out, const char *text, size_t n, const char *name,
		      struct tare_error *err)
{
	struct reader r = { .name = name, .out = out, .err = err };
	struct json_t *root;
	int ret = json_parse(&root, text, n, name, 1, err);

	*out = (struct gate_config){ 0 };
	if (ret == -EINVAL)
		tare_hint(err, "correct it: python3 -m json.tool FILE shows the place, too");
	if (ret < 0)
		return ret;
	ret = json_kind(root) == JSON_IS_OBJECT ? take_all(&r, root)
						: wrong(&r, "must be an object");
	json_release(root);
	return ret;
}
