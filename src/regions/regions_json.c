/* SPDX-License-Identifier: MIT */
/* JSON and CSV output of region costs: tare/summarize/1 (docs/schema/tare-summarize-1.json). */
#include <inttypes.h>
#include <string.h>
#include "output/csv.h"
#include "regions/region_cells.h"
#include "regions/regions_merged_view.h"

static bool shown(const struct regions *r, const struct regions_row *row,
		  const struct regions_shown *how)
{
	return !how->match || strstr(r->labels.entry[row->label].name, how->match);
}

static void amounts(struct json *j, const struct regions *r, const struct regions_row *row,
		    size_t c)
{
	const struct regions_counter *k = &r->counter[c];
	const struct regions_sum *s = &row->sum[c];
	bool known = s->rare->unknown < row->count;
	uint64_t error;

	json_object(j, k->name);
	json_string(j, "unit", k->unit);
	if (!known) {
		json_null(j, "self");
		json_null(j, "total");
	} else {
		json_amount(j, "self", regions_self(r, row, c));
		json_amount(j, "total", regions_total(r, row, c));
		json_uint(j, "sum", regions_sum_each(s));
		if (regions_whole(r, c) > 0)
			json_real(j, "share", regions_nested_self(r, row, c) / regions_whole(r, c));
		if (s->rare->async)
			json_uint(j, "self_detached", s->rare->async);
	}
	if (regions_singles(s)) {
		json_int(j, "min", regions_single(s, 0, NULL));
		json_int(j, "median", regions_median(s, &error));
		json_uint(j, "median_error", error);
		json_int(j, "p99", regions_single(s, 0.99, &error));
		json_uint(j, "p99_error", error);
		json_int(j, "max", regions_single(s, 1, NULL));
	}
	json_uint(j, "unknown", s->rare->unknown);
	json_uint(j, "self_unknown", s->rare->unknown + s->rare->no_self);
	if (regions_own_known(k)) {
		json_real(j, "self_own", s->own.self);
		json_real(j, "self_own_off", s->own.self_off);
		json_real(j, "total_own", s->own.total);
		json_real(j, "total_own_off", s->own.total_off);
	}
	json_end(j);
}

/*
 * The overhead of a region for each way of recording in the file. The first fields are for the most
 * frequent way.
 */
static void own(struct json *j, const struct regions_counter *k)
{
	uint8_t most = 0;

	if (!regions_own_known(k))
		return;
	for (uint8_t w = 0; w < TIMELINE_PATHS; w++)
		if (k->record_path[w].own.known &&
		    (!k->record_path[most].own.known ||
		     k->record_path[w].regions > k->record_path[most].regions))
			most = w;
	json_real(j, "own_cost",
		  k->record_path[most].own.inside + k->record_path[most].own.outside);
	json_real(j, "own_inside", k->record_path[most].own.inside);
	json_real(j, "own_cost_spread",
		  k->record_path[most].own.inside_off + k->record_path[most].own.outside_off);
	json_real(j, "whole_own", k->own.whole);
	json_real(j, "whole_own_off", k->own.whole_off);
	json_real(j, "outside_own", k->own.outside);
	json_real(j, "outside_own_off", k->own.outside_off);
	json_array(j, "own");
	for (uint8_t w = 0; w < TIMELINE_PATHS; w++) {
		const struct timeline_own *o = &k->record_path[w].own;

		if (!k->record_path[w].regions)
			continue;
		json_object(j, NULL);
		json_string(j, "way", timeline_record_path(w));
		json_bool(j, "long_label", w >= TIMELINE_PATHS / 2);
		json_uint(j, "regions", k->record_path[w].regions);
		if (o->known) {
			json_real(j, "inside", o->inside);
			json_real(j, "inside_off", o->inside_off);
			json_real(j, "outside", o->outside);
			json_real(j, "outside_off", o->outside_off);
		}
		json_end(j);
	}
	json_end(j);
}

static void head(struct json *j, const struct regions *r)
{
	json_array(j, "recordings");
	for (size_t i = 0; i < r->n_recordings; i++) {
		const struct regions_recording *f = &r->recording[i];

		json_object(j, NULL);
		json_string(j, "path", f->path);
		json_string(j, "format", f->format);
		json_string(j, "command", f->command);
		json_uint(j, "start_ns", f->start_ns);
		json_machine(j, &f->machine);
		json_string(j, "damage", f->damage);
		json_string(j, "remark", f->remark);
		json_string(j, "live", f->live);
		json_end(j);
	}
	json_end(j);
	json_array(j, "threads");
	for (size_t i = 0; i < r->n_threads; i++) {
		const struct regions_thread *t = &r->thread[i];

		json_object(j, NULL);
		json_uint(j, "recording", t->recording);
		json_uint(j, "pid", t->pid);
		json_uint(j, "tid", t->tid);
		json_string(j, "name", t->name);
		json_bool(j, "complete", t->complete);
		if (t->end_unknown)
			json_null(j, "goes_on");
		else
			json_bool(j, "goes_on", t->goes_on);
		json_uint(j, "lost", t->lost);
		json_end(j);
	}
	json_end(j);
	json_array(j, "counters");
	for (size_t c = 0; c < r->n_counters; c++) {
		const struct regions_counter *k = &r->counter[c];

		json_object(j, NULL);
		json_string(j, "counter", k->name);
		json_string(j, "unit", k->unit);
		json_string(j, "quality", tare_quality_name(k->quality));
		json_string(j, "note", k->note);
		if (r->options.subtract_own) {
			json_amount(j, "whole", regions_whole(r, c));
			json_amount(j, "outside", regions_outside(r, c));
		} else {
			json_uint(j, "whole", k->whole);
			json_int(j, "outside", k->outside);
		}
		json_uint(j, "detached", k->async);
		own(j, k);
		json_end(j);
	}
	json_end(j);
}

static void unbalanced(struct json *j, const struct regions_row *row)
{
	const struct region_unbalanced *u = row->rare->unbalanced;

	if (row->rare->cut) {
		json_uint(j, "not_ended", u->not_ended);
		json_uint(j, "not_begun", u->not_begun);
	}
	if (u->not_finished + u->not_started + u->finished_again) {
		json_uint(j, "not_finished", u->not_finished);
		json_uint(j, "not_started", u->not_started);
		json_uint(j, "finished_again", u->finished_again);
	}
	json_uint(j, "first_thread", u->thread);
	if (u->file) {
		json_string(j, "file", u->file);
		json_uint(j, "line", u->line);
	}
}

static void labels(struct json *j, const struct regions *r, const struct regions_shown *how)
{
	size_t n = 0;

	json_array(j, "labels");
	for (size_t i = 0; i < r->n && (!how->top || n < how->top); i++) {
		const struct regions_row *row = &r->row[i];

		if (!shown(r, row, how))
			continue;
		n++;
		json_object(j, NULL);
		json_label(j, &r->labels.entry[row->label]);
		if (row->thread != REGIONS_ALL_THREADS)
			json_uint(j, "thread", row->thread);
		json_uint(j, "count", row->count);
		json_uint(j, "recursive", row->rare->recursive);
		json_uint(j, "cut", row->rare->cut);
		if (row->rare->unbalanced)
			unbalanced(j, row);
		json_uint(j, "detached", row->rare->async);
		json_uint(j, "holes", row->rare->holes);
		json_uint(j, "instants", row->rare->instants);
		if (row->rare->integers.n) {
			json_object(j, "integers");
			json_uint(j, "count", row->rare->integers.n);
			if (row->rare->integers.beyond) {
				json_null(j, "sum");
				json_uint(j, "sum_more_than", row->rare->integers.sum);
			} else {
				json_uint(j, "sum", row->rare->integers.sum);
			}
			json_uint(j, "min", row->rare->integers.min);
			json_uint(j, "max", row->rare->integers.max);
			json_uint(j, "last", row->rare->integers.last);
			json_end(j);
		}
		json_object(j, "counters");
		for (size_t c = 0; row->count && c < r->n_counters; c++)
			if (!r->options.by || c == r->by)
				amounts(j, r, row, c);
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

void regions_json(struct text *out, const struct regions *r, const struct regions_shown *how)
{
	struct json j = { 0 };

	json_object(&j, NULL);
	json_string(&j, "schema", "tare/summarize/1");
	head(&j, r);
	json_uint(&j, "regions", r->regions);
	json_uint(&j, "points", r->points);
	json_uint(&j, "lost", r->lost);
	json_bool(&j, "lost_unknown", r->lost_unknown);
	json_uint(&j, "unmatched", r->unmatched);
	json_uint(&j, "left_out", r->left_out);
	json_bool(&j, "own_cost_subtracted", r->options.subtract_own);
	labels(&j, r, how);
	if (how->merged)
		regions_merged_json(&j, r, how);
	if (r->options.single) {
		json_array(&j, "singles");
		for (size_t i = 0; i < r->n_singles; i++) {
			const struct regions_single *one = &r->single[i];

			json_object(&j, NULL);
			json_label(&j, &r->labels.entry[one->label]);
			if (one->around == LABELS_NONE) {
				json_null(&j, "in");
			} else {
				json_object(&j, "in");
				json_label(&j, &r->labels.entry[one->around]);
				json_end(&j);
			}
			json_uint(&j, "thread", one->thread);
			json_uint(&j, "end_thread", one->end_thread);
			json_string(&j, "counter", r->counter[r->by].name);
			if (one->begin_known)
				json_uint(&j, "begin", one->begin);
			else
				json_null(&j, "begin");
			json_uint(&j, "total", one->cost);
			json_bool(&j, "cut", one->cut);
			json_bool(&j, "detached", one->async);
			if (one->self_known)
				json_int(&j, "self", one->self);
			else
				json_null(&j, "self");
			if (regions_own_known(&r->counter[r->by])) {
				json_real(&j, "total_own", one->own.total);
				json_real(&j, "self_own", one->own.self);
			}
			json_uint(&j, "offset", one->offset);
			json_end(&j);
		}
		json_end(&j);
	}
	json_end(&j);
	json_into(out, &j);
}

static void put_number(struct text *out, bool known, double v)
{
	if (known)
		text_add(out, "%.15g", v);
	text_add(out, ",");
}

/* min, median, p99, max. */
static void singles(struct text *out, const struct regions_sum *s)
{
	bool any = regions_singles(s);

	put_number(out, any, any ? (double)regions_single(s, 0, NULL) : 0);
	put_number(out, any, any ? (double)regions_median(s, NULL) : 0);
	put_number(out, any, any ? (double)regions_single(s, 0.99, NULL) : 0);
	put_number(out, any, any ? (double)regions_single(s, 1, NULL) : 0);
}

/* The fields of a row that do not depend on the counter. */
static void csv_row(struct text *out, const struct regions *r, const struct regions_row *row)
{
	csv_label(out, &r->labels.entry[row->label]);
	if (row->thread != REGIONS_ALL_THREADS)
		text_add(out, "%" PRIu64, r->thread[row->thread].tid);
	text_add(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, row->count,
		 row->rare->recursive, row->rare->cut, row->rare->async);
}

/*
 * The points of a row that are not regions: the number of instants and of values, and the values'
 * sum, min, max and last.
 */
static void csv_points(struct text *out, const struct regions_row *row)
{
	const struct regions_integers *v = &row->rare->integers;

	text_add(out, ",%" PRIu64 ",%" PRIu64 ",", row->rare->instants, v->n);
	if (v->n && !v->beyond)
		text_add(out, "%" PRIu64, v->sum);
	if (v->n)
		text_add(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, v->min, v->max, v->last);
	text_add(out, v->n ? "\n" : ",,,\n");
}

static bool has_any(const struct regions_row *row)
{
	return row->count || row->rare->instants || row->rare->integers.n;
}

void regions_csv(struct text *out, const struct regions *r, const struct regions_shown *how)
{
	size_t n = 0;

	if (how->merged) {
		regions_merged_csv(out, r, how);
		return;
	}
	text_add(
		out,
		"label,kind,arguments,thread,count,recursive,cut,detached,counter,unit,quality,self,total,sum,share,min,median,p99,max,unknown,self_off,"
		"instants,values,values_sum,values_min,values_max,values_last\n");
	for (size_t i = 0; i < r->n && (!how->top || n < how->top); i++) {
		const struct regions_row *row = &r->row[i];

		if (!has_any(row) || !shown(r, row, how))
			continue;
		n++;
		if (r->n_counters == 0 || !row->count) {
			csv_row(out, r, row);
			text_add(out, ",,,,,,,,,,,,,");
			csv_points(out, row);
		}
		for (size_t c = 0; row->count && c < r->n_counters; c++) {
			const struct regions_counter *k = &r->counter[c];
			const struct regions_sum *s = &row->sum[c];
			bool known = s->rare->unknown < row->count;

			if (r->options.by && c != r->by)
				continue;
			csv_row(out, r, row);
			text_add(out, ",");
			csv_field(out, k->name, ',');
			csv_field(out, k->unit, ',');
			text_add(out, "%s,", tare_quality_name(k->quality));
			put_number(out, known, regions_self(r, row, c));
			put_number(out, known, regions_total(r, row, c));
			put_number(out, known, (double)regions_sum_each(s));
			put_number(out, known && regions_whole(r, c) > 0,
				   regions_nested_self(r, row, c) / regions_whole(r, c));
			singles(out, s);
			text_add(out, "%" PRIu64 ",%.6g", s->rare->unknown,
				 r->options.subtract_own ? s->own.self_off : 0);
			csv_points(out, row);
		}
	}
}
