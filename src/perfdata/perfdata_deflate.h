/* SPDX-License-Identifier: MIT */
/* One zstd stream, flushed after each piece, so that each piece can be one COMPRESSED record. */
#ifndef PERFDATA_PERFDATA_DEFLATE_H
#define PERFDATA_PERFDATA_DEFLATE_H

#include <stddef.h>
#include "base/error.h"

struct deflate;

/* -ENOSYS in a build without zstd. */
int deflate_new(struct deflate **out, int level, struct tare_error *err);
/*
 * Compresses n bytes into at most `room`; returns the size, or a negative errno. `room` must be at
 * least n + 1024.
 */
int64_t deflate_piece(struct deflate *z, const void *bytes, size_t n, void *out, size_t room,
		      struct tare_error *err);
void deflate_free(struct deflate *z);

#endif
