/* SPDX-License-Identifier: MIT */
/* The records inside COMPRESSED records: one zstd stream per file, unpacked through a fixed window.
 */
#ifndef PERFDATA_PERFDATA_INFLATE_H
#define PERFDATA_PERFDATA_INFLATE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/error.h"

struct inflate;

/* -ENOTSUP when tare was built without libzstd. */
struct inflate *inflate_new(struct tare_error *err);
void inflate_free(struct inflate *z);

/* The payload of the next compressed record, which may grow to `max` bytes. It must stay in place
 * until inflate_peek() returns fewer bytes than were asked for. */
void inflate_feed(struct inflate *z, const void *bytes, size_t n, uint64_t max);

/* As input_peek(): the next n bytes (at most 64 KiB); fewer when the payload holds no more. */
ssize_t inflate_peek(struct inflate *z, size_t n, const unsigned char **p, struct tare_error *err);
void inflate_take(struct inflate *z, size_t n);
/* Bytes of a record that the next payload must complete. */
size_t inflate_rest(const struct inflate *z);

#endif
