/* SPDX-License-Identifier: MIT */
/* Runs a command under the exact engine to its end and delivers its samples as they arrive. */
#ifndef LAUNCH_EXACT_FOLLOW_H
#define LAUNCH_EXACT_FOLLOW_H

#include "launch/follow.h"

struct exact_follow {
	struct follow_plan who; /* its launcher is launch_exact */
	struct exact_every every;
	bool mappings; /* also report mappings, each before its first sample */
	struct exact_profile *
		/* with `mappings`: the profile at the end; the caller frees it; NULL: not wanted */
		profile;
	uint64_t timeout_ns; /* 0: none */
	/*
	 * A failure of `each` ends the command. With `goes_on` the command continues to its own end
	 * or to the timeout, and the rest of its samples is dropped; except after -EPIPE, when
	 * there is no reader.
	 */
	exact_sample_fn *each;
	void *with;
	bool goes_on;
	/* called then: true ends the command, as timeout_ns does; may be NULL */
	bool (*enough)(void *with);
};

/* How it ended. */
struct exact_followed {
	bool began, timed_out, enough, has_status;
	int exec_code, by_signal, wait_status;
	bool never_began;    /* a signal ended it before its first instruction */
	bool went_on;        /* something failed, but it ran to its own end */
	uint64_t wall_ns;    /* the part of the run with delivered samples */
	char uncounted[200]; /* why part of it was not counted; "": everything was */
	struct exact_partial
		/* with `uncounted`: the missing processes; n is 0 if no count is reliable */
		partial;
};

/* An error for a non-empty `uncounted`: -ENODATA, and how the command ended. */
int exact_fail_uncounted(const char *uncounted, bool has_status, int wait_status,
			 struct tare_error *err);

int exact_follow(const struct exact_follow *plan, struct exact_followed *out,
		 struct tare_error *err);

/* The class of an event that engine_counts(). */
enum exact_class exact_class_of(const struct encoding *e);

/* The first event of the group of event `i`. */
size_t exact_leader(const struct encoding_list *list, size_t i);

/* Is event `i` sampled? If not, it is read with its group's first event ({a,b}:S). */
bool exact_samples_event(const struct encoding_list *list, size_t i);

#endif
