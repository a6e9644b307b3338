/* SPDX-License-Identifier: MIT */
/*
 * SA_RESETHAND: after the signal, the action keeps its flags and its mask.
 * exact: build=static
 */
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "say.h"

struct action {
	unsigned long handler, flags, restorer, mask;
};

static void ask(const char *when, int sig)
{
	struct action a;

	memset(&a, 0, sizeof a);
	syscall(SYS_rt_sigaction, sig, NULL, &a, 8);
	SAY_LINE(when, sig, a.handler ? 1 : 0, (long)a.flags, (long)a.mask);
}

static void handler(int sig)
{
	ask("in it", sig);
}

int main(void)
{
	const int signals[] = { SIGUSR1, SIGSEGV, SIGABRT, SIGCHLD, SIGRTMAX };

	for (int i = 0; i < 5; i++) {
		struct sigaction a = { .sa_handler = handler,
				       .sa_flags = SA_RESETHAND | SA_NODEFER | SA_NOCLDWAIT };

		sigaddset(&a.sa_mask, SIGUSR2);
		sigaction(signals[i], &a, NULL);
		ask("before", signals[i]);
		raise(signals[i]);
		ask("behind", signals[i]);
	}
	return 0;
}
