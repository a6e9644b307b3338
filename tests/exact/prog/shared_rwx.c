/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static compared=0
 * Code that is executed where it is written, in a shared mapping of a file of memory: through that
 * mapping, through others, and by calls, each after it ran. The engine compares none of it with
 * what it translated.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>
#include "code_page.h"

enum { PAGE = 4096, PAGES = 4, TURNS = 8, CALLS = 20, ALL = PROT_READ | PROT_WRITE | PROT_EXEC };

static void *map(int fd, int prot, int page, int pages)
{
	return mmap(NULL, (size_t)pages * PAGE, prot, MAP_SHARED, fd, (off_t)page * PAGE);
}

static int calls(const unsigned char *at)
{
	int sum = 0;

	for (int i = 0; i < CALLS; i++)
		sum += call(at);
	return sum;
}

static int sum_of(unsigned char *write_at, const unsigned char *run_at)
{
	int sum = 0;

	for (int i = 0; i < TURNS; i++) {
		make(write_at, i);
		sum += calls(run_at);
	}
	return sum;
}

/* Code that changes its own next instruction: add $value, %eax. */
static int changes_itself(unsigned char *at)
{
	static const unsigned char code[] = {
		0x31, 0xc0, /* xor %eax, %eax */
		0x80, 0x05, 0x01, 0x00, 0x00,
		0x00, 2, /* addb $2, 1(%rip): the value of the next one, after its opcode */
		0x05, 1,    0,    0,    0, /* add $1, %eax */
		0xc3,
	};

	memcpy(at, code, sizeof code);
	return call(at) + call(at) + call(at);
}

static unsigned char *refused;
static int faults;

static void on_fault(int sig)
{
	faults++;
	mprotect(refused, PAGE, ALL);
	(void)sig;
}

/* What the program itself has made read-only faults as it does natively. */
static int after_a_fault(unsigned char *x)
{
	int sum = sum_of(x, x);

	refused = x;
	signal(SIGSEGV, on_fault);
	mprotect(x, PAGE, PROT_READ | PROT_EXEC);
	sum += calls(x);
	make(x, 31);
	return sum + calls(x);
}

static void by_calls(int fd, unsigned char *x)
{
	unsigned char code[6];
	struct iovec local = { code, sizeof code }, remote = { x, sizeof code };
	int ends[2];

	make(code, 11);
	if (pwrite(fd, code, sizeof code, 0) < 0)
		return;
	printf("%d ", calls(x));
	make(code, 12);
	if (pipe(ends) < 0 || write(ends[1], code, sizeof code) < 0 ||
	    read(ends[0], x, sizeof code) < 0)
		return;
	printf("%d ", calls(x));
	make(code, 13);
	if (process_vm_writev(getpid(), &local, 1, &remote, 1, 0) < 0)
		return;
	printf("%d\n", calls(x));
}

int main(void)
{
	int fd = memfd_create("code", MFD_CLOEXEC);
	unsigned char *x, *w, *y;

	if (ftruncate(fd, (off_t)PAGES * PAGE) < 0)
		return 9;
	x = map(fd, ALL, 0, PAGES);
	printf("%d %d %d\n", sum_of(x, x), sum_of(x + PAGE, x + PAGE),
	       sum_of(x + PAGE - 3, x + PAGE - 3));
	printf("%d %d\n", changes_itself(x + 100), changes_itself(x + PAGE - 9));
	w = map(fd, PROT_READ | PROT_WRITE, 0, PAGES);
	y = map(fd, ALL, 1, 2);
	printf("%d %d %d\n", sum_of(w, x), sum_of(y, x + PAGE), sum_of(w + PAGE, y));
	by_calls(fd, x);
	printf("%d ", after_a_fault(x));
	printf("%d\n", faults);
	mprotect(x, PAGE, PROT_READ | PROT_EXEC);
	printf("%d ", sum_of(w, x));
	mprotect(x, PAGE, PROT_READ | PROT_WRITE);
	make(x, 21);
	mprotect(x, 2 * PAGE, PROT_READ | PROT_EXEC);
	printf("%d ", calls(x));
	mprotect(x, PAGES * PAGE, ALL);
	printf("%d %d\n", sum_of(x, x), sum_of(x + 3 * PAGE, x + 3 * PAGE));
	munmap(w, 2 * PAGE);
	munmap(x + PAGE, PAGE);
	printf("%d %d %d\n", sum_of(x, x), sum_of(w + 2 * PAGE, x + 2 * PAGE),
	       sum_of(y + PAGE, x + 2 * PAGE));
	return 0;
}
