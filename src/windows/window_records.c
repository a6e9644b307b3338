/* SPDX-License-Identifier: MIT */
/* The kernel's records as far as windows are made of them, kept: those of several CPUs come in no order. */
#include <stdlib.h>
#include <string.h>
#include "windows/window_private.h"

void *window_grown(void *p, size_t need, size_t *room, size_t each)
{
	size_t more = *room ? *room : 1024;
	void *q;

	if (need <= *room)
		return p;
	while (more < need)
		more *= 2;
	q = realloc(p, more * each);
	if (q)
		*room = more;
	return q;
}

static int keep_entry(struct collect *c, struct entry e, struct tare_error *err)
{
	struct entry *more = window_grown(c->entry, c->entries + 1, &c->entry_room, sizeof(*more));

	if (!more)
		return tare_fail_nomem(err);
	c->entry = more;
	e.order = c->entries;
	c->entry[c->entries++] = e;
	return 0;
}

static uint64_t *room_for_values(struct collect *c)
{
	uint64_t *more = window_grown(c->value, c->values + c->n, &c->value_room, sizeof(*more));

	if (!more)
		return NULL;
	c->value = more;
	memset(c->value + c->values, 0, c->n * sizeof(*more));
	c->values += c->n;
	return c->value + c->values - c->n;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int begin(struct sample_sink *self, const struct sampled *events, size_t n, struct tare_error *err)
{
	struct collect *c = (struct collect *)self;
	size_t first = n - c->plan->events->n; /* a tracker may stand before them */
	size_t all = 0;

	for (size_t i = first; i < n; i++)
		all += events[i].n_ids;
	c->n = c->plan->events->n;
	c->ids = calloc(all + 1, sizeof(*c->ids));
	if (!c->ids)
		return tare_fail_nomem(err);
	for (size_t i = first; i < n; i++)
		for (size_t k = 0; k < events[i].n_ids; k++)
			c->ids[c->n_ids++] = (struct id_row){ events[i].ids[k], (unsigned)(i - first), (unsigned)k };
	qsort(c->ids, c->n_ids, sizeof(*c->ids), by_id);
	c->strands = events[first].n_ids;
	c->lost_words = events[first].attr.read_format >> 4 & 1;
	c->inherit = events[first].attr.inherit;
	return 0;
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

/* { nr, enabled, running, { value, id [, lost] } [nr] }; false where it does not fit into n bytes. */
static bool take_values(struct collect *c, const unsigned char *p, size_t n, uint64_t *value, unsigned *strand)
{
	size_t each = 16 + 8 * c->lost_words;
	uint64_t nr = n >= 24 ? u64(p) : 0;
	bool any = false;

	if (!nr || nr > (n - 24) / each)
		return false;
	p += 24;
	for (uint64_t i = 0; i < nr; i++, p += each) {
		const struct id_row *row = find_id(c, u64(p + 8));

		if (!row || row->strand >= c->strands)
			continue;
		any = true;
		value[row->event] = u64(p);
		*strand = row->strand;
	}
	return any;
}

/* header, id, ip, { pid, tid }, time, { cpu, 0 }, values: what sample_attrs() asks for with a fixed period. */
static int take_sample(struct collect *c, const unsigned char *p, size_t n, struct tare_error *err)
{
	struct entry e = { .kind = IS_WINDOW, .at = c->values };
	uint64_t *value;

	if (n < 48)
		return tare_fail(err, EIO, "the kernel's sample of %zu bytes is too short", n);
	e.pid = u32(p + 24);
	e.tid = u32(p + 28);
	e.time = u64(p + 32);
	e.cpu = u32(p + 40);
	value = room_for_values(c);
	if (!value)
		return tare_fail_nomem(err);
	if (!take_values(c, p + 48, n - 48, value, &e.strand))
		return tare_fail(err, EIO, "the kernel's sample of %zu bytes holds no group", n);
	return keep_entry(c, e, err);
}

/* The trailer of all other records: { pid, tid }, time, { cpu, 0 }, id. */
static struct entry trailer(const unsigned char *p, size_t n, enum kind kind)
{
	return (struct entry){ .kind = kind,
			       .pid = u32(p + n - 32),
			       .tid = u32(p + n - 28),
			       .time = u64(p + n - 24),
			       .cpu = u32(p + n - 16) };
}

static int take_name(struct collect *c, const unsigned char *p, size_t n, struct tare_error *err)
{
	struct entry e = trailer(p, n, IS_COMM);
	char *more = window_grown(c->name, c->names + NAME_SIZE, &c->name_room, 1);

	if (!more)
		return tare_fail_nomem(err);
	c->name = more;
	e.pid = u32(p + 8);
	e.tid = u32(p + 12);
	e.at = c->names;
	memset(c->name + c->names, 0, NAME_SIZE);
	memcpy(c->name + c->names, p + 16, strnlen((const char *)p + 16, n - 48 < NAME_SIZE - 1 ? n - 48 : NAME_SIZE - 1));
	c->names += NAME_SIZE;
	return keep_entry(c, e, err);
}

static int records(struct sample_sink *self, const unsigned char *bytes, size_t n, struct tare_error *err)
{
	struct collect *c = (struct collect *)self;
	struct perf_event_header h;
	int ret = 0;

	for (size_t at = 0; ret == 0 && at < n; at += h.size) {
		const unsigned char *p = bytes + at;

		memcpy(&h, p, sizeof(h));
		if (h.type == PERF_RECORD_SAMPLE) {
			ret = take_sample(c, p, h.size, err);
		} else if (h.size < 48) {
			continue;
		} else if (h.type == PERF_RECORD_COMM) {
			ret = take_name(c, p, h.size, err);
		} else if (h.type == PERF_RECORD_FORK && h.size >= 64) {
			struct entry e = trailer(p, h.size, IS_FORK);

			e.pid = u32(p + 8);
			e.tid = u32(p + 16);
			e.at = u32(p + 20); /* whose name it begins with */
			ret = keep_entry(c, e, err);
		}
	}
	return ret;
}

static int no_round(struct sample_sink *self, struct tare_error *err)
{
	(void)self, (void)err;
	return 0;
}

void collect_open(struct collect *c, const struct window_plan *plan)
{
	*c = (struct collect){ .sink = { begin, records, no_round }, .plan = plan };
}

void collect_free(struct collect *c)
{
	free(c->entry);
	free(c->value);
	free(c->name);
	free(c->ids);
}
