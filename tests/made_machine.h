/* SPDX-License-Identifier: MIT */
/*
 * A machine that is made up: a calibration in which no work is done but only written down, and a
 * PMU that counts it, with the faults that were planted in its events. Behind the same two
 * interfaces as the real ones, so that the program's own code runs on it.
 *
 *	struct made *m = made_new(seed);
 *
 *	made_add(m, 0xc0, 0)->weight[WORK_INSTRUCTIONS] = 1;
 *	made_add(m, 0xcb, 1)->per_interrupt = 1;
 *	verify_work(samples, &encoding, class, &source_made, &m->shop, ...);
 *
 * An encoding's attr.config is umask << 8 | event select; a umask of several bits counts the sum of
 * theirs.
 */
#ifndef TESTS_MADE_MACHINE_H
#define TESTS_MADE_MACHINE_H

#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "verify/calibration.h"

enum { MADE_EVENTS_MOST = 512, MADE_GROUP_MOST = 32, MADE_SOFTWARE_FAULTS = 0xffff0001 };

struct made_event {
	uint32_t select, umask; /* umask: one bit, or 0 */
	int weight[WORK_CLASSES];
	int per_kind[WORK_KINDS]; /* so many a turn of that kind of work: what no class explains */
	unsigned fixed;           /* each reading adds so many */
	unsigned per_interrupt, per_fault, per_syscall;
	unsigned replays;      /* up to so many more a turn of locked instructions, by chance */
	unsigned missed;       /* one of so many is not counted (0: all are) */
	double factor;         /* 1 */
	double noise;          /* of the count, by chance */
	double per_ns;         /* counts time */
	unsigned junk;         /* up to so many a piece, whatever was done */
	uint64_t frozen_after; /* pieces; 0: never */
	unsigned width;        /* bits that are shown, 0: 64 */
	double share;          /* of the time on a counter: 1 */
	bool refused;          /* the kernel takes it not */
};

struct made_group {
	const struct source *source;
	struct made *machine;
	size_t n;
	bool too_many; /* more than there are counters: it never runs */
	struct made_counter {
		uint32_t select, umask;
		uint64_t total;
	} counter[MADE_GROUP_MOST];
};

struct made {
	struct calibration shop;
	uint64_t state; /* of chance */
	struct made_event event[MADE_EVENTS_MOST];
	size_t n;
	unsigned counters;         /* programmable */
	int reading[WORK_CLASSES]; /* what a reading itself executes */
	uint64_t ns, interrupts, pieces, opened, read;
	int prepared; /* kinds of work, less those that were left */
	bool fresh, interrupts_hidden;
	uint64_t gap_ns; /* between interrupts, on average */
	struct made_group *open;
};

static struct made *made_machine; /* the one whose counters are opened */

static inline uint64_t made_chance(struct made *m, uint64_t below)
{
	m->state ^= m->state << 13;
	m->state ^= m->state >> 7;
	m->state ^= m->state << 17;
	return below ? (m->state >> 11) % below : 0;
}

static inline struct made_event *made_add(struct made *m, uint32_t select, uint32_t umask)
{
	struct made_event *e = &m->event[m->n++];

	*e = (struct made_event){ .select = select, .umask = umask, .factor = 1, .share = 1 };
	return e;
}

/* ---- the calibration ---- */

static int made_prepare(struct calibration *w, unsigned kind, struct tare_error *err)
{
	(void)err;
	((struct made *)w)->fresh = kind == WORK_PAGES;
	((struct made *)w)->prepared++;
	return 0;
}

static void made_leave(struct calibration *w, unsigned kind)
{
	(void)kind;
	((struct made *)w)->prepared--;
}

struct made_piece {
	unsigned kind;
	uint64_t turns;
	int64_t retired[WORK_CLASSES];
	uint64_t ns, interrupts, locked;
};

static inline double made_count(struct made *m, const struct made_event *e,
				const struct made_piece *p)
{
	double sum = 0;

	for (size_t c = 0; c < WORK_CLASSES; c++)
		sum += (double)e->weight[c] * (double)p->retired[c];
	sum += (double)e->per_kind[p->kind] * (double)p->turns;
	if (e->missed && sum > 0)
		sum -= (double)(uint64_t)(sum / e->missed *
					  (1 + (double)made_chance(m, 100) / 100));
	sum = (double)(int64_t)(sum * e->factor);
	sum += (double)(e->per_interrupt * p->interrupts +
			e->per_fault * (uint64_t)p->retired[WORK_FAULTS] +
			e->per_syscall * (uint64_t)p->retired[WORK_SYSCALLS]);
	if (e->replays)
		sum += (double)(p->locked * (1 + made_chance(m, 100)) * e->replays / 100);
	sum += e->per_ns * (double)p->ns;
	sum *= 1 + e->noise * (double)made_chance(m, 1000) / 1000;
	return (double)(int64_t)(sum + (double)made_chance(m, e->junk + (e->junk > 0)));
}

static inline void made_apply(struct made *m, const struct made_piece *p)
{
	for (size_t i = 0; m->open && i < m->open->n; i++) {
		struct made_counter *c = &m->open->counter[i];

		if (c->select == MADE_SOFTWARE_FAULTS)
			c->total += (uint64_t)p->retired[WORK_FAULTS];
		for (size_t k = 0; k < m->n; k++) {
			const struct made_event *e = &m->event[k];

			if (e->select != c->select || (e->umask && !(e->umask & c->umask)) ||
			    (e->frozen_after && m->pieces >= e->frozen_after))
				continue;
			c->total += (uint64_t)(int64_t)(made_count(m, e, p) * e->share);
		}
	}
}

static void made_work(struct calibration *w, unsigned kind, uint64_t turns)
{
	struct made *m = (struct made *)w;
	const struct kernel *k = kernel_at(kind);
	struct made_piece p = { .kind = kind,
				.turns = kind == WORK_PAGES && !m->fresh ? 0 : turns };

	for (size_t c = 0; k && c < WORK_CLASSES; c++)
		p.retired[c] = (int64_t)kernel_retires(k, (enum work_class)c, turns);
	if (kind == WORK_PAGES) {
		p.retired[WORK_INSTRUCTIONS] = 40 + 4 * (int64_t)turns;
		p.retired[WORK_BRANCHES] = p.retired[WORK_CONDITIONAL] = p.retired[WORK_TAKEN] =
			(int64_t)turns;
		p.retired[WORK_STORES] = (int64_t)turns;
		p.retired[WORK_FAULTS] = m->fresh ? (int64_t)turns : 0;
		m->fresh = false;
	}
	p.locked = (uint64_t)p.retired[WORK_ATOMICS];
	p.ns = (uint64_t)p.retired[WORK_INSTRUCTIONS] / 3 + 30 +
		(uint64_t)p.retired[WORK_FAULTS] * 500 + (uint64_t)p.retired[WORK_SYSCALLS] * 80;
	p.ns += (uint64_t)p.retired[WORK_DIVIDES] * 5 + made_chance(m, p.ns / 20 + 1);
	p.interrupts = m->gap_ns ? p.ns / m->gap_ns + (made_chance(m, m->gap_ns) < p.ns % m->gap_ns)
				 : 0;
	m->ns += p.ns;
	m->interrupts += p.interrupts;
	made_apply(m, &p);
	m->pieces++;
}

static uint64_t made_now_ns(struct calibration *w)
{
	return ((struct made *)w)->ns += 20;
}

/* One more now and then, before or after the work. */
static bool made_interrupts(struct calibration *w, uint64_t *out)
{
	struct made *m = (struct made *)w;

	m->interrupts += m->gap_ns && made_chance(m, 20) == 0;
	*out = m->interrupts;
	return !m->interrupts_hidden;
}

static inline struct made *made_new(uint64_t seed)
{
	struct made *m = calloc(1, sizeof(*m));

	m->shop = (struct calibration){ 0,          made_prepare, made_work,
					made_leave, made_now_ns,  made_interrupts };
	m->state = seed * 0x9e3779b97f4a7c15ull + 88172645463325252ull;
	m->counters = 6;
	m->gap_ns = 1000000;
	made_machine = m;
	return m;
}

/* ---- the PMU ---- */

static int made_open(struct counters **out, const struct encoding *const *enc, size_t n,
		     const struct target *on, size_t *failed, struct tare_error *err)
{
	struct made_group *g = calloc(1, sizeof(*g));
	size_t hardware = 0;

	(void)on;
	*g = (struct made_group){ .machine = made_machine, .n = n };
	for (size_t i = 0; i < n; i++) {
		g->counter[i] = (struct made_counter){ .select = enc[i]->attr.config & 0xff,
						       .umask = enc[i]->attr.config >> 8 & 0xff };
		if (enc[i]->attr.type == PERF_TYPE_SOFTWARE)
			g->counter[i].select = MADE_SOFTWARE_FAULTS;
		else
			hardware++;
		for (size_t k = 0; k < made_machine->n; k++)
			if (made_machine->event[k].select == g->counter[i].select &&
			    made_machine->event[k].refused) {
				if (failed)
					*failed = i;
				free(g);
				return tare_fail(err, EINVAL, "the kernel refuses %s",
						 enc[i]->name);
			}
	}
	g->too_many = hardware > made_machine->counters;
	made_machine->open = g;
	made_machine->opened++;
	*out = (struct counters *)g;
	return 0;
}

static int made_start_stop(struct counters *c, struct tare_error *err)
{
	(void)c, (void)err;
	return 0;
}

static int made_read(struct counters *c, struct tare_reading *out, struct tare_error *err)
{
	struct made_group *g = (struct made_group *)c;
	struct made *m = g->machine;
	struct made_piece p = { .turns = 0 };

	for (size_t i = 0; i < WORK_CLASSES; i++)
		p.retired[i] = m->reading[i];
	made_apply(m, &p);
	m->read++;
	for (size_t i = 0; i < g->n; i++) {
		uint64_t enabled = m->ns + 1000 * m->read, total, fixed = 0;
		double share = 1;
		unsigned width = 64;

		for (size_t k = 0; k < m->n; k++)
			if (m->event[k].select == g->counter[i].select &&
			    (!m->event[k].umask || m->event[k].umask & g->counter[i].umask)) {
				fixed += m->event[k].frozen_after &&
						m->pieces >= m->event[k].frozen_after
					? 0
					: m->event[k].fixed;
				share = m->event[k].share < share ? m->event[k].share : share;
				width = m->event[k].width && m->event[k].width < width
					? m->event[k].width
					: width;
			}
		g->counter[i].total += fixed;
		total = width < 64 ? g->counter[i].total & ((1ull << width) - 1)
				   : g->counter[i].total;
		out[i] = (struct tare_reading){ total, enabled, (uint64_t)((double)enabled * share),
						share < 1 ? TARE_SCALED : TARE_COUNTED };
		if (g->too_many) {
			out[i] = (struct tare_reading){ 0, enabled, 0, TARE_UNAVAILABLE };
			tare_fail(err, ENODATA, "it never got onto the PMU");
		}
	}
	return 0;
}

static void made_close(struct counters *c)
{
	struct made_group *g = (struct made_group *)c;

	if (!g)
		return;
	g->machine->opened--;
	g->machine->open = NULL;
	free(g);
}

static const struct source source_made = {
	.name = "made",
	.open = made_open,
	.start = made_start_stop,
	.stop = made_start_stop,
	.read = made_read,
	.close = made_close,
};

#endif
