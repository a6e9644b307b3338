/* exact: compare=output reason=a_traced_child_cannot_be_stepped_by_the_judge_too
 * A program that traces its own child: what it sees there is the child's own registers and code. */
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	pid_t pid = fork();
	struct user_regs_struct r;
	int status;

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(8);
	}
	waitpid(pid, &status, 0);
	printf("%d\n", WIFSTOPPED(status) ? WSTOPSIG(status) : -1);
	printf("%ld\n", ptrace(PTRACE_GETREGS, pid, 0, &r));
	ptrace(PTRACE_CONT, pid, 0, 0);
	waitpid(pid, &status, 0);
	printf("%d\n", WEXITSTATUS(status));
	return 0;
}
