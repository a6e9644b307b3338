/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include "analyze/region_halves.h"

static size_t slot_of(const struct region_halves *h, uint64_t number)
{
	size_t at = (size_t)(number * 0x9e3779b97f4a7c15ull >> 32) & (h->slots - 1);

	while (h->slot[at].used && h->slot[at].number != number)
		at = (at + 1) & (h->slots - 1);
	return at;
}

static bool grow(struct region_halves *h)
{
	struct region_halves grown = { .n = h->n, .slots = h->slots ? 2 * h->slots : 64 };

	grown.slot = calloc(grown.slots, sizeof(*grown.slot));
	if (!grown.slot)
		return false;
	for (size_t i = 0; i < h->slots; i++)
		if (h->slot[i].used)
			grown.slot[slot_of(&grown, h->slot[i].number)] = h->slot[i];
	free(h->slot);
	*h = grown;
	return true;
}

/* Takes one out without leaving a gap in what was put behind it. */
static void drop(struct region_halves *h, size_t at)
{
	size_t mask = h->slots - 1;

	h->slot[at].used = false;
	h->n--;
	for (size_t i = (at + 1) & mask; h->slot[i].used; i = (i + 1) & mask) {
		struct region_half moved = h->slot[i];

		h->slot[i].used = false;
		h->slot[slot_of(h, moved.number)] = moved;
	}
}

enum region_half_met region_halves_meet(struct region_halves *h, const struct region_half *half, struct region_half *other)
{
	bool twice;
	size_t at;

	if (2 * h->n >= h->slots && !grow(h))
		return REGION_HALF_NO_MEMORY;
	at = slot_of(h, half->number);
	if (h->slot[at].used && h->slot[at].is_start != half->is_start) {
		*other = h->slot[at];
		drop(h, at);
		return REGION_HALF_WHOLE;
	}
	twice = h->slot[at].used;
	h->n += !twice;
	h->slot[at] = *half;
	h->slot[at].used = true;
	return twice ? REGION_HALF_TWICE : REGION_HALF_KEPT;
}

void region_halves_free(struct region_halves *h)
{
	free(h->slot);
	*h = (struct region_halves){ 0 };
}
