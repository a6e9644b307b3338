/* SPDX-License-Identifier: MIT */
/* Small files, read completely, under a root that tests may change. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/error.h"

/*
 * Read root + path completely, at most `max` bytes; -EFBIG beyond. root may be NULL or "" for "/".
 * *out is NUL-terminated and owned by the caller; *len (may be NULL) does not count the NUL. The
 * error names the file. -EINVAL for a FIFO, a socket or a device other than /dev/null, which are
 * not opened, unless the path is in /proc, /sys or /dev/fd, or is /dev/stdin.
 */
int file_read(const char *root, const char *path, size_t max, char **out, size_t *len,
	      struct tare_error *err);

/*
 * Open the regular file `path` of at most `most` bytes for reading. Returns a descriptor owned by
 * the caller, or a negative errno (-EINVAL: not a regular file; -EFBIG). For names from other
 * files: does not wait for the writer of a FIFO, and a terminal does not become the controlling
 * terminal. Follows links.
 */
int file_open_regular(const char *path, uint64_t most);

/* Why file_open_regular() failed with -code: to be appended to "cannot be read: ". */
const char *file_open_why(int code);

/*
 * The first line of a file without its newline, into buf; -ENOSPC if it does not fit, -EFBIG for a
 * file of more than 64 KiB. Allocates nothing: signal handlers may call it.
 */
int file_line(const char *root, const char *path, char *buf, size_t room, struct tare_error *err);

/*
 * A file for data that does not fit into memory, in $TMPDIR, /var/tmp or /tmp. No other process
 * sees it, and it is removed when it is closed.
 */
int file_scratch(struct tare_error *err);

/*
 * Remove a folder of this user with all files in it; subfolders stay, and then the folder does,
 * too. Signal handlers may call it.
 */
void file_remove_folder(const char *path);

/*
 * The final name of a new file that is to become PATH: PATH, or the target of its links, which need
 * not exist yet. Returns 1, with that in `name`; 0 if PATH is not a regular file (a pipe, a
 * device), or has no name any more: then it is written directly, and no file is renamed over it; or
 * a negative errno: -ELOOP, -ENAMETOOLONG, -EACCES (also for a link or FIFO that another user
 * created in a sticky folder; file_part_failed() has the message). Allocates nothing.
 */
int file_place(const char *path, char name[PATH_MAX]);
/*
 * Is there a file of another user in a sticky folder that others may write to, such as /tmp? A link
 * is not followed.
 */
bool file_planted(const char *path);
/*
 * The name of a file that belongs to PATH, in the same folder: PATH with `ending`. A name that is
 * too long for a folder is truncated, and a hash of the full name replaces the rest. false: longer
 * than a path can be. Allocates nothing.
 */
enum { FILE_PART_ROOM = PATH_MAX + 16 };
bool file_beside(const char *path, const char *ending, char name[FILE_PART_ROOM]);
/*
 * Create an empty file PATH.part (PATH.part-2, ... if others exist), for this process only, on
 * PATH's file system. Returns its descriptor, and the name in `name`; or a negative errno. The name
 * contains no process id, as programs that read it must behave the same in every run. The process
 * that has it open holds its lock (flock). Allocates nothing.
 */
int file_part_open(const char *path, mode_t mode, char name[FILE_PART_ROOM]);
/* The same for an open file without a name (O_TMPFILE). 0 or a negative errno. */
int file_part_link(int fd, const char *path, char name[FILE_PART_ROOM]);
/*
 * The number of files PATH.part that `is` accepts (called with the open file) and that no process
 * holds open; `name` gets the newest. Changes and removes nothing: only the owner knows the
 * contents of such a file.
 */
size_t file_part_left(const char *path, bool (*is)(int fd), char name[FILE_PART_ROOM]);
/*
 * Set err to why file_part_open(path) returned -code; also if PATH is writable but its folder is
 * not. Returns -code.
 */
int file_part_failed(const char *path, int code, struct tare_error *err);
/*
 * Write the file's data to the disk, so that replacing another file loses neither in a power
 * failure or a system crash. If the file system allocates late (NFS, quotas), a full disk is found
 * here, while the other file still exists. 0 or a negative errno; 0 also if it cannot be
 * synchronised: a pipe, a device.
 */
int file_sync(int fd);
/*
 * Is `part` still the name of the file open as fd? A command that runs meanwhile may replace it by
 * a FIFO, a device or a link, which must not be opened. 0; or -ENOENT, -ESTALE with err (may be
 * NULL).
 */
int file_part_check(int fd, const char *part, struct tare_error *err);
/*
 * Rename the file `part`, open as fd, to `path`; if `path` exists, after file_sync(). The existing
 * file becomes `old` or (NULL) is removed; `path` exists at every moment. Concurrent callers that
 * hold file_lock_folder() each find the file of the one before. 0, or -errno: both are unchanged.
 * If a command ran meanwhile, file_part_check() comes first.
 */
int file_part_place(int fd, const char *part, const char *path, const char *old);

/*
 * Lock the folder of `path` against other callers that give several files their names there: waits
 * a second at most, as anybody may hold such a lock. The lock ends with close() of the result; -1:
 * there is none, which is no error.
 */
int file_lock_folder(const char *path);

/*
 * Reserve disk space for the n bytes at `at` of a regular file, without changing size or contents,
 * so that the following write does not fail with a full disk. 0, also if the file system cannot do
 * this; or a negative errno (-EFBIG: beyond RLIMIT_FSIZE, where a write would end the process).
 */
int file_reserve(int fd, off_t at, off_t n);
/* Write all bytes, retrying short writes and EINTR. */
int file_write_all(int fd, const void *bytes, size_t n);

#endif
