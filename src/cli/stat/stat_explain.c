/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "diverge/divergence.h"
#include "output/progress.h"
#include "cli/stat/stat_explain.h"
#include "launch/environment.h"
#include "launch/output_hash.h"
#include "diverge/divergence_view.h"

enum { LETS = BUDGET_CAUSES - BUDGET_SEEN };

/* One set of launch conditions. */
struct condition {
	struct determinism fixed;
	struct environment environment;
	struct summary *summary;
	uint64_t output; /* a hash, of the first run */
	bool output_differs;
	const struct stat_table *t;
};

struct work {
	const struct stat_plan *plan;
	const struct stat_table *asked;
	struct stat_explain *x;
	struct condition fixed, let[LETS];
	bool tried[LETS];
	struct tare_error *err;
};

/* ---- observations of each run ---- */

static const struct stat_row *row_called(const struct stat_table *t, const char *name)
{
	for (size_t i = 0; name && i < t->n; i++)
		if (budget_is_called(t->enc[t->row[i].event].name, name) &&
		    t->row[i].quality != TARE_UNAVAILABLE)
			return &t->row[i];
	return NULL;
}

static bool by_events(enum budget_cause cause, const struct stat_table *t, unsigned run,
		      double *out)
{
	for (const struct budget_event *e = budget_events; e->name; e++) {
		const struct stat_row *a = e->cause == cause ? row_called(t, e->name) : NULL,
				      *b = a ? row_called(t, e->by) : NULL;

		if (!a || a->run[run].quality == TARE_UNAVAILABLE)
			continue;
		if (!e->by) {
			*out = (double)a->run[run].value;
			return true;
		}
		if (b && b->run[run].quality != TARE_UNAVAILABLE && b->run[run].value) {
			*out = (double)a->run[run].value / (double)b->run[run].value;
			return true;
		}
	}
	return false;
}

static bool see(enum budget_cause cause, const struct stat_table *t, const struct stat_row *r,
		unsigned run, double *out)
{
	const struct system_noise *a = &t->end[run].around;
	const struct amount *amount = &r->run[run];

	if (by_events(cause, t, run, out))
		return true;
	switch (cause) {
	case BUDGET_INTERRUPTS:
		*out = (double)a->interrupts;
		return a->interrupts_known;
	case BUDGET_SWITCHES:
		*out = (double)a->switches;
		return a->used_known;
	case BUDGET_FAULTS:
		*out = (double)a->faults;
		return a->used_known;
	case BUDGET_SMI:
		*out = (double)a->smi;
		return a->smi_known;
	case BUDGET_STEAL:
		*out = (double)a->steal_ns / 1e6;
		return a->steal_known;
	case BUDGET_MULTIPLEXING:
		*out = amount->enabled_ns ? (double)amount->running_ns / (double)amount->enabled_ns
					  : 1;
		return true;
	default:
		return false;
	}
}

/* The runs of a row in the form for the budget; `room` has space for 1 + BUDGET_SEEN series. */
static struct budget_runs runs_of(const struct stat_table *t, const struct stat_row *r,
				  double *room)
{
	struct budget_runs out = { .count = room };
	bool seen[BUDGET_SEEN];

	memset(seen, true, sizeof(seen));
	for (unsigned k = 0; k < t->runs; k++) {
		if (r->run[k].quality == TARE_UNAVAILABLE || t->end[k].by_signal ||
		    t->end[k].never_began || t->end[k].timed_out)
			continue; /* cut off: it did less than the others */
		room[out.n] = (double)r->run[k].value;
		for (unsigned c = 0; c < BUDGET_SEEN; c++)
			seen[c] &= see((enum budget_cause)c, t, r, k,
				       &room[(1 + c) * t->runs + out.n]);
		out.n++;
	}
	for (unsigned c = 0; c < BUDGET_SEEN; c++)
		if (seen[c] && !budget_is_of((enum budget_cause)c, t->enc[r->event].name) &&
		    (r->quality != TARE_EXACT || (BUDGET_OF_EXACT >> c & 1)))
			out.seen[c] = room + (1 + c) * t->runs;
	return out;
}

/* ---- the other conditions ---- */

static void no_switch(struct explained *e, unsigned cause, const char *why)
{
	e->not_switched[e->n_not_switched].cause = cause;
	snprintf(e->not_switched[e->n_not_switched].why, sizeof(e->not_switched->why), "%s", why);
	e->n_not_switched++;
}

static unsigned asked_for(const struct work *w)
{
	return determinism_had(w->plan->fixed);
}

static int begin_condition(struct work *w, struct condition *c, unsigned set)
{
	const struct summary_options how = { .by = BY_ALL,
					     .less = w->x->less->less,
					     .n_less = w->x->less->n };
	int ret;

	c->fixed.set = set;
	ret = environment_fix(&c->environment, set, w->plan->fixed ? w->plan->fixed->kept : NULL,
			      w->plan->argv, environ, w->err);
	if (ret == 0) {
		c->summary = summary_new(&how, w->err);
		ret = c->summary ? summary_amend(c->summary, w->plan->events->enc,
						 w->plan->events->n, w->err)
				 : -ENOMEM;
	}
	return ret;
}

/* All items but process IDs, which need a namespace of their own, unless they are fixed already. */
static int begin_all(struct work *w)
{
	struct explained *e = &w->x->explained;
	struct determinism every = { 0 };
	unsigned all, asked = asked_for(w);
	int ret;

	determinism_parse("all", &every, NULL);
	all = every.set & ~FIXED(PID) & ~FIXED(CWD) & ~FIXED(LOCALE) & ~FIXED(BINDING) &
		~FIXED(READDIR) & ~FIXED(ENV) & ~FIXED(ISA) & ~FIXED(CPUS) & ~FIXED(TERMINAL) &
		~FIXED(CLOCK) & ~FIXED(TURNS);
	all |= asked;
	for (unsigned c = 0; c < LETS; c++) {
		unsigned items = budget_causes[BUDGET_SEEN + c].items;

		w->tried[c] = (items & ~asked) != 0;
		if (!w->tried[c])
			e->fixed_already |= 1u << (BUDGET_SEEN + c);
	}
	ret = begin_condition(w, &w->fixed, all);
	for (unsigned c = 0; ret == 0 && c < LETS; c++)
		if (w->tried[c]) {
			ret = begin_condition(
				w, &w->let[c],
				all & ~(budget_causes[BUDGET_SEEN + c].items & ~asked));
			e->conditions++;
		}
	if (!e->conditions)
		e->why_none = "the requested launch already fixes everything that tare can fix";
	else
		e->conditions++;
	return ret;
}

static int run_one(struct work *w, struct condition *c, unsigned number, bool *stop)
{
	struct stat_plan plan = *w->plan;
	struct stat_outcome outcome;
	struct output_hash hidden;
	uint64_t output;
	int ret;

	plan.envp = c->environment.envp;
	plan.fixed = &c->fixed;
	plan.partial = false; /* without different processes the runs cannot be compared */
	plan.first_run = number;
	plan.runs = 1;
	plan.opened = NULL;
	plan.profile = NULL;
	plan.begin = NULL;
	ret = output_hash_begin(&hidden, w->err);
	if (ret < 0)
		return ret;
	ret = stat_run(&plan, summary_sink(c->summary), &outcome, w->err);
	output = output_hash_end(&hidden);
	*stop |= outcome.by_signal != 0;
	if (!number)
		c->output = output;
	c->output_differs |= output != c->output;
	return ret;
}

/* Interleaved, so that a drift affects all of them. */
static int run_all(struct work *w, bool *stop)
{
	struct progress progress;
	unsigned each = w->x->explained.conditions;
	int ret = 0;

	progress_begin(&progress, "stat", false); /* the command's output is hidden */

	for (unsigned n = 0; ret == 0 && !*stop && n < w->plan->runs; n++) {
		progress_show(&progress, (double)n / w->plan->runs,
			      "run %u of %u under %u conditions of the launch", n + 1,
			      w->plan->runs, each);
		ret = run_one(w, &w->fixed, n, stop);
		for (unsigned c = 0; ret == 0 && !*stop && c < LETS; c++)
			if (w->tried[c])
				ret = run_one(w, &w->let[c], n, stop);
	}
	progress_end(&progress);
	return ret;
}

/* What could not be fixed cannot be varied either. */
static int take_tables(struct work *w)
{
	struct explained *e = &w->x->explained;

	w->fixed.t = summary_table(w->fixed.summary, w->err);
	if (!w->fixed.t)
		return -w->err->code;
	e->output_differs = w->fixed.output_differs;
	for (unsigned c = 0; c < LETS; c++) {
		unsigned items = budget_causes[BUDGET_SEEN + c].items & ~asked_for(w),
			 missed = w->fixed.fixed.missed & items;

		if (!w->tried[c])
			continue;
		if (missed == items) {
			no_switch(e, BUDGET_SEEN + c, w->fixed.fixed.why[__builtin_ctz(missed)]);
			continue;
		}
		w->let[c].t = summary_table(w->let[c].summary, w->err);
		if (!w->let[c].t)
			return -w->err->code;
	}
	return 0;
}

static int rerun(struct work *w)
{
	struct explained *e = &w->x->explained;
	bool stop = false;
	int ret = begin_all(w);

	if (ret == 0 && e->conditions)
		ret = run_all(w, &stop);
	e->cut_short = stop;
	if (ret == 0 && e->conditions && !stop)
		ret = take_tables(w);
	e->ids_vary = !(asked_for(w) & FIXED(PID));
	return ret;
}

/* ---- the place of divergence ---- */

static bool is_left(const struct explained_row *r)
{
	return r->exact && r->budget.state == BUDGET_SPLIT && r->budget.fixed_deviation != 0 &&
		r->budget.left > 0.01;
}

static bool any_is_left(const struct explained *e)
{
	for (size_t i = 0; i < e->n; i++)
		if (is_left(&e->row[i]))
			return true;
	return false;
}

static void say_place(char *to, size_t room, const struct divergence *d,
		      const struct divergence_report *r)
{
	const struct code_place *at = &r->at;
	const char *since = d->since_exec ? " since its exec" : "";
	const struct style grouped = { .thousands = true };
	struct text roughly = { 0 }, low = { 0 }, high = { 0 };

	divergence_roughly(&roughly, r);
	put_count(&low, &grouped,
		  (uint64_t)d->low); /* the last instruction that both executed, if it is known */
	put_count(&high, &grouped, (uint64_t)d->high);
	if (d->verdict == DIVERGE_PARTED && at->function && at->line)
		snprintf(
			to, room,
			"two runs diverge in %.120s (%.150s:%u), after %s instructions of thread %u%s",
			at->function, at->file, at->line, low.s ? low.s : "?", d->thread, since);
	else if (d->verdict == DIVERGE_PARTED)
		snprintf(to, room,
			 "two runs diverge in %.120s+%#llx, after %s instructions of thread %u%s",
			 at->function         ? at->function
				 : at->module ? at->module
					      : "code without a name",
			 (unsigned long long)(at->function ? at->into : at->offset),
			 low.s ? low.s : "?", d->thread, since);
	else if (d->verdict == DIVERGE_MOVES)
		snprintf(
			to, room,
			"each pair of runs diverges elsewhere, between instructions %s and %s of thread %u%s",
			low.s ? low.s : "?", high.s ? high.s : "?", d->thread,
			roughly.s ? roughly.s : "");
	else
		snprintf(to, room,
			 "%u more runs took the same path: not every pair of runs diverges",
			 d->alike);
	text_free(&roughly);
	text_free(&low);
	text_free(&high);
}

static void say_cause(struct explained_row *to, const struct divergence *d,
		      const struct divergence_report *r)
{
	struct text words = { 0 };

	if (d->verdict != DIVERGE_PARTED || !divergence_cause_found(r))
		return;
	divergence_cause(&words, r);
	snprintf(to->cause, sizeof(to->cause), "%s", words.s ? words.s : "");
	to->cause_kind = divergence_cause_name(r);
	text_free(&words);
}

/* For an exact count: where two runs with everything fixed diverge. The budget does not fail
 * without it. */
static void find_place(struct work *w)
{
	struct explained *e = &w->x->explained;
	struct determinism fixed = { .set = w->fixed.fixed.set };
	struct diverge_plan plan = { .argv = w->plan->argv,
				     .envp = w->fixed.environment.envp,
				     .fixed = &fixed,
				     .timeout_ns = w->plan->timeout_ns };
	struct divergence d = { 0 };
	struct divergence_report report = { 0 };
	struct tare_error err = TARE_ERROR_INIT;
	int ret = diverge_search(&plan, &d, &err);

	if (ret == 0)
		ret = divergence_explain(&report, &d, w->fixed.environment.bytes, &plan, &err);
	for (size_t i = 0; ret == 0 && i < e->n; i++)
		if (is_left(&e->row[i])) {
			say_place(e->row[i].place, sizeof(e->row[i].place), &d, &report);
			say_cause(&e->row[i], &d, &report);
		}
	divergence_free(&report);
	diverge_free(&d);
}

/* ---- the budget of each event ---- */

/* The same event's row in another table; NULL: none. */
static const struct stat_row *same_row(const struct stat_table *t, unsigned event)
{
	for (size_t i = 0; t && i < t->n; i++)
		if (t->row[i].event == event && t->row[i].quality != TARE_UNAVAILABLE)
			return &t->row[i];
	return NULL;
}

static struct budget_runs runs_under(const struct stat_table *t, unsigned event, double *room)
{
	const struct stat_row *r = same_row(t, event);

	return r ? runs_of(t, r, room) : (struct budget_runs){ 0 };
}

static int explain_row(struct work *w, const struct stat_row *r, struct explained_row *to)
{
	size_t series = 1 + BUDGET_SEEN, one = series * (w->asked->runs + w->plan->runs + 1);
	double *room = calloc((2 + LETS) * one, sizeof(*room));
	const struct encoding *enc = &w->asked->enc[r->event];
	struct budget_question q = { 0 };
	int ret;

	if (!room)
		return tare_fail_nomem(w->err);
	*to = (struct explained_row){ .name = enc->name,
				      .unit = enc->unit,
				      .scale = enc->scale,
				      .exact = r->quality == TARE_EXACT };
	q.asked = runs_of(w->asked, r, room);
	q.fixed = runs_under(w->fixed.t, r->event, room + one);
	for (unsigned c = 0; c < LETS; c++)
		q.let[c] = runs_under(w->let[c].t, r->event, room + (2 + c) * one);
	ret = budget_split(&to->budget, &q, w->err);
	free(room);
	return ret;
}

static int explain_rows(struct work *w)
{
	struct explained *e = &w->x->explained;
	int ret = 0;

	e->row = calloc(w->asked->n + 1, sizeof(*e->row));
	if (!e->row)
		return tare_fail_nomem(w->err);
	for (size_t i = 0; ret == 0 && i < w->asked->n; i++)
		if (w->asked->row[i].quality != TARE_UNAVAILABLE)
			ret = explain_row(w, &w->asked->row[i], &e->row[e->n++]);
	return ret;
}

static void end(struct condition *c)
{
	environment_free(&c->environment);
	summary_free(c->summary);
}

int stat_explain(struct stat_explain *x, const struct stat_plan *plan, const struct stat_table *t,
		 bool again, struct tare_error *err)
{
	struct work w = { .plan = plan, .asked = t, .x = x, .err = err };
	int ret = 0;

	x->explained = (struct explained){ .runs = plan->runs };
	if (!again)
		x->explained.why_none = "as requested";
	again = again && t->runs >= BUDGET_RUNS_LEAST; /* reruns only then: with fewer runs the
						        * reruns would be too few as well */
	if (again)
		ret = rerun(&w);
	if (ret == 0)
		ret = explain_rows(&w);
	if (ret == 0 && again && !x->explained.cut_short && any_is_left(&x->explained))
		find_place(&w);
	end(&w.fixed);
	for (unsigned c = 0; c < LETS; c++)
		end(&w.let[c]);
	return ret;
}

void stat_explain_free(struct stat_explain *x)
{
	free(x->explained.row);
	*x = (struct stat_explain){ 0 };
}
