/* SPDX-License-Identifier: MIT */
/* tare history plot: series on a page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/array.h"
#include "cli/history/history_job.h"
#include "history/history_plot.h"
#include "output/page.h"
#include "output/whole_file.h"

enum { VALUES_MAX = 4000000 }; /* of a page: a browser needs about 100 bytes for each */

static int check(struct history_job *j, char **words)
{
	if (words[0] && words[1])
		return tare_fail(j->err, EINVAL, "plot takes one benchmark or pattern");
	if (j->o->out.format != FORMAT_TEXT) {
		tare_fail(j->err, EINVAL, "plot writes a page, in no other format");
		tare_hint(j->err, "tare history show or export writes JSON");
		return -EINVAL;
	}
	if (!j->o->out.path) {
		tare_fail(j->err, EINVAL, "plot needs the name of the page");
		tare_hint(j->err, "-o history.html");
		return -EINVAL;
	}
	return page_available(j->err);
}

static int check_size(struct history_job *j)
{
	uint64_t n = 0;

	for (size_t i = 0; i < j->list.n; i++)
		n += j->list.row[i].values;
	if (n <= VALUES_MAX)
		return 0;
	tare_fail(j->err, E2BIG, "%llu values are too many for a page, which has room for %d",
		  (unsigned long long)n, VALUES_MAX);
	tare_hint(j->err, "name a benchmark or a pattern, or an event with -e");
	return -E2BIG;
}

/* Of the change points: their verdicts and functions, if the store has any. */
static int find_causes(struct history_job *j, const struct history_values *v,
		       struct history_measured **out, size_t *n)
{
	size_t room = 0;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < v->n; i++) {
		struct history_measured d = { .v = v, .p = &v->point[i] };

		if (!v->point[i].change)
			continue;
		ret = history_read_finding(j, &d);
		if (ret == 0 && (d.finding.verdict || d.rows.n) &&
		    array_reserve_zeroed(out, &room, *n + 1, sizeof(**out))) {
			(*out)[(*n)++] = d;
			continue;
		}
		if (ret == 0 && (d.finding.verdict || d.rows.n))
			ret = tare_fail_nomem(j->err);
		free(d.finding.function);
		free(d.before.function);
		free(d.rows.row);
	}
	return ret;
}

static int put_series(struct history_job *j, struct history_plot *plot,
		      const struct history_listed *of)
{
	struct history_measured *found = NULL;
	struct history_values v;
	size_t n = 0;
	int ret = j->kind->values(j->store, of, &v, j->err);

	if (ret == 0)
		ret = history_judge(&v, j->err);
	if (ret == 0)
		ret = find_causes(j, &v, &found, &n);
	if (ret == 0)
		ret = history_plot_series(plot, &v, found, n, j->err);
	history_measured_free(found, n);
	arena_free(&j->batch.strings);
	history_values_free(&v);
	return ret;
}

static int put_all(struct history_job *j, struct out *to)
{
	struct history_plot plot;
	int ret = 0, ended;

	history_plot_begin(&plot, to);
	for (size_t i = 0; ret == 0 && to->error == 0 && i < j->list.n; i++)
		ret = put_series(j, &plot, &j->list.row[i]);
	ended = history_plot_end(&plot, ret == 0 ? j->err : NULL);
	return ret == 0 ? ended : ret;
}

static int write_page(struct history_job *j, const char *benchmark, struct whole_file *file)
{
	struct text title = { 0 };
	struct page page;
	struct out out;
	int ret, closed;

	text_add(&title, "history of %s%s%s", benchmark ? benchmark : "all benchmarks",
		 j->o->event ? ": " : "", j->o->event ? j->o->event : "");
	out_open_fd(&out, &file->fd);
	ret = title.failed ? tare_fail_nomem(j->err)
			   : page_open(&page, &out, "tare history", title.s, 0, j->err);
	if (ret == 0) {
		ret = put_all(j, page_document(&page));
		closed = page_close(&page, ret == 0 ? j->err : NULL);
		ret = ret == 0 ? closed : ret;
	}
	closed = out_close(&out);
	if (ret == 0 && closed < 0)
		ret = tare_fail(j->err, -closed, "cannot write the page: %s", strerror(-closed));
	text_free(&title);
	return ret;
}

int history_run_plot(struct history_job *j, char **words)
{
	struct whole_file file = { .fd = -1 };
	int ret = check(j, words);

	if (ret == 0)
		ret = history_read_list(j, words[0], HISTORY_LAST);
	if (ret == 0)
		ret = check_size(j);
	if (ret == 0)
		ret = whole_file_open(&file, j->o->out.path, false, j->err);
	if (ret < 0)
		return ret;
	ret = write_page(j, words[0], &file);
	if (ret == 0)
		ret = whole_file_commit(&file, j->err);
	whole_file_abandon(&file);
	return ret;
}
