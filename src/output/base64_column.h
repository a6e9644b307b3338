/* SPDX-License-Identifier: MIT */
/*
 * Long columns of numbers on a page: base64 bytes instead of digits, which open in a tenth of the
 * time. docs/internals/page.md has the layout; web/src/packed.js reads it.
 */
#ifndef OUTPUT_BASE64_COLUMN_H
#define OUTPUT_BASE64_COLUMN_H

#include "output/json.h"

/* `get` is called in order; for whole numbers more than once per value. */
void base64_uints(struct json *j, const char *key, uint64_t (*get)(void *with, size_t i),
		  void *with, size_t n);
void base64_reals(struct json *j, const char *key, double (*get)(void *with, size_t i), void *with,
		  size_t n);

#endif
