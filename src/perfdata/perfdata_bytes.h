/* SPDX-License-Identifier: MIT */
/*
 * A bounds-checked reader for bytes in either byte order: reading past the end sets `bad` and
 * returns 0.
 */
#ifndef PERFDATA_PERFDATA_BYTES_H
#define PERFDATA_PERFDATA_BYTES_H

#include <byteswap.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t load16(const void *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? bswap_16(v) : v;
}

static inline uint32_t load32(const void *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? bswap_32(v) : v;
}

static inline uint64_t load64(const void *p, bool swap)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? bswap_64(v) : v;
}

struct bytes {
	const unsigned char *p, *end;
	bool swap, bad;
};

static inline size_t bytes_left(const struct bytes *b)
{
	return (size_t)(b->end - b->p);
}

static inline const unsigned char *bytes_take(struct bytes *b, uint64_t n)
{
	const unsigned char *p = b->p;

	if (__builtin_expect(n > bytes_left(b), 0)) {
		b->bad = true;
		b->p = b->end;
		return NULL;
	}
	b->p += n;
	return p;
}

static inline uint16_t bytes_u16(struct bytes *b)
{
	const unsigned char *p = bytes_take(b, 2);

	return p ? load16(p, b->swap) : 0;
}

static inline uint32_t bytes_u32(struct bytes *b)
{
	const unsigned char *p = bytes_take(b, 4);

	return p ? load32(p, b->swap) : 0;
}

static inline uint64_t bytes_u64(struct bytes *b)
{
	const unsigned char *p = bytes_take(b, 8);

	return p ? load64(p, b->swap) : 0;
}

/* n items of `each` bytes, without overflow; NULL if they do not fit. */
static inline const unsigned char *bytes_array(struct bytes *b, uint64_t n, size_t each)
{
	uint64_t size;

	if (__builtin_mul_overflow(n, (uint64_t)each, &size))
		size = UINT64_MAX;
	return bytes_take(b, size);
}

/* A NUL-terminated string; consumes all of the rest, including padding. */
static inline const char *bytes_rest_string(struct bytes *b)
{
	const char *s = (const char *)b->p;

	if (!memchr(b->p, 0, bytes_left(b))) {
		b->bad = true;
		return "";
	}
	b->p = b->end;
	return s;
}

/* A feature's string: u32 length including padding, then the bytes, NUL-terminated within. */
static inline const char *bytes_string(struct bytes *b)
{
	uint32_t n = bytes_u32(b);
	const unsigned char *s = bytes_take(b, n);

	if (!s || !memchr(s, 0, n)) {
		b->bad = true;
		return "";
	}
	return (const char *)s;
}

#endif
