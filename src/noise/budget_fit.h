/* SPDX-License-Identifier: MIT */
/* For budget.c: find the series that a series of counts correlates with. */
#ifndef NOISE_BUDGET_FIT_H
#define NOISE_BUDGET_FIT_H

#include "noise/budget.h"

/*
 * Splits by observed causes; appends to out->part from out->parts on, with shares of these runs'
 * variance. -ENOMEM.
 */
int budget_fit(struct budget *out, const struct budget_runs *runs, struct tare_error *err);

/* A deterministic sequence, with no other state. */
static inline uint64_t budget_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

#endif
