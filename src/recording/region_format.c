/* SPDX-License-Identifier: MIT */
/* Shared by writer and reader of a recording of regions: checksums, and the sizes of records. */
#include <errno.h>
#include <string.h>
#include "recording/region_format.h"

static inline uint64_t word_at(const uint8_t *p)
{
	uint64_t w;

	memcpy(&w, p, sizeof(w));
	return w;
}

uint64_t format_sum(const void *data, size_t n)
{
	const uint8_t *p = data, *end = p + (n & ~(size_t)31);
	uint64_t a = 1, b = 2, c = 3, d = 4, h = n;

	for (; p < end; p += 32) {
		a = (a ^ word_at(p)) * SUM_FACTOR;
		b = (b ^ word_at(p + 8)) * SUM_FACTOR;
		c = (c ^ word_at(p + 16)) * SUM_FACTOR;
		d = (d ^ word_at(p + 24)) * SUM_FACTOR;
	}

	uint64_t lane[4] = { a, b, c, d };

	if (n & 31) {
		uint8_t rest[32] = { 0 };

		memcpy(rest, p, n & 31);
		for (size_t i = 0; i < ((n & 31) + 7) / 8; i++)
			lane[i] = (lane[i] ^ word_at(rest + 8 * i)) * SUM_FACTOR;
	}
	for (int i = 0; i < 4; i++)
		h = (h ^ h >> 29 ^ lane[i]) * SUM_FACTOR;
	return h;
}

uint64_t format_block_sum(const struct block_head *b, const void *data)
{
	return format_sum(data, b->used) + b->lost * SUM_FACTOR + b->flags +
		format_sum(b->name, sizeof(b->name));
}

uint64_t format_head_sum(const struct block_head *b)
{
	struct block_head h = *b;

	h.state = 0;
	h.used = 0;
	h.lost = 0;
	h.flags = 0;
	memset(h.name, 0, sizeof(h.name));
	return format_sum(&h, offsetof(struct block_head, head_sum));
}

uint64_t format_seal_sum(const struct block_head *b)
{
	struct block_head h = *b;

	h.state = BLOCK_SEALED;
	return format_sum(&h, offsetof(struct block_head, seal_sum));
}

void format_begin_block(struct block_head *b, const struct block_head *head)
{
	__atomic_store_n(&b->magic, 0, __ATOMIC_RELEASE);
	memcpy((char *)b + sizeof(b->magic), (const char *)head + sizeof(b->magic),
	       sizeof(*b) - sizeof(b->magic));
	__atomic_store_n(&b->magic, head->magic, __ATOMIC_RELEASE);
}

bool format_is_begun(const void *page, size_t n)
{
	const char *p = page;
	uint32_t magic;

	if (n < sizeof(struct block_head))
		return false;
	memcpy(&magic, p, sizeof(magic));
	for (size_t i = sizeof(struct block_head); magic == 0 && i < n; i++)
		magic |= p[i] != 0;
	return magic == 0;
}

const char *format_why_lost(uint32_t code)
{
	return code == E2BIG          ? "longer than 256 MiB"
		: code && code < 4096 ? strerror((int)code)
				      : "?";
}

unsigned format_lost_bit(uint32_t label)
{
	return label ? LOST_LABELS + (label - 1) % (64 * FILE_LOST_WORDS - LOST_LABELS) : LOST_ANY;
}

/* The n <= 8 bytes at p as a number. Missing bytes of the word count as zero. */
static uint64_t bytes_at(const uint8_t *p, const uint8_t *end, size_t n)
{
	uint64_t x = 0;

	if (end - p >= 8) {
		memcpy(&x, p, 8);
		return n == 8 ? x : x & (((uint64_t)1 << 8 * n) - 1);
	}
	memcpy(&x, p, n);
	return x;
}

static size_t wide_point(const uint8_t *p, const uint8_t *end, unsigned n, uint64_t w,
			 struct format_point *out)
{
	uint64_t op = w >> 14 & 63;

	if ((size_t)(end - p) < 16 + 8 * (size_t)n || op >= OP_COUNT || w >> 52)
		return 0;
	out->op = (enum point_op)op;
	out->label = (uint32_t)(w >> 20);
	memcpy(&out->number, p + 8, 8);
	memcpy(out->gap, p + 16, 8 * (size_t)n);
	return 16 + 8 * (size_t)n;
}

size_t format_point(const uint8_t *p, const uint8_t *end, unsigned n, struct format_point *out)
{
	static const uint8_t word_bytes[4] = { 0, 3, 4, 8 };
	const uint8_t *at = p;
	size_t size = at < end ? word_bytes[*at & 3] : 0;
	uint64_t w;

	if (!size || (size_t)(end - at) < size)
		return 0;
	w = bytes_at(at, end, size);
	if ((w >> 3 & POINT_WIDE) == POINT_WIDE)
		return size == 8 ? wide_point(p, end, n, w, out) : 0;
	out->op = w & 4 ? OP_END : OP_BEGIN;
	out->label = w >> 3 & POINT_WIDE;
	out->number = 0;
	out->gap[0] = w >> 14;
	at += size;
	for (unsigned i = 1; i < n; i++) {
		if (at >= end || !(*at & 3))
			return 0;
		size = (size_t)1 << (*at & 3);
		if ((size_t)(end - at) < size)
			return 0;
		out->gap[i] = bytes_at(at, end, size) >> 2;
		at += size;
	}
	return (size_t)(at - p);
}
