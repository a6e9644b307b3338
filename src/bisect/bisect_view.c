/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "bisect/bisect_view.h"
#include "output/escape.h"
#include "output/json.h"
#include "output/markup.h"
#include "statistics/signed_rank.h"

enum { SUSPECTS_SHOWN = 20 };

static const struct style machine = { .thousands = true, .utf8 = true, .width = 200 };

/* ---- parts that all formats use ---- */

static const char *words_of(const struct bisect_shown *s)
{
	const char *event = s->state->event;

	return !strcmp(event, "instructions:u") ? "instructions" : event;
}

static uint64_t count_of(const struct bisect_shown *s, int end)
{
	const struct bisect_try *t = bisect_find(&s->state->tries, s->state->end[end]);

	return t ? t->count : 0;
}

static const char *side_of(const struct bisect_shown *s, const struct bisect_try *t)
{
	return bisect_is_bad(count_of(s, BISECT_GOOD), count_of(s, BISECT_BAD), t->count) ? "bad"
											  : "good";
}

static bool is_time(const struct bisect_shown *s)
{
	return bisect_is_time(s->state->event);
}

static double percent_of(const struct bisect_shown *s)
{
	const struct bisect_result *r = s->result;

	if (is_time(s))
		return r->percent;
	return r->before ? 100 * (double)(r->after - r->before) / (double)r->before : NAN;
}

/* Of a try: the median of the ratios to the good commit, in percent. */
static double median_percent(const struct bisect_try *t)
{
	double *d = calloc(t->pairs + 1, sizeof(*d)), percent = NAN;
	struct signed_rank r = { 0 };

	for (size_t i = 0; d && i < t->pairs; i++)
		d[i] = log((double)t->pair[i].this) - log((double)t->pair[i].good);
	if (d && t->pairs && signed_rank_of(&r, d, t->pairs))
		percent = 100 * expm1(r.estimate);
	signed_rank_free(&r);
	free(d);
	return percent;
}

static void put_change(struct text *out, const struct style *style, uint64_t from, uint64_t to)
{
	text_add(out, "%s", to > from ? "+" : to < from ? "-" : "");
	put_count(out, style, to > from ? to - from : from - to);
}

/* The subject: untrusted. */
static void put_subject(struct text *out, const struct bisect_try *t)
{
	escape_middle(out, t->subject, strlen(t->subject), 72);
}

/* "+3.0 % cpu-time (2.6 to 3.4), confidence 97 %" */
static void put_time_change(struct text *out, const struct bisect_shown *s)
{
	const struct bisect_result *r = s->result;

	text_add(out, "+%.2f %% %s", r->percent, words_of(s));
	if (isfinite(r->low_percent))
		text_add(out, " (%.2f to %.2f)", r->low_percent, r->high_percent);
	text_add(out, ", confidence %.*f %%", r->confidence < 99 ? 0 : 2,
		 fmin(r->confidence, 99.99));
}

void bisect_headline(struct text *out, const struct bisect_shown *s, const struct style *style)
{
	const struct bisect_result *r = s->result;

	if (r->found)
		text_add(out, "%.12s made it slower: ", r->commit);
	else
		text_add(out, "one of %zu commits made it slower: ", r->suspects);
	if (is_time(s)) {
		put_time_change(out, s);
		return;
	}
	put_change(out, style, r->before, r->after);
	text_add(out, " ");
	escape_cell(out, words_of(s));
	text_add(out, " (");
	if (r->before) {
		text_add(out, "+");
		put_percent(out, percent_of(s));
	} else {
		text_add(out, "from 0");
	}
	text_add(out, ", exact)");
	if (r->function[0]) {
		text_add(out, ", in ");
		escape_middle(out, r->function, strlen(r->function), 80);
	}
}

static void put_suspects(struct text *out, const struct bisect_result *r)
{
	size_t n = r->suspects < SUSPECTS_SHOWN ? r->suspects : SUSPECTS_SHOWN;

	text_add(out, "One of these, which could not all be %s:",
		 r->confidence > 0 ? "distinguished" : "measured");
	for (size_t i = 0; i < n; i++)
		text_add(out, "%s %.12s", i ? "," : "", r->suspect[i]);
	if (n < r->suspects)
		text_add(out, ", and %zu more", r->suspects - n);
}

/* ---- text ---- */

/* The commits in the order of their first measurement. */
static void put_times(struct text *out, const struct bisect_shown *s, const struct style *style)
{
	static const struct grid_column columns[] = {
		{ "step", true }, { "commit" }, { "pairs", true }, { "change", true }, { "subject" }
	};
	struct grid g = grid_begin(columns, ARRAY_SIZE(columns));
	const struct bisect_tries *tries = &s->state->tries;
	struct text t = { 0 };

	for (size_t i = 0; i < tries->n; i++) {
		const struct bisect_try *try = &tries->t[i];
		enum ink ink = !strcmp(try->commit, s->result->commit) ? INK_STRONG : INK_PLAIN;

		grid_row(&g);
		grid_add(&g, 0, ink, "%zu", i + 1);
		grid_add(&g, 1, ink, "%.12s", try->commit);
		grid_count(&g, 2, ink, style, try->pairs);
		if (try->skipped)
			text_add(&t, "skipped");
		else if (try->pairs)
			text_add(&t, "%+.2f %%", median_percent(try));
		else
			text_add(&t, "%s", i ? "" : "good");
		grid_put(&g, 3, ink, &t);
		put_subject(&t, try);
		grid_put(&g, 4, ink, &t);
	}
	grid_end(out, &g, style, 1);
}

static void put_table(struct text *out, const struct bisect_shown *s, const struct style *style)
{
	static const struct grid_column columns[] = { { "step", true }, { "commit" },
						      { NULL, true },   { "change", true },
						      { "result" },     { "subject" } };
	struct grid g = grid_begin(columns, ARRAY_SIZE(columns));
	const struct bisect_tries *tries = &s->state->tries;
	uint64_t good = count_of(s, BISECT_GOOD);
	struct text t = { 0 };

	escape_middle(&t, words_of(s), strlen(words_of(s)), 30);
	grid_put(&g, 2, INK_FAINT, &t);
	for (size_t i = 0; i < tries->n; i++) {
		const struct bisect_try *try = &tries->t[i];
		enum ink ink = !strcmp(try->commit, s->result->commit) ? INK_STRONG : INK_PLAIN;

		grid_row(&g);
		grid_add(&g, 0, ink, "%zu", i + 1);
		grid_add(&g, 1, ink, "%.12s", try->commit);
		if (!try->skipped) {
			grid_count(&g, 2, ink, style, try->count);
			put_change(&t, style, good, try->count);
			grid_put(&g, 3, ink, &t);
		}
		grid_word(&g, 4, try->skipped ? INK_CAREFUL : ink,
			  try->skipped ? "skipped" : side_of(s, try));
		put_subject(&t, try);
		grid_put(&g, 5, ink, &t);
	}
	grid_end(out, &g, style, 1);
}

void bisect_show_text(struct text *out, const struct bisect_shown *s, const struct style *style)
{
	const struct bisect_result *r = s->result;
	const struct bisect_tries *tries = &s->state->tries;
	const struct bisect_try *found = bisect_find(tries, r->commit);
	struct text line = { 0 };

	bisect_headline(&line, s, style);
	text_add(out, "%s%s%s\n\n", ink_on(style, r->found ? INK_BAD : INK_CAREFUL),
		 line.s ? line.s : "", ink_off(style));
	text_free(&line);
	if (r->found && found) {
		text_add(out, " commit:  %s\n author:  ", found->commit);
		escape_middle(out, found->author, strlen(found->author), 60);
		text_add(out, ", %.20s\n subject: ", found->date);
		escape_middle(out, found->subject, strlen(found->subject), 200);
		text_add(out, "\n\n");
	}
	(is_time(s) ? put_times : put_table)(out, s, style);
	text_add(out, "\n");
	if (!r->found) {
		put_suspects(&line, r);
		put_paragraph(out, style, INK_PLAIN, "%s.", line.s ? line.s : "");
		text_free(&line);
	}
	for (size_t i = 0; i < tries->n; i++) {
		if (!tries->t[i].skipped)
			continue;
		escape_cell(&line, tries->t[i].why);
		put_paragraph(out, style, INK_PLAIN, "Skipped %.12s: %s.", tries->t[i].commit,
			      line.s ? line.s : "");
		text_free(&line);
	}
	for (size_t i = 0; i < r->notes; i++) {
		escape_cell(&line, r->note[i]);
		put_paragraph(out, style, INK_PLAIN, "%s.", line.s ? line.s : "");
		text_free(&line);
	}
}

/* ---- JSON ---- */

static void json_commit(struct json *j, const struct bisect_shown *s)
{
	const struct bisect_result *r = s->result;
	const struct bisect_try *t = bisect_find(&s->state->tries, r->commit);

	if (!r->found || !t) {
		json_null(j, "commit");
		return;
	}
	json_object(j, "commit");
	json_string(j, "hash", t->commit);
	json_string(j, "parent", t->parent);
	json_string(j, "date", t->date);
	json_string(j, "author", t->author);
	json_string(j, "subject", t->subject);
	json_end(j);
}

static void json_try(struct json *j, const struct bisect_shown *s, const struct bisect_try *t)
{
	json_object(j, NULL);
	json_string(j, "commit", t->commit);
	json_string(j, "subject", t->subject);
	json_string(j, "result", t->skipped ? "skipped" : is_time(s) ? "timed" : side_of(s, t));
	if (is_time(s)) {
		json_uint(j, "pairs", t->pairs);
		json_real(j, "percent", median_percent(t));
	}
	if (t->skipped || is_time(s))
		json_null(j, "count");
	else
		json_uint(j, "count", t->count);
	json_string(j, "why", t->skipped ? t->why : NULL);
	json_end(j);
}

void bisect_show_json(struct text *out, const struct bisect_shown *s)
{
	static const char *const names[] = { "good", "bad" };
	const struct bisect_result *r = s->result;
	const struct bisect_tries *tries = &s->state->tries;
	struct text line = { 0 };
	struct json j = { 0 };

	bisect_headline(&line, s, &machine);
	json_object(&j, NULL);
	json_string(&j, "schema", "tare/bisect/1");
	json_string(&j, "verdict", r->found ? "found" : "one of several");
	json_string(&j, "headline", line.s);
	json_commit(&j, s);
	json_array(&j, "command");
	for (char **word = s->state->argv; *word; word++)
		json_string(&j, NULL, *word);
	json_end(&j);
	json_string(&j, "event", words_of(s));
	json_uint(&j, "before", r->before);
	json_uint(&j, "after", r->after);
	json_int(&j, "change", (int64_t)(r->after - r->before));
	json_real(&j, "percent", percent_of(s));
	if (is_time(s)) {
		json_real(&j, "low_percent", r->low_percent);
		json_real(&j, "high_percent", r->high_percent);
		json_real(&j, "confidence_percent", r->confidence);
		json_uint(&j, "pairs", r->pairs);
	}
	if (r->function[0]) {
		json_object(&j, "function");
		json_string(&j, "function", r->function);
		json_int(&j, "change", r->function_change);
		json_end(&j);
	} else {
		json_null(&j, "function");
	}
	for (int i = 0; i < BISECT_ENDS; i++) {
		json_object(&j, names[i]);
		json_string(&j, "commit", s->state->end[i]);
		if (is_time(s))
			json_null(&j, "count");
		else
			json_uint(&j, "count", count_of(s, i));
		json_end(&j);
	}
	json_array(&j, "suspects");
	for (size_t i = 0; i < r->suspects; i++)
		json_string(&j, NULL, r->suspect[i]);
	json_end(&j);
	json_array(&j, "tries");
	for (size_t i = 0; i < tries->n; i++)
		json_try(&j, s, &tries->t[i]);
	json_end(&j);
	json_array(&j, "notes");
	for (size_t i = 0; i < r->notes; i++)
		json_string(&j, NULL, r->note[i]);
	json_end(&j);
	json_end(&j);
	out->failed |= line.failed;
	text_free(&line);
	json_into(out, &j);
}

/* ---- Markdown ---- */

void bisect_markdown(struct text *out, const struct bisect_shown *s)
{
	const struct bisect_result *r = s->result;
	const struct bisect_tries *tries = &s->state->tries;
	struct text line = { 0 };

	bisect_headline(&line, s, &machine);
	text_add(out, "**");
	markup_markdown(out, line.s ? line.s : "");
	text_add(out,
		 "**\n\n| step | commit | %s | result | subject |\n|---:|:---|---:|:---|:---|\n",
		 is_time(s) ? "pairs" : "count");
	text_free(&line);
	for (size_t i = 0; i < tries->n; i++) {
		const struct bisect_try *t = &tries->t[i];

		text_add(out, "| %zu | %.12s | ", i + 1, t->commit);
		if (!t->skipped)
			put_count(out, &machine, is_time(s) ? t->pairs : t->count);
		text_add(out, " | ");
		if (!t->skipped && is_time(s) && t->pairs)
			text_add(out, "%+.2f %%", median_percent(t));
		else if (t->skipped || !is_time(s))
			text_add(out, "%s", t->skipped ? "skipped: " : side_of(s, t));
		markup_markdown(out, t->skipped ? t->why : "");
		text_add(out, " | ");
		markup_markdown(out, t->subject);
		text_add(out, " |\n");
	}
	text_add(out, "\n");
	if (!r->found) {
		text_add(out, "- ");
		put_suspects(out, r);
		text_add(out, ".\n");
	}
	for (size_t i = 0; i < r->notes; i++) {
		text_add(out, "- ");
		markup_markdown(out, r->note[i]);
		text_add(out, ".\n");
	}
}
