/* SPDX-License-Identifier: MIT */
#include "perfdata/spe.h"

enum {
	HEADER_PAD = 0x00,
	HEADER_END = 0x01,
	HEADER_TIMESTAMP = 0x71,
	RECORD_MAX = 512, /* search limit for the end of a record; the longest known is 128 */
};

/* Packet kinds by the first byte, or by the second byte of an extended packet. */
static const struct {
	uint8_t mask, value, index_mask;
	enum spe_kind kind;
	bool extends;
} kinds[] = {
	{ 0xf8, 0xb0, 7, SPE_ADDRESS, true },
	{ 0xf8, 0x98, 7, SPE_COUNTER, true },
	{ 0xcf, 0x42, 0, SPE_EVENTS, false },
	{ 0xfc, 0x48, 3, SPE_OPERATION, false },
	{ 0xfc, 0x64, 3, SPE_CONTEXT, false },
	{ 0xcf, 0x43, 0, SPE_SOURCE, false },
	{ 0xff, HEADER_TIMESTAMP, 0, SPE_TIMESTAMP, false },
};

static uint64_t little(const uint8_t *p, unsigned width)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < width; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

/* A header of one byte, or two if `extended`; `left` bytes remain from its last one. */
static struct spe_packet payload_packet(const uint8_t *header, size_t left, uint8_t extended)
{
	struct spe_packet p = { .kind = SPE_BAD, .size = 1 };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if ((*header & kinds[i].mask) != kinds[i].value || (extended && !kinds[i].extends))
			continue;
		p.kind = kinds[i].kind;
		p.width = 1 << (*header >> 4 & 3);
		p.index = (extended & 3) << 3 | (*header & kinds[i].index_mask);
		p.size = p.width < left ? 1 + !!extended + p.width : 0;
		if (p.size)
			p.payload = little(header + 1, p.width);
		break;
	}
	return p;
}

/*
 * Zero bytes up to the next multiple of a power of two; any other byte means that it is not an
 * alignment packet.
 */
static struct spe_packet alignment_packet(const uint8_t *data, size_t n, size_t at)
{
	size_t step = (size_t)2 << (data[at] & 15), next = (at + 1 + step) & ~(step - 1);

	for (size_t i = at + 1; i < next && i < n; i++)
		if (data[i])
			return (struct spe_packet){ .kind = SPE_BAD, .size = 1 };
	return (struct spe_packet){ .kind = SPE_PAD, .size = next <= n ? next - at : 0 };
}

struct spe_packet spe_packet(const uint8_t *data, size_t n, size_t at)
{
	const uint8_t *h = data + at;
	size_t left = n - at;
	uint8_t header = *h;

	if (header == HEADER_PAD)
		return (struct spe_packet){ .kind = SPE_PAD, .size = 1 };
	if (header == HEADER_END)
		return (struct spe_packet){ .kind = SPE_END, .size = 1 };
	if ((header & 0xfc) != 0x20)
		return payload_packet(h, left, 0);
	if (left < 2)
		return (struct spe_packet){ .kind = SPE_PAD };
	if (h[1] == 0)
		return alignment_packet(data, n, at);
	return payload_packet(h + 1, left - 1, header);
}

/* Adds a packet to the record; false for a duplicate of a kind that occurs once. */
static bool take_packet(struct spe_record *r, const struct spe_packet *p)
{
	uint32_t bit = 0;

	switch (p->kind) {
	case SPE_ADDRESS:
		if (p->index >= SPE_ADDRESSES)
			return true;
		bit = SPE_HAS_ADDRESS(p->index);
		r->address[p->index] = p->payload;
		break;
	case SPE_COUNTER:
		if (p->index >= SPE_COUNTERS)
			return true;
		bit = SPE_HAS_COUNTER(p->index);
		r->counter[p->index] = (uint16_t)p->payload;
		break;
	case SPE_EVENTS:
		bit = SPE_HAS_EVENTS;
		r->events = p->payload;
		break;
	case SPE_SOURCE:
		bit = SPE_HAS_SOURCE;
		r->source = p->payload;
		break;
	case SPE_CONTEXT:
		bit = SPE_HAS_CONTEXT(p->index);
		r->context[p->index] = (uint32_t)p->payload;
		break;
	case SPE_OPERATION:
		bit = SPE_HAS_OPERATION;
		r->class = p->index;
		r->operation = (uint8_t)p->payload;
		break;
	case SPE_TIMESTAMP:
		bit = SPE_HAS_TIMESTAMP;
		r->timestamp = p->payload;
		break;
	default:
		break;
	}
	if (r->has & bit)
		return false;
	r->has |= bit;
	return true;
}

enum outcome { CLOSED, DAMAGED, CUT };

/* Reads packets from `at` to the end of their record; *end is where reading stopped. */
static enum outcome read_record(const uint8_t *data, size_t n, size_t at, struct spe_record *r,
				size_t *end)
{
	*r = (struct spe_record){ .offset = at };
	while (at < n) {
		struct spe_packet p;

		if (data[at] == HEADER_PAD) { /* a third of the packets that hardware writes */
			*end = ++at;
			r->offset = r->has ? r->offset : at;
			continue;
		}
		p = spe_packet(data, n, at);
		*end = at;
		if (p.size == 0)
			return CUT;
		if (p.kind == SPE_BAD || !take_packet(r, &p))
			return DAMAGED;
		at += p.size;
		*end = at;
		if (p.kind == SPE_END || p.kind == SPE_TIMESTAMP)
			return CLOSED;
		if (p.kind == SPE_PAD && !r->has)
			r->offset = at;
	}
	return CUT;
}

static bool whole(const struct spe_record *r)
{
	uint32_t least = SPE_HAS_ADDRESS(SPE_PC) | SPE_HAS_OPERATION;

	return (r->has & least) == least;
}

/* The start of the next complete record from `at` on; n if there is none. */
static size_t resynchronise(const uint8_t *data, size_t n, size_t at)
{
	struct spe_record r;
	size_t end;

	for (; at < n; at++) {
		size_t most = n - at < RECORD_MAX ? n : at + RECORD_MAX;

		if (data[at] != HEADER_PAD && read_record(data, most, at, &r, &end) == CLOSED &&
		    whole(&r))
			break;
	}
	return at;
}

bool spe_next(struct spe_walk *w, struct spe_record *out)
{
	while (w->at < w->n) {
		size_t end = w->at, next;

		switch (read_record(w->data, w->n, w->at, out, &end)) {
		case CLOSED:
			w->at = end;
			if (out->has & SPE_HAS_ADDRESS(SPE_PC))
				return true;
			w->headless++;
			continue;
		case CUT:
			w->tail = out->has || end < w->n ? w->n - out->offset : 0;
			w->at = w->n;
			return false;
		case DAMAGED:
			next = resynchronise(w->data, w->n, out->offset + 1);
			w->skipped += next - out->offset;
			w->damages++;
			w->at = next;
		}
	}
	return false;
}

uint64_t spe_address(unsigned index, uint64_t payload)
{
	uint64_t low = payload << 8 >> 8, top = 0xffull << 56;
	unsigned level = payload >> 61 & 3;
	bool nonsecure = payload >> 63;

	switch (index) {
	case SPE_PC:
	case SPE_TARGET:
	case SPE_PREVIOUS_TARGET:
		return nonsecure && (level == 1 || level == 2) ? low | top : low;
	/* the top byte may be a tag: bits 55:52 distinguish kernel and user */
	case SPE_DATA_VIRTUAL:
		return (low >> 52 & 15) == 15 ? low | top : low;
	default:
		return low;
	}
}
