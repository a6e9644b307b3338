/* SIGSEGV recovered by editing the context: skips the load, or gives its base another value. */
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

static int faults;
static long good = 77;

static void on(int sig, siginfo_t *si, void *arg)
{
	ucontext_t *uc = arg;
	greg_t *g = uc->uc_mcontext.gregs;

	(void)sig;
	if (si->si_addr == (void *)0x10)
		g[REG_RIP] += 3; /* mov (%rbx), %rax is three bytes */
	else
		g[REG_RBX] = (long)&good;
	g[REG_RCX] = ++faults;
}

static long load(long at)
{
	long value = 5, n = 0;

	asm volatile("mov %2, %%rbx\n\tmov (%%rbx), %%rax\n\t"
		     : "+a"(value), "+c"(n)
		     : "r"(at)
		     : "rbx");
	return value * 10 + n;
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = on, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &sa, NULL);
	for (int i = 0; i < 5; i++)
		printf("%ld %ld %ld\n", load(0x10), load(0x20), load((long)&good));
	return faults;
}
