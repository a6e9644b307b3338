/* SPDX-License-Identifier: MIT */
/* Writes the feature TARE_PLACES. perfdata_format.h describes its layout. */
#include "perfdata/perfdata_format.h"
#include "sample/perfdata_write_features.h"

enum { WORD_MOST = 10 };

static void put_word(struct text *out, uint64_t v)
{
	char bytes[WORD_MOST];
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		bytes[n++] = (char)(v | 0x80);
	bytes[n++] = (char)v;
	text_put(out, bytes, n);
}

static void put_instructions(struct text *out, const struct exact_places *p,
			     const struct exact_places_module *m)
{
	uint64_t last[PD_PLACES_EVENTS_MOST] = { 0 }, before = 0;

	for (size_t i = m->first; i < m->first + m->n; i++) {
		put_word(out, p->offset[i] - before);
		before = p->offset[i];
		for (size_t e = 0; e < p->events; e++) {
			uint64_t v = p->value[i * p->events + e];

			put_word(out, !v ? 0 : v == last[e] ? 1 : v + 1);
			last[e] = v ? v : last[e];
		}
	}
}

bool feature_places(struct text *out, const struct feature_source *from)
{
	const struct exact_places *p = from->outcome ? &from->outcome->places : NULL;

	if (!p || !p->events || p->events > PD_PLACES_EVENTS_MOST)
		return false;
	feature_u32(out, PD_PLACES_VERSION);
	feature_u32(out, (uint32_t)p->events);
	feature_u32(out, (uint32_t)p->modules);
	feature_u32(out, 0);
	for (size_t e = 0; e < p->events; e++)
		feature_u64(out, p->no_place[e]);
	for (size_t i = 0; i < p->modules; i++) {
		struct text numbers = { 0 };

		put_instructions(&numbers, p, &p->module[i]);
		feature_u64(out, p->module[i].n);
		feature_u64(out, numbers.len);
		feature_string(out, p->module[i].path);
		text_put(out, numbers.s ? numbers.s : "", numbers.len);
		out->failed |= numbers.failed;
		text_free(&numbers);
	}
	return true;
}
