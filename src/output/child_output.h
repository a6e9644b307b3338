/* SPDX-License-Identifier: MIT */
/*
 * An output file that another process writes, under a temporary name until it can replace the
 * output.
 */
#ifndef OUTPUT_CHILD_OUTPUT_H
#define OUTPUT_CHILD_OUTPUT_H

#include <stdbool.h>
#include "base/file.h"

struct child_output {
	char path[FILE_PART_ROOM]; /* to be written: created empty; "": none */
	char *place;               /* the final path, with links resolved */
	bool before;               /* a file exists there */
	int fd;                    /* holds its lock, so it does not look abandoned */
};

/* -EINVAL: output is the command itself, or not a regular file. */
int child_output_begin(struct child_output *k, const char *output, const char *command,
		       struct tare_error *err);
/*
 * Another file, open as `fd` with its lock, is now at its path: hold that one from now on. 0 or a
 * negative errno.
 */
int child_output_hold(struct child_output *k, int fd);
/*
 * worth: the written file becomes the output; otherwise it is removed. A file that replaced it
 * meanwhile stays, and so does the output. Does nothing after a failed begin.
 */
int child_output_end(struct child_output *k, bool worth, struct tare_error *err);
/* Instead: the written file stays at its path, and the output unchanged. */
void child_output_leave(struct child_output *k);

#endif
