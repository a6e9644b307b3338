/* SPDX-License-Identifier: MIT */
/* tare sharing: cache lines that threads contend for. */
#include "base/num.h"
#include "cli/recordings.h"
#include "profile/report/tell_names.h"
#include "perfdata/dump/tell_partial.h"
#include "output/page_file.h"
#include "cli/samples/sample_options.h"
#include "memory/sharing/sharing_view.h"

enum { LINES_SHOWN = 10, LINES_ON_A_PAGE = 1000, LINE_SIZE = 64, LINE_MOST = 256 };

struct sharing_cli {
	struct sample_options common;
	struct sharing_options opts;
	size_t limit;
	bool limit_set, all;
};

static int set_line_size(void *options, const char *arg, struct tare_error *err)
{
	uint64_t n;
	int ret = num_parse(arg, &n, err);

	if (ret == 0 && (n < 16 || n > LINE_MOST || n & (n - 1)))
		return tare_fail(err, EINVAL, "%.40s is not one of 16, 32, 64, 128, 256", arg);
	((struct sharing_cli *)options)->opts.line_size = (uint32_t)n;
	return ret;
}

#define OPTIONS struct sharing_cli

static const struct option_row sharing_opts[] = {
	{ 'a', "all", NULL, "also lines that are handed over, and lines with too few samples",
	  FLAG(all) },
	{ 'n', "limit", "N", "show N lines; 0: all (default: 10, in json and csv all)",
	  NUMBER(limit, 0, UINT64_MAX), GIVEN(limit_set) },
	{ 0, "line-size", "BYTES", "size of a cache line; default 64", SPECIAL_ALL(set_line_size) },
	OUTPUT_HTML_ROW(common.out, "write an HTML page to FILE instead"),
	BLOCK_ROW(common, access_rows),
	{ 0 },
};

static int write_page(const char *path, const struct sharing_shown *shown, struct tare_error *err)
{
	struct page_file p = PAGE_FILE_INIT;
	struct text lines = { 0 };
	int ret = page_file_open(&p, path, NULL, err);

	sharing_document(&lines, FORMAT_JSON, shown);
	if (ret == 0)
		ret = page_file_document(&p, "tare sharing", shown->path, &lines, err);
	page_file_abandon(&p);
	text_free(&lines);
	return ret;
}

static int write_text(const struct sharing_cli *o, const struct sharing_shown *shown,
		      struct tare_error *err)
{
	struct opened_output to;
	struct text out = { 0 };
	int ret = sample_open(&to, &o->common, err);

	if (ret < 0)
		return ret;
	if (o->common.out.format == FORMAT_TEXT)
		sharing_text(&out, shown, &to.style);
	else
		sharing_document(&out, o->common.out.format, shown);
	ret = recording_close(&to, &out, err);
	text_free(&out);
	return ret;
}

static int show(const struct sharing_cli *o, const char *path, bool *partial,
		struct tare_error *err)
{
	struct memory_samples_options from = access_options(&o->common);
	struct sharing_named n = { 0 };
	struct memory_samples c;
	int ret = o->common.out.html ? page_available(err) : 0;

	if (ret < 0)
		return ret;
	ret = memory_samples_open(&c, path, &from, err);
	if (ret == 0)
		ret = sharing_named_read(&n, &c, &o->opts, err);
	if (ret == 0)
		*partial = tell_partial("sharing", path, memory_samples_read(&c), c.damage, false);
	if (ret == 0)
		ret = access_any(&c, path,
				 sharing_totals(n.s).used + sharing_totals(n.s).passed_over,
				 n.no_accesses, err);
	if (ret == 0 && !sharing_totals(n.s).used) {
		ret = tare_fail(err, ENODATA,
				"%.200s: no access of its %llu has an address and a thread", path,
				(unsigned long long)sharing_totals(n.s).passed_over);
		tare_hint(
			err,
			"perf record -d records addresses; arm_spe_0 needs load_filter or store_filter without a privileged address filter");
	}
	if (ret == 0) {
		struct sharing_shown shown = { .path = path,
					       .named = &n,
					       .line_size = o->opts.line_size,
					       .all = o->all,
					       .limit = o->limit_set        ? o->limit
						       : o->common.out.html ? LINES_ON_A_PAGE
						       : o->common.out.format == FORMAT_TEXT
						       ? LINES_SHOWN
						       : 0 };

		if (o->common.out.format == FORMAT_CSV) {
			input_tell_broke_off("sharing", path, c.loss.broke_off);
			tell_doubted_names("sharing", path, c.unnamed, c.n_unnamed);
		}
		*partial |= c.blocks_damaged;
		ret = o->common.out.html ? write_page(o->common.out.html, &shown, err)
					 : write_text(o, &shown, err);
	}
	sharing_named_free(&n);
	memory_samples_close(&c);
	return ret;
}

static int sharing_run(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct sharing_cli o = { .common = SAMPLE_OPTIONS_INIT, .opts.line_size = LINE_SIZE };
	int status, rest = options_parse(self, argc, argv, &o, &status), ret;
	bool partial = false;

	if (rest >= 0) {
		ret = access_options_check(&o.common, &err);
		if (ret == 0 && o.common.out.html &&
		    (o.common.out.path || o.common.out.format != FORMAT_TEXT))
			ret = tare_fail(&err, EINVAL,
					"--html cannot be combined with --format or -o");
		if (ret == 0)
			ret = access_one_file(&o.common, argc, argv, rest, &err);
		if (ret == 0)
			input_note_recording(self->name, sample_path(&o.common, argc, argv, rest));
		if (ret == 0)
			ret = show(&o, sample_path(&o.common, argc, argv, rest), &partial, &err);
		if (ret < 0)
			complain(self, &err, NULL);
		status = ret < 0 ? EXIT_CANNOT_MEASURE : partial ? EXIT_PARTIAL_FILE : 0;
	}
	sample_options_free(&o.common);
	return status;
}

const struct command cmd_sharing = {
	.name = "sharing",
	.about = "find cache lines that threads contend for: true and false sharing",
	.args = "[FILE]",
	.example = "  tare record --precise=memory -- prog\n"
		   "  tare sharing perf.data\n"
		   "  tare sharing --format json perf.data",
	.topic = TOPIC_WHERE,
	.common = true,
	.words = WORDS_ANYWHERE,
	.options = sharing_opts,
	.run = sharing_run,
};
