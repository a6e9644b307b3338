/* SPDX-License-Identifier: MIT */
/* tare history add and import */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "arch/cpu.h"
#include "base/file.h"
#include "cli/history/history_job.h"
#include "history/history_document.h"
#include "history/history_git.h"
#include "history/history_import.h"

enum { DOCUMENT_BYTES_MAX = 256 << 20 };

static void name_machine(struct history_job *j)
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

static int read_document(struct history_job *j, const char *path)
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
static int find_commits(struct history_job *j)
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

static int collect(struct history_job *j, char **words)
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

static int check_output(const struct history_job *j, const char *name)
{
	return j->o->out.format == FORMAT_TEXT && !j->o->out.path
		? 0
		: tare_fail(j->err, EINVAL, "%s writes no document", name);
}

static int store_batch(struct history_job *j)
{
	size_t known, added;
	int ret = history_open_store(j, HISTORY_WRITE);

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

int history_run_add(struct history_job *j, char **words)
{
	int ret;

	if (!*words && !j->o->notes) {
		tare_fail(j->err, EINVAL, "add needs documents, or --notes");
		tare_hint(j->err, "tare stat --format json -o FILE -- COMMAND writes one");
		return -EINVAL;
	}
	if (j->o->benchmark && strlen(j->o->benchmark) > HISTORY_NAME_MAX)
		return tare_fail(j->err, EINVAL, "--benchmark: the name is too long");
	ret = check_output(j, "add");
	if (ret < 0)
		return ret;
	name_machine(j);
	revision_signals_begin(&j->signals);
	ret = collect(j, words);
	revision_signals_end(&j->signals);
	return ret == 0 ? store_batch(j) : ret;
}

/* ---- import ---- */

static bool is_sqlite(const char *path)
{
	char head[16] = "";
	int fd = file_open_regular(path, INT64_MAX);
	bool is = fd >= 0 && pread(fd, head, sizeof(head), 0) == sizeof(head) &&
		!memcmp(head, "SQLite format 3", sizeof(head));

	if (fd >= 0)
		close(fd);
	return is;
}

static int import_file(struct history_job *j, const char *path, const struct history_import *how,
		       size_t *undated)
{
	char *text = NULL;
	size_t n = 0;
	int ret;

	if (is_sqlite(path))
		return history_import_rustc(&j->batch, path, how, undated, j->err);
	ret = file_read(NULL, path, DOCUMENT_BYTES_MAX, &text, &n, j->err);

	if (ret == 0)
		ret = history_import_parse(&j->batch, text, n, path, how, j->err);
	free(text);
	return ret;
}

int history_run_import(struct history_job *j, char **words)
{
	struct history_import how = { .machine = j->o->machine ? j->o->machine : "" };
	struct history_commit commit;
	size_t undated = 0;
	int ret = check_output(j, "import");

	if (ret == 0 && !*words)
		ret = tare_fail(j->err, EINVAL, "import needs files");
	if (ret == 0 && j->o->benchmark)
		ret = tare_fail(j->err, EINVAL,
				"import keeps the names of the files: no --benchmark");
	if (ret == 0 && j->o->notes)
		ret = tare_fail(j->err, EINVAL, "--notes is an option of add");
	if (ret == 0 && j->o->commit) {
		revision_signals_begin(&j->signals);
		ret = history_git_commit(&commit, &j->batch.strings, j->o->commit, &j->signals,
					 j->err);
		revision_signals_end(&j->signals);
		how.commit = &commit;
	}
	for (char **path = words; ret == 0 && *path; path++)
		ret = import_file(j, *path, &how, &undated);
	if (ret == 0)
		ret = store_batch(j);
	if (ret == 0 && undated)
		printf("%zu values of releases were left out: they have no date\n", undated);
	return ret;
}
