/* SPDX-License-Identifier: MIT */
/*
 * A run states facts, one at a time and in order, to a sink. A file writer is a
 * sink, a summary is a sink, and a reader replays a file into a sink. A fact and all it points to
 * is a view, valid until `put` returns: who wants to keep something copies it.
 */
#ifndef LAUNCH_FACT_H
#define LAUNCH_FACT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/error.h"
#include "exact/exact.h"
#include "launch/around.h"
#include "tare/reading.h"

enum fact_kind {
	FACT_RUN_BEGIN, /* counting is about to begin; time_ns is 0 */
	FACT_READING,   /* one counter in one place, cumulative since the run began */
	FACT_INTERVAL,  /* the readings before this fact belong together: an instant within the run
			 */
	FACT_RUN_END,   /* the readings before this fact are the run's last */
	FACT_LOSS,      /* something was not recorded: how much of what */
	FACT_NOTE,      /* words for the user */
};

/* Where a counter sat. */
struct fact_place {
	int cpu;            /* -1: any */
	pid_t thread;       /* -1: every task; 0: the command and what it started */
	const char *comm;   /* the thread's name, or NULL */
	const char *cgroup; /* or NULL */
	unsigned part;      /* the n-th process or thread that the command started, itself the first; 0: all */
	uint64_t who;       /* of a part: which it is, in each run alike, where its number may be another one; 0: its number */
};

struct fact_reading {
	unsigned event; /* index in the list of encodings the session was given */
	struct fact_place place;
	struct tare_reading value;
	const char *why; /* with TARE_UNAVAILABLE, or `without`: the reason */
	unsigned without; /* exact but for so many processes, which are not counted to their end */
};

struct fact_begin {
	bool adds_work; /* the command runs under an engine that works beside it */
};

struct fact_end {
	uint64_t wall_ns;    /* from release of the command (or start of counting) to its end */
	uint64_t counted_ns; /* the part of it with counting switched on */
	uint64_t user_ns,
	    system_ns; /* of the command and the children it waited for; 0 without command */
	uint64_t max_rss_kib;
	bool has_status; /* a command ended: wait_status is as waitpid(2) gives it */
	int wait_status;
	int by_signal;  /* counting was ended by this signal to tare, else 0 */
	bool timed_out; /* ended by the time limit */
	bool intervals_done; /* ended after so many intervals as asked for */
	bool stopped;        /* ended by the control's stop */
	bool added_work; /* the engine's own work is in the times, and in what the kernel counted */
	bool never_began; /* by a signal, before the command's first instruction: all exact counts are 0 */
	unsigned stops;  /* of the command, at least, where the exact engine counted: each may have cost it an instruction per thread */
	struct exact_left left; /* ran on when the command ended, where the exact engine counted: counted up to there */
	struct exact_slow slow; /* what made it slow, where the exact engine counted */
	struct exact_partial partial; /* what the exact engine did not count to its end */
	struct around around; /* while it ran, where the plan asked for it; switches and faults are of the command */
};

struct fact {
	enum fact_kind kind;
	unsigned run;     /* from 0 */
	uint64_t time_ns; /* CLOCK_MONOTONIC, from the run's begin */
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
