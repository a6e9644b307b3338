/* SPDX-License-Identifier: MIT */
/* tare history: measurements of many commits, and at which of them the values changed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/history/history_job.h"
#include "history/history_git.h"
#include "output/input.h"

#define OPTIONS struct history_options

static const struct option_row history_opts[] = {
	{ 0, "db", "FILE",
	  "file of the history (tare-history.db in the git directory), or postgresql://...",
	  INPUT_FILE(db) },
	{ 0, "notes", NULL, "add: the results that tare gate run --store left in git notes",
	  FLAG(notes) },
	{ 0, "commit", "REV",
	  "add, import: the commit that was measured (HEAD); show: only its values",
	  TEXT(commit, "revision") },
	{ 0, "benchmark", "NAME", "add: name for documents of tare stat (their command)",
	  TEXT(benchmark, "name") },
	{ 0, "machine", "NAME", "add, import: where it was measured (add: this CPU's model)",
	  TEXT(machine, "name") },
	{ 0, "older-than", "AGE", "prune: only values of commits older than AGE (12h, 180d, 2y)",
	  TEXT(older, "age") },
	{ 0, "keep", "N", "prune: keep the last N values of each series",
	  NUMBER(keep, 1, UINT32_MAX) },
	{ 0, "unreachable", NULL, "prune: only values of commits that no branch or tag reaches",
	  FLAG(unreachable) },
	{ 0, "dry-run", NULL, "prune: remove nothing; show what would be removed", FLAG(dry) },
	{ 'e', "event", "EVENT", "except add, import: only this event; a pattern with * and ?",
	  TEXT(event, "event") },
	{ 0, "wait", "MS", "how long to wait for other users of the file (10 s)",
	  DURATION(wait_ns, 1000000, 0) },
	OUTPUT_FORMAT_ROWS(
		out, "list, show: text (default) or json; export: csv (default), json or parquet",
		"text", "json", "csv", "parquet"),
	BLOCK_ROW(out, output_file_rows),
	BLOCK_ROW(out, output_colour_rows),
	{ 0 },
};

int history_open_store(struct history_job *j, enum history_access access)
{
	if (!strncmp(j->path, "postgresql://", 13) || !strncmp(j->path, "postgres://", 11)) {
		j->kind = &history_postgres;
	} else if (strstr(j->path, "://")) {
		tare_fail(j->err, EINVAL, "a history is a file, or a database of PostgreSQL");
		tare_hint(j->err, "--db FILE, or --db postgresql://HOST/DATABASE");
		return -EINVAL;
	}
	return j->kind->open(&j->store, j->path, access, j->o->wait_ns, j->err);
}

static const struct {
	const char *name;
	int (*run)(struct history_job *j, char **words);
} subcommands[] = { { "add", history_run_add },       { "list", history_run_list },
		    { "show", history_run_show },     { "plot", history_run_plot },
		    { "export", history_run_export }, { "import", history_run_import },
		    { "prune", history_run_prune } };

#define NAMES "add, list, show, plot, export, import, prune"

static int find_path(struct history_job *j)
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

/* Only export writes tables. */
static int check_format(struct history_job *j, const char *name)
{
	if (j->o->out.format == FORMAT_TEXT || j->o->out.format == FORMAT_JSON ||
	    !strcmp(name, "export"))
		return 0;
	tare_fail(j->err, EINVAL, "%s has the formats text and json", name);
	tare_hint(j->err, "tare history export writes CSV and Parquet");
	return -EINVAL;
}

static int run_subcommand(struct history_job *j, char **words)
{
	for (size_t i = 0; *words && i < ARRAY_SIZE(subcommands); i++)
		if (!strcmp(*words, subcommands[i].name)) {
			int ret = check_format(j, *words);

			ret = ret == 0 ? find_path(j) : ret;

			return ret == 0 ? subcommands[i].run(j, words + 1) : ret;
		}
	return *words ? tare_fail(j->err, EINVAL, "'%.40s' is not one of: " NAMES, *words)
		      : tare_fail(j->err, EINVAL, "a subcommand is missing; one of: " NAMES);
}

static int run_history(const struct command *self, int argc, char **argv)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct history_options o = { .wait_ns = UINT64_C(10000000000) };
	struct history_job j = { .o = &o, .kind = &history_sqlite, .err = &err };
	int status, rest = options_parse(self, argc, argv, &o, &status);

	if (rest < 0)
		return status;
	status = run_subcommand(&j, argv + rest) == 0 ? 0 : EXIT_CANNOT_MEASURE;
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
	.about = "keep measurements of commits, and show which commits changed them",
	.args = "add DOCUMENT... | list [BENCHMARK] | show BENCHMARK | plot [BENCHMARK] | export [BENCHMARK] | "
		"import FILE... | prune [BENCHMARK]",
	.example = "  tare history add result.json\n"
		   "  tare history list\n"
		   "  tare history show gzip\n"
		   "  tare history plot -o history.html",
	.topic = TOPIC_HOW_MUCH,
	.common = true,
	.words = WORDS_ANYWHERE,
	.options = history_opts,
	.run = run_history,
};
