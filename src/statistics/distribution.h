/* SPDX-License-Identifier: MIT */
/*
 * A distribution of values in bounded memory: exact for a few values, then counted in buckets with
 * a width of at most 1/64 of their values. Zero-initialise.
 */
#ifndef STATISTICS_DISTRIBUTION_H
#define STATISTICS_DISTRIBUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DISTRIBUTION_FEW = 256,    /* number of values stored exactly */
	DISTRIBUTION_BUCKETS = 64, /* per octave */
	/* values below 64 have a bucket each; then one octave per doubling */
	DISTRIBUTION_OCTAVES = 59,
};

struct distribution {
	uint64_t n, min, max;
	/* all values, while n <= DISTRIBUTION_FEW; NULL while min and max are sufficient */
	uint64_t *few;
	uint64_t **octave; /* after that: DISTRIBUTION_OCTAVES arrays of counts, NULL if empty */
};

/* The bucket of a value. */
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
	return (struct distribution_place){ e + 1,
					    (unsigned)(v >> e) & (DISTRIBUTION_BUCKETS - 1) };
}

/* Make room for one more value; without buckets, returns its place. false: out of memory. */
bool distribution_make_room(struct distribution *d, uint64_t v);
/* false: out of memory, and not added. */
static inline bool distribution_add(struct distribution *d, uint64_t v)
{
	struct distribution_place at = distribution_place(v);

	if (__builtin_expect(!d->octave || !d->octave[at.octave], 0) &&
	    !distribution_make_room(d, v))
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
/* Prefetch the memory for a value that is about to be added. */
static inline void distribution_coming(const struct distribution *d)
{
	if (d->few)
		__builtin_prefetch(&d->few[d->n], 1);
}
bool distribution_merge(struct distribution *into, const struct distribution *from);

/*
 * The quantile q: the value at rank ceil(q * n); the minimum for q = 0. *error (may be NULL) is the
 * largest error: 0 if it is exact, else at most 1/128 of the value. n >= 1.
 */
uint64_t distribution_quantile(const struct distribution *d, double q, uint64_t *error);
/* The same for the value at a rank, 1 to n. */
uint64_t distribution_at(const struct distribution *d, uint64_t rank, uint64_t *error);
/* The number of values below v, which must be a power of two, or 0 or 1: exact. */
uint64_t distribution_below(const struct distribution *d, uint64_t v);
void distribution_free(struct distribution *d);

#endif
