/* SPDX-License-Identifier: MIT */
#include <math.h>
#include "output/sparkline.h"

void put_spark(struct text *out, double value, double low, double high, const struct style *s)
{
	static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char ascii[] = "_.-~=+*#";
	unsigned level = high > low && !isnan(value)
		? (unsigned)((value - low) / (high - low) * 7.999)
		: 0;

	if (isnan(value))
		text_add(out, " ");
	else if (s->utf8)
		text_add(out, "%s", blocks[level > 7 ? 7 : level]);
	else
		text_add(out, "%c", ascii[level > 7 ? 7 : level]);
}

void put_sparkline(struct text *out, const double *value, size_t n, size_t width,
		   const struct style *s)
{
	double low = INFINITY, high = -INFINITY;
	size_t cells = n < width ? n : width;

	for (size_t i = 0; i < n; i++) {
		low = value[i] < low ? value[i] : low;
		high = value[i] > high ? value[i] : high;
	}
	for (size_t c = 0; c < cells; c++) {
		double sum = 0, of = 0;

		for (size_t i = c * n / cells; i < (c + 1) * n / cells; i++)
			if (!isnan(value[i])) {
				sum += value[i];
				of++;
			}
		put_spark(out, of > 0 ? sum / of : NAN, low, high, s);
	}
}
