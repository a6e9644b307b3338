/* SPDX-License-Identifier: MIT */
/*
 * The noise budget: divide the variance of a count over several runs by cause. There are two
 * methods: regression on other counts of the same runs, and letting one cause of the launch vary
 * while all others are fixed. Has no side effects; works on numbers from any source. A cause is
 * named only if the probability of naming any cause by chance is below BUDGET_CHANCE. Causes that
 * are correlated are named together.
 */
#ifndef NOISE_BUDGET_H
#define NOISE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "launch/determinism.h"

enum budget_cause {
	/* observed with the count, one number per run */
	BUDGET_INTERRUPTS,
	BUDGET_SWITCHES,
	BUDGET_MIGRATIONS,
	BUDGET_FAULTS,
	BUDGET_SMI,
	BUDGET_FREQUENCY,
	BUDGET_MULTIPLEXING,
	BUDGET_STEAL,
	BUDGET_SEEN, /* number of those */
	/* varied by the launch */
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
	BUDGET_RUNS_LEAST = 6, /* with fewer runs, chance explains as much */
	BUDGET_RUNS_MOST = 1000,
};

struct budget_cause_row {
	const char *name;  /* "page-faults": in JSON */
	const char *words; /* "page faults": in a sentence */
	const char *one;   /* "page fault"; NULL: not counted */
	unsigned items;    /* of a launch: the items FIXED(...) that vary; 0: observed */
};

extern const struct budget_cause_row budget_causes[BUDGET_CAUSES];

/* An event that is a cause, or indicates one when divided by another event. */
struct budget_event {
	enum budget_cause cause;
	const char *name, *by; /* by: NULL if it is the cause itself */
};

extern const struct budget_event budget_events[]; /* ends with a name of NULL */
/*
 * The observed causes that can affect a count of the exact engine: the behaviour of the program and
 * its threads, not the effects of the processor and the kernel.
 */
#define BUDGET_OF_EXACT (BUDGET(SWITCHES) | BUDGET(MIGRATIONS) | BUDGET(FAULTS))

/* Does the perf event have this name, with or without modifiers? */
bool budget_is_called(const char *event, const char *name);
/* An event is not its own cause, and does not have a cause that it indicates. */
bool budget_is_of(enum budget_cause cause, const char *event);

/* Counts of runs, and the observed causes; NULL if not observed. The pointers are borrowed. */
struct budget_runs {
	const double *count;
	size_t n; /* 0: not tried */
	const double *seen[BUDGET_SEEN];
};

struct budget_question {
	struct budget_runs asked;                            /* launched as requested */
	struct budget_runs fixed;                            /* with everything fixed */
	struct budget_runs let[BUDGET_CAUSES - BUDGET_SEEN]; /* everything except this is fixed */
};

struct budget_part {
	unsigned causes;         /* BUDGET(); several: they cannot be distinguished in these runs */
	bool switched;           /* known from varying it, not from regression */
	double share, low, high; /* of the variance, with the 95 % interval */
	double per, per_low, per_high; /* by regression: count per unit of the cause */
	double deviation;              /* switched: the standard deviation due to it alone */
	double p; /* probability under chance, corrected for all causes tried */
};

enum budget_state {
	BUDGET_NO_SPREAD, /* all runs equal */
	BUDGET_FEW,       /* too few runs for a result */
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
	double fixed_deviation;           /* with everything fixed; < 0: not tried */
	unsigned tried;                   /* causes that were tested */
	unsigned constant;                /* observed, and equal in all runs: excluded */
	unsigned unseen;                  /* not observed here */
	bool alone;       /* one run has most of the spread: a single event, not a regular cause */
	size_t alone_run; /* from 0 */
	double alone_share;
};

/* `out` contains no pointers. The result is deterministic. -ENOMEM. */
int budget_split(struct budget *out, const struct budget_question *q, struct tare_error *err);

#endif
