/* SPDX-License-Identifier: MIT */
/*
 * The overhead of `tare stat` compared with `perf stat`: both count task-clock and page-faults of
 * `true`, alternately, so that other load affects both. Prints rows for bench/run.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAIRS = 60, WARM_UP = 3 };

struct cost {
	double wall_ms, cpu_ms;
	long rss_kib;
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static struct cost run(char *const argv[])
{
	double begun = now_ms();
	struct rusage used;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, 1);
		dup2(null, 2);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &used) != pid || status != 0) {
		fprintf(stderr, "startup: %s failed\n", argv[0]);
		exit(1);
	}
	return (struct cost){ now_ms() - begun,
			      (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
				      (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3,
			      used.ru_maxrss };
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_size);
	return (v[(n - 1) / 2] + v[n / 2]) / 2;
}

int main(int argc, char **argv)
{
	static double ratio[PAIRS], tare_ms[PAIRS], perf_ms[PAIRS], bare_ms[PAIRS];
	char *tare[] = { argc > 1 ? argv[1] : (char *)"tare",
			 (char *)"stat",
			 (char *)"-e",
			 (char *)"task-clock,page-faults",
			 (char *)"--",
			 (char *)"true",
			 NULL };
	char *perf[] = {
		(char *)"perf", (char *)"stat", (char *)"-e", (char *)"task-clock,page-faults",
		(char *)"--",   (char *)"true", NULL
	};
	char *bare[] = { (char *)"true", NULL };
	long rss = 0, perf_rss = 0;

	for (int i = -WARM_UP; i < PAIRS; i++) {
		/* They alternate in going first. */
		struct cost p = { 0 }, t;

		if (i & 1)
			p = run(perf);
		t = run(tare);
		if (!(i & 1))
			p = run(perf);
		if (i < 0)
			continue;
		tare_ms[i] = t.wall_ms;
		perf_ms[i] = p.wall_ms;
		bare_ms[i] = run(bare).wall_ms;
		ratio[i] = t.wall_ms / p.wall_ms;
		rss = t.rss_kib > rss ? t.rss_kib : rss;
		perf_rss = p.rss_kib > perf_rss ? p.rss_kib : perf_rss;
	}
	printf("wall time of `tare stat -e task-clock,page-faults -- true` / `perf "
	       "stat`\t%.3f\t\t<= 0.5\t"
	       "median of %d alternating pairs: %.2f ms and %.2f ms, `true` alone %.2f ms\n",
	       median(ratio, PAIRS), PAIRS, median(tare_ms, PAIRS), median(perf_ms, PAIRS),
	       median(bare_ms, PAIRS));
	printf("peak memory of the same\t%.2f\tMiB\t<= 6\tlargest of %d runs; perf: %.2f MiB\n",
	       (double)rss / 1024, PAIRS, (double)perf_rss / 1024);
	return 0;
}
