/* SPDX-License-Identifier: MIT */
/* The document tare/bench/1, and its runs as rows. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include "bench/bench_view.h"
#include "output/csv.h"
#include "launch/determinism_json.h"
#include "output/json.h"
#include "output/parquet.h"

static const char *const how_names[] = { [BENCH_EXACT] = "exact engine",
					 [BENCH_REGISTER] = "register",
					 [BENCH_READ] = "system call",
					 [BENCH_CLOCK] = "clock",
					 [BENCH_MSR] = "msr",
					 [BENCH_CHAIN] = "clock and additions" };
static const char *const cold_names[] = {
	[BENCH_WARM] = "none", [BENCH_FLUSH] = "flush", [BENCH_EVICT] = "evict"
};

/* Writes whole values as integers. */
static void put_number(struct json *j, const char *key, double v)
{
	if (v == rint(v) && fabs(v) < 9e15)
		json_int(j, key, (int64_t)v);
	else
		json_real(j, key, v);
}

static void counters(struct json *j, const struct bench_result *r)
{
	json_array(j, "counters");
	for (size_t c = 0; c < r->n_counters; c++) {
		const struct bench_counter *k = &r->counter[c];
		bool can = k->quality != TARE_UNAVAILABLE;

		json_object(j, NULL);
		json_string(j, "event", k->name);
		json_string(j, "quality", bench_quality(k));
		json_string(j, "how", can ? how_names[k->how] : NULL);
		json_uint_if(j, "set", can, k->set);
		json_uint(j, "again", k->again);
		json_string(j, "reason", can ? NULL : k->why);
		json_end(j);
	}
	json_end(j);
}

static void variants(struct json *j, const struct bench_about *b)
{
	json_array(j, "variants");
	for (size_t v = 0; v < b->plan->n_variants; v++) {
		json_object(j, NULL);
		json_string(j, "name", b->plan->variant[v].name);
		json_uint_if(j, "ops", b->result->ops[v], b->result->ops[v]);
		json_uint_if(j, "bytes", b->result->bytes[v], b->result->bytes[v]);
		json_uint(j, "rounds", b->result->rounds[v] ? b->result->rounds[v] : 1);
		json_bool(j, "own_baseline", b->result->own_baseline[v]);
		json_end(j);
	}
	json_end(j);
}

static void result(struct json *j, const struct bench_about *b, size_t v, size_t c)
{
	const struct bench_stat *s = bench_stat_of(b->stats, v, c);
	const struct bench_series *series = &b->result->series[v * b->result->n_counters + c];
	const struct bench_plan *p = b->plan;
	double per_run = b->result->ops[v] ? (double)b->result->ops[v] : 1 / s->pairs_per_op;

	json_object(j, NULL);
	json_uint(j, "variant", v);
	json_string(j, "event", b->result->counter[c].name);
	json_string(j, "quality", bench_quality(&b->result->counter[c]));
	put_number(j, "value", s->value);
	put_number(j, "low", s->low);
	put_number(j, "high", s->high);
	put_number(j, "min", s->min);
	put_number(j, "max", s->max);
	put_number(j, "mean", s->mean);
	put_number(j, "error_of_mean", s->error);
	json_uint(j, "outliers", s->outliers);
	if (b->result->bytes[v])
		put_number(j, "per_byte", s->value * per_run / (double)b->result->bytes[v]);
	else
		json_null(j, "per_byte");
	json_object(j, "baseline");
	put_number(j, "value", s->base);
	put_number(j, "low", s->base_low);
	put_number(j, "high", s->base_high);
	json_array(j, "pairs");
	for (uint32_t i = 0; i < p->baselines; i++)
		json_int(j, NULL, series->base[i]);
	json_end(j);
	json_end(j);
	json_array(j, "runs");
	for (uint32_t i = 0; i < p->runs; i++)
		json_int(j, NULL, series->value[i]);
	json_end(j);
	json_array(j, "per_operation");
	for (uint32_t i = 0; i < p->runs; i++)
		put_number(j, NULL, s->run[i]);
	json_end(j);
	json_end(j);
}

static void verdict(struct json *j, const struct bench_about *b, size_t v, size_t c)
{
	const struct bench_verdict *d = bench_verdict_of(b->stats, v, c);

	json_object(j, NULL);
	json_uint(j, "variant", v);
	json_uint(j, "against", 0);
	json_string(j, "event", b->result->counter[c].name);
	json_string(j, "verdict",
		    !d->tested              ? "too few runs"
			    : !d->beyond    ? "no difference"
			    : d->change < 0 ? "less"
					    : "more");
	put_number(j, "change", d->change);
	put_number(j, "half", d->half);
	json_real(j, "percent", d->percent);
	json_real(j, "p", d->p);
	json_uint(j, "blocks", d->blocks);
	json_end(j);
}

const char *bench_cross_name(const struct bench_verdict *d)
{
	return !d->tested                        ? "untested"
		: d->beyond                      ? "differ"
		: d->change == 0 && d->half == 0 ? "equal"
						 : "agree";
}

static void cross(struct json *j, const struct bench_about *b)
{
	const struct bench_result *r = b->result;

	json_array(j, "cross");
	for (size_t v = 0; v < b->plan->n_variants; v++)
		for (size_t c = 0; c < r->n_counters; c++) {
			const struct bench_verdict *d = &b->stats->cross[v * r->n_counters + c];

			if (bench_by_perf(r, c) == SIZE_MAX)
				continue;
			json_object(j, NULL);
			json_uint(j, "variant", v);
			json_string(j, "event", r->counter[c].name);
			json_string(j, "verdict", bench_cross_name(d));
			put_number(j, "change", d->change);
			put_number(j, "half", d->half);
			json_real(j, "percent", d->percent);
			json_real(j, "p", d->p);
			json_end(j);
		}
	json_end(j);
}

void bench_json(struct text *out, const struct bench_about *b)
{
	const struct bench_plan *p = b->plan;
	const struct bench_result *r = b->result;
	struct json j = { 0 };

	json_object(&j, NULL);
	json_string(&j, "schema", "tare/bench/1");
	json_object(&j, "conditions");
	json_uint(&j, "runs", p->runs);
	json_uint(&j, "warmup", p->warmup);
	json_uint(&j, "baselines", p->baselines);
	json_string(&j, "order", p->n_variants == 1 ? "one" : p->shuffle ? "shuffled" : "abba");
	json_uint_if(&j, "seed", p->n_variants > 1 && p->shuffle, p->seed);
	json_int_if(&j, "cpu", r->cpu >= 0, r->cpu);
	json_string(&j, "cold", cold_names[p->cold]);
	json_bool(&j, "aslr", !(determinism_had(p->fixed) & FIXED(ASLR)));
	determinism_json(&j, p->fixed);
	json_uint_if(&j, "clock_hz", r->clock_hz, r->clock_hz);
	json_real_if(&j, "clock_step", r->clock_step > 0, r->clock_step);
	if (r->chain_adds) {
		json_object(&j, "chain");
		json_uint(&j, "additions", r->chain_adds);
		put_number(&j, "ticks", r->chain_ticks);
		json_end(&j);
	} else {
		json_null(&j, "chain");
	}
	json_end(&j);
	variants(&j, b);
	counters(&j, r);
	json_array(&j, "results");
	for (size_t v = 0; v < p->n_variants; v++)
		for (size_t c = 0; c < r->n_counters; c++)
			if (r->counter[c].quality != TARE_UNAVAILABLE)
				result(&j, b, v, c);
	json_end(&j);
	json_array(&j, "pairs"); /* of start and stop, per run of each variant */
	for (size_t v = 0; v < p->n_variants; v++) {
		json_array(&j, NULL);
		for (uint32_t i = 0; i < p->runs; i++)
			json_uint(&j, NULL, r->pairs[v * p->runs + i]);
		json_end(&j);
	}
	json_end(&j);
	json_array(&j, "verdicts");
	for (size_t v = 1; v < p->n_variants; v++)
		for (size_t c = 0; c < r->n_counters; c++)
			if (r->counter[c].quality != TARE_UNAVAILABLE)
				verdict(&j, b, v, c);
	json_end(&j);
	if (p->cross)
		cross(&j, b);
	json_strings(&j, "remarks", b->remarks);
	json_end(&j);
	json_into(out, &j);
}

/* ---- rows ---- */

void bench_csv(struct text *out, const struct bench_about *b)
{
	const struct bench_plan *p = b->plan;
	const struct bench_result *r = b->result;

	text_add(out, "variant,run,event,quality,pairs,value,less_baseline,per_operation\n");
	for (size_t v = 0; v < p->n_variants; v++)
		for (uint32_t i = 0; i < p->runs; i++)
			for (size_t c = 0; c < r->n_counters; c++) {
				const struct bench_stat *s = bench_stat_of(b->stats, v, c);
				uint32_t pairs = r->pairs[v * p->runs + i];
				int64_t value;

				if (r->counter[c].quality == TARE_UNAVAILABLE)
					continue;
				value = r->series[v * r->n_counters + c].value[i];
				csv_field(out, p->variant[v].name, ',');
				text_add(out, "%" PRIu32 ",", i + 1);
				csv_field(out, r->counter[c].name, ',');
				text_add(out, "%s,%" PRIu32 ",%" PRId64 ",%.17g,%.17g\n",
					 bench_quality(&r->counter[c]), pairs, value,
					 (double)value - pairs * s->base, s->run[i]);
			}
}

int bench_parquet(struct out *out, const struct bench_about *b, struct tare_error *err)
{
	static const struct parquet_column columns[] = {
		{ "variant", PARQUET_STRING, false },
		{ "run", PARQUET_U32, false },
		{ "event", PARQUET_STRING, false },
		{ "quality", PARQUET_STRING, false },
		{ "pairs", PARQUET_U32, false },
		{ "value", PARQUET_I64, false },
		{ "less_baseline", PARQUET_DOUBLE, false },
		{ "per_operation", PARQUET_DOUBLE, false },
	};
	const struct bench_plan *p = b->plan;
	const struct bench_result *r = b->result;
	struct parquet *file = parquet_open(out, columns, ARRAY_SIZE(columns), err);
	int ret = file ? parquet_note(file, "schema", "tare/bench-runs/1", err) : -err->code;

	for (size_t v = 0; ret == 0 && v < p->n_variants; v++)
		for (uint32_t i = 0; ret == 0 && i < p->runs; i++)
			for (size_t c = 0; ret == 0 && c < r->n_counters; c++) {
				const struct bench_stat *s = bench_stat_of(b->stats, v, c);
				uint32_t pairs = r->pairs[v * p->runs + i];
				int64_t value;

				if (r->counter[c].quality == TARE_UNAVAILABLE)
					continue;
				value = r->series[v * r->n_counters + c].value[i];
				parquet_string(file, 0, p->variant[v].name);
				parquet_number(file, 1, i + 1);
				parquet_string(file, 2, r->counter[c].name);
				parquet_string(file, 3, bench_quality(&r->counter[c]));
				parquet_number(file, 4, pairs);
				parquet_number(file, 5, (uint64_t)value);
				parquet_double(file, 6, (double)value - pairs * s->base);
				parquet_double(file, 7, s->run[i]);
				ret = parquet_end_row(file, err);
			}
	if (ret < 0) {
		parquet_free(file);
		return ret;
	}
	return parquet_close(file, err);
}
