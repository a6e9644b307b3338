/* SPDX-License-Identifier: MIT */
/* A series as one line of block characters, from its minimum to its maximum. */
#ifndef OUTPUT_SPARKLINE_H
#define OUTPUT_SPARKLINE_H

#include "output/style.h"

/* One line of n values, at most `width` characters wide; NAN leaves a gap. */
void put_sparkline(struct text *out, const double *value, size_t n, size_t width,
		   const struct style *style);
/* One character of such a line; NAN leaves a gap. */
void put_spark(struct text *out, double value, double low, double high, const struct style *style);

#endif
