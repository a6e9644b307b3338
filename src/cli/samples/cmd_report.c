/* SPDX-License-Identifier: MIT */
/* tare report: shows where the samples of a recording are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include "cli/recordings.h"
#include "profile/traced.h"
#include "output/input.h"
#include "profile/report/tell_names.h"
#include "perfdata/dump/tell_partial.h"
#include "output/page_file.h"
#include "cli/samples/report_code.h"
#include "cli/samples/report_diff.h"
#include "cli/samples/sample_options.h"
#include "profile/report/folded.h"
#include "profile/report/report_view.h"
#include "profile/report/call_tree_json.h"

enum { ROWS_SHOWN = 30, ROWS_ON_A_PAGE = 5000 };

struct report_cli {
	struct sample_options common;
	unsigned keys;
	char *words; /* the tracepoint fields among the keys */
	const char *field[TRACED_KEYS_MOST];
	size_t n_fields;
	size_t limit;
	bool limit_set, sort_set, by_total, folded, normalise;
	double least_percent;
	const char *ratio, *about, *before;
};

static const struct {
	const char *name;
	unsigned key;
} key_names[] = {
	{ "comm", REPORT_COMM },       { "command", REPORT_COMM },
	{ "pid", REPORT_PID },         { "tid", REPORT_TID },
	{ "thread", REPORT_TID },      { "module", REPORT_MODULE },
	{ "dso", REPORT_MODULE },      { "function", REPORT_FUNCTION },
	{ "symbol", REPORT_FUNCTION }, { "sym", REPORT_FUNCTION },
	{ "line", REPORT_LINE },       { "srcline", REPORT_LINE },
	{ "address", REPORT_ADDRESS }, { "addr", REPORT_ADDRESS },
};

/* The field names are known only when the recording is read. */
static int add_field(struct report_cli *o, char *word, struct tare_error *err)
{
	if (!traced_is_key(word, strlen(word))) {
		tare_fail(err, EINVAL, "there is no key '%.40s'", word);
		tare_hint(
			err,
			"keys: comm, pid, tid, module, function, line, address, and fields of tracepoints: trace_fields, FIELD, EVENT.FIELD");
		return -EINVAL;
	}
	if (o->n_fields == TRACED_KEYS_MOST)
		return tare_fail(
			err, E2BIG,
			"--sort: more than %d fields of tracepoints; trace_fields takes them all",
			TRACED_KEYS_MOST);
	o->field[o->n_fields++] = word;
	o->keys |= REPORT_TRACE;
	return 0;
}

static int set_sort(void *options, const char *arg, struct tare_error *err)
{
	struct report_cli *o = options;

	char *word, *rest;
	int ret = 0;

	o->keys = 0;
	o->sort_set = true;
	o->n_fields = 0;
	free(o->words);
	rest = o->words = strdup(arg);
	if (!rest)
		return tare_fail_nomem(err);
	while (ret == 0 && (word = strsep(&rest, ","))) {
		size_t i = 0;

		while (i < ARRAY_SIZE(key_names) && strcmp(key_names[i].name, word))
			i++;
		if (i < ARRAY_SIZE(key_names))
			o->keys |= key_names[i].key;
		else
			ret = add_field(o, word, err);
	}
	return ret;
}

#define OPTIONS struct report_cli

static const struct option_row report_opts[] = {
	{ 's', "sort", "KEYS",
	  "rows by comm, pid, tid, module, function, line, address, a tracepoint's fields",
	  SPECIAL_ALL(set_sort) },
	{ 'n', "limit", "N", "show N rows; 0: all (default: 30, in json and csv all)",
	  NUMBER(limit, 0, UINT64_MAX), GIVEN(limit_set) },
	{ 0, "percent-limit", "P", "show rows of P percent or more", PERCENT(least_percent, 100) },
	{ 0, "by-total", NULL, "order by the total of a function and its callees", FLAG(by_total) },
	{ 0, "callers", "FUNCTION", "its callers and callees", TEXT(about, NULL) },
	{ 0, "ratio", "FORMULA", "a column such as 'instructions / cycles'", TEXT(ratio, NULL) },
	{ 0, "inline", NULL, "inlined functions as separate rows", FLAG(common.read.inlined) },
	{ 0, "flat", NULL, "ignore callers", FLAG(common.read.flat) },
	{ 0, "folded", NULL, "stacks for flame graphs, one a line, with their counts",
	  FLAG(folded) },
	{ 0, "diff", "BEFORE", "changes since that recording; with --html a flame graph of them",
	  TEXT(before, NULL) },
	{ 0, "normalise", NULL, "with --diff: shares, as if both were equally long",
	  FLAG(normalise) },
	OUTPUT_HTML_ROW(common.out,
			"write an HTML page to FILE instead: the table and a flame graph"),
	BLOCK_ROW(common, sample_skid_rows),
	BLOCK_ROW(common, sample_rows),
	{ 0 },
};

static int check(const struct report_cli *o, struct tare_error *err)
{
	if (o->before && o->about)
		return tare_fail(err, EINVAL, "--diff and --callers exclude each other");
	if (o->before && !o->folded && report_diff_check(o->keys, err) < 0)
		return -EINVAL;
	if (o->normalise && !o->before)
		return tare_fail(err, EINVAL, "--normalise is for --diff");
	if (o->folded && o->about)
		return tare_fail(err, EINVAL, "--folded and --callers exclude each other");
	if (o->folded && o->common.out.format != FORMAT_TEXT)
		return tare_fail(err, EINVAL, "--folded cannot be combined with --format");
	if (o->common.out.html &&
	    (o->folded || o->common.out.path || o->common.out.format != FORMAT_TEXT)) {
		tare_fail(err, EINVAL, "--html cannot be combined with --folded, --format or -o");
		return -EINVAL;
	}
	if (o->common.skid && (o->before || o->folded || o->about))
		return tare_fail(
			err, EINVAL,
			"--skid needs the table: it cannot be combined with --diff, --folded or --callers");
	if (o->before && o->ratio)
		return tare_fail(err, EINVAL, "--diff and --ratio exclude each other");
	return 0;
}

static int put_text(void *arg, struct text *out, struct tare_error *err)
{
	return output_put(arg, out, err);
}

/* The column to sort by: the given one, or the first. */
static int column_of(const struct samples *s, const char *event, uint32_t *out,
		     struct tare_error *err)
{
	size_t n;
	const struct call_tree_row *row = call_tree_rows(s->call_tree, &n);

	*out = 0;
	if (!s->call_tree->columns)
		return 0;
	if (!event && s->n_fields) { /* the first one that has such fields */
		uint32_t least = SET_NONE;

		for (size_t i = 0; i < n; i++)
			if (row[i].trace && row[i].column < least)
				least = row[i].column;
		*out = least == SET_NONE ? 0 : least;
	}
	if (!event)
		return 0;
	*out = derived_column(s->call_tree, event, err);
	return *out == SET_NONE ? -ENOENT : 0;
}

static int show_folded(const struct report_cli *o, struct samples *s, uint32_t column,
		       struct derived_column *ratio, struct output *to, bool *partial,
		       struct tare_error *err)
{
	struct folded_options f = {
		.column = column, .ratio = ratio, .with_comm = true, .normalise = o->normalise
	};
	struct samples before = { 0 };
	struct text out = { 0 };
	int ret = 0;

	if (o->before) {
		ret = samples_read(&before, o->before, &o->common.read, err);
		if (ret == 0) {
			input_tell_broke_off("report", o->before, before.quality.broke_off);
			tell_uncounted("report", o->before, before.file);
			tell_doubted_names("report", o->before, before.unnamed, before.n_unnamed);
			*partial |= tell_partial("report", o->before, before.file,
						 before.quality.damage, true);
		}
		if (ret == 0 && before.call_tree->columns && s->call_tree->columns) {
			/* The same event, at any position in that file. */
			f.before_column = derived_column(
				before.call_tree,
				call_tree_name(s->call_tree, s->call_tree->column[column].name),
				err);
			if (f.before_column == SET_NONE) {
				tare_prefix(err, "%.100s: ", o->before);
				ret = -ENOENT;
			}
		}
		f.before = before.call_tree;
	}
	if (ret == 0 && s->call_tree->columns)
		ret = folded_write(&out, s->call_tree, &f, put_text, to, err);
	samples_free(&before);
	text_free(&out);
	return ret;
}

/* The table as in JSON, the stacks, and the code of the hottest functions. */
static int write_page(const struct report_cli *o, const struct report_shown *shown,
		      struct tare_error *err)
{
	struct call_tree *tree = shown->samples->call_tree;
	const struct call_tree_about about = { .program = "all",
					       .least = 1e-6,
					       .samples = &tree->sample_log };
	struct page_file p = PAGE_FILE_INIT;
	struct text table = { 0 };
	int ret = page_file_open(&p, o->common.out.html, NULL, err);

	report_document(&table, FORMAT_JSON, shown);
	if (ret == 0 && table.failed)
		ret = tare_fail_nomem(err);
	if (ret == 0)
		ret = page_file_begin(&p, "tare report", shown->path, 0, err);
	if (ret == 0)
		ret = call_tree_json(page_document(&p.page), tree, &about, err);
	if (ret == 0)
		page_add(&p.page, table.s, table.len);
	if (ret == 0 && shown->report && tree->columns)
		ret = report_code(&p.page, shown->path, &o->common,
				  call_tree_name(tree, tree->column[shown->options->column].name),
				  &shown->skid, err);
	if (ret == 0)
		ret = page_file_end(&p, err);
	page_file_abandon(&p);
	text_free(&table);
	return ret;
}

static int show_table(const struct report_cli *o, const char *path, struct samples *s,
		      uint32_t column, struct derived_column *ratio, struct output *to,
		      struct tare_error *err)
{
	struct report_options opts = { .keys = o->keys,
				       .column = column,
				       .by_total = o->by_total,
				       .module = o->common.module,
				       .function = o->common.function };
	struct report report = { 0 };
	struct report_relatives relatives;
	struct report_shown shown = { .path = path,
				      .samples = s,
				      .options = &opts,
				      .ratio = ratio,
				      .limit = o->limit_set                         ? o->limit
					      : o->common.out.format == FORMAT_TEXT ? ROWS_SHOWN
										    : 0,
				      .least_percent = o->least_percent };
	struct skids_kept kept = { 0 };
	struct skid_shift shift = { 0 };
	struct text out = { 0 };
	struct style style = { 0 };
	int ret = sample_load_skid(&kept, &o->common, err);

	shown.skid = (struct skid_known){ &kept, o->common.skid };
	if (ret == 0 && o->common.skid) {
		ret = skid_shift_make(&shift, s, err);
		shown.shift = ret == 0 ? &shift : NULL;
		ret = ret == -ENOENT ? 0 : ret;
	}
	if (o->common.out.html && !o->limit_set)
		shown.limit = ROWS_ON_A_PAGE;
	if (!o->common.out.html)
		style = output_style(to, o->common.out.colour);
	style.thousands = true;
	if (ret == 0 && o->about) {
		ret = report_relatives(&relatives, s->call_tree, o->about, column, err);
		shown.relatives = ret == 0 ? &relatives : NULL;
		shown.function = o->about;
	} else if (ret == 0) {
		ret = report_make(&report, s->call_tree, &opts, err);
		shown.report = &report;
	}
	if (ret == 0 && o->common.out.html)
		ret = write_page(o, &shown, err);
	else if (ret == 0 && o->common.out.format == FORMAT_TEXT)
		report_text(&out, &shown, &style);
	else if (ret == 0)
		report_document(&out, o->common.out.format, &shown);
	if (ret == 0 && !o->common.out.html)
		ret = output_put(to, &out, err);
	if (shown.relatives)
		report_relatives_free(&relatives);
	report_free(&report);
	skid_shift_free(&shift);
	skids_kept_free(&kept);
	text_free(&out);
	return ret;
}

/* Exact counts are not kept per command name: rows by command only if requested, or if there is
 * only one command. */
static void ask_for_counts(struct report_cli *o)
{
	o->common.read.counted = true;
	o->common.read.comms_apart = o->sort_set && o->keys & REPORT_COMM;
	o->common.read.threads_apart = o->keys & (REPORT_PID | REPORT_TID);
}

static int show(struct report_cli *o, const char *path, bool *partial, struct tare_error *err)
{
	struct samples samples = { 0 };
	struct derived_column ratio = { 0 };
	struct output to = { .fd = -1 };
	uint32_t column = 0;
	int ret;

	ask_for_counts(o);
	o->common.read.sample_log = o->common.read.log_with_counts = o->common.out.html &&
		!o->about && !o->n_fields;
	ret = samples_read(&samples, path, &o->common.read, err);
	if (ret < 0)
		return ret;
	if (samples.counted.used && samples.counted.comms > 1 && !o->sort_set)
		o->keys &= ~(unsigned)REPORT_COMM;
	if (o->folded || o->common.out.format == FORMAT_CSV) {
		input_tell_broke_off("report", path, samples.quality.broke_off);
		tell_uncounted("report", path, samples.file);
		tell_doubted_names("report", path, samples.unnamed, samples.n_unnamed);
	}
	*partial = tell_partial("report", path, samples.file, samples.quality.damage, true);
	ret = column_of(&samples, o->common.event, &column, err);
	if (ret == 0 && o->ratio)
		ret = derived_parse(&ratio, o->ratio, samples.call_tree, err);
	if (ret < 0 && o->ratio)
		tare_prefix(err, "--ratio: ");
	if (ret == 0 && !o->common.out.html)
		ret = output_open(&to, o->common.out.path, OUTPUT_WHOLE, 1, err);
	if (ret == 0 && o->folded)
		ret = show_folded(o, &samples, column, o->ratio ? &ratio : NULL, &to, partial, err);
	else if (ret == 0)
		ret = show_table(o, path, &samples, column, o->ratio ? &ratio : NULL, &to, err);
	if (ret < 0)
		output_abandon(&to);
	else
		ret = output_close(&to, err);
	derived_free(&ratio);
	samples_free(&samples);
	return ret;
}

static int show_diff(struct report_cli *o, const char *path, bool *partial, struct tare_error *err)
{
	const struct report_diff_cli d = {
		.common = &o->common,
		.before = o->before,
		.after = path,
		.html = o->common.out.html,
		.keys = o->keys,
		.sort_set = o->sort_set,
		.by_total = o->by_total,
		.shares = o->normalise,
		.least_percent = o->least_percent,
		.limit = o->limit_set                         ? o->limit
			: o->common.out.html                  ? ROWS_ON_A_PAGE
			: o->common.out.format == FORMAT_TEXT ? ROWS_SHOWN
							      : 0,
	};

	ask_for_counts(o);
	return report_diff_show(&d, partial, err);
}

static int report_run(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct report_cli o = { .common = SAMPLE_OPTIONS_INIT,
				.keys = REPORT_COMM | REPORT_MODULE | REPORT_FUNCTION };
	int status, rest = options_parse(self, argc, argv, &o, &status), ret;
	bool partial = false;

	if (rest < 0) {
		sample_options_free(&o.common);
		free(o.words);
		return status;
	}
	ret = check(&o, &err);
	if (ret == 0 && argc - rest > (o.common.input ? 0 : 1)) {
		ret = tare_fail(&err, EINVAL, "'%.64s' is one file too many", argv[argc - 1]);
		tare_hint(&err, "report takes one file");
	}
	o.common.read.detail = o.keys & REPORT_ADDRESS ? SAMPLES_ADDRESS
		: o.keys & REPORT_LINE                 ? SAMPLES_LINE
						       : SAMPLES_FUNCTION;
	o.common.read.lines = o.keys & REPORT_LINE;
	o.common.read.large_inlined = o.common.out.format == FORMAT_TEXT &&
		o.keys & REPORT_FUNCTION && !o.common.out.html && !o.before;
	o.common.read.home = getenv("HOME");
	o.common.read.trace = o.field;
	o.common.read.n_trace = o.n_fields;
	if (ret == 0 && o.before)
		input_note(o.before);
	if (ret == 0)
		input_note_recording(self->name, sample_path(&o.common, argc, argv, rest));
	if (ret == 0)
		ret = (o.before && !o.folded ? show_diff : show)(
			&o, sample_path(&o.common, argc, argv, rest), &partial, &err);
	sample_options_free(&o.common);
	free(o.words);
	if (ret < 0) {
		complain(self, &err, NULL);
		return EXIT_CANNOT_MEASURE;
	}
	return partial ? EXIT_PARTIAL_FILE : 0;
}

const struct command cmd_report = {
	.name = "report",
	.about = "show the samples of a recording: functions, lines, threads, callers",
	.args = "[FILE]",
	.example = "  tare report perf.data\n"
		   "  tare report --sort line --filter 'comm=gcc,module=*cc1'\n"
		   "  tare report --diff before.data after.data\n"
		   "  tare report --folded perf.data | flamegraph.pl >flame.svg",
	.topic = TOPIC_WHERE,
	.common = true,
	.common_options = "sort limit callers inline folded diff html input filter "
			  "format output",
	.words = WORDS_ANYWHERE,
	.options = report_opts,
	.run = report_run,
};
