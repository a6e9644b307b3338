/* SPDX-License-Identifier: MIT */
/*
 * How far behind the instruction that caused an event its samples lie. Pure: places of samples + a loop whose one cause is
 * known -> the distribution, and whether it is what the precise level promises.
 */
#ifndef VERIFY_SKID_H
#define VERIFY_SKID_H

#include <stdbool.h>
#include "arch/skid.h"

enum { SKID_MOST = 4096 /* instructions of a loop */ };

struct skid {
	const struct skid_loop *loop;
	uint64_t samples;
	uint64_t outside; /* in no instruction of the loop */
	uint64_t within;  /* in it, but where no instruction begins */
	uint64_t at[SKID_MOST]; /* by number of the instruction */
};

enum skid_shape {
	SKID_TOO_FEW,	/* samples to tell by */
	SKID_EXACT,	/* at the cause itself */
	SKID_NEXT,	/* at the instruction behind it */
	SKID_CONSTANT,	/* at one other, always the same */
	SKID_SPREAD,
};

/* In instructions and bytes behind the cause, on the way that the program takes; below 0: before it. */
struct skid_place {
	int64_t instructions, bytes;
};

struct skid_result {
	enum skid_shape shape;
	double exact, next, off; /* shares of all samples: at the cause; behind it by one; in no instruction of the loop */
	struct skid_place least, median, p99, most;
	bool kept; /* what the precise level promises */
};

void skid_begin(struct skid *s, const struct skid_loop *loop);
void skid_add(struct skid *s, uint64_t ip);
/* `level`: precise_ip, 0 to 3. */
void skid_judge(const struct skid *s, unsigned level, struct skid_result *out);

/* How far apart a timer's samples came, ns; `times` in order, and written over. False with fewer than 2. */
bool skid_intervals(uint64_t *times, size_t n, uint64_t *median, uint64_t *p99, uint64_t *most);

#endif
