/* SPDX-License-Identifier: MIT */
#include <math.h>
#include "output/interval_view.h"

void put_interval(struct text *out, const struct style *s, enum interval_kind kind, double low,
		  double median, double high)
{
	double percent = interval_percent(kind, low, median, high);

	if (isnan(percent))
		return;
	if (kind == INTERVAL_CONFIDENCE)
		text_add(out, "%s ", s->utf8 ? "\u00b1" : "+-");
	else
		text_add(out, "%s ", interval_name(kind));
	put_percent(out, percent);
}

void json_interval(struct json *j, enum interval_kind kind, double low, double median, double high)
{
	double percent = interval_percent(kind, low, median, high);

	json_string(j, "interval", interval_name(kind));
	if (isnan(percent))
		json_null(j, "interval_percent");
	else
		json_real(j, "interval_percent", percent);
}
