/* SPDX-License-Identifier: MIT */
/* The files with code that was mapped during a recording, and their build ids. */
#ifndef PERFDATA_PERFDATA_MAPPED_H
#define PERFDATA_PERFDATA_MAPPED_H

#include <stdbool.h>
#include <stdint.h>
#include "base/build_id.h"
#include "base/error.h"
#include "base/text.h"

struct mapped_file {
	char *name;
	uint64_t inode;
	uint32_t major, minor;
	uint16_t mode; /* PERF_RECORD_MISC_USER or _KERNEL */
	bool known;
	struct build_id id; /* valid if `known`: read when it was added */
};

struct mapped {
	struct mapped_file *file;
	size_t n, room;
	size_t *slot; /* index + 1 by name; 0: free */
	size_t slots;
};

/*
 * Adds an MMAP or MMAP2 record; only the first of each file counts. Other records are ignored. The
 * file is read now, since it may be deleted before the end: by its name, or if that is another file
 * already, through the process that has it mapped (which needs its user's rights, for libraries
 * CAP_CHECKPOINT_RESTORE).
 */
int mapped_add(struct mapped *m, const unsigned char *record, size_t n, struct tare_error *err);
/*
 * BUILD_ID records for all files with a known id. A file that was replaced before it could be read
 * has another inode, and gets none.
 */
void mapped_write(struct text *out, const struct mapped *m, const char *root);
void mapped_free(struct mapped *m);

#endif
