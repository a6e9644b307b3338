/* SPDX-License-Identifier: MIT */
/*
 * See exact.h: samples as tare reads them. What explains a sample is written before it, and the end of a thread behind
 * its last one; so the ends are looked at first, then how far each ring goes, and given away the other
 * way round: happenings, rings, ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include "exact/samples_read.h"
#include "exact/supervisor.h"

enum { LOOKS = 5 };

struct samples {
	struct board *b;
	struct exact_clock clock;
	uint32_t happenings, ends; /* given away */
	uint64_t goes_to[THREADS]; /* how far each ring went when this round began */
	uint64_t settled;	   /* ticks: what the rings get after that is of this time or a later one */
	uint64_t buffer[(sizeof(struct sample_record) + EXACT_CLASSES * 8 + 8 + SAMPLE_REGISTERS * 8 + 16 + SAMPLE_PEEKS * 8 +
			 SAMPLE_CHAIN_MAX * 8 + SAMPLE_STACK_MAX) / 8 + 1];
};

/* ---- time ---- */

static uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Both clocks at one instant: of several looks the one that took the shortest, as tare may be kept from running in between. */
static void both_clocks(uint64_t *ns, uint64_t *ticks)
{
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < LOOKS; i++) {
		uint64_t before = clock_ticks(), now = monotonic_ns(), took = clock_ticks() - before;

		if (took >= shortest)
			continue;
		shortest = took;
		*ns = now;
		*ticks = before + took / 2;
	}
}

void exact_clock_begin(struct exact_clock *c)
{
	both_clocks(&c->ns, &c->ticks);
	c->last = c->ticks;
}

/* How fast the ticks go: the longer since the beginning, the better known; after a second it stays. */
static void measure(struct exact_clock *c)
{
	uint64_t ns = c->ns, ticks = c->ticks;

	if (c->known)
		return;
	both_clocks(&ns, &ticks);
	ns -= c->ns;
	ticks -= c->ticks;
	if (!ticks)
		return;
	c->ns_per_tick = (double)ns / (double)ticks;
	c->known = ns >= 1000000000;
}

/* Without ticks (the program has forbidden them to itself), as before. */
static uint64_t time_of(struct exact_clock *c, uint64_t tsc)
{
	if (tsc)
		c->last = tsc;
	else
		tsc = c->last;
	return c->ns + (uint64_t)(int64_t)((double)(int64_t)(tsc - c->ticks) * c->ns_per_tick);
}

/* ---- the three sources ---- */

static int give_happening(struct samples *s, const struct happening *h, exact_sample_fn *each, void *with)
{
	static const enum exact_sample_kind kinds[] = {
		[HAPPENED_PROGRAM] = EXACT_SAMPLE_PROGRAM,
		[HAPPENED_FORK] = EXACT_SAMPLE_FORK,
		[HAPPENED_MAPPING] = EXACT_SAMPLE_MAPPING,
		[HAPPENED_NAME] = EXACT_SAMPLE_NAME,
	};
	struct exact_sample out = { .kind = kinds[h->ready],
				    .serial = h->serial,
				    .parent = h->parent,
				    .born = h->born,
				    .pid = h->pid,
				    .tid = h->tid,
				    .time_ns = time_of(&s->clock, h->tsc),
				    .name = h->name };

	if (h->ready == HAPPENED_MAPPING) {
		const struct mapping *m = board_mapping(s->b, h->mapping);
		const struct module *module = board_module(s->b, m->module);

		out.start = h->start;
		out.end = h->end;
		out.offset = m->start ? m->offset + (h->start - m->start) : 0;
		out.module = module->kind;
		out.data = h->data;
		out.shared_inode = h->shared.inode;
		out.shared_dev = h->shared.dev;
		out.shared_offset = h->shared.offset;
		out.path = module->path;
	}
	return each(with, &out);
}

static int give_happenings(struct samples *s, exact_sample_fn *each, void *with)
{
	const struct happening *list = (const struct happening *)((uint8_t *)s->b + BOARD_HAPPENINGS);
	int ret = 0;

	for (; ret >= 0 && s->happenings < s->b->n_happenings && s->happenings < HAPPENINGS_MAX; s->happenings++) {
		const struct happening *h = &list[s->happenings];

		if (!__atomic_load_n(&h->ready, __ATOMIC_ACQUIRE))
			break; /* being written, or its writer was killed: then the ring holds nothing behind it */
		ret = give_happening(s, h, each, with);
	}
	return ret;
}

static void copy_out(struct samples *s, const uint8_t *slot, uint64_t at, uint32_t size)
{
	const uint8_t *bytes = slot + SAMPLE_BYTES;
	uint64_t from = at % SAMPLE_BYTES_SIZE, first = SAMPLE_BYTES_SIZE - from;

	if (first > size)
		first = size;
	memcpy(s->buffer, bytes + from, first);
	memcpy((uint8_t *)s->buffer + first, bytes, size - first);
}

static int give_record(struct samples *s, const struct sample_record *r, exact_sample_fn *each, void *with)
{
	const uint64_t *p = (const uint64_t *)(r + 1);
	const struct every *e = &s->b->every;
	unsigned event = r->event < e->n_events ? r->event : 0; /* the program may have written over it */
	uint64_t n = e->event[event].n, first = e->first ? e->first : n;
	struct exact_sample out = { .kind = EXACT_SAMPLE,
				    .serial = r->serial,
				    .born = r->born,
				    .descent = r->descent,
				    .pid = r->pid,
				    .tid = r->tid,
				    .time_ns = time_of(&s->clock, r->tsc),
				    .number = r->number,
				    .event = event,
				    .count = (int64_t)(first + (r->number - 1) * n),
				    .pc = r->pc,
				    .adds = r->adds,
				    .reads = r->has & SAMPLE_READS,
				    .writes = r->has & SAMPLE_WRITES,
				    .locked = r->has & SAMPLE_LOCKED,
				    .prefetches = r->has & SAMPLE_PREFETCHES,
				    .has_address = r->has & SAMPLE_HAS_ADDRESS,
				    .address = r->address,
				    .bytes = r->bytes,
				    .has_target = r->has & SAMPLE_HAS_TARGET,
				    .has_outcome = r->has & SAMPLE_HAS_OUTCOME,
				    .taken = r->has & SAMPLE_TAKEN,
				    .target = r->target,
				    .n_chain = r->chain,
				    .n_stack = r->stack };

	if (r->has & SAMPLE_HAS_COUNTS) {
		out.counts = (const int64_t *)p;
		p += EXACT_CLASSES;
		out.way = *p++;
	}
	if (r->has & SAMPLE_HAS_REGISTERS) {
		out.registers = p;
		p += SAMPLE_REGISTERS;
	}
	if (r->has & SAMPLE_HAS_PEEKS) {
		out.fs_base = *p++;
		out.rseq = *p++;
		out.peek = p;
		p += e->n_peek;
	}
	out.chain = p;
	out.stack = (const uint8_t *)(p + r->chain);
	return each(with, &out);
}

static int give_ring(struct samples *s, uint32_t thread, exact_sample_fn *each, void *with)
{
	uint8_t *slot = board_thread(s->b, thread);
	struct sample_ring *ring = (struct sample_ring *)(slot + SAMPLE_RING);
	int ret = 0;

	while (ret >= 0 && ring->tail < s->goes_to[thread]) {
		struct sample_record *r = (struct sample_record *)s->buffer;

		copy_out(s, slot, ring->tail, sizeof *r);
		copy_out(s, slot, ring->tail, r->size);
		ret = give_record(s, r, each, with);
		__atomic_store_n(&ring->tail, ring->tail + r->size, __ATOMIC_RELEASE);
		if (ring->head - ring->tail >= SAMPLE_BYTES_SIZE / 2)
			continue;
		__atomic_fetch_add(&ring->moved, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, &ring->moved, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
	return ret;
}

/* Of a thread that has come to `count`. */
static uint64_t samples_of(const struct every *e, uint64_t count)
{
	uint64_t each = e->event[0].n, first = e->first ? e->first : each, n = count < first ? 0 : 1 + (count - first) / each;

	return e->most && n > e->most ? e->most : n;
}

static int give_end(struct samples *s, const struct ended_thread *e, exact_sample_fn *each, void *with)
{
	struct exact_sample out = { .kind = EXACT_SAMPLE_END,
				    .serial = e->serial,
				    .born = e->born,
				    .descent = e->descent,
				    .pid = e->pid,
				    .tid = e->tid,
				    .time_ns = time_of(&s->clock, e->tsc),
				    .number = samples_of(&s->b->every, (uint64_t)e->counts[s->b->every.event[0].class]),
				    .count = e->counts[s->b->every.event[0].class],
				    .counts = e->counts,
				    .way = e->path };

	return each(with, &out);
}

/* How far they go; and whether one is being written to: looked at first, as what was written meanwhile is given away now. */
static void look_at_rings(struct samples *s, uint32_t threads)
{
	s->settled = clock_ticks();
	for (uint32_t i = 0; i < threads; i++) {
		const struct sample_ring *r = (struct sample_ring *)(board_thread(s->b, i) + SAMPLE_RING);
		uint64_t since = __atomic_load_n(&r->since, __ATOMIC_ACQUIRE);

		if (since && since < s->settled && s->b->thread_states[i] == THREAD_LIVE) /* else it was killed there */
			s->settled = since;
		s->goes_to[i] = __atomic_load_n(&r->head, __ATOMIC_ACQUIRE);
	}
}

int samples_give(struct samples **samples, struct board *b, struct exact_clock *clock, bool ended,
		 exact_sample_fn *each, void *with, struct tare_error *err)
{
	const struct ended_thread *list = (const struct ended_thread *)((uint8_t *)b + BOARD_ENDED);
	struct samples *s = *samples;
	uint32_t ends, threads = board_threads(b);
	int ret;

	if (!s)
		*samples = s = calloc(1, sizeof *s);
	if (!s)
		return tare_fail_nomem(err);
	b->every.waiting = 0;
	b->every.said = 0;
	measure(clock);
	s->b = b;
	clock->last = s->clock.last ? s->clock.last : clock->last;
	s->clock = *clock;
	for (ends = s->ends; ends < b->n_ended && ends < ENDED_MAX; ends++)
		if (!__atomic_load_n(&list[ends].ready, __ATOMIC_ACQUIRE) && !ended)
			break;
	look_at_rings(s, threads);
	ret = give_happenings(s, each, with);
	for (uint32_t i = 0; ret >= 0 && i < threads; i++)
		ret = give_ring(s, i, each, with);
	for (; ret >= 0 && s->ends < ends; s->ends++)
		if (list[s->ends].ready)
			ret = give_end(s, &list[s->ends], each, with);
	if (ret >= 0)
		ret = each(with, &(struct exact_sample){ .kind = EXACT_SAMPLE_SETTLED, .time_ns = time_of(&s->clock, s->settled) });
	if (ret >= 0 && (b->n_happenings > HAPPENINGS_MAX || b->n_ended > ENDED_MAX))
		return tare_fail(err, ENOSPC, "exact: more than %u threads ended or mappings came: samples lack some",
				 HAPPENINGS_MAX);
	return ret < 0 ? ret : 0;
}
