/* SPDX-License-Identifier: MIT */
/*
 * Wilcoxon's signed rank test of paired differences, and the Hodges-Lehmann estimate with the
 * interval that belongs to the test.
 */
#ifndef STATISTICS_SIGNED_RANK_H
#define STATISTICS_SIGNED_RANK_H

#include <stdbool.h>
#include <stddef.h>

struct signed_rank {
	double *walsh;   /* the n (n + 1) / 2 means of two differences, sorted; owned */
	double *tail;    /* P(T <= k) of the rank sum, for few differences; else NULL; owned */
	size_t n;        /* differences */
	double estimate; /* the median of those means */
};

/* n >= 1. Free it in any case. false: out of memory. */
bool signed_rank_of(struct signed_rank *r, const double *difference, size_t n);
/*
 * The values that the test does not reject at a two-sided level. Exact if each difference has
 * either sign with the same probability, given the sizes and the other signs: true if the order of
 * each pair is random, whatever the noise is. Ties make it wider. false: too few differences.
 */
bool signed_rank_interval(const struct signed_rank *r, double level, double *low, double *high);
/* Two-sided p of the hypothesis that the differences are symmetric around `at`. */
double signed_rank_p(const struct signed_rank *r, double at);
/* The fewest differences that have an interval at this level. */
size_t signed_rank_least(double level);
void signed_rank_free(struct signed_rank *r);

#endif
