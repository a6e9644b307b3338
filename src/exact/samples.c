/* SPDX-License-Identifier: MIT */
/*
 * See exact.h: tare's reader of samples. What explains a sample is written before it, and a
 * thread's end after its last sample. So this reads the number of ends first, then the rings'
 * heads, and delivers in the opposite order: events, rings, ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include "base/clock.h"
#include "exact/samples_read.h"
#include "exact/supervisor.h"

enum {
	LOOKS = 5,
	NUMBERS_MAX = 4
		/*
		 * of processes and threads: beyond that there are more entries than fit the lists
		 */
		<< 20
};

struct samples {
	struct shared_state *b;
	const struct every *every;
	struct exact_clock clock;
	uint32_t happenings, ends;         /* delivered so far */
	uint64_t ended_sum[EXACT_CLASSES]; /* the counts of the ended threads delivered so far */
	uint64_t goes_to[THREADS];         /* the rings' heads when this round started */
	uint64_t at[THREADS];              /* the position read up to */
	struct module module;              /* the module of the event */
	/* ticks: later samples in the rings have this time or a later one */
	uint64_t settled;
	uint64_t buffer[(sizeof(struct sample_record) + EXACT_CLASSES * 8 + 8 +
			 SAMPLE_REGISTERS * 8 + 16 + SAMPLE_PEEKS * 8 + SAMPLE_CHAIN_MAX * 8 +
			 SAMPLE_STACK_MAX) /
				8 +
			1];
};

/* ---- time ---- */

/*
 * Both clocks at one instant: of several looks the one that took the shortest, as tare may be kept
 * from running in between.
 */
static void both_clocks(uint64_t *ns, uint64_t *ticks)
{
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < LOOKS; i++) {
		uint64_t before = clock_ticks(), now = clock_now_ns(),
			 took = clock_ticks() - before;

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

/*
 * Measure the tick frequency: its precision grows with the time since the start; fixed after a
 * second.
 */
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

/* Without ticks (the program has disabled RDTSC), the last time. */
static uint64_t time_of(struct exact_clock *c, uint64_t tsc)
{
	if (tsc)
		c->last = tsc;
	else
		tsc = c->last;
	return c->ns + (uint64_t)(int64_t)((double)(int64_t)(tsc - c->ticks) * c->ns_per_tick);
}

/* ---- the three sources ---- */

static int give_mapping(struct samples *s, const struct happening *h, struct exact_sample *out)
{
	uint32_t mappings = s->b->n_mappings;
	struct mapping m;

	if (h->mapping >= mappings || h->mapping >= MAPPINGS_MAX || h->start > h->end)
		return SAMPLES_DAMAGED;
	copy_once(&m, shared_mapping(s->b, h->mapping), sizeof m);
	if (m.module >= MODULES_MAX)
		return SAMPLES_DAMAGED;
	copy_once(&s->module, shared_module(s->b, m.module), sizeof s->module);
	if (s->module.kind > EXACT_UNKNOWN || !memchr(s->module.path, 0, sizeof s->module.path))
		return SAMPLES_DAMAGED;
	out->start = h->start;
	out->end = h->end;
	out->offset = m.start ? m.offset + (h->start - m.start) : 0;
	out->module = (enum exact_module_kind)s->module.kind;
	out->data = h->data;
	out->shared_inode = h->shared.inode;
	out->shared_dev = h->shared.dev;
	out->shared_offset = h->shared.offset;
	out->path = s->module.path;
	return 0;
}

/* `h` is a private copy. */
static int give_happening(struct samples *s, struct happening *h, exact_sample_fn *each, void *with)
{
	static const enum exact_sample_kind kinds[] = {
		[HAPPENED_PROGRAM] = EXACT_SAMPLE_PROGRAM,
		[HAPPENED_FORK] = EXACT_SAMPLE_FORK,
		[HAPPENED_MAPPING] = EXACT_SAMPLE_MAPPING,
		[HAPPENED_NAME] = EXACT_SAMPLE_NAME,
	};
	struct exact_sample out;
	int ret = 0;

	END_TEXT(h->name);
	if (!h->ready || h->ready >= ARRAY_SIZE(kinds) || h->serial >= NUMBERS_MAX ||
	    h->parent >= NUMBERS_MAX || h->born >= NUMBERS_MAX)
		return SAMPLES_DAMAGED;
	out = (struct exact_sample){ .kind = kinds[h->ready],
				     .serial = h->serial,
				     .parent = h->parent,
				     .born = h->born,
				     .pid = h->pid,
				     .tid = h->tid,
				     .time_ns = time_of(&s->clock, h->tsc),
				     .name = h->name };
	if (h->ready == HAPPENED_MAPPING)
		ret = give_mapping(s, h, &out);
	return ret < 0 ? ret : each(with, &out);
}

static int give_happenings(struct samples *s, exact_sample_fn *each, void *with)
{
	const struct happening *list = (const struct happening *)((uint8_t *)s->b +
								  SHARED_HAPPENINGS);
	struct happening h;
	int ret = 0;

	for (; ret >= 0 && s->happenings < s->b->n_happenings && s->happenings < HAPPENINGS_MAX;
	     s->happenings++) {
		if (!__atomic_load_n(&list[s->happenings].ready, __ATOMIC_ACQUIRE))
			/*
			 * being written, or its writer was killed: then the ring has nothing after
			 * it
			 */
			break;
		copy_once(&h, &list[s->happenings], sizeof h);
		ret = give_happening(s, &h, each, with);
	}
	return ret;
}

/* Copy the ring's bytes [at, at + size) to the buffer. */
static void copy_out(struct samples *s, const uint8_t *slot, uint64_t at, size_t to, size_t size)
{
	const uint8_t *bytes = slot + SAMPLE_BYTES;
	uint64_t from = (at + to) % SAMPLE_BYTES_SIZE, first = SAMPLE_BYTES_SIZE - from;

	if (first > size)
		first = size;
	copy_once((uint8_t *)s->buffer + to, bytes + from, first);
	copy_once((uint8_t *)s->buffer + to + first, bytes, size - first);
}

/* Are its parts those that were requested, with matching sizes? */
static bool makes_sense(const struct every *e, const struct sample_record *r)
{
	const uint32_t has = r->has,
		       all = SAMPLE_OPERAND | SAMPLE_HAS_COUNTS | SAMPLE_HAS_REGISTERS |
		SAMPLE_HAS_PEEKS | SAMPLE_HAS_TARGET | SAMPLE_HAS_OUTCOME | SAMPLE_TAKEN;
	uint64_t size = sizeof *r;

	if ((has & ~all) || r->event >= e->n_events || r->chain > e->chain ||
	    r->chain > SAMPLE_CHAIN_MAX || r->stack > e->stack || r->stack > SAMPLE_STACK_MAX ||
	    r->serial >= NUMBERS_MAX || r->born >= NUMBERS_MAX || !r->number ||
	    !r->adds[e->event[r->event].class])
		return false;
	if (!(has & SAMPLE_HAS_COUNTS) ? e->counts : !e->counts && !e->counts_once)
		return false;
	if (!(has & SAMPLE_HAS_REGISTERS) != !e->registers ||
	    !(has & SAMPLE_HAS_PEEKS) != !e->n_peek)
		return false;
	size += has & SAMPLE_HAS_COUNTS ? (EXACT_CLASSES + 1) * 8 : 0;
	size += has & SAMPLE_HAS_REGISTERS ? SAMPLE_REGISTERS * 8 : 0;
	size += has & SAMPLE_HAS_PEEKS ? (2 + e->n_peek) * 8 : 0;
	size += r->chain * 8ull + ((r->stack + 7ull) & ~7ull);
	return r->size == size;
}

/* `r` is a private copy. */
static int give_record(struct samples *s, const struct sample_record *r, exact_sample_fn *each,
		       void *with)
{
	const uint64_t *p = (const uint64_t *)(r + 1);
	const struct every *e = s->every;
	uint64_t n = e->event[r->event].n, first = e->first ? e->first : n;
	struct exact_sample out = { .kind = EXACT_SAMPLE,
				    .serial = r->serial,
				    .born = r->born,
				    .stable_id = r->stable_id,
				    .pid = r->pid,
				    .tid = r->tid,
				    .time_ns = time_of(&s->clock, r->tsc),
				    .number = r->number,
				    .event = r->event,
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
		/* a sample before its time: the command changed the sampling period */
		if (!e->jitter && out.counts[e->event[r->event].class] < out.count)
			return SAMPLES_DAMAGED;
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

/* Copy the next complete record to the buffer; false: the record is invalid. */
static bool take_record(struct samples *s, uint32_t thread)
{
	const uint8_t *slot = shared_thread(s->b, thread);
	const struct sample_record *r = (const struct sample_record *)s->buffer;
	uint64_t at = s->at[thread], there = s->goes_to[thread] - at;

	if (there < sizeof *r)
		return false;
	copy_out(s, slot, at, 0, sizeof *r);
	if (!makes_sense(s->every, r) || r->size > there || r->size > sizeof s->buffer)
		return false;
	copy_out(s, slot, at, sizeof *r, r->size - sizeof *r);
	return true;
}

static int give_ring(struct samples *s, uint32_t thread, exact_sample_fn *each, void *with)
{
	struct sample_ring *ring = (struct sample_ring *)(shared_thread(s->b, thread) +
							  SAMPLE_RING);
	const struct sample_record *r = (const struct sample_record *)s->buffer;
	uint64_t at = s->at[thread], to = s->goes_to[thread];
	int ret = 0;

	if (to < at || to - at > SAMPLE_BYTES_SIZE || (to & 7))
		return SAMPLES_DAMAGED;
	while (ret >= 0 && s->at[thread] < to) {
		if (!take_record(s, thread))
			return SAMPLES_DAMAGED;
		ret = give_record(s, r, each, with);
		s->at[thread] += r->size;
		__atomic_store_n(&ring->tail, s->at[thread], __ATOMIC_RELEASE);
		if (READ_ONCE(ring->head) - s->at[thread] >= SAMPLE_BYTES_SIZE / 2)
			continue;
		__atomic_fetch_add(&ring->moved, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, &ring->moved, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
	return ret;
}

/* The number of samples of a thread at `count`. */
static uint64_t number_at(const struct every *e, uint64_t count)
{
	uint64_t each = e->event[0].n, first = e->first ? e->first : each,
		 n = count < first ? 0 : 1 + (count - first) / each;

	return e->most && n > e->most ? e->most : n;
}

static int give_end(struct samples *s, const struct ended_thread *ended, exact_sample_fn *each,
		    void *with)
{
	const enum exact_class class = (enum exact_class)s->every->event[0].class;
	struct ended_thread e;
	struct exact_sample out;

	copy_once(&e, ended, sizeof e);
	if (e.check != sums_check(e.counts) || e.serial >= NUMBERS_MAX || e.born >= NUMBERS_MAX)
		return SAMPLES_DAMAGED;
	for (int c = 0; c < EXACT_CLASSES; c++)
		s->ended_sum[c] += (uint64_t)e.counts[c];
	out = (struct exact_sample){ .kind = EXACT_SAMPLE_END,
				     .serial = e.serial,
				     .born = e.born,
				     .stable_id = e.stable_id,
				     .pid = e.pid,
				     .tid = e.tid,
				     .time_ns = time_of(&s->clock, e.tsc),
				     .number = number_at(s->every, (uint64_t)e.counts[class]),
				     .count = e.counts[class],
				     .counts = e.counts,
				     .way = e.path };
	return each(with, &out);
}

/*
 * Read the rings' heads, and whether a record is being written. The latter first, as records
 * completed meanwhile are delivered now.
 */
static void look_at_rings(struct samples *s, uint32_t threads)
{
	s->settled = clock_ticks();
	for (uint32_t i = 0; i < threads; i++) {
		const struct sample_ring *r = (struct sample_ring *)(shared_thread(s->b, i) +
								     SAMPLE_RING);
		uint64_t since = __atomic_load_n(&r->since, __ATOMIC_ACQUIRE);

		/* otherwise it was killed there */
		if (since && since < s->settled && s->b->thread_states[i] == THREAD_LIVE)
			s->settled = since;
		s->goes_to[i] = __atomic_load_n(&r->head, __ATOMIC_ACQUIRE);
	}
}

bool samples_add_up(const struct samples *s, const int64_t total[EXACT_CLASSES])
{
	if (s->b->n_ended > ENDED_MAX)
		return true; /* samples_give() has reported what is missing */
	for (int c = 0; c < EXACT_CLASSES; c++)
		if (s->ended_sum[c] != (uint64_t)total[c])
			return false;
	return true;
}

int samples_give(struct samples **samples, const struct samples_of *of, exact_sample_fn *each,
		 void *with, struct tare_error *err)
{
	struct shared_state *b = of->b;
	const struct ended_thread *list = (const struct ended_thread *)((uint8_t *)b +
									SHARED_ENDED);
	struct samples *s = *samples;
	uint32_t ends, n_ended = b->n_ended, threads = shared_threads(b);
	int ret;

	if (!s)
		*samples = s = calloc(1, sizeof *s);
	if (!s)
		return tare_fail_nomem(err);
	b->every.waiting = 0;
	b->every.said = 0;
	measure(of->clock);
	s->b = b;
	s->every = of->every;
	of->clock->last = s->clock.last ? s->clock.last : of->clock->last;
	s->clock = *of->clock;
	for (ends = s->ends; ends < n_ended && ends < ENDED_MAX; ends++)
		if (!__atomic_load_n(&list[ends].ready, __ATOMIC_ACQUIRE) && !of->ended)
			break;
	look_at_rings(s, threads);
	ret = give_happenings(s, each, with);
	for (uint32_t i = 0; ret >= 0 && i < threads; i++)
		ret = give_ring(s, i, each, with);
	for (; ret >= 0 && s->ends < ends; s->ends++)
		if (list[s->ends].ready)
			ret = give_end(s, &list[s->ends], each, with);
	if (ret >= 0)
		ret = each(with,
			   &(struct exact_sample){ .kind = EXACT_SAMPLE_SETTLED,
						   .time_ns = time_of(&s->clock, s->settled) });
	if (ret >= 0 && (b->n_happenings > HAPPENINGS_MAX || n_ended > ENDED_MAX))
		return tare_fail(
			err, ENOSPC,
			"exact: more than %u threads ended or mappings came: samples lack some",
			HAPPENINGS_MAX);
	return ret < 0 ? ret : 0;
}
