/* SPDX-License-Identifier: MIT */
/*
 * Counting from begin to end: a command run once or several times, or running processes. Takes
 * encodings and a target, and produces facts: per run RUN_BEGIN, READINGs closed by INTERVAL if
 * requested, the last READINGs, RUN_END.
 */
#ifndef STAT_STAT_H
#define STAT_STAT_H

#include "launch/control.h"
#include "count/counting.h"
#include "launch/launch.h"

struct stat_plan {
	const struct encoding_list *events;
	const char *root;                /* of the machine, as machine_root() */
	char *const *argv;               /* the command; NULL: none */
	const struct launcher *launcher; /* required with argv */
	char *const *envp;               /* for the command; NULL: tare's own */
	/* the items fixed at each start; NULL: none. Failures are noted there */
	struct determinism *fixed;
	enum parts parts; /* also report counts of parts of the command, if a source can */
	bool partial;     /* as in struct counting_options */
	bool kills;       /* a command that was asked to end, after some time: struct grace */
	/* with neither tasks nor all_cpus, the command is counted */
	struct count_target target;
	const char *const *cgroup; /* per event, or NULL */
	const int *cgroup_fd;
	const bool *only;            /* per event; NULL: all */
	unsigned first_run, runs;    /* numbers of the runs; runs 0: until a signal */
	uint64_t interval_ns;        /* 0: none */
	unsigned intervals;          /* end after that many; 0: no limit */
	uint64_t timeout_ns;         /* 0: none */
	uint64_t delay_ns;           /* start counting this long after the start */
	bool start_disabled;         /* until `control` enables counting */
	struct control *control;     /* NULL: none */
	const struct source *source; /* in place of each event's own (tests); NULL: none */
	/*
	 * Called before the first command starts, with the events that could be opened (c->enc:
	 * names and reasons). A negative errno, with err, ends the session. May be NULL.
	 */
	int (*opened)(void *with, const struct counting *c, struct tare_error *err);
	const char *pre, *post; /* shell commands before and after each run, not counted; or NULL */
	void (*begin)(void *with,
		      unsigned run); /* called before each run with its number; NULL: no progress */
	bool around;                 /* also report the machine's state around each run */
	bool sync;                   /* write back dirty pages before each run: sync(2) */
	/*
	 * With launch_exact: called with the places where each run's instructions were executed.
	 * NULL: not requested.
	 */
	int (*profile)(void *with, const struct exact_profile *p, struct tare_error *err);
	void *with;
};

struct stat_outcome {
	unsigned runs; /* finished runs, including those cut short */
	int exec_code; /* errno of an exec that failed, else 0 */
	int by_signal; /* signal that asked tare itself to stop, else 0 */
};

/* Returns 0, or a negative errno. Facts reported before the error remain valid. */
int stat_run(const struct stat_plan *plan, struct sink *to, struct stat_outcome *outcome,
	     struct tare_error *err);

#endif
