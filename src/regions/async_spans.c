/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include "regions/async_spans.h"

static size_t slot_of(const struct async_spans *h, uint64_t number)
{
	size_t at = (size_t)(number * 0x9e3779b97f4a7c15ull >> 32) & (h->slots - 1);

	while (h->slot[at].used && h->slot[at].number != number)
		at = (at + 1) & (h->slots - 1);
	return at;
}

static bool grow(struct async_spans *h)
{
	struct async_spans grown = { .n = h->n, .slots = h->slots ? 2 * h->slots : 64 };

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

/* Remove an entry and close the gap in the probe sequence. */
static void drop(struct async_spans *h, size_t at)
{
	size_t mask = h->slots - 1;

	h->slot[at].used = false;
	h->n--;
	for (size_t i = (at + 1) & mask; h->slot[i].used; i = (i + 1) & mask) {
		struct async_end moved = h->slot[i];

		h->slot[i].used = false;
		h->slot[slot_of(h, moved.number)] = moved;
	}
}

enum async_end_met async_spans_meet(struct async_spans *h, const struct async_end *half,
				    struct async_end *other)
{
	size_t at;

	if (2 * h->n >= h->slots && !grow(h))
		return ASYNC_END_NO_MEMORY;
	at = slot_of(h, half->number);
	if (h->slot[at].used && h->slot[at].is_start != half->is_start) {
		*other = h->slot[at];
		drop(h, at);
		return ASYNC_END_WHOLE;
	}
	if (h->slot[at].used)
		return ASYNC_END_TWICE;
	h->n++;
	h->slot[at] = *half;
	h->slot[at].used = true;
	return ASYNC_END_KEPT;
}

/*
 * A start that is read before its finish is removed with it, so one that is still here is a second
 * start.
 */
static int settle_thread(struct async_spans *h, struct timeline *t, size_t thread, bool left_out,
			 struct tare_error *err)
{
	struct timeline_point p;
	struct cursor *c;
	int ret = timeline_thread(t, thread, &c, err);

	if (ret < 0)
		return ret;
	while ((ret = cursor_next(c, &p, err)) == 1) {
		struct async_end *half;

		if (p.kind != TIMELINE_START && p.kind != TIMELINE_FINISH)
			continue;
		half = &h->slot[slot_of(h, p.number)];
		if (!half->used || half->is_start == (p.kind == TIMELINE_START))
			continue;
		half->met = true;
		half->elsewhere |= left_out;
	}
	cursor_close(c);
	return ret;
}

int async_spans_settle(struct async_spans *h, struct timeline *t, const bool *left_out,
		       struct tare_error *err)
{
	bool ask = h->n && left_out;
	int ret = 0;

	for (size_t i = 0; i < h->slots; i++)
		ask |= h->slot[i].used && !h->slot[i].is_start;
	for (size_t i = 0; ret == 0 && ask && i < timeline_info(t)->n_threads; i++)
		ret = settle_thread(h, t, i, left_out && left_out[i], err);
	return ret;
}

bool async_end_judge(const struct async_end *half, struct region_unbalanced *u)
{
	if (half->elsewhere)
		return false;
	if (half->met && !half->is_start)
		u->finished_again++;
	else if (half->is_start)
		u->not_finished++;
	else
		u->not_started++;
	return true;
}

void async_spans_free(struct async_spans *h)
{
	free(h->slot);
	*h = (struct async_spans){ 0 };
}
