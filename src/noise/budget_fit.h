/* SPDX-License-Identifier: MIT */
/* For budget.c: which of some series a series of counts moves with. */
#ifndef NOISE_BUDGET_FIT_H
#define NOISE_BUDGET_FIT_H

#include "noise/budget.h"

/* Splits by what was seen; parts of out->part from out->parts on, shares of these runs' own variance. -ENOMEM. */
int budget_fit(struct budget *out, const struct budget_runs *runs, struct tare_error *err);

/* The same sequence each time: no clock, no state but its own. */
static inline uint64_t budget_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

#endif
