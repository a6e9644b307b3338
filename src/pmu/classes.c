/* SPDX-License-Identifier: MIT */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "pmu/classes.h"
#include "pmu/table.h"

static const struct {
	uint32_t type;
	uint64_t config;
	enum work_class class;
} generic[] = {
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, WORK_INSTRUCTIONS },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, WORK_BRANCHES },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, WORK_FAULTS },
	{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, WORK_FAULTS },
};

static int class_named(const char *name)
{
	for (int c = 0; c < WORK_CLASSES; c++)
		if (!strcmp(work_class_names[c], name))
			return c;
	return -1;
}

/*
 * Hybrid machines have the PMU's type in the upper half. Source: perf_event_open(2),
 * PERF_TYPE_HARDWARE.
 */
static bool is_generic(const struct encoding *e, size_t i)
{
	uint64_t config = generic[i].type == PERF_TYPE_HARDWARE ? e->attr.config & UINT32_MAX
								: e->attr.config;

	return generic[i].type == e->attr.type && generic[i].config == config;
}

/* Is it a raw event of a core PMU, by the generic type or the PMU's own? */
static bool is_raw(const struct encoding *e)
{
	if (e->attr.type == PERF_TYPE_RAW)
		return true;
	return e->attr.type > PERF_TYPE_BREAKPOINT &&
		(!strncmp(e->pmu, "cpu", 3) || !strncmp(e->pmu, "armv8", 5));
}

int class_of(const struct encoding *e, const char *cpu)
{
	const char *p = embedded_text("classes.txt");
	struct column c[4];
	unsigned line = 0;

	for (size_t i = 0; i < sizeof(generic) / sizeof(*generic); i++)
		if (is_generic(e, i))
			return (int)generic[i].class;
	/* With bits other than event and umask it is another event. */
	if (!is_raw(e) || e->place == PLACE_UNCORE || e->attr.config > 0xffff || e->attr.config1 ||
	    e->attr.config2)
		return -1;
	while (table_next(&p, &line, c, 4) == 4) {
		char glob[64], class[32];

		column_copy(&c[0], glob, sizeof(glob));
		column_copy(&c[3], class, sizeof(class));
		if (e->attr.config ==
			    (strtoul(c[1].s, NULL, 16) | strtoul(c[2].s, NULL, 16) << 8) &&
		    !fnmatch(glob, cpu, 0))
			return class_named(class);
	}
	return -1;
}
