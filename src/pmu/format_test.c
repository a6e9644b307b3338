/* SPDX-License-Identifier: MIT */
#include "pmu/format.h"
#include "tap.h"

TEST(formats)
{
	static const struct {
		int line;
		const char *text;
		int ret;
		unsigned config;
		uint64_t mask;
	} rows[] = {
		{ __LINE__, "config:0-7", 0, 0, 0xff },
		{ __LINE__, "config:0-7\n", 0, 0, 0xff },
		{ __LINE__, "config:0-7,32-35", 0, 0, 0xf000000ff },
		{ __LINE__, "config1:18", 0, 1, 1 << 18 },
		{ __LINE__, "config2:0-63", 0, 2, UINT64_MAX },
		{ __LINE__, "config3:63", 0, 3, UINT64_C(1) << 63 },
		{ __LINE__, "config1:1,3,5", 0, 1, 0x2a },
		{ __LINE__, "config4:0", -EINVAL },
		{ __LINE__, "config0:0", -EINVAL },
		{ __LINE__, "config:64", -EINVAL },
		{ __LINE__, "config:0-64", -EINVAL },
		{ __LINE__, "config:7-0", -EINVAL },
		{ __LINE__, "config:0-7,7", -EINVAL },
		{ __LINE__, "config:8,0-7", -EINVAL },
		{ __LINE__, "config:", -EINVAL },
		{ __LINE__, "config:0-", -EINVAL },
		{ __LINE__, "config:0,", -EINVAL },
		{ __LINE__, "config:0 ", -EINVAL },
		{ __LINE__, "config", -EINVAL },
		{ __LINE__, "", -EINVAL },
		{ __LINE__, "config:99999999999999999999", -EINVAL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct format f = { 0 };

		CHECK_EQ(format_parse(rows[i].text, &f, NULL), rows[i].ret, "row at line %d",
			 rows[i].line);
		CHECK_EQ(f.config, rows[i].config, "row at line %d", rows[i].line);
		CHECK_EQ(f.mask, rows[i].mask, "row at line %d", rows[i].line);
	}
}

TEST(values)
{
	struct perf_event_attr attr = { .config = 0xff00, .config1 = 5 };
	struct format event, any = { .config = 1, .mask = 1 << 18 },
			     later = { .config = 3, .mask = 1 };
	struct tare_error err = TARE_ERROR_INIT;

	CHECK_EQ(format_parse("config:0-7,32-35", &event, NULL), 0);
	CHECK_EQ(format_bits(&event), 12);
	CHECK_EQ(format_put(&event, 0x5c4, &attr, NULL), 0);
	CHECK_EQ(attr.config, 0x50000ffc4);
	CHECK_EQ(format_get(&event, &attr), 0x5c4);
	CHECK_EQ(format_put(&event, 0x120, &attr, NULL), 0);
	CHECK_EQ(attr.config, 0x10000ff20, "bits of the earlier value are gone");
	CHECK_EQ(format_put(&event, 0x1000, &attr, &err), -ERANGE);
	CHECK_STR(err.what, "0x1000 does not fit its 12 bits");
	CHECK_EQ(attr.config, 0x10000ff20, "a refused value changes nothing");
	CHECK_EQ(format_put(&any, 2, &attr, &err), -ERANGE);
	CHECK_STR(err.what, "0x2 does not fit its 1 bit");
	CHECK_EQ(format_put(&any, 1, &attr, NULL), 0);
	CHECK_EQ(attr.config1, 5 | 1 << 18);
#ifndef PERF_ATTR_SIZE_VER8
	CHECK_EQ(format_put(&later, 1, &attr, NULL), -EOPNOTSUPP);
	CHECK_EQ(format_get(&later, &attr), 0);
#else
	CHECK_EQ(format_put(&later, 1, &attr, NULL), 0);
	CHECK_EQ(format_get(&later, &attr), 1);
#endif
}

TEST_MAIN()
