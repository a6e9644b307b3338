/* SPDX-License-Identifier: MIT */
/*
 * A file that is there whole or not at all: written beside its place without a name (or as FILE.part, which a
 * signal takes away), and put there at the end. What stood there before stays until then. A file that may be written where none takes
 * its place (a folder that may not be written, another's file in a sticky one, a mount point) is written over at the end, once there is
 * room for all of it.
 */
#ifndef OUTPUT_WHOLE_FILE_H
#define OUTPUT_WHOLE_FILE_H

#include <stdbool.h>
#include "base/error.h"

struct whole_file {
	int fd;
	char *path, *temp; /* temp: a name that must go; NULL: none */
	bool direct;	   /* standard output, a pipe or a device: nothing to put in place */
	bool in_place;	   /* nothing can be made beside it: fd is memory, written over it at the end */
};

/* The descriptor that a path names (/dev/stdout, /dev/stderr, /dev/fd/N, /proc/self/fd/N): written where it stands. -1: none. */
int whole_file_descriptor(const char *path);
/* NULL or "-": standard output. `binary`: not to a terminal. */
int whole_file_open(struct whole_file *f, const char *path, bool binary, struct tare_error *err);
/* Put it in its place; and give up in case that fails. */
int whole_file_commit(struct whole_file *f, struct tare_error *err);
/* Leaves no trace. After a commit, and after an open that failed, does nothing. */
void whole_file_abandon(struct whole_file *f);

#endif
