/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "tare/reading.h"
#include "tap.h"

TEST(scaled)
{
	static const struct {
		int line;
		struct tare_reading r;
		uint64_t scaled;
	} rows[] = {
		{ __LINE__, { 1000, 10, 10, TARE_COUNTED }, 1000 },
		{ __LINE__, { 1000, 20, 10, TARE_SCALED }, 2000 },
		{ __LINE__, { 1, 3, 2, TARE_SCALED }, 2 },   /* 1.5: rounds half up */
		{ __LINE__, { 10, 4, 3, TARE_SCALED }, 13 }, /* 13.33 */
		{ __LINE__, { 11, 4, 3, TARE_SCALED }, 15 }, /* 14.67 */
		{ __LINE__, { 0, 20, 10, TARE_SCALED }, 0 },
		{ __LINE__, { 1ULL << 63, 3, 2, TARE_SCALED }, 3ULL << 62 }, /* needs 128 bits */
		{ __LINE__, { 1ULL << 63, 8, 1, TARE_SCALED }, UINT64_MAX },
		{ __LINE__, { 7, 20, 0, TARE_UNAVAILABLE }, 0 },
		{ __LINE__, { 7, 20, 10, TARE_UNAVAILABLE }, 0 },
		{ __LINE__, { 7, 0, 0, TARE_EXACT }, 7 }, /* no times: not multiplexed */
		{ __LINE__, { 7, 20, 10, TARE_EXACT }, 7 },
		{ __LINE__, { 7, 20, 0, TARE_SCALED }, 7 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_EQ(tare_reading_scaled(&rows[i].r), rows[i].scaled, "row at line %d",
			 rows[i].line);
}

TEST(names)
{
	CHECK_STR(tare_quality_name(TARE_UNAVAILABLE), "unavailable", "0");
	CHECK_STR(tare_quality_name(TARE_SCALED), "scaled", "1");
	CHECK_STR(tare_quality_name(TARE_SIMULATED), "simulated", "2");
	CHECK_STR(tare_quality_name(TARE_COUNTED), "counted", "3");
	CHECK_STR(tare_quality_name(TARE_EXACT), "exact", "4");
	CHECK_STR(tare_quality_name((enum tare_quality)5), "unknown", "5");
}

TEST_MAIN()
