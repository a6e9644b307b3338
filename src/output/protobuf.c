/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "output/protobuf.h"

enum { VARINT = 0, BYTES = 2, VARINT_MAX = 10 };

static size_t varint(unsigned char *to, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		to[n++] = (unsigned char)(v | 0x80);
	to[n++] = (unsigned char)v;
	return n;
}

static bool grow(struct pb *m, size_t n)
{
	size_t need;

	m->failed |= __builtin_add_overflow(m->n, n, &need) ||
		!array_reserve(&m->b, &m->room, need < 256 ? 256 : need, 1);
	return !m->failed;
}

static void put_varint(struct pb *m, uint64_t v)
{
	if (grow(m, VARINT_MAX))
		m->n += varint(m->b + m->n, v);
}

static void put_tag(struct pb *m, unsigned field, unsigned type)
{
	put_varint(m, (uint64_t)field << 3 | type);
}

void pb_clear(struct pb *m)
{
	m->n = 0;
}

void pb_free(struct pb *m)
{
	free(m->b);
	*m = (struct pb){ 0 };
}

void pb_int(struct pb *m, unsigned field, uint64_t value)
{
	put_tag(m, field, VARINT);
	put_varint(m, value);
}

void pb_bytes(struct pb *m, unsigned field, const void *bytes, size_t n)
{
	put_tag(m, field, BYTES);
	put_varint(m, n);
	if (n && grow(m, n)) {
		memcpy(m->b + m->n, bytes, n);
		m->n += n;
	}
}

void pb_string(struct pb *m, unsigned field, const char *s)
{
	pb_bytes(m, field, s, strlen(s));
}

void pb_message(struct pb *m, unsigned field, const struct pb *inner)
{
	m->failed |= inner->failed;
	pb_bytes(m, field, inner->b, inner->n);
}

void pb_ints(struct pb *m, unsigned field, const uint64_t *value, size_t n)
{
	unsigned char one[VARINT_MAX];
	size_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += varint(one, value[i]);
	put_tag(m, field, BYTES);
	put_varint(m, bytes);
	for (size_t i = 0; i < n; i++)
		put_varint(m, value[i]);
}

void pb_write(struct out *o, unsigned field, const struct pb *m)
{
	unsigned char head[2 * VARINT_MAX];
	size_t n = varint(head, (uint64_t)field << 3 | BYTES);

	n += varint(head + n, m->n);
	if (m->failed && o->error == 0)
		o->error = -ENOMEM;
	out_put(o, head, n);
	out_put(o, m->b, m->n);
}
