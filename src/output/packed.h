/* SPDX-License-Identifier: MIT */
/*
 * Long columns of numbers on a page: bytes in base64 instead of digits, a tenth of the time to open. docs/page.md has the
 * layout; web/src/packed.js reads it.
 */
#ifndef OUTPUT_PACKED_H
#define OUTPUT_PACKED_H

#include "output/json.h"

/* `first` is the first value, and the next stands `stride` bytes behind it. */
void packed_uints(struct json *j, const char *key, const uint64_t *first, size_t stride, size_t n);
void packed_reals(struct json *j, const char *key, const double *first, size_t stride, size_t n);

#endif
