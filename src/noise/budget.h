/* SPDX-License-Identifier: MIT */
/*
 * The noise budget: how far the counts of several runs lie apart, split by cause. Two ways to know: what was seen to vary beside
 * the count (by regression), and what the launch lets vary (by letting it vary alone while all else is fixed). Pure: it takes
 * numbers, wherever they are from. A cause is named only where chance would name any with a probability below BUDGET_CHANCE;
 * causes that move together are named together.
 */
#ifndef NOISE_BUDGET_H
#define NOISE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "launch/fixed.h"

enum budget_cause {
	/* seen beside the count, a number per run */
	BUDGET_INTERRUPTS,
	BUDGET_SWITCHES,
	BUDGET_MIGRATIONS,
	BUDGET_FAULTS,
	BUDGET_SMI,
	BUDGET_FREQUENCY,
	BUDGET_MULTIPLEXING,
	BUDGET_STEAL,
	BUDGET_SEEN, /* how many of them */
	/* let vary by the launch */
	BUDGET_LAYOUT = BUDGET_SEEN,
	BUDGET_SEEDS,
	BUDGET_CLOCKS,
	BUDGET_TIMERS,
	BUDGET_THREADS,
	BUDGET_CAUSES,
};

#define BUDGET(cause) (1u << BUDGET_##cause)
#define BUDGET_CHANCE 0.01

enum {
	BUDGET_RUNS_LEAST = 6,	/* with fewer, chance alone does as well */
	BUDGET_RUNS_MOST = 1000,
};

struct budget_cause_row {
	const char *name;  /* "page-faults": as stored */
	const char *words; /* "page faults": in a sentence */
	const char *one;   /* "page fault"; NULL: no count of its own */
	unsigned items;	   /* of a launch: FIXED(...), those which are let vary; 0: it is seen */
};

extern const struct budget_cause_row budget_causes[BUDGET_CAUSES];

/* An event that is a cause, or tells of one when it is divided by another. */
struct budget_event {
	enum budget_cause cause;
	const char *name, *by; /* by: NULL where it is the cause itself */
};

extern const struct budget_event budget_events[]; /* ends with a name of NULL */
/* Of the causes that are seen, those that can be in a count of the exact engine: how the program and its threads went, not what
 * the processor and the kernel added. */
#define BUDGET_OF_EXACT (BUDGET(SWITCHES) | BUDGET(MIGRATIONS) | BUDGET(FAULTS))

/* An event of perf's, with modifiers or without. */
bool budget_is_called(const char *event, const char *name);
/* An event is not its own cause, nor of a cause that it tells of. */
bool budget_is_of(enum budget_cause cause, const char *event);

/* Counts of runs, and what was seen of them; NULL where it was not. Nothing is owned. */
struct budget_runs {
	const double *count;
	size_t n; /* 0: not tried */
	const double *seen[BUDGET_SEEN];
};

struct budget_question {
	struct budget_runs asked;			  /* launched as was asked */
	struct budget_runs fixed;			  /* with everything fixed */
	struct budget_runs let[BUDGET_CAUSES - BUDGET_SEEN]; /* fixed but for this */
};

struct budget_part {
	unsigned causes; /* BUDGET(); several: they cannot be told apart in these runs */
	bool switched;	 /* known by letting it vary, not by regression */
	double share, low, high; /* of the variance; the interval by 95 % */
	double per, per_low, per_high; /* by regression: so much of the count for one of the cause */
	double deviation; /* switched: the standard deviation it makes alone */
	double p;	  /* that chance alone does as well, all causes tried counted in */
};

enum budget_state {
	BUDGET_NO_SPREAD, /* all runs equal */
	BUDGET_FEW,	  /* too few runs to say anything */
	BUDGET_SPLIT,
};

enum { BUDGET_PARTS = BUDGET_CAUSES + 1 };

struct budget {
	enum budget_state state;
	size_t n;
	double mean, min, max, deviation;
	struct budget_part part[BUDGET_PARTS]; /* the largest first */
	size_t parts;
	double left, left_low, left_high; /* unexplained share */
	double fixed_deviation;		  /* with everything fixed; < 0: not tried */
	unsigned tried;	   /* causes that were there to be blamed */
	unsigned constant; /* seen, and the same in all runs: not to blame */
	unsigned unseen;   /* not known here */
	bool alone;	   /* one run makes most of the spread: a matter of one event, not of a rule */
	size_t alone_run;  /* from 0 */
	double alone_share;
};

/* Not changed: `out` holds no pointers. The same question gives the same answer. -ENOMEM. */
int budget_split(struct budget *out, const struct budget_question *q, struct tare_error *err);

#endif
