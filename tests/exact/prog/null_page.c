/* SPDX-License-Identifier: MIT */
/*
 * Code in memory below 2 GiB (MAP_32BIT), as some JIT compilers place it. Translated code must lie
 * within 2 GiB of it, and page 0 and what follows it are no place for that: reads, writes and jumps
 * there fault. exact: build=static-pie
 */
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include "say.h"

static sigjmp_buf back;
static volatile unsigned long where;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	(void)context;
	where = (unsigned long)info->si_addr;
	siglongjmp(back, sig);
}

static int reads(unsigned long at)
{
	int sig = sigsetjmp(back, 1);

	if (!sig)
		(void)*(volatile char *)at;
	return sig;
}

static int writes(unsigned long at)
{
	int sig = sigsetjmp(back, 1);

	if (!sig)
		*(volatile char *)at = 1;
	return sig;
}

static int jumps(unsigned long at)
{
	int sig = sigsetjmp(back, 1);

	if (!sig)
		((void (*)(void))at)();
	return sig;
}

int main(void)
{
	static const unsigned char code[] = { 0xb8, 42, 0, 0, 0, 0xc3 }; /* mov eax, 42; ret */
	static const unsigned long places[] = { 0,       0x10,    0xfff,    0x1000,
						0x10000, 0xfff00, 0x100000, 0x3ff000 };
	struct sigaction a = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	unsigned char *jit = mmap(0, 0x20000, PROT_READ | PROT_WRITE | PROT_EXEC,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	sigaction(SIGSEGV, &a, 0);
	memcpy(jit + 0x10100, code, sizeof code);
	SAY_LINE("answer", ((int (*)(void))(jit + 0x10100))());
	for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
		SAY_LINE("read", reads(places[i]));
		SAY_LINE("write", writes(places[i]));
		SAY_LINE("jump", jumps(places[i]));
		SAY_LINE("at", (long)where);
	}
	SAY_LINE("answer", ((int (*)(void))(jit + 0x10100))());
	return 0;
}
