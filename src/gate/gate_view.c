/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "compare/compare_view.h"
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
	       unclear = gate_count(s, GATE_UNCLEAR), errors = gate_errors(s),
	       all = s->n - gate_count(s, GATE_GONE);

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
	else if (!slower && unclear)
		text_add(out,
			 all == 1 ? "it is unclear whether the benchmark is slower"
				  : "%sit is unclear whether %zu of %zu benchmarks %s slower",
			 errors ? "; " : "", unclear, all, unclear == 1 ? "is" : "are");
	else if (!slower && errors < all)
		text_add(out,
			 all == 1                    ? "the benchmark is not slower"
				 : !errors           ? "none of %zu benchmarks is slower"
				 : errors + 1 == all ? "; the other is not slower"
						     : "; none of the others is slower",
			 all);
	if (slower && unclear)
		text_add(out, ", %zu unclear", unclear);
	if (faster)
		text_add(out, ", %zu faster", faster);
	if (within)
		text_add(out, ", %zu within the limit", within);
	if (accepted)
		text_add(out, ", %zu accepted", accepted);
}

/* ---- rows: an event or a time of a benchmark ---- */

struct row {
	const struct gate_outcome *o;
	const char *event;
	const struct gate_time *time;   /* NULL: an event */
	uint64_t head;                  /* a count */
	const struct gate_value *base;  /* of an event; NULL: not in the baseline */
	const struct gate_limit *limit; /* NULL: none */
	enum gate_verdict verdict;
};

/* Of an event; accepted and refused ones get the verdict of their benchmark. */
static enum gate_verdict shown_verdict(const struct gate_outcome *o, enum gate_verdict v)
{
	if (gate_verdict_is_error(o->verdict) ||
	    (o->verdict == GATE_ACCEPTED && (v == GATE_SLOWER || v == GATE_NEW)))
		return o->verdict;
	return v;
}

/* Row i of a benchmark; false: there is none. */
static bool row_at(struct row *r, const struct gate_outcome *o, size_t i)
{
	*r = (struct row){ .o = o };
	if (i < o->head.n) {
		r->event = o->head.value[i].event;
		r->head = o->head.value[i].count;
		r->base = o->base && o->in_base[i] >= 0 ? &o->base->value[o->in_base[i]] : NULL;
		r->limit = o->limit[i];
		r->verdict = shown_verdict(o, o->event[i]);
		return true;
	}
	i -= o->head.n;
	for (int t = 0; t < COMPARE_TIMES; t++) {
		if (!o->time[t].measured || i-- > 0)
			continue;
		r->event = compare_time_names[t];
		r->time = &o->time[t];
		r->limit = o->time[t].limit;
		r->verdict = o->time[t].verdict;
		return true;
	}
	return false;
}

/* One row without an event for a benchmark without any. */
static bool shown_row_at(struct row *r, const struct gate_outcome *o, size_t i)
{
	if (row_at(r, o, i))
		return true;
	r->verdict = o->verdict;
	return i == 0;
}

/* Nothing if there is none. */
static void put_side(struct text *out, const struct style *style, const struct row *r,
		     enum compare_side side)
{
	if (r->time)
		compare_put_value(out, style, &r->time->numbers, side);
	else if (r->event && side == COMPARE_AFTER)
		put_count(out, style, r->head);
	else if (r->base)
		put_count(out, style, r->base->count);
}

static void put_change(struct text *out, const struct style *style, const struct row *r)
{
	double percent;

	if (r->time) {
		compare_put_percent(out, style, &r->time->numbers);
	} else if (!r->base) {
		return;
	} else if (r->head == r->base->count) {
		text_add(out, "0");
	} else if (!r->base->count) {
		text_add(out, "+");
		put_count(out, style, r->head);
	} else {
		percent = 100 * ((double)r->head - (double)r->base->count) / (double)r->base->count;
		text_add(out, percent > 0 ? "+" : "-");
		put_percent(out, fabs(percent));
	}
}

static bool has_limits(const struct gate_shown *s)
{
	struct row r;

	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; row_at(&r, &s->outcome[i], k); k++)
			if (r.limit)
				return true;
	return false;
}

/* Nothing if there is none. */
static void put_limit(struct text *out, const struct row *r)
{
	if (r->limit && r->limit->relative)
		text_add(out, "%g %%", r->limit->percent);
	else if (r->limit)
		put_count(out, &machine, r->limit->amount);
}

static const char *name_of(const struct gate_outcome *o)
{
	return o->head.benchmark;
}

/* ---- text ---- */

static enum ink ink_of(enum gate_verdict v)
{
	return v == GATE_SLOWER                                 ? INK_BAD
		: gate_verdict_is_error(v) || v == GATE_UNCLEAR ? INK_CAREFUL
								: INK_PLAIN;
}

static void text_row(struct grid *g, const struct row *r, const struct style *style)
{
	struct text t = { 0 };

	grid_row(g);
	escape_cell(&t, name_of(r->o));
	grid_put(g, 0, INK_PLAIN, &t);
	if (r->event) {
		escape_cell(&t, r->event);
		grid_put(g, 1, INK_PLAIN, &t);
		put_side(&t, style, r, COMPARE_BEFORE);
		grid_put(g, 2, INK_PLAIN, &t);
		put_side(&t, style, r, COMPARE_AFTER);
		grid_put(g, 3, INK_PLAIN, &t);
		put_change(&t, style, r);
		grid_put(g, 4, INK_PLAIN, &t);
		put_limit(&t, r);
		grid_put(g, 5, INK_PLAIN, &t);
	}
	grid_word(g, 6, ink_of(r->verdict), gate_verdict_word(r->verdict));
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

static void put_baseline(struct text *out, const struct gate_shown *s)
{
	if (s->by_file)
		text_add(out, "Baseline: %s", s->baseline);
	else
		text_add(out, "Baseline: %s %.12s",
			 s->measured_base ? "measured now at" : "the note of", s->baseline);
}

/* ---- lines after the table ---- */

struct lines {
	struct text *out;
	const struct style *style; /* NULL: Markdown */
};

/* Ends a line, and escapes it: it may have names from files. */
static void end_line(const struct lines *to, struct text *line)
{
	struct text shown = { 0 };

	if (to->style) {
		escape_cell(&shown, line->s ? line->s : "");
		put_paragraph(to->out, to->style, INK_PLAIN, "%s.", shown.s ? shown.s : "");
	} else {
		text_add(to->out, "- ");
		markup_markdown(to->out, line->s ? line->s : "");
		text_add(to->out, "\n");
	}
	to->out->failed |= line->failed || shown.failed;
	text_free(&shown);
	text_free(line);
}

static void put_outcome(const struct lines *to, const struct gate_outcome *o)
{
	struct text line = { 0 }, open = { 0 };

	if (o->why[0]) {
		put_why(&line, o);
		end_line(to, &line);
	}
	for (int t = 0; t < COMPARE_TIMES; t++) {
		if (o->time[t].measured && compare_put_open(&open, &o->time[t].numbers, false)) {
			text_add(&line, "%s: %s", name_of(o), open.s ? open.s : "");
			end_line(to, &line);
		}
		text_free(&open);
	}
}

/* A line for each remark, with the first benchmark that has it and the number of the others. */
static void put_remarks(const struct lines *to, const struct gate_shown *s,
			const struct gate_outcome *o)
{
	for (size_t i = 0; i < o->remarks; i++) {
		size_t n = count_remark(s, o, o->remark[i]);
		struct text line = { 0 };

		if (!n)
			continue;
		text_add(&line, "%s", name_of(o));
		if (n > 1)
			text_add(&line, " and %zu more", n - 1);
		text_add(&line, ": %c%s", tolower((unsigned char)o->remark[i][0]),
			 o->remark[i] + 1);
		end_line(to, &line);
	}
}

static void put_lines(const struct lines *to, const struct gate_shown *s)
{
	struct text line = { 0 };

	for (size_t i = 0; i < s->n; i++)
		put_outcome(to, &s->outcome[i]);
	for (size_t i = 0; i < s->n; i++)
		put_remarks(to, s, &s->outcome[i]);
	if (s->baseline[0])
		put_baseline(&line, s);
	else if (!s->stored)
		text_add(&line, "No baseline: %s", s->none);
	if (line.len)
		end_line(to, &line);
	for (size_t i = 0; i < s->notes; i++) {
		text_add(&line, "%s", s->note[i]);
		end_line(to, &line);
	}
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
	struct row r;

	gate_headline(&line, s);
	text_add(out, "%s%s%s\n\n", ink_on(style, ink), line.s ? line.s : "", ink_off(style));
	text_free(&line);
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; shown_row_at(&r, &s->outcome[i], k); k++)
			text_row(&g, &r, style);
	grid_end(out, &g, style, 1);
	text_add(out, "\n");
	put_lines(&(struct lines){ out, style }, s);
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

static void json_times(struct json *j, const struct gate_outcome *o)
{
	json_array(j, "times");
	for (int t = 0; t < COMPARE_TIMES; t++) {
		const struct compare_event *e = &o->time[t].numbers;

		if (!o->time[t].measured)
			continue;
		json_object(j, NULL);
		json_string(j, "event", compare_time_names[t]);
		json_string(j, "verdict", gate_verdict_word(o->time[t].verdict));
		json_uint(j, "base_ns", e->median[COMPARE_BEFORE]);
		json_uint(j, "head_ns", e->median[COMPARE_AFTER]);
		json_real(j, "percent", e->percent);
		json_real(j, "low_percent", e->low_percent);
		json_real(j, "high_percent", e->high_percent);
		json_real(j, "limit_percent", e->threshold);
		json_uint(j, "pairs", e->of[0].n);
		json_uint(j, "second_pairs", e->again[0].n);
		json_bool(j, "unconfirmed", e->unconfirmed);
		if (e->needed)
			json_uint(j, "pairs_needed", e->needed);
		else
			json_null(j, "pairs_needed");
		json_end(j);
	}
	json_end(j);
}

static void json_functions(struct json *j, const struct gate_functions *f)
{
	uint64_t others = f ? f->total : 0;

	if (!f) {
		json_null(j, "functions");
		return;
	}
	json_object(j, "functions");
	json_uint(j, "total", f->total);
	json_array(j, "rows");
	for (size_t i = 0; i < f->n; i++) {
		json_object(j, NULL);
		json_string(j, "function", f->function[i].name);
		json_string(j, "module", f->function[i].module);
		json_uint(j, "count", f->function[i].count);
		json_end(j);
		others -= f->function[i].count;
	}
	json_end(j);
	json_uint(j, "others", others);
	json_end(j);
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
	json_times(j, o);
	json_functions(j, o->functions);
	json_object(j, "limits");
	for (size_t i = 0; i < o->head.n; i++)
		if (o->limit[i])
			json_limit(j, o->head.value[i].event, o->limit[i]);
	json_end(j);
	json_end(j);
}

static const char *overall(const struct gate_shown *s)
{
	return gate_count(s, GATE_SLOWER)     ? "slower"
		: gate_errors(s)              ? "error"
		: !s->baseline[0]             ? "no baseline"
		: gate_count(s, GATE_UNCLEAR) ? "cannot tell"
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
	if (!s->baseline[0] && !s->stored)
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

static void markdown_row(struct text *out, const struct row *r, bool limits)
{
	enum gate_verdict v = r->verdict;
	bool strong = v == GATE_SLOWER || gate_verdict_is_error(v);

	text_add(out, "| ");
	markup_markdown(out, name_of(r->o));
	text_add(out, " | ");
	if (r->event)
		markup_markdown(out, r->event);
	text_add(out, " | ");
	put_side(out, &machine, r, COMPARE_BEFORE);
	text_add(out, " | ");
	put_side(out, &machine, r, COMPARE_AFTER);
	text_add(out, " | ");
	put_change(out, &machine, r);
	if (limits)
		text_add(out, " | ");
	if (limits)
		put_limit(out, r);
	text_add(out, " | %s%s%s |\n", strong ? "**" : "", gate_verdict_word(v),
		 strong ? "**" : "");
}

void gate_markdown(struct text *out, const struct gate_shown *s)
{
	bool limits = has_limits(s);
	struct text line = { 0 };
	struct row r;

	gate_headline(&line, s);
	text_add(out, "**");
	markup_markdown(out, line.s ? line.s : "");
	text_add(out,
		 "**\n\n| benchmark | event | base | head | change |%s verdict |\n"
		 "|:---|:---|---:|---:|---:|%s:---|\n",
		 limits ? " limit |" : "", limits ? "---:|" : "");
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; shown_row_at(&r, &s->outcome[i], k); k++)
			markdown_row(out, &r, limits);
	text_add(out, "\n");
	put_lines(&(struct lines){ out, NULL }, s);
	out->failed |= line.failed;
	text_free(&line);
}

/* ---- JUnit ---- */

static void junit_words(struct text *out, const struct gate_outcome *o)
{
	struct row r;
	size_t i;

	for (i = 0; row_at(&r, o, i); i++) {
		bool both = r.base || r.time;

		text_add(out, "%s%s: %s ", i ? "; " : "", r.event, gate_verdict_word(r.verdict));
		put_side(out, &machine, &r, COMPARE_BEFORE);
		text_add(out, both ? " -> " : "");
		put_side(out, &machine, &r, COMPARE_AFTER);
		if (both) {
			text_add(out, " (");
			put_change(out, &machine, &r);
			text_add(out, r.limit ? ", limit " : "");
			put_limit(out, &r);
			text_add(out, ")");
		}
	}
	if (o->why[0])
		text_add(out, "%s%s%s%s", i ? "; " : "", o->why, o->hint[0] ? ": " : "", o->hint);
}

static bool is_skipped(enum gate_verdict v)
{
	return v == GATE_NEW || v == GATE_GONE || v == GATE_UNCLEAR;
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
	else if (is_skipped(o->verdict))
		text_add(out, "<skipped message=\"%s: ", gate_verdict_word(o->verdict));
	else
		text_add(out, "<system-out>");
	markup_xml(out, words.s ? words.s : "");
	text_add(out,
		 o->verdict == GATE_SLOWER || gate_verdict_is_error(o->verdict) ||
				 is_skipped(o->verdict)
			 ? "\"/>\n"
			 : "</system-out>\n");
	text_add(out, "    </testcase>\n");
	out->failed |= words.failed;
	text_free(&words);
}

void gate_junit(struct text *out, const struct gate_shown *s)
{
	size_t slower = gate_count(s, GATE_SLOWER), errors = gate_errors(s),
	       skipped = gate_count(s, GATE_NEW) + gate_count(s, GATE_GONE) +
		gate_count(s, GATE_UNCLEAR);
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
