/* SPDX-License-Identifier: MIT */
/*
 * Forward selection, one cause at a time, each tested by permutations of the residuals. If the one
 * outlier of the count happens to be the outlier of a cause, too, this is no proof; permutations
 * account for it, and a normal distribution does not. Then backward elimination: a cause made
 * redundant by others is removed. The share of a cause is its contribution to the fit, averaged
 * over all orders of adding.
 *
 * Sources: Freedman and Lane, "A Nonstochastic Interpretation of Reported Significance Levels", J.
 * Bus. Econ. Stat. 1, 1983; Westfall and Young, "Resampling-Based Multiple Testing", 1993 (the
 * maximum of all statistics); Lindeman, Merenda and Gold, "Introduction to Bivariate and
 * Multivariate Analysis", 1980 (shares).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "noise/budget_fit.h"
#include "statistics/student_t.h"

enum { PERMUTATIONS = 999 };

/* fraction of a cause's variance not explained by others, below which it is redundant */
#define ALIKE 0.02

struct fit {
	size_t n;
	double *y;              /* centred */
	double *x[BUDGET_SEEN]; /* likewise; NULL: excluded */
	double *work;           /* (BUDGET_SEEN + 4) series */
	unsigned chosen;
	double p[BUDGET_SEEN];
};

static double dot(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static double *row(const struct fit *f, unsigned i)
{
	return f->work + i * f->n;
}

/* An orthonormal basis of a set of causes, in rows 0..; returns its size. */
static unsigned basis_of(const struct fit *f, unsigned set)
{
	unsigned m = 0;

	for (unsigned c = 0; c < BUDGET_SEEN; c++) {
		double *b = row(f, m), before, after;

		if (!(set >> c & 1))
			continue;
		memcpy(b, f->x[c], f->n * sizeof(*b));
		before = dot(b, b, f->n);
		for (unsigned twice = 0; twice < 2; twice++) /* twice, because of rounding errors */
			for (unsigned k = 0; k < m; k++) {
				double s = dot(b, row(f, k), f->n);

				for (size_t i = 0; i < f->n; i++)
					b[i] -= s * row(f, k)[i];
			}
		after = dot(b, b, f->n);
		if (after <= 1e-12 * before)
			continue;
		for (size_t i = 0; i < f->n; i++)
			b[i] /= sqrt(after);
		m++;
	}
	return m;
}

/* The part of `from` orthogonal to the first m rows. */
static void residual(const struct fit *f, unsigned m, const double *from, double *to)
{
	if (to != from)
		memcpy(to, from, f->n * sizeof(*to));
	for (unsigned k = 0; k < m; k++) {
		double s = dot(to, row(f, k), f->n);

		for (size_t i = 0; i < f->n; i++)
			to[i] -= s * row(f, k)[i];
	}
}

/* 1 - rest / whole of the counts, with a set of causes. */
static double fit_of(const struct fit *f, unsigned set)
{
	double *rest = row(f, BUDGET_SEEN), whole = dot(f->y, f->y, f->n);

	residual(f, basis_of(f, set), f->y, rest);
	return 1 - dot(rest, rest, f->n) / whole;
}

static void shuffle(double *v, size_t n, uint64_t *state)
{
	for (size_t i = n; i > 1; i--) {
		size_t k = (size_t)(budget_random(state) % i);
		double t = v[i - 1];

		v[i - 1] = v[k];
		v[k] = t;
	}
}

/*
 * The cause that fits the residuals best, and the probability that chance fits as well. `own` has
 * room for a series per cause. BUDGET_SEEN: all causes are redundant.
 */
static unsigned best_of(struct fit *f, double *own, double *p)
{
	unsigned m = basis_of(f, f->chosen), best = BUDGET_SEEN, as_good = 0;
	double *left = row(f, BUDGET_SEEN), *mixed = row(f, BUDGET_SEEN + 1),
	       *rest = row(f, BUDGET_SEEN + 2), most = 0;
	bool candidate[BUDGET_SEEN] = { false };
	uint64_t state = 20;

	residual(f, m, f->y, left);
	for (unsigned c = 0; c < BUDGET_SEEN; c++) {
		double *o = own + c * f->n, before, after, r;

		if (!f->x[c] || (f->chosen >> c & 1))
			continue;
		residual(f, m, f->x[c], o);
		before = dot(f->x[c], f->x[c], f->n);
		after = dot(o, o, f->n);
		if (after < ALIKE * before)
			continue;
		for (size_t i = 0; i < f->n; i++)
			o[i] /= sqrt(after);
		candidate[c] = true;
		r = fabs(dot(left, o, f->n));
		if (r > most) {
			most = r;
			best = c;
		}
	}
	if (best == BUDGET_SEEN)
		return best;
	most *= most / dot(left, left, f->n);
	memcpy(mixed, left, f->n * sizeof(*mixed));
	for (unsigned k = 0; k < PERMUTATIONS; k++) {
		double whole, top = 0;

		shuffle(mixed, f->n, &state);
		residual(f, m, mixed, rest);
		whole = dot(rest, rest, f->n);
		for (unsigned c = 0; c < BUDGET_SEEN; c++)
			if (candidate[c]) {
				double r = dot(rest, own + c * f->n, f->n);

				top = r * r > top ? r * r : top;
			}
		as_good += top >= most * whole * (1 - 1e-9);
	}
	*p = (as_good + 1.0) / (PERMUTATIONS + 1);
	return best;
}

/*
 * The coefficient of one cause in addition to others, with its interval. False if it is redundant,
 * or there are no degrees of freedom left.
 */
static bool slope(const struct fit *f, unsigned cause, unsigned others, double *per, double *half,
		  double *p)
{
	unsigned m = basis_of(f, others & ~(1u << cause));
	double *o = row(f, BUDGET_SEEN), *rest = row(f, BUDGET_SEEN + 1), whole, b, error;
	double df = (double)f->n - 2 - m;

	residual(f, m, f->x[cause], o);
	whole = dot(o, o, f->n);
	if (df < 1 || whole < 1e-9 * dot(f->x[cause], f->x[cause], f->n))
		return false;
	residual(f, m, f->y, rest);
	b = dot(rest, o, f->n) / whole;
	for (size_t i = 0; i < f->n; i++)
		rest[i] -= b * o[i];
	error = sqrt(dot(rest, rest, f->n) / df / whole);
	*per = b;
	*half = student_t(0.05, df) * error;
	*p = error > 1e-12 * fabs(b) ? student_p(b / error, df) : b != 0 ? 0 : 1;
	return true;
}

static bool needed(const struct fit *f, unsigned cause, unsigned others)
{
	double per, half, p;

	return slope(f, cause, others, &per, &half, &p) && p < BUDGET_CHANCE;
}

static int choose(struct fit *f, struct tare_error *err)
{
	double *own = calloc(BUDGET_SEEN * f->n, sizeof(*own));

	if (!own)
		return tare_fail_nomem(err);
	for (;;) {
		double p, rest = 1 - fit_of(f, f->chosen);
		unsigned c = rest > 1e-12 ? best_of(f, own, &p) : BUDGET_SEEN;

		if (c == BUDGET_SEEN || p > BUDGET_CHANCE ||
		    (size_t)__builtin_popcount(f->chosen) + 3 > f->n)
			break;
		f->chosen |= 1u << c;
		f->p[c] = p;
	}
	free(own);
	for (unsigned c = 0; c < BUDGET_SEEN; c++)
		if ((f->chosen >> c & 1) && __builtin_popcount(f->chosen) > 1 &&
		    !needed(f, c, f->chosen))
			f->chosen &= ~(1u << c);
	return 0;
}

/* Other causes that would fit about as well in its place. */
static unsigned together_with(const struct fit *f, unsigned cause)
{
	unsigned set = 1u << cause;

	for (unsigned c = 0; c < BUDGET_SEEN; c++)
		if (f->x[c] && !(f->chosen >> c & 1) && !needed(f, cause, f->chosen | 1u << c) &&
		    fit_of(f, (f->chosen & ~(1u << cause)) | 1u << c) > 0.5 * fit_of(f, f->chosen))
			set |= 1u << c;
	return set;
}

/* Its contribution to the fit, over all orders of adding the selected causes. */
static double share_of(const struct fit *f, unsigned cause)
{
	unsigned others = f->chosen & ~(1u << cause);
	int m = __builtin_popcount(f->chosen);
	double sum = 0;

	for (unsigned set = others;; set = (set - 1) & others) {
		int k = __builtin_popcount(set);
		/* k! (m - k - 1)! / m! */
		double weight = exp(lgamma(k + 1) + lgamma(m - k) - lgamma(m + 1));

		sum += weight * (fit_of(f, set | 1u << cause) - (set ? fit_of(f, set) : 0));
		if (!set)
			break;
	}
	return sum < 0 ? 0 : sum;
}

static double square_share(double per, double half, double share)
{
	double part = per != 0 ? half / fabs(per) : 0;

	return share * (part < -1 ? 0 : (1 + part) * (1 + part));
}

static void put_parts(struct fit *f, struct budget *out)
{
	for (unsigned c = 0; c < BUDGET_SEEN; c++) {
		struct budget_part *part = &out->part[out->parts];
		double half = 0, p;

		if (!(f->chosen >> c & 1) || out->parts == BUDGET_PARTS)
			continue;
		*part = (struct budget_part){ .causes = together_with(f, c),
					      .share = share_of(f, c),
					      .p = f->p[c] };
		slope(f, c, f->chosen, &part->per, &half, &p);
		part->per_low = part->per - half;
		part->per_high = part->per + half;
		part->low = square_share(part->per, -half, part->share);
		part->high = fmin(1, square_share(part->per, half, part->share));
		out->parts++;
	}
}

/* Centred; false: all equal, within the precision of a double. */
static bool centre(double *to, const double *from, size_t n)
{
	double mean = 0, largest = 0, sum = 0;

	for (size_t i = 0; i < n; i++)
		mean += from[i] / (double)n;
	for (size_t i = 0; i < n; i++) {
		to[i] = from[i] - mean;
		sum += to[i] * to[i];
		largest = fmax(largest, fabs(from[i]));
	}
	return sum > 1e-26 * largest * largest * (double)n;
}

int budget_fit(struct budget *out, const struct budget_runs *runs, struct tare_error *err)
{
	struct fit f = { .n = runs->n };
	double *all = calloc((2 * BUDGET_SEEN + 6) * runs->n + 1, sizeof(*all));
	int ret = 0;

	if (!all)
		return tare_fail_nomem(err);
	f.work = all;
	f.y = all + (BUDGET_SEEN + 4) * f.n;
	for (unsigned c = 0; c < BUDGET_SEEN; c++) {
		f.x[c] = all + (BUDGET_SEEN + 5 + c) * f.n;
		if (!runs->seen[c])
			out->unseen |= 1u << c;
		else if (!centre(f.x[c], runs->seen[c], f.n))
			out->constant |= 1u << c;
		else
			out->tried |= 1u << c;
		if (!(out->tried >> c & 1))
			f.x[c] = NULL;
	}
	if (f.n >= BUDGET_RUNS_LEAST && centre(f.y, runs->count, f.n)) {
		ret = choose(&f, err);
		if (ret == 0)
			put_parts(&f, out);
	}
	free(all);
	return ret;
}
