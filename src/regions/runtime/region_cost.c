/* SPDX-License-Identifier: MIT */
#include "regions/runtime/region_cost.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/pages.h"

enum { ROUNDS = 12, INTERVALS = 64, BUSY_ROUNDS = 6, BUSY_PAIRS = 8, BUSY_BYTES = 16384 };

/* The measured cost of a region, and the cost between its end and the next begin. */
struct cost {
	double inside[FILE_COUNTERS], outside[FILE_COUNTERS];
};

struct samples {
	unsigned n;
	uint64_t inside[FILE_COUNTERS][INTERVALS], outside[FILE_COUNTERS][INTERVALS];
};

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * Counts: the median, because most are equal. Clocks: the mean without outliers, because a clock
 * may tick less often than a region lasts.
 */
static double typical(uint64_t *x, unsigned n, bool count)
{
	double sum = 0;
	unsigned k = 0;

	qsort(x, n, sizeof(*x), by_size);
	if (count && n)
		return (double)x[n / 2];
	for (; k < n && x[k] <= 4 * x[n / 2] + 256; k++)
		sum += (double)x[k];
	return k ? sum / k : 0;
}

/*
 * Read the regions just written. `outside` is taken only between regions of the same call of
 * `empty`.
 */
static void take_costs(struct region_stream *s, const uint8_t *p, struct samples *to,
		       bool first_only)
{
	struct format_point begin, end;
	const uint8_t *to_here = (const uint8_t *)(uintptr_t)s->here->place.at;
	bool follows = false;
	unsigned i = 0;

	for (size_t n;
	     to->n < INTERVALS && (n = format_point(p, to_here, s->of->counters.n, &begin)); i++) {
		p += n;
		n = format_point(p, to_here, s->of->counters.n, &end);
		p += n;
		if (!n || begin.op != OP_BEGIN || end.op != OP_END)
			return;
		for (unsigned c = 0; c < s->of->counters.n; c++) {
			if (!first_only || i == 0)
				to->inside[c][to->n] = end.gap[c];
			if (follows)
				to->outside[c][to->n] = begin.gap[c];
		}
		/* The cost before the first region is not that of a region. */
		to->n += first_only ? i == 1 : follows;
		follows = true;
	}
}

static void typical_of(const struct region_stream *s, struct samples *x, struct cost *out)
{
	for (unsigned c = 0; c < s->of->counters.n; c++) {
		bool count = s->of->counters.info[c].kind == COUNTER_COUNT;

		out->inside[c] = typical(x->inside[c], x->n, count);
		out->outside[c] = typical(x->outside[c], x->n, count);
	}
}

static void restart(struct region_stream *s)
{
	s->here->place.at = (uintptr_t)(s->block + 1);
}

static void round_of(struct region_stream *s, tare_label label, tare_region_empty *empty,
		     void *with, struct samples *x, struct cost *out)
{
	x->n = 0;
	restart(s);
	empty(label, INTERVALS + 1, with);
	take_costs(s, (uint8_t *)(s->block + 1), x, false);
	typical_of(s, x, out);
}

/* Imitate a program between its regions: memory accesses and unpredictable branches. */
static void be_busy(uint8_t *memory)
{
	static volatile uint32_t state = 1;
	uint32_t x = state;

	for (unsigned i = 0; i < BUSY_BYTES; i += 32) {
		x = x * 1664525 + 1013904223;
		if (x >> 31)
			memory[i + (x >> 16 & 31)]++;
		else
			x ^= memory[i];
	}
	state = x;
}

static void busy_round(struct region_stream *s, tare_label label, tare_region_empty *empty,
		       void *with, uint8_t *memory, struct samples *x, struct cost *out)
{
	x->n = 0;
	for (int i = 0; i < BUSY_PAIRS; i++) {
		restart(s);
		be_busy(memory);
		empty(label, 2, with);
		take_costs(s, (uint8_t *)(s->block + 1), x, true);
	}
	typical_of(s, x, out);
}

struct rounds {
	struct cost plain[ROUNDS], other[ROUNDS], busy[BUSY_ROUNDS];
};

/* One value of all rounds, which are sizeof(struct cost) apart, sorted. Returns the median. */
static double sorted(const double *first, unsigned n, double *to)
{
	for (unsigned i = 0; i < n; i++)
		to[i] = first[i * (sizeof(struct cost) / sizeof(double))];
	qsort(to, n, sizeof(*to), by_value);
	return to[n / 2];
}

/*
 * The median of the plain rounds, and its largest error. If there is another shape of the code,
 * which shows the variation directly, the best and worst plain round are ignored. If there is none,
 * as for a binding, all rounds count, with twice the distance: an interpreter's regions are long
 * enough for other activity of the machine to affect a whole round, and that changes over time.
 */
static float settle(const double *plain, const double *other, const double *busy, double least,
		    float *off)
{
	double x[ROUNDS], y[ROUNDS], middle = sorted(plain, ROUNDS, x), far = least;
	int out = other ? 1 : 0;

	far = fmax(far, (other ? 1 : 2) * fmax(middle - x[out], x[ROUNDS - 1 - out] - middle));
	if (other)
		far = fmax(far, fabs(sorted(other, ROUNDS, y) - middle));
	far = fmax(far, fabs(sorted(busy, BUSY_ROUNDS, y) - middle));
	*off = (float)far;
	return (float)middle;
}

void region_cost_measure(struct region_stream *s, tare_label label, tare_region_empty *empty,
			 tare_region_empty *other, void *with, struct file_own *out)
{
	struct rounds *r = pages_new(sizeof(*r));
	struct samples *x = pages_new(sizeof(*x));
	uint8_t *memory = pages_new(BUSY_BYTES);

	memset(s->block + 1, 0, BLOCK_BYTES - sizeof(*s->block));
	if (r && x && memory) {
		round_of(s, label, empty, with, x, &r->plain[0]); /* warm-up */
		for (int i = 0; i < ROUNDS; i++) {
			round_of(s, label, empty, with, x, &r->plain[i]);
			if (other)
				round_of(s, label, other, with, x, &r->other[i]);
		}
		for (int i = 0; i < BUSY_ROUNDS; i++)
			busy_round(s, label, empty, with, memory, x, &r->busy[i]);
		for (unsigned c = 0; c < s->of->counters.n; c++) {
			double least = s->of->counters.info[c].kind == COUNTER_COUNT ? 0 : 1;

			out[c].inside = settle(&r->plain[0].inside[c],
					       other ? &r->other[0].inside[c] : NULL,
					       &r->busy[0].inside[c], least, &out[c].inside_off);
			out[c].outside = settle(&r->plain[0].outside[c],
						other ? &r->other[0].outside[c] : NULL,
						&r->busy[0].outside[c], least, &out[c].outside_off);
		}
	}
	pages_free(r, sizeof(*r));
	pages_free(x, sizeof(*x));
	pages_free(memory, BUSY_BYTES);
}
