/* SPDX-License-Identifier: MIT */
/*
 * fork, wait for the release, exec. The child keeps tare's process group, environment, descriptors
 * and directory. Only the two pipes are added, and both close at exec.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/process.h"
#include "base/program.h"
#include "exact/isa.h"
#include "launch/launch.h"
#include "launch/signals.h"
#include "launch/launch_fix.h"

static void __attribute__((noreturn))
become(const struct launched *l, char *const argv[], const struct launch_signals *sig, int go,
       int result, int ask)
{
	char word;
	ssize_t got;

	serve_ask(ask);
	environ = (char **)l->envp;

	sigaction(SIGPIPE, &sig->sigpipe, NULL);
	sigaction(SIGCHLD, &sig->sigchld, NULL);
	sigprocmask(SIG_SETMASK, &sig->mask, NULL);
	do
		got = read(go, &word, 1);
	while (got < 0 && errno == EINTR);
	if (got == 1) {
		execvp(argv[0], argv);

		int code = errno;

		if (write(result, &code, sizeof(code)) != sizeof(code))
			_exit(126);
	}
	_exit(127); /* tare ended, or exec failed and tare knows */
}

/* A CPU model that is named is checked, although it has no effect here. */
static int check_isa(const struct determinism *f, struct tare_error *err)
{
	struct isa_model m, host;
	int ret;

	if (!(determinism_tried(f) & FIXED(ISA)) || !f->isa[0])
		return 0;
	isa_abilities(&host);
	ret = isa_choose(&m, f->isa, &host, err);
	return ret == -ENOTSUP ? 0 : ret;
}

static int prepare(struct launched *l, char *const argv[], const struct launch_signals *sig,
		   struct tare_error *err)
{
	int go[2] = { -1, -1 }, result[2] = { -1, -1 }, pair[2], ret;
	struct fix_before before;

	l->go_fd = l->result_fd = -1;
	ret = check_isa(l->fixed, err);
	if (ret < 0)
		return ret;
	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(result, O_CLOEXEC) < 0) {
		ret = tare_fail(err, errno, "cannot make a pipe to start %.200s: %s", argv[0],
				strerror(errno));

		process_limit_hint(err, -ret);
		if (go[0] >= 0) {
			close(go[0]);
			close(go[1]);
		}
		return ret;
	}
	determinism_without_engine(l->fixed);
	if (l->fixed)
		l->fixed->partly = FIXED(RANDOM) | FIXED(TERMINAL);
	fix_rights(l->fixed, argv[0]);
	serve_pair(l->fixed, pair);
	fix_begin(l->fixed, &before);
	l->pid = fork();
	if (l->pid == 0) {
		close(go[1]);
		close(result[0]);
		if (pair[0] >= 0)
			close(pair[0]);
		become(l, argv, sig, go[0], result[1], pair[1]);
	}

	int code = errno;

	fix_end(l->fixed, &before);
	close(go[0]);
	close(result[1]);
	if (pair[1] >= 0)
		close(pair[1]);
	l->own = serve_begin(l->fixed, pair[0], l->pid);
	l->go_fd = go[1];
	l->result_fd = result[0];
	if (l->pid > 0)
		return 0;
	l->pid = 0;
	launch_plain.close(l);
	tare_fail(err, code, "cannot start a process for %.200s: %s", argv[0], strerror(code));
	process_limit_hint(err, code);
	return -code;
}

/* exec returns ENOENT both for a missing command and for a missing interpreter. */
static bool is_there(const char *command, char path[4096])
{
	struct stat st;

	if (!strchr(command, '/'))
		return program_find(command, path, 4096);
	snprintf(path, 4096, "%s", command);
	return stat(command, &st) == 0;
}

int launch_not_executed(const char *command, int code, struct tare_error *err)
{
	char path[4096];
	struct stat st;

	if (!command)
		return tare_fail(err, code, "the command cannot be executed: %s", strerror(code));
	if (code == ENOENT && is_there(command, path)) {
		tare_fail(err, ENOEXEC,
			  "%.200s cannot be executed: its interpreter or loader does not exist",
			  path);
		return -ENOEXEC;
	}
	if (code == ENOENT) {
		tare_fail(err, code, "there is no command '%.200s'", command);
		if (!strchr(command, '/'))
			tare_hint(
				err,
				"no directory of PATH has it; in this directory it would be ./%.100s",
				command);
		return -ENOENT;
	}
	if (code == EACCES && strchr(command, '/') && stat(command, &st) == 0)
		return tare_fail(err, code, "%.200s cannot be executed: %s", command,
				 S_ISDIR(st.st_mode) ? "it is a directory"
					 : !(st.st_mode & 0111)
					 ? "it has no execute permission (chmod +x)"
					 : "permission denied");
	return tare_fail(err, code, "%.200s cannot be executed: %s", command, strerror(code));
}

static int release(struct launched *l, char *const argv[], const struct launch_signals *sig,
		   struct tare_error *err)
{
	int code = 0;
	ssize_t got;

	(void)sig; /* the child has restored them itself */
	if (write(l->go_fd, "g", 1) != 1)
		code = errno;
	close(l->go_fd);
	l->go_fd = -1;
	do
		got = read(l->result_fd, &code, sizeof(code));
	while (got < 0 && errno == EINTR);
	if (got == 0 && !code)
		return 0;
	return launch_not_executed(argv[0], code ? code : EIO, err);
}

static int wake_fd(const struct launched *l)
{
	(void)l;
	return -1;
}

static int reap(struct launched *l, int *status, struct rusage *used)
{
	siginfo_t info = { 0 };

	/* If it is traced at an exec, it stops, and the tracer waits for that. */
	if (l->pid <= 0 || waitid(P_PID, (id_t)l->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
	    !info.si_pid || info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED)
		return 0;
	serve_end(l->own); /* it also writes to `fixed` */
	l->own = NULL;
	fix_check(l->fixed, l->pid);
	if (wait4(l->pid, status, WNOHANG, used) != l->pid)
		return 0;
	l->pid = 0;
	return 1;
}

static void give_up(struct launched *l)
{
	if (l->go_fd >= 0)
		close(l->go_fd);
	if (l->result_fd >= 0)
		close(l->result_fd);
	l->go_fd = l->result_fd = -1;
	if (l->pid > 0) {
		kill(l->pid, SIGKILL);
		while (waitpid(l->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	l->pid = 0;
	serve_end(l->own);
	l->own = NULL;
}

void launch_signal(const struct launcher *launcher, const struct launched *l, int number)
{
	signal_send(l->pid, number);
	if (launcher->signalled)
		launcher->signalled(l, number);
}

const struct launcher launch_plain = {
	.name = "fork",
	.engine = &source_perf,
	.prepare = prepare,
	.release = release,
	.wake_fd = wake_fd,
	.reap = reap,
	.close = give_up,
};
