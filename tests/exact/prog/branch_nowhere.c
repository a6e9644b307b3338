/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static
 * Jumps, calls and returns to addresses that the processor does not have: they fail where they
 * stand, do not retire and leave rsp alone. To one that is only unmapped they retire, and its fetch
 * fails. The handler sees which it was, but of a return, which looks like any other.
 */
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile unsigned long rsp, memory, is_return;
static long seen
	[64]
	/* written as they are: to print them takes ten times the rest, and all is single-stepped */
	[8];
static int n_seen;

static void handler(int sig, siginfo_t *info, void *context)
{
	const greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	long *to = seen[n_seen++];

	to[0] = sig;
	to[1] = info->si_code;
	to[2] = (long)info->si_addr;
	if (!is_return) {
		to[3] = r[REG_RIP];
		to[4] = r[REG_RSP] - (long)rsp;
		to[5] = r[REG_R13];
		to[6] = r[REG_TRAPNO];
		to[7] = r[REG_ERR];
	}
	memory = is_return = 0;
	siglongjmp(back, 1);
}

/* Of each the target is nowhere else than where it is taken from. */
__attribute__((noinline)) static void branch(int how, unsigned long flipped)
{
	switch (how) {
	case 0:
		memory = flipped;
		__asm__ volatile("notq %1; mov %%rsp, %0; mov $0x77, %%r13d; jmp *%1"
				 : "=m"(rsp), "+m"(memory)::"r13");
		break;
	case 1:
		__asm__ volatile("mov %%rsp, %0; mov %1, %%r13; not %%r13; jmp *%%r13"
				 : "=m"(rsp)
				 : "r"(flipped)
				 : "r13");
		break;
	case 2:
		__asm__ volatile(
			"mov %%rsp, %0; mov %1, %%r14; not %%r14; xor %%r13d, %%r13d; call *%%r14"
			: "=m"(rsp)
			: "r"(flipped)
			: "r13", "r14");
		break;
	case 3:
		is_return = 1;
		__asm__ volatile(
			"push %0; notq (%%rsp); xor %%r13d, %%r13d; xor %%r14d, %%r14d; ret" ::"r"(
				flipped)
			: "r13", "r14");
		break;
	default:
		is_return = 1;
		__asm__ volatile(
			"push %0; notq (%%rsp); xor %%r13d, %%r13d; xor %%r14d, %%r14d; ret $24" ::
				"r"(flipped)
			: "r13", "r14");
	}
}

int main(void)
{
	static const unsigned long flipped[] = { ~0x8000000000000000, ~0x1122334455667788,
						 ~0xfffe800000000000, ~0x1234000ul,
						 ~0xffff800000000000 };

	sigaction(SIGSEGV, &(struct sigaction){ .sa_sigaction = handler, .sa_flags = SA_SIGINFO },
		  NULL);
	for (int round = 0; round < 2; round++)
		for (unsigned i = 0; i < sizeof flipped / sizeof *flipped; i++)
			for (int how = 0; how < 5; how++)
				if (!sigsetjmp(back, 1))
					branch(how, flipped[i]);
	return write(1, seen, sizeof seen) != sizeof seen;
}
