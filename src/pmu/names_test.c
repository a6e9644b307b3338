/* SPDX-License-Identifier: MIT */
#include <linux/perf_event.h>
#include "base/error.h"
#include "pmu/names.h"
#include "pmu/pmu.h"
#include "tap.h"

#define CACHE(c, op, result)                                                                       \
	(PERF_COUNT_HW_CACHE_##c | PERF_COUNT_HW_CACHE_OP_##op << 8 |                              \
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct {
	int line;
	const char *name, *canonical; /* NULL: unknown */
	enum name_type type;
	uint64_t config;
} rows[] = {
	{ __LINE__, "cycles", "cycles", NAME_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ __LINE__, "cpu-cycles", "cycles", NAME_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ __LINE__, "PAPI_TOT_INS", "instructions", NAME_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ __LINE__, "INSTR_RETIRED_ANY", "instructions", NAME_HARDWARE,
	  PERF_COUNT_HW_INSTRUCTIONS },
	{ __LINE__, "branch-instructions", "branches", NAME_HARDWARE,
	  PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ __LINE__, "branches", "branches", NAME_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ __LINE__, "idle-cycles-backend", "stalled-cycles-backend", NAME_HARDWARE, 8 },
	{ __LINE__, "ref-cycles", "ref-cycles", NAME_HARDWARE, 9 },
	{ __LINE__, "cs", "context-switches", NAME_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ __LINE__, "faults", "page-faults", NAME_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ __LINE__, "cgroup-switches", "cgroup-switches", NAME_SOFTWARE, 11 },
	{ __LINE__, "duration_time", "duration_time", NAME_CLOCK, CLOCK_WALL },
	{ __LINE__, "system_time", "system_time", NAME_CLOCK, CLOCK_SYSTEM },
	{ __LINE__, "L1-dcache-load-misses", "L1-dcache-load-misses", NAME_CACHE,
	  CACHE(L1D, READ, MISS) },
	{ __LINE__, "L1-dcache-loads", "L1-dcache-loads", NAME_CACHE, CACHE(L1D, READ, ACCESS) },
	{ __LINE__, "L1-dcache", "L1-dcache-loads", NAME_CACHE, CACHE(L1D, READ, ACCESS) },
	{ __LINE__, "l1d-misses", "L1-dcache-load-misses", NAME_CACHE, CACHE(L1D, READ, MISS) },
	{ __LINE__, "L1-data-misses-load", "L1-dcache-load-misses", NAME_CACHE,
	  CACHE(L1D, READ, MISS) },
	{ __LINE__, "l1-d-write-access", "L1-dcache-stores", NAME_CACHE,
	  CACHE(L1D, WRITE, ACCESS) },
	{ __LINE__, "L1-icache-prefetch-misses", "L1-icache-prefetch-misses", NAME_CACHE,
	  CACHE(L1I, PREFETCH, MISS) },
	{ __LINE__, "LLC-loads", "LLC-loads", NAME_CACHE, CACHE(LL, READ, ACCESS) },
	{ __LINE__, "L2-store-miss", "LLC-store-misses", NAME_CACHE, CACHE(LL, WRITE, MISS) },
	{ __LINE__, "LLC-speculative-read-refs", "LLC-prefetches", NAME_CACHE,
	  CACHE(LL, PREFETCH, ACCESS) },
	{ __LINE__, "Data-TLB-speculative-load-misses", "dTLB-prefetch-misses", NAME_CACHE,
	  CACHE(DTLB, PREFETCH, MISS) },
	{ __LINE__, "d-tlb-Reference", "dTLB-loads", NAME_CACHE, CACHE(DTLB, READ, ACCESS) },
	{ __LINE__, "iTLB-load-misses", "iTLB-load-misses", NAME_CACHE, CACHE(ITLB, READ, MISS) },
	{ __LINE__, "branch-loads", "branch-loads", NAME_CACHE, CACHE(BPU, READ, ACCESS) },
	{ __LINE__, "branch-load-misses", "branch-load-misses", NAME_CACHE,
	  CACHE(BPU, READ, MISS) },
	{ __LINE__, "branches-load-misses", "branch-load-misses", NAME_CACHE,
	  CACHE(BPU, READ, MISS) },
	{ __LINE__, "branch-misses", "branch-misses", NAME_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ __LINE__, "bpc-ops", "branch-loads", NAME_CACHE, CACHE(BPU, READ, ACCESS) },
	{ __LINE__, "node-stores", "node-stores", NAME_CACHE, CACHE(NODE, WRITE, ACCESS) },
	{ __LINE__, "iTLB-stores" },
	{ __LINE__, "L1-icache-stores" },
	{ __LINE__, "branch-prefetches" },
	{ __LINE__, "L1-dcache-load-load" },
	{ __LINE__, "L1-dcache-misses-miss" },
	{ __LINE__, "L1-dcache-load-misses-x" },
	{ __LINE__, "L1-dcache-" },
	{ __LINE__, "L1-dcache-load-" },
	{ __LINE__, "L1-dcache-load-misses-" },
	{ __LINE__, "L1-dcacheloads" },
	{ __LINE__, "load-misses" },
	{ __LINE__, "CYCLES" },
	{ __LINE__, "cycle" },
	{ __LINE__, "" },
};

TEST(names)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct generic_name g = { 0 };
		char room[GENERIC_ROOM];
		bool known = generic_find(rows[i].name, &g, room);

		CHECK_EQ(known, rows[i].canonical != NULL, "row at line %d", rows[i].line);
		if (!known || !rows[i].canonical)
			continue;
		CHECK_STR(g.name, rows[i].canonical, "row at line %d", rows[i].line);
		CHECK_EQ(g.type, rows[i].type, "row at line %d", rows[i].line);
		CHECK_EQ(g.config, rows[i].config, "row at line %d", rows[i].line);
	}
}

/* Each listed name is found again, with the same meaning; every alias has a meaning. */
TEST(the_list_and_the_search_agree)
{
	struct generic_name listed, found;
	char a[GENERIC_ROOM], b[GENERIC_ROOM];
	size_t n = 0;

	for (; generic_nth(n, &listed, a); n++) {
		CHECK(generic_find(listed.name, &found, b), "%s", listed.name);
		CHECK_STR(found.name, listed.name);
		CHECK_EQ(found.config, listed.config, "%s", listed.name);
		CHECK_EQ(found.type, listed.type, "%s", listed.name);
		CHECK(listed.about && listed.about[0] && listed.unit, "%s", listed.name);
	}
	/* 25 rows; 4 caches have 3 operations, 1 has 2, 2 have 1; each twice. */
	CHECK_EQ(n, 25 + 2 * (4 * 3 + 2 + 2));
	for (size_t i = 0; generic_alias(i); i++)
		CHECK(generic_find(generic_alias(i), &found, b), "%s", generic_alias(i));
}

TEST_MAIN()
