/* SPDX-License-Identifier: MIT */
/* What a region itself costs: what one with nothing in it shows. */
#ifndef RECORD_REGION_COST_H
#define RECORD_REGION_COST_H

#include "record/region_stream.h"

/* Into own_cost, own_inside and own_cost_spread of each counter, in its own unit, as differences are. On the calling thread, whose
 * regions must go to `s` meanwhile; s->here and s->block are ready. */
void region_cost_measure(struct region_stream *s, struct file_counter *info);

#endif
