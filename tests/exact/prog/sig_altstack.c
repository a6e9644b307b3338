/* Handlers on an alternate stack, nested signals, SA_NODEFER, SA_RESETHAND, stack overflow
 * survived. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static char stack[65536];
static sigjmp_buf out;
static volatile int depth, on_alt;

static void nested(int sig)
{
	char here;

	on_alt += &here >= stack && &here < stack + sizeof(stack);
	if (depth++ < 4)
		raise(sig);
}

static void overflow(int sig)
{
	char here;

	(void)sig;
	on_alt += 100 * (&here >= stack && &here < stack + sizeof(stack));
	siglongjmp(out, 1);
}

static int __attribute__((noinline)) eat(volatile char *p)
{
	volatile char big[8192];

	big[0] = p ? p[0] : 1;
	return eat(big) + big[0];
}

int main(void)
{
	stack_t ss = { .ss_sp = stack, .ss_size = sizeof(stack) }, old;
	struct sigaction sa = { .sa_handler = nested, .sa_flags = SA_ONSTACK | SA_NODEFER };
	struct rlimit lim = { 256 << 10, 256 << 10 };

	setrlimit(RLIMIT_STACK, &lim);
	sigaltstack(&ss, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	printf("%d %d\n", depth, on_alt);
	sa.sa_handler = overflow;
	sa.sa_flags = SA_ONSTACK | SA_RESETHAND;
	for (int i = 0; i < 2; i++) {
		sigaction(SIGSEGV, &sa, NULL);
		if (sigsetjmp(out, 1) == 0)
			exit(eat(NULL));
	}
	sigaltstack(NULL, &old);
	printf("%d %d\n", on_alt, old.ss_flags);
	return 0;
}
