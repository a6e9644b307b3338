/* SPDX-License-Identifier: MIT */
/*
 * Events of two sides, before and after a change: which of them changed. Exact events that repeat
 * are compared by ==, others by a test at a stated level, against the smallest change that matters:
 * pairs of neighbouring runs by their ratios, runs that are not paired by their means.
 */
#ifndef COMPARE_COMPARE_H
#define COMPARE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

enum compare_side { COMPARE_BEFORE, COMPARE_AFTER, COMPARE_SIDES };

enum compare_verdict {
	COMPARE_CANNOT_TELL, /* `needed` says how many runs would, if it is known */
	COMPARE_SAME,        /* exact: equal; else any change is smaller than the threshold */
	COMPARE_LESS,
	COMPARE_MORE,
};

/* false alarms of one event in one set of runs, over all looks: an alarm needs two sets */
#define COMPARE_LEVEL 0.01
/* the usual smallest changes that matter, in percent: of times; of counts that vary */
#define COMPARE_THRESHOLD_TIME  1.0
#define COMPARE_THRESHOLD_COUNT 0.1

enum { COMPARE_RUNS_MAX = 1000 };

struct compare_values {
	uint64_t *value; /* per run; owned */
	size_t n;
};

struct compare_event {
	char *name;     /* owned */
	bool time;      /* in ns */
	bool exact;     /* every run of both sides was counted exactly */
	bool in_blocks; /* not interleaved: a drift of the machine can look like a change */
	/*
	 * Run i before and run i after are neighbours, in random order, so a drift of the machine
	 * affects either side with the same probability.
	 */
	bool paired;
	/* each set is judged at most so many times while it grows; 0: once */
	unsigned looks, again_looks;
	double threshold; /* the smallest change that matters, in percent; by a test */
	double allowed;   /* the same for exact counts that repeat; 0: any change matters */
	struct compare_values of[COMPARE_SIDES];
	struct compare_values again[COMPARE_SIDES]; /* a second set of runs, or empty */

	/* The results. */
	bool by_equality; /* exact, and each side repeats */
	bool by_pairs;    /* paired, and without runs of 0, which have no ratio */
	/* exact, but the runs of a side differ (enum compare_side) */
	bool varies[COMPARE_SIDES];
	enum compare_verdict verdict;
	bool small; /* a change of exact counts that is smaller than `allowed` */
	/* the first set found a change, and the second one did not */
	bool unconfirmed;
	uint64_t median[COMPARE_SIDES]; /* of the runs that decided */
	double mean[COMPARE_SIDES];     /* likewise */
	double change; /* after minus before: by a test of the means; by_pairs: from percent */
	/* of before; NAN if that is 0. by_pairs: the Hodges-Lehmann estimate of the ratios */
	double percent;
	double low_percent, high_percent; /* the interval at the level; NAN: none */
	double half_percent;              /* half of its width */
	/* two-sided, that the change is no larger than the threshold; for all looks; NAN: none */
	double p;
	size_t needed; /* runs per side that would decide, estimated; 0: unknown */
};

/* Does a change exceed the noise so far that a second set of runs must confirm it? */
bool compare_to_confirm(const struct compare_event *e);
/* Fill in the results. May be called again after runs were added. */
int compare_judge(struct compare_event *e, struct tare_error *err);
/*
 * The number of pairs at the first look: `runs`, halved as long as that number of pairs can have a
 * verdict. A set is judged again each time it has doubled, *looks times at most. Each look has an
 * equal share of the level (Bonferroni), so the level holds for any number of looks.
 */
unsigned compare_first_look(unsigned runs, unsigned *looks);
int compare_add(struct compare_values *to, uint64_t value, struct tare_error *err);
void compare_event_free(struct compare_event *e);

enum compare_outcome {
	OUTCOME_CANNOT_TELL,
	OUTCOME_SAME,
	OUTCOME_FASTER,
	OUTCOME_SLOWER, /* some event became more: a regression */
};

/*
 * The outcome of all events; *by (may be NULL) is the one that decides. Exact events come first: if
 * one of them has a verdict, times without one do not make the outcome unknown.
 */
enum compare_outcome compare_outcome(const struct compare_event *e, size_t n,
				     const struct compare_event **by);
/* "slower", "faster", "same", "cannot tell" */
const char *compare_outcome_word(enum compare_outcome o);
/* the verdict of an event: "more" or (times) "slower", ... */
const char *compare_verdict_word(const struct compare_event *e);

#endif
