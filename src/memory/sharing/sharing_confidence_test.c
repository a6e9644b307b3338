/* SPDX-License-Identifier: MIT */
/*
 * How often a high-confidence verdict is wrong: programs with all accesses known, sampled from one
 * in 1 to one in 5000, at random and with fixed periods. The printed table is the one in
 * docs/internals/memory.md.
 */
#include "memory/sharing/sharing.h"
#include "tap.h"

static uint64_t seed;

static uint64_t draw(uint64_t below)
{
	seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
	return seed % below;
}

/*
 * Returns the same for the same arguments: what a thread does at an access must not depend on which
 * accesses are sampled.
 */
static uint64_t hash(uint64_t a, uint64_t b)
{
	a = (a * 0x9e3779b97f4a7c15ull) ^ ((b + 1) * 0xc2b2ae3d27d4eb4full);
	a ^= a >> 29, a *= 0xbf58476d1ce4e5b9ull, a ^= a >> 32;
	return a;
}

enum { ELSEWHERE = 0x100000, AT = 0x10000, SHAPES = 24, BUSY = 13, JOBS = 16 };

struct program {
	unsigned threads, turn; /* accesses, of programs that take turns */
	unsigned slices;        /* of each thread, where not all run at once */
	uint64_t all;           /* accesses of each thread */
};

/* Access number k of a thread: the byte, the size, whether it is a store. */
typedef void act(const struct program *p, unsigned thread, uint64_t k, struct tare_access *a);

static void to(struct tare_access *a, uint64_t offset, unsigned size, bool store)
{
	a->address = AT + offset;
	a->size = size;
	a->kind = store ? TARE_ACCESS_STORE : TARE_ACCESS_LOAD;
}

static void own_words(const struct program *p, unsigned thread, uint64_t k, struct tare_access *a)
{
	(void)p;
	if (k % 3)
		to(a, 8 * thread, 8, k % 3 == 1);
}

static void own_arrays(const struct program *p, unsigned thread, uint64_t k, struct tare_access *a)
{
	unsigned each = 64 / p->threads / 4;

	to(a, 4 * (thread * each + hash(k, 9) % each), 4, k % 2);
}

static void one_word(const struct program *p, unsigned thread, uint64_t k, struct tare_access *a)
{
	(void)p, (void)thread;
	if (k % 3)
		to(a, 24, 8, k % 3 == 1);
}

static void read_mostly(const struct program *p, unsigned thread, uint64_t k, struct tare_access *a)
{
	(void)p;
	if (thread || k % 16 == 0)
		to(a, 24, 8, thread == 0);
}

/* One writes and the others read, each around the ring, and each pauses after 256. */
static void ring(const struct program *p, unsigned thread, uint64_t k, struct tare_access *a,
		 unsigned size)
{
	uint64_t waited = hash(thread, k / 256) % 256;

	(void)p;
	if (k % 256 < 256 - waited / 2)
		to(a, (k * 200 / 256 + waited) % 4096 * size % 4096, size, thread == 0);
}

static void ring_of_bytes(const struct program *p, unsigned thread, uint64_t k,
			  struct tare_access *a)
{
	ring(p, thread, k, a, 1);
}

static void ring_of_longs(const struct program *p, unsigned thread, uint64_t k,
			  struct tare_access *a)
{
	ring(p, thread, k, a, 8);
}

static void lock_and_own(const struct program *p, unsigned thread, uint64_t k,
			 struct tare_access *a)
{
	(void)p;
	if (hash(k, thread) % 2)
		to(a, 0, 4, true);
	else
		to(a, 4 + 4 * thread, 4, k % 2);
}

/* Queue indices: each is written by one thread, and read now and then by the others. */
static void head_and_tail(const struct program *p, unsigned thread, uint64_t k,
			  struct tare_access *a)
{
	bool other = hash(k, thread) % 8 == 0;

	(void)p;
	to(a, 8 * ((thread % 2) ^ other), 8, !other && k % 2);
}

/* At least two of the threads count and the others poll; of two threads each does both. */
static bool counts(const struct program *p, unsigned thread, uint64_t k)
{
	return p->threads > 3 ? thread % 2 : p->threads > 2 ? thread > 0 : hash(k, thread) % 2;
}

static void read_only_beside_counter(const struct program *p, unsigned thread, uint64_t k,
				     struct tare_access *a)
{
	to(a, counts(p, thread, k) ? 8 : 0, 8, counts(p, thread, k) && k % 2);
}

static void readers_beside_writer(const struct program *p, unsigned thread, uint64_t k,
				  struct tare_access *a)
{
	(void)p;
	to(a, thread ? 0 : 8, 8, !thread && k % 2);
}

/* Each polls three words, and increments a counter once in 8. */
static void polled_and_counted(const struct program *p, unsigned thread, uint64_t k,
			       struct tare_access *a)
{
	bool bumps = hash(k, thread) % 8 == 0;

	(void)p;
	to(a, bumps ? 24 : 8 * (hash(k, thread) / 8 % 3), 8, bumps);
}

/* A lock next to the data that others poll: the holder of the lock writes the data once in 50. */
static void lock_and_polled(const struct program *p, unsigned thread, uint64_t k,
			    struct tare_access *a)
{
	bool writes = counts(p, thread, k), data = !writes || hash(k, thread + 8) % 50 == 0;

	to(a, data ? 8 : 0, data ? 8 : 4, writes);
}

/* All read all words, and write any of them equally seldom. */
static void table_read_mostly(const struct program *p, unsigned thread, uint64_t k,
			      struct tare_access *a)
{
	(void)p;
	to(a, 8 * (hash(k, thread) % 8), 8, hash(thread, k) % 16 == 0);
}

/*
 * A job taken for a slice, its word used all the time: one of two, regardless of who had it before.
 */
static void two_jobs(const struct program *p, unsigned thread, uint64_t k, struct tare_access *a)
{
	uint64_t slice = p->all / p->slices + 1;

	to(a, 8 * (hash(k / slice, thread) % 2), 8, k % 2);
}

static bool has_turn(const struct program *p, unsigned thread, uint64_t k)
{
	return k / p->turn % p->threads == thread;
}

/* The line belongs to one thread for a turn; the others do something else meanwhile. */
static void batches(const struct program *p, unsigned thread, uint64_t k, struct tare_access *a)
{
	if (has_turn(p, thread, k))
		to(a, 8 * (k % 8), 8, thread == 0);
}

static void own_by_turns(const struct program *p, unsigned thread, uint64_t k,
			 struct tare_access *a)
{
	if (has_turn(p, thread, k))
		to(a, 8 * thread, 8, k % 2);
}

/* One access in 50, then every second one. */
static void phases(const struct program *p, unsigned thread, uint64_t k, struct tare_access *a)
{
	if (k < p->all / 2 ? k % 50 == 0 : k % 2)
		to(a, 8 * thread, 8, true);
}

/* Most of the time one access in 100, and at the end every second one. */
static void late_phase(const struct program *p, unsigned thread, uint64_t k, struct tare_access *a)
{
	if (k < p->all / 10 * 9 ? k % 100 == 0 : k % 2)
		to(a, 8 * thread, 8, true);
}

static void read_only(const struct program *p, unsigned thread, uint64_t k, struct tare_access *a)
{
	bool first = k < p->all / 50;

	if (thread == 0 || !first)
		to(a, 8 * (hash(k, thread) % 8), 8, first);
}

enum { ALWAYS, SELDOM = 29, NEVER = UINT16_MAX };

static const struct shape {
	const char *name;
	act *act;
	unsigned right; /* bits by verdict */
	unsigned
		/*
		 * threads run in time slices: one slice in so many has all at once, the others one
		 * after the other; 0: always all at once
		 */
		together;
} shapes[SHAPES] = {
	{ "a word of each", own_words, 1 << SHARING_FALSE, ALWAYS },
	{ "an array of each", own_arrays, 1 << SHARING_FALSE, ALWAYS },
	{ "one word of all", one_word, 1 << SHARING_TRUE, ALWAYS },
	{ "one writes, all read", read_mostly, 1 << SHARING_TRUE, ALWAYS },
	{ "ring of bytes", ring_of_bytes, 1 << SHARING_TRUE | 1 << SHARING_MIGRATORY, ALWAYS },
	{ "ring of words", ring_of_longs, 1 << SHARING_TRUE | 1 << SHARING_MIGRATORY, ALWAYS },
	{ "lock next to words of each", lock_and_own, 1 << SHARING_BOTH, ALWAYS },
	{ "head and tail of a queue", head_and_tail, 1 << SHARING_TRUE, ALWAYS },
	{ "batches, alternating", batches, 1 << SHARING_TRUE | 1 << SHARING_MIGRATORY, ALWAYS },
	{ "a word of each, alternating", own_by_turns, 1 << SHARING_FALSE | 1 << SHARING_MIGRATORY,
	  ALWAYS },
	{ "two phases, 1:25", phases, 1 << SHARING_FALSE, ALWAYS },
	{ "two phases on one CPU", phases, 1 << SHARING_FALSE, NEVER },
	{ "late phase on one CPU", late_phase, 1 << SHARING_FALSE, NEVER },
	{ "a word of each, busy", own_words, 1 << SHARING_FALSE, SELDOM },
	{ "one word of all, busy", one_word, 1 << SHARING_TRUE, SELDOM },
	{ "batches, busy", batches, 1 << SHARING_TRUE | 1 << SHARING_MIGRATORY, SELDOM },
	{ "two jobs, busy", two_jobs, 1 << SHARING_TRUE | 1 << SHARING_MIGRATORY, SELDOM },
	{ "two jobs on one CPU", two_jobs, 1 << SHARING_TRUE | 1 << SHARING_MIGRATORY, NEVER },
	{ "read, once written", read_only, 1 << SHARING_NONE | 1 << SHARING_MIGRATORY, ALWAYS },
	{ "read only next to a counter", read_only_beside_counter, 1 << SHARING_BOTH, ALWAYS },
	{ "read only next to one writer", readers_beside_writer, 1 << SHARING_FALSE, ALWAYS },
	{ "polled, counted 1 in 8", polled_and_counted, 1 << SHARING_BOTH, ALWAYS },
	{ "lock next to polled data", lock_and_polled, 1 << SHARING_BOTH, ALWAYS },
	{ "table that all read and write", table_read_mostly, 1 << SHARING_TRUE, ALWAYS },
};

/*
 * The time of a thread's access number k. A slice in which all run takes as long as one of one
 * thread.
 */
static uint64_t when(const struct shape *shape, const struct program *p, unsigned thread,
		     uint64_t k)
{
	uint64_t slice = p->all / p->slices + 1, n = k / slice, together;

	if (!shape->together)
		return k * 10 + thread;
	together = (n + shape->together / 2) / shape->together;
	if ((n + 1 + shape->together / 2) / shape->together == together)
		n += thread + (n - together) * (p->threads - 1);
	else
		n += (n - together) * (p->threads - 1);
	return n * slice * 10 + k % slice * 10 + thread;
}

/* One run of a program: the verdicts on its lines are added to `told`. */
struct told {
	unsigned lines, given, wrong, at95, wrong95, at999, wrong999;
};

static void sample_run(const struct shape *shape, const struct program *p, uint64_t every,
		       bool periodic, struct told *told)
{
	struct sharing *s = sharing_new(NULL, NULL);
	const struct sharing_line *l;
	size_t n;

	for (unsigned t = 0; t < p->threads; t++) {
		for (uint64_t k = draw(every); k < p->all;
		     k += periodic ? every : 1 + draw(2 * every - 1)) {
			struct tare_access a = { .address = ELSEWHERE + 4096 * t + k % 64 * 8,
						 .size = 8,
						 .pid = 1,
						 .tid = 10 + t,
						 .ip = 0x400000,
						 .kind = TARE_ACCESS_LOAD,
						 .has = TARE_ACCESS_ADDRESS | TARE_ACCESS_TASK |
							 TARE_ACCESS_TIME | TARE_ACCESS_SIZE };

			shape->act(p, t, k, &a);
			a.time_ns = when(shape, p, t, k);
			CHECK_EQ(sharing_add(s, &a, NULL, NULL), 0);
		}
	}
	CHECK_EQ(sharing_finish(s, NULL), 0);
	l = sharing_lines(s, &n);
	for (size_t i = 0; i < n; i++) {
		bool right = shape->right >> l[i].verdict & 1,
		     given = l[i].verdict != SHARING_UNCLEAR;

		told->lines++;
		told->given += given;
		told->wrong += given && !right;
		told->at95 += given && l[i].confidence >= 0.95;
		told->wrong95 += given && !right && l[i].confidence >= 0.95;
		told->at999 += given && l[i].confidence > 0.999;
		told->wrong999 += given && !right && l[i].confidence > 0.999;
	}
	sharing_free(s);
}

TEST(a_verdict_that_is_sure_is_right)
{
	static const unsigned slices
		[] = { 60, 600, 10,
		       20 } /* of jobs the first two: with few jobs any may be a thread's own */,
	  /* primes: otherwise a fixed period may stay in step with a loop */
		every[] = { 1, 7, 101, 1009, 3001, 5003 }, samples[] = { 30, 100, 400, 2000 };
	struct told all[2] = { 0 }; /* random, periodic */
	unsigned cell = 0;          /* each has random numbers of its own */

	printf("# %-29s %-8s %6s %6s %6s | %9s %6s | %9s %6s\n", "", "sampled", "lines", "told",
	       "wrong", ">=95 sure", "wrong", ">99.9 %", "wrong");
	for (size_t i = 0; i < SHAPES; i++) {
		for (int periodic = 0; periodic < 2; periodic++) {
			struct told told = { 0 };

			if (!tap_tried(cell++))
				continue;
			seed = 1000 + 2 * i + (uint64_t)periodic;
			for (unsigned r = 0; r < 2 * ARRAY_SIZE(every) * ARRAY_SIZE(samples); r++) {
				uint64_t e = every[r % ARRAY_SIZE(every)];
				struct program p = { .threads = 2 + (unsigned)draw(7),
						     .turn = 20 + (unsigned)draw(3) * 1000,
						     .slices = slices[i < BUSY           ? 0
									      : i < JOBS ? r / 3 % 4
											 : r % 2] };

				p.all = e * samples[r / ARRAY_SIZE(every) % ARRAY_SIZE(samples)] *
					(1 + draw(3));
				sample_run(&shapes[i], &p, e, periodic, &told);
			}
			printf("# %-29s %-8s %6u %6u %6u | %9u %6u | %9u %6u\n", shapes[i].name,
			       periodic ? "periodic" : "random", told.lines, told.given, told.wrong,
			       told.at95, told.wrong95, told.at999, told.wrong999);
			CHECK(20 * told.wrong95 <= told.at95,
			      "%s: %u of %u are wrong that are 95 %% sure", shapes[i].name,
			      told.wrong95, told.at95);
			CHECK(3 * told.given >= told.lines || shapes[i].right & 1 << SHARING_NONE,
			      "%s: %u of %u have a verdict", shapes[i].name, told.given,
			      told.lines);
			all[periodic].at999 += told.at999;
			all[periodic].wrong999 += told.wrong999;
		}
	}
	for (int periodic = 0; periodic < 2; periodic++)
		CHECK(1000 * all[periodic].wrong999 <= all[periodic].at999,
		      "%u of %u are wrong that are 99.9 %% sure", all[periodic].wrong999,
		      all[periodic].at999);
}

TEST_MAIN()
