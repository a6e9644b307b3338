/* SPDX-License-Identifier: MIT */
#include "record/region_cost.h"
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 16, INTERVALS = 64 };

static struct tare_region probe = { 1 << 3 | 1, 0, "", "" };

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static uint64_t middle_of(uint64_t *x, unsigned n)
{
	qsort(x, n, sizeof(*x), by_size);
	return x[n / 2];
}

struct costs {
	uint64_t whole[FILE_COUNTERS], inside[FILE_COUNTERS];
};

/* The middle one of many empty regions, for each counter: from begin to end, and from end to end. */
static void round_of(struct region_stream *s, struct costs *out)
{
	uint64_t inside[FILE_COUNTERS][INTERVALS], whole[FILE_COUNTERS][INTERVALS];
	const uint8_t *p = (const uint8_t *)(s->block + 1);
	struct format_point begin = { 0 }, end;
	unsigned k = 0;
	size_t n;

	memset(s->block + 1, 0, BLOCK_BYTES - sizeof(*s->block));
	s->here->at = (uint8_t *)(s->block + 1);
	for (int i = 0; i <= INTERVALS; i++) {
		tare_region_begin(&probe);
		tare_region_end(&probe);
	}
	/* Without the first: what was before it was something else. */
	for (int i = 0; i <= INTERVALS; i++) {
		n = format_point(p, s->here->at, s->of->counters.n, &begin);
		p += n;
		p += format_point(p, s->here->at, s->of->counters.n, &end);
		if (!n || end.op != OP_END || i == 0)
			continue;
		for (unsigned c = 0; c < s->of->counters.n; c++) {
			inside[c][k] = end.gap[c];
			whole[c][k] = begin.gap[c] + end.gap[c];
		}
		k++;
	}
	for (unsigned c = 0; c < s->of->counters.n; c++) {
		out->inside[c] = k ? middle_of(inside[c], k) : 0;
		out->whole[c] = k ? middle_of(whole[c], k) : 0;
	}
}

void region_cost_measure(struct region_stream *s, struct file_counter *info)
{
	struct costs round[ROUNDS];
	uint64_t one[ROUNDS];

	round_of(s, &round[0]); /* to warm up */
	for (int r = 0; r < ROUNDS; r++)
		round_of(s, &round[r]);
	for (unsigned c = 0; c < s->of->counters.n; c++) {
		for (int r = 0; r < ROUNDS; r++)
			one[r] = round[r].inside[c];
		info[c].own_inside = (double)middle_of(one, ROUNDS);
		for (int r = 0; r < ROUNDS; r++)
			one[r] = round[r].whole[c];
		info[c].own_cost = (double)middle_of(one, ROUNDS);
		info[c].own_cost_spread = (double)(one[ROUNDS - 1] - one[0]);
	}
}
