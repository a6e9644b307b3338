/* SPDX-License-Identifier: MIT */
/*
 * Counts with a known overcount. A count that cannot be corrected gives the reason, and is
 * unchanged.
 */
#include <string.h>
#include "verify/overcount.h"
#include "base/error.h"
#include "tap.h"

enum { RUNS = 3 };

struct made {
	struct amount amount[RUNS];
	struct stat_row row;
};

static void make(struct made *m, const uint64_t value[RUNS])
{
	*m = (struct made){ .row = { .quality = TARE_COUNTED } };
	m->row.run = m->amount;
	for (unsigned k = 0; k < RUNS; k++)
		m->amount[k] = (struct amount){ .value = value[k],
						.raw = value[k],
						.quality = TARE_COUNTED };
	spread_of(value, RUNS, &m->row.spread, NULL, NULL);
}

static struct overcount correct(const struct verify_result *of, struct made *count,
				struct made *faults, struct made *interrupts)
{
	const struct overcount_from from = { of, faults ? &faults->row : NULL,
					     interrupts ? &interrupts->row : NULL };
	const struct stat_table t = { .runs = RUNS };
	struct tare_error err = TARE_ERROR_INIT;
	struct overcount c;

	CHECK_EQ(overcount_row(&c, &t, &count->row, &from, &err), 0, "%s", err.what);
	return c;
}

static const struct verify_result per_fault = { .verdict = VERIFY_FAULTS, .per_fault = 2 };
static const struct verify_result per_both = { .verdict = VERIFY_INTERRUPTS,
					       .per_fault = 1,
					       .per_interrupt = 1 };

TEST(faults_and_interrupts_are_taken_off_run_by_run)
{
	struct made count, faults, interrupts;
	struct overcount c;

	make(&count, (const uint64_t[]){ 1020, 1040, 1006 });
	make(&faults, (const uint64_t[]){ 10, 20, 3 });
	make(&interrupts, (const uint64_t[]){ 5, 1, 2 });
	c = correct(&per_fault, &count, &faults, NULL);
	CHECK_STR(c.why_not, "");
	CHECK_EQ(c.corrected.min, 1000);
	CHECK_EQ(c.corrected.max, 1000);
	CHECK_EQ(c.counted.median, 1020);
	CHECK_EQ(c.faults, 10);
	CHECK_EQ(c.interrupts, 0);
	CHECK_EQ(c.per_interrupt, 0);
	c = correct(&per_both, &count, &faults, &interrupts);
	CHECK_EQ(c.corrected.min, 1006 - 3 - 2);
	CHECK_EQ(c.corrected.max, 1040 - 20 - 1);
	CHECK_EQ(c.corrected.median, 1020 - 10 - 5);
	CHECK_EQ(c.interrupts, 2);
}

TEST(what_is_not_corrected_says_why)
{
	const struct verify_result wild = { .verdict = VERIFY_INTERRUPTS, .per_interrupt = 3 };
	struct made count, faults, few;
	struct overcount c;

	make(&count, (const uint64_t[]){ 1020, 1040, 1006 });
	make(&faults, (const uint64_t[]){ 10, 20, 3 });
	make(&few, (const uint64_t[]){ 30, 30, 2 });
	c = correct(&per_fault, &count, NULL, NULL);
	CHECK(strstr(c.why_not, "page-faults:u"), "%s", c.why_not);
	c = correct(&per_both, &count, &faults, NULL);
	CHECK(strstr(c.why_not, "interrupt"), "%s", c.why_not);
	c = correct(&wild, &count, &faults, &faults);
	CHECK(strstr(c.why_not, "the number varies"), "%s", c.why_not);
	c = correct(&per_fault, &few, &faults, NULL);
	CHECK(strstr(c.why_not, "run 2"), "%s", c.why_not);
	faults.amount[1].quality = TARE_SCALED;
	c = correct(&per_fault, &count, &faults, NULL);
	CHECK(strstr(c.why_not, "run 2"), "%s", c.why_not);
	count.row.quality = TARE_SCALED;
	c = correct(&per_fault, &count, &faults, NULL);
	CHECK(strstr(c.why_not, "scaled"), "%s", c.why_not);
}

TEST(only_known_excess_is_taken_off)
{
	struct verify_result r = { 0 };

	for (unsigned v = 0; v < VERIFY_VERDICTS; v++) {
		r.verdict = (enum verify_verdict)v;
		CHECK_EQ(overcount_needed(&r), v == VERIFY_FAULTS || v == VERIFY_INTERRUPTS, "%s",
			 verify_names[v]);
	}
}

TEST_MAIN()
