/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench/bench_view.h"
#include "output/sparkline.h"

enum { NAME, VALUE, SPREAD, RANGE, SHAPE, ORDER, BYTE, COLUMNS };
enum { BINS = 12, SERIES = 20, ZEROS_NAMED = 8 };

/* Number of digits that are likely to be significant: 1,234  3.00  0.0125. */
static unsigned digits_of(double v)
{
	double size = fabs(v);

	return v == rint(v) && size < 1e15 ? 0
		: size >= 1000             ? 0
		: size >= 100              ? 1
		: size >= 1                ? 2
					   : 4;
}

static void put_value(struct text *out, const struct style *s, double v)
{
	put_real(out, s, v, digits_of(v));
}

/*
 * Two numbers of the same kind, with the digits of the one that has more; at most two decimals from
 * 1 on.
 */
static void put_both(struct text *out, const struct style *s, double a, const char *between,
		     double b)
{
	unsigned digits = digits_of(a) > digits_of(b) ? digits_of(a) : digits_of(b);

	if (digits > 2 && (fabs(a) >= 1 || fabs(b) >= 1))
		digits = 2;
	put_real(out, s, a, digits);
	text_add(out, "%s", between);
	put_real(out, s, b, digits);
}

/* "exact/loads/" is the name to type; the report shows "loads". */
static const char *short_name(const struct bench_counter *c, char *room, size_t size)
{
	size_t n = strlen(c->name);

	if (c->how == BENCH_CHAIN) {
		snprintf(room, size, "%.150s (%s)", c->name, bench_quality(c));
		return room;
	}
	if (strncmp(c->name, "exact/", 6) || n < 8 || c->name[n - 1] != '/')
		return c->name;
	snprintf(room, size, "%.*s", (int)(n - 7), c->name + 6);
	return room;
}

/* The heading of a counter's row: its name, and the unit if it does not count events. */
static const char *row_name(const struct bench_counter *c, char *room, size_t size)
{
	if (strncmp(c->name, "task-clock", 10) && strncmp(c->name, "cpu-clock", 9))
		return short_name(c, room, size);
	snprintf(room, size, "%s ns", c->name);
	return room;
}

/* Constant values have all digits. */
static void cell_value(struct grid *g, unsigned column, enum ink ink, const struct style *s,
		       double v, bool sure)
{
	struct text t = { 0 };

	if (sure && v != rint(v))
		put_real(&t, s, v, 4);
	else
		put_value(&t, s, v);
	grid_put(g, column, ink, &t);
}

static double quantile(const struct bench_stat *st, double q)
{
	return st->sorted[(size_t)(q * (double)(st->n - 1))];
}

/*
 * A histogram of the runs, from the minimum to the 95th percentile: a few interrupted runs would
 * hide the rest.
 */
static void cell_shape(struct grid *g, const struct style *s, const struct bench_stat *st)
{
	double count[BINS] = { 0 }, low = st->min, high = quantile(st, 0.95);
	struct text t = { 0 };

	for (size_t i = 0; i < st->n && high > low; i++)
		if (st->run[i] <= high)
			count[(size_t)((st->run[i] - low) / (high - low) * (BINS - 0.001))]++;
	if (high > low)
		put_sparkline(&t, count, BINS, BINS, s);
	grid_put(g, SHAPE, INK_PLAIN, &t);
}

static void cell_order(struct grid *g, const struct style *s, const struct bench_stat *st)
{
	double *v = calloc(st->n, sizeof(*v)), high = quantile(st, 0.95);
	struct text t = { 0 };

	for (size_t i = 0; v && i < st->n; i++)
		v[i] = st->run[i] > high ? high : st->run[i];
	if (v && high > st->min)
		put_sparkline(&t, v, st->n, SERIES, s);
	grid_put(g, ORDER, INK_FAINT, &t);
	free(v);
}

static void cell_spread(struct grid *g, const struct style *s, const struct bench_stat *st,
			enum tare_quality quality)
{
	struct text t = { 0 };

	if (st->constant) {
		text_add(&t, "%s", quality == TARE_EXACT ? "exact, every run" : "every run");
	} else if (isnan(st->low)) {
		text_add(&t, "too few to say");
	} else {
		put_both(&t, s, st->low, s->utf8 ? " … " : " .. ", st->high);
	}
	grid_put(g, SPREAD, INK_FAINT, &t);
}

static void cell_range(struct grid *g, const struct style *s, const struct bench_stat *st)
{
	struct text t = { 0 };

	if (!st->constant)
		put_both(&t, s, st->min, s->utf8 ? " … " : " .. ", st->max);
	grid_put(g, RANGE, INK_PLAIN, &t);
}

static bool is_nothing(const struct bench_stat *st)
{
	return st->constant && st->value == 0;
}

static void heading(struct grid *g, bool bytes)
{
	static const char *const words[] = {
		[NAME] = "",          [VALUE] = "per op",       [SPREAD] = "within, by 95 %",
		[RANGE] = "all runs", [SHAPE] = "distribution", [ORDER] = "runs in order"
	};

	grid_row(g);
	for (unsigned c = 0; c < BYTE; c++)
		grid_word(g, c, INK_FAINT, words[c]);
	if (bytes)
		grid_word(g, BYTE, INK_FAINT, "per byte");
}

static void variant(struct text *out, const struct bench_about *b, size_t v, const struct style *s)
{
	const struct bench_result *r = b->result;
	struct grid g = { .columns = COLUMNS,
			  .right = { [VALUE] = true, [BYTE] = true },
			  .least = { [VALUE] = 9 },
			  .drop = { ORDER, RANGE, SHAPE },
			  .drops = 3 };
	bool heads = false;
	struct text zero = { 0 };
	size_t zeros = 0, exact = 0;
	char room[176];

	text_add(out, "%s%s%s", ink_on(s, INK_STRONG), b->plan->variant[v].name, ink_off(s));
	if (r->ops[v]) {
		text_add(out, "%s  ", ink_on(s, INK_FAINT));
		put_count(out, s, r->ops[v]);
		text_add(out, " operation%s a run", r->ops[v] == 1 ? "" : "s");
		if (r->rounds[v] > 1) {
			text_add(out, ", by the clock ");
			put_count(out, s, r->rounds[v]);
			text_add(out, " rounds of them");
		}
		if (r->bytes[v]) {
			text_add(out, ", ");
			put_count(out, s, r->bytes[v]);
			text_add(out, " bytes");
		}
		text_add(out, "%s", ink_off(s));
	}
	text_add(out, "\n");
	for (size_t c = 0; c < r->n_counters; c++) {
		const struct bench_stat *st = bench_stat_of(b->stats, v, c);

		if (r->counter[c].quality == TARE_UNAVAILABLE)
			continue;
		if (!b->all && is_nothing(st)) {
			text_add(&zero, "%s%s", zeros++ ? ", " : "",
				 short_name(&r->counter[c], room, sizeof(room)));
			continue;
		}
		if (!heads)
			heading(&g, r->bytes[v] != 0);
		heads = true;
		exact += r->counter[c].how == BENCH_EXACT;
		grid_row(&g);
		grid_word(&g, NAME, INK_PLAIN, row_name(&r->counter[c], room, sizeof(room)));
		cell_value(&g, VALUE, st->value < 0 ? INK_CAREFUL : INK_STRONG, s, st->value,
			   st->constant);
		cell_spread(&g, s, st, r->counter[c].quality);
		cell_range(&g, s, st);
		cell_shape(&g, s, st);
		cell_order(&g, s, st);
		if (r->bytes[v])
			cell_value(&g, BYTE, INK_PLAIN, s,
				   st->value *
					   (r->ops[v] ? (double)r->ops[v] : 1 / st->pairs_per_op) /
					   (double)r->bytes[v],
				   st->constant);
	}
	grid_end(out, &g, s, 2);
	if (zeros)
		text_add(out, "  %s0 in every run: %s%s\n", ink_on(s, INK_FAINT),
			 zeros <= ZEROS_NAMED ? zero.s
				 : exact ? "every other class of instructions (--all names them)"
					 : "instructions, of every class",
			 ink_off(s));
	text_free(&zero);
	text_add(out, "\n");
}

/* "tsc: 12.3 % less than A, +- 0.4 %, p = 0.0001" */
static void verdicts(struct text *out, const struct bench_about *b, size_t v, const struct style *s)
{
	const struct bench_result *r = b->result;

	char room[176];

	text_add(out, "%s%s%s against %s\n", ink_on(s, INK_STRONG), b->plan->variant[v].name,
		 ink_off(s), b->plan->variant[0].name);
	for (size_t c = 0; c < r->n_counters; c++) {
		const struct bench_verdict *d = bench_verdict_of(b->stats, v, c);

		if (r->counter[c].quality == TARE_UNAVAILABLE ||
		    (!b->all && is_nothing(bench_stat_of(b->stats, v, c)) &&
		     is_nothing(bench_stat_of(b->stats, 0, c))))
			continue;
		text_add(out, "  %-20s ", short_name(&r->counter[c], room, sizeof(room)));
		if (!d->tested) {
			text_add(out,
				 d->blocks < 2 ? "not compared: at least ten runs are needed\n"
					       : "not compared: at least %d baselines are needed\n",
				 BENCH_LEAST);
			continue;
		}
		if (!d->beyond) {
			text_add(out,
				 d->change == 0 && d->half == 0 ? "the same"
								: "no difference beyond the noise");
			if (d->half > 0) {
				text_add(out, ": ");
				put_both(out, s, d->change, s->utf8 ? " ± " : " +- ", d->half);
			}
		} else {
			text_add(out, "%s%s%s by ", ink_on(s, INK_STRONG),
				 d->change < 0 ? "less" : "more", ink_off(s));
			if (d->half > 0)
				put_both(out, s, fabs(d->change), s->utf8 ? " ± " : " +- ",
					 d->half);
			else
				put_value(out, s, fabs(d->change));
			if (isfinite(d->percent))
				text_add(out, " (%.*f %%)", fabs(d->percent) >= 100 ? 0 : 1,
					 fabs(d->percent));
		}
		if (d->half > 0)
			text_add(out, d->p < 0.0001 ? ", p < 0.0001" : ", p = %.4f", d->p);
		else if (d->beyond)
			text_add(out, ", in every run");
		text_add(out, "\n");
	}
	text_add(out, "\n");
}

/* "cycles:u: agree: 0.01 +- 0.02, p = 0.3", perf's value minus the registers'. */
static void cross(struct text *out, const struct bench_about *b, size_t v, const struct style *s)
{
	const struct bench_result *r = b->result;

	text_add(out, "%s%s%s: perf's less the registers'\n", ink_on(s, INK_STRONG),
		 b->plan->variant[v].name, ink_off(s));
	for (size_t c = 0; c < r->n_counters; c++) {
		const struct bench_verdict *d = &b->stats->cross[v * r->n_counters + c];

		if (bench_by_perf(r, c) == SIZE_MAX)
			continue;
		text_add(out, "  %-20s %s%s%s", r->counter[c].name,
			 ink_on(s, d->beyond ? INK_CAREFUL : INK_PLAIN), bench_cross_name(d),
			 ink_off(s));
		if (d->tested && d->half > 0) {
			text_add(out, ": ");
			put_both(out, s, d->change, s->utf8 ? " ± " : " +- ", d->half);
			text_add(out, d->p < 0.0001 ? ", p < 0.0001" : ", p = %.4f", d->p);
		}
		text_add(out, "%s\n", d->tested ? "" : ": at least ten runs are needed");
	}
	text_add(out, "\n");
}

static void unavailable(struct text *out, const struct bench_result *r, const struct style *s)
{
	for (size_t c = 0; c < r->n_counters; c++)
		if (r->counter[c].quality == TARE_UNAVAILABLE) {
			text_add(out, "  %s%s: unavailable%s: %s\n", ink_on(s, INK_CAREFUL),
				 r->counter[c].name, ink_off(s), r->counter[c].why);
			if (r->counter[c].remedy[0])
				text_add(out, "    %s\n", r->counter[c].remedy);
		}
}

/*
 * The overhead of a pair of marks, for each counter that was not 0: it is already subtracted from
 * the results.
 */
static void costs(struct text *out, const struct bench_about *b, const struct style *s)
{
	const struct bench_result *r = b->result;
	bool any = false;
	char room[176];

	for (size_t c = 0; c < r->n_counters; c++) {
		const struct bench_stat *st = bench_stat_of(b->stats, 0, c);
		const char *name = short_name(&r->counter[c], room, sizeof(room));

		if (r->counter[c].quality == TARE_UNAVAILABLE || st->base == 0 ||
		    (r->counter[c].how == BENCH_EXACT && strncmp(name, "instr", 5)))
			continue;
		text_add(out, "%s",
			 any ? ", " : " Already taken off, for each pair of start and stop: ");
		put_value(out, s, st->base);
		text_add(out, " %s", name);
		any = true;
	}
	if (any)
		text_add(out, ".");
}

static void conditions(struct text *out, const struct bench_about *b, const struct style *s)
{
	const struct bench_plan *p = b->plan;

	put_count(out, s, p->runs);
	text_add(out, " run%s%s after ", p->runs == 1 ? "" : "s", p->n_variants > 1 ? " each" : "");
	put_count(out, s, p->warmup);
	text_add(out, " of warm-up");
	if (p->n_variants > 1 && p->shuffle)
		text_add(out, ", shuffled (--seed %llu)", (unsigned long long)p->seed);
	else if (p->n_variants > 1)
		text_add(out, ", interleaved (A B B A)");
	if (p->cold)
		text_add(out,
			 p->cold == BENCH_FLUSH ? ", buffers flushed before each"
						: ", caches emptied before each");
	if (b->result->cpu >= 0)
		text_add(out, ", on CPU %d", b->result->cpu);
	text_add(out, ".");
	costs(out, b, s);
}

void bench_text(struct text *out, const struct bench_about *b, const struct style *s)
{
	const size_t width = (size_t)(s->width > 120 ? 120 : s->width);
	struct text t = { 0 };

	for (size_t v = 0; v < b->plan->n_variants; v++)
		variant(out, b, v, s);
	for (size_t v = 1; v < b->plan->n_variants; v++)
		verdicts(out, b, v, s);
	for (size_t v = 0; b->plan->cross && v < b->plan->n_variants; v++)
		cross(out, b, v, s);
	unavailable(out, b->result, s);
	conditions(&t, b, s);
	out->failed |= t.failed;
	if (t.s)
		put_wrapped(out, t.s, 0, 0, width);
	text_free(&t);
	for (const char *const *remark = b->remarks; *remark; remark++)
		put_wrapped(out, *remark, 0, 0, width);
}
