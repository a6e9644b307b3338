/* SPDX-License-Identifier: MIT */
/*
 * Text output of counts. One row per number: the amount, its quality, the spread of the runs, its
 * meaning. Events that could not be counted are below the table, each reason once.
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "base/rows.h"
#include "base/signal_name.h"
#include "output/interval_view.h"
#include "output/escape.h"
#include "count/partial.h"
#include "profile/report/profile_view.h"
#include "stat/stat_view.h"
#include "launch/determinism_json.h"

enum {
	COL_KEY,
	COL_VALUE,
	COL_UNIT,
	COL_EVENT,
	COL_QUALITY,
	COL_SPREAD,
	COL_RANGE,
	COL_METRIC,
	COL_LIMITS,
	COLS
};
enum { DIGITS_MAX = 6, SMALLEST_MAX = 15 };

static bool is_time(const struct encoding *e)
{
	return !strcmp(e->unit, "ns");
}

/* The unit of a time in a table, common to all runs of a row. */
struct scale {
	double unit;
	const char *name;
	unsigned digits;
};

static struct scale scale_of(const struct encoding *e, uint64_t typical)
{
	if (is_time(e) && typical >= 10000000000)
		return (struct scale){ 1e9, "s", 3 };
	if (is_time(e) && typical >= 100000)
		return (struct scale){ 1e6, "ms", 2 };
	if (is_time(e))
		return (struct scale){ 1e3, "us", 1 };
	if (e->scale != 1 && e->scale != 0)
		return (struct scale){ 1 / e->scale, e->unit, 2 };
	return (struct scale){ 0, e->unit, 0 };
}

static void put_value(struct text *out, const struct style *s, struct scale sc, uint64_t n)
{
	if (sc.unit == 0)
		put_count(out, s, n);
	else
		put_real(out, s, (double)n / sc.unit, sc.digits);
}

void stat_quality(struct text *out, const struct stat_row *r)
{
	text_add(out, "%s", tare_quality_name(r->quality));
	if (r->quality == TARE_UNAVAILABLE || !r->without)
		return;
	text_add(out, ", %s", r->key.part ? "in part" : "");
	if (!r->key.part)
		partial_without(out, r->without);
}

static enum ink ink_of(enum tare_quality q)
{
	return q == TARE_UNAVAILABLE                      ? INK_BAD
		: q == TARE_SCALED || q == TARE_SIMULATED ? INK_CAREFUL
							  : INK_FAINT;
}

static void put_quality(struct text *out, const struct stat_row *r, const struct verdict *verdict)
{
	double percent = 100 * r->share;

	stat_quality(out, r);
	if (stat_with_overhead(r))
		text_add(out, " +engine");
	if (r->quality == TARE_SCALED || (r->of_core_type && r->quality != TARE_UNAVAILABLE)) {
		/* Never 100 %, which would claim that nothing was missed. */
		text_add(out,
			 percent > 99.9          ? " >99.9 %%"
				 : percent >= 10 ? " %.0f %%"
						 : " %.2g %%",
			 percent);
		if (r->of_core_type)
			text_add(out, " of its time");
	}
	if (r->quality == TARE_COUNTED && !r->added_work)
		trust_quality(out, verdict, r);
}

static void put_spread(struct text *out, const struct style *s, const struct stat_row *r)
{
	put_interval(out, s, r->interval, (double)r->low, (double)r->spread.median,
		     (double)r->high);
}

/* Empty if there is no spread. */
static bool all_equal(const struct stat_row *r)
{
	return r->quality == TARE_EXACT && r->spread.min == r->spread.max && r->low == r->high;
}

static void put_range(struct text *out, const struct style *s, const struct stat_row *r,
		      struct scale sc)
{
	if (r->spread.min == r->spread.max) {
		text_add(out, r->quality == TARE_EXACT ? "all %zu equal" : "all equal",
			 r->spread.n);
	} else {
		put_value(out, s, sc, r->spread.min);
		text_add(out, " %s ", s->utf8 ? "\u2026" : "..");
		put_value(out, s, sc, r->spread.max);
	}
	if (r->spread.outliers)
		text_add(out, ", %zu outlier%s", r->spread.outliers,
			 r->spread.outliers > 1 ? "s" : "");
}

/* As many digits as are significant given the interval, within limits. */
unsigned stat_metric_digits(const struct stat_metric *m)
{
	double width = m->high - m->low;
	unsigned digits = m->row->digits;

	while (width > 0 && digits < DIGITS_MAX && width * pow(10, digits) < 2)
		digits++;
	/* A value that is not 0 is not shown as 0.000. */
	while (m->value != 0 && digits < SMALLEST_MAX && fabs(m->value) * pow(10, digits) < 1)
		digits++;
	return digits;
}

static void put_metric(struct text *value, struct text *limits, const struct style *s,
		       const struct stat_metric *m)
{
	unsigned digits = stat_metric_digits(m);

	put_real(value, s, m->value, digits);
	text_add(value, "%s%s%s", m->row->percent ? " % " : " ", m->prefix, m->row->unit);
	if (m->high > m->low) {
		text_put(limits, "(", 1);
		put_real(limits, s, m->low, digits);
		text_add(limits, " %s ", s->utf8 ? "\u2026" : "..");
		put_real(limits, s, m->high, digits);
		text_put(limits, ")", 1);
	}
}

static bool is_shown(const struct stat_metric *m, size_t row)
{
	return m->beside == row && m->quality != TARE_UNAVAILABLE;
}

/* The metrics of a row: the first one on its line, others on separate lines below. */
static void add_metrics(struct grid *g, const struct stat_metrics *ms, size_t row,
			const struct style *s)
{
	bool first = true;

	for (size_t i = 0; ms && i < ms->n; i++) {
		struct text value = { 0 }, limits = { 0 };

		if (!is_shown(&ms->metric[i], row))
			continue;
		if (!first)
			grid_row(g);
		first = false;
		put_metric(&value, &limits, s, &ms->metric[i]);
		grid_put(g, COL_METRIC, INK_PLAIN, &value);
		grid_put(g, COL_LIMITS, INK_FAINT, &limits);
	}
}

/* Most of it is chosen by users: a name by prctl(2), a cgroup's folder. */
static void put_key(struct text *out, const struct stat_table *t, const struct stat_row *r,
		    bool with_cgroup)
{
	struct text key = { 0 };

	stat_key_name(&key, t, r);
	if (with_cgroup && r->key.cgroup)
		text_add(&key, "%s%s", key.len ? " " : "", r->key.cgroup);
	escape(out, key.s, key.len);
	text_free(&key);
}

static void add_row(struct grid *g, const struct stat_table *t, size_t i,
		    const struct stat_metrics *m, const struct style *s,
		    const struct stat_about *about)
{
	const struct stat_row *r = &t->row[i];
	const struct encoding *e = &t->enc[r->event];
	struct scale sc = scale_of(e, r->spread.median);
	struct text key = { 0 }, value = { 0 }, unit = { 0 }, name = { 0 }, quality = { 0 },
		    spread = { 0 }, range = { 0 };

	grid_row(g);
	put_key(&key, t, r, true);
	grid_put(g, COL_KEY, INK_PLAIN, &key);
	text_add(&name, "%s", e->name);
	if (!about->metrics_only) {
		if (r->quality == TARE_UNAVAILABLE) {
			text_add(&value, "-");
		} else {
			put_value(&value, s, sc, r->spread.median);
			text_add(&unit, "%s", sc.name);
			if ((r->spread.n > 1 && !all_equal(r)) || r->high > r->low)
				put_spread(&spread, s, r);
			if (r->spread.n > 1)
				put_range(&range, s, r, sc);
		}
		put_quality(&quality, r, trust_of(about->trust, r->event));
		grid_put(g, COL_VALUE, r->quality == TARE_UNAVAILABLE ? INK_BAD : INK_STRONG,
			 &value);
		grid_put(g, COL_UNIT, INK_PLAIN, &unit);
		grid_put(g, COL_QUALITY, ink_of(r->quality), &quality);
		grid_put(g, COL_SPREAD, INK_PLAIN, &spread);
		grid_put(g, COL_RANGE, r->spread.outliers ? INK_CAREFUL : INK_FAINT, &range);
	}
	grid_put(g, COL_EVENT, INK_PLAIN, &name);
	add_metrics(g, m, i, s);
}

/*
 * In a narrow window, the least important columns are dropped first, but never a quality other than
 * "counted".
 */
static struct grid new_grid(const struct stat_table *t)
{
	bool plain = true;

	for (size_t i = 0; i < t->n; i++)
		plain &= t->row[i].quality == TARE_COUNTED || t->enc[t->row[i].event].unavailable;
	return (struct grid){ .columns = COLS,
			      .right = { [COL_VALUE] = true, [COL_SPREAD] = true },
			      .least = { [COL_VALUE] = 16, [COL_UNIT] = 2, [COL_EVENT] = 16 },
			      .drop = { COL_RANGE, COL_LIMITS, plain ? COL_QUALITY : COL_METRIC,
					plain ? COL_METRIC : COL_SPREAD, COL_SPREAD },
			      .drops = 5 };
}

/* ---- around the table ---- */

static void put_heading(struct text *out, const struct stat_table *t,
			const struct stat_about *about, const struct style *s)
{
	text_add(out, "\n %s", ink_on(s, INK_STRONG));
	if (about->target)
		text_add(out, "%s", about->target);
	if (about->target && about->argv)
		text_add(out, " while ");
	if (about->argv)
		escape_command(out, (const char *const *)about->argv, SIZE_MAX);
	text_add(out, "%s", ink_off(s));
	unsigned runs = stat_runs_each(t, about);

	if (runs > 1)
		text_add(out, "   median of %u runs", runs);
	if (about->batches > 1u + about->clean_times)
		text_add(out, ", events split over %u rounds", about->batches);
	text_add(out, "\n\n");
}

static void put_time_row(struct grid *g, const struct stat_table *t, const char *name,
			 const struct spread *of, struct scale sc, const struct style *s)
{
	struct text value = { 0 }, unit = { 0 }, word = { 0 }, quality = { 0 }, spread = { 0 },
		    range = { 0 };
	const struct stat_row row = {
		.spread = *of, .low = of->low, .high = of->high, .interval = spread_interval(of->n)
	};
	bool mean;
	uint64_t typical = stat_typical_time(of, &mean);

	grid_row(g);
	put_value(&value, s, sc, typical);
	text_add(&unit, "%s", sc.name);
	text_add(&word, "%s%s", name, mean ? " (mean)" : "");
	if (of->n > 1 && !mean) {
		put_spread(&spread, s, &row);
		put_range(&range, s, &row, sc);
	}
	grid_put(g, COL_VALUE, INK_STRONG, &value);
	grid_put(g, COL_UNIT, INK_PLAIN, &unit);
	grid_put(g, COL_EVENT, INK_PLAIN, &word);
	if (t->times.added_work) {
		text_add(&quality, "+engine");
		grid_put(g, COL_QUALITY, INK_CAREFUL, &quality);
	}
	grid_put(g, COL_SPREAD, INK_PLAIN, &spread);
	grid_put(g, COL_RANGE, of->outliers ? INK_CAREFUL : INK_FAINT, &range);
}

enum { WIDTH_FOR_ONE_ROW = 80 };

/* For one run: in the row of the wall time, if the window is wide enough for the column. */
static void put_cpu_times(struct grid *g, const struct stat_times *times, struct scale sc,
			  const struct style *s)
{
	struct text words = { 0 };

	text_add(&words, "user ");
	put_value(&words, s, sc, times->user.median);
	text_add(&words, ", system ");
	put_value(&words, s, sc, times->system.median);
	grid_put(g, COL_METRIC, INK_PLAIN, &words);
}

static void put_times(struct grid *g, const struct stat_table *t, const struct style *s)
{
	const struct encoding ns = { .unit = "ns", .scale = 1 };
	const struct stat_times *times = &t->times;
	struct scale sc = scale_of(&ns, times->wall.median);
	bool one_row = times->has_command && times->wall.n <= 1 && s->width >= WIDTH_FOR_ONE_ROW;
	bool overhead = false;

	for (size_t i = 0; i < t->n; i++)
		overhead |= stat_with_overhead(&t->row[i]);
	/* one block for the rows that include engine overhead */
	if (t->n && !(overhead && times->added_work))
		grid_row(g);
	put_time_row(g, t, "wall", &times->wall, sc, s);
	if (one_row)
		put_cpu_times(g, times, sc, s);
	if ((double)times->counted.median < 0.999 * (double)times->wall.median)
		put_time_row(g, t, "counting was on", &times->counted, sc, s);
	if (times->has_command && !one_row) {
		put_time_row(g, t, "user", &times->user, sc, s);
		put_time_row(g, t, "system", &times->system, sc, s);
	}
}

/* The reason, with the event's name replaced if it contains it. */
static void put_why(struct text *out, const struct stat_table *t, const struct stat_row *r,
		    const char *as)
{
	const char *name = t->enc[r->event].name, *at = strstr(r->why, name);

	if (at)
		text_add(out, "%.*s%s%s", (int)(at - r->why), r->why, as, at + strlen(name));
	else
		text_add(out, "%s", r->why);
}

/* -v: only if the words are equal, too. */
static bool same_reason(const struct stat_table *t, const struct stat_row *a,
			const struct stat_row *b, bool verbose)
{
	struct text of_a = { 0 }, of_b = { 0 };
	bool same = a->quality == TARE_UNAVAILABLE && !strcmp(a->remedy, b->remedy);

	if (same) {
		put_why(&of_a, t, a, verbose ? t->enc[a->event].name : "");
		put_why(&of_b, t, b, verbose ? t->enc[b->event].name : "");
		same = !of_a.failed && !of_b.failed && of_a.len == of_b.len &&
			!memcmp(of_a.s, of_b.s, of_a.len);
	}
	text_free(&of_a);
	text_free(&of_b);
	return same;
}

/*
 * The unavailable rows, without repetition: thousands of them (one per thread) may have the same
 * reason.
 */
static const struct stat_row **unlike_rows(const struct stat_table *t, size_t *n)
{
	const struct stat_row **list = calloc(t->n + 1, sizeof(*list));

	*n = 0;
	for (size_t i = 0; list && i < t->n; i++) {
		const struct stat_row *r = &t->row[i];
		bool listed = r->quality != TARE_UNAVAILABLE;

		for (size_t k = *n; k-- && !listed;)
			listed = list[k]->event == r->event && !strcmp(list[k]->why, r->why) &&
				!strcmp(list[k]->remedy, r->remedy);
		if (!listed)
			list[(*n)++] = r;
	}
	return list;
}

/*
 * One line: the reason, without an explanation in brackets at its end, and the first part of the
 * remedy.
 */
static void put_briefly(struct text *out, const char *names, const char *why, const char *remedy,
			const struct style *s)
{
	const char *bracket = strstr(why, " (");
	size_t n = strlen(why), cut = bracket ? (size_t)(bracket - why) : n;
	struct text line = { 0 };

	if (!bracket || why[n - 1] != ')' || strchr(bracket, ')') != why + n - 1)
		cut = n;
	text_add(&line, "%s: %.*s", names, (int)cut, why);
	if (*remedy)
		text_add(&line, "; %.*s", (int)strcspn(remedy, ";"), remedy);
	put_wrapped(out, line.s ? line.s : "", sizeof(" unavailable  ") - 1, 3, (size_t)s->width);
	out->failed |= line.failed;
	text_free(&line);
}

/* -v: all of it. */
static void put_fully(struct text *out, const char *names, const char *why, const char *remedy,
		      const struct style *s)
{
	put_wrapped(out, names, 14, 14, (size_t)s->width);
	text_add(out, "   ");
	put_wrapped(out, why, 3, 3, (size_t)s->width);
	if (*remedy) {
		text_add(out, "   ");
		put_wrapped(out, remedy, 3, 3, (size_t)s->width);
	}
	text_put(out, "\n", 1);
}

/* Each reason once, with all its events. */
static void put_unavailable(struct text *out, const struct stat_table *t, bool verbose,
			    const struct style *s)
{
	size_t n;
	const struct stat_row **row = unlike_rows(t, &n);

	out->failed |= !row;
	for (size_t i = 0; i < n; i++) {
		const struct stat_row *r = row[i];
		struct text names = { 0 }, why = { 0 };
		bool said = false, several = false;

		for (size_t k = 0; k < i && !said; k++)
			said = same_reason(t, row[k], r, verbose);
		if (said)
			continue;
		for (size_t k = i; k < n; k++)
			if (same_reason(t, row[k], r, verbose) &&
			    (k == i || row[k]->event != row[k - 1]->event)) {
				text_add(&names, "%s%s", names.len ? ", " : "",
					 t->enc[row[k]->event].name);
				several |= strcmp(row[k]->why, r->why) != 0;
			}
		put_why(&why, t, r, several ? "them" : t->enc[r->event].name);
		text_add(out, " %sunavailable%s  ", ink_on(s, INK_BAD), ink_off(s));
		(verbose ? put_fully : put_briefly)(out, names.s ? names.s : "", why.s ? why.s : "",
						    r->remedy, s);
		text_free(&names);
		text_free(&why);
	}
	free(row);
}

static void put_asked_metrics(struct text *out, const struct stat_metrics *m, const struct style *s)
{
	for (size_t i = 0; m && i < m->n; i++)
		if (m->metric[i].quality == TARE_UNAVAILABLE)
			text_add(out, " %sunavailable%s  %s = %s\n   %s\n\n", ink_on(s, INK_BAD),
				 ink_off(s), m->metric[i].row->name, m->metric[i].row->formula,
				 m->metric[i].why);
}

static void put_note(struct text *out, const struct style *s, const char *words)
{
	text_put(out, " ", 1);
	put_wrapped(out, words, 1, 1, (size_t)s->width);
}

/* The conditions under which the command was started. */
static void put_launch(struct text *out, const struct stat_about *about, const struct style *s)
{
	const struct determinism *f = about->fixed;
	struct text words = { 0 };

	if (!f) {
		text_add(&words, "Plain launch%s: counts may vary with the memory layout.",
			 about->aslr ? ", with address randomisation" : "");
	} else if (determinism_had(f) == FIXED_LAYOUT && !f->missed) {
		text_add(
			&words,
			"The same launch each time: no address randomisation, environment padded to %zu bytes with "
			"%s. --launch plain does neither.",
			about->environment_bytes, about->padding);
	} else {
		text_add(&words, "Fixed in each run: ");
		determinism_names_had(&words, f);
		text_add(&words, ".");
		if (determinism_had(f) & FIXED(ENVIRONMENT))
			text_add(&words, " Environment and arguments: %zu bytes, padded with %s.",
				 about->environment_bytes, about->padding);
		if (determinism_had(f) & FIXED(ENV) && f->kept[0])
			text_add(&words, " Variables kept by name: %s.", f->kept);
	}
	put_note(out, s, words.failed ? "" : words.s);
	text_free(&words);
	for (unsigned i = 0; i < FIXED_REMARKS; i++)
		if (determinism_remark_shown(&words, f, i)) {
			text_add(&words, ".");
			put_note(out, s, words.failed ? "" : words.s);
			text_free(&words);
		}
}

static void put_stops(struct text *out, unsigned stops, const struct style *s)
{
	struct text words = { 0 };

	text_add(
		&words,
		"But: stopped at least %u time%s and continued. For each, up to 1 instruction less is counted per thread that was asleep "
		"in a system call, because the kernel restarts it.",
		stops, stops == 1 ? "" : "s");
	put_note(out, s, words.failed ? "" : words.s);
	text_free(&words);
}

static void put_left(struct text *out, const struct exact_left *left, const struct style *s)
{
	struct text words = { 0 };
	bool one = left->n == 1;

	text_add(&words, "But: %u process%s still running when the command ended", left->n,
		 one ? " was" : "es were");
	if (left->pid && row_fits(left->name))
		text_add(&words, ", %s", left->name);
	if (left->pid)
		text_add(&words, ", pid %d%s", (int)left->pid, one ? "" : ", among them");
	text_add(&words, ": counted up to there.");
	put_note(out, s, words.failed ? "" : words.s);
	text_free(&words);
}

/* Processes that are not counted completely, and why. */
static void put_partial(struct text *out, const struct exact_partial *p, const struct style *s)
{
	struct text words = { 0 };

	for (unsigned i = 0; partial_sentence(&words, p, i); i++) {
		put_note(out, s, words.failed ? "" : words.s);
		text_free(&words);
	}
}

enum { COMPARED_MANY = 100000, STEPPED_MANY = 1000 };

/* What made the run slow, if significant. */
static void put_slow(struct text *out, const struct exact_slow *slow, const struct style *s)
{
	struct text words = { 0 };

	if (slow->compared >= COMPARED_MANY) {
		text_add(&words, "Slow: ");
		put_count(&words, s, slow->compared);
		text_add(
			&words,
			" times a block of code was compared before it was executed, because it may change unnoticed (shared mappings, "
			"executable stacks).");
		put_note(out, s, words.failed ? "" : words.s);
		text_free(&words);
	}
	if (slow->stepped >= STEPPED_MANY) {
		text_add(&words, "Slow: ");
		put_count(&words, s, slow->stepped);
		text_add(&words, " instructions were executed by a single step each.");
		put_note(out, s, words.failed ? "" : words.s);
		text_free(&words);
	}
}

/* What the exact engine counted, and its overhead. */
static void put_exact_notes(struct text *out, const struct stat_table *t,
			    const struct stat_about *about, const struct style *s)
{
	bool exact = false, added = t->times.added_work;

	for (size_t i = 0; i < t->n; i++) {
		exact |= t->row[i].quality == TARE_EXACT;
		added |= t->row[i].added_work;
	}
	if (exact && (about->verbose || t->times.partial.n))
		put_note(
			out, s,
			t->times.partial.n
				? "exact: every instruction in user mode of the processes that the exact engine counted, up to the "
				  "command's end."
				: "exact: every instruction of the command and of all it started, in user mode, up to the "
				  "command's end, counted by the exact engine.");
	if (exact && t->times.partial.n)
		put_partial(out, &t->times.partial, s);
	if (exact)
		put_slow(out, &t->times.slow, s);
	if (exact && t->times.stops)
		put_stops(out, t->times.stops, s);
	if (exact && t->times.left.n)
		put_left(out, &t->times.left, s);
	if (added)
		put_note(
			out, s,
			"+engine: includes the overhead of the exact engine; --clean-times adds runs without it.");
	else if (exact && about->clean_times)
		put_note(out, s,
			 "All else is from further runs of the command, without the engine.");
}

static void put_status(struct text *out, int wait_status)
{
	char name[SIGNAL_NAME_ROOM];

	if (WIFSIGNALED(wait_status))
		text_add(out, "%s", signal_name(WTERMSIG(wait_status), name));
	else
		text_add(out, "exit %d", WEXITSTATUS(wait_status));
}

static bool failed_later(const struct stat_end *end)
{
	return stat_failed(end) && !end->never_began;
}

static bool never_began(const struct stat_end *end)
{
	return end->never_began;
}

/* The runs that ended this way, with each status once. */
static unsigned put_statuses(struct text *out, const struct stat_table *t,
			     bool (*so)(const struct stat_end *end))
{
	unsigned n = 0;

	for (unsigned k = 0; k < t->runs; k++) {
		bool said = false;

		if (!so(&t->end[k]))
			continue;
		for (unsigned i = 0; i < k && !said; i++)
			said = so(&t->end[i]) && t->end[i].wait_status == t->end[k].wait_status;
		if (!said && n)
			text_add(out, ", ");
		if (!said)
			put_status(out, t->end[k].wait_status);
		n++;
	}
	return n;
}

bool stat_never_began(struct text *out, const struct stat_table *t)
{
	struct text by = { 0 };
	unsigned n = put_statuses(&by, t, never_began);

	if (n && t->runs == 1)
		text_add(out, "the command was ended by %s before its first instruction", by.s);
	else if (n)
		text_add(out, "%u of %u runs ended before their first instruction, by %s%s", n,
			 t->runs, by.s, n < t->runs ? ": they are excluded" : "");
	text_free(&by);
	return n > 0;
}

/* How the runs ended, if a command did not end normally. */
static void put_ends(struct text *out, const struct stat_table *t, const struct style *s)
{
	struct text ways = { 0 }, words = { 0 };
	const struct stat_end *last = t->runs ? &t->end[t->runs - 1] : NULL;
	unsigned failed = put_statuses(&ways, t, failed_later), late = 0, stopped = 0;

	for (unsigned k = 0; k < t->runs; k++) {
		late += t->end[k].timed_out;
		stopped += t->end[k].stopped;
	}
	if (stat_never_began(&words, t))
		text_add(&words, ".%s", failed ? " " : "");
	if (failed && t->runs == 1)
		text_add(&words, "the command failed: %s.", ways.s);
	else if (failed)
		text_add(&words, "%u of %u runs failed (%s); their counts are among those above.",
			 failed, t->runs, ways.s);
	if (late && late == t->runs)
		text_add(&words, "%sended by the time limit.", words.len ? " " : "");
	else if (late)
		text_add(&words, "%s%u of %u runs ended by the time limit.", words.len ? " " : "",
			 late, t->runs);
	if (stopped)
		text_add(&words, "%sended by the control's stop.", words.len ? " " : "");
	if (t->by_signal && last->left_out && !last->never_began)
		text_add(&words, "%sthe last run was cut short by SIG%s and is excluded.",
			 words.len ? " " : "", sigabbrev_np(t->by_signal));
	else if (t->by_signal && !last->never_began)
		text_add(&words, "%scut short by SIG%s; these are the counts until then.",
			 words.len ? " " : "", sigabbrev_np(t->by_signal));
	if (words.len)
		put_note(out, s, words.s);
	text_free(&ways);
	text_free(&words);
}

/*
 * The raw encoding comes from the user, and the hardware does not report that it has no such event.
 */
static bool is_silent_raw(const struct stat_table *t, const struct stat_row *r)
{
	const struct encoding *e = &t->enc[r->event];

	return e->attr.type == PERF_TYPE_RAW && r->quality == TARE_COUNTED && r->spread.n &&
		r->spread.max == 0;
}

static void put_silent_raw(struct text *out, const struct stat_table *t, const struct style *s)
{
	struct text words = { 0 };

	for (size_t i = 0; i < t->n; i++)
		if (is_silent_raw(t, &t->row[i]) &&
		    (!i || t->row[i].event != t->row[i - 1].event || !words.len))
			text_add(&words, "%s%s", words.len ? ", " : "",
				 t->enc[t->row[i].event].name);

	if (words.len) {
		text_add(
			&words,
			": 0 all the time. An event that this CPU does not have counts 0 too: count it over a program "
			"that must cause it, or look for it in 'tare events'.");
		put_note(out, s, words.s);
	}
	text_free(&words);
}

/* The subtracted counts: medians of the runs. */
static void put_less(struct text *out, const struct stat_table *t, const struct style *s)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct stat_row *r = &t->row[i];
		struct text words = { 0 };

		if (!r->less || r->quality == TARE_UNAVAILABLE)
			continue;
		text_add(&words, "%s: ", t->enc[r->event].name);
		put_count(&words, s, r->counted);
		text_add(&words, " instructions:u less ");
		put_count(&words, s, r->taken);
		text_add(&words, " of %s, one for each interrupt (%s).", t->enc[r->less->by].name,
			 r->less->known);
		put_note(out, s, words.s ? words.s : "");
		text_free(&words);
	}
}

void stat_notes(struct text *out, const struct stat_table *t, const struct stat_about *about,
		const struct style *s)
{
	bool exact = about->engine->exact, scaled = false;
	size_t odd = 0, before = out->len;

	for (size_t i = 0; i < t->n; i++) {
		scaled |= t->row[i].quality == TARE_SCALED;
		odd += t->row[i].spread.outliers;
	}
	if (exact)
		put_exact_notes(out, t, about, s);
	if ((exact || about->fixed) &&
	    (about->verbose || !about->usual_launch || (about->fixed && about->fixed->missed)))
		put_launch(out, about, s);
	if (scaled) {
		text_add(out, " ");
		put_wrapped(out,
			    "scaled: counted for that part of the time and estimated for the rest; "
			    "the limits "
			    "assume half to twice the rate meanwhile. --no-multiplex refuses, "
			    "--split counts in "
			    "rounds instead.",
			    1, 1, (size_t)s->width);
	}
	if (odd && about->verbose) {
		text_add(out, " ");
		put_wrapped(
			out,
			"outliers are more than 3.5 robust deviations (1.4826 MAD) from the median.",
			1, 1, (size_t)s->width);
	}
	put_silent_raw(out, t, s);
	put_less(out, t, s);
	trust_notes(out, about->trust, t, s);
	put_ends(out, t, s);
	if (out->len > before)
		text_put(out, "\n", 1);
}

static void add_rows(struct grid *g, const struct stat_table *t, const struct stat_metrics *m,
		     const struct style *s, const struct stat_about *about)
{
	bool any = false, apart = false;

	for (size_t step = 0, i; stat_next_row(t, &step, &i);) {
		const struct stat_row *r = &t->row[i];

		if (r->quality == TARE_UNAVAILABLE && t->enc[r->event].unavailable)
			continue;
		if (stat_with_overhead(r) && any && !apart)
			grid_row(g);
		apart |= stat_with_overhead(r);
		any = true;
		add_row(g, t, i, m, s, about);
	}
}

void stat_text(struct text *out, const struct stat_table *t, const struct stat_metrics *m,
	       const struct stat_about *about, const struct style *s)
{
	struct grid g = new_grid(t);
	size_t table;

	put_heading(out, t, about, s);
	add_rows(&g, t, m, s, about);
	put_times(&g, t, s);
	grid_write(out, &g, s, 1);
	text_put(out, "\n", 1);
	table = out->len;
	put_unavailable(out, t, about->verbose, s);
	put_asked_metrics(out, m, s);
	stat_notes(out, t, about, s);
	if (out->len > table && !out->failed && out->s[out->len - 2] != '\n')
		text_put(out, "\n", 1);
	grid_free(&g);
	if (about->explained)
		explain_text(out, about->explained, s);
	if (about->profile)
		profile_text(out, about->profile, about->profile_limit, s);
}

/* ---- intervals: fixed columns, because the next line is not known yet ---- */

void stat_text_interval(struct text *out, const struct stat_table *t, const struct stat_metrics *m,
			const struct stat_about *about, const struct style *s, bool first)
{
	if (first)
		text_add(out, "%s#   time (s)  %20s %-5s %-28s %-12s%s\n", ink_on(s, INK_FAINT),
			 "count", "", "event", "quality", ink_off(s));
	for (size_t n = 0, i; stat_next_row(t, &n, &i);) {
		const struct stat_row *r = &t->row[i];
		const struct encoding *e = &t->enc[r->event];
		struct scale sc = scale_of(e, r->spread.median);
		struct text key = { 0 }, value = { 0 }, quality = { 0 }, meaning = { 0 },
			    limits = { 0 };

		if (e->unavailable && !first) /* reported once */
			continue;
		put_key(&key, t, r, false);
		if (r->quality == TARE_UNAVAILABLE)
			text_add(&value, "-");
		else
			put_value(&value, s, sc, r->spread.median);
		put_quality(&quality, r, NULL);
		for (size_t k = 0; m && k < m->n && !meaning.len; k++)
			if (is_shown(&m->metric[k], i))
				put_metric(&meaning, &limits, s, &m->metric[k]);
		text_add(out, "%5" PRIu64 ".%06" PRIu64 "  %s%s%*s %-5s %-28s %s%-12s%s %s\n",
			 t->time_ns / 1000000000, t->time_ns % 1000000000 / 1000,
			 key.s ? key.s : "", key.len ? " " : "",
			 (int)(key.len >= 19 ? 1 : 20 - (key.len ? key.len + 1 : 0)),
			 value.s ? value.s : "", r->quality == TARE_UNAVAILABLE ? "" : sc.name,
			 e->name, ink_on(s, ink_of(r->quality)), quality.s ? quality.s : "",
			 ink_off(s),
			 r->quality == TARE_UNAVAILABLE || r->without ? r->why
				 : meaning.s                          ? meaning.s
								      : "");
		text_free(&key);
		text_free(&value);
		text_free(&quality);
		text_free(&meaning);
		text_free(&limits);
	}
	(void)about;
}
