/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "statistics/distribution.h"

/* The lowest value of a bucket; *width is the number of its values. */
static uint64_t lowest(struct distribution_place b, uint64_t *width)
{
	if (b.octave == 0) {
		*width = 1;
		return b.sub;
	}
	*width = UINT64_C(1) << (b.octave - 1);
	return (uint64_t)(DISTRIBUTION_BUCKETS + b.sub) << (b.octave - 1);
}

static bool has_octave(struct distribution *d, unsigned octave)
{
	if (!d->octave[octave])
		d->octave[octave] = calloc(DISTRIBUTION_BUCKETS, sizeof(**d->octave));
	return d->octave[octave];
}

static bool count(struct distribution *d, uint64_t v, uint64_t times)
{
	struct distribution_place b = distribution_place(v);

	if (!has_octave(d, b.octave))
		return false;
	d->octave[b.octave][b.sub] += times;
	return true;
}

static bool to_buckets(struct distribution *d)
{
	if (d->octave)
		return true;
	d->octave = calloc(DISTRIBUTION_OCTAVES, sizeof(*d->octave));
	for (uint64_t i = 0; d->octave && i < d->n; i++)
		if (!count(d, d->few[i], 1))
			return false;
	if (!d->octave)
		return false;
	free(d->few);
	d->few = NULL;
	return true;
}

static bool keep(struct distribution *d, uint64_t v)
{
	if (d->n < 2) /* in recordings with many labels, most occur once or twice */
		return true;
	if (!array_one_more(&d->few, d->n == 2 ? 0 : d->n, sizeof(*d->few)))
		return false;
	if (d->n == 2) {
		d->few[0] = d->min;
		d->few[1] = d->max;
	}
	d->few[d->n] = v;
	return true;
}

bool distribution_make_room(struct distribution *d, uint64_t v)
{
	if (d->n < DISTRIBUTION_FEW)
		return keep(d, v);
	return to_buckets(d) && has_octave(d, distribution_place(v).octave);
}

bool distribution_merge(struct distribution *into, const struct distribution *from)
{
	if (!from->octave) {
		for (uint64_t i = 0; i < from->n; i++)
			if (!distribution_add(into,
					      from->few   ? from->few[i]
						      : i ? from->max
							  : from->min))
				return false;
		return true;
	}
	if (!to_buckets(into))
		return false;
	for (unsigned o = 0; o < DISTRIBUTION_OCTAVES; o++)
		for (unsigned s = 0; from->octave[o] && s < DISTRIBUTION_BUCKETS; s++) {
			uint64_t width;

			if (from->octave[o][s] &&
			    !count(into, lowest((struct distribution_place){ o, s }, &width),
				   from->octave[o][s]))
				return false;
		}
	if (into->n == 0 || from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
	into->n += from->n;
	return true;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

uint64_t distribution_quantile(const struct distribution *d, double q, uint64_t *error)
{
	uint64_t rank = (uint64_t)ceil(q * (double)d->n);

	return distribution_at(d, rank < 1 ? 1 : rank > d->n ? d->n : rank, error);
}

uint64_t distribution_at(const struct distribution *d, uint64_t rank, uint64_t *error)
{
	uint64_t below = 0, ignored;

	error = error ? error : &ignored;
	*error = 0;
	if (rank == 1 || rank == d->n)
		return rank == 1 ? d->min : d->max;
	if (!d->octave) {
		qsort(d->few, d->n, sizeof(*d->few), by_value);
		return d->few[rank - 1];
	}
	for (unsigned o = 0; o < DISTRIBUTION_OCTAVES; o++)
		for (unsigned s = 0; d->octave[o] && s < DISTRIBUTION_BUCKETS; s++) {
			uint64_t width, low, high;

			below += d->octave[o][s];
			if (below < rank)
				continue;
			low = lowest((struct distribution_place){ o, s }, &width);
			high = low + (width - 1);
			low = low < d->min ? d->min : low; /* min and max make the range narrower */
			high = high > d->max ? d->max : high;
			*error = (high - low + 1) / 2;
			return low + (high - low) / 2;
		}
	return d->max;
}

uint64_t distribution_below(const struct distribution *d, uint64_t v)
{
	uint64_t n = 0;

	if (!d->octave && !d->few)
		return (d->n > 0 && d->min < v) + (d->n > 1 && d->max < v);
	if (!d->octave) {
		for (uint64_t i = 0; i < d->n; i++)
			n += d->few[i] < v;
		return n;
	}
	for (unsigned o = 0; o < DISTRIBUTION_OCTAVES; o++)
		for (unsigned s = 0; d->octave[o] && s < DISTRIBUTION_BUCKETS; s++) {
			uint64_t width;

			/* no bucket contains values on both sides of a power of two */
			if (lowest((struct distribution_place){ o, s }, &width) < v)
				n += d->octave[o][s];
		}
	return n;
}

void distribution_free(struct distribution *d)
{
	for (unsigned o = 0; d->octave && o < DISTRIBUTION_OCTAVES; o++)
		free(d->octave[o]);
	free(d->octave);
	free(d->few);
	*d = (struct distribution){ 0 };
}
