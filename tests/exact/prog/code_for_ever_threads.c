/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static compare=output reason=threads-race
 * Threads make functions over and over, each in memory of its own, while others execute code that
 * stays, wait in system calls, or fork: what is made anew for one must not be taken from under
 * another.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "code_page.h"

enum { MAKERS = 3, FUNCTIONS = 6000, SIZE = 64 };

static volatile int done;
static volatile unsigned wrong;

static void *make_all(void *number)
{
	unsigned char *room = mmap(NULL, 1 << 14, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < FUNCTIONS; i++) {
		unsigned char *p = room + i % 250 * SIZE;
		int value = i * MAKERS + (int)(long)number;

		memset(p, 0x90, 32);
		for (int k = 0; k < 20; k += 4)
			memcpy(p + k, "\xeb\x02\x90\x90", 4); /* blocks: jump over two bytes */
		make(p + 32, value);
		for (int k = 0; k < 4; k++)
			if (call(p) != value)
				__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static unsigned stay(unsigned n)
{
	unsigned x = 1;

	while (n--)
		x = x * 1664525 + 1013904223 + (x >> 7 & n);
	return x;
}

static void *execute(void *unused)
{
	unsigned want = stay(1000);

	while (!done)
		if (stay(1000) != want)
			__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	return unused;
}

static void *wait_often(void *unused)
{
	while (!done)
		nanosleep(&(struct timespec){ .tv_nsec = 3000000 }, NULL);
	return unused;
}

static void *fork_often(void *unused)
{
	while (!done) {
		int status = -1;
		pid_t pid = fork();

		if (!pid)
			_exit(make_all(NULL) == NULL && !wrong ? 0 : 1);
		if (waitpid(pid, &status, 0) != pid || status)
			__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	}
	return unused;
}

int main(void)
{
	pthread_t makers[MAKERS], others[3];

	pthread_create(&others[0], NULL, execute, NULL);
	pthread_create(&others[1], NULL, wait_often, NULL);
	pthread_create(&others[2], NULL, fork_often, NULL);
	for (long i = 0; i < MAKERS; i++)
		pthread_create(&makers[i], NULL, make_all, (void *)i);
	for (int i = 0; i < MAKERS; i++)
		pthread_join(makers[i], NULL);
	done = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(others[i], NULL);
	printf("%u wrong\n", wrong);
	return 0;
}
