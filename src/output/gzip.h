/* SPDX-License-Identifier: MIT */
/*
 * gzip, as a stage before another: bytes put into `out` arrive at `to` compressed; built without zlib, in blocks that
 * are stored as they are, which every reader of gzip takes, too. Source: RFC 1951, 3.2.4; RFC 1952.
 */
#ifndef OUTPUT_GZIP_H
#define OUTPUT_GZIP_H

#include "output/out.h"

struct gzip;

/* -ENOMEM; -ENOENT where zlib is not installed. */
int gzip_open(struct gzip **out, struct out *to, struct tare_error *err);
struct out *gzip_out(struct gzip *z);
/* Ends the stream; errors show in `to`. Accepts NULL. */
void gzip_close(struct gzip *z);

#endif
