/* SPDX-License-Identifier: MIT */
/*
 * Source: Linux, fs/exec.c, do_execveat_common (copies the path, the environment and the arguments
 * to the top of the stack), and fs/binfmt_elf.c, create_elf_tables (pointers to them, below).
 */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/program.h"
#include "launch/environment.h"

static size_t size_of(char *const strings[], size_t *n)
{
	size_t bytes = 0;

	for (*n = 0; strings[*n]; ++*n)
		bytes += strlen(strings[*n]) + 1 + sizeof(char *);
	return bytes;
}

/* The length of the path that execvp would execute; of the name itself if there is none. */
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

/*
 * The variables and their values. Sources: Python, "PYTHONHASHSEED"; perlrun, "PERL_HASH_SEED" and
 * "PERL_PERTURB_KEYS"; jemalloc(3), "opt.dirty_decay_ms" (-1: never), which rustc includes without
 * a prefix and other Rust programs with one; mimalloc's MIMALLOC_PURGE_DELAY; ld.so(8),
 * "LD_BIND_NOW".
 */
static const struct {
	unsigned item;
	const char *variable;
	bool keep; /* keep the caller's value, unless that is "random" */
} variables[] = {
	{ FIXED(SEEDS), "PYTHONHASHSEED=0", true },
	{ FIXED(SEEDS), "PERL_HASH_SEED=0", true },
	{ FIXED(SEEDS), "PERL_PERTURB_KEYS=0", true },
	{ FIXED(MALLOC), "MALLOC_CONF=dirty_decay_ms:-1,muzzy_decay_ms:-1", true },
	{ FIXED(MALLOC), "_RJEM_MALLOC_CONF=dirty_decay_ms:-1,muzzy_decay_ms:-1", true },
	{ FIXED(MALLOC), "MIMALLOC_PURGE_DELAY=-1", true },
	{ FIXED(LOCALE), "LC_ALL=C.UTF-8", false },
	{ FIXED(LOCALE), "TZ=UTC0", false },
	{ FIXED(BINDING), "LD_BIND_NOW=1", false },
	{ FIXED(TERMINAL), "COLUMNS=80", false },
	{ FIXED(TERMINAL), "LINES=24", false },
};

static size_t name_length(const char *variable)
{
	return strcspn(variable, "=") + 1;
}

/* Set it, unless the caller's value is to be kept. */
static int set_variable(struct environment *e, size_t *n, const char *variable, bool keep)
{
	size_t len = name_length(variable), at = 0;
	char *copy;

	while (at < *n && strncmp(e->envp[at], variable, len))
		at++;
	if (at < *n && keep && e->envp[at][len] && strcmp(e->envp[at] + len, "random"))
		return 0;
	copy = strdup(variable);
	if (!copy)
		return -ENOMEM;
	e->own[e->n_own++] = copy;
	e->envp[at] = copy;
	*n += at == *n;
	return 0;
}

/* By name only. The sort is stable: of two variables with one name the first one takes effect. */
static void sort(char **envp, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		char *v = envp[i];
		size_t at = i;

		for (; at; at--) {
			size_t a = name_length(envp[at - 1]), b = name_length(v);
			int order = memcmp(envp[at - 1], v, a < b ? a : b);

			if (order < 0 || (order == 0 && a <= b))
				break;
			envp[at] = envp[at - 1];
		}
		envp[at] = v;
	}
}

/* Remove the variables that ENV does not keep. Returns how many remain. */
static size_t clear(char **envp, size_t n, const char *kept)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++)
		if (determinism_keeps(kept ? kept : "", envp[i]))
			envp[left++] = envp[i];
	memset(envp + left, 0, (n - left) * sizeof(*envp));
	return left;
}

int environment_fix(struct environment *out, unsigned fixed, const char *kept, char *const argv[],
		    char *const envp[], struct tare_error *err)
{
	struct environment e = { 0 }, padded;
	size_t n = 0, bytes;
	int ret = 0;

	while (envp[n])
		n++;
	*out = e;
	e.envp = calloc(n + ARRAY_SIZE(variables) + 1, sizeof(*e.envp));
	e.own = calloc(ARRAY_SIZE(variables), sizeof(*e.own));
	if (!e.envp || !e.own)
		ret = -ENOMEM;
	if (ret == 0 && n)
		memcpy(e.envp, envp, n * sizeof(*envp));
	if (ret == 0 && (fixed & FIXED(ENV)))
		n = clear(e.envp, n, kept);
	for (size_t i = 0; ret == 0 && i < ARRAY_SIZE(variables); i++)
		if (fixed & variables[i].item)
			ret = set_variable(&e, &n, variables[i].variable, variables[i].keep);
	if (ret == 0 && (fixed & FIXED(ORDER)))
		sort(e.envp, n);
	if (ret == 0 && (fixed & FIXED(ENVIRONMENT))) {
		ret = environment_pad(&padded, argv, e.envp, err);
		if (ret == 0) {
			free(e.envp);
			e.envp = padded.envp;
			e.padding = padded.padding;
			e.bytes = padded.bytes;
		}
	} else if (ret == 0) {
		bytes = size_of(argv, &n) + path_length(argv[0]) + 1;
		e.bytes = bytes + size_of(e.envp, &n);
	}
	if (ret < 0) {
		environment_free(&e);
		return tare_fail_nomem(err);
	}
	*out = e;
	return 0;
}

void environment_free(struct environment *e)
{
	for (size_t i = 0; i < e->n_own; i++)
		free(e->own[i]);
	free(e->own);
	free(e->envp);
	free(e->padding);
	*e = (struct environment){ 0 };
}
