/* SPDX-License-Identifier: MIT */
/* Student's t distribution, and two groups of numbers compared by it. */
#ifndef STATISTICS_STUDENT_H
#define STATISTICS_STUDENT_H

#include <stdbool.h>
#include <stddef.h>

/* P(|T| >= |t|) with df degrees of freedom (any real > 0). Source: Abramowitz and Stegun, 26.5.27 and 26.5.8. */
double student_p(double t, double df);
/* The t with P(|T| >= t) = p, 0 < p < 1. */
double student_t(double p, double df);

struct student_groups {
	double change;	  /* mean of b less mean of a */
	double half;	  /* the change is within +- this, by 95 % */
	double p;	  /* of a change as large if there were none; two-sided */
	bool tested;	  /* false: too few numbers, half and p mean nothing */
};

/*
 * Welch's test, and Student's if that makes more of it: of two numbers beside eight that are like them, Welch's alone takes one in ten for a change,
 * where the two nearly agree. Where one group has a single number, Student's with the other's variance. Where no number differs from the others of its group there is nothing to estimate: p is 1 if the groups are
 * equal, else 0. Source: Welch, "The generalization of 'Student's' problem", Biometrika 34, 1947.
 */
struct student_groups student_compare(const double *a, size_t n_a, const double *b, size_t n_b);

/*
 * Benjamini and Hochberg: of n p values, those by which at most a share of q of what is found is found by chance.
 * Replaces each p by the least such q. Source: Journal of the Royal Statistical Society B 57, 1995. false: no memory.
 */
bool student_adjust(double *p, size_t n);

#endif
