/* SPDX-License-Identifier: MIT */
/*
 * For two sequences: the greedy search by number of edits. Source: Myers, "An O(ND) Difference
 * Algorithm and Its Variations", Algorithmica 1 (1986). reach[e] has the furthest position after e
 * edits, for the diagonals -e, -e + 2, ... e.
 */
#include "base/array.h"
#include "statistics/common_subsequence.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int subsequence_open(struct subsequence *c, size_t n_seqs, size_t room)
{
	bool good = true;

	*c = (struct subsequence){ .n_seqs = n_seqs, .room = room };
	c->seq = calloc(n_seqs + 1, sizeof(*c->seq));
	c->at = malloc((room * n_seqs + 1) * sizeof(*c->at));
	for (size_t i = 0; c->seq && i < n_seqs; i++) {
		c->seq[i].key = malloc((room + 1) * sizeof(*c->seq[i].key));
		good &= c->seq[i].key != NULL;
	}
	if (c->seq && c->at && good)
		return 0;
	subsequence_close(c);
	return -ENOMEM;
}

void subsequence_close(struct subsequence *c)
{
	for (size_t i = 0; c->seq && i < c->n_seqs; i++)
		free(c->seq[i].key);
	free(c->seq);
	free(c->at);
	*c = (struct subsequence){ 0 };
}

struct pair {
	uint32_t x, y;
};

static int32_t *row_of(int32_t *reach, int edits)
{
	return reach + (size_t)edits * (size_t)(edits + 1) / 2;
}

/*
 * The furthest position on diagonal k after this number of edits. The previous row has k - 1 at i -
 * 1, k + 1 at i.
 */
static int32_t step_to(int32_t *reach, int edits, int i)
{
	const int32_t *before;

	if (edits == 0)
		return 0;
	before = row_of(reach, edits - 1);
	if (i == 0 || (i < edits && before[i - 1] < before[i]))
		return before[i];
	return before[i - 1] + 1;
}

/* Trace back from the end. Returns the length. */
static size_t walk_back(int32_t *reach, int edits, int i, struct pair *out)
{
	size_t n = 0;

	for (;;) {
		int32_t k = 2 * i - edits, x = row_of(reach, edits)[i],
			from = step_to(reach, edits, i);

		while (x > from) {
			x--;
			out[n++] = (struct pair){ (uint32_t)x, (uint32_t)(x - k) };
		}
		if (edits == 0)
			break;
		if (!(i == 0 ||
		      (i < edits && row_of(reach, edits - 1)[i - 1] < row_of(reach, edits - 1)[i])))
			i--;
		edits--;
	}
	for (size_t j = 0; j < n / 2; j++) {
		struct pair t = out[j];

		out[j] = out[n - 1 - j];
		out[n - 1 - j] = t;
	}
	return n;
}

/* out: room for the shorter one. Returns 1 and the length, 0: too far apart, -ENOMEM. */
static int longest(const uint64_t *a, int32_t na, const uint64_t *b, int32_t nb, bool open_end,
		   struct pair *out, size_t *n)
{
	int32_t *reach = NULL;
	size_t room = 0;

	for (int edits = 0; edits <= SUBSEQUENCE_EDITS; edits++) {
		int32_t *row;
		size_t need = (size_t)(edits + 1) * (size_t)(edits + 2) / 2;

		if (!array_reserve(&reach, &room, need, sizeof(*reach))) {
			free(reach);
			return -ENOMEM;
		}
		row = row_of(reach, edits);
		for (int i = 0; i <= edits; i++) {
			int32_t x = step_to(reach, edits, i), y = x - (2 * i - edits);

			while (x < na && y < nb && a[x] == b[y] && a[x] != SUBSEQUENCE_NONE)
				x++, y++;
			row[i] = x;
			if (open_end ? x >= na || y >= nb : x >= na && y >= nb) {
				*n = walk_back(reach, edits, i, out);
				free(reach);
				return 1;
			}
		}
	}
	free(reach);
	return 0;
}

static int by_content(const void *pa, const void *pb)
{
	const struct subsequence_seq *a = *(const struct subsequence_seq *const *)pa,
				     *b = *(const struct subsequence_seq *const *)pb;

	return a->n != b->n ? (a->n > b->n) - (a->n < b->n)
			    : memcmp(a->key, b->key, a->n * sizeof(*a->key));
}

/* Reduce the common subsequence so far to the part that is also in the sequence `s`. */
static int narrow(struct subsequence *c, uint64_t *key, size_t s, bool open_end, struct pair *pair)
{
	size_t n = 0;
	int ret = longest(key, (int32_t)c->n, c->seq[s].key, (int32_t)c->seq[s].n, open_end, pair,
			  &n);

	if (ret < 1)
		return ret;
	for (size_t i = 0; i < n; i++) {
		memmove(&c->at[i * c->n_seqs], &c->at[pair[i].x * c->n_seqs],
			c->n_seqs * sizeof(*c->at));
		c->at[i * c->n_seqs + s] = pair[i].y;
		key[i] = key[pair[i].x];
	}
	c->n = n;
	return 1;
}

int subsequence_find(struct subsequence *c, bool open_end)
{
	const struct subsequence_seq **order = calloc(c->n_seqs,
						      sizeof(const struct subsequence_seq *));
	uint64_t *key = malloc((c->room + 1) * sizeof(*key));
	struct pair *pair = malloc((c->room + 1) * sizeof(*pair));
	int ret = order && key && pair ? 1 : -ENOMEM;

	c->n = 0;
	if (ret == 1) {
		for (size_t i = 0; i < c->n_seqs; i++)
			order[i] = &c->seq[i];
		qsort(order, c->n_seqs, sizeof(const struct subsequence_seq *), by_content);
		c->n = order[0]->n;
		memcpy(key, order[0]->key, c->n * sizeof(*key));
		for (size_t i = 0; i < c->n; i++)
			c->at[i * c->n_seqs + (size_t)(order[0] - c->seq)] = (uint32_t)i;
	}
	for (size_t i = 1; ret == 1 && i < c->n_seqs; i++)
		ret = narrow(c, key, (size_t)(order[i] - c->seq), open_end, pair);
	free(order);
	free(key);
	free(pair);
	return ret;
}
