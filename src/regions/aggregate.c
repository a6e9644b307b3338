/* SPDX-License-Identifier: MIT */
/*
 * The points of each thread are read once, for all runs in parallel. The same pass sums the regions
 * of each run (macro noise). If the runs agree on two consecutive points, the interval between them
 * is compared (micro noise). pair_threads.h decides which threads correspond.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "regions/aggregate_counters.h"
#include "regions/async_spans.h"
#include "regions/region_stack.h"
#include "statistics/student_t.h"

struct source {
	struct align_source base;
	struct aggregate *a;
	struct aggregate_run *to; /* a->run[run] */
	size_t run, thread;
	struct timeline *timeline;
	struct cursor *cursor;
	const uint32_t *number, *group; /* by label of the recording: with arguments, and without */
	struct aggregate_tally **tally; /* by label, without arguments; NULL: not used yet */
	struct region_stack stack;
	struct async_spans *halves; /* the run's async spans with only one end read */
	uint64_t points;            /* points of the file since the last point that was returned */
};

struct work {
	struct aggregate *a;
	struct timeline **timeline;
	uint32_t **number, **group;      /* per run, by its labels */
	struct aggregate_tally ***tally; /* per run, by its labels */
	uint32_t *group_of;              /* by number */
	uint64_t *key;                   /* by number, and one more for LABELS_NONE */
	struct source *source;
	struct async_spans *halves; /* per run */
	struct align_source **sources;
	struct shown {
		const struct align_point *point;
		const uint64_t *value; /* n_counters of each */
	} * shown;                     /* per run: the points that steps() processes */
	uint64_t *last;  /* run * n_counters + counter: values at the previous point */
	uint64_t *delta; /* same index: difference to this point */
	uint8_t last_missing;
	struct met {
		uint32_t thread; /* + 1 */
		uint8_t kinds;
	} * met;        /* by group: the last thread that had it, and its kind there */
	uint64_t index; /* of the first shown point, in the first run */
	struct align_point before;
	bool has_before;
	size_t thread;
	const size_t *paired; /* per run: the index of that thread */
};

/* Rows. */

static __attribute__((noinline)) struct aggregate_row *make_row(struct aggregate *a, uint32_t label)
{
	struct aggregate_row *row;

	if (!array_reserve(&a->row, &a->room, a->n + 1, sizeof(*a->row)))
		return NULL;
	row = &a->row[a->n];
	*row = (struct aggregate_row){
		.label = label,
		.tallies = calloc(a->n_runs,
				  sizeof(struct aggregate_tally) +
					  a->n_counters * sizeof(struct aggregate_amount)),
		.noise = calloc(a->n_counters + 1, sizeof(*row->noise)),
		.compared = calloc(a->n_counters + 1, sizeof(*row->compared))
	};
	/* also on failure, so that aggregate_free() finds it */
	a->row_of[label] = (uint32_t)++a->n;
	return row->tallies && row->noise && row->compared ? row : NULL;
}

static inline struct aggregate_row *row_of(struct aggregate *a, uint32_t label)
{
	return a->row_of[label] ? &a->row[a->row_of[label] - 1] : make_row(a, label);
}

static bool region_begins(struct source *s, const struct timeline_point *p)
{
	struct aggregate_row *row = row_of(s->a, s->group[p->label]);

	if (!row || !region_stack_begin(&s->stack, p))
		return false;
	s->tally[p->label] = aggregate_tally(s->a, row, s->run);
	s->tally[p->label]->open++;
	return true;
}

static void region_ends(struct source *s, const struct timeline_point *p)
{
	struct aggregate_tally *tally;
	struct region_done done;
	bool outermost;

	region_stack_end(&s->stack, p, &done);
	tally = s->tally[done.frame->label];
	outermost = --tally->open == 0;
	tally->count++;
	s->to->regions++;
	for (size_t c = 0; c < s->a->n_counters; c++) {
		struct aggregate_amount *m = &tally->amount[c];

		if (done.no_self & 1u << c) {
			m->unknown++;
			continue;
		}
		m->self += done.self[c];
		m->total += outermost ? done.cost[c] : 0;
	}
}

/*
 * The begins and ends that a gap inserts are not points of the run. Lost points have a row like a
 * region, but they are not a region.
 */
static __attribute__((noinline, cold)) bool beside_gap(struct source *s,
						       const struct timeline_point *p)
{
	if (p->kind == TIMELINE_BEGIN)
		return region_begins(s, p);
	region_ends(s, p);
	s->to->regions -= timeline_label(s->timeline, p->label)->gap;
	return true;
}

/*
 * If both ends of a timing were read, add it to its label. For counters other than clocks, only if
 * both ends are on the same thread.
 */
static bool add_async_span(struct source *s, const struct async_end *h,
			   const struct timeline_point *p)
{
	struct aggregate *a = s->a;
	struct aggregate_run *run = s->to;
	struct aggregate_row *row = row_of(a, s->group[h->label]);
	struct aggregate_tally *tally;

	if (row && !row->async)
		row->async = calloc(a->n_runs, sizeof(*row->async));
	if (!row || !row->async)
		return false;
	tally = aggregate_tally(a, row, s->run);
	tally->count++;
	row->async[s->run]++;
	run->regions++;
	for (size_t c = 0; c < a->n_counters; c++) {
		struct aggregate_amount *m = &tally->amount[c];
		uint64_t from = h->is_start ? h->value[c] : p->value[c],
			 to = h->is_start ? p->value[c] : h->value[c];
		bool goes_on = h->thread == s->thread || (int)c == timeline_info(s->timeline)->time;

		if (!goes_on || (h->missing | p->missing) & 1u << c || to < from) {
			m->unknown++;
			run->async[c].unknown++;
			continue;
		}
		m->self += (int64_t)(to - from);
		m->total += to - from;
		run->async[c].self += (int64_t)(to - from);
	}
	return true;
}

static __attribute__((noinline, cold)) bool add_async_end(struct source *s,
							  const struct timeline_point *p)
{
	struct async_end other,
		h = { .number = p->number,
		      .label = p->label,
		      .missing = p->missing,
		      .is_start = p->kind == TIMELINE_START,
		      .thread = s->thread };

	memcpy(h.value, p->value, s->a->n_counters * sizeof(*p->value));
	switch (async_spans_meet(s->halves, &h, &other)) {
	case ASYNC_END_WHOLE:
		return add_async_span(s, &other, p);
	case ASYNC_END_NO_MEMORY:
		return false;
	default:
		return true;
	}
}

/* Process any point. Returns 1 and sets *out if it takes part in the comparison, else 0. */
static __attribute__((noinline)) int any_point(struct source *s, const struct timeline_point *p,
					       struct align_point *out, uint64_t *value,
					       struct tare_error *err)
{
	struct aggregate_run *run = s->to;
	const struct region_frame *top;

	if (p->repaired == TIMELINE_AT_GAP)
		return beside_gap(s, p) ? 0 : tare_fail_nomem(err);
	if (p->repaired == TIMELINE_AT_END) {
		region_ends(s, p);
		return 0; /* the end of an unfinished region is not a point of the run */
	}
	if (p->kind == TIMELINE_LOST) {
		run->gaps++;
		run->lost += p->number;
		run->lost_unknown |= p->number == 0;
		s->points = p->number ? s->points + p->number : 0;
	} else {
		s->points++;
		if (p->kind == TIMELINE_INTEGER) /* values do not split an interval */
			return 0;
		run->points++;
	}
	if ((p->kind == TIMELINE_START || p->kind == TIMELINE_FINISH) && !add_async_end(s, p))
		return tare_fail_nomem(err);
	if (p->kind == TIMELINE_END)
		region_ends(s, p);
	top = region_stack_top(&s->stack);
	*out = (struct align_point){ .label = p->kind == TIMELINE_LOST ? LABELS_NONE
								       : s->number[p->label],
				     .around = top ? s->number[top->label] : LABELS_NONE,
				     .kind = p->kind,
				     .missing = p->repaired ? 0xff : p->missing,
				     .offset = p->offset,
				     .points = s->points };
	s->points = 0;
	memcpy(value, p->value, s->a->n_counters * sizeof(*value));
	return p->kind != TIMELINE_BEGIN || region_begins(s, p) ? 1 : tare_fail_nomem(err);
}

/*
 * The fast path for nearly all points: plain points of labels that already have a row. Does the
 * same as any_point() with a third of the instructions, and stops before any other point. Returns
 * the number of points processed. The stack has room for them. n is n_counters, a compile-time
 * constant when it is 1.
 */
static inline __attribute__((always_inline)) size_t plain_points(struct source *s,
								 const struct timeline_point *p,
								 size_t n_points,
								 struct align_point *out,
								 uint64_t *value, size_t n)
{
	struct aggregate_tally *const *const tallies = s->tally;
	const uint32_t *const number = s->number;
	const struct timeline_point *const end = p + n_points;
	struct region_walk walk = region_walk_from(&s->stack, n);
	uint32_t around = region_walk_top(&walk) ? number[region_walk_top(&walk)->label]
						 : LABELS_NONE;
	struct align_point *const first = out;
	size_t taken, depth = s->stack.depth;

	for (; p < end; p++, out++, value += n) {
		struct aggregate_tally *tally = tallies[p->label];
		uint64_t cost[TIMELINE_COUNTERS_MAX], self[TIMELINE_COUNTERS_MAX];

		if (!region_is_plain(p) || !tally)
			break;
		if (p->kind == TIMELINE_BEGIN) {
			region_walk_begin(&walk, p, n);
			tally->open++;
			out->around = around;
			around = number[p->label];
		} else {
			if (!region_walk_end(&walk, p, n, cost, self))
				break;
			tally->count++;
			for (size_t c = 0; c < n; c++)
				tally->amount[c].self += (int64_t)self[c];
			if (--tally->open == 0)
				for (size_t c = 0; c < n; c++)
					tally->amount[c].total += cost[c];
			around = region_walk_top(&walk) ? number[region_walk_top(&walk)->label]
							: LABELS_NONE;
			out->around = around;
		}
		for (size_t c = 0; c < n; c++)
			value[c] = p->value[c];
		out->label = number[p->label];
		out->kind = p->kind;
		out->offset = p->offset;
		out->missing = 0;
		out->points = 1;
	}
	region_walk_to(&s->stack, &walk);
	taken = (size_t)(out - first);
	if (taken) {
		first->points += s->points;
		s->points = 0;
	}
	s->to->points += taken;
	s->to->regions += (taken + depth - s->stack.depth) / 2; /* the ends */
	return taken;
}

/* Separate functions, because each needs all registers. */
static __attribute__((noinline)) size_t plain_of_one(struct source *s,
						     const struct timeline_point *p,
						     size_t n_points, struct align_point *out,
						     uint64_t *value)
{
	return plain_points(s, p, n_points, out, value, 1);
}

static __attribute__((noinline)) size_t plain_of_several(struct source *s,
							 const struct timeline_point *p,
							 size_t n_points, struct align_point *out,
							 uint64_t *value)
{
	return plain_points(s, p, n_points, out, value, s->a->n_counters);
}

static int source_read(struct align_source *base, size_t most, struct align_point *out,
		       uint64_t *value, struct tare_error *err)
{
	struct source *s = (struct source *)base;
	size_t got = 0, n = s->a->n_counters;

	while (got < most) {
		const struct timeline_point *p, *end;
		int ret = cursor_read(s->cursor, most - got, &p, err);

		if (ret <= 0)
			return ret < 0 ? ret : (int)got;
		if (!region_stack_reserve(&s->stack, (size_t)ret))
			return tare_fail_nomem(err);
		for (end = p + ret; p < end;) {
			size_t taken = (n == 1 ? plain_of_one : plain_of_several)(
				s, p, (size_t)(end - p), &out[got], &value[got * n]);

			p += taken;
			got += taken;
			if (p == end)
				break;
			ret = any_point(s, p++, &out[got], &value[got * n], err);
			if (ret < 0)
				return ret;
			got += (size_t)ret;
		}
	}
	return (int)got;
}

/* Intervals. */

static inline bool more_extreme(const struct aggregate_list *l, uint64_t a, uint64_t b)
{
	return l->largest ? a > b : a < b;
}

/* The position of a value in the list, or its insertion point. */
static size_t list_at(const struct aggregate_list *l, uint64_t value)
{
	size_t low = 0, high = l->n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (more_extreme(l, l->entry[mid].value, value))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * The region that encloses the interval up to the i-th point, taken from a run without lost points.
 */
static inline uint32_t around_of(const struct work *w, size_t i)
{
	const struct align_point *p = &w->shown[0].point[i];

	for (size_t r = 1; p->around == LABELS_NONE && r < w->a->n_runs; r++)
		p = &w->shown[r].point[i];
	return p->kind == TIMELINE_END ? p->label : p->around;
}

static struct aggregate_place place_of(const struct work *w, size_t i)
{
	const struct align_point *p = &w->shown[0].point[i];

	return (struct aggregate_place){ .thread = w->thread,
					 .index = w->index + i,
					 .from_kind = w->before.kind,
					 .to_kind = p->kind,
					 .from = w->before.label,
					 .to = p->label,
					 .around = around_of(w, i) };
}

static __attribute__((noinline)) void list_put(struct aggregate_list *l, uint64_t value,
					       const struct work *w, size_t i)
{
	size_t limit = w->a->options.extremes, at = list_at(l, value);

	l->hint[value % AGGREGATE_HINTS] = at;
	if (at < l->n && l->entry[at].value == value) {
		l->entry[at].n++;
		return;
	}
	if (limit == 0)
		return;
	l->n += l->n < limit;
	memmove(&l->entry[at + 1], &l->entry[at], (l->n - 1 - at) * sizeof(*l->entry));
	l->entry[at] = (struct aggregate_extreme){ value, 1, place_of(w, i) };
	if (l->n == limit)
		l->bar = l->entry[limit - 1].value;
}

static inline __attribute__((always_inline)) void list_add(struct aggregate_list *l, bool largest,
							   uint64_t value, const struct work *w,
							   size_t i)
{
	size_t hint;

	if (__builtin_expect(largest ? value < l->bar : value > l->bar, 1))
		return;
	hint = l->hint[value % AGGREGATE_HINTS];
	if (hint < l->n && l->entry[hint].value == value)
		l->entry[hint].n++;
	else
		list_put(l, value, w, i);
}

/* The counter's difference between the first run and another run in this interval. */
static int64_t apart(const struct work *w, size_t run, size_t c)
{
	return (int64_t)(w->delta[run * w->a->n_counters + c] - w->delta[c]);
}

/*
 * The other counter differs between runs in this interval. `range` is this counter's range, maybe
 * 0.
 */
static void find_cause(const struct work *w, size_t c, struct aggregate_cause *k, uint64_t range)
{
	double runs = (double)w->a->n_runs, x_sum = 0, y_sum = 0, xx = 0, xy = 0;
	struct aggregate_fit *f = &k->fit;
	int64_t times = 0;
	bool differs = false, exact = true;

	for (size_t r = 1; r < w->a->n_runs; r++) {
		int64_t x = apart(w, r, k->counter), y = apart(w, r, c), per;

		x_sum += (double)x;
		y_sum += (double)y;
		xx += (double)x * (double)x;
		xy += (double)x * (double)y;
		if (x == 0) {
			exact &= y == 0;
			continue;
		}
		/* INT64_MIN / -1 would overflow */
		per = x == -1 ? (int64_t)(0 - (uint64_t)y) : y / x;
		exact &= (x == -1 || y % x == 0) && (!differs || per == times);
		times = per;
		differs = true;
	}
	xx -= x_sum * x_sum / runs;
	xy -= x_sum * y_sum / runs;
	f->xx += xx;
	f->xy += xy;
	f->xx_xx += xx * xx;
	f->xx_xy += xx * xy;
	f->xy_xy += xy * xy;
	k->seen++;
	if (range) {
		k->n++;
		k->noise += range;
		k->exact += exact;
	}
}

/*
 * The confidence of the slope, with intervals as clusters: each interval has its own noise, and a
 * clock's noise grows with the length. The degrees of freedom come from the effective number of
 * intervals, which is lower if a few intervals have most of the differences. On simulated noise
 * without a cause (normal, log-normal, growing with the number of events; 2 to 6 runs), 0 to 5.7 %
 * of the 95 % intervals exclude 0; with the plain number of intervals, up to 12 %.
 * Source: Carter, Schnepel, Steigerwald, "Asymptotic Behavior of a t-Test Robust to Cluster
 * Heterogeneity", Review of Economics and Statistics 99, 2017.
 */
static void judge_cause(struct aggregate_cause *k)
{
	enum { INTERVALS = 6, THAT_WEIGH = 3 };
	const struct aggregate_fit *f = &k->fit;
	double weigh = f->xx_xx > 0 ? f->xx * f->xx / f->xx_xx : 0;

	k->per = f->xx > 0 ? f->xy / f->xx : 0;
	if (k->seen < INTERVALS || weigh < THAT_WEIGH)
		return;
	k->half = student_t(0.05, weigh - 1) *
		sqrt(fmax(0, f->xy_xy - 2 * k->per * f->xx_xy + k->per * k->per * f->xx_xx) *
		     weigh / (weigh - 1)) /
		f->xx;
	k->judged = true;
	k->known = fabs(k->per) > k->half;
}

static unsigned bucket_of(uint64_t range)
{
	return range ? 64 - (unsigned)__builtin_clzll(range) : 0;
}

/* A counter's minimum and maximum over the runs, from the previous point to this one. */
struct span {
	uint64_t least, most;
};

/* The differences from the previous point to the i-th one, for all runs. */
static inline __attribute__((always_inline)) void note_interval(struct work *w, size_t i,
								const struct span *span,
								uint8_t unknown, bool first,
								size_t n)
{
	struct aggregate *a = w->a;
	uint32_t around = around_of(w, i);
	uint32_t row = around == LABELS_NONE ? 0 : a->row_of[w->group_of[around]];

	a->intervals++;
	for (size_t c = 0; c < n; c++) {
		struct aggregate_counter *k = &a->counter[c];
		uint64_t range = span[c].most - span[c].least;

		if (unknown & 1u << c) {
			k->not_counted++;
			continue;
		}
		k->intervals++;
		k->noise += range;
		k->bucket[bucket_of(range)]++;
		list_add(&k->least, false, span[c].least, w, i);
		list_add(&k->most, true, span[c].most, w, i);
		list_add(&k->steady, false, range, w, i);
		list_add(&k->noisy, true, range, w, i);
		if (row) {
			a->row[row - 1].noise[c] += range;
			a->row[row - 1].compared[c]++;
		}
		for (size_t i = 0; n > 1 && i < k->n_causes; i++) {
			size_t other = k->cause[i].counter;

			if (span[other].most != span[other].least && !(unknown & 1u << other))
				find_cause(w, c, &k->cause[i], range);
		}
		if (!range)
			continue;
		if (first) {
			k->firsts++;
			k->firsts_noise += range;
		}
		if (!k->differs) {
			k->differs = true;
			k->first = place_of(w, i);
		}
	}
}

/* Is this the thread's first point of this label, with any arguments? */
static inline bool meet(struct work *w, const struct align_point *p)
{
	uint32_t thread = (uint32_t)w->thread + 1;
	uint8_t kind = (uint8_t)(1u << p->kind);
	struct met *met;

	if (p->label == LABELS_NONE)
		return false;
	met = &w->met[w->group_of[p->label]];
	if (__builtin_expect(met->thread == thread && met->kinds & kind, 1))
		return false;
	met->kinds = (met->thread == thread ? met->kinds : 0) | kind;
	met->thread = thread;
	return true;
}

/*
 * All runs have their i-th point, which completes an interval. n is n_counters, a compile-time
 * constant when it is 1.
 */
static inline __attribute__((always_inline)) void step_of(struct work *w, size_t i, size_t runs,
							  size_t n)
{
	const struct shown *const shown = w->shown;
	const struct align_point *p = &shown[0].point[i];
	struct span span[TIMELINE_COUNTERS_MAX];
	uint8_t missing = 0, backwards = 0;
	bool first = meet(w, p);

	for (size_t c = 0; c < n; c++) {
		uint64_t *last = w->last + c, *delta = w->delta + c, least = UINT64_MAX, most = 0;
		bool less = false;

		for (size_t r = 0; r < runs; r++, last += n, delta += n) {
			uint64_t now = shown[r].value[i * n + c], d = now - *last;

			missing |= shown[r].point[i].missing;
			less |= now < *last;
			least = d < least ? d : least;
			most = d > most ? d : most;
			*last = now;
			if (n > 1)
				*delta = d;
		}
		span[c] = (struct span){ least, most };
		backwards |= (uint8_t)(less << c);
	}
	if (w->has_before)
		note_interval(w, i, span, w->last_missing | missing | backwards, first, n);
	w->last_missing = missing;
	w->before.kind = p->kind;
	w->before.label = p->label;
	w->before.around = p->around;
	w->has_before = true;
}

static void steps(struct work *w, const struct align *al)
{
	size_t runs = w->a->n_runs, n = w->a->n_counters;

	for (size_t r = 0; r < runs; r++)
		w->shown[r] = (struct shown){ align_points(al, r), align_values(al, r) };
	w->index = al->run[0].index;
	for (size_t i = 0; n == 1 && i < al->n_shown; i++)
		step_of(w, i, runs, 1);
	for (size_t i = 0; n != 1 && i < al->n_shown; i++)
		step_of(w, i, runs, n);
	w->a->thread[w->thread].steps += al->n_shown;
}

static int note_difference(struct work *w, const struct align *al, bool lost,
			   struct tare_error *err)
{
	struct aggregate *a = w->a;
	struct aggregate_difference *d;

	a->differences++;
	a->thread[w->thread].differences++;
	a->thread[w->thread].gave_up |= lost;
	for (size_t r = 0; r < a->n_runs; r++)
		a->run[r].alone += align_passed(al, r);
	if (a->n_differences < a->options.differences) {
		const struct align_point *first = al->run[0].n ? align_points(al, 0) : NULL;

		d = &a->difference[a->n_differences];
		d->run = calloc(a->n_runs, sizeof(*d->run));
		if (!d->run)
			return tare_fail_nomem(err);
		a->n_differences++;
		d->thread = w->thread;
		d->lost = lost;
		d->before = w->has_before ? w->before.label : LABELS_NONE;
		d->before_kind = w->before.kind;
		d->around = !w->has_before || !first       ? LABELS_NONE
			: w->before.kind == TIMELINE_BEGIN ? w->before.label
							   : w->before.around;
		for (size_t r = 0; r < a->n_runs; r++) {
			const struct align_point *p = al->run[r].n ? align_points(al, r) : NULL;

			d->run[r].index = al->run[r].index;
			d->run[r].passed = align_passed(al, r);
			d->run[r].ends = !p;
			d->run[r].label = p ? p->label : LABELS_NONE;
			d->run[r].kind = p ? p->kind : TIMELINE_LOST;
			d->run[r].offset = p ? p->offset : 0;
		}
	}
	w->has_before = false;
	return 0;
}

/* Threads. */

static int open_source(struct work *w, size_t run, size_t thread, struct tare_error *err)
{
	struct source *s = &w->source[run];

	region_stack_free(&s->stack);
	*s = (struct source){ .base.read = source_read,
			      .a = w->a,
			      .to = &w->a->run[run],
			      .run = run,
			      .thread = thread,
			      .halves = &w->halves[run],
			      .timeline = w->timeline[run],
			      .number = w->number[run],
			      .group = w->group[run],
			      .tally = w->tally[run] };
	region_stack_init(&s->stack, w->a->n_counters);
	w->a->run[run].threads++;
	return timeline_thread(w->timeline[run], thread, &s->cursor, err);
}

/* Sum the rest of a run's thread, although there is nothing to compare it with. */
static int drain(struct source *s, struct tare_error *err)
{
	struct align_point p[ALIGN_AT_ONCE];
	uint64_t value[ALIGN_AT_ONCE * TIMELINE_COUNTERS_MAX];
	int ret;

	while ((ret = s->base.read(&s->base, ALIGN_AT_ONCE, p, value, err)) > 0)
		;
	return ret;
}

/* Read the pair once more and count each label in each run. */
static int find_steady(void *with, bool *steady, struct tare_error *err)
{
	struct work *w = with;
	size_t n = w->a->labels.n;
	uint64_t *first = calloc(2 * n + 1, sizeof(*first)), *count = first + n;
	int ret = first ? 0 : tare_fail_nomem(err);

	for (size_t r = 0; ret == 0 && r < w->a->n_runs; r++) {
		struct timeline_point p;
		struct cursor *c;

		ret = timeline_thread(w->timeline[r], w->paired[r], &c, err);
		if (ret < 0)
			break;
		memset(count, 0, n * sizeof(*count));
		while ((ret = cursor_next(c, &p, err)) == 1)
			if (p.kind != TIMELINE_LOST && p.kind != TIMELINE_INTEGER &&
			    p.repaired != TIMELINE_AT_GAP)
				count[w->number[r][p.label]]++;
		cursor_close(c);
		if (r == 0)
			memcpy(first, count, n * sizeof(*first));
		for (size_t i = 0; i < n; i++)
			steady[i] &= count[i] == first[i];
	}
	free(first);
	return ret;
}

static int compare_thread(struct work *w, const size_t *thread, struct tare_error *err)
{
	struct aggregate *a = w->a;
	struct align_labels labels = {
		.key = w->key, .n = a->labels.n, .find_steady = find_steady, .with = w
	};
	struct align al;
	int what = align_open(&al, w->sources, a->n_runs, a->n_counters, &labels, err);

	for (size_t r = 0; r < a->n_runs; r++)
		labels.around_unknown |= timeline_info(w->timeline[r])->lost_unknown ||
			timeline_info(w->timeline[r])->thread[thread[r]].lost;
	w->paired = thread;
	w->has_before = false;
	while (what >= 0 && (what = align_next(&al, err)) > ALIGN_END) {
		if (what == ALIGN_STEP)
			steps(w, &al);
		else
			what = note_difference(w, &al, what == ALIGN_LOST, err);
	}
	for (size_t r = 0; what == 0 && r < a->n_runs; r++)
		what = drain(&w->source[r], err);
	align_close(&al);
	return what;
}

/* A pair: one thread of each run that has it. */
static int one_pair(struct work *w, const size_t *thread, struct tare_error *err)
{
	struct aggregate *a = w->a;
	struct aggregate_thread *t;
	int ret = 0;

	if (!array_one_more(&a->thread, a->n_threads, sizeof(*a->thread)))
		return tare_fail_nomem(err);
	w->thread = a->n_threads++;
	t = &a->thread[w->thread];
	*t = (struct aggregate_thread){ 0 };
	for (size_t r = 0; ret == 0 && r < a->n_runs; r++) {
		const struct timeline_thread *of;

		if (thread[r] == SIZE_MAX)
			continue;
		of = &timeline_info(w->timeline[r])->thread[thread[r]];
		if (t->runs++ == 0) {
			t->tid = of->tid;
			t->name = strdup(of->name);
			if (!t->name) {
				ret = tare_fail_nomem(err);
				break;
			}
		}
		ret = open_source(w, r, thread[r], err);
	}
	if (ret == 0 && t->runs == a->n_runs)
		ret = compare_thread(w, thread, err);
	else
		for (size_t r = 0; ret == 0 && r < a->n_runs; r++)
			if (w->source[r].cursor)
				ret = drain(&w->source[r], err);
	for (size_t r = 0; r < a->n_runs; r++) {
		cursor_close(w->source[r].cursor);
		w->source[r].cursor = NULL;
	}
	return ret;
}

static int all_threads(struct work *w, struct tare_error *err)
{
	struct thread_pairs pairs;
	int ret = pair_threads(&pairs, w->timeline, w->a->n_runs, err);

	if (ret < 0)
		return ret;
	w->a->pairing = pairs.how;
	for (size_t i = 0; ret == 0 && i < pairs.n; i++)
		ret = one_pair(w, &pairs.thread[i * pairs.n_runs], err);
	thread_pairs_free(&pairs);
	return ret;
}

/* Setting up. */

static char *copy(const char *s)
{
	return s ? strdup(s) : NULL;
}

static int take_runs(struct work *w, struct tare_error *err)
{
	struct aggregate *a = w->a;

	for (size_t r = 0; r < a->n_runs; r++) {
		const struct timeline_info *info = timeline_info(w->timeline[r]);
		struct aggregate_run *run = &a->run[r];
		*run = (struct aggregate_run){ copy(info->path),
					       copy(info->format),
					       copy(info->command),
					       copy(info->damage),
					       copy(info->live),
					       .lost = info->lost,
					       .lost_unknown = info->lost_unknown,
					       .machine = info->machine,
					       .one_cpu = info->one_cpu };
		if (!run->path || !run->format || !run->command || !run->damage != !info->damage ||
		    !run->live != !info->live)
			return tare_fail_nomem(err);
		w->number[r] = labels_of(&a->labels, w->timeline[r], true, err);
		w->group[r] = labels_of(&a->labels, w->timeline[r], false, err);
		if (!w->number[r] || !w->group[r])
			return -ENOMEM;
		w->tally[r] = calloc(info->n_labels + 1, sizeof(**w->tally));
		if (!w->tally[r])
			return tare_fail_nomem(err);
		w->sources[r] = &w->source[r].base;
	}
	a->row_of = calloc(a->labels.n + 1, sizeof(*a->row_of));
	w->group_of = calloc(a->labels.n + 1, sizeof(*w->group_of));
	w->key = calloc(a->labels.n + 1, sizeof(*w->key));
	w->met = calloc(a->labels.n + 1, sizeof(*w->met));
	if (!a->row_of || !w->met || !w->group_of || !w->key)
		return tare_fail_nomem(err);
	for (uint32_t i = 0; i < a->labels.n; i++)
		w->key[i] = labels_key(&a->labels, i);
	for (size_t r = 0; r < a->n_runs; r++)
		for (size_t i = 0; i < timeline_info(w->timeline[r])->n_labels; i++)
			w->group_of[w->number[r][i]] = w->group[r][i];
	return 0;
}

int aggregate(struct aggregate *a, struct timeline **timelines, size_t n,
	      const struct aggregate_options *options, struct tare_error *err)
{
	struct work w = { .a = a, .timeline = timelines };
	int ret;

	*a = (struct aggregate){ .options = *options, .n_runs = n };
	a->run = calloc(n, sizeof(*a->run));
	a->difference = calloc(options->differences + 1, sizeof(*a->difference));
	w.number = calloc(n, sizeof(*w.number));
	w.group = calloc(n, sizeof(*w.group));
	w.tally = calloc(n, sizeof(*w.tally));
	w.source = calloc(n, sizeof(*w.source));
	w.halves = calloc(n, sizeof(*w.halves));
	w.sources = calloc(n, sizeof(*w.sources));
	w.shown = calloc(n, sizeof(*w.shown));
	w.last = calloc(n * TIMELINE_COUNTERS_MAX, sizeof(*w.last));
	w.delta = calloc(n * TIMELINE_COUNTERS_MAX, sizeof(*w.delta));
	if (!a->run || !a->difference || !w.number || !w.group || !w.tally || !w.source ||
	    !w.halves || !w.sources || !w.shown || !w.last || !w.delta)
		ret = tare_fail_nomem(err);
	else
		ret = aggregate_take_counters(a, timelines, err);
	if (ret == 0)
		ret = take_runs(&w, err);
	if (ret == 0)
		ret = all_threads(&w, err);
	for (size_t c = 0; ret == 0 && c < a->n_counters; c++) {
		a->counter[c].zero = a->counter[c].bucket[bucket_of(0)];
		for (size_t i = 0; i < a->counter[c].n_causes; i++)
			judge_cause(&a->counter[c].cause[i]);
	}
	for (size_t r = 0; r < n; r++) {
		if (w.number)
			free(w.number[r]);
		if (w.group)
			free(w.group[r]);
		if (w.tally)
			free(w.tally[r]);
		if (w.source)
			region_stack_free(&w.source[r].stack);
		if (w.halves)
			async_spans_free(&w.halves[r]);
	}
	free(w.number);
	free(w.group);
	free(w.tally);
	free(w.group_of);
	free(w.key);
	free(w.met);
	free(w.source);
	free(w.halves);
	free(w.sources);
	free(w.shown);
	free(w.last);
	free(w.delta);
	return ret;
}

uint64_t aggregate_outside(const struct aggregate *a, size_t counter, uint64_t *noise)
{
	uint64_t intervals = a->counter[counter].intervals;

	*noise = a->counter[counter].noise;
	for (size_t i = 0; i < a->n; i++) {
		*noise -= a->row[i].noise[counter];
		intervals -= a->row[i].compared[counter];
	}
	return intervals;
}
