/* SPDX-License-Identifier: MIT */
/* Stored results, by jansson. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include "base/library.h"
#include "base/num.h"
#include "gate/gate.h"

/* clang-format off */
#define FUNCTIONS(F) \
	F(json_array_get) F(json_array_size) F(json_delete) F(json_integer_value) F(json_loadb) \
	F(json_object_get) F(json_object_iter) F(json_object_iter_key) F(json_object_iter_next) \
	F(json_object_iter_value) F(json_string_value)
/* clang-format on */
LIBRARY(jansson, "libjansson.so.4", FUNCTIONS)

static bool copy(char *to, size_t room, const json_t *object, const char *key)
{
	const json_t *v = jansson.json_object_get(object, key);
	const char *s = v ? jansson.json_string_value(v) : NULL;

	if (!s || strlen(s) >= room)
		return false;
	strcpy(to, s);
	return true;
}

/* Numbers above 2^53 are strings of digits. */
static bool number_of(const json_t *v, uint64_t *out)
{
	const char *s = v ? jansson.json_string_value(v) : NULL;

	if (s)
		return num_parse(s, out, NULL) == 0;
	if (!v || json_typeof(v) != JSON_INTEGER || jansson.json_integer_value(v) < 0)
		return false;
	*out = (uint64_t)jansson.json_integer_value(v);
	return true;
}

/* NULL, or the key that is wrong. */
static const char *take_result(struct gate_record *r, const json_t *object)
{
	json_t *events = jansson.json_object_get(object, "events");

	if (!copy(r->command, sizeof(r->command), object, "command"))
		return "command";
	if (!copy(r->tare, sizeof(r->tare), object, "tare"))
		return "tare";
	if (!copy(r->fixed, sizeof(r->fixed), object, "fixed"))
		return "fixed";
	if (!copy(r->isa, sizeof(r->isa), object, "isa"))
		return "isa";
	if (!events || json_typeof(events) != JSON_OBJECT)
		return "events";
	for (void *at = jansson.json_object_iter(events); at;
	     at = jansson.json_object_iter_next(events, at)) {
		struct gate_value *v = &r->value[r->n];
		const char *name = jansson.json_object_iter_key(at);

		if (r->n == GATE_EVENTS_MAX || strlen(name) >= sizeof(v->event) ||
		    !number_of(jansson.json_object_iter_value(at), &v->count))
			return "events";
		strcpy(v->event, name);
		r->n++;
	}
	return NULL;
}

static int take(struct gate_records *out, const json_t *object, const char *name, size_t at,
		struct tare_error *err)
{
	struct gate_record r = { 0 };
	const char *key = NULL;

	if (!copy(r.benchmark, sizeof(r.benchmark), object, "benchmark") || !r.benchmark[0])
		key = "benchmark";
	else if (jansson.json_object_get(object, "accept") &&
		 (!copy(r.accept, sizeof(r.accept), object, "accept") || !r.accept[0]))
		key = "accept";
	else
		key = take_result(&r, object);
	if (key) {
		tare_fail(err, EINVAL, "%.200s: record %zu: the key \"%s\" is missing or wrong",
			  name, at, key);
		return -EINVAL;
	}
	/* a document also has benchmarks that could not be measured */
	return r.n ? gate_records_add(out, &r, err) : 0;
}

static int not_json(const char *name, int line, const char *text, struct tare_error *err)
{
	return tare_fail(err, EINVAL, "%.200s: line %d: not JSON: %.120s", name, line, text);
}

/* git's merge strategies for notes leave whole lines, and may add empty ones. */
static int take_lines(struct gate_records *out, const char *text, size_t n, const char *name,
		      struct tare_error *err)
{
	size_t at = 0;
	int ret = 0;

	for (int line = 1; ret == 0 && at < n; line++) {
		const char *end = memchr(text + at, '\n', n - at);
		size_t len = end ? (size_t)(end - text) - at : n - at;
		json_error_t where;
		json_t *object;

		if (len) {
			object = jansson.json_loadb(text + at, len, JSON_REJECT_DUPLICATES, &where);
			ret = object ? take(out, object, name, (size_t)line, err)
				     : not_json(name, line, where.text, err);
			if (object)
				jansson.json_delete(object);
		}
		at += len + 1;
	}
	return ret;
}

static int take_document(struct gate_records *out, const json_t *root, const char *name,
			 struct tare_error *err)
{
	const json_t *schema = jansson.json_object_get(root, "schema"),
		     *list = jansson.json_object_get(root, "benchmarks");
	const char *s = schema ? jansson.json_string_value(schema) : NULL;
	size_t n = list ? jansson.json_array_size(list) : 0;
	int ret = 0;

	if (!s || strcmp(s, "tare/gate/1") != 0)
		return tare_fail(err, EINVAL, "%.200s is not a document of tare gate (tare/gate/1)",
				 name);
	for (size_t i = 0; ret == 0 && i < n; i++)
		ret = take(out, jansson.json_array_get(list, i), name, i + 1, err);
	return ret;
}

int gate_records_parse(struct gate_records *out, const char *text, size_t n, const char *name,
		       struct tare_error *err)
{
	json_error_t where;
	json_t *root;
	int ret;

	if (!jansson_load())
		return library_missing(err, EOPNOTSUPP, "libjansson.so.4, which reads JSON",
				       "apt install libjansson4");
	root = jansson.json_loadb(text, n, JSON_REJECT_DUPLICATES, &where);
	if (!root || !jansson.json_object_get(root, "schema"))
		ret = take_lines(out, text, n, name, err);
	else
		ret = take_document(out, root, name, err);
	if (root)
		jansson.json_delete(root);
	return ret;
}
