/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/signal_name.h"
#include "base/text.h"
#include "compare/revision.h"

enum { ANSWER_BYTES = 4096, NO_PROGRAM = 127 };

/* ---- programs ---- */

static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

static void signal_set(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		sigaddset(set, ending[i]);
	sigaddset(set, SIGCHLD);
}

void revision_signals_begin(struct revision_signals *s)
{
	sigset_t set;

	s->got = 0;
	signal_set(&set);
	sigprocmask(SIG_BLOCK, &set, &s->before);
}

void revision_signals_end(struct revision_signals *s)
{
	sigprocmask(SIG_SETMASK, &s->before, NULL);
}

int revision_wait(struct revision_signals *s, int pid, bool group)
{
	sigset_t set;
	int status;

	signal_set(&set);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		int got = sigwaitinfo(&set, NULL);

		if (got <= 0 || got == SIGCHLD)
			continue;
		s->got = s->got ? s->got : got;
		kill(group ? -pid : pid, got);
	}
	/* one that came while it ended */
	while (!s->got) {
		int got = sigtimedwait(&set, NULL, &(struct timespec){ 0 });

		if (got <= 0)
			break;
		s->got = got == SIGCHLD ? 0 : got;
	}
	return status;
}

struct child {
	const char *dir; /* working directory; NULL: tare's own */
	int out;         /* both of its outputs go there; -1: to /dev/null */
	bool read;       /* its standard output is read instead */
};

static int start(char *const argv[], const struct child *c, const struct revision_signals *s,
		 int *answer, struct tare_error *err)
{
	int ends[2] = { -1, -1 }, pid;

	if (c->read && pipe2(ends, O_CLOEXEC) < 0)
		return tare_fail(err, errno, "no pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		int none = open("/dev/null", O_RDWR | O_CLOEXEC);

		setpgid(0, 0);
		dup2(none, STDIN_FILENO);
		dup2(c->read ? ends[1] : c->out < 0 ? none : c->out, STDOUT_FILENO);
		dup2(c->out < 0 ? none : c->out, STDERR_FILENO);
		sigprocmask(SIG_SETMASK, &s->before, NULL);
		if (!c->dir || chdir(c->dir) == 0)
			execvp(argv[0], argv);
		_exit(NO_PROGRAM);
	}
	if (pid > 0)
		setpgid(pid, pid);
	if (ends[1] >= 0)
		close(ends[1]);
	*answer = ends[0];
	if (pid < 0 && ends[0] >= 0)
		close(ends[0]);
	return pid < 0 ? tare_fail(err, errno, "cannot start %s: %s", argv[0], strerror(errno))
		       : pid;
}

static int interrupted(const struct revision_signals *s, struct tare_error *err)
{
	char by[SIGNAL_NAME_ROOM];

	return tare_fail(err, EINTR, "stopped by %s", signal_name(s->got, by));
}

/*
 * git's exit status, and the first ANSWER_BYTES of its output without the last newline (answer
 * NULL: not read). Hooks of the repository do not run.
 */
static int git(struct revision_signals *s, char *answer, struct tare_error *err, ...)
{
	char hooks[] = "core.hooksPath=/dev/null", *argv[16] = { "git", "-c", hooks };
	const struct child c = { .out = -1, .read = answer };
	size_t words = 3, len = 0;
	char unused[ANSWER_BYTES];
	ssize_t n = 0;
	va_list more;
	int fd, pid, status;

	va_start(more, err);
	while (words + 1 < ARRAY_SIZE(argv) && (argv[words] = va_arg(more, char *)))
		words++;
	va_end(more);
	pid = start(argv, &c, s, &fd, err);
	if (pid < 0)
		return pid;
	while (answer && len + 1 < ANSWER_BYTES &&
	       ((n = read(fd, answer + len, ANSWER_BYTES - 1 - len)) > 0 ||
		(n < 0 && errno == EINTR)))
		len += n > 0 ? (size_t)n : 0;
	while (n > 0 && read(fd, unused, sizeof(unused)) > 0)
		;
	while (len && answer[len - 1] == '\n')
		len--;
	if (answer) {
		answer[len] = '\0';
		close(fd);
	}
	status = revision_wait(s, pid, true);
	if (s->got)
		return interrupted(s, err);
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PROGRAM)
		return tare_fail(err, ENOENT, "git is not installed, and --rev needs it");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* ---- names ---- */

static bool is_shallow(struct revision_signals *s)
{
	char answer[ANSWER_BYTES];

	return git(s, answer, NULL, "rev-parse", "--is-shallow-repository", NULL) == 0 &&
		!strcmp(answer, "true");
}

static int find(struct revision *r, const char *name, size_t n, struct revision_signals *s,
		struct tare_error *err)
{
	char wanted[sizeof(r->name) + 16], answer[ANSWER_BYTES];
	int ret;

	if (n >= sizeof(r->name))
		return tare_fail(err, ENAMETOOLONG, "the name of a revision is too long");
	snprintf(r->name, sizeof(r->name), "%.*s", n ? (int)n : 4, n ? name : "HEAD");
	snprintf(wanted, sizeof(wanted), "%s^{commit}", r->name);
	ret = git(s, answer, err, "rev-parse", "--verify", "--quiet", "--end-of-options", wanted,
		  NULL);
	if (ret < 0)
		return ret;
	if (ret == 0 && strlen(answer) < sizeof(r->commit)) {
		strcpy(r->commit, answer);
		return 0;
	}
	tare_fail(err, ENOENT, "there is no revision '%.100s'", r->name);
	if (is_shallow(s))
		tare_hint(err,
			  "this clone is shallow: git fetch --unshallow, or fetch-depth: 0 in "
			  "GitHub's actions/checkout");
	else
		tare_hint(err, "git fetch --all --tags, or git log --oneline to find its name");
	return -ENOENT;
}

static int merge_base(struct revision r[2], struct revision_signals *s, struct tare_error *err)
{
	char answer[ANSWER_BYTES];
	int ret = git(s, answer, err, "merge-base", r[0].commit, r[1].commit, NULL);

	if (ret < 0)
		return ret;
	if (ret == 0 && strlen(answer) < sizeof(r[0].commit)) {
		strcpy(r[0].commit, answer);
		return 0;
	}
	tare_fail(err, ENOENT, "%.100s and %.100s have no common ancestor", r[0].name, r[1].name);
	if (is_shallow(s))
		tare_hint(err,
			  "this clone is shallow: git fetch --unshallow, or fetch-depth: 0 in "
			  "GitHub's actions/checkout");
	return -ENOENT;
}

int revision_range(struct revision out[2], const char *range, struct revision_signals *s,
		   struct tare_error *err)
{
	const char *dots = strstr(range, ".."), *after = dots ? dots + 2 : "HEAD";
	bool three = dots && dots[2] == '.';
	char answer[ANSWER_BYTES];
	int ret = git(s, answer, err, "rev-parse", "--show-toplevel", NULL);

	memset(out, 0, 2 * sizeof(*out));
	if (ret > 0) {
		tare_fail(err, ENOENT, "this folder is not in the work tree of a git repository");
		tare_hint(err, "change to one; without git: tare compare -- ./before ::: ./after");
		return -ENOENT;
	}
	if (ret == 0)
		ret = find(&out[0], range, dots ? (size_t)(dots - range) : strlen(range), s, err);
	if (ret == 0)
		ret = find(&out[1], after + three, strlen(after + three), s, err);
	return ret == 0 && three ? merge_base(out, s, err) : ret;
}

int revision_dirty(char head[REVISION_COMMIT_BYTES], struct revision_signals *s,
		   struct tare_error *err)
{
	char answer[ANSWER_BYTES];
	int ret = git(s, answer, err, "rev-parse", "--verify", "--quiet", "HEAD", NULL);

	if (ret < 0)
		return ret;
	snprintf(head, REVISION_COMMIT_BYTES, "%.*s", REVISION_COMMIT_BYTES - 1, answer);
	ret = git(s, answer, err, "status", "--porcelain", "--untracked-files=no", NULL);
	return ret < 0 ? ret : ret == 0 && answer[0];
}

/* ---- worktrees ---- */

int revision_check_out(struct revision *r, const char *tree, struct revision_signals *s,
		       struct tare_error *err)
{
	char prefix[ANSWER_BYTES], name[PATH_MAX];
	int ret = git(s, prefix, err, "rev-parse", "--show-prefix", NULL), n;

	if (ret < 0)
		return ret;
	snprintf(name, sizeof(name), "%s", tree);
	n = snprintf(r->dir, sizeof(r->dir), "%s/%s", tree, prefix);
	if (n < 0 || (size_t)n >= sizeof(r->dir))
		return tare_fail(err, ENAMETOOLONG, "the name of the worktree is too long");
	strcpy(r->tree, name);
	/* an interrupted one has to be removed, too */
	ret = git(s, NULL, err, "worktree", "add", "--detach", "--force", r->tree, r->commit, NULL);
	if (ret <= 0)
		return ret;
	tare_fail(err, EIO, "git cannot check out %.40s (%.80s) in %.120s", r->commit, r->name,
		  r->tree);
	tare_hint(err, "try it: git worktree add --detach DIR %.40s", r->commit);
	return -EIO;
}

int revision_run(const struct revision *r, const char *command, const char *log,
		 struct revision_signals *s, struct tare_error *err)
{
	char shell[] = "sh", c_option[] = "-c", *words = strdup(command),
	     *argv[] = { shell, c_option, words, NULL };
	int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), unused, status, pid;
	const struct child child = { .dir = r->dir, .out = fd };

	if (fd < 0)
		pid = tare_fail(err, errno, "cannot create %.200s: %s", log, strerror(errno));
	else
		pid = words ? start(argv, &child, s, &unused, err) : tare_fail_nomem(err);
	if (fd >= 0)
		close(fd);
	free(words);
	if (pid < 0)
		return pid;
	status = revision_wait(s, pid, true);
	return s->got ? interrupted(s, err) : status;
}

int revision_build(const struct revision *r, const char *command, const char *log,
		   struct revision_signals *s, struct tare_error *err)
{
	int status = revision_run(r, command, log, s, err);
	char by[SIGNAL_NAME_ROOM];

	if (status <= 0)
		return status;
	if (WIFSIGNALED(status))
		tare_fail(err, EINVAL, "the build of %.80s (%.12s) was ended by %s", r->name,
			  r->commit, signal_name(WTERMSIG(status), by));
	else
		tare_fail(err, EINVAL, "the build of %.80s (%.12s) failed with exit status %d",
			  r->name, r->commit, WEXITSTATUS(status));
	tare_hint(err, "try it: git worktree add --detach DIR %.12s, and run it there", r->commit);
	return -EINVAL;
}

int revision_remove(struct revision *r, struct revision_signals *s, struct tare_error *err)
{
	struct revision_signals quiet = { .before = s->before }; /* a signal has arrived before */
	int ret;

	if (!r->tree[0])
		return 0;
	ret = git(&quiet, NULL, err, "worktree", "remove", "--force", "--force", r->tree, NULL);
	if (ret > 0 && access(r->tree, F_OK) == 0) {
		tare_fail(err, EIO, "cannot remove the worktree %.200s", r->tree);
		tare_hint(err, "git worktree remove --force %.100s", r->tree);
		ret = -EIO;
	}
	r->tree[0] = '\0';
	return ret < 0 ? ret : 0;
}
