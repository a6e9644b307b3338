/* SPDX-License-Identifier: MIT */
/* Small files (sysfs, procfs, event files), read completely, with a size limit. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>
#include "base/array.h"
#include "base/file.h"
#include "base/path.h"

static int slurp(int fd, size_t max, char **out, size_t *len)
{
	size_t n = 0, room = 512;
	char *buf = malloc(room);

	for (;;) {
		if (!buf)
			return -ENOMEM;

		ssize_t got = read(fd, buf + n, room - n - 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int code = errno;

			free(buf);
			return -code;
		}
		n += (size_t)got;
		if (n > max) {
			free(buf);
			return -EFBIG;
		}
		if (got == 0)
			break;
		if (room - n < 256) {
			if (!array_reserve(&buf, &room, 2 * room, 1)) {
				free(buf);
				return -ENOMEM;
			}
		}
	}
	buf[n] = '\0';
	*out = buf;
	*len = n;
	return 0;
}

enum { PATH_ROOM = 4096, FILE_MOST = 65536 /* if one line is read */ };

/* Files of the kernel, and the pipes that this process has open. */
static bool may_be_pipe(const char *path)
{
	return !strncmp(path, "/proc/", 6) || !strncmp(path, "/sys/", 5) ||
		!strncmp(path, "/dev/fd/", 8) || !strcmp(path, "/dev/stdin");
}

/*
 * open() of a FIFO waits for a writer, and open() of a device may have side effects. A folder gives
 * an error when it is read.
 */
static bool is_special(const struct stat *st)
{
	return !S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode) &&
		!(S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3)); /* /dev/null */
}

/* -EINVAL: is_special(). */
static int open_to_read(const char *whole, bool may_wait)
{
	const int flags = O_RDONLY | O_CLOEXEC | (may_wait ? 0 : O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int fd;

	if (!may_wait && stat(whole, &st) == 0 && is_special(&st))
		return -EINVAL;
	fd = open(whole, flags);
	if (fd < 0)
		return -errno;
	if (may_wait || (fstat(fd, &st) == 0 && !is_special(&st)))
		return fd;
	close(fd);
	return -EINVAL;
}

/* `whole` receives its path, for errors. */
static int open_in(const char *root, const char *path, char whole[PATH_ROOM],
		   struct tare_error *err)
{
	int at = snprintf(whole, PATH_ROOM, "%s%s", root ? root : "", path), fd;

	if (at < 0 || at >= PATH_ROOM)
		return tare_fail(err, ENAMETOOLONG, "%.64s...: the path is too long", path);
	fd = open_to_read(whole, may_be_pipe(path));
	if (fd == -EINVAL) {
		tare_fail(err, EINVAL, "%s is not a regular file", whole);
		tare_hint(err, "give a file, or <(COMMAND) for the output of a command");
	} else if (fd < 0) {
		tare_fail(err, -fd, "cannot open %s: %s", whole, strerror(-fd));
	}
	return fd;
}

int file_read(const char *root, const char *path, size_t max, char **out, size_t *len,
	      struct tare_error *err)
{
	char whole[PATH_ROOM];
	int fd = open_in(root, path, whole, err), ret;
	size_t n = 0;

	if (fd < 0)
		return fd;
	ret = slurp(fd, max, out, &n);
	close(fd);
	if (ret < 0)
		return tare_fail(err, -ret, "cannot read %s: %s", whole, strerror(-ret));
	if (len)
		*len = n;
	return 0;
}

int file_open_regular(const char *path, uint64_t most)
{
	struct stat st;
	int fd, code;

	if (stat(path, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode)) /* opening a device may have side effects */
		return -EINVAL;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	code = fstat(fd, &st) < 0             ? errno
		: !S_ISREG(st.st_mode)        ? EINVAL
		: (uint64_t)st.st_size > most ? EFBIG
					      : 0;
	if (code)
		close(fd);
	return code ? -code : fd;
}

const char *file_open_why(int code)
{
	return code == EINVAL ? "it is not a regular file" : strerror(code);
}

/* Bytes up to a newline, NUL or the end: -errno, or their number; as many as fit are in buf. */
static ssize_t read_line(int fd, char *buf, size_t room)
{
	size_t n = 0;
	ssize_t line = -1, got;
	char rest[256];

	do {
		char *to = n < room ? buf + n : rest;

		got = read(fd, to, n < room ? room - n : sizeof(rest));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		for (ssize_t i = 0; i < got && line < 0; i++)
			if (!to[i] || to[i] == '\n')
				line = (ssize_t)n + i;
		n += (size_t)got;
		if (n > FILE_MOST)
			return -EFBIG;
	} while (got);
	return line < 0 ? (ssize_t)n : line;
}

int file_line(const char *root, const char *path, char *buf, size_t room, struct tare_error *err)
{
	char whole[PATH_ROOM];
	int fd = open_in(root, path, whole, err);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = read_line(fd, buf, room);
	close(fd);
	if (n < 0)
		return tare_fail(err, (int)-n, "cannot read %s: %s", whole, strerror((int)-n));
	if ((size_t)n >= room)
		return tare_fail(err, ENOSPC, "%s: its first line has %zd bytes, %zu are expected",
				 whole, n, room - 1);
	buf[n] = '\0';
	return 0;
}

static int scratch_in(const char *dir)
{
	char name[256];
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || (size_t)snprintf(name, sizeof(name), "%s/tare-XXXXXX", dir) >= sizeof(name))
		return fd;
	fd = mkostemp(name, O_CLOEXEC); /* not every file system supports unnamed files */
	if (fd >= 0)
		unlink(name);
	return fd;
}

int file_scratch(struct tare_error *err)
{
	const char *const dirs[] = { getenv("TMPDIR"), "/var/tmp", "/tmp" };
	int fd = -1;

	for (size_t i = 0; fd < 0 && i < ARRAY_SIZE(dirs); i++)
		if (dirs[i] && *dirs[i])
			fd = scratch_in(dirs[i]);
	return fd < 0
		? tare_fail(err, errno, "cannot make a temporary file in /var/tmp or /tmp: %s",
			    strerror(errno))
		: fd;
}

void file_remove_folder(const char *path)
{
	/* readdir() allocates memory. Source: getdents(2). */
	struct {
		uint64_t inode;
		int64_t next;
		uint16_t size;
		uint8_t type;
		char name[];
	} * entry;
	_Alignas(8) char bytes[4096];
	struct stat st;
	long n = 0;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid())
		while ((n = syscall(SYS_getdents64, fd, bytes, sizeof(bytes))) > 0)
			for (long at = 0; at < n; at += entry->size) {
				entry = (void *)(bytes + at);
				if (strcmp(entry->name, ".") && strcmp(entry->name, ".."))
					unlinkat(fd, entry->name, 0);
			}
	if (fd >= 0)
		close(fd);
	rmdir(path);
}

/* Length of the folder part of a path, including its last slash. */
static size_t folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

/*
 * Did another user plant it: is it in a sticky folder that others may write to, and owned neither
 * by this process's user nor by the folder's owner? The kernel can refuse to follow such links and
 * to open such FIFOs (proc(5), fs.protected_symlinks and fs.protected_fifos); tare always refuses.
 */
bool file_planted(const char *path)
{
	char folder[PATH_MAX];
	size_t n = folder_of(path);
	struct stat it, in;

	if (n >= sizeof(folder) || lstat(path, &it) < 0 || it.st_uid == geteuid())
		return false;
	snprintf(folder, sizeof(folder), "%.*s", n ? (int)n : 1, n ? path : ".");
	return stat(folder, &in) == 0 && (in.st_mode & S_ISVTX) &&
		(in.st_mode & (S_IWOTH | S_IWGRP)) && it.st_uid != in.st_uid;
}

/*
 * Replace the link `name` by its target, which is relative to the link's folder. 1: done; 0: not a
 * link; or a negative errno.
 */
static int follow_link(char name[PATH_MAX])
{
	char says[PATH_MAX];
	ssize_t n = readlink(name, says, sizeof(says) - 1);
	size_t folder = folder_of(name);

	if (n < 0)
		return 0;
	if (file_planted(name))
		return -EACCES;
	says[n] = '\0';
	if (says[0] == '/')
		folder = 0;
	if (folder + (size_t)n >= PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(name + folder, says, (size_t)n + 1);
	return 1;
}

int file_place(const char *path, char name[PATH_MAX])
{
	struct stat is, at;
	bool there = stat(path, &is) == 0;
	int ret = 1;

	if (!there && (errno == ELOOP || errno == ENAMETOOLONG || errno == EACCES))
		return -errno;
	if (snprintf(name, PATH_MAX, "%s", path) >= PATH_MAX)
		return -ENAMETOOLONG;
	for (int i = 0; ret > 0; i++)
		ret = i < 40 ? follow_link(name) : -ELOOP;
	if (ret < 0)
		return ret;
	if (there && S_ISFIFO(is.st_mode) && file_planted(name))
		return -EACCES;
	if (there && !S_ISREG(is.st_mode))
		return 0;
	/*
	 * A link in /proc to an open file that was removed shows a name that does not exist, or
	 * belongs to another file.
	 */
	return !there || (stat(name, &at) == 0 && at.st_dev == is.st_dev && at.st_ino == is.st_ino);
}

enum { GAP_MOST = 32 /* unused numbers between such files */, MOST_PARTS = 1000 };

bool file_beside(const char *path, const char *ending, char name[FILE_PART_ROOM])
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	size_t n = strlen(base), room = NAME_MAX - strlen(ending);
	char tag[16] = "";
	int len;

	if (n > room && n <= NAME_MAX) {
		/* FNV-1a: names that are truncated to the same text remain different */
		uint32_t h = 2166136261u;

		for (size_t i = 0; i < n; i++)
			h = (h ^ (unsigned char)base[i]) * 16777619u;
		snprintf(tag, sizeof(tag), "~%08" PRIx32, h);
		n = room - strlen(tag);
		while (n && (base[n] & 0xc0) == 0x80) /* not inside a character */
			n--;
	}
	len = snprintf(name, FILE_PART_ROOM, "%.*s%.*s%s%s", (int)(base - path), path, (int)n, base,
		       tag, ending);
	return len < FILE_PART_ROOM;
}

static bool part_name(char name[FILE_PART_ROOM], const char *path, int i)
{
	char ending[24] = ".part";

	if (i > 1)
		snprintf(ending, sizeof(ending), ".part-%d", i);
	return file_beside(path, ending, name);
}

int file_part_open(const char *path, mode_t mode, char name[FILE_PART_ROOM])
{
	for (int i = 1; i < MOST_PARTS; i++) {
		int fd;

		if (!part_name(name, path, i))
			return -ENAMETOOLONG;
		fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (fd >= 0)
			/*
			 * waits at most while another process checks whether it is abandoned, which
			 * an empty file is not
			 */
			flock(fd, LOCK_EX);
		if (fd >= 0 || errno != EEXIST)
			return fd < 0 ? -errno : fd;
	}
	return -EEXIST;
}

int file_part_link(int fd, const char *path, char name[FILE_PART_ROOM])
{
	char has[64];

	snprintf(has, sizeof(has), "/proc/self/fd/%d", fd);
	flock(fd, LOCK_EX | LOCK_NB); /* not an abandoned file */
	for (int i = 1; i < MOST_PARTS; i++) {
		if (!part_name(name, path, i))
			return -ENAMETOOLONG;
		if (linkat(AT_FDCWD, has, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* No process that locked it has it open; if locks are not supported, one may. */
static bool is_left(int fd, const char *name)
{
	struct stat st, at;

	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 &&
		S_ISREG(st.st_mode) && st.st_size && stat(name, &at) == 0 &&
		at.st_dev == st.st_dev && at.st_ino == st.st_ino;
}

size_t file_part_left(const char *path, bool (*is)(int fd), char name[FILE_PART_ROOM])
{
	struct timespec latest = { 0 };
	size_t n = 0;

	for (int i = 1, last = 0; i < MOST_PARTS && i <= last + GAP_MOST; i++) {
		char part[FILE_PART_ROOM];
		struct stat st;
		int fd = part_name(part, path, i)
			? open(part, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
			: -1;

		if (fd >= 0)
			last = i;
		if (is_left(fd, part) && fstat(fd, &st) == 0 && is(fd) &&
		    (++n == 1 || st.st_mtim.tv_sec > latest.tv_sec ||
		     (st.st_mtim.tv_sec == latest.tv_sec && st.st_mtim.tv_nsec > latest.tv_nsec))) {
			latest = st.st_mtim;
			memcpy(name, part, sizeof(part));
		}
		if (fd >= 0)
			close(fd);
	}
	return n;
}

int file_part_failed(const char *path, int code, struct tare_error *err)
{
	tare_fail(err, code, "%.250s: cannot be created: %s", path, strerror(code));
	if (code == EACCES && file_planted(path))
		tare_hint(
			err,
			"it belongs to another user, in a sticky folder that others may write to; -o names another place");
	else if ((code == EACCES || code == EPERM || code == EROFS) && access(path, W_OK) == 0)
		tare_hint(
			err,
			"the file is writable, but not its folder, in which a new one is created; -o names another place");
	return -code;
}

/* Not every file system can exchange names. */
static int place_by_steps(const char *part, const char *path, const char *old)
{
	for (int i = 0; i < 100; i++) {
		if (link(part, path) == 0)
			return unlink(part) < 0 ? -errno : 0;
		if (errno == ENOENT)
			return -ENOENT;
		if (errno != EEXIST) /* nor supports links: FAT */
			break;
		if (rename(path, old) < 0 && errno != ENOENT)
			return -errno;
	}
	if (rename(path, old) < 0 && errno != ENOENT)
		return -errno;
	return rename(part, path) < 0 ? -errno : 0;
}

static int exchange(const char *part, const char *path, const char *old)
{
	for (int i = 0; i < 100; i++) {
		if (renameat2(AT_FDCWD, part, AT_FDCWD, path, RENAME_EXCHANGE) == 0) {
			int code = rename(part, old) < 0 ? errno : 0;

			if (code)
				renameat2(AT_FDCWD, part, AT_FDCWD, path, RENAME_EXCHANGE);
			return -code;
		}
		if (errno != ENOENT)
			break;
		if (renameat2(AT_FDCWD, part, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return place_by_steps(part, path, old);
}

int file_sync(int fd)
{
	while (fsync(fd) < 0)
		if (errno != EINTR)
			return errno == EINVAL || errno == EROFS ? 0 : -errno;
	return 0;
}

int file_part_check(int fd, const char *part, struct tare_error *err)
{
	struct stat is, at;

	if (fstat(fd, &is) < 0)
		return tare_fail(err, errno, "%.250s: %s", part, strerror(errno));
	if (lstat(part, &at) < 0)
		return tare_fail(err, errno, "%.250s, to which the result was written: %s", part,
				 strerror(errno));
	if (at.st_dev == is.st_dev && at.st_ino == is.st_ino)
		return 0;
	return tare_fail(err, ESTALE,
			 "%.250s, to which the result was written, was replaced by another file",
			 part);
}

int file_part_place(int fd, const char *part, const char *path, const char *old)
{
	int before, ret = access(path, F_OK) == 0 ? file_sync(fd) : 0;

	if (ret < 0)
		return ret;
	if (!old)
		return rename(part, path) < 0 ? -errno : 0;
	/* Temporarily it is named `part`, but it is not abandoned. */
	before = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (before >= 0)
		flock(before, LOCK_SH | LOCK_NB);
	ret = exchange(part, path, old);
	if (before >= 0)
		close(before);
	return ret;
}

int file_lock_folder(const char *path)
{
	const struct timespec wait = { .tv_nsec = 10000000 };
	char folder[PATH_MAX] = ".";
	size_t n = (size_t)(path_base(path) - path);
	int fd;

	if (n >= sizeof(folder))
		return -1;
	if (n)
		snprintf(folder, sizeof(folder), "%.*s", (int)n, path);
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && i < 100; i++)
		nanosleep(&wait, NULL);
	return fd;
}

int file_reserve(int fd, off_t at, off_t n)
{
	struct rlimit most;
	struct stat st;
	int code;

	if (n <= 0)
		return 0;
	if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY &&
	    (rlim_t)(at + n) > most.rlim_cur)
		return -EFBIG;
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, at, n) == 0)
		return 0;
	code = errno;
	if (code == EOPNOTSUPP || code == ENOSYS || code == ENODEV || code == ESPIPE)
		return 0;
	if (fstat(fd, &st) == 0 && ftruncate(fd, st.st_size) < 0) /* release reserved space */
		return -code;
	return -code;
}

int file_write_all(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;

	while (n) {
		ssize_t put = write(fd, p, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		p += put;
		n -= (size_t)put;
	}
	return 0;
}
