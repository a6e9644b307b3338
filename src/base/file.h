/* SPDX-License-Identifier: MIT */
/* Small files read whole, under a root that tests may move. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/error.h"

/*
 * Read root + path whole, at most `max` bytes; -EFBIG beyond. root may be NULL or "" for "/".
 * *out is terminated and owned by the caller; *len (may be NULL) is without the terminator.
 * The error names the file.
 */
int file_read(const char *root, const char *path, size_t max, char **out, size_t *len,
	      struct tare_error *err);

/*
 * Opens the regular file `path` of at most `most` bytes for reading: its descriptor, which is the caller's, or a negative
 * errno (-EINVAL: no regular file; -EFBIG). For names that come from other files: does not wait for a writer of a FIFO,
 * and a terminal does not become the process's own. Links are followed.
 */
int file_open_regular(const char *path, uint64_t most);

/* Why file_open_regular() failed with -code: for a message after "cannot be read: ". */
const char *file_open_why(int code);

/* The first line of a file without its newline, into buf; -ENOSPC if it does not fit, -EFBIG of a file of more than 64 KiB. Takes no memory: for handlers of signals, too. */
int file_line(const char *root, const char *path, char *buf, size_t room, struct tare_error *err);

/* A file for what does not fit into memory, in $TMPDIR, /var/tmp or /tmp, that nobody else sees and that is gone when it is closed. */
int file_scratch(struct tare_error *err);

/* Removes a folder of this user with all files in it; folders in it stay, and so does it then. For handlers of signals, too. */
void file_remove_folder(const char *path);

/*
 * Where a new file that is to be PATH takes its name: PATH, or what its links lead to, which need not be there yet.
 * Returns 1, with that in `name`; 0 where PATH is no regular file (a pipe, a device), or one that has no name any more: it
 * is written as it is, and nothing renamed over it; or a negative errno: -ELOOP, -ENAMETOOLONG, -EACCES (also of a link or
 * FIFO that another user placed in a sticky folder; file_part_failed() words it). Allocates nothing.
 */
int file_place(const char *path, char name[PATH_MAX]);
/*
 * The name of what belongs to PATH and lies beside it: PATH with `ending`. A name that would be longer than a folder takes
 * is cut, and a hash of the whole stands for what is missing. false: longer than a path can be. Allocates nothing.
 */
enum { FILE_PART_ROOM = PATH_MAX + 16 };
bool file_beside(const char *path, const char *ending, char name[FILE_PART_ROOM]);
/*
 * A new, empty file PATH.part (PATH.part-2, ... where others are there): of this process alone, on PATH's file system.
 * Returns its descriptor, and the name in `name`; or a negative errno. No number of a process is in the name: programs
 * that read it are to do the same in every run. Whoever has it open holds its lock (flock). Allocates nothing.
 */
int file_part_open(const char *path, mode_t mode, char name[FILE_PART_ROOM]);
/* The same for a file that is open and has no name (O_TMPFILE). 0 or a negative errno. */
int file_part_link(int fd, const char *path, char name[FILE_PART_ROOM]);
/*
 * The number of files PATH.part that `is` accepts (called with the open file) and that no process holds open;
 * `name` gets the newest. Nothing is changed or removed: only the owner knows what a file of such a name contains.
 */
size_t file_part_left(const char *path, bool (*is)(int fd), char name[FILE_PART_ROOM]);
/* Set err to why file_part_open(path) returned -code; also if PATH is writable but its folder is not. Returns -code. */
int file_part_failed(const char *path, int code, struct tare_error *err);
/*
 * Write the file's data to the disk, so that replacing another file loses neither in a power failure or a system crash.
 * If the file system allocates late (NFS, quotas), a full disk is found here, while the other file still exists. 0 or
 * a negative errno; 0 also if it cannot be synchronised: a pipe, a device.
 */
int file_sync(int fd);
/*
 * Rename the file `part`, open as fd, to `path`; if `path` exists, after file_sync(). The existing file becomes `old` or (NULL) is
 * removed; `path` exists at every moment. Concurrent callers each find the file of the one before. 0, or -errno: both are unchanged.
 */
int file_part_place(int fd, const char *part, const char *path, const char *old);

/*
 * Room for the n bytes at `at` of a regular file, whose size and content stay: the write that follows finds the disk not full.
 * 0, also where the file system cannot tell; or a negative errno (-EFBIG: past RLIMIT_FSIZE, where a write would end the process).
 */
int file_reserve(int fd, off_t at, off_t n);
/* Write every byte, through short writes and EINTR. */
int file_write_all(int fd, const void *bytes, size_t n);

#endif
