/* SPDX-License-Identifier: MIT */
/* The difference of two recordings of samples for programs: JSON and CSV. */
#include <string.h>
#include "perfdata/perfdata_features.h"
#include "output/csv.h"
#include "count/partial.h"
#include "profile/report/report_diff_view.h"

static void json_side(struct json *j, const char *key, const struct report_diff_shown *r, int side)
{
	const struct call_tree_column *c = &r->diff->report.call_tree->column[side];
	const struct samples_quality *q = &r->samples[side]->quality;

	json_object(j, key);
	json_string(j, "file", r->path[side]);
	json_string(j, "event",
		    call_tree_name(r->samples[side]->call_tree,
				   r->samples[side]->call_tree->column[r->column[side]].name));
	json_string(j, "cpu", perfdata_features(r->samples[side]->file)->cpu_desc);
	json_uint(j, "samples", c->samples);
	json_uint(j, "amount", c->amount);
	json_bool(j, "exact", report_diff_exact(r->diff->report.call_tree->column));
	json_string(j, "by_samples_as", r->samples[side]->counted.why);
	json_uint_if(j, "total", c->has_total, c->total);
	json_uint_if(j, "period", c->asked.period, c->asked.period);
	json_uint_if(j, "rate_hz", c->asked.rate_hz, c->asked.rate_hz);
	json_uint(j, "lost_records", q->lost);
	json_uint(j, "lost_samples", q->lost_samples);
	json_real(j, "lost_share", c->lost);
	json_bool(j, "with_periods", !q->weightless);
	json_bool(j, "broke_off", q->broke_off);
	if (perfdata_features(r->samples[side]->file)->partial)
		partial_json(j, perfdata_features(r->samples[side]->file)->partial);
	json_string(j, "damage", q->damage[0] ? q->damage : NULL);
	json_end(j);
}

static void json_change(struct json *j, const char *key, const struct report_change *c,
			const uint64_t *amount)
{
	json_object(j, key);
	json_uint(j, "before", amount[REPORT_BEFORE]);
	json_uint(j, "after", amount[REPORT_AFTER]);
	json_real(j, "change", c->change);
	json_real(j, "half_95", c->half);
	json_real(j, "p", c->p);
	json_real(j, "q", c->q);
	json_bool(j, "beyond", c->beyond);
	table_uint(j, "is_beyond", c->beyond);
	json_bool(j, "exact", c->exact);
	json_end(j);
}

static void json_row(struct json *j, const struct report_diff_shown *r,
		     const struct report_diff_row *row)
{
	const struct call_tree *st = r->diff->report.call_tree;
	const struct report_what *w = &row->row->what;
	unsigned by = r->diff->report.keys;

	json_object(j, NULL);
	if (by & REPORT_COMM)
		json_string(j, "comm", call_tree_name(st, w->comm));
	if (by & REPORT_MODULE)
		json_string(j, "module", call_tree_name(st, w->module));
	if (by & REPORT_FUNCTION) {
		json_string(j, "function",
			    w->flags & CALL_TREE_UNKNOWN ? NULL : call_tree_name(st, w->function));
		table_string(j, "function", call_tree_name(st, w->function));
		json_bool(j, "inlined", w->flags & CALL_TREE_INLINED);
		json_bool(j, "kernel", w->flags & CALL_TREE_KERNEL);
	}
	if (by & REPORT_LINE) {
		json_string(j, "file", w->file ? call_tree_name(st, w->file) : NULL);
		json_uint_if(j, "line", w->file, w->line);
	}
	json_change(j, "self", &row->self, row->row->self);
	json_change(j, "total", &row->total, row->row->total);
	json_end(j);
}

static void json_in_all(struct json *j, const struct call_tree_column column[REPORT_SIDES])
{
	const struct report_change all = report_change_in_all(column);

	json_object(j, "in_all");
	json_bool(j, "counted", report_diff_counted(column));
	json_real(j, "before", all.before);
	json_real(j, "after", all.after);
	json_real(j, "change", all.change);
	json_real(j, "half_95", all.half);
	json_real(j, "p", all.p);
	json_bool(j, "beyond", all.beyond);
	json_end(j);
}

void report_diff_document(struct text *out, enum output_format format,
			  const struct report_diff_shown *r)
{
	static const struct table_layout rows = {
		.rows = "rows",
		.columns = "command=comm,module,function,file,line,"
			   "self before=self/before,self after=self/after,"
			   "self change=self/change,self half_95=self/half_95,self q=self/q,"
			   "self beyond=self/is_beyond,total before=total/before,"
			   "total after=total/after,total change=total/change,"
			   "total half_95=total/half_95,total q=total/q,"
			   "total beyond=total/is_beyond",
		.digits = 17,
		.line_end = "\r\n",
	};
	static const char *const names[] = { "comm", "module", "function", "line" };
	static const unsigned bits[] = { REPORT_COMM, REPORT_MODULE, REPORT_FUNCTION, REPORT_LINE };
	const struct call_tree *st = r->diff->report.call_tree;
	const enum report_side denser = report_diff_denser(st->column);
	struct text notes = { 0 };
	struct json document = document_as(format, &rows), *j = &document;

	report_diff_notes(&notes, r);
	json_object(j, NULL);
	json_string(j, "schema", "tare/report-diff/1");
	json_side(j, "before", r, REPORT_BEFORE);
	json_side(j, "after", r, REPORT_AFTER);
	json_in_all(j, st->column);
	json_string(j, "unit", call_tree_name(st, st->column[REPORT_AFTER].unit));
	json_bool(j, "shares", r->diff->shares);
	json_bool(j, "judged", !report_diff_too_much_lost(st->column));
	json_string(j, "not_judged_more",
		    r->diff->shares || denser == REPORT_SIDES ? NULL
			    : denser == REPORT_AFTER          ? "after"
							      : "before");
	json_bool(j, "with_stacks",
		  r->samples[0]->quality.with_stacks || r->samples[1]->quality.with_stacks);
	json_array(j, "keys");
	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (r->diff->report.keys & bits[i])
			json_string(j, NULL, names[i]);
	json_end(j);
	json_bool(j, "sampling_noise", !r->diff->exact && !report_diff_census(st->column));
	json_notes(j, "notes", &notes);
	json_array(j, "rows");
	for (size_t i = 0; i < r->diff->n && (!r->limit || i < r->limit); i++)
		json_row(j, r, &r->diff->row[i]);
	json_end(j);
	json_end(j);
	json_into(out, j);
}
