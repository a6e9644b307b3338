/* SPDX-License-Identifier: MIT */
#include "symbols/mapping_history.h"
#include "tap.h"

static uint64_t seed;

static uint32_t rnd(uint32_t n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % n;
}

static struct map mapping(uint64_t start, uint64_t last, uint32_t module)
{
	return (struct map){ .start = start, .last = last, .module = module };
}

static uint32_t module_at(struct mapping_history *h, uint32_t pid, uint64_t time, uint64_t address)
{
	struct mapping_history_place p;

	mapping_history_find(h, pid, time, MAPPING_HISTORY_MAPPED, address, &p);
	return p.found ? p.map.module : 0;
}

TEST(a_mapping_replaces_what_it_covers_from_its_time_on)
{
	struct mapping_history *h = mapping_history_new(NULL);
	struct map whole = mapping(0x1000, 0x4fff, 1), middle = mapping(0x2000, 0x2fff, 2);

	/* added in the order of two CPUs' files */
	mapping_history_map(h, 7, 20, MAPPING_HISTORY_MAPPED, &middle, NULL);
	mapping_history_map(h, 7, 10, MAPPING_HISTORY_MAPPED, &whole, NULL);
	CHECK_EQ(mapping_history_finish(h, NULL), 0, "finish");
	CHECK_EQ(module_at(h, 7, 9, 0x2000), 0, "before");
	CHECK_EQ(module_at(h, 7, 10, 0x2000), 1, "whole");
	CHECK_EQ(module_at(h, 7, 19, 0x2fff), 1, "whole");
	CHECK_EQ(module_at(h, 7, 20, 0x2fff), 2, "middle");
	CHECK_EQ(module_at(h, 7, UINT64_MAX, 0x3000), 1, "after the middle");
	CHECK_EQ(module_at(h, 7, UINT64_MAX, 0x1fff), 1, "before the middle");
	CHECK_EQ(module_at(h, 7, UINT64_MAX, 0x5000), 0, "after all");
	CHECK_EQ(module_at(h, 8, UINT64_MAX, 0x2000), 0, "another process");
	mapping_history_free(h);
}

TEST(a_child_has_what_its_parent_had_and_an_exec_begins_anew)
{
	struct mapping_history *h = mapping_history_new(NULL);
	struct map a = mapping(0x1000, 0x1fff, 1), b = mapping(0x1000, 0x1fff, 2),
		   c = mapping(0x3000, UINT64_MAX, 3);

	mapping_history_map(h, 1, 5, MAPPING_HISTORY_MAPPED, &a, NULL);
	mapping_history_fork(h, 2, 1, 10, NULL);
	mapping_history_fork(h, 3, 2, 15, NULL);
	mapping_history_map(h, 1, 20, MAPPING_HISTORY_MAPPED, &b, NULL);
	mapping_history_exec(h, 2, 30, NULL);
	mapping_history_map(h, 2, 31, MAPPING_HISTORY_MAPPED, &c, NULL);
	mapping_history_fork(h, 9, 9, 40, NULL);
	CHECK_EQ(mapping_history_finish(h, NULL), 0, "finish");
	CHECK_EQ(module_at(h, 2, 10, 0x1000), 1, "as it forked");
	CHECK_EQ(module_at(h, 2, 25, 0x1000), 1, "what the parent did later is not the child's");
	CHECK_EQ(module_at(h, 3, 99, 0x1000), 1, "a grandchild");
	CHECK_EQ(module_at(h, 1, 25, 0x1000), 2, "the parent");
	CHECK_EQ(module_at(h, 2, 30, 0x1000), 0, "after the exec");
	CHECK_EQ(module_at(h, 2, 31, UINT64_MAX), 3, "up to the last byte");
	mapping_history_free(h);
}

TEST(forks_in_a_ring_end)
{
	struct mapping_history *h = mapping_history_new(NULL);

	mapping_history_fork(h, 1, 2, 5, NULL);
	mapping_history_fork(h, 2, 1, 5, NULL);
	CHECK_EQ(mapping_history_finish(h, NULL), 0, "finish");
	CHECK_EQ(module_at(h, 1, 5, 0x1000), 0, "nothing");
	mapping_history_free(h);
}

/* Compares with a model that scans all facts for each query. */
enum { FACTS = 120, PIDS = 4, TIMES = 60, SPACE = 64 };

static struct {
	int what; /* 0 map, 1 fork, 2 exec */
	uint32_t pid, parent;
	uint64_t time;
	struct map map;
} fact[FACTS];

/*
 * The last birth of a process up to a time (or its first one), or -1 if its first fact is a
 * mapping.
 */
static uint32_t model(uint32_t pid, uint64_t time, uint64_t address, int depth)
{
	int birth = -1, first = -1, best = -1;

	for (int i = 0; i < FACTS; i++) {
		if (fact[i].pid != pid)
			continue;
		if (first < 0 || fact[i].time < fact[first].time)
			first = i;
		if (fact[i].what && fact[i].time <= time &&
		    (birth < 0 || fact[i].time >= fact[birth].time))
			birth = i;
	}
	/* before its first time: the mappings it was born with */
	if (birth < 0 && first >= 0 && fact[first].time > time && fact[first].what)
		birth = first;
	for (int i = 0; i < FACTS; i++)
		if (fact[i].pid == pid && !fact[i].what && fact[i].time <= time &&
		    fact[i].map.start <= address && address <= fact[i].map.last &&
		    (birth < 0 || fact[i].time > fact[birth].time ||
		     (fact[i].time == fact[birth].time && i > birth)) &&
		    (best < 0 || fact[i].time >= fact[best].time))
			best = i;
	if (best >= 0)
		return fact[best].map.module;
	if (birth < 0 || fact[birth].what != 1 || depth > PIDS)
		return 0;
	return model(fact[birth].parent, fact[birth].time < time ? fact[birth].time : time, address,
		     depth + 1);
}

TEST(a_thousand_histories_are_as_the_model_says)
{
	for (int round = 0, rounds = (int)tap_cases(1000); round < rounds; round++) {
		struct mapping_history *h = mapping_history_new(NULL);

		seed = (uint64_t)round + 1;
		for (uint32_t i = 0; i < FACTS; i++) {
			uint64_t start = rnd(SPACE), n = rnd(16);

			fact[i].what = rnd(10) ? 0 : 1 + (int)rnd(2);
			fact[i].pid = rnd(PIDS);
			/* no cycles: the model would not end */
			fact[i].parent = fact[i].pid ? rnd(fact[i].pid) : 0;
			if (fact[i].what == 1 && !fact[i].pid)
				fact[i].what = 2;
			fact[i].time = rnd(TIMES);
			fact[i].map = mapping(start, start + n, i + 1);
			if (fact[i].what == 0)
				mapping_history_map(h, fact[i].pid, fact[i].time,
						    MAPPING_HISTORY_MAPPED, &fact[i].map, NULL);
			else if (fact[i].what == 1)
				mapping_history_fork(h, fact[i].pid, fact[i].parent, fact[i].time,
						     NULL);
			else
				mapping_history_exec(h, fact[i].pid, fact[i].time, NULL);
		}
		CHECK_EQ(mapping_history_finish(h, NULL), 0, "finish");
		if (tap_failures)
			return;
		for (int k = 0; k < 200; k++) {
			uint32_t pid = rnd(PIDS);
			uint64_t time = rnd(TIMES + 5), address = rnd(SPACE + 20);
			struct mapping_history_place p;

			mapping_history_find(h, pid, time, MAPPING_HISTORY_MAPPED, address, &p);
			CHECK_EQ(p.found ? p.map.module : 0, model(pid, time, address, 0),
				 "round %d, pid %u at %d, address %d", round, pid, (int)time,
				 (int)address);
			/* and the range for which the answer holds */
			for (int j = 0; j < 4; j++) {
				uint64_t a = j & 1            ? p.low
					: p.high < SPACE + 20 ? p.high
							      : SPACE + 20;
				uint64_t t = j & 2            ? p.from
					: p.until < TIMES + 5 ? p.until - 1
							      : TIMES + 5;

				if (p.from < p.until)
					CHECK_EQ(model(pid, t, a, 0), p.found ? p.map.module : 0,
						 "round %d, box of pid %u at %d, address %d", round,
						 pid, (int)time, (int)address);
			}
		}
		mapping_history_free(h);
	}
}

TEST_MAIN()
