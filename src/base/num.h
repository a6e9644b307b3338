/* SPDX-License-Identifier: MIT */
/* Parses numbers in users' notation. */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <stdint.h>
#include "base/error.h"

/* Decimal, 0x hex; k, M, G (powers of 1000) after a decimal. The whole text must be the number. */
int num_parse(const char *text, uint64_t *out, struct tare_error *err);
/* "100ms", "2s", "1.5s", "250us", "10" (bare numbers are in `bare_unit_ns`). */
int num_parse_ns(const char *text, uint64_t bare_unit_ns, uint64_t *out, struct tare_error *err);

#endif
