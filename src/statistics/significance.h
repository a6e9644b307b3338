/* SPDX-License-Identifier: MIT */
/* Quantities counted in runs before and after a change: which of them changed significantly. */
#ifndef STATISTICS_SIGNIFICANCE_H
#define STATISTICS_SIGNIFICANCE_H

#include "statistics/drift.h"
#include "statistics/student_t.h"

/* false discovery rate: at most this fraction of the reported changes is due to chance */
#define SIGNIFICANCE_Q 0.05

enum change_verdict {
	CHANGE_NONE,   /* the same in all runs */
	CHANGE_WITHIN, /* by no more than the variation between runs */
	CHANGE_BEYOND, /* by more than that */
	/*
	 * not judged: the runs of each side agree, or one side has a single run, and there are too
	 * few to know their noise
	 */
	CHANGE_FEW,
	/*
	 * not judged: by more than the variation between runs, but a drift between them can explain
	 * it
	 */
	CHANGE_ORDER,
	/* not judged: within `resolution`, and too few runs for such a small difference */
	CHANGE_SMALL,
};

/* The source of p. */
enum change_by {
	CHANGE_BY_T,       /* of student_compare() */
	CHANGE_BY_BARNARD, /* significance_unseen(): the runs of each side agree */
	CHANGE_BY_DRIFT,   /* from a drift, given the order of the runs */
	CHANGE_BY_RANK, /* rank test: the single run of a side is the minimum or maximum of all */
};

struct change {
	const double *value; /* the runs before, then those after */
	/* runs may differ by this much even if few of them show it; 0: unknown, or none */
	double resolution;
	const struct drift *drift; /* NULL: the quantity does not depend on the time of a run */
	/* The results. */
	/*
	 * p from the test in `by`, the largest that applies; half is undefined if no spread was
	 * observed
	 */
	struct student_groups test;
	enum change_by by;
	bool unseen; /* the runs of each side differ by at most the resolution */
	double q;    /* p adjusted for all questions, by Benjamini and Hochberg */
	enum change_verdict verdict;
	/* for CHANGE_FEW, CHANGE_SMALL: the number of runs per side that would be enough */
	size_t enough;
};

/*
 * The largest probability, over all kinds of noise, that the runs of each side agree and the sides
 * differ although nothing changed. The worst noise has two values, f is the probability of one, and
 * p is the maximum of f^a (1-f)^b + (1-f)^a f^b. With one run each it is 1, for noise that differs
 * each time.
 *
 * Source: Barnard, "Significance tests for 2 x 2 tables", Biometrika 34, 1947.
 */
double significance_unseen(size_t n_before, size_t n_after);

/*
 * Fill in the results of n quantities, each with n_before + n_after >= 2 values. Quantities that
 * are equal in all runs, or within their resolution, do not count as questions, so they do not
 * weaken the other results. Which ones those are does not depend on the assignment of runs to
 * sides. The resolution is ignored once significance_unseen() is below 0.001 (6 + 6 runs). false:
 * out of memory.
 */
bool significance_judge(struct change *c, size_t n, size_t n_before, size_t n_after);

#endif
