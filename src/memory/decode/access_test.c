/* SPDX-License-Identifier: MIT */
#include "memory/decode/access.h"
#include "tap.h"

/* An access as text, so that whole rows can be compared. */
static const char *words(const struct tare_access *a)
{
	static char text[400];
	int n = snprintf(text, sizeof(text), "%s", tare_access_kind_name(a->kind));

	if (a->has & TARE_ACCESS_PLACE)
		n += snprintf(text + n, sizeof(text) - n, " %s", tare_access_place_name(a->place));
	if (a->has & TARE_ACCESS_DISTANCE)
		n += snprintf(text + n, sizeof(text) - n, " %s",
			      tare_access_distance_name(a->distance));
	if (a->has & TARE_ACCESS_SNOOP)
		n += snprintf(text + n, sizeof(text) - n, " snoop:%s",
			      tare_access_snoop_name(a->snoop));
	if (a->has & TARE_ACCESS_TLB)
		n += snprintf(text + n, sizeof(text) - n, " tlb:%s", tare_access_tlb_name(a->tlb));
	if (a->has & TARE_ACCESS_LOCKED && a->locked)
		n += snprintf(text + n, sizeof(text) - n, " locked");
	if (a->has & TARE_ACCESS_TAKEN)
		n += snprintf(text + n, sizeof(text) - n, " %s", a->taken ? "taken" : "not-taken");
	if (a->has & TARE_ACCESS_MISPREDICTED && a->mispredicted)
		n += snprintf(text + n, sizeof(text) - n, " mispredicted");
	for (int i = 0; i < TARE_LATENCIES; i++)
		if (a->has_latency >> i & 1)
			n += snprintf(text + n, sizeof(text) - n, " %s=%u",
				      tare_access_latency_name(i), a->latency[i]);
	return text;
}

/* ---- the kernel's fields ---- */

#define SRC(op, lvl, snoop, lock, tlb, num, remote, snoopx, hops)                                  \
	((uint64_t)(op) | (uint64_t)(lvl) << 5 | (uint64_t)(snoop) << 19 |                         \
	 (uint64_t)(lock) << 24 | (uint64_t)(tlb) << 26 | (uint64_t)(num) << 33 |                  \
	 (uint64_t)(remote) << 37 | (uint64_t)(snoopx) << 38 | (uint64_t)(hops) << 43)

TEST(data_sources)
{
	static const struct {
		int line;
		uint64_t src;
		const char *says; /* NULL: no access */
	} rows[] = {
		/* Ivy Bridge's locked load of the fixtures' kind, without the newer fields */
		{ __LINE__, SRC(2, 0x82, 2, 2, 0x1a, 0, 0, 0, 0),
		  "load memory socket snoop:none tlb:hit locked" },
		{ __LINE__, SRC(2, 0x0a, 2, 0, 0x1a, 0, 0, 0, 0),
		  "load L1 own snoop:none tlb:hit" },
		{ __LINE__, SRC(2, 0x12, 2, 0, 0x0a, 0, 0, 0, 0),
		  "load fill buffer own snoop:none tlb:L1" },
		{ __LINE__, SRC(2, 0x22, 0, 0, 0x12, 0, 0, 0, 0), "load L2 own tlb:L2" },
		{ __LINE__, SRC(2, 0x42, 4, 0, 0x14, 0, 0, 0, 0),
		  "load L3 socket snoop:hit tlb:walk" },
		{ __LINE__, SRC(2, 0x42, 16, 0, 0x22, 0, 0, 0, 0),
		  "load L3 socket snoop:modified tlb:walk" },
		{ __LINE__, SRC(2, 0x102, 8, 0, 0, 0, 0, 0, 0), "load memory remote snoop:miss" },
		{ __LINE__, SRC(2, 0x202, 0, 0, 0, 0, 0, 0, 0), "load memory remote" },
		{ __LINE__, SRC(2, 0x402, 16, 0, 0, 0, 0, 0, 0),
		  "load cache remote snoop:modified" },
		{ __LINE__, SRC(2, 0x802, 4, 0, 0, 0, 0, 0, 0), "load cache remote snoop:hit" },
		{ __LINE__, SRC(2, 0x1002, 0, 0, 0, 0, 0, 0, 0), "load I/O" },
		{ __LINE__, SRC(2, 0x2002, 0, 0, 0, 0, 0, 0, 0), "load uncached" },
		{ __LINE__, SRC(4, 0x0a, 0, 0, 0, 0, 0, 0, 0), "store L1 own" },
		{ __LINE__, SRC(4, 0x0c, 0, 0, 0, 0, 0, 0, 0), "store beyond L1" },
		{ __LINE__, SRC(2, 0x44, 0, 0, 0, 0, 0, 0, 0), "load beyond L3" },
		{ __LINE__, SRC(2, 0x44, 0, 0, 0, 3, 0, 0, 0), "load beyond L3" },
		{ __LINE__, SRC(6, 0x0a, 0, 0, 0, 0, 0, 0, 0), "update L1 own" },
		{ __LINE__, SRC(8, 0, 0, 0, 0, 2, 0, 0, 0), "prefetch L2 own" },
		{ __LINE__, SRC(16, 0x0a, 0, 0, 0, 0, 0, 0, 0), "fetch L1 own" },
		/* the newer fields */
		{ __LINE__, SRC(2, 2, 2, 0, 0x0a, 1, 0, 0, 0), "load L1 own snoop:none tlb:L1" },
		{ __LINE__, SRC(2, 2, 2, 0, 0, 2, 0, 0, 0), "load L2 own snoop:none" },
		{ __LINE__, SRC(2, 2, 2, 0, 0, 3, 0, 0, 0), "load L3 socket snoop:none" },
		{ __LINE__, SRC(2, 2, 0, 0, 0, 4, 0, 0, 0), "load L4 socket" },
		{ __LINE__, SRC(2, 2, 0, 0, 0, 5, 0, 0, 0), "load fill buffer own" },
		{ __LINE__, SRC(2, 2, 0, 0, 0, 6, 0, 0, 0), "load L4 socket" },
		{ __LINE__, SRC(2, 2, 0, 0, 0, 7, 0, 0, 0), "load L1 own" },
		{ __LINE__, SRC(2, 2, 0, 0, 0, 8, 0, 0, 0), "load uncached" },
		{ __LINE__, SRC(2, 2, 0, 0, 0, 9, 0, 0, 0), "load extension memory" },
		{ __LINE__, SRC(2, 2, 0, 0, 0, 10, 0, 0, 0), "load I/O" },
		{ __LINE__, SRC(2, 2, 0, 0, 0, 11, 1, 2, 0), "load cache remote snoop:peer" },
		{ __LINE__, SRC(2, 2, 0, 0, 0, 12, 0, 0, 0), "load fill buffer own" },
		{ __LINE__, SRC(2, 2, 0, 0, 0, 13, 0, 0, 0), "load memory socket" },
		{ __LINE__, SRC(2, 4, 0, 0, 0, 13, 1, 0, 0), "load memory remote" },
		{ __LINE__, SRC(2, 2, 0, 0, 0, 14, 0, 0, 0), "load persistent memory socket" },
		{ __LINE__, SRC(2, 2, 0, 0, 0, 15, 0, 0, 0), "load" },
		{ __LINE__, SRC(2, 2, 0, 0, 0, 3, 0, 1, 0), "load L3 socket snoop:forward" },
		{ __LINE__, SRC(2, 2, 16, 0, 0, 3, 0, 1, 0), "load L3 socket snoop:modified" },
		{ __LINE__, SRC(2, 2, 16, 0, 0, 11, 1, 2, 0), "load cache remote snoop:modified" },
		{ __LINE__, SRC(2, 2, 4, 0, 0, 11, 1, 2, 0), "load cache remote snoop:peer" },
		/* a peer's cache is not the own one, whatever its level */
		{ __LINE__, 0x8400000442, "load L2 near snoop:peer" },
		{ __LINE__, SRC(2, 0x22, 0, 0, 0, 0, 0, 2, 0), "load L2 near snoop:peer" },
		{ __LINE__, SRC(2, 2, 0, 0, 0, 1, 0, 2, 0), "load L1 near snoop:peer" },
		{ __LINE__, SRC(2, 2, 0, 0, 0, 3, 0, 2, 0), "load L3 socket snoop:peer" },
		{ __LINE__, SRC(2, 2, 0, 0, 0, 2, 0, 2, 2), "load L2 socket snoop:peer" },
		{ __LINE__, SRC(2, 2, 0, 0, 0, 2, 1, 2, 0), "load L2 remote snoop:peer" },
		{ __LINE__, SRC(2, 2, 4, 0, 0, 2, 0, 0, 0), "load L2 own snoop:hit" },
		{ __LINE__, SRC(2, 2, 0, 0, 0, 11, 0, 0, 1), "load cache near" },
		{ __LINE__, SRC(2, 2, 0, 0, 0, 11, 1, 0, 2), "load cache socket" },
		{ __LINE__, SRC(2, 2, 0, 0, 0, 13, 1, 0, 3), "load memory remote" },
		{ __LINE__, SRC(2, 2, 0, 0, 0, 13, 1, 0, 4), "load memory remote" },
		/* Haswell's to Ice Lake's stores: no level number, and the field says so */
		{ __LINE__, SRC(4, 0x0a, 1, 1, 1, 15, 0, 0, 0), "store L1 own" },
		{ __LINE__, SRC(4, 0x0c, 1, 1, 1, 15, 0, 0, 0), "store beyond L1" },
		/* ... and its loads for which only the address is known */
		{ __LINE__, SRC(2, 1, 1, 1, 1, 15, 0, 0, 0), "load" },
		/*
		 * Intel's tables: unknown source, other socket's memory until Broadwell, devices,
		 * uncached
		 */
		{ __LINE__, SRC(2, 4, 1, 0, 0, 3, 0, 0, 0), "load beyond L3" },
		{ __LINE__, SRC(2, 0x102, 4, 0, 0, 3, 1, 0, 0), "load memory remote snoop:hit" },
		{ __LINE__, SRC(2, 0x402, 16, 0, 0, 3, 1, 0, 0), "load L3 remote snoop:modified" },
		{ __LINE__, SRC(2, 0x1002, 2, 0, 0, 15, 0, 0, 0), "load I/O snoop:none" },
		{ __LINE__, SRC(2, 0x2002, 2, 0, 0, 15, 0, 0, 0), "load uncached snoop:none" },
		{ __LINE__, SRC(2, 2, 16, 0, 0, 11, 1, 0, 0), "load cache remote snoop:modified" },
		/* missed, by number; sources other than a cache served */
		{ __LINE__, SRC(2, 4, 0, 0, 0, 1, 0, 0, 0), "load beyond L1" },
		{ __LINE__, SRC(2, 4, 0, 0, 0, 2, 0, 0, 0), "load beyond L1" },
		{ __LINE__, SRC(2, 4, 0, 0, 0, 4, 0, 0, 0), "load beyond L3" },
		{ __LINE__, SRC(2, 4, 0, 0, 0, 5, 0, 0, 0), "load beyond L1" },
		{ __LINE__, SRC(2, 4, 0, 0, 0, 6, 0, 0, 0), "load beyond L3" },
		{ __LINE__, SRC(2, 4, 0, 0, 0, 7, 0, 0, 0), "load beyond L1" },
		{ __LINE__, SRC(2, 4, 0, 0, 0, 8, 0, 0, 0), "load uncached" },
		{ __LINE__, SRC(2, 4, 0, 0, 0, 9, 0, 0, 0), "load extension memory" },
		{ __LINE__, SRC(2, 4, 0, 0, 0, 10, 0, 0, 0), "load I/O" },
		{ __LINE__, SRC(2, 4, 0, 0, 0, 11, 0, 0, 0), "load beyond L1" },
		{ __LINE__, SRC(2, 0x44, 0, 0, 0, 11, 0, 0, 0), "load beyond L3" },
		{ __LINE__, SRC(2, 4, 0, 0, 0, 12, 0, 0, 0), "load beyond L1" },
		{ __LINE__, SRC(2, 4, 0, 0, 0, 14, 0, 0, 0), "load persistent memory socket" },
		/*
		 * Diamond Rapids' regions: devices; memory and other agents' caches at an unknown
		 * distance
		 */
		{ __LINE__, SRC(2, 2, 0, 0, 0, 13, 0, 0, 0) | 7ull << 46, "load I/O" },
		{ __LINE__, SRC(2, 2, 0, 0, 0, 13, 0, 0, 0) | 8ull << 46, "load memory" },
		{ __LINE__, SRC(2, 2, 0, 0, 0, 13, 0, 0, 0) | 15ull << 46, "load memory" },
		{ __LINE__, SRC(2, 0x42, 0, 0, 0, 3, 0, 0, 0) | 2ull << 46, "load L3 socket" },
		{ __LINE__, SRC(2, 0x42, 0, 0, 0, 3, 0, 0, 0) | 3ull << 46, "load L3 socket" },
		{ __LINE__, SRC(2, 0x42, 0, 0, 0, 3, 0, 0, 0) | 4ull << 46, "load L3" },
		{ __LINE__, SRC(2, 0x42, 0, 0, 0, 3, 0, 0, 0) | 5ull << 46, "load L3" },
		{ __LINE__, SRC(2, 0x42, 0, 0, 0, 3, 0, 0, 0) | 6ull << 46, "load L3" },
		/* nothing known */
		{ __LINE__, SRC(1, 1, 1, 1, 1, 15, 0, 0, 0), NULL },
		{ __LINE__, 0, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct perfdata_record rec = { .type = PD_RECORD_SAMPLE,
					       .has = PD_SAMPLE_DATA_SRC };
		struct tare_access a;
		bool is;

		rec.sample.data_src = rows[i].src;
		access_common(&rec, &a);
		is = access_from_sample(&rec, false, &a);
		CHECK_EQ(is, rows[i].says != NULL, "row at line %d", rows[i].line);
		if (is && rows[i].says)
			CHECK_STR(words(&a), rows[i].says, "row at line %d", rows[i].line);
	}
}

/*
 * Each older level, with hit, miss and neither. A newer kernel's "no number" in the same sample
 * changes nothing.
 */
TEST(levels_without_a_number)
{
	enum { HIT = 2, MISS = 4 };
	static const struct {
		unsigned level;
		const char *served, *missed;
	} rows[] = {
		{ 0, "", "" },
		{ 0x8, " L1 own", " beyond L1" },
		{ 0x10, " fill buffer own", " beyond L1" },
		{ 0x20, " L2 own", " beyond L1" },
		{ 0x40, " L3 socket", " beyond L3" },
		{ 0x68, " L1 own", " beyond L3" }, /* several: the first served, the last missed */
		{ 0x80, " memory socket", "" },
		{ 0x100, " memory remote", "" },
		{ 0x200, " memory remote", "" },
		{ 0x400, " cache remote", "" },
		{ 0x800, " cache remote", "" },
		{ 0x1000, " I/O", "" },
		{ 0x2000, " uncached", "" },
	};

	for (size_t i = 0; i < 8 * ARRAY_SIZE(rows); i++) {
		unsigned level = rows[i / 8].level, how = i % 4 * 2, number = i & 4 ? 15 : 0;
		struct perfdata_record rec = { .type = PD_RECORD_SAMPLE,
					       .has = PD_SAMPLE_DATA_SRC };
		struct tare_access a;
		char says[80];

		snprintf(says, sizeof(says), "store%s",
			 how == MISS ? rows[i / 8].missed : rows[i / 8].served);
		rec.sample.data_src = SRC(4, level | how, 0, 0, 0, number, 0, 0, 0);
		access_common(&rec, &a);
		CHECK(access_from_sample(&rec, false, &a));
		CHECK_STR(words(&a), says, "level 0x%x, number %u", level | how, number);
	}
}

/* How Linux encodes IBS: for another node it sets remote and one hop, since IBS says no more. */
TEST(data_sources_of_ibs)
{
	static const struct {
		int line;
		uint64_t src;
		const char *says;
	} rows[] = {
		{ __LINE__, SRC(2, 0x82, 0, 0, 0, 13, 0, 0, 0), "load memory socket" },
		{ __LINE__, SRC(2, 0x102, 0, 0, 0, 13, 1, 0, 2), "load memory remote" },
		{ __LINE__, SRC(2, 0, 0, 0, 0, 14, 0, 0, 0), "load persistent memory socket" },
		{ __LINE__, SRC(2, 0, 0, 0, 0, 14, 1, 0, 2), "load persistent memory remote" },
		{ __LINE__, SRC(2, 0, 0, 0, 0, 9, 0, 0, 0), "load extension memory socket" },
		{ __LINE__, SRC(2, 0, 0, 0, 0, 9, 1, 0, 2), "load extension memory remote" },
		{ __LINE__, SRC(2, 0x402, 0, 0, 0, 11, 1, 0, 1),
		  "load cache socket" }, /* of another complex */
		{ __LINE__, SRC(2, 0x802, 0, 0, 0, 11, 1, 0, 2),
		  "load cache remote" }, /* of another node's */
		{ __LINE__, SRC(2, 0x442, 0, 0, 0, 11, 0, 0, 1),
		  "load cache socket" }, /* L3, or another core's */
		{ __LINE__, SRC(2, 0x1002, 0, 0, 0, 10, 0, 0, 0), "load I/O" },
		{ __LINE__, SRC(2, 0x1002, 0, 0, 0, 10, 1, 0, 2), "load I/O" },
		{ __LINE__, SRC(2, 0x42, 16, 0, 0, 3, 0, 0, 0), "load L3 near snoop:modified" },
		/* kernels that had no mem_lvl_num of these yet */
		{ __LINE__, SRC(2, 0x42, 0, 0, 0, 0, 0, 0, 0), "load L3 near" },
		{ __LINE__, SRC(2, 0x442, 16, 0, 0, 0, 0, 0, 0),
		  "load cache socket snoop:modified" },
		{ __LINE__, SRC(2, 0x402, 0, 0, 0, 0, 0, 0, 0), "load cache socket" },
		{ __LINE__, SRC(2, 0x802, 0, 0, 0, 0, 0, 0, 0), "load cache remote" },
		{ __LINE__, SRC(2, 0x102, 0, 0, 0, 13, 0, 0, 0), "load memory remote" },
		{ __LINE__, SRC(2, 0x102, 0, 0, 0, 0, 0, 0, 0), "load memory remote" },
		{ __LINE__, SRC(2, 0x12, 0, 0, 0, 0, 0, 0, 0), "load fill buffer own" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct perfdata_record rec = { .type = PD_RECORD_SAMPLE,
					       .has = PD_SAMPLE_DATA_SRC };
		struct tare_access a;

		rec.sample.data_src = rows[i].src;
		access_common(&rec, &a);
		CHECK(access_from_sample(&rec, true, &a), "row at line %d", rows[i].line);
		CHECK_STR(words(&a), rows[i].says, "row at line %d", rows[i].line);
	}
}

TEST(addresses_and_weights)
{
	struct perfdata_record rec = {
		.type = PD_RECORD_SAMPLE, .misc = 0x4002, .pid = 5, .tid = 6, .cpu = 3, .time = 99
	};
	struct tare_access a;

	rec.sample.data_src = SRC(2, 0x0a, 2, 0, 0x1a, 0, 0, 0, 0);
	rec.sample.ip = 0x1234;
	rec.has = PD_SAMPLE_DATA_SRC;
	access_common(&rec, &a);
	CHECK(access_from_sample(&rec, false, &a));
	CHECK_EQ(a.has &
			 (TARE_ACCESS_ADDRESS | TARE_ACCESS_TIME | TARE_ACCESS_CPU |
			  TARE_ACCESS_TASK | TARE_ACCESS_PERIOD | TARE_ACCESS_PHYSICAL |
			  TARE_ACCESS_PAGE_SIZE | TARE_ACCESS_SIZE),
		 0, "unrecorded values are absent");
	CHECK_EQ(a.has_latency, 0);
	CHECK(a.exact_ip && !a.kernel);

	rec.has |= PD_SAMPLE_ADDR | PD_SAMPLE_PHYS_ADDR | PD_SAMPLE_TIME | PD_SAMPLE_CPU |
		PD_SAMPLE_TID | PD_SAMPLE_WEIGHT | PD_SAMPLE_DATA_PAGE_SIZE;
	rec.misc = 1;
	rec.sample.addr = 0x7000;
	rec.sample.phys_addr = 0x9000;
	rec.sample.data_page_size = 4096;
	rec.sample.weight = 519;
	rec.sample.period = 10;
	access_common(&rec, &a);
	CHECK(access_from_sample(&rec, false, &a));
	CHECK_STR(words(&a), "load L1 own snoop:none tlb:hit use=519");
	CHECK(!a.exact_ip && a.kernel);
	CHECK_EQ(a.ip, 0x1234);
	CHECK_EQ(a.address, 0x7000);
	CHECK_EQ(a.physical, 0x9000);
	CHECK_EQ(a.page_size, 4096);
	CHECK_EQ(a.time_ns, 99);
	CHECK_EQ(a.cpu, 3);
	CHECK_EQ(a.pid * 10 + a.tid, 56);
	CHECK_EQ(a.period, 10);
	CHECK_EQ(a.has &
			 (TARE_ACCESS_ADDRESS | TARE_ACCESS_TIME | TARE_ACCESS_CPU |
			  TARE_ACCESS_TASK | TARE_ACCESS_PERIOD | TARE_ACCESS_PHYSICAL |
			  TARE_ACCESS_PAGE_SIZE | TARE_ACCESS_SIZE),
		 TARE_ACCESS_ADDRESS | TARE_ACCESS_TIME | TARE_ACCESS_CPU | TARE_ACCESS_TASK |
			 TARE_ACCESS_PERIOD | TARE_ACCESS_PHYSICAL | TARE_ACCESS_PAGE_SIZE);

	/* the kernel writes 0 for unknown */
	rec.sample.addr = rec.sample.phys_addr = rec.sample.weight = rec.sample.data_page_size = 0;
	access_common(&rec, &a);
	CHECK(access_from_sample(&rec, false, &a));
	CHECK_EQ(a.has & (TARE_ACCESS_ADDRESS | TARE_ACCESS_PHYSICAL | TARE_ACCESS_PAGE_SIZE), 0);
	CHECK_EQ(a.has_latency, 0);

	rec.has = (rec.has & ~PD_SAMPLE_WEIGHT) | PD_SAMPLE_WEIGHT_STRUCT;
	rec.sample.weight = 100 | 200ull << 32 | 7ull << 48;
	access_common(&rec, &a);
	CHECK(access_from_sample(&rec, false, &a));
	CHECK_STR(words(&a), "load L1 own snoop:none tlb:hit use=100 instruction=200 retire=7");
	access_common(&rec, &a);
	CHECK(access_from_sample(&rec, true, &a));
	CHECK_STR(words(&a), "load L1 own snoop:none tlb:hit miss=100 tag-to-retire=200");
}

TEST(weights_by_operation)
{
	enum {
		LOAD = 2,
		STORE = 4,
		BOTH = 6,
		PREFETCH = 8,
		STORE_SAMPLE = 0x2cd,
		STORE_LATENCY = 0x6d0,
		LOADS = 0x1cd,
		RAW = 4,
		ATOM = 10
	};
	static const struct {
		int line;
		unsigned op, type;
		uint64_t config;
		bool two_words;
		const char *says;
	} rows[] = {
		{ __LINE__, LOAD, RAW, LOADS, false, "load L1 own use=100" },
		{ __LINE__, LOAD, RAW, LOADS, true,
		  "load L1 own use=100 instruction=200 retire=7" },
		{ __LINE__, STORE, RAW, STORE_SAMPLE, false, "store L1 own store=100" },
		{ __LINE__, STORE, RAW, STORE_SAMPLE, true, "store L1 own retire=7 store=100" },
		{ __LINE__, STORE, RAW, 0x82d0, true, "store L1 own retire=7 store=100" },
		{ __LINE__, LOAD, RAW, STORE_SAMPLE, true,
		  "store L1 own retire=7 store=100" }, /* before Linux 6.0 */
		{ __LINE__, LOAD, ATOM, STORE_LATENCY, false, "store L1 own store=100" },
		{ __LINE__, LOAD, ATOM, STORE_SAMPLE, false, "load L1 own use=100" },
		{ __LINE__, BOTH, RAW, LOADS, true, "update L1 own retire=7" },
		{ __LINE__, PREFETCH, RAW, LOADS, false, "prefetch L1 own" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct perfdata_event event = { .attr = { .type = rows[i].type,
							  .config = rows[i].config },
						.name = (char *)"e" };
		struct perfdata_record rec = { .type = PD_RECORD_SAMPLE,
					       .event = &event,
					       .has = PD_SAMPLE_DATA_SRC |
						       (rows[i].two_words ? PD_SAMPLE_WEIGHT_STRUCT
									  : PD_SAMPLE_WEIGHT) };
		struct tare_access a;

		rec.sample.data_src = SRC(rows[i].op, 0x0a, 0, 0, 0, 0, 0, 0, 0);
		rec.sample.weight = rows[i].two_words ? 100 | 200ull << 32 | 7ull << 48 : 100;
		access_common(&rec, &a);
		CHECK(access_from_sample(&rec, false, &a), "row at line %d", rows[i].line);
		CHECK_STR(words(&a), rows[i].says, "row at line %d", rows[i].line);
	}
}

/* ---- IBS ---- */

TEST(ibs_operations)
{
	enum {
		VALID = 3 << 17,
		LIN = 1 << 17 | 1 << 18,
		LOAD = 1,
		STORE = 2,
		MISS = 1 << 7,
		L2MISS = 1 << 20
	};
	static const struct {
		int line;
		bool zen4;
		uint64_t data, data2, data3;
		const char *says;
		struct ibs_rules rules;
	} rows[] = {
		{ __LINE__, false, 0xb0002, 2, LIN | STORE | 3 << 22,
		  "store L1 own tlb:L1 tag-to-retire=11 complete-to-retire=2" },
		{ __LINE__, false, 0, 0, LIN | LOAD,
		  "load L1 own tlb:L1 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, false, 0, 0, LIN | LOAD | MISS | 9ull << 32,
		  "load L2 own tlb:L1 miss=9 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, false, 0, 2, LIN | LOAD | MISS | L2MISS | 9ull << 32,
		  "load cache socket snoop:modified tlb:L1 miss=9 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, false, 0, 0x12,
		  LIN | LOAD | MISS | L2MISS | 9ull << 32, /* RmtNode is the memory's */
		  "load cache socket snoop:modified tlb:L1 miss=9 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, false, 0, 0x22, LIN | LOAD | MISS | L2MISS | 9ull << 32,
		  "load cache socket tlb:L1 miss=9 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__,
		  false,
		  0,
		  2,
		  LIN | LOAD | MISS | L2MISS | 9ull << 32,
		  "load cache socket tlb:L1 miss=9 tag-to-retire=0 complete-to-retire=0",
		  { .no_state = true } },
		{ __LINE__,
		  false,
		  0,
		  2,
		  LIN | LOAD | MISS | L2MISS | 9ull << 32,
		  "load cache socket tlb:L1 miss=9 tag-to-retire=0 complete-to-retire=0",
		  { .unknown = true } },
		{ __LINE__, false, 0, 2, LIN | LOAD | MISS | 9ull << 32,
		  "load L2 own tlb:L1 miss=9 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, false, 0, 2, LIN | STORE | MISS | L2MISS,
		  "store beyond L1 tlb:L1 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, false, 0, 3, LIN | LOAD | MISS | L2MISS | 9ull << 32 | 1 << 2,
		  "load memory socket tlb:L2 miss=9 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, false, 0, 0x13,
		  LIN | LOAD | MISS | L2MISS | 9ull << 32 | 3 << 2 | 5ull << 48,
		  "load memory remote tlb:walk translation=5 miss=9 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, false, 0, 4, LIN | LOAD | MISS | L2MISS | 9ull << 32,
		  "load cache remote tlb:L1 miss=9 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, false, 0, 7, LIN | LOAD | MISS | L2MISS | 9ull << 32,
		  "load I/O tlb:L1 miss=9 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, false, 0, 0, LIN | LOAD | MISS | L2MISS | 1 << 16 | 9ull << 32,
		  "load fill buffer own tlb:L1 miss=9 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, false, 0, 0, LIN | LOAD | MISS | L2MISS | 9ull << 32,
		  "load beyond L1 tlb:L1 miss=9 tag-to-retire=0 complete-to-retire=0" },
		/* a load's source does not apply to stores */
		{ __LINE__, false, 0, 3, LIN | STORE | MISS | L2MISS,
		  "store beyond L1 tlb:L1 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, false, 0, 3, LIN | STORE | MISS | L2MISS | 1 << 16,
		  "store fill buffer own tlb:L1 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, true, 0, 1, LIN | LOAD | MISS | L2MISS | 9ull << 32,
		  "load L3 near snoop:modified tlb:L1 miss=9 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, true, 0, 0x21, LIN | LOAD | MISS | L2MISS | 9ull << 32,
		  "load L3 near tlb:L1 miss=9 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__,
		  true,
		  0,
		  1,
		  LIN | LOAD | MISS | L2MISS | 9ull << 32,
		  "load L3 near snoop:modified tlb:L1 miss=9 tag-to-retire=0 complete-to-retire=0",
		  { .unknown = true } },
		{ __LINE__, true, 0, 2, LIN | LOAD | MISS | L2MISS | 9ull << 32,
		  "load cache socket snoop:modified tlb:L1 miss=9 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, true, 0, 3, LIN | LOAD | MISS | L2MISS | 9ull << 32,
		  "load memory socket tlb:L1 miss=9 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, true, 0, 0x13, LIN | LOAD | MISS | L2MISS | 9ull << 32,
		  "load memory remote tlb:L1 miss=9 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, true, 0, 0x50, LIN | LOAD | MISS | L2MISS | 9ull << 32,
		  "load extension memory remote tlb:L1 miss=9 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, true, 0, 0x17, LIN | LOAD | MISS | L2MISS | 9ull << 32,
		  "load I/O tlb:L1 miss=9 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, true, 0, 5, LIN | LOAD | MISS | L2MISS | 9ull << 32,
		  "load cache remote snoop:modified tlb:L1 miss=9 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, true, 0, 0x40, LIN | LOAD | MISS | L2MISS | 9ull << 32,
		  "load extension memory socket tlb:L1 miss=9 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, true, 0, 6, LIN | LOAD | MISS | L2MISS | 9ull << 32,
		  "load persistent memory socket tlb:L1 miss=9 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, true, 0, 0x44, LIN | LOAD | MISS | L2MISS | 9ull << 32,
		  "load memory tlb:L1 miss=9 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, false, 0, 0, LIN | LOAD | STORE | 1 << 15,
		  "update L1 own tlb:L1 locked tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, false, 0, 0, LIN | 1 << 21 | LOAD | MISS | 9ull << 32,
		  "prefetch L2 own tlb:L1 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, false, 0, 2, LIN | LOAD | MISS | L2MISS | 1 << 14 | 9ull << 32,
		  "load uncached tlb:L1 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, false, 0, 7, LIN | LOAD | 1 << 14,
		  "load I/O tlb:L1 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, false, 0, 7, LIN | STORE | 1 << 14,
		  "store uncached tlb:L1 tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, false, 7ull << 35, 0, 0,
		  "branch taken mispredicted tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, false, 1ull << 37, 0, 0,
		  "branch not-taken tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, false, 1ull << 37, 0, LIN | LOAD,
		  "load L1 own tlb:L1 not-taken tag-to-retire=0 complete-to-retire=0" },
		{ __LINE__, false, 0, 0, 0, "other tag-to-retire=0 complete-to-retire=0" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ibs s = { .kind = IBS_OP, .has = 0xff, .rules = rows[i].rules };
		struct tare_access a = { .ip = 1 };

		s.rules.zen4 = rows[i].zen4;
		s.reg[IBS_OP_CTL] = VALID;
		s.reg[IBS_OP_RIP] = 0x4000;
		s.reg[IBS_OP_DATA] = rows[i].data;
		s.reg[IBS_OP_DATA2] = rows[i].data2;
		s.reg[IBS_OP_DATA3] = rows[i].data3;
		s.reg[IBS_DC_LINEAR] = 0x5000;
		s.reg[IBS_DC_PHYSICAL] = 0x6000;
		s.reg[IBS_BRANCH_TARGET] = 0x7000;
		CHECK(access_from_ibs(&s, &a), "row at line %d", rows[i].line);
		CHECK_STR(words(&a), rows[i].says, "row at line %d", rows[i].line);
		CHECK_EQ(a.ip, 0x4000, "row at line %d", rows[i].line);
		CHECK(a.exact_ip, "row at line %d", rows[i].line);
		CHECK_EQ(a.has & TARE_ACCESS_ADDRESS ? a.address : 0,
			 rows[i].data3 & LIN ? 0x5000 : 0, "row at line %d", rows[i].line);
		CHECK_EQ(a.has & TARE_ACCESS_PHYSICAL ? a.physical : 0,
			 rows[i].data3 & LIN ? 0x6000 : 0, "row at line %d", rows[i].line);
		CHECK_EQ(a.has & TARE_ACCESS_TARGET ? a.target : 0,
			 rows[i].data >> 37 & 1 ? 0x7000 : 0, "row at line %d", rows[i].line);
		CHECK_EQ(a.has & TARE_ACCESS_SIZE ? a.size : 0, rows[i].data3 >> 22 & 15 ? 4 : 0,
			 "row at line %d", rows[i].line);
	}
}

/* Zen 5: pages of three sizes, and no TLB result without a physical address. */
TEST(ibs_operations_by_page_size)
{
	enum { LIN = 1 << 17, PHY = 1 << 18, LOAD = 1, L1 = 1 << 2, L2 = 1 << 3 };
	static const struct {
		int line;
		bool page_field;
		uint64_t data3;
		const char *says;
		uint64_t page_size; /* 0: absent */
	} rows[] = {
		{ __LINE__, true, LIN | LOAD, "load L1 own tag-to-retire=0 complete-to-retire=0",
		  0 },
		{ __LINE__, true, LIN | LOAD | L1 | L2 | 1 << 4 | 5ull << 48,
		  "load L1 own tag-to-retire=0 complete-to-retire=0", 0 },
		{ __LINE__, true, LIN | PHY | LOAD,
		  "load L1 own tlb:L1 tag-to-retire=0 complete-to-retire=0", 1 << 12 },
		{ __LINE__, true, LIN | PHY | LOAD | L1 | 1 << 6 | 1 << 19,
		  "load L1 own tlb:L2 tag-to-retire=0 complete-to-retire=0", 1 << 12 },
		{ __LINE__, true, LIN | PHY | LOAD | 1 << 4,
		  "load L1 own tlb:L1 tag-to-retire=0 complete-to-retire=0", 1 << 21 },
		{ __LINE__, true, LIN | PHY | LOAD | 2 << 4,
		  "load L1 own tlb:L1 tag-to-retire=0 complete-to-retire=0", 1 << 30 },
		{ __LINE__, true, LIN | PHY | LOAD | 3 << 4,
		  "load L1 own tlb:L1 tag-to-retire=0 complete-to-retire=0", 0 },
		{ __LINE__, true, LIN | PHY | LOAD | L1 | L2 | 5ull << 48,
		  "load L1 own tlb:walk translation=5 tag-to-retire=0 complete-to-retire=0",
		  1 << 12 },
		{ __LINE__, false, LIN | LOAD,
		  "load L1 own tlb:L1 tag-to-retire=0 complete-to-retire=0", 0 },
		{ __LINE__, false, LIN | LOAD | L1 | 1 << 6,
		  "load L1 own tlb:L2 tag-to-retire=0 complete-to-retire=0", 1 << 21 },
		{ __LINE__, false, LIN | LOAD | L1 | 1 << 19,
		  "load L1 own tlb:L2 tag-to-retire=0 complete-to-retire=0", 1 << 30 },
		{ __LINE__, false, LIN | LOAD | L1 | L2 | 5ull << 48,
		  "load L1 own tlb:walk tag-to-retire=0 complete-to-retire=0", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ibs s = { .kind = IBS_OP,
				 .has = 0xff,
				 .rules.zen4 = true,
				 .caps = rows[i].page_field ? IBS_CAP_PAGE_SIZE : 0 };
		struct tare_access a = { .ip = 1 };

		s.reg[IBS_OP_CTL] = 3 << 17;
		s.reg[IBS_OP_DATA3] = rows[i].data3;
		CHECK(access_from_ibs(&s, &a), "row at line %d", rows[i].line);
		CHECK_STR(words(&a), rows[i].says, "row at line %d", rows[i].line);
		CHECK_EQ(a.has & TARE_ACCESS_PAGE_SIZE ? a.page_size : 0, rows[i].page_size,
			 "row at line %d", rows[i].line);
	}
}

TEST(ibs_that_says_little)
{
	struct ibs s = { .kind = IBS_OP, .has = 0xff };
	struct tare_access a = { .ip = 1 };

	CHECK(!access_from_ibs(&s, &a), "not valid");
	s.reg[IBS_OP_CTL] = 3 << 17;
	s.reg[IBS_OP_RIP] = 0x4000;
	s.reg[IBS_OP_DATA] = 1ull << 38;
	CHECK(access_from_ibs(&s, &a));
	CHECK(!a.exact_ip, "RIP invalid");
	CHECK_EQ(a.ip, 1, "the sample's own stays");
	for (int big = 0; big < 4; big++) {
		static const unsigned bits[] = { 5, 19, 4, 6 };

		a = (struct tare_access){ 0 };
		s.reg[IBS_OP_DATA3] = 1 | 1ull << bits[big];
		CHECK(access_from_ibs(&s, &a));
		CHECK(!(a.has & TARE_ACCESS_PAGE_SIZE), "no address, no page");
		s.reg[IBS_OP_DATA3] |= 1 << 17;
		CHECK(access_from_ibs(&s, &a));
		CHECK_EQ(a.page_size, big < 2 ? 1 << 30 : 1 << 21, "bit %u", bits[big]);
		CHECK(a.has & TARE_ACCESS_PAGE_SIZE);
	}
}

TEST(ibs_fetches)
{
	enum { NEW = 1 };
	static const uint64_t valid = 3ull << 48;
	static const struct {
		int line;
		bool zen4;
		unsigned extended; /* 0: register absent */
		uint64_t ctl;
		const char *says;
	} rows[] = {
		{ __LINE__, false, NEW, 0, "fetch tlb:L1" },
		{ __LINE__, false, NEW, 1ull << 50 | 7ull << 32, "fetch L1 own tlb:L1 fetch=7" },
		{ __LINE__, false, NEW, 1ull << 50 | 1ull << 51, "fetch L2 own tlb:L1 fetch=0" },
		{ __LINE__, false, NEW, 1ull << 50 | 1ull << 51 | 1ull << 58,
		  "fetch beyond L1 tlb:L1 fetch=0" },
		{ __LINE__, true, NEW, 1ull << 50 | 1ull << 51 | 1ull << 58,
		  "fetch L3 tlb:L1 fetch=0" },
		{ __LINE__, true, NEW, 1ull << 50 | 1ull << 51 | 1ull << 58 | 1ull << 61,
		  "fetch beyond L3 tlb:L1 fetch=0" },
		{ __LINE__, false, NEW, 1ull << 50 | 1ull << 55,
		  "fetch L1 own tlb:L2 translation=33 fetch=0" },
		{ __LINE__, false, NEW, 1ull << 50 | 3ull << 55,
		  "fetch L1 own tlb:walk translation=33 fetch=0" },
		{ __LINE__, false, 0, 1ull << 50 | 3ull << 55, "fetch L1 own tlb:walk fetch=0" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ibs s = { .kind = IBS_FETCH,
				 .has = rows[i].extended ? 0xf : 0x7,
				 .rules.zen4 = rows[i].zen4 };
		struct tare_access a = { 0 };

		s.reg[IBS_FETCH_CTL] = valid | rows[i].ctl;
		s.reg[IBS_FETCH_LINEAR] = 0x1000;
		s.reg[IBS_FETCH_PHYSICAL] = 0x2000;
		s.reg[IBS_FETCH_EXTENDED] = 33;
		CHECK(access_from_ibs(&s, &a), "row at line %d", rows[i].line);
		CHECK_STR(words(&a), rows[i].says, "row at line %d", rows[i].line);
		CHECK_EQ(a.ip, 0x1000);
		CHECK_EQ(a.has & TARE_ACCESS_PHYSICAL, 0, "bit 52 is clear");
		s.reg[IBS_FETCH_CTL] |= 1ull << 52 | 1ull << 53;
		a = (struct tare_access){ 0 };
		CHECK(access_from_ibs(&s, &a));
		CHECK_EQ(a.physical, 0x2000);
		CHECK_EQ(a.page_size, 1 << 21);
	}
}

/* Later ones report a fetch's result only together with a physical address. */
TEST(ibs_fetches_without_a_physical_address)
{
	static const struct {
		int line;
		const char *cpuid, *says, *says_physical;
	} rows[] = {
		{ __LINE__, "AuthenticAMD,26,79,0", "fetch L1 own tlb:L2 translation=33 fetch=7",
		  "fetch L1 own tlb:L2 translation=33 fetch=7" },
		{ __LINE__, "AuthenticAMD,26,80,0", "fetch",
		  "fetch L1 own tlb:L2 translation=33 fetch=7" },
		{ __LINE__, "AuthenticAMD,26,95,0", "fetch",
		  "fetch L1 own tlb:L2 translation=33 fetch=7" },
		{ __LINE__, "AuthenticAMD,27,0,0", "fetch",
		  "fetch L1 own tlb:L2 translation=33 fetch=7" },
		{ __LINE__, "AuthenticAMD,26,96,0", "fetch L1 own tlb:L2 translation=33 fetch=7",
		  "fetch L1 own tlb:L2 translation=33 fetch=7" },
		{ __LINE__, "AuthenticAMD,26,175,0", "fetch",
		  "fetch L1 own tlb:L2 translation=33 fetch=7" },
		{ __LINE__, "AuthenticAMD,26,207,0", "fetch",
		  "fetch L1 own tlb:L2 translation=33 fetch=7" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ibs s = { .kind = IBS_FETCH,
				 .has = 0xf,
				 .rules = ibs_rules_of(rows[i].cpuid, true) };
		struct tare_access a = { 0 };

		s.reg[IBS_FETCH_CTL] = 3ull << 48 | 1ull << 50 | 1ull << 55 | 7ull << 32;
		s.reg[IBS_FETCH_EXTENDED] = 33;
		CHECK(access_from_ibs(&s, &a), "row at line %d", rows[i].line);
		CHECK_STR(words(&a), rows[i].says, "row at line %d", rows[i].line);
		s.reg[IBS_FETCH_CTL] |= 1ull << 52;
		a = (struct tare_access){ 0 };
		CHECK(access_from_ibs(&s, &a), "row at line %d", rows[i].line);
		CHECK_STR(words(&a), rows[i].says_physical, "row at line %d", rows[i].line);
	}
}

/* ---- SPE ---- */

TEST(spe_cores)
{
	static const struct {
		int line;
		uint64_t midr, code;
		const char *says; /* NULL: the code is not defined */
	} rows[] = {
		{ __LINE__, 0x413fd0c1, 0, "load L1 own" },
		{ __LINE__, 0x413fd0c1, 8, "load L2 own" },
		{ __LINE__, 0x410fd490, 9, "load L2 near snoop:peer" },
		{ __LINE__, 0x411fd402, 10, "load L3 near snoop:peer" },
		{ __LINE__, 0x410fd4f0, 11, "load L3 socket snoop:hit" },
		{ __LINE__, 0x410fd4f0, 12, "load L3 socket snoop:peer" },
		{ __LINE__, 0x410fd4f0, 13, "load cache remote snoop:peer" },
		{ __LINE__, 0x410fd4f0, 14, "load memory socket" },
		{ __LINE__, 0x410fd4f0, 1, "load" },
		{ __LINE__, 0x410fd4f0, 77, "load" },
		{ __LINE__, 0xc00fac40, 7, "load memory socket" },
		{ __LINE__, 0xc00fac40, 8, "load L1 own" },
		{ __LINE__, 0x480fd060, 3, "load L3 socket snoop:modified" },
		{ __LINE__, 0x480fd060, 9, "load memory remote" },
		{ __LINE__, 0x480fd060, 13, "load I/O socket" },
	};
	struct spe_codes codes;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spe_record r = { .has = SPE_HAS_ADDRESS(SPE_PC) | SPE_HAS_OPERATION |
						SPE_HAS_SOURCE,
					.class = SPE_LOAD_STORE,
					.source = rows[i].code };
		struct tare_access a;

		CHECK(spe_codes_of(rows[i].midr, &codes), "row at line %d", rows[i].line);
		access_from_spe(&r, &codes, &a);
		CHECK_STR(words(&a), rows[i].says, "row at line %d", rows[i].line);
		access_from_spe(&r, NULL, &a);
		CHECK_STR(words(&a), "load", "of an unknown core");
	}
	CHECK(!spe_codes_of(0x410fd050, &codes), "Cortex-A55 has none");
	CHECK(!spe_codes_of(0, &codes));
	CHECK(!spe_codes_of(0x4f0fd0c0, &codes), "another implementer's part");
}

TEST(spe_events)
{
	static const struct {
		int line;
		unsigned class, operation;
		uint64_t events;
		const char *says;
	} rows[] = {
		{ __LINE__, SPE_LOAD_STORE, 0, 0x16, "load L1 own tlb:hit" },
		{ __LINE__, SPE_LOAD_STORE, 1, 0x1e, "store beyond L1 tlb:hit" },
		{ __LINE__, SPE_LOAD_STORE, 0, 0x31e, "load beyond L3 tlb:hit" },
		{ __LINE__, SPE_LOAD_STORE, 0, 0x13e, "load L3 tlb:walk" },
		{ __LINE__, SPE_LOAD_STORE, 0, 0x71e, "load beyond L3 remote tlb:hit" },
		{ __LINE__, SPE_LOAD_STORE, 0, 0x8000e, "load L2 own" },
		{ __LINE__, SPE_LOAD_STORE, 0, 0x18000e, "load beyond L1" },
		{ __LINE__, SPE_LOAD_STORE, 0, 0x200006, "load L1 own snoop:modified" },
		{ __LINE__, SPE_LOAD_STORE, 0, 0x800006, "load L1 own snoop:peer" },
		{ __LINE__, SPE_LOAD_STORE, 0, 0xa00006, "load L1 own snoop:modified" },
		{ __LINE__, SPE_LOAD_STORE, 0, 2, "load" },
		{ __LINE__, SPE_LOAD_STORE, 0x06, 2, "update locked" },
		{ __LINE__, SPE_LOAD_STORE, 0x0a, 2, "load locked" },
		{ __LINE__, SPE_LOAD_STORE, 0x0b, 2, "store locked" },
		{ __LINE__, SPE_LOAD_STORE, 0x12, 2, "load" }, /* acquire alone */
		{ __LINE__, SPE_BRANCH, 1, 0x42, "branch not-taken" },
		{ __LINE__, SPE_BRANCH, 1, 0x82, "branch taken mispredicted" },
		{ __LINE__, SPE_OTHER, 0, 2, "other" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spe_record r = { .has = SPE_HAS_ADDRESS(SPE_PC) | SPE_HAS_OPERATION |
						SPE_HAS_EVENTS,
					.class = rows[i].class,
					.operation = rows[i].operation,
					.events = rows[i].events };
		struct tare_access a;

		access_from_spe(&r, NULL, &a);
		CHECK_STR(words(&a), rows[i].says, "row at line %d", rows[i].line);
		CHECK_EQ(a.retired, (rows[i].events & 2) != 0);
	}
}

/* ---- whole recordings ---- */

static struct tare_accesses *fixture(const char *name)
{
	const char *root = getenv("TARE_FIXTURES");
	struct tare_error err = TARE_ERROR_INIT;
	struct tare_accesses *a;
	char path[600];

	snprintf(path, sizeof(path), "%s/perfdata/%s", root ? root : "../shared/fixtures", name);
	if (access(path, R_OK))
		tap_skip("fixtures", "no %s; TARE_FIXTURES names the folder", path);
	a = tare_accesses_open(path, &err);
	CHECK(a != NULL, "%s", err.what);
	return a;
}

TEST(no_error_after_success)
{
	struct tare_accesses *r = fixture("arm-spe.reconstructed.data");
	struct tare_error err = { .code = EIO, .what = "an earlier error" };
	struct tare_access a;

	CHECK_EQ(tare_accesses_next(r, &a, &err), 1);
	CHECK(err.code == 0 && !err.what[0], "%d, %s", err.code, err.what);
	tare_accesses_close(r);
}

TEST(spe_recording)
{
	struct tare_accesses *r = fixture("arm-spe.reconstructed.data");
	struct tare_access a;

	/* the machine's description says Neoverse N1 */
	CHECK_EQ(tare_accesses_next(r, &a, NULL), 1);
	CHECK_STR(words(&a), "load L1 own tlb:hit total=12 issue=4 translation=1");
	CHECK_EQ(a.ip, 0xffffba66eda1c2d0);
	CHECK(a.kernel && a.exact_ip);
	CHECK_EQ(a.address, 0xffff0e3703096b28);
	CHECK_EQ(a.time_ns, 44731163950, "TIME_CONV of the file is 1:1");
	CHECK_EQ(a.tid, 1000);
	CHECK_EQ(a.period, 1024);
	CHECK_EQ(tare_accesses_next(r, &a, NULL), 1);
	CHECK_STR(words(&a), "branch not-taken total=17 issue=16");
	CHECK_EQ(a.target, 0xffffba66edefb0e4);
	/* the second piece begins with the end of one record and ends within another */
	CHECK_EQ(tare_accesses_next(r, &a, NULL), 1);
	CHECK_STR(words(&a), "branch taken total=40 issue=39");
	CHECK(!(a.has & TARE_ACCESS_TIME), "closed by END");
	CHECK_EQ(tare_accesses_loss(r)->damaged, 56 - 9);
	CHECK_EQ(tare_accesses_next(r, &a, NULL), 1);
	CHECK_STR(words(&a), "branch taken total=42 issue=41");
	CHECK_EQ(a.time_ns, 3913207673451);
	CHECK_EQ(tare_accesses_next(r, &a, NULL), 0);
	CHECK(!tare_accesses_loss(r)->unknown_cpu);
	tare_accesses_close(r);
}

TEST(ibs_recording)
{
	struct tare_accesses *r = fixture("amd-ibs-fetch-op.reconstructed.data");
	struct tare_access a;

	CHECK_EQ(tare_accesses_next(r, &a, NULL), 1);
	CHECK_STR(words(&a), "fetch L1 own tlb:L1 fetch=190");
	CHECK_EQ(a.ip, 0xdee91a);
	CHECK_EQ(a.tid, 3619);
	CHECK_EQ(a.cpu, 38);
	CHECK_EQ(a.time_ns, 50306000115460);
	CHECK_EQ(a.period, 35034);
	CHECK_EQ(tare_accesses_next(r, &a, NULL), 1);
	CHECK_STR(words(&a), "other tag-to-retire=7 complete-to-retire=2");
	CHECK_EQ(a.has & TARE_ACCESS_ADDRESS, 0, "the registers hold stale addresses");
	CHECK_EQ(tare_accesses_next(r, &a, NULL), 0);
	CHECK_EQ(tare_accesses_loss(r)->damaged, 0);
	tare_accesses_close(r);
}

TEST(pebs_recording)
{
	struct tare_accesses *r = fixture("x86-pebs-memload.perf.data");
	struct tare_access a;
	uint32_t slowest = 0;
	int n = 0, locked = 0;

	for (; tare_accesses_next(r, &a, NULL) == 1; n++) {
		CHECK_EQ(a.kind, TARE_ACCESS_LOAD);
		CHECK(a.has & TARE_ACCESS_ADDRESS && a.has & TARE_ACCESS_PLACE &&
		      a.has_latency == 1u << TARE_LATENCY_USE);
		locked += a.locked;
		if (a.locked)
			slowest = a.latency[TARE_LATENCY_USE];
	}
	CHECK_EQ(n, 14);
	CHECK_EQ(locked, 1);
	CHECK_EQ(slowest, 519);
	CHECK_EQ(tare_accesses_loss(r)->other, 0);
	tare_accesses_close(r);
}

/*
 * The raw bytes of the exact engine's samples, for memory and branches. Raw bytes of other events,
 * or of another length, are ignored.
 */
TEST(raw_of_the_exact_engine)
{
	enum { ANY = 0xee };
	static const struct {
		int line;
		unsigned told;
		uint64_t value;
		uint32_t size;
		enum tare_access_origin origin;
		bool is;
		uint32_t has, bytes;
		bool taken;
	} rows[] = {
		{ __LINE__, 1, 32, 12, TARE_FROM_EXACT, true, TARE_ACCESS_SIZE, 32, false },
		{ __LINE__, 1, UINT32_MAX, 12, TARE_FROM_EXACT, true, TARE_ACCESS_SIZE, UINT32_MAX,
		  false },
		{ __LINE__, 1, 1ull << 32, 12, TARE_FROM_EXACT, true, 0, ANY, false },
		{ __LINE__, 1, 0, 12, TARE_FROM_EXACT, true, 0, ANY, false },
		{ __LINE__, 0, 32, 12, TARE_FROM_EXACT, false, 0, ANY, false },
		{ __LINE__, 2, 0x1234, 12, TARE_FROM_EXACT, true, TARE_ACCESS_TARGET, ANY, false },
		{ __LINE__, 2 | 4, 0x1234, 12, TARE_FROM_EXACT, true,
		  TARE_ACCESS_TARGET | TARE_ACCESS_TAKEN, ANY, false },
		{ __LINE__, 2 | 4 | 8, 0x1234, 12, TARE_FROM_EXACT, true,
		  TARE_ACCESS_TARGET | TARE_ACCESS_TAKEN, ANY, true },
		{ __LINE__, 1, 32, 12, TARE_FROM_PEBS, false, 0, ANY, false },
		{ __LINE__, 1, 32, 11, TARE_FROM_EXACT, false, 0, ANY, false },
		{ __LINE__, 1, 32, 20, TARE_FROM_EXACT, false, 0, ANY, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint8_t raw[24] = { (uint8_t)rows[i].told };
		struct perfdata_record rec = { .has = PD_SAMPLE_RAW,
					       .sample = { .raw = raw, .raw_size = rows[i].size } };
		struct tare_access a = { .origin = rows[i].origin, .size = ANY };

		memcpy(raw + 4, &rows[i].value, 8);
		CHECK_EQ(access_from_exact(&rec, &a), rows[i].is, "row at line %d", rows[i].line);
		CHECK_EQ(a.has, rows[i].has, "row at line %d", rows[i].line);
		CHECK_EQ(a.size, rows[i].bytes, "row at line %d", rows[i].line);
		CHECK_EQ(a.taken, rows[i].taken, "row at line %d", rows[i].line);
		if (rows[i].has & TARE_ACCESS_TARGET)
			CHECK_EQ(a.target, 0x1234, "row at line %d", rows[i].line);
	}
}

/* By the event, and by the branch records if the newest is of the sampled branch. */
TEST(branches)
{
	static const struct {
		int line;
		uint32_t type;
		uint64_t config;
		const char *name;
		bool intel;
		uint64_t from; /* of the newest branch record; 0: none */
		uint64_t flags;
		const char *words; /* NULL: no branch */
		enum tare_access_origin origin;
	} rows[] = {
		{ __LINE__, 0, 4, "branches", false, 0, 0, "branch", TARE_FROM_PEBS },
		{ __LINE__, 0, 4, "exact/branches/", false, 0, 0, "branch", TARE_FROM_EXACT },
		{ __LINE__, 0, 5, "branch-misses", false, 0, 0, "branch mispredicted",
		  TARE_FROM_PEBS },
		{ __LINE__, 0, 0x0800000004, "cpu_core/branches/", false, 0, 0, "branch",
		  TARE_FROM_PEBS },
		{ __LINE__, 4, 0xc4, "cpu/branch-instructions/P", true, 0, 0, "branch",
		  TARE_FROM_PEBS },
		{ __LINE__, 4, 0x20c4, "cpu/br_inst_retired.near_taken/P", true, 0x1000, 2,
		  "branch taken target", TARE_FROM_PEBS },
		{ __LINE__, 4, 0xc4, "cpu/branch-instructions/P", true, 0x1000, 1,
		  "branch taken mispredicted target", TARE_FROM_PEBS },
		{ __LINE__, 4, 0xc4, "cpu/branch-instructions/P", true, 0x1002, 1, "branch",
		  TARE_FROM_PEBS },
		{ __LINE__, 4, 0xc5, "cpu/branch-misses/P", true, 0x1000, 0,
		  "branch taken mispredicted target", TARE_FROM_PEBS },
		{ __LINE__, 10, 0xc5, "cpu_atom/branch-misses/P", true, 0, 0, "branch mispredicted",
		  TARE_FROM_PEBS },
		{ __LINE__, 4, 0xc4, "cpu/branch-instructions/P", false, 0, 0, NULL, 0 },
		{ __LINE__, 10, 0xc4, "uncore_cha/x/", true, 0, 0, NULL, 0 },
		{ __LINE__, 0, 0, "cycles", true, 0x1000, 1, NULL, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct perfdata_event ev = { .attr = { .type = rows[i].type,
						       .config = rows[i].config },
					     .name = (char *)rows[i].name };
		struct perfdata_branch b = { .from = rows[i].from,
					     .to = 0x2000,
					     .flags = rows[i].flags };
		struct perfdata_record rec = {
			.event = &ev,
			.has = PD_SAMPLE_IP | (b.from ? PD_SAMPLE_BRANCH_STACK : 0),
			.misc = 1 << 14,
			.sample = { .ip = 0x1000, .branches = &b, .n_branches = b.from != 0 }
		};
		struct tare_access a;
		char got[80];

		access_common(&rec, &a);
		CHECK_EQ(access_from_branch(&rec, rows[i].intel, &a), rows[i].words != NULL,
			 "row at line %d", rows[i].line);
		if (!rows[i].words)
			continue;
		CHECK(a.exact_ip && a.ip == 0x1000);
		CHECK_EQ(a.origin, rows[i].origin);
		snprintf(got, sizeof(got), "%s%s%s%s", tare_access_kind_name(a.kind),
			 a.has & TARE_ACCESS_TAKEN ? a.taken ? " taken" : " not-taken" : "",
			 a.has & TARE_ACCESS_MISPREDICTED && a.mispredicted ? " mispredicted" : "",
			 a.has & TARE_ACCESS_TARGET ? " target" : "");
		CHECK_STR(got, rows[i].words, "row at line %d", rows[i].line);
		if (a.has & TARE_ACCESS_TARGET)
			CHECK_EQ(a.target, 0x2000);
	}
}

TEST(a_recording_without_accesses)
{
	struct tare_accesses *r = fixture("x86-callchain.perf.data");
	struct tare_access a;

	CHECK_EQ(tare_accesses_next(r, &a, NULL), 0);
	CHECK(tare_accesses_loss(r)->other > 100);
	tare_accesses_close(r);
}

TEST_MAIN()
