/* SPDX-License-Identifier: MIT */
/*
 * One pass per thread with a stack. When a region ends, its cost is added to its row: the whole
 * cost to `total`, unless it is nested in a region of the same label, and the cost outside its
 * children to `self`.
 *
 * Recording overhead: an empty region measures `inside` and adds `outside` to the enclosing region.
 * Both depend on how the label is recorded. So the self cost of a region includes its own inside
 * and the outside of each direct child. Its total includes its own inside, and inside and outside
 * of every nested region. The cost in no region includes the outside of the outermost regions,
 * except the part before the thread's first begin and the part after its last end, each taken to be
 * half of the outside.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "regions/counter_named.h"
#include "regions/region_stack.h"
#include "regions/regions.h"
#include "statistics/median.h"
#include "base/text.h"
#include "base/arena.h"

enum { NO_ROW = UINT32_MAX };

/* The recording that is being added. */
struct adding {
	struct regions *r;
	struct timeline *t;
	const struct timeline_info *info;
	uint32_t *number; /* by label: its number in r->labels */
	uint32_t *row; /* by label; NO_ROW: no row yet (in this thread, if rows are per thread) */
	uint32_t *row_of; /* by number: its row */
	size_t row_of_room;
	struct region_stack stack;
	uint8_t *record_path;    /* by label; NULL: the recording overhead is unknown */
	struct regions_own *own; /* per open region and counter: overhead of its nested regions */
	size_t own_room;
	uint64_t of_record_path[TIMELINE_PATHS]; /* regions per way of recording */
	uint8_t *single;                         /* by label: keep its single regions */
	struct async_spans halves;
	size_t thread;         /* index in r->thread */
	size_t threads_before; /* threads of earlier recordings in r->thread */
	struct first {
		/*
		 * counter r->by at the thread's first begin of a region, and at its first start of
		 * a timing
		 */
		uint64_t region, timing;
		bool has_region, has_timing;
	} * first_by; /* per thread of this recording; NULL: no single regions are kept */
	uint64_t first[TIMELINE_COUNTERS_MAX], last[TIMELINE_COUNTERS_MAX];
	struct outermost {
		uint64_t cost;
		struct regions_own_whole own;
		uint8_t first, last; /* ways of the first and the last one */
		bool any;
	} outermost[TIMELINE_COUNTERS_MAX]; /* the thread's outermost regions with known cost */
	uint8_t seen, all; /* bit masks of counters: those that have a first; all */
	bool no_memory;
};

void regions_init(struct regions *r, const struct regions_options *options)
{
	*r = (struct regions){ .options = *options };
}

/* Shared empty values for rows and sums without these fields. */
static const struct regions_rare_fields no_rare;
static const struct regions_sum_rare_fields no_sum_rare;

/* A writable copy, allocated on first use. NULL: out of memory. */
static struct regions_rare_fields *rare_of(struct regions *r, struct regions_row *row)
{
	struct regions_rare_fields *own = row->rare == &no_rare
		? arena_alloc(&r->arena, sizeof(*own))
		: (struct regions_rare_fields *)row->rare;

	if (own)
		row->rare = own;
	return own;
}

static struct regions_sum_rare_fields *sum_rare_of(struct regions *r, struct regions_sum *s)
{
	struct regions_sum_rare_fields *own = s->rare == &no_sum_rare
		? arena_alloc(&r->arena, sizeof(*own))
		: (struct regions_sum_rare_fields *)s->rare;

	if (own)
		s->rare = own;
	return own;
}

static void sum_free(struct regions_sum *s)
{
	distribution_free(&s->each);
	if (s->rare != &no_sum_rare)
		distribution_free(&((struct regions_sum_rare_fields *)s->rare)->below);
}

void regions_free(struct regions *r)
{
	for (size_t i = 0; i < r->n; i++) {
		for (size_t c = 0; c < r->n_counters; c++)
			sum_free(&r->row[i].sum[c]);
	}
	for (size_t c = 0; c < r->n_counters; c++) {
		free(r->counter[c].name);
		free(r->counter[c].unit);
		free(r->counter[c].note);
	}
	for (size_t i = 0; i < r->n_recordings; i++) {
		free(r->recording[i].path);
		free(r->recording[i].format);
		free(r->recording[i].command);
		free(r->recording[i].damage);
		free(r->recording[i].remark);
		free(r->recording[i].live);
	}
	for (size_t i = 0; i < r->n_threads; i++)
		free(r->thread[i].name);
	free(r->row);
	free(r->counter);
	free(r->recording);
	free(r->thread);
	free(r->single);
	labels_free(&r->labels);
	arena_free(&r->arena);
	*r = (struct regions){ 0 };
}

/* Returns NULL for NULL. */
static bool copied(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return !from || *to;
}

const char *regions_counter_name(const void *regions, size_t counter)
{
	return ((const struct regions *)regions)->counter[counter].name;
}

static int take_counters(struct regions *r, const struct timeline_info *info,
			 struct tare_error *err)
{
	char who[160];

	if (r->n_recordings == 0) {
		r->counter = calloc(info->n_counters + 1, sizeof(*r->counter));
		if (!r->counter)
			return tare_fail_nomem(err);
		for (size_t c = 0; c < info->n_counters; c++) {
			const struct timeline_counter *from = &info->counter[c];
			struct regions_counter *to = &r->counter[r->n_counters++];

			*to = (struct regions_counter){ .quality = from->quality };
			if (!copied(&to->name, from->name) || !copied(&to->unit, from->unit) ||
			    !copied(&to->note, from->note))
				return tare_fail_nomem(err);
		}
	}
	for (size_t c = 0; c < r->n_counters || c < info->n_counters; c++) {
		const char *now = c < info->n_counters ? info->counter[c].name : "none",
			   *before = c < r->n_counters ? r->counter[c].name : "none";

		if (c < info->n_counters && c < r->n_counters && !strcmp(now, before)) {
			/* With several recordings, the lowest quality applies. */
			if (info->counter[c].quality < r->counter[c].quality)
				r->counter[c].quality = info->counter[c].quality;
			for (size_t w = 0; w < TIMELINE_PATHS; w++)
				if (!r->counter[c].record_path[w].own.known)
					r->counter[c].record_path[w].own = info->counter[c].own[w];
			continue;
		}
		tare_fail(err, EINVAL, "%.100s: its counter %zu is %.60s; in %.100s it is %.60s",
			  info->path, c + 1, now, r->recording[0].path, before);
		tare_hint(
			err,
			"only recordings with the same counters can be summed; summarize these one by one");
		return -EINVAL;
	}
	snprintf(who, sizeof(who), "%.150s has", info->path);
	return counter_named(&r->by, r->options.by, r, r->n_counters, regions_counter_name, who,
			     err);
}

static int take_recording(struct regions *r, const struct timeline_info *info,
			  struct tare_error *err)
{
	struct regions_recording *to;

	if (!array_one_more(&r->recording, r->n_recordings, sizeof(*r->recording)))
		return tare_fail_nomem(err);
	to = &r->recording[r->n_recordings++];
	*to = (struct regions_recording){ .start_ns = info->start_ns, .machine = info->machine };
	if (!copied(&to->path, info->path) || !copied(&to->format, info->format) ||
	    !copied(&to->command, info->command) || !copied(&to->damage, info->damage) ||
	    !copied(&to->remark, info->remark) || !copied(&to->live, info->live))
		return tare_fail_nomem(err);
	return 0;
}

static int take_thread(struct regions *r, const struct timeline_thread *from,
		       struct tare_error *err)
{
	struct regions_thread *to;

	if (!array_one_more(&r->thread, r->n_threads, sizeof(*r->thread)))
		return tare_fail_nomem(err);
	to = &r->thread[r->n_threads++];
	*to = (struct regions_thread){ .recording = r->n_recordings - 1,
				       .pid = from->pid,
				       .tid = from->tid,
				       .lost = from->lost,
				       .complete = from->complete,
				       .goes_on = from->goes_on,
				       .end_unknown = from->end_unknown };
	return copied(&to->name, from->name) ? 0 : tare_fail_nomem(err);
}

static uint32_t new_row(struct regions *r, uint32_t label, uint32_t thread)
{
	/* views read the first counter even if there is none */
	size_t n = r->n_counters ? r->n_counters : 1;
	struct regions_row *row;

	if (!array_reserve(&r->row, &r->room, r->n + 1, sizeof(*r->row)))
		return NO_ROW;
	row = &r->row[r->n];
	*row = (struct regions_row){ .label = label, .thread = thread, .rare = &no_rare };
	row->sum = arena_alloc(&r->arena, n * sizeof(*row->sum));
	if (!row->sum)
		return NO_ROW;
	for (size_t c = 0; c < n; c++)
		row->sum[c].rare = &no_sum_rare;
	return (uint32_t)r->n++;
}

/* The row of a label, allocated on first use. */
static __attribute__((noinline)) uint32_t find_row(struct adding *a, uint32_t label)
{
	uint32_t *row = &a->row[label], number;

	if (!a->r->options.with_arguments)
		label = timeline_label(a->t, label)->group;
	number = a->number[label];
	if (a->row_of[number] == NO_ROW)
		a->row_of[number] = new_row(a->r, number,
					    a->r->options.per_thread ? (uint32_t)a->thread
								     : REGIONS_ALL_THREADS);
	return *row = a->row_of[number];
}

static inline uint32_t row_of(struct adding *a, uint32_t label)
{
	return __builtin_expect(a->row[label] != NO_ROW, 1) ? a->row[label] : find_row(a, label);
}

/* The row's counts of unmatched begins and ends, allocated on first use. NULL: out of memory. */
static struct region_unbalanced *unbalanced_of(struct adding *a, struct regions_row *row,
					       uint32_t label, size_t thread)
{
	const struct timeline_label *l = timeline_label(a->t, label);
	struct regions_rare_fields *rare = rare_of(a->r, row);
	struct region_unbalanced *u = rare ? (struct region_unbalanced *)rare->unbalanced : NULL;

	if (rare && !u) {
		u = arena_alloc(&a->r->arena, sizeof(*u));
		rare->unbalanced = u;
		if (u)
			u->thread = thread;
	}
	if (u && !u->file && l->file) {
		u->file = arena_string(&a->r->arena, l->file, strlen(l->file));
		u->line = l->line;
	}
	return u;
}

static __attribute__((noinline, cold)) bool note_cut(struct adding *a, struct regions_row *row,
						     const struct region_frame *f, bool no_end)
{
	struct region_unbalanced *u;

	if (timeline_label(a->t, f->label)->gap) {
		a->r->regions--;
		return true;
	}
	u = unbalanced_of(a, row, f->label, a->thread);
	if (!u)
		return false;
	((struct regions_rare_fields *)row->rare)->cut++;
	((struct regions_rare_fields *)row->rare)->holes += (f->repaired & TIMELINE_AT_GAP) ==
		TIMELINE_AT_GAP;
	u->not_ended += no_end;
	u->not_begun += !no_end;
	return true;
}

static void keep_single(struct regions *r, const struct regions_single *now)
{
	size_t at = r->n_singles;

	if (r->options.singles == 0 ||
	    (at == r->options.singles && now->cost <= r->single[at - 1].cost))
		return;
	at = at == r->options.singles ? at - 1 : r->n_singles++;
	for (; at > 0 && r->single[at - 1].cost < now->cost; at--)
		r->single[at] = r->single[at - 1];
	r->single[at] = *now;
}

static void note_single(struct adding *a, const struct region_done *done,
			const struct regions_own *own)
{
	struct regions *r = a->r;
	const struct region_frame *around = region_stack_top(&a->stack);
	size_t c = r->by;
	struct regions_single now = { .label = a->number[done->frame->label],
				      .around = around ? a->number[around->label] : LABELS_NONE,
				      .thread = a->thread,
				      .end_thread = a->thread,
				      .offset = done->frame->offset,
				      .begin = done->begin[c] - a->first[c],
				      .cost = done->cost[c],
				      .self = done->self[c],
				      .own = *own,
				      .self_known = !(done->no_self & 1u << c),
				      .cut = done->frame->repaired,
				      .begin_known = true };

	if (!(done->no_cost & 1u << c))
		keep_single(r, &now);
}

/* `begin` is relative to the thread's first begin, which may be read later: see place_singles(). */
static void note_async_span(struct adding *a, const struct async_end *h,
			    const struct timeline_point *p, uint64_t from, uint64_t cost)
{
	keep_single(a->r,
		    &(struct regions_single){ .label = a->number[h->label],
					      .around = LABELS_NONE,
					      .thread = h->is_start ? h->thread : a->thread,
					      .end_thread = h->is_start ? a->thread : h->thread,
					      .offset = h->is_start ? h->offset : p->offset,
					      .begin = from,
					      .cost = cost,
					      .self = (int64_t)cost,
					      .self_known = true,
					      .async = true });
}

static void place_singles(struct adding *a)
{
	for (size_t i = 0; i < a->r->n_singles; i++) {
		struct regions_single *s = &a->r->single[i];
		size_t thread = s->thread - a->threads_before;

		if (!s->async || s->thread < a->threads_before)
			continue;

		const struct first *f = &a->first_by[thread];
		uint64_t from = f->has_region ? f->region : f->timing;

		s->begin_known = (f->has_region || f->has_timing) && s->begin >= from;
		s->begin = s->begin_known ? s->begin - from : 0;
	}
}

static bool begin_region(struct adding *a, const struct timeline_point *p)
{
	size_t n = a->r->n_counters;
	uint32_t row = row_of(a, p->label);

	if (row == NO_ROW || !region_stack_begin(&a->stack, p))
		return false;
	if (a->record_path) {
		if (!array_reserve(&a->own, &a->own_room, a->stack.depth, n * sizeof(*a->own)))
			return false;
		memset(&a->own[(a->stack.depth - 1) * n], 0, n * sizeof(*a->own));
	}
	a->r->row[row].open++;
	if (a->stack.depth > a->r->deepest)
		a->r->deepest = a->stack.depth;
	return true;
}

static __attribute__((noinline)) bool add_single_without_own(struct regions *r,
							     struct regions_sum *s, uint64_t cost,
							     double own)
{
	int64_t left = (int64_t)cost - llround(own);
	struct regions_sum_rare_fields *rare;

	if (left >= 0)
		return distribution_add(&s->each, (uint64_t)left);
	rare = sum_rare_of(r, s);
	return rare && distribution_add(&rare->below, (uint64_t)-left);
}

/* The cost of a single region, as shown. */
static inline __attribute__((always_inline)) bool add_single(struct regions *r,
							     struct regions_sum *s, uint64_t cost,
							     const struct regions_own *own)
{
	return r->options.subtract_own ? add_single_without_own(r, s, cost, own->total)
				       : distribution_add(&s->each, cost);
}

/*
 * Compute the recording overhead of a region that ended, from its way of recording and its frame
 * depth, and add it to the overhead of the enclosing region.
 */
static inline __attribute__((always_inline)) void own_of(struct adding *a, uint8_t record_path,
							 size_t depth, size_t c, size_t n,
							 struct regions_own *out)
{
	const struct timeline_own *k = &a->info->counter[c].own[record_path];
	struct regions_own *up;

	*out = a->own[depth * n + c];
	if (k->known) {
		out->self += k->inside;
		out->total += k->inside;
		out->self_off += k->inside_off;
		out->total_off += k->inside_off;
	}
	if (!depth)
		return;
	up = &a->own[(depth - 1) * n + c];
	up->self += k->outside;
	up->self_off += k->outside_off;
	up->total += out->total + k->outside;
	up->total_off += out->total_off + k->outside_off;
}

static inline __attribute__((always_inline)) void add_outermost(struct adding *a, size_t c,
								uint64_t cost)
{
	a->outermost[c].cost += cost;
}

/* Add the recording overhead of an outermost region, inside and outside it. */
static inline __attribute__((always_inline)) void add_outermost_own(struct adding *a, size_t c,
								    uint8_t record_path,
								    const struct regions_own *own)
{
	const struct timeline_own *k = &a->info->counter[c].own[record_path];
	struct outermost *to = &a->outermost[c];

	to->own.whole += own->total;
	to->own.whole_off += own->total_off;
	if (k->known) {
		to->own.outside += k->outside;
		to->own.outside_off += k->outside_off;
	}
	if (!to->any)
		to->first = record_path;
	to->last = record_path;
	to->any = true;
}

static __attribute__((noinline)) bool add_again(struct regions *r, struct regions_sum *s,
						uint64_t cost)
{
	struct regions_sum_rare_fields *rare = sum_rare_of(r, s);

	if (rare)
		rare->again += cost;
	return rare != NULL;
}

/* Add a region's cost and its overhead to its row. Nested regions of one label count once. */
static inline __attribute__((always_inline)) bool add_total(struct regions *r,
							    struct regions_sum *s, bool outermost,
							    uint64_t cost,
							    const struct regions_own *own)
{
	if (!outermost)
		return add_again(r, s, cost);
	s->total += cost;
	s->own.total += own->total;
	s->own.total_off += own->total_off;
	return true;
}

static inline __attribute__((always_inline)) void add_self(struct regions_sum *s, int64_t self,
							   const struct regions_own *own)
{
	s->self += self;
	s->own.self += own->self;
	s->own.self_off += own->self_off;
}

static __attribute__((noinline)) bool count_recursive(struct regions *r, struct regions_row *row)
{
	struct regions_rare_fields *rare = rare_of(r, row);

	if (rare)
		rare->recursive++;
	return rare != NULL;
}

static bool end(struct adding *a, const struct timeline_point *p)
{
	struct regions *r = a->r;
	size_t n = r->n_counters;
	struct regions_own own = { 0 }, single_own = { 0 };
	struct regions_sum_rare_fields *sum_rare;
	struct region_done done;
	struct regions_row *row;
	bool outermost;

	region_stack_end(&a->stack, p, &done);
	row = &r->row[a->row[done.frame->label]];
	row->count++;
	r->regions++;
	outermost = --row->open == 0;
	if (!outermost && !count_recursive(r, row))
		return false;
	if (done.frame->repaired && !note_cut(a, row, done.frame, p->repaired))
		return false;
	if (a->record_path)
		a->of_record_path[a->record_path[done.frame->label]]++;
	for (size_t c = 0; c < n; c++) {
		struct regions_sum *s = &row->sum[c];

		if (a->record_path)
			own_of(a, a->record_path[done.frame->label], a->stack.depth, c, n, &own);
		if (done.no_cost & 1u << c) {
			sum_rare = sum_rare_of(r, s);
			if (!sum_rare)
				return false;
			sum_rare->unknown++;
			r->counter[c].backwards += done.backwards >> c & 1;
			continue;
		}
		if (!add_total(r, s, outermost, done.cost[c], &own))
			return false;
		if (done.no_self & 1u << c) {
			sum_rare = sum_rare_of(r, s);
			if (!sum_rare)
				return false;
			sum_rare->no_self++;
		} else {
			add_self(s, done.self[c], &own);
		}
		if (!done.frame->repaired && !add_single(r, s, done.cost[c], &own))
			return false;
		if (a->single && c == r->by)
			single_own = own;
		if (a->stack.depth == 0) {
			add_outermost(a, c, done.cost[c]);
			if (a->record_path)
				add_outermost_own(a, c, a->record_path[done.frame->label], &own);
		}
	}
	if (a->single && a->single[done.frame->label])
		note_single(a, &done, &single_own);
	return true;
}

static bool add_async_span(struct adding *a, const struct async_end *h,
			   const struct timeline_point *p)
{
	struct regions *r = a->r;
	struct regions_row *row = &r->row[h->row];
	struct regions_rare_fields *of_row = rare_of(r, row);

	if (!of_row)
		return false;
	row->count++;
	of_row->async++;
	r->regions++;
	for (size_t c = 0; c < r->n_counters; c++) {
		uint64_t from = h->is_start ? h->value[c] : p->value[c],
			 to = h->is_start ? p->value[c] : h->value[c];
		/* Only a clock is comparable between threads. */
		bool across = h->thread != a->thread && (int)c != a->info->time,
		     known = !across && !((h->missing | p->missing) & 1u << c);
		struct regions_sum_rare_fields *rare = sum_rare_of(r, &row->sum[c]);

		if (!rare)
			return false;
		if (!known || to < from) {
			rare->unknown++;
			r->counter[c].backwards += known;
			r->counter[c].across += across;
			continue;
		}
		if (a->single && a->single[h->label] && c == r->by)
			note_async_span(a, h, p, from, to - from);
		row->sum[c].self += (int64_t)(to - from);
		rare->async += to - from;
		r->counter[c].async += to - from;
		row->sum[c].total += to - from;
		if (!distribution_add(&row->sum[c].each, to - from))
			return false;
	}
	return true;
}

static void note_start(struct adding *a, const struct timeline_point *p)
{
	struct first *f = &a->first_by[a->thread - a->threads_before];

	if (f->has_timing || p->missing >> a->r->by & 1)
		return;
	f->timing = p->value[a->r->by];
	f->has_timing = true;
}

static bool add_async_end(struct adding *a, const struct timeline_point *p)
{
	struct async_end h = { .number = p->number,
			       .row = row_of(a, p->label),
			       .label = p->label,
			       .offset = p->offset,
			       .missing = p->missing,
			       .is_start = p->kind == TIMELINE_START,
			       .thread = a->thread };
	struct region_unbalanced *u;
	struct async_end other;

	if (h.row == NO_ROW)
		return false;
	memcpy(h.value, p->value, a->r->n_counters * sizeof(*p->value));
	if (a->first_by && h.is_start)
		note_start(a, p);
	switch (async_spans_meet(&a->halves, &h, &other)) {
	case ASYNC_END_WHOLE:
		return add_async_span(a, &other, p);
	case ASYNC_END_TWICE:
		a->r->unmatched++;
		u = unbalanced_of(a, &a->r->row[h.row], p->label, a->thread);
		if (u && h.is_start)
			u->not_finished++;
		else if (u)
			u->finished_again++;
		return u != NULL;
	case ASYNC_END_KEPT:
		return true;
	default:
		return false;
	}
}

static bool integer(struct adding *a, const struct timeline_point *p)
{
	uint32_t row = row_of(a, p->label);
	struct regions_rare_fields *rare = row == NO_ROW ? NULL : rare_of(a->r, &a->r->row[row]);
	struct regions_integers *to;

	if (!rare)
		return false;
	to = &rare->integers;
	to->min = to->n == 0 || p->number < to->min ? p->number : to->min;
	to->max = p->number > to->max ? p->number : to->max;
	to->beyond |= __builtin_add_overflow(to->sum, p->number, &to->sum);
	if (to->beyond)
		to->sum = UINT64_MAX;
	to->last = p->number;
	to->n++;
	return true;
}

static void note_first(struct adding *a, const struct timeline_point *p)
{
	for (size_t c = 0; c < a->r->n_counters; c++)
		if (!((p->missing | a->seen) & 1u << c)) {
			a->first[c] = a->last[c] = p->value[c];
			a->seen |= (uint8_t)(1u << c);
		}
}

/*
 * If the counter was not read, `value` still has the last one that was read. That is the one needed
 * here.
 */
static void note_last(struct adding *a, const struct timeline_point *p)
{
	for (size_t c = 0; c < a->r->n_counters; c++)
		a->last[c] = p->value[c];
}

static bool point(struct adding *a, const struct timeline_point *p)
{
	struct regions *r = a->r;
	struct regions_rare_fields *rare;
	uint32_t row;

	r->points += !p->put_in;
	switch (p->kind) {
	case TIMELINE_BEGIN:
		if (a->seen != a->all)
			note_first(a, p);
		return begin_region(a, p);
	case TIMELINE_END:
		if (a->stack.depth == 1) /* so that the last point is included */
			note_last(a, p);
		return end(a, p);
	case TIMELINE_START:
	case TIMELINE_FINISH:
		return add_async_end(a, p);
	case TIMELINE_INTEGER:
		return integer(a, p);
	case TIMELINE_INSTANT:
		row = row_of(a, p->label);
		rare = row == NO_ROW ? NULL : rare_of(r, &r->row[row]);
		if (rare)
			rare->instants++;
		return rare != NULL;
	case TIMELINE_LOST:
		r->gaps++;
		r->lost += p->number;
		r->lost_unknown |= p->number == 0;
		r->points--;
		return true;
	}
	return true;
}

/*
 * The fast path for nearly all points: plain points of labels that already have a row. Does the
 * same as point() with half of the instructions, and stops before any other point. Returns the
 * number of points processed. The stack has room for them. n is n_counters, a compile-time constant
 * when it is 1.
 */
static inline __attribute__((always_inline)) size_t plain_points(struct adding *a,
								 const struct timeline_point *p,
								 size_t n_points, size_t n)
{
	struct regions *r = a->r;
	const uint32_t *const row_of = a->row;
	const uint8_t *const record_paths = a->record_path, *const single = a->single;
	const struct timeline_point *const first = p, *const end = p + n_points;
	struct region_walk walk = region_walk_from(&a->stack, n);
	size_t begun = a->stack.depth, depth = begun, deepest = r->deepest;
	bool outermost, no_memory = false;

	for (; p < end && row_of[p->label] != NO_ROW; p++) {
		struct regions_row *row = &r->row[row_of[p->label]];
		uint64_t cost[TIMELINE_COUNTERS_MAX], self[TIMELINE_COUNTERS_MAX];

		if (!region_is_plain(p))
			break;
		if (p->kind == TIMELINE_BEGIN) {
			if (record_paths && depth == a->own_room)
				break;
			region_walk_begin(&walk, p, n);
			if (record_paths)
				memset(&a->own[depth * n], 0, n * sizeof(*a->own));
			depth++;
			deepest = depth > deepest ? depth : deepest;
			row->open++;
			continue;
		}
		if ((single && single[p->label]) || !region_walk_end(&walk, p, n, cost, self))
			break;
		depth--;
		row->count++;
		if (record_paths)
			a->of_record_path[record_paths[p->label]]++;
		outermost = --row->open == 0;
		if (!outermost)
			no_memory |= !count_recursive(r, row);
		for (size_t c = 0; c < n; c++) {
			struct regions_sum *s = &row->sum[c];
			struct regions_own own = { 0 };

			if (record_paths)
				own_of(a, record_paths[p->label], depth, c, n, &own);
			if (depth == 0) {
				add_outermost(a, c, cost[c]);
				if (record_paths)
					add_outermost_own(a, c, record_paths[p->label], &own);
				a->last[c] = p->value[c];
			}
			add_self(s, (int64_t)self[c], &own);
			no_memory |= !add_total(r, s, outermost, cost[c], &own) ||
				!add_single(r, s, cost[c], &own);
		}
	}
	region_walk_to(&a->stack, &walk);
	r->deepest = deepest;
	r->points += (uint64_t)(p - first);
	r->regions += ((uint64_t)(p - first) + begun - depth) / 2; /* the ends */
	a->no_memory |= no_memory;
	return (size_t)(p - first);
}

/* Separate functions, because each needs all registers. */
static __attribute__((noinline)) size_t plain_of_one(struct adding *a,
						     const struct timeline_point *p,
						     size_t n_points)
{
	return plain_points(a, p, n_points, 1);
}

static __attribute__((noinline)) size_t plain_of_several(struct adding *a,
							 const struct timeline_point *p,
							 size_t n_points)
{
	return plain_points(a, p, n_points, a->r->n_counters);
}

static bool points(struct adding *a, const struct timeline_point *p, size_t n_points)
{
	const struct timeline_point *const end = p + n_points;

	if (!region_stack_reserve(&a->stack, n_points))
		return false;
	for (;; p++) {
		if (a->seen == a->all)
			p += (a->r->n_counters == 1 ? plain_of_one
						    : plain_of_several)(a, p, (size_t)(end - p));
		if (a->no_memory || p == end)
			return !a->no_memory;
		if (!point(a, p))
			return false;
	}
}

/* The thread's whole cost, and the part of it in no region. */
static void add_whole(struct adding *a, size_t c)
{
	struct regions_counter *k = &a->r->counter[c];
	const struct timeline_own *own = a->info->counter[c].own;
	struct outermost *o = &a->outermost[c];
	uint64_t whole = a->last[c] - a->first[c];

	if (!(a->seen & 1u << c) || a->last[c] < a->first[c])
		return;
	for (int end = 0; o->any && end < 2; end++) {
		const struct timeline_own *beside = &own[end ? o->last : o->first];

		o->own.outside -= beside->known ? beside->outside / 2 : 0;
		o->own.outside_off -= beside->known ? beside->outside_off / 2 : 0;
	}
	k->whole += whole;
	/* unsigned arithmetic: a damaged file may have any values */
	k->outside = (int64_t)((uint64_t)k->outside + whole - o->cost);
	k->own.whole += o->own.whole + o->own.outside;
	k->own.whole_off += o->own.whole_off + o->own.outside_off;
	k->own.outside += o->own.outside;
	k->own.outside_off += o->own.outside_off;
}

static int one_thread(struct adding *a, size_t i, struct tare_error *err)
{
	struct cursor *cursor = NULL;
	const struct timeline_point *p;
	int ret = take_thread(a->r, &a->info->thread[i], err);

	if (ret < 0)
		return ret;
	a->thread = a->r->n_threads - 1;
	if (a->r->options.per_thread) {
		memset(a->row, 0xff, a->info->n_labels * sizeof(*a->row));
		memset(a->row_of, 0xff, a->r->labels.n * sizeof(*a->row_of));
	}
	a->seen = 0;
	memset(a->outermost, 0, sizeof(a->outermost));
	ret = timeline_thread(a->t, i, &cursor, err);
	if (ret < 0)
		return ret;
	while ((ret = cursor_read(cursor, TIMELINE_AT_ONCE, &p, err)) > 0)
		if (!points(a, p, (size_t)ret)) {
			ret = tare_fail_nomem(err);
			break;
		}
	cursor_close(cursor);
	if (a->single) {
		a->first_by[a->thread - a->threads_before].region = a->first[a->r->by];
		a->first_by[a->thread - a->threads_before].has_region = a->seen >> a->r->by & 1;
	}
	/* the reader balances begins and ends, so the stack is empty except after an error */
	a->stack.depth = 0;
	for (size_t c = 0; ret == 0 && c < a->r->n_counters; c++)
		add_whole(a, c);
	return ret;
}

static bool wanted(const struct regions *r, const struct timeline_thread *t)
{
	char number[24];

	snprintf(number, sizeof(number), "%" PRIu64, t->tid);
	return !r->options.thread || !strcmp(r->options.thread, number) ||
		!strcmp(r->options.thread, t->name);
}

/* Find the labels that need their single regions kept. */
static int find_single(struct adding *a, struct tare_error *err)
{
	struct regions *r = a->r;

	if (!r->options.single)
		return 0;
	a->single = calloc(a->info->n_labels + 1, sizeof(*a->single));
	a->first_by = calloc(a->info->n_threads + 1, sizeof(*a->first_by));
	if (!r->single)
		r->single = calloc(r->options.singles + 1, sizeof(*r->single));
	if (!a->single || !r->single || !a->first_by)
		return tare_fail_nomem(err);
	for (uint32_t i = 0; i < a->info->n_labels; i++)
		a->single[i] = !strcmp(timeline_label(a->t, i)->name, r->options.single);
	return 0;
}

static int prepare(struct adding *a, struct tare_error *err)
{
	struct regions *r = a->r;

	a->number = labels_of(&r->labels, a->t, true, err);
	if (!a->number)
		return -ENOMEM;
	labels_settle(&r->labels); /* frees memory that the rows need */
	a->row = malloc((a->info->n_labels + 1) * sizeof(*a->row));
	a->row_of = malloc((r->labels.n + 1) * sizeof(*a->row_of));
	if (!a->row || !a->row_of)
		return tare_fail_nomem(err);
	memset(a->row, 0xff, a->info->n_labels * sizeof(*a->row));
	memset(a->row_of, 0xff, r->labels.n * sizeof(*a->row_of));
	for (size_t i = 0; !r->options.per_thread && i < r->n; i++)
		a->row_of[r->row[i].label] = (uint32_t)i;
	return find_single(a, err);
}

/* Timings with only one end read. */
static int judge_halves(struct adding *a, struct tare_error *err)
{
	struct regions *r = a->r;
	bool *left_out = calloc(a->info->n_threads + 1, sizeof(*left_out)), any = false;
	int ret = left_out ? 0 : tare_fail_nomem(err);

	for (size_t i = 0; ret == 0 && i < a->info->n_threads; i++) {
		left_out[i] = !wanted(r, &a->info->thread[i]);
		any |= left_out[i];
	}
	if (ret == 0)
		ret = async_spans_settle(&a->halves, a->t, any ? left_out : NULL, err);
	for (size_t i = 0; ret == 0 && i < a->halves.slots; i++) {
		const struct async_end *h = &a->halves.slot[i];
		struct region_unbalanced *u, none_yet = { 0 };

		r->left_out += h->used && h->elsewhere;
		if (!h->used || !async_end_judge(h, &none_yet))
			continue;
		u = unbalanced_of(a, &r->row[h->row], h->label, h->thread);
		if (!u) {
			ret = tare_fail_nomem(err);
			break;
		}
		async_end_judge(h, u);
		r->unmatched++;
	}
	free(left_out);
	return ret;
}

/* The way each label is recorded, if the recording overhead is known. */
static int find_ways(struct adding *a, struct tare_error *err)
{
	bool known = false;

	for (size_t c = 0; c < a->info->n_counters; c++)
		for (size_t w = 0; w < TIMELINE_PATHS; w++)
			known |= a->info->counter[c].own[w].known;
	if (!known)
		return 0;
	a->record_path = malloc(a->info->n_labels + 1);
	if (!a->record_path)
		return tare_fail_nomem(err);
	for (uint32_t i = 0; i < a->info->n_labels; i++)
		a->record_path[i] = timeline_label(a->t, i)->record_path;
	return 0;
}

static void note_ways(struct adding *a)
{
	for (size_t c = 0; c < a->r->n_counters; c++)
		for (size_t w = 0; w < TIMELINE_PATH_NONE; w++)
			a->r->counter[c].record_path[w].regions += a->of_record_path[w];
}

int regions_add(struct regions *r, struct timeline *t, struct tare_error *err)
{
	struct adding a = {
		.r = r, .t = t, .info = timeline_info(t), .threads_before = r->n_threads
	};
	int ret = take_counters(r, a.info, err);

	r->sorted = false;
	region_stack_init(&a.stack, r->n_counters);
	a.all = (uint8_t)((1u << r->n_counters) - 1);
	if (ret == 0)
		ret = take_recording(r, a.info, err);
	if (ret == 0)
		ret = prepare(&a, err);
	if (ret == 0)
		ret = find_ways(&a, err);
	for (size_t i = 0; ret == 0 && i < a.info->n_threads; i++)
		if (wanted(r, &a.info->thread[i]))
			ret = one_thread(&a, i, err);
	if (ret == 0)
		ret = judge_halves(&a, err);
	if (ret == 0)
		place_singles(&a);
	note_ways(&a);
	r->counters_unknown |= a.info->counters_unknown;
	r->lost += r->options.thread ? 0 : a.info->lost;
	r->lost_handlers += r->options.thread ? 0 : a.info->lost_handlers;
	/* their thread is not known */
	r->lost_unknown |= a.info->lost_unknown || (r->options.thread && a.info->lost);
	region_stack_free(&a.stack);
	free(a.number);
	free(a.row);
	free(a.row_of);
	free(a.single);
	free(a.first_by);
	free(a.record_path);
	free(a.own);
	async_spans_free(&a.halves);
	return ret;
}

double regions_self(const struct regions *r, const struct regions_row *row, size_t counter)
{
	return (double)row->sum[counter].self -
		(r->options.subtract_own ? row->sum[counter].own.self : 0);
}

double regions_nested_self(const struct regions *r, const struct regions_row *row, size_t counter)
{
	return regions_self(r, row, counter) - (double)row->sum[counter].rare->async;
}

double regions_total(const struct regions *r, const struct regions_row *row, size_t counter)
{
	return (double)row->sum[counter].total -
		(r->options.subtract_own ? row->sum[counter].own.total : 0);
}

double regions_whole(const struct regions *r, size_t counter)
{
	return (double)r->counter[counter].whole -
		(r->options.subtract_own ? r->counter[counter].own.whole : 0);
}

double regions_outside(const struct regions *r, size_t counter)
{
	return (double)r->counter[counter].outside -
		(r->options.subtract_own ? r->counter[counter].own.outside : 0);
}

uint64_t regions_singles(const struct regions_sum *s)
{
	return s->each.n + s->rare->below.n;
}

static int64_t single_at(const struct regions_sum *s, uint64_t rank, uint64_t *error)
{
	uint64_t below = s->rare->below.n, v;

	if (rank <= below)
		return -(int64_t)distribution_at(&s->rare->below, below - rank + 1, error);
	v = distribution_at(&s->each, rank - below, error);
	return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

int64_t regions_single(const struct regions_sum *s, double q, uint64_t *error)
{
	uint64_t n = regions_singles(s), rank = (uint64_t)ceil(q * (double)n);

	return single_at(s, rank < 1 ? 1 : rank > n ? n : rank, error);
}

int64_t regions_median(const struct regions_sum *s, uint64_t *error)
{
	uint64_t n = regions_singles(s), lower_off, upper_off;
	int64_t lower = single_at(s, (n + 1) / 2, &lower_off),
		upper = single_at(s, n / 2 + 1, &upper_off);

	if (error)
		*error = lower_off > upper_off ? lower_off : upper_off;
	return median_between(lower, upper);
}

bool regions_own_known(const struct regions_counter *k)
{
	for (size_t w = 0; w < TIMELINE_PATHS; w++)
		if (k->record_path[w].regions && k->record_path[w].own.known)
			return true;
	return false;
}
