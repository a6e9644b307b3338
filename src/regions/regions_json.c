/* SPDX-License-Identifier: MIT */
/* The document of region costs: tare/summarize/1 (docs/schema/tare-summarize-1.json). */
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
	table_string(j, "quality", tare_quality_name(k->quality));
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
	table_real(j, "self_off", r->options.subtract_own ? s->own.self_off : 0);
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
		json_bool_if(j, "goes_on", !t->end_unknown, t->goes_on);
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
		if (row->thread != REGIONS_ALL_THREADS) {
			json_uint(j, "thread", row->thread);
			table_uint(j, "tid", r->thread[row->thread].tid);
		}
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

void regions_document(struct text *out, enum output_format format, const struct regions *r,
		      const struct regions_shown *how)
{
	static const struct table_layout
		rows = { .rows = "labels/counters/*",
			 .outer = "labels",
			 .columns = "label=../../label,kind=../../kind,arguments=../../arguments,"
				    "thread=../../tid,count=../../count,"
				    "recursive=../../recursive,cut=../../cut,"
				    "detached=../../detached,counter=.,unit,quality,self,total,sum,"
				    "share,min,median,p99,max,unknown,self_off,"
				    "instants=../../instants,values=../../integers/count?0,"
				    "values_sum=../../integers/sum,values_min=../../integers/min,"
				    "values_max=../../integers/max,values_last=../../integers/last",
			 .digits = 15 },
		merged = { .rows = "merged/counters/*",
			   .outer = "merged",
			   .columns = "label=../../label,count=../../count,hits=../../hits,"
				      "counter=.,unit,quality,self,share,time,blocked,load,"
				      "hashing,unknown",
			   .digits = 15 };
	struct json document = document_as(format, how->merged ? &merged : &rows), *j = &document;

	json_object(j, NULL);
	json_string(j, "schema", "tare/summarize/1");
	head(j, r);
	json_uint(j, "regions", r->regions);
	json_uint(j, "points", r->points);
	json_uint(j, "lost", r->lost);
	json_bool(j, "lost_unknown", r->lost_unknown);
	json_uint(j, "unmatched", r->unmatched);
	json_uint(j, "left_out", r->left_out);
	json_bool(j, "own_cost_subtracted", r->options.subtract_own);
	labels(j, r, how);
	if (how->merged)
		regions_merged_json(j, r, how);
	if (r->options.single) {
		json_array(j, "singles");
		for (size_t i = 0; i < r->n_singles; i++) {
			const struct regions_single *one = &r->single[i];

			json_object(j, NULL);
			json_label(j, &r->labels.entry[one->label]);
			if (one->around == LABELS_NONE) {
				json_null(j, "in");
			} else {
				json_object(j, "in");
				json_label(j, &r->labels.entry[one->around]);
				json_end(j);
			}
			json_uint(j, "thread", one->thread);
			json_uint(j, "end_thread", one->end_thread);
			json_string(j, "counter", r->counter[r->by].name);
			json_uint_if(j, "begin", one->begin_known, one->begin);
			json_uint(j, "total", one->cost);
			json_bool(j, "cut", one->cut);
			json_bool(j, "detached", one->async);
			json_int_if(j, "self", one->self_known, one->self);
			if (regions_own_known(&r->counter[r->by])) {
				json_real(j, "total_own", one->own.total);
				json_real(j, "self_own", one->own.self);
			}
			json_uint(j, "offset", one->offset);
			json_end(j);
		}
		json_end(j);
	}
	json_end(j);
	json_into(out, j);
}
