/* SPDX-License-Identifier: MIT */
/*
 * The file of a recording of regions (recording/region_format.h), which any number of processes
 * write to at once: create it, join it, reserve space in it. The program may close or reuse
 * descriptors, because the file is identified by its inode.
 */
#ifndef REGIONS_RUNTIME_REGION_FILE_H
#define REGIONS_RUNTIME_REGION_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include "base/error.h"
#include "recording/region_format.h"

struct region_file {
	char path[PATH_MAX]; /* absolute */
	int fd;
	dev_t dev;
	ino_t inode;
	/* maximum file size (RLIMIT_FSIZE); writing beyond it would raise a signal */
	uint64_t limit;
	struct file_head *head;
	/*
	 * region_process() of its owner. A child that continues a handler here does not write to
	 * the file
	 */
	unsigned process;
};

/* Create a file, replacing an existing one; without `replace`, -EEXIST if there is one. */
int region_file_create(struct region_file *f, const char *path, const char *counters,
		       const char *command, bool replace, struct tare_error *err);
/* Open an existing one. -ENOENT if there is none; -EEXIST if it is something else. */
int region_file_join(struct region_file *f, const char *path, struct tare_error *err);
void region_file_close(struct region_file *f);
/*
 * The head of the recording open as fd names this CPU instead: what the program saw. Returns 0 or
 * a negative errno.
 */
int region_file_name_cpu(int fd, const char *cpu);

/*
 * Map `size` zeroed bytes of new space; NULL with errno on failure. *offset (may be NULL) gets its
 * place. at_once: fault in the pages now, so that no page fault is in an interval. Unmap with
 * region_unmap().
 */
void *region_file_map(struct region_file *f, size_t size, bool at_once, uint64_t *offset);
/*
 * Write n bytes to new space. `out` must be in memory that is wiped on fork: a child then writes
 * nothing. Returns 0 or a negative errno. Not a cancellation point; preserves errno.
 */
int region_file_append(struct region_file *f, struct iovec *out, const void *bytes, size_t n);
/* Free the pages of a range, if the file system supports it; they read as 0 then. */
void region_file_punch(struct region_file *f, uint64_t offset, uint64_t n);

#endif
