/* SPDX-License-Identifier: MIT */
/*
 * Where time goes: words are counted in a list, and most of the time is spent on lookups. One of
 * two callers is responsible.
 *
 *	cc -g -O1 where.c -o where
 *	tare record --call-graph dwarf -- ./where	samples, with who called
 *	tare report				functions, most expensive first
 *	tare report --callers find		the responsible caller: index_all
 *	tare annotate find			an instruction: the load that waits for another
 *	tare report --html where.html		a page with a flame graph
 *	tare export -o where.firefox.json perf.data	for profiler.firefox.com
 *
 * -g instead uses frame pointers for the callers: cheaper, and complete only in programs built for
 * it (-fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -fno-shrink-wrap). Without a PMU, the
 * samples are from a timer (cpu-clock). tare record --engine exact --call-graph dwarf -- ./where
 * takes the same samples every time.
 */
#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 1 << 12 };

struct word {
	unsigned key, n;
	struct word *next;
};

static struct word *words;

static __attribute__((noinline)) struct word *find(unsigned key)
{
	struct word *w = words;

	while (w && w->key != key)
		w = w->next;
	return w;
}

static void add(unsigned key)
{
	struct word *w = find(key);

	if (!w) {
		w = calloc(1, sizeof(*w));
		if (!w)
			exit(1);
		w->key = key;
		w->next = words;
		words = w;
	}
	w->n++;
}

static __attribute__((noinline)) void index_all(unsigned rounds)
{
	unsigned dice = 1;

	for (unsigned i = 0; i < rounds; i++) {
		dice = dice * 1664525 + 1013904223;
		add((dice >> 8) % WORDS);
	}
}

static __attribute__((noinline)) unsigned look_up(unsigned rounds)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < rounds; i++) {
		const struct word *w = find(i % WORDS);

		sum += w ? w->n : 0;
	}
	return sum;
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 100000;

	index_all(rounds);
	printf("%u\n", look_up(rounds / 10));
	return 0;
}
