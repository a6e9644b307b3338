/* SPDX-License-Identifier: MIT */
/*
 * After a difference, the common points in the same order are found by the longest common
 * subsequence within a window (common_subsequence.c). It first uses the labels that occur equally
 * often in all runs. If the difference is larger than that window, the runs continue at the
 * cheapest place where all of them have the same sequence of points. Neither result depends on the
 * order of the runs.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "regions/align.h"
#include "statistics/common_subsequence.h"

enum { LONG = 64 };

int align_open(struct align *a, struct align_source **sources, size_t n, size_t n_counters,
	       const struct align_labels *labels, struct tare_error *err)
{
	*a = (struct align){ .n_runs = n, .n_counters = n_counters, .labels = labels };
	a->run = calloc(n + 1, sizeof(*a->run));
	if (!a->run)
		return tare_fail_nomem(err);
	for (size_t r = 0; r < n; r++)
		a->run[r].source = sources[r];
	return 0;
}

void align_close(struct align *a)
{
	for (size_t r = 0; a->run && r < a->n_runs; r++) {
		free(a->run[r].ahead);
		free(a->run[r].value);
	}
	free(a->run);
	free(a->together);
	free(a->steady);
	*a = (struct align){ 0 };
}

static inline struct align_point *slot(const struct align_run *r, size_t i)
{
	return &r->ahead[r->first + i];
}

/* Room for n points, including those already read. */
static int make_room(const struct align *a, struct align_run *r, size_t n, struct tare_error *err)
{
	size_t room = r->room;

	if (r->first + n <= r->room)
		return 0;
	if (r->first) {
		memmove(r->ahead, r->ahead + r->first, r->ready * sizeof(*r->ahead));
		memmove(r->value, r->value + r->first * a->n_counters,
			r->ready * a->n_counters * sizeof(*r->value));
		r->first = 0;
	}
	if (!array_reserve(&r->ahead, &room, n, sizeof(*r->ahead)) ||
	    !array_reserve(&r->value, &r->room, room, a->n_counters * sizeof(*r->value)))
		return tare_fail_nomem(err);
	return 0;
}

/* Read up to `most` more points. Returns their number; the caller adds them. */
static int read_on(const struct align *a, struct align_run *r, size_t most, struct tare_error *err)
{
	int n = r->ended ? 0 : make_room(a, r, r->ready + most, err);

	if (n < 0 || r->ended)
		return n;
	n = r->source->read(r->source, most, slot(r, r->ready),
			    r->value + (r->first + r->ready) * a->n_counters, err);
	r->ended = n == 0;
	return n;
}

/* Read ahead to n points, or to the end. */
static int fill(const struct align *a, struct align_run *r, size_t n, struct tare_error *err)
{
	while (r->n < n && !(r->ended && r->n == r->ready)) {
		if (r->n == r->ready) {
			int ret = read_on(a, r, ALIGN_AT_ONCE, err);

			if (ret < 0)
				return ret;
			r->ready += (size_t)ret;
		}
		r->n = r->ready < n ? r->ready : n;
	}
	return 0;
}

static inline bool same(const struct align *a, const struct align_point *p,
			const struct align_point *q)
{
	return p->label == q->label && p->kind == q->kind &&
		(p->around == q->around || a->labels->around_unknown);
}

static uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static uint64_t label_key(const struct align *a, uint32_t label)
{
	return label == LABELS_NONE ? 1 : a->labels->key[label];
}

/* The comparison key of a point; SUBSEQUENCE_NONE differs from all others. */
static uint64_t key_of(const struct align *a, const struct align_point *p)
{
	uint64_t h;

	if (p->kind == TIMELINE_LOST)
		return SUBSEQUENCE_NONE;
	h = mix(mix(p->kind + 1, label_key(a, p->label)),
		label_key(a, a->labels->around_unknown ? LABELS_NONE : p->around));
	return h == SUBSEQUENCE_NONE ? 1 : h;
}

/* ---- near: all common points ---- */

/* Keep the common points that points after the window cannot change. */
static int keep(struct align *a, const struct subsequence *c, bool whole, size_t window,
		struct tare_error *err)
{
	size_t n = c->n;

	while (!whole && n) {
		bool sure = true;

		for (size_t r = 0; r < a->n_runs; r++)
			sure &= (a->run[r].ended && a->run[r].n <= window) ||
				c->at[(n - 1) * a->n_runs + r] < window / 4 * 3;
		if (sure)
			break;
		n--;
	}
	if (!array_reserve(&a->together, &a->together_room, n * a->n_runs, sizeof(*a->together)))
		return tare_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		for (size_t r = 0; r < a->n_runs; r++)
			a->together[i * a->n_runs + r] = a->run[r].index + c->at[i * a->n_runs + r];
	a->n_together = n;
	a->next = 0;
	return n || whole;
}

static bool is_steady(const struct align *a, const struct align_point *p)
{
	return p->label == LABELS_NONE || a->steady[p->label];
}

/* The points [from, to) of each run, all or only the steady ones; their indices in `place`. */
static void take_points(const struct align *a, struct subsequence *c, uint32_t *place,
			const uint32_t *from, const uint32_t *to, bool steady)
{
	for (size_t r = 0; r < a->n_runs; r++) {
		struct subsequence_seq *seq = &c->seq[r];

		seq->n = 0;
		for (uint32_t i = from[r]; i < to[r]; i++) {
			const struct align_point *p = slot(&a->run[r], i);

			if (steady && !is_steady(a, p))
				continue;
			place[r * c->room + seq->n] = i;
			seq->key[seq->n++] = key_of(a, p);
		}
	}
}

/* Append the result to `all`. */
static void add_found(struct subsequence *all, const struct subsequence *found,
		      const uint32_t *place)
{
	for (size_t i = 0; i < found->n; i++, all->n++)
		for (size_t r = 0; r < all->n_seqs; r++)
			all->at[all->n * all->n_seqs + r] =
				place[r * found->room + found->at[i * all->n_seqs + r]];
}

/*
 * First align the labels that occur equally often in all runs, so that labels that some runs repeat
 * more often do not shift them. Then align the other points between them. at: room for two indices
 * of each run.
 */
static int common_points(struct align *a, struct subsequence *all, uint32_t *at,
			 const uint32_t *end, bool open_end)
{
	struct subsequence c = { 0 }, gap = { 0 };
	uint32_t *from = at, *to = at + a->n_runs,
		 *place = malloc((all->room * a->n_runs + 1) * sizeof(*place));
	int ret = subsequence_open(&c, a->n_runs, all->room) < 0 ||
			subsequence_open(&gap, a->n_runs, all->room) < 0 || !place
		? -ENOMEM
		: 1;

	memset(from, 0, a->n_runs * sizeof(*from));
	if (ret == 1) {
		take_points(a, &c, place, from, end, true);
		ret = subsequence_find(&c, open_end);
	}
	/* convert indices among steady points to indices among all points */
	for (size_t i = 0; ret == 1 && i < c.n; i++)
		for (size_t r = 0; r < a->n_runs; r++)
			c.at[i * a->n_runs + r] = place[r * c.room + c.at[i * a->n_runs + r]];
	for (size_t i = 0; ret == 1 && i <= c.n; i++) {
		bool some = true;

		memcpy(to, i < c.n ? &c.at[i * a->n_runs] : end, a->n_runs * sizeof(*to));
		for (size_t r = 0; r < a->n_runs; r++)
			some &= from[r] < to[r];
		if (some) {
			take_points(a, &gap, place, from, to, false);
			ret = subsequence_find(&gap, open_end && i == c.n);
			if (ret == 1)
				add_found(all, &gap, place);
			/*
			 * if two common points are too far apart, the points between them count as
			 * different
			 */
			else if (ret == 0)
				ret = c.n > 0;
		}
		for (size_t r = 0; i < c.n && r < a->n_runs; r++) {
			all->at[all->n * a->n_runs + r] = to[r];
			from[r] = to[r] + 1;
		}
		all->n += i < c.n;
	}
	free(place);
	subsequence_close(&c);
	subsequence_close(&gap);
	return ret;
}

/* Returns 1 if the runs agree again within this window, with at least this many points. */
static int near(struct align *a, size_t window, size_t least, struct tare_error *err)
{
	struct subsequence all;
	uint32_t *at = calloc(3 * a->n_runs, sizeof(*at)), *end = at + 2 * a->n_runs;
	bool whole = true;
	int ret = subsequence_open(&all, a->n_runs, window);

	if (ret < 0 || !at) {
		subsequence_close(&all);
		free(at);
		return tare_fail_nomem(err);
	}
	for (size_t r = 0; ret == 0 && r < a->n_runs; r++) {
		struct align_run *run = &a->run[r];

		ret = fill(a, run, window, err);
		end[r] = (uint32_t)(run->n < window ? run->n : window);
		whole &= run->ended && run->n == end[r];
	}
	if (ret == 0) {
		ret = common_points(a, &all, at, end, !whole);
		if (ret < 0)
			tare_fail_nomem(err);
	}
	if (ret == 1 && !whole && all.n < least)
		ret = 0;
	if (ret == 1)
		ret = keep(a, &all, whole, window, err);
	subsequence_close(&all);
	free(at);
	return ret;
}

/* ---- far: a sequence of points in all runs ---- */

struct gram {
	uint64_t hash;
	uint64_t cost; /* points to skip, over the runs so far */
	uint32_t runs; /* number of runs so far that have it */
};

/*
 * The end of a thread counts as common points, so that runs that end within the window agree there.
 */
static uint64_t hash_at(const struct align *a, const struct align_run *r, size_t at, size_t length)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (size_t i = at; i < at + length; i++) {
		uint64_t k = i < r->n ? key_of(a, slot(r, i)) : UINT64_MAX;

		if (k == SUBSEQUENCE_NONE)
			k = mix((uint64_t)(uintptr_t)r, i);
		h = mix(h, k);
	}
	return h;
}

/*
 * The number of positions at which a gram of this length may begin. It may extend past the last
 * point only if the thread ends there.
 */
static size_t starts(const struct align_run *r, size_t length)
{
	return r->ended ? r->n + 1 : r->n >= length ? r->n - length + 1 : 0;
}

static struct gram *gram_at(struct gram *table, size_t room, uint64_t hash)
{
	size_t at = (size_t)(hash >> 20) & (room - 1);

	while (table[at].runs && table[at].hash != hash)
		at = (at + 1) & (room - 1);
	return &table[at];
}

/*
 * Find the cheapest place at which all runs have the same `length` points. Returns 1 and sets the
 * number of points that each run skips.
 */
static int meet(struct align *a, size_t length, struct tare_error *err)
{
	const struct gram *best = NULL;
	size_t room = 64;
	struct gram *table;

	while (room < 2 * starts(&a->run[0], length))
		room *= 2;
	table = calloc(room, sizeof(*table));
	if (!table)
		return tare_fail_nomem(err);
	for (uint32_t r = 0; r < a->n_runs; r++)
		for (size_t i = 0, n = starts(&a->run[r], length); i < n; i++) {
			uint64_t h = hash_at(a, &a->run[r], i, length);
			struct gram *g = gram_at(table, room, h);

			/* the first one of this run, and all earlier runs have it */
			if (g->runs == r)
				*g = (struct gram){ h, g->cost + i, r + 1 };
		}
	for (size_t i = 0; i < room; i++)
		if (table[i].runs == a->n_runs &&
		    (!best || table[i].cost < best->cost ||
		     (table[i].cost == best->cost && table[i].hash < best->hash)))
			best = &table[i];
	for (size_t r = 0; best && r < a->n_runs; r++) {
		size_t i = 0;

		while (hash_at(a, &a->run[r], i, length) != best->hash)
			i++;
		a->run[r].passed = i;
	}
	free(table);
	return best != NULL;
}

static bool at_an_end(const struct align *a)
{
	for (size_t r = 0; r < a->n_runs; r++)
		if (a->run[r].passed + LONG > a->run[r].n)
			return true;
	return false;
}

static int far(struct align *a, size_t window, struct tare_error *err)
{
	int ret = 0;

	for (size_t r = 0; ret == 0 && r < a->n_runs; r++)
		ret = fill(a, &a->run[r], window, err);
	if (ret == 0)
		ret = meet(a, LONG, err);
	if (ret == 0 || (ret == 1 && at_an_end(a)))
		ret = meet(a, ALIGN_SAME, err);
	return ret;
}

size_t align_passed(const struct align *a, size_t run)
{
	return a->run[run].passed - a->run[run].gaps;
}

/* Advance to the next common point; without one, skip the whole window. */
static void pass_to(struct align *a)
{
	for (size_t r = 0; r < a->n_runs; r++)
		a->run[r].passed = a->next < a->n_together
			? a->together[a->next * a->n_runs + r] - a->run[r].index
			: a->run[r].n;
}

/* One run has ended, so the rest of the others is one difference, however long. */
static int pass_all(struct align *a, struct tare_error *err)
{
	for (size_t r = 0; r < a->n_runs; r++) {
		struct align_run *run = &a->run[r];
		int n;

		run->passed = run->ready;
		while ((n = read_on(a, run, ALIGN_AT_ONCE, err)) > 0)
			run->passed += (size_t)n;
		if (n < 0)
			return n;
	}
	a->differ = true;
	return ALIGN_DIFFERENCE;
}

static int difference(struct align *a, struct tare_error *err)
{
	static const struct {
		size_t window, least;
	} tries[] = {
		{ 64, 24 },
		{ 512, 192 },
		{ ALIGN_CLOSE, ALIGN_SAME },
		{ 512, 64 },
	};
	int met = 0;

	a->n_together = a->next = 0;
	if (!a->steady) {
		a->steady = malloc(a->labels->n + 1);
		if (!a->steady)
			return tare_fail_nomem(err);
		memset(a->steady, true, a->labels->n);
		met = a->labels->find_steady
			? a->labels->find_steady(a->labels->with, a->steady, err)
			: 0;
	}
	/*
	 * The narrowest window with most points in common is the cheapest. A wide window with few
	 * may be the only one.
	 */

	for (size_t i = 0; met == 0 && i < sizeof(tries) / sizeof(tries[0]); i++)
		met = near(a, tries[i].window, tries[i].least, err);
	if (met == 1)
		pass_to(a);
	for (size_t window = 4 * ALIGN_CLOSE; met == 0 && window <= ALIGN_WINDOW; window *= 4)
		met = far(a, window, err);
	if (met < 0)
		return met;
	if (met == 0)
		pass_to(a);
	a->differ = true;
	return met ? ALIGN_DIFFERENCE : ALIGN_LOST;
}

/* A run lost points here, and the number is known for all runs that did. */
static bool gap_of_known_length(const struct align *a)
{
	bool any = false;

	for (size_t r = 0; r < a->n_runs; r++) {
		const struct align_point *p = slot(&a->run[r], 0);

		if (p->kind == TIMELINE_LOST && p->points == 0)
			return false;
		any |= p->kind == TIMELINE_LOST;
	}
	return any;
}

/*
 * Skip the next point. Returns the number of points of the file that it covers; 0 if unknown or at
 * the end.
 */
static int pass_one(const struct align *a, struct align_run *r, uint64_t *points,
		    struct tare_error *err)
{
	const struct align_point *p;

	*points = 0;
	if (r->passed >= r->ready) {
		int ret = read_on(a, r, 1, err);

		if (ret <= 0)
			return ret;
	}
	p = slot(r, r->passed < r->ready ? r->passed : r->ready);
	r->passed++;
	r->gaps += p->kind == TIMELINE_LOST;
	*points = p->points;
	return 0;
}

/*
 * If one run lost points, skip as many points in the others. Then all runs are at the same point,
 * if they did the same work.
 */
static int skip_gaps(struct align *a, struct tare_error *err)
{
	uint64_t *at = calloc(a->n_runs, sizeof(*at)), to = 1;
	bool moved = true;
	int ret = at ? 0 : tare_fail_nomem(err);

	for (size_t r = 0; r < a->n_runs; r++)
		a->run[r].passed = 0;
	while (ret == 0 && moved) {
		moved = false;
		for (size_t r = 0; ret == 0 && r < a->n_runs; r++)
			while (ret == 0 && at[r] < to) {
				uint64_t points;

				ret = pass_one(a, &a->run[r], &points, err);
				at[r] = points ? at[r] + points : to;
				moved = true;
			}
		for (size_t r = 0; ret == 0 && r < a->n_runs; r++)
			to = at[r] > to ? at[r] : to;
	}
	free(at);
	a->n_together = a->next = 0;
	a->differ = true;
	return ret < 0 ? ret : ALIGN_DIFFERENCE;
}

/* Drop the points shown last, and read the next one if there is one. */
static int next_of(const struct align *a, struct align_run *r, size_t done, struct tare_error *err)
{
	size_t all = done < r->ready ? done : r->ready;

	r->index += done;
	r->first += all;
	r->ready -= all;
	r->n -= all < r->n ? all : r->n;
	if (!r->ready)
		/* reuse the start of the buffer while it is empty, which saves cache misses */
		r->first = 0;
	return r->n ? 0 : fill(a, r, 1, err);
}

/*
 * The number of next points that are the same in all runs and not lost. Limited, because runs that
 * differ often would compare all points each time.
 */
static size_t alike(const struct align *a)
{
	const struct align_point *p = slot(&a->run[0], 0);
	size_t n = ALIGN_AT_ONCE;

	for (size_t r = 0; r < a->n_runs; r++) {
		const struct align_point *q = slot(&a->run[r], 0);
		size_t i = 0, most = n < a->run[r].ready ? n : a->run[r].ready;

		while (i < most && (r ? same(a, &p[i], &q[i]) : p[i].kind != TIMELINE_LOST))
			i++;
		n = i;
	}
	return n;
}

/* After a difference, the common points are already known. */
static int next_together(struct align *a)
{
	bool here = true;

	for (size_t r = 0; r < a->n_runs; r++)
		here &= a->together[a->next * a->n_runs + r] == a->run[r].index;
	if (!here) {
		pass_to(a);
		a->differ = true;
		return ALIGN_DIFFERENCE;
	}
	a->next++;
	return ALIGN_STEP;
}

int align_next(struct align *a, struct tare_error *err)
{
	size_t ended = 0;

	for (size_t i = 0; i < a->n_runs; i++) {
		struct align_run *r = &a->run[i];
		int ret = next_of(a, r, a->differ ? r->passed : a->n_shown, err);

		if (ret < 0)
			return ret;
		ended += r->n == 0;
	}
	a->differ = false;
	a->n_shown = 1;
	if (a->next < a->n_together)
		return next_together(a);
	if (ended == a->n_runs)
		return ALIGN_END;
	a->n_shown = alike(a);
	if (a->n_shown)
		return ALIGN_STEP;
	for (size_t i = 0; i < a->n_runs; i++)
		a->run[i].gaps = 0;
	if (ended)
		return pass_all(a, err);
	return gap_of_known_length(a) ? skip_gaps(a, err) : difference(a, err);
}
