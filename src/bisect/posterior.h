/* SPDX-License-Identifier: MIT */
/*
 * Which of several commits made a command slower, if each measurement has noise: the probability of
 * each commit, given all measurements. Assumes that a single commit did it. Pure.
 */
#ifndef BISECT_POSTERIOR_H
#define BISECT_POSTERIOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { POSTERIOR_MOST = 10000 }; /* commits */

struct posterior {
	size_t n, words;    /* commits; words of a row */
	uint64_t *includes; /* n rows of bits: the commit, and its ancestors among the n */
	double *p;          /* of each commit */
};

/* A commit against the good one: log of the ratio of the times. */
struct posterior_measure {
	size_t commit;
	double change, error; /* error: standard error */
};

/* n commits, each with the same probability, without parents. Free it. false: out of memory. */
bool posterior_new(struct posterior *p, size_t n);
/* `parent` < `child`; all parents of `parent` were added before. */
void posterior_parent(struct posterior *p, size_t child, size_t parent);
bool posterior_includes(const struct posterior *p, size_t commit, size_t ancestor);
#define POSTERIOR_BUILD 0.1 /* of the step: other differences between builds */

/*
 * All commits are equally probable at first. For each commit, the step that it would have made is
 * estimated from the measurements of all commits that include it; it is at least half of `step`.
 * The noise is assumed to have Student's t distribution with 8 degrees of freedom, so that a single
 * outlier does not decide. Builds differ by POSTERIOR_BUILD of the step (alignment).
 */
void posterior_update(struct posterior *p, const struct posterior_measure *m, size_t n,
		      double step);
/*
 * The commit to measure next: the probability that it is slow is near 1/2, and open[i], the share
 * of the variance of its measurement that more runs can remove, is large. SIZE_MAX: for each commit
 * with open[i] > 0, this probability is within `sure` of 0 or 1.
 */
size_t posterior_next(const struct posterior *p, const double *open, double sure);
size_t posterior_best(const struct posterior *p);
void posterior_free(struct posterior *p);

#endif
