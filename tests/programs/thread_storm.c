/* SPDX-License-Identifier: MIT */
/*
 * Starts and joins threads. Each touches one page of its stack.
 *
 *	thread_storm THREADS				100 at a time
 *	thread_storm THREADS PROCESSES AT_A_TIME	this many in each process, all at the same
 *							time; prints the page faults of all
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS_AT_A_TIME = 100, STACK = 65536 };

static pthread_barrier_t all_there;
static int together; /* number of threads that wait for each other */

static void *touch(void *unused)
{
	volatile char page[4096] = { 1 };

	if (together)
		pthread_barrier_wait(&all_there);
	return page[0] ? unused : NULL;
}

static int start_and_join(int n)
{
	pthread_t *thread = calloc((size_t)n, sizeof(*thread));
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (int i = 0; i < n; i++)
		if (!thread || pthread_create(&thread[i], &attr, touch, NULL))
			return 1;
	for (int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	free(thread);
	return 0;
}

static int wait_for_one(void)
{
	int status = 1;

	return wait(&status) < 0 || status ? 1 : 0;
}

static int processes(int threads, int left, int at_a_time)
{
	struct rusage own, theirs;
	int failed = 0, there = 0;

	together = threads;
	pthread_barrier_init(&all_there, NULL, (unsigned)threads);
	for (; left > 0; left--) {
		pid_t pid;

		if (there == at_a_time)
			failed += wait_for_one(), there--;
		pid = fork();
		if (pid == 0)
			_exit(start_and_join(threads));
		if (pid < 0)
			failed++;
		else
			there++;
	}
	while (there--)
		failed += wait_for_one();
	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &theirs);
	printf("%ld\n", own.ru_minflt + own.ru_majflt + theirs.ru_minflt + theirs.ru_majflt);
	return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 0;

	if (argc > 3)
		return processes(threads, atoi(argv[2]), atoi(argv[3]));
	for (; threads > 0; threads -= THREADS_AT_A_TIME)
		if (start_and_join(THREADS_AT_A_TIME))
			return 1;
	return 0;
}
