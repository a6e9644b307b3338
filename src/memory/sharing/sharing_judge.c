/* SPDX-License-Identifier: MIT */
/*
 * Derives the verdict on a line from its hits in order of time: from all of them, and from parts of
 * the time, since programs have phases.
 */
#include <math.h>
#include "memory/sharing/sharing_private.h"

double sharing_expected(struct sharing *s, const struct hit *h, size_t n)
{
	return n ? sharing_chance(s, h, NULL, n) * (double)(n - 1) : 0;
}

static bool fought_over(const struct sharing_line *l)
{
	return l->verdict == SHARING_FALSE || l->verdict == SHARING_TRUE ||
		l->verdict == SHARING_BOTH;
}

/* The confidence in a verdict, given the confidence in the owners of the bytes. */
static double bytes_confidence_of(const struct sharing_line *l)
{
	double confidence = l->bytes_confidence;

	if (l->sizes_open && confidence > SIZES_OPEN_CONFIDENCE)
		confidence = SIZES_OPEN_CONFIDENCE;
	if (l->in_turns)
		confidence *= l->steady;
	return l->in_turns && confidence > TURNS_CONFIDENCE ? TURNS_CONFIDENCE : confidence;
}

/* Fewer than a quarter of the switches of shuffled accesses: one thread after the other. */
static void judge(struct sharing *s, const struct hit *h, size_t n, struct sharing_line *l)
{
	uint64_t switches;
	double shown;
	bool few;

	sharing_switches(h, n, l);
	switches = l->switches_true + l->switches_false;
	l->expected = sharing_expected(s, h, n);
	few = switches < l->expected / 4 && l->hitm < l->expected / 4;
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
		l->verdict = SHARING_MIGRATORY;
		l->confidence = 1 -
			exp(switches - l->expected +
			    (switches ? switches * log(l->expected / switches) : 0));
		if (l->confidence > shown)
			l->confidence = shown;
		return;
	}
	if (switches < 2 || !sharing_kind(s, h, n, l))
		return;
	l->confidence = bytes_confidence_of(l);
}

/* One part of the hits. */
static struct sharing_line judge_part(struct sharing *s, const struct hit *h, size_t n)
{
	struct sharing_line part = { .samples = n, .part = n };

	for (size_t i = 0; i < n; i++)
		s->weight[h[i].thread] = 0;
	for (size_t i = 0; i < n; i++) {
		part.threads += !s->weight[h[i].thread]++;
		part.hitm += (h[i].flags & HIT_HITM) != 0;
	}
	if (part.threads > 1)
		judge(s, h, n, &part);
	return part;
}

enum { PART_LEAST = 16, TURNS_LEAST = 8 /* of two threads */ };

/* The weight of a part's verdict: threads that met there weigh more than threads that would. */
static int weight_of(const struct sharing_line *l)
{
	uint64_t switches = l->switches_true + l->switches_false;

	if (!fought_over(l))
		return 0;
	if (l->in_turns)
		return 1;
	return !l->part || (switches >= PART_LEAST && (double)switches >= l->expected / 2) ? 2 : 0;
}

/* Can its verdict weigh more? This rejects most parts at a fraction of the cost. */
static bool may_outweigh(struct sharing *s, const struct hit *h, size_t n, int weight)
{
	uint64_t moves = sharing_moves(h, n);

	if (!weight)
		return moves >= TURNS_LEAST;
	return moves >= PART_LEAST && (double)moves >= sharing_expected(s, h, n) / 2;
}

/*
 * Does a part have bytes with one owner where the whole run shows none, or shared bytes next to
 * them? Then it is too short to show who owns the bytes.
 */
static bool owns_what_is_shared(const struct sharing_line *whole, const struct sharing_line *part)
{
	return (whole->verdict == SHARING_TRUE && part->verdict != SHARING_TRUE) ||
		(whole->verdict == SHARING_BOTH && part->verdict == SHARING_FALSE);
}

/*
 * The confidence in the owners of the bytes for the first conclusive part of so many. Parts are
 * chosen by how the threads' accesses alternate, which is independent of the bytes. But the bytes
 * were examined in several parts, and any of them could have looked like this by chance. If the
 * whole run agrees, that confirms the part; if it shows shared bytes next to owned ones, not all of
 * the line's threads ran in this part.
 */
static double part_confidence(struct sharing *s, const struct hit *h, size_t n,
			      const struct sharing_line *whole, struct sharing_line *part,
			      size_t judged)
{
	double confidence = 1 - (1 - part->bytes_confidence) * (double)judged;
	struct sharing_line all = *whole;

	if (!fought_over(&all) && !sharing_kind(s, h, n, &all))
		return confidence;
	if (all.verdict == SHARING_BOTH && part->verdict != SHARING_BOTH) {
		part->verdict = SHARING_BOTH;
		part->sizes_open = all.sizes_open;
		return all.bytes_confidence;
	}
	return all.verdict == part->verdict && all.bytes_confidence > confidence
		? all.bytes_confidence
		: confidence;
}

/*
 * The strongest verdict of a part of the time, if it is stronger than that of the whole run. If the
 * owners of the bytes are uncertain, contention found in the whole run is kept; but absence of
 * contention is not reported.
 */
static void judge_parts(struct sharing *s, const struct hit *h, size_t n, struct sharing_line *l)
{
	enum { SMALLEST = 64, PARTS = 64 };
	struct sharing_line best = *l;
	size_t judged = 0;

	for (size_t length = n / 2;
	     length >= SMALLEST && length >= n / PARTS && weight_of(&best) < 2; length /= 2) {
		for (size_t at = 0; at + length <= n; at += length / 2) {
			struct sharing_line part;

			if (!may_outweigh(s, h + at, length, weight_of(&best)))
				continue;
			judged++;
			part = judge_part(s, h + at, length);
			if (weight_of(&part) > weight_of(&best))
				best = part;
		}
	}
	if (!best.part || owns_what_is_shared(l, &best))
		return;
	best.bytes_confidence = part_confidence(s, h, n, l, &best, judged);
	if (best.bytes_confidence < KIND_CONFIDENCE) {
		if (!fought_over(l)) {
			l->verdict = SHARING_UNCLEAR;
			l->in_turns = l->few_turns = false;
			l->few_bytes = true;
			l->confidence = 0;
		}
		return;
	}
	l->part = best.part;
	l->verdict = best.verdict;
	l->in_turns = best.in_turns;
	l->few_turns = l->few_bytes = false;
	l->steady = best.steady;
	l->sizes_open = best.sizes_open;
	l->bytes_confidence = best.bytes_confidence;
	l->confidence = bytes_confidence_of(l);
}

/* A few moves in the whole run, as when threads start and end, are negligible. */
static bool seldom(const struct sharing *s, const struct sharing_line *l)
{
	enum { MOVES = 8, ONE_IN = 100000 };
	uint64_t moves = l->switches_true + l->switches_false + l->hitm;

	return moves < MOVES || (l->in_turns ? l->samples : moves) < s->totals.used / ONE_IN;
}

void sharing_judge(struct sharing *s, const struct hit *h, size_t n, struct sharing_line *l)
{
	judge(s, h, n, l);
	if (weight_of(l) < 2 && !(l->verdict == SHARING_UNCLEAR && l->few_bytes))
		judge_parts(s, h, n, l);
	if (fought_over(l) && seldom(s, l)) {
		l->verdict = SHARING_UNCLEAR;
		l->seldom = true;
	}
}

/*
 * The owners of the bytes do not depend on the order, so any will do, except that in which the hits
 * came, since buffers are read one by one.
 */
void sharing_judge_untimed(struct sharing *s, struct hit *h, size_t n, struct sharing_line *l)
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
	if (l->switches_true + l->switches_false >= 2 && sharing_kind(s, h, n, l)) {
		l->kind = l->verdict;
		l->verdict = SHARING_UNTIMED;
	}
	l->switches_true = l->switches_false = 0;
}
