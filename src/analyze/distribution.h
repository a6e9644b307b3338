/* SPDX-License-Identifier: MIT */
/*
 * How values lie, in little memory whatever their number: exact while there are few, then counted in buckets of which
 * each is at most 1/64 of its values wide. Zero-initialise.
 */
#ifndef ANALYZE_DISTRIBUTION_H
#define ANALYZE_DISTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DISTRIBUTION_FEW = 256,	    /* values kept as they are */
	DISTRIBUTION_BUCKETS = 64,  /* per doubling */
	DISTRIBUTION_OCTAVES = 59,  /* values below 64 have a bucket each, then one octave per doubling */
};

struct distribution {
	uint64_t n, min, max;
	uint64_t *few;	    /* all of them, while n <= DISTRIBUTION_FEW; NULL while min and max say it */
	uint64_t **octave;  /* after that: DISTRIBUTION_OCTAVES arrays of counts, NULL where none fell */
};

bool distribution_add(struct distribution *d, uint64_t v); /* false: out of memory, and not added */
/* A value is about to be added: the memory where it will stand is asked for. */
static inline void distribution_coming(const struct distribution *d)
{
	if (d->few)
		__builtin_prefetch(&d->few[d->n], 1);
}
bool distribution_merge(struct distribution *into, const struct distribution *from);

/*
 * The value that a share of q of all do not exceed: that at rank ceil(q * n), the least with q = 0. *error (may be NULL)
 * is how far it can be off: 0 where it is exact, else at most 1/128 of it. n >= 1.
 */
uint64_t distribution_quantile(const struct distribution *d, double q, uint64_t *error);
/* The same for the value at a rank, 1 to n. */
uint64_t distribution_at(const struct distribution *d, uint64_t rank, uint64_t *error);
/* How many are below v, which must be a power of two, or 0 or 1: exact. */
uint64_t distribution_below(const struct distribution *d, uint64_t v);
void distribution_free(struct distribution *d);

#endif
