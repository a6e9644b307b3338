/* SPDX-License-Identifier: MIT */
/*
 * Named parts of a program.
 *
 *	cc -O2 region.c $(pkg-config --cflags --libs tare)
 *	tare regions -e wall-time -o region.tare -- ./a.out
 *	tare summarize region.tare
 */
#include <stdio.h>
#include <tare/region.h>

TARE_REGION(all, "all");
TARE_REGION(fill, "fill");
TARE_REGION(sum, "sum");

enum { SIZE = 1 << 16, ROUNDS = 50 };

static unsigned numbers[SIZE];

static void fill_numbers(unsigned seed)
{
	TARE_REGION_SCOPE(&fill);
	for (int i = 0; i < SIZE; i++)
		numbers[i] = seed = seed * 1664525u + 1013904223u;
}

static unsigned sum_up(void)
{
	TARE_REGION_SCOPE(&sum);
	unsigned total = 0;

	for (int i = 0; i < SIZE; i++)
		total += numbers[i];
	return total;
}

int main(void)
{
	TARE_REGION_SCOPE(&all);
	unsigned total = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		const char *which = i % 2 ? "odd" : "even";
		/*
		 * Returns the same label for the same texts; 0 if recording is off, and then
		 * nothing happens.
		 */
		TARE_LABEL_SCOPE(tare_label_new("round", &which, 1));

		fill_numbers(i);
		total += sum_up();
		tare_label_integer(tare_region_label(&sum), total);
	}
	printf("%u\n", total);
	return 0;
}
