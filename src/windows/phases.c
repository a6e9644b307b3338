/* SPDX-License-Identifier: MIT */
/*
 * Binary segmentation: repeatedly make the cut that reduces the sum of squares most, while the
 * reduction exceeds PENALTY * log(n) per feature, the amount expected by chance. The noise of a
 * feature is estimated from the differences of consecutive rows, which are hardly affected by a
 * change between phases.
 *
 * This assumes independent rows. If a program drifts, consecutive rows correlate, and a mean of m
 * rows has the uncertainty of m * (1 - r) / (1 + r) independent rows, where r is the correlation
 * within the segments (AR(1)). Cuts that explain too little for that are removed, the weakest
 * first. Afterwards the rows within segments correlate more, so r is estimated again each time.
 * Between sharp phases r is near 0 and no cut is removed.
 *
 * Segments with means that differ by at most a few times the noise, or by less than NEAR, are one
 * phase.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "windows/phases.h"

#define PENALTY 6.0
#define NEAR    0.05 /* of the mean: a smaller change is not a separate phase */
/* of the mean: without it, exactly repeated values would make every change significant */
#define NOISE_FLOOR      0.01
#define ALIKE            4.0 /* times the noise of a mean */
#define CORRELATION_MOST 0.98

struct cut {
	size_t at; /* 0: none */
	double gain;
	double *sum; /* of the previous rows */
};

/* A segment, the sums of all rows before it and of those up to its end, and its best cut. */
struct part {
	struct segment s;
	const double *from, *to;
	struct cut cut;
};

struct work {
	const struct phase_rows *rows;
	size_t n, d;
	double *noise;
	double *row, *last, *sum, *mean; /* for one pass over the rows */
	double *pool;                    /* for the sums at borders of segments */
	size_t pooled;
	struct part part[SEGMENTS_MOST];
	size_t parts;
};

/* Sums at each border and at the best cut of each segment ever made; the first are 0. */
enum { POOLED_MOST = 2 + 2 * SEGMENTS_MOST, PASS = 4 };

static double *pool_next(struct work *w)
{
	return w->pool + w->pooled++ * w->d;
}

/* Read the next row and update its sums. */
static void step(struct work *w, size_t i)
{
	double *last = w->last;

	w->last = w->row;
	w->row = last;
	w->rows->get(w->rows->with, i, w->row);
	for (size_t k = 0; k < w->d; k++)
		w->sum[k] += w->row[k];
}

/*
 * The noise of each feature, from the differences of consecutive rows. Bursts count as noise; a
 * single step among many rows has little effect.
 */
static void find_noise(struct work *w)
{
	for (size_t i = 0; i < w->n; i++) {
		step(w, i);
		for (size_t k = 0; i && k < w->d; k++)
			w->noise[k] += (w->row[k] - w->last[k]) * (w->row[k] - w->last[k]);
	}
	for (size_t k = 0; k < w->d; k++) {
		double floor = fabs(w->sum[k] / (double)w->n) * NOISE_FLOOR;

		w->noise[k] = w->n > 1 ? sqrt(w->noise[k] / (double)(w->n - 1) / 2) : 0;
		if (w->noise[k] < floor)
			w->noise[k] = floor;
	}
}

/* The reduction of the sum of squares by a cut after `at` rows, in units of the noise. */
static double gain_at(const struct work *w, const struct part *p, size_t at)
{
	size_t n = p->s.n;
	double gain = 0;

	for (size_t k = 0; k < w->d; k++) {
		double a = w->sum[k] - p->from[k], b = p->to[k] - w->sum[k];
		double step = a / (double)at - b / (double)(n - at);

		if (w->noise[k] > 0)
			gain += step * step * (double)at * (double)(n - at) / (double)n /
				(w->noise[k] * w->noise[k]);
	}
	return gain;
}

static void find_cut(struct work *w, struct part *p)
{
	p->cut = (struct cut){ .sum = pool_next(w) };
	memcpy(w->sum, p->from, w->d * sizeof(*w->sum));
	for (size_t at = 1; at + SEGMENT_LEAST <= p->s.n; at++) {
		double gain;

		step(w, p->s.first + at - 1);
		gain = at >= SEGMENT_LEAST ? gain_at(w, p, at) : 0;
		if (!(gain > p->cut.gain))
			continue;
		p->cut.at = p->s.first + at;
		p->cut.gain = gain;
		memcpy(p->cut.sum, w->sum, w->d * sizeof(*w->sum));
	}
}

static double least_gain(const struct work *w)
{
	return PENALTY * log((double)w->n + 1) * (double)w->d;
}

static void cut_up(struct work *w)
{
	double least = least_gain(w);

	find_cut(w, &w->part[0]);
	while (w->parts < SEGMENTS_MOST) {
		size_t best = 0;

		for (size_t i = 1; i < w->parts; i++)
			if (w->part[i].cut.gain > w->part[best].cut.gain)
				best = i;

		struct part *p = &w->part[best];
		struct cut cut = p->cut;

		if (!cut.at || cut.gain < least)
			return;
		memmove(p + 1, p, (w->parts - best) * sizeof(*p));
		w->parts++;
		p[0].s.n = cut.at - p[0].s.first;
		p[1].s.n -= p[0].s.n;
		p[1].s.first = cut.at;
		p[0].to = p[1].from = cut.sum;
		find_cut(w, &p[0]);
		find_cut(w, &p[1]);
	}
}

static double mean_of(const struct part *p, size_t k)
{
	return (p->to[k] - p->from[k]) / (double)p->s.n;
}

/* The residuals of a segment: sums of squares, and of products of consecutive rows. */
struct rest {
	double square, product;
};

static void find_rest(struct work *w, const struct part *p, struct rest *out)
{
	memset(out, 0, w->d * sizeof(*out));
	for (size_t k = 0; k < w->d; k++)
		w->mean[k] = mean_of(p, k);
	for (size_t i = 0; i < p->s.n; i++) {
		step(w, p->s.first + i);
		for (size_t k = 0; k < w->d; k++) {
			double v = w->row[k] - w->mean[k], before = i ? w->last[k] - w->mean[k] : 0;

			out[k].square += v * v;
			out[k].product += v * before;
		}
	}
}

/*
 * The noise of each feature for means: at least the noise between consecutive rows. In short
 * segments, r is underestimated by about (1 + 3r) / length.
 */
static void long_noise(const struct work *w, const struct rest *rest, size_t segments, double *out)
{
	for (size_t k = 0; k < w->d; k++) {
		struct rest all = { 0 };
		double r, noise;

		for (size_t i = 0; i < segments; i++) {
			all.square += rest[i * w->d + k].square;
			all.product += rest[i * w->d + k].product;
		}
		r = all.square > 0 ? all.product / all.square : 0;
		r += (1 + 3 * r) * (double)segments / (double)w->n;
		r = r < 0 ? 0 : r > CORRELATION_MOST ? CORRELATION_MOST : r;
		noise = sqrt(all.square / (double)w->n * (1 + r) / (1 - r));
		out[k] = noise > w->noise[k] ? noise : w->noise[k];
	}
}

/* The reduction by the cut between two adjacent segments. */
static double gain_of(const struct work *w, const struct part *a, const struct part *b,
		      const double *noise)
{
	double gain = 0;

	for (size_t k = 0; k < w->d; k++) {
		double step = mean_of(a, k) - mean_of(b, k);

		if (noise[k] > 0)
			gain += step * step * (double)a->s.n * (double)b->s.n /
				(double)(a->s.n + b->s.n) / (noise[k] * noise[k]);
	}
	return gain;
}

static void merge(struct part *a, const struct part *b)
{
	a->s.n += b->s.n;
	a->to = b->to;
}

/* Remove the cuts that correlated noise explains. Sets w->noise to the noise for means. */
static int take_back(struct work *w, struct tare_error *err)
{
	struct rest *rest = calloc(SEGMENTS_MOST * w->d + 1, sizeof(*rest));
	double *noise = calloc(w->d + 1, sizeof(*noise));

	if (!rest || !noise) {
		free(rest);
		free(noise);
		return tare_fail_nomem(err);
	}
	for (size_t i = 0; i < w->parts; i++)
		find_rest(w, &w->part[i], rest + i * w->d);
	for (;;) {
		double weakest = INFINITY;
		size_t at = 0;

		long_noise(w, rest, w->parts, noise);
		for (size_t i = 1; i < w->parts; i++) {
			double gain = gain_of(w, &w->part[i - 1], &w->part[i], noise);

			if (gain < weakest) {
				weakest = gain;
				at = i;
			}
		}
		if (!at || weakest >= least_gain(w))
			break;
		merge(&w->part[at - 1], &w->part[at]);
		w->parts--;
		memmove(&w->part[at], &w->part[at + 1], (w->parts - at) * sizeof(w->part[0]));
		memmove(rest + at * w->d, rest + (at + 1) * w->d,
			(w->parts - at) * w->d * sizeof(*rest));
		find_rest(w, &w->part[at - 1], rest + (at - 1) * w->d);
	}
	memcpy(w->noise, noise, w->d * sizeof(*noise));
	free(rest);
	free(noise);
	return 0;
}

static bool are_alike(const struct work *w, const struct part *a, const struct part *b)
{
	for (size_t k = 0; k < w->d; k++) {
		double x = mean_of(a, k), y = mean_of(b, k);
		double room = ALIKE * w->noise[k] *
			sqrt(1.0 / (double)a->s.n + 1.0 / (double)b->s.n);
		double near = NEAR * (fabs(x) > fabs(y) ? fabs(x) : fabs(y));

		if (fabs(x - y) > (room > near ? room : near))
			return false;
	}
	return true;
}

/*
 * Each segment gets the phase of the first earlier segment that it resembles. Adjacent segments of
 * one phase are merged.
 */
static void name_phases(struct work *w, struct phases *out)
{
	struct part *part = w->part;
	size_t kept = 0;

	for (size_t i = 0; i < w->parts; i++) {
		size_t like = 0;

		while (like < kept && !are_alike(w, &part[like], &part[i]))
			like++;
		part[kept] = part[i];
		part[kept].s.phase = like < kept ? part[like].s.phase : out->phases++;
		if (kept && part[kept].s.phase == part[kept - 1].s.phase)
			merge(&part[kept - 1], &part[kept]);
		else
			kept++;
	}
	for (out->segments = 0; out->segments < kept; out->segments++)
		out->segment[out->segments] = part[out->segments].s;
}

int phases_find_in(const struct phase_rows *rows, struct phases *out, struct tare_error *err)
{
	size_t d = rows->n_features;
	struct work *w = calloc(1, sizeof(*w));
	double *room = calloc((1 + PASS + POOLED_MOST) * d + 1, sizeof(*room));
	int ret = w && room ? 0 : tare_fail_nomem(err);

	*out = (struct phases){ .segments = 0 };
	if (ret == 0 && rows->n) {
		*w = (struct work){ .rows = rows,
				    .n = rows->n,
				    .d = d,
				    .noise = room,
				    .row = room + d,
				    .last = room + 2 * d,
				    .sum = room + 3 * d,
				    .mean = room + 4 * d,
				    .pool = room + (1 + PASS) * d,
				    .parts = 1 };
		find_noise(w);
		w->part[0] = (struct part){ .s.n = w->n,
					    .from = pool_next(w),
					    .to = memcpy(pool_next(w), w->sum,
							 d * sizeof(*w->sum)) };
		cut_up(w);
		ret = take_back(w, err);
		if (ret == 0)
			name_phases(w, out);
	}
	free(room);
	free(w);
	return ret;
}

struct in_memory {
	const double *feature;
	size_t d;
};

static void get_from_memory(void *with, size_t row, double *out)
{
	const struct in_memory *m = with;

	memcpy(out, m->feature + row * m->d, m->d * sizeof(*out));
}

int phases_find(const double *feature, size_t n, size_t n_features, struct phases *out,
		struct tare_error *err)
{
	struct in_memory m = { feature, n_features };

	return phases_find_in(&(struct phase_rows){ get_from_memory, &m, n, n_features }, out, err);
}
