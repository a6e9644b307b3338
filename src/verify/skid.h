/* SPDX-License-Identifier: MIT */
/*
 * The distance (skid) of samples from the instruction that caused their event. Pure: addresses of
 * samples + a loop with one known cause -> the distribution, and whether it keeps the promise of
 * the precise level.
 */
#ifndef VERIFY_SKID_H
#define VERIFY_SKID_H

#include <stdbool.h>
#include "arch/skid.h"

enum { SKID_MOST = 4096 /* instructions of a loop */ };

struct skid {
	const struct skid_loop *loop;
	uint64_t samples;
	uint64_t outside;       /* in no instruction of the loop */
	uint64_t within;        /* in it, but not at the start of an instruction */
	uint64_t at[SKID_MOST]; /* by index of the instruction */
};

enum skid_shape {
	SKID_TOO_FEW,  /* too few samples for a verdict */
	SKID_EXACT,    /* at the cause itself */
	SKID_NEXT,     /* at the instruction after it */
	SKID_CONSTANT, /* at one other instruction, always the same */
	SKID_SPREAD,
};

/* Instructions and bytes after the cause, in execution order; negative: before it. */
struct skid_place {
	int64_t instructions, bytes;
};

struct skid_result {
	enum skid_shape shape;
	double exact, next,
		/*
		 * fractions of all samples: at the cause; one instruction after it; in no
		 * instruction of the loop
		 */
		off;
	struct skid_place least, median, p99, most;
	bool kept; /* the promise of the precise level */
};

void skid_begin(struct skid *s, const struct skid_loop *loop);
void skid_add(struct skid *s, uint64_t ip);
/* `level`: precise_ip, 0 to 3. */
void skid_judge(const struct skid *s, unsigned level, struct skid_result *out);

/*
 * The interval between a timer's samples in ns; `times` is in order, and is overwritten. False with
 * fewer than 2.
 */
bool skid_intervals(uint64_t *times, size_t n, uint64_t *median, uint64_t *p99, uint64_t *most);

#endif
