/* SPDX-License-Identifier: MIT */
/* Change points of a series of noisy numbers: where its distribution changes. */
#ifndef STATISTICS_CHANGE_POINTS_H
#define STATISTICS_CHANGE_POINTS_H

#include <stdbool.h>
#include <stddef.h>

/* The defaults of Apache Otava. */
#define CHANGE_POINTS_P 0.001
enum { CHANGE_POINTS_WINDOW = 50 };

struct change_point {
	size_t index;         /* of the first number after the change */
	double before, after; /* means, up to the neighbouring change points or the ends */
	double p;             /* of a t test of these two parts */
};

struct change_points {
	struct change_point *point; /* owned; in the order of the series */
	size_t n, room;
};

/*
 * E-divisive in sliding windows of `window` numbers (2 or more), with a t test at a level of ten
 * times max_p; then all change points are tested again on the whole series, and the weakest are
 * removed, one at a time, until p is below max_p for all. Change points with a relative change of
 * less than `least` are removed, too. false: out of memory. Free the result in any case.
 *
 * The results are those of Apache Otava on its published data. So, as there, the t test divides by
 * n where a sample variance divides by n - 1, and a change point before a removed one is not tested
 * again: its final p may be larger than max_p.
 *
 * Sources: Matteson and James, "A nonparametric approach for multiple change point analysis of
 * multivariate data", Journal of the American Statistical Association 109, 2014; Fleming et al.,
 * "Hunter: using change point detection to hunt for performance regressions", ICPE 2023.
 */
bool change_points_find(struct change_points *out, const double *v, size_t n, size_t window,
			double max_p, double least);
void change_points_free(struct change_points *c);

#endif
