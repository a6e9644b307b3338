/* SPDX-License-Identifier: MIT */
/*
 * gzip as a filter: bytes put into `out` are written to `to` compressed. Built without zlib, it
 * writes stored (uncompressed) blocks, which every reader of gzip accepts. Source: RFC 1951, 3.2.4;
 * RFC 1952.
 */
#ifndef OUTPUT_GZIP_H
#define OUTPUT_GZIP_H

#include "output/out.h"

struct gzip;

/* -ENOMEM; -ENOENT if zlib is not installed. */
int gzip_open(struct gzip **out, struct out *to, struct tare_error *err);
struct out *gzip_out(struct gzip *z);
/* End the stream; errors are in `to`. Accepts NULL. */
void gzip_close(struct gzip *z);

#endif
