/* SPDX-License-Identifier: MIT */
/*
 * How values lie, in little memory whatever their number: exact while there are few, then counted in buckets of which
 * each is at most 1/64 of its values wide. Zero-initialise.
 */
#ifndef STATISTICS_DISTRIBUTION_H
#define STATISTICS_DISTRIBUTION_H

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

/* Where a value is counted. */
struct distribution_place {
	unsigned octave, sub;
};

static inline struct distribution_place distribution_place(uint64_t v)
{
	enum { SUB_BITS = 6 }; /* log2 of DISTRIBUTION_BUCKETS */
	unsigned e;

	if (v < DISTRIBUTION_BUCKETS)
		return (struct distribution_place){ 0, (unsigned)v };
	e = 63 - (unsigned)__builtin_clzll(v) - SUB_BITS;
	return (struct distribution_place){ e + 1, (unsigned)(v >> e) & (DISTRIBUTION_BUCKETS - 1) };
}

/* For one value more; without buckets it is where it belongs then. false: out of memory. */
bool distribution_make_room(struct distribution *d, uint64_t v);
/* false: out of memory, and not added. */
static inline bool distribution_add(struct distribution *d, uint64_t v)
{
	struct distribution_place at = distribution_place(v);

	if (__builtin_expect(!d->octave || !d->octave[at.octave], 0) && !distribution_make_room(d, v))
		return false;
	if (d->octave)
		d->octave[at.octave][at.sub]++;
	if (d->n == 0 || v < d->min)
		d->min = v;
	if (v > d->max)
		d->max = v;
	d->n++;
	return true;
}
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
