/* SPDX-License-Identifier: MIT */
/*
 * Each recording is summed by regions.c. The values of a label on one side form a group, and
 * student_t.c compares the two groups. If a run does not have a label, its cost there is a measured
 * 0.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "regions/compare.h"

static struct compare_change *change_of(const struct compare *c, const struct compare_row *row,
					enum compare_what what, size_t counter)
{
	return &row->change[what * c->n_counters + counter];
}

static double *values_of(const struct compare *c, const struct compare_row *row,
			 enum compare_what what, size_t counter)
{
	return row->value + (what * c->n_counters + counter) * c->n_runs;
}

static bool make_row(const struct compare *c, struct compare_row *row, uint32_t label)
{
	row->label = label;
	row->count = calloc(c->n_runs, sizeof(*row->count));
	row->value = calloc(COMPARE_WHATS * c->n_counters * c->n_runs + 1, sizeof(*row->value));
	row->known = malloc(c->n_counters + 1);
	row->change = calloc(COMPARE_WHATS * c->n_counters + 1, sizeof(*row->change));
	if (row->known)
		memset(row->known, true, c->n_counters + 1);
	return row->count && row->value && row->known && row->change;
}

/* Points are missing in this thread or after its last point, and their number is not known. */
static bool lost_points(const struct timeline_info *info, size_t thread, bool gap)
{
	return gap || (info->lost_unknown && !info->thread[thread].complete);
}

/*
 * The affected labels: all labels of a thread with a gap, because a gap may contain whole regions;
 * all labels of the recording if a thread has only a gap.
 */
static int lost_of_threads(struct timeline *t, const uint32_t *number, size_t n,
			   struct compare_loss *loss, uint64_t *in_gaps, struct tare_error *err)
{
	const struct timeline_info *info = timeline_info(t);
	bool *seen = calloc(n + 1, sizeof(*seen));
	int ret = seen ? 0 : tare_fail_nomem(err);

	for (size_t i = 0; ret == 0 && i < info->n_threads; i++) {
		struct timeline_point p;
		struct cursor *cursor;
		bool gap = false, empty = true;

		ret = timeline_thread(t, i, &cursor, err);
		if (ret < 0)
			break;
		memset(seen, false, n * sizeof(*seen));
		while ((ret = cursor_next(cursor, &p, err)) == 1) {
			gap |= p.kind == TIMELINE_LOST;
			if (p.kind == TIMELINE_LOST) {
				*in_gaps += p.number;
				continue;
			}
			seen[number[p.label]] = true;
			empty &= timeline_label(t, p.label)->gap;
		}
		cursor_close(cursor);
		if (!lost_points(info, i, gap))
			continue;
		loss->threads = true;
		for (size_t l = 0; l < n; l++)
			loss->label[l] |= seen[l] || empty;
	}
	free(seen);
	return ret;
}

/*
 * The labels that a loss may affect: any label if a whole thread is missing; for signal handlers,
 * the labels in the file.
 */
static int find_lost(struct compare *c, size_t r, struct timeline *t, struct tare_error *err)
{
	const struct timeline_info *info = timeline_info(t);
	struct regions *run = &c->run[r];
	struct compare_loss *loss = &c->loss[r];
	uint32_t *number;
	uint64_t in_gaps = 0;
	size_t n;
	bool any = run->gaps || run->lost_unknown || run->lost > run->lost_handlers;
	int ret;

	c->all.lost |= any;
	if (!any && !run->lost_handlers)
		return 0;
	number = labels_of(&run->labels, t, run->options.with_arguments, err);
	if (!number)
		return -ENOMEM;
	n = run->labels.n;
	loss->label = calloc(n + 1, sizeof(*loss->label));
	ret = !loss->label ? tare_fail_nomem(err)
		: any      ? lost_of_threads(t, number, n, loss, &in_gaps, err)
			   : 0;
	if (ret == 0 && run->lost > run->lost_handlers + in_gaps) {
		loss->threads = true;
		memset(loss->label, true, n * sizeof(*loss->label));
	}
	for (size_t l = 0; ret == 0 && l < info->n_labels; l++)
		loss->label[number[l]] |= timeline_label(t, (uint32_t)l)->handlers;
	loss->elsewhere = loss->threads || info->handlers_any;
	free(number);
	return ret;
}

static bool several_processes(const struct regions *run)
{
	for (size_t i = 1; i < run->n_threads; i++)
		if (run->thread[i].pid != run->thread[0].pid)
			return true;
	return false;
}

/*
 * The rows that may have regions among those without a name: rows that the run does not have, and
 * rows that it has only partly, because several labels of a recording, or of its processes, share a
 * row. In a process, either all regions of a label have its name, or no region has.
 */
static void mark_names(struct compare *c, size_t r, const bool *several)
{
	bool processes = several_processes(&c->run[r]);
	enum compare_side side = r < c->n[COMPARE_BEFORE] ? COMPARE_BEFORE : COMPARE_AFTER;

	for (size_t i = 0; i < c->n_rows; i++) {
		struct compare_row *row = &c->row[i];
		bool itself = !strcmp(c->labels.entry[row->label].kind, TIMELINE_NAMELESS);

		row->names |= itself || processes || several[i] || row->count[r] == 0;
		row->unknown[side] |= !itself && row->count[r] == 0;
	}
}

/* Read each recording again, which is rarely needed, and count its labels per row. */
static int find_several(struct compare *c, char *const *paths, bool *several,
			struct tare_error *err)
{
	int ret = 0;

	for (size_t r = 0; ret == 0 && r < c->n_runs; r++) {
		struct labels all = { 0 };
		struct timeline *t = NULL;
		uint32_t *number = NULL, *seen = NULL;
		size_t n;

		ret = timeline_open(&t, paths[r], err);
		if (ret < 0)
			break;
		n = timeline_info(t)->n_labels;
		number = labels_of(&all, t, c->run[r].options.with_arguments, err);
		seen = calloc(n + 1, sizeof(*seen));
		ret = number && seen ? 0 : tare_fail_nomem(err);
		for (size_t i = 0; ret == 0 && i < n; i++)
			seen[number[i]]++;
		for (uint32_t l = 0; ret == 0 && l < all.n; l++) {
			uint32_t row = seen[l] > 1
				? labels_number(&c->labels, all.entry[l].name, all.entry[l].kind,
						all.entry[l].arg)
				: c->n_rows;

			if (row < c->n_rows)
				several[row] = true;
		}
		free(seen);
		free(number);
		labels_free(&all);
		timeline_close(t);
	}
	return ret;
}

/* Handle lost names, after all rows are known. */
static int find_names(struct compare *c, char *const *paths, struct tare_error *err)
{
	bool *several = NULL;
	int ret = 0;

	for (size_t r = 0; ret == 0 && r < c->n_runs; r++) {
		for (size_t i = 0; i < c->n_rows; i++)
			c->loss[r].names |= c->row[i].count[r] &&
				!strcmp(c->labels.entry[c->row[i].label].kind, TIMELINE_NAMELESS);
		if (!c->loss[r].names)
			continue;
		if (!several) {
			several = calloc(c->n_rows + 1, sizeof(*several));
			ret = several ? find_several(c, paths, several, err) : tare_fail_nomem(err);
		}
		if (ret == 0)
			mark_names(c, r, several);
	}
	free(several);
	return ret;
}

static int name_counters(struct compare *c, struct tare_error *err)
{
	const struct regions *run = &c->run[0];

	c->counts_only = run->n_counters == 0;
	c->n_counters = c->counts_only ? 1 : run->n_counters;
	c->counter = calloc(c->n_counters, sizeof(*c->counter));
	if (!c->counter)
		return tare_fail_nomem(err);
	c->counter[0] = (struct compare_counter){ "count", "", TARE_EXACT };
	for (size_t k = 0; k < run->n_counters; k++)
		c->counter[k] = (struct compare_counter){ run->counter[k].name,
							  run->counter[k].unit,
							  run->counter[k].quality };
	return 0;
}

static int read_runs(struct compare *c, char *const *paths, const struct compare_options *options,
		     struct tare_error *err)
{
	for (size_t r = 0; r < c->n_runs; r++) {
		struct regions_options how = { .with_arguments = options->with_arguments,
					       .subtract_own = options->subtract_own };
		struct timeline *t = NULL;
		int ret = timeline_open(&t, paths[r], err);

		regions_init(&c->run[r], &how);
		if (ret == 0)
			ret = regions_add(&c->run[r], t, err);
		if (ret == 0)
			ret = find_lost(c, r, t, err);
		timeline_close(t);
		if (ret < 0)
			return ret;
		for (size_t k = 0; k < c->run[r].n_counters || k < c->run[0].n_counters; k++) {
			const char *mine = k < c->run[r].n_counters ? c->run[r].counter[k].name
								    : "none";
			const char *first = k < c->run[0].n_counters ? c->run[0].counter[k].name
								     : "none";

			if (!strcmp(mine, first))
				continue;
			tare_fail(err, EINVAL,
				  "%.100s: its counter %zu is %.60s; in %.100s it is %.60s",
				  paths[r], k + 1, mine, paths[0], first);
			tare_hint(err, "only recordings with the same counters can be compared");
			return -EINVAL;
		}
	}
	c->one_thread = true;
	for (size_t r = 0; r < c->n_runs; r++)
		c->one_thread &= c->run[r].n_threads == 1;
	return name_counters(c, err);
}

static int mark_lost(struct compare *c, struct tare_error *err)
{
	for (size_t r = 0; r < c->n_runs; r++) {
		const struct compare_loss *loss = &c->loss[r];
		const struct labels *of = &c->run[r].labels;

		for (size_t i = 0; i < c->n_rows; i++)
			c->row[i].lost |= loss->elsewhere && c->row[i].count[r] == 0;
		for (uint32_t l = 0; loss->label && l < of->n; l++) {
			uint32_t row = loss->label[l]
				? labels_number(&c->labels, of->entry[l].name, of->entry[l].kind,
						of->entry[l].arg)
				: 0;

			if (row == LABELS_NONE)
				return tare_fail_nomem(err);
			/* other rows have no region in any run */
			if (loss->label[l] && row < c->n_rows)
				c->row[row].lost = true;
		}
	}
	return 0;
}

/*
 * Estimate: a region of a handler takes two points, and costs as much as the average of the most
 * expensive label that handlers lost in any run.
 */
static int find_hidden(struct compare *c, struct tare_error *err)
{
	for (size_t r = 0; r < c->n_runs; r++) {
		/* lost points do not add to another label's cost */
		if (!c->run[r].lost_handlers || c->counts_only)
			continue;
		c->loss[r].hidden = calloc(c->n_counters + 1, sizeof(*c->loss[r].hidden));
		if (!c->loss[r].hidden)
			return tare_fail_nomem(err);
		for (size_t k = 0; k < c->n_counters; k++) {
			double most = -1;

			for (size_t i = 0; i < c->n_rows; i++)
				for (size_t of = 0; c->row[i].lost && of < c->n_runs; of++)
					if (c->row[i].count[of])
						most = fmax(most,
							    values_of(c, &c->row[i], COMPARE_SUM,
								      k)[of] /
								    (double)c->row[i].count[of]);
			c->loss[r].hidden[k] = most < 0
				? INFINITY
				: most * (double)((c->run[r].lost_handlers + 1) / 2);
		}
	}
	return 0;
}

/* The largest part of a side's mean self cost that lost handlers can explain. */
static double hidden_in(const struct compare *c, enum compare_side side, size_t k)
{
	double sum = 0;

	for (size_t r = side == COMPARE_BEFORE ? 0 : c->n[0];
	     r < (side == COMPARE_BEFORE ? c->n[0] : c->n_runs); r++)
		sum += c->loss[r].hidden ? c->loss[r].hidden[k] : 0;
	return sum / (double)c->n[side];
}

/* Collect the rows of all runs by their common label number. */
static int gather(struct compare *c, struct tare_error *err)
{
	size_t room = 0;
	int ret = 0;

	for (size_t r = 0; ret == 0 && r < c->n_runs; r++) {
		const struct regions *run = &c->run[r];

		for (size_t i = 0; ret == 0 && i < run->n; i++) {
			const struct regions_row *from = &run->row[i];
			const struct labels_entry *l = &run->labels.entry[from->label];
			uint32_t label;
			struct compare_row *to;

			if (from->count == 0)
				continue;
			label = labels_number(&c->labels, l->name, l->kind, l->arg);
			if (label == LABELS_NONE ||
			    !array_reserve(&c->row, &room, label + 1ull, sizeof(*c->row))) {
				ret = tare_fail_nomem(err);
				break;
			}
			if (label == c->n_rows) { /* numbers are ascending */
				c->row[c->n_rows++] = (struct compare_row){ 0 };
				if (!make_row(c, &c->row[label], label)) {
					ret = tare_fail_nomem(err);
					break;
				}
			}
			to = &c->row[label];
			to->count[r] = from->count;
			for (int what = 0; c->counts_only && what < COMPARE_WHATS; what++)
				values_of(c, to, (enum compare_what)what,
					  0)[r] = (double)from->count;
			for (size_t k = 0; k < run->n_counters; k++) {
				const struct regions_sum *s = &from->sum[k];

				to->known[k] &= s->rare->unknown + s->rare->no_self == 0;
				values_of(c, to, COMPARE_SELF, k)[r] = regions_self(run, from, k);
				values_of(c, to, COMPARE_TOTAL, k)[r] = regions_total(run, from, k);
				values_of(c, to, COMPARE_SUM, k)[r] = (double)regions_sum_each(s);
			}
		}
	}
	if (ret == 0)
		ret = mark_lost(c, err);
	if (ret == 0 &&
	    (!make_row(c, &c->all, LABELS_NONE) || !make_row(c, &c->outside, LABELS_NONE) ||
	     !make_row(c, &c->async, LABELS_NONE)))
		ret = tare_fail_nomem(err);
	c->outside.lost = c->async.lost = c->all.lost;
	for (size_t r = 0; ret == 0 && r < c->n_runs; r++) {
		const struct regions *run = &c->run[r];

		c->all.count[r] = run->regions;
		for (size_t k = 0; k < c->n_counters; k++)
			for (int what = 0; what < COMPARE_WHATS; what++) {
				values_of(c, &c->all, (enum compare_what)what,
					  k)[r] = c->counts_only ? (double)run->regions
								 : regions_whole(run, k);
				values_of(c, &c->outside, (enum compare_what)what,
					  k)[r] = c->counts_only ? 0 : regions_outside(run, k);
				values_of(c, &c->async, (enum compare_what)what,
					  k)[r] = c->counts_only ? 0
								 : (double)run->counter[k].async;
			}
	}
	return ret;
}

/*
 * Threads of a program race for symbol binding (700 to 4,000 instructions), for the first use of a
 * region (some tens) and for locks. So exact counts of multi-threaded programs differ by that much,
 * or by 0.01 %, even if a few runs do not show it (docs/internals/noise.md). Single-threaded
 * programs have no such cause, and neither has the number of regions.
 */
static double resolution(const struct compare *c, const struct compare_row *row,
			 const struct compare_change *d, size_t k)
{
	if (c->one_thread || c->counter[k].quality != TARE_EXACT)
		return 0;
	for (size_t r = 1; r < c->n_runs; r++)
		if (row->count[r] != row->count[0])
			return 0;
	return fmax(4000, 1e-4 * fmax(fabs(d->mean[COMPARE_BEFORE]), fabs(d->mean[COMPARE_AFTER])));
}

static void sum_up(struct compare *c, struct compare_row *row, enum compare_what what, size_t k,
		   struct change *ask)
{
	struct compare_change *d = change_of(c, row, what, k);
	const double *v = values_of(c, row, what, k);

	d->known = row->known[k];
	d->lost = row->lost;
	d->names = row->names;
	for (size_t side = 0, r = 0; side < COMPARE_SIDES; side++) {
		size_t end = r + c->n[side];

		d->min[side] = d->max[side] = v[r];
		for (; r < end; r++) {
			d->mean[side] += v[r] / (double)c->n[side];
			d->min[side] = v[r] < d->min[side] ? v[r] : d->min[side];
			d->max[side] = v[r] > d->max[side] ? v[r] : d->max[side];
		}
		if (d->min[side] == d->max[side])
			d->mean[side] = d->min[side]; /* avoids rounding if all values are equal */
	}
	*ask = (struct change){
		.value = v,
		.resolution = resolution(c, row, d, k),
		.drift = c->counts_only || c->counter[k].quality == TARE_EXACT ? NULL : &c->drift,
	};
}

/* Unknown and lost values do not take part in the multiple comparison. */
static bool is_judged(const struct compare_change *d, const struct compare_row *row)
{
	return d->known && !row->lost && !row->names;
}

static int judge_rows(struct compare *c, struct compare_row *row, size_t n, enum compare_what what,
		      size_t k, struct change *asked, struct tare_error *err)
{
	size_t m = 0;

	for (size_t i = 0; i < n; i++) {
		sum_up(c, &row[i], what, k, &asked[m]);
		m += is_judged(change_of(c, &row[i], what, k), &row[i]);
	}
	if (!significance_judge(asked, m, c->n[0], c->n[1]))
		return tare_fail_nomem(err);
	m = 0;
	for (size_t i = 0; i < n; i++) {
		struct compare_change *d = change_of(c, &row[i], what, k);

		if (is_judged(d, &row[i])) {
			d->is = asked[m++];
		} else {
			d->is = (struct change){ .value = values_of(c, &row[i], what, k) };
			if (!significance_judge(&d->is, 1, c->n[0], c->n[1]))
				return tare_fail_nomem(err);
		}
		d->beyond = is_judged(d, &row[i]) && d->is.verdict == CHANGE_BEYOND;
		if (d->beyond && what == COMPARE_SELF && row != &c->all &&
		    fabs(d->is.test.change) <=
			    hidden_in(c, d->is.test.change > 0 ? COMPARE_AFTER : COMPARE_BEFORE,
				      k)) {
			d->lost = true;
			d->beyond = false;
		}
	}
	return 0;
}

static int judge_all(struct compare *c, struct tare_error *err)
{
	struct compare_row *const single[] = { &c->all, &c->outside, &c->async };
	struct change *asked = calloc(c->n_rows + 1, sizeof(*asked));
	int ret = asked ? 0 : tare_fail_nomem(err);

	for (int what = 0; ret == 0 && what < COMPARE_WHATS; what++)
		for (size_t k = 0; ret == 0 && k < c->n_counters; k++) {
			ret = judge_rows(c, c->row, c->n_rows, (enum compare_what)what, k, asked,
					 err);
			/* Families of their own. */
			for (size_t i = 0; ret == 0 && i < ARRAY_SIZE(single); i++)
				ret = judge_rows(c, single[i], 1, (enum compare_what)what, k, asked,
						 err);
		}
	free(asked);
	return ret;
}

static int find_drift(struct compare *c, struct tare_error *err)
{
	uint64_t *start = calloc(c->n_runs, sizeof(*start));
	bool good = start != NULL;

	for (size_t r = 0; good && r < c->n_runs; r++)
		start[r] = c->run[r].recording[0].start_ns;
	good = good && drift_of(&c->drift, start, c->n[0], c->n[1]);
	free(start);
	return good ? 0 : tare_fail_nomem(err);
}

int compare(struct compare *c, char *const *paths, size_t n_before, size_t n_after,
	    const struct compare_options *options, struct tare_error *err)
{
	int ret;

	*c = (struct compare){ .n = { n_before, n_after },
			       .n_runs = n_before + n_after,
			       .tested = n_before + n_after > 2 };
	c->run = calloc(c->n_runs, sizeof(*c->run));
	c->loss = calloc(c->n_runs, sizeof(*c->loss));
	if (!c->run || !c->loss)
		return tare_fail_nomem(err);
	ret = read_runs(c, paths, options, err);
	if (ret == 0)
		ret = gather(c, err);
	if (ret == 0)
		ret = find_names(c, paths, err);
	if (ret == 0)
		ret = find_hidden(c, err);
	if (ret == 0)
		ret = find_drift(c, err);
	return ret < 0 ? ret : judge_all(c, err);
}

static void free_row(struct compare_row *row)
{
	free(row->count);
	free(row->value);
	free(row->known);
	free(row->change);
}

void compare_free(struct compare *c)
{
	for (size_t i = 0; i < c->n_rows; i++)
		free_row(&c->row[i]);
	free_row(&c->all);
	free_row(&c->outside);
	free_row(&c->async);
	for (size_t r = 0; c->run && r < c->n_runs; r++)
		regions_free(&c->run[r]);
	for (size_t r = 0; c->loss && r < c->n_runs; r++) {
		free(c->loss[r].label);
		free(c->loss[r].hidden);
	}
	free(c->loss);
	free(c->counter);
	free(c->row);
	free(c->run);
	labels_free(&c->labels);
	*c = (struct compare){ 0 };
}

bool compare_row_is_there(const struct compare *c, const struct compare_row *row, size_t counter)
{
	const double *v = values_of(c, row, COMPARE_SELF, counter);

	for (size_t r = 0; r < c->n_runs; r++)
		if (v[r] != 0)
			return true;
	return false;
}

bool compare_too_few(const struct compare_change *c)
{
	return c->known && !c->lost && !c->names &&
		(c->is.verdict == CHANGE_FEW || c->is.verdict == CHANGE_SMALL);
}

bool compare_by_order(const struct compare_change *c)
{
	return c->known && !c->lost && !c->names && c->is.verdict == CHANGE_ORDER;
}

bool compare_unknown(const struct compare_row *row)
{
	return row->unknown[COMPARE_BEFORE] || row->unknown[COMPARE_AFTER];
}

const char *compare_counter_name(const void *compare, size_t counter)
{
	return ((const struct compare *)compare)->counter[counter].name;
}

double compare_percent(const struct compare_change *c)
{
	if (c->is.test.change == 0)
		return 0;
	return c->mean[COMPARE_BEFORE] == 0
		? copysign(INFINITY, c->is.test.change)
		: 100 * c->is.test.change / fabs(c->mean[COMPARE_BEFORE]);
}

struct keyed {
	double key;
	const char *name;
	size_t row;
};

static int by_key(const void *pa, const void *pb)
{
	const struct keyed *a = pa, *b = pb;

	if (a->key != b->key)
		return a->key < b->key ? 1 : -1;
	return strcmp(a->name, b->name);
}

void compare_sort(struct compare *c, enum compare_key key, size_t counter)
{
	struct keyed *order = calloc(c->n_rows + 1, sizeof(*order));
	struct compare_row *sorted = calloc(c->n_rows + 1, sizeof(*sorted));

	for (size_t i = 0; order && sorted && i < c->n_rows; i++) {
		const struct compare_change *d = change_of(c, &c->row[i], COMPARE_SELF, counter);
		double by = 0;

		if (key == COMPARE_BY_CHANGE)
			by = fabs(d->is.test.change);
		else if (key == COMPARE_BY_PERCENT)
			by = fabs(compare_percent(d));
		else if (key == COMPARE_BY_SURE)
			by = d->is.test.change != 0 ? -d->is.q : -2;
		order[i] = (struct keyed){ d->known && !compare_unknown(&c->row[i]) ? by : -3,
					   c->labels.entry[c->row[i].label].name, i };
	}
	if (order && sorted) {
		qsort(order, c->n_rows, sizeof(*order), by_key);
		for (size_t i = 0; i < c->n_rows; i++)
			sorted[i] = c->row[order[i].row];
		memcpy(c->row, sorted, c->n_rows * sizeof(*sorted));
	}
	free(order);
	free(sorted);
}
