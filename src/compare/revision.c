/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/signal_name.h"
#include "base/temp_folder.h"
#include "base/text.h"
#include "compare/revision.h"
#include "launch/signals.h"

enum { ANSWER_BYTES = 4096, NO_PROGRAM = 127 };

/* ---- programs ---- */

/* Those that were ignored when tare was started (nohup) stay ignored. */
static void signal_set(sigset_t *set)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction now;

	sigemptyset(set);
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		if (sigaction(ending[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			sigaddset(set, ending[i]);
	sigaddset(set, SIGCHLD);
}

void revision_signals_begin(struct revision_signals *s)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN },
			       usual = { .sa_handler = SIG_DFL };

	*s = (struct revision_signals){ .got = 0 };
	signal_set(&s->set);
	sigprocmask(SIG_BLOCK, &s->set, &s->before.mask);
	sigaction(SIGPIPE, &ignore, &s->before.sigpipe);
	sigaction(SIGCHLD, &usual, &s->before.sigchld);
	orphans_adopt(&s->left);
}

void revision_signals_child(const struct revision_signals *s)
{
	sigaction(SIGPIPE, &s->before.sigpipe, NULL);
	sigaction(SIGCHLD, &s->before.sigchld, NULL);
	sigprocmask(SIG_SETMASK, &s->before.mask, NULL);
}

void revision_signals_end(struct revision_signals *s)
{
	orphans_leave(&s->left);
	revision_signals_child(s);
}

/* The next signal, until a time; 0: none. */
static int next_signal(const struct revision_signals *s, uint64_t until_ns, siginfo_t *info)
{
	uint64_t now = clock_now_ns(), left = until_ns > now ? until_ns - now : 0;
	const struct timespec wait = { (time_t)(left / 1000000000), (long)(left % 1000000000) };
	int got = until_ns == UINT64_MAX ? sigwaitinfo(&s->set, info)
					 : sigtimedwait(&s->set, info, &wait);

	return got > 0 && got != SIGCHLD ? got : 0;
}

int revision_wait(struct revision_signals *s, int pid, bool group)
{
	struct grace grace = { 0 };
	siginfo_t info;
	int status, got;

	if (s->removing && s->got)
		grace_ask(&grace);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		got = next_signal(s, grace_end_ns(&grace), &info);
		if (got && s->removing) {
			s->got = got;
			grace_ask(&grace);
		} else if (got) {
			s->got = s->got ? s->got : got;
			if (group) {
				grace_ask(&grace);
				kill(-pid, got);
			} else if (signal_is_for_us_alone(got, info.si_code)) {
				kill(pid, got);
			}
		}
		if (clock_now_ns() >= grace_end_ns(&grace)) {
			kill(-pid, SIGKILL);
			grace = (struct grace){ 0 };
			s->stuck |= s->removing;
		}
	}
	/* one that came while it ended */
	while (!s->removing && !s->got) {
		got = sigtimedwait(&s->set, &info, &(struct timespec){ 0 });
		if (got <= 0)
			break;
		s->got = got == SIGCHLD ? 0 : got;
	}
	if (s->got && !s->removing)
		orphans_end(&s->left);
	return status;
}

static int start(char *const argv[], const char *dir, int out, int log,
		 const struct revision_signals *s, struct tare_error *err)
{
	int pid = fork();

	if (pid == 0) {
		int none = open("/dev/null", O_RDWR | O_CLOEXEC);

		setpgid(0, 0);
		dup2(none, STDIN_FILENO);
		dup2(out < 0 ? none : out, STDOUT_FILENO);
		dup2(log < 0 ? none : log, STDERR_FILENO);
		revision_signals_child(s);
		if (!dir || chdir(dir) == 0)
			execvp(argv[0], argv);
		_exit(NO_PROGRAM);
	}
	if (pid > 0)
		setpgid(pid, pid);
	return pid < 0 ? tare_fail(err, errno, "cannot start %s: %s", argv[0], strerror(errno))
		       : pid;
}

static int interrupted(const struct revision_signals *s, struct tare_error *err)
{
	char by[SIGNAL_NAME_ROOM];

	return tare_fail(err, EINTR, "stopped by %s", signal_name(s->got, by));
}

/* Without the last newlines. */
static void read_answer(int fd, char answer[ANSWER_BYTES])
{
	ssize_t len = pread(fd, answer, ANSWER_BYTES - 1, 0);

	while (len > 0 && answer[len - 1] == '\n')
		len--;
	answer[len > 0 ? len : 0] = '\0';
}

/*
 * git's exit status, and the first ANSWER_BYTES of its output, or, if it fails, of its messages
 * (answer NULL: not read). Hooks of the repository do not run.
 */
static int git(struct revision_signals *s, char *answer, struct tare_error *err, ...)
{
	char hooks[] = "core.hooksPath=/dev/null", *argv[16] = { "git", "-c", hooks };
	int fd[2] = { -1, -1 }, pid = 0, status; /* its output, its messages */
	size_t words = 3;
	va_list more;

	va_start(more, err);
	while (words + 1 < ARRAY_SIZE(argv) && (argv[words] = va_arg(more, char *)))
		words++;
	va_end(more);
	for (int i = 0; answer && i < 2; i++) {
		fd[i] = memfd_create("tare", MFD_CLOEXEC);
		if (fd[i] < 0)
			pid = tare_fail(err, errno, "no memory file: %s", strerror(errno));
	}
	if (pid == 0)
		pid = start(argv, NULL, fd[0], fd[1], s, err);
	status = pid > 0 ? revision_wait(s, pid, true) : 0;
	if (answer)
		read_answer(fd[status != 0], answer);
	for (int i = 0; i < 2; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	if (pid < 0)
		return pid;
	if (s->got && !s->removing)
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
	const char *reason;

	memset(out, 0, 2 * sizeof(*out));
	if (ret > 0) {
		reason = strstr(answer, "fatal: ");
		reason = reason ? reason : answer;
		tare_fail(err, ENOENT, "there is no work tree of a git repository here: git: %.*s",
			  (int)strcspn(reason, "\n"), reason);
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
	snprintf(head, REVISION_COMMIT_BYTES, "%.*s", REVISION_COMMIT_BYTES - 1,
		 ret == 0 ? answer : "");
	ret = git(s, answer, err, "status", "--porcelain", "--untracked-files=no", NULL);
	return ret < 0 ? ret : ret == 0 && answer[0];
}

/* Refreshes the index, as git status does; changes no file and no reference. */
int revision_work_tree(struct revision *r, struct revision_signals *s, struct tare_error *err)
{
	char answer[ANSWER_BYTES];
	int ret = git(s, answer, err, "stash", "create", NULL);

	if (ret > 0) {
		tare_fail(err, EINVAL, "git stash create: %.*s", (int)strcspn(answer, "\n"),
			  answer);
		tare_hint(err, "A..B compares two commits, without the uncommitted changes");
		return -EINVAL;
	}
	if (ret < 0 || !answer[0] || strlen(answer) >= sizeof(r->commit))
		return ret;
	strcpy(r->name, "working tree");
	strcpy(r->commit, answer);
	return 1;
}

int revision_untracked(char path[REVISION_PATH_BYTES], struct revision_signals *s,
		       struct tare_error *err)
{
	char answer[ANSWER_BYTES];
	int ret = git(s, answer, err, "ls-files", "--others", "--exclude-standard", "--directory",
		      "--no-empty-directory", ":/", NULL);

	if (ret != 0 || !answer[0])
		return ret < 0 ? ret : 0;
	snprintf(path, REVISION_PATH_BYTES, "%.*s", (int)strcspn(answer, "\n"), answer);
	return 1;
}

/* ---- worktrees ---- */

bool revision_lacks(const char *dir, const char *command)
{
	char path[PATH_MAX];

	return strchr(command, '/') && command[0] != '/' &&
		snprintf(path, sizeof(path), "%s/%s", dir, command) < (int)sizeof(path) &&
		access(path, F_OK) < 0;
}

int revision_check_out(struct revision *r, const char *tree, struct revision_signals *s,
		       struct tare_error *err)
{
	char prefix[ANSWER_BYTES], name[PATH_MAX];
	int ret = git(s, prefix, err, "rev-parse", "--show-prefix", NULL), n;

	if (ret < 0)
		return ret;
	snprintf(name, sizeof(name), "%s", tree);
	n = snprintf(r->dir, sizeof(r->dir), "%s/%s", tree, ret == 0 ? prefix : "");
	if (n < 0 || (size_t)n >= sizeof(r->dir))
		return tare_fail(err, ENAMETOOLONG, "the name of the worktree is too long");
	strcpy(r->tree, name);
	/* an interrupted one has to be removed, too */
	ret = git(s, NULL, err, "worktree", "add", "--detach", "--force", r->tree, r->commit, NULL);
	if (ret == 0)
		return revision_check_dir(r, err);
	if (ret < 0)
		return ret;
	tare_fail(err, EIO, "git cannot check out %.40s (%.80s) in %.120s", r->commit, r->name,
		  r->tree);
	tare_hint(err, "try it: git worktree add --detach DIR %.40s", r->commit);
	return -EIO;
}

int revision_check_dir(const struct revision *r, struct tare_error *err)
{
	char *dir = realpath(r->dir, NULL), *tree = realpath(r->tree, NULL);
	size_t n = tree ? strlen(tree) : 0;
	/* if it is missing, the command or build that runs there fails */
	bool inside = !dir || (tree && !strncmp(dir, tree, n) && (!dir[n] || dir[n] == '/'));

	free(dir);
	free(tree);
	if (inside)
		return 0;
	tare_fail(
		err, EINVAL,
		"%.40s (%.80s) has a link to a place outside its worktree instead of this directory",
		r->commit, r->name);
	tare_hint(err, "change to the top of the checkout, and adapt the build and the command");
	return -EINVAL;
}

int revision_run(const struct revision *r, const char *command, const char *log,
		 struct revision_signals *s, struct tare_error *err)
{
	char shell[] = "sh", c_option[] = "-c", *words = strdup(command),
	     *argv[] = { shell, c_option, words, NULL };
	int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), status, pid;

	if (fd < 0)
		pid = tare_fail(err, errno, "cannot create %.200s: %s", log, strerror(errno));
	else
		pid = words ? start(argv, r->dir, fd, fd, s, err) : tare_fail_nomem(err);
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
	struct revision_signals quiet = *s;
	int ret;

	if (!r->tree[0])
		return 0;
	quiet.removing = true;
	ret = s->stuck
		? 1
		: git(&quiet, NULL, err, "worktree", "remove", "--force", "--force", r->tree, NULL);
	s->stuck = quiet.stuck;
	if (ret > 0 && access(r->tree, F_OK) == 0) {
		tare_fail(err, EIO, "git cannot remove the worktree %.200s", r->tree);
		tare_hint(err, "remove that folder, then run git worktree prune");
		ret = -EIO;
	}
	r->tree[0] = '\0';
	return ret < 0 ? ret : 0;
}

/* ---- of a tare that was killed ---- */

/* Also from the list of worktrees of its repository, which `git -C` finds. */
static void remove_worktree(const char *tree)
{
	char path[PATH_MAX];
	struct revision_signals s;
	struct stat st;

	if (snprintf(path, sizeof(path), "%s/.git", tree) >= (int)sizeof(path) ||
	    lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	snprintf(path, sizeof(path), "%s", tree);
	revision_signals_begin(&s);
	s.removing = true;
	git(&s, NULL, NULL, "-C", path, "worktree", "remove", "--force", "--force", path, NULL);
	revision_signals_end(&s);
	if (s.got)
		raise(s.got);
}

static void remove_worktrees(const char *folder)
{
	DIR *all = opendir(folder);
	struct dirent *entry;
	char path[PATH_MAX];

	while (all && (entry = readdir(all)))
		if (entry->d_name[0] != '.' &&
		    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) <
			    (int)sizeof(path))
			remove_worktree(path);
	if (all)
		closedir(all);
}

void revision_remove_stale(void)
{
	static const char *const purposes[] = { "compare", "gate", "bisect" };

	for (size_t i = 0; i < ARRAY_SIZE(purposes); i++)
		temp_folder_remove_stale(purposes[i], remove_worktrees);
}

void revision_remove_left(const char *folder, const char *purpose)
{
	temp_folder_remove_left(folder, purpose, remove_worktrees);
}
