/* SPDX-License-Identifier: MIT */
/* tare report --diff: compares two recordings of samples, as a table or as a page with a
 * differential flame graph. */
#include <string.h>
#include "cli/recordings.h"
#include "profile/report/derived_column.h"
#include "profile/report/report_diff.h"
#include "profile/report/tell_names.h"
#include "perfdata/dump/tell_partial.h"
#include "output/page_file.h"
#include "cli/samples/report_diff.h"
#include "profile/report/report_diff_view.h"
#include "profile/report/call_tree_json.h"

int report_diff_check(unsigned keys, struct tare_error *err)
{
	if (keys & REPORT_TRACE) {
		tare_fail(err, EINVAL, "--diff does not compare fields of tracepoints");
		tare_hint(err, "--sort takes comm, module, function and line with --diff");
		return -EINVAL;
	}
	if (!(keys & (REPORT_PID | REPORT_TID | REPORT_ADDRESS)))
		return 0;
	tare_fail(err, EINVAL,
		  "--diff: processes, threads and addresses differ between two recordings");
	tare_hint(err, "--sort takes comm, module, function and line with --diff");
	return -EINVAL;
}

/* The event to compare in both recordings: the given one, or the first of AFTER. */
static int columns(const struct report_diff_cli *o, const struct samples s[REPORT_SIDES],
		   uint32_t column[REPORT_SIDES], struct tare_error *err)
{
	const struct call_tree *after = s[REPORT_AFTER].call_tree,
			       *before = s[REPORT_BEFORE].call_tree;
	const char *names[] = { o->before, o->after };

	for (int side = 0; side < REPORT_SIDES; side++)
		if (!s[side].call_tree->columns)
			return tare_fail(err, ENODATA, "%.200s has no samples%s", names[side],
					 s[side].quality.samples ? " that match" : "");
	column[REPORT_AFTER] = o->common->event ? derived_column(after, o->common->event, err) : 0;
	if (column[REPORT_AFTER] == SET_NONE)
		return -ENOENT;
	column[REPORT_BEFORE] = derived_column(
		before, call_tree_name(after, after->column[column[REPORT_AFTER]].name), err);
	if (column[REPORT_BEFORE] == SET_NONE) {
		tare_prefix(err, "%.100s: ", o->before);
		return -ENOENT;
	}
	if (!o->shares &&
	    s[REPORT_BEFORE].quality.weightless != s[REPORT_AFTER].quality.weightless) {
		tare_fail(
			err, EINVAL,
			"only one of the recordings has periods: the weight of a sample of the other is unknown");
		tare_hint(err, "--normalise compares shares");
		return -EINVAL;
	}
	return 0;
}

static int to_page(const struct report_diff_cli *o, const struct report_diff_shown *shown,
		   struct tare_error *err)
{
	const struct call_tree_about about = { .title = "Flame graph of the difference",
					       .program = "all",
					       .least = 1e-6,
					       .difference = true,
					       .shares = o->shares,
					       .exact = report_diff_all_exact(shown->diff) };
	struct page_file p = PAGE_FILE_INIT;
	struct text table = { 0 }, title = { 0 };
	int ret = page_file_open(&p, o->html, NULL, err);

	report_diff_document(&table, FORMAT_JSON, shown);
	text_add(&title, "%s, before: %s", o->after, o->before);
	if (ret == 0 && (table.failed || title.failed))
		ret = tare_fail_nomem(err);
	if (ret == 0)
		ret = page_file_begin(&p, "tare report --diff", title.s, 0, err);
	if (ret == 0) {
		ret = call_tree_json(page_document(&p.page), shown->diff->report.call_tree, &about,
				     err);
		page_add(&p.page, table.s, table.len);
	}
	if (ret == 0)
		ret = page_file_end(&p, err);
	page_file_abandon(&p);
	text_free(&table);
	text_free(&title);
	return ret;
}

static int to_output(const struct report_diff_cli *o, const struct report_diff_shown *shown,
		     struct tare_error *err)
{
	struct opened_output to;
	struct text out = { 0 };
	int ret = sample_open(&to, o->common, err);

	if (ret < 0)
		return ret;
	if (o->common->out.format == FORMAT_TEXT)
		report_diff_text(&out, shown, &to.style);
	else
		report_diff_document(&out, o->common->out.format, shown);
	ret = recording_close(&to, &out, err);
	text_free(&out);
	return ret;
}

/* Exact counts of one side are not compared with samples of the other. */
static int read_both(struct samples s[REPORT_SIDES], const struct report_diff_cli *o,
		     struct tare_error *err)
{
	const char *path[] = { o->before, o->after };
	struct samples_options read = o->common->read;
	int ret = 0;

	for (int side = 0; ret == 0 && side < REPORT_SIDES; side++)
		ret = samples_read(&s[side], path[side], &read, err);
	read.counted = false;
	for (int side = 0; ret == 0 && side < REPORT_SIDES; side++) {
		if (!s[side].counted.used || s[!side].counted.used)
			continue;
		samples_free(&s[side]);
		ret = samples_read(&s[side], path[side], &read, err);
		s[side].counted.why = "the other recording has none";
	}
	return ret;
}

static bool several_commands(const struct samples *s)
{
	return s->counted.used && s->counted.comms > 1;
}

int report_diff_show(const struct report_diff_cli *o, bool *partial, struct tare_error *err)
{
	struct report_options opts = { .keys = o->keys,
				       .column = REPORT_AFTER,
				       .by_total = o->by_total,
				       .module = o->common->module,
				       .function = o->common->function };
	struct samples s[REPORT_SIDES] = { 0 };
	struct report_diff diff = { 0 };
	struct report_diff_shown shown = { .path = { o->before, o->after },
					   .samples = { &s[0], &s[1] },
					   .diff = &diff,
					   .limit = o->limit,
					   .least_percent = o->least_percent };
	struct call_tree *pair = NULL;
	int ret = read_both(s, o, err);

	if (ret == 0)
		ret = columns(o, s, shown.column, err);
	if (ret == 0 && !o->sort_set &&
	    (several_commands(&s[REPORT_BEFORE]) || several_commands(&s[REPORT_AFTER])))
		opts.keys &= ~(unsigned)REPORT_COMM;
	if (ret == 0) {
		const struct call_tree *from[] = { s[0].call_tree, s[1].call_tree };

		pair = report_pair(from, shown.column, opts.keys, NULL, err);
		ret = pair ? report_diff_make(&diff, pair, &opts, o->shares, err) : -ENOMEM;
	}
	if (ret == 0)
		ret = o->html ? to_page(o, &shown, err) : to_output(o, &shown, err);
	for (int side = 0; ret == 0 && o->common->out.format == FORMAT_CSV && side < REPORT_SIDES;
	     side++) {
		input_tell_broke_off("report", shown.path[side], s[side].quality.broke_off);
		tell_uncounted("report", shown.path[side], s[side].file);
		tell_doubted_names("report", shown.path[side], s[side].unnamed, s[side].n_unnamed);
	}
	for (int side = 0; side < REPORT_SIDES; side++)
		*partial |= s[side].file &&
			tell_partial("report", side ? o->after : o->before, s[side].file,
				     s[side].quality.damage, true);
	report_diff_free(&diff);
	call_tree_free(pair);
	for (int side = 0; side < REPORT_SIDES; side++)
		samples_free(&s[side]);
	return ret;
}
