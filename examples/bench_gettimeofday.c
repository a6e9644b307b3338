/* SPDX-License-Identifier: MIT */
/*
 * The cost of gettimeofday(), called nine times per run.
 *
 *	tare bench bench_gettimeofday.c
 */
#include <sys/time.h>
#include "tare/bench.h"

void execute_test(tare_bench_mark *start, tare_bench_mark *stop)
{
	struct timeval tv;

	for (int i = 1; i < 10; i++) {
		start();
		gettimeofday(&tv, NULL);
		stop();
	}
}
