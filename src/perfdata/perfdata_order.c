/* SPDX-License-Identifier: MIT */
/*
 * Records by time. A recorder empties one buffer per CPU after the other and writes FINISHED_ROUND
 * after each round: later records are then no older than the newest record of the round before. Up
 * to that time the queue is sorted and returned. If the queue grows large, because a file has no
 * rounds or long ones, the rest of the file is scanned for the earliest time still to come. If
 * neither is available (a pipe, or a directory, which has several files), records are queued up to
 * the end or to the limit, which is proportional to the bytes read: a few compressed bytes cannot
 * fill the memory with a queue.
 */
#include <stdlib.h>
#include "base/array.h"
#include "perfdata/perfdata_private.h"

enum { CHUNK = 256 << 10, LOOK_AHEAD = 2 << 20, LONG_ROUND = 8 << 20 };

#define QUEUE_MAX   (1ull << 30)
#define QUEUE_LEAST (32ull << 20)
/* records of callchains compress 30 times at most, and each needs an item */
enum { HELD_PER_BYTE = 64 };

/* Copies of records, freed together after the last one was returned. */
struct chunk {
	size_t used, live;
	uint64_t bytes[CHUNK / 8];
};

struct item {
	uint64_t time, sequence;
	struct chunk *chunk;
	const unsigned char *bytes;
	uint64_t offset;
	unsigned file;
	bool inflated;
};

struct queue {
	struct item *items;
	size_t head, ready, n, room; /* head to ready is sorted and may be returned */
	struct chunk *filling, *lent;
	size_t held; /* bytes of copies and items */
	uint64_t newest, round_newest, released;
	uint64_t sequence;
	struct ahead *ahead;
	uint64_t least; /* its last result */
	size_t pushed;  /* bytes queued since then */
	bool rounds, looked;
	int ended; /* 1, or the result that ended the reading */
	struct tare_error why;
};

static void chunk_drop(struct queue *q, struct chunk *c)
{
	if (!c || --c->live)
		return;
	if (c == q->filling)
		c->used = 0;
	else
		free(c);
}

void queue_free(struct queue *q)
{
	if (!q)
		return;
	if (q->lent)
		chunk_drop(q, q->lent);
	for (size_t i = q->head; i < q->n; i++)
		chunk_drop(q, q->items[i].chunk);
	free(q->ahead);
	free(q->filling);
	free(q->items);
	free(q);
}

static bool earlier(const struct item *x, const struct item *y)
{
	return x->time != y->time ? x->time < y->time : x->sequence < y->sequence;
}

/* The end of the run that begins at `at`: items that are already in order. */
static size_t run_end(const struct item *it, size_t at, size_t n)
{
	while (++at < n && !earlier(&it[at], &it[at - 1]))
		;
	return at;
}

static void merge(struct item *to, const struct item *a, size_t n_a, const struct item *b,
		  size_t n_b)
{
	while (n_a && n_b) {
		if (earlier(b, a)) {
			*to++ = *b++;
			n_b--;
		} else {
			*to++ = *a++;
			n_a--;
		}
	}
	memcpy(to, n_a ? a : b, (n_a + n_b) * sizeof(*to));
}

static int compare(const void *a, const void *b)
{
	return earlier(a, b) ? -1 : earlier(b, a);
}

/*
 * Each CPU's buffer is in order, so the queue is a few long runs: neighbours are merged until one
 * is left.
 */
static void sort(struct item *it, size_t n)
{
	struct item *room = NULL;

	while (run_end(it, 0, n) < n) {
		if (!room && !(room = malloc(n * sizeof(*room)))) {
			qsort(it, n, sizeof(*it), compare);
			return;
		}
		for (size_t at = 0; at < n;) {
			size_t middle = run_end(it, at, n);
			size_t end = middle < n ? run_end(it, middle, n) : n;

			merge(room + at, it + at, middle - at, it + middle, end - middle);
			at = end;
		}
		memcpy(it, room, n * sizeof(*it));
	}
	free(room);
}

/* Releases items that are not newer than `limit`. */
static void release(struct queue *q, uint64_t limit)
{
	q->ready = q->head;
	if (q->head == q->n)
		return;
	sort(q->items + q->head, q->n - q->head);
	while (q->ready < q->n && q->items[q->ready].time <= limit)
		q->ready++;
}

static int push(struct queue *q, const struct perfdata_record *rec, uint64_t time)
{
	size_t size = (rec->size + 7u) & ~7u;
	struct item *it;

	if (q->n == q->room) {
		if (q->head > q->n / 2) { /* half of it was returned: move instead of growing */
			memmove(q->items, q->items + q->head, (q->n - q->head) * sizeof(*q->items));
			q->n -= q->head;
			q->ready -= q->head;
			q->head = 0;
		} else if (!array_reserve(&q->items, &q->room, q->n + 1, sizeof(*q->items))) {
			return -ENOMEM;
		}
	}
	if (!q->filling || CHUNK - q->filling->used < size) {
		struct chunk *c = malloc(sizeof(*c));

		if (!c)
			return -ENOMEM;
		if (q->filling && !q->filling->live)
			free(q->filling);
		q->filling = c;
		c->used = c->live = 0;
	}
	it = &q->items[q->n++];
	*it = (struct item){ .time = time,
			     .sequence = q->sequence++,
			     .chunk = q->filling,
			     .bytes = (unsigned char *)q->filling->bytes + q->filling->used,
			     .offset = rec->offset,
			     .file = rec->file,
			     .inflated = rec->inflated };
	memcpy((unsigned char *)q->filling->bytes + q->filling->used, rec->bytes, rec->size);
	q->filling->used += size;
	q->filling->live++;
	q->held += size + sizeof(*it);
	q->pushed += size + sizeof(*it);
	if (time > q->newest)
		q->newest = time;
	return 0;
}

static void pop(struct perfdata *r, struct queue *q, struct perfdata_record *out)
{
	const struct item *it = &q->items[q->head++];

	out->type = load32(it->bytes, r->swap);
	out->misc = load16(it->bytes + 4, r->swap);
	out->size = load16(it->bytes + 6, r->swap);
	out->bytes = it->bytes;
	out->offset = it->offset;
	out->file = it->file;
	out->inflated = it->inflated;
	out->payload = 0;
	q->held -= ((out->size + 7u) & ~7u) + sizeof(*it);
	q->lent = it->chunk;
	if (it->time < q->released)
		r->loss.disordered++;
	else
		q->released = it->time;
	r->lent = NULL;
	if (q->head == q->n)
		q->head = q->ready = q->n = 0;
}

/*
 * Releases items older than all unread records. This scans the whole queue, so it is done only
 * after the queue has grown considerably.
 */
static void release_early(struct perfdata *r, struct queue *q)
{
	uint64_t least;

	if (!q->looked && q->held > (q->rounds ? LONG_ROUND : LOOK_AHEAD)) {
		q->looked = true;
		q->ahead = ahead_look(r);
	}
	if (!q->ahead || q->pushed < q->held / 4)
		return;
	least = ahead_least(r, q->ahead);
	if (least == q->least)
		return;
	q->least = least;
	q->pushed = 0;
	release(q, least);
}

/* The current limit of the queue: it grows with the bytes read of the file. */
static uint64_t queue_limit(const struct perfdata *r)
{
	uint64_t read = 0;

	if (r->opts.queue_max)
		return r->opts.queue_max;
	for (unsigned i = 0; i < r->n_streams; i++)
		read += r->streams[i].in.offset;
	return read < (QUEUE_MAX - QUEUE_LEAST) / HELD_PER_BYTE ? QUEUE_LEAST + HELD_PER_BYTE * read
								: QUEUE_MAX;
}

/* Reads until an item is ready (0) or a record without a time is met (1). */
static int advance(struct perfdata *r, struct queue *q, struct perfdata_record *out)
{
	uint64_t time;
	int ret;

	while (q->head == q->ready) {
		if (q->ended) {
			release(q, UINT64_MAX);
			return 0;
		}
		ret = streams_next(r, out, &q->why);
		if (ret != 1) {
			q->ended = ret ? ret : 1;
			continue;
		}
		if (!record_time(r, out, &time)) {
			if (out->type == PD_RECORD_FINISHED_ROUND && !r->file.directory) {
				release(q, q->round_newest);
				q->round_newest = q->newest;
				q->rounds = true;
			}
			return 1;
		}
		ret = push(q, out, time);
		if (ret < 0) {
			tare_fail_nomem(&q->why);
			q->ended = ret;
			continue;
		}
		release_early(r, q);
		if (q->head == q->ready &&
		    q->held > (r->opts.queue_max ? r->opts.queue_max : QUEUE_LEAST) &&
		    q->held > queue_limit(r)) {
			release(q, UINT64_MAX);
			q->ready = q->head + (q->n - q->head + 1) / 2;
		}
	}
	return 0;
}

int perfdata_next_ordered(struct perfdata *r, struct perfdata_record *out, struct tare_error *err)
{
	struct queue *q = r->queue;
	int ret;

	if (!q && !(q = r->queue = calloc(1, sizeof(*q))))
		return tare_fail_nomem(err);
	if (q->lent) {
		chunk_drop(q, q->lent);
		q->lent = NULL;
	}
	ret = advance(r, q, out);
	if (ret == 0 && q->head == q->ready) {
		if (q->ended < 0 && err)
			*err = q->why;
		return q->ended < 0 ? q->ended : 0;
	}
	if (ret == 0)
		pop(r, q, out);
	record_decode(r, out);
	ret = record_apply(r, out, err);
	return ret < 0 ? ret : 1;
}
