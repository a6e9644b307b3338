/* SPDX-License-Identifier: MIT */
/*
 * Finds the owner of each byte, with its confidence. A byte seen once is no evidence: one thread
 * owns it if it is used in several turns, each time by the same thread, and others had the line in
 * between. Bytes that several threads use and (almost) none writes are as separate as owned ones:
 * no thread would take them from another if the bytes next to them were not written.
 *
 * For each access to bytes that were used in an earlier turn: did the bytes come from another
 * thread, with one of the two storing? If all threads used all bytes, that would be as frequent as
 * between any two accesses of the line. For owned bytes it never happens, except for initialization
 * and summing up.
 */
#include <math.h>
#include <stdlib.h>
#include "memory/sharing/sharing_private.h"

enum { WORD = 8 };

/*
 * Bytes count as owned if they come from another thread less often than this fraction of the rate
 * by chance.
 */
#define OWN_PART 0.2
/* ... and the fraction that initializing and summing up may add. */
#define LEFT_PART 0.1
/*
 * Shared bytes come from another thread in at least this fraction of the rate by chance, even in
 * turns.
 */
#define TURN_PART 0.5
/*
 * With at least this fraction of the line's accesses to separate bytes it is false sharing as well
 * as true; a verdict of true allows for up to twice as many.
 */
#define BOTH_PART 0.15

/* The bytes of an access of unknown size: up to the end of its word. */
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

/* If an access of unknown size were as wide as possible. */
static bool may_be_same_bytes(const struct hit *a, const struct hit *b)
{
	const struct hit *low = a->offset < b->offset ? a : b, *high = low == a ? b : a;

	return !low->size && high->offset - low->offset < SHARING_WIDE;
}

/* Who uses the bytes that begin at an offset, and how. */
struct owner {
	uint32_t thread; /* the most frequent thread, if it has more than half */
	uint32_t lead;
	size_t hits, his, stores;
	size_t pairs,
		/*
		 * accesses that met earlier ones of another turn; of those, came from another
		 * thread: each counted once in a turn
		 */
		changes;
	size_t all_pairs, all_changes; /* ... and each as often as it was made */
	size_t seen;                   /* turns */
	uint32_t last;                 /* of `seen`, the latest plus one; 0: none */
	bool counts, changed; /* the latest: met an earlier one; which was of another thread */
	bool met;             /* some access of another turn is to the same bytes */
	bool shared;          /* other threads may take them from another */
};

bool sharing_apart(uint64_t hits, uint64_t his, uint64_t stores)
{
	uint64_t others = hits - his;

	return 10 * (others < stores ? others : stores) <= hits;
}

static bool apart(const struct owner *o)
{
	return !o->shared && sharing_apart(o->hits, o->his, o->stores);
}

static void find_owners(const struct hit *h, size_t n, struct owner *of)
{
	for (size_t i = 0; i < n; i++) { /* Boyer-Moore majority vote */
		struct owner *o = &of[h[i].offset];

		if (!o->lead)
			o->thread = h[i].thread;
		o->lead = o->thread == h[i].thread ? o->lead + 1 : o->lead - 1;
		o->hits++;
		o->stores += (h[i].flags & HIT_STORE) != 0;
	}
	for (size_t i = 0; i < n; i++)
		of[h[i].offset].his += of[h[i].offset].thread == h[i].thread;
}

uint64_t sharing_moves(const struct hit *h, size_t n)
{
	uint64_t moves = 0;

	for (size_t i = 1; i < n; i++)
		moves += h[i].thread != h[i - 1].thread &&
			(h[i].flags | h[i - 1].flags) & HIT_STORE;
	return moves;
}

void sharing_switches(const struct hit *h, size_t n, struct sharing_line *l)
{
	l->switches_true = l->switches_false = l->switches_open = 0;
	for (size_t i = 1; i < n; i++) {
		if (h[i].thread == h[i - 1].thread || !((h[i].flags | h[i - 1].flags) & HIT_STORE))
			continue;
		if (same_bytes(&h[i], &h[i - 1]))
			l->switches_true++;
		else
			l->switches_false++,
				l->switches_open += may_be_same_bytes(&h[i], &h[i - 1]);
	}
}

/* ---- accesses, counted once in a turn ---- */

static uint32_t thread_of(const struct hit *h, const struct seen *seen, size_t i)
{
	return h[seen ? seen[i].hit : i].thread;
}

static bool stores(const struct hit *h, const struct seen *seen, size_t i)
{
	return seen ? seen[i].stored : h[i].flags & HIT_STORE;
}

double sharing_chance(struct sharing *s, const struct hit *h, const struct seen *seen, size_t n)
{
	double all = (double)n * ((double)n - 1) / 2, same = 0, same_readers = 0, loads = 0,
	       readers;

	for (size_t i = 0; i < n; i++)
		s->weight[2 * thread_of(h, seen, i)] = s->weight[2 * thread_of(h, seen, i) + 1] = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t *of = &s->weight[2 *
					  thread_of(h, seen,
						    /*
					   * hits, and those that only read: each adds one pair
					   * within its thread for every one before it
					   */
						    i)];

		same += of[0]++;
		if (!stores(h, seen, i)) {
			same_readers += of[1]++;
			loads++;
		}
	}
	/* Of different threads, without a store */
	readers = loads * (loads - 1) / 2 - same_readers;
	return all > 0 ? (all - same - readers) / all : 0;
}

/* What a thread does to a range of bytes before another thread gets the line counts once. */
static size_t once_a_turn(const struct hit *h, size_t n, struct seen *seen)
{
	uint32_t last[UINT8_MAX + 1] = { 0 }; /* index in `seen` plus one */
	uint32_t turn = 0;
	size_t m = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t *at = &last[h[i].offset];

		turn += i && h[i].thread != h[i - 1].thread;
		if (*at && seen[*at - 1].turn == turn && h[seen[*at - 1].hit].size == h[i].size) {
			seen[*at - 1].stored |= (h[i].flags & HIT_STORE) != 0;
			continue;
		}
		seen[m++] = (struct seen){ .hit = (uint32_t)i,
					   .turn = turn & INT32_MAX,
					   .stored = (h[i].flags & HIT_STORE) != 0 };
		*at = (uint32_t)m;
	}
	return m;
}

/* The latest earlier access in `seen` to any of these bytes, plus one; 0: none. */
static uint32_t met_before(const struct hit *now, const struct hit *h, const struct seen *seen,
			   const struct owner *of, const uint8_t *used, unsigned n_used)
{
	uint32_t before = 0;

	for (unsigned k = 0; k < n_used; k++) {
		uint32_t last = of[used[k]].last;

		if (last > before && same_bytes(now, &h[seen[last - 1].hit]))
			before = last;
	}
	return before;
}

/*
 * For each access the latest earlier one to any of its bytes; one in the same turn is no evidence.
 */
static void meet(const struct hit *h, size_t n, const struct seen *seen, size_t m, struct owner *of)
{
	uint8_t used[UINT8_MAX + 1]; /* offsets */
	unsigned n_used = 0;
	size_t next = 0;

	for (size_t i = 0; i < n; i++) {
		struct owner *o = &of[h[i].offset];
		const struct seen *now = &seen[next];
		uint32_t before;

		if (next == m || now->hit != i) { /* again in its turn */
			o->all_pairs += o->counts;
			o->all_changes += o->changed;
			continue;
		}
		before = met_before(&h[i], h, seen, of, used, n_used);
		if (!o->seen++)
			used[n_used++] = h[i].offset;
		o->last = (uint32_t)++next;
		o->counts = before-- && seen[before].turn != now->turn;
		o->changed = o->counts && h[i].thread != h[seen[before].hit].thread &&
			(now->stored | seen[before].stored);
		if (!o->counts)
			continue;
		o->met = of[h[seen[before].hit].offset].met = true;
		o->pairs++;
		o->changes += o->changed;
		o->all_pairs++;
		o->all_changes += o->changed;
	}
}

/* ---- confidence ---- */

/*
 * Logarithm of a Chernoff bound on the probability of k or fewer (or k or more) of n, each with
 * probability p.
 */
static double log_at_most(double k, double n, double p)
{
	double part = n > 0 ? k / n : 1;

	if (part >= p)
		return 0;
	return -n *
		((part > 0 ? part * log(part / p) : 0) + (1 - part) * log((1 - part) / (1 - p)));
}

static double log_at_least(double k, double n, double p)
{
	return log_at_most(n - k, n, 1 - p);
}

static int by_size(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

/*
 * A first estimate, without confidence. Bytes that are sometimes written also show a few loads by
 * several threads, so these need more samples than bytes of one thread.
 */
static bool looks_apart(const struct owner *o, double chance)
{
	double changes = OWN_PART * chance * (double)o->pairs; /* if they were at the limit */
	bool own = sharing_apart(o->hits, o->his, o->hits);

	return apart(o) && (double)o->changes < changes && (own || changes > 0.7);
}

/*
 * The probability that bytes only look as if no thread took them from another: for any choice of so
 * many, if all threads used them all. Bytes without enough evidence are marked as shared. `part`:
 * the fraction of accesses that are to separate bytes.
 */
static double own_by_chance(struct owner *of, size_t m, double chance, double *part)
{
	double each[UINT8_MAX + 1], sum = 0, best = 0, limit = 1;
	size_t n = 0, candidates = 0, accesses = 0;

	for (size_t i = 0; i <= UINT8_MAX; i++) {
		double p = log_at_most((double)of[i].changes, (double)of[i].pairs,
				       OWN_PART * chance);

		candidates += of[i].pairs != 0;
		if (apart(&of[i]) && p < 0)
			each[n++] = p;
	}
	qsort(each, n, sizeof(*each), by_size);
	for (size_t k = 0; k < n; k++) {
		double all;

		sum += each[k];
		all = sum + lgamma(candidates + 1.0) - lgamma(k + 2.0) -
			lgamma((double)(candidates - k));
		if (all < best)
			best = all, limit = each[k];
	}
	for (size_t i = 0; i <= UINT8_MAX; i++) {
		of[i].shared = !apart(&of[i]) ||
			log_at_most((double)of[i].changes, (double)of[i].pairs, OWN_PART * chance) >
				(limit < 0 ? limit : -INFINITY);
		if (!of[i].shared)
			accesses += of[i].seen;
	}
	*part = (double)accesses / (double)m;
	return exp(best);
}

/*
 * Do most of the accesses of each main user of the line meet others? Bytes seen once may belong to
 * any thread.
 */
static bool most_meet(struct sharing *s, const struct hit *h, const struct seen *seen, size_t m,
		      const struct owner *of, uint32_t threads)
{
	bool most = true;

	for (size_t i = 0; i < m; i++)
		s->use[h[seen[i].hit].thread] = (struct use){ 0 };
	for (size_t i = 0; i < m; i++) {
		struct use *u = &s->use[h[seen[i].hit].thread];

		u->n++;
		u->idle += !of[h[seen[i].hit].offset].met;
	}
	for (size_t i = 0; i < m; i++) {
		const struct use *u = &s->use[h[seen[i].hit].thread];

		most &= u->n < (double)m / (4.0 * threads) || 2 * u->idle <= u->n;
	}
	for (size_t i = 0; i < m; i++)
		s->use[h[seen[i].hit].thread] = (struct use){ 0 };
	return most;
}

bool sharing_kind(struct sharing *s, const struct hit *h, size_t n, struct sharing_line *l)
{
	struct owner of[UINT8_MAX + 1] = { 0 };
	size_t m = once_a_turn(h, n, s->seen);
	double pairs = 0, changes = 0, all_pairs = 0, all_changes = 0, alone = 0,
	       chance = sharing_chance(s, h, s->seen, m), by_chance, part, none, by_turns = 0;

	find_owners(h, n, of);
	meet(h, n, s->seen, m, of);
	for (size_t i = 0; i <= UINT8_MAX; i++) {
		pairs += (double)of[i].pairs;
		changes += (double)of[i].changes;
		all_pairs += (double)of[i].all_pairs;
		all_changes += (double)of[i].all_changes;
		alone += looks_apart(&of[i], chance) ? (double)of[i].pairs : 0;
	}
	l->few_bytes = true;
	if (pairs < 2)
		return false;
	if (changes < OWN_PART * chance * pairs && most_meet(s, h, s->seen, m, of, l->threads)) {
		l->verdict = SHARING_FALSE;
		by_turns = exp(log_at_most(changes, pairs, TURN_PART * chance));
		l->confidence = 1 - exp(log_at_most(all_changes, all_pairs, OWN_PART * chance)) -
			by_turns;
	} else {
		by_chance = own_by_chance(of, m, chance, &part);
		none = exp(
			log_at_least(changes, pairs, LEFT_PART * chance)); /* nothing is shared */
		if (part >= BOTH_PART && by_chance < 1 - KIND_CONFIDENCE) {
			l->verdict = SHARING_BOTH;
			l->confidence = 1 - by_chance - none;
		} else {
			l->verdict = SHARING_TRUE;
			l->confidence = 1 - exp(log_at_most(alone, pairs, 2 * BOTH_PART)) - none;
		}
	}
	l->sizes_open = l->verdict != SHARING_TRUE && l->switches_open > l->switches_false * 0.1;
	l->few_bytes = false;
	if (l->confidence < KIND_CONFIDENCE) {
		l->verdict = SHARING_UNCLEAR;
		l->few_turns = l->in_turns &&
			/* more samples in them would not help */
			l->confidence + by_turns >= KIND_CONFIDENCE;
		l->few_bytes = !l->few_turns;
		l->confidence = l->bytes_confidence = 0;
		return false;
	}
	l->bytes_confidence = l->confidence;
	if (l->sizes_open && l->confidence > SIZES_OPEN_CONFIDENCE)
		l->confidence = SIZES_OPEN_CONFIDENCE;
	return true;
}
