/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static
 *
 * Code of a file that ends before it: SIGBUS where it is executed, before and behind its first
 * execution, in the middle of an instruction that goes over the end of a page; and on when the file
 * is longer again.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include "say.h"

enum { PAGE = 4096, ANSWER = 6 };

static sigjmp_buf back;
static uint64_t at;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	(void)context;
	at = (uint64_t)info->si_addr;
	siglongjmp(back, sig);
}

static void call(const char *what, const char *code, const char *base)
{
	int sig = sigsetjmp(back, 1);

	if (!sig)
		SAY_LINE(what, ((int (*)(void))code)());
	else
		SAY_LINE(what, sig, (long)(at - (uint64_t)base));
}

/* mov eax, answer; ret */
static void write_code(int fd, unsigned where, char answer)
{
	char code[ANSWER] = { '\xb8', answer, 0, 0, 0, '\xc3' };

	if (pwrite(fd, code, sizeof code, where) != sizeof code)
		_exit(1);
}

static void of(int flags, bool begun)
{
	int fd = memfd_create("cut", 0);
	char *code;

	if (fd < 0 || ftruncate(fd, 2 * PAGE) < 0)
		_exit(1);
	code = mmap(NULL, 4 * PAGE, PROT_READ | PROT_EXEC, flags, fd, 0);
	write_code(fd, 0, 1);
	write_code(fd, PAGE - 3, 2);
	write_code(fd, PAGE - ANSWER - 3, 3);
	for (int i = 0; i < 2 && begun; i++) {
		call("whole", code, code);
		call("across", code + PAGE - 3, code);
	}
	call("never there", code + 3 * PAGE, code);
	call("past its end", code + 2 * PAGE, code);
	if (ftruncate(fd, PAGE) < 0)
		_exit(1);
	call("across the end", code + PAGE - 3, code);
	call("up to the end", code + PAGE - ANSWER - 3, code);
	call("in front of it", code, code);
	if (ftruncate(fd, 0) < 0)
		_exit(1);
	call("cut", code, code);
	if (ftruncate(fd, 2 * PAGE) < 0)
		_exit(1);
	write_code(fd, 0, 4);
	call("longer again", code, code);
	close(fd);
}

int main(void)
{
	struct sigaction a = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };

	sigaction(SIGBUS, &a, NULL);
	sigaction(SIGSEGV, &a, NULL);
	of(MAP_SHARED, true);
	of(MAP_PRIVATE, true);
	of(MAP_SHARED, false);
	of(MAP_PRIVATE, false);
	return 0;
}
