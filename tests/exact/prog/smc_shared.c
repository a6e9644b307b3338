/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static
 * Code in a file of memory, executed in one shared mapping and written through others, and in every
 * other way in which this process can write to it. Each way has a file of its own, and its code
 * runs before.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "code_page.h"

enum { PAGE = 4096, PAGES = 4, TURNS = 30 };

struct jit {
	int fd;
	unsigned char *w, *x;
};

static void *map(int fd, int prot, int page, int pages)
{
	return mmap(NULL, (size_t)pages * PAGE, prot, MAP_SHARED, fd, (off_t)page * PAGE);
}

static struct jit new_jit(void)
{
	struct jit j = { .fd = memfd_create("code", MFD_CLOEXEC) };

	if (ftruncate(j.fd, (off_t)PAGES * PAGE) < 0)
		_exit(9);
	j.w = map(j.fd, PROT_READ | PROT_WRITE, 0, PAGES);
	j.x = map(j.fd, PROT_READ | PROT_EXEC, 0, PAGES);
	make(j.w, 1);
	printf("%d ", call(j.x));
	return j;
}

static int sum_of(unsigned char *write_at, unsigned char *run_at)
{
	int sum = 0;

	for (int i = 0; i < TURNS; i++) {
		make(write_at, i);
		sum += call(run_at) + call(run_at);
	}
	return sum;
}

static void through_views(void)
{
	struct jit j = new_jit();
	unsigned char *w2 = map(j.fd, PROT_READ | PROT_WRITE, 1, 2),
		      *x2 = map(j.fd, PROT_READ | PROT_EXEC, 1, 3), *w3;

	printf("%d %d\n", sum_of(j.w, j.x), sum_of(j.w + PAGE - 3, j.x + PAGE - 3));
	printf("%d %d %d %d\n", sum_of(w2, x2), sum_of(j.w + PAGE, x2), sum_of(w2, j.x + PAGE),
	       sum_of(w2 + PAGE, x2 + PAGE));
	w3 = map(j.fd, PROT_READ | PROT_WRITE, 0, PAGES);
	close(j.fd);
	printf("%d %d\n", sum_of(w3 + 2 * PAGE, x2 + PAGE), sum_of(w3, j.x));
	munmap(j.w + PAGE, PAGE);
	printf("%d %d %d\n", sum_of(j.w, j.x), sum_of(j.w + 2 * PAGE, j.x + 2 * PAGE),
	       sum_of(w2, j.x + PAGE));
	munmap(j.w, PAGES * PAGE);
	munmap(w2, 2 * PAGE);
	printf("%d\n", sum_of(w3 + PAGE, x2));
}

/* More writes than a page is watched for. */
static void often(void)
{
	struct jit j = new_jit();
	int sum = 0;

	for (int i = 0; i < 20; i++)
		sum += sum_of(j.w + i % 2 * PAGE, j.x + i % 2 * PAGE);
	printf("%d\n", sum);
}

static void protected_and_moved(void)
{
	struct jit j = new_jit();
	unsigned char *again;

	mprotect(j.w, PAGE, PROT_READ);
	printf("%d ", call(j.x));
	mprotect(j.w, PAGE, PROT_READ | PROT_WRITE);
	printf("%d ", sum_of(j.w, j.x));
	j = new_jit();
	j.w = mremap(j.w, PAGES * PAGE, PAGES * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		     j.w + 64 * PAGE);
	printf("%d ", sum_of(j.w, j.x));
	j = new_jit();
	again = mremap(j.w, 0, PAGES * PAGE, MREMAP_MAYMOVE);
	printf("%d ", sum_of(again, j.x));
	j = new_jit();
	mprotect(j.x, PAGE, PROT_READ | PROT_WRITE);
	make(j.x, 77);
	mprotect(j.x, PAGE, PROT_READ | PROT_EXEC);
	printf("%d\n", call(j.x));
}

/* What the kernel writes, into the file or into a view of it. */
static void by_calls(void)
{
	unsigned char code[6];
	struct iovec local = { code, sizeof code }, remote;
	struct jit j;
	int ends[2], from = memfd_create("from", 0), fd;
	char name[32];
	off_t zero = 0;

	for (int way = 0; way < 9; way++) {
		j = new_jit();
		make(code, 100 + way);
		switch (way) {
		case 0:
			if (pwrite(j.fd, code, sizeof code, 0) < 0)
				return;
			break;
		case 1:
			if (pwritev(j.fd, &local, 1, 0) < 0)
				return;
			break;
		case 2:
			if (pwrite(from, code, sizeof code, 0) < 0 ||
			    sendfile(j.fd, from, &zero, sizeof code) < 0)
				return;
			break;
		case 3:
			if (pipe(ends) < 0 || write(ends[1], code, sizeof code) < 0 ||
			    read(ends[0], j.w, sizeof code) < 0)
				return;
			break;
		case 4:
			remote = (struct iovec){ j.w, sizeof code };
			if (process_vm_writev(getpid(), &local, 1, &remote, 1, 0) < 0)
				return;
			break;
		case 5:
			sprintf(name, "/proc/self/fd/%d", j.fd);
			fd = open(name, O_RDWR);
			if (pwrite(fd, code, sizeof code, 0) < 0)
				return;
			break;
		case 6:
			madvise(j.w, PAGE, MADV_REMOVE);
			make(j.w, 106);
			break;
		case 7:
			fallocate(j.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, PAGE);
			make(j.w, 107);
			break;
		case 8:
			fd = dup(j.fd);
			close(j.fd);
			if (ftruncate(fd, 0) < 0 || ftruncate(fd, PAGE) < 0 ||
			    pwrite(fd, code, sizeof code, 0) < 0)
				return;
			break;
		}
		printf("%d %d\n", way, call(j.x));
	}
}

/* A child that executes it, and changes nothing. */
static void with_a_child(void)
{
	struct jit j = new_jit();
	int status = 0;

	fflush(stdout);
	if (!fork())
		_exit(call(j.x) == 1 ? 5 : 6);
	wait(&status);
	printf("%d %d\n", WEXITSTATUS(status), sum_of(j.w, j.x));
}

static void own_memory(void)
{
	struct jit j = new_jit();
	int fd = open("/proc/self/mem", O_RDWR);
	unsigned char code[6];

	make(code, 111);
	if (pwrite(fd, code, sizeof code, (off_t)j.w) < 0)
		return;
	printf("%d %d\n", call(j.x), sum_of(j.w, j.x));
}

int main(void)
{
	through_views();
	often();
	protected_and_moved();
	by_calls();
	with_a_child();
	own_memory();
	return 0;
}
