/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/stat.h>
#include "cli/samples/report_code.h"
#include "profile/report/annotate_view.h"
#include "profile/report/derived_column.h"
#include "profile/report/report.h"

enum { FUNCTIONS_MOST = 25, INSTRUCTIONS_MOST = 30000 };

static const double least_share = 0.005;

struct adding {
	struct page *page;
	struct samples *samples;
	struct annotate_shown shown;
	size_t functions, instructions;
};

/* Functions without a name or without available code are left out. */
static int add_function(struct adding *a, const char *function, const char *module,
			struct tare_error *err)
{
	const struct annotate_options o = { .function = function,
					    .module = module,
					    .no_patterns = true,
					    .column = a->shown.column };
	struct annotation of = { 0 };
	struct text json = { 0 };
	int ret = annotate_samples(&of, a->samples, &o, err);

	if (ret == -ENOENT) {
		*err = (struct tare_error)TARE_ERROR_INIT;
		return 0;
	}
	if (ret == 0 && !of.no_code && a->instructions + of.lines <= INSTRUCTIONS_MOST) {
		a->functions++;
		a->instructions += of.lines;
		a->shown.of = &of;
		annotate_json(&json, &a->shown);
		if (json.failed)
			ret = tare_fail_nomem(err);
		else
			page_add(a->page, json.s, json.len);
	}
	text_free(&json);
	annotate_free(&of);
	return ret;
}

static int add_all(struct adding *a, const struct sample_options *o, struct tare_error *err)
{
	const struct call_tree *tree = a->samples->call_tree;
	const struct report_options by = { .keys = REPORT_MODULE | REPORT_FUNCTION,
					   .column = a->shown.column,
					   .module = o->module,
					   .function = o->function };
	double least = least_share * (double)tree->column[by.column].amount;
	struct report report = { 0 };
	int ret = report_make(&report, tree, &by, err);

	for (size_t i = 0; ret == 0 && i < report.n && a->functions < FUNCTIONS_MOST; i++) {
		const struct report_row *r = &report.row[i];

		if (!r->self[by.column] || (double)r->self[by.column] < least)
			break;
		if (r->what.function)
			ret = add_function(a, call_tree_name(tree, r->what.function),
					   call_tree_name(tree, r->what.module), err);
	}
	report_free(&report);
	return ret;
}

int report_code(struct page *page, const char *path, const struct sample_options *o,
		const char *event, const struct skid_known *skid, struct tare_error *err)
{
	struct samples_options read = o->read;
	struct samples samples = { 0 };
	struct adding a = { .page = page,
			    .samples = &samples,
			    .shown = { .path = path,
				       .source = true,
				       .root = read.symfs ? read.symfs : "",
				       .skid = *skid,
				       .samples = &samples } };
	struct stat st;
	int ret;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	read.detail = SAMPLES_ADDRESS;
	read.flat = true;
	read.inlined = false;
	read.lines = false;
	read.sample_log = read.log_with_counts = false;
	read.counted = true;
	read.comms_apart = read.threads_apart = false;
	read.trace = NULL;
	read.n_trace = 0;
	ret = samples_read(&samples, path, &read, err);
	if (ret == 0 && samples.call_tree->columns) {
		a.shown.column = derived_column(samples.call_tree, event, err);
		ret = a.shown.column == SET_NONE ? -ENOENT : add_all(&a, o, err);
	}
	samples_free(&samples);
	return ret;
}
