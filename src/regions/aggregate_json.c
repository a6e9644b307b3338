/* SPDX-License-Identifier: MIT */
/*
 * JSON and CSV output of the noise between runs: tare/aggregate/1
 * (docs/schema/tare-aggregate-1.json).
 */
#include <stdlib.h>
#include <string.h>
#include "regions/aggregate_view.h"
#include "output/csv.h"
#include "output/interval_view.h"
#include "regions/region_cells.h"

static const char *const kinds[] = {
	"begin", "end", "instant", "value", "start", "finish", "lost"
};

static void json_name(struct json *j, const char *key, const struct aggregate *a, uint32_t label)
{
	if (label == LABELS_NONE) {
		json_null(j, key);
		return;
	}
	json_object(j, key);
	json_label(j, &a->labels.entry[label]);
	json_end(j);
}

static void list(struct json *j, const char *key, const struct aggregate *a,
		 const struct aggregate_list *l)
{
	json_array(j, key);
	for (size_t i = 0; i < l->n; i++) {
		const struct aggregate_extreme *e = &l->entry[i];

		json_object(j, NULL);
		json_uint(j, "value", e->value);
		json_uint(j, "count", e->n);
		if (e->n == 1) {
			json_object(j, "place");
			json_uint(j, "thread", e->place.thread);
			json_uint(j, "index", e->place.index);
			json_name(j, "in", a, e->place.around);
			json_string(j, "from_kind", kinds[e->place.from_kind]);
			json_name(j, "from", a, e->place.from);
			json_string(j, "to_kind", kinds[e->place.to_kind]);
			json_name(j, "to", a, e->place.to);
			json_end(j);
		}
		json_end(j);
	}
	json_end(j);
}

static void counter(struct json *j, const struct aggregate *a, size_t c)
{
	const struct aggregate_counter *k = &a->counter[c];
	uint64_t outside, noise;

	json_object(j, NULL);
	json_string(j, "counter", k->name);
	json_string(j, "unit", k->unit);
	json_string(j, "quality", tare_quality_name(k->quality));
	json_uint(j, "intervals", k->intervals);
	json_uint(j, "not_counted", k->not_counted);
	json_uint(j, "equal", k->zero);
	json_uint(j, "noise", k->noise);
	outside = aggregate_outside(a, c, &noise);
	json_uint(j, "outside_intervals", outside);
	json_uint(j, "outside_noise", noise);
	json_array(j, "histogram");
	for (unsigned b = 0; b < AGGREGATE_BUCKETS; b++) {
		if (!k->bucket[b])
			continue;
		json_object(j, NULL);
		json_uint(j, "from", b ? UINT64_C(1) << (b - 1) : 0);
		json_uint(j, "to", b == 0 ? 0 : b == 64 ? UINT64_MAX : (UINT64_C(1) << b) - 1);
		json_uint(j, "count", k->bucket[b]);
		json_end(j);
	}
	json_end(j);
	list(j, "shortest", a, &k->least);
	list(j, "longest", a, &k->most);
	list(j, "smallest_noise", a, &k->steady);
	list(j, "largest_noise", a, &k->noisy);
	json_object(j, "first_times");
	json_uint(j, "intervals", k->firsts);
	json_uint(j, "noise", k->firsts_noise);
	json_end(j);
	json_array(j, "causes");
	for (size_t i = 0; i < k->n_causes; i++) {
		json_object(j, NULL);
		json_string(j, "counter", a->counter[k->cause[i].counter].name);
		json_uint(j, "intervals", k->cause[i].n);
		json_uint(j, "noise", k->cause[i].noise);
		json_uint(j, "multiples", k->cause[i].exact);
		json_real(j, "per_one", k->cause[i].per);
		if (k->cause[i].judged)
			json_real(j, "half_95", k->cause[i].half);
		json_bool(j, "known", k->cause[i].known);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void range(struct json *j, const char *key, const struct aggregate *a,
		  const struct aggregate_row *row, size_t c, bool total)
{
	struct aggregate_range r;

	if (!aggregate_range_of(a, row, c, total, &r)) {
		json_null(j, key);
		return;
	}
	json_object(j, key);
	json_amount(j, "min", r.min);
	json_amount(j, "median", r.median);
	json_amount(j, "max", r.max);
	json_amount(j, "low", r.low);
	json_amount(j, "high", r.high);
	json_interval(j, r.interval, r.low, r.median, r.high);
	json_array(j, "runs");
	for (size_t i = 0; i < a->n_runs; i++) {
		const struct aggregate_amount *m = &aggregate_tally(a, row, i)->amount[c];

		if (total)
			json_uint(j, NULL, m->total);
		else
			json_int(j, NULL, m->self);
	}
	json_end(j);
	json_end(j);
}

/* CSV: a row per counter and run; without counters, a row per run. */
static void table_rows(struct json *j, const struct aggregate *a, const struct aggregate_row *row,
		       const struct aggregate_shown *how)
{
	size_t c = 0;

	json_array(j, "rows");
	do {
		const struct aggregate_counter *k = a->n_counters ? &a->counter[c] : NULL;

		for (size_t r = 0; (!k || aggregate_wanted(how, k->name)) && r < a->n_runs; r++) {
			const struct aggregate_tally *t = aggregate_tally(a, row, r);

			json_object(j, NULL);
			json_uint(j, "run", r + 1);
			json_uint(j, "count", t->count);
			if (k) {
				json_string(j, "counter", k->name);
				json_string(j, "unit", k->unit);
				json_int(j, "self", t->amount[c].self);
				json_uint(j, "total", t->amount[c].total);
				json_uint(j, "unknown", t->amount[c].unknown);
			}
			json_end(j);
		}
	} while (++c < a->n_counters);
	json_end(j);
}

static void labels(struct json *j, const struct aggregate *a, const struct aggregate_shown *how)
{
	const struct aggregate_row **order = aggregate_order(a, 0);
	size_t n = 0;

	j->out.failed |= !order;
	json_array(j, "labels");
	for (size_t i = 0; order && i < a->n && (!how->top || n < how->top); i++) {
		const struct labels_entry *l = &a->labels.entry[order[i]->label];

		if (how->match && !strstr(l->name, how->match))
			continue;
		n++;
		json_object(j, NULL);
		json_label(j, l);
		json_array(j, "counts");
		for (size_t r = 0; r < a->n_runs; r++)
			json_uint(j, NULL, aggregate_tally(a, order[i], r)->count);
		json_end(j);
		if (order[i]->async) {
			json_array(j, "detached");
			for (size_t r = 0; r < a->n_runs; r++)
				json_uint(j, NULL, order[i]->async[r]);
			json_end(j);
		}
		json_object(j, "counters");
		for (size_t c = 0; c < a->n_counters; c++) {
			if (!aggregate_wanted(how, a->counter[c].name))
				continue;
			json_object(j, a->counter[c].name);
			json_string(j, "unit", a->counter[c].unit);
			range(j, "self", a, order[i], c, false);
			range(j, "total", a, order[i], c, true);
			json_uint(j, "interval_noise", order[i]->noise[c]);
			json_uint(j, "intervals_compared", order[i]->compared[c]);
			json_end(j);
		}
		json_end(j);
		if (j->table)
			table_rows(j, a, order[i], how);
		json_end(j);
	}
	json_end(j);
	free(order);
}

static void differences(struct json *j, const struct aggregate *a)
{
	json_array(j, "first_differences");
	for (size_t i = 0; i < a->n_differences; i++) {
		const struct aggregate_difference *d = &a->difference[i];

		json_object(j, NULL);
		json_uint(j, "thread", d->thread);
		json_name(j, "in", a, d->around);
		json_name(j, "after", a, d->before);
		json_string(j, "after_kind",
			    d->before == LABELS_NONE ? NULL : kinds[d->before_kind]);
		json_bool(j, "lost", d->lost);
		json_array(j, "runs");
		for (size_t r = 0; r < a->n_runs; r++) {

			json_object(j, NULL);
			json_uint(j, "index", d->run[r].index);
			json_string(j, "kind", d->run[r].ends ? NULL : kinds[d->run[r].kind]);
			json_name(j, "next", a, d->run[r].label);
			json_uint(j, "alone", d->run[r].passed);
			json_uint(j, "offset", d->run[r].offset);
			json_end(j);
		}
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

void aggregate_document(struct text *out, enum output_format format, const struct aggregate *a,
			const struct aggregate_shown *how)
{
	static const struct table_layout rows = {
		.rows = "labels/rows",
		.columns = "label=../label,kind=../kind,arguments=../arguments,counter,unit,run,"
			   "count,self,total,unknown",
	};
	struct json document = document_as(format, &rows), *j = &document;
	struct machines machines = { 0 };

	json_object(j, NULL);
	json_string(j, "schema", "tare/aggregate/1");
	json_array(j, "runs");
	for (size_t r = 0; r < a->n_runs; r++) {
		json_object(j, NULL);
		json_string(j, "path", a->run[r].path);
		json_string(j, "format", a->run[r].format);
		json_string(j, "command", a->run[r].command);
		json_machine(j, &a->run[r].machine);
		machines_add(&machines, a->run[r].path, &a->run[r].machine);
		json_string(j, "damage", a->run[r].damage);
		json_string(j, "live", a->run[r].live);
		json_uint(j, "regions", a->run[r].regions);
		json_uint(j, "points", a->run[r].points);
		json_uint(j, "alone", a->run[r].alone);
		json_uint(j, "lost", a->run[r].lost);
		json_bool(j, "lost_unknown", a->run[r].lost_unknown);
		json_string(j, "copy_of",
			    how->copy_of && how->copy_of[r] != r ? a->run[how->copy_of[r]].path
								 : NULL);
		json_uint(j, "threads", a->run[r].threads);
		json_end(j);
	}
	json_end(j);
	json_machines(j, &machines);
	json_array(j, "threads");
	for (size_t i = 0; i < a->n_threads; i++) {
		json_object(j, NULL);
		json_uint(j, "tid", a->thread[i].tid);
		json_string(j, "name", a->thread[i].name);
		json_uint(j, "runs", a->thread[i].runs);
		json_uint(j, "points", a->thread[i].steps);
		json_uint(j, "differences", a->thread[i].differences);
		json_bool(j, "given_up", a->thread[i].gave_up);
		json_end(j);
	}
	json_end(j);
	json_string(j, "threads_paired_by", thread_pairing_name(a->pairing));
	json_uint(j, "intervals", a->intervals);
	json_uint(j, "differences", a->differences);
	differences(j, a);
	json_array(j, "counters");
	for (size_t c = 0; c < a->n_counters; c++)
		if (aggregate_wanted(how, a->counter[c].name))
			counter(j, a, c);
	json_end(j);
	labels(j, a, how);
	if (how->explained)
		explain_json(j, how->explained);
	json_end(j);
	json_into(out, j);
}
