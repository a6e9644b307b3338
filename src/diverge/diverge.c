/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "diverge/diverge_runs.h"

enum {
	EVERY_USUAL = 1 << 16,
	NARROW = 1024, /* how many parts one pass divides an interval into */
	STACK_BYTES = 65528,
	CALLS_MOST = 1 << 20, /* system calls of each thread, recorded to order the threads */
	TRIES = 4,            /* attempts to find a divergence that moves */
	LOOKS = 64,           /* samples in an interval whose exact place is not known */
	AGAIN = 5,            /* runs compared with one run until one of them diverges from it */
	PARTS = 4096, /* how many parts one pass divides the instructions before the place into */
	CHANCES = 4,  /* runs in which a value may change */
};

/* ---- comparing ---- */

/* The first checkpoint that differs; `n` when only the ends differ; SIZE_MAX: no difference. */
static size_t parted(const struct track *a, const struct track *b)
{
	size_t n = a->n < b->n ? a->n : b->n, i = 0;

	while (i < n && a->mark[i].hash == b->mark[i].hash)
		i++;
	if (i < n || a->n != b->n)
		return i;
	return a->ended == b->ended && a->end.hash == b->end.hash ? SIZE_MAX : i;
}

static uint64_t time_of(const struct track *t, size_t i)
{
	return i < t->n ? t->mark[i].time_ns : t->ended ? t->end.time_ns : UINT64_MAX - 1;
}

static int64_t count_of(const struct track *t, size_t i)
{
	return i < t->n ? t->mark[i].count : t->ended ? t->end.count : 0;
}

/*
 * Returns how many threads diverge, and sets `d` to the first of them and the interval in which it
 * diverges. The first thread is the one with the earliest differing checkpoint, by the first run's
 * clock (by the second's for threads missing in the first run). A divergence that it causes in
 * another thread shows only at that thread's next checkpoint, if the checkpoints are system calls.
 */
static size_t partings(const struct pass p[2], const struct exact_every *every,
		       struct divergence *d)
{
	uint64_t best[2] = { UINT64_MAX, UINT64_MAX };
	size_t n = 0;

	for (unsigned run = 0; run < 2; run++)
		for (size_t i = 0; i < p[run].tracks.n; i++) {
			uint64_t stable_id = ((const struct track *)p[run].tracks.item)[i]
						     .stable_id;
			const struct track *a = diverge_track(&p[0], stable_id),
					   *b = diverge_track(&p[1], stable_id);
			size_t at = run && a->stable_id ? SIZE_MAX : parted(a, b);
			uint64_t when[2] = { time_of(a, at), time_of(b, at) };

			n += at != SIZE_MAX;
			if (at == SIZE_MAX || when[0] > best[0] ||
			    (when[0] == best[0] && when[1] >= best[1]))
				continue;
			memcpy(best, when, sizeof(best));
			d->stable_id = stable_id;
			d->low = at ? count_of(a, at - 1) : 0;
			d->high = count_of(a, at) > count_of(b, at) ? count_of(a, at)
								    : count_of(b, at);
			if (every->class == EXACT_INSTRUCTIONS &&
			    d->high > d->low + (int64_t)every->n)
				d->high = d->low + (int64_t)every->n;
			if (d->high <= d->low)
				d->high = d->low + 1;
		}
	return n;
}

static bool first_parted(const struct pass p[2], const struct exact_every *every,
			 struct divergence *d)
{
	return partings(p, every, d) > 0;
}

/* If another thread diverged before the next checkpoint, these checkpoints do not give their
 * order. */
static bool first_and_alone(const struct pass p[2], const struct exact_every *every,
			    struct divergence *d)
{
	size_t n = partings(p, every, d);

	d->several = n > 1;
	return n > 0;
}

/* Whether they diverge in the current interval; if so, sets low and high to a smaller one. */
static bool narrowed(const struct pass p[2], const struct exact_every *every, struct divergence *d)
{
	const struct track *a = diverge_track(&p[0], d->stable_id),
			   *b = diverge_track(&p[1], d->stable_id);
	size_t at = parted(a, b);

	if (at == SIZE_MAX || (at == 0 && d->low > 0)) /* not at all, or before the interval */
		return false;
	d->low = at ? (int64_t)(every->first + (at - 1) * every->n) : 0;
	d->high = (int64_t)(every->first + at * every->n);
	return true;
}

static bool same_way(const struct diverge_step *a, const struct diverge_step *b)
{
	return a->pc == b->pc;
}

static bool parted_closely(const struct pass p[2], const struct exact_every *every,
			   struct divergence *d)
{
	const struct diverge_run *a = &d->run[0], *b = &d->run[1];
	size_t n = a->n < b->n ? a->n : b->n, i = 0;

	(void)p;
	if (a->way != b->way) /* they diverged earlier and only their loops are in step */
		return false;
	while (i < n && same_way(&a->step[i], &b->step[i]))
		i++;
	d->ended = i == n && a->n != b->n;
	if (i == 0 || (i == n && !d->ended))
		return false;
	d->first = (int64_t)every->first;
	d->at = i - 1;
	d->low = d->first + (int64_t)d->at;
	d->high = d->low + 1;
	return true;
}

/* Search between d->low and d->high, with a checkpoint every `n` instructions. */
static int narrow(struct diverge_plan *plan, struct divergence *d, uint64_t n,
		  struct tare_error *err)
{
	int64_t low = d->low > 0 ? d->low : 1;
	struct exact_every every = { .n = n,
				     .first = (uint64_t)low,
				     .most = (uint64_t)(d->high - low) / n + 2,
				     .counts = true,
				     .path = true,
				     .only = d->stable_id };
	struct pass p[2] = { { 0 } };

	return diverge_run_until(plan, d, p, &every, AGAIN, narrowed, err);
}

static bool same_until(const struct pass p[2], const struct exact_every *every,
		       struct divergence *d)
{
	const struct diverge_run *a = &d->run[0], *b = &d->run[1];
	size_t n = (size_t)(d->low - (int64_t)every->first) + 1;

	(void)p;
	if (a->way != b->way)
		return false;
	d->first = (int64_t)every->first;
	d->at = n - 1;
	for (size_t i = 0; i < n; i++)
		if (i >= a->n || i >= b->n || !same_way(&a->step[i], &b->step[i]))
			return false;
	return true;
}

int64_t diverge_first(int64_t number)
{
	return number > DIVERGE_BEFORE ? number - DIVERGE_BEFORE : 1;
}

/* Single instructions, starting well before the place. */
static int look_closely(struct diverge_plan *plan, struct divergence *d, unsigned tries,
			parted_fn *parted, struct tare_error *err)
{
	int64_t first = diverge_first(d->low);
	struct exact_every every = { .n = 1,
				     .first = (uint64_t)first,
				     .most = (uint64_t)(d->high - first) + DIVERGE_BEHIND + 1,
				     .registers = true,
				     .counts_once = true,
				     .path = true,
				     .only = d->stable_id,
				     .n_peek = (uint16_t)d->n_watched };
	struct pass p[2] = { { .steps = true, .peeks = d->n_watched },
			     { .steps = true, .peeks = d->n_watched } };

	for (unsigned i = 0; i < d->n_watched; i++) {
		every.peek[i] = d->watched[i].address;
		every.peek_fs |= (uint32_t)d->watched[i].fs << i;
	}
	return diverge_run_until(plan, d, p, &every, tries, parted, err);
}

/* A divergence spreads to other threads through system calls, so checkpoints at system calls
 * show which thread diverged first. */
static int order_threads(struct diverge_plan *plan, struct divergence *d, struct tare_error *err)
{
	struct exact_every every = {
		.n = 1, .class = EXACT_SYSCALLS, .most = CALLS_MOST, .counts = true, .path = true
	};
	struct divergence before = *d;
	struct pass p[2] = { { 0 } };
	int ret = diverge_run_until(plan, d, p, &every, AGAIN, first_parted, err);

	if (ret == 0) {
		d->stable_id = before.stable_id;
		d->low = before.low;
		d->high = before.high;
	}
	return ret < 0 ? ret : 0;
}

/* One more run: records the thread's stack at its instruction `first` into `out`. out->stack_pc
 * is 0 if the thread does not get there. */
static int hear_stack(struct diverge_plan *plan, struct divergence *d, int64_t first, unsigned nth,
		      struct diverge_run *out, struct tare_error *err)
{
	struct exact_every every = { .n = 1,
				     .first = (uint64_t)first,
				     .most = 1,
				     .registers = true,
				     .stack = STACK_BYTES,
				     .only = d->stable_id };
	struct pass p = { .stack = true, .run = out, .err = err, .stable_id = d->stable_id };
	int ret = diverge_run_one(plan, d, &p, &every, nth);

	diverge_tracks_free(&p);
	return ret;
}

/*
 * The stack at the first step, where pairs of runs are still the same: it gives the callers before
 * it. Without the stack, only fewer callers are known.
 */
static int take_stacks(struct diverge_plan *plan, struct divergence *d, struct tare_error *err)
{
	int ret = 0;

	for (unsigned i = 0; ret == 0 && i < 2; i++) {
		struct diverge_run other = { 0 };

		free(d->run[i].stack);
		d->run[i].stack = NULL;
		ret = hear_stack(plan, d, d->first, i, &other, err);
		if (ret == 0 && other.stack_pc == d->run[i].step[0].pc) {
			d->run[i].stack = other.stack;
			d->run[i].n_stack = other.n_stack;
			d->run[i].stack_pc = other.stack_pc;
			memcpy(d->run[i].stack_regs, other.stack_regs, sizeof(other.stack_regs));
			other.stack = NULL;
		}
		diverge_run_free(&other);
	}
	return ret;
}

int diverge_beginning(struct diverge_plan *plan, struct divergence *d, struct diverge_run out[2],
		      struct tare_error *err)
{
	int ret = 0;

	out[0] = out[1] = (struct diverge_run){ 0 };
	for (unsigned i = 0; ret == 0 && i < 2; i++)
		ret = hear_stack(plan, d, 1, i, &out[i], err);
	return ret;
}

static int search_once(struct diverge_plan *plan, struct divergence *d, struct tare_error *err)
{
	uint64_t n = plan->every ? plan->every : EVERY_USUAL;
	unsigned runs = plan->runs ? plan->runs : DIVERGE_RUNS;
	struct pass p[2] = { { 0 } };
	struct exact_every every = { .n = n, .counts = true, .path = true };
	int ret = diverge_run_until(plan, d, p, &every, runs - 1, first_and_alone, err);

	if (ret == 0) {
		d->verdict = DIVERGE_SAME; /* this time */
		d->alike = runs;
		return 1;
	}
	if (ret == 1 && d->several)
		ret = order_threads(plan, d, err) < 0 ? -err->code : 1;
	while (ret == 1 && d->high - d->low > DIVERGE_CLOSE) {
		n = (uint64_t)(d->high - d->low) / NARROW + 1;
		ret = narrow(plan, d, n, err);
	}
	if (ret == 1)
		ret = look_closely(plan, d, AGAIN, parted_closely, err);
	if (ret == 1)
		d->verdict = DIVERGE_PARTED;
	return ret;
}

/* The thread's first system call, which the C library makes as a thread starts. */
static uint64_t begin_of(const struct track *t)
{
	return t->n ? t->mark[0].time_ns : t->end.time_ns;
}

unsigned diverge_beside(const struct pass *p, const struct divergence *d, bool there)
{
	const struct diverge_thread *it = diverge_thread_of(p->run->thread, p->run->ended,
							    d->stable_id);
	const struct track *t = diverge_track(p, d->stable_id);
	uint64_t from = begin_of(t), to = t->end.time_ns;
	unsigned n = 0;

	for (size_t i = t->n; i-- > 0 && t->mark[i].count >= d->high;)
		to = t->mark[i].time_ns;
	for (size_t i = 0; there && i < t->n && t->mark[i].count <= d->low; i++)
		from = t->mark[i].time_ns;
	for (size_t i = 0; it && i < p->run->ended; i++) {
		const struct diverge_thread *other = &p->run->thread[i];
		const struct track *o = diverge_track(p, other->stable_id);

		n += other->serial == it->serial && other->tid != it->tid && begin_of(o) <= to &&
			o->end.time_ns >= from;
	}
	return n;
}

/* Two more runs: count the threads that run at the same time. */
static int look_beside(struct diverge_plan *plan, struct divergence *d, struct tare_error *err)
{
	struct exact_every every = {
		.n = 1, .class = EXACT_SYSCALLS, .most = CALLS_MOST, .counts = true
	};
	int ret = 0;

	for (unsigned i = 0; ret == 0 && i < 2; i++) {
		struct pass p[2] = { { 0 } };
		unsigned there, all;

		ret = diverge_run_of_pair(plan, d, p, i, &every, err);
		there = diverge_beside(&p[i], d, true);
		all = diverge_beside(&p[i], d, false);
		d->beside_there = i && d->beside_there < there ? d->beside_there : there;
		d->beside = i && d->beside < all ? d->beside : all;
		diverge_tracks_free(&p[i]);
	}
	return ret;
}

/* One more run: record what the thread executes in the interval; no steps if it does not get
 * that far. */
static int look_roughly(struct diverge_plan *plan, struct divergence *d, struct tare_error *err)
{
	int64_t low = d->low > 0 ? d->low : 1;
	struct exact_every every = { .n = (uint64_t)(d->high - low) / LOOKS + 1,
				     .first = (uint64_t)low,
				     .most = LOOKS,
				     .registers = true,
				     .stack = STACK_BYTES,
				     .only = d->stable_id };
	struct pass p[2] = { { .steps = true, .stack = true } };
	int ret;

	d->n_watched = 0;
	d->first = low;
	d->at = 0;
	free(d->run[0].stack);
	d->run[0].stack = NULL;
	ret = diverge_run_of_pair(plan, d, p, 0, &every, err);
	diverge_tracks_free(&p[0]);
	return ret;
}

/* The thread's number in the first run, or in the second if the first does not have it. */
static void number_it(struct divergence *d)
{
	d->thread = 0;
	for (int i = 0; i < 2 && !d->thread; i++)
		d->thread = diverge_number(d->run[i].thread, d->run[i].ended, d->stable_id,
					   &d->since_exec);
}

int diverge_search(struct diverge_plan *plan, struct divergence *out, struct tare_error *err)
{
	int ret = 0;

	*out = (struct divergence){ .verdict = DIVERGE_MOVES };
	for (int i = 0; ret == 0 && i < TRIES; i++)
		ret = search_once(plan, out, err);
	if (ret == 1 && out->verdict == DIVERGE_SAME && out->pairs >= out->alike)
		out->verdict = DIVERGE_SETTLED;
	if (ret >= 0 && out->verdict != DIVERGE_SAME && (plan->fixed->missed & FIXED(ASLR))) {
		tare_fail(
			err, ENOTSUP,
			"aslr is not fixed, and two runs at different addresses diverge at once: %s",
			plan->fixed->why[FIXED_ASLR]);
		return -ENOTSUP;
	}
	if (ret == 1 && out->verdict == DIVERGE_PARTED && out->first > 1)
		ret = take_stacks(plan, out, err);
	if (ret >= 0 && out->verdict == DIVERGE_MOVES)
		ret = look_beside(plan, out, err);
	if (ret >= 0 && out->verdict == DIVERGE_MOVES)
		ret = look_roughly(plan, out, err);
	number_it(out);
	return ret < 0 ? ret : 0;
}

bool diverge_as_early(const struct divergence *d, const struct divergence *before)
{
	return d->verdict == DIVERGE_PARTED && d->stable_id == before->stable_id &&
		(d->low < before->low ||
		 d->run[0].step[d->at].pc == before->run[0].step[before->at].pc);
}

/* Try near the old place first, then search again. */
static int find_again(struct diverge_plan *plan, struct divergence *d,
		      const struct divergence *before, struct tare_error *err)
{
	bool near = true;
	int ret = 0;

	for (int i = 0; ret == 0 && i < 2 * TRIES; i++) {
		if (near) {
			d->low = before->low;
			d->high = d->low + DIVERGE_CLOSE;
			ret = look_closely(plan, d, AGAIN, parted_closely, err);
		} else {
			ret = search_once(plan, d, err);
		}
		near = near && ret == 1 &&
			i < TRIES; /* a later place: here the runs were the same by chance */
		if (ret == 1 && !diverge_as_early(d, before))
			ret = 0;
	}
	return ret;
}

/* Reuse the stacks if the first step is still the same. */
static void move_stacks(struct divergence *to, struct divergence *from)
{
	for (int i = 0; i < 2; i++) {
		struct diverge_run *old = &from->run[i], *now = &to->run[i];

		if (from->first != to->first || old->stack_pc != now->step[0].pc)
			continue;
		now->stack = old->stack;
		now->n_stack = old->n_stack;
		now->stack_pc = old->stack_pc;
		memcpy(now->stack_regs, old->stack_regs, sizeof(old->stack_regs));
		old->stack = NULL;
	}
}

int diverge_watch(struct diverge_plan *plan, struct divergence *d,
		  const struct diverge_place *place, unsigned n, struct tare_error *err)
{
	struct divergence before = *d;
	int ret;

	d->run[0] = d->run[1] = (struct diverge_run){ 0 };
	memcpy(d->watched, place, n * sizeof(*place));
	d->n_watched = n;
	ret = find_again(plan, d, &before, err);
	if (ret == 1) {
		number_it(d);
		move_stacks(d, &before);
		diverge_run_free(&before.run[0]);
		diverge_run_free(&before.run[1]);
		return d->first > 1 && !d->run[0].stack && take_stacks(plan, d, err) < 0
			? -err->code
			: 1;
	}
	diverge_run_free(&d->run[0]);
	diverge_run_free(&d->run[1]);
	before.runs = d->runs;
	before.pairs = d->pairs;
	before.shortest = d->shortest;
	before.longest = d->longest;
	before.shortest_run = d->shortest_run;
	before.longest_run = d->longest_run;
	*d = before;
	return ret;
}

int diverge_earlier(struct diverge_plan *plan, struct divergence *d, int64_t number,
		    const struct diverge_place *place, unsigned n, unsigned tries,
		    struct divergence *out, struct tare_error *err)
{
	int ret;

	*out = (struct divergence){ .verdict = DIVERGE_PARTED,
				    .stable_id = d->stable_id,
				    .thread = d->thread,
				    .low = number,
				    .high = number + 1,
				    .n_watched = n };
	if (n)
		memcpy(out->watched, place, n * sizeof(*place));
	ret = look_closely(plan, out, tries, same_until, err);
	d->runs += out->runs;
	return ret;
}

/* The last instruction of a thread before number `until` that changed the place; each pass
 * narrows the interval. 1: found; 0: it did not change. */
static int last_change(struct diverge_plan *plan, struct divergence *d, uint64_t stable_id,
		       int64_t until, const struct diverge_place *place, struct history *h,
		       struct tare_error *err)
{
	uint64_t low = 1, high = (uint64_t)until, mask = h->mask, n, first = 0;
	bool whole = true;
	int ret = 0;

	do {
		struct diverge_run run = { 0 };
		struct pass p = { .history = h, .run = &run, .err = err, .stable_id = stable_id };
		struct exact_every every = { .registers = true,
					     .only = stable_id,
					     .n_peek = 1,
					     .peek = { place->address },
					     .peek_fs = place->fs,
					     .first = low };

		every.n = n = (high - low) / PARTS + 1;
		every.most = (high - low) / n + 1;
		*h = (struct history){ .mask = mask };
		ret = diverge_run_one(plan, d, &p, &every, 0);
		diverge_tracks_free(&p);
		diverge_run_free(&run);
		if (whole)
			first = h->first;
		whole = false;
		if (ret < 0 || !h->any)
			break;
		low = (uint64_t)h->before.number;
		high = (uint64_t)h->behind.number;
	} while (n > 1);
	h->first = first;
	return ret < 0 ? ret : h->any && n == 1;
}

static uint64_t mask_of(unsigned size)
{
	return size < 8 ? (1ull << 8 * size) - 1 : ~0ull;
}

int diverge_changed_by(struct diverge_plan *plan, struct divergence *d,
		       const struct diverge_thread *thread, uint64_t address, unsigned size,
		       struct diverge_step *out, struct tare_error *err)
{
	const struct diverge_place place = { .address = address };
	struct history h = { .mask = mask_of(size) };
	int ret = last_change(plan, d, thread->stable_id, thread->instructions, &place, &h, err);

	if (ret == 1)
		*out = h.before;
	return ret;
}

int diverge_history(struct diverge_plan *plan, struct divergence *d,
		    const struct diverge_place *place, unsigned size, struct diverge_written *out,
		    struct tare_error *err)
{
	uint64_t first = 0;
	int ret = 0;

	*out = (struct diverge_written){ 0 };
	for (int i = 0; ret == 0 && i < CHANCES; i++) {
		struct history h = { .mask = mask_of(size) };

		ret = last_change(plan, d, d->stable_id, d->first, place, &h, err);
		if (ret == 1)
			*out = (struct diverge_written){ .found = true, .step = h.before };
		out->at_start |= i && h.first != first;
		first = h.first;
	}
	return ret < 0 ? ret : 0;
}

void diverge_free(struct divergence *d)
{
	diverge_run_free(&d->run[0]);
	diverge_run_free(&d->run[1]);
	*d = (struct divergence){ 0 };
}
