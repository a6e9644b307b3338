/* SPDX-License-Identifier: MIT */
/* tare history add */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include "arch/cpu.h"
#include "base/file.h"
#include "cli/history/history_job.h"
#include "history/history_document.h"
#include "history/history_git.h"

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

int history_run_add(struct history_job *j, char **words)
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
		ret = history_open_store(j, HISTORY_WRITE);
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
