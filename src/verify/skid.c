/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "verify/skid.h"
#include "statistics/median.h"

enum { ENOUGH = 100 };

/* The fraction that may be elsewhere, from interrupts in between: half a percent. */
#define STRAY 0.005

static size_t instructions(const struct skid_loop *l)
{
	size_t n = 0;

	for (size_t i = 0; l->run[i].n; i++)
		n += l->run[i].n;
	return n;
}

/* The offset of the `which`-th instruction; after the last one: the size. */
static uint64_t offset_of(const struct skid_loop *l, size_t which)
{
	uint64_t at = 0;

	for (size_t i = 0; l->run[i].n; i++) {
		size_t n = which < l->run[i].n ? which : l->run[i].n;

		at += (uint64_t)n * l->run[i].bytes;
		which -= n;
	}
	return at;
}

/* The instruction that begins at `offset`; SKID_MOST if there is none. */
static size_t instruction_at(const struct skid_loop *l, uint64_t offset)
{
	size_t before = 0;

	for (size_t i = 0; l->run[i].n; i++) {
		uint64_t size = (uint64_t)l->run[i].n * l->run[i].bytes;

		if (offset < size)
			return offset % l->run[i].bytes
				? SKID_MOST
				: before + (size_t)(offset / l->run[i].bytes);
		offset -= size;
		before += l->run[i].n;
	}
	return SKID_MOST;
}

void skid_begin(struct skid *s, const struct skid_loop *loop)
{
	memset(s, 0, sizeof(*s));
	s->loop = loop;
}

void skid_add(struct skid *s, uint64_t ip)
{
	uint64_t offset = ip - (uint64_t)(uintptr_t)s->loop->begin;
	size_t i;

	s->samples++;
	if (offset >= offset_of(s->loop, SIZE_MAX)) {
		s->outside++;
		return;
	}
	i = instruction_at(s->loop, offset);
	if (i < SKID_MOST)
		s->at[i]++;
	else
		s->within++;
}

/* Distances wrap around the loop: a sample in its last quarter counts as before the cause. */
static struct skid_place place(const struct skid *s, size_t which)
{
	int64_t n = (int64_t)instructions(s->loop), size = (int64_t)offset_of(s->loop, SIZE_MAX);
	struct skid_place p = { (int64_t)which - (int64_t)s->loop->cause,
				(int64_t)offset_of(s->loop, which) -
					(int64_t)offset_of(s->loop, s->loop->cause) };

	if (p.instructions < 0) {
		p.instructions += n;
		p.bytes += size;
	}
	if (p.instructions > n - n / 4) {
		p.instructions -= n;
		p.bytes -= size;
	}
	return p;
}

/* The distance of the `k`-th sample in order of distance. */
static struct skid_place nth(const struct skid *s, uint64_t k)
{
	size_t n = instructions(s->loop), first = (s->loop->cause + n - n / 4 + 1) % n;
	uint64_t seen = 0;

	for (size_t i = 0; i < n; i++) {
		size_t at = (first + i) % n;

		seen += s->at[at];
		if (s->at[at] && seen > k)
			return place(s, at);
	}
	return (struct skid_place){ 0, 0 };
}

static enum skid_shape shape_of(const struct skid *s, const struct skid_result *r)
{
	uint64_t most = 0;

	for (size_t i = 0; i < SKID_MOST; i++)
		if (s->at[i] > most)
			most = s->at[i];
	if (r->exact >= 1 - STRAY)
		return SKID_EXACT;
	if (r->next >= 1 - STRAY)
		return SKID_NEXT;
	return (double)most >= (1 - STRAY) * (double)s->samples ? SKID_CONSTANT : SKID_SPREAD;
}

/*
 * Source: linux/perf_event.h, precise_ip: arbitrary skid, constant skid, requested 0 skid,
 * guaranteed 0 skid.
 */
static bool keeps(enum skid_shape shape, unsigned level)
{
	return level == 0 || shape == SKID_EXACT || (level == 1 && shape != SKID_SPREAD);
}

void skid_judge(const struct skid *s, unsigned level, struct skid_result *out)
{
	uint64_t placed = s->samples - s->outside - s->within;
	size_t n = instructions(s->loop);

	*out = (struct skid_result){ .shape = SKID_TOO_FEW, .kept = true };
	if (!s->samples)
		return;
	out->exact = (double)s->at[s->loop->cause] / (double)s->samples;
	out->next = (double)s->at[(s->loop->cause + 1) % n] / (double)s->samples;
	out->off = (double)(s->outside + s->within) / (double)s->samples;
	if (placed) {
		out->least = nth(s, 0);
		out->median = nth(s, placed / 2);
		out->p99 = nth(s, placed - 1 - placed / 100);
		out->most = nth(s, placed - 1);
	}
	if (s->samples < ENOUGH)
		return;
	out->shape = shape_of(s, out);
	out->kept = keeps(out->shape, level);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

bool skid_intervals(uint64_t *times, size_t n, uint64_t *median, uint64_t *p99, uint64_t *most)
{
	if (n < 2)
		return false;
	for (size_t i = 0; i + 1 < n; i++)
		times[i] = times[i + 1] - times[i];
	n--;
	qsort(times, n, sizeof(*times), by_value);
	*median = median_of(times, n);
	*p99 = times[n - 1 - n / 100];
	*most = times[n - 1];
	return true;
}
