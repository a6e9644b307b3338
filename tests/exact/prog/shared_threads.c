/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static compare=output reason=threads-race
 * One thread executes code in shared memory all the time, while others write beside it, by stores
 * and by calls, and rewrite the code.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "code_page.h"

enum { PAGE = 4096, ROUNDS = 300 };

static unsigned char *page;
static volatile int done, wrong, newest;

static void *execute(void *unused)
{
	while (!done) {
		int least = newest, got = call(page);

		if (got < least || got > ROUNDS)
			wrong++;
	}
	return unused;
}

/* The value alone: four bytes at once. */
static void rewrite(int fd, int value)
{
	if (value % 2)
		*(volatile int *)(page + 1) = value;
	else if (pwrite(fd, &value, sizeof value, 1) != sizeof value)
		wrong++;
	newest = value;
}

int main(void)
{
	int fd = memfd_create("code", MFD_CLOEXEC), ends[2], got = 0;
	pthread_t thread;

	if (ftruncate(fd, PAGE) < 0 || pipe(ends) < 0)
		return 9;
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, fd, 0);
	make(page, 0);
	pthread_create(&thread, NULL, execute, NULL);
	for (int i = 1; i <= ROUNDS; i++) {
		rewrite(fd, i);
		*(volatile int *)(page + 1024) = i;
		if (write(ends[1], &i, sizeof i) == sizeof i &&
		    read(ends[0], page + 2048, sizeof i) == sizeof i)
			got += *(int *)(page + 2048) == i && *(int *)(page + 1024) == i;
	}
	done = 1;
	pthread_join(thread, NULL);
	printf("%d of %d, %d wrong, %d\n", got, ROUNDS, wrong, call(page));
	return 0;
}
