/* SPDX-License-Identifier: MIT */
/*
 * The summary of a counting session: a sink for its facts. Readings of several places are summed
 * per event and key (everything, a CPU, a core, a thread, ...), and runs become a spread. Produces
 * one table per interval, passed to a callback, and one for all runs.
 */
#ifndef COUNT_SUMMARY_H
#define COUNT_SUMMARY_H

#include "statistics/spread.h"
#include "pmu/pmu.h"
#include "launch/fact.h"
#include "base/topology.h"

enum stat_by { BY_ALL, BY_CPU, BY_CORE, BY_DIE, BY_SOCKET, BY_NODE, BY_THREAD, BY_PROCESS };

/* The key of a row. -1 if not applicable. */
struct stat_key {
	struct cpu_place at;
	pid_t thread;
	unsigned part; /* of a command: its n-th process or thread; 0: the whole command */
	char comm[24];
	const char *cgroup;
};

/* Order by CPU, node, socket, die, core, thread, part; 0: equal, ignoring the control group. */
int stat_key_order(const struct stat_key *a, const struct stat_key *b);

/* A sum over the places of a key, in one run or interval. */
struct amount {
	uint64_t value; /* the estimate for the whole time */
	uint64_t raw;   /* the actual count */
	uint64_t enabled_ns, running_ns;
	uint64_t low, high; /* limits of `value` because of multiplexing; see amount_limits */
	enum tare_quality quality;
	unsigned places;
	/* number of processes that are not counted completely; the other counts are exact */
	unsigned without;
};

struct stat_row {
	unsigned event; /* index in the encodings */
	struct stat_key key;
	enum tare_quality
		quality; /* the lowest of the runs with a number; unavailable if there are none */
	char why[256], remedy[200]; /* if unavailable; `why` also with `without` */
	unsigned without;           /* the maximum over the runs: see struct amount */
	/* share is the fraction of time on this type of core, not multiplexing */
	bool of_core_type;
	double share; /* time counted / time enabled */
	/* includes engine overhead: counted by the kernel, in runs under the engine */
	bool added_work;
	unsigned places;                 /* number of counters that were summed */
	uint64_t enabled_ns, running_ns; /* mean over the runs */
	struct spread spread;            /* of the runs with a number; n is 0 if there are none */
	uint64_t low, high;              /* spread and limits combined: */
	enum interval_kind interval;
	struct amount *run;              /* one per run of the table */
	bool *outlier;                   /* one per run */
	const struct summary_less *less; /* NULL: nothing was subtracted */
	/* if so: the medians over the runs of the count and of the subtracted count */
	uint64_t counted, taken;
};

/* The end of a run. */
struct stat_end {
	bool has_status; /* a command ended */
	int wait_status;
	int by_signal;    /* sent to tare while it ran; not the cause of the run's end */
	bool never_began; /* a signal killed the command before its first instruction */
	bool left_out;    /* excluded from all rows, because there are better runs */
	bool timed_out, intervals_done, stopped; /* ended by tare, as requested */
	struct system_noise around;              /* if requested */
};

struct stat_times {
	struct spread wall, counted, user, system; /* in ns */
	bool has_command;
	/* they include engine overhead; if some runs were without the engine, those are used */
	bool added_work;
	uint64_t max_rss_kib;         /* the maximum over the runs */
	unsigned stops;               /* of the command, over all runs: see fact.h */
	struct exact_left left;       /* of the run with most of them: see fact.h */
	struct exact_partial partial; /* likewise */
	struct exact_slow slow;       /* the maximum over the runs, for each */
};

struct stat_table {
	const struct encoding *enc;
	size_t n_enc;
	enum stat_by by;
	/* by event, then key; for core, die, socket or node: by key, then event */
	struct stat_row *row;
	size_t n;
	unsigned runs;        /* number of amounts per row */
	uint64_t *counted_ns; /* per run: how long counting was enabled */
	struct stat_end *end; /* per run */
	/* runs cut short or never begun, in no row because other runs finished */
	unsigned left_out;
	struct stat_times times;
	bool has_status; /* a command ended */
	int wait_status; /* of the first run that failed, else 0 */
	int by_signal;   /* that ended the last run, sent to tare */
	bool timed_out;
	uint64_t time_ns; /* of an interval: since the beginning of the run */
	uint64_t lost;
};

/*
 * The count of `by` is subtracted from that of `event`: place by place, run by run. Indices in the
 * encodings.
 */
struct summary_less {
	unsigned event, by;
	char known[96]; /* the justification */
};

struct summary_options {
	const struct summary_less *less;
	size_t n_less;
	enum stat_by by;
	const struct cpu_place *cpu; /* by index; for BY_CORE and larger units */
	size_t n_cpu;
	bool intervals; /* tables of differences, including the rest at the run's end */
	/* Called with each interval's table, which is valid during the call. */
	int (*interval)(void *with, const struct stat_table *t, struct tare_error *err);
	void *with;
};

/* The command failed by itself: it was not ended by tare or by a signal to tare. */
bool stat_failed(const struct stat_end *end);

struct summary;

/* `events` may be changed later by summary_amend(). It and its strings must outlive the summary. */
struct summary *summary_new(const struct summary_options *opt, struct tare_error *err);
struct sink *summary_sink(struct summary *s);
/* The encodings as they were opened: names and unavailable events. Copied. */
int summary_amend(struct summary *s, const struct encoding *enc, size_t n, struct tare_error *err);
/* The table over all runs; valid until the next fact or call. */
const struct stat_table *summary_table(struct summary *s, struct tare_error *err);
void summary_free(struct summary *s);

/*
 * Limits of a multiplexed count: while it was off the PMU, events are assumed to come at between
 * half and twice the observed rate. This is an assumption, and it is stated wherever it is shown.
 */
void amount_limits(struct amount *a);

#endif
