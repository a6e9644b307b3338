/* SPDX-License-Identifier: MIT */
/* Tracepoint formats from tracefs, in the form of perf.data's feature and record TRACING_DATA. */
#ifndef PERFDATA_TRACING_DATA_H
#define PERFDATA_TRACING_DATA_H

#include <stdint.h>
#include "base/text.h"
#include "base/error.h"

/*
 * Appends the data for the tracepoints with these ids. If tracefs lacks something that readers
 * need, returns a negative errno with an error that names the file, and leaves `out` unchanged.
 * Reads each tracepoint's `id` until all are found: milliseconds.
 */
int tracing_data_put(struct text *out, const char *root, const uint64_t *ids, size_t n,
		     struct tare_error *err);

#endif
