/* SPDX-License-Identifier: MIT */
/*
 * The environment of a command with a fixed memory layout. Arguments, environment and path of a new
 * program are at the top of its stack and shift everything below, so a longer PWD can change what a
 * program does. A padding variable rounds up their size.
 */
#ifndef LAUNCH_ENVIRONMENT_H
#define LAUNCH_ENVIRONMENT_H

#include <stddef.h>
#include "base/error.h"
#include "launch/determinism.h"

#define ENVIRONMENT_PADDING "TARE_STACK_PADDING"

struct environment {
	/* the caller's strings, in their order unless they are sorted; the padding is last */
	char **envp;
	char *padding; /* "TARE_STACK_PADDING=....", or NULL */
	char **own;    /* strings allocated here */
	size_t n_own;
	/* strings and pointers on the stack, with the padding: a multiple of ENVIRONMENT_STEP */
	size_t bytes;
};

enum { ENVIRONMENT_STEP = 8192 };

/* A padding in `envp`, from an enclosing tare, is replaced. */
int environment_pad(struct environment *out, char *const argv[], char *const envp[],
		    struct tare_error *err);
/*
 * Apply the items of `fixed` that concern the environment: its size, its order, and variables that
 * runtimes and allocators read. A hash seed set by the caller is kept. Without such items it is the
 * caller's environment. kept: with FIXED(ENV), the names of variables to keep, as in struct
 * determinism; may be NULL.
 */
int environment_fix(struct environment *out, unsigned fixed, const char *kept, char *const argv[],
		    char *const envp[], struct tare_error *err);
void environment_free(struct environment *e);

#endif
