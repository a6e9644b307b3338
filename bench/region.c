/* SPDX-License-Identifier: MIT */
/*
 * Measures the cost of a region: 2,000,000 empty intervals with 64 labels, as in measureme's own
 * benchmark, alternating with as many pairs of clock reads. Linked with the shared libtare, like
 * user programs.
 *
 *	region_cost time FILE		rows for bench/run; FILE is recorded into
 *	region_cost instructions FILE	the same by the exact engine's running count, under `exact-run -r`
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include "tare/exact.h"
#include "tare/region.h"

enum { LABELS = 64, INTERVALS = 2000000, CHUNKS = 100, THREADS = 2 };

static struct tare_region region[LABELS];
static char name[LABELS][8];

static __attribute__((noinline)) void intervals(int n)
{
	for (int i = 0; i < n; i++) {
		struct tare_region *r = &region[i % LABELS];

		tare_region_begin(r);
		tare_region_end(r);
	}
}

static __attribute__((noinline)) void clocks(int n)
{
	for (int i = 0; i < n; i++) {
		struct tare_region *r = &region[i % LABELS];

		__asm__ volatile("" : : "r"(r), "r"(tare_pmc_clock()));
		__asm__ volatile("" : : "r"(tare_pmc_clock()));
	}
}

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *x, int n)
{
	qsort(x, (size_t)n, sizeof(*x), by_size);
	return x[n / 2];
}

/*
 * ns per interval, and per pair of clock reads: CPU time of this thread, alternating, the median of
 * many.
 */
static void cost(double *interval, double *pair)
{
	enum { EACH = INTERVALS / CHUNKS };
	double with[CHUNKS], without[CHUNKS];

	for (int i = 0; i < CHUNKS; i++) {
		double a = now(CLOCK_THREAD_CPUTIME_ID), b, c;

		intervals(EACH);
		b = now(CLOCK_THREAD_CPUTIME_ID);
		clocks(EACH);
		c = now(CLOCK_THREAD_CPUTIME_ID);
		with[i] = (b - a) / EACH;
		without[i] = (c - b) / EACH;
	}
	*interval = median(with, CHUNKS);
	*pair = median(without, CHUNKS);
}

static void *all(void *ns)
{
	double pair;

	cost(ns, &pair);
	return NULL;
}

/*
 * Wall time also includes waiting for a CPU. So it uses short bursts of threads that start
 * together, and takes the shortest, in which each thread had a CPU. Bursts of a single thread, of
 * the same length, are interleaved.
 */
enum { BURSTS = 400, BURST = 20000 };

static double one_burst = 1e18, two_bursts = 1e18;
static unsigned arrived;

static void meet(unsigned *times)
{
	++*times;
	__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL);
	while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < *times * THREADS)
		sched_yield();
}

static void *bursts(void *first)
{
	unsigned times = 0;
	double from, ns;

	for (int i = 0; i < BURSTS; i++) {
		meet(&times);
		from = now(CLOCK_MONOTONIC);
		if (first)
			intervals(BURST);
		ns = now(CLOCK_MONOTONIC) - from;
		if (first && ns < one_burst)
			one_burst = ns;
		meet(&times);
		from = now(CLOCK_MONOTONIC);
		intervals(BURST);
		meet(&times); /* until the last one is done */
		ns = now(CLOCK_MONOTONIC) - from;
		if (first && ns < two_bursts)
			two_bursts = ns;
	}
	return NULL;
}

static void start(const char *path, const char *counters)
{
	struct tare_error err = TARE_ERROR_INIT;

	if (tare_regions_start(path, counters, &err) < 0) {
		fprintf(stderr, "region_cost: %s\n", err.what);
		exit(1);
	}
	intervals(LABELS);
}

static void stop(void)
{
	struct tare_error err = TARE_ERROR_INIT;

	if (tare_regions_stop(&err) < 0) {
		fprintf(stderr, "region_cost: %s\n", err.what);
		exit(1);
	}
}

static void row(const char *what, double figure, const char *unit, const char *bound)
{
	printf("%s\t%.3g\t%s\t%s\tbench/region.c, wall-time\n", what, figure, unit, bound);
}

static void times(const char *path)
{
	double interval, pair, off, two[THREADS], sum = 0;
	pthread_t thread[THREADS];
	struct stat st;

	intervals(LABELS); /* now they know that nothing is recorded */
	cost(&off, &pair);
	row("a region that is not recorded", off, "ns", "");
	start(path, "wall-time");
	cost(&interval, &pair);
	stop();
	stat(path, &st);
	row("a region of nothing, beyond two reads of the clock", interval - pair, "ns", "<= 8");
	row("the same, in all", interval, "ns", "<= 45");
	row("the same, in the file", (double)st.st_size / INTERVALS, "bytes", "<= 8");

	start(path, "wall-time");
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, all, &two[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		sum += two[i];
	}
	stop();
	row("two threads at once: CPU time of a region, as a ratio to one thread's",
	    sum / THREADS / interval, "", "<= 1.2");
	start(path, "wall-time");
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, bursts, i ? NULL : &two[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	stop();
	row("two threads at once: wall time for as many regions, as a ratio to one thread's",
	    two_bursts / THREADS / one_burst, "", "<= 0.55");
	remove(path);
}

static int64_t counted(void (*run)(int), int n)
{
	int64_t before = tare_exact_now();

	run(n);
	return tare_exact_now() - before;
}

static int instructions(const char *path)
{
	double regions, reads;

	if (tare_exact_now() < 0) {
		fprintf(stderr,
			"region_cost: to be run under the exact engine, with a running count\n");
		return 1;
	}
	start(path, "wall-time");
	regions = (double)counted(intervals, INTERVALS) / INTERVALS;
	reads = (double)counted(clocks, INTERVALS) / INTERVALS;
	stop();
	row("a region of nothing, beyond two reads of the clock", regions - reads, "instructions",
	    "<= 40");
	start(path, "instructions:u");
	regions = (double)counted(intervals, INTERVALS) / INTERVALS;
	stop();
	printf("a region of nothing that counts instructions:u\t%.3g\tinstructions\t\tbench/region.c, exact engine\n",
	       regions);
	remove(path);
	return 0;
}

int main(int argc, char **argv)
{
	for (int i = 0; i < LABELS; i++) {
		snprintf(name[i], sizeof(name[i]), "r%d", i);
		region[i] = (struct tare_region){ TARE_LABEL_UNKNOWN, 0, name[i], "" };
	}
	if (argc == 3 && !strcmp(argv[1], "instructions"))
		return instructions(argv[2]);
	if (argc != 3 || strcmp(argv[1], "time")) {
		fprintf(stderr, "usage: region_cost time|instructions FILE\n");
		return 2;
	}
	times(argv[2]);
	return 0;
}
