/* A filter of the program's own: calls that fail, that raise SIGSYS, that are let through. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static volatile long nr, address_ok;

static void on(int sig, siginfo_t *si, void *arg)
{
	ucontext_t *uc = arg;

	(void)sig;
	nr = si->si_syscall;
	address_ok = (greg_t)si->si_call_addr == uc->uc_mcontext.gregs[REG_RIP];
	uc->uc_mcontext.gregs[REG_RAX] = 4242;
}

int main(void)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 77),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpgrp, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(rules) / sizeof(*rules), rules };
	struct sigaction sa = { .sa_sigaction = on, .sa_flags = SA_SIGINFO };
	long ret;

	sigaction(SIGSYS, &sa, NULL);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
		return 1;
	ret = syscall(SYS_getppid);
	printf("%ld %d\n", ret, errno);
	ret = syscall(SYS_getpgrp);
	printf("%ld %ld %ld\n", ret, nr, address_ok);
	return 0;
}
