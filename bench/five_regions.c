/* SPDX-License-Identifier: MIT */
/* Five regions of different work, about 10 ms in total: the program of false_alarms.py. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "tare/region.h"

enum { ROUNDS = 200, BYTES = 8192, NUMBERS = 500, BLOCKS = 20 };

TARE_REGION(whole, "whole");
TARE_REGION(fill, "fill");
TARE_REGION(sort, "sort");
TARE_REGION(sum, "sum");
TARE_REGION(heap, "heap");

static int by_value(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void one_round(int round, unsigned char *bytes, uint32_t *state)
{
	int numbers[NUMBERS];
	void *block[BLOCKS];
	volatile uint32_t sink = 0;
	uint32_t total = 5381;

	tare_region_begin(&fill);
	for (int i = 0; i < BYTES; i++) {
		*state = *state * 1664525 + 1013904223;
		bytes[i] = (unsigned char)(*state >> 24);
	}
	tare_region_end(&fill);
	tare_region_begin(&sort);
	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = (i * 7919 + round) % 1009;
	qsort(numbers, NUMBERS, sizeof(numbers[0]), by_value);
	tare_region_end(&sort);
	tare_region_begin(&sum);
	for (int i = 0; i < BYTES; i++)
		total = total * 33 + bytes[i];
	sink = total + (uint32_t)numbers[round];
	tare_region_end(&sum);
	tare_region_begin(&heap);
	for (int i = 0; i < BLOCKS; i++) {
		size_t size = 64 + (size_t)(i * round);

		block[i] = malloc(size);
		if (block[i])
			memset(block[i], 1, size);
	}
	for (int i = 0; i < BLOCKS; i++)
		free(block[i]);
	tare_region_end(&heap);
	(void)sink;
}

int main(void)
{
	static unsigned char bytes[BYTES];
	uint32_t state = 1;

	tare_region_begin(&whole);
	for (int i = 0; i < ROUNDS; i++)
		one_round(i, bytes, &state);
	tare_region_end(&whole);
	return 0;
}
