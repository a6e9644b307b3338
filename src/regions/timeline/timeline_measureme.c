/* SPDX-License-Identifier: MIT */
/*
 * Recordings of measureme as timelines. An event in the stream "MMES", after its header
 * (measureme_pages.c), little-endian:
 *
 *	version 9  version 8
 *	 0 u64      0 u32	kind, a string (measureme_strings.c)
 *	 8 u64      4 u32	label and arguments, a string
 *	16 u32      8 u32	thread, as the program numbers them
 *	20 u32     12 u32	low half of the first value: start, instant, or a number
 *	24 u32     16 u32	low half of the second: end; 2^48-1 marks an instant, 2^48-2 a number
 *	28 u32     20 u32	upper 16 bits: of the first value; lower 16 bits: of the second
 *
 * Source: measureme 12.0.3 and 10.1.2, raw_event.rs.
 *
 * An interval is written when it ends: children before parents, and threads mixed. A timeline goes
 * forward, so the enclosing intervals of an event are known only by reading backwards. The stream
 * is divided into chunks. One pass from the last chunk to the first, with a stack of open intervals
 * per thread, saves for each chunk the intervals that are open at its end. Other intervals need no
 * memory. A cursor reads a thread's chunks from the first one: it starts from the saved stack,
 * walks the chunk backwards, and returns its points in reverse order. So a file is read twice, and
 * once more per further thread that shares its chunks. Memory is that of one chunk and of the
 * intervals open at the ends of chunks.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/array.h"
#include "regions/timeline/measureme_labels.h"
#include "regions/timeline/measureme_meta.h"
#include "regions/timeline/measureme_walk.h"
#include "regions/timeline/timeline_format.h"

enum {
	CHUNK_LEAST = 1 << 14, /* events */
	CHUNKS_MOST = 1 << 13,
	THREADS_MAX = 1 << 20,
	NO_NODE = UINT32_MAX,
};

/* An interval that was open at the end of a chunk, and its enclosing interval. */
struct node {
	uint64_t start, end, offset;
	uint32_t label, around;
};

/* A chunk with events of a thread: the state of the walk there. */
struct stop {
	uint64_t chunk, limit;
	uint32_t node;
};

struct thread {
	uint32_t id;
	struct mm_walk walk;
	struct stop *stop; /* from the last chunk to the first */
	size_t n, room;
	uint64_t lost;
};

struct measureme {
	struct timeline base;
	struct mm_pages pages;
	struct mm_labels labels;
	struct mm_meta meta;
	struct timeline_counter counter;
	struct timeline_thread *public;
	size_t event_size;
	uint64_t n_events, chunk; /* events per chunk */
	struct thread *thread;
	size_t n_threads, room;
	uint32_t *slot; /* hash table by id: thread + 1; 0: free */
	size_t slots;
	struct node *node;
	uint32_t nodes;
	size_t node_room;
	uint64_t async, wrong, first_async, first_wrong; /* how many, and where */
	char format[24];
	struct text remark;
};

struct measureme_cursor {
	struct cursor base;
	const struct measureme *m;
	const struct thread *thread;
	size_t left; /* remaining stops */
	struct mm_walk walk;
	struct mm_points points; /* returned from the last to the first */
	unsigned char *bytes;
	uint64_t last; /* value of the last point */
	struct timeline_point given[TIMELINE_AT_ONCE];
	uint64_t value[TIMELINE_AT_ONCE]; /* values of the returned points */
	struct mm_memo memo;
};

static bool is(const unsigned char *head, size_t n)
{
	return mm_is(head, n);
}

/* The events of one chunk, from last to first, with the offset of each. */
struct chunk {
	const struct measureme *m;
	unsigned char *bytes;
	uint64_t first, n; /* n: remaining events */
	size_t page;
};

static int chunk_read(struct chunk *c, const struct measureme *m, uint64_t number,
		      unsigned char *bytes, struct tare_error *err)
{
	uint64_t first = number * m->chunk, left = m->n_events - first,
		 n = left < m->chunk ? left : m->chunk;
	uint64_t at = MM_STREAM_HEADER + first * m->event_size;
	ssize_t got = mm_read(&m->pages, MM_EVENTS, at, bytes, (size_t)(n * m->event_size), err);

	*c = (struct chunk){ m, bytes, first, n, 0 };
	if (got < 0)
		return (int)got;
	c->page = mm_page_at(&m->pages.stream[MM_EVENTS], at + (uint64_t)got - 1);
	return 0;
}

static bool chunk_next(struct chunk *c, struct mm_event *e, uint64_t *offset)
{
	const struct mm_stream *s = &c->m->pages.stream[MM_EVENTS];
	uint64_t at;

	if (c->n == 0)
		return false;
	c->n--;
	*e = mm_event_of(c->bytes + c->n * c->m->event_size, c->m->event_size);
	at = MM_STREAM_HEADER + (c->first + c->n) * c->m->event_size;
	while (s->page[c->page].begin > at)
		c->page--;
	*offset = s->page[c->page].at + (at - s->page[c->page].begin);
	return true;
}

/* Threads by their number. */

static size_t slot_of(const struct measureme *m, uint32_t id)
{
	size_t at = (size_t)(id * 0x9e3779b97f4a7c15ull >> 32) & (m->slots - 1);

	while (m->slot[at] && m->thread[m->slot[at] - 1].id != id)
		at = (at + 1) & (m->slots - 1);
	return at;
}

static bool more_slots(struct measureme *m)
{
	free(m->slot);
	m->slots = m->slots ? 2 * m->slots : 64;
	m->slot = calloc(m->slots, sizeof(*m->slot));
	for (size_t i = 0; m->slot && i < m->n_threads; i++)
		m->slot[slot_of(m, m->thread[i].id)] = (uint32_t)i + 1;
	return m->slot;
}

static struct thread *thread_of(struct measureme *m, uint32_t id, uint64_t offset,
				struct tare_error *err)
{
	size_t at;

	if (2 * m->n_threads >= m->slots && !more_slots(m)) {
		tare_fail_nomem(err);
		return NULL;
	}
	at = slot_of(m, id);
	if (m->slot[at])
		return &m->thread[m->slot[at] - 1];
	if (m->n_threads == THREADS_MAX) {
		tare_fail(err, EINVAL, "byte %" PRIu64 ": events of more than %d threads", offset,
			  THREADS_MAX);
		return NULL;
	}
	if (!array_reserve(&m->thread, &m->room, m->n_threads + 1, sizeof(*m->thread))) {
		tare_fail_nomem(err);
		return NULL;
	}
	m->thread[m->n_threads] = (struct thread){ .id = id, .walk.limit = UINT64_MAX };
	m->slot[at] = (uint32_t)++m->n_threads;
	return &m->thread[m->n_threads - 1];
}

/* Save the open intervals of a thread as nodes, each once even if it spans several chunks. */
static uint32_t save(struct measureme *m, struct mm_walk *w)
{
	for (; w->saved < w->depth; w->saved++) {
		struct mm_open *o = &w->open[w->saved];

		if (m->nodes == NO_NODE - 1 ||
		    !array_reserve(&m->node, &m->node_room, m->nodes + 1ull, sizeof(*m->node)))
			return NO_NODE;
		o->node = m->nodes;
		m->node[m->nodes++] = (struct node){ o->start, o->end, o->offset, o->label,
						     w->saved ? w->open[w->saved - 1].node
							      : NO_NODE };
	}
	return w->depth ? w->open[w->depth - 1].node : NO_NODE;
}

static int note_stop(struct measureme *m, struct thread *t, uint64_t chunk)
{
	uint32_t node = save(m, &t->walk);

	if (t->walk.depth && node == NO_NODE)
		return -ENOMEM;
	if (!array_reserve(&t->stop, &t->room, t->n + 1, sizeof(*t->stop)))
		return -ENOMEM;
	t->stop[t->n++] = (struct stop){ chunk, t->walk.limit, node };
	return 0;
}

static uint32_t label_now(struct measureme *m, struct mm_memo *memo, const struct mm_event *e)
{
	size_t at = mm_memo_at(e->kind, e->id);

	if (!memo->entry[at].label_1 || memo->entry[at].id != e->id ||
	    memo->entry[at].kind != e->kind) {
		uint32_t label = mm_label(&m->labels, e->kind, e->id);

		if (label == MM_NONE)
			return MM_NONE;
		memo->entry[at].kind = e->kind;
		memo->entry[at].id = e->id;
		memo->entry[at].label_1 = label + 1;
	}
	return memo->entry[at].label_1 - 1;
}

static int index_chunk(struct measureme *m, uint64_t number, unsigned char *bytes,
		       struct mm_memo *memo, struct tare_error *err)
{
	struct thread *t = NULL;
	struct mm_event e;
	struct chunk c;
	uint64_t offset;
	int ret = chunk_read(&c, m, number, bytes, err);

	if (ret < 0)
		return ret;
	while (chunk_next(&c, &e, &offset)) {
		uint32_t label = label_now(m, memo, &e);

		if (!t || t->id != e.thread)
			t = thread_of(m, e.thread, offset, err);
		if (!t)
			return err && err->code ? -err->code : -ENOMEM;
		if ((t->n == 0 || t->stop[t->n - 1].chunk != number) && note_stop(m, t, number) < 0)
			return tare_fail_nomem(err);
		ret = label == MM_NONE ? -ENOMEM : mm_walk(&t->walk, &e, label, offset, NULL);
		if (ret < 0)
			return tare_fail_nomem(err);
		if (ret == MM_ASYNC) {
			m->async++;
			m->first_async = offset;
		} else if (ret == MM_WRONG) {
			m->wrong++;
			m->first_wrong = offset;
			t->lost += 2;
		}
	}
	return 0;
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = ((const struct thread *)a)->id, y = ((const struct thread *)b)->id;

	return (x > y) - (x < y);
}

static int index_all(struct measureme *m, struct tare_error *err)
{
	uint64_t size = m->pages.stream[MM_EVENTS].size,
		 whole = size > MM_STREAM_HEADER ? size - MM_STREAM_HEADER : 0;
	struct mm_memo *memo = calloc(1, sizeof(*memo));
	unsigned char *bytes;
	int ret = 0;

	m->event_size = mm_event_size(m->pages.version);
	m->n_events = whole / m->event_size;
	if (whole % m->event_size)
		mm_damage(&m->pages, "the last event is truncated, at byte %" PRIu64,
			  mm_offset(&m->pages, MM_EVENTS,
				    MM_STREAM_HEADER + m->n_events * m->event_size));
	for (m->chunk = CHUNK_LEAST; m->n_events / m->chunk >= CHUNKS_MOST;)
		m->chunk *= 2;
	bytes = malloc((size_t)m->chunk * m->event_size);
	if (!memo || !bytes)
		ret = tare_fail_nomem(err);
	for (uint64_t c = (m->n_events + m->chunk - 1) / m->chunk; ret == 0 && c-- > 0;)
		ret = index_chunk(m, c, bytes, memo, err);
	free(bytes);
	free(memo);
	if (m->n_threads)
		qsort(m->thread, m->n_threads, sizeof(*m->thread), by_id);
	return ret;
}

static void describe(struct measureme *m)
{
	struct mm_strings *s = &m->labels.strings;
	uint32_t string = mm_string(s, MM_METADATA);
	struct text json = { 0 };
	struct timeline_counter *c = &m->counter;

	if (string == MM_NONE || mm_string_text(s, string, &json) == MM_GONE)
		mm_damage(
			&m->pages,
			"the description of the recording is missing: its writer did not finish, and intervals that were open then are missing");
	mm_meta_read(&m->meta, json.s ? json.s : "", json.len);
	text_free(&json);
	text_put(&m->meta.command, "", 0);
	text_put(&m->meta.counter, "", 0);

	c->quality = TARE_COUNTED;
	c->unit = "";
	if (!m->meta.counter.len) {
		c->name = "counter";
		c->note = "the file does not name the counter";
	} else {
		c->name = m->meta.counter.s;
		c->note = "as measureme read it; the overhead of its reads is not recorded";
		if (m->meta.unit.s && !strcmp(m->meta.unit.s, "ns"))
			c->unit = "ns";
	}
}

static int tell(struct measureme *m, struct tare_error *err)
{
	if (m->wrong)
		mm_damage(
			&m->pages,
			"%" PRIu64
			" intervals end before they start and were left out, the first at byte %" PRIu64,
			m->wrong, m->first_wrong);
	if (m->labels.gone)
		mm_damage(&m->pages, "the text of %" PRIu64 " labels is not in it", m->labels.gone);
	if (m->labels.cut)
		mm_damage(&m->pages, "the text of %" PRIu64 " labels is cut", m->labels.cut);
	if (m->pages.damages > 4)
		text_add(&m->pages.damage, "; and more");
	if (m->labels.unmapped)
		text_add(&m->remark,
			 "%" PRIu64
			 " events have labels without a text: they are shown as one label",
			 m->labels.unmapped);
	if (m->async)
		text_add(
			&m->remark,
			"%s%" PRIu64
			" events overlap others of their thread or are out of order, the first at byte %" PRIu64
			": they are shown as detached timings",
			m->remark.len ? "; " : "", m->async, m->first_async);
	m->public = calloc(m->n_threads + 1, sizeof(*m->public));
	if (!m->public || m->pages.damage.failed || m->remark.failed)
		return tare_fail_nomem(err);
	for (size_t i = 0; i < m->n_threads; i++)
		m->public[i] = (struct timeline_thread){ .pid = m->meta.pid,
							 .tid = m->thread[i].id,
							 .name = "",
							 .complete = m->pages.damages == 0,
							 .lost = m->thread[i].lost };
	snprintf(m->format, sizeof(m->format), "measureme %u", m->pages.version);
	m->base.info = (struct timeline_info){ .format = m->format,
					       .command = m->meta.command.s,
					       .start_ns = m->meta.start_ns,
					       .time = !strcmp(m->counter.unit, "ns") ? 0 : -1,
					       .counter = &m->counter,
					       .n_counters = 1,
					       .thread = m->public,
					       .n_threads = m->n_threads,
					       .n_labels = m->labels.n,
					       .damage = m->pages.damage.len ? m->pages.damage.s
									     : NULL,
					       .remark = m->remark.len ? m->remark.s : NULL };
	return 0;
}

static void close_measureme(struct timeline *t)
{
	struct measureme *m = (struct measureme *)t;

	if (m->pages.fd >= 0)
		close(m->pages.fd);
	mm_labels_free(&m->labels);
	mm_meta_free(&m->meta);
	text_free(&m->remark);
	mm_pages_free(&m->pages);
	for (size_t i = 0; i < m->n_threads; i++) {
		free(m->thread[i].walk.open);
		free(m->thread[i].stop);
	}
	free(m->thread);
	free(m->public);
	free(m->slot);
	free(m->node);
	free(m);
}

static int open_measureme(struct timeline **out, int fd, const char *path, struct tare_error *err)
{
	struct measureme *m = calloc(1, sizeof(*m));
	int ret;

	(void)path;
	if (!m)
		return tare_fail_nomem(err);
	ret = mm_pages_open(&m->pages, fd, err);
	if (ret == 0)
		ret = mm_labels_open(&m->labels, &m->pages, err);
	if (ret == 0) {
		describe(m);
		ret = index_all(m, err);
	}
	if (ret == 0)
		ret = tell(m, err);
	if (ret < 0) {
		m->pages.fd = -1; /* still owned by the caller */
		close_measureme(&m->base);
		return ret;
	}
	*out = &m->base;
	return 0;
}

static const struct timeline_label *label(struct timeline *t, uint32_t index)
{
	return &((struct measureme *)t)->labels.label[index];
}

static void cursor_free(struct cursor *c)
{
	struct measureme_cursor *mc = (struct measureme_cursor *)c;

	free(mc->walk.open);
	free(mc->points.point);
	free(mc->bytes);
	free(mc);
}

static int thread_cursor(struct timeline *t, size_t thread, struct cursor **out,
			 struct tare_error *err)
{
	struct measureme *m = (struct measureme *)t;
	struct measureme_cursor *c = calloc(1, sizeof(*c));
	uint64_t room = m->n_events < m->chunk ? m->n_events : m->chunk;

	if (!c)
		return tare_fail_nomem(err);
	*c = (struct measureme_cursor){
		.base.of = t, .m = m, .thread = &m->thread[thread], .left = m->thread[thread].n
	};
	c->bytes = malloc((size_t)room * m->event_size + 1);
	if (!c->bytes) {
		cursor_free(&c->base);
		return tare_fail_nomem(err);
	}
	*out = &c->base;
	return 0;
}

/* Restore the saved stack: from the innermost interval outwards, then reversed. */
static int restore(struct measureme_cursor *c, const struct stop *s)
{
	struct mm_walk *w = &c->walk;

	w->depth = 0;
	w->limit = s->limit;
	for (uint32_t n = s->node; n != NO_NODE; n = c->m->node[n].around) {
		const struct node *node = &c->m->node[n];

		if (!mm_walk_push(w,
				  &(struct mm_open){ node->start, node->end, node->offset,
						     node->label, n }))
			return -ENOMEM;
	}
	for (size_t i = 0, j = w->depth; i + 1 < j; i++) {
		struct mm_open o = w->open[i];

		w->open[i] = w->open[--j];
		w->open[j] = o;
	}
	return 0;
}

static uint32_t label_then(struct measureme_cursor *c, const struct mm_event *e)
{
	struct mm_memo *memo = &c->memo;
	size_t at = mm_memo_at(e->kind, e->id);

	if (!memo->entry[at].label_1 || memo->entry[at].id != e->id ||
	    memo->entry[at].kind != e->kind) {
		memo->entry[at].kind = e->kind;
		memo->entry[at].id = e->id;
		memo->entry[at].label_1 = mm_label_find(&c->m->labels, e->kind, e->id) + 1;
	}
	return memo->entry[at].label_1 - 1;
}

static int next_chunk(struct measureme_cursor *c, struct tare_error *err)
{
	const struct stop *stop = &c->thread->stop[--c->left];
	struct mm_event e;
	struct chunk chunk;
	uint64_t offset;
	int ret = restore(c, stop);

	if (ret < 0)
		return tare_fail_nomem(err);
	ret = chunk_read(&chunk, c->m, stop->chunk, c->bytes, err);
	if (ret < 0)
		return ret;
	while (chunk_next(&chunk, &e, &offset)) {
		uint32_t label;

		if (e.thread != c->thread->id)
			continue;
		label = label_then(c, &e);
		if (label >= c->m->labels.n)
			return tare_fail(err, EIO,
					 "byte %" PRIu64 ": the file changed while it was read",
					 offset);
		if (mm_walk(&c->walk, &e, label, offset, &c->points) < 0)
			return tare_fail_nomem(err);
	}
	/* Intervals that were open before the thread's first chunk have no earlier begin. */
	if (c->left + 1 == c->thread->n && mm_walk_end(&c->walk, &c->points) < 0)
		return tare_fail_nomem(err);
	return 0;
}

static int read_points(struct cursor *base, size_t most, const struct timeline_point **points,
		       struct tare_error *err)
{
	struct measureme_cursor *c = (struct measureme_cursor *)base;
	size_t n = 0;

	while (c->points.n == 0) {
		int ret;

		if (c->left == 0)
			return 0;
		ret = next_chunk(c, err);
		if (ret < 0)
			return ret;
	}
	for (; n < most && c->points.n; n++) {
		const struct mm_point *q = &c->points.point[--c->points.n];
		bool integer = q->kind == TIMELINE_INTEGER,
		     async = q->kind == TIMELINE_START || q->kind == TIMELINE_FINISH;

		if (!integer)
			c->last = q->value;
		c->value[n] = c->last;
		c->given[n] = (struct timeline_point){ .kind = q->kind,
						       .label = q->label,
						       .value = &c->value[n],
						       .offset = q->offset,
						       .number = integer ? q->value
							       : async   ? q->offset
									 : 0,
						       .missing = integer };
	}
	*points = c->given;
	return (int)n;
}

const struct timeline_format timeline_measureme = {
	.is = is,
	.open = open_measureme,
	.label = label,
	.close = close_measureme,
	.thread = thread_cursor,
	.read = read_points,
	.cursor_close = cursor_free,
};
