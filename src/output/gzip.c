/* SPDX-License-Identifier: MIT */
/* gzip by zlib. */
#include <stdlib.h>
#include <zlib.h>
#include "base/library.h"
#include "output/gzip.h"

#define FUNCTIONS(F) F(deflateInit2_) F(deflate) F(deflateEnd)
LIBRARY(zlib, "libz.so.1", FUNCTIONS)

enum { GZIP_WINDOW = 15 + 16, LEVEL = 6 };

struct gzip {
	struct out in, *to;
	z_stream z;
};

static int squeeze(struct gzip *g, const void *bytes, size_t n, int flush)
{
	unsigned char room[1 << 14];
	int ret;

	g->z.next_in = (unsigned char *)bytes;
	g->z.avail_in = (unsigned)n;
	do {
		g->z.next_out = room;
		g->z.avail_out = sizeof(room);
		ret = zlib.deflate(&g->z, flush);
		if (ret == Z_STREAM_ERROR)
			return -EIO;
		out_put(g->to, room, sizeof(room) - g->z.avail_out);
	} while (g->z.avail_out == 0);
	return g->to->error;
}

static int drain(void *with, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	int ret = 0;

	for (; ret == 0 && n; p += n < OUT_ROOM ? n : OUT_ROOM, n -= n < OUT_ROOM ? n : OUT_ROOM)
		ret = squeeze(with, p, n < OUT_ROOM ? n : OUT_ROOM, Z_NO_FLUSH);
	return ret;
}

int gzip_open(struct gzip **out, struct out *to, struct tare_error *err)
{
	struct gzip *g;

	*out = NULL;
	if (!zlib_load()) {
		return library_missing(err, ENOENT, "libz.so.1, which compresses",
				       "install it (Debian: zlib1g)");
	}
	g = calloc(1, sizeof(*g));
	/* deflateInit2(), a macro, by the pointer */
	if (!g ||
	    zlib.deflateInit2_(&g->z, LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY,
			       ZLIB_VERSION, (int)sizeof(z_stream)) != Z_OK) {
		free(g);
		return tare_fail_nomem(err);
	}
	g->to = to;
	out_open(&g->in, drain, g);
	*out = g;
	return 0;
}

struct out *gzip_out(struct gzip *g)
{
	return &g->in;
}

void gzip_close(struct gzip *g)
{
	if (!g)
		return;
	if (out_close(&g->in) == 0)
		g->in.error = squeeze(g, NULL, 0, Z_FINISH);
	if (g->to->error == 0)
		g->to->error = g->in.error;
	zlib.deflateEnd(&g->z);
	free(g);
}
