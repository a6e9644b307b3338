/* SPDX-License-Identifier: MIT */
/*
 * Measures two commands for a comparison: exact counts in two runs of each (four if the sides
 * differ), other events and times in pairs of runs in random order until the pairs decide, and
 * again if they show a change.
 */
#ifndef COMPARE_COMPARE_RUN_H
#define COMPARE_COMPARE_RUN_H

#include "compare/compare.h"
#include "launch/engine.h"
#include "launch/determinism.h"
#include "launch/stdin_replay.h"
#include "stat/repeat_run.h"

enum compare_time { COMPARE_CPU_TIME, COMPARE_WALL, COMPARE_TIMES };
enum { COMPARE_EVENTS_MAX = REPEAT_EVENTS_MAX + COMPARE_TIMES };

extern const char *const compare_time_names[COMPARE_TIMES];

struct compare_time_plan {
	bool measured;
	double threshold; /* percent; negative: the usual one */
};

struct compare_plan {
	char *const *argv[COMPARE_SIDES];
	const char *dir[COMPARE_SIDES]; /* working directory; NULL: tare's own */
	const char *events;             /* as for -e; the exact engine's or the processor's */
	enum engine_wish engine;
	/* the items fixed in the runs that count, or in all if none do; failures are noted there */
	struct determinism *fixed;
	unsigned runs;      /* most pairs, for events that are not exact; 0: no times */
	uint64_t budget_ns; /* no further pairs when a set would take longer; 0: no limit */
	bool one_set;       /* exactly `runs` pairs, whatever they show */
	double threshold;   /* percent; negative: the usual one of each event */
	/* of each time: whether it is measured, and its threshold; NULL: both, `threshold` */
	const struct compare_time_plan *time;
	bool allow_failure;         /* a command may fail, if both sides fail the same way */
	uint64_t timeout_ns;        /* of one run; 0: none */
	struct stdin_replay *input; /* begun; or NULL */
	/* Called before each run; the number of runs may grow. NULL: no progress. */
	void (*begin)(void *with, unsigned run, unsigned runs, enum compare_side side);
	void *with;
};

struct compare_measured {
	struct compare_event event[COMPARE_EVENTS_MAX];
	size_t n;
	const struct launcher *launcher; /* of the counts */
	unsigned runs;                   /* all of them */
	/* the first run was not like the others, and is left out: it may have created files */
	bool first_apart[COMPARE_SIDES];
	/* each side prints the same each time, but not the same as the other */
	bool output_differs;
	int wait_status; /* of every run */
	/* What ended it early: */
	int exec_code; /* errno of a command that could not be executed */
	int by_signal; /* tare was asked to stop */
};

/* "before", "after" */
const char *compare_side_name(enum compare_side side);
/* Events are judged. Free the result in any case. */
int compare_measure(struct compare_measured *out, const struct compare_plan *plan,
		    struct tare_error *err);
/* The event of the exact engine's instructions; NULL: none. */
const struct compare_event *compare_instructions(const struct compare_event *e, size_t n);
void compare_measured_free(struct compare_measured *m);

/*
 * Change to the working directory of a side's next run, and set PWD to it. *back is for
 * compare_leave(), to be called in any case: tare's own output has names relative to the user's.
 */
int compare_enter(const struct compare_plan *plan, enum compare_side side, int *back,
		  struct tare_error *err);
int compare_leave(int back, struct tare_error *err);

#endif
