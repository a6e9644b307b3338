/* SPDX-License-Identifier: MIT */
/*
 * Starts the command, and watches it from its first instruction. The supervisor does this and then
 * closes the command's descriptors.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "base/program.h"
#include "exact/supervise.h"

/* In the child: wait until it is traced, then execute. */
static void become_command(const struct launch *l, const char *program, int go_fd, int error_fd)
{
	char c;
	int code;

	if (!l->aslr)
		personality(ADDR_NO_RANDOMIZE);
	if (read(go_fd, &c, 1) != 1)
		/* the supervisor is gone; ends the same way as a traced command would */
		kill(getpid(), SIGKILL);
	close(go_fd);
	if (program)
		execve(program, l->argv, l->envp);
	/* execve failed, or the program was not found: the C library handles scripts, and errors */
	execvpe(l->argv[0], l->argv, l->envp);
	code = errno;
	if (write(error_fd, &code, sizeof code) != sizeof code)
		_exit(126);
	_exit(127);
}

static void fail_launch(struct supervisor *s, int code, const char *reason)
{
	struct report r = { .error = code };

	snprintf(r.reason, sizeof r.reason, "%s", reason);
	send_report(s, &r);
	_exit(1);
}

static pid_t parent_of(pid_t pid)
{
	char path[64], text[512], *after_name;
	int fd, parent = 0;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	after_name = strrchr(text, ')');
	if (after_name)
		sscanf(after_name, ") %*c %d", &parent);
	return parent;
}

/*
 * Does no parent of the process group of `pid` belong to another group of its session? The kernel
 * then ignores SIGTSTP, SIGTTIN and SIGTTOU in it, as no shell would continue it. Source: POSIX,
 * "Orphaned Process Group".
 */
static bool is_orphaned(pid_t pid)
{
	const pid_t group = getpgid(pid), session = getsid(pid);

	for (pid_t p = pid; p > 0 && getpgid(p) == group;) {
		p = parent_of(p);
		if (p > 0 && getsid(p) == session && getpgid(p) != group)
			return false;
	}
	return true;
}

/*
 * Leave the command's process group, so that signals for it or from its terminal do not reach the
 * supervisor, including SIGKILL and SIGSTOP. Stay in its session, as a new session gets a new
 * autogroup: on a busy machine its tasks wait for seconds. But as a parent in another group of the
 * same session, the supervisor would make an orphaned process group stoppable by its terminal.
 * Source: sched(7), "The autogroup feature".
 */
static void leave_group(pid_t tare)
{
	int terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);

	if (terminal >= 0)
		close(terminal);
	if (terminal >= 0 && is_orphaned(tare))
		setsid();
	else
		setpgid(0, 0);
}

void start_command(struct supervisor *s)
{
	char path[4096];
	const char *program = program_find(s->l->argv[0], path, sizeof path) ? path : NULL;
	int go[2], error[2], code;
	pid_t pid;

	if (program && program_changes_rights(program))
		fail_launch(
			s, ENOTSUP,
			"it changes its rights (setuid, setgid or file capabilities), which the kernel does not allow for a program "
			"that is traced at its start");
	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(error, O_CLOEXEC) < 0)
		fail_launch(s, errno, "cannot make a pipe");
	pid = fork();
	if (pid < 0)
		fail_launch(s, errno, "cannot fork");
	if (pid == 0) {
		close(go[1]);
		close(error[0]);
		sigaction(SIGCHLD, &s->former, NULL);
		sigprocmask(SIG_SETMASK, s->l->mask, NULL);
		become_command(s->l, program, go[0], error[1]);
	}
	close(go[0]);
	close(error[1]);
	s->command = s->b->command = pid;
	leave_group(s->l->tare);
	/*
	 * Until it is detached it ends with the supervisor: tare may then restart it without the
	 * engine.
	 */
	if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) < 0) {
		siginfo_t end = { 0 };

		code = errno; /* also EPERM if it has ended */
		waitid(P_PID, (id_t)pid, &end, WEXITED | WNOHANG | WNOWAIT);
		kill(pid, SIGKILL);
		if (code == ESRCH || end.si_pid)
			return; /* a signal arrived first */
		fail_launch(
			s, code,
			"ptrace is not permitted here, and the exact engine needs it for a moment at "
			"the start of each program");
	}
	if (write(go[1], "", 1) != 1 && errno != EPIPE /* it has ended */)
		fail_launch(s, errno, "cannot start the command");
	close(go[1]);
	/* Until it is detached, signals stop it, too. Its exit status is left for the waiter. */
	for (int stop; (stop = next_stop(pid)) >= 0; pass_on(pid, stop)) {
		s->command_executed = stop >> 8 == PTRACE_EVENT_EXEC;
		if (s->command_executed)
			break;
	}
	if (read(error[0], &code, sizeof code) == sizeof code)
		fail_launch(s, code, ""); /* execve's own error */
	close(error[0]);
}

static void close_between(int first, int last)
{
	if (first > last || syscall(SYS_close_range, (unsigned)first, (unsigned)last, 0u) == 0)
		return;
	for (int fd = first; fd <= last && fd < 1024; fd++) /* may be forbidden */
		close(fd);
}

void forget_descriptors(const struct launch *l)
{
	const int kept[] = { l->shared_fd, l->image_fd, l->report_fd };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), after = 2;

	/* These may include ours, if tare was started with one of them closed. */
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		if (fd != kept[0] && fd != kept[1] && fd != kept[2])
			dup2(null, fd);
	/* A pipe end kept open here would keep its reader waiting. */
	for (int next; after < INT_MAX; after = next) {
		next = INT_MAX;
		for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
			if (kept[i] > after && kept[i] < next)
				next = kept[i];
		close_between(after + 1, next == INT_MAX ? INT_MAX : next - 1);
	}
}
