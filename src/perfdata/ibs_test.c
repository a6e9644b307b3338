/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include "perfdata/ibs.h"
#include "tap.h"

static struct ibs made(enum ibs_kind kind, uint32_t caps, const char *cpuid, const uint64_t *reg,
		       size_t n)
{
	struct ibs_rules rules = ibs_rules_of(cpuid, caps & IBS_CAP_ZEN4);
	uint8_t raw[4 + 8 * IBS_REGISTERS];
	struct ibs s;

	memcpy(raw, &caps, 4);
	memcpy(raw + 4, reg, 8 * n);
	CHECK_EQ(ibs_read(kind, &rules, raw, 4 + 8 * n, &s, NULL), 0);
	return s;
}

/* Registers and their fields as published in Linux kernel messages (2021, Zen; 2022, Zen 4). */
TEST(published_registers)
{
	static const uint64_t zen_fetch[] = { 0x02170007ffffffff, 0x56016b2ead40, 0x115cedfd40, 0 },
			      zen_op[] = { 0x0000009e009e8968, 0x56016b2ea73d, 0xb0002,     2,
					   0xc60002,           0x7f133c319ce0, 0x270485ce0, 0 },
			      zen4_op[] = { 0x0000004500070008, 0, 0x710002, 2,
					    0x681d1700a1,       0, 0,        0 },
			      zen4_fetch[] = { 0x3c1f00c700080008, 0, 0, 0 };
	static const struct {
		int line;
		enum ibs_kind kind;
		uint32_t caps;
		const uint64_t *reg;
		const char *field;
		uint64_t value;
	} rows[] = {
		{ __LINE__, IBS_FETCH, 0x3ff, zen_fetch, "MaxCnt", 1048560 },
		{ __LINE__, IBS_FETCH, 0x3ff, zen_fetch, "Cnt", 1048560 },
		{ __LINE__, IBS_FETCH, 0x3ff, zen_fetch, "Lat", 7 },
		{ __LINE__, IBS_FETCH, 0x3ff, zen_fetch, "PhyAddrValid", 1 },
		{ __LINE__, IBS_FETCH, 0x3ff, zen_fetch, "RandEn", 1 },
		{ __LINE__, IBS_FETCH, 0x3ff, zen_fetch, "IcMiss", 0 },
		{ __LINE__, IBS_OP, 0x3ff, zen_op, "MaxCnt", 10000000 },
		{ __LINE__, IBS_OP, 0x3ff, zen_op, "CntCtl", 1 },
		{ __LINE__, IBS_OP, 0x3ff, zen_op, "CurCnt", 158 },
		{ __LINE__, IBS_OP, 0x3ff, zen_op, "CompToRetCtr", 2 },
		{ __LINE__, IBS_OP, 0x3ff, zen_op, "TagToRetCtr", 11 },
		{ __LINE__, IBS_OP, 0x3ff, zen_op, "DataSrc", 2 },
		{ __LINE__, IBS_OP, 0x3ff, zen_op, "StOp", 1 },
		{ __LINE__, IBS_OP, 0x3ff, zen_op, "OpMemWidth", 4 },
		{ __LINE__, IBS_OP, 0x3ff, zen_op, "DcLinAddrValid", 1 },
		{ __LINE__, IBS_OP, 0xbff, zen4_op, "MaxCnt", 128 },
		{ __LINE__, IBS_OP, 0xbff, zen4_op, "L3MissOnly", 1 },
		{ __LINE__, IBS_OP, 0xbff, zen4_op, "CurCnt", 69 },
		{ __LINE__, IBS_OP, 0xbff, zen4_op, "TagToRetCtr", 113 },
		{ __LINE__, IBS_OP, 0xbff, zen4_op, "DcL1TlbHit1G", 1 },
		{ __LINE__, IBS_OP, 0xbff, zen4_op, "DcMissNoMabAlloc", 1 },
		{ __LINE__, IBS_OP, 0xbff, zen4_op, "L2Miss", 1 },
		{ __LINE__, IBS_OP, 0xbff, zen4_op, "OpMemWidth", 8 },
		{ __LINE__, IBS_OP, 0xbff, zen4_op, "OpDcMissOpenMemReqs", 7 },
		{ __LINE__, IBS_OP, 0xbff, zen4_op, "DcMissLat", 104 },
		{ __LINE__, IBS_FETCH, 0xbff, zen4_fetch, "Lat", 199 },
		{ __LINE__, IBS_FETCH, 0xbff, zen4_fetch, "IcMiss", 1 },
		{ __LINE__, IBS_FETCH, 0xbff, zen4_fetch, "FetchL3Miss", 1 },
		{ __LINE__, IBS_FETCH, 0xbff, zen4_fetch, "FetchOcMiss", 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ibs s = made(rows[i].kind, rows[i].caps, NULL, rows[i].reg,
				    rows[i].kind == IBS_FETCH ? 4 : 8);
		const struct ibs_field *f = ibs_field_named(rows[i].kind, rows[i].field);

		CHECK(ibs_valid(&s), "row at line %d", rows[i].line);
		if (!CHECK(f && (!f->valid || f->valid(&s)), "row at line %d", rows[i].line))
			continue;
		CHECK_EQ(ibs_field_value(&s, f), rows[i].value, "row at line %d", rows[i].line);
	}
}

/* Fields and registers that are not valid, and so are not shown. */
TEST(what_is_not_valid)
{
	static const struct {
		int line;
		const char *cpuid;
		uint64_t reg[8];
		const char *field; /* or register */
		unsigned r;
		bool valid;
	} rows[] = {
		{ __LINE__, NULL, { [IBS_OP_DATA] = 1ull << 35 }, "OpBrnTaken", 0, false },
		{ __LINE__, NULL, { [IBS_OP_DATA] = 3ull << 36 }, "OpBrnTaken", 0, true },
		{ __LINE__, NULL, { 0 }, NULL, IBS_BRANCH_TARGET, false },
		{ __LINE__, NULL, { [IBS_OP_DATA] = 1ull << 37 }, NULL, IBS_BRANCH_TARGET, true },
		{ __LINE__, NULL, { [IBS_OP_DATA] = 1ull << 38 }, NULL, IBS_OP_RIP, false },
		{ __LINE__, NULL, { 0 }, NULL, IBS_OP_RIP, true },
		{ __LINE__, NULL, { 0 }, "DataSrc", 0, false },
		{ __LINE__, NULL, { [IBS_OP_DATA2] = 3 }, "DataSrc", 0, true },
		{ __LINE__, NULL, { [IBS_OP_DATA2] = 3 }, "CacheHitSt", 0, false },
		{ __LINE__, NULL, { [IBS_OP_DATA2] = 2 }, "CacheHitSt", 0, true },
		{ __LINE__, NULL, { [IBS_OP_DATA3] = 1 << 17 }, NULL, IBS_DC_LINEAR, true },
		{ __LINE__, NULL, { [IBS_OP_DATA3] = 1 << 17 }, NULL, IBS_DC_PHYSICAL, false },
		{ __LINE__, NULL, { [IBS_OP_DATA3] = 1 << 18 }, NULL, IBS_DC_PHYSICAL, true },
		{ __LINE__, NULL, { [IBS_OP_DATA3] = 1 << 18 }, NULL, IBS_DC_LINEAR, false },
		{ __LINE__, NULL, { [IBS_OP_DATA3] = 1 << 16 }, "L2Miss", 0, true },
		{ __LINE__,
		  "AuthenticAMD,25,1,0",
		  { [IBS_OP_DATA3] = 1 << 16 },
		  "L2Miss",
		  0,
		  false },
		{ __LINE__,
		  "AuthenticAMD,25,15,0",
		  { [IBS_OP_DATA3] = 1 << 21 },
		  NULL,
		  IBS_OP_DATA2,
		  false },
		{ __LINE__,
		  "AuthenticAMD,25,15,0",
		  { [IBS_OP_DATA3] = 1 << 20 },
		  NULL,
		  IBS_OP_DATA2,
		  true },
		{ __LINE__,
		  "AuthenticAMD,25,16,0",
		  { [IBS_OP_DATA3] = 1 << 16 },
		  "L2Miss",
		  0,
		  true },
		{ __LINE__,
		  "AuthenticAMD,23,1,0",
		  { [IBS_OP_DATA3] = 1 << 16 },
		  "L2Miss",
		  0,
		  true },
		{ __LINE__, NULL, { 0 }, "L3MissOnly", 0, false },
		{ __LINE__, NULL, { 0 }, "OpMemWidth", 0, false },
		{ __LINE__, NULL, { [IBS_OP_DATA3] = 1 << 22 }, "OpMemWidth", 0, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ibs s = made(IBS_OP, 0x3ff, rows[i].cpuid, rows[i].reg, 8);
		const struct ibs_field *f = rows[i].field ? ibs_field_named(IBS_OP, rows[i].field)
							  : NULL;

		CHECK_EQ(f ? !f->valid || f->valid(&s) : ibs_register_shown(&s, rows[i].r),
			 rows[i].valid, "row at line %d", rows[i].line);
	}
}

/*
 * Zen 5 has page sizes instead of TLB hit levels, and neither these nor misses without a physical
 * address; and has a minimum latency.
 */
TEST(what_capabilities_change)
{
	enum {
		LIN = 1 << 17,
		PHY = 1 << 18,
		PAGES = 1 << 19,
		LATENCY = 1 << 12,
		ZEN = 0x3ff,
		ZEN_4 = 0xbff
	};
	static const struct {
		int line;
		uint32_t caps;
		uint64_t ctl, data3;
		const char *field, *words;
		bool valid;
		uint64_t value;
	} rows[] = {
		{ __LINE__, ZEN_4, 0, LIN | 1 << 2, "DcL1TlbMiss", NULL, true, 1 },
		{ __LINE__, ZEN_4 | PAGES, 0, LIN | 1 << 2, "DcL1TlbMiss", NULL, false, 1 },
		{ __LINE__, ZEN_4 | PAGES, 0, LIN | PHY | 1 << 2, "DcL1TlbMiss", NULL, true, 1 },
		{ __LINE__, ZEN_4 | PAGES, 0, LIN | 1 << 3, "DcL2TlbMiss", NULL, false, 1 },
		{ __LINE__, ZEN_4 | PAGES, 0, LIN | PHY | 1 << 3, "DcL2TlbMiss", NULL, true, 1 },
		{ __LINE__, ZEN_4, 0, LIN | PHY | 1 << 4, "DcL1TlbHit2M", NULL, true, 1 },
		{ __LINE__, ZEN_4 | PAGES, 0, LIN | PHY | 1 << 4, "DcL1TlbHit2M", NULL, false, 1 },
		{ __LINE__, ZEN_4 | PAGES, 0, LIN | PHY | 1 << 5, "DcL1TlbHit1G", NULL, false, 1 },
		{ __LINE__, ZEN_4 | PAGES, 0, LIN | PHY | 1 << 6, "DcL2TlbHit2M", NULL, false, 1 },
		{ __LINE__, ZEN_4 | PAGES, 0, LIN | PHY | 1 << 19, "DcL2TlbHit1G", NULL, false, 1 },
		{ __LINE__, ZEN_4, 0, LIN | PHY | 1 << 4, "DcPageSize", "2M", false, 1 },
		{ __LINE__, ZEN_4 | PAGES, 0, LIN | 1 << 4, "DcPageSize", "2M", false, 1 },
		{ __LINE__, ZEN_4 | PAGES, 0, LIN | PHY, "DcPageSize", "4K", true, 0 },
		{ __LINE__, ZEN_4 | PAGES, 0, LIN | PHY | 1 << 4, "DcPageSize", "2M", true, 1 },
		{ __LINE__, ZEN_4 | PAGES, 0, LIN | PHY | 2 << 4, "DcPageSize", "1G", true, 2 },
		{ __LINE__, ZEN_4 | PAGES, 0, LIN | PHY | 3 << 4, "DcPageSize", "??", true, 3 },
		{ __LINE__, ZEN, 0, LIN | 9ull << 48, "TlbRefillLat", NULL, true, 9 },
		{ __LINE__, ZEN_4, 0, LIN | 9ull << 48, "TlbRefillLat", NULL, false, 9 },
		{ __LINE__, ZEN_4, 0, LIN | PHY | 9ull << 48, "TlbRefillLat", NULL, true, 9 },
		{ __LINE__, ZEN_4, 3ull << 59, 0, "LdLatThrsh", NULL, false, 3 },
		{ __LINE__, ZEN_4 | LATENCY, 3ull << 59, 0, "LdLatThrsh", NULL, true, 3 },
		{ __LINE__, ZEN_4 | LATENCY, 15ull << 59, 0, "LdLatEn", NULL, true, 0 },
		{ __LINE__, ZEN_4 | LATENCY, 1ull << 63, 0, "LdLatEn", NULL, true, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const uint64_t reg[8] = {
			[IBS_OP_CTL] = rows[i].ctl, [IBS_OP_DATA3] = rows[i].data3
		};
		struct ibs s = made(IBS_OP, rows[i].caps, NULL, reg, 8);
		const struct ibs_field *f = ibs_field_named(IBS_OP, rows[i].field);

		if (!CHECK(f, "row at line %d", rows[i].line))
			continue;
		CHECK_EQ(!f->valid || f->valid(&s), rows[i].valid, "row at line %d", rows[i].line);
		CHECK_EQ(ibs_field_value(&s, f), rows[i].value, "row at line %d", rows[i].line);
		if (rows[i].words)
			CHECK_STR(f->words(&s, rows[i].value), rows[i].words, "row at line %d",
				  rows[i].line);
	}
}

TEST(the_state_that_some_models_lack)
{
	static const struct {
		int line;
		const char *cpuid;
		bool zen4, tells;
	} rows[] = {
		{ __LINE__, "AuthenticAMD,16,2,3", false, true },
		{ __LINE__, "AuthenticAMD,23,1,0", false, true },
		{ __LINE__, "AuthenticAMD,23,49,0", false, true },
		{ __LINE__, "AuthenticAMD,25,0,0", false, false },
		{ __LINE__, "AuthenticAMD,25,1,1", false, false },
		{ __LINE__, "AuthenticAMD,25,15,0", false, false },
		{ __LINE__, "AuthenticAMD,25,16,0", true, true },
		{ __LINE__, "AuthenticAMD,25,31,0", true, true },
		{ __LINE__, "AuthenticAMD,25,32,0", false, false },
		{ __LINE__, "AuthenticAMD,25,33,0", false, false },
		{ __LINE__, "AuthenticAMD,25,80,0", false, false },
		{ __LINE__, "AuthenticAMD,25,95,0", false, false },
		{ __LINE__, "AuthenticAMD,25,96,0", true, true },
		{ __LINE__, "AuthenticAMD,25,97,2", true, true },
		{ __LINE__, "AuthenticAMD,26,2,1", true, true },
		{ __LINE__, NULL, false, false },
		{ __LINE__, NULL, true, true },
		{ __LINE__, "nonsense", false, false },
	};
	static const unsigned with_state[] = { 1, 2, 5 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (unsigned source = 0; source < 8; source++) {
			struct ibs s = { .kind = IBS_OP,
					 .rules = ibs_rules_of(rows[i].cpuid, rows[i].zen4) };
			bool cache = source == 2;

			for (size_t k = 0; rows[i].zen4 && k < ARRAY_SIZE(with_state); k++)
				cache |= source == with_state[k];
			s.reg[IBS_OP_DATA2] = source;
			CHECK_EQ(ibs_tells_state(&s), rows[i].tells && cache,
				 "row at line %d, source %u", rows[i].line, source);
		}
}

TEST(sizes)
{
	static const struct {
		int line;
		enum ibs_kind kind;
		uint32_t caps;
		size_t size;
		int ret;
		uint32_t has;
	} rows[] = {
		{ __LINE__, IBS_FETCH, 0x3ff, 36, 0, 0xf },
		{ __LINE__, IBS_FETCH, 0x1ff, 28, 0, 0x7 },
		{ __LINE__, IBS_FETCH, 0x3ff, 28, -EINVAL, 0 },
		{ __LINE__, IBS_OP, 0x3ff, 68, 0, 0xff },
		{ __LINE__, IBS_OP, 0x3df, 60, 0, 0x7f },
		{ __LINE__, IBS_OP, 0x7ff, 76, 0, 0x1ff },
		{ __LINE__, IBS_OP, 0x7df, 68, 0, 0x17f },
		{ __LINE__, IBS_OP, 0x7ff, 68, -EINVAL, 0 },
		{ __LINE__, IBS_OP, 0x3ff, 3, -EINVAL, 0 },
		{ __LINE__, IBS_OP, 0x3ff, 0, -EINVAL, 0 },
		{ __LINE__, IBS_OP, 0x3ff, 72, 0, 0xff }, /* padded */
	};
	static uint8_t raw[80];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		/* the sanitizer detects a read past it */
		uint8_t *copy = malloc(rows[i].size ? rows[i].size : 1);
		struct ibs_rules rules = { 0 };
		struct ibs s;

		memcpy(raw, &rows[i].caps, 4);
		memcpy(copy, raw, rows[i].size);
		CHECK_EQ(ibs_read(rows[i].kind, &rules, copy, rows[i].size, &s, NULL), rows[i].ret,
			 "row at line %d", rows[i].line);
		if (rows[i].ret == 0)
			CHECK_EQ(s.has, rows[i].has, "row at line %d", rows[i].line);
		free(copy);
	}
}

/*
 * Every bit of a register belongs to one field at most, except bits whose meaning depends on the
 * capabilities.
 */
TEST(fields_do_not_overlap)
{
	for (int kind = 0; kind < 2; kind++) {
		const struct ibs_field *f = kind == IBS_FETCH ? ibs_fetch_fields : ibs_op_fields;
		uint64_t taken[IBS_REGISTERS] = { 0 };

		for (; f->name; f++) {
			uint64_t bits = (((uint64_t)1 << f->width) - 1) << f->shift;

			CHECK(!(taken[f->reg] & bits) || !strncmp(f->name, "DcL1TlbHit", 10), "%s",
			      f->name);
			taken[f->reg] |= bits;
			CHECK(ibs_field_named(kind, f->name) == f, "%s", f->name);
		}
	}
}

TEST_MAIN()
