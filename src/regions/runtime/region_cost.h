/* SPDX-License-Identifier: MIT */
/* What a region itself costs: what one with nothing in it shows. */
#ifndef REGIONS_RUNTIME_REGION_COST_H
#define REGIONS_RUNTIME_REGION_COST_H

#include "regions/runtime/region_stream.h"

/* The label that measuring uses, as `empty` is given it. */
#define COST_LABEL (1u << 3 | 1)
#define COST_LABEL_WIDE (0x800u << 3 | 1 | 0x80000000u)

/*
 * Of empty regions run by `empty`, for each counter, in its own unit, as differences are. On the calling thread, whose regions
 * must go to `s` meanwhile; s->here and s->block are ready. other: another shape of the same path, or NULL.
 *
 * inside and outside are of one region right after another. How far they can be off is how far measurements lay apart, from
 * the other shape and from regions between which caches and predictors did something else; of a clock at least a tick.
 */
void region_cost_measure(struct region_stream *s, tare_label label, tare_region_empty *empty, tare_region_empty *other, void *with,
			 struct file_own *out);

#endif
