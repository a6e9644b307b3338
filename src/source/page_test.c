/* SPDX-License-Identifier: MIT */
/* The page protocol on literal pages: every width, wrap, retry and refusal, on any machine. */
#include "base/error.h"
#include "source/page.h"
#include "tap.h"

static struct perf_event_mmap_page page;
static uint64_t counter_now, clock_now;
static uint32_t counter_asked;
static int counter_reads, updates_left; /* the kernel rewrites the page during this many reads */

static uint64_t fake_counter(uint32_t index)
{
	counter_asked = index;
	counter_reads++;
	if (updates_left > 0) {
		updates_left--;
		page.lock += 2;
		page.offset += 1000;
	}
	return counter_now;
}

static uint64_t fake_clock(void)
{
	return clock_now;
}

static const struct page_cpu fake = { fake_counter, fake_clock };

static const struct {
	int line;
	uint16_t width;
	uint64_t pmc;
	int64_t offset;
	uint64_t count;
} rows[] = {
	{ __LINE__, 48, 0x000000000005, 100, 105 },
	{ __LINE__, 48, 0x800000000000, 1ll << 47, 0 }, /* where the kernel starts it */
	{ __LINE__, 48, 0x800000000007, 1ll << 47, 7 },
	{ __LINE__, 48, 0xffffffffffff, 1ll << 47, (1ull << 47) - 1 },
	{ __LINE__, 48, 0x000000000000, 1ll << 47,
	  1ull << 47 }, /* wrapped, interrupt not yet taken */
	{ __LINE__, 48, 0x000000000003, 1ll << 47, (1ull << 47) + 3 },
	{ __LINE__, 48, 0xdead800000000007, 1ll << 47, 7 }, /* bits above the width are ignored */
	{ __LINE__, 32, 0x80000000, 1ll << 31, 0 },
	{ __LINE__, 32, 0xffffffff, 1ll << 31, 0x7fffffff },
	{ __LINE__, 32, 0x00000000, 1ll << 31, 0x80000000 },
	{ __LINE__, 32, 0x80000010, (1ll << 31) + (5ll << 32), (5ull << 32) + 16 },
	{ __LINE__, 40, 0x8000000000, 1ll << 39, 0 },
	{ __LINE__, 40, 0xffffffffff, 1ll << 39, (1ull << 39) - 1 },
	{ __LINE__, 40, 0x0000000001, 1ll << 39, (1ull << 39) + 1 },
	{ __LINE__, 64, 0x8000000000000000, INT64_MIN, 0 },
	{ __LINE__, 64, 0x8000000000000005, INT64_MIN, 5 },
	{ __LINE__, 64, 0, INT64_MIN, 1ull << 63 },
	{ __LINE__, 64, UINT64_MAX, 1, 0 },
};

static void page_reset(uint16_t width, uint64_t pmc, int64_t offset)
{
	memset(&page, 0, sizeof(page));
	page.lock = 6;
	page.index = 3;
	page.pmc_width = width;
	page.offset = offset;
	page.cap_user_rdpmc = 1;
	page.cap_user_time = 1;
	page.time_mult = 1;
	page.time_enabled = page.time_running = 500;
	counter_now = pmc;
	clock_now = 0;
	counter_reads = updates_left = 0;
}

TEST(widths_and_wraps)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_reading r = { 0 };
		uint64_t count = 0;

		page_reset(rows[i].width, rows[i].pmc, rows[i].offset);
		CHECK(tare_page_count_by(&page, fake_counter, &count), "row at line %d",
		      rows[i].line);
		CHECK_EQ(count, rows[i].count, "row at line %d", rows[i].line);
		CHECK_EQ(counter_asked, 3, "row at line %d", rows[i].line);
		CHECK(page_reading(&page, &fake, &r), "row at line %d", rows[i].line);
		CHECK_EQ(r.raw, rows[i].count, "row at line %d", rows[i].line);
		CHECK_EQ(r.quality, TARE_COUNTED);
	}
}

TEST(index_0_is_never_read)
{
	struct tare_reading r = { .raw = 77 };
	uint64_t count = 77;

	page_reset(48, 5, 0);
	page.index = 0; /* although cap_user_rdpmc allows reads */
	CHECK(!tare_page_count_by(&page, fake_counter, &count));
	CHECK(!page_reading(&page, &fake, &r));
	CHECK_EQ(counter_reads, 0);
	CHECK_EQ(count, 77);
	CHECK_EQ(r.raw, 77);
}

TEST(a_page_that_changes_is_read_again)
{
	struct tare_reading r = { 0 };
	uint64_t count = 77;

	page_reset(48, 5, 0);
	updates_left = 1;
	CHECK(!tare_page_count_by(&page, fake_counter, &count), "a torn read was taken");
	CHECK_EQ(count, 77);
	CHECK(tare_page_count_by(&page, fake_counter, &count));
	CHECK_EQ(count, 1005);

	page_reset(48, 5, 0);
	updates_left = 3;
	CHECK(page_reading(&page, &fake, &r));
	CHECK_EQ(r.raw, 3005);
	CHECK_EQ(counter_reads, 4);

	page_reset(48, 5, 0);
	updates_left = 1000000; /* changes forever: declines rather than loop forever */
	CHECK(!page_reading(&page, &fake, &r));
	CHECK_EQ(counter_reads, PAGE_TRIES);
}

TEST(a_counter_that_took_turns_is_scaled)
{
	struct tare_reading r = { 0 };
	uint64_t count = 77;

	page_reset(48, 400, 0);
	page.time_enabled = 1000;
	page.time_running = 300;
	clock_now = 100; /* 100 ns since, at mult 1 and shift 0 */
	CHECK(!tare_page_count_by(&page, fake_counter, &count), "a share was given as the whole");
	CHECK(page_reading(&page, &fake, &r));
	CHECK_EQ(r.quality, TARE_SCALED);
	CHECK_EQ(r.enabled_ns, 1100);
	CHECK_EQ(r.running_ns, 400);
	CHECK_EQ(tare_reading_scaled(&r), 1100);
}

static const struct {
	int line;
	uint64_t ticks;
	uint32_t mult;
	uint16_t shift;
	int64_t offset;
	bool is_short;
	uint64_t cycles, mask, elapsed;
} clocks[] = {
	{ __LINE__, 0, 1, 0, 0, false, 0, 0, 0 },
	{ __LINE__, 1000, 1, 0, -900, false, 0, 0, 100 },
	{ __LINE__, 62500000, 33554432, 21, 0, false, 0, 0, 1000000000 }, /* 62.5 MHz for 1 s */
	{ __LINE__, 62500000, 33554432, 21, -999999000, false, 0, 0, 1000 },
	{ __LINE__, 3, 3, 1, 0, false, 0, 0, 4 }, /* 4.5, truncated */
	{ __LINE__, 1ull << 60, 1u << 31, 31, 0, false, 0, 0,
	  1ull << 60 },                                                 /* ticks * mult overflows */
	{ __LINE__, 5, 1, 0, 0, true, 0x1000000fa, 0xff, 0x100000105 }, /* 8 bits, wrapped once */
	{ __LINE__, 0xfb, 1, 0, 0, true, 0x1000000fa, 0xff, 0x1000000fb },
};

TEST(time_without_the_kernel)
{
	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++) {
		struct tare_reading r = { 0 };

		page_reset(48, 5, 0);
		page.time_mult = clocks[i].mult;
		page.time_shift = clocks[i].shift;
		page.time_offset = (uint64_t)clocks[i].offset;
		page.cap_user_time_short = clocks[i].is_short;
		page.time_cycles = clocks[i].cycles;
		page.time_mask = clocks[i].mask;
		clock_now = clocks[i].ticks;
		CHECK(page_reading(&page, &fake, &r), "row at line %d", clocks[i].line);
		CHECK_EQ(r.enabled_ns, 500 + clocks[i].elapsed, "row at line %d", clocks[i].line);
		CHECK_EQ(r.running_ns, 500 + clocks[i].elapsed, "row at line %d", clocks[i].line);
	}
}

TEST(no_clock_no_times)
{
	struct tare_reading r = { 0 };
	uint64_t count;

	page_reset(48, 5, 0);
	page.cap_user_time = 0;
	CHECK(!page_reading(&page, &fake, &r));
	CHECK(tare_page_count_by(&page, fake_counter, &count), "a count needs no clock");
	page.cap_user_time = 1;
	page.time_shift = 64;
	CHECK(!page_reading(&page, &fake, &r));
}

#ifdef __aarch64__
TEST(unknown_counters_are_declined)
{
	uint64_t count;

	page_reset(64, 5, 0);
	page.index = 32;
	CHECK(tare_page_count_by(&page, fake_counter, &count));
	page.index = 33;
	CHECK(!tare_page_count_by(&page, fake_counter, &count));
}
#endif

TEST_MAIN()
