/* SPDX-License-Identifier: MIT */
/*
 * Three processes: the one that the user started waits; the first one of the namespace reaps
 * orphans, and its end ends the whole namespace; the second one continues as tare. Between the
 * first two is a process that holds the namespace, which the waiting one must not enter. Each ends
 * with the one before it, so killing tare in any way kills the command. Source: pid_namespaces(7),
 * proc(5), "ns_last_pid", PR_SET_PDEATHSIG(2const).
 */
#include <stdarg.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/path.h"
#include "base/program.h"
#include "base/temp_folder.h"
#include "launch/pidspace.h"
#include "launch/signals.h"

static const int passed[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM };

static int write_file(const char *path, const char *words)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, words, strlen(words)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/* An unprivileged user becomes root of a user namespace that contains only this user. */
static int user_space(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	char words[64];
	int ret;

	if (unshare(CLONE_NEWUSER) < 0)
		return -errno;
	snprintf(words, sizeof(words), "%u %u 1", (unsigned)uid, (unsigned)uid);
	ret = write_file("/proc/self/uid_map", words);
	if (ret == 0)
		ret = write_file("/proc/self/setgroups", "deny");
	snprintf(words, sizeof(words), "%u %u 1", (unsigned)gid, (unsigned)gid);
	return ret < 0 ? ret : write_file("/proc/self/gid_map", words);
}

static void wait_and_pass(pid_t child, int *status)
{
	sigset_t set;
	siginfo_t info;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(passed) / sizeof(*passed); i++)
		sigaddset(&set, passed[i]);
	sigaddset(&set, SIGCHLD);
	for (;;) {
		pid_t got;
		int ended;

		while ((got = waitpid(-1, &ended, WNOHANG)) > 0)
			if (got == child) {
				*status = ended;
				return;
			}
		if (got < 0 && errno == ECHILD) {
			*status = 125 << 8;
			return;
		}
		if (sigwaitinfo(&set, &info) < 0)
			continue;
		if (info.si_signo != SIGCHLD && signal_is_for_us_alone(info.si_signo, info.si_code))
			signal_send(child, info.si_signo);
	}
}

static void block(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(passed) / sizeof(*passed); i++)
		sigaddset(&set, passed[i]);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, before);
}

static const char cannot_fork[] =
	"no process in a pid namespace: the limit of processes (ulimit -u) is reached";

static int status_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Two items need it: a failure affects both. */
__attribute__((format(printf, 2, 3))) static void miss(struct determinism *f, const char *fmt, ...)
{
	char why[120];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	determinism_miss(f, FIXED_PID, "%s", why);
	determinism_miss(f, FIXED_CWD, "%s", why);
}

static const char parent[] = "/tmp", begin[] = "/tmp/tare-cwd-", end[] = "XXXXXX";

static void remove_left(const char *folder, void *unused)
{
	(void)unused;
	rmdir(folder);
}

/*
 * Create a folder in /tmp where all files will be mounted again, and the working directory's name
 * in it.
 */
static void make_long_name(struct determinism *f)
{
	char own[PATH_MAX];
	size_t n, lacks;

	if (!(determinism_had(f) & FIXED(CWD)))
		return;
	if (!getcwd(own, sizeof(own)) || own[0] != '/') {
		determinism_miss(f, FIXED_CWD, "the working directory has no name");
		return;
	}
	n = own[1] ? strlen(own) : 0;
	if (n + strlen(begin) + strlen(end) > FIXED_CWD_BYTES) {
		determinism_miss(f, FIXED_CWD,
				 "its name of %zu characters is too long to be filled up to %d", n,
				 FIXED_CWD_BYTES);
		return;
	}
	lacks = FIXED_CWD_BYTES - n;
	memset(f->cwd, '.', lacks);
	memcpy(f->cwd, begin, strlen(begin));
	memcpy(f->cwd + lacks - strlen(end), end, sizeof(end));
	f->cwd_from = lacks;
	temp_folders_stale(parent, path_base(begin), remove_left, NULL);
	f->cwd_lock = temp_folder_make(f->cwd);
	if (f->cwd_lock < 0) {
		determinism_miss(f, FIXED_CWD, "no folder in /tmp: %s", strerror(-f->cwd_lock));
		f->cwd[0] = '\0';
		return;
	}
	memcpy(f->cwd + lacks, own, n);
	f->cwd[lacks + n] = '\0';
}

static void remove_folder(struct determinism *f)
{
	if (!f->cwd[0])
		return;
	f->cwd[f->cwd_from] = '\0';
	rmdir(f->cwd);
	close(f->cwd_lock);
	f->cwd[0] = '\0';
}

/* In the namespace. PWD remains valid, as it leads to the same files. */
static void see_files_again(struct determinism *f)
{
	char folder[FIXED_CWD_BYTES + 1] = "";

	if (!f->cwd[0])
		return;
	memcpy(folder, f->cwd, f->cwd_from);
	if (mount("/", folder, NULL, MS_BIND | MS_REC, NULL) < 0)
		determinism_miss(f, FIXED_CWD, "its files cannot be mounted once more: %s",
				 strerror(errno));
	else if (getenv("PWD"))
		setenv("PWD", f->cwd, 1);
}

/*
 * Do everything that may fail: create a namespace in which /proc can be mounted and ids can be set.
 * Returns what failed.
 */
static const char *first_process(void)
{
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return "/proc cannot be mounted in a pid namespace here";
	if (write_file("/proc/sys/kernel/ns_last_pid", "1") < 0)
		return "this kernel does not let the next process id be set (CONFIG_CHECKPOINT_RESTORE)";
	return NULL;
}

/*
 * -1: continue as tare, in the namespace; otherwise the exit status for the waiting process, which
 * gets the reason if there is one.
 */
static int live_in(struct determinism *f, int told, const sigset_t *before)
{
	const char *why = first_process();
	struct sigaction child_as_it_is;
	pid_t pid = -1;
	int status;

	if (!why)
		see_files_again(f);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGCHLD, NULL, &child_as_it_is);
	/* if it was inherited as ignored, there would be nothing to wait for */
	signal(SIGCHLD, SIG_DFL);
	if (!why)
		pid = fork();
	if (pid == 0) {
		close(told);
		sigaction(SIGCHLD, &child_as_it_is, NULL);
		sigprocmask(SIG_SETMASK, before, NULL);
		return -1;
	}
	if (!why && pid < 0)
		why = cannot_fork;
	/*
	 * Ids outside are not visible here: if the waiting process is gone by now, there is no
	 * reader.
	 */
	if (write(told, why ? why : "", why ? strlen(why) + 1 : 1) < 0 || why)
		_exit(125);
	close(told);
	wait_and_pass(pid, &status);
	_exit(status_of(status));
}

int pidspace_enter(struct determinism *f, const char *command)
{
	struct sigaction child_as_it_is;
	char why[120] = "", path[PATH_MAX];
	int told[2], status, flags = CLONE_NEWPID | CLONE_NEWNS;
	sigset_t before;
	ssize_t n;
	pid_t pid, self = getpid();

	if (!(determinism_had(f) & (FIXED(PID) | FIXED(CWD))))
		return -1;
	if (geteuid() && program_find(command, path, sizeof(path)) &&
	    program_changes_rights(path)) {
		miss(f, "the command changes its rights, which a user namespace prevents");
		return -1;
	}
	if (pipe2(told, O_CLOEXEC) < 0) {
		miss(f, "no pipe: %s", strerror(errno));
		return -1;
	}
	make_long_name(f);
	block(&before);
	sigaction(SIGCHLD, NULL, &child_as_it_is);
	signal(SIGCHLD, SIG_DFL);
	/* the waiting process stays in its namespaces: a failed attempt changes nothing */
	pid = fork();
	if (pid == 0) {
		close(told[0]);
		if ((geteuid() && user_space() < 0) || unshare(flags) < 0) {
			snprintf(why, sizeof(why), "no pid namespace: %s", strerror(errno));
		} else {
			pid_t first;

			/* set here, as a change of credentials clears it */
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() != self)
				_exit(125);
			first = fork();
			if (first < 0)
				_exit(125);
			if (first == 0) {
				sigaction(SIGCHLD, &child_as_it_is, NULL);
				return live_in(f, told[1], &before);
			}
			close(told[1]);
			wait_and_pass(first, &status);
			_exit(status_of(status));
		}
		if (write(told[1], why, strlen(why) + 1) < 0)
			_exit(125);
		_exit(125);
	}
	close(told[1]);
	n = pid < 0 ? -1 : read(told[0], why, sizeof(why) - 1);
	close(told[0]);
	if (n == 1 && !why[0]) {
		/* signals stay blocked: a late one must not replace the command's status */
		wait_and_pass(pid, &status);
		remove_folder(f);
		return status_of(status);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	sigaction(SIGCHLD, &child_as_it_is, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	remove_folder(f);
	miss(f, "%s", n > 0 ? why : cannot_fork);
	return -1;
}

void pidspace_rename(struct determinism *f, size_t more)
{
	char own[FIXED_CWD_BYTES + 1], folder[FIXED_CWD_BYTES + 1];
	size_t n = strlen(f->cwd + f->cwd_from), least = strlen(begin) + strlen(end);

	memcpy(own, f->cwd + f->cwd_from, n + 1);
	f->cwd_from = 0;
	strcpy(f->cwd, n ? own : "/");
	if (!more)
		return;
	more = more < least ? least : more > FIXED_CWD_BYTES - n ? FIXED_CWD_BYTES - n : more;
	memset(folder, '.', more);
	memcpy(folder, begin, strlen(begin));
	memcpy(folder + more - strlen(end), end, sizeof(end));
	f->cwd_lock = temp_folder_make(folder);
	if (f->cwd_lock >= 0 && mount("/", folder, NULL, MS_BIND | MS_REC, NULL) == 0) {
		f->cwd_from = more;
		memcpy(f->cwd, folder, more);
		memcpy(f->cwd + more, own, n + 1);
		return;
	}
	determinism_miss(f, FIXED_CWD, "no other name for it: %s",
			 strerror(f->cwd_lock < 0 ? -f->cwd_lock : errno));
	rmdir(folder);
	if (f->cwd_lock >= 0)
		close(f->cwd_lock);
}

void pidspace_rename_end(struct determinism *f)
{
	if (!f->cwd_from)
		return;
	f->cwd[f->cwd_from] = '\0';
	umount2(f->cwd, MNT_DETACH); /* a remaining process may still be in there */
	rmdir(f->cwd);
	close(f->cwd_lock);
	f->cwd[0] = '\0';
	f->cwd_from = 0;
}

void pidspace_rewind(struct determinism *f)
{
	char words[16];
	int ret;

	snprintf(words, sizeof(words), "%d", (f->first_pid ? f->first_pid : PIDSPACE_FIRST) - 1);
	ret = write_file("/proc/sys/kernel/ns_last_pid", words);
	if (ret < 0)
		determinism_miss(f, FIXED_PID, "the next process id cannot be set: %s",
				 strerror(-ret));
}
