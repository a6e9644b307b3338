/* exact: refuse=the.trap.flag.to.step.itself,.*,.at.0x[0-9a-f]+$
 * A handler that sets the trap flag in the context it returns to. */
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

static volatile int steps;

static void on(int sig, siginfo_t *si, void *arg)
{
	ucontext_t *uc = arg;

	(void)si;
	if (sig == SIGTRAP)
		steps++;
	if (steps < 5)
		uc->uc_mcontext.gregs[REG_EFL] |= 0x100;
	else
		uc->uc_mcontext.gregs[REG_EFL] &= ~0x100;
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = on, .sa_flags = SA_SIGINFO };

	sigaction(SIGTRAP, &sa, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	printf("%d steps\n", steps);
	return 0;
}
