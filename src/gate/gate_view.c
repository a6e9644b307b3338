/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "gate/gate_view.h"
#include "output/escape.h"
#include "output/json.h"
#include "output/markup.h"

static const struct style machine = { .thousands = true, .utf8 = true, .width = 200 };

void gate_note(struct gate_shown *s, const char *fmt, ...)
{
	va_list args;

	if (s->notes == GATE_NOTES_MAX)
		return;
	va_start(args, fmt);
	vsnprintf(s->note[s->notes++], GATE_TEXT_BYTES, fmt, args);
	va_end(args);
}

size_t gate_count(const struct gate_shown *s, enum gate_verdict v)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->outcome[i].verdict == v;
	return n;
}

size_t gate_errors(const struct gate_shown *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += gate_verdict_is_error(s->outcome[i].verdict);
	return n;
}

void gate_headline(struct text *out, const struct gate_shown *s)
{
	size_t slower = gate_count(s, GATE_SLOWER), faster = gate_count(s, GATE_FASTER),
	       within = gate_count(s, GATE_WITHIN), accepted = gate_count(s, GATE_ACCEPTED),
	       errors = gate_errors(s), all = s->n - gate_count(s, GATE_GONE);

	if (slower)
		text_add(out,
			 all == 1              ? "the benchmark is slower"
				 : slower == 1 ? "%zu of %zu benchmarks is slower"
					       : "%zu of %zu benchmarks are slower",
			 slower, all);
	if (errors)
		text_add(out, "%s%zu of %zu benchmark%s could not be %s", slower ? "; " : "",
			 errors, all, all == 1 ? "" : "s",
			 errors == gate_count(s, GATE_UNLIKE) ? "compared" : "measured");
	if (!s->baseline[0])
		text_add(out, "%sno baseline: nothing was compared", out->len ? "; " : "");
	else if (!slower && errors < all)
		text_add(out,
			 all == 1                    ? "the benchmark is not slower"
				 : !errors           ? "none of %zu benchmarks is slower"
				 : errors + 1 == all ? "; the other is not slower"
						     : "; none of the others is slower",
			 all);
	if (faster)
		text_add(out, ", %zu faster", faster);
	if (within)
		text_add(out, ", %zu within the limit", within);
	if (accepted)
		text_add(out, ", %zu accepted", accepted);
}

/* ---- parts of a row ---- */

static const struct gate_value *base_of(const struct gate_outcome *o, size_t event)
{
	return o->base && o->in_base[event] >= 0 ? &o->base->value[o->in_base[event]] : NULL;
}

/* NAN: unknown */
static double percent_of(const struct gate_outcome *o, size_t event)
{
	const struct gate_value *base = base_of(o, event);
	double head = (double)o->head.value[event].count;

	return base && base->count ? 100 * (head - (double)base->count) / (double)base->count : NAN;
}

static void put_change(struct text *out, const struct gate_outcome *o, size_t event)
{
	const struct gate_value *base = base_of(o, event);
	uint64_t head = o->head.value[event].count;
	double percent = percent_of(o, event);

	if (!base)
		return;
	if (head == base->count) {
		text_add(out, "0");
	} else if (isnan(percent)) {
		text_add(out, "+");
		put_count(out, &machine, head);
	} else {
		text_add(out, percent > 0 ? "+" : "-");
		put_percent(out, fabs(percent));
	}
}

static bool has_limits(const struct gate_shown *s)
{
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->outcome[i].head.n; k++)
			if (s->outcome[i].limit[k])
				return true;
	return false;
}

/* Nothing if there is none. */
static void put_limit(struct text *out, const struct gate_outcome *o, size_t event)
{
	const struct gate_limit *l = o->limit[event];

	if (l && l->relative)
		text_add(out, "%g %%", l->percent);
	else if (l)
		put_count(out, &machine, l->amount);
}

/* Of an event; accepted and refused ones get the verdict of their benchmark. */
static enum gate_verdict shown_verdict(const struct gate_outcome *o, size_t event)
{
	enum gate_verdict v = o->event[event];

	if (gate_verdict_is_error(o->verdict) ||
	    (o->verdict == GATE_ACCEPTED && (v == GATE_SLOWER || v == GATE_NEW)))
		return o->verdict;
	return v;
}

static const char *name_of(const struct gate_outcome *o)
{
	return o->head.benchmark;
}

/* ---- text ---- */

static enum ink ink_of(enum gate_verdict v)
{
	return v == GATE_SLOWER ? INK_BAD : gate_verdict_is_error(v) ? INK_CAREFUL : INK_PLAIN;
}

static void text_row(struct grid *g, const struct gate_outcome *o, size_t event,
		     const struct style *style)
{
	enum gate_verdict v = o->head.n ? shown_verdict(o, event) : o->verdict;
	struct text t = { 0 };

	grid_row(g);
	escape_cell(&t, name_of(o));
	grid_put(g, 0, INK_PLAIN, &t);
	if (o->head.n) {
		const struct gate_value *base = base_of(o, event);

		escape_cell(&t, o->head.value[event].event);
		grid_put(g, 1, INK_PLAIN, &t);
		if (base)
			put_count(&t, style, base->count);
		grid_put(g, 2, INK_PLAIN, &t);
		grid_count(g, 3, INK_PLAIN, style, o->head.value[event].count);
		put_change(&t, o, event);
		grid_put(g, 4, INK_PLAIN, &t);
		put_limit(&t, o, event);
		grid_put(g, 5, INK_PLAIN, &t);
	}
	grid_word(g, 6, ink_of(v), gate_verdict_word(v));
}

static void put_why(struct text *out, const struct gate_outcome *o)
{
	text_add(out, "%s: %s", name_of(o), o->why);
	if (o->hint[0])
		text_add(out, " (%s)", o->hint);
}

/* How many outcomes have this remark; 0: one before `o` has it. */
static size_t count_remark(const struct gate_shown *s, const struct gate_outcome *o,
			   const char *remark)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->outcome[i].remarks; k++) {
			if (strcmp(s->outcome[i].remark[k], remark) != 0)
				continue;
			if (&s->outcome[i] < o)
				return 0;
			n++;
		}
	return n;
}

/*
 * The k-th remark of a benchmark, with its name and how many others have the same remark. False:
 * an earlier one has shown it.
 */
static bool put_remark(struct text *out, const struct gate_shown *s, const struct gate_outcome *o,
		       size_t k)
{
	size_t n = count_remark(s, o, o->remark[k]);

	if (!n)
		return false;
	text_add(out, "%s", name_of(o));
	if (n > 1)
		text_add(out, " and %zu more", n - 1);
	text_add(out, ": %c%s", tolower((unsigned char)o->remark[k][0]), o->remark[k] + 1);
	return true;
}

static void put_baseline(struct text *out, const struct gate_shown *s)
{
	if (s->by_file)
		text_add(out, "Baseline: %s", s->baseline);
	else
		text_add(out, "Baseline: %s %.12s",
			 s->measured_base ? "measured now at" : "the note of", s->baseline);
}

static void put_escaped(struct text *out, const struct style *style, const char *s)
{
	struct text line = { 0 };

	escape_cell(&line, s ? s : "");
	put_paragraph(out, style, INK_PLAIN, "%s.", line.s ? line.s : "");
	out->failed |= line.failed;
	text_free(&line);
}

void gate_show_text(struct text *out, const struct gate_shown *s, const struct style *style)
{
	const struct grid_column columns[] = {
		{ "benchmark" },  { "event" },        { "base", true },
		{ "head", true }, { "change", true }, { has_limits(s) ? "limit" : NULL, true },
		{ "verdict" },
	};
	enum ink ink = gate_count(s, GATE_SLOWER)   ? INK_BAD
		: gate_errors(s) || !s->baseline[0] ? INK_CAREFUL
						    : INK_STRONG;
	struct grid g = grid_begin(columns, ARRAY_SIZE(columns));
	struct text line = { 0 };

	gate_headline(&line, s);
	text_add(out, "%s%s%s\n\n", ink_on(style, ink), line.s ? line.s : "", ink_off(style));
	text_free(&line);
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->outcome[i].head.n || k == 0; k++)
			text_row(&g, &s->outcome[i], k, style);
	grid_end(out, &g, style, 1);
	text_add(out, "\n");
	for (size_t i = 0; i < s->n; i++)
		if (s->outcome[i].why[0]) {
			put_why(&line, &s->outcome[i]);
			put_escaped(out, style, line.s);
			text_free(&line);
		}
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->outcome[i].remarks; k++) {
			if (put_remark(&line, s, &s->outcome[i], k))
				put_escaped(out, style, line.s);
			text_free(&line);
		}
	if (s->baseline[0])
		put_baseline(&line, s);
	else
		text_add(&line, "No baseline: %s", s->none);
	put_escaped(out, style, line.s);
	for (size_t i = 0; i < s->notes; i++)
		put_escaped(out, style, s->note[i]);
	text_free(&line);
}

/* ---- JSON ---- */

static void counts(struct json *j, const char *key, const struct gate_record *r)
{
	json_object(j, key);
	for (size_t i = 0; i < r->n; i++)
		json_uint(j, r->value[i].event, r->value[i].count);
	json_end(j);
}

/* As in the configuration. */
static void json_limit(struct json *j, const char *event, const struct gate_limit *l)
{
	char words[40];

	snprintf(words, sizeof(words), "%g %%", l->percent);
	if (l->relative)
		json_string(j, event, words);
	else
		json_uint(j, event, l->amount);
}

static void json_benchmark(struct json *j, const struct gate_outcome *o)
{
	json_object(j, NULL);
	json_string(j, "benchmark", o->head.benchmark);
	json_string(j, "verdict", gate_verdict_word(o->verdict));
	json_bool(j, "error", gate_verdict_is_error(o->verdict));
	json_string(j, "why", o->why[0] ? o->why : NULL);
	json_string(j, "remedy", o->hint[0] ? o->hint : NULL);
	json_string(j, "command", o->head.command);
	json_string(j, "tare", o->head.tare);
	json_string(j, "fixed", o->head.fixed);
	json_array(j, "remarks");
	for (size_t i = 0; i < o->remarks; i++)
		json_string(j, NULL, o->remark[i]);
	json_end(j);
	json_string(j, "isa", o->head.isa);
	json_string(j, "variables", o->head.variables);
	counts(j, "events", &o->head);
	if (o->base)
		counts(j, "base", o->base);
	else
		json_null(j, "base");
	json_string(j, "base_fixed", o->base ? o->base->fixed : NULL);
	json_object(j, "limits");
	for (size_t i = 0; i < o->head.n; i++)
		if (o->limit[i])
			json_limit(j, o->head.value[i].event, o->limit[i]);
	json_end(j);
	json_end(j);
}

static const char *overall(const struct gate_shown *s)
{
	return gate_count(s, GATE_SLOWER) ? "slower"
		: gate_errors(s)          ? "error"
		: !s->baseline[0]         ? "no baseline"
					  : "passed";
}

void gate_show_json(struct text *out, const struct gate_shown *s)
{
	struct json j = { 0 };
	struct text line = { 0 };

	gate_headline(&line, s);
	json_object(&j, NULL);
	json_string(&j, "schema", "tare/gate/1");
	json_string(&j, "verdict", overall(s));
	json_bool(&j, "regression", gate_count(s, GATE_SLOWER));
	json_string(&j, "headline", line.s);
	json_string(&j, "commit", s->head && *s->head ? s->head : NULL);
	json_string(&j, "baseline", s->baseline[0] ? s->baseline : NULL);
	json_array(&j, "benchmarks");
	for (size_t i = 0; i < s->n; i++)
		json_benchmark(&j, &s->outcome[i]);
	json_end(&j);
	json_array(&j, "notes");
	for (size_t i = 0; i < s->notes; i++)
		json_string(&j, NULL, s->note[i]);
	if (!s->baseline[0])
		json_string(&j, NULL, s->none);
	json_end(&j);
	json_end(&j);
	out->failed |= line.failed;
	text_free(&line);
	json_into(out, &j);
}

void gate_record_line(struct text *out, const struct gate_record *r)
{
	const struct {
		const char *key, *value;
	} texts[] = { { "command", r->command },
		      { "tare", r->tare },
		      { "fixed", r->fixed },
		      { "isa", r->isa },
		      { "variables", r->variables } };

	text_add(out, "{\"benchmark\": ");
	json_quote(out, r->benchmark);
	if (r->accept[0]) {
		text_add(out, ", \"accept\": ");
		json_quote(out, r->accept);
	}
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		text_add(out, ", \"%s\": ", texts[i].key);
		json_quote(out, texts[i].value);
	}
	text_add(out, ", \"events\": {");
	for (size_t i = 0; i < r->n; i++) {
		text_add(out, i ? ", " : "");
		json_quote(out, r->value[i].event);
		text_add(out, r->value[i].count >> 53 ? ": \"%" PRIu64 "\"" : ": %" PRIu64,
			 r->value[i].count);
	}
	text_add(out, "}}\n");
}

void gate_last_line(struct text *out, const char *said)
{
	size_t n = strlen(said), from;

	while (n && (said[n - 1] == '\n' || said[n - 1] == ' '))
		n--;
	for (from = n; from && said[from - 1] != '\n';)
		from--;
	escape(out, said + from, n - from);
}

/* ---- Markdown ---- */

static void markdown_row(struct text *out, const struct gate_outcome *o, size_t event, bool limits)
{
	enum gate_verdict v = o->head.n ? shown_verdict(o, event) : o->verdict;
	const struct gate_value *base = o->head.n ? base_of(o, event) : NULL;
	bool strong = v == GATE_SLOWER || gate_verdict_is_error(v);

	text_add(out, "| ");
	markup_markdown(out, name_of(o));
	text_add(out, " | ");
	if (o->head.n)
		markup_markdown(out, o->head.value[event].event);
	text_add(out, " | ");
	if (base)
		put_count(out, &machine, base->count);
	text_add(out, " | ");
	if (o->head.n)
		put_count(out, &machine, o->head.value[event].count);
	text_add(out, " | ");
	if (o->head.n)
		put_change(out, o, event);
	if (limits)
		text_add(out, " | ");
	if (limits && o->head.n)
		put_limit(out, o, event);
	text_add(out, " | %s%s%s |\n", strong ? "**" : "", gate_verdict_word(v),
		 strong ? "**" : "");
}

void gate_markdown(struct text *out, const struct gate_shown *s)
{
	bool limits = has_limits(s);
	struct text line = { 0 };

	gate_headline(&line, s);
	text_add(out, "**");
	markup_markdown(out, line.s ? line.s : "");
	text_add(out,
		 "**\n\n| benchmark | event | base | head | change |%s verdict |\n"
		 "|:---|:---|---:|---:|---:|%s:---|\n",
		 limits ? " limit |" : "", limits ? "---:|" : "");
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->outcome[i].head.n || k == 0; k++)
			markdown_row(out, &s->outcome[i], k, limits);
	text_add(out, "\n");
	for (size_t i = 0; i < s->n; i++)
		if (s->outcome[i].why[0]) {
			text_free(&line);
			put_why(&line, &s->outcome[i]);
			text_add(out, "- ");
			markup_markdown(out, line.s ? line.s : "");
			text_add(out, "\n");
		}
	text_free(&line);
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->outcome[i].remarks; k++) {
			if (put_remark(&line, s, &s->outcome[i], k) && line.s) {
				text_add(out, "- ");
				markup_markdown(out, line.s);
				text_add(out, "\n");
			}
			text_free(&line);
		}
	if (s->baseline[0])
		put_baseline(&line, s);
	else
		text_add(&line, "No baseline: %s", s->none);
	text_add(out, "- ");
	markup_markdown(out, line.s ? line.s : "");
	text_add(out, "\n");
	for (size_t i = 0; i < s->notes; i++) {
		text_add(out, "- ");
		markup_markdown(out, s->note[i]);
		text_add(out, "\n");
	}
	out->failed |= line.failed;
	text_free(&line);
}

/* ---- JUnit ---- */

static void junit_words(struct text *out, const struct gate_outcome *o)
{
	for (size_t i = 0; i < o->head.n; i++) {
		const struct gate_value *base = base_of(o, i);

		text_add(out, "%s%s: %s", i ? "; " : "", o->head.value[i].event,
			 gate_verdict_word(shown_verdict(o, i)));
		if (base) {
			text_add(out, " ");
			put_count(out, &machine, base->count);
			text_add(out, " -> ");
		} else {
			text_add(out, " ");
		}
		put_count(out, &machine, o->head.value[i].count);
		if (base) {
			text_add(out, " (");
			put_change(out, o, i);
			text_add(out, o->limit[i] ? ", limit " : "");
			put_limit(out, o, i);
			text_add(out, ")");
		}
	}
	if (o->why[0])
		text_add(out, "%s%s%s%s", o->head.n ? "; " : "", o->why, o->hint[0] ? ": " : "",
			 o->hint);
}

static void junit_case(struct text *out, const struct gate_outcome *o)
{
	struct text words = { 0 };

	junit_words(&words, o);
	text_add(out, "    <testcase classname=\"tare.gate\" name=\"");
	markup_xml(out, name_of(o));
	text_add(out, "\">\n      ");
	if (o->verdict == GATE_SLOWER)
		text_add(out, "<failure type=\"regression\" message=\"");
	else if (gate_verdict_is_error(o->verdict))
		text_add(out, "<error type=\"%s\" message=\"", gate_verdict_word(o->verdict));
	else if (o->verdict == GATE_NEW || o->verdict == GATE_GONE)
		text_add(out, "<skipped message=\"%s: ", gate_verdict_word(o->verdict));
	else
		text_add(out, "<system-out>");
	markup_xml(out, words.s ? words.s : "");
	text_add(out,
		 o->verdict == GATE_SLOWER || gate_verdict_is_error(o->verdict) ||
				 o->verdict == GATE_NEW || o->verdict == GATE_GONE
			 ? "\"/>\n"
			 : "</system-out>\n");
	text_add(out, "    </testcase>\n");
	out->failed |= words.failed;
	text_free(&words);
}

void gate_junit(struct text *out, const struct gate_shown *s)
{
	size_t slower = gate_count(s, GATE_SLOWER), errors = gate_errors(s),
	       skipped = gate_count(s, GATE_NEW) + gate_count(s, GATE_GONE);
	struct text line = { 0 };

	gate_headline(&line, s);
	text_add(out,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		 "<testsuites tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n"
		 "  <testsuite name=\"tare gate\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
		 "skipped=\"%zu\">\n"
		 "    <properties>\n      <property name=\"headline\" value=\"",
		 s->n, slower, errors, s->n, slower, errors, skipped);
	markup_xml(out, line.s ? line.s : "");
	text_add(out, "\"/>\n    </properties>\n");
	for (size_t i = 0; i < s->n; i++)
		junit_case(out, &s->outcome[i]);
	text_add(out, "  </testsuite>\n</testsuites>\n");
	out->failed |= line.failed;
	text_free(&line);
}
