/* SPDX-License-Identifier: MIT */
/*
 * A signal after each instruction: from step_from_here() on, SIGTRAP's handler, which the test has
 * set with SA_NODEFER, is called when another instruction of the thread has been executed; until
 * step_no_more(), or steps_leave() in a handler. A handler is not interrupted so itself, unless it
 * calls step_from_here(), too. A child process goes on as its parent did.
 *
 * x86-64: the CPU's trap flag does that. arm64: has none that a program could set; there another
 * process does it, which traces the test, steps it, and hands it the signal. It knows from `brk`
 * instructions what is wanted, and from rt_sigreturn when a handler is done.
 */
#ifndef TESTS_STEPS_H
#define TESTS_STEPS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>
#include "tap.h"

#if TAP_THREAD_SANITIZER
static void need_steps(void)
{
	tap_skip("steps",
		 "the thread sanitizer hands signals on when it likes, not at the instruction");
}

static void step_from_here(void)
{
}

static void step_no_more(void)
{
}

static void steps_leave(void *context)
{
	(void)context;
}

static uint64_t steps_before;

static void steps_clock_read(void *context, uint64_t clock)
{
	(void)context, (void)clock, (void)steps_before;
}

#elif defined(__x86_64__)

enum { TRAP_FLAG = 0x100 };

/* Below 128 bytes of the stack that the compiler may be using. */
#define STEPS(which)                                                                               \
	__asm__ volatile("sub $128, %%rsp; pushf; " which "; popf; add $128, %%rsp"                \
			 :                                                                         \
			 :                                                                         \
			 : "cc", "memory")

static void need_steps(void)
{
}

static void step_from_here(void)
{
	STEPS("orq $0x100, (%%rsp)");
}

static void step_no_more(void)
{
	STEPS("andq $~0x100, (%%rsp)");
}

/* What this handler interrupted is stepped no more. */
static void steps_leave(void *context)
{
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

static __thread uint64_t steps_before; /* where the last step was */

/*
 * Called at each step, of one thread: if its instruction read the CPU's clock, it is told that one
 * instead.
 */
static void steps_clock_read(void *context, uint64_t clock)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;

	if (steps_before &&
	    !memcmp((const void *)(uintptr_t)steps_before, "\x0f\x31", 2)) { /* rdtsc */
		r[REG_RAX] = (greg_t)(uint32_t)clock;
		r[REG_RDX] = (greg_t)(clock >> 32);
	}
	steps_before = (uint64_t)r[REG_RIP];
}

#else

#include <elf.h>
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

enum { STEPS_BEGIN = 0x5101, STEPS_END, STEPS_LEAVE };
enum { STEPS_TRACED = 16, STEPS_DEEP = 8, STEPS_SIGRETURN = 139 };

#define STEPS_ASK(number) __asm__ volatile("brk %0" : : "i"(number) : "memory")

static void step_from_here(void)
{
	STEPS_ASK(STEPS_BEGIN);
}

static void step_no_more(void)
{
	STEPS_ASK(STEPS_END);
}

static void steps_leave(void *context)
{
	(void)context;
	STEPS_ASK(STEPS_LEAVE);
}

static __thread uint64_t steps_before;

static void steps_clock_read(void *context, uint64_t clock)
{
	mcontext_t *m = &((ucontext_t *)context)->uc_mcontext;
	uint32_t code = 0;

	if (steps_before)
		memcpy(&code, (const void *)(uintptr_t)steps_before, sizeof(code));
	if ((code & 0xffffffe0) == 0xd53be040 && (code & 31) != 31) /* mrs x, cntvct_el0 */
		m->regs[code & 31] = clock;
	steps_before = m->pc;
}

/*
 * A process that is traced: how deep in handlers, and of each of them and of what they interrupted,
 * whether it is stepped.
 */
struct traced {
	pid_t pid;
	unsigned deep;
	bool step[STEPS_DEEP], in_return, awaited;
};

static struct traced steps_traced[STEPS_TRACED];

__attribute__((noreturn)) static void steps_fail(const char *why)
{
	printf("# the tracer: %s\n", why);
	fflush(stdout);
	_exit(TAP_FAILED);
}

/* Its entry; of one that nobody has spoken of yet, a new one. */
static struct traced *steps_of(pid_t pid)
{
	struct traced *empty = NULL;

	for (struct traced *t = steps_traced; t < steps_traced + STEPS_TRACED; t++) {
		if (t->pid == pid)
			return t;
		if (!t->pid)
			empty = t;
	}
	if (!empty)
		steps_fail("too many processes");
	*empty = (struct traced){ .pid = pid };
	return empty;
}

static void steps_resume(struct traced *t, int signal)
{
	long how = t->step[t->deep] ? PTRACE_SINGLESTEP : t->deep ? PTRACE_SYSCALL : PTRACE_CONT;

	if (ptrace(how, t->pid, NULL, (void *)(intptr_t)signal) < 0 && errno != ESRCH)
		steps_fail(strerror(errno));
}

static bool steps_registers(struct traced *t, struct user_regs_struct *r, bool set)
{
	struct iovec v = { r, sizeof(*r) };

	return ptrace(set ? PTRACE_SETREGSET : PTRACE_GETREGSET, t->pid,
		      (void *)(intptr_t)NT_PRSTATUS, &v) == 0;
}

/* The number of the `brk` that it has come to, which is stepped over; or 0. */
static unsigned steps_asked(struct traced *t)
{
	struct user_regs_struct r;
	long code;

	if (!steps_registers(t, &r, false))
		return 0;
	code = ptrace(PTRACE_PEEKTEXT, t->pid, (void *)(uintptr_t)(r.pc & ~7ull), NULL);
	code = (long)((uint64_t)code >> (r.pc & 4) * 8 & 0xffffffff);
	if ((code & 0xffe0001f) != 0xd4200000)
		return 0;
	r.pc += 4;
	steps_registers(t, &r, true);
	return code >> 5 & 0xffff;
}

static void steps_trapped(struct traced *t)
{
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, t->pid, NULL, &info) < 0)
		steps_fail(strerror(errno));
	switch (info.si_code == TRAP_BRKPT ? steps_asked(t) : 0) {
	case STEPS_BEGIN:
		t->step[t->deep] = true;
		break;
	case STEPS_END:
		t->step[t->deep] = false;
		break;
	case STEPS_LEAVE:
		if (t->deep)
			t->step[t->deep - 1] = false;
		break;
	default:
		if (!t->step[t->deep] || t->deep + 1 == STEPS_DEEP)
			steps_fail("a trap that nobody asked for");
		t->step[++t->deep] = false;
		steps_resume(t, SIGTRAP);
		return;
	}
	steps_resume(t, 0);
}

/* At the entry of a system call, and at its end, of a handler. */
static void steps_system_call(struct traced *t)
{
	struct user_regs_struct r;

	if (t->in_return) {
		t->in_return = false;
		t->deep--;
	} else if (steps_registers(t, &r, false)) {
		/* x7 tells entry and end apart. */
		t->in_return = r.regs[8] == STEPS_SIGRETURN && r.regs[7] == 0;
	}
	steps_resume(t, 0);
}

/* One more, as its parent is. */
static void steps_begotten(struct traced *t)
{
	unsigned long pid;
	struct traced *child;

	if (ptrace(PTRACE_GETEVENTMSG, t->pid, NULL, &pid) < 0)
		steps_fail(strerror(errno));
	child = steps_of((pid_t)pid);
	memcpy(child->step, t->step, sizeof(t->step));
	child->deep = t->deep;
	if (child->awaited)
		steps_resume(child, 0);
	child->awaited = !child->awaited;
	steps_resume(t, 0);
}

__attribute__((noreturn)) static void steps_trace(pid_t first)
{
	const long options = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
		PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;
	int status;
	pid_t pid;

	if (waitpid(first, &status, 0) != first || !WIFSTOPPED(status))
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : TAP_FAILED);
	if (ptrace(PTRACE_SETOPTIONS, first, NULL, (void *)options) < 0)
		steps_fail(strerror(errno));
	steps_resume(steps_of(first), 0);
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		struct traced *t = steps_of(pid);

		if (!WIFSTOPPED(status)) {
			t->pid = 0;
			if (pid != first)
				continue;
			if (WIFSIGNALED(status))
				printf("# died by signal %d\n", WTERMSIG(status));
			fflush(stdout);
			_exit(WIFEXITED(status) ? WEXITSTATUS(status) : TAP_FAILED);
		}
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			steps_system_call(t);
		} else if (status >> 16) {
			steps_begotten(t);
		} else if (WSTOPSIG(status) == SIGTRAP) {
			steps_trapped(t);
		} else if (WSTOPSIG(status) == SIGSTOP && pid != first) {
			/* A new one stops first, before or after its parent has told of it. */
			if (t->awaited)
				steps_resume(t, 0);
			t->awaited = !t->awaited;
		} else {
			steps_resume(t, WSTOPSIG(status));
		}
	}
	steps_fail("nobody is left");
}

/* Called first in each test, before anything is recorded or forked. */
static void need_steps(void)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child < 0)
		steps_fail(strerror(errno));
	if (child)
		steps_trace(child);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		tap_skip("steps", "a child may not be traced: %s", strerror(errno));
	raise(SIGSTOP);
}
#endif
#endif
