/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/file.h"
#include "cli/compare/compare_revisions.h"
#include "compare/compare.h"
#include "output/command.h"
#include "output/escape.h"

enum { LOG_LINES = 20, LOG_BYTES = 64 << 20 };

/* Names of equal length: builds contain paths, and so does the stack of a run. */
static const char *const names[] = { "old", "new" };

static void path_in(const struct compare_revisions *r, const char *name, char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%s/%s", r->folder.path, name);
}

/* The last lines of what a build printed. */
static void show_log(const char *log)
{
	char *all = NULL, *from;
	struct text out = { 0 };
	size_t n = 0, lines = 0;

	if (file_read(NULL, log, LOG_BYTES, &all, &n, NULL) < 0 || !n)
		return;
	for (from = all + n - 1; from > all; from--)
		if (from[-1] == '\n' && ++lines == LOG_LINES)
			break;
	for (char *line = strtok(from, "\n"); line; line = strtok(NULL, "\n")) {
		text_add(&out, "  | ");
		escape_source(&out, line);
		text_add(&out, "\n");
	}
	if (out.s)
		fputs(out.s, stderr);
	text_free(&out);
	free(all);
}

static int build_side(struct compare_revisions *r, int side, const char *build,
		      struct progress *progress, struct tare_error *err)
{
	char log[PATH_MAX], tree[PATH_MAX];
	int ret;

	path_in(r, names[side], tree);
	path_in(r, "log", log);
	progress_show(progress, side / 2.0, "checking out %.12s", r->side[side].commit);
	ret = revision_check_out(&r->side[side], tree, &r->signals, err);
	if (ret < 0 || !build)
		return ret;
	progress_show(progress, (2 * side + 1) / 4.0, "building %.12s", r->side[side].commit);
	ret = revision_build(&r->side[side], build, log, &r->signals, err);
	progress_end(progress);
	if (ret == -EINVAL)
		show_log(log);
	return ret;
}

static void note(struct compare_revisions *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void note(struct compare_revisions *r, const char *fmt, ...)
{
	char *to = r->note[r->notes++];
	va_list args;

	va_start(args, fmt);
	vsnprintf(to, sizeof(r->note[0]), fmt, args);
	va_end(args);
	fprintf(stderr, "tare compare: %s\n", to);
}

/* As git diff A: the second side is the working tree's tracked files. 1: they have changes. */
static int use_work_tree(struct compare_revisions *r, struct tare_error *err)
{
	char path[REVISION_PATH_BYTES];
	int changed = revision_work_tree(&r->side[COMPARE_AFTER], &r->signals, err), ret;

	if (changed < 0)
		return changed;
	ret = revision_untracked(path, &r->signals, err);
	if (ret > 0)
		note(r, "Untracked files are not compared (%.100s); git add includes them", path);
	return ret < 0 ? ret : changed;
}

static int find_sides(struct compare_revisions *r, const char *range, struct tare_error *err)
{
	const struct revision *before = &r->side[COMPARE_BEFORE], *after = &r->side[COMPARE_AFTER];
	const char *dots = strstr(range, "..");
	char head[REVISION_COMMIT_BYTES] = "";
	int ret = revision_range(r->side, range, &r->signals, err), dirty;

	dirty = ret == 0 ? revision_dirty(head, &r->signals, err) : ret;
	ret = dirty >= 0 && !dots ? use_work_tree(r, err) : dirty < 0 ? dirty : 0;
	if (ret < 0)
		return ret;
	if (dirty && !dots && ret == 0)
		note(r, "Uncommitted changes of submodules are not compared");
	if (dirty && dots && !strcmp(head, after->commit))
		note(r, "Uncommitted changes are not compared; --rev %.*s compares them",
		     dots[2] == '.' ? 12 : 100, dots[2] == '.' ? before->commit : before->name);
	if (!strcmp(before->commit, after->commit))
		note(r, "Both sides are the same commit, %.12s", after->commit);
	return 0;
}

int compare_revisions_open(struct compare_revisions *r, const char *range, const char *build,
			   struct progress *progress, struct tare_error *err)
{
	int ret;

	memset(r, 0, sizeof(*r));
	revision_signals_begin(&r->signals);
	ret = find_sides(r, range, err);
	if (ret == 0)
		ret = temp_folder_open(&r->folder, "compare", err);
	progress_begin(progress, "compare", false);
	for (int side = 0; ret == 0 && side < 2; side++)
		ret = build_side(r, side, build, progress, err);
	progress_end(progress);
	return ret;
}

int compare_revisions_fork(struct compare_revisions *r)
{
	int status, pid = fork();

	if (pid == 0) {
		r->folder.path[0] = '\0'; /* the caller removes it */
		revision_signals_child(&r->signals);
		return -1;
	}
	if (pid < 0)
		return EXIT_CANNOT_MEASURE;
	status = revision_wait(&r->signals, pid, false);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void compare_revisions_explain(const struct compare_revisions *r, const char *command,
			       const char *build, struct tare_error *err)
{
	const struct revision *side = r->side;

	if (!revision_lacks(side->dir, command))
		side++;
	if (!revision_lacks(side->dir, command))
		return;
	tare_fail(err, ENOENT, "there is no command '%.80s' in the worktree of %.60s (%.12s)%s",
		  command, side->name, side->commit,
		  build ? " after the build" : ", which was not built: no --build was given");
	if (build)
		tare_hint(err, "--build must create it in the folder in which it runs");
	else
		tare_hint(err,
			  "a worktree has only committed files: --build make, or another command "
			  "that creates it");
}

void compare_revisions_close(struct compare_revisions *r)
{
	struct tare_error err = TARE_ERROR_INIT;

	for (int side = 0; r->folder.path[0] && side < 2; side++)
		if (revision_remove(&r->side[side], &r->signals, &err) < 0)
			fprintf(stderr, "tare compare: %s\n", err.what);
	temp_folder_close(&r->folder);
	revision_signals_end(&r->signals);
}
