/* SPDX-License-Identifier: MIT */
/* Small files read whole, under a root that tests may move. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>
#include "base/error.h"

/*
 * Read root + path whole, at most `max` bytes; -EFBIG beyond. root may be NULL or "" for "/".
 * *out is terminated and owned by the caller; *len (may be NULL) is without the terminator.
 * The error names the file.
 */
int file_read(const char *root, const char *path, size_t max, char **out, size_t *len,
	      struct tare_error *err);

/* The first line of such a file without its newline, into buf; -ENOSPC if it does not fit. */
int file_line(const char *root, const char *path, char *buf, size_t room, struct tare_error *err);

/* A file for what does not fit into memory, in $TMPDIR, /var/tmp or /tmp, that nobody else sees and that is gone when it is closed. */
int file_scratch(struct tare_error *err);

/* Write every byte, through short writes and EINTR. */
int file_write_all(int fd, const void *bytes, size_t n);

#endif
