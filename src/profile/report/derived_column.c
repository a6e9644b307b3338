/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "profile/report/derived_column.h"
#include "base/text.h"

#define MODIFIERS "ukhpPGHSDIW"

/* "loads:u" and "pmu/loads/u" without the u. */
static size_t without_modifiers(const char *name)
{
	const char *slash = strrchr(name, '/'), *end = strrchr(slash ? slash : name, ':');

	end = end ? end : slash;
	if (!end || end[1 + strspn(end + 1, MODIFIERS)])
		return strlen(name);
	return (size_t)(end - name) + (end == slash);
}

/* `name` is the column's name without modifiers, or the only word between its slashes. */
static bool is_short_for(const char *name, const char *column)
{
	size_t len = without_modifiers(column), n = strlen(name);
	const char *slash = strchr(column, '/');

	if (len == n && !strncmp(column, name, n))
		return true;
	return slash && len == (size_t)(slash + 1 - column) + n + 1 && column[len - 1] == '/' &&
		!strncmp(slash + 1, name, n) && !strpbrk(name, "/=,");
}

uint32_t derived_column(const struct call_tree *s, const char *name, struct tare_error *err)
{
	uint32_t found = SET_NONE;
	struct text all = { 0 };
	unsigned n = 0;

	for (uint32_t c = 0; c < s->columns; c++)
		if (!strcmp(call_tree_name(s, s->column[c].name), name))
			return c;
	for (uint32_t c = 0; c < s->columns; c++) {
		const char *column = call_tree_name(s, s->column[c].name);

		if (is_short_for(name, column)) {
			found = c;
			n++;
		}
		text_add(&all, "%s%s", c ? ", " : "", column);
	}
	if (n == 1) {
		text_free(&all);
		return found;
	}
	tare_fail(err, ENOENT,
		  n ? "more than one event is a '%.80s'" : "the recording has no event '%.80s'",
		  name);
	tare_hint(err, "it has %.250s", all.s ? all.s : "none");
	text_free(&all);
	return SET_NONE;
}

static bool in_name(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_.:@#\\", c));
}

/*
 * The length of the longest event name with slashes at `p`, with or without its modifiers; 0: none.
 */
static size_t slashed_at(const char *p, const struct call_tree *s)
{
	size_t best = 0;

	for (uint32_t c = 0; c < s->columns; c++) {
		const char *name = call_tree_name(s, s->column[c].name);
		size_t whole = strlen(name), most = strchr(name, '/') ? without_modifiers(name) : 0;

		if (most && !strncmp(p, name, whole) && !in_name(p[whole]))
			most = whole;
		if (most > best && !strncmp(p, name, most) && (!in_name(p[most]) || most == whole))
			best = most;
	}
	return best;
}

/*
 * The formula for formula_parse(): slashes within event names are replaced by @, as they are no
 * divisions.
 */
static char *with_names_closed(const char *text, const struct call_tree *s)
{
	struct text out = { 0 };

	for (const char *p = text; *p;) {
		size_t n = p == text || !in_name(p[-1]) ? slashed_at(p, s) : 0;

		if (!n) {
			text_put(&out, p++, 1);
			continue;
		}
		for (; n; n--, p++)
			text_put(&out, *p == '/' ? "@" : p, 1);
	}
	text_put(&out, "", 0);
	return text_take(&out);
}

int derived_parse(struct derived_column *out, const char *text, const struct call_tree *s,
		  struct tare_error *err)
{
	char *closed;
	int ret;
	size_t n;

	*out = (struct derived_column){ 0 };
	closed = with_names_closed(text, s);
	ret = closed ? formula_parse(closed, &out->formula, err) : tare_fail_nomem(err);
	free(closed);
	if (ret < 0)
		return ret;
	n = formula_names(out->formula);
	out->text = strdup(text);
	out->column = calloc(n + 1, sizeof(*out->column));
	out->value = calloc(n + 1, sizeof(*out->value));
	if (!out->text || !out->column || !out->value)
		ret = tare_fail_nomem(err);
	for (size_t i = 0; ret == 0 && i < n; i++) {
		out->column[i] = derived_column(s, formula_name(out->formula, i), err);
		if (out->column[i] == SET_NONE)
			ret = -ENOENT;
	}
	if (ret < 0)
		derived_free(out);
	return ret;
}

bool derived_of(struct derived_column *r, const uint64_t *values, double *out)
{
	for (size_t i = 0; i < formula_names(r->formula); i++)
		r->value[i] = (double)values[r->column[i]];
	return formula_eval(r->formula, r->value, out) == 0;
}

void derived_free(struct derived_column *r)
{
	formula_free(r->formula);
	free(r->text);
	free(r->column);
	free(r->value);
	*r = (struct derived_column){ 0 };
}
