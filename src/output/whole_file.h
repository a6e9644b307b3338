/* SPDX-License-Identifier: MIT */
/*
 * A file that appears complete or not at all: written in the same folder without a name (or as
 * FILE.part, which a signal removes), and renamed at the end. The old file stays until then. A file
 * that is writable but cannot be replaced (in a read-only folder, another user's in a sticky one, a
 * mount point) is overwritten at the end, once there is room for all of it.
 */
#ifndef OUTPUT_WHOLE_FILE_H
#define OUTPUT_WHOLE_FILE_H

#include <stdbool.h>
#include "base/error.h"

struct whole_file {
	int fd;
	char *path, *temp; /* temp: a name that must be removed; NULL: none */
	bool direct;       /* standard output, a pipe or a device: written directly */
	/*
	 * no file can be created next to it: fd is memory, and the file is overwritten at the end
	 */
	bool in_place;
};

/*
 * The descriptor that a path names (/dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N): written
 * directly. -1: none.
 */
int whole_file_descriptor(const char *path);
/* NULL or "-": standard output. `binary`: refuse a terminal. */
int whole_file_open(struct whole_file *f, const char *path, bool binary, struct tare_error *err);
/* Rename it to its final name; if that fails, abandon it. */
int whole_file_commit(struct whole_file *f, struct tare_error *err);
/* Remove all traces. After a commit, and after a failed open, does nothing. */
void whole_file_abandon(struct whole_file *f);

#endif
