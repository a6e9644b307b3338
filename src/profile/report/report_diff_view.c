/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "output/escape.h"
#include "perfdata/perfdata_features.h"
#include "profile/report/report_diff_view.h"
#include "profile/report/report_view.h"

static const struct call_tree *pair_of(const struct report_diff_shown *r)
{
	return r->diff->report.call_tree;
}

static bool in_time(const struct report_diff_shown *r)
{
	return !strcmp(call_tree_name(pair_of(r), pair_of(r)->column[REPORT_AFTER].unit), "ns");
}

static const struct report_change *main_change(const struct report_diff_shown *r,
					       const struct report_diff_row *row)
{
	return r->diff->by_total ? &row->total : &row->self;
}

static bool is_shown(const struct report_diff_shown *r, const struct report_diff_row *row)
{
	const struct call_tree *st = pair_of(r);
	bool any = false;

	for (int side = 0; side < REPORT_SIDES; side++) {
		uint64_t amount = r->diff->by_total ? row->row->total[side] : row->row->self[side];

		any |= amount &&
			100.0 * (double)amount >=
				r->least_percent * (double)st->column[side].amount;
	}
	return any;
}

static const char *change_word(const struct report_change *c)
{
	return !c->beyond        ? ""
		: c->before == 0 ? "new"
		: c->after == 0  ? "gone"
		: c->change > 0  ? "more"
				 : "less";
}

/* ---- for people ---- */

static void put_quantity(struct text *out, const struct report_diff_shown *r, const struct style *s,
			 double v, bool share)
{
	if (share)
		text_add(out, "%.2f %%", 100 * v);
	else if (in_time(r))
		put_time(out, s, (uint64_t)(v + 0.5));
	else
		put_count(out, s, (uint64_t)(v + 0.5));
}

static void put_change(struct text *out, const struct report_diff_shown *r, const struct style *s,
		       const struct report_change *c)
{
	text_add(out, "%s", c->change > 0 ? "+" : c->change < 0 ? "-" : "");
	if (r->diff->shares)
		text_add(out, "%.2f", 100 * fabs(c->change));
	else
		put_quantity(out, r, s, fabs(c->change), false);
	if (c->half <= 0)
		return;
	text_add(out, " %s ", s->utf8 ? "±" : "+-");
	if (!isfinite(c->half))
		text_add(out, "?");
	else if (r->diff->shares)
		text_add(out, "%.2f", 100 * c->half);
	else
		put_quantity(out, r, s, c->half, false);
}

static void put_name_of(struct text *out, const struct report_diff_shown *r,
			const struct report_what *w, const struct style *s)
{
	const struct call_tree *st = pair_of(r);
	unsigned keys = r->diff->report.keys;

	if (keys & REPORT_FUNCTION)
		put_name(out, call_tree_name(st, w->function),
			 s->width > 100 ? (size_t)s->width - 76 : 24);
	if (keys & REPORT_FUNCTION && w->flags & CALL_TREE_INLINED)
		text_add(out, " (inlined)");
	if (keys & REPORT_LINE) {
		text_add(out, keys & REPORT_FUNCTION ? "  " : "");
		put_name(out, w->file ? call_tree_name(st, w->file) : "-", 40);
		if (w->file)
			text_add(out, ":%u", w->line);
	}
}

static void put_row(struct grid *g, const struct report_diff_shown *r,
		    const struct report_diff_row *row, const struct style *s)
{
	const struct report_change *c = main_change(r, row);
	unsigned keys = r->diff->report.keys;
	struct text t = { 0 };

	grid_row(g);
	put_quantity(&t, r, s, c->before, r->diff->shares);
	grid_next(g, true, INK_PLAIN, &t);
	put_quantity(&t, r, s, c->after, r->diff->shares);
	grid_next(g, true, INK_PLAIN, &t);
	put_change(&t, r, s, c);
	grid_next(g, true, c->beyond ? INK_STRONG : INK_FAINT, &t);
	text_add(&t, "%s", change_word(c));
	grid_next(g, false, c->beyond && c->change > 0 ? INK_CAREFUL : INK_PLAIN, &t);
	if (keys & REPORT_COMM) {
		put_name(&t, call_tree_name(pair_of(r), row->row->what.comm), 16);
		grid_next(g, false, INK_PLAIN, &t);
	}
	if (keys & REPORT_MODULE) {
		put_name(&t, call_tree_name(pair_of(r), row->row->what.module), 28);
		grid_next(g, false, INK_PLAIN, &t);
	}
	put_name_of(&t, r, &row->row->what, s);
	grid_next(g, false, INK_PLAIN, &t);
}

static void put_table(struct text *out, const struct report_diff_shown *r, const struct style *s)
{
	unsigned keys = r->diff->report.keys;
	struct grid g = { 0 };
	size_t shown = 0, left = 0;

	grid_row(&g);
	grid_title(&g, true, "before");
	grid_title(&g, true, "after");
	grid_title(&g, true, r->diff->shares ? "change in points" : "change");
	grid_title(&g, false, "");
	if (keys & REPORT_COMM)
		grid_title(&g, false, "command");
	if (keys & REPORT_MODULE)
		grid_title(&g, false, "module");
	grid_title(&g, false,
		   keys & REPORT_FUNCTION       ? "function"
			   : keys & REPORT_LINE ? "line"
						: "");
	for (size_t i = 0; i < r->diff->n; i++) {
		if (!is_shown(r, &r->diff->row[i]))
			continue;
		if (r->limit && shown == r->limit) {
			left++;
			continue;
		}
		put_row(&g, r, &r->diff->row[i], s);
		shown++;
	}
	grid_end(out, &g, s, 1);
	if (left)
		text_add(out, "\n %zu more %s (-n 0 shows all)\n", left,
			 left == 1 ? "row" : "rows");
	if (r->diff->report.hidden)
		text_add(out, "\n the filter leaves %zu rows out\n", r->diff->report.hidden);
}

/* Modules on one side only: mostly a build under another name. */
static void put_lone_modules(struct text *out, const struct report_diff_shown *r)
{
	static const char *const sides[] = { "before", "after" };
	const struct call_tree *st = pair_of(r);
	uint64_t(*sum)[REPORT_SIDES] = calloc(st->names.n + 1, sizeof(*sum));
	bool any = false;

	for (size_t i = 0; sum && i < r->diff->report.n; i++)
		for (int side = 0; side < REPORT_SIDES; side++)
			sum[r->diff->report.row[i].what.module][side] += r->diff->report.row[i]
										 .self[side];
	for (int side = 0; sum && r->diff->report.keys & REPORT_MODULE && side < REPORT_SIDES;
	     side++)
		for (uint32_t m = 1; m < st->names.n; m++) {
			if (sum[m][!side] || 100 * sum[m][side] < st->column[side].amount)
				continue;
			text_add(out, " only %s: ", sides[side]);
			put_name(out, call_tree_name(st, m), 60);
			text_add(out, "\n");
			any = true;
		}
	if (any)
		text_add(
			out,
			" If a program was renamed, --sort function still compares its functions.\n");
	free(sum);
}

/* After the number of lost ones: their share. */
static void put_lost(struct text *out, const struct report_diff_shown *r, int side,
		     const struct style *s)
{
	const struct samples_quality *q = &r->samples[side]->quality;

	if (!q->lost_samples && !q->lost)
		return;
	text_add(out, ", %s", ink_on(s, INK_CAREFUL));
	put_count(out, s, q->lost_samples ? q->lost_samples : q->lost);
	text_add(out, " lost (");
	put_percent(out, 100 * pair_of(r)->column[side].lost);
	text_add(out, ")%s", ink_off(s));
}

/* The requested sampling period or rate. */
static void put_often(struct text *out, const struct report_diff_shown *r, int side,
		      const struct style *s)
{
	const struct call_tree_column *c = &pair_of(r)->column[side];

	if (in_time(r) || c->asked.period) {
		text_add(out, "every ");
		put_quantity(out, r, s, (double)c->asked.period, false);
	} else {
		put_count(out, s, c->asked.rate_hz);
		text_add(out, " times a second");
	}
}

static enum report_side denser(const struct report_diff_shown *r)
{
	return r->diff->shares ? REPORT_SIDES : report_diff_denser(pair_of(r)->column);
}

static void put_price(struct text *out, const struct report_diff_shown *r, const struct style *s)
{
	enum report_side side = denser(r);

	if (side == REPORT_SIDES)
		return;
	text_add(out, " %sA sample was taken ", ink_on(s, INK_CAREFUL));
	put_often(out, r, REPORT_BEFORE, s);
	text_add(out, " before, and ");
	put_often(out, r, REPORT_AFTER, s);
	text_add(
		out,
		" after%s: an increase %s may be overhead of sampling, and is not judged.\n"
		" --normalise compares shares; to compare amounts, record both sides with the same sampling.\n",
		ink_off(s), side == REPORT_AFTER ? "after" : "before");
}

static void put_side(struct text *out, const struct report_diff_shown *r, int side,
		     const struct style *s)
{
	const struct samples *of = r->samples[side];
	const struct call_tree_column *c = &pair_of(r)->column[side];

	text_add(out, " %s ", side ? "after: " : "before:");
	escape(out, r->path[side], strlen(r->path[side]));
	text_add(out, ", ");
	put_name(out, call_tree_name(of->call_tree, of->call_tree->column[r->column[side]].name),
		 60);
	text_add(out, ": ");
	put_count(out, s, c->samples);
	text_add(out, c->samples == 1 ? " sample" : " samples");
	if (!of->quality.weightless) {
		text_add(out, ", ");
		put_quantity(out, r, s, (double)c->amount, false);
	}
	text_add(out, "%s", report_diff_exact(pair_of(r)->column) ? ", exact" : "");
	if (of->counted.why)
		text_add(
			out,
			"\n   amounts are from samples, although the recording has exact amounts: %s",
			of->counted.why);
	put_lost(out, r, side, s);
	if (of->quality.broke_off)
		text_add(
			out,
			"\n   %sthe recording broke off: its end may be missing, and this may cause the difference%s",
			ink_on(s, INK_CAREFUL), ink_off(s));
	if (of->quality.damage[0])
		text_add(out, "\n   %spartial:%s ", ink_on(s, INK_BAD), ink_off(s)),
			put_name(out, of->quality.damage, 0);
	text_add(out, "\n");
	report_partial_text(out, of, "   ", s);
}

/* Libraries choose code by the CPU, so a change may be of other code. */
static void put_cpus(struct text *out, const struct report_diff_shown *r, const struct style *s)
{
	const char *cpu[REPORT_SIDES];

	for (int side = 0; side < REPORT_SIDES; side++)
		cpu[side] = perfdata_features(r->samples[side]->file)->cpu_desc;
	if (!cpu[REPORT_BEFORE] || !cpu[REPORT_AFTER] ||
	    !strcmp(cpu[REPORT_BEFORE], cpu[REPORT_AFTER]))
		return;
	text_add(out, " %sThe CPUs differ:%s ", ink_on(s, INK_CAREFUL), ink_off(s));
	put_name(out, cpu[REPORT_BEFORE], 60);
	text_add(out, " before, ");
	put_name(out, cpu[REPORT_AFTER], 60);
	text_add(out, " after. Libraries choose code by the CPU.\n");
}

/* Rows that are by samples while others are exact. */
static void put_by_samples(struct text *out, const struct report_diff_shown *r)
{
	bool total = r->diff->by_total || r->samples[0]->quality.with_stacks ||
		r->samples[1]->quality.with_stacks,
	     some = false;

	if (!report_diff_exact(pair_of(r)->column) || r->diff->exact)
		return;
	for (size_t i = 0; i < r->diff->n; i++)
		some |= !r->diff->row[i].self.exact;
	text_add(out, " Amounts are exact: the engine counted every instruction%s%s.\n",
		 some ? " of code in files; amounts of other code are from samples" : "",
		 total ? "; with callees they are from samples" : "");
}

/* Exact totals, not by samples. */
static void put_counted(struct text *out, const struct report_diff_shown *r, const struct style *s)
{
	const struct call_tree_column *c = pair_of(r)->column;

	text_add(out, " (counted exactly: ");
	put_count(out, s, c[REPORT_BEFORE].total);
	text_add(out, " before, ");
	put_count(out, s, c[REPORT_AFTER].total);
	text_add(out, " after)\n");
}

/* Below the table. */
static void put_notes(struct text *out, const struct report_diff_shown *r, const struct style *s)
{
	const struct call_tree_column *c = pair_of(r)->column;
	size_t sure = 0;

	put_cpus(out, r, s);
	for (size_t i = 0; i < r->diff->n; i++)
		sure += main_change(r, &r->diff->row[i])->beyond;
	if (report_diff_too_much_lost(c))
		text_add(
			out,
			"\n %sToo many samples are lost to judge changes%s: more than half of those of a recording.\n",
			ink_on(s, INK_CAREFUL), ink_off(s));
	else if (r->diff->same)
		text_add(out, "\n The exact engine %s on both sides.\n",
			 r->diff->exact ? "counted the same" : "took the same samples");
	else if (r->diff->exact)
		text_add(
			out,
			"\n %zu of %zu rows changed. Amounts are exact: the engine counted every instruction.\n"
			" The variation between runs is not known from one recording of each.\n",
			sure, r->diff->n);
	else if (report_diff_census(c))
		text_add(
			out,
			"\n %zu of %zu rows changed. Every event is a sample on both sides: there is no sampling noise.\n"
			" The variation between runs is not known from one recording of each.\n",
			sure, r->diff->n);
	else
		text_add(
			out,
			"\n %zu of %zu rows changed by more than the sampling noise%s; at most 5 %% of these are expected by chance.\n"
			" The variation between runs is not known from one recording of each.\n",
			sure, r->diff->n,
			c[0].lost > 0 || c[1].lost > 0 ? " and the possible effect of the losses"
						       : "");
	put_by_samples(out, r);
	if (!r->diff->same && !r->diff->exact && !report_diff_census(c) &&
	    (call_tree_in_step(&c[0]) || call_tree_in_step(&c[1])))
		text_add(
			out,
			" %sSamples are a fixed number of events apart%s: if a loop is in step with this period, its rows may be wrong by any amount.\n",
			ink_on(s, INK_CAREFUL), ink_off(s));
	else if (!r->diff->same && !r->diff->exact && c[0].asked.repeats && c[1].asked.repeats &&
		 !report_diff_census(c))
		text_add(
			out,
			" This noise is that of independent samples; the exact engine takes one in each period, and its noise is at most this.\n");
	if (!report_diff_too_much_lost(c) && !r->diff->exact)
		put_price(out, r, s);
}

void report_diff_text(struct text *out, const struct report_diff_shown *r, const struct style *s)
{
	const struct report_change all = report_change_in_all(pair_of(r)->column);
	const struct call_tree_column *c = pair_of(r)->column;

	for (int side = 0; side < REPORT_SIDES; side++)
		put_side(out, r, side, s);
	if (!r->diff->shares && all.before > 0) {
		text_add(out, " in total: %s", all.change > 0 ? "+" : all.change < 0 ? "-" : "");
		put_percent(out, 100 * fabs(all.change) / all.before);
		if (report_diff_counted(c))
			put_counted(out, r, s);
		else
			text_add(out,
				 report_diff_too_much_lost(c)
					 ? ", not judged: too many samples are lost\n"
					 : denser(r) != REPORT_SIDES &&
						 (denser(r) == REPORT_AFTER) == (all.change > 0)
					 ? ", not judged: the two sides were sampled differently\n"
					 : all.beyond || r->diff->same || report_diff_census(c)
					 ? "\n"
					 : c[0].lost > 0 || c[1].lost > 0
					 ? ", within the noise and the losses\n"
					 : ", within the noise\n");
	}
	put_lone_modules(out, r);
	text_add(out, "\n");
	put_table(out, r, s);
	put_notes(out, r, s);
}

/* As in text. */
void report_diff_notes(struct text *out, const struct report_diff_shown *r)
{
	static const struct style style = { .thousands = true, .utf8 = true };

	put_lone_modules(out, r);
	put_notes(out, r, &style);
}
