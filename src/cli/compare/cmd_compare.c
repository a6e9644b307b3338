/* SPDX-License-Identifier: MIT */
/*
 * tare compare: shows whether a change made a program slower, and where. It runs two commands and
 * compares them; if the instructions changed, one recording of each side shows in which functions.
 * It also compares two documents of tare stat, or two recordings of the exact engine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "base/path.h"
#include "base/temp_folder.h"
#include "cli/common_options.h"
#include "cli/compare/compare_revisions.h"
#include "compare/compare_document.h"
#include "compare/compare_view.h"
#include "launch/determinism_warn.h"
#include "launch/orphans.h"
#include "launch/pidspace.h"
#include "output/input.h"
#include "output/options/output_options.h"
#include "output/page_file.h"
#include "output/progress.h"
#include "output/temp_cleanup.h"
#include "profile/report/call_tree_json.h"

/* pairs of runs; fewer if a set would take longer than the usual time */
enum { RUNS_USUAL = 400 };
#define BUDGET_USUAL_NS 20000000000u

/* --format, after text and json; there is no CSV */
enum { FORMAT_MARKDOWN = FORMAT_JSON + 1, FORMAT_JUNIT };

struct compare_options {
	struct output_options out;
	struct determinism fixed;
	struct event_options events;
	enum engine_wish engine;
	unsigned runs;
	double threshold;
	bool runs_given, threshold_given, allow_failure, no_cause;
	uint64_t timeout_ns;
	const char *rev, *build;
	size_t limit;
};

#define OPTIONS struct compare_options

static const struct option_row compare_opts[] = {
	{ 'r', "repeat", "N",
	  "most runs of each side for times and other noisy events (400, or 20 s; 0: none)",
	  NUMBER(runs, 0, COMPARE_RUNS_MAX), GIVEN(runs_given) },
	EVENT_ROW(events, "events to compare (instructions)"),
	{ 0, "rev", "A..B", "two revisions of this git repository; A alone: to the working tree",
	  TEXT(rev, "revision") },
	{ 0, "build", "COMMAND", "with --rev: shell command that builds each of them",
	  TEXT(build, "command") },
	{ 0, "threshold", "PERCENT",
	  "smallest change that matters (exact counts 0, other counts 0.1, times 1)",
	  PERCENT(threshold, 1000), GIVEN(threshold_given) },
	{ 0, "engine", "ENGINE", "auto (default), perf or exact for counting",
	  WORD(engine, "engine", "auto", "perf", "exact") },
	{ 0, "deterministic", "[ITEMS]",
	  "items to fix under the exact engine: +cpu,-vdso (more, less), all, none",
	  DETERMINISTIC(fixed) },
	{ 0, "allow-failure", NULL, "compare commands that fail the same way on both sides",
	  FLAG(allow_failure) },
	{ 0, "timeout", "MS", "time limit of one run; a longer one is an error",
	  DURATION(timeout_ns, 1000000, 1), .refusal = "the time must be above 0" },
	{ 'n', "top", "N", "functions to show (10; 0: all)", NUMBER(limit, 0, UINT32_MAX) },
	{ 0, "no-cause", NULL, "do not search for the functions that changed", FLAG(no_cause) },
	OUTPUT_FORMAT_ROWS(out, "text (default), json (schema tare/compare/1), markdown or junit",
			   "text", "json", "markdown", "junit"),
	OUTPUT_HTML_ROW(out, "also a page, with a flame graph of the difference"),
	BLOCK_ROW(out, output_file_rows),
	BLOCK_ROW(out, output_colour_rows),
	{ 0 },
};

struct job {
	const struct command *self;
	struct compare_options *o;
	struct compare_plan plan;
	struct compare_measured measured;
	struct compare_cause cause;
	struct compare_shown shown;
	struct page_file page;
	struct stdin_replay input;
	struct progress progress;
	struct text events;
	bool has_cause, dashes; /* dashes: the words follow a -- */
	struct compare_documents documents;
	struct compare_revisions revisions; /* with --rev */
	const char *path[COMPARE_SIDES];    /* of documents or recordings; NULL: commands */
	struct tare_error *err;
};

/* ---- the cause ---- */

/* The change of the instructions by function, from one more run of each side. */
static int find_cause(struct job *j)
{
	const struct compare_event *e = compare_instructions(j->measured.event, j->measured.n);
	const char *program[COMPARE_SIDES], *paths[COMPARE_SIDES];
	struct temp_folder folder;
	char path[COMPARE_SIDES][sizeof(folder.path) + 16];
	struct tare_error why = TARE_ERROR_INIT;
	int ret = 0;

	if (!e || j->o->no_cause || (e->verdict != COMPARE_MORE && e->verdict != COMPARE_LESS))
		return 0;
	sigset_t before = temp_cleanup_block();

	ret = temp_folder_open(&folder, "compare", &why);
	if (ret == 0)
		temp_cleanup_add(folder.path);
	temp_cleanup_unblock(&before);
	for (int side = 0; ret == 0 && side < COMPARE_SIDES; side++) {
		snprintf(path[side], sizeof(path[side]), "%s/%s.data", folder.path,
			 compare_side_name(side));
		paths[side] = path[side];
		program[side] = path_base(j->plan.argv[side][0]);
		progress_show(&j->progress, 0, "recording the instructions %s",
			      compare_side_name(side));
		ret = compare_record(&j->plan, side, path[side], j->o->out.html, e->median[side],
				     &j->measured.by_signal, &why);
	}
	if (ret == 0) {
		ret = compare_cause_read(&j->cause, paths, program, &why);
		j->has_cause = ret == 0;
	}
	temp_folder_close(&folder);
	temp_cleanup_forget(folder.path);
	if (ret == -EINTR || ret == -ENOMEM) {
		*j->err = why;
		return ret;
	}
	if (ret < 0)
		compare_note(&j->shown, "The functions that changed are not known: %s", why.what);
	if (j->has_cause && !e->by_equality)
		compare_note(&j->shown, "The functions are those of one run of each side");
	for (int side = 0; j->has_cause && e->by_equality && side < COMPARE_SIDES; side++)
		if (j->cause.total[side] != e->median[side])
			compare_note(
				&j->shown,
				"The run %s that was recorded for the functions has %lld more instructions than the counted runs",
				compare_side_name(side),
				(long long)(j->cause.total[side] - e->median[side]));
	return 0;
}

/* ---- measuring ---- */

static void begin_run(void *with, unsigned run, unsigned runs, enum compare_side side)
{
	struct job *j = with;

	progress_show(&j->progress, runs ? (double)run / runs : 0, "run %u of %u, %s", run + 1,
		      runs, compare_side_name(side));
}

static void tell_input(void *with)
{
	const struct command *self = with;

	fprintf(stderr,
		"tare %s: reading standard input to its end, because each run gets the same; if the command needs none: </dev/null\n",
		self->name);
}

static int measure(struct job *j)
{
	const struct compare_options *o = j->o;
	int ret = 0;

	event_options_join(&o->events, &j->events);
	if (j->events.failed)
		return tare_fail_nomem(j->err);
	j->plan.events = o->events.given ? j->events.s : "instructions";
	j->plan.engine = o->engine;
	j->plan.fixed = &j->o->fixed;
	j->plan.runs = o->runs;
	j->plan.budget_ns = o->runs_given ? 0 : BUDGET_USUAL_NS;
	j->plan.threshold = o->threshold_given ? o->threshold : -1;
	j->plan.allow_failure = o->allow_failure;
	j->plan.timeout_ns = o->timeout_ns;
	j->plan.input = &j->input;
	j->plan.begin = begin_run;
	j->plan.with = j;
	ret = stdin_replay_begin(&j->input, o->timeout_ns, tell_input, (void *)j->self, j->err);
	progress_begin(&j->progress, j->self->name, false);
	if (ret == 0)
		ret = compare_measure(&j->measured, &j->plan, j->err);
	if (ret == 0)
		ret = find_cause(j);
	progress_end(&j->progress);
	stdin_replay_end(&j->input);
	return ret;
}

/* ---- output ---- */

static void about(struct job *j)
{
	struct compare_shown *s = &j->shown;

	for (int side = 0; side < COMPARE_SIDES; side++) {
		s->side[side].argv = j->path[side] ? j->documents.argv[side] : j->plan.argv[side];
		s->side[side].path = j->path[side];
		if (j->o->rev) {
			s->side[side].revision = j->revisions.side[side].name;
			s->side[side].commit = j->revisions.side[side].commit;
		}
	}
	s->event = j->measured.event;
	s->n = j->measured.n;
	s->cause = j->has_cause ? &j->cause : NULL;
	s->limit = j->o->limit;
	s->engine = j->path[0] ? (j->documents.engine[0] ? j->documents.engine : "exact")
		: j->measured.launcher == &launch_exact ? "exact"
							: "perf";
	s->fixed = !j->path[0] && j->measured.launcher == &launch_exact ? &j->o->fixed : NULL;
	compare_explain(s, &j->measured);
	for (unsigned i = 0; s->fixed && i < FIXED_REMARKS; i++) {
		struct text remark = { 0 };

		if (determinism_remark(&remark, s->fixed, i) && remark.s)
			compare_note(s, "%s", remark.s);
		text_free(&remark);
	}
	for (size_t i = 0; i < j->revisions.notes; i++)
		compare_note(s, "%s", j->revisions.note[i]);
	for (size_t i = 0; i < j->documents.notes; i++)
		compare_note(s, "%s", j->documents.note[i]);
}

/* All functions, and both sides as one flame graph. */
static int to_page(struct job *j)
{
	const struct style plain = { .utf8 = true, .thousands = true };
	struct compare_shown all = j->shown;
	struct text table = { 0 }, title = { 0 };
	int ret;

	if (!j->o->out.html)
		return 0;
	all.limit = 0;
	compare_show_json(&table, &all);
	compare_headline(&title, &all, &plain);
	ret = table.failed || title.failed
		? tare_fail_nomem(j->err)
		: page_file_begin(&j->page, "tare compare", title.s, 0, j->err);
	if (ret == 0)
		page_add(&j->page.page, table.s, table.len);
	if (ret == 0 && j->has_cause) {
		const struct call_tree_about about = {
			.title = "Flame graph of the difference",
			.program = "all",
			.least = 1e-6,
			.difference = true,
			.exact = report_diff_all_exact(&j->cause.diff),
		};

		ret = call_tree_json(page_document(&j->page.page), j->cause.pair, &about, j->err);
	}
	if (ret == 0)
		ret = page_file_end(&j->page, j->err);
	text_free(&table);
	text_free(&title);
	return ret;
}

static int show(struct job *j)
{
	const struct compare_shown *s = &j->shown;
	struct document to;
	int ret = document_open(&to, j->o->out.path, j->err);

	if (ret < 0)
		return ret;
	to.style = output_style(&to.to, j->o->out.colour);
	to.style.thousands = true;
	about(j);
	switch (j->o->out.format) {
	case FORMAT_JSON:
		compare_show_json(&to.out, s);
		break;
	case FORMAT_MARKDOWN:
		compare_markdown(&to.out, s);
		break;
	case FORMAT_JUNIT:
		compare_junit(&to.out, s);
		break;
	default:
		compare_show_text(&to.out, s, &to.style);
	}
	ret = document_close(&to, j->err);
	return ret < 0 ? ret : to_page(j);
}

/* Called before anything is measured, so that an error is reported early. */
static int open_page(struct job *j)
{
	return j->o->out.html ? page_file_open(&j->page, j->o->out.html, j->o->out.path, j->err)
			      : 0;
}

static int status_of(const struct job *j, int ret)
{
	static const int statuses[] = { [OUTCOME_CANNOT_TELL] = EXIT_CANNOT_MEASURE,
					[OUTCOME_SAME] = 0,
					[OUTCOME_FASTER] = 0,
					[OUTCOME_SLOWER] = EXIT_CHECK };

	if (ret == 0)
		return statuses[compare_outcome(j->measured.event, j->measured.n, NULL)];
	if (j->measured.by_signal)
		return 128 + j->measured.by_signal;
	return j->measured.exec_code == ENOENT ? EXIT_NOT_FOUND
		: j->measured.exec_code        ? EXIT_NOT_EXECUTABLE
					       : EXIT_CANNOT_MEASURE;
}

static int finish(struct job *j, int ret)
{
	int status;

	if (ret == 0)
		ret = show(j);
	if (ret < 0 && j->o->rev && j->measured.exec_code == ENOENT)
		compare_revisions_explain(&j->revisions, j->plan.argv[0][0], j->o->build, j->err);
	if (ret < 0)
		complain(j->self, j->err, j->path[0] ? NULL : j->o->events.text);
	status = status_of(j, ret);
	compare_cause_free(&j->cause);
	for (size_t i = 0; i < j->shown.notes; i++)
		free(j->shown.note[i]);
	compare_measured_free(&j->measured);
	compare_documents_free(&j->documents);
	page_file_abandon(&j->page);
	text_free(&j->events);
	return status;
}

static int compare_commands(struct job *j)
{
	int status = pidspace_enter(&j->o->fixed, j->plan.argv[0][0]), ret;
	struct orphans left = { .adopting = false };

	if (status >= 0) /* it was done in a namespace */
		return status;
	if (!(determinism_had(&j->o->fixed) & FIXED(PID))) /* no namespace ends them */
		orphans_adopt(&left);
	ret = open_page(j);
	status = finish(j, ret < 0 ? ret : measure(j));
	if (j->measured.by_signal)
		orphans_end(&left);
	orphans_leave(&left);
	return status;
}

/* The same command in two worktrees, with paths of the same length, so cwd need not be fixed. */
static int compare_revisions(struct job *j)
{
	int status,
		ret = compare_revisions_open(&j->revisions, j->o->rev, j->o->build, &j->progress,
					     j->err);

	if (ret < 0) {
		complain(j->self, j->err, NULL);
		status = ret == -EINTR ? 128 + j->revisions.signals.got : EXIT_CANNOT_MEASURE;
	} else {
		for (int side = 0; side < COMPARE_SIDES; side++)
			j->plan.dir[side] = j->revisions.side[side].dir;
		j->o->fixed.set &= ~(unsigned)FIXED(CWD);
		status = compare_revisions_fork(&j->revisions);
		if (status < 0)
			return compare_commands(j);
	}
	compare_revisions_close(&j->revisions);
	return status;
}

/* ---- documents and recordings ---- */

static bool is_recording(const char *path)
{
	static const char magic[] = "PERFILE2";
	char head[sizeof(magic)] = "";
	int fd = file_open_regular(path, INT64_MAX);
	bool is = fd >= 0 && pread(fd, head, sizeof(magic) - 1, 0) == sizeof(magic) - 1 &&
		!strcmp(head, magic);

	if (fd >= 0)
		close(fd);
	return is;
}

/* Two recordings by the exact engine: their totals are one exact count of each side. */
static int compare_recordings(struct job *j)
{
	static const char *const unknown[COMPARE_SIDES];
	struct compare_event *e = &j->measured.event[0];
	int ret = compare_cause_read(&j->cause, j->path, unknown, j->err);

	for (int side = 0; ret == 0 && side < COMPARE_SIDES; side++)
		if (!j->cause.samples[side].counted.used) {
			tare_fail(j->err, EINVAL, "%.200s has no exact counts", j->path[side]);
			tare_hint(j->err, "tare record --engine exact; or tare report --diff");
			ret = -EINVAL;
		}
	if (ret < 0)
		return ret;
	j->has_cause = true;
	j->measured.n = 1;
	*e = (struct compare_event){ .name = strdup("instructions:u"),
				     .exact = true,
				     .in_blocks = true,
				     .allowed = j->plan.threshold >= 0 ? j->plan.threshold : 0 };
	ret = e->name ? 0 : tare_fail_nomem(j->err);
	for (int side = 0; ret == 0 && side < COMPARE_SIDES; side++)
		ret = compare_add(&e->of[side], j->cause.total[side], j->err);
	if (ret == 0)
		ret = compare_judge(e, j->err);
	compare_note(&j->shown, "One recording of a side does not prove that its counts repeat");
	return ret;
}

static int compare_files(struct job *j)
{
	bool recording = is_recording(j->path[0]);
	int ret;

	if (recording != is_recording(j->path[1])) {
		tare_fail(j->err, EINVAL, "one file is a recording, the other is not");
		tare_hint(j->err,
			  "compare two documents of tare stat --format json, or two "
			  "recordings of tare record --engine exact");
		return finish(j, -EINVAL);
	}
	for (int side = 0; side < COMPARE_SIDES; side++)
		input_note(j->path[side]);
	j->plan.threshold = j->o->threshold_given ? j->o->threshold : -1;
	ret = open_page(j);
	if (ret < 0)
		return finish(j, ret);
	if (recording)
		return finish(j, compare_recordings(j));
	ret = compare_documents_read(&j->documents, j->path, j->plan.threshold, j->o->allow_failure,
				     j->err);
	j->measured = j->documents.measured;
	j->documents.measured = (struct compare_measured){ 0 };
	return finish(j, ret);
}

/* ---- the words ---- */

/* Options that would have no effect on two files. */
static int refuse_for_files(const struct job *j)
{
	const char *name = j->o->events.given ? "-e"
		: j->o->engine                ? "--engine"
		: j->o->timeout_ns            ? "--timeout"
					      : NULL;

	if (!name)
		return 0;
	tare_fail(j->err, EINVAL,
		  "%s is for commands: two files are compared by the events of both", name);
	tare_hint(j->err, "give it to tare stat, which makes the files");
	return -EINVAL;
}

/* Splits "A ARG ::: B ARG" in place; or two files. */
static int split_sides(struct job *j, char **argv)
{
	char **after = NULL;

	for (char **word = argv; *word; word++)
		if (!strcmp(*word, ":::")) {
			if (after)
				return tare_fail(j->err, EINVAL, "more than one :::");
			*word = NULL;
			after = word + 1;
		}
	if (j->o->rev || j->o->build) {
		if (!j->o->rev || after || !*argv) {
			tare_fail(j->err, EINVAL, "%s",
				  !j->o->rev      ? "--build is for --rev"
					  : after ? "--rev takes one command"
						  : "--rev needs a command");
			tare_hint(j->err,
				  "tare compare --rev main..HEAD --build 'make' -- ./prog ARGS");
			return -EINVAL;
		}
		j->plan.argv[COMPARE_BEFORE] = j->plan.argv[COMPARE_AFTER] = argv;
		return 0;
	}
	if (!after && !j->dashes && argv[0] && argv[1] && !argv[2]) {
		j->path[COMPARE_BEFORE] = argv[0];
		j->path[COMPARE_AFTER] = argv[1];
		return refuse_for_files(j);
	}
	if (!after || !*after || !*argv) {
		tare_fail(j->err, EINVAL, "two commands are needed, with ::: between them%s",
			  j->dashes ? "" : ", or two files");
		tare_hint(j->err,
			  "tare compare -- ./before ARGS ::: ./after ARGS; "
			  "tare compare before.json after.json");
		return -EINVAL;
	}
	if (!j->dashes) {
		tare_fail(j->err, EINVAL, "commands are given after --");
		tare_hint(j->err, "tare compare -- ./before ARGS ::: ./after ARGS");
		return -EINVAL;
	}
	j->plan.argv[COMPARE_BEFORE] = argv;
	j->plan.argv[COMPARE_AFTER] = after;
	return 0;
}

static int run_compare(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct compare_options o = { .runs = RUNS_USUAL, .limit = COMPARE_ROWS };
	struct job j = { .self = self, .o = &o, .page = PAGE_FILE_INIT, .err = &err };
	int status, rest;

	j.input.file = j.input.before = -1;
	for (int i = 1; i < argc && strcmp(argv[i], ":::") != 0; i++)
		j.dashes |= !strcmp(argv[i], "--");
	determinism_parse(NULL, &o.fixed, &err);
	rest = options_parse(self, argc, argv, &o, &status);
	o.fixed.env_open = false; /* both sides have the same environment */
	if (rest < 0) {
		event_options_free(&o.events);
		return status;
	}
	if (split_sides(&j, argv + rest) < 0) {
		complain(self, &err, NULL);
		status = EXIT_CANNOT_MEASURE;
	} else {
		revision_remove_stale();
		status = (j.path[0]       ? compare_files
				  : o.rev ? compare_revisions
					  : compare_commands)(&j);
	}
	event_options_free(&o.events);
	return status;
}

const struct command cmd_compare = {
	.name = "compare",
	.about = "compare two commands: is the second slower, and where",
	.args = "-- COMMAND [ARG]... [::: COMMAND [ARG]...] | BEFORE AFTER",
	.example = "  tare compare -- ./old args ::: ./new args\n"
		   "  tare compare before.json after.json\n"
		   "  tare compare --rev main..HEAD --build make -- ./prog args\n"
		   "  tare compare --rev HEAD --build make -- ./prog args  # uncommitted changes",
	.topic = TOPIC_HOW_MUCH,
	.common = true,
	.words = WORDS_ANYWHERE,
	.options = compare_opts,
	.run = run_compare,
};
