/* SPDX-License-Identifier: MIT */
/* The position of a term's bits: sysfs "config:0-7,32-35". No side effects. */
#ifndef PMU_FORMAT_H
#define PMU_FORMAT_H

#include <linux/perf_event.h>
#include <stdint.h>
#include "base/error.h"

struct format {
	unsigned config; /* 0: config, 1: config1, 2: config2, 3: config3 */
	uint64_t mask;   /* the bits of that field, lowest first */
};

int format_parse(const char *text, struct format *out, struct tare_error *err);

/* How many bits the term has. */
unsigned format_bits(const struct format *f);

/* Store `value` in its bits, replacing the previous value. -ERANGE if it needs more bits. */
int format_put(const struct format *f, uint64_t value, struct perf_event_attr *attr,
	       struct tare_error *err);

/* The value stored in those bits. */
uint64_t format_get(const struct format *f, const struct perf_event_attr *attr);

#endif
