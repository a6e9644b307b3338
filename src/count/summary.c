/* SPDX-License-Identifier: MIT */
/* Convert facts to tables: the sums of each run or interval become rows with a spread. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "base/array.h"
#include "count/summary.h"
#include "count/totals.h"

struct run {
	struct amount *amount; /* of the rows that existed when it ended */
	size_t n;
	uint64_t wall, counted, user, system;
	bool added_work;
	struct stat_end end;
};

struct summary {
	struct sink sink;
	struct summary_options opt;
	struct totals *tally;
	struct encoding *enc;
	size_t n_enc;
	struct run *run;
	unsigned runs;
	size_t run_room;
	uint64_t interval_began_ns;
	bool adds_work;         /* of the current run */
	struct stat_table last; /* from the end of the last run */
	struct stat_table table;
};

static void table_clear(struct stat_table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->row[i].run);
		free(t->row[i].outlier);
	}
	free(t->row);
	free(t->counted_ns);
	free(t->end);
	*t = (struct stat_table){ 0 };
}

/* Combine the spread of the runs with the uncertainty of each run, as independent causes. */
static uint64_t widen(uint64_t median, uint64_t end_of_spread, double relative, bool up)
{
	double apart = up ? (double)(end_of_spread - median) : (double)(median - end_of_spread);
	double both = hypot(apart, relative * (double)median);

	if (both == 0)
		return median;
	if (relative == 0)
		return end_of_spread;
	return up ? median + (uint64_t)both : both > (double)median ? 0 : median - (uint64_t)both;
}

static int spread_row(struct stat_row *r, unsigned runs, struct tare_error *err)
{
	uint64_t *value = calloc(runs + 1, sizeof(*value));
	bool *outlier = calloc(runs + 1, sizeof(*outlier));
	double below = 0, above = 0; /* mean relative limits */
	unsigned n = 0;
	int ret = 0;

	if (!value || !outlier)
		ret = tare_fail_nomem(err);
	for (unsigned i = 0; ret == 0 && i < runs; i++) {
		const struct amount *a = &r->run[i];

		if (a->quality == TARE_UNAVAILABLE)
			continue;
		value[n++] = a->value;
		below += a->value ? (double)(a->value - a->low) / (double)a->value : 0;
		above += a->value ? (double)(a->high - a->value) / (double)a->value : 0;
	}
	if (ret == 0 && n)
		ret = spread_of(value, n, &r->spread, outlier, err);
	if (ret == 0 && n) {
		const struct spread *s = &r->spread;

		r->low = widen(s->median, s->low, below / n, false);
		r->high = widen(s->median, s->high, above / n, true);
		r->interval = below > 0 || above > 0 ? INTERVAL_LIMITS : spread_interval(s->n);
		for (unsigned i = runs; i-- > 0;)
			r->outlier[i] = r->run[i].quality != TARE_UNAVAILABLE && outlier[--n];
	}
	free(value);
	free(outlier);
	return ret;
}

static void judge_row(struct stat_row *r, unsigned runs, const struct encoding *e)
{
	double enabled = 0, running = 0;
	unsigned in = 0; /* number of runs that should count it */

	r->quality = TARE_UNAVAILABLE;
	for (unsigned i = 0; i < runs; i++) {
		const struct amount *a = &r->run[i];

		in += a->places > 0;
		enabled += (double)a->enabled_ns;
		running += (double)a->running_ns;
		if (a->places > r->places)
			r->places = a->places;
		if (a->quality != TARE_UNAVAILABLE && a->without > r->without)
			r->without = a->without;
		if (a->quality != TARE_UNAVAILABLE &&
		    (r->quality == TARE_UNAVAILABLE || a->quality < r->quality))
			r->quality = a->quality;
	}
	r->share = enabled > 0 ? running / enabled : 0;
	r->enabled_ns = (uint64_t)(enabled / (in ? in : 1) + 0.5);
	r->running_ns = (uint64_t)(running / (in ? in : 1) + 0.5);
	if (r->quality != TARE_UNAVAILABLE)
		return;
	if (e->unavailable) {
		snprintf(r->why, sizeof(r->why), "%s", e->why);
		snprintf(r->remedy, sizeof(r->remedy), "%s", e->remedy);
	} else if (!r->why[0]) {
		snprintf(r->why, sizeof(r->why), "did not run while counting was on");
	}
}

static int by_event_and_key(const void *a, const void *b)
{
	const struct stat_row *x = a, *y = b;

	if (x->event != y->event)
		return x->event > y->event ? 1 : -1;
	return stat_key_order(&x->key, &y->key);
}

static int by_key_and_event(const void *a, const void *b)
{
	const struct stat_row *x = a, *y = b;
	int order = stat_key_order(&x->key, &y->key);

	return order ? order : (x->event > y->event) - (x->event < y->event);
}

static bool is_counted(const struct stat_row *row, size_t n, unsigned event)
{
	for (size_t i = 0; i < n; i++)
		if (row[i].event == event)
			return true;
	return false;
}

static bool has_row(const struct stat_row *row, size_t n, unsigned event,
		    const struct stat_key *key)
{
	for (size_t i = 0; i < n; i++)
		if (row[i].event == event && !stat_key_order(&row[i].key, key))
			return true;
	return false;
}

/* Events that could not be opened get rows, too: one for each key of the other events. */
static int add_unavailable(const struct summary *s, struct stat_table *t, size_t n,
			   struct tare_error *err)
{
	const struct stat_key none = { .at = { -1, -1, -1, -1, -1 }, .thread = -1 };
	size_t keys = 0, room = n;

	for (size_t i = 0; i < n; i++)
		keys += t->row[i].event == t->row[0].event;

	if (!array_reserve(&t->row, &room, n + s->n_enc * (keys + 1) + 1, sizeof(*t->row)))
		return tare_fail_nomem(err);
	for (unsigned e = 0; e < s->n_enc; e++) {
		if (!s->enc[e].unavailable || is_counted(t->row, n, e))
			continue;
		for (size_t i = 0; i < (keys ? n : 1); i++) {
			const struct stat_key *key = keys ? &t->row[i].key : &none;

			if (!keys ||
			    (t->row[i].event == t->row[0].event &&
			     !(key->cgroup && has_row(t->row, t->n, e, key))))
				t->row[t->n++] = (struct stat_row){ .event = e, .key = *key };
		}
	}
	return 0;
}

/*
 * `run[i]` has amounts of the first run[i].n rows of the tally. Events without a row get one with
 * the reason.
 */
static bool is_of_engine(const struct encoding *e)
{
	return encoding_source(e)->needs_engine;
}

/*
 * All runs of the best available kind are shown: complete ones; else those cut short; else those
 * that never began.
 */
static void leave_out(struct stat_table *t)
{
	bool whole = false, begun = false;

	for (unsigned k = 0; k < t->runs; k++) {
		begun |= !t->end[k].never_began;
		whole |= !t->end[k].never_began && !t->end[k].by_signal;
	}
	for (unsigned k = 0; k < t->runs; k++) {
		t->end[k].left_out = (whole && t->end[k].by_signal) ||
			(begun && t->end[k].never_began);
		t->left_out += t->end[k].left_out;
	}
}

static void fill_runs(const struct summary *s, const struct stat_table *t, struct stat_row *r,
		      size_t at, const struct run *run)
{
	for (unsigned k = 0; k < t->runs; k++) {
		const struct amount *a = at < run[k].n ? &run[k].amount[at] : NULL;

		if (!a)
			continue;
		if (t->end[k].left_out) {
			if (a->quality != TARE_UNAVAILABLE)
				snprintf(r->why, sizeof(r->why),
					 "only counted in a run that was cut short");
			continue;
		}
		r->run[k] = *a;
		r->added_work |= run[k].added_work && !is_of_engine(&s->enc[r->event]) &&
			a->quality != TARE_UNAVAILABLE;
	}
}

bool stat_failed(const struct stat_end *end)
{
	bool by_us = end->timed_out || end->intervals_done || end->stopped;

	return end->has_status && end->wait_status && !end->by_signal &&
		!(by_us && WIFSIGNALED(end->wait_status) && WTERMSIG(end->wait_status) == SIGTERM);
}

/* ---- subtraction ---- */

static struct stat_row *row_of(struct stat_table *t, unsigned event, const struct stat_key *key)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->row[i].event == event && !stat_key_order(&t->row[i].key, key) &&
		    t->row[i].key.cgroup == key->cgroup)
			return &t->row[i];
	return NULL;
}

/* One run's amount; false, and the reason, if it cannot be computed. */
static bool take_off(struct amount *a, const struct amount *by, const char **why)
{
	*why = NULL;
	if (a->quality == TARE_UNAVAILABLE)
		return false;
	if (!by || by->quality == TARE_UNAVAILABLE)
		*why = "the count to subtract was not counted";
	else if (by->value > a->value || by->raw > a->raw)
		*why = "more would be subtracted than was counted";
	if (*why) {
		a->quality = TARE_UNAVAILABLE;
		return false;
	}
	a->value -= by->value;
	a->raw -= by->raw;
	a->low -= by->high < a->low ? by->high : a->low;
	a->high -= by->low < a->high ? by->low : a->high;
	a->quality = by->quality < a->quality ? by->quality : a->quality;
	return true;
}

static int less_row(struct stat_table *t, struct stat_row *r, const struct summary_less *less,
		    struct tare_error *err)
{
	const struct stat_row *by = row_of(t, less->by, &r->key);
	uint64_t *counted = calloc(2 * (size_t)t->runs + 1, sizeof(*counted)),
		 *taken = counted + t->runs;
	struct spread spread = { 0 };
	const char *why;
	size_t n = 0;
	int ret = 0;

	if (!counted)
		return tare_fail_nomem(err);
	r->less = less;
	for (unsigned k = 0; k < t->runs; k++) {
		counted[n] = r->run[k].value;
		taken[n] = by ? by->run[k].value : 0;
		if (take_off(&r->run[k], by ? &by->run[k] : NULL, &why))
			n++;
		else if (why)
			snprintf(r->why, sizeof(r->why), "%s: %s", t->enc[less->by].name, why);
	}
	if (n) {
		ret = spread_of(counted, n, &spread, NULL, err);
		r->counted = spread.median;
	}
	if (n && ret == 0) {
		ret = spread_of(taken, n, &spread, NULL, err);
		r->taken = spread.median;
	}
	free(counted);
	return ret;
}

static int less_rows(const struct summary *s, struct stat_table *t, struct tare_error *err)
{
	int ret = 0;

	for (size_t k = 0; k < s->opt.n_less; k++)
		for (size_t i = 0; ret == 0 && i < t->n; i++)
			if (t->row[i].event == s->opt.less[k].event)
				ret = less_row(t, &t->row[i], &s->opt.less[k], err);
	return ret;
}

static int build(struct summary *s, struct stat_table *t, const struct run *run, unsigned runs,
		 struct tare_error *err)
{
	size_t n;
	const struct totals_row *from = totals_rows(s->tally, &n);
	int ret = 0;

	*t = (struct stat_table){ .enc = s->enc, .n_enc = s->n_enc, .by = s->opt.by, .runs = runs };
	t->row = calloc(n + 1, sizeof(*t->row));
	t->counted_ns = calloc(runs + 1, sizeof(*t->counted_ns));
	t->end = calloc(runs + 1, sizeof(*t->end));
	if (!t->row || !t->counted_ns || !t->end)
		return tare_fail_nomem(err);
	for (unsigned k = 0; k < runs; k++)
		t->end[k] = run[k].end;
	leave_out(t);
	for (size_t i = 0; i < n; i++) {
		struct stat_row *r = &t->row[t->n++];

		r->event = from[i].event;
		r->key = from[i].key;
		r->of_core_type = from[i].of_core_type;
		snprintf(r->why, sizeof(r->why), "%s", from[i].why);
	}
	ret = add_unavailable(s, t, n, err);
	for (size_t i = 0; ret == 0 && i < t->n; i++) {
		struct stat_row *r = &t->row[i];

		r->run = calloc(runs + 1, sizeof(*r->run));
		r->outlier = calloc(runs + 1, sizeof(*r->outlier));
		if (!r->run || !r->outlier)
			return tare_fail_nomem(err);
		if (i < n)
			fill_runs(s, t, r, i, run);
	}
	if (ret == 0)
		ret = less_rows(s, t, err);
	for (size_t i = 0; ret == 0 && i < t->n; i++) {
		struct stat_row *r = &t->row[i];

		judge_row(r, runs, &s->enc[r->event]);
		ret = spread_row(r, runs, err);
	}
	/* In perf's order: rows of one core or socket are adjacent. */
	bool by_unit = t->by == BY_CORE || t->by == BY_DIE || t->by == BY_SOCKET ||
		t->by == BY_NODE;

	qsort(t->row, t->n, sizeof(*t->row), by_unit ? by_key_and_event : by_event_and_key);
	for (unsigned k = 0; k < runs; k++)
		t->counted_ns[k] = run[k].counted;
	return ret;
}

static int spread_times(struct stat_table *t, const struct run *run, unsigned runs,
			struct tare_error *err)
{
	const struct {
		size_t from;
		struct spread *to;
	} times[] = {
		{ offsetof(struct run, wall), &t->times.wall },
		{ offsetof(struct run, counted), &t->times.counted },
		{ offsetof(struct run, user), &t->times.user },
		{ offsetof(struct run, system), &t->times.system },
	};
	uint64_t *value = calloc(runs + 1, sizeof(*value));
	int ret = value ? 0 : tare_fail_nomem(err);
	bool clean = false;

	for (unsigned k = 0; k < runs; k++)
		clean |= !run[k].added_work && !t->end[k].left_out;
	t->times.added_work = !clean;
	for (size_t i = 0; ret == 0 && i < ARRAY_SIZE(times); i++) {
		unsigned n = 0;

		for (unsigned k = 0; k < runs; k++)
			if ((!clean || !run[k].added_work) && !t->end[k].left_out)
				memcpy(&value[n++], (const char *)&run[k] + times[i].from,
				       sizeof(*value));
		ret = spread_of(value, n, times[i].to, NULL, err);
	}
	free(value);
	return ret;
}

/* ---- the sink ---- */

static int close_interval(struct summary *s, const struct fact *f, uint64_t counted,
			  struct tare_error *err)
{
	struct stat_table t;
	struct run one = { .wall = f->time_ns - s->interval_began_ns,
			   .counted = counted,
			   .added_work = s->adds_work };
	int ret;

	totals_rows(s->tally, &one.n);
	one.amount = calloc(one.n + 1, sizeof(*one.amount));
	if (!one.amount || totals_sums(s->tally, s->enc, true, one.amount) < 0) {
		free(one.amount);
		return tare_fail_nomem(err);
	}
	ret = build(s, &t, &one, 1, err);
	if (ret == 0)
		ret = spread_times(&t, &one, 1, err);
	t.time_ns = f->time_ns;
	if (ret == 0 && s->opt.interval)
		ret = s->opt.interval(s->opt.with, &t, err);
	table_clear(&t);
	free(one.amount);
	totals_next(s->tally);
	s->interval_began_ns = f->time_ns;
	return ret;
}

static int close_run(struct summary *s, const struct fact *f, struct tare_error *err)
{
	if (!array_reserve(&s->run, &s->run_room, s->runs + 1, sizeof(*s->run)))
		return tare_fail_nomem(err);

	struct run *r = &s->run[s->runs];

	*r = (struct run){ .wall = f->end.wall_ns,
			   .counted = f->end.counted_ns,
			   .user = f->end.user_ns,
			   .system = f->end.system_ns,
			   .added_work = f->end.added_work,
			   .end = { .has_status = f->end.has_status,
				    .wait_status = f->end.wait_status,
				    .by_signal = f->end.by_signal,
				    .never_began = f->end.never_began,
				    .timed_out = f->end.timed_out,
				    .intervals_done = f->end.intervals_done,
				    .stopped = f->end.stopped,
				    .around = f->end.around } };
	totals_rows(s->tally, &r->n);
	r->amount = calloc(r->n + 1, sizeof(*r->amount));
	if (!r->amount || totals_sums(s->tally, s->enc, false, r->amount) < 0) {
		free(r->amount);
		return tare_fail_nomem(err);
	}
	s->runs++;
	s->last.has_status |= f->end.has_status;
	if (!s->last.wait_status) /* of several runs, the status of the first that failed */
		s->last.wait_status = f->end.wait_status;
	s->last.by_signal = f->end.by_signal;
	s->last.timed_out = f->end.timed_out;
	s->last.times.has_command |= f->end.has_status;
	s->last.times.stops += f->end.stops;
	if (f->end.left.n > s->last.times.left.n)
		s->last.times.left = f->end.left;
	if (f->end.partial.n > s->last.times.partial.n)
		s->last.times.partial = f->end.partial;
	if (f->end.slow.compared > s->last.times.slow.compared)
		s->last.times.slow.compared = f->end.slow.compared;
	if (f->end.slow.stepped > s->last.times.slow.stepped)
		s->last.times.slow.stepped = f->end.slow.stepped;
	if (f->end.max_rss_kib > s->last.times.max_rss_kib)
		s->last.times.max_rss_kib = f->end.max_rss_kib;
	/* the requested number of intervals is complete, so there is no rest */
	if (s->opt.intervals && !f->end.intervals_done)
		return close_interval(s, f, f->time_ns - s->interval_began_ns, err);
	return 0;
}

static int put_fact(struct sink *self, const struct fact *f, struct tare_error *err)
{
	struct summary *s = (struct summary *)self;

	switch (f->kind) {
	case FACT_RUN_BEGIN:
		totals_begin(s->tally);
		s->interval_began_ns = 0;
		s->adds_work = f->begin.adds_work;
		return 0;
	case FACT_READING:
		if (f->reading.event >= s->n_enc)
			return tare_fail(err, EINVAL,
					 "a reading of event %u, but there are %zu events",
					 f->reading.event, s->n_enc);
		return totals_reading(s->tally, &f->reading) < 0 ? tare_fail_nomem(err) : 0;
	case FACT_INTERVAL:
		return s->opt.intervals
			? close_interval(s, f, f->time_ns - s->interval_began_ns, err)
			: 0;
	case FACT_RUN_END:
		return close_run(s, f, err);
	case FACT_LOSS:
		s->last.lost += f->loss.lost;
		return 0;
	case FACT_NOTE:
		return 0;
	}
	return 0;
}

struct summary *summary_new(const struct summary_options *opt, struct tare_error *err)
{
	struct summary *s = calloc(1, sizeof(*s));

	if (s) {
		s->sink.put = put_fact;
		s->opt = *opt;
		s->tally = totals_new(&s->opt);
	}
	if (s && s->tally)
		return s;
	free(s);
	tare_fail_nomem(err);
	return NULL;
}

struct sink *summary_sink(struct summary *s)
{
	return &s->sink;
}

int summary_amend(struct summary *s, const struct encoding *enc, size_t n, struct tare_error *err)
{
	struct encoding *copy = calloc(n + 1, sizeof(*copy));

	if (!copy)
		return tare_fail_nomem(err);
	memcpy(copy, enc, n * sizeof(*copy));
	free(s->enc);
	s->enc = copy;
	s->n_enc = n;
	return 0;
}

const struct stat_table *summary_table(struct summary *s, struct tare_error *err)
{
	table_clear(&s->table);
	if (!s->runs) {
		tare_fail(err, ENODATA, "no run was finished");
		return NULL;
	}
	if (build(s, &s->table, s->run, s->runs, err) < 0 ||
	    spread_times(&s->table, s->run, s->runs, err) < 0)
		return NULL;
	s->table.has_status = s->last.has_status;
	s->table.wait_status = s->last.wait_status;
	s->table.by_signal = s->last.by_signal;
	s->table.timed_out = s->last.timed_out;
	s->table.lost = s->last.lost;
	s->table.times.has_command = s->last.times.has_command;
	s->table.times.stops = s->last.times.stops;
	s->table.times.left = s->last.times.left;
	s->table.times.partial = s->last.times.partial;
	s->table.times.slow = s->last.times.slow;
	s->table.times.max_rss_kib = s->last.times.max_rss_kib;
	return &s->table;
}

void summary_free(struct summary *s)
{
	if (!s)
		return;
	table_clear(&s->table);
	for (unsigned i = 0; i < s->runs; i++)
		free(s->run[i].amount);
	free(s->run);
	free(s->enc);
	totals_free(s->tally);
	free(s);
}
