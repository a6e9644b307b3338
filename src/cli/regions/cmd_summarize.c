/* SPDX-License-Identifier: MIT */
/* tare summarize: the cost of the regions of recordings, per label. */
#include <stdlib.h>
#include <string.h>
#include "cli/recordings.h"
#include "cli/regions/recording_options.h"
#include "cli/regions/region_page.h"
#include "regions/regions_view.h"

enum { ROWS = 30, SINGLES = 20 };

struct summarize_options {
	struct recording_options form;
	struct regions_options how;
	struct regions_shown shown;
	bool merges; /* --merge-kinds */
};

#define OPTIONS struct summarize_options

static const struct option_row summarize_opts[] = {
	{ 0, "sort", "KEY", "self (default), total, count, median, p99, max or name",
	  WORD(shown.key, NULL, "self", "total", "count", "median", "p99", "max", "name") },
	BLOCK_ROW(form, recording_region_rows),
	{ 'l', "label", "LABEL",
	  "the most expensive single regions of this label, with their arguments",
	  TEXT(how.single, NULL) },
	{ 0, "args", NULL, "each set of arguments has a row of its own", FLAG(how.with_arguments) },
	{ 0, "merge-kinds", NULL,
	  "one row per name: self, time, count, hits, blocked, load and hashing of a rustc query",
	  FLAG(merges) },
	{ 't', "thread", "THREAD", "only the thread of this number or name",
	  TEXT(how.thread, NULL) },
	{ 0, "per-thread", NULL, "each thread has rows of its own", FLAG(how.per_thread) },
	{ 0, "subtract-own", NULL, "subtract the overhead of recording, if it was measured",
	  FLAG(how.subtract_own) },
	RECORDING_ROWS("tare/summarize/1"),
	OUTPUT_HTML_ROW(form.out, "also write an HTML page to FILE"),
	{ 0 },
};

/* The labels' names, each once; a label with arguments counts as the same name. */
static int is_label(const struct regions *r, const char *wanted, struct tare_error *err)
{
	const char **names = malloc((r->labels.n + 1) * sizeof(*names));
	struct text near = { 0 };
	size_t n = 0;

	for (uint32_t i = 0; names && i < r->labels.n; i++) {
		if (!strcmp(r->labels.entry[i].name, wanted)) {
			free(names);
			return 0;
		}
		if (!r->labels.entry[i].arg[0])
			names[n++] = r->labels.entry[i].name;
	}
	if (!names)
		return tare_fail_nomem(err);
	tare_fail(err, EINVAL, "there is no label '%.100s'", wanted);
	text_nearest(&near, wanted, names, n, 3);
	if (near.len)
		tare_hint(err, "did you mean %.100s? --sort name --top 0 lists them all", near.s);
	else
		tare_hint(err, "tare summarize --sort name --top 0 lists them");
	text_free(&near);
	free(names);
	return -EINVAL;
}

static int summarize(struct regions *r, char **files, size_t n, const struct summarize_options *o,
		     struct tare_error *err)
{
	for (size_t i = 0; i < n; i++) {
		struct timeline *t = NULL;
		int ret = timeline_open(&t, files[i], err);

		if (ret == 0)
			ret = regions_add(r, t, err);
		timeline_close(t);
		if (ret < 0)
			return ret;
	}
	if (o->how.thread && r->n_threads == 0) {
		tare_fail(err, EINVAL, "no thread has the number or name '%.60s'", o->how.thread);
		tare_hint(err, "tare summarize --per-thread shows what threads there are");
		return -EINVAL;
	}
	if (o->how.single && r->n_counters == 0) {
		tare_fail(err, EINVAL,
			  "--label: the recording has no counter to compare regions by");
		tare_hint(err, "how often labels ran: tare summarize --match '%.100s'",
			  o->how.single);
		return -EINVAL;
	}
	if ((o->how.single && is_label(r, o->how.single, err) < 0) ||
	    recording_some_match(&o->form, &r->labels, err) < 0)
		return -EINVAL;
	regions_sort(r, o->shown.key, r->by);
	return 0;
}

/* --html: all rows, in the order of the text. */
static int to_page(struct page_file *p, const struct regions *r, const struct summarize_options *o,
		   char **files, size_t n, struct tare_error *err)
{
	struct regions_shown all = o->shown;
	struct text json = { 0 };
	int ret;

	all.top = o->form.top_given ? o->form.top : 0;
	regions_document(&json, FORMAT_JSON, r, &all);
	ret = region_page(p, "tare summarize", &json, files, n, err);
	text_free(&json);
	return ret;
}

static int refuse_merge(const struct summarize_options *o, struct tare_error *err)
{
	const char *with = o->how.single ? "--label"
		: o->how.with_arguments  ? "--args"
		: o->how.per_thread      ? "--per-thread"
					 : NULL;
	bool single = o->shown.key == REGIONS_MEDIAN || o->shown.key == REGIONS_P99 ||
		o->shown.key == REGIONS_MAX;

	if (o->merges && with)
		return tare_fail(
			err, EINVAL,
			"--merge-kinds has one row per name: %s cannot be combined with it", with);
	if (o->merges && single)
		return tare_fail(
			err, EINVAL,
			"--merge-kinds has sums only: --sort takes self, total, count or name with it");
	return 0;
}

static int damage(const struct command *self, const struct recording_options *form,
		  const struct regions *r)
{
	bool damaged = false;

	for (size_t i = 0; i < r->n_recordings; i++)
		damaged |= recording_damage(self, form, r->recording[i].path,
					    r->recording[i].damage, r->recording[i].live);
	return damaged ? EXIT_DAMAGED : 0;
}

static int run_summarize(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct summarize_options o = { 0 };
	struct page_file page = PAGE_FILE_INIT;
	struct opened_output to;
	struct regions_merged merged = { 0 };
	struct regions r;
	struct text out = { 0 };
	int status, rest = options_parse(self, argc, argv, &o, &status), ret = 0;

	if (rest < 0)
		return status;
	if (rest == argc) {
		tare_fail(&err, EINVAL, "which recording?");
		tare_hint(
			&err,
			"tare summarize FILE..; 'tare regions -o FILE -- command' writes one, rustc -Z self-profile does");
		complain(self, &err, NULL);
		return EXIT_CANNOT_MEASURE;
	}
	if (o.how.single && o.form.out.format == FORMAT_CSV) {
		tare_fail(&err, EINVAL,
			  "--label lists single regions as text or json: csv has a row per label");
		complain(self, &err, NULL);
		return EXIT_CANNOT_MEASURE;
	}
	if (refuse_merge(&o, &err) < 0) {
		complain(self, &err, NULL);
		return EXIT_CANNOT_MEASURE;
	}
	o.shown.top = o.form.top_given ? o.form.top : o.form.out.format == FORMAT_TEXT ? ROWS : 0;
	o.how.by = o.form.by;
	o.shown.match = o.form.match;
	o.how.singles = o.form.top ? o.form.top : SINGLES;
	regions_init(&r, &o.how);
	input_note_recordings(self->name, argv + rest, (size_t)(argc - rest));
	if (o.form.out.html)
		ret = page_file_open(&page, o.form.out.html, o.form.out.path, &err);
	if (ret == 0)
		ret = recording_open(&to, &o.form, &err);
	if (ret == 0) {
		ret = recording_each_once(argv + rest, (size_t)(argc - rest), &err);
		if (ret == 0)
			ret = summarize(&r, argv + rest, (size_t)(argc - rest), &o, &err);
		if (ret == 0 && o.merges) {
			ret = regions_merge(&merged, &r, o.shown.match, o.shown.key, r.by, &err);
			o.shown.merged = &merged;
		}
		if (ret == 0 && o.form.out.format == FORMAT_TEXT)
			regions_text(&out, &r, &o.shown, &to.style);
		else if (ret == 0)
			regions_document(&out, o.form.out.format, &r, &o.shown);
		if (ret == 0)
			ret = recording_close(&to, &out, &err);
		else
			output_abandon(&to.to);
		if (ret == 0 && o.form.out.html)
			ret = to_page(&page, &r, &o, argv + rest, (size_t)(argc - rest), &err);
	}
	page_file_abandon(&page);
	if (ret < 0)
		complain(self, &err, NULL);
	else
		ret = damage(self, &o.form, &r);
	regions_merged_free(&merged);
	regions_free(&r);
	return ret < 0 ? EXIT_CANNOT_MEASURE : ret;
}

const struct command cmd_summarize = {
	.name = "summarize",
	.about = "show the cost of regions: self, total, count and spread per label",
	.args = "FILE...",
	.example = "  tare summarize run.regions\n"
		   "  tare summarize --label parse --top 5 run.regions\n"
		   "  tare summarize --merge-kinds rustc-1234.mm_profdata\n"
		   "  tare summarize --format json rustc-1234.mm_profdata",
	.topic = TOPIC_WHERE,
	.words = WORDS_ANYWHERE,
	.options = summarize_opts,
	.run = run_summarize,
};
