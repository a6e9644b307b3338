/* SPDX-License-Identifier: MIT */
/*
 * Synthetic runs with a known cause of their differences. The budget must name that cause and no
 * other. Thousands of deterministic cases. Each group of cases says what it allows and why.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "noise/budget.h"
#include "tap.h"

enum { MOST = 40, LETS = BUDGET_CAUSES - BUDGET_SEEN };

static uint64_t state = 7;

static double uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform() + 1e-18)) * cos(6.283185307179586 * uniform());
}

static size_t below(size_t n)
{
	return (size_t)(uniform() * (double)n);
}

struct runs {
	double count[MOST], seen[BUDGET_SEEN][MOST];
	size_t n;
};

/* Typical causes: small integers, some of them with an outlier run; returns which ones. */
static unsigned see(struct runs *r, size_t n, bool may_be_odd)
{
	unsigned odds = 0;

	r->n = n;
	for (unsigned c = 0; c < BUDGET_SEEN; c++) {
		double mean = 5 + 200 * uniform();
		bool odd = uniform() < 0.3 && may_be_odd;

		odds |= odd ? 1u << c : 0;
		for (size_t i = 0; i < n; i++)
			r->seen[c][i] = floor(fmax(0, mean + sqrt(mean) * normal()));
		if (odd)
			r->seen[c][below(n)] *= 5;
	}
	for (size_t i = 0; i < n; i++)
		r->count[i] = 1e7;
	return odds;
}

static double deviation(const double *v, size_t n)
{
	double mean = 0, sum = 0;

	for (size_t i = 0; i < n; i++)
		mean += v[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		sum += (v[i] - mean) * (v[i] - mean);
	return sqrt(sum / (double)(n - 1));
}

static void ask(struct budget_runs *q, const struct runs *r)
{
	*q = (struct budget_runs){ .count = r->count, .n = r->n };
	for (unsigned c = 0; c < BUDGET_SEEN; c++)
		q->seen[c] = r->seen[c];
}

static const struct budget_part *part_with(const struct budget *b, unsigned cause)
{
	for (size_t i = 0; i < b->parts; i++)
		if (b->part[i].causes >> cause & 1)
			return &b->part[i];
	return NULL;
}

static struct budget split(const struct budget_question *q)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct budget b;

	CHECK_EQ(budget_split(&b, q, &err), 0, "%s", err.what);
	return b;
}

/*
 * Only independent noise: with BUDGET_CHANCE of 1 % errors, 2.5 % is four standard deviations off.
 */
TEST(noise_alone_blames_nobody)
{
	unsigned wrong = 0, cases = tap_cases(1500);

	for (unsigned k = 0; k < cases; k++) {
		struct budget_question q = { 0 };
		struct runs r;
		struct budget b;
		bool odd = uniform() < 0.3;

		see(&r, 6 + below(25), true);
		for (size_t i = 0; i < r.n; i++)
			r.count[i] += floor(1000 * normal());
		if (odd)
			r.count[below(r.n)] += 30000;
		ask(&q.asked, &r);
		b = split(&q);
		wrong += b.parts > 0;
		CHECK(b.parts || b.left > 0.99);
	}
	printf("# %u of %u named a cause\n", wrong, cases);
	CHECK(tap_seldom(wrong, cases, 0.025), "%u of %u", wrong, cases);
}

/*
 * One cause makes 80 to 100 % of the variance, the rest is independent noise, from 12 runs on. If a
 * single run of the cause makes it, there is no proof (see below): the budget may then name no
 * cause, but not a wrong one.
 */
TEST(a_cause_that_was_seen)
{
	unsigned cases = tap_cases(1500), plain = 0, found = 0, alone = 0, other = 0, inside = 0,
		 shares = 0, odd_found = 0;

	for (unsigned k = 0; k < cases; k++) {
		unsigned cause = (unsigned)below(BUDGET_SEEN);
		double per = (uniform() < 0.5 ? 1 : 37.5), rest = uniform() * 0.2, d;
		struct budget_question q = { 0 };
		const struct budget_part *part;
		struct runs r;
		struct budget b;
		bool odd = see(&r, 12 + below(25), true) >> cause & 1;

		d = per * deviation(r.seen[cause], r.n);
		for (size_t i = 0; i < r.n; i++)
			r.count[i] += per * r.seen[cause][i] +
				sqrt(rest / (1 - rest)) * d * normal();
		ask(&q.asked, &r);
		b = split(&q);
		part = part_with(&b, cause);
		other += b.parts > (part != NULL);
		odd_found += odd && part;
		if (odd)
			continue;
		plain++;
		found += part != NULL;
		alone += part && part->causes == 1u << cause;
		inside += part && part->causes == 1u << cause && part->per_low <= per &&
			part->per_high >= per;
		shares += part && fabs(part->share - (1 - rest)) < 0.25;
	}
	printf("# found %u, alone %u, coefficient inside its interval %u, of %u; with one odd run %u of %u; another blamed too %u of %u\n",
	       found, alone, inside, plain, odd_found, cases - plain, other, cases);
	CHECK(tap_seldom(plain - found, plain, 0.005), "%u of %u", found, plain);
	CHECK(tap_seldom(plain - alone, plain, 0.02), "%u of %u", alone, plain);
	CHECK(tap_seldom(other, cases, 0.025), "%u of %u", other, cases);
	CHECK(tap_seldom(alone - inside, alone, 0.08), "%u of %u", inside, alone);
	CHECK(tap_seldom(plain - shares, plain, 0.03), "%u of %u", shares, plain);
}

TEST(two_causes_share)
{
	unsigned cases = tap_cases(500), both = 0, other = 0;
	bool in_order = true;

	for (unsigned k = 0; k < cases; k++) {
		unsigned a = (unsigned)below(BUDGET_SEEN),
			 c = (a + 1 + (unsigned)below(BUDGET_SEEN - 1)) % BUDGET_SEEN;
		struct budget_question q = { 0 };
		struct runs r;
		struct budget b;
		double da, dc;

		see(&r, 25 + below(15), false);
		da = deviation(r.seen[a], r.n);
		dc = deviation(r.seen[c], r.n);
		for (size_t i = 0; i < r.n; i++)
			r.count[i] += 1000 * r.seen[a][i] / da + 800 * r.seen[c][i] / dc +
				200 * normal();
		ask(&q.asked, &r);
		b = split(&q);
		both += part_with(&b, a) && part_with(&b, c) &&
			part_with(&b, a) != part_with(&b, c);
		in_order &= b.parts < 2 || b.part[0].share >= b.part[1].share;
		other += b.parts > 2;
	}
	CHECK(in_order, "the largest first");
	printf("# both found %u, a third blamed %u, of %u\n", both, other, cases);
	CHECK(tap_seldom(cases - both, cases, 0.05), "%u of %u", both, cases);
	CHECK(tap_seldom(other, cases, 0.03), "%u of %u", other, cases);
}

/* Correlated causes are named together: neither is called the cause alone. */
TEST(alike_causes_are_not_told_apart)
{
	unsigned cases = tap_cases(500), together = 0;

	for (unsigned k = 0; k < cases; k++) {
		unsigned a = (unsigned)below(BUDGET_SEEN),
			 c = (a + 1 + (unsigned)below(BUDGET_SEEN - 1)) % BUDGET_SEEN;
		struct budget_question q = { 0 };
		const struct budget_part *part;
		struct runs r;
		struct budget b;
		double d;

		see(&r, 10 + below(20), false);
		d = deviation(r.seen[a], r.n);
		for (size_t i = 0; i < r.n; i++) {
			r.seen[c][i] = 3 * r.seen[a][i] + 2;
			r.count[i] += 5 * r.seen[a][i] + 0.3 * d * normal();
		}
		ask(&q.asked, &r);
		b = split(&q);
		part = part_with(&b, a);
		together += part && (part->causes >> c & 1);
	}
	CHECK_EQ(together, cases, "in each of them");
}

/*
 * One outlier run, which is also an outlier of one cause: with n runs, the probability by chance is
 * one in n.
 */
TEST(one_odd_run_is_no_proof)
{
	struct budget_question q = { 0 };
	struct runs r = { .n = 20 };
	struct budget b;

	for (size_t i = 0; i < r.n; i++) {
		r.count[i] = i == 4 ? 2000 : 1000;
		r.seen[BUDGET_SWITCHES][i] = i == 4 ? 50 : 2;
	}
	ask(&q.asked, &r);
	b = split(&q);
	CHECK_EQ(b.parts, 0);
	CHECK(b.alone && b.alone_run == 4, "run %zu", b.alone_run);
	CHECK(b.alone_share > 0.99, "%f", b.alone_share);
	CHECK(b.left == 1);
	CHECK_EQ(b.tried, BUDGET(SWITCHES));
	CHECK_EQ(b.constant, ((1u << BUDGET_SEEN) - 1) & ~BUDGET(SWITCHES));
}

/* Causes of a launch, varied alone: one is effective, or none, in addition to constant noise. */
TEST(causes_that_are_switched)
{
	unsigned cases = tap_cases(1200), planted = 0, found = 0, wrong = 0, none_wrong = 0,
		 none = 0;

	for (unsigned k = 0; k < cases; k++) {
		unsigned cause = (unsigned)below(LETS + 1);
		double noise = uniform() < 0.5 ? 0 : 30 * uniform();
		static struct runs asked, fixed, let[LETS];
		struct budget_question q = { 0 };
		struct budget b;
		size_t n = 10 + below(10);

		asked.n = fixed.n = n;
		for (size_t i = 0; i < n; i++) {
			asked.count[i] = 5e6 + noise * normal() +
				(cause < LETS ? floor(400 * normal()) : 0);
			fixed.count[i] = 5e6 + noise * normal();
		}
		q.asked = (struct budget_runs){ .count = asked.count, .n = n };
		q.fixed = (struct budget_runs){ .count = fixed.count, .n = n };
		for (unsigned c = 0; c < LETS; c++) {
			for (size_t i = 0; i < n; i++)
				let[c].count[i] = 5e6 + noise * normal() +
					(c == cause ? floor(400 * normal()) : 0);
			q.let[c] = (struct budget_runs){ .count = let[c].count, .n = n };
		}
		b = split(&q);
		if (cause == LETS) {
			none++;
			none_wrong += b.parts > 0;
			continue;
		}
		planted++;
		found += part_with(&b, BUDGET_SEEN + cause) != NULL;
		wrong += b.parts > 1 ||
			(b.parts == 1 && b.part[0].causes != 1u << (BUDGET_SEEN + cause));
	}
	printf("# found %u of %u, another blamed %u; with none planted blamed %u of %u\n", found,
	       planted, wrong, none_wrong, none);
	CHECK(tap_seldom(planted - found, planted, 0.02), "%u of %u", found, planted);
	CHECK(tap_seldom(wrong, planted, 0.03), "%u of %u", wrong, planted);
	CHECK(tap_seldom(none_wrong, none, 0.04), "%u of %u", none_wrong, none);
}

/* Runs under each condition of the launch. */
struct launches {
	struct runs asked, fixed, let[LETS];
};

static void ask_all(struct budget_question *q, const struct launches *l)
{
	*q = (struct budget_question){ .asked = { .count = l->asked.count, .n = l->asked.n },
				       .fixed = { .count = l->fixed.count, .n = l->fixed.n } };
	for (unsigned c = 0; c < LETS; c++)
		q->let[c] = (struct budget_runs){ .count = l->let[c].count, .n = l->let[c].n };
}

/* Constant counts; each condition has its own, as its environment differs. */
static void launch(struct launches *l, size_t n)
{
	l->asked.n = l->fixed.n = n;
	for (size_t i = 0; i < n; i++) {
		l->asked.count[i] = 3e6 + 17;
		l->fixed.count[i] = 3e6;
	}
	for (unsigned c = 0; c < LETS; c++) {
		l->let[c].n = n;
		for (size_t i = 0; i < n; i++)
			l->let[c].count[i] = 3e6 + 100 * c;
	}
}

/* Changes some of the runs: a hash bucket with one more entry, a search that ends early. */
static void sometimes(struct runs *r, double part, double more)
{
	for (size_t i = 0; i < r->n; i++)
		r->count[i] += uniform() < part ? more : 0;
}

static unsigned causes_of(const struct budget *b)
{
	unsigned set = 0;

	for (size_t i = 0; i < b->parts; i++)
		set |= b->part[i].causes;
	return set >> BUDGET_SEEN;
}

/*
 * One cause of the launch gives two values; in some cases there is also rare noise of two values
 * that no condition removes. Only the cause is named.
 */
TEST(noise_of_two_values)
{
	unsigned cases = tap_cases(600), found = 0, wrong = 0, rest_found = 0, rest_wrong = 0,
		 none_wrong = 0, inside = 0;

	for (unsigned k = 0; k < cases; k++) {
		unsigned cause = (unsigned)below(LETS);
		double part = 0.3 + 0.4 * uniform();
		static struct launches l;
		struct budget_question q;
		struct budget b;

		launch(&l, 12 + below(9));
		sometimes(&l.asked, part, 260);
		sometimes(&l.let[cause], part, 260);
		ask_all(&q, &l);
		b = split(&q);
		found += causes_of(&b) >> cause & 1;
		wrong += (causes_of(&b) & ~(1u << cause)) && b.parts == 1;
		inside += b.parts == 1 && b.part[0].high > 0.999 && b.part[0].low > 0.5 &&
			b.left_low < 0.001;

		sometimes(&l.asked, 0.1, 60);
		sometimes(&l.fixed, 0.1, 60);
		for (unsigned c = 0; c < LETS; c++)
			sometimes(&l.let[c], 0.1, 60);
		b = split(&q);
		rest_found += causes_of(&b) >> cause & 1;
		rest_wrong += (causes_of(&b) & ~(1u << cause)) != 0;

		launch(&l, 12 + below(9));
		sometimes(&l.asked, part, 60);
		sometimes(&l.fixed, part, 60);
		for (unsigned c = 0; c < LETS; c++)
			sometimes(&l.let[c], part, 60);
		ask_all(&q, &l);
		b = split(&q);
		none_wrong += b.parts > 0;
	}
	printf("# found %u, another named %u, share inside %u; with other noise %u and %u; only that: %u; of %u\n",
	       found, wrong, inside, rest_found, rest_wrong, none_wrong, cases);
	CHECK(tap_seldom(cases - found, cases, 0.05), "%u of %u", found, cases);
	CHECK(tap_seldom(wrong, cases, 0.01), "%u of %u", wrong, cases);
	CHECK(tap_seldom(cases - inside, cases, 0.1), "%u of %u", inside, cases);
	CHECK(tap_seldom(cases - rest_found, cases, 0.1), "%u of %u", rest_found, cases);
	CHECK(tap_seldom(rest_wrong, cases, 0.02), "%u of %u", rest_wrong, cases);
	CHECK(tap_seldom(none_wrong, cases, 0.02), "%u of %u", none_wrong, cases);
}

/* Two causes, one of which gives two values: the stronger one does not hide the other. */
TEST(two_causes_of_the_launch)
{
	unsigned cases = tap_cases(300), both = 0, either = 0, other = 0;

	for (unsigned k = 0; k < cases; k++) {
		unsigned a = (unsigned)below(LETS), c = (a + 1 + (unsigned)below(LETS - 1)) % LETS,
			 named;
		static struct launches l;
		struct budget_question q;
		struct budget b;

		launch(&l, 20);
		sometimes(&l.asked, 0.5, 500);
		sometimes(&l.let[a], 0.5, 500);
		for (size_t i = 0; i < l.asked.n; i++) {
			l.asked.count[i] += floor(100 * normal());
			l.let[c].count[i] += floor(100 * normal());
		}
		ask_all(&q, &l);
		b = split(&q);
		named = causes_of(&b);
		both += (named >> a & 1) && (named >> c & 1);
		either += (named >> a & 1) || (named >> c & 1);
		other += (named & ~(1u << a) & ~(1u << c)) != 0;
	}
	printf("# both %u, either %u, another %u, of %u\n", both, either, other, cases);
	CHECK(tap_seldom(cases - both, cases, 0.05), "%u of %u", both, cases);
	CHECK(tap_seldom(cases - either, cases, 0.01), "%u of %u", either, cases);
	CHECK(tap_seldom(other, cases, 0.01), "%u of %u", other, cases);
}

/* The confidence intervals contain the true shares about as often as they should. */
TEST(limits_cover_the_shares)
{
	unsigned cases = tap_cases(400), part_in = 0, left_in = 0, named = 0;

	for (unsigned k = 0; k < cases; k++) {
		double stays = 20 + 60 * uniform(), varies = 200, share;
		static struct launches l;
		struct budget_question q;
		const struct budget_part *p;
		struct budget b;

		launch(&l, 20 + below(20));
		for (size_t i = 0; i < l.asked.n; i++) {
			l.asked.count[i] += varies * normal() + stays * normal();
			l.fixed.count[i] += stays * normal();
			for (unsigned c = 0; c < LETS; c++)
				l.let[c].count[i] += (c == 1 ? varies : 0) * normal() +
					stays * normal();
		}
		ask_all(&q, &l);
		b = split(&q);
		p = part_with(&b, BUDGET_SEEN + 1);
		if (!p)
			continue;
		share = varies * varies / (varies * varies + stays * stays);
		named++;
		part_in += p->low <= share && share <= p->high;
		left_in += b.left_low <= 1 - share && 1 - share <= b.left_high;
	}
	printf("# named %u of %u; the share inside %u, the rest inside %u\n", named, cases, part_in,
	       left_in);
	CHECK(tap_seldom(cases - named, cases, 0.01), "%u of %u", named, cases);
	CHECK(tap_seldom(named - part_in, named, 0.1), "%u of %u", part_in, named);
	CHECK(tap_seldom(named - left_in, named, 0.1), "%u of %u", left_in, named);
}

static void scale(struct runs *r, double by)
{
	for (size_t i = 0; i < r->n; i++)
		r->count[i] *= by;
}

/* Times in seconds or in ns: the unit changes deviations only. */
TEST(the_unit_does_not_matter)
{
	static const double units[] = { 1, 1.0 / (1 << 20), 1 << 20 };
	struct budget b[3];

	for (unsigned u = 0; u < ARRAY_SIZE(units); u++) {
		static struct launches l;
		struct budget_question q;

		state = 99;
		launch(&l, 16);
		sometimes(&l.asked, 0.5, 260);
		sometimes(&l.let[2], 0.5, 260);
		for (size_t i = 0; i < l.asked.n; i++) {
			l.asked.count[i] += floor(50 * normal());
			l.let[4].count[i] += floor(50 * normal());
		}
		scale(&l.asked, units[u]);
		scale(&l.fixed, units[u]);
		for (unsigned c = 0; c < LETS; c++)
			scale(&l.let[c], units[u]);
		ask_all(&q, &l);
		b[u] = split(&q);
		CHECK_EQ(causes_of(&b[u]), 1u << 2 | 1u << 4, "unit %u", u);
		CHECK(b[u].alone_share == b[0].alone_share && b[u].left == b[0].left);
		CHECK(fabs(b[u].deviation - b[0].deviation * units[u]) < 1e-9 * b[u].deviation);
		for (size_t i = 0; i < b[u].parts && i < b[0].parts; i++)
			CHECK(b[u].part[i].share == b[0].part[i].share &&
				      b[u].part[i].low == b[0].part[i].low &&
				      b[u].part[i].high == b[0].part[i].high &&
				      b[u].part[i].p == b[0].part[i].p,
			      "unit %u, part %zu", u, i);
	}
}

/* No permutation is as extreme: of 4,000 it is the one, and ten tests were possible. */
TEST(the_smallest_probability)
{
	static struct launches l;
	struct budget_question q;
	struct budget b;

	launch(&l, 20);
	for (size_t i = 0; i < 20; i += 2) {
		l.asked.count[i] += 100;
		l.let[3].count[i] += 100;
	}
	ask_all(&q, &l);
	b = split(&q);
	CHECK_EQ(causes_of(&b), 1u << 3);
	CHECK(b.part[0].p == 10.0 / 4000, "%g", b.part[0].p);
	CHECK(b.part[0].share == 1 && b.left == 0 && b.left_high == 0, "%g", b.part[0].share);
	CHECK(fabs(b.part[0].deviation - deviation(l.let[3].count, 20)) < 1e-9);
	CHECK(b.fixed_deviation == 0);
}

/*
 * The launch makes half of the variance, page faults the other half: both are named, and the shares
 * are of the whole.
 */
TEST(switched_and_seen)
{
	struct budget_question q = { 0 };
	static struct runs asked, fixed, let;
	const struct budget_part *layout, *faults;
	struct budget b;

	see(&asked, 30, false);
	see(&fixed, 30, false);
	see(&let, 30, false);
	for (size_t i = 0; i < 30; i++) {
		fixed.count[i] += 100 * fixed.seen[BUDGET_FAULTS][i];
		let.count[i] += 100 * let.seen[BUDGET_FAULTS][i];
		asked.count[i] += 100 * asked.seen[BUDGET_FAULTS][i];
	}
	for (size_t i = 0; i < 30; i++) {
		double d = 100 * deviation(fixed.seen[BUDGET_FAULTS], 30);

		asked.count[i] += 2 * d * normal();
		let.count[i] += 2 * d * normal();
	}
	ask(&q.asked, &asked);
	ask(&q.fixed, &fixed);
	ask(&q.let[0], &let);
	b = split(&q);
	layout = part_with(&b, BUDGET_LAYOUT);
	faults = part_with(&b, BUDGET_FAULTS);
	CHECK(layout && layout->switched && layout->share > 0.4, "%zu parts", b.parts);
	CHECK(faults && !faults->switched && faults->share > 0.03 && faults->share < 0.6,
	      "%zu parts", b.parts);
	CHECK(layout && faults && layout->share + faults->share + b.left < 1.001);
	CHECK(faults && fabs(faults->per - 100) < 1e-6, "%f", faults ? faults->per : 0);
	CHECK(b.fixed_deviation > 0 && b.fixed_deviation < b.deviation);
}

/*
 * A share is within its limits, and so is the rest; by regression, the limits are those of the
 * coefficient, squared.
 */
TEST(limits_of_shares)
{
	for (unsigned k = 0; k < 60; k++) {
		static struct runs asked, fixed, let[2];
		struct budget_question q = { 0 };
		struct budget b;
		size_t n = 12;

		see(&asked, n, false);
		see(&fixed, n, false);
		asked.n = fixed.n = let[0].n = let[1].n = n;
		for (size_t i = 0; i < n; i++) {
			fixed.count[i] = 1e6 + fixed.seen[BUDGET_SWITCHES][i] + normal();
			let[0].count[i] = 1e6 + 300 * normal() + normal();
			let[1].count[i] = 1e6 + 150 * normal() + normal();
			asked.count[i] = 1e6 + 300 * normal() + 150 * normal() + normal();
		}
		ask(&q.asked, &asked);
		ask(&q.fixed, &fixed);
		q.let[0] = (struct budget_runs){ .count = let[0].count, .n = n };
		q.let[1] = (struct budget_runs){ .count = let[1].count, .n = n };
		b = split(&q);
		CHECK(b.left_low >= 0 && b.left_low <= b.left && b.left <= b.left_high &&
			      b.left_high <= 1,
		      "%f %f %f", b.left_low, b.left, b.left_high);
		CHECK(b.parts < 2 || b.left_high < 0.3, "fixing removes nearly all: %f",
		      b.left_high);
		for (size_t i = 0; i < b.parts; i++) {
			const struct budget_part *p = &b.part[i];

			CHECK(p->low >= 0 && p->low <= p->share && p->share <= p->high &&
				      p->high <= 1,
			      "%f %f %f", p->low, p->share, p->high);
			CHECK(!i || b.part[i - 1].share >= p->share, "the largest first");
		}
		q = (struct budget_question){ 0 };
		ask(&q.asked, &fixed);
		b = split(&q);
		CHECK(b.parts == 1 && b.part[0].per_high > b.part[0].per &&
		      b.part[0].per_low < b.part[0].per);
		CHECK(fabs(b.part[0].high -
			   fmin(1, b.part[0].share * pow(b.part[0].per_high / b.part[0].per, 2))) <
		      1e-9);
		CHECK(fabs(b.part[0].low -
			   b.part[0].share * pow(b.part[0].per_low / b.part[0].per, 2)) < 1e-9);
	}
}

TEST(events_and_causes_by_name)
{
	CHECK(budget_is_of(BUDGET_FREQUENCY, "cycles:u") &&
	      budget_is_of(BUDGET_FREQUENCY, "task-clock") &&
	      budget_is_of(BUDGET_FREQUENCY, "msr/aperf/"));
	CHECK(budget_is_of(BUDGET_FAULTS, "page-faults:u") &&
	      budget_is_of(BUDGET_FAULTS, "faults") &&
	      !budget_is_of(BUDGET_FAULTS, "page-faults-of-mine"));
	CHECK(!budget_is_of(BUDGET_FREQUENCY, "instructions:u") &&
	      !budget_is_of(BUDGET_SWITCHES, "page-faults") &&
	      !budget_is_of(BUDGET_INTERRUPTS, "cs"));
	for (unsigned c = 0; c < BUDGET_CAUSES; c++) {
		CHECK(budget_causes[c].name && budget_causes[c].words, "cause %u", c);
		CHECK_EQ(budget_causes[c].items != 0, c >= BUDGET_SEEN, "%s",
			 budget_causes[c].name);
	}
}

TEST(six_runs_of_which_one_is_odd)
{
	const double count[6] = { 10, 10, 10, 500, 10, 10 };
	struct budget_question q = { .asked = { .count = count, .n = 6 } };
	struct budget b = split(&q);

	CHECK(b.alone && b.alone_run == 3);
	CHECK_EQ(b.min, 10);
	CHECK_EQ(b.max, 500);
}

TEST(nothing_to_split)
{
	const double same[8] = { 5, 5, 5, 5, 5, 5, 5, 5 }, few[4] = { 1, 2, 3, 4 };
	struct budget_question q = { .asked = { .count = same, .n = 8 } };
	struct budget b = split(&q);

	CHECK_EQ(b.state, BUDGET_NO_SPREAD);
	CHECK_EQ(b.n, 8);
	q.asked = (struct budget_runs){ .count = few, .n = 4, .seen = { few } };
	b = split(&q);
	CHECK_EQ(b.state, BUDGET_FEW);
	CHECK_EQ(b.parts, 0);
	q.asked = (struct budget_runs){ .count = same, .n = 1 };
	b = split(&q);
	CHECK_EQ(b.state, BUDGET_FEW);
	q.asked.n = 0;
	b = split(&q);
	CHECK_EQ(b.state, BUDGET_FEW);
}

TEST(the_same_question_has_the_same_answer)
{
	struct budget_question q = { 0 };
	struct budget a, b;
	struct runs r;

	see(&r, 12, false);
	for (size_t i = 0; i < r.n; i++)
		r.count[i] += 3 * r.seen[BUDGET_SMI][i] + normal();
	ask(&q.asked, &r);
	a = split(&q);
	b = split(&q);
	CHECK_EQ(a.parts, 1);
	CHECK_EQ(a.part[0].causes, BUDGET(SMI));
	CHECK(a.parts == b.parts && a.part[0].causes == b.part[0].causes &&
		      a.part[0].share == b.part[0].share && a.part[0].low == b.part[0].low &&
		      a.part[0].high == b.part[0].high && a.part[0].per == b.part[0].per &&
		      a.part[0].p == b.part[0].p && a.left == b.left && a.left_low == b.left_low &&
		      a.left_high == b.left_high && a.deviation == b.deviation,
	      "shares %g and %g", a.part[0].share, b.part[0].share);
}

TEST_MAIN()
