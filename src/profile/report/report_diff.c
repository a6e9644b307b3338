/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/path.h"
#include "profile/report/report_diff.h"
#include "statistics/student_t.h"

/* ---- two profiles as one ---- */

struct pairing {
	struct call_tree *to;
	const struct call_tree *from;
	uint32_t *frame, *node, *task; /* their indices in `to` */
	uint32_t side, column;
	unsigned keys;
};

static uint32_t pair_name(const struct pairing *p, uint32_t name)
{
	return call_tree_add_name(p->to, call_tree_name(p->from, name));
}

static uint32_t pair_frame(const struct pairing *p, const struct call_tree_frame *f)
{
	struct call_tree_frame g = { .function = pair_name(p, f->function), .flags = f->flags };

	if (p->keys & REPORT_MODULE)
		g.module = call_tree_add_name(p->to, path_base(call_tree_name(p->from, f->module)));
	if (p->keys & REPORT_LINE) {
		g.file = pair_name(p, f->file);
		g.line = f->line;
	}
	return g.function == WORDS_NONE || g.module == WORDS_NONE || g.file == WORDS_NONE
		? SET_NONE
		: call_tree_add_frame(p->to, &g);
}

static bool pair_frames(const struct pairing *p)
{
	size_t n;
	const struct call_tree_frame *frame = call_tree_frames(p->from, &n);

	for (size_t i = 0; i < n; i++) {
		p->frame[i] = pair_frame(p, &frame[i]);
		if (p->frame[i] == SET_NONE)
			return false;
	}
	return true;
}

/* A parent's number is less than its children's. */
static bool pair_nodes(const struct pairing *p)
{
	size_t nodes;
	const struct call_tree_node *node = call_tree_nodes(p->from, &nodes);

	p->node[0] = 0;
	for (size_t i = 1; i < nodes; i++) {
		p->node[i] = call_tree_add_node(p->to, p->node[node[i].parent],
						p->frame[node[i].frame]);
		if (p->node[i] == SET_NONE)
			return false;
	}
	return true;
}

static bool pair_tasks(const struct pairing *p)
{
	size_t tasks;
	const struct call_tree_task *task = call_tree_tasks(p->from, &tasks);

	for (size_t i = 0; i < tasks; i++) {
		uint32_t comm = p->keys & REPORT_COMM ? pair_name(p, task[i].comm) : 0;

		p->task[i] = comm == WORDS_NONE ? SET_NONE : call_tree_add_task(p->to, 0, 0, comm);
		if (p->task[i] == SET_NONE)
			return false;
	}
	return true;
}

static int pair_one(struct pairing *p, struct tare_error *err)
{
	size_t frames, nodes, tasks, rows;
	const struct call_tree_row *row = call_tree_rows(p->from, &rows);
	int ret = 0;

	call_tree_frames(p->from, &frames);
	call_tree_nodes(p->from, &nodes);
	call_tree_tasks(p->from, &tasks);
	p->frame = calloc(frames + 1, sizeof(*p->frame));
	p->node = calloc(nodes, sizeof(*p->node));
	p->task = calloc(tasks + 1, sizeof(*p->task));
	if (!p->frame || !p->node || !p->task || !pair_frames(p) || !pair_nodes(p) ||
	    !pair_tasks(p))
		ret = tare_fail_nomem(err);
	for (size_t i = 0; ret == 0 && i < rows; i++) {
		struct call_tree_row r = { p->node[row[i].node], p->task[row[i].task], p->side, 0,
					   row[i].samples,       row[i].amount };

		if (row[i].column == p->column)
			ret = call_tree_count(p->to, &r, 0, err);
	}
	free(p->node);
	free(p->task);
	return ret;
}

/* A frame has exact amounts if it has them on both sides. */
static bool pair_by_samples(const struct pairing p[REPORT_SIDES])
{
	size_t n;

	if (!p[REPORT_BEFORE].from->by_samples || !p[REPORT_AFTER].from->by_samples)
		return true;
	p->to->by_samples = calloc(p->to->frame_set.n + 1, sizeof(*p->to->by_samples));
	if (!p->to->by_samples)
		return false;
	for (int side = 0; side < REPORT_SIDES; side++) {
		call_tree_frames(p[side].from, &n);
		for (size_t i = 0; i < n; i++)
			p->to->by_samples[p[side].frame[i]] |= p[side].from->by_samples[i];
	}
	return true;
}

struct call_tree *report_pair(const struct call_tree *const from[REPORT_SIDES],
			      const uint32_t column[REPORT_SIDES], unsigned keys,
			      struct tare_error *err)
{
	static const char *const names[] = { "before", "after" };
	struct call_tree *to = call_tree_new(err);
	struct pairing p[REPORT_SIDES] = { 0 };
	int ret = to ? 0 : -ENOMEM;

	for (uint32_t side = 0; ret == 0 && side < REPORT_SIDES; side++)
		if (call_tree_add_column(
			    to, names[side],
			    call_tree_name(from[side], from[side]->column[column[side]].unit)) ==
		    SET_NONE)
			ret = tare_fail_nomem(err);
	for (uint32_t side = 0; ret == 0 && side < REPORT_SIDES; side++) {
		const struct call_tree_column *c = &from[side]->column[column[side]];

		p[side] = (struct pairing){ .to = to,
					    .from = from[side],
					    .side = side,
					    .column = column[side],
					    .keys = keys };
		ret = pair_one(&p[side], err);
		to->column[side].samples = c->samples;
		to->column[side].amount = c->amount;
		to->column[side].counted = c->counted;
		to->column[side].sampled = c->sampled;
		to->column[side].squares = c->squares;
		to->column[side].skids = c->skids;
		to->column[side].lost = c->lost;
		to->column[side].asked = c->asked;
		to->column[side].has_total = c->has_total;
		to->column[side].total = c->total;
	}
	if (ret == 0 && report_diff_exact(to->column) && !pair_by_samples(p))
		ret = tare_fail_nomem(err);
	for (int side = 0; side < REPORT_SIDES; side++)
		free(p[side].frame);
	if (ret == 0)
		return to;
	call_tree_free(to);
	return NULL;
}

/* ---- the noise of sampling ---- */

/*
 * The amount of an average sample, weighted by amount: amount / weight is the number of equal
 * samples with the same precision.
 */
static double weight(const struct call_tree_column *c)
{
	uint64_t amount = call_tree_sampled(c);

	return amount && c->squares > 0 ? c->squares / (double)amount : 1;
}

/*
 * The number of samples of an event is a count: its square root has the same variance, 1/4,
 * whatever its size, so two counts are compared by their roots, and two shares by their arcsines.
 * Adding 3/8 corrects small counts.
 * Source: Anscombe, "The transformation of Poisson, binomial and negative-binomial data",
 * Biometrika 35, 1948.
 */
static double score(const struct call_tree_column c[REPORT_SIDES], double a, double b, bool shares)
{
	double w[] = { weight(&c[0]), weight(&c[1]) },
	       n[] = { (double)call_tree_sampled(&c[0]) / w[0],
		       (double)call_tree_sampled(&c[1]) / w[1] };

	if (!shares)
		return 2 * (sqrt(b + 0.375 * w[1]) - sqrt(a + 0.375 * w[0])) / sqrt(w[0] + w[1]);
	if (n[0] <= 0 || n[1] <= 0)
		return 0;
	return 2 *
		(asin(sqrt((b / w[1] + 0.375) / (n[1] + 0.75))) -
		 asin(sqrt((a / w[0] + 0.375) / (n[0] + 0.75)))) /
		sqrt(1 / (n[0] + 0.5) + 1 / (n[1] + 0.5));
}

/* The amount of the lost samples, if they are like the others; INFINITY: all are lost. */
static double lost_amount(const struct call_tree_column *c)
{
	return c->lost < 1 ? (double)c->amount * c->lost / (1 - c->lost) : INFINITY;
}

/*
 * The largest change, up or down, that lost samples can explain: all of them may belong to this
 * row, or none.
 */
static double missing_margin(const struct call_tree_column column[REPORT_SIDES], bool shares)
{
	return shares ? column[0].lost + column[1].lost
		      : fmax(lost_amount(&column[0]), lost_amount(&column[1]));
}

bool report_diff_too_much_lost(const struct call_tree_column column[REPORT_SIDES])
{
	return column[0].lost > REPORT_DIFF_LOST || column[1].lost > REPORT_DIFF_LOST;
}

/*
 * Ratio of the sampling densities: as requested if both sides requested the same way, else as
 * observed.
 */
static double after_by_before(const struct call_tree_column c[REPORT_SIDES])
{
	if (c[0].asked.period && c[1].asked.period)
		return (double)c[0].asked.period / (double)c[1].asked.period;
	if (c[0].asked.rate_hz && c[1].asked.rate_hz)
		return (double)c[1].asked.rate_hz / (double)c[0].asked.rate_hz;
	if ((c[0].asked.period || c[0].asked.rate_hz) &&
	    (c[1].asked.period || c[1].asked.rate_hz) && c[0].samples && c[1].amount)
		return (double)c[0].amount / (double)c[0].samples * (double)c[1].samples /
			(double)c[1].amount;
	return 1;
}

enum report_side report_diff_denser(const struct call_tree_column column[REPORT_SIDES])
{
	const double alike = 1.01;
	double more = after_by_before(column);

	if (!column[0].asked.costs || !column[1].asked.costs)
		return REPORT_SIDES;
	return more > alike ? REPORT_AFTER : more < 1 / alike ? REPORT_BEFORE : REPORT_SIDES;
}

/*
 * On the side with more samples an increase may be the cost of sampling itself, which was not
 * measured.
 */
static bool may_be_the_price(const struct call_tree_column column[REPORT_SIDES], double change,
			     bool shares)
{
	enum report_side denser = report_diff_denser(column);

	return !shares && denser != REPORT_SIDES &&
		(denser == REPORT_AFTER ? change > 0 : change < 0);
}

/* The sampling error of one side's share. */
static double sampled_margin(struct call_tree_column c, double share)
{
	c.lost = 0;
	return report_margin(&c, share);
}

struct report_change report_change(const struct call_tree_column column[REPORT_SIDES],
				   uint64_t before, uint64_t after, bool shares)
{
	double a = (double)before, b = (double)after, wa = weight(&column[0]),
	       wb = weight(&column[1]);
	struct report_change c = { a, b, b - a, 1.96 * sqrt(a * wa + b * wb), 1, 1, false, false };
	double lost = missing_margin(column, shares);

	if (shares) {
		c.before = column[0].amount ? a / (double)column[0].amount : 0;
		c.after = column[1].amount ? b / (double)column[1].amount : 0;
		c.change = c.after - c.before;
		c.half = hypot(sampled_margin(column[0], c.before),
			       sampled_margin(column[1], c.after));
	}
	c.half += lost;
	if (call_tree_census(&column[0]) && call_tree_census(&column[1])) {
		c.half = 0;
		c.p = c.q = c.change == 0;
		return c;
	}
	/*
	 * Keeps the interval and p consistent: both use the change minus what lost samples can
	 * explain.
	 */
	if (fabs(c.change) > lost && !report_diff_too_much_lost(column) &&
	    !may_be_the_price(column, c.change, shares))
		c.p = c.q = erfc(fabs(score(column, a, b, shares)) * (1 - lost / fabs(c.change)) *
				 M_SQRT1_2);
	return c;
}

/* Amounts that both sides counted exactly: no part of the change is chance. */
static struct report_change exact_change(const struct call_tree_column column[REPORT_SIDES],
					 uint64_t before, uint64_t after, bool shares)
{
	double a = (double)before, b = (double)after;
	struct report_change c = { .exact = true };

	c.before = !shares ? a : column[0].amount ? a / (double)column[0].amount : 0;
	c.after = !shares ? b : column[1].amount ? b / (double)column[1].amount : 0;
	c.change = c.after - c.before;
	c.p = c.q = c.change == 0;
	return c;
}

bool report_diff_census(const struct call_tree_column column[REPORT_SIDES])
{
	return call_tree_census(&column[REPORT_BEFORE]) && call_tree_census(&column[REPORT_AFTER]);
}

bool report_diff_exact(const struct call_tree_column column[REPORT_SIDES])
{
	return column[0].counted && column[1].counted;
}

bool report_diff_counted(const struct call_tree_column column[REPORT_SIDES])
{
	return column[0].has_total && column[1].has_total;
}

struct report_change report_change_in_all(const struct call_tree_column column[REPORT_SIDES])
{
	struct report_change c;

	if (report_diff_counted(column)) {
		double a = (double)column[0].total, b = (double)column[1].total;

		return (struct report_change){ a, b, b - a, 0, a == b, a == b, a != b, true };
	}
	c = report_change(column, column[0].amount, column[1].amount, false);
	c.beyond = c.change != 0 && c.p <= REPORT_DIFF_Q;
	return c;
}

/* ---- rows ---- */

static struct report_change *change_of(struct report_diff_row *row, bool total)
{
	return total ? &row->total : &row->self;
}

/* Rows with nothing on either side and exact rows are not tested. */
static int judge(struct report_diff *d, bool total, struct tare_error *err)
{
	double *p = calloc(d->n + 1, sizeof(*p));
	size_t n = 0;

	for (size_t i = 0; p && i < d->n; i++) {
		struct report_change *c = change_of(&d->row[i], total);

		if (!c->exact && (c->before > 0 || c->after > 0))
			p[n++] = c->p;
	}
	if (!p || !student_adjust(p, n)) {
		free(p);
		return tare_fail_nomem(err);
	}
	n = 0;
	for (size_t i = 0; i < d->n; i++) {
		struct report_change *c = change_of(&d->row[i], total);

		if (!c->exact && (c->before > 0 || c->after > 0))
			c->q = p[n++];
		c->beyond = c->change != 0 && c->q <= REPORT_DIFF_Q;
	}
	free(p);
	return 0;
}

/*
 * The exact engine's samples of a repeatable program are the same in each run: no part of the
 * change is chance.
 */
static void note_same(struct report_diff *d, const struct call_tree_column column[REPORT_SIDES])
{
	const struct call_tree_column *a = &column[REPORT_BEFORE], *b = &column[REPORT_AFTER];

	d->same = a->asked.repeats && b->asked.repeats && a->lost <= 0 && b->lost <= 0 &&
		a->asked.period == b->asked.period && a->samples && a->samples == b->samples &&
		call_tree_sampled(a) == call_tree_sampled(b) && a->amount == b->amount &&
		a->has_total == b->has_total && a->total == b->total;
	for (size_t i = 0; d->same && i < d->n; i++)
		d->same = d->row[i].self.change == 0 && d->row[i].total.change == 0;
	for (size_t i = 0; d->same && i < d->n; i++)
		d->row[i].self.half = d->row[i].total.half = 0;
}

static int surest_first(const void *a, const void *b, void *arg)
{
	const struct report_diff_row *x = a, *y = b;
	const bool *total = arg;
	const struct report_change *c = *total ? &x->total : &x->self,
				   *d = *total ? &y->total : &y->self;
	double m = fabs(c->change), n = fabs(d->change);

	if (c->beyond != d->beyond)
		return c->beyond ? -1 : 1;
	if (m != n)
		return m < n ? 1 : -1;
	return x->row < y->row ? -1 : x->row > y->row; /* report_make() has sorted them by name */
}

/* With callers, totals are by samples: counts are not recorded per caller. */
static bool has_callers(const struct call_tree *s)
{
	size_t n;
	const struct call_tree_node *node = call_tree_nodes(s, &n);

	for (size_t i = 1; i < n; i++)
		if (node[i].parent)
			return true;
	return false;
}

static struct report_change change_in(const struct call_tree_column column[REPORT_SIDES],
				      const uint64_t *amount, bool shares, bool exact)
{
	return (exact ? exact_change : report_change)(column, amount[REPORT_BEFORE],
						      amount[REPORT_AFTER], shares);
}

int report_diff_make(struct report_diff *out, const struct call_tree *pair,
		     const struct report_options *opts, bool shares, struct tare_error *err)
{
	bool exact = report_diff_exact(pair->column), deep = has_callers(pair);
	int ret;

	*out = (struct report_diff){ .shares = shares, .by_total = opts->by_total, .exact = exact };
	ret = report_make(&out->report, pair, opts, err);
	if (ret == 0 && !(out->row = calloc(out->report.n + 1, sizeof(*out->row))))
		ret = tare_fail_nomem(err);
	for (size_t i = 0; ret == 0 && i < out->report.n; i++) {
		const struct report_row *r = &out->report.row[i];

		out->row[out->n++] = (struct report_diff_row){
			r, change_in(pair->column, r->self, shares, exact && r->counted),
			change_in(pair->column, r->total, shares, exact && r->counted && !deep)
		};
		out->exact &= out->by_total ? out->row[i].total.exact : out->row[i].self.exact;
	}
	if (ret == 0)
		note_same(out, pair->column);
	for (int total = 0; ret == 0 && total < 2; total++)
		ret = judge(out, total, err);
	if (ret == 0)
		qsort_r(out->row, out->n, sizeof(*out->row), surest_first, &out->by_total);
	if (ret < 0)
		report_diff_free(out);
	return ret;
}

bool report_diff_all_exact(const struct report_diff *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (!d->row[i].self.exact || !d->row[i].total.exact)
			return false;
	return d->n;
}

void report_diff_free(struct report_diff *d)
{
	report_free(&d->report);
	free(d->row);
	*d = (struct report_diff){ 0 };
}
