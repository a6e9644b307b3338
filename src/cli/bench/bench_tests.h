/* SPDX-License-Identifier: MIT */
/* Turns the user's files and snippets into loadable objects: snippets are written to files,
 * files are compiled. */
#ifndef CLI_BENCH_BENCH_TESTS_H
#define CLI_BENCH_BENCH_TESTS_H

#include "cli/bench/bench_options.h"
#include "bench/bench_build.h"
#include "bench/bench_snippet.h"

/* Why the clock uses one round. */
enum bench_one_round { ROUNDS_AS_NEEDED, ROUNDS_CRASH, ROUNDS_DIFFER };

struct bench_tests {
	struct bench_variant variant[BENCH_VARIANTS];
	size_t n;
	char *path[BENCH_VARIANTS], *name[BENCH_VARIANTS]; /* owned */
	struct bench_snippet snippet[BENCH_VARIANTS]; /* with code: tare may choose its rounds */
	char *looped[BENCH_VARIANTS];                 /* owned */
	enum bench_one_round one_round[BENCH_VARIANTS];
	char *turns; /* the registers that are multiplexed, or NULL */
	struct bench_room room;
	struct text said; /* output of a compiler that failed */
	int by_signal;
};

/* Call bench_tests_free() after use, also after an error. */
int bench_tests_make(struct bench_tests *t, const struct bench_options *o, char *const *files,
		     size_t n_files, struct tare_error *err);
/* Makes the object with so many rounds, looped[v]. Only for tests with a snippet. */
int bench_tests_loop(struct bench_tests *t, const struct bench_options *o, size_t v,
		     uint32_t rounds, struct tare_error *err);
/* Removes the folder of compiled code, once nothing loaded from it is left. A second call does
 * nothing. */
void bench_tests_leave_room(struct bench_tests *t);
void bench_tests_free(struct bench_tests *t);

#endif
