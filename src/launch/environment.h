/* SPDX-License-Identifier: MIT */
/*
 * The environment of a command whose memory is to be laid out the same each time. What the kernel
 * puts on a new program's stack - arguments, environment, the program's path - shifts all that lies
 * below it, and so a longer PWD can change what a program does. One more variable fills it up to a
 * round size.
 */
#ifndef LAUNCH_ENVIRONMENT_H
#define LAUNCH_ENVIRONMENT_H

#include <stddef.h>
#include "base/error.h"
#include "launch/fixed.h"

#define ENVIRONMENT_PADDING "TARE_STACK_PADDING"

struct environment {
	char **envp;   /* the caller's strings, in their order unless they are sorted; the padding last */
	char *padding; /* "TARE_STACK_PADDING=....", or NULL */
	char **own;    /* strings of ours in it */
	size_t n_own;
	size_t bytes;  /* of strings and pointers on the stack, the padding among them:
			  ENVIRONMENT_STEP times n */
};

enum { ENVIRONMENT_STEP = 8192 };

/* A padding that stands in `envp` already, of a tare around this one, is replaced. */
int environment_pad(struct environment *out, char *const argv[], char *const envp[],
		    struct tare_error *err);
/*
 * What of `fixed` is a matter of the environment: its size, its order, and variables that runtimes and allocators look at.
 * A hash seed that the caller has set stays as it is. With none of those it is the caller's own. kept: with FIXED(ENV), the names
 * of variables that stay, as in struct fixed; may be NULL.
 */
int environment_fix(struct environment *out, unsigned fixed, const char *kept, char *const argv[], char *const envp[],
		    struct tare_error *err);
void environment_free(struct environment *e);

#endif
