/* SPDX-License-Identifier: MIT */
/* Student's t distribution, and the comparison of two groups of numbers. */
#ifndef STATISTICS_STUDENT_T_H
#define STATISTICS_STUDENT_T_H

#include <stdbool.h>
#include <stddef.h>

/*
 * P(|T| >= |t|) with df degrees of freedom (any real > 0). Source: Abramowitz and Stegun, 26.5.27
 * and 26.5.8.
 */
double student_p(double t, double df);
/* The t with P(|T| >= t) = p, 0 < p < 1. */
double student_t(double p, double df);

struct student_groups {
	double change; /* mean of b minus mean of a */
	double half;   /* half width of the 95 % interval of the change */
	double p;      /* two-sided probability of such a change by chance */
	bool tested;   /* false: too few numbers, half and p are undefined */
};

/*
 * Welch's test, or Student's if its p is larger: with two numbers against eight similar ones,
 * Welch's test alone reports a change in one of ten cases, if the two nearly agree. If one group
 * has a single number, Student's test with the other group's variance. If the numbers of each group
 * are equal, there is no variance to estimate: p is 1 if the groups are equal, else 0.
 *
 * Source: Welch, "The generalization of 'Student's' problem", Biometrika 34, 1947.
 */
struct student_groups student_compare(const double *a, size_t n_a, const double *b, size_t n_b);

/*
 * Benjamini and Hochberg: replaces each of n p values by the smallest false discovery rate q at
 * which it is significant. false: out of memory.
 *
 * Source: Journal of the Royal Statistical Society B 57, 1995.
 */
bool student_adjust(double *p, size_t n);

#endif
