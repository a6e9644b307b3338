/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include "analyze/sharing_private.h"

enum { LINE_SIZE = 64, LEAST = 4, WORD = 8 };

struct sharing *sharing_new(const struct sharing_options *opt, struct tare_error *err)
{
	struct sharing *s = calloc(1, sizeof(*s));

	if (!s) {
		tare_fail_nomem(err);
		return NULL;
	}
	if (opt)
		s->opt = *opt;
	if (!s->opt.line_size)
		s->opt.line_size = LINE_SIZE;
	if (!s->opt.least)
		s->opt.least = LEAST;
	return s;
}

void sharing_free(struct sharing *s)
{
	if (!s)
		return;
	set_free(&s->lines);
	set_free(&s->threads);
	set_free(&s->ips);
	free(s->hit);
	free(s->out);
	free(s->cell);
	free(s->weight);
	free(s->use);
	free(s->ran);
	free(s->ran_at);
	free(s);
}

/* Room for one more of `each` bytes. */
static void *more(void *p, size_t n, size_t *room, size_t each)
{
	size_t next = *room ? 2 * *room : 1024;

	if (n < *room)
		return p;
	p = realloc(p, next * each);
	if (p)
		*room = next;
	return p;
}

static struct line *line_at(const struct sharing *s, uint32_t i)
{
	return (struct line *)s->lines.item + i;
}

/* The cycles it took to get the data, whichever way this hardware measures that. */
static uint32_t latency_of(const struct tare_access *a)
{
	static const enum tare_access_latency which[] = { TARE_LATENCY_USE, TARE_LATENCY_TOTAL, TARE_LATENCY_MISS };

	for (size_t i = 0; i < ARRAY_SIZE(which); i++)
		if (a->has_latency >> which[i] & 1)
			return a->latency[which[i]];
	return 0;
}

int sharing_add(struct sharing *s, const struct tare_access *a, struct tare_error *err)
{
	bool load = a->kind == TARE_ACCESS_LOAD || a->kind == TARE_ACCESS_UPDATE;
	bool store = a->kind == TARE_ACCESS_STORE || a->kind == TARE_ACCESS_UPDATE;
	bool physical = a->has & TARE_ACCESS_PHYSICAL, fresh;
	uint64_t address = physical ? a->physical : a->address, mask = s->opt.line_size - 1;
	struct line line = { .key = { address & ~mask, 0, physical } };
	struct thread_key task = { a->pid, a->tid };
	struct hit h = { .time = a->time_ns, .offset = (uint8_t)(address & mask), .latency = latency_of(a) };
	void *room;

	if (!(load || store) || !(a->has & (TARE_ACCESS_ADDRESS | TARE_ACCESS_PHYSICAL)) || !(a->has & TARE_ACCESS_TASK)) {
		s->totals.passed_over++;
		return 0;
	}
	if (!physical && address >> 63 == 0)
		line.key.pid = a->pid;
	h.thread = set_add(&s->threads, &task, sizeof(task), sizeof(task), NULL);
	h.ip = set_add(&s->ips, &a->ip, sizeof(a->ip), sizeof(a->ip), NULL);
	line.thread = h.thread;
	line.seen_by = a->pid;
	line.seen_at = a->has & TARE_ACCESS_ADDRESS ? a->address & ~mask : 0;
	h.line = set_add(&s->lines, &line, sizeof(line), sizeof(line.key), &fresh);
	if (h.line == SET_NONE || h.thread == SET_NONE || h.ip == SET_NONE)
		return tare_fail_nomem(err);
	line_at(s, h.line)->many |= line_at(s, h.line)->thread != h.thread;
	line_at(s, h.line)->stored |= store;
	line_at(s, h.line)->samples++;
	if (a->has & TARE_ACCESS_SIZE && a->size <= s->opt.line_size)
		h.size = (uint8_t)(a->size < s->opt.line_size - h.offset ? a->size : s->opt.line_size - h.offset);
	h.flags = (load ? HIT_LOAD : 0) | (store ? HIT_STORE : 0) | (a->kernel ? HIT_KERNEL : 0);
	if (a->has & TARE_ACCESS_SNOOP && a->snoop == TARE_SNOOP_MODIFIED) {
		h.flags |= HIT_MODIFIED;
		s->totals.knows_modified = true;
	}
	if (a->has & TARE_ACCESS_TIME)
		h.flags |= HIT_TIMED;
	else
		s->totals.without_time++;
	room = more(s->hit, s->n, &s->room, sizeof(*s->hit));
	if (!room)
		return tare_fail_nomem(err);
	s->hit = room;
	s->hit[s->n++] = h;
	s->totals.used++;
	return 0;
}

/* ---- judging one line ---- */

static int by_line_and_time(const void *pa, const void *pb)
{
	const struct hit *a = pa, *b = pb;

	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

static int by_bytes_and_thread(const void *pa, const void *pb)
{
	const struct hit *a = pa, *b = pb;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->ip != b->ip)
		return a->ip < b->ip ? -1 : 1;
	return (a->size > b->size) - (a->size < b->size);
}

/* Bytes of an access that does not say how many: up to its word's end. */
static unsigned last_byte(const struct hit *h)
{
	return h->size ? h->offset + h->size - 1u : h->offset | (WORD - 1);
}

static bool same_bytes(const struct hit *a, const struct hit *b)
{
	if (!a->size && !b->size)
		return a->offset == b->offset;
	return a->offset <= last_byte(b) && b->offset <= last_byte(a);
}

/* Who uses the bytes that begin at an offset. */
struct owner {
	uint32_t thread; /* the most frequent, if one has more than half */
	uint32_t lead;
	size_t hits, his;
};

static bool owned(const struct owner *o)
{
	return o->his >= o->hits * 0.9; /* what another thread's initialisation or summing up leaves */
}

static void find_owners(const struct hit *h, size_t n, struct owner *of)
{
	for (size_t i = 0; i < n; i++) { /* Boyer and Moore's vote */
		struct owner *o = &of[h[i].offset];

		if (!o->lead)
			o->thread = h[i].thread;
		o->lead = o->thread == h[i].thread ? o->lead + 1 : o->lead - 1;
		o->hits++;
	}
	for (size_t i = 0; i < n; i++)
		of[h[i].offset].his += of[h[i].offset].thread == h[i].thread;
}

void sharing_switches(const struct hit *h, size_t n, struct sharing_line *l)
{
	struct owner of[UINT8_MAX + 1] = { 0 };

	find_owners(h, n, of);
	for (size_t i = 1; i < n; i++) {
		if (h[i].thread == h[i - 1].thread || !((h[i].flags | h[i - 1].flags) & HIT_STORE))
			continue;
		if (same_bytes(&h[i], &h[i - 1]) || (!owned(&of[h[i].offset]) && !owned(&of[h[i - 1].offset])))
			l->switches_true++;
		else
			l->switches_false++;
	}
}

double sharing_expected(struct sharing *s, const struct hit *h, size_t n)
{
	double pairs = 0, readers = 0, all = (double)n * (n - 1) / 2, same = 0, same_readers = 0, loads = 0;

	for (int stores = 0; stores < 2; stores++) {
		for (size_t i = 0; i < n; i++)
			s->weight[h[i].thread] = 0;
		for (size_t i = 0; i < n; i++) {
			if (!stores && h[i].flags & HIT_STORE)
				continue;
			/* pairs within one thread, one more with each hit before this one */
			*(stores ? &same : &same_readers) += s->weight[h[i].thread]++;
			loads += !stores;
		}
	}
	readers = loads * (loads - 1) / 2 - same_readers; /* of different threads, nobody stores */
	pairs = all - same - readers;
	return all > 0 ? pairs / all * (double)(n - 1) : 0;
}

/* Chance of at least k heads of n coins, or for many a bound above it (Hoeffding's). */
static double at_least(uint64_t k, uint64_t n)
{
	enum { MANY = 1000 };
	double sum = 0, excess = (double)k / n - 0.5;

	if (n > MANY)
		return excess > 0 ? exp(-2.0 * n * excess * excess) : 1;
	for (uint64_t i = k; i <= n; i++)
		sum += exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) - n * M_LN2);
	return sum < 1 ? sum : 1;
}

/* ---- verdicts ---- */

/*
 * Fewer than a quarter of the switches that shuffled accesses would have: one thread after the other. Of the switches, a
 * tenth of the other kind is what one thread's initialisation and one thread's summing up leave.
 */
static void judge(struct sharing *s, const struct hit *h, size_t n, struct sharing_line *l)
{
	uint64_t switches = l->switches_true + l->switches_false;
	double minor = switches ? (double)(l->switches_true < l->switches_false ? l->switches_true : l->switches_false) / switches : 0;

	if (l->expected > 0 && l->expected < 2) {
		l->verdict = SHARING_UNCLEAR;
		return;
	}
	if (switches < l->expected / 4 && l->modified < l->expected / 4)
		sharing_turns(s, h, n, l);
	if (l->in_turns && l->few_turns) {
		l->verdict = SHARING_UNCLEAR;
		return;
	}
	if (switches < l->expected / 4 && l->modified < l->expected / 4 && !l->in_turns) {
		l->verdict = SHARING_HANDED_OVER;
		l->sure = 1 - exp(switches - l->expected + (switches ? switches * log(l->expected / switches) : 0));
		return;
	}
	if (switches < 2) {
		l->verdict = SHARING_UNCLEAR;
		return;
	}
	l->verdict = minor > 0.1 && minor * switches >= 3 ? SHARING_BOTH : l->switches_true > l->switches_false ? SHARING_TRUE : SHARING_FALSE;
	/* that the kind is right: against a mixture in which both were equally frequent */
	l->sure = l->verdict == SHARING_BOTH ? 1 - exp(-(double)(minor * switches))
					     : 1 - at_least(switches - (uint64_t)(minor * switches + 0.5), switches);
	if (l->in_turns)
		l->sure *= l->steady;
}

/* ---- results ---- */

static int add_cells(struct sharing *s, struct hit *h, size_t n, struct sharing_line *l, struct tare_error *err)
{
	const struct thread_key *task = s->threads.item;
	const uint64_t *ip = s->ips.item;

	qsort(h, n, sizeof(*h), by_bytes_and_thread);
	l->cell = s->n_cells;
	for (size_t i = 0; i < n; i++) {
		struct sharing_cell *c;

		if (i == 0 || by_bytes_and_thread(&h[i - 1], &h[i])) {
			void *room = more(s->cell, s->n_cells, &s->cell_room, sizeof(*s->cell));

			if (!room)
				return tare_fail_nomem(err);
			s->cell = room;
			s->cell[s->n_cells++] = (struct sharing_cell){ .offset = h[i].offset,
								       .size = h[i].size,
								       .pid = task[h[i].thread].pid,
								       .tid = task[h[i].thread].tid,
								       .ip = ip[h[i].ip],
								       .time_ns = h[i].flags & HIT_TIMED ? h[i].time : UINT64_MAX,
								       .kernel = h[i].flags & HIT_KERNEL };
			l->n_cells++;
		}
		c = &s->cell[s->n_cells - 1];
		c->loads += (h[i].flags & HIT_LOAD) != 0;
		c->stores += (h[i].flags & HIT_STORE) != 0;
		c->modified += (h[i].flags & HIT_MODIFIED) != 0;
		c->latency_sum += h[i].latency;
		c->latency_n += h[i].latency != 0;
	}
	return 0;
}

static int add_line(struct sharing *s, struct hit *h, size_t n, struct tare_error *err)
{
	const struct line *line = line_at(s, h->line);
	struct sharing_line l = { .address = line->key.address, .pid = line->key.pid, .physical = line->key.physical,
				  .seen_at = line->seen_at, .seen_by = line->seen_by, .samples = n };
	bool timed = true;
	void *room;
	int ret;

	for (size_t i = 0; i < n; i++)
		s->weight[h[i].thread] = 0;
	for (size_t i = 0; i < n; i++) {
		l.threads += !s->weight[h[i].thread]++;
		l.loads += (h[i].flags & HIT_LOAD) != 0;
		l.stores += (h[i].flags & HIT_STORE) != 0;
		l.modified += (h[i].flags & HIT_MODIFIED) != 0;
		timed &= (h[i].flags & HIT_TIMED) != 0;
	}
	l.time_ns = timed ? h[n - 1].time : UINT64_MAX;
	sharing_switches(h, n, &l);
	l.expected = timed ? sharing_expected(s, h, n) : 0;
	judge(s, h, n, &l);
	ret = add_cells(s, h, n, &l, err);
	if (ret < 0)
		return ret;
	room = more(s->out, s->n_out, &s->out_room, sizeof(*s->out));
	if (!room)
		return tare_fail_nomem(err);
	s->out = room;
	s->out[s->n_out++] = l;
	return 0;
}

static int by_movement(const void *pa, const void *pb)
{
	const struct sharing_line *a = pa, *b = pb;
	uint64_t ma = a->switches_true + a->switches_false + a->modified, mb = b->switches_true + b->switches_false + b->modified;
	bool ca = a->verdict != SHARING_HANDED_OVER && a->verdict != SHARING_UNCLEAR;
	bool cb = b->verdict != SHARING_HANDED_OVER && b->verdict != SHARING_UNCLEAR;

	if (ca != cb)
		return ca ? -1 : 1;
	if (ma != mb)
		return ma > mb ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

int sharing_finish(struct sharing *s, struct tare_error *err)
{
	size_t kept = 0;
	int ret = 0;

	ret = sharing_note_running(s, err);
	if (ret < 0)
		return ret;
	s->totals.lines = s->lines.n;
	for (uint32_t i = 0; i < s->lines.n; i++)
		s->totals.too_few += line_at(s, i)->many && line_at(s, i)->stored && line_at(s, i)->samples < s->opt.least;
	for (size_t i = 0; i < s->n; i++) {
		const struct line *l = line_at(s, s->hit[i].line);

		if (l->many && l->stored && l->samples >= s->opt.least)
			s->hit[kept++] = s->hit[i];
	}
	s->n = kept;
	s->weight = calloc(s->threads.n ? s->threads.n : 1, sizeof(*s->weight));
	s->use = calloc(s->threads.n ? s->threads.n : 1, sizeof(*s->use));
	if (!s->weight || !s->use)
		return tare_fail_nomem(err);
	if (s->n)
		qsort(s->hit, s->n, sizeof(*s->hit), by_line_and_time);
	for (size_t i = 0, end; ret == 0 && i < s->n; i = end) {
		for (end = i + 1; end < s->n && s->hit[end].line == s->hit[i].line; end++)
			;
		ret = add_line(s, s->hit + i, end - i, err);
	}
	if (s->n_out)
		qsort(s->out, s->n_out, sizeof(*s->out), by_movement);
	return ret;
}

const struct sharing_line *sharing_lines(const struct sharing *s, size_t *n)
{
	*n = s->n_out;
	return s->out;
}

const struct sharing_cell *sharing_cells(const struct sharing *s)
{
	return s->cell;
}

struct sharing_totals sharing_totals(const struct sharing *s)
{
	return s->totals;
}

const char *sharing_verdict_name(enum sharing_verdict v)
{
	static const char *const names[] = { "none", "false sharing", "true sharing", "true and false sharing", "handed over",
					     "unclear" };

	return (unsigned)v < ARRAY_SIZE(names) ? names[v] : "unclear";
}
