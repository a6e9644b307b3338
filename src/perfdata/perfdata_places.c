/* SPDX-License-Identifier: MIT */
/* Reads the feature TARE_PLACES; for its layout see perfdata_format.h. */
#include <stdlib.h>
#include <string.h>
#include "perfdata/perfdata_private.h"

static uint64_t take_word(struct bytes *b)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		const unsigned char *p = bytes_take(b, 1);
		uint64_t digit = p ? *p & 0x7f : 0;

		if (!p || digit << shift >> shift != digit)
			break;
		v |= digit << shift;
		if (!(*p & 0x80))
			return v;
	}
	b->bad = true;
	return 0;
}

/* `sum`: by event, so far. */
static void take_instructions(struct exact_places *p, const struct exact_places_module *m,
			      struct bytes *b, uint64_t *sum)
{
	uint64_t last[PD_PLACES_EVENTS_MOST] = { 0 }, offset = 0;

	for (size_t i = m->first; !b->bad && i < m->first + m->n; i++) {
		uint64_t step = take_word(b);

		b->bad |= __builtin_add_overflow(offset, step, &offset) || (i > m->first && !step);
		p->offset[i] = offset;
		for (size_t e = 0; e < p->events; e++) {
			uint64_t word = take_word(b), v = word < 2 ? word * last[e] : word - 1;

			last[e] = v ? v : last[e];
			p->value[i * p->events + e] = v;
			b->bad |= __builtin_add_overflow(sum[e], v, &sum[e]) || sum[e] > INT64_MAX;
		}
	}
	b->bad |= bytes_left(b) > 0;
}

/*
 * A module's header and data; each instruction has at least one byte for its offset and one for
 * each event.
 */
static struct bytes take_module(struct exact_places *p, struct exact_places_module *m,
				struct bytes *b)
{
	uint64_t n = bytes_u64(b), size = bytes_u64(b);
	const unsigned char *at;

	m->path = bytes_string(b);
	at = bytes_take(b, size);
	if (b->bad || n > size / (p->events + 1)) {
		b->bad = true;
		return (struct bytes){ .bad = true };
	}
	*m = (struct exact_places_module){ m->path, p->n, (size_t)n };
	p->n += (size_t)n;
	return (struct bytes){ at, at + size, b->swap, false };
}

static bool take_all(struct perfdata *r, struct exact_places *p, struct bytes *b, uint64_t *sum)
{
	struct bytes *numbers = calloc(p->modules + 1, sizeof(*numbers));

	for (size_t i = 0; numbers && !b->bad && i < p->modules; i++)
		numbers[i] = take_module(p, &p->module[i], b);
	p->offset = features_keep(r, p->n, sizeof(*p->offset));
	p->value = features_keep(r, p->n * p->events, sizeof(*p->value));
	b->bad |= !numbers || !p->offset || !p->value;
	for (size_t i = 0; !b->bad && i < p->modules; i++) {
		take_instructions(p, &p->module[i], &numbers[i], sum);
		b->bad |= numbers[i].bad;
	}
	free(numbers);
	return !b->bad;
}

void places_decode(struct perfdata *r, struct bytes *b)
{
	enum { MODULE_LEAST = 20 };
	struct perfdata_features *f = &r->features;
	uint32_t version = bytes_u32(b), events = bytes_u32(b), modules = bytes_u32(b);
	struct exact_places p = { .events = events, .modules = modules };
	uint64_t sum[PD_PLACES_EVENTS_MOST];
	bool as_in_all = true;

	bytes_u32(b);
	if (version != PD_PLACES_VERSION) /* of a newer tare */
		return;
	if (!events || events > PD_PLACES_EVENTS_MOST || events > bytes_left(b) / 8 ||
	    modules > bytes_left(b) / MODULE_LEAST) {
		b->bad = true;
		return;
	}
	p.no_place = features_keep(r, events, sizeof(*p.no_place));
	p.module = features_keep(r, modules, sizeof(*p.module));
	if (!p.no_place || !p.module) {
		b->bad = true;
		return;
	}
	for (size_t e = 0; e < events; e++) {
		p.no_place[e] = sum[e] = bytes_u64(b);
		b->bad |= sum[e] > INT64_MAX;
	}
	if (!take_all(r, &p, b, sum))
		return;
	for (size_t e = 0; e < events; e++)
		as_in_all &= e < f->n_exact_total && f->exact_total[e] == sum[e];
	if (as_in_all)
		f->places = p;
	else
		b->bad = true;
}
