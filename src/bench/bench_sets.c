/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include "arch/mark.h"
#include "bench/bench_sets.h"
#include "launch/engine.h"
#include "launch/exact_follow.h"

enum kind { KIND_EXACT, KIND_FIXED, KIND_PROGRAMMABLE, KIND_KERNEL, KINDS };

static enum kind kind_of(const struct encoding *e)
{
	if (engine_counts(e))
		return KIND_EXACT;
	if (e->attr.type == PERF_TYPE_SOFTWARE || e->attr.type == PERF_TYPE_TRACEPOINT ||
	    e->attr.type == PERF_TYPE_BREAKPOINT)
		return KIND_KERNEL;
	return e->counters && !(e->counters & UINT32_MAX) ? KIND_FIXED : KIND_PROGRAMMABLE;
}

/* Do they all fit on the counters at the same time, for a thread of this user? */
static int try_set(const struct bench_plan *p, int cpu, const struct bench_set *s,
		   struct tare_error *err)
{
	const struct target self = { .cpu = -1, .cgroup_fd = -1 },
			    whole = { .pid = -1, .cpu = cpu, .cgroup_fd = -1 };
	const struct encoding *enc[MARK_COUNTERS];
	struct tare_reading now[MARK_COUNTERS];
	struct encoding leader = p->events->enc[s->event[0]];
	struct counters *c = NULL;
	int ret;

	leader.attr.pinned = s->how == BENCH_REGISTER;
	for (size_t i = 0; i < s->n; i++)
		enc[i] = i ? &p->events->enc[s->event[i]] : &leader;
	/* its plan shows whether they fit, and nothing is written before it starts */
	if (s->how == BENCH_MSR) {
		ret = source_msr.open(&c, enc, s->n, &whole, NULL, err);
		if (ret == 0)
			source_msr.close(c);
		return ret;
	}
	ret = source_perf.open(&c, enc, s->n, &self, NULL, err);
	if (ret < 0)
		return ret;
	ret = source_perf.start(c, err);
	for (volatile int i = 0; i < 1000; i++)
		;
	if (ret == 0)
		ret = source_perf.read(c, now, err);
	for (size_t i = 0; ret == 0 && i < s->n; i++)
		if (now[i].quality < TARE_COUNTED)
			ret = tare_fail(err, EBUSY, "%.100s never got onto a counter",
					enc[i]->name);
	source_perf.close(c);
	return ret;
}

static void unavailable(struct bench_counter *c, const char *why, const char *remedy)
{
	c->quality = TARE_UNAVAILABLE;
	snprintf(c->why, sizeof(c->why), "%.255s", why);
	snprintf(c->remedy, sizeof(c->remedy), "%.199s", remedy);
}

static void add_counter(struct bench_set *s, size_t counter, size_t event)
{
	s->counter[s->n] = counter;
	s->event[s->n] = event;
	s->n_shared = ++s->n;
}

static void place(struct bench_sets *s, const struct bench_plan *p, int cpu, enum kind kind,
		  size_t event, struct bench_counter *c)
{
	const struct encoding *e = &p->events->enc[event];
	size_t number = s->n_counters++;
	struct bench_set *last = s->n ? &s->set[s->n - 1] : NULL;
	struct bench_set alone = { .how = kind == KIND_EXACT     ? BENCH_EXACT
					   : kind == KIND_KERNEL ? BENCH_READ
								 : BENCH_REGISTER };
	struct tare_error why = TARE_ERROR_INIT;

	if (encoding_source(e)->registers)
		alone.how = BENCH_MSR;
	*c = (struct bench_counter){ .how = alone.how,
				     .quality = kind == KIND_EXACT ? TARE_EXACT : TARE_COUNTED };
	snprintf(c->name, sizeof(c->name), "%.*s%s", (int)(sizeof(c->name) - sizeof(BENCH_BY_PERF)),
		 e->name, p->cross && alone.how != BENCH_MSR ? BENCH_BY_PERF : "");
	if (e->unavailable) {
		unavailable(c, e->why, e->remedy);
		return;
	}
	if (e->place == PLACE_UNCORE) {
		unavailable(c, "it is outside the cores: it would count what others do, too",
			    "tare stat -a counts it");
		return;
	}
	if (kind == KIND_EXACT) {
		if (!last || last->how != BENCH_EXACT) {
			s->set[s->n++] = alone;
			last = &s->set[s->n - 1];
		}
		last->class[last->n] = exact_class_of(e);
		add_counter(last, number, event);
		last->n_shared = EXACT_CLASSES;
		return;
	}
	if (last && last->how == alone.how && last->n < MARK_COUNTERS) {
		struct bench_set more = *last;

		add_counter(&more, number, event);
		if (try_set(p, cpu, &more, NULL) == 0) {
			*last = more;
			return;
		}
	}
	add_counter(&alone, number, event);
	if (try_set(p, cpu, &alone, &why) < 0)
		unavailable(c, why.what, why.hint);
	else
		s->set[s->n++] = alone;
}

static bool counts_cycles(const struct bench_counter *counter, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (counter[i].how != BENCH_EXACT && counter[i].quality != TARE_UNAVAILABLE &&
		    strstr(counter[i].name, "cycles"))
			return true;
	return false;
}

/* The clock, and cycles estimated from its ticks. */
static void place_clock(struct bench_sets *s, const struct bench_plan *p, int cpu,
			struct bench_counter *counter)
{
	static const struct bench_counter clock = { .name = BENCH_CLOCK_NAME,
						    .how = BENCH_CLOCK,
						    .quality = TARE_COUNTED };
	static const struct bench_counter cycles = { .name = "cycles",
						     .how = BENCH_CHAIN,
						     .quality = TARE_SCALED };
	struct bench_set *set = &s->set[s->n++];
	bool estimate = p->estimate && cpu >= 0 && !counts_cycles(counter, s->n_counters);

	*set = (struct bench_set){ .how = BENCH_CLOCK };
	counter[s->n_counters] = clock;
	add_counter(set, s->n_counters++, 0);
	if (!estimate)
		return;
	counter[s->n_counters] = cycles;
	add_counter(set, s->n_counters++, 0);
	set->n_shared = 1;
}

int bench_sets_make(struct bench_sets *s, const struct bench_plan *p, int cpu,
		    struct bench_counter counter[BENCH_COUNTERS], struct tare_error *err)
{
	size_t n = p->events ? p->events->n : 0;

	if (n + p->clock + p->estimate > BENCH_COUNTERS)
		return tare_fail(err, E2BIG, "%zu events are too many: at most %d", n,
				 BENCH_COUNTERS - 1 - p->estimate);
	*s = (struct bench_sets){ 0 };
	for (int kind = 0; kind < KINDS; kind++)
		for (size_t i = 0; i < n; i++)
			if ((int)kind_of(&p->events->enc[i]) == kind)
				place(s, p, cpu, (enum kind)kind, i, &counter[s->n_counters]);
	if (p->clock)
		place_clock(s, p, cpu, counter);
	for (size_t i = 0; i < s->n; i++)
		for (size_t k = 0; k < s->set[i].n; k++)
			counter[s->set[i].counter[k]].set = (unsigned)i;
	return 0;
}
