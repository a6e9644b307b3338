/* SPDX-License-Identifier: MIT */
/*
 * Finds the earliest time of the unread records by scanning the headers and times in the rest of a
 * file. A file without rounds can then be sorted while it is read, without queueing all of it.
 */
#include <stdlib.h>
#include "perfdata/perfdata_private.h"

enum { BLOCK = 256 << 10 };

struct ahead {
	uint64_t begin;
	size_t n;
	uint64_t least[]; /* [i]: of the records that begin at or after begin + i * BLOCK */
};

/* Scans the records after the last one read; false if their times cannot be found. */
static bool walk(struct perfdata *r, struct input *in, struct ahead *a)
{
	struct perfdata_record rec = { 0 };
	const unsigned char *p;
	uint64_t time, payload;

	for (;;) {
		size_t block = (size_t)((in->offset - a->begin) / BLOCK);

		if (input_peek(in, RECORD_HEADER, &p, NULL) < RECORD_HEADER)
			return true; /* the end, or damage, which also ends the reading */
		rec.size = load16(p + 6, r->swap);
		if (rec.size < RECORD_HEADER || input_peek(in, rec.size, &p, NULL) < rec.size)
			return true;
		rec.type = load32(p, r->swap);
		rec.misc = load16(p + 4, r->swap);
		rec.bytes = p;
		if (rec.type == PD_RECORD_COMPRESSED || rec.type == PD_RECORD_COMPRESSED2)
			return false;
		if (block >= a->n)
			return false; /* it grows */
		if (record_time(r, &rec, &time) && time < a->least[block])
			a->least[block] = time;
		payload = record_payload(r, &rec);
		input_take(in, rec.size);
		if (payload && input_skip(in, payload, NULL) < (int64_t)payload)
			return true;
	}
}

struct ahead *ahead_look(struct perfdata *r)
{
	struct stream *s = &r->streams[0];
	struct input in = { .fd = -1 };
	uint64_t rest = input_rest(&s->in);
	struct ahead *a;

	if (!s->in.seekable || r->n_streams > 1 || s->inflate || s->payload || s->broken)
		return NULL;
	a = malloc(sizeof(*a) + (rest / BLOCK + 1) * sizeof(*a->least));
	if (!a || input_again(&in, &s->in) < 0) {
		free(a);
		return NULL;
	}
	a->begin = s->in.offset;
	a->n = (size_t)(rest / BLOCK + 1);
	for (size_t i = 0; i < a->n; i++)
		a->least[i] = UINT64_MAX;
	if (!walk(r, &in, a)) {
		free(a);
		a = NULL;
	}
	input_close(&in);
	for (size_t i = a ? a->n - 1 : 0; i-- > 0;)
		if (a->least[i] > a->least[i + 1])
			a->least[i] = a->least[i + 1];
	return a;
}

uint64_t ahead_least(const struct perfdata *r, const struct ahead *a)
{
	size_t block = (size_t)((r->streams[0].in.offset - a->begin) / BLOCK);

	return block < a->n ? a->least[block] : UINT64_MAX;
}
