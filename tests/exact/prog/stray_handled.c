/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static
 * Jumps to an address that is none, and a handler that leads on behind it: no trap flag of the
 * engine's shows in it.
 */
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

extern char after[];

static void handler(int sig, siginfo_t *info, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;

	printf("%d %d %lx\n", sig, info->si_code, (long)r[REG_EFL] & 0x100);
	r[REG_RIP] = (greg_t)after;
}

__attribute__((noipa)) static void stray(void)
{
	__asm__ volatile("movabs $0x8000123400005678, %%rcx\n\t"
			 "jmp *%%rcx\n\t"
			 ".globl after; after: nop" ::
				 : "rcx", "memory", "cc");
}

int main(void)
{
	sigaction(SIGSEGV, &(struct sigaction){ .sa_sigaction = handler, .sa_flags = SA_SIGINFO },
		  NULL);
	for (int i = 0; i < 3; i++)
		stray();
	puts("on");
	return 0;
}
