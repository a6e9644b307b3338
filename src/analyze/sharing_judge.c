/* SPDX-License-Identifier: MIT */
/* What a line's hits, in order of time, say of it. */
#include <math.h>
#include "analyze/sharing_private.h"

enum { WORD = 8 };

/* The most that is said where an access may be wider than it looks. */
#define SIZES_OPEN_SURE 0.9

/* Bytes of an access that does not say how many: up to its word's end. */
static unsigned last_byte(const struct hit *h)
{
	return h->size ? h->offset + h->size - 1u : h->offset | (WORD - 1);
}

static bool same_bytes(const struct hit *a, const struct hit *b)
{
	if (!a->size && !b->size)
		return a->offset == b->offset;
	return a->offset <= last_byte(b) && b->offset <= last_byte(a);
}

/* If one whose size is not told were as wide as they come. */
static bool may_be_same_bytes(const struct hit *a, const struct hit *b)
{
	const struct hit *low = a->offset < b->offset ? a : b, *high = low == a ? b : a;

	return !low->size && high->offset - low->offset < SHARING_WIDE;
}

/* Who uses the bytes that begin at an offset. */
struct owner {
	uint32_t thread; /* the most frequent, if one has more than half */
	uint32_t lead;
	size_t hits, his;
};

static bool owned(const struct owner *o)
{
	return o->his >= o->hits * 0.9; /* what another thread's initialisation or summing up leaves */
}

static void find_owners(const struct hit *h, size_t n, struct owner *of)
{
	for (size_t i = 0; i < n; i++) { /* Boyer and Moore's vote */
		struct owner *o = &of[h[i].offset];

		if (!o->lead)
			o->thread = h[i].thread;
		o->lead = o->thread == h[i].thread ? o->lead + 1 : o->lead - 1;
		o->hits++;
	}
	for (size_t i = 0; i < n; i++)
		of[h[i].offset].his += of[h[i].offset].thread == h[i].thread;
}

void sharing_switches(const struct hit *h, size_t n, struct sharing_line *l)
{
	struct owner of[UINT8_MAX + 1] = { 0 };

	find_owners(h, n, of);
	l->switches_true = l->switches_false = l->switches_open = 0;
	for (size_t i = 1; i < n; i++) {
		if (h[i].thread == h[i - 1].thread || !((h[i].flags | h[i - 1].flags) & HIT_STORE))
			continue;
		if (same_bytes(&h[i], &h[i - 1]) || (!owned(&of[h[i].offset]) && !owned(&of[h[i - 1].offset])))
			l->switches_true++;
		else
			l->switches_false++, l->switches_open += may_be_same_bytes(&h[i], &h[i - 1]);
	}
}

double sharing_expected(struct sharing *s, const struct hit *h, size_t n)
{
	double pairs = 0, readers = 0, all = (double)n * (n - 1) / 2, same = 0, same_readers = 0, loads = 0;

	for (int stores = 0; stores < 2; stores++) {
		for (size_t i = 0; i < n; i++)
			s->weight[h[i].thread] = 0;
		for (size_t i = 0; i < n; i++) {
			if (!stores && h[i].flags & HIT_STORE)
				continue;
			/* pairs within one thread, one more with each hit before this one */
			*(stores ? &same : &same_readers) += s->weight[h[i].thread]++;
			loads += !stores;
		}
	}
	readers = loads * (loads - 1) / 2 - same_readers; /* of different threads, nobody stores */
	pairs = all - same - readers;
	return all > 0 ? pairs / all * (double)(n - 1) : 0;
}

/* Chance of at least k heads of n coins, or for many a bound above it (Hoeffding's). */
static double at_least(uint64_t k, uint64_t n)
{
	enum { MANY = 1000 };
	double sum = 0, excess = (double)k / n - 0.5;

	if (n > MANY)
		return excess > 0 ? exp(-2.0 * n * excess * excess) : 1;
	for (uint64_t i = k; i <= n; i++)
		sum += exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) - n * M_LN2);
	return sum < 1 ? sum : 1;
}

/* ---- verdicts ---- */

/*
 * Fewer than a quarter of the switches that shuffled accesses would have: one thread after the other. Of the switches, a
 * tenth of the other kind is what one thread's initialisation and one thread's summing up leave.
 */
static void kind_of(struct sharing_line *l)
{
	uint64_t switches = l->switches_true + l->switches_false, minor = l->switches_true < l->switches_false ? l->switches_true : l->switches_false;

	l->verdict = minor > switches * 0.1 && minor >= 3 ? SHARING_BOTH : l->switches_true > l->switches_false ? SHARING_TRUE : SHARING_FALSE;
	/* that the kind is right: against a mixture in which both were equally frequent */
	l->sure = l->verdict == SHARING_BOTH ? 1 - exp(-(double)minor) : 1 - at_least(switches - minor, switches);
	l->sizes_open = l->verdict != SHARING_TRUE && l->switches_open > l->switches_false * 0.1;
	if (l->sizes_open && l->sure > SIZES_OPEN_SURE)
		l->sure = SIZES_OPEN_SURE;
}

void sharing_judge(struct sharing *s, const struct hit *h, size_t n, struct sharing_line *l)
{
	uint64_t switches;
	double shown;
	bool few;

	sharing_switches(h, n, l);
	switches = l->switches_true + l->switches_false;
	l->expected = sharing_expected(s, h, n);
	few = switches < l->expected / 4 && l->modified < l->expected / 4;
	l->verdict = SHARING_UNCLEAR;
	if (l->expected > 0 && l->expected < 2)
		return;
	if (few)
		sharing_turns(s, h, n, l);
	if (l->in_turns && l->few_turns)
		return;
	if (few && !l->in_turns) {
		l->few_turns = !sharing_handed_over(s, h, n, l, &shown);
		if (l->few_turns)
			return;
		l->verdict = SHARING_HANDED_OVER;
		l->sure = 1 - exp(switches - l->expected + (switches ? switches * log(l->expected / switches) : 0));
		if (l->sure > shown)
			l->sure = shown;
		return;
	}
	if (switches < 2)
		return;
	kind_of(l);
	if (l->in_turns) {
		l->sure *= l->steady;
		if (l->sure > TURNS_SURE)
			l->sure = TURNS_SURE;
	}
}

/* Whose bytes are whose does not depend on the order: any will do, but that in which they came, as buffers are read one by one. */
void sharing_judge_untimed(struct hit *h, size_t n, struct sharing_line *l)
{
	uint64_t seed = 88172645463325252ull;

	for (size_t i = n; i > 1; i--) {
		struct hit swap = h[i - 1];
		size_t k;

		seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
		k = seed % i;
		h[i - 1] = h[k];
		h[k] = swap;
	}
	sharing_switches(h, n, l);
	l->verdict = SHARING_UNCLEAR;
	if (l->switches_true + l->switches_false >= 2) {
		kind_of(l);
		l->kind = l->verdict;
		l->verdict = SHARING_UNTIMED;
	}
	l->switches_true = l->switches_false = 0;
}
