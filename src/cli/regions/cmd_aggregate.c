/* SPDX-License-Identifier: MIT */
/* tare aggregate: compares several runs of the same work, with the noise of every label and
 * every interval. */
#include <stdio.h>
#include <stdlib.h>
#include "cli/recordings.h"
#include "regions/counter_named.h"
#include "cli/regions/recording_options.h"
#include "cli/regions/region_page.h"
#include "regions/aggregate_view.h"

enum { ROWS = 30, EXTREMES = 10, DIFFERENCES = 5, MOST = 10000 };

struct aggregate_command {
	struct recording_options form;
	struct aggregate_options how;
	struct aggregate_shown shown;
	bool check, explain;
};

#define OPTIONS struct aggregate_command

static const struct option_row aggregate_opts[] = {
	BLOCK_ROW(form, recording_region_rows),
	{ 0, "extremes", "N", "values in each list of intervals (10)",
	  NUMBER(how.extremes, 0, MOST) },
	{ 0, "differences", "N", "show N of the places where the runs differ (5)",
	  NUMBER(how.differences, 0, MOST) },
	{ 0, "explain", NULL, "explain the spread of each counter by the other recorded counters",
	  FLAG(explain) },
	{ 0, "check", NULL, "exit with 2 if the runs did different work", FLAG(check) },
	RECORDING_ROWS("tare/aggregate/1"),
	OUTPUT_HTML_ROW(form.out, "also write an HTML page to FILE"),
	{ 0 },
};

static const char *name_of(const void *a, size_t counter)
{
	return ((const struct aggregate *)a)->counter[counter].name;
}

static int run_files(struct aggregate *a, char **files, size_t n, const struct aggregate_command *o,
		     struct tare_error *err)
{
	struct timeline **t = calloc(n, sizeof(*t));
	int ret = t ? 0 : tare_fail_nomem(err);
	size_t only;

	for (size_t i = 0; ret == 0 && i < n; i++)
		ret = timeline_open(&t[i], files[i], err);
	if (ret == 0)
		ret = aggregate(a, t, n, &o->how, err);
	if (ret == 0)
		ret = counter_named(&only, o->form.by, a, a->n_counters, name_of,
				    "the recordings have", err);
	for (size_t i = 0; t && i < n; i++)
		timeline_close(t[i]);
	free(t);
	return ret;
}

/* The budget of each counter in the output. The caller frees `out->row`. */
static int explain(struct explained *out, const struct aggregate *a,
		   const struct aggregate_shown *how, struct tare_error *err)
{
	int ret = 0;

	*out = (struct explained){ .runs = (unsigned)a->n_runs,
				   .why_none = "of the recordings are unchanged",
				   .row = calloc(a->n_counters + 1, sizeof(*out->row)) };
	if (!out->row)
		return tare_fail_nomem(err);
	for (size_t c = 0; ret == 0 && c < a->n_counters; c++) {
		const struct aggregate_counter *k = &a->counter[c];
		struct explained_row *r = &out->row[out->n];
		struct text place = { 0 };

		if (!aggregate_wanted(how, k->name))
			continue;
		*r = (struct explained_row){ .name = k->name,
					     .unit = k->unit,
					     .scale = 1,
					     .exact = k->quality == TARE_EXACT };
		ret = aggregate_budget(a, c, &r->budget, err);
		if (k->differs && r->budget.state == BUDGET_SPLIT && r->budget.left > 0.01)
			aggregate_place_words(&place, a, &k->first);
		if (place.len)
			snprintf(r->place, sizeof(r->place),
				 "the first interval that differs is %s", place.s);
		text_free(&place);
		out->n++;
	}
	return ret;
}

/* --html: all labels. */
static int to_page(struct page_file *p, const struct aggregate *a,
		   const struct aggregate_command *o, char **files, size_t n,
		   struct tare_error *err)
{
	struct aggregate_shown all = o->shown;
	struct text json = { 0 };
	int ret;

	all.top = o->form.top_given ? o->form.top : 0;
	aggregate_document(&json, FORMAT_JSON, a, &all);
	ret = region_page(p, "tare aggregate", &json, files, n, err);
	text_free(&json);
	return ret;
}

static int verdict(const struct command *self, const struct recording_options *form,
		   const struct aggregate *a, bool check)
{
	bool same = a->differences == 0 && a->n_threads, damaged = false;

	for (size_t i = 0; i < a->n_threads; i++)
		same &= a->thread[i].runs == a->n_runs;
	for (size_t r = 0; r < a->n_runs; r++)
		damaged |= recording_damage(self, form, a->run[r].path, a->run[r].damage,
					    a->run[r].live);
	return check && !same ? EXIT_CHECK : damaged ? EXIT_DAMAGED : 0;
}

static int run_aggregate(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct aggregate_command o = { .how = { .extremes = EXTREMES,
						.differences = DIFFERENCES } };
	struct page_file page = PAGE_FILE_INIT;
	struct opened_output to;
	struct aggregate a = { 0 };
	struct explained explained = { 0 };
	struct text out = { 0 };
	size_t *copy_of = NULL;
	int status, rest = options_parse(self, argc, argv, &o, &status), ret = 0;

	if (rest < 0)
		return status;
	if (argc - rest < 2) {
		tare_fail(&err, EINVAL, "two or more recordings of the same work are required");
		tare_hint(&err, "tare aggregate FILE FILE..; for one recording, tare summarize");
		complain(self, &err, NULL);
		return EXIT_CANNOT_MEASURE;
	}
	if (o.explain && o.form.out.format == FORMAT_CSV) {
		tare_fail(&err, EINVAL, "--explain is for text or json: csv has a row per label");
		complain(self, &err, NULL);
		return EXIT_CANNOT_MEASURE;
	}
	o.shown.by = o.form.by;
	o.shown.match = o.form.match;
	o.shown.top = o.form.top_given ? o.form.top : o.form.out.format == FORMAT_TEXT ? ROWS : 0;
	input_note_recordings(self->name, argv + rest, (size_t)(argc - rest));
	if (o.form.out.html)
		ret = page_file_open(&page, o.form.out.html, o.form.out.path, &err);
	if (ret == 0)
		ret = recording_open(&to, &o.form, &err);
	if (ret == 0) {
		ret = recording_each_once(argv + rest, (size_t)(argc - rest), &err);
		if (ret == 0)
			ret = recording_copies(&copy_of, self, argv + rest, (size_t)(argc - rest),
					       &err);
		o.shown.copy_of = copy_of;
		if (ret == 0)
			ret = run_files(&a, argv + rest, (size_t)(argc - rest), &o, &err);
		if (ret == 0)
			ret = recording_some_match(&o.form, &a.labels, &err);
		if (ret == 0 && o.explain)
			ret = explain(&explained, &a, &o.shown, &err);
		o.shown.explained = o.explain ? &explained : NULL;
		if (ret == 0 && o.form.out.format == FORMAT_TEXT)
			aggregate_text(&out, &a, &o.shown, &to.style);
		else if (ret == 0)
			aggregate_document(&out, o.form.out.format, &a, &o.shown);
		if (ret == 0)
			ret = recording_close(&to, &out, &err);
		else
			output_abandon(&to.to);
		if (ret == 0 && o.form.out.html)
			ret = to_page(&page, &a, &o, argv + rest, (size_t)(argc - rest), &err);
	}
	page_file_abandon(&page);
	if (ret < 0)
		complain(self, &err, NULL);
	else
		ret = verdict(self, &o.form, &a, o.check);
	free(explained.row);
	free(copy_of);
	aggregate_free(&a);
	return ret < 0 ? EXIT_CANNOT_MEASURE : ret;
}

const struct command cmd_aggregate = {
	.name = "aggregate",
	.about = "compare several runs of the same work: the noise of each label",
	.args = "FILE FILE...",
	.example = "  for i in 1 2 3; do tare regions -o run.$i -- ./prog; done\n"
		   "  tare aggregate run.1 run.2 run.3\n"
		   "  tare aggregate --check --format json run.*",
	.topic = TOPIC_TRUST,
	.words = WORDS_ANYWHERE,
	.options = aggregate_opts,
	.run = run_aggregate,
};
