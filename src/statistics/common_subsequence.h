/* SPDX-License-Identifier: MIT */
/*
 * The common subsequence of several sequences: for two, the longest one; for more, the longest
 * common subsequence of the previous result and the next sequence, the shortest first. It depends
 * on their contents, not on their order.
 */
#ifndef STATISTICS_COMMON_SUBSEQUENCE_H
#define STATISTICS_COMMON_SUBSEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SUBSEQUENCE_NONE 0 /* a key that is not equal to any other */

enum { SUBSEQUENCE_EDITS = 1000 }; /* two sequences that differ by more edits are too far apart */

struct subsequence {
	struct subsequence_seq {
		uint64_t *key;
		size_t n;
	} * seq;
	size_t n_seqs, room;
	uint32_t *at; /* n_seqs each: the index of the i-th common element */
	size_t n;
};

/* Room for this many keys in each sequence. The caller fills them in. -ENOMEM. */
int subsequence_open(struct subsequence *c, size_t n_seqs, size_t room);
void subsequence_close(struct subsequence *c);
/* open_end: the sequences continue after these keys. Returns 1; 0: too far apart; -ENOMEM. */
int subsequence_find(struct subsequence *c, bool open_end);

#endif
