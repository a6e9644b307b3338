/* SPDX-License-Identifier: MIT */
/*
 * Thousands of simulated machines (tests/made_machine.h), the same ones each time: a few event
 * selects count something, each with one bit of its unit mask; all others are dead. The sweep and
 * the explanation are the program's own code. The planted events must be found with their exact
 * terms, and no other event may count.
 */
#include <stdio.h>
#include "scan/finding.h"
#include "made_machine.h"
#include "tap.h"

enum { MACHINES = 250 /* in each of six parts */, PLANTED = 4, SELECTS = 12, CYCLES = 0xf0 };

enum plant {
	PLANT_CLASS,
	PLANT_FACTOR,
	PLANT_TWO,
	PLANT_THREE,
	PLANT_OVER,   /* a class, and one more for each interrupt */
	PLANT_FAULTS, /* page faults and interrupts, like an undocumented event of Zen */
	PLANT_INTERRUPTS,
	PLANT_CONSTANT,
	PLANT_CYCLES,
	PLANT_JUNK,
	PLANT_ODD,     /* repeats, and is not a class */
	PLANT_SUM,     /* of two odd ones */
	PLANT_REPLAYS, /* of locked instructions, at random */
	PLANT_BROKEN,
	PLANT_DEAD,
	PLANTS,
};

static const struct {
	const char *name;
	enum scan_meaning meaning;
} plants[PLANTS] = {
	[PLANT_CLASS] = { "class", SCAN_COUNTS },
	[PLANT_FACTOR] = { "factor", SCAN_COUNTS },
	[PLANT_TWO] = { "sum of two classes", SCAN_COUNTS },
	[PLANT_THREE] = { "sum of three classes", SCAN_COUNTS },
	[PLANT_OVER] = { "class and interrupts", SCAN_COUNTS },
	[PLANT_FAULTS] = { "faults and interrupts", SCAN_COUNTS },
	[PLANT_INTERRUPTS] = { "interrupts", SCAN_COUNTS },
	[PLANT_CONSTANT] = { "constant", SCAN_CONSTANT },
	[PLANT_CYCLES] = { "cycles", SCAN_FOLLOWS },
	[PLANT_JUNK] = { "junk", SCAN_UNKNOWN },
	[PLANT_ODD] = { "odd", SCAN_UNKNOWN },
	[PLANT_SUM] = { "sum of two events", SCAN_SUM },
	[PLANT_REPLAYS] = { "replays", SCAN_FOLLOWS },
	[PLANT_BROKEN] = { "broken", SCAN_BROKEN },
	[PLANT_DEAD] = { "dead", SCAN_UNKNOWN },
};

static const char *const meaning_names[SCAN_MEANINGS] = { "unknown", "constant", "counts",
							  "sum",     "follows",  "broken" };

/* A class that some kernel of this CPU contains, except page faults. */
static unsigned any_class(struct made *m)
{
	for (;;) {
		unsigned c = (unsigned)made_chance(m, WORK_CLASSES);

		for (size_t i = 0; kernel_at(i); i++)
			if (kernel_at(i)->per_turn[c] && c != WORK_FAULTS)
				return c;
	}
}

static void odd(struct made *m, struct made_event *e)
{
	for (unsigned k = 0; k < WORK_KINDS; k++)
		e->per_kind[k] = made_chance(m, 3) ? 0 : 1 + (int)made_chance(m, 40);
	e->per_kind[1 + made_chance(m, 3)] = 77 + (int)made_chance(m, 1000);
}

static void plant(struct made *m, struct made_event *e, enum plant what)
{
	if (made_chance(m, 2))
		e->fixed = (unsigned)made_chance(m, 60);
	switch (what) {
	case PLANT_CLASS:
		e->weight[any_class(m)] = 1;
		break;
	case PLANT_FACTOR:
		e->weight[any_class(m)] = 2 + (int)made_chance(m, 3);
		break;
	case PLANT_THREE:
		e->weight[any_class(m)] += 1;
		/* fall through */
	case PLANT_TWO:
		e->weight[any_class(m)] += 1 + (int)made_chance(m, 2);
		e->weight[any_class(m)] += 1;
		break;
	case PLANT_OVER:
		e->weight[any_class(m)] = e->per_interrupt = 1;
		break;
	case PLANT_FAULTS:
		e->weight[WORK_FAULTS] = e->per_interrupt = 1;
		break;
	case PLANT_INTERRUPTS:
		e->per_interrupt = 1;
		break;
	case PLANT_CONSTANT:
		e->fixed = 1 + (unsigned)made_chance(m, 100);
		break;
	case PLANT_CYCLES:
		e->per_ns = 0.5 * (double)(1 + made_chance(m, 8));
		break;
	case PLANT_JUNK:
		e->junk = 1000 + (unsigned)made_chance(m, 100000);
		break;
	case PLANT_ODD:
	case PLANT_SUM:
		odd(m, e);
		break;
	case PLANT_REPLAYS:
		e->weight[WORK_ATOMICS] = 1;
		e->replays = 1;
		break;
	case PLANT_BROKEN:
		e->weight[WORK_INSTRUCTIONS] = 1;
		e->width = 12 + (unsigned)made_chance(m, 8);
		break;
	default:
		e->fixed = 0;
		break;
	}
}

static struct scan_plan plan_of(struct made *m)
{
	return (struct scan_plan){ .source = &source_made,
				   .shop = &m->shop,
				   .type = PERF_TYPE_RAW,
				   .event = { 0, 0xff },
				   .umask = { 0, 0xff00 },
				   .range = { { 0, SELECTS - 1 } },
				   .ranges = 1,
				   .counters = m->counters };
}

/* Are these the planted terms? */
static bool terms_are(const struct made_event *e, const struct scan_finding *f)
{
	unsigned want = 0, interrupts = 0;

	for (unsigned c = 0; c < WORK_CLASSES; c++)
		want += e->weight[c] != 0;
	for (size_t i = 0; i < f->n; i++) {
		interrupts += f->term[i].what == TERM_INTERRUPTS;
		if (f->term[i].what == TERM_CLASS &&
		    f->term[i].factor != e->weight[f->term[i].which])
			return false;
	}
	return f->n - interrupts == want && interrupts == (e->per_interrupt > 0);
}

/* Whether a planted event was found with the right meaning and terms. */
static bool is_right(const struct made *m, const struct made_event *e, enum plant what,
		     const struct scan *s, const struct scan_finding *f)
{
	(void)m, (void)s;
	if (f->meaning != plants[what].meaning)
		return false;
	switch (f->meaning) {
	case SCAN_COUNTS:
		return terms_are(e, f) && f->fixed == (int64_t)e->fixed && !f->except;
	case SCAN_CONSTANT:
		return f->fixed == (int64_t)e->fixed;
	case SCAN_SUM:
		return f->n == 2;
	case SCAN_FOLLOWS:
		return what == PLANT_CYCLES
			? f->term[0].what == TERM_KNOWN
			: f->term[0].what == TERM_CLASS && f->term[0].which == WORK_ATOMICS;
	default:
		return true;
	}
}

static void try_machines(unsigned first)
{
	unsigned machines = tap_cases(MACHINES);
	unsigned said[PLANTS][SCAN_MEANINGS + 1] = { { 0 } }, right = 0, all = 0, others = 0;

	for (unsigned i = first; i < first + machines; i++) {
		struct made *m = made_new(i);
		struct scan_plan p = plan_of(m);
		struct scan s = { .pmu = "made" };
		struct scan_finding *f;
		struct scan_event cycles;
		const struct encoding known = {
			.name = "cycles", .attr = { .type = PERF_TYPE_RAW, .config = CYCLES }
		};
		struct scan_known column = { "cycles", &cycles };
		struct tare_error err = TARE_ERROR_INIT;
		enum plant what[PLANTED + 2];
		size_t n = 0;

		m->counters = p.counters = 1 + (unsigned)made_chance(m, 8);
		m->gap_ns = 200000 + made_chance(m, 2000000);
		for (; n < PLANTED; n++) {
			what[n] = (enum plant)made_chance(m, PLANTS);
			plant(m, made_add(m, (uint32_t)n, 1u << made_chance(m, 8)), what[n]);
			if (what[n] ==
			    PLANT_SUM) { /* two events that are not classes, and their sum */
				struct made_event *sum = &m->event[n],
						  *a = made_add(m, (uint32_t)n + 1, 1),
						  *b = made_add(m, (uint32_t)n + 2, 1);

				plant(m, a, PLANT_ODD);
				plant(m, b, PLANT_ODD);
				for (unsigned k = 0; k < WORK_KINDS; k++)
					sum->per_kind[k] = a->per_kind[k] + b->per_kind[k];
				what[n + 1] = what[n + 2] = PLANT_ODD;
				n += 3;
				break;
			}
		}
		made_add(m, CYCLES, 0)->per_ns = 3;
		s.rows = scan_rows(&m->shop, s.row);
		CHECK_EQ(scan_sweep(&s, &p, &err), 0, "machine %u: %s", i, err.what);
		CHECK_EQ(scan_column(&cycles, &s, &p, &known, &err), 0, "cycles");
		CHECK_EQ(m->opened, 0u, "closed again");
		CHECK_EQ(m->prepared, 0, "everything prepared is released");
		f = calloc(s.n + 1, sizeof(*f));
		CHECK_EQ(scan_explain(&s, &column, 1, f, &err), 0, "explained");
		for (size_t k = 0; k < s.n; k++) {
			const struct scan_event *e = &s.event[k];
			const struct made_event *planted = e->select < n ? &m->event[e->select]
									 : NULL;
			bool live = e->state == SCAN_LIVE,
			     wanted = planted && what[e->select] != PLANT_DEAD &&
				(e->umask & planted->umask);

			if (live != wanted && !(planted && what[e->select] == PLANT_INTERRUPTS))
				CHECK(false, "machine %u: 0x%02x:0x%02x is %s", i, e->select,
				      e->umask, live ? "live" : "dead");
			others += live && !wanted;
			if (!planted ||
			    e->umask != (what[e->select] == PLANT_DEAD ? 0xff : planted->umask))
				continue;
			said[what[e->select]][live ? f[k].meaning : SCAN_MEANINGS]++;
			all++;
			if (!live ? what[e->select] == PLANT_DEAD
				  : is_right(m, planted, what[e->select], &s, &f[k])) {
				right++;
			} else {
				struct text words = { 0 };

				scan_words(&words, &s, &column, &f[k]);
				printf("# machine %u, %s: %s (fixed %lld)\n", i,
				       plants[what[e->select]].name, words.s ? words.s : "",
				       (long long)f[k].fixed);
				text_free(&words);
			}
			if (f[k].sure == SCAN_CERTAIN && live)
				CHECK(is_right(m, planted, what[e->select], &s, &f[k]),
				      "machine %u: %s is called certain", i,
				      plants[what[e->select]].name);
		}
		free(cycles.count);
		free(cycles.interrupts);
		free(f);
		scan_free(&s);
		free(m);
	}
	for (unsigned i = 0; i < PLANTS; i++)
		for (unsigned k = 0; k <= SCAN_MEANINGS; k++)
			if (said[i][k])
				printf("# planted %-22s found %-10s %u\n", plants[i].name,
				       k == SCAN_MEANINGS ? "dead" : meaning_names[k], said[i][k]);
	printf("# right: %u of %u\n", right, all);
	CHECK_EQ(others, 0u, "nothing else counts");
	CHECK(right * 1000 >= all * 995, "%u of %u", right, all);
}

TEST(what_is_planted_is_found_and_nothing_else_counts)
{
	try_machines(0);
}

TEST(on_250_more)
{
	try_machines(250);
}

TEST(on_the_third_250)
{
	try_machines(500);
}

TEST(on_the_fourth_250)
{
	try_machines(750);
}

TEST(on_the_fifth_250)
{
	try_machines(1000);
}

TEST(on_the_last_250)
{
	try_machines(1250);
}

/* ---- one machine each ---- */

static enum scan_state state_of(const struct scan *s, uint32_t select, uint32_t umask)
{
	const struct scan_event *e = scan_find(s, select, umask);

	CHECK(e != NULL, "0x%x:0x%x was tried", select, umask);
	return e ? e->state : SCAN_DEAD;
}

/* Events that the kernel refuses or that share a counter are reported; the other events of the
 * batch are counted anyway. */
TEST(a_batch_with_events_that_cannot_be_counted)
{
	struct made *m = made_new(5);
	struct scan_plan p = plan_of(m);
	struct scan s = { .pmu = "made" };
	struct tare_error err = TARE_ERROR_INIT;
	const int64_t *kept;

	made_add(m, 2, 1)->weight[WORK_LOADS] = 1;
	made_add(m, 3, 1)->refused = true;
	made_add(m, 4, 1)->weight[WORK_STORES] = 1;
	made_add(m, 5, 1)->share = 0.5;
	m->event[3].weight[WORK_LOADS] = 1;
	s.rows = scan_rows(&m->shop, s.row);
	CHECK_EQ(scan_sweep(&s, &p, &err), 0, "%s", err.what);
	CHECK_EQ(m->opened, 0u, "closed again");
	CHECK_EQ(state_of(&s, 2, 1), SCAN_LIVE, "loads");
	CHECK_EQ(state_of(&s, 2, 2), SCAN_DEAD, "its other bits");
	CHECK_EQ(state_of(&s, 3, 0xff), SCAN_REFUSED, "refused");
	CHECK_EQ(state_of(&s, 4, 1), SCAN_LIVE, "stores");
	CHECK_EQ(state_of(&s, 5, 0xff), SCAN_UNCOUNTED, "shared");
	CHECK(!scan_find(&s, 5, 1) && !scan_find(&s, 3, 1) && !scan_find(&s, 7, 1),
	      "no bits of what does not count");
	/* The other user of the counters is gone: the next scan tries these events again, and no
	 * others. */
	m->event[1].refused = false;
	m->event[1].weight[WORK_CALLS] = 1;
	m->event[3].share = 1;
	kept = scan_find(&s, 2, 1)->count;
	CHECK_EQ(scan_sweep(&s, &p, &err), 0, "%s", err.what);
	CHECK(state_of(&s, 3, 0xff) == SCAN_REFUSED && state_of(&s, 5, 0xff) == SCAN_UNCOUNTED,
	      "not in the same scan");
	scan_retry(&s);
	CHECK(!scan_find(&s, 3, 0xff) && !scan_find(&s, 5, 0xff), "forgotten");
	CHECK_EQ(state_of(&s, 1, 0xff), SCAN_DEAD, "dead stays dead");
	CHECK_EQ(scan_sweep(&s, &p, &err), 0, "%s", err.what);
	CHECK(state_of(&s, 3, 1) == SCAN_LIVE && state_of(&s, 5, 1) == SCAN_LIVE, "both count");
	CHECK(scan_find(&s, 2, 1)->count == kept, "counted events are not counted again");
	scan_free(&s);
	free(m);
}

/* Fewer counters than the machine reports: the batch never runs, and its events are counted one
 * by one. */
TEST(more_at_once_than_there_are_counters)
{
	struct made *m = made_new(6);
	struct scan_plan p = plan_of(m);
	struct scan s = { .pmu = "made" };
	struct tare_error err = TARE_ERROR_INIT;

	made_add(m, 2, 1)->weight[WORK_LOADS] = 1;
	m->counters = 1;
	p.counters = 8;
	s.rows = scan_rows(&m->shop, s.row);
	CHECK_EQ(scan_sweep(&s, &p, &err), 0, "%s", err.what);
	CHECK_EQ(state_of(&s, 2, 1), SCAN_LIVE, "loads");
	CHECK_EQ(state_of(&s, 1, 0xff), SCAN_DEAD, "a neighbour");
	scan_free(&s);
	free(m);
}

static int stop_later(void *with, int pass, size_t done, size_t all)
{
	unsigned *left = with;

	CHECK(pass >= 1 && pass <= 2 && done <= all, "%zu of %zu in pass %d", done, all, pass);
	return --*left == 0 ? 2 : 0;
}

/* Stopped after each possible number of batches and resumed: the same events are tried, each
 * once. */
TEST(stopped_anywhere_it_goes_on)
{
	for (unsigned batches = 1; batches < 7; batches++) {
		struct made *m = made_new(8);
		struct scan_plan p = plan_of(m);
		struct scan s = { .pmu = "made" };
		struct tare_error err = TARE_ERROR_INIT;
		unsigned left = batches;
		const int64_t *kept = NULL;
		size_t tried;

		made_add(m, 0, 1)->weight[WORK_LOADS] = 1;
		made_add(m, 9, 4)->weight[WORK_STORES] = 1;
		p.progress = stop_later;
		p.with = &left;
		s.rows = scan_rows(&m->shop, s.row);
		CHECK_EQ(scan_sweep(&s, &p, &err), 2, "%u batches", batches);
		tried = s.n;
		kept = scan_find(&s, 0, 0xff)->count;
		p.progress = NULL;
		CHECK_EQ(scan_sweep(&s, &p, &err), 0, "gone on");
		CHECK(s.n > tried, "more were tried");
		CHECK(scan_find(&s, 0, 0xff)->count == kept,
		      "counted events are not counted again");
		CHECK_EQ(s.n, 2u * SELECTS + 2 * 8, "of each two, and the bits of two");
		CHECK(state_of(&s, 9, 4) == SCAN_LIVE && state_of(&s, 0, 1) == SCAN_LIVE,
		      "the live ones");
		scan_free(&s);
		free(m);
	}
}

struct last {
	size_t done[3], all[3];
};

static int note(void *with, int pass, size_t done, size_t all)
{
	struct last *l = with;

	l->done[pass] = done;
	l->all[pass] = all;
	return 0;
}

/* An event that no class explains is described by the kinds of work with its largest counts. */
TEST(what_is_known_of_an_odd_event)
{
	struct made *m = made_new(12);
	struct scan_plan p = plan_of(m);
	struct scan s = { .pmu = "made" };
	struct tare_error err = TARE_ERROR_INIT;
	struct scan_finding f[4 * SELECTS];
	struct text words = { 0 };
	struct last last = { { 0 } };

	made_add(m, 4, 1)->per_kind[3] = 3;
	m->event[0].per_kind[2] = 700;
	m->event[0].per_kind[5] = 1;
	m->event[0].per_kind[7] = 5;
	p.progress = note;
	p.with = &last;
	s.rows = scan_rows(&m->shop, s.row);
	CHECK_EQ(scan_sweep(&s, &p, &err), 0, "%s", err.what);
	CHECK(last.done[1] == 2 * SELECTS && last.all[1] == 2 * SELECTS && last.done[2] == 8 &&
		      last.all[2] == 8,
	      "all of both passes");
	CHECK_EQ(scan_explain(&s, NULL, 0, f, &err), 0, "explained");
	for (size_t i = 0; i < s.n; i++)
		if (s.event[i].select == 4 && s.event[i].umask == 1) {
			CHECK(f[i].top[0] == 2 && f[i].per_turn[0] == 700 && f[i].top[1] == 7 &&
				      f[i].per_turn[1] == 5 && f[i].top[2] == 3 &&
				      f[i].per_turn[2] == 3,
			      "%u %u %u", f[i].top[0], f[i].top[1], f[i].top[2]);
			scan_words(&words, &s, NULL, &f[i]);
		}
	CHECK(words.s && strstr(words.s, "most in taken 700 a turn, ") == words.s, "%s", words.s);
	text_free(&words);
	scan_free(&s);
	free(m);
}

TEST(an_encoding_is_spelled_as_perf_would)
{
	struct made *m = made_new(13);
	struct scan_plan p = plan_of(m);
	struct encoding e = scan_encoding(&p, "cpu", 0xc4, 0x20);

	CHECK(!strcmp(e.name, "cpu/event=0xc4,umask=0x20/u"), "%s", e.name);
	CHECK_EQ(e.attr.config, 0x20c4u, "config");
	CHECK(e.attr.exclude_kernel && e.attr.exclude_hv, "user mode");
	CHECK(!e.attr.config1 && !e.attr.config2, "no other register");
	p.umask.mask = 0;
	p.kernel = true;
	e = scan_encoding(&p, "armv8_pmuv3", 0x11, 0);
	CHECK(!strcmp(e.name, "armv8_pmuv3/event=0x11/") && !e.attr.exclude_kernel, "%s", e.name);
	free(m);
}

/* How an undocumented event of Zen was found: it counts page faults and interrupts. */
TEST(the_nearest_to_page_faults)
{
	const struct encoding faults = { .name = "page-faults",
					 .attr = { .type = PERF_TYPE_SOFTWARE,
						   .config = PERF_COUNT_SW_PAGE_FAULTS } };
	struct made *m = made_new(9);
	struct scan_plan p = plan_of(m);
	struct scan s = { .pmu = "made" };
	struct scan_event like;
	struct tare_error err = TARE_ERROR_INIT;
	struct scan_near near;

	made_add(m, 4, 1)->weight[WORK_FAULTS] = 1;
	m->event[0].per_interrupt = 1;
	m->event[0].fixed = 9;
	made_add(m, 5, 1)->weight[WORK_LOADS] = 1;
	s.rows = scan_rows(&m->shop, s.row);
	CHECK_EQ(scan_sweep(&s, &p, &err), 0, "%s", err.what);
	CHECK_EQ(scan_column(&like, &s, &p, &faults, &err), 0, "%s", err.what);
	near = scan_nearness(&s, scan_find(&s, 4, 1), &like);
	CHECK(near.equal == 1 && near.factor > 0.99 && near.factor < 1.01, "%g the same, %g of it",
	      near.equal, near.factor);
	near = scan_nearness(&s, scan_find(&s, 5, 1), &like);
	CHECK(near.equal < 0.1 && near.correlation < 0.5, "%g the same, correlation %g", near.equal,
	      near.correlation);
	free(like.count);
	free(like.interrupts);
	scan_free(&s);
	free(m);
}

/* If the number of interrupts is unknown, a few are assumed, and interrupts are not a term. */
TEST(interrupts_that_nobody_tells)
{
	struct made *m = made_new(10);
	struct scan_plan p = plan_of(m);
	struct scan s = { .pmu = "made" };
	struct tare_error err = TARE_ERROR_INIT;
	struct scan_finding f[4 * SELECTS];

	made_add(m, 4, 1)->weight[WORK_INSTRUCTIONS] = 1;
	m->event[0].per_interrupt = 1;
	m->gap_ns = 2000000;
	m->interrupts_hidden = true;
	s.rows = scan_rows(&m->shop, s.row);
	CHECK_EQ(scan_sweep(&s, &p, &err), 0, "%s", err.what);
	CHECK(s.interrupts_guessed, "it is known that they are not");
	CHECK_EQ(scan_explain(&s, NULL, 0, f, &err), 0, "explained");
	for (size_t i = 0; i < s.n; i++)
		if (s.event[i].select == 4 && s.event[i].umask == 1)
			CHECK(f[i].meaning == SCAN_COUNTS && f[i].n == 1 &&
				      f[i].term[0].which == WORK_INSTRUCTIONS,
			      "%d, %zu terms", f[i].meaning, f[i].n);
	scan_free(&s);
	free(m);
}

TEST_MAIN()
