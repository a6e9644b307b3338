/* SPDX-License-Identifier: MIT */
/*
 * JSON and CSV output of the changes between recordings: tare/diff/1
 * (docs/schema/tare-diff-1.json).
 */
#include <string.h>
#include "regions/compare_view.h"
#include "output/csv.h"
#include "regions/region_cells.h"

static const char *const what_names[] = { "self", "total", "sum" };

static void group(struct json *j, const char *key, const struct compare *c,
		  const struct compare_row *row, const struct compare_change *d,
		  const double *value, int side)
{
	if (row->unknown[side]) {
		json_null(j, key);
		return;
	}
	json_object(j, key);
	json_amount(j, "mean", d->mean[side]);
	json_amount(j, "min", d->min[side]);
	json_amount(j, "max", d->max[side]);
	json_array(j, "runs");
	for (size_t r = 0; r < c->n[side]; r++)
		json_amount(j, NULL, value[(side ? c->n[0] : 0) + r]);
	json_end(j);
	json_end(j);
}

/* The test for values that vary within a side, if there are enough runs. */
static const char *test_name(const struct compare *c)
{
	return c->n[0] > 1 && c->n[1] > 1 ? "welch" : "student";
}

/* The reason why it is not judged; NULL if it is judged. */
static const char *reason(const struct compare_change *d)
{
	return d->lost                        ? "lost"
		: d->names                    ? "names"
		: compare_by_order(d)         ? "order"
		: !compare_too_few(d)         ? NULL
		: d->is.verdict == CHANGE_FEW ? "few_runs"
					      : "resolution";
}

static void change(struct json *j, const char *key, const struct compare *c,
		   const struct compare_row *row, int what, size_t k)
{
	const struct compare_change *d = &row->change[(size_t)what * c->n_counters + k];
	const double *value = row->value + ((size_t)what * c->n_counters + k) * c->n_runs;

	if (!d->known) {
		json_null(j, key);
		return;
	}
	json_object(j, key);
	group(j, "before", c, row, d, value, COMPARE_BEFORE);
	group(j, "after", c, row, d, value, COMPARE_AFTER);
	if (compare_unknown(row)) {
		json_null(j, "change");
		json_null(j, "percent");
	} else {
		json_amount(j, "change", d->is.test.change);
		json_real(j, "percent", compare_percent(d)); /* null if the value before is 0 */
	}
	if (d->is.test.tested && d->names) {
		json_bool(j, "judged", false);
		json_bool(j, "beyond", false);
	} else if (d->is.test.tested) {
		if (!d->is.unseen)
			json_real(j, "half_95", d->is.test.half);
		json_real(j, "p", d->is.test.p);
		json_string(j, "test",
			    d->is.by == CHANGE_BY_BARNARD         ? "barnard"
				    : d->is.by == CHANGE_BY_RANK  ? "rank"
				    : d->is.by == CHANGE_BY_DRIFT ? "drift"
								  : test_name(c));
		if (row->label != LABELS_NONE && !row->lost && d->is.verdict != CHANGE_SMALL)
			json_real(j, "q", d->is.q);
		json_bool(j, "judged", !reason(d));
		json_bool(j, "beyond", d->beyond);
		if (!reason(d) || d->is.verdict == CHANGE_FEW) {
			table_real(j, "q_judged", d->is.q);
			table_uint(j, "beyond_judged", d->beyond);
		}
	}
	json_string(j, "reason", reason(d));
	if (compare_too_few(d))
		json_uint(j, "enough_runs", d->is.enough);
	json_end(j);
}

/* whole: for (all); outside and detached: parts of it; self, total, sum: for a label. */
static void counters(struct json *j, const struct compare *c, const struct compare_row *row,
		     const struct compare_shown *how)
{
	const struct {
		const struct compare_row *row;
		const char *name;
	} single[] = { { &c->all, "whole" },
		       { &c->outside, "outside" },
		       { &c->async, "detached" } };

	json_object(j, "counters");
	for (size_t k = 0; k < c->n_counters; k++) {
		if (!compare_counter_wanted(how, c->counter[k].name))
			continue;
		json_object(j, c->counter[k].name);
		json_string(j, "unit", c->counter[k].unit);
		if (row != &c->all &&
		    (!row->change[k].known || !compare_row_wanted(c, row, how, k)))
			table_no_row(j);
		for (size_t i = 0; row == &c->all && i < (c->counts_only ? 1 : ARRAY_SIZE(single));
		     i++)
			change(j, single[i].name, c, single[i].row, COMPARE_SELF, k);
		for (int what = 0; row != &c->all && what < COMPARE_WHATS; what++)
			change(j, what_names[what], c, row, what, k);
		json_end(j);
	}
	json_end(j);
}

static void counts(struct json *j, const struct compare *c, const struct compare_row *row)
{
	static const char *const names[] = { "before", "after" };

	json_object(j, "counts");
	for (size_t side = 0, r = 0; side < COMPARE_SIDES; side++) {
		size_t end = r + c->n[side];

		json_array(j, names[side]);
		for (; r < end; r++)
			if (c->loss[r].names && row->label != LABELS_NONE && row->unknown[side] &&
			    !row->count[r])
				json_null(j, NULL);
			else
				json_uint(j, NULL, row->count[r]);
		json_end(j);
	}
	json_end(j);
}

void compare_machines(struct machines *m, const struct compare *c)
{
	for (size_t r = 0; r < c->n_runs; r++)
		machines_add(m, c->run[r].recording[0].path, &c->run[r].recording[0].machine);
}

void compare_document(struct text *out, enum output_format format, const struct compare *c,
		      const struct compare_shown *how)
{
	static const struct table_layout rows = {
		.rows = "labels/counters/*",
		.columns = "label=../../label,kind=../../kind,arguments=../../arguments,counter=.,"
			   "unit,before=self/before/mean,after=self/after/mean,change=self/change,"
			   "percent=self/percent%6,half_95=self/half_95%6,p=self/p%6,"
			   "q=self/q_judged%6,beyond=self/beyond_judged,"
			   "total_before=total/before/mean,total_after=total/after/mean,"
			   "total_change=total/change,reason=self/reason",
		.digits = 15,
	};
	static const char *const names[] = { "before", "after" };
	struct machines machines = { 0 };
	struct json document = document_as(format, &rows), *j = &document;
	size_t n = 0;

	json_object(j, NULL);
	json_string(j, "schema", "tare/diff/1");
	for (size_t side = 0, r = 0; side < COMPARE_SIDES; side++) {
		size_t end = r + c->n[side];

		json_array(j, names[side]);
		for (; r < end; r++) {
			const struct regions_recording *f = &c->run[r].recording[0];

			json_object(j, NULL);
			json_string(j, "path", f->path);
			json_string(j, "format", f->format);
			json_string(j, "command", f->command);
			json_machine(j, &f->machine);
			json_string(j, "damage", f->damage);
			json_string(j, "live", f->live);
			json_uint(j, "lost", c->run[r].lost);
			json_bool(j, "lost_unknown", c->run[r].lost_unknown);
			json_string(j, "copy_of",
				    how->copy_of && how->copy_of[r] != r
					    ? c->run[how->copy_of[r]].recording[0].path
					    : NULL);
			json_end(j);
		}
		json_end(j);
	}
	compare_machines(&machines, c);
	json_machines(j, &machines);
	json_string(j, "test", c->tested ? test_name(c) : NULL);
	json_bool(j, "one_thread", c->one_thread);
	json_bool(j, "own_cost_subtracted", c->run[0].options.subtract_own);
	json_array(j, "counters");
	for (size_t k = 0; k < c->n_counters; k++) {
		json_object(j, NULL);
		json_string(j, "counter", c->counter[k].name);
		json_string(j, "unit", c->counter[k].unit);
		json_string(j, "quality", tare_quality_name(c->counter[k].quality));
		json_end(j);
	}
	json_end(j);
	json_object(j, "all");
	json_bool(j, "judged", c->tested && !c->all.lost);
	counts(j, c, &c->all);
	counters(j, c, &c->all, how);
	json_end(j);
	json_array(j, "labels");
	for (size_t i = 0; i < c->n_rows && (!how->top || n < how->top); i++) {
		const struct compare_row *row = &c->row[i];
		bool wanted = false;

		for (size_t k = 0; k < c->n_counters; k++)
			wanted |= compare_row_wanted(c, row, how, k);
		if (!wanted)
			continue;
		n++;
		json_object(j, NULL);
		json_label(j, &c->labels.entry[row->label]);
		json_bool(j, "judged", c->tested && !row->lost && !row->names);
		counts(j, c, row);
		counters(j, c, row, how);
		json_end(j);
	}
	json_end(j);
	json_end(j);
	json_into(out, j);
}
