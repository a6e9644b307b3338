/* SPDX-License-Identifier: MIT */
/*
 * A program that is itself a test: for static programs, or those that need their own main().
 *
 *	cc -O2 -fno-optimize-sibling-calls bench_program.c $(pkg-config --cflags --libs tare) -o bench_program
 *	tare bench ./bench_program
 */
#include <stdio.h>
#include "tare/bench.h"

enum { ROUNDS = 1000 };

static uint64_t rounds(void)
{
	return ROUNDS;
}

/* Two instructions per round, on both x86-64 and arm64, and one before the loop. */
static void loop(tare_bench_mark *start, tare_bench_mark *stop)
{
	uint64_t n;

	start();
#if defined(__x86_64__)
	__asm__ volatile("mov %1, %0\n1:\tdec %0\n\tjnz 1b" : "=&r"(n) : "i"(ROUNDS) : "cc");
#else
	__asm__ volatile("mov %0, %1\n1:\tsubs %0, %0, #1\n\tb.ne 1b"
			 : "=&r"(n)
			 : "i"(ROUNDS)
			 : "cc");
#endif
	stop();
}

int main(int argc, char **argv)
{
	const struct tare_bench_test test = { .execute_test = loop, .ops = rounds };
	struct tare_error err = TARE_ERROR_INIT;

	if (tare_bench_main(argc, argv, &test, &err) == 0)
		return 0;
	printf("%s\n  %s\n", err.what, err.hint);
	return argc > 1;
}
