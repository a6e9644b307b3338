/* SPDX-License-Identifier: MIT */
/*
 * The file that a recording of regions is written to (recording/region_format.h), by any number of processes at once: making it,
 * joining it, space in it. What the program does to its descriptors does no harm: the file is known by its inode.
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
	uint64_t limit; /* of the size of files; a write beyond would be a signal */
	struct file_head *head;
	unsigned process; /* whose it is: region_process(). A child of a handler that goes on here writes nothing of it */
};

/* A new file, instead of any that had the name; without `replace`, -EEXIST when there is one. */
int region_file_create(struct region_file *f, const char *path, const char *counters, const char *command, bool replace,
		       struct tare_error *err);
/* One that was made before. -ENOENT when there is none; -EEXIST when it is something else. */
int region_file_join(struct region_file *f, const char *path, struct tare_error *err);
void region_file_close(struct region_file *f);

/* Space of `size` bytes, all 0, mapped; NULL with errno when there is none. Offset (may be NULL): where. at_once: its pages are
 * there, so that no fault is in an interval; else each comes when it is first written to. To be unmapped by region_unmap(). */
void *region_file_map(struct region_file *f, size_t size, bool at_once, uint64_t *offset);
/* Write n bytes to a place of their own. `out`: in memory that a child finds empty, to say to the kernel what to write: a child
 * writes nothing. 0 or a negative errno. No cancellation point; errno is left alone. */
int region_file_append(struct region_file *f, struct iovec *out, const void *bytes, size_t n);
/* Give the pages of a range back, if the file system can: they read as 0 then. */
void region_file_punch(struct region_file *f, uint64_t offset, uint64_t n);

#endif
