/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "cli/common_options.h"
#include "event/metric.h"
#include "symbols/debug_servers.h"

int event_option_set(void *to, const char *arg, struct tare_error *err)
{
	struct event_options *o = to;

	o->text = o->given ? NULL : arg;
	o->given = true;
	o->grouped |= strpbrk(arg, "{}") != NULL;
	return event_list_parse(arg, &o->list, err);
}

void event_options_join(const struct event_options *o, struct text *out)
{
	for (size_t i = 0; i < o->list.n; i++)
		text_add(out, "%s%s", i ? "," : "", o->list.event[i].text);
}

void event_options_free(struct event_options *o)
{
	event_list_free(&o->list);
}

static int take_metric(struct metric_options *o, const struct metric_row *row,
		       struct tare_error *err)
{
	for (size_t i = 0; i < o->n_asked; i++)
		if (o->asked[i] == row)
			return 0;
	if (o->n_asked == METRICS_MAX)
		return tare_fail(err, E2BIG, "more than %d metrics", METRICS_MAX);
	o->asked[o->n_asked++] = row;
	return 0;
}

static int no_metric(const char *word, struct tare_error *err)
{
	const char *names[64];
	struct text near = { 0 };
	size_t n = 0;

	for (const struct metric_row *r = metric_rows; r->name && n < ARRAY_SIZE(names); r++)
		if (!n || strcmp(names[n - 1], r->name))
			names[n++] = r->name;
	tare_fail(err, ENOENT, "there is no metric '%.64s'", word);
	text_nearest(&near, word, names, n, 2);
	if (near.len) {
		tare_hint(err, "did you mean %s? --metric 'name=formula' makes your own", near.s);
	} else {
		for (size_t i = 0; i < n; i++)
			text_add(&near, "%s%s", i ? ", " : "", names[i]);
		tare_hint(err, "there are %.200s; --metric 'name=formula' makes your own", near.s);
	}
	text_free(&near);
	return -ENOENT;
}

/* -M: by name. */
int metrics_option_set(void *to, const char *arg, struct tare_error *err)
{
	struct metric_options *o = to;

	for (const char *p = arg;;) {
		size_t n = strcspn(p, ",");
		char word[64] = "";
		const struct metric_row *row;

		if (n < sizeof(word))
			memcpy(word, p, n);
		row = metric_find(word);
		if (!row)
			return no_metric(word, err);

		int ret = take_metric(o, row, err);

		if (ret < 0 || !p[n])
			return ret;
		p += n + 1;
	}
}

/* --metric 'name=formula', or a name. */
int metric_option_set(void *to, const char *arg, struct tare_error *err)
{
	struct metric_options *o = to;
	size_t n = strcspn(arg, "=");
	struct metric_row row = { .unit = "", .about = "your own", .digits = 3 };
	const char *formula = arg + n + 1; /* after the '=' */
	struct formula *f;

	if (!arg[n])
		return metrics_option_set(to, arg, err);
	if (!n || o->n_own == METRICS_MAX)
		return tare_fail(err, EINVAL, n ? "more than %d metrics" : "the metric has no name",
				 METRICS_MAX);

	int ret = formula_parse(formula, &f, err);

	if (ret < 0) {
		if (err->at >= 0)
			err->at += (int)(formula - arg);
		return ret;
	}
	if (!formula_names(f))
		ret = tare_fail(err, EINVAL, "the formula has no event");
	formula_free(f);
	while (n && arg[n - 1] == ' ')
		n--;
	row.name = strndup(arg, n);
	row.formula = strdup(formula);
	if (ret == 0 && (!row.name || !row.formula))
		ret = tare_fail_nomem(err);
	if (ret < 0) {
		free((char *)row.name);
		free((char *)row.formula);
		return ret;
	}
	row.unit = row.name;
	o->own[o->n_own] = row;
	return take_metric(o, &o->own[o->n_own++], err);
}

void metric_options_free(struct metric_options *o)
{
	for (size_t i = 0; i < o->n_own; i++) {
		free((char *)o->own[i].name);
		free((char *)o->own[i].formula);
	}
}

/* --deterministic[=ITEMS] */
int deterministic_option_set(void *to, const char *arg, struct tare_error *err)
{
	return determinism_parse(arg, to, err);
}

int debuginfod_option_set(void *to, const char *arg, struct tare_error *err)
{
	(void)to, (void)arg;
	return debug_servers_use(err);
}
