/* SPDX-License-Identifier: MIT */
#include "pmu/fit.h"
#include "pmu/machine.h"
#include "pmu/table.h"
#include "tap.h"

#define FIXED(n) (UINT64_C(1) << (32 + (n)))

/* Constraints of one event on a CPU model, with the counters from data/cpus.txt. */
TEST(known_cpus)
{
	static const struct {
		int line;
		const char *model;
		uint32_t type;
		uint64_t config, counters;
		bool sure;
	} rows[] = {
		/* Linux, arch/x86/events/intel/core.c: intel_hsw_event_constraints */
		{ __LINE__, "hsw", PERF_TYPE_RAW, 0x0148, 0x4, true },
		{ __LINE__, "hsw", PERF_TYPE_RAW, 0x0ca3, 0x4, true },
		{ __LINE__, "hsw", PERF_TYPE_RAW, 0xc000ca3, 0x4,
		  true }, /* its cmask has no effect */
		{ __LINE__, "hsw", PERF_TYPE_RAW, 0x01c0, 0x2, true },
		{ __LINE__, "hsw", PERF_TYPE_RAW, 0x08d1, 0xf, false },
		{ __LINE__, "hsw", PERF_TYPE_RAW, 0x00c4, 0xf, true },
		{ __LINE__, "hsw", PERF_TYPE_HW_CACHE, 0x10000, 0xf, false },
		{ __LINE__, "bdw", PERF_TYPE_RAW, 0x0ca3, 0x4, true },
		{ __LINE__, "bdw", PERF_TYPE_RAW, 0x04a3, 0xf, true },
		{ __LINE__, "skl", PERF_TYPE_RAW, 0x01c0, 0x2, true },
		/* Fixed counters support no cmask, edge, inv. */
		{ __LINE__, "skl", PERF_TYPE_RAW, 0x00c0, 0xf | FIXED(0), true },
		{ __LINE__, "skl", PERF_TYPE_RAW, 0x10000c0, 0xf, true },
		{ __LINE__, "skl", PERF_TYPE_RAW, 0x8000c0, 0xf, true },
		{ __LINE__, "skl", PERF_TYPE_RAW, 0x003c, 0xf | FIXED(1), true },
		{ __LINE__, "skl", PERF_TYPE_RAW, 0x0300, FIXED(2), true },
		{ __LINE__, "skl", PERF_TYPE_RAW, 0x0200, 0xf, false },
		{ __LINE__, "skl", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, FIXED(2),
		  true },
		{ __LINE__, "skl", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 0xf,
		  false },
		/* intel_icl_event_constraints; 0x0100 and 0x0400 have no programmable counter */
		{ __LINE__, "icl", PERF_TYPE_RAW, 0x0100, FIXED(0), true },
		{ __LINE__, "icl", PERF_TYPE_RAW, 0x0400, FIXED(3), true },
		{ __LINE__, "icl", PERF_TYPE_RAW, 0x08d1, 0xf, true },
		{ __LINE__, "icl", PERF_TYPE_RAW, 0x14a3, 0xff, true },
		{ __LINE__, "icl", PERF_TYPE_RAW, 0x05a3, 0xf, true },
		{ __LINE__, "icl", PERF_TYPE_RAW, 0x00c4, 0xff, true },
		{ __LINE__, "icl", PERF_TYPE_HW_CACHE, 0x10000, 0xf, true },
		/* intel_glc_event_constraints */
		{ __LINE__, "spr", PERF_TYPE_RAW, 0x0100, FIXED(0), true },
		{ __LINE__, "spr", PERF_TYPE_RAW, 0x0200, 0xff, false },
		{ __LINE__, "spr", PERF_TYPE_RAW, 0x412e, 0xff, true },
		{ __LINE__, "spr", PERF_TYPE_RAW, 0x0124, 0xf, true },
		{ __LINE__, "spr", PERF_TYPE_RAW, 0x02cd, 0x1, true },
		{ __LINE__, "spr", PERF_TYPE_HW_CACHE, 0x10000, 0xf, true },
		{ __LINE__, "Intel Alder Lake", PERF_TYPE_RAW, 0x0124, 0xf, true },
		{ __LINE__, "Intel Core 2", PERF_TYPE_RAW, 0x0012, 0x2, true }, /* mul */
		{ __LINE__, "core 2", PERF_TYPE_RAW, 0x00c9, 0x1, true },
		{ __LINE__, "core 2", PERF_TYPE_RAW, 0x00c4, 0x3, true },
		/* amd_get_event_constraints_f15h, _f17h */
		{ __LINE__, "AMD Bulldozer family", PERF_TYPE_RAW, 0x0003, 0x8, true },
		{ __LINE__, "AMD Bulldozer family", PERF_TYPE_RAW, 0x000b, 0x8, true },
		{ __LINE__, "AMD Bulldozer family", PERF_TYPE_RAW, 0x00c0, 0x3f, false },
		{ __LINE__, "zen 4", PERF_TYPE_RAW, 0x00c0, 0x3f, true },
		{ __LINE__, "zen 4", PERF_TYPE_RAW, 0x0003, 0x15, false },
		{ __LINE__, "zen 4", PERF_TYPE_RAW, 0x100000003, 0x3f, true }, /* event 0x103 */
		{ __LINE__, "zen 4", PERF_TYPE_HW_CACHE, 0x10000, 0x3f, true },
		{ __LINE__, "Neoverse N1", PERF_TYPE_RAW, 0x11, 0x3f | FIXED(0), true },
		{ __LINE__, "Neoverse N1", PERF_TYPE_RAW, 0x08, 0x3f, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct encoding enc = { .source = &source_perf,
					.attr = { .type = rows[i].type,
						  .config = rows[i].config } };
		struct counter_facts facts;
		struct fit_legal legal;

		CHECK_EQ(counter_facts_of_model(rows[i].model, &facts, NULL), 0, "row at line %d",
			 rows[i].line);
		fit_legal(&facts, &enc, &legal);
		CHECK_EQ(legal.counters, rows[i].counters, "row at line %d", rows[i].line);
		CHECK_EQ(legal.sure, rows[i].sure, "row at line %d", rows[i].line);
		enc.attr.precise_ip = 2;
		fit_legal(&facts, &enc, &legal);
		CHECK(!legal.sure, "row at line %d, precise", rows[i].line);
	}
}

/* A CPU without a table: nothing is certain, and only what no CPU supports is excluded. */
TEST(unknown_cpu)
{
	struct counter_facts facts = { .kind = COUNTERS_INTEL, .programmable = 8, .fixed = 4 };
	struct encoding enc = { .source = &source_perf,
				.attr = { .type = PERF_TYPE_RAW, .config = 0xc0 } };
	const struct encoding *list[] = { &enc };
	struct fit_legal legal;

	fit_legal(&facts, &enc, &legal);
	CHECK_EQ(legal.counters, 0xff | FIXED(0));
	CHECK(!legal.sure);
	CHECK_STR(legal.depends, "");
	CHECK_EQ(fit_unsure(&facts, "", list, 1, &legal), 0);
	enc.counters = 0x3; /* given by a user's file */
	fit_legal(&facts, &enc, &legal);
	CHECK_EQ(legal.counters, 0x3);
	CHECK(legal.sure);
	CHECK_EQ(fit_unsure(&facts, "", list, 1, &legal), 1);
	enc.counters = 0x1fe; /* a file for a CPU with more counters */
	fit_legal(&facts, &enc, &legal);
	CHECK_EQ(legal.counters, 0xfe);
	enc.counters = 0xf00;
	fit_legal(&facts, &enc, &legal);
	CHECK(!legal.sure);
	enc.counters = 0;
	facts.kind = COUNTERS_AMD;
	fit_legal(&facts, &enc, &legal);
	CHECK(!legal.sure);
	enc.attr.type = PERF_TYPE_SOFTWARE;
	fit_legal(&facts, &enc, &legal);
	CHECK_EQ(legal.counters, 0);
	CHECK(legal.sure);
}

static bool has_table(const char *name)
{
	struct cpu_row row;

	for (size_t i = 0; cpu_row_nth(i, &row); i++)
		if (!strcmp(row.bound, name))
			return true;
	return !strcmp(name, "gen");
}

/* Every row belongs to a CPU's table, parses, and gives the condition for a '?'. */
TEST(the_file)
{
	const char *p = embedded_text("constraints.txt");
	struct column c[5];
	struct cpu_row row;
	unsigned line = 0;
	size_t n, rows = 0;

	for (; (n = table_next(&p, &line, c, 5)); rows++) {
		char table[16], event[32], umask[16], counters[32];

		CHECK(n >= 4, "line %u", line);
		column_copy(&c[0], table, sizeof(table));
		column_copy(&c[1], event, sizeof(event));
		column_copy(&c[2], umask, sizeof(umask));
		column_copy(&c[3], counters, sizeof(counters));
		CHECK(has_table(table), "line %u: %s", line, table);
		CHECK(strspn(umask, "0123456789abcdefx=&*-") == strlen(umask), "line %u", line);
		CHECK(c[1].n < 24 && c[2].n < 8 && c[3].n < 24, "line %u: too long", line);
		CHECK(n == 4 || c[4].n < 96, "line %u: too long", line);
		CHECK(n == 5 || !strchr(counters, '?'), "line %u: depends on what?", line);
		if (!strncmp(event, "cache=", 6))
			CHECK(!strcmp(counters, "any") || !strncmp(counters, "0x", 2), "line %u",
			      line);
		else
			CHECK(!strcmp(event, "*") || !strncmp(event, "0x", 2), "line %u", line);
	}
	CHECK(rows > 150);
	for (size_t i = 0; cpu_row_nth(i, &row); i++) {
		struct counter_facts facts;
		struct fit_legal legal;

		if (!strcmp(row.bound, "-"))
			continue;
		CHECK_EQ(counter_facts_of_model(row.name, &facts, NULL), 0);
		CHECK(constraint_find(&facts, 0xc4, &legal), "%s", row.name);
		CHECK(legal.counters, "%s", row.name);
	}
}

TEST_MAIN()
