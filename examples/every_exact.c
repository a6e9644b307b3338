/* SPDX-License-Identifier: MIT */
/*
 * A limit on the instructions of a computation. It ends at the same instruction in each run and on
 * each machine, however busy the machine is. Needs the exact engine.
 *
 *	cc -O2 every_exact.c $(pkg-config --cflags --libs tare)
 *	tare stat --engine exact -- ./a.out
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include "tare/exact.h"

enum { PERIOD = 10000, LIMIT = 1000000 };

static volatile sig_atomic_t calls, over;

/* Runs between two instructions, so it only sets flags. */
static void count(uint64_t instructions, void *context, void *with)
{
	(void)context, (void)with;
	calls++;
	over = instructions >= LIMIT;
}

/* The largest number of steps of a Collatz sequence, until the limit. */
static uint64_t search(uint64_t *most)
{
	uint64_t start;

	for (start = 1; !over; start++) {
		uint64_t steps = 0;

		for (uint64_t x = start; x != 1; steps++)
			x = x % 2 ? 3 * x + 1 : x / 2;
		if (steps > *most)
			*most = steps;
	}
	return start;
}

int main(void)
{
	struct tare_error err = TARE_ERROR_INIT;
	uint64_t most = 0, tried;

	if (tare_exact_every(PERIOD, count, NULL, &err) < 0) {
		printf("no calls: %s\n  %s\n", err.what, err.hint);
		return 0;
	}
	tried = search(&most);
	tare_exact_every(0, NULL, NULL, NULL);
	printf("%d calls; %" PRIu64 " numbers within the limit, at most %" PRIu64 " steps\n",
	       (int)calls, tried, most);
	return 0;
}
