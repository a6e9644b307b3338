/* SPDX-License-Identifier: MIT */
/* Find a counter of recordings by its name. */
#ifndef REGIONS_COUNTER_NAMED_H
#define REGIONS_COUNTER_NAMED_H

#include <stddef.h>
#include "base/error.h"

/* The name of a counter, by its number. */
typedef const char *counter_name(const void *of, size_t at);

/*
 * The number of the counter called `wanted` among n; 0 if `wanted` is NULL. -EINVAL with err, which
 * begins with `who` ("the recordings have", "run.tare has") and lists the nearest or all names.
 */
int counter_named(size_t *at, const char *wanted, const void *of, size_t n, counter_name *name,
		  const char *who, struct tare_error *err);

#endif
