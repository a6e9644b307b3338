/* SPDX-License-Identifier: MIT */
/* A report of samples for programs: JSON and CSV. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "perfdata/perfdata_features.h"
#include "output/csv.h"
#include "count/partial.h"
#include "profile/report/report_view.h"
#include "profile/report/traced_view.h"
#include "perfdata/dump/undecoded.h"

static const struct {
	unsigned key;
	const char *name;
} keys[] = {
	{ REPORT_COMM, "comm" },       { REPORT_PID, "pid" },           { REPORT_TID, "tid" },
	{ REPORT_MODULE, "module" },   { REPORT_FUNCTION, "function" }, { REPORT_LINE, "line" },
	{ REPORT_ADDRESS, "address" },
};

enum { KEYS = sizeof(keys) / sizeof(keys[0]) };

static const char *numbered(char room[32], const char *what, size_t i)
{
	snprintf(room, 32, "%s %zu", what, i);
	return room;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static void strings_or_null(struct json *j, const char *key, const struct perfdata_strings *of)
{
	if (!of->n) {
		json_null(j, key);
		return;
	}
	json_array(j, key);
	for (size_t i = 0; i < of->n; i++)
		json_string(j, NULL, of->s[i]);
	json_end(j);
}

static void json_head(struct json *j, const struct report_shown *r)
{
	const struct perfdata_features *f = perfdata_features(r->samples->file);
	const struct call_tree *st = r->samples->call_tree;

	json_string(j, "schema", "tare/report/1");
	json_string(j, "file", r->path);
	json_object(j, "recorded");
	strings_or_null(j, "command", &f->cmdline);
	json_string(j, "by", f->version);
	json_string(j, "host", f->hostname);
	json_string(j, "arch", f->arch);
	json_string(j, "os_release", f->os_release);
	json_string(j, "cpu", f->cpu_desc);
	json_end(j);
	json_array(j, "events");
	for (uint32_t c = 0; c < st->columns; c++) {
		json_object(j, NULL);
		json_string(j, "event", call_tree_name(st, st->column[c].name));
		json_string(j, "unit", call_tree_name(st, st->column[c].unit));
		json_uint(j, "samples", st->column[c].samples);
		json_uint(j, "amount", st->column[c].amount);
		json_uint_if(j, "total", st->column[c].has_total, st->column[c].total);
		json_bool(j, "exact", st->column[c].counted);
		json_bool(j, "in_step", call_tree_in_step(&st->column[c]));
		json_bool(j, "read_with_another", st->column[c].read);
		json_bool(j, "mixed", report_mixed(r, c));
		json_bool(j, "skids", st->column[c].skids);
		skid_known_json(j, &r->skid, r->samples->file,
				call_tree_name(st, st->column[c].name));
		json_end(j);
	}
	json_end(j);
	if (st->columns)
		json_string(j, "sorted_by",
			    call_tree_name(st, st->column[r->options->column].name));
	else
		json_null(j, "sorted_by");
}

static void json_quality(struct json *j, const struct report_shown *r)
{
	const struct samples_quality *q = &r->samples->quality;
	const struct {
		const char *name;
		uint64_t n;
	} rows[] = {
		{ "samples", q->samples },
		{ "used", q->used },
		{ "lost_records", q->lost },
		{ "lost_samples", q->lost_samples },
		{ "throttled", q->throttled },
		{ "undecodable", q->undecodable },
		{ "unattributed", q->unattributed },
		{ "disordered", q->disordered },
		{ "cut_stacks", q->cut },
		{ "stacks_cut_by_size", q->cut_by_size },
		{ "followed_chains", q->chains },
		{ "broken_chains", q->broken },
		{ "shortened_stacks", q->unkept },
		{ "deferred_stacks", q->deferred },
		{ "backward_readings", q->backwards },
	};

	json_object(j, "quality");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		json_uint(j, rows[i].name, rows[i].n);
	json_bool(j, "broke_off", q->broke_off);
	if (perfdata_features(r->samples->file)->partial)
		partial_json(j, perfdata_features(r->samples->file)->partial);
	json_bool(j, "with_stacks", q->with_stacks);
	json_bool(j, "leaf_callers_may_be_missing", report_leaf_callers(r));
	json_bool(j, "with_periods", !q->weightless);
	json_bool(j, "clock_too_fast", q->short_clock);
	json_bool(j, "all_builds_verified", !q->unverified);
	json_array(j, "by_name");
	for (size_t i = 0; i < r->samples->n_by_name; i++) {
		json_object(j, NULL);
		json_string(j, "module", r->samples->by_name[i].module);
		json_bool(j, "same_inode", r->samples->by_name[i].same_inode);
		json_bool(j, "newer", r->samples->by_name[i].newer);
		json_bool(j, "other_file", r->samples->by_name[i].other);
		json_end(j);
	}
	json_end(j);
	undecoded_json(j, r->samples->file, true);
	json_string(j, "damage", q->damage[0] ? q->damage : NULL);
	json_string(j, "not_unwound", q->no_unwinding[0] ? q->no_unwinding : NULL);
	json_array(j, "unnamed");
	for (size_t i = 0; i < r->samples->n_unnamed; i++) {
		json_object(j, NULL);
		json_string(j, "module", r->samples->unnamed[i].module);
		json_uint(j, "samples", r->samples->unnamed[i].samples);
		json_string(j, "reason", r->samples->unnamed[i].why);
		json_string(j, "remedy", r->samples->unnamed[i].remedy);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void json_what(struct json *j, const struct report_shown *r, const struct report_what *w)
{
	const struct call_tree *st = r->samples->call_tree;
	unsigned by = r->report->keys;
	char address[24];

	if (by & REPORT_COMM)
		json_string(j, "comm", call_tree_name(st, w->comm));
	if (by & (REPORT_PID | REPORT_TID))
		json_uint(j, "pid", w->pid);
	if (by & REPORT_TID)
		json_uint(j, "tid", w->tid);
	if (by & (REPORT_MODULE | REPORT_ADDRESS))
		json_string(j, "module", call_tree_name(st, w->module));
	if (by & REPORT_FUNCTION) {
		json_string(j, "function",
			    w->flags & CALL_TREE_UNKNOWN ? NULL : call_tree_name(st, w->function));
		json_bool(j, "inlined", w->flags & CALL_TREE_INLINED);
	}
	if (by & REPORT_LINE) {
		json_string(j, "file", w->file ? call_tree_name(st, w->file) : NULL);
		json_uint_if(j, "line", w->file, w->line);
	}
	if (by & REPORT_ADDRESS) {
		snprintf(address, sizeof(address), "0x%llx", (unsigned long long)w->address);
		json_string(j, "address", address);
	}
	if (by & REPORT_TRACE)
		traced_json(j, "fields", st, w->trace, r->samples->field, r->samples->n_fields);
	if (by & ~(unsigned)(REPORT_COMM | REPORT_PID | REPORT_TID | REPORT_TRACE)) {
		json_bool(j, "kernel", w->flags & CALL_TREE_KERNEL);
		json_bool(j, "code", !(w->flags & CALL_TREE_MARK));
	}
}

/* Columns of CSV: the keys, the fields of tracepoints, and three numbers for each event. */
static void columns(struct json *j, const struct report_shown *r)
{
	static const char *const what[] = { "self", "total", "samples" };
	const struct call_tree *st = r->samples->call_tree;
	unsigned by = r->report->keys;
	char key[32];

	for (size_t i = 0; i < KEYS; i++) {
		if (!(by & keys[i].key))
			continue;
		if (keys[i].key == REPORT_LINE)
			table_column(j, "file", "", "file", NULL);
		if (keys[i].key == REPORT_TID && !(by & REPORT_PID))
			table_column(j, "pid", "", "pid", NULL);
		if (keys[i].key == REPORT_ADDRESS && !(by & REPORT_MODULE))
			table_column(j, "module", "", "module", NULL);
		table_column(j, keys[i].name, "", keys[i].name, NULL);
	}
	for (size_t i = 0; by & REPORT_TRACE && i < r->samples->n_fields; i++)
		table_column(j, call_tree_name(st, r->samples->field[i]), "",
			     numbered(key, "field", i), NULL);
	for (uint32_t c = 0; c < st->columns; c++)
		for (int k = 0; k < 3; k++) {
			struct text title = { 0 };

			text_add(&title, "%s %s", call_tree_name(st, st->column[c].name), what[k]);
			table_column(j, title.s ? title.s : "", "", numbered(key, what[k], c),
				     NULL);
			text_free(&title);
		}
	if (r->ratio)
		table_column(j, r->ratio->text, "", "ratio", NULL);
}

/* Values of columns that JSON has in another form. */
static void column_values(struct json *j, const struct report_shown *r,
			  const struct report_row *row)
{
	const struct call_tree *st = r->samples->call_tree;
	char key[32];

	if (row->what.flags & CALL_TREE_UNKNOWN)
		table_string(j, "function", call_tree_name(st, row->what.function));
	for (size_t i = 0; r->report->keys & REPORT_TRACE && i < r->samples->n_fields; i++) {
		const struct call_tree_trace *v = traced_value(st, row->what.trace,
							       r->samples->field[i]);

		table_string(j, numbered(key, "field", i), v ? call_tree_name(st, v->value) : NULL);
	}
	for (uint32_t c = 0; c < st->columns; c++) {
		table_uint(j, numbered(key, "self", c), row->self[c]);
		table_uint(j, numbered(key, "total", c), row->total[c]);
		table_uint(j, numbered(key, "samples", c), row->samples[c]);
	}
}

static void json_rows(struct json *j, const struct report_shown *r)
{
	const struct call_tree *st = r->samples->call_tree;
	double ratio;

	json_array(j, "rows");
	for (size_t i = 0; i < r->report->n && (!r->limit || i < r->limit); i++) {
		const struct report_row *row = &r->report->row[i];

		json_object(j, NULL);
		json_what(j, r, &row->what);
		if (j->table)
			column_values(j, r, row);
		json_array(j, "events");
		for (uint32_t c = 0; c < st->columns; c++) {
			double s = share(row->self[c], st->column[c].amount);

			json_object(j, NULL);
			json_uint(j, "self", row->self[c]);
			json_uint(j, "total", row->total[c]);
			json_uint(j, "samples", row->samples[c]);
			json_real(j, "share", s);
			json_bool(j, "exact", row->counted && st->column[c].counted);
			json_real(j, "margin",
				  row->counted && st->column[c].counted
					  ? 0
					  : report_margin(&st->column[c], s));
			json_end(j);
		}
		json_end(j);
		if (r->ratio && derived_of(r->ratio, row->self, &ratio))
			json_real(j, "ratio", ratio);
		else if (r->ratio)
			json_null(j, "ratio");
		json_end(j);
	}
	json_end(j);
}

static void json_relatives(struct json *j, const char *key, const struct report_relative *of,
			   size_t n, const struct report_shown *r)
{
	const struct call_tree *st = r->samples->call_tree;

	json_array(j, key);
	for (size_t i = 0; i < n; i++) {
		json_object(j, NULL);
		json_string(j, "function",
			    of[i].function ? call_tree_name(st, of[i].function) : NULL);
		json_string(j, "module", of[i].function ? call_tree_name(st, of[i].module) : NULL);
		json_uint(j, "amount", of[i].amount);
		json_uint(j, "samples", of[i].samples);
		json_end(j);
	}
	json_end(j);
}

/* CSV has its own table, because the function itself is a row, too. */
static void csv_relatives(struct text *out, const struct report_shown *r)
{
	const struct call_tree *st = r->samples->call_tree;
	const struct report_relatives *f = r->relatives;

	text_add(out, "side,function,module,amount,samples\r\nitself,");
	csv_field(out, r->function, ',');
	text_add(out, ",%" PRIu64 ",\r\n", f->self);
	for (int side = 0; side < 2; side++) {
		const struct report_relative *of = side ? f->callee : f->caller;

		for (size_t i = 0; i < (side ? f->callees : f->callers); i++) {
			text_add(out, side ? "callee," : "caller,");
			csv_field(out, of[i].function ? call_tree_name(st, of[i].function) : "",
				  ',');
			csv_field(out, of[i].function ? call_tree_name(st, of[i].module) : "", ',');
			text_add(out, "%" PRIu64 ",%" PRIu64 "\r\n", of[i].amount, of[i].samples);
		}
	}
}

void report_document(struct text *out, enum output_format format, const struct report_shown *r)
{
	static const struct table_layout rows = {
		.rows = "rows", .columns = "", .digits = 17, .line_end = "\r\n"
	};
	struct json document, *j = &document;

	if (r->relatives && format == FORMAT_CSV) {
		csv_relatives(out, r);
		return;
	}
	document = document_as(format, &rows);
	if (j->table)
		columns(j, r);
	json_object(j, NULL);
	json_head(j, r);
	json_string(j, "by_samples_as", r->samples->counted.why);
	if (r->relatives) {
		json_object(j, "function");
		json_string(j, "name", r->function);
		json_uint(j, "self", r->relatives->self);
		json_bool(j, "self_exact",
			  r->relatives->counted &&
				  r->samples->call_tree->column[r->options->column].counted);
		json_uint(j, "total", r->relatives->total);
		json_uint(j, "samples", r->relatives->samples);
		json_relatives(j, "callers", r->relatives->caller, r->relatives->callers, r);
		json_relatives(j, "callees", r->relatives->callee, r->relatives->callees, r);
		json_end(j);
	} else {
		json_string(j, "ratio", r->ratio ? r->ratio->text : NULL);
		json_bool(j, "ratio_mixed", report_ratio_mixed(r));
		json_array(j, "keys");
		for (size_t i = 0; i < KEYS; i++)
			if (r->report->keys & keys[i].key)
				json_string(j, NULL, keys[i].name);
		json_end(j);
		json_array(j, "fields");
		for (size_t i = 0; i < r->samples->n_fields; i++)
			json_string(j, NULL,
				    call_tree_name(r->samples->call_tree, r->samples->field[i]));
		json_end(j);
		json_rows(j, r);
	}
	if (r->shift)
		skid_shift_json(j, r->shift, r->samples);
	json_quality(j, r);
	json_end(j);
	json_into(out, j);
}
