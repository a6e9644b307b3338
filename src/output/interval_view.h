/* SPDX-License-Identifier: MIT */
/*
 * The uncertainty of a median of several runs, with the same name in text, JSON and on the page:
 * docs/internals/noise.md, "The sign +-".
 */
#ifndef OUTPUT_INTERVAL_VIEW_H
#define OUTPUT_INTERVAL_VIEW_H

#include "statistics/spread.h"
#include "output/json.h"
#include "output/style.h"

/*
 * "± 1.2 %" only for a confidence interval; "range 2.4 %", "limits 76 %". Nothing if there is no
 * percentage.
 */
void put_interval(struct text *out, const struct style *s, enum interval_kind kind, double low,
		  double median, double high);
/*
 * interval: confidence, range, limits or null; interval_percent: the number that put_interval()
 * shows, or null.
 */
void json_interval(struct json *j, enum interval_kind kind, double low, double median, double high);

#endif
