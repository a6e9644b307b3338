/* SPDX-License-Identifier: MIT */
/* gzip without zlib: stored blocks, and the checksum. */
#include <stdbool.h>
#include <stdlib.h>
#include "output/gzip.h"

enum { BLOCK_MAX = 65535 };

struct gzip {
	struct out in, *to;
	uint32_t crc, table[256];
	uint64_t bytes;
};

/* The polynomial of RFC 1952, 8, bits reversed. */
static void make_table(uint32_t table[256])
{
	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
	}
}

static void put_little(struct out *o, uint32_t v, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		out_put(o, &(unsigned char){ (unsigned char)(v >> 8 * i) }, 1);
}

static void block(struct gzip *g, const unsigned char *p, uint32_t n, bool last)
{
	put_little(g->to, last, 1); /* BFINAL, then BTYPE 00 and padding */
	put_little(g->to, n, 2);
	put_little(g->to, ~n, 2);
	out_put(g->to, p, n);
}

static int drain(void *with, const void *bytes, size_t n)
{
	struct gzip *g = with;
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++)
		g->crc = g->crc >> 8 ^ g->table[(g->crc ^ p[i]) & 0xff];
	g->bytes += n;
	for (size_t part; n; p += part, n -= part) {
		part = n < BLOCK_MAX ? n : BLOCK_MAX;
		block(g, p, (uint32_t)part, false);
	}
	return g->to->error;
}

int gzip_open(struct gzip **out, struct out *to, struct tare_error *err)
{
	static const unsigned char head[10] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3 /* Unix */ };
	struct gzip *g = calloc(1, sizeof(*g));

	*out = g;
	if (!g)
		return tare_fail_nomem(err);
	g->to = to;
	g->crc = ~0u;
	make_table(g->table);
	out_put(to, head, sizeof(head));
	out_open(&g->in, drain, g);
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
	out_close(&g->in);
	block(g, NULL, 0, true);
	put_little(g->to, ~g->crc, 4);
	put_little(g->to, (uint32_t)g->bytes, 4);
	if (g->to->error == 0)
		g->to->error = g->in.error;
	free(g);
}
