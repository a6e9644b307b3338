/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "output/base64_column.h"

/* Doubles represent every whole number below, and the sums that a page computes. */
#define WHOLE_MAX (UINT64_C(1) << 53)

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The base64 encoder's state. */
struct base64 {
	struct json *j;
	unsigned char in[3 * 1024];
	size_t n;
};

static void flush(struct base64 *b)
{
	char to[4 * 1024];
	size_t at = 0;

	for (size_t i = 0; i < b->n; i += 3) {
		size_t left = b->n - i;
		uint32_t v = (uint32_t)b->in[i] << 16 |
			(left > 1 ? (uint32_t)b->in[i + 1] << 8 : 0) |
			(left > 2 ? b->in[i + 2] : 0u);

		to[at++] = digits[v >> 18];
		to[at++] = digits[v >> 12 & 63];
		to[at++] = left > 1 ? digits[v >> 6 & 63] : '=';
		to[at++] = left > 2 ? digits[v & 63] : '=';
	}
	text_put(&b->j->out, to, at);
	json_pass(b->j);
	b->n = 0;
}

/* The `size` lowest bytes, little-endian. */
static void add_value(struct base64 *b, uint64_t v, unsigned size)
{
	for (unsigned i = 0; i < size; i++) {
		if (b->n == sizeof(b->in))
			flush(b);
		b->in[b->n++] = (unsigned char)(v >> 8 * i);
	}
}

static void begin_column(struct json *j, const char *key, const char *kind, size_t n)
{
	json_object(j, key);
	json_string(j, "packed", kind);
	json_uint(j, "n", n);
}

/* 0, 1, 2 or 4 bytes; 8 if these are too small. */
static unsigned bytes_for(uint64_t range)
{
	return range == 0             ? 0
		: range <= UINT8_MAX  ? 1
		: range <= UINT16_MAX ? 2
		: range <= UINT32_MAX ? 4
				      : 8;
}

static void put_plain(struct json *j, const char *key, uint64_t (*get)(void *, size_t), void *with,
		      size_t n)
{
	json_array(j, key);
	for (size_t i = 0; i < n; i++)
		json_uint(j, NULL, get(with, i));
	json_end(j);
}

void base64_uints(struct json *j, const char *key, uint64_t (*get)(void *with, size_t i),
		  void *with, size_t n)
{
	static const char *const kinds[] = { [0] = "u0", [1] = "u8", [2] = "u16", [4] = "u32" };
	uint64_t low = UINT64_MAX, high = 0, least = UINT64_MAX, most = 0, first = 0, before = 0;
	struct base64 b = { .j = j };
	unsigned size, steps = 8;
	bool rises = true;

	for (size_t i = 0; i < n; i++) {
		uint64_t v = get(with, i);

		low = v < low ? v : low;
		high = v > high ? v : high;
		first = i ? first : v;
		rises &= !i || v >= before;
		if (i && v - before < least)
			least = v - before;
		if (i && v - before > most)
			most = v - before;
		before = v;
	}
	size = n ? bytes_for(high - low) : 8;
	if (rises && n > 1)
		steps = bytes_for(most - least);
	if (high > WHOLE_MAX || (size == 8 && steps == 8)) {
		put_plain(j, key, get, with, n);
		return;
	}
	rises = steps < size;
	begin_column(j, key, kinds[rises ? steps : size], n);
	json_uint(j, "first", rises ? first : low);
	if (rises)
		json_uint(j, "step", least);
	json_string(j, "base64", "");
	j->out.len--; /* the closing quote is added later */
	for (size_t i = 0; i < n; i++) {
		uint64_t v = get(with, i);

		if (!rises)
			add_value(&b, v - low, size);
		else if (i)
			add_value(&b, v - before - least, steps);
		before = v;
	}
	flush(&b);
	text_put(&j->out, "\"", 1);
	json_end(j);
}

void base64_reals(struct json *j, const char *key, double (*get)(void *with, size_t i), void *with,
		  size_t n)
{
	struct base64 b = { .j = j };

	begin_column(j, key, "f64", n);
	json_string(j, "base64", "");
	j->out.len--;
	for (size_t i = 0; i < n; i++) {
		double v = get(with, i);
		uint64_t bits;

		memcpy(&bits, &v, sizeof(bits));
		add_value(&b, bits, 8);
	}
	flush(&b);
	text_put(&j->out, "\"", 1);
	json_end(j);
}
