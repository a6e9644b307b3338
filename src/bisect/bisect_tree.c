/* SPDX-License-Identifier: MIT */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/array.h"
#include "base/file.h"
#include "base/signal_name.h"
#include "base/temp_folder.h"
#include "bisect/bisect_tree.h"
#include "gate/gate_git.h"
#include "gate/gate_view.h"

enum { LOG_BYTES_MAX = 64 << 20 };

/* Of equal length, because builds and stacks contain the path. */
static const char *const tree_names[] = { [BISECT_TREE] = "tree", [BISECT_BASE] = "base" };

int bisect_check_out(struct bisect_job *j, int which, const char *commit, struct tare_error *err)
{
	struct revision *r = &j->tree[which];
	struct gate_git g = { .signals = j->signals };
	char tree[PATH_MAX], git_dir[PATH_MAX + 16], work_tree[PATH_MAX + 16];
	int ret;

	snprintf(r->name, sizeof(r->name), "%.12s", commit);
	strcpy(r->commit, commit);
	if (!r->tree[0]) {
		snprintf(tree, sizeof(tree), "%s/%s", j->state->folder, tree_names[which]);
		ret = revision_check_out(r, tree, j->signals, err);
		if (snprintf(r->dir, sizeof(r->dir), "%s/%s", tree, j->state->prefix) >=
		    (int)sizeof(r->dir))
			return tare_fail(err, ENAMETOOLONG, "the worktree's name is too long");
		return ret == 0 ? revision_check_dir(r, err) : ret;
	}
	/* explicit, so that git uses this worktree in any case */
	snprintf(git_dir, sizeof(git_dir), "--git-dir=%s/.git", r->tree);
	snprintf(work_tree, sizeof(work_tree), "--work-tree=%s", r->tree);
	ret = gate_git(&g, err, git_dir, work_tree, "checkout", "--quiet", "--force", "--detach",
		       commit, NULL);
	if (ret > 0)
		ret = gate_git_failed(&g, err, "cannot check out a commit");
	gate_git_end(&g);
	return ret == 0 ? revision_check_dir(r, err) : ret;
}

/* 1: it failed, and `why` has the reason. */
static int run_build(struct bisect_job *j, int which, char why[BISECT_TEXT_BYTES],
		     struct tare_error *err)
{
	char log[PATH_MAX], by[SIGNAL_NAME_ROOM], *said = NULL;
	struct text line = { 0 };
	int status;

	snprintf(log, sizeof(log), "%s/log", j->state->folder);
	status = revision_run(&j->tree[which], j->state->build, log, j->signals, err);
	if (status <= 0)
		return status;
	if (file_read(NULL, log, LOG_BYTES_MAX, &said, NULL, NULL) == 0)
		gate_last_line(&line, said);
	if (WIFSIGNALED(status))
		snprintf(why, BISECT_TEXT_BYTES, "the build was ended by %s%s%.300s",
			 signal_name(WTERMSIG(status), by), line.len ? ": " : "",
			 line.len ? line.s : "");
	else
		snprintf(why, BISECT_TEXT_BYTES, "the build failed with exit status %d%s%.300s",
			 WEXITSTATUS(status), line.len ? ": " : "", line.len ? line.s : "");
	text_free(&line);
	free(said);
	return 1;
}

/* ---- the cache: a folder per commit, a copy of the worktree after its build ---- */

/* A shell command in the folder of the worktrees: its wait status. */
static int in_folder(struct bisect_job *j, const char *command, struct tare_error *err)
{
	struct revision folder = { .name = "" };
	char log[PATH_MAX];

	snprintf(folder.dir, sizeof(folder.dir), "%s", j->state->folder);
	snprintf(log, sizeof(log), "%s/cache-log", j->state->folder);
	return revision_run(&folder, command, log, j->signals, err);
}

/* A build may have replaced it by a link: the target of the link is not removed. */
static bool cache_is_own(const struct bisect_job *j)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/cache", j->state->folder);
	return lstat(path, &st) < 0 || S_ISDIR(st.st_mode);
}

/* 0: the build is in the worktree again; 1: it was not kept. */
static int restore(struct bisect_job *j, const char *commit, struct tare_error *err)
{
	char path[PATH_MAX], command[512];
	struct stat st;
	int status;

	snprintf(path, sizeof(path), "%s/cache/%s", j->state->folder, commit);
	if (lstat(path, &st) < 0 || !S_ISDIR(st.st_mode) || !cache_is_own(j))
		return 1;
	snprintf(command, sizeof(command),
		 "find tree -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {} + && "
		 "cp -a cache/%s/. tree/ && touch cache/%s",
		 commit, commit);
	status = in_folder(j, command, err);
	if (status <= 0)
		return status;
	status = bisect_check_out(j, BISECT_TREE, commit, err); /* what the command removed */
	return status < 0 ? status : 1;
}

/* A build that does not fit, or cannot be copied, is not kept. */
static int keep(struct bisect_job *j, const char *commit, struct tare_error *err)
{
	char command[1024];
	int status;

	if (!cache_is_own(j))
		return 0;
	snprintf(command, sizeof(command),
		 "most=%llu; need=$(du -sk tree | cut -f1); [ \"$need\" -le $most ] || exit 0\n"
		 "mkdir -p cache || exit 0\n"
		 "while [ $(($(du -sk cache | cut -f1) + need)) -gt $most ]; do\n"
		 "	oldest=$(ls -rt cache | head -n 1); [ -n \"$oldest\" ] || exit 0\n"
		 "	chmod -R u+w \"cache/$oldest\"; rm -rf \"cache/$oldest\" || exit 0\n"
		 "done\n"
		 "if cp -a tree new && rm -rf new/.git; then mv new cache/%s && touch cache/%s\n"
		 "else rm -rf new; fi",
		 (unsigned long long)(j->cache_bytes / 1024), commit, commit);
	status = in_folder(j, command, err);
	return status < 0 ? status : 0;
}

int bisect_build(struct bisect_job *j, int which, char why[BISECT_TEXT_BYTES],
		 struct tare_error *err)
{
	const char *commit = j->tree[which].commit;
	bool cached = which == BISECT_TREE && j->cache_bytes;
	int ret = 1;

	if (!j->state->build)
		return 0;
	if (cached)
		ret = restore(j, commit, err);
	if (ret <= 0)
		return ret;
	ret = run_build(j, which, why, err);
	return ret == 0 && cached ? keep(j, commit, err) : ret;
}

int bisect_not_measured(const struct bisect_job *j, int which, const char *end, const char *why,
			struct tare_error *err)
{
	const struct revision *tree = &j->tree[which];

	tare_fail(err, EINVAL, "%s, %.12s, could not be measured: %.200s", end, tree->commit, why);
	if (!j->state->build && revision_lacks(tree->dir, j->state->argv[0]))
		tare_hint(err,
			  "it was not built: no --build was given; --build make, or another "
			  "command that creates %.100s",
			  j->state->argv[0]);
	else
		tare_hint(err, "try it: git worktree add --detach DIR %.12s", tree->commit);
	return -EINVAL;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	remove(path);
	return 0;
}

/* The copies of builds, also one that was being made. Links are not followed. */
static void remove_cache(const char *folder)
{
	static const char *const names[] = { "cache", "new" };
	char path[PATH_MAX];
	struct stat st;

	if (lstat(folder, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	}
}

void bisect_clean_up(struct bisect_state *s, struct revision_signals *signals)
{
	if (!s->folder[0])
		return;
	for (size_t i = 0; i < ARRAY_SIZE(tree_names); i++) {
		struct revision r = { .tree = "" };

		snprintf(r.tree, sizeof(r.tree), "%s/%s", s->folder, tree_names[i]);
		revision_remove(&r, signals, NULL);
	}
	remove_cache(s->folder);
	temp_folder_remove(s->folder);
	s->folder[0] = '\0';
}

void bisect_clean_up_left(struct bisect_state *s)
{
	revision_remove_left(s->folder, "bisect");
	s->folder[0] = '\0';
}

int bisect_describe(struct bisect_job *j, struct bisect_try *t, struct tare_error *err)
{
	struct gate_git g = { .signals = j->signals };
	struct {
		char *to;
		size_t room;
	} fields[] = { { t->parent, sizeof(t->parent) },
		       { t->date, sizeof(t->date) },
		       { t->author, sizeof(t->author) },
		       { t->subject, sizeof(t->subject) } };
	const char *at;
	int ret = gate_git(&g, err, "rev-list", "-1", "--encoding=UTF-8",
			   "--format=%P%n%as%n%an%n%s", t->commit, "--", NULL);

	if (ret > 0)
		ret = gate_git_failed(&g, err, "cannot read a commit");
	at = g.out.s ? g.out.s : ""; /* its first line is "commit HASH" */
	at += strcspn(at, "\n");
	for (size_t i = 0; ret == 0 && i < ARRAY_SIZE(fields) && *at; i++) {
		size_t n = strcspn(++at, "\n");

		snprintf(fields[i].to, fields[i].room, "%.*s",
			 (int)(n < fields[i].room ? n : fields[i].room - 1), at);
		at += n;
	}
	t->parent[strcspn(t->parent, " ")] = '\0'; /* of a merge, the first one */
	gate_git_end(&g);
	return ret;
}
