/* SPDX-License-Identifier: MIT */
/*
 * A loop over memory: per operation and per byte, with warm and with cold caches.
 *
 *	tare bench bench_sum.c
 *	tare bench --cold flush bench_sum.c
 */
#include "tare/bench.h"

enum { NUMBERS = 4096 };

static uint64_t numbers[NUMBERS], sum;

void setup(void)
{
	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = (uint64_t)i;
}

uint64_t ops(void)
{
	return NUMBERS;
}

uint64_t bytes(void)
{
	return sizeof(numbers);
}

size_t buffers(struct tare_bench_buffer *out, size_t most)
{
	if (most)
		out[0] = (struct tare_bench_buffer){ numbers, sizeof(numbers) };
	return 1;
}

void execute_test(tare_bench_mark *start, tare_bench_mark *stop)
{
	uint64_t s = 0;

	start();
	for (int i = 0; i < NUMBERS; i++)
		s += numbers[i];
	/* forces the sum to be computed before stop() */
	__asm__ volatile("" : : "r"(s) : "memory");
	stop();
	sum = s;
}
