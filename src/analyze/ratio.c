/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "analyze/ratio.h"
#include "base/text.h"

static size_t without_modifiers(const char *name)
{
	const char *colon = strrchr(name, ':');

	if (!colon || colon[1 + strspn(colon + 1, "ukhpPGHSDIW")])
		return strlen(name);
	return (size_t)(colon - name);
}

uint32_t ratio_column(const struct stacks *s, const char *name, struct tare_error *err)
{
	uint32_t found = SET_NONE;
	struct text all = { 0 };
	unsigned n = 0;

	for (uint32_t c = 0; c < s->columns; c++)
		if (!strcmp(stacks_name(s, s->column[c].name), name))
			return c;
	for (uint32_t c = 0; c < s->columns; c++) {
		const char *column = stacks_name(s, s->column[c].name);

		if (without_modifiers(column) == strlen(name) &&
		    !strncmp(column, name, strlen(name))) {
			found = c;
			n++;
		}
		text_add(&all, "%s%s", c ? ", " : "", column);
	}
	if (n == 1) {
		text_free(&all);
		return found;
	}
	tare_fail(err, ENOENT, n ? "more than one event is a '%.80s'" : "the recording has no event '%.80s'",
		  name);
	tare_hint(err, "it has %.250s", all.s ? all.s : "none");
	text_free(&all);
	return SET_NONE;
}

int ratio_parse(struct ratio *out, const char *text, const struct stacks *s,
		struct tare_error *err)
{
	int ret;
	size_t n;

	*out = (struct ratio){ 0 };
	ret = formula_parse(text, &out->formula, err);
	if (ret < 0)
		return ret;
	n = formula_names(out->formula);
	out->text = strdup(text);
	out->column = calloc(n + 1, sizeof(*out->column));
	out->value = calloc(n + 1, sizeof(*out->value));
	if (!out->text || !out->column || !out->value)
		ret = tare_fail_nomem(err);
	for (size_t i = 0; ret == 0 && i < n; i++) {
		out->column[i] = ratio_column(s, formula_name(out->formula, i), err);
		if (out->column[i] == SET_NONE)
			ret = -ENOENT;
	}
	if (ret < 0)
		ratio_free(out);
	return ret;
}

bool ratio_of(struct ratio *r, const uint64_t *values, double *out)
{
	for (size_t i = 0; i < formula_names(r->formula); i++)
		r->value[i] = (double)values[r->column[i]];
	return formula_eval(r->formula, r->value, out) == 0;
}

void ratio_free(struct ratio *r)
{
	formula_free(r->formula);
	free(r->text);
	free(r->column);
	free(r->value);
	*r = (struct ratio){ 0 };
}
