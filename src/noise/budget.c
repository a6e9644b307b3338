/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "noise/budget_fit.h"

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

enum {
	SHUFFLES = 3999,
	RESAMPLES = 499,
	LETS = BUDGET_CAUSES - BUDGET_SEEN,
	TESTS_EACH = 2,
	REDRAWS = 20
};

#define ALONE         0.8  /* fraction of the variance: a run above it is reported */
#define ALONE_AT_MOST 0.05 /* probability, without the runs as asked */
#define LOW_END       0.025

/* The runs of a question, as a set of groups: a bit each. */
#define OF_ASKED  (1u << LETS)
#define OF_FIXED  (1u << (LETS + 1))
#define OF_LET(c) (1u << (c))

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

/*
 * Distances from the median, into `to`. The median is one of the values. If there are two values,
 * most distances are 0, and the permutation test is the exact test of how many runs differ.
 */
static void distances(const double *v, size_t n, double *to)
{
	double median, other;
	size_t as_often = 0;

	memcpy(to, v, n * sizeof(*to));
	qsort(to, n, sizeof(*to), compare);
	median = to[(n - 1) / 2];
	other = to[n / 2];
	for (size_t i = 0; i < n; i++)
		as_often += (to[i] == other) - (size_t)(to[i] == median);
	if ((ptrdiff_t)as_often > 0)
		median = other;
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

static const struct budget_runs *group(const struct budget_question *q, unsigned i)
{
	return i < LETS ? &q->let[i] : i == LETS ? &q->asked : &q->fixed;
}

/* The distances of all runs of these groups, each from its group's median. Returns their number. */
static size_t put_distances(const struct budget_question *q, unsigned groups, double *to)
{
	size_t n = 0;

	for (unsigned i = 0; i < LETS + 2; i++)
		if (groups >> i & 1) {
			distances(group(q, i)->count, group(q, i)->n, to + n);
			n += group(q, i)->n;
		}
	return n;
}

/*
 * The probability that the groups `a` have so much more spread than the groups `b` by chance: a
 * permutation test of the distances. < 0: out of memory.
 */
static double wider(const struct budget_question *q, unsigned a, unsigned b)
{
	size_t room = 0, n, part;
	double *d, seen, as_far = 0;
	uint64_t state = 21;

	for (unsigned i = 0; i < LETS + 2; i++)
		room += group(q, i)->n;
	d = calloc(room, sizeof(*d));
	if (!d)
		return -1;
	part = put_distances(q, a, d);
	n = part + put_distances(q, b, d + part);
	seen = sum_of(d, part);
	for (unsigned k = 0; k < SHUFFLES; k++) {
		for (size_t i = 0; i < part; i++) {
			size_t other = i + (size_t)(budget_random(&state) % (n - i));
			double t = d[i];

			d[i] = d[other];
			d[other] = t;
		}
		as_far += sum_of(d, part) >= seen * (1 - 1e-12);
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
	double asked, let[LETS];
	double stays;   /* of the conditions in which no found cause varies */
	unsigned found; /* OF_LET() */
	bool differ;    /* asked and stays differ significantly */
};

/*
 * The contribution of each found cause to the variance of the runs as asked. If fixing everything
 * removes a significant part of it, that part is divided in proportion to the variance of each
 * cause alone; otherwise each cause contributes its own variance.
 */
static void shares_of(const struct variances *v, double share[LETS])
{
	double sum = 0, taken = v->asked > 0 ? fmax(0, 1 - v->stays / v->asked) : 0;

	for (unsigned c = 0; c < LETS; c++) {
		share[c] = v->found & OF_LET(c) ? fmax(0, v->let[c] - v->stays) : 0;
		sum += share[c];
	}
	for (unsigned c = 0; c < LETS; c++)
		if (v->differ && sum > 0)
			share[c] *= taken / sum;
		else
			share[c] = v->asked > 0 ? fmin(1, share[c] / v->asked) : 0;
}

static double variance_now(const struct budget_runs *r, double *room, uint64_t *state)
{
	return state ? resampled(r, room, state) : variance_of(r->count, r->n);
}

/*
 * The same for runs that differ. Resamples of equal values, which occur if there are only two
 * values, are drawn again.
 */
static double spread_now(const struct budget_runs *r, double *room, uint64_t *state)
{
	double v = variance_now(r, room, state);

	for (unsigned i = 0; state && v == 0 && i < REDRAWS; i++)
		v = resampled(r, room, state);
	return v;
}

/*
 * Variances of the runs, or of a resample if `state` is not NULL. `stays` is the mean over all
 * conditions in which no found cause varies. If no cause was found, these conditions may vary an
 * unknown one, so `stays` is then the variance of the runs with everything fixed.
 */
static void find_variances(struct variances *v, const struct budget_question *q, double *room,
			   uint64_t *state)
{
	double runs = (double)q->fixed.n - 1;

	v->asked = spread_now(&q->asked, room, state);
	v->stays = runs * variance_now(&q->fixed, room, state);
	for (unsigned c = 0; c < LETS; c++) {
		const struct budget_runs *r = &q->let[c];

		if (v->found & OF_LET(c))
			v->let[c] = spread_now(r, room, state);
		if (!r->n || !v->found || (v->found & OF_LET(c)))
			continue;
		v->let[c] = variance_now(r, room, state);
		v->stays += ((double)r->n - 1) * v->let[c];
		runs += (double)r->n - 1;
	}
	v->stays /= runs;
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
		struct variances v = *seen;

		find_variances(&v, q, room, &state);
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
	double share = 1 - v->stays / v->asked;

	out->part[out->parts++] = (struct budget_part){ .causes = causes,
							.switched = true,
							.p = p,
							.share = share,
							.low = 0,
							.high = 1,
							.deviation = sqrt(v->asked - v->stays) };
}

/*
 * The search for the causes of the launch, the strongest one first. The controls of a cause are all
 * conditions in which it is fixed, except those that vary a cause found before. So a cause that
 * changes only a few runs is compared with many runs without it.
 */
struct search {
	const struct budget_question *q;
	unsigned left, found; /* OF_LET() */
	unsigned factor;      /* number of tests */
	double p[LETS];       /* of those found, corrected */
	bool failed;
};

static double tested(struct search *s, unsigned a, unsigned b)
{
	double p = wider(s->q, a, b);

	s->failed |= p < 0;
	return p;
}

/*
 * In the search for the first cause, the runs as asked are evidence, too: they have its noise, and
 * the controls do not. They do not show which cause it is, so without them the condition that
 * varies this cause must have more spread than its controls.
 */
static double chance_of(struct search *s, unsigned c, double alone)
{
	unsigned controls = OF_FIXED | (s->left & ~OF_LET(c));
	double p = alone, by_fixed = tested(s, OF_LET(c), OF_FIXED);

	if (!s->found && alone <= ALONE_AT_MOST)
		p = fmin(p, tested(s, OF_LET(c) | OF_ASKED, controls));
	return fmin(1, s->factor * fmin(p, by_fixed));
}

/* False: no cause that is left is significant. */
static bool find_next(struct search *s)
{
	double least = 2, p;
	unsigned best = LETS;

	for (unsigned c = 0; c < LETS; c++) {
		if (!(s->left & OF_LET(c)))
			continue;
		p = tested(s, OF_LET(c), OF_FIXED | (s->left & ~OF_LET(c)));
		if (p < least) {
			least = p;
			best = c;
		}
	}
	if (best == LETS)
		return false;
	p = chance_of(s, best, least);
	if (s->failed || p > BUDGET_CHANCE)
		return false;
	s->p[best] = p;
	s->found |= OF_LET(best);
	s->left &= ~OF_LET(best);
	return true;
}

/*
 * Is there less spread with everything fixed? The conditions in which no found cause varies count,
 * too.
 */
static double all_chance(struct search *s)
{
	double fixed = tested(s, OF_ASKED, OF_FIXED), all = tested(s, OF_ASKED, OF_FIXED | s->left);

	return fmin(1, 2 * fmin(fixed, all));
}

/* The causes of the launch, each alone; if none is significant, all of them together. */
static int split_switched(struct budget *out, const struct budget_question *q, double *stays,
			  struct tare_error *err)
{
	struct search s = { .q = q };
	struct variances v;
	double share[LETS], all;
	unsigned causes = 0;

	for (unsigned c = 0; c < LETS; c++)
		if (q->let[c].n) {
			s.left |= OF_LET(c);
			s.factor += TESTS_EACH;
			causes |= 1u << (BUDGET_SEEN + c);
		}
	while (find_next(&s))
		;
	all = all_chance(&s);
	if (s.failed)
		return tare_fail_nomem(err);
	v.found = s.found;
	find_variances(&v, q, NULL, NULL);
	v.differ = all <= BUDGET_CHANCE && v.asked > v.stays;
	*stays = v.stays;
	out->tried |= causes;
	shares_of(&v, share);
	for (unsigned c = 0; c < LETS; c++)
		if ((s.found & OF_LET(c)) && v.let[c] > v.stays)
			out->part[out->parts++] = (struct budget_part){
				.causes = 1u << (BUDGET_SEEN + c),
				.switched = true,
				.p = s.p[c],
				.share = share[c],
				.deviation = sqrt(v.let[c] - v.stays)
			};
	if (!out->parts && causes && v.differ)
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
		double stays = 0;

		out->fixed_deviation = sqrt(variance_of(q->fixed.count, q->fixed.n));
		ret = split_switched(out, q, &stays, err);
		weight = level(out, stays / (out->deviation * out->deviation));
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
