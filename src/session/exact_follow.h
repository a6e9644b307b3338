/* SPDX-License-Identifier: MIT */
/* A command under the exact engine, its samples handed over as they come, to its end. */
#ifndef SESSION_EXACT_FOLLOW_H
#define SESSION_EXACT_FOLLOW_H

#include "session/follow.h"

struct exact_follow {
	struct follow_plan who; /* whose launcher is launch_exact */
	struct exact_every every;
	bool mappings;	     /* told too: before the first sample in them */
	struct exact_profile *profile; /* with `mappings`: what is known when all is over, the caller's to free; NULL: not asked */
	uint64_t timeout_ns; /* 0: none */
	/*
	 * What fails ends the command; with `goes_on` it goes on to its own end, or to the timeout, and the rest of its samples is dropped; but for
	 * -EPIPE: nobody is there any more to read.
	 */
	exact_sample_fn *each;
	void *with;
	bool goes_on;
	bool (*enough)(void *with); /* asked then: whether it is to end, as by timeout_ns; may be NULL */
};

/* What became of it. */
struct exact_followed {
	bool began, timed_out, enough, has_status;
	int exec_code, by_signal, wait_status;
	bool never_began; /* a signal ended it before its first instruction */
	bool went_on;	  /* something failed, and it came to its own end all the same */
	uint64_t wall_ns; /* of which samples were handed over */
	char uncounted[200]; /* what of it the engine did not see, and why; "": nothing */
	struct exact_partial partial; /* with it: the processes that are missing; n is 0 where nothing can be relied on */
};

/* That `uncounted` says something: -ENODATA, and how the command ended. */
int exact_fail_uncounted(const char *uncounted, bool has_status, int wait_status, struct tare_error *err);

int exact_follow(const struct exact_follow *plan, struct exact_followed *out, struct tare_error *err);

/* The class of an event that engine_counts(). */
enum exact_class exact_class_of(const struct encoding *e);

/* The first event of the group of event `i`. */
size_t exact_leader(const struct encoding_list *list, size_t i);

/* Whether event `i` is sampled by itself; else it is read with its group's first event ({a,b}:S). */
bool exact_samples_event(const struct encoding_list *list, size_t i);

/* Tables by the numbers that samples have: room for index i of *n that only grows; new ones are zeros. NULL: out of memory. */
void *exact_reach(void *table, size_t *n, size_t i, size_t each);

#endif
