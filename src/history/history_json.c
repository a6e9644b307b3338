/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include "history/history_json.h"
#include "history/history_view.h"

void history_json_number(struct json *j, const char *key, const struct history_number *n)
{
	if (n->whole)
		json_uint(j, key, n->count);
	else
		json_real(j, key, n->real);
}

static void json_time(struct json *j, const char *key, int64_t time)
{
	struct text t = { 0 };

	history_put_time(&t, time);
	json_string(j, key, t.s ? t.s : "");
	text_free(&t);
}

static const char *or_null(const char *s)
{
	return *s ? s : NULL;
}

void history_json_series(struct json *j, const struct history_series *s)
{
	json_string(j, "benchmark", s->benchmark);
	json_string(j, "event", s->event);
	json_string(j, "unit", s->unit);
	json_string(j, "region", or_null(s->region));
}

void history_json_commit(struct json *j, const struct history_commit *c)
{
	json_string(j, "commit", c->name);
	json_string(j, "parent", or_null(c->parent));
	json_time(j, "date", c->time);
	json_string(j, "subject", c->subject);
	json_bool(j, "dirty", c->dirty);
}

void history_list_json(struct text *out, const struct history_list *l)
{
	struct json j = { 0 };

	json_object(&j, NULL);
	json_string(&j, "schema", "tare/history-list/1");
	json_array(&j, "series");
	for (size_t i = 0; i < l->n; i++) {
		json_object(&j, NULL);
		history_json_series(&j, &l->row[i].series);
		json_uint(&j, "values", l->row[i].values);
		json_object(&j, "added_last");
		history_json_commit(&j, &l->row[i].commit);
		history_json_number(&j, "value", &l->row[i].value);
		json_end(&j);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	json_into(out, &j);
}

void history_json_finding(struct json *j, const struct history_finding *f,
			  const struct history_rows *rows, size_t most)
{
	size_t shown = history_rows_shown(rows, most);
	struct history_row others = history_other_rows(rows, shown);

	json_string(j, "verdict", f->verdict);
	json_string(j, "why", f->why && *f->why ? f->why : NULL);
	if (!rows->n) {
		json_null(j, "functions");
		return;
	}
	json_object(j, "functions");
	json_array(j, "rows");
	for (size_t i = 0; i < shown; i++) {
		json_object(j, NULL);
		json_string(j, "function", rows->row[i].name);
		json_string(j, "module", rows->row[i].module);
		if (rows->both)
			json_uint(j, "before", rows->row[i].before);
		else
			json_null(j, "before");
		json_uint(j, "after", rows->row[i].after);
		json_end(j);
	}
	json_end(j);
	json_object(j, "others");
	if (rows->both)
		json_uint(j, "before", others.before);
	else
		json_null(j, "before");
	json_uint(j, "after", others.after);
	json_end(j);
	json_end(j);
}

void history_json_group(struct json *j, const struct history_group *g)
{
	const struct history_conditions *c = &g->conditions;

	json_object(j, NULL);
	json_string(j, "tare", or_null(c->tare));
	json_string(j, "engine", c->engine);
	json_string(j, "quality", c->quality);
	json_string(j, "isa", or_null(c->isa));
	json_string(j, "fixed", c->fixed);
	json_string(j, "command", or_null(c->command));
	json_string(j, "machine", or_null(c->machine));
	json_bool(j, "exact", g->exact);
	json_end(j);
}

void history_json_change(struct json *j, const struct history_values *v,
			 const struct history_point *p)
{
	bool negative;
	struct history_number n = history_change(&p->from, &p->to, &negative);
	char digits[24];

	json_object(j, "change");
	json_string(j, "from", v->point[p->before].commit.name);
	history_json_number(j, "before", &p->from);
	history_json_number(j, "after", &p->to);
	if (!n.whole) {
		json_real(j, "change", n.real);
	} else if (n.count <= INT64_MAX) {
		json_int(j, "change", negative ? -(int64_t)n.count : (int64_t)n.count);
	} else {
		snprintf(digits, sizeof(digits), "%s%" PRIu64, negative ? "-" : "", n.count);
		json_string(j, "change", digits);
	}
	json_real(j, "percent", history_percent(p));
	if (v->group[p->group].exact)
		json_null(j, "p");
	else
		json_real(j, "p", p->p);
	json_end(j);
}

static void json_point(struct json *j, const struct history_values *v,
		       const struct history_point *p)
{
	json_object(j, NULL);
	history_json_commit(j, &p->commit);
	history_json_number(j, "value", &p->value);
	history_json_number(j, "min", &p->least);
	history_json_number(j, "max", &p->most);
	json_uint(j, "runs", p->runs);
	json_uint(j, "conditions", p->group);
	json_bool(j, "other_conditions", p->unlike);
	if (p->change)
		history_json_change(j, v, p);
	else
		json_null(j, "change");
	json_end(j);
}

void history_json(struct text *out, const struct history_values *v, size_t n)
{
	struct json j = { 0 };

	json_object(&j, NULL);
	json_string(&j, "schema", "tare/history/1");
	json_array(&j, "series");
	for (size_t i = 0; i < n; i++) {
		json_object(&j, NULL);
		history_json_series(&j, &v[i].series);
		json_array(&j, "conditions");
		for (size_t k = 0; k < v[i].groups; k++)
			history_json_group(&j, &v[i].group[k]);
		json_end(&j);
		json_array(&j, "values");
		for (size_t k = 0; k < v[i].n; k++)
			json_point(&j, &v[i], &v[i].point[k]);
		json_end(&j);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	json_into(out, &j);
}

void history_detail_json(struct text *out, const struct history_measured *d, size_t n)
{
	struct json j = { 0 };

	json_object(&j, NULL);
	json_string(&j, "schema", "tare/history-commit/1");
	json_array(&j, "values");
	for (size_t i = 0; i < n; i++) {
		const struct history_point *p = d[i].p;

		json_object(&j, NULL);
		history_json_series(&j, &d[i].v->series);
		history_json_commit(&j, &p->commit);
		history_json_number(&j, "value", &p->value);
		if (p->change)
			history_json_change(&j, d[i].v, p);
		else
			json_null(&j, "change");
		if (d[i].first && (d[i].finding.verdict || d[i].rows.n)) {
			json_object(&j, "finding");
			history_json_finding(&j, &d[i].finding, &d[i].rows, SIZE_MAX);
			json_end(&j);
		} else {
			json_null(&j, "finding");
		}
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	json_into(out, &j);
}
