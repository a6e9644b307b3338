/* SPDX-License-Identifier: MIT */
/*
 * If threads seldom meet on a line: is the line handed over, or do the threads seldom run at the
 * same time? This uses the times of everything the threads did. On a contended line each thread
 * uses the line the whole time that it runs.
 */
#include <math.h>
#include <stdlib.h>
#include "memory/sharing/sharing_private.h"

enum { TURNS = 4 }; /* of each thread, at least */

static int by_time(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return a < b ? -1 : a > b;
}

/* An access with a known time; a copy of many lines counts once. */
static bool has_time(const struct hit *h)
{
	return (h->flags & (HIT_TIMED | HIT_MORE)) == HIT_TIMED;
}

int sharing_note_running(struct sharing *s, struct tare_error *err)
{
	uint32_t threads = s->threads.n;

	s->ran_at = calloc(threads + 2ul, sizeof(*s->ran_at));
	s->ran = malloc((s->n + 1) * sizeof(*s->ran));
	if (!s->ran_at || !s->ran)
		return tare_fail_nomem(err);
	for (size_t i = 0; i < s->n; i++)
		s->ran_at[s->hit[i].thread + 2] += has_time(&s->hit[i]);
	for (uint32_t t = 0; t < threads; t++)
		s->ran_at[t + 2] += s->ran_at[t + 1];
	for (size_t i = 0; i < s->n; i++)
		if (has_time(&s->hit[i]))
			s->ran[s->ran_at[s->hit[i].thread + 1]++] = s->hit[i].time;
	for (uint32_t t = 0; t < threads; t++) {
		uint64_t *ran = s->ran + s->ran_at[t];
		size_t n = s->ran_at[t + 1] - s->ran_at[t], k = 1;

		while (k < n && ran[k - 1] <= ran[k])
			k++;
		if (k < n)
			qsort(ran, n, sizeof(*ran), by_time);
	}
	return 0;
}

/*
 * The number of accesses that a thread had made before a time; `from`: the number before an earlier
 * time, or 0. Exponential search, since the next time is usually close.
 */
static size_t ran_before(const struct sharing *s, uint32_t thread, uint64_t time, size_t from)
{
	size_t low = from > s->ran_at[thread] ? from : s->ran_at[thread],
	       end = s->ran_at[thread + 1], high = low, step = 1;

	while (high < end && s->ran[high] < time) {
		low = high + 1;
		high = end - low < step ? end : low + step;
		step *= 2;
	}
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->ran[mid] < time)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * The line's hits in the period in which all of its main users use it; 0: there is no such period,
 * or most hits are outside it.
 */
static size_t common_time(struct sharing *s, const struct hit **h, size_t n,
			  const struct sharing_line *l)
{
	uint64_t from = 0, to = UINT64_MAX;
	size_t first = 0, last = n;
	uint32_t users = 0;

	for (size_t i = 0; i < n; i++)
		s->use[(*h)[i].thread] = (struct use){ .first = UINT64_MAX };
	for (size_t i = 0; i < n; i++) {
		struct use *u = &s->use[(*h)[i].thread];

		u->n++;
		u->first = (*h)[i].time < u->first ? (*h)[i].time : u->first;
		u->last = (*h)[i].time;
	}
	for (size_t i = 0; i < n; i++) {
		struct use *u = &s->use[(*h)[i].thread];

		if (u->n < (double)n / (4.0 * l->threads) || u->first != (*h)[i].time)
			continue;
		from = u->first > from ? u->first : from;
		to = u->last < to ? u->last : to;
		users++;
		u->n = 0; /* once */
	}
	while (first < n && (*h)[first].time < from)
		first++;
	while (last > first && (*h)[last - 1].time > to)
		last--;
	*h += first;
	return users > 1 && last - first >= n / 2 ? last - first : 0;
}

/*
 * Of what the threads did while they all used the line, the share done while using it, for the
 * thread with the smallest share. What a thread does between two of its hits counts as done without
 * the line if other threads had it meanwhile and it is four times the average; stretches without
 * others are phases of the program.
 */
static double steadiness(struct sharing *s, const struct hit *h, size_t n,
			 const struct sharing_line *l)
{
	enum { LONG = 4 };
	double least = 1;

	for (size_t i = 0; i < n; i++)
		s->use[h[i].thread].n = 0;
	for (size_t i = 0; i < n; i++)
		s->use[h[i].thread].n++;
	for (size_t i = 0; i < n; i++) {
		struct use *u = &s->use[h[i].thread];
		size_t at = ran_before(s, h[i].thread, h[i].time, u->end ? u->at : 0);
		bool others = i && h[i - 1].thread != h[i].thread;

		if (!u->end) {
			u->at = ran_before(s, h[i].thread, h[0].time, 0);
			u->end = ran_before(s, h[i].thread, h[n - 1].time, u->at) + 1;
			u->longest = LONG * (u->end - u->at) / u->n;
			u->first = u->at;
		}
		u->idle += others && at - u->at > u->longest ? at - u->at : 0;
		u->at = at;
	}
	for (size_t i = n; i-- > 0;) {
		struct use *u = &s->use[h[i].thread];
		double share;

		if (!u->end)
			continue;
		u->idle += u->end - u->at > u->longest ? u->end - u->at : 0;
		share = 1 - (double)u->idle / (double)(u->end - u->first);
		if (u->n >= (double)n / (4.0 * l->threads) && share < least)
			least = share;
		u->end = 0;
	}
	return least;
}

/*
 * A stretch between two hits of one thread in which others had the line has ended: add the missing
 * hits, by the longest stretch around that time.
 */
static double missing_hits(const struct stretch *a)
{
	return a->longest ? (double)a->meanwhile / (double)a->longest : 0;
}

/*
 * A thread's next hit. The stretch before the previous one now has two before it and two after it.
 */
static double close_stretch(struct use *u, size_t at)
{
	size_t length = at - u->at;
	double sum;

	for (unsigned k = 0; k < 2; k++)
		if (u->past[k].longest < length)
			u->past[k].longest = length;
	sum = missing_hits(&u->past[1]);
	u->past[1] = u->past[0];
	u->past[0] = (struct stretch){ u->now.meanwhile,
				       u->length[0] > u->length[1] ? u->length[0] : u->length[1] };
	u->length[1] = u->length[0];
	u->length[0] = length;
	u->now.meanwhile = 0;
	return sum;
}

/*
 * How many more hits there would be if the line's main users had used it, while another thread had
 * it, as densely as they did around that time: as in the longest of the two stretches between hits
 * before, and the two after. None where they did not run then.
 */
static double left_alone(struct sharing *s, const struct hit *h, size_t n,
			 const struct sharing_line *l)
{
	double sum = 0;
	size_t users = 0;
	uint32_t *user = s->weight; /* used up */

	for (size_t i = 0; i < n; i++)
		s->use[h[i].thread] = (struct use){ 0 };
	for (size_t i = 0; i < n; i++)
		s->use[h[i].thread].n++;
	for (size_t i = 0; i < n; i++) {
		struct use *u = &s->use[h[i].thread];

		if (!u->end && u->n >= (double)n / (4.0 * l->threads))
			user[users++] = h[i].thread;
		u->end = 1; /* once */
	}
	for (size_t i = 0, end; i < n; i = end) {
		struct use *u = &s->use[h[i].thread];

		for (end = i; end < n && h[end].thread == h[i].thread; end++) {
			size_t at = ran_before(s, h[end].thread, h[end].time, u->at);

			if (u->hit)
				sum += close_stretch(u, at);
			else
				u->past[0] = u->now,
				u->now.meanwhile = 0; /* what it did before its first hit */
			u->hit = true;
			u->at = at;
		}
		for (size_t k = 0; k < users; k++) {
			struct use *other = &s->use[user[k]];

			if (user[k] == h[i].thread)
				continue;
			other->place = ran_before(s, user[k], h[i].time, other->place);
			other->now.meanwhile -= other->place;
			other->place = ran_before(s, user[k], h[end - 1].time, other->place);
			other->now.meanwhile += other->place;
		}
	}
	for (size_t k = 0; k < users; k++) {
		struct use *u = &s->use[user[k]];

		u->now.longest = u->length[0] > u->length[1] ? u->length[0] : u->length[1];
		sum += missing_hits(&u->now) + missing_hits(&u->past[0]) +
			missing_hits(&u->past[1]);
	}
	for (size_t i = 0; i < n; i++)
		s->use[h[i].thread] = (struct use){ 0 };
	return sum;
}

bool sharing_handed_over(struct sharing *s, const struct hit *h, size_t n,
			 const struct sharing_line *l, double *confidence)
{
	enum { LEAST = 4 };
	bool turns = l->switches_true + l->switches_false >= (uint64_t)TURNS * l->threads;
	double alone = left_alone(s, h, n, l);

	bool left = alone >= LEAST &&
		alone >= n / 10.0; /* a smaller number may be hits that sampling missed */

	*confidence = left ? 1 - exp(-alone) : TURNS_CONFIDENCE;
	if (turns && *confidence < TURNS_CONFIDENCE)
		*confidence = TURNS_CONFIDENCE;
	return turns || left;
}

void sharing_turns(struct sharing *s, const struct hit *h, size_t n, struct sharing_line *l)
{
	struct sharing_line common = { 0 };
	uint64_t turns;
	size_t m = common_time(s, &h, n, l);

	/* The thread that stores may do so before or after */
	if (!m || sharing_expected(s, h, m) < 2)
		return;
	l->steady = steadiness(s, h, m, l);
	if (l->steady < 0.75)
		return;
	sharing_switches(h, m, &common);
	l->in_turns = true;
	turns = common.switches_true + common.switches_false;
	l->few_turns = turns < TURNS * l->threads;
	/* that it is also used in the next turn: Laplace's rule of succession */
	l->steady *= (double)(turns + 1) / (double)(turns + 2);
}
