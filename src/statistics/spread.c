/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "statistics/spread.h"
#include "statistics/median.h"

enum { ENOUGH_FOR_OUTLIERS = 5 };

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int by_real(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * The largest rank r with P(fewer than r + 1 of n values are below the median) <= 2.5 %, where each
 * is below with probability 1/2.
 */
size_t spread_rank(size_t n)
{
	double below = 0, term = pow(0.5, (double)n);
	size_t rank = 0;

	if (n > 1000) /* the normal approximation; 2^-n would underflow */
		return (size_t)floor((double)n / 2 - 0.98 * sqrt((double)n));
	for (size_t k = 0; k < n / 2; k++) {
		below += term;
		if (below > 0.025)
			break;
		rank = k;
		term = term * (double)(n - k) / (double)(k + 1);
	}
	return rank;
}

const char *interval_name(enum interval_kind kind)
{
	static const char *const names[] = { [INTERVAL_RANGE] = "range",
					     [INTERVAL_CONFIDENCE] = "confidence",
					     [INTERVAL_LIMITS] = "limits" };

	return names[kind];
}

double interval_percent(enum interval_kind kind, double low, double median, double high)
{
	double width = kind == INTERVAL_CONFIDENCE ? (high - low) / 2 : high - low;

	if (kind == INTERVAL_NONE || (median == 0 && width > 0))
		return NAN;
	return width == 0 ? 0 : 100 * width / fabs(median);
}

static size_t mark(const uint64_t *value, size_t n, const struct spread *s, bool *outlier)
{
	double away = 0, limit;
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		away += (double)distance(value[i], s->median) / (double)n;
	limit = 3.5 * (s->mad > 0 ? 1.4826 * s->mad : 1.2533 * away);
	for (size_t i = 0; i < n; i++) {
		bool is = n >= ENOUGH_FOR_OUTLIERS && (double)distance(value[i], s->median) > limit;

		found += is;
		if (outlier)
			outlier[i] = is;
	}
	return found;
}

int spread_of(const uint64_t *value, size_t n, struct spread *out, bool *outlier,
	      struct tare_error *err)
{
	uint64_t *sorted = calloc(n + 1, sizeof(*sorted));
	double squares = 0;

	if (!sorted)
		return tare_fail_nomem(err);
	memcpy(sorted, value, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_value);
	*out = (struct spread){ .n = n,
				.min = sorted[0],
				.max = sorted[n - 1],
				.median = median_of(sorted, n),
				.low = sorted[spread_rank(n)],
				.high = sorted[n - 1 - spread_rank(n)] };

	/*
	 * Summed as distances from the minimum, so that large equal counts have a spread of exactly
	 * 0.
	 */
	for (size_t i = 0; i < n; i++)
		out->mean += (double)(sorted[i] - out->min) / (double)n;
	for (size_t i = 0; i < n; i++) {
		double d = (double)(sorted[i] - out->min) - out->mean;

		squares += d * d;
	}
	out->mean += (double)out->min;
	if (n > 1)
		out->error_of_mean = sqrt(squares / (double)(n - 1) / (double)n);

	for (size_t i = 0; i < n; i++)
		sorted[i] = distance(value[i], out->median);
	qsort(sorted, n, sizeof(*sorted), by_value);
	out->mad = (double)median_of(sorted, n);
	free(sorted);
	out->outliers = mark(value, n, out, outlier);
	return 0;
}

int spread_of_real(const double *value, size_t n, struct spread_real *out, struct tare_error *err)
{
	double *sorted = calloc(n + 1, sizeof(*sorted));

	if (!sorted)
		return tare_fail_nomem(err);
	memcpy(sorted, value, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_real);
	*out = (struct spread_real){ .min = sorted[0],
				     .max = sorted[n - 1],
				     .median = median_of_real(sorted, n),
				     .low = sorted[spread_rank(n)],
				     .high = sorted[n - 1 - spread_rank(n)] };
	free(sorted);
	return 0;
}
