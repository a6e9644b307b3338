/* SPDX-License-Identifier: MIT */
/* From records to windows, and what no window has. */
#include <stdlib.h>
#include <string.h>
#include "windows/window_private.h"

struct thread {
	struct window_thread told;
	char comm[NAME_SIZE];
	uint64_t begin;	 /* the leader's count until now */
	uint64_t time;	 /* of the last window, or of its start; 0: not known */
	bool apart;	 /* ... which is not when its counts began */
	uint64_t last_strand;
	bool any;
	uint64_t *strand; /* per strand: the values as last read */
	bool named;
};

struct build {
	struct collect *c;
	struct window_sink *to;
	struct tare_error *err;
	struct thread *thread;
	size_t n, room;
	size_t *slot; /* by tid: the current one's index + 1 */
	size_t slots;
	uint64_t *value;
	uint64_t started_ns; /* what was there before counts since then */
};

static int by_time(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->kind != y->kind)
		return (int)x->kind - (int)y->kind;
	return x->order < y->order ? -1 : x->order > y->order;
}

static size_t slot_of(const struct build *b, uint32_t tid)
{
	size_t at = (size_t)(tid * 0x9e3779b1u) & (b->slots - 1);

	while (b->slot[at] && b->thread[b->slot[at] - 1].told.tid != tid)
		at = (at + 1) & (b->slots - 1);
	return at;
}

static int more_slots(struct build *b)
{
	size_t slots = b->slots ? b->slots * 4 : 256, *old = b->slot, n = b->slots;

	if (b->n * 2 < b->slots)
		return 0;
	b->slot = calloc(slots, sizeof(*b->slot));
	if (!b->slot) {
		b->slot = old;
		return tare_fail_nomem(b->err);
	}
	b->slots = slots;
	for (size_t i = 0; i < n; i++)
		if (old[i])
			b->slot[slot_of(b, b->thread[old[i] - 1].told.tid)] = old[i];
	free(old);
	return 0;
}

static struct thread *add_thread(struct build *b, uint32_t pid, uint32_t tid, uint64_t since)
{
	struct thread *more = window_grown(b->thread, b->n + 1, &b->room, sizeof(*more)), *t;

	if (!more) {
		tare_fail_nomem(b->err);
		return NULL;
	}
	b->thread = more;
	if (more_slots(b) < 0)
		return NULL;
	t = &b->thread[b->n];
	*t = (struct thread){ .told = { b->n, pid, tid, NULL }, .time = since };
	t->strand = calloc(b->c->strands * b->c->n + 1, sizeof(*t->strand));
	if (!t->strand) {
		tare_fail_nomem(b->err);
		return NULL;
	}
	b->n++;
	b->slot[slot_of(b, tid)] = b->n;
	return t;
}

static struct thread *find_thread(struct build *b, uint32_t pid, uint32_t tid)
{
	size_t at = b->slots ? b->slot[slot_of(b, tid)] : 0;

	return at ? &b->thread[at - 1] : add_thread(b, pid, tid, 0);
}

static int tell_thread(struct build *b, struct thread *t)
{
	t->told.comm = t->comm;
	t->named = true;
	return b->to->thread(b->to, &t->told, b->err);
}

static int put_window(struct build *b, struct thread *t, struct window w)
{
	int ret = t->named ? 0 : tell_thread(b, t);

	w.thread = t->told.number;
	w.begin = t->begin;
	w.wall_ns = t->time && !t->apart && w.time_ns >= t->time ? w.time_ns - t->time : 0;
	w.value = b->value;
	t->apart = false;
	t->begin += b->value[0];
	t->time = w.time_ns;
	return ret < 0 ? ret : b->to->window(b->to, &w, b->err);
}

static int one_window(struct build *b, const struct entry *e)
{
	struct thread *t = find_thread(b, e->pid, e->tid);
	size_t n = b->c->n;
	bool moved;

	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint64_t *last = &t->strand[e->strand * n + i], now = b->c->value[e->at + i];

		b->value[i] = now - *last;
		*last = now;
	}
	moved = t->any && t->last_strand != e->strand;
	t->any = true;
	t->last_strand = e->strand;
	return put_window(b, t, (struct window){ .time_ns = e->time, .cpu = (int)e->cpu, .moved = moved });
}

/* "12,13", as --tid takes it */
static bool in_list(const char *list, uint32_t tid)
{
	char *end;

	for (const char *p = list; *p; p = *end ? end + 1 : end)
		if (strtoul(p, &end, 10) == tid)
			return true;
	return false;
}

/*
 * The kernel tells of each child and new thread, also where only their parent is counted. Where threads are asked for (-t), tare
 * itself tells of all threads of their processes, at time 0.
 */
static bool is_counted(const struct build *b, const struct entry *e)
{
	const char *tids = b->c->plan->where.tids;

	if (e->time)
		return e->kind != IS_FORK || b->c->inherit;
	return !tids || in_list(tids, e->tid);
}

static int one_fork(struct build *b, const struct entry *e)
{
	size_t parent = b->slots ? b->slot[slot_of(b, (uint32_t)e->at)] : 0;
	struct thread *t = add_thread(b, e->pid, e->tid, e->time);

	if (!t)
		return -ENOMEM;
	t->apart = e->time < b->started_ns;
	if (parent)
		memcpy(t->comm, b->thread[parent - 1].comm, NAME_SIZE);
	return 0;
}

static int one_name(struct build *b, const struct entry *e)
{
	struct thread *t = find_thread(b, e->pid, e->tid);

	if (!t)
		return -ENOMEM;
	memcpy(t->comm, b->c->name + e->at, NAME_SIZE);
	/* The kernel begins to count at an exec some 20 us before it tells of it, and tare does so at another time still. */
	t->apart |= !t->time;
	if (!t->time)
		t->time = e->time;
	return t->named ? tell_thread(b, t) : 0;
}

/* What all threads counted, less their windows, into b->value. False: the two do not fit together. */
static bool rest_of_all(struct build *b, const struct sample_outcome *o)
{
	size_t n = b->c->n, first = o->n_events - n;

	for (size_t i = 0; i < n; i++)
		b->value[i] = o->event[first + i].total.value;
	for (size_t k = 0; k < b->n; k++) {
		for (size_t at = 0; at < b->c->strands * n; at++) {
			if (b->thread[k].strand[at] > b->value[at % n])
				return false;
			b->value[at % n] -= b->thread[k].strand[at];
		}
	}
	return true;
}

/*
 * What was counted after the last windows: the totals say how much of it all threads have, and so how much one thread has where
 * there is one. The kernel could say it of each thread (inherit_stat), and must not be asked: it writes those records to the rings of
 * all CPUs from the one where the thread ends, without a lock, and destroys what is written there at that time
 * (Linux 6.18: 18 of 24 programs with 10,000 threads had broken rings).
 */
static int put_rest(struct build *b, const struct sample_outcome *o, struct window_end *end)
{
	bool any = false;

	if (!rest_of_all(b, o)) {
		end->rests_unknown = true;
		return 0;
	}
	for (size_t i = 0; i < b->c->n; i++)
		any |= b->value[i] != 0;
	if (!any)
		return 0;
	if (b->n == 1 && !o->lost && b->c->plan->argv)
		return put_window(b, b->thread, (struct window){ .time_ns = b->thread[0].time, .cpu = -1, .rest = true });
	end->rest = calloc(b->c->n, sizeof(*end->rest));
	if (!end->rest)
		return tare_fail_nomem(b->err);
	memcpy(end->rest, b->value, b->c->n * sizeof(*end->rest));
	return 0;
}

int windows_build(struct collect *c, struct window_sink *to, const struct sample_outcome *o, struct window_end *end,
		  struct tare_error *err)
{
	struct build b = { .c = c, .to = to, .err = err, .value = calloc(c->n + 1, sizeof(uint64_t)),
			   .started_ns = o->started_ns };
	int ret = b.value ? 0 : tare_fail_nomem(err);

	if (c->entries)
		qsort(c->entry, c->entries, sizeof(*c->entry), by_time);
	for (size_t i = 0; ret == 0 && i < c->entries; i++) {
		const struct entry *e = &c->entry[i];

		if (!is_counted(&b, e))
			continue;
		ret = e->kind == IS_FORK   ? one_fork(&b, e)
		      : e->kind == IS_COMM ? one_name(&b, e)
					   : one_window(&b, e);
	}
	if (ret == 0)
		ret = put_rest(&b, o, end);
	for (size_t i = 0; i < b.n; i++) {
		end->unseen += !b.thread[i].named;
		free(b.thread[i].strand);
	}
	free(b.thread);
	free(b.slot);
	free(b.value);
	return ret;
}
