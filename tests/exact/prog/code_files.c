/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static
 * Code in a file: mapped privately to be executed and written through another mapping or by
 * write(), mapped first or last; and code written through /proc/self/mem, where it may be written
 * otherwise and where it may not.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>
#include "code_page.h"

static void *map(int fd, int prot, int flags)
{
	return mmap(NULL, 4096, prot, flags, fd, 0);
}

static int sum_of(unsigned char *write_at, unsigned char *run_at)
{
	int sum = 0;

	for (int i = 0; i < 20; i++) {
		make(write_at, i);
		sum += call(run_at);
	}
	return sum;
}

static void memory_file(int flags)
{
	int fd = memfd_create("code", 0);
	unsigned char *w, *x;

	if (ftruncate(fd, 4096) < 0)
		return;
	w = map(fd, PROT_READ | PROT_WRITE, MAP_SHARED);
	x = map(fd, PROT_READ | PROT_EXEC, flags);
	printf("%d\n", sum_of(w, x));
	close(fd);
	printf("%d\n", sum_of(w, x));
}

/* Both shared; the one that is executed was not, when it was mapped. */
static void executed_later(void)
{
	int fd = memfd_create("code", 0);
	unsigned char *w, *x;

	if (ftruncate(fd, 4096) < 0)
		return;
	w = map(fd, PROT_READ | PROT_WRITE, MAP_SHARED);
	x = map(fd, PROT_READ, MAP_SHARED);
	mprotect(x, 4096, PROT_READ | PROT_EXEC);
	printf("%d\n", sum_of(w, x));
	mprotect(x, 4096, PROT_READ);
	mprotect(x, 4096, PROT_READ | PROT_EXEC);
	printf("%d\n", sum_of(w, x));
}

/* A file with a name, mapped to be executed as a library is, and opened again later. */
static void named_file(void)
{
	char name[] = "/tmp/tare-code-0000000";
	unsigned char code[6], *w, *x;
	int fd, sum = 0;

	for (int i = 0, pid = getpid(); i < 7; i++, pid /= 10)
		name[strlen(name) - 1 - i] += pid % 10;
	fd = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
	make(code, 40);
	if (write(fd, code, sizeof code) != sizeof code || ftruncate(fd, 4096) < 0)
		return;
	close(fd);
	fd = open(name, O_RDONLY);
	x = map(fd, PROT_READ | PROT_EXEC, MAP_PRIVATE);
	close(fd);
	printf("%d\n", call(x));
	fd = open(name, O_RDWR);
	for (int i = 0; i < 10; i++) {
		make(code, i);
		if (pwrite(fd, code, sizeof code, 0) == sizeof code)
			sum += call(x);
	}
	printf("%d\n", sum);
	w = map(fd, PROT_READ | PROT_WRITE, MAP_SHARED);
	close(fd);
	unlink(name);
	printf("%d\n", sum_of(w, x));
}

static void own_memory(int prot)
{
	unsigned char code[6],
		*x = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/proc/self/mem", O_RDWR), sum = 0;

	make(x, 5);
	mprotect(x, 4096, prot);
	for (int i = 0; i < 10; i++) {
		make(code, i);
		if (i % 2 ? pwrite(fd, code, sizeof code, (off_t)x) != sizeof code
			  : lseek(fd, (off_t)x, SEEK_SET) != (off_t)x ||
				    write(fd, code, sizeof code) != sizeof code)
			puts("not written");
		sum += call(x);
	}
	printf("%d\n", sum);
	close(fd);
}

static void shared_memory(void)
{
	int id = shmget(IPC_PRIVATE, 4096, 0700 | IPC_CREAT);
	unsigned char *x = shmat(id, NULL, SHM_EXEC), *w = shmat(id, NULL, 0);

	shmctl(id, IPC_RMID, NULL);
	printf("%d\n", sum_of(w, x));
	printf("%d\n", sum_of(x, x));
	shmdt(x);
	shmdt(w);
}

int main(void)
{
	memory_file(MAP_SHARED);
	memory_file(MAP_PRIVATE);
	executed_later();
	named_file();
	own_memory(PROT_READ | PROT_EXEC);
	own_memory(PROT_READ | PROT_WRITE | PROT_EXEC);
	shared_memory();
	return 0;
}
