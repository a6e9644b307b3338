/* SPDX-License-Identifier: MIT */
/* What tracefs says of the fields of tracepoints, as a perf.data carries it: the feature and the record TRACING_DATA. */
#ifndef PERFDATA_TRACING_DATA_H
#define PERFDATA_TRACING_DATA_H

#include <stdint.h>
#include "base/text.h"
#include "base/error.h"

/*
 * Adds the bytes for the tracepoints of these ids. Negative errno, and the error names the file, where tracefs does not say
 * what a reader needs; `out` then is as it was. Costs a read of each tracepoint's `id` until all are found: milliseconds.
 */
int tracing_data_put(struct text *out, const char *root, const uint64_t *ids, size_t n, struct tare_error *err);

#endif
