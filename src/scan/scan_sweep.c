/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "scan/scan.h"

enum { BATCH_MOST = 16, LOOK_ROUNDS = 2, LONG_TURNS = 8000000, GUESS_NS = 1000000 };

/* ---- known events ---- */

static int compare(uint32_t select, uint32_t umask, const struct scan_event *e)
{
	if (select != e->select)
		return select < e->select ? -1 : 1;
	return umask < e->umask ? -1 : umask > e->umask;
}

/* Its index, or where it would be inserted. */
static size_t place_of(const struct scan *s, uint32_t select, uint32_t umask, bool *there)
{
	size_t low = 0, high = s->n;

	*there = false;
	while (low < high) {
		size_t mid = (low + high) / 2;
		int c = compare(select, umask, &s->event[mid]);

		if (c == 0) {
			*there = true;
			return mid;
		}
		if (c < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

const struct scan_event *scan_find(const struct scan *s, uint32_t select, uint32_t umask)
{
	bool there;
	size_t at = place_of(s, select, umask, &there);

	return there ? &s->event[at] : NULL;
}

static void event_free(struct scan_event *e)
{
	free(e->count);
	free(e->interrupts);
}

int scan_put(struct scan *s, const struct scan_event *e, struct tare_error *err)
{
	bool there;
	size_t at = place_of(s, e->select, e->umask, &there);

	if (there) {
		event_free(&s->event[at]);
		s->event[at] = *e;
		return 0;
	}
	if (!array_reserve(&s->event, &s->room, s->n + 1, sizeof(*s->event)))
		return tare_fail_nomem(err);
	memmove(&s->event[at + 1], &s->event[at], (s->n - at) * sizeof(*s->event));
	s->event[at] = *e;
	s->n++;
	return 0;
}

void scan_retry(struct scan *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (s->event[i].state == SCAN_REFUSED || s->event[i].state == SCAN_UNCOUNTED)
			event_free(&s->event[i]);
		else
			s->event[kept++] = s->event[i];
	}
	s->n = kept;
}

void scan_free(struct scan *s)
{
	for (size_t i = 0; i < s->n; i++)
		event_free(&s->event[i]);
	free(s->event);
	s->event = NULL;
	s->n = s->room = 0;
}

/* ---- the pieces ---- */

size_t scan_rows(struct calibration *w, struct scan_row out[SCAN_ROWS_MOST])
{
	size_t n = 0;

	for (unsigned kind = 0; kind < WORK_KINDS; kind++) {
		const struct kernel *k = kernel_at(kind);
		uint64_t turns = kind == WORK_PAGES       ? 16
			: k && k->per_turn[WORK_SYSCALLS] ? 20
							  : 100;

		if (!work_name(kind) || w->prepare(w, kind, NULL) < 0)
			continue;
		w->work(w, kind, turns); /* from now on its code and pages are in memory */
		w->leave(w, kind);
		out[n++] = (struct scan_row){ kind, turns };
		out[n++] = (struct scan_row){ kind, kind == WORK_PAGES ? 48 : 11 * turns };
	}
	out[n++] = (struct scan_row){ 0, LONG_TURNS };
	return n;
}

struct batch {
	struct scan *scan;
	const struct scan_plan *plan;
	size_t n;
	struct scan_event *event[BATCH_MOST]; /* with space for samples */
	bool ran;                             /* on counters, all of the time */
};

/* Counts one row once; for pages counts again, and takes the difference. */
static int count_row(struct batch *b, struct counters *c, const struct scan_row *row, size_t sample,
		     struct tare_error *err)
{
	struct tare_reading before[BATCH_MOST], after[BATCH_MOST];
	struct work_counted got = { .before = before, .after = after };
	const struct scan_plan *p = b->plan;
	int ret = p->shop->prepare(p->shop, row->kind, err);

	for (int again = 0; ret == 0 && again <= (row->kind == WORK_PAGES); again++) {
		ret = work_count(p->shop, p->source, c, row->kind, row->turns, &got, err);
		if (ret == 0 && !got.interrupts_known) {
			got.interrupts = 1 + got.ns / GUESS_NS;
			b->scan->interrupts_guessed = true;
		}
		for (size_t i = 0; ret == 0 && i < b->n; i++) {
			int64_t n = (int64_t)(after[i].raw - before[i].raw);

			n = n > SCAN_COUNT_MOST / 2        ? SCAN_COUNT_MOST / 2
				: n < -SCAN_COUNT_MOST / 2 ? -SCAN_COUNT_MOST / 2
							   : n;
			b->event[i]->count[sample] = again ? b->event[i]->count[sample] - n : n;
			b->event[i]->interrupts[sample] = (again ? b->event[i]->interrupts[sample]
								 : 0) +
				(uint32_t)got.interrupts;
			b->ran &= after[i].running_ns == after[i].enabled_ns &&
				after[i].quality != TARE_UNAVAILABLE;
		}
	}
	p->shop->leave(p->shop, row->kind);
	return ret;
}

static int count_rounds(struct batch *b, struct counters *c, size_t rounds, struct tare_error *err)
{
	int ret = 0;

	for (size_t r = 0; ret == 0 && b->ran && r < rounds; r++)
		for (size_t i = 0; ret == 0 && b->ran && i < b->scan->rows; i++)
			ret = count_row(b, c, &b->scan->row[i], r * b->scan->rows + i, err);
	return ret;
}

static bool any_live(const struct batch *b, size_t samples)
{
	bool any = false;

	for (size_t i = 0; i < b->n; i++) {
		b->event[i]->state = SCAN_DEAD;
		for (size_t k = 0; k < samples; k++)
			if (b->event[i]->count[k])
				b->event[i]->state = SCAN_LIVE;
		any |= b->event[i]->state == SCAN_LIVE;
	}
	return any;
}

/* A short check first: most selectors are dead. */
static int count_opened(struct batch *b, struct counters *c, struct tare_error *err)
{
	struct tare_error why =
		TARE_ERROR_INIT; /* a group that never ran is reported here; that is no failure */
	int ret = b->plan->source->start(c, err);

	b->ran = true;
	if (ret == 0)
		ret = count_rounds(b, c, LOOK_ROUNDS, &why);
	if (ret == 0 && b->ran && any_live(b, LOOK_ROUNDS * b->scan->rows)) {
		ret = count_rounds(b, c, SCAN_ROUNDS, &why);
		any_live(b, SCAN_ROUNDS * b->scan->rows);
	}
	if (ret < 0 && err && !err->code)
		*err = why;
	return ret;
}

/* Errors of the kernel that are due to the event, not to the user or the machine. */
static bool is_refusal(int ret)
{
	return ret == -EINVAL || ret == -ENOENT || ret == -EOPNOTSUPP || ret == -ENODEV ||
		ret == -ERANGE;
}

static int make_room(struct batch *b, struct tare_error *err)
{
	for (size_t i = 0; i < b->n; i++) {
		b->event[i]->count = calloc(SCAN_SAMPLES_MOST, sizeof(*b->event[i]->count));
		b->event[i]->interrupts = calloc(SCAN_SAMPLES_MOST,
						 sizeof(*b->event[i]->interrupts));
		if (!b->event[i]->count || !b->event[i]->interrupts)
			return tare_fail_nomem(err);
	}
	return 0;
}

static const struct target here = { .cpu = -1, .cgroup_fd = -1 };

/* Counts a batch at once. *apart: it must be tried event by event. */
static int count_together(struct batch *b, bool *apart, struct tare_error *err)
{
	struct encoding enc[BATCH_MOST];
	const struct encoding *group[BATCH_MOST];
	struct tare_error why = TARE_ERROR_INIT;
	struct counters *c = NULL;
	int ret;

	for (size_t i = 0; i < b->n; i++) {
		enc[i] = scan_encoding(b->plan, b->scan->pmu, b->event[i]->select,
				       b->event[i]->umask);
		group[i] = &enc[i];
	}
	*apart = false;
	ret = b->plan->source->open(&c, group, b->n, &here, NULL, &why);
	if (is_refusal(ret) && b->n == 1) {
		b->event[0]->state = SCAN_REFUSED;
		return 0;
	}
	if (is_refusal(ret)) {
		*apart = true;
		return 0;
	}
	if (ret < 0) {
		if (err)
			*err = why;
		return ret;
	}
	ret = count_opened(b, c, err);
	b->plan->source->close(c);
	if (ret == 0 && !b->ran && b->n == 1)
		b->event[0]->state = SCAN_UNCOUNTED;
	*apart = ret == 0 && !b->ran && b->n > 1;
	return ret;
}

static int count_batch(struct batch *b, struct tare_error *err)
{
	bool apart, never;
	int ret = make_room(b, err);

	if (ret == 0)
		ret = count_together(b, &apart, err);
	for (size_t i = 0; ret == 0 && apart && i < b->n; i++) {
		struct batch one = {
			.scan = b->scan, .plan = b->plan, .n = 1, .event = { b->event[i] }
		};

		ret = count_together(&one, &never, err);
	}
	return ret;
}

/* ---- the sweep ---- */

struct encoding scan_encoding(const struct scan_plan *p, const char *pmu, uint32_t select,
			      uint32_t umask)
{
	struct encoding e = { .source = &source_perf, .scale = 1, .place = p->place };

	e.attr.type = p->type;
	e.attr.exclude_kernel = !p->kernel;
	e.attr.exclude_hv = 1;
	snprintf(e.pmu, sizeof(e.pmu), "%s", pmu);
	format_put(&p->event, select, &e.attr, NULL);
	if (p->umask.mask)
		format_put(&p->umask, umask, &e.attr, NULL);
	if (p->umask.mask)
		snprintf(e.name, sizeof(e.name), "%s/event=0x%x,umask=0x%x/%s", pmu, select, umask,
			 p->kernel ? "" : "u");
	else
		snprintf(e.name, sizeof(e.name), "%s/event=0x%x/%s", pmu, select,
			 p->kernel ? "" : "u");
	return e;
}

struct sweep {
	struct scan *scan;
	const struct scan_plan *plan;
	int pass;
	size_t done, all;
	struct scan_event waiting[BATCH_MOST];
	size_t n;
};

static int flush(struct sweep *w, struct tare_error *err)
{
	struct batch b = { .scan = w->scan, .plan = w->plan, .n = w->n };
	int ret = 0;

	if (!w->n)
		return 0;
	for (size_t i = 0; i < w->n; i++)
		b.event[i] = &w->waiting[i];
	ret = count_batch(&b, err);
	for (size_t i = 0; i < w->n; i++) {
		struct scan_event *e = &w->waiting[i];

		if (e->state != SCAN_LIVE || ret < 0) {
			event_free(e);
			e->count = NULL;
			e->interrupts = NULL;
		}
		if (ret == 0)
			ret = scan_put(w->scan, e, err);
	}
	w->done += w->n;
	w->n = 0;
	return ret == 0 && w->plan->progress
		? w->plan->progress(w->plan->with, w->pass, w->done, w->all)
		: ret;
}

static int add_event(struct sweep *w, uint32_t select, uint32_t umask, struct tare_error *err)
{
	size_t most = w->plan->counters < BATCH_MOST ? w->plan->counters : BATCH_MOST;

	if (scan_find(w->scan, select, umask)) {
		w->done++;
		return 0;
	}
	w->waiting[w->n++] = (struct scan_event){ .select = select, .umask = umask };
	return w->n >= (most ? most : 1) ? flush(w, err) : 0;
}

static bool is_live(const struct scan *s, uint32_t select, uint32_t umask)
{
	const struct scan_event *e = scan_find(s, select, umask);

	return e && e->state == SCAN_LIVE;
}

static int first_pass(struct sweep *w, uint32_t all_bits, struct tare_error *err)
{
	const struct scan_plan *p = w->plan;
	int ret = 0;

	for (size_t r = 0; r < p->ranges; r++)
		w->all += (p->range[r].to - p->range[r].from + 1) * (all_bits ? 2 : 1);
	for (size_t r = 0; ret == 0 && r < p->ranges; r++)
		for (uint64_t select = p->range[r].from; ret == 0 && select <= p->range[r].to;
		     select++) {
			if (all_bits)
				ret = add_event(w, (uint32_t)select, all_bits, err);
			if (ret == 0)
				ret = add_event(w, (uint32_t)select, 0, err);
		}
	return ret ? ret : flush(w, err);
}

static int second_pass(struct sweep *w, uint32_t all_bits, struct tare_error *err)
{
	const struct scan_plan *p = w->plan;
	unsigned bits = all_bits ? (unsigned)__builtin_popcount(all_bits) : 0;
	int ret = 0;

	w->pass = 2;
	w->done = w->all = 0;
	for (int counting = 1; counting >= 0; counting--)
		for (size_t r = 0; ret == 0 && r < p->ranges; r++)
			for (uint64_t select = p->range[r].from;
			     ret == 0 && select <= p->range[r].to; select++) {
				if (!is_live(w->scan, (uint32_t)select, all_bits) &&
				    !is_live(w->scan, (uint32_t)select, 0))
					continue;
				if (counting)
					w->all += bits;
				for (unsigned bit = 0; !counting && ret == 0 && bit < bits; bit++)
					ret = add_event(w, (uint32_t)select, 1u << bit, err);
			}
	return ret ? ret : flush(w, err);
}

int scan_sweep(struct scan *s, const struct scan_plan *p, struct tare_error *err)
{
	struct sweep w = { .scan = s, .plan = p, .pass = 1 };
	unsigned bits = p->umask.mask ? format_bits(&p->umask) : 0;
	uint32_t all_bits = bits ? (uint32_t)((1ull << (bits > 8 ? 8 : bits)) - 1) : 0;
	int ret = first_pass(&w, all_bits, err);

	if (ret == 0 && all_bits)
		ret = second_pass(&w, all_bits, err);
	return ret;
}

int scan_column(struct scan_event *out, struct scan *s, const struct scan_plan *p,
		const struct encoding *e, struct tare_error *err)
{
	struct batch b = { .scan = s, .plan = p, .n = 1, .event = { out } };
	struct counters *c = NULL;
	int ret;

	*out = (struct scan_event){ .state = SCAN_DEAD };
	if (e->unavailable) {
		tare_fail(err, e->unavailable, "%s", e->why);
		return -e->unavailable;
	}
	ret = make_room(&b, err);
	if (ret == 0)
		ret = p->source->open(&c, &e, 1, &here, NULL, err);
	if (ret == 0) {
		ret = count_opened(&b, c, err);
		p->source->close(c);
		if (ret == 0 && !b.ran)
			out->state = SCAN_UNCOUNTED;
	}
	if (ret < 0 || out->state != SCAN_LIVE) {
		event_free(out);
		out->count = NULL;
		out->interrupts = NULL;
	}
	return ret;
}
