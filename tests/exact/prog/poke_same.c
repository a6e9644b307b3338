/* SPDX-License-Identifier: MIT */
/*
 * exact: build=static compare=output reason=the_judge_cannot_trace_what_is_traced
 * A parent writes over a function of its child's what stands there: nothing has changed, and the
 * child is counted on.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static int value(void)
{
	__asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop");
	return 1;
}

int main(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(value());
	}
	waitpid(pid, NULL, 0);
	ptrace(PTRACE_POKETEXT, pid, value, *(long *)(void *)value);
	ptrace(PTRACE_CONT, pid, 0, 0);
	waitpid(pid, &status, 0);
	printf("%x\n", status);
	return 0;
}
