/* SPDX-License-Identifier: MIT */
/*
 * The records inside COMPRESSED records: one zstd stream per file, decompressed through a fixed
 * window.
 */
#ifndef PERFDATA_PERFDATA_INFLATE_H
#define PERFDATA_PERFDATA_INFLATE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/error.h"

struct inflate;

/* -ENOTSUP if tare was built without libzstd. */
struct inflate *inflate_new(struct tare_error *err);
void inflate_free(struct inflate *z);

/*
 * Starts the payload of the next compressed record, which may expand to `max` bytes. It must stay
 * valid until inflate_peek() returns fewer bytes than requested.
 */
void inflate_feed(struct inflate *z, const void *bytes, size_t n, uint64_t max);

/* As input_peek(): the next n bytes (at most 64 KiB); fewer at the end of the payload. */
ssize_t inflate_peek(struct inflate *z, size_t n, const unsigned char **p, struct tare_error *err);
void inflate_take(struct inflate *z, size_t n);
/* Bytes of a partial record that the next payload must complete. */
size_t inflate_rest(const struct inflate *z);

#endif
