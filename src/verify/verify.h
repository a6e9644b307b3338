/* SPDX-License-Identifier: MIT */
/*
 * Is a count right? Judged from what was counted of work whose size was known, at several lengths and several times. Pure: it
 * takes numbers, wherever they are from, and gives a verdict with its own numbers.
 */
#ifndef VERIFY_VERIFY_H
#define VERIFY_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/text.h"
#include "verify/verify_work.h"

enum verify_verdict {
	VERIFY_UNAVAILABLE, /* it could not be read */
	VERIFY_EXACT,	    /* each time what the work was */
	VERIFY_FIXED,	    /* each time the same too many: what a reading itself costs */
	VERIFY_FAULTS,	    /* some too many for each page fault, else exact */
	VERIFY_SYSCALLS,    /* likewise, for each system call */
	VERIFY_INTERRUPTS,  /* too many by no more than some for each interrupt, else exact */
	VERIFY_SOME,	    /* wrong for some kinds of work, else exact */
	VERIFY_NOISY,	    /* about right, and different each time */
	VERIFY_UNDER,	    /* too few */
	VERIFY_FACTOR,	    /* wrong by a factor */
	VERIFY_MULTIPLEXED, /* it was on a counter for part of the time */
	VERIFY_IMPOSSIBLE,  /* faster than any processor */
	VERIFY_WIDTH,	    /* it went backwards: a wrong number of bits */
	VERIFY_FROZEN,	    /* it counted once, and then no more */
	VERIFY_DEAD,	    /* nothing, whatever was done */
	VERIFY_UNTESTED,    /* it moves, and it is not known what it should count; or it had nothing to count (`idle`) */
	VERIFY_VERDICTS,
};

struct verify_result {
	enum verify_verdict verdict;
	int64_t fixed;	      /* too many in each reading */
	int64_t per_fault, per_syscall;
	uint32_t kinds;	      /* of work for which it is wrong, a bit each (verify/workshop.h) */
	double per_turn;      /* too many there, on average */
	unsigned per_interrupt; /* at most */
	uint64_t interrupts;  /* that were there to be seen */
	uint64_t over;	      /* too many because of them, in all */
	uint64_t spread;      /* of what is left, largest minus smallest */
	double factor;	      /* counted / expected */
	double share;	      /* of the time on a counter */
	size_t samples;
	bool idle; /* untested because none of the work causes it */
	int as;		      /* enum work_class that it was found to count, of an event nothing was known of; WORK_UNKNOWN else */
};

extern const char *const verify_names[VERIFY_VERDICTS]; /* "exact", ... */

struct verify_result verify_judge(const struct verify_sample *s, size_t n);
/* The same of an event of which it is not known what it counts (WORK_UNKNOWN): if it is exact for a class of work, then as that. */
struct verify_result verify_judge_any(struct verify_sample *s, size_t n);
/* May its numbers be believed to the last digit, as they are or with what is known taken off? */
bool verify_trusted(const struct verify_result *r);
/* "atomics, rep": the kinds of work of these bits. */
void verify_name_kinds(struct text *out, uint32_t kinds);
/* In a sentence. */
void verify_words(struct text *out, const struct verify_result *r);

#endif
