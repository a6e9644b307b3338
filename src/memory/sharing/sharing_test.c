/* SPDX-License-Identifier: MIT */
/*
 * The verdicts on synthetic programs: threads with known lines, known bytes and known turns,
 * sampled as hardware samples. The result is compared with the plan.
 */
#include <math.h>
#include "memory/sharing/sharing_private.h"
#include "tap.h"

static uint64_t seed;

static uint64_t draw(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

/* The use of a line in the synthetic program. */
enum plan {
	PRIVATE,        /* private to one thread */
	READ_ONLY,      /* read by all threads; written once before */
	COUNTER,        /* one word updated by all threads */
	READ_MOSTLY,    /* one thread writes a word that all read */
	FIELDS,         /* each thread updates a field of its own */
	READ_NEIGHBOUR, /* one updates its field; others only read theirs */
	LOCK_AND_DATA,  /* a lock that all update, next to fields of each thread */
	BUFFER,         /* all threads use all of its words */
	TURNS,          /* threads one after another, each for a long time */
	PLANS,
};

static const enum sharing_verdict truth[PLANS] = {
	[PRIVATE] = SHARING_NONE,    [READ_ONLY] = SHARING_NONE,
	[COUNTER] = SHARING_TRUE,    [READ_MOSTLY] = SHARING_TRUE,
	[FIELDS] = SHARING_FALSE,    [READ_NEIGHBOUR] = SHARING_FALSE,
	[BUFFER] = SHARING_TRUE,     [LOCK_AND_DATA] = SHARING_BOTH,
	[TURNS] = SHARING_MIGRATORY,
};

static const char *const plan_names[PLANS] = { "private",       "read only", "counter",
					       "read mostly",   "fields",    "read neighbour",
					       "lock and data", "buffer",    "turns" };

struct machine {
	unsigned threads, lines, keep; /* one access in `keep` is sampled */
	unsigned cpus,
		slice;    /* accesses of a thread before another gets its CPU; 0: all run at once */
	bool sizes, hitm; /* this hardware reports them */
	enum plan plan[64];
};

/* One access of a thread to a line, according to its plan. */
static void access_of(const struct machine *m, unsigned line, unsigned thread, bool start,
		      struct tare_access *a)
{
	unsigned word = thread % 8;

	*a = (struct tare_access){
		.kind = TARE_ACCESS_LOAD, .pid = 1, .tid = 100 + thread, .ip = 0x400000 + 16 * line
	};
	switch (m->plan[line]) {
	case PRIVATE:
	case READ_ONLY:
		word = (unsigned)draw(8);
		a->kind = m->plan[line] == PRIVATE && draw(2) ? TARE_ACCESS_STORE
							      : TARE_ACCESS_LOAD;
		break;
	case COUNTER:
		word = 3;
		a->kind = TARE_ACCESS_UPDATE;
		break;
	case READ_MOSTLY:
		word = 2;
		a->kind = thread == 0 ? TARE_ACCESS_STORE : TARE_ACCESS_LOAD;
		break;
	case FIELDS:
	case TURNS:
		a->kind = draw(3) ? TARE_ACCESS_UPDATE : TARE_ACCESS_LOAD;
		break;
	case BUFFER:
		word = (unsigned)draw(8);
		a->kind = draw(2) ? TARE_ACCESS_STORE : TARE_ACCESS_LOAD;
		break;
	case READ_NEIGHBOUR:
		a->kind = thread == 0 ? TARE_ACCESS_UPDATE : TARE_ACCESS_LOAD;
		break;
	default:
		word = draw(2) ? 0 : 1 + thread % 7;
		a->kind = TARE_ACCESS_UPDATE;
	}
	if (start) { /* the first thread initialises everything */
		word = (unsigned)draw(8);
		a->kind = TARE_ACCESS_STORE;
		a->tid = 100;
	}
	a->address = 0x10000 + 64 * line + 8 * word;
	if (m->sizes) {
		a->has |= TARE_ACCESS_SIZE;
		a->size = 8;
	}
	a->has |= TARE_ACCESS_ADDRESS | TARE_ACCESS_TASK | TARE_ACCESS_TIME;
}

static void sample(const struct machine *m, struct sharing *s, struct tare_access *a, uint64_t time)
{
	a->time_ns = time;
	if (draw(m->keep) == 0)
		CHECK_EQ(sharing_add(s, a, NULL, NULL), 0);
}

/* Runs the program: every line is accessed `n` times; samples go to s. */
static void run_machine(const struct machine *m, struct sharing *s, unsigned n)
{
	for (unsigned line = 0; line < m->lines; line++) {
		unsigned last_writer = 0;
		uint64_t time = draw(1000);

		for (unsigned i = 0; i < n; i++) {
			struct tare_access a;
			unsigned thread = m->plan[line] == PRIVATE ? line % m->threads
								   : (unsigned)draw(m->threads);

			if (m->plan[line] == TURNS)
				thread = i * m->threads / n;
			access_of(m, line, thread, i < n / 100, &a);
			time += 1 + draw(20);
			if (m->hitm && last_writer && last_writer != a.tid) {
				a.has |= TARE_ACCESS_SNOOP;
				a.snoop = TARE_SNOOP_MODIFIED;
			}
			if (a.kind != TARE_ACCESS_LOAD)
				last_writer = a.tid;
			sample(m, s, &a, time);
		}
	}
}

/*
 * The same program with possibly fewer CPUs than threads. Each thread uses all lines in turn. It
 * does not use a line that is handed over until it is its turn, and does something of its own
 * instead.
 */
static void run_scheduled(const struct machine *m, struct sharing *s, unsigned n)
{
	unsigned running[8] = { 0 }, next = 0, left[64], holder[64] = { 0 };
	uint64_t steps = (uint64_t)n * m->lines / m->cpus;

	for (unsigned line = 0; line < m->lines; line++)
		left[line] = n / 8;
	for (uint64_t step = 0; step < steps; step++) {
		for (unsigned cpu = 0; cpu < m->cpus; cpu++) {
			unsigned line = (unsigned)draw(m->lines), thread;
			bool start = step < steps / 100;
			struct tare_access a;

			if ((step + cpu * m->slice / m->cpus) % m->slice == 0 || step == 0)
				running[cpu] = next++ % m->threads;
			thread = start ? 0 : running[cpu];
			if (start && cpu)
				continue;
			access_of(m, line, thread, start, &a);
			if (!start &&
			    ((m->plan[line] == TURNS && holder[line] != thread) ||
			     (m->plan[line] == PRIVATE && line % m->threads != thread)))
				a.address = 0x90000 + 64 * thread;
			else if (m->plan[line] == TURNS && !start && --left[line] == 0) {
				left[line] = n / 8;
				holder[line] = (thread + 1) % m->threads;
			}
			sample(m, s, &a, 1000 + 10 * step + cpu);
		}
	}
}

static struct machine draw_scheduled(void)
{
	struct machine m = { .threads = 2 + (unsigned)draw(4),
			     .lines = 16,
			     .keep = 20 + (unsigned)draw(100),
			     .sizes = draw(2) };

	m.cpus = 1 + (unsigned)draw(m.threads);
	m.slice = 500 + (unsigned)draw(8000);
	for (unsigned i = 0; i < m.lines; i++)
		m.plan[i] = (enum plan)draw(PLANS);
	return m;
}

static struct machine draw_machine(bool hitm)
{
	struct machine m = { .threads = 2 + (unsigned)draw(7),
			     .lines = 16,
			     .keep = 20 + (unsigned)draw(200),
			     .sizes = draw(2),
			     .hitm = hitm };

	for (unsigned i = 0; i < m.lines; i++)
		m.plan[i] = (enum plan)draw(PLANS);
	return m;
}

static const struct sharing_line *found(const struct sharing *s, unsigned line)
{
	size_t n;
	const struct sharing_line *l = sharing_lines(s, &n);

	for (size_t i = 0; i < n; i++)
		if (l[i].address == 0x10000 + 64 * line)
			return &l[i];
	return NULL;
}

/* Thousands of lines; prints a table of planned against found verdicts. */
static void confusion(bool hitm, bool scheduled, unsigned machines, double least)
{
	enum { ACCESSES = 20000 };
	unsigned table[PLANS][SHARING_UNCLEAR + 1] = { 0 }, right = 0, told = 0, shared = 0,
						unclear = 0, wrong_and_sure = 0, in_turns = 0,
						found_as[SHARING_UNCLEAR + 1] = { 0 },
						right_as[SHARING_UNCLEAR + 1] = { 0 },
						planted_as[SHARING_UNCLEAR + 1] = { 0 };

	machines = tap_cases(machines);
	seed = 7 + hitm;
	for (unsigned round = 0; round < machines; round++) {
		struct machine m = scheduled ? draw_scheduled() : draw_machine(hitm);
		struct sharing *s = sharing_new(NULL, NULL);

		scheduled ? run_scheduled(&m, s, ACCESSES) : run_machine(&m, s, ACCESSES);
		CHECK_EQ(sharing_finish(s, NULL), 0);
		for (unsigned line = 0; line < m.lines; line++) {
			const struct sharing_line *l = found(s, line);
			enum sharing_verdict v = l ? l->verdict : SHARING_NONE,
					     t = truth[m.plan[line]];
			/*
			 * for a line that is written once, the initializing stores may have been
			 * sampled
			 */
			bool fits = v == t || (t == SHARING_NONE && v == SHARING_MIGRATORY);

			table[m.plan[line]][v]++;
			found_as[fits ? t : v]++;
			planted_as[t]++;
			right_as[t] += fits;
			in_turns += l && l->in_turns;
			shared += t != SHARING_NONE;
			unclear += t != SHARING_NONE && v == SHARING_UNCLEAR;
			if (v == SHARING_UNCLEAR)
				continue;
			told++;
			right += fits;
			wrong_and_sure += !fits && l && l->confidence > 0.99;
		}
		sharing_free(s);
	}
	printf("# %-16s %6s %6s %6s %6s %6s %6s\n", "planted \\ found", "none", "false", "true",
	       "both", "handed", "unclear");
	for (int p = 0; p < PLANS; p++)
		printf("# %-16s %6u %6u %6u %6u %6u %6u\n", plan_names[p], table[p][0], table[p][1],
		       table[p][2], table[p][3], table[p][4], table[p][5]);
	for (int v = 0; v < SHARING_UNCLEAR; v++)
		printf("# %-24s precision %u/%u, recall %u/%u\n",
		       sharing_verdict_name((enum sharing_verdict)v), right_as[v], found_as[v],
		       right_as[v], planted_as[v]);
	printf("# %u were judged although their threads seldom ran at once\n", in_turns);
	printf("# right in %u of %u lines with a verdict (%.2f %%)\n", right, told,
	       100.0 * right / told);
	CHECK(right >= least * told, "%u of %u", right, told);
	CHECK(tap_seldom(unclear, shared, 0.04), "%u of %u shared lines are unclear", unclear,
	      shared);
	CHECK(wrong_and_sure * 200 < told, "%u wrong ones are sure", wrong_and_sure);
}

TEST(verdicts_without_word_of_modified_lines)
{
	confusion(false, false, 75, 0.99);
}

TEST(verdicts_with_word_of_modified_lines)
{
	confusion(true, false, 75, 0.99);
}

TEST(verdicts_where_threads_take_turns_on_fewer_cpus)
{
	confusion(false, true, 40, 0.98);
}

static void put_access(struct sharing *s, uint32_t tid, enum tare_access_kind kind,
		       uint64_t address, uint32_t size, uint64_t physical, uint64_t time)
{
	struct tare_access a = { .kind = kind,
				 .pid = 1,
				 .tid = tid,
				 .ip = 0x400000,
				 .address = address,
				 .size = size,
				 .physical = physical,
				 .time_ns = time,
				 .has = TARE_ACCESS_ADDRESS | TARE_ACCESS_TASK | TARE_ACCESS_TIME |
					 (size ? TARE_ACCESS_SIZE : 0) |
					 (physical ? TARE_ACCESS_PHYSICAL : 0) };

	CHECK_EQ(sharing_add(s, &a, NULL, NULL), 0);
}

/*
 * An access counts for every line that it touches, but not across pages that are contiguous in
 * virtual memory only.
 */
TEST(accesses_across_lines)
{
	static const struct {
		int line;
		uint64_t address, physical;
		uint32_t size, lines; /* lines: not counting that of the other thread */
		size_t shared;
	} rows[] = {
		{ __LINE__, 0x1000 + 60, 0, 8, 1, 1 },
		{ __LINE__, 0x1000 + 56, 0, 8, 1, 0 },
		{ __LINE__, 0x1000 + 60, 0, 4, 1, 0 },
		{ __LINE__, 0x1000 + 60, 0, 0, 1, 0 },
		{ __LINE__, 0x1000, 0, 512, 7, 1 },
		{ __LINE__, 0x1000 + 60, 0x71000 + 60, 8, 1, 1 },
		{ __LINE__, 0x0fc0 + 60, 0x70fc0 + 60, 8, 1, 0 },
		{ __LINE__, 0x1000 + 60, 0, 1 << 20, 1, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sharing *s = sharing_new(NULL, NULL);
		const struct sharing_line *l;
		size_t n;

		for (unsigned k = 0; k < 100; k++) {
			put_access(s, 10, TARE_ACCESS_UPDATE, rows[i].address, rows[i].size,
				   rows[i].physical, 2 * k);
			put_access(s, 11, TARE_ACCESS_UPDATE, 0x1040 + 32, 8,
				   rows[i].physical ? 0x71040 + 32 : 0, 2 * k + 1);
		}
		CHECK_EQ(sharing_finish(s, NULL), 0);
		l = sharing_lines(s, &n);
		CHECK_EQ(n, rows[i].shared, "row at line %d", rows[i].line);
		CHECK_EQ(sharing_totals(s).used, 200);
		CHECK_EQ(sharing_totals(s).lines, rows[i].lines + 1, "row at line %d",
			 rows[i].line);
		if (n) {
			const struct sharing_cell *c = sharing_cells(s) + l->cell;

			CHECK_EQ(l->address, rows[i].physical ? 0x71040 : 0x1040);
			CHECK_EQ(l->samples, 200);
			CHECK_EQ(l->n_cells, 2);
			CHECK_EQ(c[0].offset, 0);
			CHECK_EQ(c[0].size, rows[i].size == 8 ? 4 : 64, "the part in this line");
			CHECK_EQ(l->verdict, rows[i].size == 8 ? SHARING_FALSE : SHARING_TRUE,
				 "row at line %d", rows[i].line);
			CHECK(!l->sizes_open);
		}
		sharing_free(s);
	}
}

/*
 * Copies by one instruction, as the exact engine reports them: every line, but for very large
 * copies, and very many, only the first.
 */
TEST(large_copies)
{
	enum { MIB = 1 << 20, LINES = MIB / 64, MOST = 4 << 20 };
	struct tare_access a = { .origin = TARE_FROM_EXACT,
				 .kind = TARE_ACCESS_STORE,
				 .pid = 1,
				 .tid = 10,
				 .address = 0x10000000,
				 .size = 5000,
				 .has = TARE_ACCESS_ADDRESS | TARE_ACCESS_TASK | TARE_ACCESS_TIME |
					 TARE_ACCESS_SIZE };
	struct sharing *s = sharing_new(NULL, NULL);

	CHECK_EQ(sharing_add(s, &a, NULL, NULL), 0);
	CHECK_EQ(s->n, 79, "5000 bytes");
	CHECK_EQ(s->hit[78].size, 5000 - 78 * 64);
	CHECK_EQ(s->totals.cut_short, 0);
	a.size = MIB;
	CHECK_EQ(sharing_add(s, &a, NULL, NULL), 0);
	CHECK_EQ(s->n, 79 + LINES);
	CHECK_EQ(s->totals.cut_short, 0);
	a.size = UINT32_MAX;
	CHECK_EQ(sharing_add(s, &a, NULL, NULL), 0);
	CHECK_EQ(s->n, 79 + 2 * LINES);
	CHECK_EQ(s->totals.cut_short, 1);
	for (size_t i = 2; i < MOST / LINES + 4; i++)
		CHECK_EQ(sharing_add(s, &a, NULL, NULL), 0);
	CHECK(s->n >= MOST && s->n < MOST + 1000, "%zu", s->n);
	a.address += 60;
	a.size = 8;
	CHECK_EQ(sharing_add(s, &a, NULL, NULL), 0);
	CHECK_EQ(s->hit[s->n - 1].size, 4, "an access across two lines is in both, always");
	a.time_ns = 7;
	CHECK_EQ(sharing_finish(s, NULL), 0);
	CHECK_EQ(s->ran_at[1] - s->ran_at[0], s->totals.used,
		 "each is one thing that the thread did");
	sharing_free(s);
}

/* Many hits are equal in line, time, both or all: they are sorted, and none is lost. */
TEST(hits_in_order)
{
	static struct hit h[5000];

	seed = 3;
	for (unsigned round = 0; round < 400; round++) {
		size_t n = draw(round % 4 ? 60 : ARRAY_SIZE(h));
		uint64_t lines = 1 + draw(round % 3 ? 4 : 1 << 20),
			 times = 1 + draw(round % 5 ? 1 << 30 : 8), sum = 0;
		enum sharing_order order = round % 2 ? BY_LINE_AND_TIME : BY_BYTES;

		for (size_t i = 0; i < n; i++) {
			h[i] = (struct hit){ .time = draw(9)
						     ? (round % 7 ? 0 : UINT64_MAX - (1 << 20)) +
							     draw(times)
						     : UINT64_MAX,
					     .line = (uint32_t)draw(lines),
					     .thread = (uint32_t)draw(3),
					     .ip = (uint32_t)draw(5),
					     .offset = (uint8_t)draw(64),
					     .size = (uint16_t)draw(9) };
			h[i].latency = (uint32_t)(h[i].time * 31 + h[i].line * 7 + h[i].thread * 5 +
						  h[i].ip * 3 + h[i].offset + h[i].size);
			sum += (uint64_t)h[i].latency * h[i].latency;
		}
		sharing_sort(h, n, order);
		for (size_t i = 0; i < n; i++) {
			const struct hit *a = &h[i ? i - 1 : 0], *b = &h[i];

			CHECK_EQ(b->latency,
				 (uint32_t)(b->time * 31 + b->line * 7 + b->thread * 5 + b->ip * 3 +
					    b->offset + b->size),
				 "round %u", round);
			sum -= (uint64_t)b->latency * b->latency;
			if (order == BY_LINE_AND_TIME)
				CHECK(a->line < b->line ||
					      (a->line == b->line &&
					       (a->time < b->time ||
						(a->time == b->time && a->offset <= b->offset))),
				      "round %u", round);
			else
				CHECK(a->offset < b->offset ||
					      (a->offset == b->offset &&
					       (a->thread < b->thread ||
						(a->thread == b->thread &&
						 (a->ip < b->ip ||
						  (a->ip == b->ip && a->size <= b->size))))),
				      "round %u", round);
		}
		CHECK_EQ(sum, 0, "round %u", round);
	}
}

/* The verdict where sizes are not known, by the distance between the bytes. */
TEST(sizes_that_are_not_known)
{
	static const struct {
		int line;
		unsigned first, second, first_size, second_size;
		enum sharing_verdict verdict;
		bool open;
	} rows[] = {
		{ __LINE__, 0, 8, 0, 0, SHARING_FALSE, true },
		{ __LINE__, 0, 32, 0, 0, SHARING_FALSE, false },
		{ __LINE__, 0, 31, 0, 0, SHARING_FALSE, true },
		{ __LINE__, 0, 8, 8, 0, SHARING_FALSE, false },
		{ __LINE__, 0, 8, 0, 8, SHARING_FALSE, true },
		{ __LINE__, 0, 8, 8, 8, SHARING_FALSE, false },
		{ __LINE__, 0, 8, 9, 8, SHARING_TRUE, false },
		{ __LINE__, 0, 0, 0, 0, SHARING_TRUE, false },
		{ __LINE__, 0, 24, 32, 0, SHARING_TRUE, false },
		{ __LINE__, 8, 0, 8, 0, SHARING_FALSE, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sharing *s = sharing_new(NULL, NULL);
		const struct sharing_line *l;
		size_t n;

		for (unsigned k = 0; k < 100; k++) {
			put_access(s, 10, TARE_ACCESS_STORE, 0x1000 + rows[i].first,
				   rows[i].first_size, 0, 2 * k);
			put_access(s, 11, TARE_ACCESS_STORE, 0x1000 + rows[i].second,
				   rows[i].second_size, 0, 2 * k + 1);
		}
		CHECK_EQ(sharing_finish(s, NULL), 0);
		l = sharing_lines(s, &n);
		CHECK_EQ(n, 1);
		CHECK_EQ(l->verdict, rows[i].verdict, "row at line %d", rows[i].line);
		CHECK_EQ(l->sizes_open, rows[i].open, "row at line %d", rows[i].line);
		CHECK(rows[i].open ? l->confidence == 0.9 : l->confidence > 0.99,
		      "row at line %d: %g", rows[i].line, l->confidence);
		sharing_free(s);
	}
}

/*
 * Two threads take turns on one line, each with its own fields. In a turn a thread makes `hits`
 * accesses to it, then `block` accesses to other lines in one go; after each hit, or after one in
 * `every`, `between` more. The result does not depend on the order of the samples.
 */
struct turned {
	int line;
	unsigned turns, hits, block, between; /* turns of each thread */
	unsigned before; /* hits of the first thread before the second one begins */
	unsigned stray;  /* 1: a third thread has one hit at the start, 2: at the end */
	enum sharing_verdict verdict;
	bool in_turns, few;
	unsigned every;
	bool part;    /* found in a part of the time */
	bool untimed; /* each hit has an access elsewhere without a time */
};

static struct queued {
	uint32_t tid;
	enum tare_access_kind kind;
	uint64_t address, time; /* time: 0: none */
} queue[64 << 10];
static size_t queued;

static void later(uint32_t tid, enum tare_access_kind kind, uint64_t address, uint64_t time)
{
	queue[queued++] = (struct queued){ tid, kind, address, time };
}

static void queue_turns(const struct turned *r)
{
	uint64_t time = 1;

	queued = 0;
	if (r->stray == 1)
		later(12, TARE_ACCESS_LOAD, 0x1020, time++);
	for (unsigned k = 0; k < r->before; k++)
		later(10, TARE_ACCESS_STORE, 0x1000, time++);
	for (unsigned turn = 0; turn < 2 * r->turns; turn++) {
		uint32_t tid = 10 + turn % 2;

		for (unsigned k = 0; k < r->hits; k++) {
			later(tid, TARE_ACCESS_STORE, 0x1000 + 8 * (tid - 10), time++);
			if (r->untimed)
				later(tid, TARE_ACCESS_STORE, 0x20000 * tid, 0);
			for (unsigned b = 0; b < r->between && (!r->every || k % r->every == 0);
			     b++)
				later(tid, TARE_ACCESS_STORE, 0x20000 * tid, time++);
		}
		for (unsigned k = 0; k < r->block; k++)
			later(tid, TARE_ACCESS_STORE, 0x20000 * tid, time++);
	}
	if (r->stray == 2)
		later(12, TARE_ACCESS_LOAD, 0x1020, time++);
}

static void add_queued(struct sharing *s, bool backwards)
{
	for (size_t i = 0; i < queued; i++) {
		const struct queued *q = &queue[backwards ? queued - 1 - i : i];
		struct tare_access a = { .kind = q->kind,
					 .pid = 1,
					 .tid = q->tid,
					 .ip = 0x400000,
					 .address = q->address,
					 .size = 8,
					 .time_ns = q->time,
					 .has = TARE_ACCESS_ADDRESS | TARE_ACCESS_TASK |
						 TARE_ACCESS_SIZE |
						 (q->time ? TARE_ACCESS_TIME : 0) };

		CHECK_EQ(sharing_add(s, &a, NULL, NULL), 0);
	}
}

TEST(turns_on_one_line)
{
	static const struct turned rows[] = {
		/* just enough turns: eight changes between two threads, while both use it */
		{ __LINE__, 3, 100, 0, 0, 0, 0, SHARING_UNCLEAR, true, true },
		{ __LINE__, 4, 100, 0, 0, 0, 0, SHARING_UNCLEAR, true, true },
		{ __LINE__, 5, 100, 0, 0, 0, 0, SHARING_UNCLEAR, true, true },
		{ __LINE__, 6, 100, 0, 0, 0, 0, SHARING_FALSE, true, false },
		{ __LINE__, 10, 100, 0, 0, 0, 0, SHARING_FALSE, true, false },
		{ __LINE__, 13, 100, 0, 0, 0, 0, SHARING_FALSE, true, false },
		{ __LINE__, 20, 100, 0, 0, 0, 0, SHARING_FALSE, true, false },
		/* used for a part of each turn only */
		{ __LINE__, 20, 100, 25, 0, 0, 0, SHARING_FALSE, true, false },
		{ __LINE__, 20, 100, 45, 0, 0, 0, SHARING_MIGRATORY, false, false },
		{ __LINE__, 20, 100, 200, 0, 0, 0, SHARING_MIGRATORY, false, false },
		/* used all the time, with other work in between */
		{ __LINE__, 20, 100, 0, 1, 0, 0, SHARING_FALSE, true, false },
		{ __LINE__, 20, 100, 0, 9, 0, 0, SHARING_FALSE, true, false },
		/*
		 * the time that one thread has it alone is left out, even if that is most of the
		 * time
		 */
		{ __LINE__, 20, 100, 0, 0, 1000, 0, SHARING_FALSE, true, false },
		{ __LINE__, 20, 100, 0, 0, 3000, 0, SHARING_FALSE, true, false },
		{ __LINE__, 20, 100, 0, 0, 6000, 0, SHARING_FALSE, true, false, .part = true },
		/* a thread that hardly ever uses it does not limit the time in which all do */
		{ __LINE__, 20, 100, 0, 0, 0, 1, SHARING_FALSE, true, false },
		{ __LINE__, 20, 100, 0, 0, 0, 2, SHARING_FALSE, true, false },
		/*
		 * a gap of five accesses with a mean of 1.4 is work between hits; a gap of seven
		 * with a mean of 1.6, in which others had the line, is not
		 */
		{ __LINE__, 20, 10, 4, 0, 0, 0, SHARING_FALSE, true, false },
		{ __LINE__, 20, 10, 6, 0, 0, 0, SHARING_MIGRATORY, false, false },
		/* ... but if no thread had it, it is */
		{ __LINE__, 20, 100, 0, 60, 0, 0, SHARING_FALSE, true, false, .every = 10 },
		/* accesses without a time do not count as work meanwhile */
		{ __LINE__, 20, 100, 0, 0, 0, 0, SHARING_FALSE, true, false, .untimed = true },
		{ __LINE__, 20, 10, 6, 0, 0, 0, SHARING_MIGRATORY, false, false, .untimed = true },
	};

	for (size_t i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		const struct turned *r = &rows[i / 2];
		struct sharing *s = sharing_new(NULL, NULL);
		const struct sharing_line *l = NULL;
		size_t n;

		queue_turns(r);
		add_queued(s, i % 2);
		CHECK_EQ(sharing_finish(s, NULL), 0);
		l = sharing_lines(s, &n);
		CHECK_EQ(n, 1);
		CHECK_EQ(l->verdict, r->verdict, "row at line %d", r->line);
		CHECK_EQ(l->in_turns, r->in_turns, "row at line %d", r->line);
		CHECK_EQ(l->few_turns, r->few, "row at line %d", r->line);
		CHECK_EQ(l->part != 0, r->part, "row at line %d", r->line);
		CHECK_EQ(l->few_bytes, r->verdict == SHARING_UNCLEAR && !r->few, "row at line %d",
			 r->line);
		if (l->in_turns && !r->block && !r->stray && !r->part) {
			unsigned switches = 2 * r->turns -
				3; /* without the first turn and the last */

			CHECK(l->steady > (switches + 1.0) / (switches + 2.0) - 1e-9 &&
				      l->steady < (switches + 1.0) / (switches + 2.0) + 1e-9,
			      "row at line %d: steady %g", r->line, l->steady);
		}
		if (l->in_turns && r->block > r->hits / 5 && r->hits == 100)
			CHECK(l->steady > 0.75 && l->steady < 0.83, "row at line %d: steady %g",
			      r->line, l->steady);
		if (l->in_turns && !l->few_turns)
			CHECK(l->confidence <= 0.8, "row at line %d: sure %g", r->line,
			      l->confidence);
		sharing_free(s);
	}
}

/*
 * Two threads on a busy machine: long turns, and between them a period of so many moves in which
 * both run. The more they meet, the more certain the verdict. Each has its own word, or the running
 * thread takes one of the two; `start`: the first thread begins with the other's word.
 */
TEST(threads_that_seldom_meet)
{
	static const struct {
		int line;
		unsigned turns, hits, moves;
		bool jobs, start;
		enum sharing_verdict verdict;
		bool in_turns; /* else found in the part in which they meet */
	} rows[] = {
		{ __LINE__, 12, 660, 0, false, false, SHARING_FALSE, true },
		{ __LINE__, 26, 600, 0, false, false, SHARING_FALSE, true },
		{ __LINE__, 26, 600, 12, false, false, SHARING_FALSE, true },
		{ __LINE__, 26, 300, 38, false, false, SHARING_FALSE, false },
		{ __LINE__, 26, 300, 54, false, false, SHARING_FALSE, false },
		{ __LINE__, 26, 300, 68, false, false, SHARING_FALSE, false },
		{ __LINE__, 26, 300, 141, false, false, SHARING_FALSE, false },
		{ __LINE__, 12, 600, 200, false, false, SHARING_FALSE, false },
		{ __LINE__, 200, 20, 0, true, false, SHARING_TRUE, true },
		{ __LINE__, 200, 20, 100, true, false, SHARING_TRUE, true },
		{ __LINE__, 12, 660, 0, false, true, SHARING_UNCLEAR, true },
		{ __LINE__, 26, 660, 0, false, true, SHARING_FALSE, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sharing *s = sharing_new(NULL, NULL);
		unsigned turns = rows[i].turns, moves = rows[i].moves;
		const struct sharing_line *l;
		uint64_t time = 1;
		size_t n;

		seed = 5;
		for (unsigned turn = 0; turn < turns + moves; turn++) {
			bool meet = turn >= turns / 2 && turn < turns / 2 + moves;
			unsigned word = rows[i].jobs && !meet ? (unsigned)draw(2) : turn % 2;

			for (unsigned k = 0; k < (meet ? 1 : rows[i].hits); k++)
				put_access(s, 10 + turn % 2, TARE_ACCESS_STORE,
					   0x1000 + 8 * (rows[i].start && !turn && !k ? 1 : word),
					   8, 0, time++);
		}
		CHECK_EQ(sharing_finish(s, NULL), 0);
		l = sharing_lines(s, &n);
		CHECK_EQ(n, 1);
		CHECK_EQ(l->verdict, rows[i].verdict, "row at line %d", rows[i].line);
		CHECK_EQ(l->in_turns, rows[i].in_turns, "row at line %d", rows[i].line);
		CHECK_EQ(l->part != 0, !rows[i].in_turns, "row at line %d", rows[i].line);
		CHECK(l->verdict == SHARING_UNCLEAR ||
			      (l->in_turns ? l->confidence == 0.8 : l->confidence > 0.99),
		      "row at line %d: sure %g", rows[i].line, l->confidence);
		CHECK_EQ(l->few_turns, l->verdict == SHARING_UNCLEAR, "row at line %d",
			 rows[i].line);
		CHECK(!l->few_bytes, "row at line %d", rows[i].line);
		sharing_free(s);
	}
}

/*
 * Two of four threads run at a time, and sometimes another two: two poll a word, two count next to
 * it. At no time do all four meet.
 */
TEST(threads_that_meet_two_by_two)
{
	struct sharing *s = sharing_new(NULL, NULL);
	const struct sharing_line *l;
	uint64_t time = 1;
	size_t n;

	seed = 5;
	for (unsigned slice = 0; slice < 400; slice++) {
		unsigned one = (unsigned)draw(4), other = one;

		if (slice == 200)
			one = 2, other = 3;
		for (unsigned k = 0; k < (one == other ? 30 : 300); k++) {
			unsigned thread = k % 2 ? one : other;

			put_access(s, 10 + thread,
				   thread < 2 || k % 4 < 2 ? TARE_ACCESS_LOAD : TARE_ACCESS_STORE,
				   0x1000 + (thread < 2 ? 0 : 8), 8, 0, time++);
		}
	}
	CHECK_EQ(sharing_finish(s, NULL), 0);
	l = sharing_lines(s, &n);
	CHECK_EQ(n, 1);
	CHECK(l->part, "by a part");
	CHECK_EQ(l->verdict, SHARING_BOTH);
	sharing_free(s);
}

/*
 * Some accesses have no time, as SPE records closed by END: the others are judged as if those did
 * not exist.
 */
TEST(some_times)
{
	for (unsigned every = 2; every <= 5; every++) {
		struct sharing *s = sharing_new(NULL, NULL);
		const struct sharing_line *l;
		size_t n;

		for (unsigned k = 0; k < 400; k++) {
			struct tare_access a = { .kind = TARE_ACCESS_STORE,
						 .pid = 1,
						 .tid = 10 + k / 200,
						 .address = 0x1000,
						 .size = 8,
						 .time_ns = k,
						 .has = TARE_ACCESS_ADDRESS | TARE_ACCESS_TASK |
							 TARE_ACCESS_SIZE };

			if (every == 2 ? k % 3 == 0 : k % every)
				a.has |= TARE_ACCESS_TIME;
			CHECK_EQ(sharing_add(s, &a, NULL, NULL), 0);
		}
		CHECK_EQ(sharing_finish(s, NULL), 0);
		l = sharing_lines(s, &n);
		CHECK_EQ(n, 1);
		CHECK_EQ(l->samples, 400);
		CHECK_EQ(l->verdict, every == 2 ? SHARING_UNTIMED : SHARING_UNCLEAR,
			 "one in %u has none", every);
		CHECK_EQ(l->few_turns, every != 2);
		if (every == 2)
			CHECK_EQ(l->kind, SHARING_TRUE);
		else
			CHECK_EQ(l->switches_true, 1);
		sharing_free(s);
	}
}

/*
 * Two threads, each with `hits` hits on the line, one after the other with so many moves; while the
 * first has it, the second makes so many accesses elsewhere. A thread that did not run then is no
 * evidence: the scheduler may have stopped it.
 */
TEST(one_after_the_other)
{
	static const struct {
		int line;
		unsigned hits, moves, beside;
		enum sharing_verdict verdict;
		double least, most;
	} rows[] = {
		{ __LINE__, 200, 1, 0, SHARING_UNCLEAR, 0, 0 },
		{ __LINE__, 2000, 1, 0, SHARING_UNCLEAR, 0, 0 },
		{ __LINE__, 201, 2, 0, SHARING_UNCLEAR, 0, 0 },
		{ __LINE__, 2000, 3, 0, SHARING_UNCLEAR, 0, 0 },
		{ __LINE__, 200, 1, 39, SHARING_UNCLEAR, 0, 0 }, /* like a thread that starts */
		{ __LINE__, 200, 1, 45, SHARING_MIGRATORY, 0.999, 1 },
		{ __LINE__, 200, 1, 200, SHARING_MIGRATORY, 0.999, 1 },
		{ __LINE__, 8, 1, 3, SHARING_UNCLEAR, 0, 0 },
		{ __LINE__, 8, 1, 6, SHARING_MIGRATORY, 0.98, 0.999 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sharing *s = sharing_new(NULL, NULL);
		const struct sharing_line *l;
		unsigned part = 2 * rows[i].hits / (rows[i].moves + 1), left = rows[i].beside;
		uint64_t time = 1;
		size_t n;

		for (unsigned k = 0; k < 2 * rows[i].hits; k++) {
			uint32_t tid = 10 + k / part % 2;

			put_access(s, tid, TARE_ACCESS_STORE, 0x1000 + 8 * (tid - 10), 8, 0,
				   time++);
			if (tid == 10 && left)
				put_access(s, 11, TARE_ACCESS_STORE, 0x20000, 8, 0, time++), left--;
		}
		CHECK_EQ(sharing_finish(s, NULL), 0);
		l = sharing_lines(s, &n);
		CHECK_EQ(n, 1);
		CHECK_EQ(l->switches_true + l->switches_false, rows[i].moves, "row at line %d",
			 rows[i].line);
		CHECK_EQ(l->verdict, rows[i].verdict, "row at line %d", rows[i].line);
		CHECK_EQ(l->few_turns, rows[i].verdict == SHARING_UNCLEAR, "row at line %d",
			 rows[i].line);
		CHECK(l->confidence >= rows[i].least && l->confidence <= rows[i].most,
		      "row at line %d: sure %g", rows[i].line, l->confidence);
		sharing_free(s);
	}
}

/*
 * Two threads take turns. Bytes seen once do not show an owner. Bytes that only one thread uses,
 * turn after turn, are its own, and a few moves are too few for any verdict.
 */
TEST(bytes_seen_once_are_nobodys)
{
	static const struct {
		int line;
		unsigned hits,
			/*
			 * words of each thread, used one after the other; the other thread's follow
			 */
			words;
		bool apart;         /* else both use them, the second in another order */
		unsigned elsewhere; /* accesses of the first thread to its own memory, at the end */
		enum sharing_verdict verdict;
		bool few_bytes, seldom;
	} rows[] = {
		{ __LINE__, 16, 8, true, 0, SHARING_UNCLEAR, true, false },
		{ __LINE__, 64, 32, true, 0, SHARING_UNCLEAR, true, false },
		{ __LINE__, 72, 32, true, 0, SHARING_UNCLEAR, true, false },
		{ __LINE__, 64, 32, false, 0, SHARING_TRUE, false, false },
		{ __LINE__, 192, 32, true, 0, SHARING_FALSE, false, false },
		{ __LINE__, 20, 1, true, 0, SHARING_UNCLEAR, true, false },
		{ __LINE__, 30, 1, true, 0, SHARING_FALSE, false, false },
		{ __LINE__, 8, 1, false, 0, SHARING_UNCLEAR, false, true },
		{ __LINE__, 12, 1, false, 0, SHARING_TRUE, false, false },
		{ __LINE__, 300, 32, false, 0, SHARING_TRUE, false, false },
		{ __LINE__, 12, 1, false, 1199900, SHARING_TRUE, false, false },
		{ __LINE__, 12, 1, false, 1200000, SHARING_UNCLEAR, false, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sharing *s = sharing_new(NULL, NULL);
		const struct sharing_line *l;
		size_t n;

		for (unsigned k = 0; k < rows[i].hits; k++) {
			unsigned other = k % 2,
				 word = (k / 2 +
					 (other && !rows[i].apart ? rows[i].words / 2 : 0)) %
				rows[i].words;

			put_access(s, 10 + other, TARE_ACCESS_STORE,
				   0x1000 + word + (other && rows[i].apart ? 32 : 0), 1, 0, k);
		}
		for (unsigned k = 0; k < rows[i].elsewhere; k++)
			put_access(s, 10, TARE_ACCESS_STORE, 0x20000, 1, 0, 1000 + k);
		CHECK_EQ(sharing_finish(s, NULL), 0);
		l = sharing_lines(s, &n);
		CHECK_EQ(n, 1);
		CHECK_EQ(l->verdict, rows[i].verdict, "row at line %d, %g sure", rows[i].line,
			 l->confidence);
		CHECK_EQ(l->few_bytes, rows[i].few_bytes, "row at line %d", rows[i].line);
		CHECK_EQ(l->seldom, rows[i].seldom, "row at line %d", rows[i].line);
		sharing_free(s);
	}
}

TEST_MAIN()
