/* SPDX-License-Identifier: MIT */
/* tare record --alloc: the command's environment, so that it writes its blocks of memory beside the recording. */
#ifndef CLI_SAMPLES_RECORD_ALLOC_H
#define CLI_SAMPLES_RECORD_ALLOC_H

#include <limits.h>
#include "base/file.h"
#include "base/text.h"

struct record_alloc {
	char path[FILE_PART_ROOM]; /* of the file; "": nothing is to be recorded */
	char place[PATH_MAX];	   /* where it is to be: beside the recording */
	char **envp;
	struct text own[2];
};

/* The file, made for `most` bytes (0: as many as are any use); and an environment that names it and the recorder. */
int record_alloc_begin(struct record_alloc *a, const char *recording, uint64_t most, struct tare_error *err);
/* Its bytes by now. */
uint64_t record_alloc_size(const struct record_alloc *a);
/* The recording has its name, so that the file is to have its own. */
int record_alloc_place(struct record_alloc *a, struct tare_error *err);
/* What is in it, a line or two. */
void record_alloc_tell(const struct record_alloc *a, struct text *out);
/* The command did not run: no file is kept. */
void record_alloc_forget(const struct record_alloc *a);
void record_alloc_free(struct record_alloc *a);

#endif
