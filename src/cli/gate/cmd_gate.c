/* SPDX-License-Identifier: MIT */
/* tare gate: benchmarks of a repository, measured and compared with a baseline, for CI. */
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "base/path.h"
#include "base/temp_folder.h"
#include "gate/gate_git.h"
#include "gate/gate_measure.h"
#include "gate/gate_times.h"
#include "gate/gate_view.h"
#include "output/escape.h"
#include "output/input.h"
#include "output/json.h"
#include "output/options/output_options.h"
#include "output/progress.h"

enum { CONFIG_BYTES_MAX = 16 << 20, RESULTS_BYTES_MAX = 256 << 20, FILTERS_MAX = 64 };

/* --format, after text and json; there is no CSV */
enum { FORMAT_MARKDOWN = FORMAT_JSON + 1, FORMAT_JUNIT };

struct gate_options {
	struct output_options out;
	const char *config, *baseline, *base, *build, *reason;
	const char *filters[FILTERS_MAX + 1];
	size_t n_filters;
	bool store, measure_base, strict, functions;
};

#define OPTIONS struct gate_options

static const struct option_row gate_opts[] = {
	{ 'c', "config", "FILE", "benchmarks (tare.json)", INPUT_FILE(config) },
	{ 0, "filter", "NAME", "run: only these benchmarks; a pattern with * and ?; repeatable",
	  TEXTS(filters, n_filters, FILTERS_MAX, "filters") },
	{ 0, "baseline", "FILE", "run: compare with this result of --format json",
	  INPUT_FILE(baseline) },
	{ 0, "base", "REV", "run: the branch that the change is for (origin/HEAD, main, master)",
	  TEXT(base, "revision") },
	{ 0, "measure-base", NULL, "run: measure the base now, in a worktree, after --build",
	  FLAG(measure_base) },
	{ 0, "build", "COMMAND", "with --measure-base: shell command that builds the base",
	  TEXT(build, "command") },
	{ 0, "store", NULL, "run: store the results of HEAD as a git note", FLAG(store) },
	{ 0, "functions", NULL, "run: in JSON, also the instructions of each function",
	  FLAG(functions) },
	{ 0, "strict", NULL, "run: fail without a baseline, or if a verdict is 'cannot tell'",
	  FLAG(strict) },
	{ 0, "reason", "TEXT", "accept: why the change is accepted", TEXT(reason, "reason") },
	OUTPUT_FORMAT_ROWS(out, "text (default), json (schema tare/gate/1), markdown or junit",
			   "text", "json", "markdown", "junit"),
	BLOCK_ROW(out, output_file_rows),
	BLOCK_ROW(out, output_colour_rows),
	{ 0 },
};

struct job {
	const struct command *self;
	const struct gate_options *o;
	struct gate_config config;
	struct gate_base base;
	struct gate_outcome *outcome; /* of the benchmarks that run, and of those that are gone */
	struct gate_outcome *in_base; /* of those that run, with --measure-base */
	const struct gate_benchmark **benchmark; /* of each outcome that runs */
	const struct gate_benchmark *timed;      /* the one with times that are compared now */
	size_t n;
	struct gate_shown shown;
	struct revision_signals signals;
	struct progress progress;
	struct revision worktree;  /* of the base, with --measure-base */
	struct temp_folder folder; /* of the worktree and of temporary files */
	struct tare_error *err;
};

static const char *config_name(const struct gate_options *o)
{
	return o->config ? o->config : "tare.json";
}

static int read_config(struct job *j)
{
	const char *name = config_name(j->o);
	char *text = NULL;
	size_t n = 0;
	int ret;

	if (access(name, F_OK) != 0) {
		tare_fail(j->err, ENOENT, "there is no %.200s in this directory", name);
		tare_hint(
			j->err,
			"change to the directory that has it, or create it: tare gate init -- COMMAND");
		return -ENOENT;
	}
	ret = file_read(NULL, name, CONFIG_BYTES_MAX, &text, &n, j->err);
	if (ret == 0)
		ret = gate_config_parse(&j->config, text, n, name, j->err);
	if (ret == 0)
		ret = gate_check_limits(&j->config, name, j->err);
	free(text);
	return ret;
}

static const struct gate_benchmark *find_benchmark(struct job *j, const char *name)
{
	for (size_t i = 0; i < j->config.n; i++)
		if (fnmatch(name, j->config.benchmark[i].name, 0) == 0 ||
		    !strcmp(name, j->config.benchmark[i].name))
			return &j->config.benchmark[i];
	return NULL;
}

static int no_benchmark(struct job *j, const char *name)
{
	const char *names[GATE_BENCHMARKS_MAX];
	struct text near = { 0 };

	for (size_t i = 0; i < j->config.n; i++)
		names[i] = j->config.benchmark[i].name;
	text_nearest(&near, name, names, j->config.n, 1);
	tare_fail(j->err, EINVAL, "%.150s has no benchmark '%.100s'", config_name(j->o), name);
	if (near.len)
		tare_hint(j->err, "did you mean %.100s?", near.s);
	else
		tare_hint(j->err, "its benchmarks: %.100s%s", names[0],
			  j->config.n > 1 ? ", ..." : "");
	text_free(&near);
	return -EINVAL;
}

static bool is_wanted(const struct gate_options *o, const char *name)
{
	for (size_t i = 0; i < o->n_filters; i++)
		if (fnmatch(o->filters[i], name, 0) == 0 || !strcmp(o->filters[i], name))
			return true;
	return !o->n_filters;
}

/* ---- the base ---- */

static int read_baseline(struct job *j)
{
	char *text = NULL;
	size_t n = 0;
	int ret = file_read(NULL, j->o->baseline, RESULTS_BYTES_MAX, &text, &n, j->err);

	if (ret == 0)
		ret = gate_records_parse(&j->base.results, text, n, j->o->baseline, j->err);
	free(text);
	if (ret < 0)
		return ret;
	if (!j->base.results.n)
		return tare_fail(j->err, EINVAL, "%.200s has no results", j->o->baseline);
	j->shown.by_file = true;
	return 0;
}

static int measure_in(struct job *j, const char *dir)
{
	int ret = 0;

	j->in_base = calloc(j->n, sizeof(*j->in_base));
	if (!j->in_base)
		return tare_fail_nomem(j->err);
	for (size_t i = 0; ret == 0 && i < j->n; i++) {
		struct gate_outcome *o = &j->in_base[i];

		progress_show(&j->progress, 0.5 * (double)i / (double)j->n, "%.40s, base",
			      j->benchmark[i]->name);
		ret = gate_measure(o, j->benchmark[i], dir, &j->signals, j->err);
		if (ret == 0 && !gate_verdict_is_error(o->verdict))
			ret = gate_records_add(&j->base.results, &o->head, j->err);
	}
	return ret;
}

/* By the configuration in the base: one that is not there, or only now, is new. */
static bool base_has(struct job *j, const char *name)
{
	struct tare_error why = TARE_ERROR_INIT;
	struct gate_config c = { .n = 0 };
	char path[PATH_MAX], *text = NULL;
	bool found = false;
	size_t n = 0;

	if (config_name(j->o)[0] == '/')
		return true;
	snprintf(path, sizeof(path), "%.3000s/%.1000s", j->worktree.dir, config_name(j->o));
	if (file_read(NULL, path, CONFIG_BYTES_MAX, &text, &n, &why) == 0)
		gate_config_parse(&c, text, n, path, &why);
	for (size_t i = 0; i < c.n; i++)
		found |= !strcmp(c.benchmark[i].name, name);
	gate_config_free(&c);
	free(text);
	return found;
}

static const char *build_of(const struct job *j)
{
	return j->o->build ? j->o->build : j->config.build;
}

/* It failed in the base: an error, unless it is new. */
static void judge_failed_base(struct job *j, size_t i)
{
	const struct gate_outcome *base = &j->in_base[i];
	const char *within = j->benchmark[i]->directory;
	struct gate_outcome *o = &j->outcome[i];
	char dir[PATH_MAX];

	if (o->verdict != GATE_NEW || !gate_verdict_is_error(base->verdict))
		return;
	snprintf(o->why, sizeof(o->why), "it could not be measured in the base: %.400s", base->why);
	if (!base_has(j, o->head.benchmark))
		return;
	o->verdict = base->verdict;
	snprintf(dir, sizeof(dir), "%.2000s/%.2000s", j->worktree.dir, within ? within : "");
	snprintf(
		o->hint, sizeof(o->hint), "%s",
		!build_of(j) && revision_lacks(dir, j->benchmark[i]->argv[0])
			? "the base was not built: give --build COMMAND, or \"build\" in tare.json"
			: "check the build of the base; or rename the benchmark, if the base cannot "
			  "run it");
}

/* The last line of what a build printed, instead of the hint. */
static void show_log(struct job *j, const char *log)
{
	struct text line = { 0 };
	char *said = NULL;

	if (file_read(NULL, log, RESULTS_BYTES_MAX, &said, NULL, NULL) == 0)
		gate_last_line(&line, said);
	if (line.len)
		tare_hint(j->err, "its last line: %.300s", line.s);
	text_free(&line);
	free(said);
}

static int measure_base(struct job *j)
{
	const char *build = build_of(j);
	char tree[PATH_MAX], log[PATH_MAX];
	struct revision *base = &j->worktree;
	int ret;

	if (!j->base.merge_base[0]) {
		tare_fail(j->err, ENOENT, "there is no base to be measured: %.300s",
			  j->base.none[0]           ? j->base.none
				  : j->base.shallow ? GATE_DEEPEN
						    : "HEAD has no parent");
		return -ENOENT;
	}
	ret = temp_folder_open(&j->folder, "gate", j->err);
	if (ret < 0)
		return ret;
	snprintf(tree, sizeof(tree), "%s/base", j->folder.path);
	snprintf(log, sizeof(log), "%s/log", j->folder.path);
	strcpy(base->name, "the base");
	strcpy(base->commit, j->base.merge_base);
	progress_show(&j->progress, 0, "building %.12s", base->commit);
	ret = revision_check_out(base, tree, &j->signals, j->err);
	if (ret == 0 && build)
		ret = revision_build(base, build, log, &j->signals, j->err);
	if (ret == -EINVAL)
		show_log(j, log);
	if (ret == 0)
		ret = measure_in(j, base->dir);
	if (ret == 0)
		strcpy(j->base.commit, base->commit);
	j->shown.measured_base = true;
	return ret;
}

static void remove_worktree(struct job *j)
{
	struct tare_error err = TARE_ERROR_INIT;

	if (!j->folder.path[0])
		return;
	if (revision_remove(&j->worktree, &j->signals, &err) < 0)
		complain(j->self, &err, NULL);
	temp_folder_close(&j->folder);
}

static int find_base(struct job *j)
{
	enum gate_source from = j->o->baseline ? GATE_FROM_FILE
		: j->o->measure_base           ? GATE_MEASURED
					       : GATE_FROM_NOTES;
	const struct gate_wanted wanted = { j->o->base, j->benchmark, j->n };
	int ret = gate_base_find(&j->base, &wanted, from, &j->signals, j->err);

	if (ret == 0 && j->o->baseline)
		ret = read_baseline(j);
	if (ret == 0 && j->o->measure_base)
		ret = measure_base(j);
	j->shown.head = j->base.head;
	j->shown.none = j->base.none[0] ? j->base.none : "no benchmark could be measured there";
	j->shown.baseline = !j->base.results.n ? ""
		: j->o->baseline               ? j->o->baseline
					       : j->base.commit;
	return ret;
}

/* ---- run ---- */

static int choose(struct job *j)
{
	for (size_t i = 0; i < j->o->n_filters; i++)
		if (!find_benchmark(j, j->o->filters[i]))
			return no_benchmark(j, j->o->filters[i]);
	j->benchmark = calloc(j->config.n, sizeof(*j->benchmark));
	if (!j->benchmark)
		return tare_fail_nomem(j->err);
	for (size_t i = 0; i < j->config.n; i++)
		if (is_wanted(j->o, j->config.benchmark[i].name))
			j->benchmark[j->n++] = &j->config.benchmark[i];
	return 0;
}

/* A stored result was measured at another time, under another load. */
static int check_times(struct job *j)
{
	for (size_t i = 0; !j->o->measure_base && i < j->n; i++) {
		const struct gate_benchmark *b = j->benchmark[i];

		if (!gate_has_times(b))
			continue;
		tare_fail(j->err, EINVAL,
			  "%.150s: benchmarks.%.100s.events: %s has noise, so it is compared only "
			  "with runs of the base on this machine",
			  config_name(j->o), b->name,
			  compare_time_names[b->time[COMPARE_CPU_TIME] ? COMPARE_CPU_TIME
								       : COMPARE_WALL]);
		tare_hint(j->err,
			  "tare gate run --measure-base --build COMMAND; --filter NAME selects "
			  "other benchmarks");
		return -EINVAL;
	}
	return 0;
}

static int measure_head(struct job *j)
{
	int ret = 0;

	j->outcome = calloc(j->n + j->base.results.n + 1, sizeof(*j->outcome));
	if (!j->outcome)
		return tare_fail_nomem(j->err);
	for (size_t i = 0; ret == 0 && i < j->n; i++) {
		struct gate_benchmark b = *j->benchmark[i];

		b.functions = j->o->functions;
		progress_show(&j->progress, (double)i / (double)j->n, "%.40s", b.name);
		ret = gate_measure(&j->outcome[i], &b, ".", &j->signals, j->err);
		if (ret == 0)
			gate_judge(&j->outcome[i], j->benchmark[i], &j->base.results,
				   &j->base.accepted);
		if (ret == 0 && j->in_base)
			judge_failed_base(j, i);
	}
	return ret;
}

static void begin_run(void *with, unsigned run, unsigned runs, enum compare_side side)
{
	struct job *j = with;

	progress_show(&j->progress, 0, "%.40s, times: run %u of %u, %s", j->timed->name, run + 1,
		      runs, side == COMPARE_BEFORE ? "base" : "head");
}

/* Of the benchmarks that did not fail on either side. */
static int compare_all_times(struct job *j)
{
	char here[PATH_MAX];
	const struct gate_sides sides = { .base = j->worktree.dir,
					  .head = getcwd(here, sizeof(here)),
					  .signals = &j->signals,
					  .begin = begin_run,
					  .with = j };
	int ret = sides.head ? 0
			     : tare_fail(j->err, errno, "the working directory has no name: %s",
					 strerror(errno));

	for (size_t i = 0; ret == 0 && j->in_base && i < j->n; i++) {
		j->timed = j->benchmark[i];
		if (gate_has_times(j->timed) && !gate_verdict_is_error(j->outcome[i].verdict) &&
		    !gate_verdict_is_error(j->in_base[i].verdict))
			ret = gate_times(&j->outcome[i], j->timed, &sides, j->err);
	}
	return ret;
}

/* Benchmarks of the baseline that the configuration no longer has. */
static size_t find_gone(struct job *j)
{
	size_t n = j->n;

	for (size_t i = 0; !j->o->n_filters && i < j->base.results.n; i++) {
		const struct gate_record *r = &j->base.results.record[i];
		bool known = false;

		for (size_t k = 0; k < n; k++)
			known |= !strcmp(j->outcome[k].head.benchmark, r->benchmark);
		if (known)
			continue;
		strcpy(j->outcome[n].head.benchmark, r->benchmark);
		snprintf(j->outcome[n].why, sizeof(j->outcome[n].why),
			 "in the baseline, but not in %.150s: removed or renamed",
			 config_name(j->o));
		j->outcome[n++].verdict = GATE_GONE;
	}
	return n;
}

/* The functions that changed; without the base's program, a command that shows them. */
static int tell_cause(struct job *j)
{
	char here[PATH_MAX];
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < j->n && j->shown.measured_base; i++)
		if (j->outcome[i].verdict == GATE_SLOWER && j->outcome[i].head.n &&
		    !j->benchmark[i]->bench && getcwd(here, sizeof(here)))
			ret = gate_cause(&j->outcome[i], j->benchmark[i], j->worktree.dir, here,
					 j->folder.path, &j->signals, j->err);
	if (j->shown.measured_base)
		return ret;
	for (size_t i = 0; i < j->n && !j->o->baseline; i++) {
		if (j->outcome[i].verdict != GATE_SLOWER || j->benchmark[i]->bench)
			continue;
		gate_note(&j->shown,
			  "To see the functions: tare compare --rev %.12s..HEAD --build COMMAND -- "
			  "%.300s",
			  j->base.commit, j->outcome[i].head.command);
		break;
	}
	return 0;
}

/* tare gate does not build: the counts of an old program belong to another commit. */
static int look_for_old_programs(struct job *j)
{
	const char *since = j->base.commit[0] ? j->base.commit : j->base.merge_base;
	int ret = 0;

	for (size_t i = 0, found = 0; ret == 0 && *since && !found && i < j->n; i++) {
		const struct gate_benchmark *b = j->benchmark[i];
		char program[PATH_MAX];
		struct text source = { 0 };

		if (b->bench || !b->argv || !strchr(b->argv[0], '/') || b->argv[0][0] == '/')
			continue;
		snprintf(program, sizeof(program), "%.2000s%s%.2000s",
			 b->directory ? b->directory : "", b->directory ? "/" : "", b->argv[0]);
		ret = gate_newer_source(program, since, &source, &j->signals, j->err);
		found = source.len;
		if (found)
			gate_note(&j->shown,
				  "%.150s is newer than %.150s: was the program built after the "
				  "change?",
				  source.s, b->argv[0]);
		text_free(&source);
	}
	return ret;
}

static int store(struct job *j)
{
	struct gate_records measured = { 0 };
	int ret = 0;

	if (!j->o->store)
		return 0;
	if (!j->base.head[0])
		return tare_fail(j->err, ENOENT,
				 "--store: there is no git repository with a commit here");
	if (j->base.dirty) {
		gate_note(&j->shown,
			  "Not stored: the checkout has uncommitted changes, so the results are "
			  "not those of %.12s; git status shows them",
			  j->base.head);
		return 0;
	}
	for (size_t i = 0; ret == 0 && i < j->n; i++)
		if (j->outcome[i].head.n)
			ret = gate_records_add(&measured, &j->outcome[i].head, j->err);
	if (ret == 0 && measured.n)
		ret = gate_notes_add(&measured, &j->signals, j->err);
	j->shown.stored = ret == 0 && measured.n;
	if (j->shown.stored)
		gate_note(&j->shown,
			  "Stored in the note of %.12s; git push origin refs/notes/tare shares it",
			  j->base.head);
	gate_records_free(&measured);
	return ret;
}

static int show(struct job *j)
{
	static void (*const machine[])(struct text *, const struct gate_shown *) = {
		[FORMAT_JSON] = gate_show_json,
		[FORMAT_MARKDOWN] = gate_markdown,
		[FORMAT_JUNIT] = gate_junit,
	};
	struct document to;
	int ret = document_open(&to, j->o->out.path, j->err);

	if (ret < 0)
		return ret;
	to.style = output_style(&to.to, j->o->out.colour);
	to.style.thousands = true;
	if (j->o->out.format == FORMAT_TEXT)
		gate_show_text(&to.out, &j->shown, &to.style);
	else
		machine[j->o->out.format](&to.out, &j->shown);
	return document_close(&to, j->err);
}

static int measure(struct job *j)
{
	int ret = read_config(j);

	if (ret == 0)
		ret = choose(j);
	if (ret == 0)
		ret = check_times(j);
	progress_begin(&j->progress, j->self->name, false);
	if (ret == 0)
		ret = find_base(j);
	if (ret == 0)
		ret = measure_head(j);
	if (ret == 0)
		ret = compare_all_times(j);
	if (ret == 0)
		ret = tell_cause(j);
	progress_end(&j->progress);
	if (ret < 0)
		return ret;
	j->shown.outcome = j->outcome;
	j->shown.n = find_gone(j);
	ret = look_for_old_programs(j);
	if (ret < 0)
		return ret;
	if (j->base.dirty && !j->o->store)
		gate_note(&j->shown,
			  "The checkout has uncommitted changes, which are measured, too");
	return store(j);
}

static int status_of(struct job *j, int ret)
{
	if (ret < 0)
		return j->signals.got ? 128 + j->signals.got : EXIT_CANNOT_MEASURE;
	if (gate_count(&j->shown, GATE_SLOWER))
		return EXIT_CHECK;
	return gate_errors(&j->shown) ||
			(j->o->strict &&
			 (!j->shown.baseline[0] || gate_count(&j->shown, GATE_UNCLEAR)))
		? EXIT_CANNOT_MEASURE
		: 0;
}

static int run_run(struct job *j, char **words)
{
	int ret, status;

	if (*words) {
		ret = tare_fail(j->err, EINVAL, "run takes no '%.60s'", *words);
		tare_hint(j->err, "the commands are in tare.json; --filter NAME selects some");
	} else if (j->o->build && !j->o->measure_base) {
		ret = tare_fail(j->err, EINVAL, "--build is for --measure-base");
	} else if (j->o->functions && j->o->out.format != FORMAT_JSON) {
		ret = tare_fail(j->err, EINVAL, "--functions is for --format json");
	} else if (j->o->baseline && (j->o->measure_base || j->o->base)) {
		ret = tare_fail(j->err, EINVAL, "--baseline excludes --base and --measure-base");
	} else {
		ret = measure(j);
	}
	if (ret < 0)
		complain(j->self, j->err, NULL);
	status = status_of(j, ret);
	remove_worktree(j);
	revision_signals_end(&j->signals); /* nothing is left that a signal would leave */
	if (ret == 0 && show(j) < 0) {
		complain(j->self, j->err, NULL);
		status = EXIT_CANNOT_MEASURE;
	}
	return status;
}

/* ---- init, accept ---- */

static int init(struct job *j, char **words)
{
	struct json out = { 0 };
	struct text text = { 0 };
	const char *name = config_name(j->o);
	int fd, ret;

	if (!*words) {
		tare_fail(j->err, EINVAL, "init needs the command of a benchmark");
		tare_hint(j->err, "tare gate init -- ./bench ARGS");
		return -EINVAL;
	}
	json_object(&out, NULL);
	json_object(&out, "benchmarks");
	json_object(&out, path_base(*words));
	json_array(&out, "command");
	for (char **word = words; *word; word++)
		json_string(&out, NULL, *word);
	for (int i = 0; i < 4; i++)
		json_end(&out);
	json_into(&text, &out);
	if (text.failed)
		return tare_fail_nomem(j->err);
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0) {
		ret = tare_fail(j->err, errno, "cannot create %.200s: %s", name, strerror(errno));
		if (j->err->code == EEXIST)
			tare_hint(j->err, "add the benchmark to it, or remove it first");
	} else {
		ret = file_write_all(fd, text.s, text.len);
		if (close(fd) < 0 && ret == 0)
			ret = -errno;
		if (ret < 0)
			tare_fail(j->err, -ret, "cannot write %.200s: %s", name, strerror(-ret));
		else
			printf("%s: one benchmark; next: tare gate run --store\n", name);
	}
	text_free(&text);
	return ret;
}

static void tell_accepted(const struct gate_outcome *o)
{
	const struct gate_record *r = &o->head;
	const struct style style = { .thousands = true };
	struct text t = { 0 };

	for (size_t i = 0; i < r->n; i++) {
		escape(&t, r->benchmark, strlen(r->benchmark));
		text_add(&t, ": accepted up to ");
		put_count(&t, &style, r->value[i].count);
		text_add(&t, " %s\n", r->value[i].event);
	}
	for (size_t i = 0; i < o->remarks; i++) {
		escape(&t, o->remark[i], strlen(o->remark[i]));
		text_add(&t, "\n");
	}
	if (t.s)
		fputs(t.s, stdout);
	printf("in the note of HEAD; git push origin refs/notes/tare shares it\n");
	text_free(&t);
}

/* The note of HEAD must describe the code of HEAD. */
static int check_clean(struct job *j)
{
	char head[REVISION_COMMIT_BYTES];
	int dirty = revision_dirty(head, &j->signals, j->err);

	if (dirty <= 0 || !head[0])
		return dirty < 0 ? dirty : 0;
	tare_fail(j->err, EINVAL,
		  "the checkout has uncommitted changes, so its counts are not those of %.12s",
		  head);
	tare_hint(j->err, "git status shows them; commit, build and accept again");
	return -EINVAL;
}

static int accept_change(struct job *j, char **words)
{
	struct gate_outcome now;
	struct gate_record *r = &now.head;
	struct gate_records one = { .record = r, .n = 1 };
	const struct gate_benchmark *b = NULL;
	int ret;

	if (!words[0] || words[1] || !j->o->reason) {
		tare_fail(j->err, EINVAL, "accept needs one benchmark and a reason");
		tare_hint(j->err, "tare gate accept NAME --reason TEXT");
		return -EINVAL;
	}
	if (strlen(j->o->reason) >= sizeof(r->accept))
		return tare_fail(j->err, EINVAL, "the reason is longer than %zu bytes",
				 sizeof(r->accept) - 1);
	ret = read_config(j);
	if (ret < 0)
		return ret;
	for (size_t i = 0; i < j->config.n; i++)
		if (!strcmp(j->config.benchmark[i].name, words[0]))
			b = &j->config.benchmark[i];
	if (!b)
		return no_benchmark(j, words[0]);
	if (b->only_times) {
		tare_fail(j->err, EINVAL,
			  "%.100s has only times, and a slower time cannot be accepted", b->name);
		tare_hint(j->err, "times are not stored: raise its \"limit\" in %.150s instead",
			  config_name(j->o));
		return -EINVAL;
	}
	ret = check_clean(j);
	if (ret == 0)
		ret = gate_measure(&now, b, ".", &j->signals, j->err);
	if (ret == 0 && gate_verdict_is_error(now.verdict)) {
		ret = tare_fail(j->err, EINVAL, "%.100s was not measured: %.300s", b->name,
				now.why);
		tare_hint(j->err, "%.300s", now.hint);
	}
	if (ret < 0)
		return ret;
	strcpy(r->accept, j->o->reason);
	ret = gate_notes_add(&one, &j->signals, j->err);
	if (ret == 0)
		tell_accepted(&now);
	return ret;
}

static int run_other(struct job *j, char **words)
{
	int ret = -EINVAL;

	if (*words && !strcmp(*words, "init"))
		ret = init(j, words + 1);
	else if (*words && !strcmp(*words, "accept"))
		ret = accept_change(j, words + 1);
	else if (*words)
		tare_fail(j->err, EINVAL, "'%.40s' is not one of: init, run, accept", *words);
	else
		tare_fail(j->err, EINVAL, "a subcommand is missing; one of: init, run, accept");
	if (ret < 0)
		complain(j->self, j->err, NULL);
	return status_of(j, ret);
}

static int run_gate(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct gate_options o = { 0 };
	struct job j = { .self = self, .o = &o, .err = &err, .shown.baseline = "" };
	int status, rest = options_parse(self, argc, argv, &o, &status);

	if (rest < 0)
		return status;
	revision_remove_stale();
	revision_signals_begin(&j.signals);
	if (argv[rest] && !strcmp(argv[rest], "run")) {
		status = run_run(&j, argv + rest + 1);
	} else {
		status = run_other(&j, argv + rest);
		revision_signals_end(&j.signals);
	}
	for (size_t i = 0; j.outcome && i < j.n; i++)
		free(j.outcome[i].functions);
	free(j.outcome);
	free(j.in_base);
	free(j.benchmark);
	gate_base_free(&j.base);
	gate_config_free(&j.config);
	return status;
}

const struct command cmd_gate = {
	.name = "gate",
	.about = "a gate for CI: fail if a benchmark became slower",
	.args = "init -- COMMAND [ARG]... | run | accept BENCHMARK --reason TEXT",
	.example = "  tare gate init -- ./bench data.csv\n"
		   "  tare gate run --store\n"
		   "  tare gate run --format markdown -o comment.md",
	.topic = TOPIC_HOW_MUCH,
	.common = true,
	.words = WORDS_ANYWHERE,
	.options = gate_opts,
	.run = run_gate,
};
