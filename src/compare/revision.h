/* SPDX-License-Identifier: MIT */
/*
 * Revisions of a git repository, each in a worktree of its own, and built there. The user's
 * checkout is not touched.
 */
#ifndef COMPARE_REVISION_H
#define COMPARE_REVISION_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include "base/error.h"
#include "launch/launch.h"
#include "launch/orphans.h"

enum { REVISION_COMMIT_BYTES = 72, REVISION_PATH_BYTES = 128 };

struct revision {
	char name[256];                     /* as given */
	char commit[REVISION_COMMIT_BYTES]; /* its hash */
	char tree[PATH_MAX];                /* the worktree; "": none */
	char dir[PATH_MAX]; /* in it, the folder that corresponds to the working directory */
};

/*
 * Signals that end tare are blocked between begin and end, and SIGPIPE is ignored, so that
 * worktrees are removed in any case: programs started here get the signals, and a function that was
 * interrupted returns -EINTR.
 */
struct revision_signals {
	struct launch_signals before;
	sigset_t set;
	struct orphans left; /* by the programs */
	int got;             /* the first such signal; 0: none */
	bool removing;       /* worktrees are removed: other signals only limit the time for that */
	bool stuck;          /* git did not remove one in that time */
};
void revision_signals_begin(struct revision_signals *s);
void revision_signals_end(struct revision_signals *s);
/* In a child: the settings from before begin. */
void revision_signals_child(const struct revision_signals *s);
/*
 * Wait for a child, and pass such signals to it. Its status. `group`: it is a program in a process
 * group of its own, and is killed if it does not end soon, see struct grace; otherwise it is a
 * child of tare, which does that with its own programs. After a signal, nothing that it started is
 * left.
 */
int revision_wait(struct revision_signals *s, int pid, bool group);

/*
 * "A..B", "A...B" (from their common ancestor), "A" (to HEAD) -> two commits. -ENOENT: no such
 * revision; the hint knows shallow clones.
 */
int revision_range(struct revision out[2], const char *range, struct revision_signals *s,
		   struct tare_error *err);
/* Whether tracked files of the checkout differ from HEAD; *head (may be NULL) is its hash. */
int revision_dirty(char head[REVISION_COMMIT_BYTES], struct revision_signals *s,
		   struct tare_error *err);
/*
 * 1: *r is a commit of HEAD with the uncommitted changes of tracked files, named by no reference.
 * 0: there are none that git can store, and *r is unchanged.
 */
int revision_work_tree(struct revision *r, struct revision_signals *s, struct tare_error *err);
/* 1: there are untracked files that are not ignored; the first one, or its folder. */
int revision_untracked(char path[REVISION_PATH_BYTES], struct revision_signals *s,
		       struct tare_error *err);
/* Check out in the new folder `tree`, an absolute path. */
int revision_check_out(struct revision *r, const char *tree, struct revision_signals *s,
		       struct tare_error *err);
/* Run a shell command there; its output goes to the file `log`. Its wait status, or -errno. */
int revision_run(const struct revision *r, const char *command, const char *log,
		 struct revision_signals *s, struct tare_error *err);
/* The same; -EINVAL, with a message: it failed. */
int revision_build(const struct revision *r, const char *command, const char *log,
		   struct revision_signals *s, struct tare_error *err);
/*
 * Whether a command named relative to the working directory `dir`, in a worktree, does not exist:
 * it may be the result of a build.
 */
bool revision_lacks(const char *dir, const char *command);
/*
 * -EINVAL if the folder that corresponds to the working directory is outside the worktree: the
 * revision has a link there.
 */
int revision_check_dir(const struct revision *r, struct tare_error *err);
/*
 * The worktree, with everything in it. Does nothing if there is none. After a signal, git has the
 * time of struct grace for all of them.
 */
int revision_remove(struct revision *r, struct revision_signals *s, struct tare_error *err);
/*
 * The temporary folders that a killed tare compare, gate or bisect left, and the worktrees in them,
 * of any repository.
 */
void revision_remove_stale(void);
/* The same for one folder of this purpose, with a name that a file contains. */
void revision_remove_left(const char *folder, const char *purpose);

#endif
