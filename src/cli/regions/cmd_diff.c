/* SPDX-License-Identifier: MIT */
/* tare diff: recordings before and after a change; prints what changed by more than the noise. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "cli/recordings.h"
#include "regions/counter_named.h"
#include "cli/regions/recording_options.h"
#include "output/page_file.h"
#include "regions/compare_view.h"

enum { ROWS = 30 };

struct diff_options {
	struct recording_options form;
	struct compare_options how;
	struct compare_shown shown;
	bool check;
	double threshold; /* percent */
};

#define OPTIONS struct diff_options

static const struct option_row diff_opts[] = {
	{ 0, "check", "[PERCENT]",
	  "exit with 2 if a cost increased by more than the noise and PERCENT (default: 0)",
	  PERCENT(threshold, UINT64_MAX), GIVEN(check) },
	{ 0, "sure", NULL, "only changes that exceed the noise", FLAG(shown.sure) },
	{ 0, "sort", "KEY", "change (default), percent, sure or name",
	  WORD(shown.key, NULL, "change", "percent", "sure", "name") },
	BLOCK_ROW(form, recording_region_rows),
	{ 0, "args", NULL, "each set of arguments has a row of its own", FLAG(how.with_arguments) },
	{ 0, "subtract-own", NULL, "subtract the overhead of recording, if it was measured",
	  FLAG(how.subtract_own) },
	RECORDING_ROWS("tare/diff/1"),
	OUTPUT_HTML_ROW(form.out, "also write an HTML page to FILE"),
	{ 0 },
};

/* "A1 A2 -- B1 B2", or "A B". Removes the "--" from files. */
static int sides(char **files, size_t n, size_t *before, size_t *after, struct tare_error *err)
{
	size_t at = n;

	for (size_t i = 0; i < n; i++)
		if (!strcmp(files[i], "--")) {
			at = i;
			break;
		}
	if (at < n) {
		memmove(&files[at], &files[at + 1], (n - at - 1) * sizeof(*files));
		*before = at;
		*after = n - at - 1;
	} else if (n == 2) {
		*before = *after = 1;
	} else {
		*before = *after = 0;
	}
	if (*before && *after)
		return 0;
	tare_fail(err, EINVAL, "which recordings are from before, which from after?");
	tare_hint(
		err,
		"tare diff BEFORE AFTER, or with the noise: tare diff BEFORE1 BEFORE2 -- AFTER1 AFTER2");
	return -EINVAL;
}

/* Labels that became slower by more than the threshold. */
struct dearer {
	const struct compare_change *change; /* the largest increase in percent; NULL: none */
	const char *label, *counter, *what;  /* what: "self of " or the like */
	size_t n;                            /* labels */
};

static bool is_dearer(const struct compare_change *d, double threshold)
{
	return d->known && d->is.test.change > 0 && compare_percent(d) > threshold;
}

static bool is_beyond(const struct compare_change *d)
{
	return d->beyond;
}

static bool is_few(const struct compare_change *d)
{
	return compare_too_few(d) && d->is.verdict == CHANGE_FEW;
}

/* Only changes for which is() is true. */
static struct dearer find_dearer(const struct compare *c, const struct diff_options *o,
				 bool (*is)(const struct compare_change *))
{
	static const char *const whats[] = { "self of ", "total of " };
	struct dearer found = { 0 };

	for (size_t i = 0; i <= c->n_rows; i++) {
		const struct compare_row *row = i < c->n_rows ? &c->row[i] : &c->all;
		const char *label = i < c->n_rows ? c->labels.entry[row->label].name : "(all)";
		bool any = false;

		if (o->shown.match && (row == &c->all || !strstr(label, o->shown.match)))
			continue;
		for (size_t k = 0; k < c->n_counters; k++)
			for (size_t what = COMPARE_SELF; what <= COMPARE_TOTAL; what++) {
				const struct compare_change
					*d = &row->change[what * c->n_counters + k];

				if (!compare_counter_wanted(&o->shown, c->counter[k].name) ||
				    !is_dearer(d, o->threshold) || !is(d))
					continue;
				any = true;
				if (!found.change ||
				    compare_percent(d) > compare_percent(found.change))
					found = (struct dearer){ d, label, c->counter[k].name,
								 row == &c->all || c->counts_only
									 ? ""
									 : whats[what],
								 found.n };
			}
		found.n += any;
	}
	return found;
}

/* Reports it on stderr. */
static void say_dearer(const struct command *self, const struct dearer *d, bool shown)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct text by = { 0 };

	if (isfinite(compare_percent(d->change)))
		text_add(&by, "grew by %.3g %%", compare_percent(d->change));
	else
		text_add(&by, "is new");
	tare_fail(&err, EINVAL, "--check: %s%.100s %s (%.40s), beyond the noise", d->what, d->label,
		  by.s ? by.s : "", d->counter);
	if (d->n > 1)
		tare_hint(&err, "and %zu more%s", d->n - 1, shown ? "" : "; --sure shows them");
	complain(self, &err, NULL);
	text_free(&by);
}

static int verdict(const struct command *self, const struct compare *c,
		   const struct diff_options *o, struct tare_error *err)
{
	struct dearer found = { 0 };
	struct machines machines = { 0 };
	bool damaged = false;

	for (size_t r = 0; r < c->n_runs; r++)
		damaged |= recording_damage(self, &o->form, c->run[r].recording[0].path,
					    c->run[r].recording[0].damage,
					    c->run[r].recording[0].live);
	compare_machines(&machines, c);
	if (o->check && machines.how == MACHINES_OTHER_KIND)
		return tare_fail(
			err, EINVAL,
			"--check: %.90s is from another kind of CPU (%s) than %.90s (%s): the CPU may cause the difference",
			machines.other_path, machines.other->kind, machines.path,
			machines.first->kind);
	if (o->check)
		found = find_dearer(c, o, is_beyond);
	if (found.change) {
		say_dearer(self, &found, o->shown.sure);
		return EXIT_CHECK;
	}
	if (o->check)
		found = find_dearer(c, o, is_few);
	if (found.change) {
		tare_fail(
			err, ENODATA,
			"--check: %.60s increased (%.40s, by %.0f) or differs by chance: %zu + %zu runs are too few to tell",
			found.label, found.counter, found.change->is.test.change, c->n[0], c->n[1]);
		tare_hint(err, "%zu recordings on each side are enough", found.change->is.enough);
		return -ENODATA;
	}
	if (o->check)
		found = find_dearer(c, o, compare_by_order);
	if (found.change) {
		tare_fail(
			err, ENODATA,
			"--check: %.60s increased (%.40s, by %.3g %%) or the machine drifted: only interleaved runs can distinguish these",
			found.label, found.counter, compare_percent(found.change));
		tare_hint(err, "tare regions --turns %zu -o NAME -- BEFORE ::: AFTER",
			  c->n[0] > 5 ? c->n[0] : 5);
		return -ENODATA;
	}
	return damaged ? EXIT_DAMAGED : 0;
}

/* --html: all labels. */
static int to_page(struct page_file *p, const struct compare *c, const struct diff_options *o,
		   struct tare_error *err)
{
	struct compare_shown all = o->shown;
	struct text json = { 0 }, title = { 0 };
	int ret;

	all.top = o->form.top_given ? o->form.top : 0;
	compare_document(&json, FORMAT_JSON, c, &all);
	for (size_t i = 0; i < c->n_runs; i++)
		text_add(&title, "%s%s",
			 i == c->n[COMPARE_BEFORE] ? " - "
				 : i               ? " "
						   : "",
			 c->run[i].recording[0].path);
	json.failed |= title.failed;
	ret = page_file_document(p, "tare diff", title.s, &json, err);
	text_free(&title);
	text_free(&json);
	return ret;
}

static int run_diff(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct diff_options o = { 0 };
	struct page_file page = PAGE_FILE_INIT;
	struct opened_output to;
	struct compare c = { 0 };
	struct text out = { 0 };
	size_t before, after, only, *copy_of = NULL;
	int status, rest = options_parse(self, argc, argv, &o, &status), ret;

	if (rest < 0)
		return status;
	ret = sides(argv + rest, (size_t)(argc - rest), &before, &after, &err);
	if (ret == 0 && o.check && before + after < 3) {
		ret = tare_fail(&err, EINVAL,
				"--check: with one recording on each side the noise is unknown");
		tare_hint(&err,
			  "tare diff --check BEFORE1 BEFORE2 BEFORE3 -- AFTER1 AFTER2 AFTER3");
	}
	if (ret < 0) {
		complain(self, &err, NULL);
		return EXIT_CANNOT_MEASURE;
	}
	o.shown.by = o.form.by;
	o.shown.match = o.form.match;
	o.shown.top = o.form.top_given ? o.form.top : o.form.out.format == FORMAT_TEXT ? ROWS : 0;
	input_note_recordings(self->name, argv + rest, before + after);
	if (o.form.out.html)
		ret = page_file_open(&page, o.form.out.html, o.form.out.path, &err);
	if (ret == 0)
		ret = recording_open(&to, &o.form, &err);
	if (ret == 0) {
		ret = recording_each_once(argv + rest, before + after, &err);
		if (ret == 0)
			ret = recording_copies(&copy_of, self, argv + rest, before + after, &err);
		o.shown.copy_of = copy_of;
		if (ret == 0)
			ret = compare(&c, argv + rest, before, after, &o.how, &err);
		if (ret == 0)
			ret = recording_some_match(&o.form, &c.labels, &err);
		if (ret == 0)
			ret = counter_named(&only, o.form.by, &c, c.n_counters,
					    compare_counter_name, "the recordings have", &err);
		if (ret == 0)
			compare_sort(&c, o.shown.key, 0);
		if (ret == 0 && o.form.out.format == FORMAT_TEXT)
			compare_text(&out, &c, &o.shown, &to.style);
		else if (ret == 0)
			compare_document(&out, o.form.out.format, &c, &o.shown);
		if (ret == 0)
			ret = recording_close(&to, &out, &err);
		else
			output_abandon(&to.to);
		if (ret == 0 && o.form.out.html)
			ret = to_page(&page, &c, &o, &err);
	}
	page_file_abandon(&page);
	if (ret >= 0)
		ret = verdict(self, &c, &o, &err);
	if (ret < 0)
		complain(self, &err, NULL);
	compare_free(&c);
	free(copy_of);
	return ret < 0 ? EXIT_CANNOT_MEASURE : ret;
}

const struct command cmd_diff = {
	.name = "diff",
	.about = "compare recordings: which changes exceed the noise",
	.args = "BEFORE AFTER | BEFORE... -- AFTER...",
	.example = "  tare diff old.regions new.regions\n"
		   "  tare regions --turns 5 -o runs -- ./old ::: ./new\n"
		   "  tare diff runs.A.* -- runs.B.*\n"
		   "  tare diff --check=2 --sure old.* -- new.*",
	.topic = TOPIC_WHERE,
	.words = WORDS_PARTED,
	.options = diff_opts,
	.run = run_diff,
};
