/* SPDX-License-Identifier: MIT */
/*
 * For launchers: applies a struct determinism around fork and exec. Each may be given NULL: nothing
 * is fixed.
 */
#ifndef LAUNCH_LAUNCH_FIX_H
#define LAUNCH_LAUNCH_FIX_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>
#include "launch/determinism.h"

/* The caller's previous settings. */
struct fix_before {
	cpu_set_t cpus;
	int personality;
};

/*
 * Sets for the caller one CPU and fixed addresses, which children inherit, and the next process id.
 * `before` is for fix_end().
 */
void fix_begin(struct determinism *f, struct fix_before *before);
void fix_end(struct determinism *f, const struct fix_before *before);
/* NULL: random addresses can be disabled here. */
const char *fix_layout_refused(void);

/* Called first: excludes items that do not work for a setuid or similar command. */
void fix_rights(struct determinism *f, const char *command);
/*
 * Checks that a process still has fixed addresses, also after its death before it is waited for; if
 * not, the item is lost.
 */
void fix_check(struct determinism *f, pid_t pid);

/*
 * System calls of a child and its descendants that a thread of the parent handles: getrandom(2)
 * returns constant bytes; after execve(2), the auxiliary vector of the new program is changed. Uses
 * a seccomp filter that the child installs, with its end of `pair`, created by the parent.
 */
struct served;
void serve_pair(struct determinism *f, int pair[2]);
void serve_ask(int end);
/*
 * The thread writes to `f` until serve_end(). NULL, and the items are missed, if it is not
 * possible.
 */
struct served *serve_begin(struct determinism *f, int end, pid_t command);
/*
 * What the command leaves running continues, with random bytes and an unchanged auxiliary vector.
 * NULL is allowed.
 */
void serve_end(struct served *s);

/*
 * Threads that are about to execute a program, each traced from exec_begin() until the exec is done
 * or has failed: their only stop. In between the caller lets their system call continue and calls
 * exec_stop(). All calls from one thread, which traces nothing else. Source: ptrace(2),
 * "PTRACE_INTERRUPT", "PTRACE_EVENT_EXEC".
 */
enum { EXECS_MAX = 64 };

struct execs {
	pid_t tid[EXECS_MAX], process[EXECS_MAX];
	bool stranger[EXECS_MAX]; /* traced by mistake: detach it unchanged */
	size_t n;
};

/* 0; or why it cannot be traced: a positive errno, for exec_missed(). */
int exec_begin(struct execs *e, pid_t tid);
/* Its program keeps its auxiliary vector; the items are lost. */
void exec_missed(struct determinism *f, pid_t tid, int code);
/* The tid of the last one belonged to another thread before: do not change it. */
void exec_disown(struct execs *e, pid_t tid);
void exec_stop(const struct execs *e, pid_t tid);
/*
 * Changes the auxiliary vectors of those in their exec stop, and detaches stopped threads; does not
 * wait.
 */
void exec_look(struct determinism *f, struct execs *e, pid_t command);

#endif
