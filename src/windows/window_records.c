/* SPDX-License-Identifier: MIT */
/*
 * Store the kernel's records that windows need, and sort them: records of several CPUs are not in
 * order.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "windows/window_private.h"

enum { SORT_FROM = 4096 }; /* entries: a pass over fewer is too expensive per entry */

static size_t entry_bytes(const struct collect *c)
{
	return sizeof(struct entry) + c->build.n * sizeof(uint64_t);
}

static struct entry *entry_at(const struct collect *c, size_t i)
{
	return (void *)(c->entry + i * entry_bytes(c));
}

struct entry *collect_add(struct collect *c, struct tare_error *err)
{
	struct entry *e;

	if (!array_reserve(&c->entry, &c->entry_room, c->entries + 1, entry_bytes(c))) {
		tare_fail_nomem(err);
		return NULL;
	}
	e = entry_at(c, c->entries++);
	memset(e, 0, entry_bytes(c));
	e->order = c->order++;
	return e;
}

static int by_time(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->kind != y->kind)
		return (int)x->kind - (int)y->kind;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Convert all entries before `until`; the others stay. */
static int pass_on(struct collect *c, uint64_t until, struct tare_error *err)
{
	size_t i = 0;
	int ret = 0;

	if (c->entries)
		qsort(c->entry, c->entries, entry_bytes(c), by_time);
	while (ret == 0 && i < c->entries && entry_at(c, i)->time < until)
		ret = build_add(&c->build, entry_at(c, i++), err);
	c->entries -= i;
	memmove(c->entry, entry_at(c, i), c->entries * entry_bytes(c));
	c->left = c->seen = c->entries;
	return ret;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int collect_begin(struct collect *c, size_t n, size_t strands, bool inherit, struct tare_error *err)
{
	c->build.n = n;
	c->build.strands = strands;
	c->build.inherit = inherit;
	return build_open(&c->build, err);
}

static int begin_records(struct sample_sink *self, const struct sampled *events, size_t n,
			 struct tare_error *err)
{
	struct collect *c = (struct collect *)self;
	size_t first = n - c->build.plan->events->n; /* a tracker may precede them */
	size_t all = 0;

	for (size_t i = first; i < n; i++)
		all += events[i].n_ids;
	c->ids = calloc(all + 1, sizeof(*c->ids));
	if (!c->ids)
		return tare_fail_nomem(err);
	for (size_t i = first; i < n; i++)
		for (size_t k = 0; k < events[i].n_ids; k++)
			c->ids[c->n_ids++] = (struct id_row){ events[i].ids[k],
							      (unsigned)(i - first), (unsigned)k };
	qsort(c->ids, c->n_ids, sizeof(*c->ids), by_id);
	c->lost_words = events[first].attr.read_format >> 4 & 1;
	return collect_begin(c, n - first, events[first].n_ids, events[first].attr.inherit, err);
}

static const struct id_row *find_id(const struct collect *c, uint64_t id)
{
	return c->n_ids ? bsearch(&id, c->ids, c->n_ids, sizeof(*c->ids), by_id) : NULL;
}

static uint64_t u64(const unsigned char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t u32(const unsigned char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* { nr, enabled, running, { value, id [, lost] } [nr] }; false if it does not fit into n bytes. */
static bool take_values(struct collect *c, const unsigned char *p, size_t n, uint64_t *value,
			unsigned *strand)
{
	size_t each = 16 + 8 * c->lost_words;
	uint64_t nr = n >= 24 ? u64(p) : 0;
	bool any = false;

	if (!nr || nr > (n - 24) / each)
		return false;
	p += 24;
	for (uint64_t i = 0; i < nr; i++, p += each) {
		const struct id_row *row = find_id(c, u64(p + 8));

		if (!row || row->strand >= c->build.strands)
			continue;
		any = true;
		value[row->event] = u64(p);
		*strand = row->strand;
	}
	return any;
}

/*
 * header, id, ip, { pid, tid }, time, { cpu, 0 }, values: the format requested by sample_attrs()
 * with a fixed period.
 */
static int take_sample(struct collect *c, const unsigned char *p, size_t n, struct tare_error *err)
{
	struct entry *e;

	if (n < 48)
		return tare_fail(err, EIO, "the kernel's sample of %zu bytes is too short", n);
	e = collect_add(c, err);
	if (!e)
		return -ENOMEM;
	e->kind = IS_WINDOW;
	e->pid = u32(p + 24);
	e->tid = u32(p + 28);
	e->time = u64(p + 32);
	e->cpu = u32(p + 40);
	if (!take_values(c, p + 48, n - 48, e->value, &e->strand))
		return tare_fail(err, EIO, "the kernel's sample of %zu bytes holds no group", n);
	return 0;
}

/*
 * The record of a task. The trailer of all records except samples is { pid, tid }, time, { cpu, 0
 * }, id.
 */
static struct entry *add_task(struct collect *c, const unsigned char *p, size_t n, enum kind kind,
			      struct tare_error *err)
{
	struct entry *e = collect_add(c, err);

	if (!e)
		return NULL;
	e->kind = kind;
	e->pid = u32(p + 8);
	e->tid = u32(p + (kind == IS_FORK ? 16 : 12));
	e->time = u64(p + n - 24);
	e->cpu = u32(p + n - 16);
	return e;
}

static int take_name(struct collect *c, const unsigned char *p, size_t n, struct tare_error *err)
{
	struct entry *e = add_task(c, p, n, IS_COMM, err);

	if (!e)
		return -ENOMEM;
	memcpy(e->name, p + 16,
	       strnlen((const char *)p + 16, n - 48 < NAME_SIZE - 1 ? n - 48 : NAME_SIZE - 1));
	return 0;
}

static int take_fork(struct collect *c, const unsigned char *p, size_t n, struct tare_error *err)
{
	struct entry *e = add_task(c, p, n, IS_FORK, err);

	if (!e)
		return -ENOMEM;
	e->parent = u32(p + 20);
	return 0;
}

static int records(struct sample_sink *self, const unsigned char *bytes, size_t n,
		   struct tare_error *err)
{
	struct collect *c = (struct collect *)self;
	struct perf_event_header h;
	int ret = 0;

	for (size_t at = 0; ret == 0 && at < n; at += h.size) {
		const unsigned char *p = bytes + at;

		memcpy(&h, p, sizeof(h));
		if (h.type == PERF_RECORD_SAMPLE)
			ret = take_sample(c, p, h.size, err);
		else if (h.type == PERF_RECORD_COMM && h.size >= 48)
			ret = take_name(c, p, h.size, err);
		else if (h.type == PERF_RECORD_FORK && h.size >= 64)
			ret = take_fork(c, p, h.size, err);
	}
	return ret;
}

/* Waits until the number of entries has doubled, so that each entry is sorted only a few times. */
static int round_over(struct sample_sink *self, struct tare_error *err)
{
	struct collect *c = (struct collect *)self;
	uint64_t until = c->newest_at_round > HELD_NS ? c->newest_at_round - HELD_NS : 0;

	for (size_t i = c->seen; i < c->entries; i++)
		if (entry_at(c, i)->time > c->newest)
			c->newest = entry_at(c, i)->time;
	c->seen = c->entries;
	c->newest_at_round = c->newest;
	return c->entries >= 2 * c->left + SORT_FROM ? pass_on(c, until, err) : 0;
}

void collect_open(struct collect *c, const struct window_plan *plan, struct window_sink *to,
		  const struct sample_outcome *o)
{
	*c = (struct collect){ .sink = { begin_records, records, round_over },
			       .build = { .plan = plan, .to = to, .started_ns = &o->started_ns } };
}

int collect_end(struct collect *c, const struct sample_outcome *o, struct window_end *end,
		struct tare_error *err)
{
	int ret = pass_on(c, UINT64_MAX, err);

	return ret == 0 ? build_end(&c->build, o, end, err) : ret;
}

void collect_free(struct collect *c)
{
	build_free(&c->build);
	free(c->entry);
	free(c->ids);
}
