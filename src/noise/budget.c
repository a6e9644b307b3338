/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "noise/budget_fit.h"
#include "statistics/median.h"

const struct budget_cause_row budget_causes[BUDGET_CAUSES] = {
	[BUDGET_INTERRUPTS] = { "interrupts", "interrupts", "interrupt", 0 },
	[BUDGET_SWITCHES] = { "context-switches", "context switches", "context switch", 0 },
	[BUDGET_MIGRATIONS] = { "migrations", "migrations to another CPU", "migration", 0 },
	[BUDGET_FAULTS] = { "page-faults", "page faults", "page fault", 0 },
	[BUDGET_SMI] = { "smi", "system management interrupts", "SMI", 0 },
	[BUDGET_FREQUENCY] = { "frequency", "the clock frequency", NULL, 0 },
	[BUDGET_MULTIPLEXING] = { "multiplexing", "the share of time on a counter", NULL, 0 },
	[BUDGET_STEAL] = { "steal", "time that the hypervisor gave to others", "millisecond of it",
			   0 },
	[BUDGET_LAYOUT] = { "address-layout", "address layout", NULL, FIXED(ASLR) },
	[BUDGET_SEEDS] = { "hash-seeds", "hash seeds and other random bytes", NULL,
			   FIXED(RANDOM) | FIXED(SEEDS) },
	[BUDGET_CLOCKS] = { "clock-reads", "clock reads without system call", NULL, FIXED(VDSO) },
	[BUDGET_TIMERS] = { "allocator-timers", "timers of allocators", NULL, FIXED(MALLOC) },
	[BUDGET_THREADS] = { "threads", "threads on several CPUs", NULL, FIXED(CPU) },
};

const struct budget_event budget_events[] = {
	{ BUDGET_SWITCHES, "context-switches", NULL },
	{ BUDGET_SWITCHES, "cs", NULL },
	{ BUDGET_MIGRATIONS, "cpu-migrations", NULL },
	{ BUDGET_MIGRATIONS, "migrations", NULL },
	{ BUDGET_FAULTS, "page-faults", NULL },
	{ BUDGET_FAULTS, "faults", NULL },
	{ BUDGET_FAULTS, "minor-faults", NULL },
	{ BUDGET_SMI, "msr/smi/", NULL },
	{ BUDGET_FREQUENCY, "msr/aperf/", "msr/mperf/" },
	{ BUDGET_FREQUENCY, "cycles", "task-clock" },
	{ BUDGET_CAUSES, NULL, NULL },
};

bool budget_is_called(const char *event, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(event, name, n) && (!event[n] || event[n] == ':');
}

bool budget_is_of(enum budget_cause cause, const char *event)
{
	for (const struct budget_event *e = budget_events; e->name; e++)
		if (e->cause == cause &&
		    (budget_is_called(event, e->name) || (e->by && budget_is_called(event, e->by))))
			return true;
	return false;
}

enum { SHUFFLES = 1999, RESAMPLES = 499, LETS = BUDGET_CAUSES - BUDGET_SEEN };

#define ALONE   0.8 /* fraction of the variance: a run above it is reported */
#define LOW_END 0.025

static double variance_of(const double *v, size_t n)
{
	double mean = 0, sum = 0;

	/* from the first value on, so that equal values give exactly 0 */
	for (size_t i = 0; i < n; i++)
		mean += (v[i] - v[0]) / (double)n;
	for (size_t i = 0; i < n; i++)
		sum += (v[i] - v[0] - mean) * (v[i] - v[0] - mean);
	return n > 1 ? sum / (double)(n - 1) : 0;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Distances from the median, into `to`. */
static void distances(const double *v, size_t n, double *to)
{
	double median;

	memcpy(to, v, n * sizeof(*to));
	qsort(to, n, sizeof(*to), compare);
	median = median_of_real(to, n);
	for (size_t i = 0; i < n; i++)
		to[i] = fabs(v[i] - median);
}

static double sum_of(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return sum;
}

/*
 * The probability that `a` has so much more spread than `b` by chance: a permutation test of the
 * distances. < 0: out of memory.
 */
static double wider(const struct budget_runs *a, const struct budget_runs *b)
{
	size_t n = a->n + b->n;
	double *d = calloc(n, sizeof(*d)), seen, as_far = 0;
	uint64_t state = 21;

	if (!d)
		return -1;
	distances(a->count, a->n, d);
	distances(b->count, b->n, d + a->n);
	seen = sum_of(d, a->n);
	for (unsigned k = 0; k < SHUFFLES; k++) {
		for (size_t i = n; i > 1; i--) {
			size_t other = (size_t)(budget_random(&state) % i);
			double t = d[i - 1];

			d[i - 1] = d[other];
			d[other] = t;
		}
		as_far += sum_of(d, a->n) >= seen * (1 - 1e-12);
	}
	free(d);
	return (as_far + 1) / (SHUFFLES + 1);
}

static double resampled(const struct budget_runs *r, double *room, uint64_t *state)
{
	for (size_t i = 0; i < r->n; i++)
		room[i] = r->count[budget_random(state) % r->n];
	return variance_of(room, r->n);
}

/* Variances of the runs of a question. */
struct variances {
	double asked, fixed, let[LETS];
	bool differ; /* asked and fixed differ significantly */
};

/*
 * The contribution of each cause to the variance as asked. If fixing everything removes a
 * significant part of it, that part is divided in proportion to each cause alone; otherwise each
 * contributes its own variance.
 */
static void shares_of(const struct variances *v, double share[LETS])
{
	double sum = 0, taken = v->asked > 0 ? fmax(0, 1 - v->fixed / v->asked) : 0;

	for (unsigned c = 0; c < LETS; c++) {
		share[c] = fmax(0, v->let[c] - v->fixed);
		sum += share[c];
	}
	for (unsigned c = 0; c < LETS; c++)
		if (v->differ && sum > 0)
			share[c] *= taken / sum;
		else
			share[c] = v->asked > 0 ? fmin(1, share[c] / v->asked) : 0;
}

/* The range of the shares in other runs like these: bootstrap within each group. */
static int limits(struct budget *out, const struct budget_question *q, const struct variances *seen,
		  struct tare_error *err)
{
	size_t most = q->asked.n > q->fixed.n ? q->asked.n : q->fixed.n;
	double *room, (*share)[LETS] = calloc(RESAMPLES, sizeof(*share)), one[RESAMPLES],
		      left[RESAMPLES];
	uint64_t state = 22;

	for (unsigned c = 0; c < LETS; c++)
		most = q->let[c].n > most ? q->let[c].n : most;
	room = calloc(most, sizeof(*room));
	for (unsigned k = 0; room && share && k < RESAMPLES; k++) {
		struct variances v = { .differ = seen->differ,
				       .asked = resampled(&q->asked, room, &state),
				       .fixed = resampled(&q->fixed, room, &state) };

		for (unsigned c = 0; c < LETS; c++)
			v.let[c] = q->let[c].n ? resampled(&q->let[c], room, &state) : 0;
		shares_of(&v, share[k]);
	}
	for (unsigned k = 0; k < RESAMPLES; k++)
		left[k] = 1;
	for (size_t i = 0; room && share && i < out->parts; i++) {
		struct budget_part *part = &out->part[i];
		unsigned c = (unsigned)__builtin_ctz(part->causes) - BUDGET_SEEN;

		if (part->causes & (part->causes - 1))
			continue;
		for (unsigned k = 0; k < RESAMPLES; k++) {
			one[k] = share[k][c];
			left[k] = fmax(0, left[k] - one[k]);
		}
		qsort(one, RESAMPLES, sizeof(*one), compare);
		part->low = fmin(part->share, one[(size_t)(LOW_END * RESAMPLES)]);
		part->high = fmax(part->share, one[RESAMPLES - 1 - (size_t)(LOW_END * RESAMPLES)]);
	}
	if (out->parts && !(out->part[0].causes & (out->part[0].causes - 1))) {
		qsort(left, RESAMPLES, sizeof(*left), compare);
		out->left_low = left[(size_t)(LOW_END * RESAMPLES)];
		out->left_high = left[RESAMPLES - 1 - (size_t)(LOW_END * RESAMPLES)];
	} else if (out->parts) {
		out->left_low = 0;
	}
	if (!room || !share)
		tare_fail_nomem(err);
	most = room && share;
	free(room);
	free(share);
	return most ? 0 : -ENOMEM;
}

/* No cause is significant alone, but fixing all of them makes a difference. */
static void add_together(struct budget *out, const struct variances *v, unsigned causes, double p)
{
	double share = 1 - v->fixed / v->asked;

	out->part[out->parts++] = (struct budget_part){ .causes = causes,
							.switched = true,
							.p = p,
							.share = share,
							.low = 0,
							.high = 1,
							.deviation = sqrt(v->asked - v->fixed) };
}

/* The launch's causes, each alone; if none is significant, all of them together. */
static int split_switched(struct budget *out, const struct budget_question *q,
			  struct tare_error *err)
{
	struct variances v = { .asked = variance_of(q->asked.count, q->asked.n),
			       .fixed = variance_of(q->fixed.count, q->fixed.n) };
	double share[LETS], p[LETS], all = wider(&q->asked, &q->fixed);
	unsigned m = 0, causes = 0;

	v.differ = all >= 0 && all <= BUDGET_CHANCE && v.asked > v.fixed;
	for (unsigned c = 0; c < LETS; c++) {
		p[c] = 1;
		if (!q->let[c].n)
			continue;
		causes |= 1u << (BUDGET_SEEN + c);
		m++;
		v.let[c] = variance_of(q->let[c].count, q->let[c].n);
		p[c] = wider(&q->let[c], &q->fixed);
		if (p[c] < 0)
			all = -1;
	}
	if (all < 0)
		return tare_fail_nomem(err);
	out->tried |= causes;
	shares_of(&v, share);
	for (unsigned c = 0; c < LETS; c++)
		if (p[c] * m <= BUDGET_CHANCE && v.let[c] > v.fixed)
			out->part[out->parts++] = (struct budget_part){
				.causes = 1u << (BUDGET_SEEN + c),
				.switched = true,
				.p = p[c] * m,
				.share = share[c],
				.deviation = sqrt(v.let[c] - v.fixed)
			};
	if (!out->parts && m && v.differ)
		add_together(out, &v, causes, all);
	return limits(out, q, &v, err);
}

/* The run that contributes most to the sum of squares. */
static void find_alone(struct budget *out, const struct budget_runs *r)
{
	double whole = variance_of(r->count, r->n) * (double)(r->n - 1), most = 0;

	for (size_t i = 0; i < r->n; i++) {
		/* Removing one of n lowers the sum of squares by d^2 n / (n - 1). */
		double d = r->count[i] - out->mean,
		       less = d * d * (double)r->n / (double)(r->n - 1);

		if (less > most) {
			most = less;
			out->alone_run = i;
		}
	}
	out->alone_share = fmin(1, most / whole);
	out->alone = r->n >= BUDGET_RUNS_LEAST && out->alone_share >= ALONE;
}

/*
 * Each share was measured separately, and so was the part that remains with everything fixed. Their
 * sum may exceed the whole; then all of them are scaled down. Returns the remaining part.
 */
static double level(struct budget *out, double stays)
{
	double sum = stays;

	for (size_t i = 0; i < out->parts; i++)
		sum += out->part[i].share;
	if (sum <= 1)
		return stays;
	for (size_t i = 0; i < out->parts; i++) {
		out->part[i].share /= sum;
		out->part[i].low /= sum;
	}
	return stays / sum;
}

/*
 * Convert shares of the regression from the variance of its runs to the variance of the runs as
 * asked.
 */
static void weigh(struct budget *out, size_t from, double weight)
{
	for (size_t i = from; i < out->parts; i++) {
		out->part[i].share *= weight;
		out->part[i].low *= weight;
		out->part[i].high = fmin(1, out->part[i].high * weight);
	}
}

static void sort_parts(struct budget *out)
{
	for (size_t i = 1; i < out->parts; i++) {
		struct budget_part part = out->part[i];
		size_t at = i;

		for (; at > 0 && out->part[at - 1].share < part.share; at--)
			out->part[at] = out->part[at - 1];
		out->part[at] = part;
	}
}

/*
 * The part that the switched causes leave is known with its limits. The regression divides that
 * part.
 */
static void find_left(struct budget *out)
{
	double low = 0, high = 0, sum = 0;

	for (size_t i = 0; i < out->parts; i++) {
		sum += out->part[i].share;
		low += out->part[i].switched ? 0 : out->part[i].low;
		high += out->part[i].switched ? 0 : out->part[i].high;
	}
	out->left = fmax(0, 1 - sum);
	out->left_low = fmin(out->left, fmax(0, out->left_low - high));
	out->left_high = fmax(out->left, fmin(1, out->left_high - low));
}

static void describe(struct budget *out, const struct budget_runs *r)
{
	out->n = r->n;
	out->min = out->max = r->n ? r->count[0] : 0;
	for (size_t i = 0; i < r->n; i++) {
		out->mean += r->count[i] / (double)r->n;
		out->min = fmin(out->min, r->count[i]);
		out->max = fmax(out->max, r->count[i]);
	}
	out->deviation = sqrt(variance_of(r->count, r->n));
	out->fixed_deviation = -1;
}

int budget_split(struct budget *out, const struct budget_question *q, struct tare_error *err)
{
	const struct budget_runs *base = q->fixed.n ? &q->fixed : &q->asked;
	double weight = 1;
	size_t from;
	int ret = 0;

	*out = (struct budget){ .state = BUDGET_SPLIT, .left = 1, .left_low = 1, .left_high = 1 };
	describe(out, &q->asked);
	if (out->n < 2 || out->max == out->min) {
		out->state = out->n < 2 ? BUDGET_FEW : BUDGET_NO_SPREAD;
		out->left = out->left_low = out->left_high = 0;
		return 0;
	}
	if (out->n < BUDGET_RUNS_LEAST) {
		out->state = BUDGET_FEW;
		return 0;
	}
	find_alone(out, &q->asked);
	if (q->fixed.n >= BUDGET_RUNS_LEAST) {
		double fixed = variance_of(q->fixed.count, q->fixed.n);

		out->fixed_deviation = sqrt(fixed);
		ret = split_switched(out, q, err);
		weight = level(out, fixed / (out->deviation * out->deviation));
	}
	from = out->parts;
	if (ret == 0)
		ret = budget_fit(out, base, err);
	if (ret < 0)
		return ret;
	weigh(out, from, weight);
	sort_parts(out);
	find_left(out);
	return 0;
}
