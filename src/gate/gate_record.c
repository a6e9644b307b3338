/* SPDX-License-Identifier: MIT */
/* Stored results. */
#include <stdio.h>
#include <string.h>
#include "gate/gate.h"
#include "output/reader/json_value.h"

static bool copy(char *to, size_t room, const struct json_t *object, const char *key)
{
	const char *s = json_member_text(object, key);

	if (!s || strlen(s) >= room)
		return false;
	strcpy(to, s);
	return true;
}

/* NULL, or the key that is wrong. */
static const char *take_result(struct gate_record *r, const struct json_t *object)
{
	const struct json_t *events = json_member(object, "events");

	if (!copy(r->command, sizeof(r->command), object, "command"))
		return "command";
	if (!copy(r->tare, sizeof(r->tare), object, "tare"))
		return "tare";
	if (!copy(r->fixed, sizeof(r->fixed), object, "fixed"))
		return "fixed";
	if (!copy(r->isa, sizeof(r->isa), object, "isa"))
		return "isa";
	if (!copy(r->variables, sizeof(r->variables), object, "variables"))
		r->variables[0] = '\0'; /* written by a version that did not store it */
	if (json_kind(events) != JSON_IS_OBJECT)
		return "events";
	for (void *at = json_first(events); at; at = json_next(events, at)) {
		struct gate_value *v = &r->value[r->n];
		const char *name = json_key(at);

		if (r->n == GATE_EVENTS_MAX || strlen(name) >= sizeof(v->event) ||
		    !json_whole(json_at(at), &v->count))
			return "events";
		strcpy(v->event, name);
		r->n++;
	}
	return NULL;
}

static int take_record(struct gate_records *out, const struct json_t *object, const char *name,
		       size_t at, struct tare_error *err)
{
	struct gate_record r = { 0 };
	const char *key = NULL;
	int ret;

	if (!copy(r.benchmark, sizeof(r.benchmark), object, "benchmark") || !r.benchmark[0])
		key = "benchmark";
	else if (json_member(object, "accept") &&
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
	ret = r.n ? gate_records_add(out, &r, err) : 0;
	if (ret < 0)
		tare_prefix(err, "%.200s: ", name);
	return ret;
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
		struct json_t *object = NULL;

		if (len)
			ret = json_parse(&object, text + at, len, name, line, err);
		if (object)
			ret = take_record(out, object, name, (size_t)line, err);
		json_release(object);
		at += len + 1;
	}
	return ret;
}

static int take_document(struct gate_records *out, const struct json_t *root, const char *name,
			 struct tare_error *err)
{
	const struct json_t *list = json_member(root, "benchmarks");
	const char *s = json_member_text(root, "schema");
	int ret = 0;

	if (!s || strcmp(s, "tare/gate/1") != 0)
		return tare_fail(err, EINVAL, "%.200s is not a document of tare gate (tare/gate/1)",
				 name);
	for (size_t i = 0; ret == 0 && i < json_length(list); i++)
		ret = take_record(out, json_element(list, i), name, i + 1, err);
	return ret;
}

int gate_records_parse(struct gate_records *out, const char *text, size_t n, const char *name,
		       struct tare_error *err)
{
	struct json_t *root;
	int ret = json_parse(&root, text, n, name, 1, NULL);

	if (ret == 0 && json_member(root, "schema")) {
		ret = take_document(out, root, name, err);
		json_release(root);
		return ret;
	}
	json_release(root);
	return take_lines(out, text, n, name, err);
}
