/* SPDX-License-Identifier: MIT */
/*
 * Events come in order of time. The blocks of all places at the peak of a process are not copied at
 * each new peak. Instead, a place that changes saves its values first, if there was a peak since
 * its last change.
 */
#include "base/array.h"
#include "memory/allocations.h"
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "memory/memory_samples_private.h"
#include "perfdata/alloc.h"

struct block { /* key: the first three members */
	uint32_t process, low, high;
	uint32_t site; /* SET_NONE: freed */
	uint64_t size;
};

struct place { /* of one process; the key is the first two members */
	uint32_t process, site;
	uint64_t count, bytes, freed, largest;
	uint64_t live_count, live_bytes, peak_count, peak_bytes;
	uint32_t version, zero;
};

struct process_of { /* key: pid */
	uint32_t pid, process;
};

struct tally {
	struct allocations *a;
	const struct allocations_options *opts;
	size_t room;
	struct set blocks, places, process_of;
};

const char *allocations_sort_name(enum allocations_sort sort)
{
	static const char *const names[ALLOCATIONS_SORTS] = { "bytes", "count", "peak", "live" };

	return sort < ALLOCATIONS_SORTS ? names[sort] : NULL;
}

/* ---- while reading ---- */

/* The process of the pid from now on. SET_NONE: out of memory. */
static uint32_t begin_process(struct tally *t, uint32_t pid, uint32_t program)
{
	struct allocations *a = t->a;
	struct process_of of = { pid, (uint32_t)a->processes };
	uint32_t at;

	if (!array_reserve(&a->process, &t->room, a->processes + 1, sizeof(*a->process)))
		return SET_NONE;
	at = set_add(&t->process_of, &of, sizeof(of), sizeof(of.pid), NULL);
	if (at == SET_NONE)
		return SET_NONE;
	((struct process_of *)t->process_of.item)[at].process = of.process;
	a->process[a->processes++] = (struct allocations_process){ .pid = pid, .program = program };
	return of.process;
}

/* SET_NONE: no process yet. */
static uint32_t find_process(const struct tally *t, uint32_t pid)
{
	struct process_of of = { .pid = pid };
	uint32_t at = set_find(&t->process_of, &of, sizeof(of), sizeof(of.pid));

	return at == SET_NONE ? SET_NONE : ((struct process_of *)t->process_of.item)[at].process;
}

static int execute(struct tally *t, uint32_t pid, struct tare_error *err)
{
	uint32_t before = find_process(t, pid);

	return begin_process(t, pid, before == SET_NONE ? 1 : t->a->process[before].program + 1) ==
			SET_NONE
		? tare_fail_nomem(err)
		: 0;
}

/*
 * The place in a process, about to change: its values at the last peak are saved first. NULL: out
 * of memory.
 */
static struct place *change(struct tally *t, uint32_t process, uint32_t site)
{
	struct place key = { .process = process, .site = site };
	uint32_t at = set_add(&t->places, &key, sizeof(key), 2 * sizeof(uint32_t), NULL);
	struct place *p = at == SET_NONE ? NULL : (struct place *)t->places.item + at;

	if (p && p->version != t->a->process[process].version) {
		p->version = t->a->process[process].version;
		p->peak_count = p->live_count;
		p->peak_bytes = p->live_bytes;
	}
	return p;
}

static int give_back(struct tally *t, uint32_t process, struct block *b, struct tare_error *err)
{
	struct allocations_process *p = &t->a->process[process];
	struct place *at = change(t, process, b->site);

	if (!at)
		return tare_fail_nomem(err);
	at->live_count--;
	at->live_bytes -= b->size;
	at->freed++;
	p->now_count--;
	p->now_bytes -= b->size;
	p->sum.freed++;
	b->site = SET_NONE;
	return 0;
}

static int take_event(struct tally *t, uint32_t process, const struct alloc_event *ev,
		      uint32_t site, struct tare_error *err)
{
	struct block key = { process, (uint32_t)ev->address, (uint32_t)(ev->address >> 32),
			     SET_NONE, 0 },
		     *b;
	struct allocations_process *p = &t->a->process[process];
	uint32_t at = set_add(&t->blocks, &key, sizeof(key), 3 * sizeof(uint32_t), NULL);
	struct place *place;
	int ret = 0;

	if (at == SET_NONE)
		return tare_fail_nomem(err);
	b = (struct block *)t->blocks.item + at;
	if (b->site != SET_NONE) /* freed, but the event was not recorded */
		ret = give_back(t, process, b, err);
	place = ret == 0 ? change(t, process, site) : NULL;
	if (!place)
		return tare_fail_nomem(err);
	b->site = site;
	b->size = ev->size;
	place->count++;
	place->bytes += ev->size;
	place->live_count++;
	place->live_bytes += ev->size;
	if (ev->size > place->largest)
		place->largest = ev->size;
	p->sum.count++;
	p->sum.bytes += ev->size;
	if (ev->size > p->sum.largest)
		p->sum.largest = ev->size;
	p->now_count++;
	p->now_bytes += ev->size;
	if (p->now_bytes > p->sum.peak_bytes) {
		p->sum.peak_bytes = p->now_bytes;
		p->sum.peak_count = p->now_count;
		p->peak_ns = ev->time_ns;
		p->version++;
	}
	return 0;
}

static int hear(void *with, const struct alloc_event *ev, uint32_t site, struct tare_error *err)
{
	struct tally *t = with;
	struct block key = { .low = (uint32_t)ev->address, .high = (uint32_t)(ev->address >> 32) },
		     *b;
	uint32_t process, at;

	if (t->opts->from.filter.pid >= 0 && ev->pid != (uint32_t)t->opts->from.filter.pid)
		return 0;
	if (ev->kind == ALLOC_PROGRAM)
		return execute(t, ev->pid, err);
	if (ev->kind == ALLOC_FORK)
		return begin_process(t, ev->pid, 1) == SET_NONE ? tare_fail_nomem(err) : 0;
	t->a->mapped += ev->kind == ALLOC_MAPPED;
	if (ev->kind != ALLOC_TAKEN && ev->kind != ALLOC_FREED)
		return 0;
	process = find_process(t, ev->pid);
	if (process == SET_NONE) /* the record of its start was lost */
		process = begin_process(t, ev->pid, 1);
	if (process == SET_NONE)
		return tare_fail_nomem(err);
	if (ev->kind == ALLOC_TAKEN)
		return take_event(t, process, ev, site, err);
	key.process = process;
	at = set_find(&t->blocks, &key, sizeof(key), 3 * sizeof(uint32_t));
	b = at == SET_NONE ? NULL : (struct block *)t->blocks.item + at;
	if (b && b->site != SET_NONE)
		return give_back(t, process, b, err);
	t->a->process[process].unmatched++;
	return 0;
}

/* ---- after reading ---- */

static void add_sum(struct allocations_sum *to, const struct allocations_sum *from)
{
	to->count += from->count;
	to->bytes += from->bytes;
	to->freed += from->freed;
	to->peak_count += from->peak_count;
	to->peak_bytes += from->peak_bytes;
	to->live_count += from->live_count;
	to->live_bytes += from->live_bytes;
	if (from->largest > to->largest)
		to->largest = from->largest;
}

static int name_row(struct allocations *a, const struct object *site, bool by_function,
		    struct allocations_row *row, struct tare_error *err)
{
	struct memory_samples_code caller = { .module = site->caller_module,
					      .offset = site->caller };
	bool library;

	*row = (struct allocations_row){ .code = { .module = site->module,
						   .offset = site->start } };
	if (!memory_samples_name_caller(&a->recording, &row->code, &row->at, &library))
		return tare_fail_nomem(err);
	if (by_function && row->at.function)
		row->at.file = row->at.line = 0;
	if (by_function || !site->caller)
		return 0;
	row->caller_code = caller;
	if (!memory_samples_name_caller(&a->recording, &caller, &row->caller, &library))
		return tare_fail_nomem(err);
	return 0;
}

/*
 * Rows with the same name are merged: several calls can be on one line, and several lines in one
 * function.
 */
struct row_key {
	struct memory_samples_name at, caller;
	struct code_key {
		uint32_t module, low, high;
	} code, caller_code; /* for calls without a name */
	uint32_t row;        /* not part of the key */
};

static struct code_key code_key(const struct memory_samples_name *name,
				const struct memory_samples_code *code)
{
	if (name->function || !name->module)
		return (struct code_key){ 0 };
	return (struct code_key){ code->module, (uint32_t)code->offset,
				  (uint32_t)(code->offset >> 32) };
}

static uint32_t row_of(struct set *rows, const struct allocations_row *is, uint32_t next)
{
	struct row_key key = { is->at, is->caller, code_key(&is->at, &is->code),
			       code_key(&is->caller, &is->caller_code), next };
	uint32_t at = set_add(rows, &key, sizeof(key), offsetof(struct row_key, row), NULL);

	return at == SET_NONE ? SET_NONE : ((struct row_key *)rows->item)[at].row;
}

static int make_rows(struct tally *t, struct tare_error *err)
{
	struct allocations *a = t->a;
	size_t objects = a->recording.p->objects.n;
	uint32_t *row_at = calloc(objects + 1, sizeof(*row_at)); /* by object: row + 1 */
	struct set rows = { 0 };
	int ret = 0;

	a->row = calloc(objects + 1, sizeof(*a->row));
	if (!row_at || !a->row)
		ret = tare_fail_nomem(err);
	for (size_t i = 0; ret == 0 && i < t->places.n; i++) {
		uint32_t process = ((struct place *)t->places.item)[i].process,
			 site = ((struct place *)t->places.item)[i].site;
		const struct place *p = change(t, process,
					       site); /* which saves its values at the peak */
		struct allocations_sum sum = { p->count,      p->bytes,      p->freed,
					       p->peak_count, p->peak_bytes, p->live_count,
					       p->live_bytes, p->largest };

		if (!row_at[site]) {
			struct allocations_row row;
			uint32_t at;

			ret = name_row(a, memory_samples_object_at(&a->recording, site),
				       t->opts->by_function, &row, err);
			at = ret == 0 ? row_of(&rows, &row, (uint32_t)a->n) : SET_NONE;
			if (ret == 0 && at == SET_NONE)
				ret = tare_fail_nomem(err);
			if (ret < 0)
				break;
			if (at == a->n)
				a->row[a->n++] = row;
			row_at[site] = at + 1;
		}
		add_sum(&a->row[row_at[site] - 1].sum, &sum);
	}
	free(row_at);
	set_free(&rows);
	return ret;
}

static uint64_t sort_value(const struct allocations_row *r, enum allocations_sort by)
{
	return by == ALLOCATIONS_COUNT   ? r->sum.count
		: by == ALLOCATIONS_PEAK ? r->sum.peak_bytes
		: by == ALLOCATIONS_LIVE ? r->sum.live_bytes
					 : r->sum.bytes;
}

static int most_first(const void *pa, const void *pb, void *with)
{
	const struct allocations_row *a = pa, *b = pb;
	const enum allocations_sort *first = with;
	uint64_t x = sort_value(a, *first), y = sort_value(b, *first);

	if (x != y)
		return x < y ? 1 : -1;
	if (a->sum.bytes != b->sum.bytes)
		return a->sum.bytes < b->sum.bytes ? 1 : -1;
	if (a->code.module != b->code.module)
		return a->code.module < b->code.module ? -1 : 1;
	return a->code.offset < b->code.offset ? -1 : a->code.offset > b->code.offset;
}

int allocations_read(struct allocations *a, const char *path,
		     const struct allocations_options *opts, struct tare_error *err)
{
	struct tally t = { .a = a, .opts = opts };
	struct memory_samples_options from = opts->from;
	enum allocations_sort sort = opts->sort;
	int ret;

	*a = (struct allocations){ 0 };
	from.block = hear;
	from.with = &t;
	ret = memory_samples_open(&a->recording, path, &from, err);
	a->lost = a->recording.blocks_lost;
	a->damaged = a->recording.damage[0] || a->recording.blocks_damaged;
	if (ret == 0)
		ret = make_rows(&t, err);
	for (size_t i = 0; ret == 0 && i < a->processes; i++) {
		struct allocations_process *p = &a->process[i];

		p->sum.live_count = p->now_count;
		p->sum.live_bytes = p->now_bytes;
		add_sum(&a->total, &p->sum);
	}
	if (a->processes > 1)
		a->total.peak_count = a->total.peak_bytes = 0;
	if (ret == 0)
		qsort_r(a->row, a->n, sizeof(*a->row), most_first, &sort);
	set_free(&t.blocks);
	set_free(&t.places);
	set_free(&t.process_of);
	return ret;
}

void allocations_free(struct allocations *a)
{
	free(a->row);
	free(a->process);
	memory_samples_close(&a->recording);
}
