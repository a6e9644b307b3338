/* SPDX-License-Identifier: MIT */
/* Measures the overhead of a region: the cost of an empty one. */
#ifndef REGIONS_RUNTIME_REGION_COST_H
#define REGIONS_RUNTIME_REGION_COST_H

#include "regions/runtime/region_stream.h"

/* The label for the measurement, which `empty` gets. */
#define COST_LABEL      (1u << 3 | 1)
#define COST_LABEL_WIDE (0x800u << 3 | 1 | 0x80000000u)

/*
 * The cost of empty regions run by `empty`, for each counter in its own unit. Runs on the calling
 * thread, whose regions must go to `s` meanwhile; s->here and s->block must be ready. other:
 * another shape of the same path, or NULL.
 *
 * inside and outside are for regions directly after each other. Their errors come from the
 * variation between measurements: of the other shape, and of regions with other code in between,
 * which affects caches and branch predictors. For a clock the error is at least one tick.
 */
void region_cost_measure(struct region_stream *s, tare_label label, tare_region_empty *empty,
			 tare_region_empty *other, void *with, struct file_own *out);

#endif
