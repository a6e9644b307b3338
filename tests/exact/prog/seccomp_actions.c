/*
 * What a filter can say, of calls that the engine makes itself, too; filters on filters; children
 * and what they execute
 * inherit them. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include "say.h"

#define NR BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define SAY(call, what)                                                                            \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1), BPF_STMT(BPF_RET | BPF_K, what)
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define INSTALL(flags, ...)                                                                        \
	install(flags, (struct sock_filter[]){ __VA_ARGS__ },                                      \
		sizeof((struct sock_filter[]){ __VA_ARGS__ }) / sizeof(struct sock_filter))

static volatile int caught, data, right;

static void on(int sig, siginfo_t *si, void *arg)
{
	ucontext_t *uc = arg;

	(void)sig;
	caught = si->si_syscall;
	data = si->si_errno;
	right = si->si_arch == AUDIT_ARCH_X86_64 &&
		(greg_t)si->si_call_addr == uc->uc_mcontext.gregs[REG_RIP] &&
		uc->uc_mcontext.gregs[REG_RAX] == si->si_syscall && si->si_code == 1;
	uc->uc_mcontext.gregs[REG_RAX] = -4;
}

static long install(unsigned flags, struct sock_filter *rules, size_t n)
{
	struct sock_fprog prog = { (unsigned short)n, rules };

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog);
}

static void say(const char *what, long ret)
{
	SAY_LINE(what, ret, ret < 0 ? errno : 0, caught, data, right);
	caught = data = right = 0;
}

static void child(const char *name, void (*do_it)(void))
{
	int status = 0;

	fflush(stdout);
	if (fork() == 0) {
		do_it();
		fflush(stdout);
		_exit(7);
	}
	wait(&status);
	printf("%s: %d %d\n", name, WIFEXITED(status) ? WEXITSTATUS(status) : -1,
	       WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static void kill_process(void)
{
	INSTALL(0, NR, SAY(SYS_getpgrp, SECCOMP_RET_KILL_PROCESS), ALLOW);
	getpgrp();
}

static void kill_thread(void)
{
	INSTALL(0, NR, SAY(SYS_getpgrp, SECCOMP_RET_KILL_THREAD), ALLOW);
	getpgrp();
}

static void unknown_action(void)
{
	INSTALL(0, NR, SAY(SYS_getpgrp, 0x00120000), ALLOW);
	getpgrp();
}

static void trap_ignored(void)
{
	signal(SIGSYS, SIG_IGN);
	INSTALL(0, NR, SAY(SYS_getpgrp, SECCOMP_RET_TRAP), ALLOW);
	getpgrp();
}

static void trap_blocked(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	INSTALL(0, NR, SAY(SYS_getpgrp, SECCOMP_RET_TRAP), ALLOW);
	getpgrp();
}

static void arithmetic(void)
{
	/* getpriority(a, b): a verdict that is computed, as errno */
	INSTALL(0, NR, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpriority, 1, 0), ALLOW,
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_STMT(BPF_ST, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1]) + 4),
		BPF_STMT(BPF_MISC | BPF_TAX, 0), BPF_STMT(BPF_LD | BPF_MEM, 3),
		BPF_STMT(BPF_ALU | BPF_MUL | BPF_K, 3), BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),
		BPF_STMT(BPF_ALU | BPF_LSH | BPF_K, 2), BPF_STMT(BPF_ALU | BPF_XOR | BPF_K, 5),
		BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, 1), BPF_STMT(BPF_ALU | BPF_DIV | BPF_X, 0),
		BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 1), BPF_STMT(BPF_STX, 0),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 1, 0, 1), BPF_STMT(BPF_ALU | BPF_NEG, 0),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 0x80, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 2, 1, 0),
		BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 1), BPF_STMT(BPF_LDX | BPF_W | BPF_LEN, 0),
		BPF_STMT(BPF_ALU | BPF_ADD | BPF_X, 0),
		BPF_STMT(BPF_ALU | BPF_OR | BPF_K, SECCOMP_RET_ERRNO),
		BPF_STMT(BPF_RET | BPF_A, 0));
	for (long a = 0; a < 12; a++)
		say("computed", syscall(SYS_getpriority, a, (1 + a % 3) << 32));
	fflush(stdout);
	syscall(SYS_getpriority, 1, 0); /* divides by 0 */
}

static void by_address(void)
{
	uint64_t at = (uint64_t)(uintptr_t)&syscall;

	/* a call from the C library's syscall() is refused, by where it comes from */
	INSTALL(0, NR, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpgrp, 1, 0), ALLOW,
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, instruction_pointer)),
		BPF_STMT(BPF_ALU | BPF_SUB | BPF_K, (uint32_t)at),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 64, 0, 1), ALLOW,
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 88));
	say("elsewhere", getpgrp() > 0);
	say("there", syscall(SYS_getpgrp));
}

static void main_calls(void)
{
	struct sigaction sa;
	sigset_t none;
	stack_t ss;
	char *const argv[] = { "none", NULL };

	INSTALL(0, NR, SAY(SYS_rt_sigaction, SECCOMP_RET_TRAP | 1),
		SAY(SYS_sigaltstack, SECCOMP_RET_TRAP | 2), SAY(SYS_mmap, SECCOMP_RET_TRAP | 3),
		SAY(SYS_mprotect, SECCOMP_RET_ERRNO | 5000), SAY(SYS_vfork, SECCOMP_RET_TRAP | 4),
		SAY(SYS_execve, SECCOMP_RET_TRAP | 5), SAY(SYS_arch_prctl, SECCOMP_RET_ERRNO | 9),
		SAY(SYS_rseq, SECCOMP_RET_ERRNO), SAY(SYS_munmap, SECCOMP_RET_TRACE),
		SAY(SYS_mremap, SECCOMP_RET_USER_NOTIF), SAY(SYS_getpgrp, SECCOMP_RET_LOG), ALLOW);
	sigemptyset(&none);
	say("sigaction", sigaction(SIGUSR1, NULL, &sa));
	say("sigprocmask", sigprocmask(SIG_SETMASK, &none, NULL));
	say("sigaltstack", sigaltstack(NULL, &ss));
	say("mmap", syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	say("mprotect", syscall(SYS_mprotect, NULL, 4096, PROT_READ));
	say("vfork", syscall(SYS_vfork));
	say("execve", execve("/bin/true", argv, argv));
	say("arch_prctl", syscall(SYS_arch_prctl, 0x1002, 1));
	say("rseq", syscall(SYS_rseq, 1, 2, 3, 4));
	say("munmap", syscall(SYS_munmap, NULL, 4096));
	say("mremap", syscall(SYS_mremap, NULL, 4096, 0, 0));
	say("logged", getpgrp() > 0);
	/* a second one: the stricter of both */
	say("second",
	    INSTALL(SECCOMP_FILTER_FLAG_LOG, NR, SAY(SYS_munmap, SECCOMP_RET_ERRNO | 6),
		    SAY(SYS_mmap, SECCOMP_RET_ERRNO | 7), SAY(SYS_getsid, SECCOMP_RET_ERRNO | 8),
		    ALLOW));
	say("munmap", syscall(SYS_munmap, NULL, 4096));
	say("mmap", syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	say("getsid", getsid(0));
	say("mode", prctl(PR_GET_SECCOMP));
	say("strict", prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
}

static void inherits(void)
{
	char *const argv[] = { "seccomp_actions", "again", NULL };
	char *const env[] = { NULL };

	INSTALL(0, NR, SAY(SYS_getsid, SECCOMP_RET_ERRNO | 66), ALLOW);
	execve("/proc/self/exe", argv, env);
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_sigaction = on, .sa_flags = SA_SIGINFO };

	(void)argv;
	sigaction(SIGSYS, &sa, NULL);
	if (argc > 1) {
		say("executed", getsid(0));
		return 9;
	}
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	say("invalid", INSTALL(0, NR, BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 65), ALLOW));
	say("no end", INSTALL(0, NR));
	say("flags", INSTALL(1 << 20, NR, ALLOW));
	say("not there", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, 8));
	say("empty", install(0, NULL, 0));
	say("mode", prctl(PR_GET_SECCOMP));
	child("kill process", kill_process);
	child("kill thread", kill_thread);
	child("unknown action", unknown_action);
	child("trap ignored", trap_ignored);
	child("trap blocked", trap_blocked);
	child("arithmetic", arithmetic);
	child("by address", by_address);
	child("inherits", inherits);
	child("the calls", main_calls);
	return 0;
}
