/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "base/array.h"
#include "bisect/bisect_times.h"
#include "bisect/bisect_tree.h"
#include "gate/gate_measure.h"
#include "gate/gate_view.h"
#include "output/escape.h"
#include "output/state_file.h"
#include "stat/repeat_run.h"

/* of numbers in messages and notes */
static const struct style words_style = { .thousands = true };

static void note(struct bisect_result *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void note(struct bisect_result *r, const char *fmt, ...)
{
	va_list args;

	if (r->notes == BISECT_NOTES_MAX)
		return;
	va_start(args, fmt);
	vsnprintf(r->note[r->notes++], BISECT_TEXT_BYTES, fmt, args);
	va_end(args);
}

static const char *answer(const struct gate_git *g)
{
	return g->out.s ? g->out.s : "";
}

static bool is_instructions(const char *event)
{
	return !strcmp(event, "instructions") || !strcmp(event, "instructions:u");
}

/* ---- the question ---- */

static int check_ancestor(struct gate_git *g, const struct revision r[2], struct tare_error *err)
{
	int ret = gate_git(g, err, "merge-base", "--is-ancestor", r[0].commit, r[1].commit, NULL);

	if (ret == 0 && strcmp(r[0].commit, r[1].commit) != 0)
		return 0;
	if (ret < 0)
		return ret;
	if (ret == 0) {
		tare_fail(err, EINVAL, "%.80s and %.80s are the same commit", r[0].name, r[1].name);
		tare_hint(
			err,
			"good is an ancestor of bad: tare bisect v1.0..HEAD --build COMMAND -- COMMAND");
		return -EINVAL;
	}
	ret = gate_git(g, err, "merge-base", r[0].commit, r[1].commit, NULL);
	if (ret < 0)
		return ret;
	tare_fail(err, EINVAL, "%.80s is not an ancestor of %.80s%s", r[0].name, r[1].name,
		  gate_git_is_shallow(g) ? " in this clone" : "");
	if (gate_git_is_shallow(g))
		tare_hint(err, "%s", GATE_DEEPEN);
	else if (ret > 0)
		tare_hint(err, "they have no common ancestor");
	else if (gate_git(g, NULL, "merge-base", r[0].commit, r[1].commit, NULL) == 0 &&
		 !strcmp(answer(g), r[1].commit))
		tare_hint(err, "the order is GOOD..BAD: tare bisect %.50s..%.50s", r[1].name,
			  r[0].name);
	else
		tare_hint(err, "bisect from their merge base: tare bisect %.12s..%.80s", answer(g),
			  r[1].name);
	return -EINVAL;
}

int bisect_range(struct bisect_state *s, const char *range, char *prefix, size_t room,
		 struct revision_signals *signals, struct tare_error *err)
{
	struct gate_git g = { .signals = signals };
	struct revision r[2];
	int ret = revision_range(r, range, signals, err);

	if (ret == 0)
		ret = check_ancestor(&g, r, err);
	for (int i = 0; ret == 0 && i < BISECT_ENDS; i++)
		strcpy(s->end[i], r[i].commit);
	if (ret == 0)
		ret = gate_git(&g, err, "rev-parse", "--show-prefix", NULL);
	if (ret > 0 || (ret == 0 && g.out.len >= room))
		ret = tare_fail(err, ENAMETOOLONG, "the name of the working directory is too long");
	if (ret == 0)
		strcpy(prefix, answer(&g));
	gate_git_end(&g);
	return ret;
}

int bisect_check_event(const struct bisect_state *s, struct tare_error *err)
{
	struct repeat_run how = { 0 };
	int ret;

	if (bisect_is_time(s->event))
		return 0;
	ret = repeat_run_open(&how, s->argv, s->event, ENGINE_EXACT, err);
	if (ret == 0 && how.list.n != 1) {
		tare_fail(err, EINVAL, "one event decides, and -e names %zu", how.list.n);
		ret = -EINVAL;
	} else if (ret == 0 && !engine_counts(&how.list.enc[0])) {
		tare_fail(err, EINVAL, "%.100s is not counted exactly, so one run is not enough",
			  how.list.enc[0].name);
		tare_hint(err,
			  "tare events exact lists the events that are; for times use -e cpu-time "
			  "or -e wall");
		ret = -EINVAL;
	}
	repeat_run_close(&how);
	return ret;
}

int bisect_path(char out[PATH_MAX], struct revision_signals *signals, struct tare_error *err)
{
	struct gate_git g = { .signals = signals };
	int ret = gate_git(&g, err, "rev-parse", "--absolute-git-dir", NULL);

	if (ret > 0) {
		ret = gate_git_failed(&g, err, "there is no git repository here");
		tare_hint(err, "change to a repository with a checkout");
	}
	if (ret == 0 && snprintf(out, PATH_MAX, "%s/tare-bisect", answer(&g)) >= PATH_MAX - 16)
		ret = tare_fail(err, ENAMETOOLONG, "the name of the git directory is too long");
	gate_git_end(&g);
	return ret;
}

int bisect_save(const struct bisect_state *s, const char *path, struct tare_error *err)
{
	struct text text = { 0 };
	int ret;

	bisect_state_write(&text, s);
	ret = text.failed ? tare_fail_nomem(err) : state_replace(path, &text, err);
	text_free(&text);
	return ret;
}

/* ---- one commit ---- */

static struct gate_benchmark benchmark_of(const struct bisect_state *s, char name[])
{
	return (struct gate_benchmark){ .name = name,
					.argv = s->argv,
					.events = s->event,
					.runs = 2,
					.timeout_ns = s->timeout_ns };
}

static void skip(struct bisect_try *t, const char *why)
{
	t->skipped = true;
	snprintf(t->why, sizeof(t->why), "%s", why);
}

static int measure(struct bisect_job *j, struct bisect_try *t, struct tare_error *err)
{
	char name[] = "command", why[BISECT_TEXT_BYTES];
	struct gate_benchmark b = benchmark_of(j->state, name);
	struct gate_outcome o;
	int ret = bisect_check_out(j, BISECT_TREE, t->commit, err);

	if (ret == 0)
		ret = bisect_build(j, BISECT_TREE, why, err);
	if (ret > 0)
		skip(t, why);
	if (ret != 0)
		return ret < 0 ? ret : 0;
	ret = gate_measure(&o, &b, j->tree[0].dir, j->signals, err);
	if (ret == 0 && gate_verdict_is_error(o.verdict))
		skip(t, o.why);
	t->count = o.head.n ? o.head.value[0].count : 0;
	return ret;
}

/* Into the tries, unless it is there. `must`: it is not skipped, that is an error. */
static int try_commit(struct bisect_job *j, const char *commit, const char *must,
		      struct tare_error *err)
{
	struct bisect_try t = { .skipped = false }, *to;
	int ret;

	if (bisect_find(&j->state->tries, commit))
		return 0;
	if (j->progress)
		j->progress(j->with, j->state->tries.n, j->steps, "building and counting", commit);
	snprintf(t.commit, sizeof(t.commit), "%s", commit);
	ret = bisect_describe(j, &t, err);
	if (ret == 0)
		ret = measure(j, &t, err);
	if (ret == 0 && t.skipped && must)
		return bisect_not_measured(j, BISECT_TREE, must, t.why, err);
	to = ret == 0 ? bisect_add(&j->state->tries) : NULL;
	if (ret == 0 && !to)
		return tare_fail_nomem(err);
	if (to)
		*to = t;
	return ret < 0 ? ret : bisect_save(j->state, j->path, err);
}

/* ---- the search ---- */

struct search {
	struct bisect_job *j;
	uint64_t good, bad; /* counts of the ends */
	const char **candidate;
	size_t n, room;
	struct gate_git g; /* its answer has the candidates */
};

static bool counts_as_bad(const struct search *s, const struct bisect_try *t)
{
	return bisect_is_bad(s->good, s->bad, t->count);
}

/*
 * The earliest commit that is known to be bad: each bad one that was tried is an ancestor of those
 * before.
 */
static const char *earliest_bad(const struct search *s)
{
	const struct bisect_tries *tries = &s->j->state->tries;
	const char *bad = s->j->state->end[BISECT_BAD];

	for (size_t i = 0; i < tries->n; i++)
		if (!tries->t[i].skipped && counts_as_bad(s, &tries->t[i]))
			bad = tries->t[i].commit;
	return bad;
}

/* The commits that may have made it slower, by git: the best to try first. */
static int find_candidates(struct search *s, const char *bad, struct tare_error *err)
{
	const struct bisect_state *state = s->j->state;
	struct text input = { 0 };
	int ret;

	text_add(&input, "%s\n", bad);
	for (size_t i = 0; i < state->tries.n; i++)
		if (!state->tries.t[i].skipped && !counts_as_bad(s, &state->tries.t[i]))
			text_add(&input, "^%s\n", state->tries.t[i].commit);
	s->n = 0;
	s->g.input = input.s;
	ret = input.failed ? tare_fail_nomem(err)
			   : gate_git(&s->g, err, "rev-list", "--bisect-all", "--stdin",
				      state->first_parent ? "--first-parent" : NULL, NULL);
	s->g.input = NULL;
	text_free(&input);
	if (ret > 0)
		return gate_git_failed(&s->g, err, "cannot list the commits");
	/* a line: HASH (dist=N) */
	for (char *at = s->g.out.s; ret == 0 && at && *at;) {
		char *next = strchr(at, '\n');

		if (next)
			*next++ = '\0';
		at[strcspn(at, " ")] = '\0';
		if (!array_reserve(&s->candidate, &s->room, s->n + 1, sizeof(*s->candidate)))
			return tare_fail_nomem(err);
		s->candidate[s->n++] = at;
		at = next;
	}
	return ret;
}

static int compare_ends(struct search *s, struct tare_error *err)
{
	static const char *const names[] = { "the good commit", "the bad commit" };
	const struct bisect_state *state = s->j->state;
	struct text good = { 0 }, bad = { 0 };
	int ret = 0;

	for (int i = 0; ret == 0 && i < BISECT_ENDS; i++)
		ret = try_commit(s->j, state->end[i], names[i], err);
	if (ret < 0)
		return ret;
	s->good = bisect_find(&state->tries, state->end[BISECT_GOOD])->count;
	s->bad = bisect_find(&state->tries, state->end[BISECT_BAD])->count;
	if (bisect_differs(s->good, s->bad, state->threshold))
		return 0;
	put_count(&good, &words_style, s->good);
	put_count(&bad, &words_style, s->bad);
	tare_fail(err, EINVAL, "%.12s did not become slower than %.12s: %s and %s %s%s",
		  state->end[BISECT_BAD], state->end[BISECT_GOOD], bad.s ? bad.s : "?",
		  good.s ? good.s : "?",
		  is_instructions(state->event) ? "instructions" : state->event,
		  s->bad > s->good ? ", a change below --threshold" : "");
	text_free(&good);
	text_free(&bad);
	if (s->bad <= s->good)
		tare_hint(err, "check the range and the command; -e cpu-time compares times");
	return -EINVAL;
}

static int search(struct search *s, struct bisect_choice *c, struct tare_error *err)
{
	int ret = compare_ends(s, err);

	while (ret == 0) {
		const char *bad = earliest_bad(s);
		size_t tried = s->j->state->tries.n;

		ret = find_candidates(s, bad, err);
		if (ret < 0)
			break;
		*c = bisect_choose(&s->j->state->tries, s->candidate, s->n, bad);
		if (c->next == SIZE_MAX)
			break;
		s->j->steps = tried + (size_t)ceil(log2((double)(s->n - c->skipped)));
		ret = try_commit(s->j, s->candidate[c->next], NULL, err);
	}
	return ret;
}

/* ---- the answer ---- */

static int add_suspects(struct bisect_result *r, const struct search *s, struct tare_error *err)
{
	for (size_t i = 0; i < s->n; i++) {
		if (!array_reserve(&r->suspect, &r->room, r->suspects + 1, sizeof(*r->suspect)))
			return tare_fail_nomem(err);
		snprintf(r->suspect[r->suspects++], sizeof(*r->suspect), "%s", s->candidate[i]);
	}
	return 0;
}

/* "+2,076" */
static void put_change(char out[static 32], int64_t change)
{
	struct text t = { 0 };

	text_put(&t, change < 0 ? "-" : "+", 1);
	put_count(&t, &words_style, change < 0 ? 0 - (uint64_t)change : (uint64_t)change);
	snprintf(out, 32, "%s", t.s ? t.s : "?");
	text_free(&t);
}

/* Other commits than the one that was found changed the count, too. */
static void tell_rest(struct bisect_result *r, const struct search *s,
		      const struct bisect_try *step)
{
	const struct bisect_state *state = s->j->state;
	int64_t before = (int64_t)(r->before - s->good), after = (int64_t)(s->bad - r->after);
	char change[32];

	if (!before && !after)
		return;
	put_change(change, (int64_t)(s->bad - s->good));
	note(r,
	     "Several commits changed the count, by %s in all; this is the largest step that was "
	     "found, and there may be a larger one between commits that were not tried",
	     change);
	put_change(change, before);
	if (before)
		note(r, "Before it, the change is %s: tare bisect %.12s..%.12s", change,
		     state->end[BISECT_GOOD], step->parent);
	put_change(change, after);
	if (after)
		note(r, "After it, the change is %s: tare bisect %.12s..%.12s", change,
		     step->commit, state->end[BISECT_BAD]);
}

/* The commit, and its count and that of its parent. */
static int find_step(struct bisect_result *r, struct search *s, const char *bad,
		     struct tare_error *err)
{
	const struct bisect_tries *tries = &s->j->state->tries;
	const struct bisect_try *step, *parent;
	char first[BISECT_COMMIT_BYTES];
	int ret;

	/* a merge: its first parent may be an ancestor of a good one, and not tried */
	strcpy(first, bisect_find(tries, bad)->parent);
	ret = try_commit(s->j, first, NULL, err);
	if (ret < 0)
		return ret;
	step = bisect_largest_step(tries);
	if (!step)
		step = bisect_find(tries, bad);
	parent = bisect_find(tries, step->parent);
	strcpy(r->commit, step->commit);
	r->found = true;
	r->after = step->count;
	r->before = s->good;
	if (parent && !parent->skipped && parent->count < step->count) {
		r->before = parent->count;
		tell_rest(r, s, step);
	} else {
		note(r, "Its parent %s: the change is that from %.12s",
		     !parent || parent->skipped ? "could not be measured" : "does not count less",
		     s->j->state->end[BISECT_GOOD]);
	}
	return 0;
}

static int find_cause(struct bisect_result *r, struct bisect_job *j, struct tare_error *err)
{
	const struct bisect_try *step = bisect_find(&j->state->tries, r->commit);
	char name[] = "command", why[BISECT_TEXT_BYTES] = "";
	struct gate_benchmark b = benchmark_of(j->state, name);
	struct gate_outcome o = { .why = "" };
	const char *commits[] = { r->commit, step->parent };
	int ret = 0;

	if (j->no_cause || !step->parent[0])
		return 0;
	if (!is_instructions(j->state->event)) {
		note(r, "The function is searched for instructions only");
		return 0;
	}
	for (int i = 0; ret == 0 && i < 2; i++) {
		if (j->progress)
			j->progress(j->with, j->state->tries.n, j->steps,
				    "searching the function: building", commits[i]);
		ret = bisect_check_out(j, i, commits[i], err);
		if (ret == 0)
			ret = bisect_build(j, i, why, err);
	}
	if (ret == 0)
		ret = gate_cause(&o, &b, j->tree[1].dir, j->tree[0].dir, j->state->folder,
				 j->signals, err);
	if (ret < 0)
		return ret;
	strcpy(r->function, o.function);
	r->function_change = o.function_change;
	if (ret > 0)
		note(r, "The function is not known: %.400s", why);
	else if (!r->function[0] && o.why[0])
		note(r, "The cause: %.400s", o.why);
	return 0;
}

int bisect_run(struct bisect_result *out, struct bisect_job *job, struct tare_error *err)
{
	struct search s = { .j = job, .g.signals = job->signals };
	struct bisect_choice choice = { .skipped = 0 };
	char bad[BISECT_COMMIT_BYTES];
	int ret = 0;

	*out = (struct bisect_result){ .found = false };
	for (size_t i = 0; ret == 0 && i < job->state->tries.n; i++)
		ret = bisect_describe(job, &job->state->tries.t[i],
				      err); /* the file has only results */
	if (ret == 0)
		ret = bisect_is_time(job->state->event) ? bisect_times(out, job, err)
							: search(&s, &choice, err);
	if (ret < 0 || bisect_is_time(job->state->event))
		goto out;
	strcpy(bad, earliest_bad(&s));
	if (choice.skipped) {
		strcpy(out->commit, bad);
		out->before = s.good;
		out->after = bisect_find(&job->state->tries, bad)->count;
		ret = add_suspects(out, &s, err);
	} else {
		ret = find_step(out, &s, bad, err);
		if (ret == 0)
			ret = find_cause(out, job, err);
	}
out:
	gate_git_end(&s.g);
	free(s.candidate);
	return ret;
}

void bisect_result_free(struct bisect_result *r)
{
	free(r->suspect);
	*r = (struct bisect_result){ 0 };
}
