/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "windows/windows_diff.h"

enum { NEXT = 5 };

#define STANDS_OUT 4.0  /* times the noise of a mean of NEXT windows */
#define LEAST      0.01 /* of the mean: smaller differences are not reported */

static const struct windows_thread *choose(const struct windows_table *t, uint64_t number)
{
	const struct windows_thread *best = NULL;

	for (size_t i = 0; i < t->n_threads; i++) {
		if (number != UINT64_MAX && t->thread[i]->number == number)
			return t->thread[i];
		if (number == UINT64_MAX && (!best || t->thread[i]->n > best->n))
			best = t->thread[i];
	}
	return best;
}

/* The count of an event up to a place: rows in order, with linear interpolation within them. */
struct curve {
	const struct windows_table *t;
	const struct windows_thread *th;
	size_t row;
	double before[DIFF_EVENTS_MOST]; /* sum of the previous rows */
};

/* Places must not decrease. false after the end. */
static bool curve_at(struct curve *c, uint64_t place, double *out)
{
	size_t n = c->t->n_events;

	for (;;) {
		if (c->row == c->th->n)
			return false;

		const struct windows_row *row = windows_row(c->t, c->th, c->row);
		const uint64_t *value = row->value;
		uint64_t begin = row->begin;

		if (place <= begin + value[0]) {
			double part = value[0] ? (double)(place - begin) / (double)value[0] : 0;

			for (size_t e = 0; e < n; e++)
				out[e] = c->before[e] + part * (double)value[e];
			return place >= begin;
		}
		for (size_t e = 0; e < n; e++)
			c->before[e] += (double)value[e];
		c->row++;
	}
}

/* The end of a window, in counts of the first event. */
static uint64_t end_of(const struct windows_table *t, const struct windows_thread *th,
		       size_t window)
{
	const struct windows_row *row = windows_row(t, th, window);

	return row->begin + row->value[0];
}

static uint64_t length_of(const struct windows_table *t, const struct windows_thread *th)
{
	return end_of(t, th, th->n - 1);
}

/* Pieces of the run, and the counts of both in them. */
struct pair {
	double *a, *b; /* [piece * n_events + event] */
	/* [piece]: its first window in A; one more entry for the end of the last piece */
	size_t *first;
	size_t n;
};

static int pair_new(struct pair *p, size_t pieces, size_t n_events, struct tare_error *err)
{
	p->a = calloc(pieces * n_events + 1, sizeof(double));
	p->b = calloc(pieces * n_events + 1, sizeof(double));
	p->first = calloc(pieces + 1, sizeof(*p->first));
	return p->a && p->b && p->first ? 0 : tare_fail_nomem(err);
}

/*
 * B's counts in A's windows, up to the shorter end. If B's windows end elsewhere, the counts are
 * interpolated.
 */
static int align(const struct windows_table *a, const struct windows_thread *ta,
		 const struct windows_table *b, const struct windows_thread *tb, struct pair *out,
		 struct tare_error *err)
{
	size_t windows = ta->whole, n = a->n_events;
	struct curve curve = { .t = b, .th = tb };
	double before[DIFF_EVENTS_MOST] = { 0 }, now[DIFF_EVENTS_MOST];
	int ret = pair_new(out, windows, n, err);

	for (size_t i = 0; ret == 0 && i < windows; i++) {
		if (!curve_at(&curve, end_of(a, ta, i), now))
			break;

		const struct windows_row *row = windows_row(a, ta, i);

		for (size_t e = 0; e < n; e++) {
			out->a[i * n + e] = (double)row->value[e];
			out->b[i * n + e] = now[e] - before[e];
			before[e] = now[e];
		}
		out->first[++out->n] = i + 1;
	}
	return ret;
}

/* The end of a window: the count of each event up to there. */
struct boundary {
	uint64_t at; /* of the first event */
	uint64_t sum[DIFF_EVENTS_MOST];
};

static void boundary_step(struct boundary *p, const struct windows_table *t,
			  const struct windows_thread *th, size_t window)
{
	const struct windows_row *row = windows_row(t, th, window);

	p->at = row->begin + row->value[0];
	for (size_t e = 0; e < t->n_events; e++)
		p->sum[e] += row->value[e];
}

/* B's places on both sides of a place of A. `row` is the window that ends at `high`. */
struct between {
	const struct windows_table *t;
	const struct windows_thread *th;
	struct boundary low, high;
	size_t row;
};

static bool between_step(struct between *b)
{
	if (b->row + 1 == b->th->n)
		return false;
	b->low = b->high;
	boundary_step(&b->high, b->t, b->th, ++b->row);
	return true;
}

/* The first event for which A's count from `since` to `now` differs from B's. */
static void tell_part(struct windows_diff *out, size_t n, const struct boundary *since_a,
		      const struct boundary *since_b, const struct boundary *now,
		      const struct boundary *low, const struct boundary *high)
{
	for (size_t e = 0; e < n && !out->parted; e++) {
		uint64_t a = now->sum[e] - since_a->sum[e], least = low->sum[e] - since_b->sum[e],
			 most = high->sum[e] - since_b->sum[e];

		if (a >= least && a <= most)
			continue;
		out->parted = true;
		out->part_end = now->at;
		out->part_event = e;
		out->part_a = (double)a;
		out->part_b = (double)(a < least ? least : most);
		out->part_bound = low == high ? DIFF_IS : a < least ? DIFF_AT_LEAST : DIFF_AT_MOST;
	}
}

/*
 * Exact windows are compared where a window of A and one of B end at the same place, and at the end
 * of both if it is the same. Elsewhere, B's count is between those at its places before and after:
 * a count of A outside that range is a difference, too. `out` gets the first one; `pieces` the
 * parts between common places.
 */
static int compare_exact(const struct windows_table *a, const struct windows_table *b,
			 struct pair *pieces, struct windows_diff *out, struct tare_error *err)
{
	const struct windows_thread *ta = out->a, *tb = out->b;
	size_t n = a->n_events, windows = out->length_a == out->length_b ? ta->n : ta->whole;
	struct boundary now = { 0 }, since_a = { 0 }, since_b = { 0 };
	struct between near = { .t = b, .th = tb };
	int ret = pair_new(pieces, windows, n, err);
	bool more = true;

	if (ret == 0)
		boundary_step(&near.high, b, tb, 0);
	for (size_t i = 0; ret == 0 && more && i < windows; i++) {
		bool end = i + 1 == ta->n && out->length_a == out->length_b;

		boundary_step(&now, a, ta, i);
		while ((end || near.high.at < now.at) && between_step(&near))
			;
		if (near.high.at < now.at)
			break;

		bool both = near.high.at == now.at && (end || !windows_row(b, tb, near.row)->rest);

		if (!out->parted) {
			out->part_window = pieces->first[pieces->n];
			out->part_windows = i + 1 - out->part_window;
			tell_part(out, n, &since_a, &since_b, &now, both ? &near.high : &near.low,
				  &near.high);
		}
		if (!both)
			continue;
		for (size_t e = 0; e < n; e++) {
			pieces->a[pieces->n * n + e] = (double)(now.sum[e] - since_a.sum[e]);
			pieces->b[pieces->n * n + e] = (double)(near.high.sum[e] - since_b.sum[e]);
		}
		pieces->first[++pieces->n] = i + 1;
		since_a = now;
		since_b = near.high;
		more = between_step(&near);
	}
	return ret;
}

/*
 * The first window from which NEXT ones differ by more than their noise, for the event with the
 * clearest difference.
 */
static void find_noisy_part(const struct pair *p, size_t n, struct windows_diff *out)
{
	for (size_t e = 1; e < n; e++) {
		double noise = 0, mean = 0,
		       out_of = out->parted ? (double)out->part_window : INFINITY;

		for (size_t i = 0; i < p->n; i++) {
			mean += p->a[i * n + e] / (double)p->n;
			if (i) {
				double step = (p->b[i * n + e] - p->a[i * n + e]) -
					(p->b[(i - 1) * n + e] - p->a[(i - 1) * n + e]);

				noise += step * step / 2 / (double)(p->n - 1);
			}
		}
		noise = sqrt(noise / NEXT) * STANDS_OUT;
		for (size_t i = 0; i + NEXT <= p->n && (double)i < out_of; i++) {
			double a = 0, b = 0;

			for (size_t k = 0; k < NEXT; k++) {
				a += p->a[(i + k) * n + e] / NEXT;
				b += p->b[(i + k) * n + e] / NEXT;
			}
			if (fabs(b - a) <= noise || fabs(b - a) <= LEAST * mean)
				continue;
			out->parted = true;
			out->part_window = i;
			out->part_event = e;
			out->part_a = a;
			out->part_b = b;
			break;
		}
	}
}

static int by_difference(const void *x, const void *y)
{
	const struct diff_stretch *a = x, *b = y;

	return a->first < b->first ? -1 : a->first > b->first;
}

/*
 * Groups of pieces from `from` on with a similar difference: its phases. Those without a difference
 * are left out.
 */
static int find_stretches(const struct pair *p, const struct windows_table *a,
			  const struct windows_thread *ta, size_t from, struct windows_diff *out,
			  struct tare_error *err)
{
	size_t n = a->n_events;
	double *feature = calloc((p->n - from) * n + 1, sizeof(*feature));
	struct phases *phases = calloc(1, sizeof(*phases));
	int ret = feature && phases ? 0 : tare_fail_nomem(err);

	for (size_t i = from; ret == 0 && i < p->n; i++)
		for (size_t e = 1; e < n; e++)
			feature[(i - from) * (n - 1) + e - 1] = p->b[i * n + e] - p->a[i * n + e];
	if (ret == 0 && n > 1)
		ret = phases_find(feature, p->n - from, n - 1, phases, err);
	for (size_t k = 0; ret == 0 && k < phases->segments; k++) {
		size_t piece = from + phases->segment[k].first,
		       behind = piece + phases->segment[k].n;
		struct diff_stretch d = { .first = p->first[piece],
					  .n = p->first[behind] - p->first[piece] };
		bool any = false;

		d.begin = windows_row(a, ta, d.first)->begin;
		d.end = end_of(a, ta, d.first + d.n - 1);
		for (size_t e = 0; e < n; e++) {
			for (size_t i = piece; i < behind; i++) {
				d.a[e] += p->a[i * n + e];
				d.b[e] += p->b[i * n + e];
			}
			any |= e && fabs(d.b[e] - d.a[e]) >= LEAST * (d.a[e] > 1 ? d.a[e] : 1);
		}
		if (any)
			out->stretch[out->stretches++] = d;
	}
	qsort(out->stretch, out->stretches, sizeof(out->stretch[0]), by_difference);
	free(feature);
	free(phases);
	return ret;
}

/* The piece in which exact runs diverge; if they do not, all pieces are before it. */
static size_t piece_of_part(const struct pair *p, const struct windows_diff *d)
{
	size_t piece = 0;

	while (piece < p->n && (!d->parted || p->first[piece] < d->part_window))
		piece++;
	return piece;
}

static int same_events(const struct windows_table *a, const struct windows_table *b,
		       struct tare_error *err)
{
	bool same = a->n_events == b->n_events;

	for (size_t e = 0; same && e < a->n_events; e++)
		same = !strcmp(a->event[e].name, b->event[e].name);
	return same ? 0
		    : tare_fail(err, EINVAL,
				"the two are of different events (%zu: %.60s ...; %zu: %.60s ...)",
				a->n_events, a->event[0].name, b->n_events, b->event[0].name);
}

int windows_diff(const struct windows_table *a, const struct windows_table *b, bool exact,
		 uint64_t thread_a, uint64_t thread_b, struct windows_diff *out,
		 struct tare_error *err)
{
	struct pair p = { .n = 0 };
	int ret = same_events(a, b, err);

	*out = (struct windows_diff){ .n_events = a->n_events };
	if (ret == 0 && a->n_events > DIFF_EVENTS_MOST)
		ret = tare_fail(err, E2BIG, "more than %d events", DIFF_EVENTS_MOST);
	if (ret < 0)
		return ret;
	out->a = choose(a, thread_a);
	out->b = choose(b, thread_b);
	if (!out->a || !out->b)
		return tare_fail(err, EINVAL, "%s has no such thread",
				 out->a ? "the second" : "the first");
	for (size_t e = 0; e < a->n_events; e++) {
		out->name[e] = a->event[e].name;
		out->unit[e] = a->event[e].unit;
	}
	out->length_a = length_of(a, out->a);
	out->length_b = length_of(b, out->b);
	ret = exact ? compare_exact(a, b, &p, out, err) : align(a, out->a, b, out->b, &p, err);
	if (ret == 0) {
		out->places = p.n;
		out->rest_too = p.first[p.n] > out->a->whole;
		out->aligned = out->rest_too ? out->a->whole : p.first[p.n];
	}
	for (size_t i = 0; ret == 0 && i < p.n; i++)
		for (size_t e = 0; e < a->n_events; e++) {
			out->total_a[e] += p.a[i * a->n_events + e];
			out->total_b[e] += p.b[i * a->n_events + e];
		}
	if (ret == 0 && !exact)
		find_noisy_part(&p, a->n_events, out);
	if (out->parted)
		out->part_at = windows_row(a, out->a, out->part_window)->begin;
	if (ret == 0) /* exact runs are equal until they diverge */
		ret = find_stretches(&p, a, out->a, exact ? piece_of_part(&p, out) : 0, out, err);
	if (ret == 0)
		ret = windows_unread(a, err);
	if (ret == 0)
		ret = windows_unread(b, err);
	free(p.a);
	free(p.b);
	free(p.first);
	return ret;
}
