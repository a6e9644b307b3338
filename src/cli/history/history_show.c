/* SPDX-License-Identifier: MIT */
/* tare history list and show */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "cli/history/history_job.h"
#include "history/history_git.h"
#include "history/history_view.h"

static bool matches(const char *pattern, const char *name)
{
	return !pattern || !strcmp(pattern, name) || fnmatch(pattern, name, 0) == 0;
}

static int no_series(struct history_job *j, const char *benchmark)
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

/* Keeps only the rows that match. */
int history_read_list(struct history_job *j, const char *benchmark, enum history_detail detail)
{
	size_t n = 0;
	int ret = history_open_store(j, HISTORY_READ);

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

int history_open_document(struct history_job *j, struct document *to)
{
	int ret = document_open(to, j->o->out.path, j->err);

	if (ret < 0)
		return ret;
	to->style = output_style(&to->to, j->o->out.colour);
	to->style.thousands = true;
	return 0;
}

int history_run_list(struct history_job *j, char **words)
{
	struct document to;
	int ret;

	if (words[0] && words[1])
		return tare_fail(j->err, EINVAL, "list takes one pattern");
	ret = history_read_list(j, words[0], HISTORY_LAST);
	if (ret == 0)
		ret = history_open_document(j, &to);
	if (ret < 0)
		return ret;
	if (j->o->out.format == FORMAT_JSON)
		history_list_json(&to.out, &j->list);
	else
		history_list_text(&to.out, &j->list, &to.style);
	return document_close(&to, j->err);
}

static int read_values(struct history_job *j)
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

/* ---- the values of a commit ---- */

enum { SHORT_HASH = 7, HASH = 40 };

/* The beginning of a hash is enough. */
static bool is_commit(const struct history_point *p, const char *name)
{
	size_t n = strlen(name);

	if (!strcmp(p->commit.name, name))
		return true;
	return n >= SHORT_HASH && strspn(name, "0123456789abcdef") == n &&
		strlen(p->commit.name) >= HASH && !strncmp(p->commit.name, name, n);
}

/* A revision of git, or the beginning of a commit's name in the history. */
static const char *resolve(struct history_job *j)
{
	struct history_commit found;
	int ret;

	revision_signals_begin(&j->signals);
	ret = history_git_commit(&found, &j->batch.strings, j->o->commit, &j->signals, NULL);
	revision_signals_end(&j->signals);
	return ret == 0 ? found.name : j->o->commit;
}

static bool is_first(const struct history_measured *d, size_t n, const struct history_point *p)
{
	for (size_t i = 0; i < n; i++)
		if (!memcmp(&d[i].p->digest, &p->digest, sizeof(p->digest)))
			return false;
	return true;
}

void history_measured_free(struct history_measured *d, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(d[i].finding.function);
		free(d[i].before.function);
		free(d[i].rows.row);
	}
	free(d);
}

int history_read_finding(struct history_job *j, struct history_measured *d)
{
	const struct history_point *p = d->p;
	int ret = j->kind->finding(j->store, &p->digest, &d->finding, &j->batch.strings, j->err);

	if (ret == 0 && p->before >= 0)
		ret = j->kind->finding(j->store, &d->v->point[p->before].digest, &d->before,
				       &j->batch.strings, j->err);
	return ret == 0 ? history_functions(&d->rows, &d->before, &d->finding, j->err) : ret;
}

static int find_details(struct history_job *j, struct history_measured **out, size_t *n)
{
	const char *name = resolve(j);
	size_t room = 0;
	int ret = 0;

	for (size_t i = 0; i < j->n_values; i++)
		for (size_t k = 0; ret == 0 && k < j->values[i].n; k++) {
			struct history_measured *d;

			if (!is_commit(&j->values[i].point[k], name))
				continue;
			if (!array_reserve_zeroed(out, &room, *n + 1, sizeof(**out)))
				return tare_fail_nomem(j->err);
			d = &(*out)[*n];
			d->v = &j->values[i];
			d->p = &j->values[i].point[k];
			d->first = is_first(*out, *n, d->p);
			++*n;
			if (d->first)
				ret = history_read_finding(j, d);
		}
	if (ret == 0 && !*n) {
		tare_fail(j->err, ENOENT, "the history has no values of commit %.60s", name);
		tare_hint(j->err, "tare history show BENCHMARK lists the commits");
		return -ENOENT;
	}
	return ret;
}

static int show_commit(struct history_job *j, const char *benchmark)
{
	struct history_measured *d = NULL;
	struct document to;
	size_t n = 0;
	int ret = history_read_list(j, benchmark, HISTORY_NAMES);

	if (ret == 0)
		ret = read_values(j);
	if (ret == 0)
		ret = find_details(j, &d, &n);
	if (ret == 0)
		ret = history_open_document(j, &to);
	if (ret == 0) {
		if (j->o->out.format == FORMAT_JSON)
			history_detail_json(&to.out, d, n);
		else
			history_detail_text(&to.out, d, n, &to.style);
		ret = document_close(&to, j->err);
	}
	history_measured_free(d, n);
	return ret;
}

int history_run_show(struct history_job *j, char **words)
{
	struct document to;
	int ret;

	if (j->o->commit && (!words[0] || !words[1]))
		return show_commit(j, words[0]);
	if (!words[0] || words[1]) {
		tare_fail(j->err, EINVAL, "show needs one benchmark, or a pattern, or --commit");
		tare_hint(j->err, "tare history list shows all");
		return -EINVAL;
	}
	ret = history_read_list(j, words[0], HISTORY_NAMES);
	if (ret == 0)
		ret = read_values(j);
	if (ret == 0)
		ret = history_open_document(j, &to);
	if (ret < 0)
		return ret;
	if (j->o->out.format == FORMAT_JSON)
		history_json(&to.out, j->values, j->n_values);
	else
		history_text(&to.out, j->values, j->n_values, &to.style);
	return document_close(&to, j->err);
}
