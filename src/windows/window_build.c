/* SPDX-License-Identifier: MIT */
/* Convert records to windows, and compute the counts outside all windows. */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "windows/window_private.h"

struct window_thread_state {
	struct window_thread told;
	char comm[NAME_SIZE];
	uint64_t begin; /* the leader's count so far */
	uint64_t time;  /* of the last window, or of the start; 0: not known */
	bool apart;     /* its counts did not begin at `time` */
	uint64_t last_strand;
	uint64_t *strand; /* per strand: the last values read; NULL: it has no window */
	bool named;
};

static size_t slot_of(const struct build *b, uint32_t tid)
{
	size_t at = (size_t)(tid * 0x9e3779b1u) & (b->slots - 1);

	while (b->slot[at] && b->thread[b->slot[at] - 1].told.tid != tid)
		at = (at + 1) & (b->slots - 1);
	return at;
}

static int more_slots(struct build *b, struct tare_error *err)
{
	size_t slots = b->slots ? b->slots * 4 : 256, *old = b->slot, n = b->slots;

	if (b->threads * 2 < b->slots)
		return 0;
	b->slot = calloc(slots, sizeof(*b->slot));
	if (!b->slot) {
		b->slot = old;
		return tare_fail_nomem(err);
	}
	b->slots = slots;
	for (size_t i = 0; i < n; i++)
		if (old[i])
			b->slot[slot_of(b, b->thread[old[i] - 1].told.tid)] = old[i];
	free(old);
	return 0;
}

static struct window_thread_state *add_thread(struct build *b, const struct entry *e,
					      uint64_t since, struct tare_error *err)
{
	struct window_thread_state *t;

	if (!array_reserve(&b->thread, &b->thread_room, b->threads + 1, sizeof(*t))) {
		tare_fail_nomem(err);
		return NULL;
	}
	if (more_slots(b, err) < 0)
		return NULL;
	t = &b->thread[b->threads];
	*t = (struct window_thread_state){ .told = { b->threads, e->pid, e->tid, NULL },
					   .time = since };
	b->slot[slot_of(b, e->tid)] = ++b->threads;
	return t;
}

static struct window_thread_state *find_thread(struct build *b, const struct entry *e,
					       struct tare_error *err)
{
	size_t at = b->slots ? b->slot[slot_of(b, e->tid)] : 0;

	return at ? &b->thread[at - 1] : add_thread(b, e, 0, err);
}

static int tell_thread(struct build *b, struct window_thread_state *t, struct tare_error *err)
{
	t->told.comm = t->comm;
	t->named = true;
	return b->to->thread(b->to, &t->told, err);
}

static int put_window(struct build *b, struct window_thread_state *t, struct window w,
		      struct tare_error *err)
{
	int ret = 0;

	if (!t->named) { /* the first one */
		t->apart |= t->time < *b->started_ns;
		ret = tell_thread(b, t, err);
	}
	w.thread = t->told.number;
	w.begin = t->begin;
	w.wall_ns = t->time && !t->apart && w.time_ns >= t->time ? w.time_ns - t->time : 0;
	w.value = b->value;
	t->apart = false;
	t->begin += b->value[0];
	t->time = w.time_ns;
	return ret < 0 ? ret : b->to->window(b->to, &w, err);
}

static int one_window(struct build *b, const struct entry *e, struct tare_error *err)
{
	struct window_thread_state *t = find_thread(b, e, err);
	size_t n = b->n;
	bool moved;

	if (!t)
		return -ENOMEM;
	moved = t->strand && t->last_strand != e->strand;
	if (!t->strand)
		t->strand = calloc(b->strands * n + 1, sizeof(*t->strand));
	if (!t->strand)
		return tare_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		uint64_t *last = &t->strand[e->strand * n + i];

		b->value[i] = e->value[i] - *last;
		b->sum[i] += b->value[i];
		*last = e->value[i];
	}
	t->last_strand = e->strand;
	return put_window(b, t,
			  (struct window){ .time_ns = e->time, .cpu = (int)e->cpu, .moved = moved },
			  err);
}

/* "12,13", as for --tid */
static bool in_list(const char *list, uint32_t tid)
{
	char *end;

	for (const char *p = list; *p; p = *end ? end + 1 : end)
		if (strtoul(p, &end, 10) == tid)
			return true;
	return false;
}

/*
 * The kernel reports each child and new thread, even if only the parent is counted. With a list of
 * threads (-t), tare itself adds all threads of their processes, at time 0.
 */
static bool is_counted(const struct build *b, const struct entry *e)
{
	const char *tids = b->plan->target.tids;

	if (e->time)
		return e->kind != IS_FORK || b->inherit;
	return !tids || in_list(tids, e->tid);
}

static int one_fork(struct build *b, const struct entry *e, struct tare_error *err)
{
	size_t parent = b->slots ? b->slot[slot_of(b, e->parent)] : 0;
	struct window_thread_state *t = add_thread(b, e, e->time, err);

	if (!t)
		return -ENOMEM;
	if (parent)
		memcpy(t->comm, b->thread[parent - 1].comm, NAME_SIZE);
	return 0;
}

static int one_name(struct build *b, const struct entry *e, struct tare_error *err)
{
	struct window_thread_state *t = find_thread(b, e, err);

	if (!t)
		return -ENOMEM;
	memcpy(t->comm, e->name, NAME_SIZE);
	/*
	 * At an exec, the kernel begins to count about 20 us before it reports the exec, and tare
	 * at yet another time.
	 */
	t->apart |= !t->time;
	if (!t->time)
		t->time = e->time;
	return t->named ? tell_thread(b, t, err) : 0;
}

int build_add(struct build *b, const struct entry *e, struct tare_error *err)
{
	if (!is_counted(b, e))
		return 0;
	return e->kind == IS_FORK    ? one_fork(b, e, err)
		: e->kind == IS_COMM ? one_name(b, e, err)
				     : one_window(b, e, err);
}

/* The counts of all threads minus their windows, into b->value. False: they are inconsistent. */
static bool rest_of_all(struct build *b, const struct sample_outcome *o)
{
	for (size_t i = 0; i < b->n; i++) {
		uint64_t total = o->event[o->n_events - b->n + i].total.value;

		if (b->sum[i] > total)
			return false;
		b->value[i] = total - b->sum[i];
	}
	return true;
}

/*
 * The counts after the last windows. The totals give the sum over all threads, and so the count of
 * a single thread. The kernel could report it per thread (inherit_stat), but that must not be used:
 * the kernel writes those records to the rings of all CPUs from the CPU where the thread ends,
 * without a lock, and overwrites concurrent records (Linux 6.18: 18 of 24 programs with 10,000
 * threads had corrupt rings).
 */
static int put_rest(struct build *b, const struct sample_outcome *o, struct window_end *end,
		    struct tare_error *err)
{
	bool any = false;

	if (!rest_of_all(b, o)) {
		end->rests_unknown = true;
		return 0;
	}
	for (size_t i = 0; i < b->n; i++)
		any |= b->value[i] != 0;
	if (!any)
		return 0;
	if (b->threads == 1 && !o->lost && b->plan->argv)
		return put_window(
			b, b->thread,
			(struct window){ .time_ns = b->thread[0].time, .cpu = -1, .rest = true },
			err);
	end->rest = calloc(b->n, sizeof(*end->rest));
	if (!end->rest)
		return tare_fail_nomem(err);
	memcpy(end->rest, b->value, b->n * sizeof(*end->rest));
	return 0;
}

int build_open(struct build *b, struct tare_error *err)
{
	b->value = calloc(b->n + 1, sizeof(*b->value));
	b->sum = calloc(b->n + 1, sizeof(*b->sum));
	return b->value && b->sum ? 0 : tare_fail_nomem(err);
}

int build_end(struct build *b, const struct sample_outcome *o, struct window_end *end,
	      struct tare_error *err)
{
	int ret = put_rest(b, o, end, err);

	for (size_t i = 0; i < b->threads; i++)
		end->unseen += !b->thread[i].named;
	return ret;
}

void build_free(struct build *b)
{
	for (size_t i = 0; i < b->threads; i++)
		free(b->thread[i].strand);
	free(b->thread);
	free(b->slot);
	free(b->value);
	free(b->sum);
}
