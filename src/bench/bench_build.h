/* SPDX-License-Identifier: MIT */
/* Source text -> shared object, by the user's compiler. */
#ifndef BENCH_BENCH_BUILD_H
#define BENCH_BENCH_BUILD_H

#include "base/error.h"
#include "base/text.h"

/* A folder for what is compiled; it must go. */
struct bench_room {
	char path[256]; /* "": none */
	unsigned files;
	int lock; /* of the folder, held while it is used; the kernel takes it from the dead */
};

/* -fno-optimize-sibling-calls is among tare's own flags, because of tare/bench.h. */
struct bench_compiler {
	const char *words; /* "cc", or "ccache gcc-12"; split at spaces */
	const char *flags; /* behind tare's own; NULL: none; split at spaces */
};

/* Rooms that a tare that was killed left in `parent` are removed. If r has one, does nothing. */
int bench_room_open(struct bench_room *r, const char *parent, struct tare_error *err);
/* Writes `text` into a new file of it; its path into `path`. */
int bench_room_write(struct bench_room *r, const struct text *text, const char *ending, char *path, size_t size, struct tare_error *err);
void bench_room_close(struct bench_room *r);

/*
 * `object` is where the result goes, a path in the room. -EINVAL: the compiler did not like it, and `said` is what it wrote, whole (to
 * 1 MiB). -ENOENT: there is no such compiler. -ECANCELED: a signal, *by_signal.
 */
int bench_build(struct bench_room *r, const struct bench_compiler *cc, const char *source, char *object, size_t size, struct text *said,
		int *by_signal, struct tare_error *err);

#endif
