/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static compare=output reason=threads-race
 * One thread executes code of a page all the time, another waits in system calls that write beside
 * it: what they bring cannot be had twice.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "code_page.h"

enum { ROUNDS = 200 };

static unsigned char *page;
static volatile int done, wrong;
static int pair[2];

static void *execute(void *unused)
{
	while (!done)
		if (call(page) != 5)
			wrong++;
	return unused;
}

static void *send_all(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
		if (write(pair[0], &i, sizeof i) != sizeof i)
			wrong++;
	}
	return unused;
}

int main(void)
{
	pthread_t threads[2];
	int got = 0;

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	make(page, 5);
	socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
	pthread_create(&threads[0], NULL, execute, NULL);
	pthread_create(&threads[1], NULL, send_all, NULL);
	for (int i = 0; i < ROUNDS; i++)
		if (recv(pair[1], page + 2048, 100, 0) == sizeof i && *(int *)(page + 2048) == i)
			got++;
	done = 1;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("%d of %d, %d wrong\n", got, ROUNDS, wrong);
	return 0;
}
