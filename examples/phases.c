/* SPDX-License-Identifier: MIT */
/*
 * A run with three phases, twice: arithmetic, a walk through memory, unpredictable branches. An
 * average over the run does not show them.
 *
 *	cc -g -O1 phases.c -o phases
 *	tare windows --every 1M -- ./phases		a row for each million instructions; phases are found and listed
 *	tare windows --every 1M --html phases.html -- ./phases
 *
 *	tare windows --format csv -o A.csv -- ./phases
 *	tare windows --format csv -o B.csv -- ./phases 1		arithmetic of another length in the middle
 *	tare windows diff A.csv B.csv			where the two runs diverge
 *
 * Without a PMU, the exact engine counts instructions by class, and the windows are the same in
 * every run.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 1 << 20 };

static uint32_t cell[CELLS];

static __attribute__((noinline)) uint32_t arithmetic(uint32_t x, unsigned rounds)
{
	while (rounds--)
		x = (x ^ x >> 15) * 2654435761u + 7;
	return x;
}

static __attribute__((noinline)) uint32_t walk(unsigned rounds)
{
	uint32_t at = 0;

	while (rounds--)
		at = cell[at]; /* each address depends on the previous load */
	return at;
}

static __attribute__((noinline)) uint32_t branches(uint32_t x, unsigned rounds)
{
	volatile uint32_t odd = 0, even = 0; /* volatile: otherwise there would be no branch */

	while (rounds--) {
		x = x * 1664525 + 1013904223;
		if (x >> 31)
			odd = odd + 1;
		else
			even = even + x;
	}
	return odd + even;
}

int main(int argc, char **argv)
{
	uint32_t sum = 0;

	(void)argv;
	for (uint32_t i = 0; i < CELLS; i++)
		cell[i] = (i * 1103515245u + 12345) % CELLS; /* one cycle through all cells */
	for (unsigned i = 0; i < 2; i++) {
		sum += arithmetic(i, i && argc > 1 ? 1200000 : 1000000);
		sum += walk(2000000);
		sum += branches(i, 1000000);
	}
	printf("%u\n", sum);
	return 0;
}
