/* SPDX-License-Identifier: MIT */
/*
 * The summary of a counting session: a sink for its facts. Readings of many places are added up per
 * event and key (everything, a CPU, a core, a thread, ...), runs become a spread. Gives one table
 * per interval, through a function that was handed in, and one for all runs.
 */
#ifndef COUNT_SUMMARY_H
#define COUNT_SUMMARY_H

#include "statistics/spread.h"
#include "pmu/pmu.h"
#include "launch/fact.h"
#include "base/topology.h"

enum stat_by { BY_ALL, BY_CPU, BY_CORE, BY_DIE, BY_SOCKET, BY_NODE, BY_THREAD, BY_PROCESS };

/* What a row is about. -1 for what does not apply. */
struct stat_key {
	struct cpu_place at;
	pid_t thread;
	unsigned part; /* of a command: its n-th process or thread; 0: all of it */
	char comm[24];
	const char *cgroup;
};

/* By CPU, node, socket, die, core, thread, part; 0: the same, control group aside. */
int stat_key_order(const struct stat_key *a, const struct stat_key *b);

/* One sum: over the places of a key, in one run or interval. */
struct amount {
	uint64_t value; /* the estimate for the whole time */
	uint64_t raw;   /* what was really counted */
	uint64_t enabled_ns, running_ns;
	uint64_t low, high; /* what `value` may be, for what was not counted; see amount_limits */
	enum tare_quality quality;
	unsigned places;
	unsigned without; /* processes that are not counted to their end; the rest is exact */
};

struct stat_row {
	unsigned event; /* index in the encodings */
	struct stat_key key;
	enum tare_quality
	    quality; /* the worst of the runs that have a number; unavailable if none has */
	char why[256], remedy[200]; /* with unavailable; `why` with `without`, too */
	unsigned without;	    /* the most of the runs: see struct amount */
	bool of_core_type;          /* share is the part of the time spent on this type of core, not
				       multiplexing */
	double share;               /* time counted / time to be counted */
	bool added_work;            /* of the engine is in it: the kernel counted, in runs under the engine */
	unsigned places;            /* how many counters were added up */
	uint64_t enabled_ns, running_ns; /* mean over the runs */
	struct spread spread;            /* of the runs that have a number; n is 0 if none has */
	uint64_t low, high;              /* spread and limits together: */
	enum interval_kind interval;
	struct amount *run;              /* one per run of the table */
	bool *outlier;                   /* one per run */
	const struct summary_less *less; /* NULL: nothing was taken off */
	uint64_t counted, taken;	 /* with it: the medians of the runs, of what was counted and of what was taken off */
};

/* How one run ended. */
struct stat_end {
	bool has_status; /* a command ended */
	int wait_status;
	int by_signal; /* to tare, while it ran: not the run's own end */
	bool never_began; /* a signal ended the command before its first instruction */
	bool left_out;    /* of all rows, as there are better ones */
	bool timed_out, intervals_done, stopped; /* ended by tare, as was asked for */
	struct around around; /* where it was asked for */
};

struct stat_times {
	struct spread wall, counted, user, system; /* in ns */
	bool has_command;
	bool added_work;      /* of the engine is in them; where some runs were without, they are those runs' */
	uint64_t max_rss_kib; /* the largest of the runs */
	unsigned stops;       /* of the command, over all runs: see fact.h */
	struct exact_left left; /* of the run with the most of them: see fact.h */
	struct exact_partial partial; /* likewise */
	struct exact_slow slow;	      /* each the most of the runs */
};

struct stat_table {
	const struct encoding *enc;
	size_t n_enc;
	enum stat_by by;
	struct stat_row *row; /* by event, then key; by core, die, socket or node: by key, then event */
	size_t n;
	unsigned runs;        /* amounts per row */
	uint64_t *counted_ns; /* per run: how long counting was on */
	struct stat_end *end; /* per run */
	unsigned left_out;    /* runs cut short or never begun, in no row: others were finished */
	struct stat_times times;
	bool has_status; /* a command ended */
	int wait_status; /* of the first run that failed, else 0 */
	int by_signal;   /* that ended the last run, sent to tare */
	bool timed_out;
	uint64_t time_ns; /* of an interval: since the run began */
	uint64_t lost;
};

/* Of what `event` counts, what `by` counts is taken off: place by place, run by run. Indices in the encodings. */
struct summary_less {
	unsigned event, by;
	char known[96]; /* that this is right: by whom */
};

struct summary_options {
	const struct summary_less *less;
	size_t n_less;
	enum stat_by by;
	const struct cpu_place *cpu; /* by index; for BY_CORE and beyond */
	size_t n_cpu;
	bool intervals; /* tables of differences, also the rest at the run's end */
	/* Given each interval's table; a view. */
	int (*interval)(void *with, const struct stat_table *t, struct tare_error *err);
	void *with;
};

/* The command failed of itself: neither tare nor a signal to tare ended it. */
bool stat_failed(const struct stat_end *end);

struct summary;

/* `events` may be amended later by summary_amend; it and its strings must outlive the summary. */
struct summary *summary_new(const struct summary_options *opt, struct tare_error *err);
struct sink *summary_sink(struct summary *s);
/* The encodings as they were opened: names and what is unavailable. Copied. */
int summary_amend(struct summary *s, const struct encoding *enc, size_t n, struct tare_error *err);
/* The table over all runs; valid until the next fact or call. */
const struct stat_table *summary_table(struct summary *s, struct tare_error *err);
void summary_free(struct summary *s);

/*
 * Limits of a count that was on the PMU for part of the time: as if, while it was off, events came
 * at between half and twice the rate seen while it was on. An assumption, and stated as one
 * wherever shown.
 */
void amount_limits(struct amount *a);

#endif
