/* SPDX-License-Identifier: MIT */
/* Markdown for a pull request, and JUnit XML for a CI server. */
#include <stdio.h>
#include <string.h>
#include "compare/compare_view.h"
#include "output/markup.h"

/* The whole comment has at most 30 lines. */
enum { MARKDOWN_EVENTS = 5, MARKDOWN_ROWS = 6, MARKDOWN_NOTES = 4 };

static const struct style machine = { .thousands = true, .utf8 = true, .width = 200 };

/* ---- Markdown ---- */

static void markdown_event(struct text *out, const struct compare_event *e)
{
	bool strong = e->verdict == COMPARE_MORE && !e->small;

	text_add(out, "| ");
	markup_markdown(out, e->name);
	for (int side = 0; side < COMPARE_SIDES; side++) {
		text_add(out, " | ");
		compare_put_value(out, &machine, e, side);
	}
	text_add(out, " | ");
	compare_put_percent(out, &machine, e);
	text_add(out, " | %s%s%s%s |\n", strong ? "**" : "", compare_verdict_word(e),
		 strong ? "**" : "", e->by_equality ? " (exact)" : "");
}

static void markdown_row(struct text *out, int64_t before, int64_t after, const char *name,
			 const char *state)
{
	const int64_t v[] = { before, after };

	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		text_add(out, "| %s", v[i] < 0 ? "-" : "");
		put_count(out, &machine, (uint64_t)(v[i] < 0 ? -v[i] : v[i]));
		text_add(out, " ");
	}
	text_add(out, "| %s", after > before ? "+" : after < before ? "-" : "");
	put_count(out, &machine, (uint64_t)(after > before ? after - before : before - after));
	text_add(out, " | ");
	markup_markdown(out, name);
	text_add(out, "%s%s%s |\n", *state ? " (" : "", state, *state ? ")" : "");
}

static void markdown_cause(struct text *out, const struct compare_shown *s)
{
	const struct compare_cause *c = s->cause;
	size_t shown = compare_rows_large(s);
	int64_t others[COMPARE_SIDES];
	char words[40];

	shown = shown < MARKDOWN_ROWS ? shown : MARKDOWN_ROWS;
	text_add(out, "\n| before | after | change | function |\n|---:|---:|---:|:---|\n");
	for (size_t i = 0; i < shown; i++)
		markdown_row(out, (int64_t)c->row[i].amount[0], (int64_t)c->row[i].amount[1],
			     c->row[i].function, compare_row_state(&c->row[i]));
	compare_others(c, shown, others);
	snprintf(words, sizeof(words), "%zu other functions", c->n - shown);
	markdown_row(out, others[0], others[1], words, "");
	markdown_row(out, (int64_t)c->total[0], (int64_t)c->total[1], "all instructions", "");
}

void compare_markdown(struct text *out, const struct compare_shown *s)
{
	size_t events = s->n < MARKDOWN_EVENTS ? s->n : MARKDOWN_EVENTS,
	       notes = s->notes < MARKDOWN_NOTES - 1 ? s->notes : MARKDOWN_NOTES - 1;
	struct text line = { 0 };

	compare_headline(&line, s, &machine);
	text_add(out, "**");
	markup_markdown(out, line.s ? line.s : "");
	text_add(
		out,
		"**\n\n| event | before | after | change | verdict |\n|:---|---:|---:|---:|:---|\n");
	for (size_t i = 0; i < events; i++)
		markdown_event(out, &s->event[i]);
	if (events < s->n)
		text_add(out, "| %zu more events | | | | |\n", s->n - events);
	if (s->cause)
		markdown_cause(out, s);
	text_add(out, "\n<details><summary>Notes</summary>\n\n");
	for (size_t i = 0; i < notes; i++) {
		text_add(out, "- ");
		markup_markdown(out, s->note[i]);
		text_add(out, ".\n");
	}
	text_add(out, "- ");
	markup_markdown(out, compare_blind);
	text_add(out, "\n</details>\n");
	out->failed |= line.failed;
	text_free(&line);
}

/* ---- JUnit ---- */

static void event_words(struct text *out, const struct compare_event *e)
{
	text_add(out, "%s: %s ", e->name, compare_verdict_word(e));
	compare_put_value(out, &machine, e, COMPARE_BEFORE);
	text_add(out, " -> ");
	compare_put_value(out, &machine, e, COMPARE_AFTER);
	text_add(out, " (");
	compare_put_percent(out, &machine, e);
	text_add(out, e->by_equality ? ", exact)" : ")");
}

static void junit_rows(struct text *out, const struct compare_shown *s)
{
	size_t shown = compare_rows_shown(s);

	for (size_t i = 0; i < shown; i++) {
		const struct compare_row *r = &s->cause->row[i];

		text_add(out, "\n%s%lld ", r->change > 0 ? "+" : "", (long long)r->change);
		markup_xml(out, r->function);
		if (*compare_row_state(r))
			text_add(out, " (%s)", compare_row_state(r));
	}
	text_add(out, "\n");
}

static void junit_event(struct text *out, const struct compare_shown *s,
			const struct compare_event *e)
{
	struct text words = { 0 };
	bool failed = e->verdict == COMPARE_MORE && !e->small,
	     skipped = e->verdict == COMPARE_CANNOT_TELL;

	event_words(&words, e);
	text_add(out, "    <testcase classname=\"tare.compare\" name=\"");
	markup_xml(out, e->name);
	text_add(out, failed || skipped ? "\">\n      <%s message=\"" : "\">\n      <%s>",
		 failed            ? "failure type=\"regression\""
			 : skipped ? "skipped"
				   : "system-out");
	markup_xml(out, words.s ? words.s : "");
	if (failed) {
		text_add(out, "\">");
		if (e == compare_instructions(s->event, s->n))
			junit_rows(out, s);
		text_add(out, "</failure>\n");
	} else {
		text_add(out, skipped ? "\"/>\n" : "</system-out>\n");
	}
	text_add(out, "    </testcase>\n");
	out->failed |= words.failed;
	text_free(&words);
}

void compare_junit(struct text *out, const struct compare_shown *s)
{
	size_t failed = 0, skipped = 0;
	struct text line = { 0 };

	for (size_t i = 0; i < s->n; i++) {
		failed += s->event[i].verdict == COMPARE_MORE && !s->event[i].small;
		skipped += s->event[i].verdict == COMPARE_CANNOT_TELL;
	}
	compare_headline(&line, s, &machine);
	text_add(
		out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<testsuites tests=\"%zu\" failures=\"%zu\" errors=\"0\">\n"
		"  <testsuite name=\"tare compare\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n"
		"    <properties>\n      <property name=\"headline\" value=\"",
		s->n, failed, s->n, failed, skipped);
	markup_xml(out, line.s ? line.s : "");
	text_add(out, "\"/>\n    </properties>\n");
	for (size_t i = 0; i < s->n; i++)
		junit_event(out, s, &s->event[i]);
	text_add(out, "  </testsuite>\n</testsuites>\n");
	out->failed |= line.failed;
	text_free(&line);
}
