/* SPDX-License-Identifier: MIT */
/* Compiles source text to a shared object, with the user's compiler. */
#ifndef BENCH_BENCH_BUILD_H
#define BENCH_BENCH_BUILD_H

#include "base/error.h"
#include "base/text.h"

/* A temporary folder for the results. */
struct bench_room {
	char path[256]; /* "": none */
	unsigned files;
	/* a lock on the folder while it is used; the kernel releases it when the process dies */
	int lock;
};

/* -fno-optimize-sibling-calls is among tare's own flags, because of tare/bench.h. */
struct bench_compiler {
	const char *words; /* "cc", or "ccache gcc-12"; split at spaces */
	const char *flags; /* appended to tare's own; NULL: none; split at spaces */
};

/* Removes folders in `parent` that a killed tare left. Does nothing if r already has a folder. */
int bench_room_open(struct bench_room *r, const char *parent, struct tare_error *err);
/* Write `text` to a new file in the folder; its path is stored in `path`. */
int bench_room_write(struct bench_room *r, const struct text *text, const char *ending, char *path,
		     size_t size, struct tare_error *err);
void bench_room_close(struct bench_room *r);

/*
 * `object` is the path of the result, in the folder. -EINVAL: the compiler failed, and `said` is
 * its whole output (up to 1 MiB). -ENOENT: there is no such compiler. -ECANCELED: a signal, see
 * *by_signal.
 */
int bench_build(struct bench_room *r, const struct bench_compiler *cc, const char *source,
		char *object, size_t size, struct text *said, int *by_signal,
		struct tare_error *err);

#endif
