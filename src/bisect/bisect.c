/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "bisect/bisect.h"

struct bisect_try *bisect_add(struct bisect_tries *tries)
{
	if (!array_reserve_zeroed(&tries->t, &tries->room, tries->n + 1, sizeof(*tries->t)))
		return NULL;
	return &tries->t[tries->n++];
}

const struct bisect_try *bisect_find(const struct bisect_tries *tries, const char *commit)
{
	for (size_t i = 0; i < tries->n; i++)
		if (!strcmp(tries->t[i].commit, commit))
			return &tries->t[i];
	return NULL;
}

bool bisect_add_pair(struct bisect_try *t, uint64_t good, uint64_t this)
{
	if (!array_reserve(&t->pair, &t->room, t->pairs + 1, sizeof(*t->pair)))
		return false;
	t->pair[t->pairs++] = (struct bisect_pair){ good, this };
	return true;
}

bool bisect_is_time(const char *event)
{
	return !strcmp(event, "cpu-time") || !strcmp(event, "wall");
}

void bisect_free(struct bisect_tries *tries)
{
	for (size_t i = 0; i < tries->n; i++)
		free(tries->t[i].pair);
	free(tries->t);
	*tries = (struct bisect_tries){ 0 };
}

bool bisect_differs(uint64_t good, uint64_t bad, double threshold)
{
	return bad > good && (double)(bad - good) > (double)good * threshold / 100;
}

bool bisect_is_bad(uint64_t good, uint64_t bad, uint64_t count)
{
	if (count <= good || count >= bad)
		return count >= bad;
	return count - good > bad - count;
}

/*
 * Which of n commits, after so many that were skipped: 1/2, 1/4, 3/4, 1/8, ... of the list to the
 * power of 1.5, so that commits that split the range well are preferred. git bisect does it with
 * random numbers; source: git's bisect.c, skip_away().
 */
static size_t skip_away(size_t n, size_t skipped)
{
	double place = 0;

	for (double part = 0.5; skipped; skipped >>= 1, part /= 2)
		place += skipped & 1 ? part : 0;
	return (size_t)((double)n * place * sqrt(place));
}

struct bisect_choice bisect_choose(const struct bisect_tries *tries, const char *const *commit,
				   size_t n, const char *bad)
{
	struct bisect_choice c = { .next = SIZE_MAX };
	size_t left = 0, at;

	for (size_t i = 0; i < n; i++) {
		const struct bisect_try *t = bisect_find(tries, commit[i]);

		c.skipped += t && t->skipped;
		left += !t && strcmp(commit[i], bad) != 0;
	}
	if (!left)
		return c;
	at = skip_away(left, c.skipped);
	for (size_t i = 0; i < n; i++)
		if (strcmp(commit[i], bad) != 0 && !bisect_find(tries, commit[i]) && at-- == 0) {
			c.next = i;
			break;
		}
	return c;
}

const struct bisect_try *bisect_largest_step(const struct bisect_tries *tries)
{
	const struct bisect_try *best = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < tries->n; i++) {
		const struct bisect_try *t = &tries->t[i], *parent = bisect_find(tries, t->parent);

		if (t->skipped || !parent || parent->skipped || t->count <= parent->count ||
		    t->count - parent->count <= most)
			continue;
		most = t->count - parent->count;
		best = t;
	}
	return best;
}
