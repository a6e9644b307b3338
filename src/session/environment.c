/* SPDX-License-Identifier: MIT */
/*
 * Source: Linux, fs/exec.c, do_execveat_common (the path, the environment and the arguments are
 * copied to the top of the stack), and fs/binfmt_elf.c, create_elf_tables (pointers to them below).
 */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/program.h"
#include "session/environment.h"

static size_t size_of(char *const strings[], size_t *n)
{
	size_t bytes = 0;

	for (*n = 0; strings[*n]; ++*n)
		bytes += strlen(strings[*n]) + 1 + sizeof(char *);
	return bytes;
}

/* The length of the path that execvp would execute; of the name itself where it would find none. */
static size_t path_length(const char *name)
{
	char path[PATH_MAX];

	return strlen(program_find(name, path, sizeof(path)) ? path : name);
}

static bool is_padding(const char *variable)
{
	return !strncmp(variable, ENVIRONMENT_PADDING "=", strlen(ENVIRONMENT_PADDING "="));
}

int environment_pad(struct environment *out, char *const argv[], char *const envp[],
		    struct tare_error *err)
{
	const size_t own = strlen(ENVIRONMENT_PADDING "=") + 1 + sizeof(char *);
	size_t n_args, n, kept = 0, bytes = size_of(argv, &n_args) + path_length(argv[0]) + 1 + own,
			  fill;

	size_of(envp, &n);
	*out = (struct environment){ .envp = calloc(n + 2, sizeof(*out->envp)) };
	if (!out->envp)
		return tare_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		if (!is_padding(envp[i])) {
			out->envp[kept++] = envp[i];
			bytes += strlen(envp[i]) + 1 + sizeof(char *);
		}
	fill = (ENVIRONMENT_STEP - bytes % ENVIRONMENT_STEP) % ENVIRONMENT_STEP;
	out->padding = calloc(1, own + fill);
	if (!out->padding) {
		environment_free(out);
		return tare_fail_nomem(err);
	}
	strcpy(out->padding, ENVIRONMENT_PADDING "=");
	memset(out->padding + strlen(out->padding), '.', fill);
	out->envp[kept] = out->padding;
	out->bytes = bytes + fill;
	return 0;
}

void environment_free(struct environment *e)
{
	free(e->envp);
	free(e->padding);
	*e = (struct environment){ 0 };
}
