/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "compare/compare.h"
#include "statistics/median.h"
#include "statistics/signed_rank.h"
#include "statistics/significance.h"

enum { NEEDED_MOST = 10000 };

int compare_add(struct compare_values *to, uint64_t value, struct tare_error *err)
{
	if (!array_one_more(&to->value, to->n, sizeof(*to->value)))
		return tare_fail_nomem(err);
	to->value[to->n++] = value;
	return 0;
}

void compare_event_free(struct compare_event *e)
{
	free(e->name);
	for (int side = 0; side < COMPARE_SIDES; side++) {
		free(e->of[side].value);
		free(e->again[side].value);
	}
	*e = (struct compare_event){ 0 };
}

static bool all_equal(const struct compare_values *v)
{
	for (size_t i = 1; i < v->n; i++)
		if (v->value[i] != v->value[0])
			return false;
	return v->n > 0;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* ---- by equality ---- */

static void judge_exact(struct compare_event *e)
{
	uint64_t a = e->of[COMPARE_BEFORE].value[0], b = e->of[COMPARE_AFTER].value[0];

	e->mean[COMPARE_BEFORE] = (double)a;
	e->mean[COMPARE_AFTER] = (double)b;
	e->median[COMPARE_BEFORE] = a;
	e->median[COMPARE_AFTER] = b;
	e->change = b >= a ? (double)(b - a) : -(double)(a - b);
	e->percent = a ? 100 * e->change / (double)a : b ? NAN : 0;
	e->low_percent = e->high_percent = e->half_percent = e->p = NAN;
	e->verdict = a == b ? COMPARE_SAME : b > a ? COMPARE_MORE : COMPARE_LESS;
	e->small = a != b && fabs(e->percent) < e->allowed; /* not NAN: from 0 */
}

/* ---- by a test ---- */

struct sample {
	double *v; /* before, then after */
	size_t n[COMPARE_SIDES];
	const struct drift *drift; /* NULL: the runs were interleaved */
};

static int sample_of(struct sample *s, const struct compare_values of[COMPARE_SIDES],
		     struct tare_error *err)
{
	*s = (struct sample){ .n = { of[0].n, of[1].n } };
	s->v = calloc(s->n[0] + s->n[1] + 1, sizeof(*s->v));
	if (!s->v)
		return tare_fail_nomem(err);
	for (size_t i = 0; i < s->n[0]; i++)
		s->v[i] = (double)of[0].value[i];
	for (size_t i = 0; i < s->n[1]; i++)
		s->v[s->n[0] + i] = (double)of[1].value[i];
	return 0;
}

static double mean_of(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i] / (double)n;
	return sum;
}

/*
 * The comparison with all values before multiplied by `factor`: is the change larger than
 * factor - 1?
 */
static int against(struct student_groups *g, const struct sample *s, double factor,
		   struct tare_error *err)
{
	struct change c = { .drift = s->drift };
	size_t n = s->n[0] + s->n[1];
	double *v = calloc(n + 1, sizeof(*v));

	if (!v)
		return tare_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		v[i] = (i < s->n[0] ? factor : 1) * s->v[i];
	c.value = v;
	if (!significance_judge(&c, 1, s->n[0], s->n[1])) {
		free(v);
		return tare_fail_nomem(err);
	}
	free(v);
	*g = c.test;
	if (s->n[0] < 2 || s->n[1] < 2)
		g->p = 1;
	return 0;
}

/* The interval at COMPARE_LEVEL, from the one at 95 %, for the degrees of freedom of equal
 * variances. */
static double at_level(double half, const struct sample *s)
{
	double df = (double)(s->n[0] + s->n[1]) - 2;

	return df > 0 ? half * student_t(COMPARE_LEVEL, df) / student_t(0.05, df) : NAN;
}

/* Half the interval shrinks with the square root of the number of runs, to below `distance`. */
static size_t runs_needed(double half, double distance, size_t n)
{
	double more = distance > 0 ? half / distance : INFINITY,
	       runs = ceil((double)n * more * more);

	return isfinite(runs) && runs < NEEDED_MOST ? (size_t)fmax(runs, (double)n + 1)
						    : NEEDED_MOST;
}

static int middle(const struct compare_values *of, uint64_t *median, struct tare_error *err)
{
	uint64_t *sorted = calloc(of->n + 1, sizeof(*sorted));

	if (!sorted)
		return tare_fail_nomem(err);
	memcpy(sorted, of->value, of->n * sizeof(*sorted));
	qsort(sorted, of->n, sizeof(*sorted), by_size);
	*median = median_of(sorted, of->n);
	free(sorted);
	return 0;
}

/* The numbers of one set of runs without pairs, and the verdict of this set alone. */
static int judge_means(struct compare_event *e, const struct compare_values of[COMPARE_SIDES],
		       struct tare_error *err)
{
	static const uint64_t none[2 * COMPARE_RUNS_MAX]; /* unknown start times */
	double t = e->threshold / 100, before, half;
	struct student_groups plain = { 0 }, above = { 0 }, below = { 0 };
	struct drift drift;
	struct sample s;
	int ret = sample_of(&s, of, err);

	for (int side = 0; ret == 0 && side < COMPARE_SIDES; side++)
		ret = middle(&of[side], &e->median[side], err);
	if (ret == 0 && e->in_blocks) {
		s.drift = &drift;
		ret = drift_of(&drift, none, s.n[0], s.n[1]) ? 0 : tare_fail_nomem(err);
	}
	if (ret == 0)
		ret = against(&plain, &s, 1, err);
	if (ret == 0)
		ret = against(&above, &s, 1 + t, err); /* above the threshold? */
	if (ret == 0)
		ret = against(&below, &s, 1 - t, err);
	before = ret == 0 ? mean_of(s.v, s.n[0]) : 0;
	e->mean[COMPARE_BEFORE] = before;
	e->mean[COMPARE_AFTER] = ret == 0 ? mean_of(s.v + s.n[0], s.n[1]) : 0;
	half = ret == 0 ? at_level(plain.half, &s) : 0;
	e->change = plain.change;
	e->percent = before > 0 ? 100 * e->change / before : e->change > 0 ? NAN : 0;
	e->half_percent = before > 0 && s.n[0] > 1 && s.n[1] > 1 ? 100 * half / before : NAN;
	e->low_percent = e->percent - e->half_percent;
	e->high_percent = e->percent + e->half_percent;
	e->p = above.change > 0 ? above.p : below.change < 0 ? below.p : fmax(above.p, below.p);
	e->needed = 0;
	e->verdict = above.change > 0 && above.p <= COMPARE_LEVEL ? COMPARE_MORE
		: below.change < 0 && below.p <= COMPARE_LEVEL    ? COMPARE_LESS
		: above.change < 0 && above.p <= COMPARE_LEVEL && below.change > 0 &&
			below.p <= COMPARE_LEVEL
		? COMPARE_SAME
		: COMPARE_CANNOT_TELL;
	if (e->verdict == COMPARE_CANNOT_TELL && isfinite(e->half_percent) && half > 0)
		e->needed = runs_needed(e->half_percent, fabs(fabs(e->percent) - e->threshold),
					s.n[0]);
	free(s.v);
	return ret;
}

/* ---- by a test of pairs ---- */

unsigned compare_first_look(unsigned runs, unsigned *looks)
{
	unsigned first = runs;

	for (*looks = 1; first / 2 >= signed_rank_least(COMPARE_LEVEL / (*looks + 1)); ++*looks)
		first /= 2;
	return first;
}

static double percent_of(double log_ratio)
{
	return 100 * expm1(log_ratio);
}

static void judge_ratios(struct compare_event *e, const struct signed_rank *r, unsigned most)
{
	double t = e->threshold / 100, more = log1p(t), less = t < 1 ? log1p(-t) : -INFINITY, low,
	       high, looks = most ? most : 1, p_more = signed_rank_p(r, more),
	       p_less = signed_rank_p(r, less);

	if (!signed_rank_interval(r, COMPARE_LEVEL / looks, &low, &high))
		low = -INFINITY, high = INFINITY;
	e->percent = percent_of(r->estimate);
	e->change = e->percent / 100 * (double)e->median[COMPARE_BEFORE];
	e->low_percent = e->high_percent = NAN;
	if (isfinite(low)) {
		e->low_percent = percent_of(low);
		e->high_percent = percent_of(high);
	}
	e->half_percent = (e->high_percent - e->low_percent) / 2;
	e->p = r->estimate > more ? p_more : r->estimate < less ? p_less : fmax(p_more, p_less);
	e->p = fmin(1, e->p * looks);
	e->verdict = low > more             ? COMPARE_MORE
		: high < less               ? COMPARE_LESS
		: low > less && high < more ? COMPARE_SAME
					    : COMPARE_CANNOT_TELL;
	e->needed = 0;
	if (e->verdict == COMPARE_CANNOT_TELL)
		e->needed = isfinite(low)
			? runs_needed(e->half_percent, fabs(fabs(e->percent) - e->threshold), r->n)
			: signed_rank_least(COMPARE_LEVEL);
}

static int judge_pairs(struct compare_event *e, const struct compare_values of[COMPARE_SIDES],
		       struct tare_error *err)
{
	size_t n = of[0].n < of[1].n ? of[0].n : of[1].n;
	double *ratio = calloc(n + 1, sizeof(*ratio));
	struct signed_rank r = { 0 };
	int ret = ratio ? 0 : tare_fail_nomem(err);

	for (int side = 0; ret == 0 && side < COMPARE_SIDES; side++) {
		ret = middle(&of[side], &e->median[side], err);
		e->mean[side] = 0;
		for (size_t i = 0; i < n; i++)
			e->mean[side] += (double)of[side].value[i] / (double)n;
	}
	for (size_t i = 0; ret == 0 && i < n; i++)
		ratio[i] = log((double)of[COMPARE_AFTER].value[i]) -
			log((double)of[COMPARE_BEFORE].value[i]);
	if (ret == 0 && !signed_rank_of(&r, ratio, n))
		ret = tare_fail_nomem(err);
	if (ret == 0)
		judge_ratios(e, &r, of == e->again ? e->again_looks : e->looks);
	signed_rank_free(&r);
	free(ratio);
	return ret;
}

static bool has_ratios(const struct compare_values of[COMPARE_SIDES])
{
	for (int side = 0; side < COMPARE_SIDES; side++)
		for (size_t i = 0; i < of[side].n; i++)
			if (!of[side].value[i])
				return false;
	return of[0].n && of[1].n;
}

static int judge_set(struct compare_event *e, const struct compare_values of[COMPARE_SIDES],
		     struct tare_error *err)
{
	e->by_pairs = e->paired && has_ratios(of);
	return (e->by_pairs ? judge_pairs : judge_means)(e, of, err);
}

static int judge_noisy(struct compare_event *e, struct tare_error *err)
{
	enum compare_verdict first;
	int ret = judge_set(e, e->of, err);

	e->unconfirmed = false;
	if (ret < 0 || !e->again[0].n || !e->again[1].n)
		return ret;
	first = e->verdict;
	ret = judge_set(e, e->again, err);
	if (ret == 0 && first != e->verdict && (first == COMPARE_MORE || first == COMPARE_LESS)) {
		e->unconfirmed = true;
		e->verdict = COMPARE_CANNOT_TELL;
	}
	return ret;
}

int compare_judge(struct compare_event *e, struct tare_error *err)
{
	e->varies[0] = e->exact && !all_equal(&e->of[0]);
	e->varies[1] = e->exact && !all_equal(&e->of[1]);
	e->by_equality = e->exact && !e->varies[0] && !e->varies[1];
	e->small = e->by_pairs = false;
	if (!e->by_equality)
		return judge_noisy(e, err);
	judge_exact(e);
	return 0;
}

bool compare_to_confirm(const struct compare_event *e)
{
	return !e->by_equality && !e->again[0].n &&
		(e->verdict == COMPARE_MORE || e->verdict == COMPARE_LESS);
}

/* ---- all events ---- */

enum compare_outcome compare_outcome(const struct compare_event *e, size_t n,
				     const struct compare_event **by)
{
	static const enum compare_verdict order[] = { COMPARE_MORE, COMPARE_LESS, COMPARE_SAME };
	static const enum compare_outcome outcome[] = { OUTCOME_SLOWER, OUTCOME_FASTER,
							OUTCOME_SAME };
	const struct compare_event *unused;

	by = by ? by : &unused;
	*by = n ? e : NULL;
	for (size_t k = 0; k < ARRAY_SIZE(order); k++)
		for (size_t i = 0; i < n; i++) {
			bool small = e[i].small && order[k] == COMPARE_SAME;

			if (!small && (e[i].verdict != order[k] || e[i].small))
				continue;
			*by = &e[i];
			return outcome[k];
		}
	return OUTCOME_CANNOT_TELL;
}

const char *compare_outcome_word(enum compare_outcome o)
{
	static const char *const words[] = { "cannot tell", "same", "faster", "slower" };

	return words[o];
}

const char *compare_verdict_word(const struct compare_event *e)
{
	switch (e->verdict) {
	case COMPARE_SAME:
		return "same";
	case COMPARE_LESS:
		return e->time ? "faster" : "fewer";
	case COMPARE_MORE:
		return e->time ? "slower" : "more";
	default:
		return "cannot tell";
	}
}
