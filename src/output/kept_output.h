/* SPDX-License-Identifier: MIT */
/* An output file that another process writes, under a name of its own until there is something to put in its place. */
#ifndef OUTPUT_KEPT_OUTPUT_H
#define OUTPUT_KEPT_OUTPUT_H

#include <stdbool.h>
#include "base/file.h"

struct kept_output {
	char path[FILE_PART_ROOM]; /* to be written: made, and empty; "": nothing is */
	char *place;		   /* where it is to be: behind links */
	bool before;		   /* something is there */
	int fd;			   /* holds its lock: it is nobody's leavings */
};

/* -EINVAL: output is the command itself, or no regular file. */
int kept_output_begin(struct kept_output *k, const char *output, const char *command, struct tare_error *err);
/* What is at its path is another file now, of the descriptor `fd`, which has its lock: that one is held from now on. */
void kept_output_hold(struct kept_output *k, int fd);
/* worth: what was written is the output now; else it is gone. After a begin that failed, does nothing. */
int kept_output_end(struct kept_output *k, bool worth, struct tare_error *err);

#endif
