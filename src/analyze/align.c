/* SPDX-License-Identifier: MIT */
/*
 * Where runs differ, the first point of the first run is sought from which ALIGN_SAME points follow that every other run
 * has in a row too, each as soon as it can. The end of a thread counts as a point that is followed by others like it, so
 * that runs whose ends are within the window always come together there.
 */
#include <stdlib.h>
#include <string.h>
#include "analyze/align.h"

struct gram {
	uint64_t hash;
	uint32_t at_1; /* + 1; 0: free */
};
enum { GRAMS = 4 * ALIGN_WINDOW };

int align_open(struct align *a, struct align_source **sources, size_t n, struct tare_error *err)
{
	*a = (struct align){ .n_runs = n };
	a->run = calloc(n + 1, sizeof(*a->run));
	if (!a->run)
		return tare_fail_nomem(err);
	for (size_t r = 0; r < n; r++)
		a->run[r].source = sources[r];
	return 0;
}

void align_close(struct align *a)
{
	for (size_t r = 0; a->run && r < a->n_runs; r++)
		free(a->run[r].ahead);
	free(a->run);
	*a = (struct align){ 0 };
}

static inline struct align_point *slot(const struct align_run *r, size_t i)
{
	return &r->ahead[(r->first + i) % ALIGN_RING];
}

/* So many points ahead, or all there are. */
static int fill(struct align_run *r, size_t n, struct tare_error *err)
{
	if (!r->ahead)
		r->ahead = malloc(ALIGN_RING * sizeof(*r->ahead));
	if (!r->ahead)
		return tare_fail_nomem(err);
	while (r->n < n && !r->ended) {
		int ret = r->source->next(r->source, slot(r, r->n), err);

		if (ret < 0)
			return ret;
		r->n += ret == 1;
		r->ended = ret == 0;
	}
	return 0;
}

static inline bool same(const struct align_point *p, const struct align_point *q)
{
	return p->label == q->label && p->kind == q->kind && p->around == q->around;
}

static uint64_t hash_at(const struct align_run *r, size_t at)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (size_t i = at; i < at + ALIGN_SAME; i++) {
		uint64_t word = UINT64_MAX;

		if (i < r->n) {
			const struct align_point *p = slot(r, i);

			word = ((uint64_t)p->label << 35) ^ ((uint64_t)p->around << 4) ^ p->kind;
			if (p->kind == TIMELINE_LOST) /* the same as nothing else */
				word = (uint64_t)(uintptr_t)p | 1;
		}
		h = (h ^ word) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 29;
	}
	return h;
}

/* Where grams may begin: behind the last one only if the thread ends there. */
static size_t starts(const struct align_run *r)
{
	return r->ended ? r->n + 1 : r->n >= ALIGN_SAME ? r->n - ALIGN_SAME + 1 : 0;
}

static struct gram *gram_at(struct gram *table, uint64_t hash)
{
	size_t at = (size_t)(hash >> 20) % GRAMS;

	while (table[at].at_1 && table[at].hash != hash)
		at = (at + 1) % GRAMS;
	return &table[at];
}

/* Sets how many points each run passes over; false: not within these windows. */
static bool meet(struct align *a, struct gram *tables, size_t *passed)
{
	memset(tables, 0, (a->n_runs - 1) * GRAMS * sizeof(*tables));
	for (size_t r = 1; r < a->n_runs; r++)
		for (size_t i = 0, n = starts(&a->run[r]); i < n; i++) {
			uint64_t h = hash_at(&a->run[r], i);
			struct gram *g = gram_at(tables + (r - 1) * GRAMS, h);

			if (!g->at_1)
				*g = (struct gram){ h, (uint32_t)i + 1 };
		}
	for (size_t i = 0, n = starts(&a->run[0]); i < n; i++) {
		uint64_t h = hash_at(&a->run[0], i);
		size_t r;

		for (r = 1; r < a->n_runs; r++) {
			const struct gram *g = gram_at(tables + (r - 1) * GRAMS, h);

			if (!g->at_1)
				break;
			passed[r] = g->at_1 - 1;
		}
		if (r == a->n_runs) {
			passed[0] = i;
			return true;
		}
	}
	return false;
}

size_t align_passed(const struct align *a, size_t run)
{
	return a->run[run].passed;
}

static int difference(struct align *a, struct tare_error *err)
{
	size_t *passed = calloc(a->n_runs, sizeof(*passed));
	struct gram *tables = calloc(a->n_runs, GRAMS * sizeof(*tables));
	int ret = passed && tables ? 0 : tare_fail_nomem(err);
	bool met = false;

	for (size_t window = 64; ret == 0 && !met && window <= ALIGN_WINDOW; window *= 8) {
		for (size_t r = 0; ret == 0 && r < a->n_runs; r++)
			ret = fill(&a->run[r], window, err);
		if (ret == 0)
			met = meet(a, tables, passed);
	}
	for (size_t r = 0; ret == 0 && r < a->n_runs; r++)
		a->run[r].passed = met ? passed[r] : a->run[r].n;
	free(passed);
	free(tables);
	if (ret < 0)
		return ret;
	a->differ = true;
	a->gave_up = !met;
	return met ? ALIGN_DIFFERENCE : ALIGN_LOST;
}

/* What was shown last is done with, and the next point is there; 0: it ends, or a negative errno. */
static int next_of(struct align_run *r, size_t done, struct tare_error *err)
{
	int ret;

	r->index += done;
	if (r->n > done) {
		r->n -= done;
		r->first = (r->first + done) % ALIGN_RING;
		return 1;
	}
	r->n = r->first = 0; /* one place, and so few cache lines, while nothing is ahead */
	if (r->ended || !r->ahead)
		return r->ended ? 0 : fill(r, 1, err) < 0 ? -ENOMEM : r->n > 0;
	ret = r->source->next(r->source, r->ahead, err);
	r->n = ret == 1;
	r->ended = ret == 0;
	return ret;
}

int align_next(struct align *a, struct tare_error *err)
{
	const struct align_point *leader = NULL;
	bool all = true;
	size_t ended = 0;

	if (a->gave_up)
		return ALIGN_END;
	for (size_t i = 0; i < a->n_runs; i++) {
		struct align_run *r = &a->run[i];
		int ret = next_of(r, a->differ ? r->passed : r->n > 0, err);

		if (ret < 0)
			return ret;
		if (ret == 0)
			ended++;
		else if (i == 0)
			leader = slot(r, 0);
		else
			all &= leader && same(leader, slot(r, 0));
	}
	a->differ = false;
	if (ended == a->n_runs)
		return ALIGN_END;
	if (ended == 0 && all && leader->kind != TIMELINE_LOST)
		return ALIGN_STEP;
	return difference(a, err);
}
