/* SPDX-License-Identifier: MIT */
/* Quantities counted in runs before a change and after it: which of them changed by more than chance does. */
#ifndef STATISTICS_CHANGES_H
#define STATISTICS_CHANGES_H

#include "statistics/drift.h"
#include "statistics/student.h"

#define CHANGES_Q 0.05 /* of the changes that are said to exceed the noise, at most this share does so by chance */

enum change_verdict {
	CHANGE_NONE,   /* the same in all runs */
	CHANGE_WITHIN, /* by no more than the runs differ */
	CHANGE_BEYOND, /* by more */
	CHANGE_FEW,    /* not judged: the runs of each side agree, or one side has a single run, and they are too few to know their noise */
	CHANGE_ORDER,  /* not judged: by more than the runs differ, and a drift between them can be all of it */
	CHANGE_SMALL,  /* not judged: within `resolution`, and the runs are fewer than needed to look that close */
};

/* Which p it is. */
enum change_by {
	CHANGE_BY_T,	   /* of student_compare() */
	CHANGE_BY_BARNARD, /* changes_unseen(), the runs of each side agree */
	CHANGE_BY_DRIFT,   /* of a drift, as the order of the runs would show it */
	CHANGE_BY_RANK,	   /* that the single run of a side is the least or the most of all */
};

struct change {
	const double *value; /* of the runs before, then of those after */
	double resolution;   /* so far apart runs may lie though few show it; 0: unknown, or none */
	const struct drift *drift; /* NULL: the quantity does not depend on the time of a run */
	/* The answers. */
	struct student_groups test; /* p as `by` says, the greatest that applies; half means nothing where no spread was seen */
	enum change_by by;
	bool unseen;		    /* the runs of each side differ by no more than the resolution */
	double q;		    /* p among all that were asked, by Benjamini and Hochberg */
	enum change_verdict verdict;
	size_t enough; /* of CHANGE_FEW, CHANGE_SMALL: runs on each side by which it could be judged */
};

/*
 * The most likely that the runs of each side agree and the sides differ, though nothing changed: over all kinds of noise. The worst
 * has two values and f the share of one, and p is the largest f^a (1-f)^b + (1-f)^a f^b; with one run each it is 1, by noise that
 * differs each time. Source: Barnard, "Significance tests for 2 x 2 tables", Biometrika 34, 1947.
 */
double changes_unseen(size_t n_before, size_t n_after);

/*
 * Fills the answers of n quantities, each with n_before + n_after >= 2 values. What is the same in all runs, or within its
 * resolution, asks nothing, so that it takes no certainty from the others: which those are does not depend on what run is of which
 * side. The resolution is forgotten once changes_unseen() is below 0.001 (6 + 6 runs). false: no memory.
 */
bool changes_judge(struct change *c, size_t n, size_t n_before, size_t n_after);

#endif
