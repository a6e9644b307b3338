/* SPDX-License-Identifier: MIT */
/*
 * zstd streams in perf.data. The payloads of all compressed records of a file form one stream: each
 * is flushed but does not end the frame, and a record may straddle two payloads.
 * Source: perf.data-file-format.txt, "PERF_RECORD_COMPRESSED".
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include "base/library.h"
#include "perfdata/perfdata_inflate.h"

#define FUNCTIONS(F)                                                                               \
	F(ZSTD_createDCtx)                                                                         \
	F(ZSTD_freeDCtx)                                                                           \
	F(ZSTD_DCtx_setParameter) F(ZSTD_decompressStream) F(ZSTD_isError) F(ZSTD_getErrorName)
LIBRARY(zstd, "libzstd.so.1", FUNCTIONS)

enum {
	PEEK_MAX = 65536,
	WINDOW = 4 * PEEK_MAX,
	WINDOW_LOG_MAX = 27, /* 128 MiB: the window of perf's highest level (22) */
};

/*
 * Limits the decompressed size of all payloads of a file: recordings compress to a hundredth at
 * best, a bomb to less than a ten-thousandth. The first bytes are exempt, so that small repetitive
 * files are read whole.
 */
#define GROWTH_MOST 1000u
#define GROWTH_FREE (64ull << 20)

struct inflate {
	ZSTD_DCtx *ctx;
	ZSTD_inBuffer in;
	uint64_t left;       /* bytes that this payload may still expand to */
	uint64_t fed, given; /* bytes of all payloads so far, compressed and decompressed */
	bool starved;        /* the last call produced no output */
	size_t at, end;
	unsigned char buf[WINDOW];
};

struct inflate *inflate_new(struct tare_error *err)
{
	struct inflate *z;

	if (!zstd_load()) {
		library_missing(err, ENOTSUP,
				"is compressed, and libzstd.so.1, which decompresses it",
				"install it (Debian: libzstd1)");
		return NULL;
	}
	z = malloc(sizeof(*z));
	if (z) {
		z->ctx = zstd.ZSTD_createDCtx();
		z->in = (ZSTD_inBuffer){ 0 };
		z->at = z->end = 0;
		z->left = z->fed = z->given = 0;
		z->starved = true;
	}
	if (!z || !z->ctx ||
	    zstd.ZSTD_isError(
		    zstd.ZSTD_DCtx_setParameter(z->ctx, ZSTD_d_windowLogMax, WINDOW_LOG_MAX))) {
		inflate_free(z);
		tare_fail_nomem(err);
		return NULL;
	}
	return z;
}

void inflate_free(struct inflate *z)
{
	if (z)
		zstd.ZSTD_freeDCtx(z->ctx);
	free(z);
}

void inflate_feed(struct inflate *z, const void *bytes, size_t n, uint64_t max)
{
	z->in = (ZSTD_inBuffer){ bytes, n, 0 };
	z->fed += n;

	uint64_t all = GROWTH_FREE + GROWTH_MOST * z->fed,
		 rest = all > z->given ? all - z->given : 0;

	z->left = max < rest ? max : rest;
	z->starved = false;
}

ssize_t inflate_peek(struct inflate *z, size_t n, const unsigned char **p, struct tare_error *err)
{
	while (z->end - z->at < n && !z->starved) {
		if (z->at) {
			memmove(z->buf, z->buf + z->at, z->end - z->at);
			z->end -= z->at;
			z->at = 0;
		}

		/*
		 * One byte more than allowed distinguishes a payload that is too large from one
		 * that just fits.
		 */
		size_t room = WINDOW - z->end,
		       allowed = z->left < room ? (size_t)z->left + 1 : room;
		ZSTD_outBuffer out = { z->buf + z->end, allowed, 0 };
		size_t ret = zstd.ZSTD_decompressStream(z->ctx, &out, &z->in);

		if (zstd.ZSTD_isError(ret))
			return tare_fail(err, EBADMSG, "cannot be decompressed: %s",
					 zstd.ZSTD_getErrorName(ret));
		if (out.pos > z->left)
			return tare_fail(err, EFBIG, "exceeds the largest allowed size");
		z->left -= out.pos;
		z->given += out.pos;
		z->end += out.pos;
		/* The output is not full: the decoder has consumed this input. */
		z->starved = z->in.pos == z->in.size && out.pos < out.size;
	}
	*p = z->buf + z->at;
	return (ssize_t)(z->end - z->at < n ? z->end - z->at : n);
}

void inflate_take(struct inflate *z, size_t n)
{
	z->at += n;
}

size_t inflate_rest(const struct inflate *z)
{
	return z->end - z->at;
}
