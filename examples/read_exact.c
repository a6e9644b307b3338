/* SPDX-License-Identifier: MIT */
/*
 * The exact cost of a few instructions: a program reads its own counts while it runs under the
 * exact engine. No PMU is needed, and the result is the same in each run.
 *
 *	cc -O2 read_exact.c $(pkg-config --cflags --libs tare)
 *	tare stat --engine exact -- ./a.out
 */
#include <inttypes.h>
#include <stdio.h>
#include "tare/exact.h"

static volatile uint64_t sink;

static void work(unsigned rounds)
{
	for (unsigned i = 0; i < rounds; i++)
		sink += i;
}

int main(void)
{
	int64_t before[TARE_EXACT_CLASSES], after[TARE_EXACT_CLASSES];
	struct tare_error err = TARE_ERROR_INIT;
	int ret = tare_exact_read(before, TARE_EXACT_CLASSES, &err);
	int64_t now = tare_exact_now();

	if (ret == 0) {
		work(1000);
		ret = tare_exact_read(after, TARE_EXACT_CLASSES, &err);
	}
	if (ret < 0) {
		printf("no counts: %s\n  %s\n", err.what, err.hint);
		return 0;
	}
	printf("1000 rounds, and the second reading:\n");
	for (int c = 0; c < TARE_EXACT_CLASSES; c++)
		if (after[c] != before[c])
			printf("%12" PRId64 " %s\n", after[c] - before[c],
			       tare_exact_class_name((enum tare_exact_class)c));
	if (now < 0)
		return 0;
	/*
	 * With a running count, one load is sufficient. It is the last instruction that it counts.
	 */
	now = tare_exact_now();
	work(1000);
	printf("%12" PRId64 " instructions of 1000 rounds and one load\n", tare_exact_now() - now);
	return 0;
}
