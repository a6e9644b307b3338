/* SPDX-License-Identifier: MIT */
/*
 * A run reports facts, one at a time and in order, to a sink. A file writer is a sink, a summary is
 * a sink, and a reader replays a file into a sink. A fact and everything it points to is valid
 * until `put` returns; the sink copies what it keeps.
 */
#ifndef LAUNCH_FACT_H
#define LAUNCH_FACT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/error.h"
#include "exact/exact.h"
#include "launch/system_noise.h"
#include "tare/reading.h"

enum fact_kind {
	FACT_RUN_BEGIN, /* counting is about to start; time_ns is 0 */
	FACT_READING,   /* one counter in one place, cumulative since the run started */
	/* the readings before this fact belong together: a point of time within the run */
	FACT_INTERVAL,
	FACT_RUN_END, /* the readings before this fact are the final ones */
	FACT_LOSS,    /* something was not recorded: what, and how much */
	FACT_NOTE,    /* text for the user */
};

/* Where a counter counts. */
struct fact_place {
	int cpu;            /* -1: any */
	pid_t thread;       /* -1: every task; 0: the command and its children */
	const char *comm;   /* the thread's name, or NULL */
	const char *cgroup; /* or NULL */
	/* the n-th process or thread of the command, the first is the command itself; 0: all */
	unsigned part;
	/*
	 * an identifier of a part that is the same in each run, unlike its number; 0: use its
	 * number
	 */
	uint64_t who;
};

struct fact_reading {
	unsigned event; /* index in the session's list of encodings */
	struct fact_place place;
	struct tare_reading value;
	const char *why; /* with TARE_UNAVAILABLE, or `without`: the reason */
	/* exact except for this number of processes, which were not counted to their end */
	unsigned without;
};

struct fact_begin {
	bool adds_work; /* the command runs under an engine that adds overhead */
};

struct fact_end {
	uint64_t wall_ns;    /* from the command's release (or the start of counting) to its end */
	uint64_t counted_ns; /* the part of it with counting enabled */
	uint64_t user_ns,
		system_ns; /* of the command and the children it waited for; 0 without a command */
	uint64_t max_rss_kib;
	bool has_status; /* a command ended: wait_status is that of waitpid(2) */
	int wait_status;
	int by_signal;       /* the signal to tare that ended counting, else 0 */
	bool timed_out;      /* ended by the time limit */
	bool intervals_done; /* ended after the requested number of intervals */
	bool stopped;        /* ended by "stop" of the control protocol */
	bool added_work;     /* the times, and what the kernel counted, include engine overhead */
	/* a signal ended it before the command's first instruction: all exact counts are 0 */
	bool never_began;
	/*
	 * exact engine: stops of the command, a lower bound; each may have cost one instruction per
	 * thread
	 */
	unsigned stops;
	/* exact engine: processes that still ran when the command ended; counted up to there */
	struct exact_left left;
	struct exact_slow slow; /* exact engine: what made the run slow */
	/* exact engine: processes that were not counted to their end */
	struct exact_partial partial;
	/*
	 * activity during the run, if the plan asks for it; switches and faults are the command's
	 */
	struct system_noise around;
};

struct fact {
	enum fact_kind kind;
	unsigned run;     /* from 0 */
	uint64_t time_ns; /* CLOCK_MONOTONIC, relative to the start of the run */
	union {
		struct fact_reading reading;
		struct fact_begin begin;
		struct fact_end end;
		struct {
			const char *of;
			uint64_t lost;
		} loss;
		const char *note;
	};
};

struct sink {
	/* 0, or a negative errno that ends the session. */
	int (*put)(struct sink *self, const struct fact *f, struct tare_error *err);
};

#endif
