/* SPDX-License-Identifier: MIT */
/* tare annotate: prints one function instruction by instruction, with counts. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli/recordings.h"
#include "profile/report/derived_column.h"
#include "profile/report/report.h"
#include "base/signal_name.h"
#include "perfdata/dump/tell_partial.h"
#include "output/page_file.h"
#include "cli/samples/sample_options.h"
#include "profile/report/annotate_view.h"

struct annotate_cli {
	struct sample_options common;
	bool intel, no_source, any_source;
	double least_percent;
};

#define OPTIONS struct annotate_cli

static const struct option_row annotate_opts[] = {
	BLOCK_ROW(common, sample_rows),
	BLOCK_ROW(common, sample_skid_rows),
	{ 0, "intel", NULL, "Intel's syntax on x86; default: AT&T's", FLAG(intel) },
	{ 0, "no-source", NULL, "leave the text of source lines out", FLAG(no_source) },
	{ 0, "any-source", NULL, "show source lines whoever owns the file", FLAG(any_source) },
	{ 0, "percent-limit", "P", "combine instructions of less than P percent",
	  PERCENT(least_percent, 100) },
	OUTPUT_HTML_ROW(common.out, "write an HTML page to FILE instead"),
	{ 0 },
};

static int to_page(const struct annotate_cli *o, const struct annotate_shown *shown,
		   struct tare_error *err)
{
	struct page_file p = PAGE_FILE_INIT;
	struct text json = { 0 };
	int ret = page_file_open(&p, o->common.out.html, NULL, err);

	annotate_json(&json, shown);
	if (ret == 0)
		ret = page_file_document(&p, "tare annotate", shown->of->function, &json, err);
	page_file_abandon(&p);
	text_free(&json);
	return ret;
}

static int put_listing(const struct annotate_cli *o, const struct annotate_shown *shown,
		       struct tare_error *err)
{
	struct opened_output to;
	struct text out = { 0 };
	int ret;

	if (o->common.out.html)
		return to_page(o, shown, err);
	ret = sample_open(&to, &o->common, err);
	if (ret < 0)
		return ret;
	if (o->common.out.format == FORMAT_JSON)
		annotate_json(&out, shown);
	else if (o->common.out.format == FORMAT_CSV)
		annotate_csv(&out, shown);
	else
		annotate_text(&out, shown, &to.style);
	ret = recording_close(&to, &out, err);
	text_free(&out);
	if (ret == 0 && o->common.out.format == FORMAT_CSV) {
		static const struct style plain = { 0 };

		annotate_mixed(&out, shown, &plain);
		if (out.len && !out.failed)
			fprintf(stderr, "tare annotate: note:%s", out.s);
		text_free(&out);
	}
	return ret;
}

/* The function may exist without code of its own: it is inlined, and its samples belong to the
 * functions around it. */
static void say_inlined(const struct annotate_cli *o, const char *path, const char *function,
			struct tare_error *err)
{
	struct samples_options read = o->common.read;
	size_t n_rows, ignored;
	struct samples s;
	uint64_t most = 0;

	read.detail = SAMPLES_FUNCTION;
	read.inlined = true;
	if (samples_read(&s, path, &read, NULL) < 0)
		return;

	const struct call_tree_frame *frame = call_tree_frames(s.call_tree, &ignored);
	const struct call_tree_node *node = call_tree_nodes(s.call_tree, &ignored);
	const struct call_tree_row *row = call_tree_rows(s.call_tree, &n_rows);

	for (size_t i = 0; i < n_rows; i++) {
		uint32_t at = row[i].node;
		bool within = false;

		for (; at && frame[node[at].frame].flags & CALL_TREE_INLINED; at = node[at].parent)
			within |= report_matches_function(
				function,
				call_tree_name(s.call_tree, frame[node[at].frame].function));
		if (!within || !at || row[i].samples <= most)
			continue;
		most = row[i].samples;

		annotate_inlined(function,
				 call_tree_name(s.call_tree, frame[node[at].frame].function),
				 "samples", err);
	}
	samples_free(&s);
}

static int of_recording(struct annotate_cli *o, const char *function, bool *partial,
			struct tare_error *err)
{
	const char *path = o->common.input ? o->common.input : "perf.data";
	struct annotate_options opts = { .function = function,
					 .module = o->common.module,
					 .intel_syntax = o->intel };
	struct annotate_shown shown = { .path = path,
					.source = !o->no_source,
					.any_source = o->any_source,
					.least_percent = o->least_percent,
					.root = o->common.read.symfs ? o->common.read.symfs : "" };
	struct annotation a = { 0 };
	struct skids_kept kept;
	struct samples samples;
	int ret = sample_load_skid(&kept, &o->common, err);

	input_note_recording("annotate", path);
	o->common.read.detail = SAMPLES_ADDRESS;
	o->common.read.flat = true;
	o->common.read.counted = true;
	if (ret == 0)
		ret = samples_read(&samples, path, &o->common.read, err);
	if (ret < 0) {
		skids_kept_free(&kept);
		return ret;
	}
	if (o->common.out.format == FORMAT_CSV) {
		input_tell_broke_off("annotate", path, samples.quality.broke_off);
		tell_uncounted("annotate", path, samples.file);
	}
	*partial = tell_partial("annotate", path, samples.file, samples.quality.damage, true);
	if (o->common.event && samples.call_tree->columns) {
		opts.column = derived_column(samples.call_tree, o->common.event, err);
		ret = opts.column == SET_NONE ? -ENOENT : 0;
	}
	if (ret == 0)
		ret = annotate_samples(&a, &samples, &opts, err);
	if (ret == -ENOENT && !(o->common.event && opts.column == SET_NONE))
		say_inlined(o, path, function, err);
	shown.of = &a;
	shown.column = opts.column;
	shown.samples = &samples;
	shown.skid = (struct skid_known){ &kept, o->common.skid };
	if (ret == 0)
		ret = put_listing(o, &shown, err);
	annotate_free(&a);
	samples_free(&samples);
	skids_kept_free(&kept);
	return ret;
}

/* Runs the command under the exact engine, which counts every execution of every instruction. */
static int of_command(struct annotate_cli *o, const char *function, char **argv, int *status,
		      struct tare_error *err)
{
	struct annotate_options opts = { .function = function,
					 .module = o->common.module,
					 .intel_syntax = o->intel,
					 .modules = { .home = o->common.read.home } };
	struct annotate_shown shown = { .source = !o->no_source,
					.any_source = o->any_source,
					.least_percent = o->least_percent,
					.root = "" };
	struct exact_options exact = { .profile = true };
	struct exact_profile profile = { 0 };
	int64_t counts[EXACT_CLASSES];
	struct annotation a = { 0 };
	struct exact_end end;
	struct exact *x = NULL;
	char by[SIGNAL_NAME_ROOM];
	extern char **environ;
	int ret = exact_launch(&x, argv, environ, &exact, err);

	if (ret < 0)
		return ret;
	/* The command gets the terminal's signals, too; its counts up to then are printed. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	ret = exact_wait(x, -1, &end, err);
	if (ret >= 0 && end.never_began)
		ret = tare_fail(err, ENODATA,
				"the command was ended by %s before its first instruction",
				signal_name(WTERMSIG(end.status), by));
	if (ret >= 0)
		ret = exact_counts(x, counts, err);
	if (ret == -ENODATA) /* only some of its processes are not counted completely */
		ret = 0;
	if (ret >= 0)
		ret = exact_profile(x, &profile, err);
	if (ret >= 0) {
		*status = WIFSIGNALED(end.status) ? 128 + WTERMSIG(end.status)
						  : WEXITSTATUS(end.status);
		ret = annotate_exact(&a, &profile, &opts, err);
	}
	exact_profile_free(&profile);
	exact_close(x);
	shown.of = &a;
	if (ret == 0)
		ret = put_listing(o, &shown, err);
	annotate_free(&a);
	return ret;
}

static int annotate_run(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct annotate_cli o = { .common = SAMPLE_OPTIONS_INIT };
	int status = 0, rest = options_parse(self, argc, argv, &o, &status), ret = 0, own = 0;
	bool partial = false;
	const char *file = NULL;
	int command;

	if (rest < 0) {
		sample_options_free(&o.common);
		return status;
	}
	if (rest < argc && !strcmp(argv[rest], "--"))
		rest++;
	if (rest == argc) {
		ret = tare_fail(&err, EINVAL, "which function?");
		tare_hint(&err, "tare annotate FUNCTION [FILE]; tare report lists them");
		complain(self, &err, NULL);
		sample_options_free(&o.common);
		return EXIT_CANNOT_MEASURE;
	}
	o.common.read.home = getenv("HOME");
	command = rest + 1;
	if (command < argc && strcmp(argv[command], "--")) {
		file = argv[command++];
		if (o.common.input)
			ret = tare_fail(&err, EINVAL, "'%.64s' is one file too many", file);
		o.common.input = file;
	}
	if (ret == 0 && command < argc && strcmp(argv[command], "--"))
		ret = tare_fail(&err, EINVAL, "'%.64s' is one word too many: a command follows --",
				argv[command]);
	if (ret == 0 && command < argc && ++command == argc)
		ret = tare_fail(&err, EINVAL, "there is no command after --");
	if (ret == 0 && command < argc && o.common.skid)
		ret = tare_fail(&err, EINVAL,
				"--skid needs a recording: exact counts have no skid");
	if (ret == 0 && command < argc && (o.common.input || o.common.event))
		ret = tare_fail(
			&err, EINVAL,
			"a command is executed and counted exactly: FILE, -i and -e are for recordings");
	if (ret == 0 && o.common.out.html &&
	    (o.common.out.path || o.common.out.format != FORMAT_TEXT))
		ret = tare_fail(&err, EINVAL, "--html cannot be combined with --format or -o");
	if (ret == 0 && o.common.out.html)
		ret = page_available(&err); /* before the command runs */
	if (ret == 0 && command < argc)
		ret = of_command(&o, argv[rest], argv + command, &own, &err);
	else if (ret == 0)
		ret = of_recording(&o, argv[rest], &partial, &err);
	sample_options_free(&o.common);
	if (ret < 0) {
		if (file && !err.hint[0] && access(file, X_OK) == 0)
			tare_hint(&err, "a command follows --: tare annotate FUNCTION -- %.64s",
				  file);
		complain(self, &err, NULL);
		return EXIT_CANNOT_MEASURE;
	}
	return own ? own : partial ? EXIT_PARTIAL_FILE : 0;
}

const struct command cmd_annotate = {
	.name = "annotate",
	.about = "show a function by instruction, with samples or exact counts",
	.args = "FUNCTION [FILE | -- COMMAND [ARG...]]",
	.example = "  tare annotate my_function perf.data\n"
		   "  tare annotate my_function -- ./prog  # exact counts of instructions",
	.topic = TOPIC_WHERE,
	.common = true,
	.words = WORDS_PARTED,
	.options = annotate_opts,
	.run = annotate_run,
};
