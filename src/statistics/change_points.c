/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "statistics/change_points.h"
#include "statistics/student_t.h"

void change_points_free(struct change_points *c)
{
	free(c->point);
	*c = (struct change_points){ 0 };
}

/* Keeps the order; a change point that is already there is not added. */
static bool insert(struct change_points *c, size_t index)
{
	size_t at = c->n;

	while (at && c->point[at - 1].index > index)
		at--;
	if (at && c->point[at - 1].index == index)
		return true;
	if (!array_reserve(&c->point, &c->room, c->n + 1, sizeof(*c->point)))
		return false;
	memmove(&c->point[at + 1], &c->point[at], (c->n - at) * sizeof(*c->point));
	c->point[at] = (struct change_point){ .index = index };
	c->n++;
	return true;
}

/* ---- the test ---- */

/* Mean and sum of squared distances from it. */
static double mean_of(const double *v, size_t n, double *squares)
{
	double sum = 0, mean;

	for (size_t i = 0; i < n; i++)
		sum += v[i] - v[0];
	mean = v[0] + sum / (double)n;
	*squares = 0;
	for (size_t i = 0; i < n; i++)
		*squares += (v[i] - mean) * (v[i] - mean);
	return mean;
}

/* Tests v[from..index) against v[index..to). */
static void test(struct change_point *c, const double *v, size_t from, size_t to)
{
	double n_a = (double)(c->index - from), n_b = (double)(to - c->index), a, b, variance;

	c->before = mean_of(v + from, c->index - from, &a);
	c->after = mean_of(v + c->index, to - c->index, &b);
	c->p = 1;
	if (to - from <= 2 || c->before == c->after)
		return;
	variance = ((n_a - 1) * a / n_a + (n_b - 1) * b / n_b) / (n_a + n_b - 2);
	c->p = student_p((c->after - c->before) / sqrt(variance * (1 / n_a + 1 / n_b)),
			 n_a + n_b - 2);
}

/* Up to its neighbours, or the ends of the series. */
static void test_in(struct change_points *c, size_t at, const double *v, size_t n)
{
	test(&c->point[at], v, at ? c->point[at - 1].index : 0,
	     at + 1 < c->n ? c->point[at + 1].index : n);
}

/* ---- E-divisive ---- */

struct window {
	const double *v;
	size_t n;
	double *across; /* [i * n + k]: sum of |v[i] - v[j]| for i < j <= k */
	double *up;     /* up[k]: sum of |v[j] - v[k]| for from <= j < k, of an interval */
	double *below;  /* work space: one number per column */
};

static double distance(const struct window *w, size_t i, size_t k)
{
	return fabs(w->v[i] - w->v[k]);
}

static bool window_open(struct window *w, size_t most)
{
	w->across = calloc(most * most, sizeof(double));
	w->up = calloc(most, sizeof(double));
	w->below = calloc(most * most, sizeof(double));
	return w->across && w->up && w->below;
}

static void window_close(struct window *w)
{
	free(w->across);
	free(w->up);
	free(w->below);
}

static void window_set(struct window *w, const double *v, size_t n)
{
	w->v = v;
	w->n = n;
	for (size_t i = 0; i < n; i++) {
		double sum = 0;

		for (size_t k = 0; k <= i; k++)
			w->across[i * n + k] = 0;
		for (size_t k = i + 1; k < n; k++)
			w->across[i * n + k] = sum += distance(w, i, k);
	}
}

/* Sums over the rows from `tau` on, for each column: the distances within v[tau..k]. */
static void add_below(struct window *w, size_t from, size_t to)
{
	for (size_t k = from; k < to; k++)
		w->below[(to - 1) * w->n + k] = 0;
	for (size_t i = to - 1; i-- > from;)
		for (size_t k = from; k < to; k++)
			w->below[i * w->n + k] = w->below[(i + 1) * w->n + k] +
				(k > i ? w->across[i * w->n + k] : 0);
}

/*
 * The division of v[from..to) with the largest statistic Q: into v[from..tau) and v[tau..k], up to
 * any k. Q is 2 mn / (m + n) times the distance between the two parts less the distances within
 * each, all as means over pairs. Returns it.
 */
static double best_division(struct window *w, size_t from, size_t to, size_t *best_tau)
{
	double best = -INFINITY, within = 0; /* sum of the distances within v[from..tau) */

	for (size_t k = from; k < to; k++) {
		w->up[k] = 0;
		for (size_t i = from; i < k; i++)
			w->up[k] += distance(w, i, k);
	}
	add_below(w, from, to);
	for (size_t tau = from + 1; tau < to; tau++) {
		size_t n = tau - from;

		within += w->up[tau - 1];
		for (size_t k = tau; k < to; k++) {
			size_t m = k - tau + 1;
			double all = w->below[from * w->n + k], after = w->below[tau * w->n + k],
			       between = all - within - after, q = 2 / (double)(m + n) * between;

			if (n > 1)
				q -= 2 * (double)m / ((double)(m + n) * (double)(n - 1)) * within;
			if (m > 1)
				q -= 2 * (double)n / ((double)(m + n) * (double)(m - 1)) * after;
			if (q > best) {
				best = q;
				*best_tau = tau;
			}
		}
	}
	return best;
}

/* Divides the window until no division is significant; *out is empty at first. */
static bool divide(struct window *w, struct change_points *out, double max_p)
{
	for (;;) {
		struct change_point found = { 0 };
		size_t found_from = 0, found_to = 0, from = 0;
		double best = -INFINITY;

		for (size_t i = 0; i <= out->n; i++) {
			size_t to = i < out->n ? out->point[i].index : w->n, tau = 0;

			if (to - from > 1) {
				double q = best_division(w, from, to, &tau);

				if (q > best) {
					best = q;
					found.index = tau;
					found_from = from;
					found_to = to;
				}
			}
			from = to;
		}
		if (!found.index)
			return true;
		test(&found, w->v, found_from, found_to);
		if (found.p > max_p)
			return true;
		if (!insert(out, found.index))
			return false;
	}
}

static bool split(struct change_points *out, const double *v, size_t n, size_t most, double max_p)
{
	struct change_points found = { 0 };
	struct window w = { 0 };
	bool ok = window_open(&w, most < n ? most : n);

	for (size_t start = 0, next; ok && start < n; start = next) {
		window_set(&w, v + start, n - start < most ? n - start : most);
		found.n = 0;
		ok = divide(&w, &found, max_p);
		next = start + most / 2;
		for (size_t i = 0; ok && i < found.n; i++) {
			ok = insert(out, start + found.point[i].index);
			if (start + found.point[i].index > next)
				next = start + found.point[i].index;
		}
	}
	window_close(&w);
	change_points_free(&found);
	return ok;
}

/* ---- merging ---- */

/* The larger of the relative changes forward and backward. */
static double magnitude(const struct change_point *c)
{
	double forward = c->before != 0 ? fabs(c->after / c->before - 1) : 0,
	       backward = c->after != 0 ? fabs(c->before / c->after - 1) : 0;

	return forward > backward ? forward : backward;
}

/* After a removal, Otava tests the next two change points again, but not the one before. */
static void merge(struct change_points *c, const double *v, size_t n, double max_p, double least)
{
	for (size_t i = 0; i < c->n; i++)
		test_in(c, i, v, n);
	while (c->n) {
		size_t weakest = 0;

		for (size_t i = 1; i < c->n; i++)
			if (c->point[i].p > c->point[weakest].p)
				weakest = i;
		if (c->point[weakest].p < max_p) {
			for (size_t i = weakest = 0; i < c->n; i++)
				if (magnitude(&c->point[i]) < magnitude(&c->point[weakest]))
					weakest = i;
			if (magnitude(&c->point[weakest]) > least)
				return;
		}
		c->n--;
		memmove(&c->point[weakest], &c->point[weakest + 1],
			(c->n - weakest) * sizeof(*c->point));
		if (weakest < c->n)
			test_in(c, weakest, v, n);
		if (weakest + 1 < c->n)
			test_in(c, weakest + 1, v, n);
	}
}

bool change_points_find(struct change_points *out, const double *v, size_t n, size_t window,
			double max_p, double least)
{
	double first = max_p < 0.05 ? 10 * max_p : max_p < 0.5 ? 2 * max_p : max_p;

	*out = (struct change_points){ 0 };
	if (!split(out, v, n, window, first))
		return false;
	merge(out, v, n, max_p, least);
	for (size_t i = 0; i < out->n; i++)
		test_in(out, i, v, n);
	return true;
}
