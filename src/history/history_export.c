/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include "history/history_export.h"
#include "history/history_json.h"

/* A row: a value with its series. */
struct row {
	const struct history_series *series;
	const struct history_conditions *conditions;
	const struct history_point *point;
	char measurement[2 * HISTORY_DIGEST_BYTES + 1];
	struct text date;
};

enum kind { WORDS, COUNT, NUMBER, FLAG };

#define ROW_WORDS(name, expression)                                                                \
	static const char *get_##name(const struct row *r)                                         \
	{                                                                                          \
		return expression;                                                                 \
	}

ROW_WORDS(benchmark, r->series->benchmark)
ROW_WORDS(event, r->series->event)
ROW_WORDS(unit, r->series->unit)
ROW_WORDS(region, r->series->region)
ROW_WORDS(commit, r->point->commit.name)
ROW_WORDS(parent, r->point->commit.parent)
ROW_WORDS(date, r->date.s ? r->date.s : "")
ROW_WORDS(subject, r->point->commit.subject)
ROW_WORDS(tare, r->conditions->tare)
ROW_WORDS(engine, r->conditions->engine)
ROW_WORDS(quality, r->conditions->quality)
ROW_WORDS(isa, r->conditions->isa)
ROW_WORDS(fixed, r->conditions->fixed)
ROW_WORDS(command, r->conditions->command)
ROW_WORDS(machine, r->conditions->machine)
ROW_WORDS(measurement, r->measurement)

#define POINT_AT(member) offsetof(struct history_point, member)

/* In CSV and JSON, a number has all digits. In Parquet it is a double. */
static const struct column {
	const char *name;
	enum kind kind;
	const char *(*words)(const struct row *r);
	size_t at; /* in a struct history_point */
} columns[] = {
	{ "benchmark", WORDS, get_benchmark, 0 },
	{ "event", WORDS, get_event, 0 },
	{ "unit", WORDS, get_unit, 0 },
	{ "region", WORDS, get_region, 0 },
	{ "commit", WORDS, get_commit, 0 },
	{ "parent", WORDS, get_parent, 0 },
	{ "date", WORDS, get_date, 0 },
	{ "depth", COUNT, NULL, POINT_AT(commit.depth) },
	{ "subject", WORDS, get_subject, 0 },
	{ "dirty", FLAG, NULL, POINT_AT(commit.dirty) },
	{ "value", NUMBER, NULL, POINT_AT(value) },
	{ "min", NUMBER, NULL, POINT_AT(least) },
	{ "max", NUMBER, NULL, POINT_AT(most) },
	{ "runs", COUNT, NULL, POINT_AT(runs) },
	{ "tare", WORDS, get_tare, 0 },
	{ "engine", WORDS, get_engine, 0 },
	{ "quality", WORDS, get_quality, 0 },
	{ "isa", WORDS, get_isa, 0 },
	{ "fixed", WORDS, get_fixed, 0 },
	{ "command", WORDS, get_command, 0 },
	{ "machine", WORDS, get_machine, 0 },
	{ "measurement", WORDS, get_measurement, 0 },
};

enum { COLUMNS = ARRAY_SIZE(columns), WHOLE_COLUMNS = 3 };

/* After the others in Parquet: all digits of value, min and max, if they are whole numbers. */
static const struct {
	const char *name;
	size_t at;
} whole[WHOLE_COLUMNS] = { { "value_whole", POINT_AT(value) },
			   { "min_whole", POINT_AT(least) },
			   { "max_whole", POINT_AT(most) } };

static const void *at(const struct row *r, size_t offset)
{
	return (const char *)r->point + offset;
}

/* ---- CSV ---- */

static void put_csv(struct out *to, const struct row *r)
{
	struct text line = { 0 }, number = { 0 };

	for (size_t i = 0; i < COLUMNS; i++) {
		const struct column *c = &columns[i];
		char after = i + 1 == COLUMNS ? '\n' : ',';

		if (c->kind == WORDS)
			csv_field(&line, c->words(r), after);
		else if (c->kind == COUNT)
			text_add(&line, "%llu%c",
				 (unsigned long long)*(const uint64_t *)at(r, c->at), after);
		else if (c->kind == FLAG)
			text_add(&line, "%d%c", *(const bool *)at(r, c->at), after);
		else {
			history_put_number(&number, at(r, c->at));
			text_add(&line, "%s%c", number.s ? number.s : "", after);
			text_free(&number);
		}
	}
	if (line.failed && to->error == 0)
		to->error = -ENOMEM;
	out_put(to, line.s, line.len);
	text_free(&line);
}

/* ---- JSON ---- */

static void put_json(struct json *j, const struct row *r)
{
	json_object(j, NULL);
	for (size_t i = 0; i < COLUMNS; i++) {
		const struct column *c = &columns[i];

		if (c->kind == WORDS)
			json_string(j, c->name, c->words(r));
		else if (c->kind == COUNT)
			json_uint(j, c->name, *(const uint64_t *)at(r, c->at));
		else if (c->kind == FLAG)
			json_bool(j, c->name, *(const bool *)at(r, c->at));
		else
			history_json_number(j, c->name, at(r, c->at));
	}
	json_end(j);
}

/* ---- Parquet ---- */

static struct parquet *open_parquet(struct out *to, struct tare_error *err)
{
	static const enum parquet_type types[] = {
		[WORDS] = PARQUET_STRING,
		[COUNT] = PARQUET_U64,
		[NUMBER] = PARQUET_DOUBLE,
		[FLAG] = PARQUET_BOOL,
	};
	static struct parquet_column all[COLUMNS + WHOLE_COLUMNS];

	for (size_t i = 0; i < COLUMNS; i++)
		all[i] = (struct parquet_column){ columns[i].name, types[columns[i].kind], false };
	for (size_t i = 0; i < WHOLE_COLUMNS; i++)
		all[COLUMNS + i] = (struct parquet_column){ whole[i].name, PARQUET_U64, true };
	return parquet_open(to, all, ARRAY_SIZE(all), err);
}

static int put_parquet(struct parquet *p, const struct row *r, struct tare_error *err)
{
	for (size_t i = 0; i < COLUMNS; i++) {
		const struct column *c = &columns[i];

		if (c->kind == WORDS)
			parquet_string(p, i, c->words(r));
		else if (c->kind == COUNT)
			parquet_number(p, i, *(const uint64_t *)at(r, c->at));
		else if (c->kind == FLAG)
			parquet_number(p, i, *(const bool *)at(r, c->at));
		else
			parquet_double(p, i, history_real(at(r, c->at)));
	}
	for (size_t i = 0; i < WHOLE_COLUMNS; i++) {
		const struct history_number *n = at(r, whole[i].at);

		if (n->whole)
			parquet_number(p, COLUMNS + i, n->count);
	}
	return parquet_end_row(p, err);
}

/* ---- all ---- */

int history_export_begin(struct history_export *x, enum history_export_format format,
			 struct out *to, struct tare_error *err)
{
	*x = (struct history_export){ .format = format, .to = to, .j = { .to = to } };
	if (format == HISTORY_PARQUET) {
		x->parquet = open_parquet(to, err);
		if (!x->parquet)
			return -ENOMEM;
		return parquet_note(x->parquet, "schema", "tare/history-export/1", err);
	}
	if (format == HISTORY_JSON) {
		json_object(&x->j, NULL);
		json_string(&x->j, "schema", "tare/history-export/1");
		json_array(&x->j, "values");
		return 0;
	}
	for (size_t i = 0; i < COLUMNS; i++)
		out_add(to, "%s%c", columns[i].name, i + 1 == COLUMNS ? '\n' : ',');
	return 0;
}

int history_export_series(struct history_export *x, const struct history_values *v,
			  struct tare_error *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && x->to->error == 0 && i < v->n; i++) {
		const struct history_point *p = &v->point[i];
		struct row r = { .series = &v->series,
				 .conditions = &v->group[p->group].conditions,
				 .point = p };

		for (size_t k = 0; k < HISTORY_DIGEST_BYTES; k++)
			snprintf(r.measurement + 2 * k, 3, "%02x", p->digest.byte[k]);
		history_put_time(&r.date, p->commit.time);
		if (x->format == HISTORY_CSV)
			put_csv(x->to, &r);
		else if (x->format == HISTORY_JSON)
			put_json(&x->j, &r);
		else
			ret = put_parquet(x->parquet, &r, err);
		text_free(&r.date);
	}
	if (ret == 0 && x->j.out.failed)
		ret = tare_fail_nomem(err);
	return ret;
}

int history_export_end(struct history_export *x, bool complete, struct tare_error *err)
{
	int ret = 0;

	if (x->format == HISTORY_JSON) {
		json_end(&x->j);
		json_end(&x->j);
		if (x->j.out.failed)
			ret = tare_fail_nomem(err);
		json_finish(&x->j);
	} else if (complete && x->parquet) {
		ret = parquet_close(x->parquet, err);
	} else {
		parquet_free(x->parquet);
	}
	return ret;
}
