/* SPDX-License-Identifier: MIT */
/*
 * Long columns of numbers on a page: bytes in base64 instead of digits, a tenth of the time to open. docs/page.md has the
 * layout; web/src/packed.js reads it.
 */
#ifndef OUTPUT_PACKED_H
#define OUTPUT_PACKED_H

#include "output/json.h"

/* Values are asked for in order, of whole numbers more than once. */
void packed_uints(struct json *j, const char *key, uint64_t (*get)(void *with, size_t i),
		  void *with, size_t n);
void packed_reals(struct json *j, const char *key, double (*get)(void *with, size_t i), void *with,
		  size_t n);

#endif
