/* SPDX-License-Identifier: MIT */
/*
 * Two threads, each with its own counter, but in one cache line: every increment takes the line
 * from the other core. With -DFIXED, each counter has its own line.
 *
 *	cc -g -O1 -pthread false_sharing.c -o slow && cc -g -O1 -pthread -DFIXED false_sharing.c -o fast
 *	tare record --precise=memory -o slow.data -- ./slow && tare sharing slow.data
 *	tare record --precise=memory -o fast.data -- ./fast && tare sharing fast.data
 *
 * Without a PMU, the exact engine detects it, too: tare record --engine exact --precise=memory.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2, LINE = 64 };

struct counter {
#ifdef FIXED
	_Alignas(LINE)
#endif
		volatile long n;
};

static _Alignas(LINE) struct counter counters[THREADS];
static pthread_barrier_t start;
static long rounds;

static void *count(void *arg)
{
	struct counter *c = arg;

	pthread_barrier_wait(&start);
	for (long i = 0; i < rounds; i++)
		c->n++;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];
	long sum = 0;

	rounds = argc > 1 ? atol(argv[1]) : 20000000;
	pthread_barrier_init(&start, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, count, &counters[i]))
			return 1;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		sum += counters[i].n;
	}
	printf("%ld\n", sum);
	return sum != THREADS * rounds;
}
