/* SPDX-License-Identifier: MIT */
/* tare history prune: remove values. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/num.h"
#include "cli/history/history_job.h"
#include "history/history_git.h"
#include "output/escape.h"

/* "180d", "26w", "2y" before now. */
static int time_before(const char *age, int64_t *out, struct tare_error *err)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = { { 'h', 3600 }, { 'd', 86400 }, { 'w', 7 * 86400 }, { 'y', 365 * 86400 } };
	size_t n = strlen(age), digits = strspn(age, "0123456789");

	for (size_t i = 0; n > 1 && n < 7 && digits == n - 1 && i < ARRAY_SIZE(units); i++)
		if (age[digits] == units[i].unit) {
			*out = (int64_t)time(NULL) - strtoll(age, NULL, 10) * units[i].seconds;
			return 0;
		}
	tare_fail(err, EINVAL, "--older-than: '%.40s' is not an age", age);
	tare_hint(err, "a number of hours, days, weeks or years: 12h, 180d, 26w, 2y");
	return -EINVAL;
}

static int check(struct history_job *j, char **words)
{
	if (words[0] && words[1])
		return tare_fail(j->err, EINVAL, "prune takes one benchmark or pattern");
	if (j->o->out.format != FORMAT_TEXT || j->o->out.path)
		return tare_fail(j->err, EINVAL, "prune writes no document");
	if (words[0] || j->o->event || j->o->older || j->o->keep || j->o->unreachable)
		return 0;
	tare_fail(j->err, EINVAL, "prune needs a condition, or a benchmark");
	tare_hint(j->err, "--older-than 180d, --keep 500, --unreachable, or a benchmark");
	return -EINVAL;
}

static bool kept(void *with, const char *commit)
{
	return history_is_reachable(with, commit);
}

static void print_series(const struct history_job *j, const struct history_pruned *p)
{
	struct text t = { 0 };

	for (size_t i = 0; i < j->list.n; i++) {
		const struct history_series *s = &j->list.row[i].series;

		if (!p->of[i])
			continue;
		escape_cell(&t, s->benchmark);
		text_add(&t, ": ");
		escape_cell(&t, s->event);
		printf("%s: %" PRIu64 " of %" PRIu64 " values\n", t.s ? t.s : "?", p->of[i],
		       j->list.row[i].values);
		text_free(&t);
	}
}

static void print_result(const struct history_job *j, const struct history_pruned *p)
{
	print_series(j, p);
	if (j->o->dry) {
		printf("would remove %" PRIu64 " value%s\n", p->values, p->values == 1 ? "" : "s");
		return;
	}
	printf("removed %" PRIu64 " value%s", p->values, p->values == 1 ? "" : "s");
	if (p->values)
		printf("; %" PRIu64 " measurement%s and %" PRIu64
		       " series have none left and were removed, too",
		       p->runs, p->runs == 1 ? "" : "s", p->series);
	if (p->compacted)
		printf("; the file has %" PRIu64 " kB, before %" PRIu64 " kB",
		       p->bytes_after / 1000, p->bytes_before / 1000);
	else if (p->values && j->kind == &history_sqlite)
		printf("; the file was not made smaller, because it is in use or the disk is full");
	printf("\n");
}

/* Only an existing file is opened for writing. */
static int open_again(struct history_job *j)
{
	if (j->o->dry)
		return 0;
	j->kind->close(j->store);
	j->store = NULL;
	return history_open_store(j, HISTORY_WRITE);
}

int history_run_prune(struct history_job *j, char **words)
{
	struct history_prune what = { .before = INT64_MAX, .keep = j->o->keep, .dry = j->o->dry };
	struct history_reachable reachable = { 0 };
	struct history_pruned result = { 0 };
	int ret = check(j, words);

	if (ret == 0 && j->o->older)
		ret = time_before(j->o->older, &what.before, j->err);
	if (ret == 0 && j->o->unreachable) {
		revision_signals_begin(&j->signals);
		ret = history_git_reachable(&reachable, &j->signals, j->err);
		revision_signals_end(&j->signals);
		what.kept = kept;
		what.with = &reachable;
	}
	if (ret == 0)
		ret = history_read_list(j, words[0], HISTORY_LAST);
	if (ret == 0)
		ret = open_again(j);
	if (ret == 0) {
		what.series = j->list.row;
		what.n = j->list.n;
		result.of = calloc(what.n + 1, sizeof(*result.of));
		ret = result.of ? j->kind->prune(j->store, &what, &result, j->err)
				: tare_fail_nomem(j->err);
	}
	if (ret == 0)
		print_result(j, &result);
	free(result.of);
	history_reachable_free(&reachable);
	return ret;
}
