/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/num.h"
#include "history/history_pack.h"
#include "perfdata/perfdata_deflate.h"
#include "perfdata/perfdata_inflate.h"

enum { PLAIN, ZSTD, LEVEL = 6, DIGITS_ROOM = 24, DEFLATE_ROOM = 1024 };

/* ---- packing ---- */

static size_t size_of(const struct history_finding *f)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		n += strlen(f->function[i].name) + strlen(f->function[i].module) + 2 + DIGITS_ROOM;
	return n;
}

static size_t put_all(char *to, const struct history_finding *f)
{
	char *at = to;

	for (size_t i = 0; i < f->n; i++) {
		const struct history_function *of = &f->function[i];

		at = stpcpy(at, of->name) + 1;
		at = stpcpy(at, of->module) + 1;
		at += sprintf(at, "%" PRIu64, of->count) + 1;
	}
	return (size_t)(at - to);
}

/* Without zstd it stays as it is. */
static int compress(unsigned char *out, size_t *n, const char *plain, size_t size,
		    struct tare_error *err)
{
	struct deflate *z;
	int64_t ret;

	if (deflate_new(&z, LEVEL, NULL) < 0) {
		out[0] = PLAIN;
		memcpy(out + 1, plain, size);
		*n = 1 + size;
		return 0;
	}
	out[0] = ZSTD;
	ret = deflate_piece(z, plain, size, out + 1, size + DEFLATE_ROOM, err);
	deflate_free(z);
	*n = ret < 0 ? 0 : 1 + (size_t)ret;
	return ret < 0 ? (int)ret : 0;
}

int history_pack(unsigned char **out, size_t *n, size_t *unpacked, const struct history_finding *f,
		 struct tare_error *err)
{
	size_t room = size_of(f);
	char *plain = room <= HISTORY_UNPACKED_MAX ? malloc(room + 1) : NULL;
	int ret = 0;

	*out = plain ? malloc(1 + room + DEFLATE_ROOM) : NULL;
	if (room > HISTORY_UNPACKED_MAX) {
		ret = tare_fail(err, E2BIG, "the names of %zu functions are too long", f->n);
	} else if (!*out) {
		ret = tare_fail_nomem(err);
	} else {
		*unpacked = put_all(plain, f);
		ret = compress(*out, n, plain, *unpacked, err);
	}
	if (ret == 0 && *n > HISTORY_PACKED_MAX)
		ret = tare_fail(err, E2BIG, "%zu functions are too many: %zu bytes", f->n, *n);
	free(plain);
	if (ret < 0) {
		free(*out);
		*out = NULL;
	}
	return ret;
}

/* ---- unpacking ---- */

static int damaged(struct tare_error *err)
{
	return tare_fail(err, EINVAL, "the functions of a measurement are damaged");
}

static int decompress(char *to, size_t size, const unsigned char *bytes, size_t n,
		      struct tare_error *err)
{
	struct inflate *z = inflate_new(err);
	const unsigned char *piece;
	ssize_t got = 1;
	size_t at = 0;

	if (!z)
		return -err->code;
	inflate_feed(z, bytes, n, size);
	while (at < size && got > 0) {
		size_t want = size - at < 65536 ? size - at : 65536;

		got = inflate_peek(z, want, &piece, err);
		if (got > 0) {
			memcpy(to + at, piece, (size_t)got);
			inflate_take(z, (size_t)got);
			at += (size_t)got;
		}
	}
	inflate_free(z);
	return got < 0 || at != size ? damaged(err) : 0;
}

/* The next string; NULL: there is none that ends. */
static const char *next(const char **at, const char *end)
{
	const char *s = *at, *stop = s < end ? memchr(s, '\0', (size_t)(end - s)) : NULL;

	*at = stop ? stop + 1 : end;
	return stop ? s : NULL;
}

static int take_all(struct history_finding *out, void **strings, const char *at, size_t n,
		    struct tare_error *err)
{
	const char *end = at + n;

	while (at < end) {
		const char *name = next(&at, end), *module = next(&at, end),
			   *digits = next(&at, end);
		struct history_function *f;
		uint64_t count;

		if (!digits || num_parse(digits, &count, NULL) != 0)
			return damaged(err);
		f = history_add_function(out);
		if (!f)
			return tare_fail_nomem(err);
		*f = (struct history_function){ arena_string(strings, name, strlen(name)),
						arena_string(strings, module, strlen(module)),
						count };
		if (!f->name || !f->module)
			return tare_fail_nomem(err);
	}
	return 0;
}

int history_unpack(struct history_finding *out, void **strings, const unsigned char *bytes,
		   size_t n, size_t unpacked, struct tare_error *err)
{
	struct tare_error own = TARE_ERROR_INIT;
	char *plain;
	int ret = 0;

	err = err ? err : &own;
	if (!n || unpacked > HISTORY_UNPACKED_MAX || bytes[0] > ZSTD ||
	    (bytes[0] == PLAIN && n - 1 != unpacked))
		return damaged(err);
	plain = malloc(unpacked + 1);
	if (!plain)
		return tare_fail_nomem(err);
	if (bytes[0] == PLAIN)
		memcpy(plain, bytes + 1, unpacked);
	else
		ret = decompress(plain, unpacked, bytes + 1, n - 1, err);
	if (ret == 0)
		ret = take_all(out, strings, plain, unpacked, err);
	free(plain);
	return ret;
}
