/* SPDX-License-Identifier: MIT */
/* tare history list and show */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "cli/history/history_job.h"
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

int history_run_show(struct history_job *j, char **words)
{
	struct document to;
	int ret;

	if (!words[0] || words[1]) {
		tare_fail(j->err, EINVAL, "show needs one benchmark, or a pattern");
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
