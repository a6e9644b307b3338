/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "windows/windows.h"
#include "base/file.h"
#include "event/metric.h"

enum { NAMES_MOST = 16, METRICS_MOST = 32 };

enum { OF_WALL = -1 };

struct bound {
	struct formula *formula;
	int of[NAMES_MOST]; /* event, or OF_WALL */
	size_t n;
};

/* The rows of a thread: full blocks of ROWS_HELD rows in the file, then those in memory. */
struct windows_rows {
	uint64_t *block; /* the numbers of its blocks in the file */
	size_t blocks, block_room;
	unsigned char *held;
	size_t n_held, held_room; /* rows */
};

struct thread {
	struct windows_thread shown; /* the first member: threads are found by its number */
	struct windows_rows rows;
	size_t rests; /* rest rows, at the end */
};

struct windows {
	struct window_sink sink;
	struct windows_event *event;
	size_t n;
	struct windows_metric metric[METRICS_MOST];
	struct bound bound[METRICS_MOST];
	size_t n_metrics;
	struct thread **thread;
	size_t threads, thread_room;
	void *by_number;     /* all threads, in a tree: tsearch(3) */
	struct thread *last; /* the last one that had a window */
	int fd;              /* of the temporary file; -1: not created yet */
	uint64_t put;        /* number of blocks in it */
	bool full;
	unsigned char *read; /* the block of it that was read last */
	uint64_t read_block;
	int unread; /* a negative errno if reading failed */
	struct windows_table table;
	const struct windows_thread **shown;
};

static size_t row_bytes(const struct windows *w)
{
	return sizeof(struct windows_row) + w->n * sizeof(uint64_t);
}

static size_t block_bytes(const struct windows *w)
{
	return ROWS_HELD * row_bytes(w);
}

/* ---- formulas ---- */

static bool same_modes(const struct encoding *a, const struct encoding *b)
{
	return a->attr.exclude_user == b->attr.exclude_user &&
		a->attr.exclude_kernel == b->attr.exclude_kernel;
}

/*
 * The event for a name in a formula: as written, or by its usual name, in the modes of the first
 * event.
 */
static int find_event(const struct encoding_list *l, const char *name, int first)
{
	char room[64];

	if (!strcmp(name, "duration_time"))
		return OF_WALL;
	for (size_t i = 0; i < l->n; i++)
		if ((!strcmp(l->enc[i].name, name) ||
		     !strcmp(metric_event_name(&l->enc[i], room, sizeof(room)), name)) &&
		    (first < 0 || same_modes(&l->enc[first], &l->enc[i])))
			return (int)i;
	return -ENOENT;
}

/* 0, or -ENOENT if an event is missing. */
static int bind(struct windows *w, const struct metric_row *m, const struct encoding_list *l,
		struct tare_error *err)
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
			ret = tare_fail(err, ENOENT,
					"%.60s needs %.100s, which is not among the events",
					m->name, name);
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

static int bind_all(struct windows *w, const struct encoding_list *l,
		    const struct metric_row *const *asked, struct tare_error *err)
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

static int by_number(const void *a, const void *b)
{
	const struct windows_thread *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static struct thread *find_thread(struct windows *w, uint64_t number)
{
	const struct windows_thread wanted = { .number = number };
	struct thread **found;

	if (w->last && w->last->shown.number == number)
		return w->last;
	found = tfind(&wanted, &w->by_number, by_number);
	return found ? *found : NULL;
}

static struct thread *add_thread(struct windows *w, uint64_t number)
{
	struct thread **more = grown(w->thread, w->threads + 1, &w->thread_room, sizeof(*more));
	struct thread *t;

	if (!more)
		return NULL;
	w->thread = more;
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->shown = (struct windows_thread){ .number = number, .rows = &t->rows };
	if (!tsearch(t, &w->by_number, by_number)) {
		free(t);
		return NULL;
	}
	return w->thread[w->threads++] = t;
}

static int take_thread(struct window_sink *self, const struct window_thread *t,
		       struct tare_error *err)
{
	struct windows *w = (struct windows *)self;
	struct thread *known = find_thread(w, t->number);

	if (!known)
		known = add_thread(w, t->number);
	if (!known)
		return tare_fail_nomem(err);
	known->shown.pid = t->pid;
	known->shown.tid = t->tid;
	snprintf(known->shown.comm, sizeof(known->shown.comm), "%s", t->comm ? t->comm : "");
	return 0;
}

/* Append a thread's rows in memory to the file as a block. */
static int put_block(struct windows *w, struct windows_rows *r, struct tare_error *err)
{
	uint64_t *more = grown(r->block, r->blocks + 1, &r->block_room, sizeof(*more));
	off_t at = (off_t)(w->put * block_bytes(w));
	int ret;

	if (!more)
		return tare_fail_nomem(err);
	r->block = more;
	if (w->fd < 0) {
		ret = file_scratch(err);
		if (ret < 0)
			return ret;
		w->fd = ret;
	}
	ret = file_reserve(w->fd, at, (off_t)block_bytes(w));
	if (ret == 0 && lseek(w->fd, at, SEEK_SET) < 0)
		ret = -errno;
	if (ret == 0)
		ret = file_write_all(w->fd, r->held, block_bytes(w));
	if (ret < 0) {
		tare_fail(err, -ret, "cannot keep more windows in a temporary file: %s",
			  strerror(-ret));
		tare_hint(err, "set TMPDIR to another place, or use larger windows");
		return ret;
	}
	r->block[r->blocks++] = w->put++;
	r->n_held = 0;
	return 0;
}

/* Make room for one more row in memory. */
static int hold(struct windows *w, struct windows_rows *r, struct tare_error *err)
{
	size_t room = r->held_room ? r->held_room * 2 : 1;
	unsigned char *more;

	if (r->n_held == ROWS_HELD)
		return put_block(w, r, err);
	if (r->n_held < r->held_room)
		return 0;
	more = realloc(r->held, room * row_bytes(w));
	if (!more)
		return tare_fail_nomem(err);
	r->held = more;
	r->held_room = room;
	return 0;
}

static int take_window(struct window_sink *self, const struct window *win, struct tare_error *err)
{
	struct windows *w = (struct windows *)self;
	struct thread *t = find_thread(w, win->thread);
	struct windows_row *row;
	int ret = hold(w, &t->rows, err);

	if (ret < 0) {
		w->full = true;
		return ret;
	}
	w->last = t;
	row = (void *)(t->rows.held + t->rows.n_held++ * row_bytes(w));
	*row = (struct windows_row){ win->begin, win->time_ns, win->wall_ns,
				     win->cpu,   win->rest,    win->moved };
	memcpy(row->value, win->value, w->n * sizeof(*row->value));
	t->rests = win->rest ? t->rests + 1 : 0;
	t->shown.n++;
	t->shown.whole = t->shown.n - t->rests;
	return 0;
}

bool windows_full(const struct windows *w)
{
	return w && w->full;
}

int windows_new(struct windows **out, const struct encoding_list *events,
		const struct metric_row *const *asked, struct tare_error *err)
{
	struct windows *w = calloc(1, sizeof(*w));
	int ret = 0;

	if (!w)
		return tare_fail_nomem(err);
	w->sink = (struct window_sink){ take_thread, take_window };
	w->fd = -1;
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

static int order(const void *a, const void *b)
{
	return by_number(*(struct thread *const *)a, *(struct thread *const *)b);
}

/* A block of the file. */
static const unsigned char *read_block(struct windows *w, uint64_t block)
{
	size_t bytes = block_bytes(w);
	ssize_t got;

	if (w->read_block == block + 1)
		return w->read;
	w->read_block = block + 1;
	got = pread(w->fd, w->read, bytes, (off_t)(block * bytes));
	if (got != (ssize_t)bytes) {
		w->unread = got < 0 ? -errno : -EIO;
		memset(w->read, 0, bytes);
	}
	return w->read;
}

const struct windows_row *windows_row(const struct windows_table *t,
				      const struct windows_thread *th, size_t i)
{
	const struct windows_rows *r = th->rows;
	size_t block = i / ROWS_HELD;
	const unsigned char *rows = block < r->blocks ? read_block(t->windows, r->block[block])
						      : r->held;

	return (const void *)(rows + i % ROWS_HELD * row_bytes(t->windows));
}

int windows_unread(const struct windows_table *t, struct tare_error *err)
{
	int ret = t->windows->unread;

	return ret ? tare_fail(err, -ret, "cannot read windows back from a temporary file: %s",
			       strerror(-ret))
		   : 0;
}

/* Read a block of the file. */
static uint64_t wall_of(const struct windows_row *row)
{
	return row->moved ? 0 : row->wall_ns;
}

double windows_metric(const struct windows_table *t, const struct windows_row *row, size_t m)
{
	const struct windows *w = t->windows;
	const struct bound *b = &w->bound[m];
	double in[NAMES_MOST], out;

	for (size_t i = 0; i < b->n; i++) {
		if (b->of[i] == OF_WALL && !wall_of(row))
			return NAN;
		in[i] = b->of[i] == OF_WALL
			? (double)wall_of(row)
			: (double)row->value[b->of[i]] * w->event[b->of[i]].scale;
	}
	return formula_eval(b->formula, in, &out) < 0 ? NAN : out;
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

double windows_rate(const struct windows_table *t, const struct windows_row *row, size_t e)
{
	double first = (double)row->value[0];

	if (e == 0)
		return wall_of(row) ? first * 1e3 / (double)wall_of(row) : NAN;
	return first > 0 ? (double)row->value[e] * (windows_of_time(t) ? 1e6 : 1e3) / first : 0;
}

struct rows_of {
	const struct windows_table *t;
	const struct windows_thread *th;
};

/* Compares the rates of all other events; without any, the time. */
static void get_features(void *with, size_t i, double *feature)
{
	const struct rows_of *of = with;
	const struct windows_row *row = windows_row(of->t, of->th, i);

	feature[0] = (double)row->wall_ns;
	for (size_t e = 1; e < of->t->n_events; e++)
		feature[e - 1] = windows_rate(of->t, row, e);
}

/* The rest of a thread is not a window. */
static int find_phases(const struct windows_table *t, struct windows_thread *th,
		       struct tare_error *err)
{
	struct rows_of of = { t, th };
	const struct phase_rows rows = { get_features, &of, th->whole,
					 t->n_events > 1 ? t->n_events - 1 : 1 };

	return phases_find_in(&rows, &th->phases, err);
}

const struct windows_table *windows_table(struct windows *w, struct tare_error *err)
{
	struct windows_table *t = &w->table;
	int ret = 0;

	if (w->shown)
		return t;
	w->shown = calloc(w->threads + 1, sizeof(*w->shown));
	w->read = malloc(block_bytes(w));
	if (!w->shown || !w->read) {
		tare_fail_nomem(err);
		return NULL;
	}
	if (w->threads)
		qsort(w->thread, w->threads, sizeof(*w->thread), order);
	*t = (struct windows_table){ w->event, w->n, w->metric, w->n_metrics, w->shown, 0, w };
	for (size_t i = 0; ret == 0 && i < w->threads; i++) {
		struct windows_thread *th = &w->thread[i]->shown;

		if (!th->n)
			continue;
		ret = find_phases(t, th, err);
		w->shown[t->n_threads++] = th;
	}
	if (ret == 0)
		ret = windows_unread(t, err);
	return ret < 0 ? NULL : t;
}

static void keep(void *thread)
{
	(void)thread; /* they are already in w->thread */
}

void windows_free(struct windows *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n_metrics; i++)
		formula_free(w->bound[i].formula);
	tdestroy(w->by_number, keep);
	for (size_t i = 0; i < w->threads; i++) {
		free(w->thread[i]->rows.block);
		free(w->thread[i]->rows.held);
		free(w->thread[i]);
	}
	if (w->fd >= 0)
		close(w->fd);
	free(w->event);
	free(w->thread);
	free(w->read);
	free(w->shown);
	free(w);
}
