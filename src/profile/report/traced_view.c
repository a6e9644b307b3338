/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "output/escape.h"
#include "profile/report/traced_view.h"

/* Can JSON readers represent it exactly? Up to 2^53. */
static bool json_whole(const char *number)
{
	return strtoull(*number == '-' ? number + 1 : number, NULL, 10) <= UINT64_C(1) << 53;
}

void traced_text(struct text *out, const struct call_tree *s, uint32_t trace)
{
	const struct call_tree_trace *value[CALL_TREE_TRACE_MOST];
	size_t n = call_tree_trace_values(s, trace, value);

	for (size_t i = 0; i < n; i++) {
		const char *name = call_tree_name(s, value[i]->name),
			   *is = call_tree_name(s, value[i]->value);
		bool quoted = value[i]->kind == CALL_TREE_TRACE_TEXT;

		text_add(out, i ? " " : "");
		escape(out, name, strlen(name));
		text_add(out, quoted ? "=\"" : "=");
		escape(out, is, strlen(is));
		text_add(out, quoted ? "\"" : "");
	}
}

void traced_line(struct text *out, const struct call_tree *s, uint32_t trace)
{
	const struct call_tree_trace *value[CALL_TREE_TRACE_MOST];
	size_t n = call_tree_trace_values(s, trace, value);

	text_add(out, "{");
	for (size_t i = 0; i < n; i++) {
		const char *is = call_tree_name(s, value[i]->value);

		text_add(out, i ? "," : "");
		json_quote(out, call_tree_name(s, value[i]->name));
		text_add(out, value[i]->kind == CALL_TREE_TRACE_ABSENT ? ":{\"missing\":" : ":");
		if (value[i]->kind == CALL_TREE_TRACE_NUMBER && json_whole(is))
			text_add(out, "%s", is);
		else
			json_quote(out, is);
		text_add(out, value[i]->kind == CALL_TREE_TRACE_ABSENT ? "}" : "");
	}
	text_add(out, "}");
}

static void put_value(struct json *j, const struct call_tree *s, const struct call_tree_trace *v)
{
	const char *key = call_tree_name(s, v->name), *is = call_tree_name(s, v->value);

	if (v->kind == CALL_TREE_TRACE_ABSENT) {
		json_object(j, key);
		json_string(j, "missing", is);
		json_end(j);
	} else if (v->kind != CALL_TREE_TRACE_NUMBER) {
		json_string(j, key, is);
	} else if (*is == '-') {
		json_int(j, key, strtoll(is, NULL, 10));
	} else {
		json_uint(j, key, strtoull(is, NULL, 10));
	}
}

const struct call_tree_trace *traced_value(const struct call_tree *s, uint32_t trace, uint32_t name)
{
	const struct call_tree_trace *all = s->trace_set.item;

	for (uint32_t at = trace; at; at = all[at].parent)
		if (all[at].name == name)
			return &all[at];
	return NULL;
}

void traced_json(struct json *j, const char *key, const struct call_tree *s, uint32_t trace,
		 const uint32_t *column, size_t n)
{
	const struct call_tree_trace *value[CALL_TREE_TRACE_MOST];

	json_object(j, key);
	if (!column) {
		n = call_tree_trace_values(s, trace, value);
		for (size_t i = 0; i < n; i++)
			put_value(j, s, value[i]);
	}
	for (size_t i = 0; column && i < n; i++) {
		const struct call_tree_trace *v = traced_value(s, trace, column[i]);

		if (v)
			put_value(j, s, v);
		else
			json_null(j, call_tree_name(s, column[i]));
	}
	json_end(j);
}
