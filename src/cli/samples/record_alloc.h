/* SPDX-License-Identifier: MIT */
/* tare record --alloc: sets up the command's environment so that the command records its memory
 * blocks in a second file. */
#ifndef CLI_SAMPLES_RECORD_ALLOC_H
#define CLI_SAMPLES_RECORD_ALLOC_H

#include <limits.h>
#include "base/file.h"
#include "base/text.h"

struct record_alloc {
	char path[FILE_PART_ROOM]; /* of the file; "": record nothing */
	char place[PATH_MAX];      /* its final path: in the recording's folder */
	int fd;                    /* the file, if it has a path */
	char **envp;
	struct text own[2];
};

/* Creates the file for `most` bytes (0: the useful maximum), and an environment that names it
 * and the recorder. */
int record_alloc_begin(struct record_alloc *a, const char *recording, uint64_t most,
		       struct tare_error *err);
/* Its current size in bytes. */
uint64_t record_alloc_size(const struct record_alloc *a);
/*
 * Renames the file to its final name; the recording already has its own. A file that replaced it
 * meanwhile stays, and then nothing is recorded.
 */
int record_alloc_place(struct record_alloc *a, struct tare_error *err);
/* Describes its contents in a line or two. */
void record_alloc_tell(const struct record_alloc *a, struct text *out);
/* The command did not run: removes the file. */
void record_alloc_forget(const struct record_alloc *a);
void record_alloc_free(struct record_alloc *a);

#endif
