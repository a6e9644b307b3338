/* SPDX-License-Identifier: MIT */
/*
 * What several sequences have in common: of two, the longest common subsequence; of more, that of what the ones before have
 * in common with the next, the shortest first. It depends on what is in them, and not on their order.
 */
#ifndef STATISTICS_COMMON_H
#define STATISTICS_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMMON_NONE 0 /* a key that is the same as no other */

enum { COMMON_EDITS = 1000 }; /* two that differ by more are too far apart */

struct common {
	struct common_seq {
		uint64_t *key;
		size_t n;
	} *seq;
	size_t n_seqs, room;
	uint32_t *at; /* n_seqs each: where the i-th common element stands */
	size_t n;
};

/* Room for so many keys in each, which the caller fills. -ENOMEM. */
int common_open(struct common *c, size_t n_seqs, size_t room);
void common_close(struct common *c);
/* open_end: they go on behind what is here. 1; 0: too far apart; -ENOMEM. */
int common_find(struct common *c, bool open_end);

#endif
