/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "bisect/bisect_times.h"
#include "bisect/bisect_tree.h"
#include "bisect/posterior.h"
#include "compare/compare_times.h"
#include "gate/gate_git.h"
#include "statistics/signed_rank.h"

/*
 * Runs of each end at most; time of a set; pairs of a step: enough that the two ends are two
 * standard errors apart; steps; pairs of a commit; pairs that the noise is estimated from.
 */
enum {
	END_RUNS = 400,
	STEP_LEAST = 12,
	STEP_MOST = 100,
	STEPS_MOST = 400,
	PAIRS_MOST = 1000,
	NOISE_PAIRS = 400
};
#define END_BUDGET_NS 60000000000u

/* ---- pairs of runs ---- */

static bool is_wall(const struct bisect_state *s)
{
	return !strcmp(s->event, compare_time_names[COMPARE_WALL]);
}

/*
 * Checks out, builds, and measures `runs` pairs of the commit and the good one; 0: until they
 * decide. *t gets the pairs, or why it was skipped.
 */
static int measure(struct bisect_job *j, struct bisect_try *t, unsigned runs,
		   struct compare_times *out, struct tare_error *err)
{
	const struct bisect_state *s = j->state;
	const enum compare_time time = is_wall(s) ? COMPARE_WALL : COMPARE_CPU_TIME;
	const struct compare_time_plan times[COMPARE_TIMES] = {
		[COMPARE_CPU_TIME] = { !is_wall(s), s->threshold },
		[COMPARE_WALL] = { is_wall(s), s->threshold },
	};
	const struct compare_plan plan = {
		.argv = { s->argv, s->argv },
		.dir = { j->tree[BISECT_BASE].dir, j->tree[BISECT_TREE].dir },
		.runs = runs ? runs : END_RUNS,
		.one_set = runs,
		.budget_ns = END_BUDGET_NS,
		.time = times,
		.timeout_ns = s->timeout_ns,
	};
	struct tare_error failed = TARE_ERROR_INIT;
	char why[BISECT_TEXT_BYTES];
	int ret;

	ret = bisect_check_out(j, BISECT_TREE, t->commit, err);
	if (ret == 0)
		ret = bisect_build(j, BISECT_TREE, why, err);
	if (ret == 0) {
		ret = compare_times(out, &plan, NULL, j->signals, &failed);
		snprintf(why, sizeof(why), "%s", failed.what);
		if (ret < 0)
			*err = failed;
	}
	if (ret > 0) {
		t->skipped = true;
		strcpy(t->why, why);
		return 0;
	}
	for (size_t i = 0; ret == 0 && i < out->pairs[time]; i++)
		if (!bisect_add_pair(t, out->pair[time][i][COMPARE_BEFORE],
				     out->pair[time][i][COMPARE_AFTER]))
			ret = tare_fail_nomem(err);
	return ret;
}

/* ---- tries ---- */

static void progress(struct bisect_job *j, const char *doing, const char *commit)
{
	if (j->progress)
		j->progress(j->with, j->state->tries.n, j->steps, doing, commit);
}

/* The try of that commit, a new one if there is none. NULL: err has the reason. */
static struct bisect_try *try_of(struct bisect_job *j, const char *commit, struct tare_error *err)
{
	struct bisect_tries *tries = &j->state->tries;
	struct bisect_try *t;

	for (size_t i = 0; i < tries->n; i++)
		if (!strcmp(tries->t[i].commit, commit))
			return &tries->t[i];
	t = bisect_add(tries);
	if (!t) {
		tare_fail_nomem(err);
		return NULL;
	}
	snprintf(t->commit, sizeof(t->commit), "%s", commit);
	if (bisect_describe(j, t, err) == 0)
		return t;
	tries->n--;
	return NULL;
}

/* In a worktree that is kept, because each pair includes a run of the good commit. */
static int build_good(struct bisect_job *j, struct tare_error *err)
{
	const char *good = j->state->end[BISECT_GOOD];
	char why[BISECT_TEXT_BYTES];
	int ret;

	progress(j, "building", good);
	if (!try_of(j, good, err))
		return -err->code;
	ret = bisect_check_out(j, BISECT_BASE, good, err);
	if (ret == 0)
		ret = bisect_build(j, BISECT_BASE, why, err);
	return ret > 0 ? bisect_not_measured(j, BISECT_BASE, "the good commit", why, err) : ret;
}

static int compare_ends(struct bisect_job *j, struct tare_error *err)
{
	const char *good = j->state->end[BISECT_GOOD], *bad = j->state->end[BISECT_BAD];
	struct bisect_try *t = try_of(j, bad, err);
	struct compare_times *a;
	const struct compare_event *e;
	bool same;
	int ret;

	if (!t)
		return -err->code;
	if (t->pairs)
		return 0; /* in an earlier run */
	a = calloc(1, sizeof(*a));
	if (!a)
		return tare_fail_nomem(err);
	progress(j, "building and timing", bad);
	ret = measure(j, t, 0, a, err);
	e = &a->event[is_wall(j->state) ? COMPARE_WALL : COMPARE_CPU_TIME];
	if (ret == 0 && t->skipped) {
		ret = bisect_not_measured(j, BISECT_TREE, "the bad commit", t->why, err);
	} else if (ret == 0 && e->verdict != COMPARE_MORE) {
		same = e->verdict != COMPARE_CANNOT_TELL;
		tare_fail(err, EINVAL,
			  "%.12s %s slower than %.12s: %s %+.2f +- %.2f %% in %zu pairs", bad,
			  same ? "did not become" : "may or may not be", good, j->state->event,
			  e->percent, e->half_percent, t->pairs);
		tare_hint(err,
			  same ? "a smaller change can be searched with --threshold"
			       : "use a less busy machine, or a command that runs longer");
		ret = -EINVAL;
	}
	free(a);
	return ret < 0 ? ret : bisect_save(j->state, j->path, err);
}

/* ---- what the pairs say ---- */

static int ratios(double **out, const struct bisect_try *t, struct tare_error *err)
{
	*out = calloc(t->pairs + 1, sizeof(**out));
	if (!*out)
		return tare_fail_nomem(err);
	for (size_t i = 0; i < t->pairs; i++)
		(*out)[i] = log((double)t->pair[i].this) - log((double)t->pair[i].good);
	return 0;
}

struct search {
	struct bisect_job *j;
	struct posterior p;
	char (*commit)[BISECT_COMMIT_BYTES]; /* candidates, parents first */
	size_t n, room;
	double *open; /* of each candidate, for posterior_next() */
	double step;  /* log of the ratio of the ends */
	double noise; /* standard error of the estimate from one pair */
};

/* Of n differences: the estimate. */
static int middle_of(double *middle, const double *d, size_t n, struct tare_error *err)
{
	struct signed_rank r;
	int ret = signed_rank_of(&r, d, n) ? 0 : tare_fail_nomem(err);

	*middle = r.estimate;
	signed_rank_free(&r);
	return ret;
}

/*
 * The standard error of an estimate from one pair: from the interval that belongs to the estimate,
 * of the deviations of the pairs from the estimate of their commit. Source: Lehmann, "Nonparametric
 * Confidence Intervals for a Shift Parameter", 1963.
 */
static int find_noise(struct search *s, struct tare_error *err)
{
	const struct bisect_tries *tries = &s->j->state->tries;
	double all[NOISE_PAIRS], low, high;
	struct signed_rank r;
	size_t n = 0;
	int ret = 0;

	for (size_t i = tries->n; ret == 0 && i-- > 0;) { /* the latest first */
		const struct bisect_try *t = &tries->t[i];
		double *d = NULL, middle = 0;

		if (t->skipped || !t->pairs)
			continue;
		ret = ratios(&d, t, err);
		if (ret == 0)
			ret = middle_of(&middle, d, t->pairs, err);
		for (size_t k = 0; ret == 0 && k < t->pairs && n < NOISE_PAIRS; k++)
			all[n++] = d[k] - middle;
		free(d);
	}
	if (ret < 0)
		return ret;
	if (!signed_rank_of(&r, all, n))
		ret = tare_fail_nomem(err);
	else if (signed_rank_interval(&r, 0.05, &low, &high))
		s->noise = fmax((high - low) / 2 / 1.96 * sqrt((double)n), 1e-6);
	else
		s->noise = INFINITY;
	signed_rank_free(&r);
	return ret;
}

static size_t candidate_of(const struct search *s, const char *commit)
{
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->commit[i], commit))
			return i;
	return SIZE_MAX;
}

/* The share of noise in the variance; the rest comes from differences between builds. */
static double share_of_noise(double error, double step)
{
	double build = POSTERIOR_BUILD * step;

	return error * error / (error * error + build * build);
}

/* The probabilities from all pairs so far. */
static int update(struct search *s, struct tare_error *err)
{
	const struct bisect_tries *tries = &s->j->state->tries;
	struct posterior_measure *m = calloc(tries->n + 1, sizeof(*m));
	size_t n = 0;
	int ret = m ? find_noise(s, err) : tare_fail_nomem(err);

	for (size_t i = 0; ret == 0 && i < tries->n; i++) {
		const struct bisect_try *t = &tries->t[i];
		size_t at = candidate_of(s, t->commit);
		double *d = NULL, error = s->noise / sqrt((double)t->pairs);

		if (at == SIZE_MAX)
			continue; /* the good commit */
		s->open[at] = 0;
		if (t->skipped || !t->pairs)
			continue;
		m[n] = (struct posterior_measure){ .commit = at, .error = error };
		ret = ratios(&d, t, err);
		if (ret == 0)
			ret = middle_of(&m[n].change, d, t->pairs, err);
		free(d);
		if (!strcmp(t->commit, s->j->state->end[BISECT_BAD]))
			s->step = m[n].change;
		n++;
	}
	for (size_t i = 0; i < n; i++)
		if (bisect_find(tries, s->commit[m[i].commit])->pairs < PAIRS_MOST)
			s->open[m[i].commit] = share_of_noise(m[i].error, s->step);
	if (ret == 0)
		posterior_update(&s->p, m, n, s->step);
	free(m);
	return ret;
}

/* ---- the candidates ---- */

static int take_candidates(struct search *s, char *lines, struct tare_error *err)
{
	char *at, *line, *word, *within;

	for (line = strtok_r(lines, "\n", &at); line; line = strtok_r(NULL, "\n", &at)) {
		if (s->n == POSTERIOR_MOST) {
			tare_fail(err, E2BIG, "more than %d commits", POSTERIOR_MOST);
			tare_hint(err, "--first-parent, or a smaller range");
			return -EINVAL;
		}
		if (!array_reserve(&s->commit, &s->room, s->n + 1, sizeof(*s->commit)))
			return tare_fail_nomem(err);
		word = strtok_r(line, " ", &within);
		snprintf(s->commit[s->n++], sizeof(*s->commit), "%s", word ? word : "");
	}
	return 0;
}

/* Commits between the ends, parents first. */
static int list(struct search *s, struct gate_git *g, const char *parents, struct tare_error *err)
{
	const struct bisect_state *state = s->j->state;
	char range[2 * BISECT_COMMIT_BYTES + 2];
	int ret;

	snprintf(range, sizeof(range), "%s..%s", state->end[BISECT_GOOD], state->end[BISECT_BAD]);
	ret = gate_git(g, err, "rev-list", "--topo-order", "--reverse", range, parents,
		       state->first_parent ? "--first-parent" : NULL, NULL);
	return ret > 0 ? gate_git_failed(g, err, "cannot list the commits") : ret;
}

static int find_candidates(struct search *s, struct tare_error *err)
{
	struct gate_git g = { .signals = s->j->signals };
	char *at, *line, *word, *within;
	size_t child = 0, parent;
	int ret = list(s, &g, "--topo-order", err);

	if (ret == 0)
		ret = take_candidates(s, g.out.s, err);
	if (ret == 0) {
		s->open = calloc(s->n + 1, sizeof(*s->open));
		if (!posterior_new(&s->p, s->n) || !s->open)
			ret = tare_fail_nomem(err);
		for (size_t i = 0; ret == 0 && i < s->n; i++)
			s->open[i] = 1;
	}
	if (ret == 0)
		ret = list(s, &g, "--parents", err);
	if (ret == 0 && g.out.s)
		for (line = strtok_r(g.out.s, "\n", &at); line && child < s->n;
		     line = strtok_r(NULL, "\n", &at), child++)
			for (word = strtok_r(line, " ", &within); word;
			     word = strtok_r(NULL, " ", &within)) {
				parent = candidate_of(s, word);
				if (parent < child)
					posterior_parent(&s->p, child, parent);
			}
	gate_git_end(&g);
	return ret;
}

/* ---- the search ---- */

static int step(struct search *s, size_t next, struct tare_error *err)
{
	struct bisect_job *j = s->j;
	double pairs = pow(2 * s->noise / s->step, 2);
	struct bisect_try *t = try_of(j, s->commit[next], err);
	struct compare_times *a = calloc(1, sizeof(*a));
	int ret;

	if (!t || !a) {
		free(a);
		return t ? tare_fail_nomem(err) : -err->code;
	}
	progress(j, "building and timing", t->commit);
	ret = measure(j, t, (unsigned)fmin(fmax(ceil(pairs), STEP_LEAST), STEP_MOST), a, err);
	free(a);
	if (ret == 0)
		ret = bisect_save(j->state, j->path, err);
	return ret;
}

static int search(struct search *s, struct tare_error *err)
{
	double wanted = s->j->state->confidence / 100;
	int ret = update(s, err);

	for (int steps = 0; ret == 0 && steps < STEPS_MOST; steps++) {
		size_t next;

		if (s->p.p[posterior_best(&s->p)] >= wanted)
			return 0;
		next = posterior_next(&s->p, s->open, (1 - wanted) / 2);
		if (next == SIZE_MAX)
			return 0;
		ret = step(s, next, err);
		if (ret == 0)
			ret = update(s, err);
	}
	return ret;
}

/* ---- the answer ---- */

/* The change, from the pairs of all commits that include it. */
static int find_size(struct bisect_result *r, const struct search *s, size_t found,
		     struct tare_error *err)
{
	const struct bisect_tries *tries = &s->j->state->tries;
	struct bisect_try all = { .skipped = false };
	double *d = NULL, low = NAN, high = NAN;
	struct signed_rank rank = { 0 };
	uint64_t before = 0, after = 0;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < tries->n; i++) {
		size_t at = candidate_of(s, tries->t[i].commit);

		if (at == SIZE_MAX || !posterior_includes(&s->p, at, found))
			continue;
		for (size_t k = 0; k < tries->t[i].pairs && all.pairs < COMPARE_RUNS_MAX; k++) {
			const struct bisect_pair *p = &tries->t[i].pair[k];

			if (!bisect_add_pair(&all, p->good, p->this)) {
				ret = tare_fail_nomem(err);
				break;
			}
			before += p->good;
			after += p->this;
		}
	}
	if (ret == 0)
		ret = ratios(&d, &all, err);
	if (ret == 0 && all.pairs && !signed_rank_of(&rank, d, all.pairs))
		ret = tare_fail_nomem(err);
	if (ret == 0 && all.pairs) {
		signed_rank_interval(&rank, COMPARE_LEVEL, &low, &high);
		r->percent = 100 * expm1(rank.estimate);
		r->low_percent = 100 * expm1(low);
		r->high_percent = 100 * expm1(high);
		r->before = before / all.pairs;
		r->after = after / all.pairs;
		r->pairs = all.pairs;
	}
	signed_rank_free(&rank);
	free(all.pair);
	free(d);
	return ret;
}

/* The fewest commits that have the confidence together. */
static int add_suspects(struct bisect_result *r, struct search *s, struct tare_error *err)
{
	while (r->confidence < s->j->state->confidence && r->suspects < s->n) {
		size_t best = posterior_best(&s->p);

		if (!array_reserve(&r->suspect, &r->room, r->suspects + 1, sizeof(*r->suspect)))
			return tare_fail_nomem(err);
		strcpy(r->suspect[r->suspects++], s->commit[best]);
		r->confidence += 100 * s->p.p[best];
		s->p.p[best] = -1;
	}
	return 0;
}

static int answer(struct bisect_result *r, struct search *s, struct tare_error *err)
{
	size_t best = posterior_best(&s->p);
	int ret = find_size(r, s, best, err);

	strcpy(r->commit, s->commit[best]);
	r->found = 100 * s->p.p[best] >= s->j->state->confidence;
	if (ret < 0 || !r->found)
		return ret < 0 ? ret : add_suspects(r, s, err);
	r->confidence = 100 * s->p.p[best];
	/* the result shows it, even if only its neighbours were measured */
	return try_of(s->j, r->commit, err) ? 0 : -err->code;
}

int bisect_times(struct bisect_result *out, struct bisect_job *job, struct tare_error *err)
{
	struct search s = { .j = job };
	int ret = find_candidates(&s, err);

	job->steps = 2 + (size_t)ceil(log2((double)(s.n ? s.n : 1)));
	if (ret == 0)
		ret = build_good(job, err);
	if (ret == 0)
		ret = compare_ends(job, err);
	if (ret == 0)
		ret = search(&s, err);
	if (ret == 0)
		ret = answer(out, &s, err);
	posterior_free(&s.p);
	free(s.commit);
	free(s.open);
	return ret;
}
