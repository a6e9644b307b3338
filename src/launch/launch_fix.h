/* SPDX-License-Identifier: MIT */
/* For launchers: what of a struct fixed is done around fork and exec. Each may be given NULL: nothing is fixed. */
#ifndef LAUNCH_LAUNCH_FIX_H
#define LAUNCH_LAUNCH_FIX_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>
#include "launch/fixed.h"

/* What the caller was before. */
struct fix_before {
	cpu_set_t cpus;
	int personality;
};

/* Of the caller: one CPU and addresses that are not random, which children inherit, and the next process id. `before`: for the other. */
void fix_begin(struct fixed *f, struct fix_before *before);
void fix_end(struct fixed *f, const struct fix_before *before);
/* NULL: random addresses can be switched off here. */
const char *fix_layout_refused(void);

/* Before anything: what cannot be done to a command that the kernel gives other rights. */
void fix_rights(struct fixed *f, const char *command);
/* Whether a process has its addresses not random still, dead and not yet waited for included; the item is lost where not. */
void fix_check(struct fixed *f, pid_t pid);

/*
 * Calls of a child and of all that it starts, answered by a thread of the parent's: getrandom(2) with constant bytes; at
 * execve(2), what the kernel tells the new program is changed. By a seccomp filter that the child sets, with its end of
 * `pair`, made by the parent.
 */
struct served;
void serve_pair(struct fixed *f, int pair[2]);
void serve_ask(int end);
/* `f` is written to by the thread until serve_end(). NULL, and the items are missed, where it cannot be had. */
struct served *serve_begin(struct fixed *f, int end, pid_t command);
/* What the command has left behind goes on, with random bytes and whatever programs it executes. NULL is fine. */
void serve_end(struct served *s);

/*
 * Threads that are about to execute a program, each traced from exec_begin() until it has done so or failed: their only stop. In
 * between the caller lets their system call go on, and calls exec_stop(). All by one thread, which traces nothing else.
 * Source: ptrace(2), "PTRACE_INTERRUPT", "PTRACE_EVENT_EXEC".
 */
enum { EXECS_MAX = 64 };

struct execs {
	pid_t tid[EXECS_MAX], process[EXECS_MAX];
	bool stranger[EXECS_MAX]; /* traced by mistake: let go as it is */
	size_t n;
};

/* 0; or why it cannot be traced: a positive errno, for exec_missed(). */
int exec_begin(struct execs *e, pid_t tid);
/* Its program keeps what the kernel tells it; the items are lost. */
void exec_missed(struct fixed *f, pid_t tid, int code);
/* The last that was begun, if it is `tid`, has a number that was another's before: it is not changed. */
void exec_disown(struct execs *e, pid_t tid);
void exec_stop(const struct execs *e, pid_t tid);
/* Changes what the kernel told those that stand at their new program, and lets go who has stopped; does not wait. */
void exec_look(struct fixed *f, struct execs *e, pid_t command);

#endif
