/* SPDX-License-Identifier: MIT */
#include "sample/ring_size.h"
#include "tap.h"

enum {
	BASE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_CPU
};

TEST(bytes_of_a_sample)
{
	static const struct {
		int line;
		uint64_t type;
		uint32_t stack;
		uint16_t frames;
		size_t members, bytes;
	} rows[] = {
		{ __LINE__, BASE, 0, 0, 0, 48 },
		{ __LINE__, BASE | PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC | 1u << 24, 0, 0, 0,
		  72 },
		{ __LINE__, BASE | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_PERIOD | PERF_SAMPLE_WEIGHT,
		  0, 0, 0, 72 },
		{ __LINE__, BASE | PERF_SAMPLE_READ, 0, 0, 0, 48 + 24 + 24 },
		{ __LINE__, BASE | PERF_SAMPLE_READ, 0, 0, 2, 48 + 24 + 72 },
		{ __LINE__, BASE | PERF_SAMPLE_CALLCHAIN, 0, 0, 0, 48 + 8 + 8 * 135 },
		{ __LINE__, BASE | PERF_SAMPLE_CALLCHAIN, 0, 10, 0, 48 + 8 + 8 * 18 },
		{ __LINE__, BASE | PERF_SAMPLE_RAW, 0, 0, 0, 48 + 8 + 128 },
		{ __LINE__, BASE | PERF_SAMPLE_BRANCH_STACK, 0, 0, 0, 48 + 16 + 768 },
		{ __LINE__, BASE | PERF_SAMPLE_REGS_USER, 0, 0, 0, 48 + 8 + 16 },
		{ __LINE__, BASE | PERF_SAMPLE_REGS_INTR, 0, 0, 0, 48 + 8 + 24 },
		{ __LINE__, BASE | PERF_SAMPLE_STACK_USER, 8192, 0, 0, 48 + 16 + 8192 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct perf_event_attr a = { .sample_type = rows[i].type,
					     .sample_stack_user = rows[i].stack,
					     .sample_max_stack = rows[i].frames,
					     .sample_regs_user = 0x5,
					     .sample_regs_intr = 0x7 };

		CHECK_EQ(sample_bytes(&a, rows[i].members), rows[i].bytes, "row at line %d",
			 rows[i].line);
	}
}

TEST(samples_a_second)
{
	static const struct {
		int line;
		uint32_t type;
		uint64_t config;
		bool freq;
		uint64_t period;
		unsigned precise;
		uint64_t most, rate;
	} rows[] = {
		{ __LINE__, PERF_TYPE_HARDWARE, 0, true, 4000, 0, 0, 4000 },
		{ __LINE__, PERF_TYPE_HARDWARE, 0, true, 4000, 0, 1000, 1000 },
		{ __LINE__, PERF_TYPE_HARDWARE, 0, false, 36000000, 0, 0, 1000 },
		{ __LINE__, PERF_TYPE_HARDWARE, 0, false, 1000, 0, 0, 100000 },
		{ __LINE__, PERF_TYPE_HARDWARE, 0, false, 1000, 0, 25000, 25000 },
		/* the kernel does not throttle samples that the hardware writes */
		{ __LINE__, PERF_TYPE_RAW, 0x1cd, false, 1000, 2, 25000, 36000000 },
		{ __LINE__, PERF_TYPE_RAW, 0x1cd, true, 50000, 2, 25000, 25000 },
		{ __LINE__, PERF_TYPE_RAW, 0x1cd, false, 0, 2, 25000, 0 },
		{ __LINE__, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false, 100000, 0, 0,
		  10000 },
		{ __LINE__, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, true, 999, 0, 0, 999 },
		{ __LINE__, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false, 1, 0, 0, 0 },
		{ __LINE__, PERF_TYPE_TRACEPOINT, 0, false, 1, 0, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct perf_event_attr a = { .type = rows[i].type,
					     .config = rows[i].config,
					     .freq = rows[i].freq,
					     .sample_period = rows[i].period,
					     .precise_ip = rows[i].precise & 3 };

		CHECK_EQ(sample_rate(&a, rows[i].most), rows[i].rate, "row at line %d",
			 rows[i].line);
	}
}

/*
 * The data of 50 ms fits in three quarters of the buffer, but not in three quarters of half of it.
 */
TEST(a_ring_holds_what_comes_before_it_is_read)
{
	static const struct {
		int line;
		uint64_t period; /* of each */
		unsigned events, by_aux, precise;
		size_t least, most, bytes;
	} rows[] = {
		{ __LINE__, 0, 1, 0, 0, 4096, 1 << 20, 4096 },
		/* 100000 per second of 48 bytes: 240,000 in 50 ms */
		{ __LINE__, 1000, 1, 0, 0, 4096, 1 << 20, 512 << 10 },
		{ __LINE__, 1000, 2, 0, 0, 4096, 1 << 20, 1 << 20 },
		{ __LINE__, 1000, 2, 1, 0, 4096, 1 << 20, 512 << 10 },
		{ __LINE__, 1000, 1, 0, 0, 1 << 20, 2 << 20, 1 << 20 },
		{ __LINE__, 1000, 1, 0, 0, 4096, 256 << 10, 256 << 10 },
		/*
		 * exactly three quarters: 36e9 / 73242187 = 491 per second, 1178 bytes; 1277 per
		 * second, 3064 bytes; 1281 per second, 3074
		 */
		{ __LINE__, 73242187, 1, 0, 0, 1024, 1 << 20, 2048 },
		{ __LINE__, 28191074, 1, 0, 0, 1024, 1 << 20, 4096 },
		{ __LINE__, 28103044, 1, 0, 0, 1024, 1 << 20, 8192 },
		/* 36 million per second, for each of many: overflows any number of bytes */
		{ __LINE__, 1000, 1, 0, 2, 4096, 64 << 20, 64 << 20 },
		{ __LINE__, 1000, 1, 0, 2, 4096, 1 << 30, 128 << 20 },
		{ __LINE__, 1, 16, 0, 2, 4096, 1 << 30, 1 << 30 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct ring_size room = { .least = rows[i].least, .most = rows[i].most };
		struct sampled event[16] = { 0 };

		for (unsigned k = 0; k < rows[i].events; k++) {
			event[k].attr = (struct perf_event_attr){ .type = PERF_TYPE_RAW,
								  .sample_type = BASE,
								  .sample_period = rows[i].period,
								  .precise_ip = rows[i].precise &
									  3 };
			event[k].aux = k < rows[i].by_aux;
		}
		CHECK_EQ(sample_ring_bytes(event, rows[i].events, &room), rows[i].bytes,
			 "row at line %d", rows[i].line);
	}
}

TEST_MAIN()
