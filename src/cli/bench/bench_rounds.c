/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>
#include "cli/bench/bench_rounds.h"

enum {
	RUNS = 21,
	WARMUP = 10,
	BASELINES = 21,
	BUILDS = 3,
	ROUNDS_MOST = 100000,
	MORE = 8,
	END_TICKS = 30
};

uint64_t bench_rounds_of(double ticks, double step)
{
	double wanted = 1.2 * BENCH_STEPS_LEAST * step;

	if (ticks >= BENCH_STEPS_LEAST * step)
		return 1;
	return (uint64_t)fmin(ROUNDS_MOST, ceil(wanted / fmax(ticks, step / 8)));
}

bool bench_rounds_agree(const struct bench_stat *one, const struct bench_stat *many, uint64_t ops)
{
	/* A run ends when its last instructions have completed; several rounds share that wait. */
	double slack = END_TICKS / (double)ops + 0.02 * fabs(many->value);

	return many->value >= one->low - slack && many->value <= one->high + slack;
}

struct pilot {
	struct bench_plan plan;
	struct bench_result result;
	struct bench_stats stats;
};

static void pilot_free(struct pilot *p)
{
	bench_stats_free(&p->stats);
	bench_free(&p->result, &p->plan);
}

/* Clock only. Call pilot_free() after use, also after an error. */
static int fly(struct pilot *p, const struct bench_plan *plan, const struct bench_variant *variant,
	       size_t n, int *by_signal, struct tare_error *err)
{
	static const uint64_t longest = 10000000000;
	enum bench_blame blame;
	int ret;

	*p = (struct pilot){ .plan = *plan };
	p->plan.variant = variant;
	p->plan.n_variants = n;
	p->plan.runs = RUNS;
	p->plan.warmup = WARMUP;
	p->plan.baselines = BASELINES;
	p->plan.events = NULL;
	p->plan.asked = p->plan.estimate = false;
	p->plan.progress = NULL;
	if (p->plan.timeout_ns > longest)
		p->plan.timeout_ns = longest;
	ret = bench_run(&p->plan, &p->result, &blame, err);
	*by_signal = p->result.by_signal;
	return ret < 0 ? ret : bench_stats(&p->stats, &p->plan, &p->result, err);
}

/* Ticks of the shortest run: the first runs of new code are slower. */
static double shortest(const struct pilot *p, size_t v)
{
	return bench_stat_of(&p->stats, v, 0)->min * (double)p->result.ops[v];
}

/* Times one round and several, interleaved. *better: how many rounds to use; 1: one is best. */
static int try_rounds(struct bench_tests *t, const struct bench_plan *plan, size_t v,
		      uint32_t rounds, uint64_t *better, int *by_signal, struct tare_error *err)
{
	struct bench_variant both[2] = { t->variant[v], t->variant[v] };
	struct pilot p;
	int ret;

	both[0].looped = both[1].looped = NULL;
	both[1].path = t->looped[v];
	both[1].ops *= rounds;
	ret = fly(&p, plan, both, 2, by_signal, err);
	*better = 1;
	if (ret == -ECANCELED || ret == -ENOMEM) {
		pilot_free(&p);
		return ret;
	}
	if (ret < 0) {
		t->one_round[v] = ROUNDS_CRASH;
	} else if (!bench_rounds_agree(bench_stat_of(&p.stats, 0, 0), bench_stat_of(&p.stats, 1, 0),
				       both[0].ops)) {
		t->one_round[v] = ROUNDS_DIFFER;
	} else {
		*better = rounds * bench_rounds_of(shortest(&p, 1), p.stats.step[0]);
		if (*better > ROUNDS_MOST)
			*better = ROUNDS_MOST;
	}
	pilot_free(&p);
	return 0;
}

static int choose(struct bench_tests *t, const struct bench_options *o,
		  const struct bench_plan *plan, size_t v, uint64_t rounds, int *by_signal,
		  struct tare_error *err)
{
	int ret = 0;

	for (int i = 0; ret == 0 && rounds > 1 && i < BUILDS; i++) {
		uint64_t better = 1;

		ret = bench_tests_loop(t, o, v, (uint32_t)rounds, err);
		if (ret == 0)
			ret = try_rounds(t, plan, v, (uint32_t)rounds, &better, by_signal, err);
		if (ret == 0 && better > 1) {
			t->variant[v].looped = t->looped[v];
			t->variant[v].rounds = (uint32_t)rounds;
		} else {
			t->variant[v].looped = NULL;
		}
		if (better == rounds)
			break;
		rounds = better;
	}
	return ret;
}

int bench_rounds_choose(struct bench_tests *t, const struct bench_options *o,
			const struct bench_plan *plan, int *by_signal, struct tare_error *err)
{
	uint64_t rounds[BENCH_VARIANTS] = { 0 };
	bool any = false;
	struct pilot p;
	int ret;

	for (size_t v = 0; v < t->n; v++)
		any |= t->snippet[v].code != NULL;
	if (!any)
		return 0;
	ret = fly(&p, plan, t->variant, t->n, by_signal, err);
	for (size_t v = 0; ret == 0 && v < t->n; v++)
		if (t->snippet[v].code)
			rounds[v] = bench_rounds_of(shortest(&p, v), p.stats.step[0]);
	pilot_free(&p);
	if (ret == -ECANCELED || ret == -ENOMEM)
		return ret;
	if (ret < 0) { /* the measured runs fail the same way and report it */
		*err = (struct tare_error)TARE_ERROR_INIT;
		return 0;
	}
	/* The longer a run, the smaller the share of the marks, which overlap with the code's
	 * last results. */
	for (size_t v = 0; ret == 0 && v < t->n; v++) {
		uint64_t more = rounds[v] > 1 ? rounds[v] * MORE : 1;

		ret = choose(t, o, plan, v, more < ROUNDS_MOST ? more : ROUNDS_MOST, by_signal,
			     err);
		if (ret < 0 || !t->one_round[v])
			continue;
		t->one_round[v] = ROUNDS_AS_NEEDED;
		ret = choose(t, o, plan, v, rounds[v], by_signal, err);
	}
	if (ret == 0)
		*err = (struct tare_error)TARE_ERROR_INIT;
	return ret;
}
