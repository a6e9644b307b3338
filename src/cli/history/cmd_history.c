/* SPDX-License-Identifier: MIT */
/* tare history: measurements of many commits, and at which of them the values changed. */
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include "arch/cpu.h"
#include "base/file.h"
#include "history/history_document.h"
#include "history/history_git.h"
#include "history/history_view.h"
#include "output/input.h"
#include "output/options/output_options.h"

enum { DOCUMENT_BYTES_MAX = 256 << 20 };

struct history_options {
	struct output_options out;
	const char *db, *benchmark, *commit, *machine, *event;
	uint64_t wait_ns;
	bool notes;
};

#define OPTIONS struct history_options

static const struct option_row history_opts[] = {
	{ 0, "db", "FILE", "file of the history (tare-history.db in the git directory)",
	  INPUT_FILE(db) },
	{ 0, "notes", NULL, "add: the results that tare gate run --store left in git notes",
	  FLAG(notes) },
	{ 0, "commit", "REV", "add: the commit that was measured (HEAD)",
	  TEXT(commit, "revision") },
	{ 0, "benchmark", "NAME", "add: name for documents of tare stat (their command)",
	  TEXT(benchmark, "name") },
	{ 0, "machine", "NAME", "add: where it was measured (this CPU's model)",
	  TEXT(machine, "name") },
	{ 'e', "event", "EVENT", "list, show: only this event; a pattern with * and ?",
	  TEXT(event, "event") },
	{ 0, "wait", "MS", "how long to wait for other users of the file (10 s)",
	  DURATION(wait_ns, 1000000, 0) },
	OUTPUT_FORMAT_ROWS(out, "text (default) or json", "text", "json"),
	BLOCK_ROW(out, output_file_rows),
	BLOCK_ROW(out, output_colour_rows),
	{ 0 },
};

struct job {
	const struct command *self;
	const struct history_options *o;
	const struct history_store_kind *kind;
	struct history_store *store;
	struct history_batch batch;
	struct history_list list;
	struct history_values *values;
	size_t n_values;
	struct revision_signals signals;
	char path[PATH_MAX], machine[128];
	struct tare_error *err;
};

static int open_store(struct job *j, enum history_access access)
{
	if (strstr(j->path, "://")) {
		tare_fail(j->err, EINVAL, "a history is a file, not an address: %.100s", j->path);
		tare_hint(j->err, "--db FILE");
		return -EINVAL;
	}
	return j->kind->open(&j->store, j->path, access, j->o->wait_ns, j->err);
}

/* ---- add ---- */

static void name_machine(struct job *j)
{
	struct cpu_description cpu;
	struct utsname names;

	if (j->o->machine) {
		snprintf(j->machine, sizeof(j->machine), "%s", j->o->machine);
		return;
	}
	cpu_describe(&cpu);
	if (cpu.model[0])
		snprintf(j->machine, sizeof(j->machine), "%s", cpu.model);
	else if (uname(&names) == 0)
		snprintf(j->machine, sizeof(j->machine), "%.100s", names.machine);
}

static int read_document(struct job *j, const char *path)
{
	const struct history_about about = { .benchmark = j->o->benchmark, .machine = j->machine };
	char *text = NULL;
	size_t n = 0;
	int ret = file_read(NULL, path, DOCUMENT_BYTES_MAX, &text, &n, j->err);

	if (ret == 0)
		ret = history_document_parse(&j->batch, text, n, path, &about, j->err);
	free(text);
	return ret;
}

/* The commits of all runs that were read from documents. */
static int find_commits(struct job *j)
{
	struct history_commit found = { .name = NULL };
	const char *asked = "";
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < j->batch.n; i++) {
		struct history_run *r = &j->batch.run[i];
		const char *of = r->commit.name,
			   *rev = j->o->commit ? j->o->commit
			: *of                  ? of
					       : NULL;

		if (!found.name || strcmp(asked, rev ? rev : "HEAD") != 0)
			ret = history_git_commit(&found, &j->batch.strings, rev, &j->signals,
						 j->err);
		asked = rev ? rev : "HEAD";
		if (ret == 0 && *of && strcmp(of, found.name) != 0)
			ret = tare_fail(j->err, EINVAL,
					"--commit is %.12s, but the document is of %.12s",
					found.name, of);
		r->commit = found;
	}
	return ret;
}

static int collect(struct job *j, char **words)
{
	int ret = 0;

	for (char **path = words; ret == 0 && *path; path++)
		ret = read_document(j, *path);
	if (ret == 0)
		ret = find_commits(j);
	if (ret == 0 && j->o->notes)
		ret = history_git_notes(&j->batch, &j->signals, j->err);
	for (size_t i = 0; ret == 0 && i < j->batch.n; i++)
		history_seal(&j->batch.run[i]);
	return ret;
}

static int add(struct job *j, char **words)
{
	size_t known, added;
	int ret;

	if (!*words && !j->o->notes) {
		tare_fail(j->err, EINVAL, "add needs documents, or --notes");
		tare_hint(j->err, "tare stat --format json -o FILE -- COMMAND writes one");
		return -EINVAL;
	}
	if (j->o->out.format != FORMAT_TEXT || j->o->out.path)
		return tare_fail(j->err, EINVAL, "add writes no document");
	if (j->o->benchmark && strlen(j->o->benchmark) > HISTORY_NAME_MAX)
		return tare_fail(j->err, EINVAL, "--benchmark: the name is too long");
	name_machine(j);
	revision_signals_begin(&j->signals);
	ret = collect(j, words);
	revision_signals_end(&j->signals);
	if (ret == 0)
		ret = open_store(j, HISTORY_WRITE);
	if (ret == 0)
		ret = j->kind->add(j->store, &j->batch, &known, j->err);
	if (ret < 0)
		return ret;
	added = j->batch.n - known;
	printf("added %zu measurement%s", added, added == 1 ? "" : "s");
	if (known)
		printf("; %zu %s added before", known, known == 1 ? "was" : "were");
	printf("\n");
	return 0;
}

/* ---- list, show ---- */

static bool matches(const char *pattern, const char *name)
{
	return !pattern || !strcmp(pattern, name) || fnmatch(pattern, name, 0) == 0;
}

static int no_series(struct job *j, const char *benchmark)
{
	const char **names = calloc(j->list.n + 1, sizeof(*names));
	struct text near = { 0 }, what = { 0 };

	for (size_t i = 0; names && i < j->list.n; i++)
		names[i] = j->list.row[i].series.benchmark;
	if (names && benchmark)
		text_nearest(&near, benchmark, names, j->list.n, 1);
	if (benchmark)
		text_add(&what, "benchmark '%.100s'%s", benchmark, j->o->event ? " with " : "");
	if (j->o->event)
		text_add(&what, "event '%.100s'", j->o->event);
	tare_fail(j->err, ENOENT, "the history has no %s", what.s ? what.s : "values");
	if (near.len)
		tare_hint(j->err, "did you mean %.100s?", near.s);
	else
		tare_hint(j->err, "tare history list shows all");
	text_free(&near);
	text_free(&what);
	free(names);
	return -ENOENT;
}

/* Leaves the rows that were asked for. */
static int read_list(struct job *j, const char *benchmark, enum history_detail detail)
{
	size_t n = 0;
	int ret = open_store(j, HISTORY_READ);

	if (ret == 0)
		ret = j->kind->list(j->store, detail, &j->list, j->err);
	if (ret < 0)
		return ret;
	for (size_t i = 0; i < j->list.n; i++)
		n += matches(benchmark, j->list.row[i].series.benchmark) &&
			matches(j->o->event, j->list.row[i].series.event);
	if (!n && (benchmark || j->o->event))
		return no_series(j, benchmark);
	n = 0;
	for (size_t i = 0; i < j->list.n; i++)
		if (matches(benchmark, j->list.row[i].series.benchmark) &&
		    matches(j->o->event, j->list.row[i].series.event))
			j->list.row[n++] = j->list.row[i];
	j->list.n = n;
	return 0;
}

static int show_list(struct job *j, char **words)
{
	struct document to;
	int ret;

	if (words[0] && words[1])
		return tare_fail(j->err, EINVAL, "list takes one pattern");
	ret = read_list(j, words[0], HISTORY_LAST);
	if (ret == 0)
		ret = document_open(&to, j->o->out.path, j->err);
	if (ret < 0)
		return ret;
	to.style = output_style(&to.to, j->o->out.colour);
	to.style.thousands = true;
	if (j->o->out.format == FORMAT_JSON)
		history_list_json(&to.out, &j->list);
	else
		history_list_text(&to.out, &j->list, &to.style);
	return document_close(&to, j->err);
}

static int read_values(struct job *j)
{
	int ret = 0;

	j->values = calloc(j->list.n + 1, sizeof(*j->values));
	if (!j->values)
		return tare_fail_nomem(j->err);
	for (size_t i = 0; ret == 0 && i < j->list.n; i++) {
		ret = j->kind->values(j->store, &j->list.row[i], &j->values[i], j->err);
		j->n_values++;
		if (ret == 0)
			ret = history_judge(&j->values[i], j->err);
	}
	return ret;
}

static int show(struct job *j, char **words)
{
	struct document to;
	int ret;

	if (!words[0] || words[1]) {
		tare_fail(j->err, EINVAL, "show needs one benchmark, or a pattern");
		tare_hint(j->err, "tare history list shows all");
		return -EINVAL;
	}
	ret = read_list(j, words[0], HISTORY_NAMES);
	if (ret == 0)
		ret = read_values(j);
	if (ret == 0)
		ret = document_open(&to, j->o->out.path, j->err);
	if (ret < 0)
		return ret;
	to.style = output_style(&to.to, j->o->out.colour);
	to.style.thousands = true;
	if (j->o->out.format == FORMAT_JSON)
		history_json(&to.out, j->values, j->n_values);
	else
		history_text(&to.out, j->values, j->n_values, &to.style);
	return document_close(&to, j->err);
}

/* ---- all ---- */

static const struct {
	const char *name;
	int (*run)(struct job *j, char **words);
} subcommands[] = { { "add", add }, { "list", show_list }, { "show", show } };

#define NAMES "add, list, show"

static int find_path(struct job *j)
{
	int ret;

	if (j->o->db && snprintf(j->path, sizeof(j->path), "%s", j->o->db) >= (int)sizeof(j->path))
		return tare_fail(j->err, ENAMETOOLONG, "--db: the name is too long");
	if (j->o->db)
		return 0;
	revision_signals_begin(&j->signals);
	ret = history_git_path(j->path, &j->signals, j->err);
	revision_signals_end(&j->signals);
	return ret;
}

static int run(struct job *j, char **words)
{
	for (size_t i = 0; *words && i < ARRAY_SIZE(subcommands); i++)
		if (!strcmp(*words, subcommands[i].name)) {
			int ret = find_path(j);

			return ret == 0 ? subcommands[i].run(j, words + 1) : ret;
		}
	return *words ? tare_fail(j->err, EINVAL, "'%.40s' is not one of: " NAMES, *words)
		      : tare_fail(j->err, EINVAL, "a subcommand is missing; one of: " NAMES);
}

static int run_history(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct history_options o = { .wait_ns = UINT64_C(10000000000) };
	struct job j = { .self = self, .o = &o, .kind = &history_sqlite, .err = &err };
	int status, rest = options_parse(self, argc, argv, &o, &status);

	if (rest < 0)
		return status;
	status = run(&j, argv + rest) == 0 ? 0 : EXIT_CANNOT_MEASURE;
	if (status)
		complain(self, &err, NULL);
	if (j.signals.got)
		status = 128 + j.signals.got;
	j.kind->close(j.store);
	for (size_t i = 0; i < j.n_values; i++)
		history_values_free(&j.values[i]);
	free(j.values);
	history_list_free(&j.list);
	history_batch_free(&j.batch);
	return status;
}

const struct command cmd_history = {
	.name = "history",
	.about = "values over commits: keep measurements, show when they changed",
	.args = "add DOCUMENT... | list [BENCHMARK] | show BENCHMARK",
	.example = "  tare history add result.json\n"
		   "  tare history list\n"
		   "  tare history show gzip",
	.topic = TOPIC_HOW_MUCH,
	.words = WORDS_ANYWHERE,
	.options = history_opts,
	.run = run_history,
};
