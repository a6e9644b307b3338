/* SPDX-License-Identifier: MIT */
/* Processes that the exact engine did not count completely, in words and as a list in JSON. */
#ifndef COUNT_PARTIAL_H
#define COUNT_PARTIAL_H

#include "base/text.h"
#include "exact/exact.h"
#include "output/json.h"

/* "without 2 processes" */
void partial_without(struct text *out, unsigned n);
/* The i-th sentence about them; false: there are no more. */
bool partial_sentence(struct text *out, const struct exact_partial *p, unsigned i);
/* "without_processes" and "uncounted" of an object; nothing if all are counted. */
void partial_json(struct json *j, const struct exact_partial *p);

#endif
