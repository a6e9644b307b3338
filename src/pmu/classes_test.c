/* SPDX-License-Identifier: MIT */
#include "pmu/classes.h"
#include "pmu/table.h"
#include "tap.h"

static const struct {
	int line;
	const char *cpu;
	uint32_t type;
	uint64_t config;
	int class;
	const char *pmu;
} rows[] = {
	{ __LINE__, "", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, WORK_INSTRUCTIONS },
	{ __LINE__, "", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS | 4ull << 32,
	  WORK_INSTRUCTIONS },
	{ __LINE__, "", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, -1 },
	{ __LINE__, "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, WORK_FAULTS },
	{ __LINE__, "", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, -1 },
	{ __LINE__, "GenuineIntel-6-55-4", PERF_TYPE_RAW, 0xc0, WORK_INSTRUCTIONS },
	{ __LINE__, "GenuineIntel-6-55-4", PERF_TYPE_RAW, 0x01c4, WORK_CONDITIONAL },
	{ __LINE__, "GenuineIntel-6-6A-6", PERF_TYPE_RAW, 0x11c4, WORK_CONDITIONAL },
	{ __LINE__, "GenuineIntel-6-6A-6", PERF_TYPE_RAW, 0x01c4, -1 },
	{ __LINE__, "GenuineIntel-6-55-4", PERF_TYPE_RAW, 0x10000c0,
	  -1 }, /* cmask=1: cycles with one */
	{ __LINE__, "AuthenticAMD-25-11-1", PERF_TYPE_RAW, 0xd1, WORK_CONDITIONAL },
	{ __LINE__, "AuthenticAMD-16-2-3", PERF_TYPE_RAW, 0xd1, -1 },
	{ __LINE__, "AuthenticAMD-25-11-1", PERF_TYPE_RAW, 0xc4, WORK_TAKEN },
	{ __LINE__, "0x00000000410fd0c0", PERF_TYPE_RAW, 0x21, WORK_BRANCHES },
	{ __LINE__, "0x00000000410fd0c0", 8, 0x08, WORK_INSTRUCTIONS, "armv8_pmuv3_0" },
	{ __LINE__, "0x00000000410fd0c0", 8, 0x08, -1, "uprobe" },
	{ __LINE__, "0x00000000410fd0c0", PERF_TYPE_RAW, 0x11, -1 },
	{ __LINE__, "0x00000000410fd0c0", PERF_TYPE_TRACEPOINT, 0x08, -1 },
	{ __LINE__, "", PERF_TYPE_RAW, 0xc0, -1 },
};

TEST(events_have_the_class_that_they_are_meant_to_count)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct encoding e = { .attr = { .type = rows[i].type, .config = rows[i].config } };

		snprintf(e.pmu, sizeof(e.pmu), "%s", rows[i].pmu ? rows[i].pmu : "");
		CHECK_EQ(class_of(&e, rows[i].cpu), rows[i].class, "row at line %d", rows[i].line);
	}
}

TEST(registers_beside_the_event_select_make_it_another)
{
	struct encoding e = { .attr = { .type = PERF_TYPE_RAW, .config = 0xc0, .config1 = 1 } };

	CHECK_EQ(class_of(&e, "GenuineIntel-6-55-4"), -1, "config1");
	e = (struct encoding){ .attr = { .type = PERF_TYPE_RAW, .config = 0xc0 },
			       .place = PLACE_UNCORE };
	CHECK_EQ(class_of(&e, "GenuineIntel-6-55-4"), -1, "of another unit");
}

TEST(each_row_names_a_class)
{
	const char *p = embedded_text("classes.txt");
	unsigned line = 0;
	size_t n = 0;
	struct column c[4];

	while (table_next(&p, &line, c, 4)) {
		bool known = false;

		for (size_t i = 0; i < WORK_CLASSES; i++)
			known |= strlen(work_class_names[i]) == c[3].n &&
				!strncmp(work_class_names[i], c[3].s, c[3].n);
		CHECK(known, "line %u", line);
		n++;
	}
	CHECK(n > 60, "%zu rows", n);
}

TEST_MAIN()
