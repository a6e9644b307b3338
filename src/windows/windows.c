/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "windows/windows.h"
#include "event/metric.h"

enum { NAMES_MOST = 16, METRICS_MOST = 32 };

enum { OF_WALL = -1 };

struct bound {
	struct formula *formula;
	int of[NAMES_MOST]; /* event, or OF_WALL */
	size_t n;
};

struct row {
	struct windows_row shown;
	uint64_t thread;
	size_t at; /* among the values as they came */
};

struct windows {
	struct window_sink sink;
	struct windows_event *event;
	size_t n;
	struct windows_metric metric[METRICS_MOST];
	struct bound bound[METRICS_MOST];
	size_t n_metrics;
	struct row *row;
	size_t rows, row_room;
	uint64_t *value;
	size_t value_room;
	struct windows_thread *thread; /* by number */
	size_t threads, thread_room;
	struct windows_table table;
	struct windows_row *out_row;
	uint64_t *out_value;
	double *out_metric;
};

/* ---- formulas ---- */

static bool same_modes(const struct encoding *a, const struct encoding *b)
{
	return a->attr.exclude_user == b->attr.exclude_user && a->attr.exclude_kernel == b->attr.exclude_kernel;
}

/* The event that a formula's name means: as it was written, or its usual name, in the modes of the first one. */
static int find_event(const struct encoding_list *l, const char *name, int first)
{
	char room[64];

	if (!strcmp(name, "duration_time"))
		return OF_WALL;
	for (size_t i = 0; i < l->n; i++)
		if ((!strcmp(l->enc[i].name, name) || !strcmp(metric_event_name(&l->enc[i], room, sizeof(room)), name)) &&
		    (first < 0 || same_modes(&l->enc[first], &l->enc[i])))
			return (int)i;
	return -ENOENT;
}

/* 0, or -ENOENT where the events are not enough for it. */
static int bind(struct windows *w, const struct metric_row *m, const struct encoding_list *l, struct tare_error *err)
{
	struct bound b = { .formula = NULL };
	int first = -1, ret = formula_parse(m->formula, &b.formula, err);

	if (ret < 0)
		return ret;
	b.n = formula_names(b.formula);
	if (b.n > NAMES_MOST || w->n_metrics == METRICS_MOST)
		ret = tare_fail(err, E2BIG, "%.60s: too many names, or too many metrics", m->name);
	for (size_t i = 0; ret == 0 && i < b.n; i++) {
		const char *name = formula_name(b.formula, i);

		b.of[i] = find_event(l, name, first);
		if (b.of[i] == -ENOENT) {
			ret = tare_fail(err, ENOENT, "%.60s needs %.100s, which is not among the events", m->name, name);
			tare_hint(err, "-e %.100s adds it", name);
		} else if (first < 0 && b.of[i] >= 0) {
			first = b.of[i];
		}
	}
	if (ret < 0) {
		formula_free(b.formula);
		return ret;
	}

	struct windows_metric *out = &w->metric[w->n_metrics];

	*out = (struct windows_metric){ .digits = m->digits, .percent = m->percent };
	snprintf(out->name, sizeof(out->name), "%.60s", m->name);
	snprintf(out->unit, sizeof(out->unit), "%.30s", m->unit ? m->unit : "");
	w->bound[w->n_metrics++] = b;
	return 0;
}

static bool is_bound(const struct windows *w, const char *name)
{
	for (size_t i = 0; i < w->n_metrics; i++)
		if (!strcmp(w->metric[i].name, name))
			return true;
	return false;
}

static int bind_all(struct windows *w, const struct encoding_list *l, const struct metric_row *const *asked,
		    struct tare_error *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && asked && asked[i]; i++)
		ret = bind(w, asked[i], l, err);
	for (const struct metric_row *m = metric_rows; ret == 0 && m->name; m++)
		if (!is_bound(w, m->name))
			bind(w, m, l, NULL);
	return ret;
}

/* ---- the sink ---- */

static void *grown(void *p, size_t need, size_t *room, size_t each)
{
	size_t more = *room ? *room : 256;
	void *q;

	if (need <= *room)
		return p;
	while (more < need)
		more *= 2;
	q = realloc(p, more * each);
	if (q)
		*room = more;
	return q;
}

static struct windows_thread *find_thread(struct windows *w, uint64_t number)
{
	for (size_t i = w->threads; i-- > 0;)
		if (w->thread[i].number == number)
			return &w->thread[i];
	return NULL;
}

static int take_thread(struct window_sink *self, const struct window_thread *t, struct tare_error *err)
{
	struct windows *w = (struct windows *)self;
	struct windows_thread *known = find_thread(w, t->number), *more;

	if (!known) {
		more = grown(w->thread, w->threads + 1, &w->thread_room, sizeof(*more));
		if (!more)
			return tare_fail_nomem(err);
		w->thread = more;
		known = &w->thread[w->threads++];
		*known = (struct windows_thread){ .number = t->number };
	}
	known->pid = t->pid;
	known->tid = t->tid;
	snprintf(known->comm, sizeof(known->comm), "%s", t->comm ? t->comm : "");
	return 0;
}

static int take_window(struct window_sink *self, const struct window *win, struct tare_error *err)
{
	struct windows *w = (struct windows *)self;
	struct row *rows = grown(w->row, w->rows + 1, &w->row_room, sizeof(*rows));
	uint64_t *values;

	if (!rows)
		return tare_fail_nomem(err);
	w->row = rows;
	values = grown(w->value, (w->rows + 1) * w->n, &w->value_room, sizeof(*values));
	if (!values)
		return tare_fail_nomem(err);
	w->value = values;
	memcpy(w->value + w->rows * w->n, win->value, w->n * sizeof(*values));
	w->row[w->rows] = (struct row){ { win->begin, win->time_ns, win->wall_ns, win->cpu, win->rest, win->moved },
					win->thread, w->rows };
	w->rows++;
	return 0;
}

int windows_new(struct windows **out, const struct encoding_list *events, const struct metric_row *const *asked,
		struct tare_error *err)
{
	struct windows *w = calloc(1, sizeof(*w));
	int ret = 0;

	if (!w)
		return tare_fail_nomem(err);
	w->sink = (struct window_sink){ take_thread, take_window };
	w->n = events->n;
	w->event = calloc(w->n + 1, sizeof(*w->event));
	if (!w->event)
		ret = tare_fail_nomem(err);
	if (ret == 0)
		windows_rename(w, events);
	if (ret == 0)
		ret = bind_all(w, events, asked, err);
	if (ret < 0) {
		windows_free(w);
		return ret;
	}
	*out = w;
	return 0;
}

void windows_rename(struct windows *w, const struct encoding_list *events)
{
	for (size_t i = 0; i < w->n && i < events->n; i++) {
		snprintf(w->event[i].name, sizeof(w->event[i].name), "%s", events->enc[i].name);
		snprintf(w->event[i].unit, sizeof(w->event[i].unit), "%s", events->enc[i].unit);
		w->event[i].scale = events->enc[i].scale == 0 ? 1 : events->enc[i].scale;
	}
}

struct window_sink *windows_sink(struct windows *w)
{
	return &w->sink;
}

/* ---- the table ---- */

static int by_thread(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static int by_number(const void *a, const void *b)
{
	const struct windows_thread *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* The wall time in which a row's counts were counted; 0: not known. */
static uint64_t wall_of(const struct windows_row *row)
{
	return row->moved ? 0 : row->wall_ns;
}

static double evaluate(const struct windows *w, size_t m, const uint64_t *value, uint64_t wall_ns)
{
	const struct bound *b = &w->bound[m];
	double in[NAMES_MOST], out;

	for (size_t i = 0; i < b->n; i++) {
		if (b->of[i] == OF_WALL && !wall_ns)
			return NAN;
		in[i] = b->of[i] == OF_WALL ? (double)wall_ns : (double)value[b->of[i]] * w->event[b->of[i]].scale;
	}
	return formula_eval(b->formula, in, &out) < 0 ? NAN : out;
}

size_t windows_whole(const struct windows_table *t, const struct windows_thread *th)
{
	size_t n = th->n;

	while (n && t->row[th->first + n - 1].rest)
		n--;
	return n;
}

bool windows_is_clock(const struct windows_table *t, size_t e)
{
	const char *name = t->event[e].name;

	return !strncmp(name, "task-clock", 10) || !strncmp(name, "cpu-clock", 9);
}

bool windows_of_time(const struct windows_table *t)
{
	return windows_is_clock(t, 0);
}

double windows_rate(const struct windows_table *t, size_t row, size_t e)
{
	double first = (double)t->value[row * t->n_events];

	if (e == 0)
		return wall_of(&t->row[row]) ? first * 1e3 / (double)wall_of(&t->row[row]) : NAN;
	return first > 0 ? (double)t->value[row * t->n_events + e] * (windows_of_time(t) ? 1e6 : 1e3) / first : 0;
}

/* By the rates of all other events; where there is none, by time. The rest of a thread is no window. */
static int find_phases(const struct windows_table *t, struct windows_thread *th, struct tare_error *err)
{
	size_t d = t->n_events > 1 ? t->n_events - 1 : 1, n = th->n;
	double *feature;
	int ret;

	while (n && t->row[th->first + n - 1].rest)
		n--;
	feature = calloc(n * d + 1, sizeof(*feature));
	if (!feature)
		return tare_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < d; k++) {
			double v = t->n_events > 1 ? windows_rate(t, th->first + i, k + 1)
						   : (double)t->row[th->first + i].wall_ns;

			feature[i * d + k] = v;
		}
	ret = phases_find(feature, n, d, &th->phases, err);
	free(feature);
	return ret;
}

static int fill(struct windows *w, struct tare_error *err)
{
	struct windows_table *t = &w->table;
	size_t kept = 0, at = 0;
	int ret = 0;

	*t = (struct windows_table){ w->event, w->n, w->metric, w->n_metrics, w->out_row, w->rows, w->out_value,
				     w->out_metric };
	for (size_t i = 0; i < w->rows; i++) {
		const uint64_t *value = w->value + w->row[i].at * w->n;

		w->out_row[i] = w->row[i].shown;
		memcpy(w->out_value + i * w->n, value, w->n * sizeof(*value));
		for (size_t m = 0; m < w->n_metrics; m++)
			w->out_metric[i * w->n_metrics + m] = evaluate(w, m, value, wall_of(&w->row[i].shown));
	}
	for (size_t k = 0; ret == 0 && k < w->threads; k++) {
		struct windows_thread *th = &w->thread[k];

		th->first = at;
		while (at < w->rows && w->row[at].thread == th->number)
			at++;
		th->n = at - th->first;
		if (!th->n)
			continue;
		ret = find_phases(t, th, err);
		w->thread[kept++] = *th;
	}
	t->thread = w->thread;
	t->n_threads = kept;
	return ret;
}

const struct windows_table *windows_table(struct windows *w, struct tare_error *err)
{
	if (w->out_row)
		return &w->table;
	if (w->rows) /* else there may be no array at all */
		qsort(w->row, w->rows, sizeof(*w->row), by_thread);
	if (w->threads)
		qsort(w->thread, w->threads, sizeof(*w->thread), by_number);
	w->out_row = calloc(w->rows + 1, sizeof(*w->out_row));
	w->out_value = calloc(w->rows * w->n + 1, sizeof(*w->out_value));
	w->out_metric = calloc(w->rows * w->n_metrics + 1, sizeof(*w->out_metric));
	if (!w->out_row || !w->out_value || !w->out_metric) {
		tare_fail_nomem(err);
		return NULL;
	}
	return fill(w, err) < 0 ? NULL : &w->table;
}

void windows_free(struct windows *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n_metrics; i++)
		formula_free(w->bound[i].formula);
	free(w->event);
	free(w->row);
	free(w->value);
	free(w->thread);
	free(w->out_row);
	free(w->out_value);
	free(w->out_metric);
	free(w);
}
