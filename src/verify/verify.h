/* SPDX-License-Identifier: MIT */
/*
 * Is a count right? The verdict comes from counts of work of known size, at several lengths,
 * several times. Pure: takes numbers from any source, and returns a verdict with its own numbers.
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
	VERIFY_EXACT,       /* each time equal to the work */
	VERIFY_FIXED,       /* each time the same overcount: the overhead of a reading */
	VERIFY_FAULTS,      /* an overcount for each page fault, else exact */
	VERIFY_SYSCALLS,    /* likewise for each system call */
	VERIFY_INTERRUPTS,  /* an overcount of at most a few for each interrupt, else exact */
	VERIFY_SOME,        /* wrong for some kinds of work, else exact */
	VERIFY_NOISY,       /* about right, but different each time */
	VERIFY_UNDER,       /* undercount */
	VERIFY_FACTOR,      /* wrong by a factor */
	VERIFY_MULTIPLEXED, /* on a counter for only part of the time */
	VERIFY_IMPOSSIBLE,  /* faster than any processor */
	VERIFY_WIDTH,       /* decreased: a wrong counter width */
	VERIFY_FROZEN,      /* counted once, and then stopped */
	VERIFY_DEAD,        /* always 0 */
	/* it counts, but the right count is not known; or it had nothing to count (`idle`) */
	VERIFY_UNTESTED,
	VERIFY_VERDICTS,
};

struct verify_result {
	enum verify_verdict verdict;
	int64_t fixed; /* overcount of each reading */
	int64_t per_fault, per_syscall;
	/* Kinds of work for which it is wrong, a bit each (verify/calibration.h) */
	uint32_t kinds;
	double per_turn;        /* average overcount there */
	unsigned per_interrupt; /* maximum */
	uint64_t interrupts;    /* that could be observed during the work */
	uint64_t over;          /* total overcount because of them */
	uint64_t spread;        /* of the rest, largest minus smallest */
	double factor;          /* counted / expected */
	double share;           /* fraction of the time on a counter */
	size_t samples;
	bool idle; /* untested because no kind of work causes it */
	/*
	 * for an unknown event, the enum work_class that it was found to count; else WORK_UNKNOWN
	 */
	int as;
};

extern const char *const verify_names[VERIFY_VERDICTS]; /* "exact", ... */

struct verify_result verify_judge(const struct verify_sample *s, size_t n);
/*
 * The same for an event of unknown meaning (WORK_UNKNOWN): if it is exact for a class of work, it
 * is judged as that class.
 */
struct verify_result verify_judge_any(struct verify_sample *s, size_t n);
/* Are its counts exact, either directly or after subtracting the known overcount? */
bool verify_trusted(const struct verify_result *r);
/* "atomics, rep": the kinds of work for these bits. */
void verify_name_kinds(struct text *out, uint32_t kinds);
/* The verdict as a sentence. */
void verify_words(struct text *out, const struct verify_result *r);

#endif
