/* SPDX-License-Identifier: MIT */
/*
 * Binary segmentation: the one cut that lessens the sum of squares most, again and again, as long as that is
 * more than chance would give: PENALTY * log(n) per feature, with the noise of a feature taken from the differences
 * of neighbouring rows, which a change between phases hardly touches.
 *
 * That takes rows for independent. Where a program drifts, a row is like the one before, and a mean of m rows is
 * as uncertain as one of m * (1 - r) / (1 + r) independent ones, r being their correlation within the segments (AR(1)).
 * Cuts that explain too little for that are taken back, the weakest first; what is left in the segments then
 * correlates more, so that r is looked at again each time. Between sharp phases r is near 0 and nothing is taken back.
 *
 * Segments whose means lie within a few times the noise (and within NEAR of each other) are one phase.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "windows/phases.h"

#define PENALTY	    6.0
#define NEAR	    0.05 /* of the mean: smaller changes are no phase of their own */
#define NOISE_FLOOR 0.01 /* of the mean: what repeats exactly would else see a change in everything */
#define ALIKE	    4.0  /* times the noise of a mean */
#define CORRELATION_MOST 0.98

struct work {
	const double *feature;
	size_t n, d;
	double *sum; /* (n + 1) * d: of rows before */
	double *noise;
};

struct cut {
	size_t at; /* 0: none */
	double gain;
};

/* Of each feature, from the differences of neighbours: bursts are noise, one step among many rows hardly is. */
static void find_noise(struct work *w)
{
	for (size_t k = 0; k < w->d; k++) {
		double mean = w->sum[w->n * w->d + k] / (double)w->n, floor = fabs(mean) * NOISE_FLOOR, sum = 0;

		for (size_t i = 1; i < w->n; i++) {
			double step = w->feature[i * w->d + k] - w->feature[(i - 1) * w->d + k];

			sum += step * step;
		}
		w->noise[k] = w->n > 1 ? sqrt(sum / (double)(w->n - 1) / 2) : 0;
		if (w->noise[k] < floor)
			w->noise[k] = floor;
	}
}

/* The best cut of rows [first, first + n): how much of the sum of squares it explains, in units of the noise. */
static struct cut best_cut(const struct work *w, size_t first, size_t n)
{
	struct cut best = { 0 };

	for (size_t at = SEGMENT_LEAST; n >= 2 * SEGMENT_LEAST && at + SEGMENT_LEAST <= n; at++) {
		double gain = 0;

		for (size_t k = 0; k < w->d; k++) {
			double a = w->sum[(first + at) * w->d + k] - w->sum[first * w->d + k];
			double b = w->sum[(first + n) * w->d + k] - w->sum[(first + at) * w->d + k];
			double step = a / (double)at - b / (double)(n - at);

			if (w->noise[k] > 0)
				gain += step * step * (double)at * (double)(n - at) / (double)n /
					(w->noise[k] * w->noise[k]);
		}
		if (gain > best.gain)
			best = (struct cut){ first + at, gain };
	}
	return best;
}

static double least_gain(const struct work *w)
{
	return PENALTY * log((double)w->n + 1) * (double)w->d;
}

static void cut_up(const struct work *w, struct phases *out)
{
	struct cut cut[SEGMENTS_MOST];
	double least = least_gain(w);

	out->segments = 1;
	out->segment[0] = (struct segment){ 0, w->n, 0 };
	cut[0] = best_cut(w, 0, w->n);
	while (out->segments < SEGMENTS_MOST) {
		size_t best = 0;

		for (size_t i = 1; i < out->segments; i++)
			if (cut[i].gain > cut[best].gain)
				best = i;
		if (!cut[best].at || cut[best].gain < least)
			return;

		struct segment *s = &out->segment[best];
		size_t left = cut[best].at - s->first, right = s->n - left;

		memmove(s + 2, s + 1, (out->segments - best - 1) * sizeof(*s));
		memmove(&cut[best + 2], &cut[best + 1], (out->segments - best - 1) * sizeof(cut[0]));
		s[1] = (struct segment){ s->first + left, right, 0 };
		s->n = left;
		out->segments++;
		cut[best] = best_cut(w, s[0].first, s[0].n);
		cut[best + 1] = best_cut(w, s[1].first, s[1].n);
	}
}

static double mean_of(const struct work *w, const struct segment *s, size_t k)
{
	return (w->sum[(s->first + s->n) * w->d + k] - w->sum[s->first * w->d + k]) / (double)s->n;
}

/* Of what is left of a segment without its mean: squares, and products of neighbours. */
struct rest {
	double square, product;
};

static struct rest rest_of(const struct work *w, const struct segment *s, size_t k)
{
	double mean = mean_of(w, s, k), before = 0;
	struct rest r = { 0 };

	for (size_t i = s->first; i < s->first + s->n; i++) {
		double v = w->feature[i * w->d + k] - mean;

		r.square += v * v;
		r.product += v * before;
		before = v;
	}
	return r;
}

/*
 * The noise of each feature as it counts for means: never less than between neighbours. Within short segments r comes
 * out too small, by about (1 + 3r) / length.
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

/* What the cut between two neighbours explains. */
static double gain_of(const struct work *w, const struct segment *a, const struct segment *b, const double *noise)
{
	double gain = 0;

	for (size_t k = 0; k < w->d; k++) {
		double step = mean_of(w, a, k) - mean_of(w, b, k);

		if (noise[k] > 0)
			gain += step * step * (double)a->n * (double)b->n / (double)(a->n + b->n) / (noise[k] * noise[k]);
	}
	return gain;
}

/* Take back the cuts that correlated noise explains; w->noise becomes what it is for means. */
static int take_back(struct work *w, struct phases *out, struct tare_error *err)
{
	struct rest *rest = calloc(SEGMENTS_MOST * w->d + 1, sizeof(*rest));
	double *noise = calloc(w->d + 1, sizeof(*noise));

	if (!rest || !noise) {
		free(rest);
		free(noise);
		return tare_fail_nomem(err);
	}
	for (size_t i = 0; i < out->segments; i++)
		for (size_t k = 0; k < w->d; k++)
			rest[i * w->d + k] = rest_of(w, &out->segment[i], k);
	for (;;) {
		double weakest = INFINITY;
		size_t at = 0;

		long_noise(w, rest, out->segments, noise);
		for (size_t i = 1; i < out->segments; i++) {
			double gain = gain_of(w, &out->segment[i - 1], &out->segment[i], noise);

			if (gain < weakest) {
				weakest = gain;
				at = i;
			}
		}
		if (!at || weakest >= least_gain(w))
			break;
		out->segment[at - 1].n += out->segment[at].n;
		out->segments--;
		memmove(&out->segment[at], &out->segment[at + 1], (out->segments - at) * sizeof(*out->segment));
		memmove(rest + at * w->d, rest + (at + 1) * w->d, (out->segments - at) * w->d * sizeof(*rest));
		for (size_t k = 0; k < w->d; k++)
			rest[(at - 1) * w->d + k] = rest_of(w, &out->segment[at - 1], k);
	}
	memcpy(w->noise, noise, w->d * sizeof(*noise));
	free(rest);
	free(noise);
	return 0;
}

static bool are_alike(const struct work *w, const struct segment *a, const struct segment *b)
{
	for (size_t k = 0; k < w->d; k++) {
		double x = mean_of(w, a, k), y = mean_of(w, b, k);
		double room = ALIKE * w->noise[k] * sqrt(1.0 / (double)a->n + 1.0 / (double)b->n);
		double near = NEAR * (fabs(x) > fabs(y) ? fabs(x) : fabs(y));

		if (fabs(x - y) > (room > near ? room : near))
			return false;
	}
	return true;
}

/* Each gets the phase of the first segment before it that it is like; neighbours of one phase become one. */
static void name_phases(const struct work *w, struct phases *out)
{
	size_t kept = 0;

	for (size_t i = 0; i < out->segments; i++) {
		size_t like = 0;

		while (like < kept && !are_alike(w, &out->segment[like], &out->segment[i]))
			like++;
		out->segment[kept] = out->segment[i];
		out->segment[kept].phase = like < kept ? out->segment[like].phase : out->phases++;
		if (kept && out->segment[kept].phase == out->segment[kept - 1].phase)
			out->segment[kept - 1].n += out->segment[kept].n;
		else
			kept++;
	}
	out->segments = kept;
}

int phases_find(const double *feature, size_t n, size_t n_features, struct phases *out, struct tare_error *err)
{
	struct work w = { .feature = feature, .n = n, .d = n_features };
	int ret = 0;

	*out = (struct phases){ .segments = 0 };
	if (!n)
		return 0;
	w.sum = calloc((n + 1) * n_features + 1, sizeof(*w.sum));
	w.noise = calloc(n_features + 1, sizeof(*w.noise));
	if (!w.sum || !w.noise)
		ret = tare_fail_nomem(err);
	for (size_t i = 0; ret == 0 && i < n; i++)
		for (size_t k = 0; k < n_features; k++)
			w.sum[(i + 1) * n_features + k] = w.sum[i * n_features + k] + feature[i * n_features + k];
	if (ret == 0) {
		find_noise(&w);
		cut_up(&w, out);
		ret = take_back(&w, out, err);
	}
	if (ret == 0) {
		name_phases(&w, out);
	}
	free(w.sum);
	free(w.noise);
	return ret;
}
