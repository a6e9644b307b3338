/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "noise/explain_view.h"

static void put_causes(struct text *out, unsigned causes, const char *last)
{
	unsigned left = (unsigned)__builtin_popcount(causes);

	for (unsigned c = 0; c < BUDGET_CAUSES; c++)
		if (causes >> c & 1) {
			text_add(out, "%s", budget_causes[c].words);
			left--;
			text_add(out, "%s", left > 1 ? ", " : left ? last : "");
		}
}

/* A count or a time, with significant digits only. */
static void put_amount(struct text *out, const struct style *s, const struct explained_row *r,
		       double v)
{
	double shown = r->scale != 0 ? v * r->scale : v;

	if (v < 0)
		text_add(out, "-");
	if (!strcmp(r->unit, "ns")) {
		put_time(out, s, (uint64_t)fabs(v));
	} else if (fabs(shown) < 100 && shown != floor(shown)) {
		text_add(out, "%.*g", 3, fabs(shown));
	} else {
		put_count(out, s, (uint64_t)(fabs(shown) + 0.5));
		text_add(out, "%s%s", r->unit[0] ? " " : "", r->unit);
	}
}

static void put_share(struct text *out, double share, double low, double high)
{
	text_add(out, " %5.0f %%  ", 100 * share);
	text_add(out, "(%.0f to %.0f %%)", 100 * low, 100 * high);
	for (size_t width = (size_t)snprintf(NULL, 0, "(%.0f to %.0f %%)", 100 * low, 100 * high);
	     width < 15; width++)
		text_add(out, " ");
}

static unsigned lowest(unsigned set)
{
	return (unsigned)__builtin_ctz(set);
}

/* The cause and its amount, next to the share. */
static void put_words(struct text *out, const struct style *s, const struct explained_row *r,
		      const struct budget_part *p)
{
	const char *one = budget_causes[lowest(p->causes)].one;
	bool several = p->causes & (p->causes - 1);

	text_add(out, "%s", ink_on(s, INK_STRONG));
	put_causes(out, p->causes, p->switched ? " and " : " or ");
	text_add(out, "%s", ink_off(s));
	if (p->switched) {
		text_add(out,
			 several ? ": together a standard deviation of "
				 : ": alone a standard deviation of ");
		put_amount(out, s, r, p->deviation);
		text_add(out, p->deviation > r->budget.deviation ? ", in runs of its own" : "");
	} else if (several) {
		text_add(out, ": they move together in these runs");
	} else if (one) {
		text_add(out, ": ");
		put_amount(out, s, r, p->per);
		text_add(out, " (");
		put_amount(out, s, r, p->per_low);
		text_add(out, " to ");
		put_amount(out, s, r, p->per_high);
		text_add(out, ") for each %s", one);
	}
}

/* The event in a sentence: the spread of its runs, or why there is nothing to divide. */
static void put_state(struct text *out, const struct style *s, const struct explained_row *r)
{
	const struct budget *b = &r->budget;

	if (b->state == BUDGET_NO_SPREAD) {
		text_add(out, "all %zu equal: there is no spread to explain.", b->n);
		return;
	}
	if (b->state == BUDGET_FEW) {
		text_add(
			out,
			"%zu run%s: too few to name a cause, because chance would find one, too. -r %d at least, -r 20 better.",
			b->n, b->n == 1 ? "" : "s", BUDGET_RUNS_LEAST);
		return;
	}
	text_add(out, "standard deviation ");
	put_amount(out, s, r, b->deviation);
	text_add(out, ", largest minus smallest ");
	put_amount(out, s, r, b->max - b->min);
	if (b->fixed_deviation >= 0) {
		text_add(out, "; with everything fixed ");
		put_amount(out, s, r, b->fixed_deviation);
	}
}

static void put_alone(struct text *out, const struct budget *b)
{
	text_add(
		out,
		"Run %zu alone makes %.0f %% of the variance: a single event, which does not show a regular cause.",
		b->alone_run + 1, 100 * b->alone_share);
}

/* The limits allow any share. */
static bool says_nothing(const struct budget *b)
{
	const double wide = 0.95;

	for (size_t i = 0; i < b->parts; i++)
		if (b->part[i].high - b->part[i].low < wide)
			return false;
	return b->left_high - b->left_low >= wide;
}

static void put_few(struct text *out, const struct budget *b)
{
	text_add(
		out,
		"Its causes cannot be distinguished with %zu runs: each share may be anything. More runs are needed.",
		b->n);
}

static bool is_undecided(const struct explained_row *r)
{
	return r->budget.state == BUDGET_SPLIT && says_nothing(&r->budget) && !r->place[0] &&
		!r->budget.alone;
}

static void put_unexplained(struct text *out, const struct style *s, const struct explained_row *r)
{
	text_add(out, "%sunexplained%s", ink_on(s, INK_CAREFUL), ink_off(s));
	if (r->place[0])
		text_add(out, ": %s%s%s", r->place, r->cause[0] ? ", by " : "", r->cause);
	else if (r->budget.fixed_deviation == 0 && r->budget.left >= 0.005)
		text_add(
			out,
			": gone with everything fixed, so it is caused by what the launch varies; more runs would show which part");
}

static void put_row(struct text *out, const struct style *s, const struct explained_row *r)
{
	const struct budget *b = &r->budget;

	text_add(out, " %s%s%s  ", ink_on(s, INK_STRONG), r->name, ink_off(s));
	put_state(out, s, r);
	text_put(out, "\n", 1);
	if (b->state != BUDGET_SPLIT)
		return;
	if (is_undecided(r)) {
		text_add(out, "         ");
		put_few(out, b);
		text_put(out, "\n", 1);
		return;
	}
	for (size_t i = 0; i < b->parts; i++) {
		put_share(out, b->part[i].share, b->part[i].low, b->part[i].high);
		text_put(out, " ", 1);
		put_words(out, s, r, &b->part[i]);
		text_put(out, "\n", 1);
	}
	put_share(out, b->left, b->left_low, b->left_high);
	text_put(out, " ", 1);
	put_unexplained(out, s, r);
	text_put(out, "\n", 1);
	if (b->alone) {
		text_add(out, "         ");
		put_alone(out, b);
		text_put(out, "\n", 1);
	}
}

static void put_set(struct text *out, const char *lead, unsigned set)
{
	if (!set)
		return;
	text_add(out, " %s", lead);
	put_causes(out, set, " and ");
	text_add(out, ".\n");
}

/* After the events: the method, and the excluded causes. Each note is a line. */
static void put_notes(struct text *out, const struct explained *e)
{
	unsigned constant = 0, unseen = 0, tried = 0;

	for (size_t i = 0; i < e->n; i++)
		if (e->row[i].budget.state == BUDGET_SPLIT) {
			constant |= e->row[i].budget.constant;
			unseen |= e->row[i].exact ? 0 : e->row[i].budget.unseen;
			tried |= e->row[i].budget.tried;
		}
	if (e->cut_short)
		text_add(
			out,
			" Cut short: not all causes in the launch were tried, and they are not shown.\n");
	else if (e->conditions)
		text_add(
			out,
			" %u runs as asked, %u under each of %u other conditions of the launch: everything fixed, and one cause varied at a time.\n",
			e->runs, e->runs, e->conditions);
	else if (e->why_none)
		text_add(out, " By regression alone: %s.\n", e->why_none);
	put_set(out, "Already fixed by the launch: ", e->fixed_already);
	put_set(out,
		e->conditions && !e->cut_short
			? "The same in all runs with everything fixed, so not a cause of the rest: "
			: "The same in all runs, so not a cause: ",
		constant & ~tried);
	put_set(out, "Not seen here: ", unseen & ~tried & ~constant);
	for (size_t i = 0; i < e->n_not_switched; i++)
		text_add(out, " Not switched off: %s: %s.\n",
			 budget_causes[e->not_switched[i].cause].words, e->not_switched[i].why);
	if (e->output_differs)
		text_add(
			out,
			" Its output differs between runs although everything is fixed: it does not do the same work.\n");
	if (e->ids_vary)
		text_add(
			out,
			" Process ids differed in all runs: --deterministic fixes them, which removes their part of the spread.\n");
}

void explain_text(struct text *out, const struct explained *e, const struct style *s)
{
	text_add(
		out,
		" Where the spread comes from: shares of the variance, with their 95 %% intervals\n\n");
	for (size_t i = 0; i < e->n; i++)
		put_row(out, s, &e->row[i]);
	text_put(out, "\n", 1);
	put_notes(out, e);
	text_put(out, "\n", 1);
}

/* Words for output without colours and columns. */
static const struct style words_style = { .thousands = true, .utf8 = true };

static void json_words(struct json *j, const char *key, struct text *words)
{
	json_string(j, key, words->s);
	text_free(words);
}

static void json_causes(struct json *j, const char *key, unsigned set)
{
	json_array(j, key);
	for (unsigned c = 0; c < BUDGET_CAUSES; c++)
		if (set >> c & 1)
			json_string(j, NULL, budget_causes[c].name);
	json_end(j);
}

static void json_part(struct json *j, const struct explained_row *r, const struct budget_part *p)
{
	struct text words = { 0 };

	put_words(&words, &words_style, r, p);
	json_object(j, NULL);
	json_words(j, "words", &words);
	json_causes(j, "causes", p->causes);
	json_string(j, "how", p->switched ? "switched" : "regression");
	json_real(j, "share", p->share);
	json_real(j, "low", p->low);
	json_real(j, "high", p->high);
	json_real(j, "p", p->p);
	if (p->switched) {
		json_real(j, "deviation", p->deviation);
	} else {
		json_real(j, "per", p->per);
		json_real(j, "per_low", p->per_low);
		json_real(j, "per_high", p->per_high);
	}
	json_end(j);
}

static void json_row(struct json *j, const struct explained_row *r)
{
	static const char *const states[] = { [BUDGET_NO_SPREAD] = "no spread",
					      [BUDGET_FEW] = "too few runs",
					      [BUDGET_SPLIT] = "split" };
	const struct budget *b = &r->budget;
	struct text words = { 0 }, alone = { 0 }, left = { 0 }, few = { 0 };

	put_state(&words, &words_style, r);
	put_unexplained(&left, &words_style, r);
	json_object(j, NULL);
	json_string(j, "event", r->name);
	json_words(j, "words", &words);
	json_string(j, "state", states[b->state]);
	json_uint(j, "n", b->n);
	json_real(j, "deviation", b->deviation);
	json_real(j, "range", b->max - b->min);
	json_real_if(j, "fixed_deviation", b->fixed_deviation >= 0, b->fixed_deviation);
	json_array(j, "parts");
	for (size_t i = 0; i < b->parts; i++)
		json_part(j, r, &b->part[i]);
	json_end(j);
	if (is_undecided(r)) {
		put_few(&few, b);
		json_words(j, "undecided", &few);
	}
	json_object(j, "unexplained");
	json_words(j, "words", &left);
	json_real(j, "share", b->left);
	json_real(j, "low", b->left_low);
	json_real(j, "high", b->left_high);
	json_string(j, "place", r->place[0] ? r->place : NULL);
	if (r->cause[0]) {
		json_object(j, "cause");
		json_string(j, "kind", r->cause_kind);
		json_string(j, "words", r->cause);
		json_end(j);
	} else {
		json_null(j, "cause");
	}
	json_end(j);
	if (b->alone) {
		json_object(j, "one_run");
		json_uint(j, "run", b->alone_run + 1);
		json_real(j, "share", b->alone_share);
		put_alone(&alone, b);
		json_words(j, "words", &alone);
		json_end(j);
	} else {
		json_null(j, "one_run");
	}
	json_causes(j, "tried", b->tried);
	json_causes(j, "constant", b->constant);
	json_causes(j, "unseen", b->unseen);
	json_end(j);
}

void explain_json(struct json *j, const struct explained *e)
{
	struct text notes = { 0 };

	json_object(j, "explain");
	json_uint(j, "runs", e->runs);
	json_uint(j, "conditions", e->conditions);
	json_causes(j, "off_already", e->fixed_already);
	json_array(j, "not_switched");
	for (size_t i = 0; i < e->n_not_switched; i++) {
		json_object(j, NULL);
		json_string(j, "cause", budget_causes[e->not_switched[i].cause].name);
		json_string(j, "reason", e->not_switched[i].why);
		json_end(j);
	}
	json_end(j);
	json_bool(j, "output_differs", e->output_differs);
	json_bool(j, "cut_short", e->cut_short);
	json_bool(j, "process_ids_vary", e->ids_vary);
	put_notes(&notes, e);
	json_notes(j, "notes", &notes);
	json_array(j, "events");
	for (size_t i = 0; i < e->n; i++)
		json_row(j, &e->row[i]);
	json_end(j);
	json_end(j);
}
