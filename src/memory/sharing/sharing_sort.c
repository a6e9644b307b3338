/* SPDX-License-Identifier: MIT */
/*
 * Sorts millions of hits in place, without extra memory: by line and time, then each line's hits by
 * bytes. The sort is not stable.
 *
 * Source: McIlroy, Bostic and McIlroy, "Engineering Radix Sort" (1993), the American flag sort.
 */
#include "memory/sharing/sharing_private.h"

enum { FEW = 24, BUCKETS = 256, LEVELS = 3 };

/* The first, second and last sort key. */
static uint64_t key(const struct hit *h, enum sharing_order order, unsigned level)
{
	uint64_t bytes = (uint64_t)h->offset << 32 | h->thread;

	if (order == BY_LINE_AND_TIME)
		return level == 0 ? h->line : level == 1 ? h->time : bytes << 8 | h->flags;
	return level == 0 ? bytes : level == 1 ? (uint64_t)h->ip << 16 | h->size : 0;
}

static bool is_after(const struct hit *a, const struct hit *b, enum sharing_order order,
		     unsigned level)
{
	for (; level < LEVELS; level++) {
		uint64_t ka = key(a, order, level), kb = key(b, order, level);

		if (ka != kb)
			return ka > kb;
	}
	return false;
}

static void insert(struct hit *h, size_t n, enum sharing_order order, unsigned level)
{
	for (size_t i = 1; i < n; i++) {
		struct hit one = h[i];
		size_t k = i;

		for (; k && is_after(&h[k - 1], &one, order, level); k--)
			h[k] = h[k - 1];
		h[k] = one;
	}
}

/* Moves each hit to its bucket; end[] are the ends of the buckets, of the given sizes. */
static void deal(struct hit *h, enum sharing_order order, unsigned level, uint64_t low,
		 unsigned shift, size_t end[BUCKETS])
{
	size_t next[BUCKETS], at = 0;

	for (size_t b = 0; b < BUCKETS; b++) {
		next[b] = at;
		end[b] = at += end[b];
	}
	for (size_t b = 0; b < BUCKETS; b++) {
		while (next[b] < end[b]) {
			size_t to = (key(&h[next[b]], order, level) - low) >> shift;
			struct hit *a = &h[next[b]], *other = &h[next[to]++], one = *a;

			*a = *other;
			*other = one;
		}
	}
}

static void sort(struct hit *h, size_t n, enum sharing_order order, unsigned level)
{
	uint64_t low = UINT64_MAX, high = 0;
	size_t end[BUCKETS] = { 0 }, sorted = 1;
	unsigned shift = 0;

	while (sorted < n && !is_after(&h[sorted - 1], &h[sorted], order, level))
		sorted++;
	if (sorted >= n)
		return;
	if (n <= FEW) {
		insert(h, n, order, level);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t k = key(&h[i], order, level);

		low = k < low ? k : low;
		high = k > high ? k : high;
	}
	if (low == high) { /* not the last level, which is not sorted */
		sort(h, n, order, level + 1);
		return;
	}
	while ((high - low) >> shift >= BUCKETS)
		shift++;
	for (size_t i = 0; i < n; i++)
		end[(key(&h[i], order, level) - low) >> shift]++;
	deal(h, order, level, low, shift, end);
	for (size_t b = 0, at = 0; b < BUCKETS; at = end[b++])
		sort(h + at, end[b] - at, order, level);
}

void sharing_sort(struct hit *h, size_t n, enum sharing_order order)
{
	sort(h, n, order, 0);
}
