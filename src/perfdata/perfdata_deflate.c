/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <zstd.h>
#include "base/library.h"
#include "perfdata/perfdata_deflate.h"

#define FUNCTIONS(F)                                                                               \
	F(ZSTD_createCCtx)                                                                         \
	F(ZSTD_freeCCtx)                                                                           \
	F(ZSTD_CCtx_setParameter) F(ZSTD_compressStream2) F(ZSTD_isError) F(ZSTD_getErrorName)
LIBRARY(zstd, "libzstd.so.1", FUNCTIONS)

struct deflate {
	ZSTD_CCtx *ctx;
};

int deflate_new(struct deflate **out, int level, struct tare_error *err)
{
	struct deflate *z;

	if (!zstd_load()) {
		return library_missing(err, ENOSYS, "libzstd.so.1, which compresses",
				       "install it (Debian: libzstd1), or leave -z out");
	}
	z = malloc(sizeof(*z));
	if (!z)
		return tare_fail_nomem(err);
	z->ctx = zstd.ZSTD_createCCtx();
	if (!z->ctx ||
	    zstd.ZSTD_isError(
		    zstd.ZSTD_CCtx_setParameter(z->ctx, ZSTD_c_compressionLevel, level))) {
		deflate_free(z);
		return tare_fail(err, ENOMEM, "zstd cannot begin at level %d", level);
	}
	*out = z;
	return 0;
}

int64_t deflate_piece(struct deflate *z, const void *bytes, size_t n, void *out, size_t room,
		      struct tare_error *err)
{
	ZSTD_inBuffer from = { bytes, n, 0 };
	ZSTD_outBuffer to = { out, room, 0 };
	size_t left = zstd.ZSTD_compressStream2(z->ctx, &to, &from, ZSTD_e_flush);

	if (zstd.ZSTD_isError(left))
		return tare_fail(err, EIO, "zstd: %s", zstd.ZSTD_getErrorName(left));
	if (left || from.pos != n)
		return tare_fail(err, ENOSPC, "zstd made more than %zu bytes of %zu", room, n);
	return (int64_t)to.pos;
}

void deflate_free(struct deflate *z)
{
	if (z)
		zstd.ZSTD_freeCCtx(z->ctx);
	free(z);
}
