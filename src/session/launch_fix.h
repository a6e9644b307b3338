/* SPDX-License-Identifier: MIT */
/* For launchers: what of a struct fixed is done around fork and exec. Each may be given NULL: nothing is fixed. */
#ifndef SESSION_LAUNCH_FIX_H
#define SESSION_LAUNCH_FIX_H

#include <sched.h>
#include <sys/types.h>
#include "session/fixed.h"

/* Of the caller: one CPU, which children inherit, and the next process id. `before`: for the other. */
void fix_begin(struct fixed *f, cpu_set_t *before);
void fix_end(struct fixed *f, const cpu_set_t *before);

/* Before anything: what cannot be done to a command that the kernel gives other rights. */
void fix_rights(struct fixed *f, const char *command);
/* In the child: its personality. */
void fix_personality(const struct fixed *f);
/* Whether a program that was executed has it still; the item is missed where not. */
void fix_check(struct fixed *f, pid_t pid);

/*
 * Of a child that waits for its exec: watch for that; then, when the exec has succeeded, change what the kernel told the
 * new program, and let it go. Only the program that the command names: what that starts is as it is.
 */
void fix_watch(struct fixed *f, pid_t pid);
void fix_executed(struct fixed *f, pid_t pid);

/*
 * Constant bytes for getrandom(2) in a child and all that it starts: by a seccomp filter that the child sets (its
 * end of `pair`, made by the parent), and a thread of the parent's that answers.
 */
struct random_server;
void random_pair(struct fixed *f, int pair[2]);
void random_ask(int end);
struct random_server *random_serve(struct fixed *f, int end);
void random_close(struct random_server *s); /* NULL is fine */

#endif
