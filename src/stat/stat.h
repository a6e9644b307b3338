/* SPDX-License-Identifier: MIT */
/*
 * Counting: a command run once or many times, or what is running already, from begin to end. Takes
 * encodings and a target, states facts: per run RUN_BEGIN, READINGs closed by INTERVAL where asked
 * for, the last READINGs, RUN_END.
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
	const struct launcher *launcher; /* with argv */
	char *const *envp;               /* for the command; NULL: tare's own */
	struct fixed *fixed;             /* what is the same each time it is started; NULL: nothing. What is missed is noted there */
	enum parts parts;                /* also state counts of parts of the command, where a source can */
	bool partial;                    /* as in struct counting_options */
	struct where where; /* with neither tasks nor all_cpus: the command itself is counted */
	const char *const *cgroup; /* per event, or NULL */
	const int *cgroup_fd;
	const bool *only;         /* per event; NULL: all */
	unsigned first_run, runs; /* numbers of the runs; runs 0: until a signal */
	uint64_t interval_ns;     /* 0: none */
	unsigned intervals;       /* end after that many; 0: no such limit */
	uint64_t timeout_ns;      /* 0: none */
	uint64_t delay_ns;        /* start counting that long after the start */
	bool start_disabled;      /* until `control` says enable */
	struct control *control;  /* NULL: none */
	const struct source *source; /* in place of each event's own (tests); NULL: none */
	/*
	 * Told before the first command starts what could be opened (c->enc: names and reasons); a
	 * negative errno, with err, ends the session there. May be NULL.
	 */
	int (*opened)(void *with, const struct counting *c, struct tare_error *err);
	const char *pre, *post; /* shell commands before and after each run, not counted; or NULL */
	void (*begin)(void *with, unsigned run); /* called before each run with its number; NULL: no progress */
	bool around;            /* also say what the machine did around each run */
	bool sync;              /* write back what is dirty before each run: sync(2) */
	/* With launch_exact: given where each run's instructions were executed. NULL: nobody asks. */
	int (*profile)(void *with, const struct exact_profile *p, struct tare_error *err);
	void *with;
};

struct stat_outcome {
	unsigned runs; /* that were finished, also those cut short */
	int exec_code; /* errno of an exec that failed, else 0 */
	int by_signal; /* tare itself was asked to stop by it, else 0 */
};

/* 0, or a negative errno: what failed; facts already stated remain true. */
int stat_run(const struct stat_plan *plan, struct sink *to, struct stat_outcome *outcome,
	     struct tare_error *err);

#endif
