/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "base/num.h"
#include "output/temp_cleanup.h"
#include "output/input.h"
#include "output/own_stdout.h"
#include "output/whole_file.h"

static int fail(const struct whole_file *f, struct tare_error *err)
{
	int code = errno;

	return tare_fail(err, code, "cannot write to %.200s: %s", f->path, strerror(code));
}

static int hidden_name(struct whole_file *f, const char *name)
{
	f->temp = strdup(name);
	if (!f->temp) {
		unlink(name);
		errno = ENOMEM;
		return -1;
	}
	temp_cleanup_add(f->temp);
	return 0;
}

/* In the same folder: a rename must not cross file systems. */
static int open_beside(struct whole_file *f)
{
	char *copy = strdup(f->path), name[FILE_PART_ROOM];
	const char *dir = copy ? dirname(copy) : NULL;

	f->fd = dir ? open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666) : -1;
	if (f->fd < 0 && dir &&
	    (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT || errno == EINVAL)) {
		sigset_t before = temp_cleanup_block();
		int fd = file_part_open(f->path, 0666, name);

		if (fd < 0)
			errno = -fd;
		f->fd = fd;
		if (fd >= 0 && hidden_name(f, name) < 0) {
			close(fd);
			f->fd = -1;
		}
		temp_cleanup_unblock(&before);
	}
	free(copy);
	return f->fd < 0 ? -1 : 0;
}

int whole_file_descriptor(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	uint64_t n;

	if (!strcmp(path, "/dev/stdout"))
		return own_stdout();
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (!strncmp(path, folders[i], strlen(folders[i])) &&
		    num_parse(path + strlen(folders[i]), &n, NULL) == 0 && n <= INT_MAX)
			return n == STDOUT_FILENO ? own_stdout() : (int)n;
	return -1;
}

/* Write directly, without a temporary file. */
static int open_direct(struct whole_file *f, const char *path)
{
	int as = whole_file_descriptor(path);

	f->direct = true;
	f->fd = as >= 0 ? fcntl(as, F_DUPFD_CLOEXEC, 0)
			: open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	return f->fd < 0 ? -1 : 0;
}

/*
 * The new file has the mode of the one it replaces; if that is another user's, at most the mode of
 * a new file.
 */
static void keep_mode(int fd, const struct stat *before)
{
	mode_t most = 0777;
	struct stat st;

	if (before->st_uid != geteuid())
		most = fstat(fd, &st) == 0 ? st.st_mode & 0777 : 0600;
	fchmod(fd, before->st_mode & most);
}

int whole_file_open(struct whole_file *f, const char *path, bool binary, struct tare_error *err)
{
	char place[PATH_MAX];
	struct stat st;
	bool there;
	int placed, ret;

	*f = (struct whole_file){ .fd = -1 };
	if (!path || !strcmp(path, "-")) {
		if (binary && isatty(own_stdout())) {
			tare_fail(err, EINVAL,
				  "this format is binary: it is not written to a terminal");
			tare_hint(err, "-o FILE, or > FILE");
			return -EINVAL;
		}
		f->fd = own_stdout();
		f->direct = true;
		return fcntl(f->fd, F_GETFD) < 0
			? tare_fail(err, EBADF, "standard output is not open")
			: 0;
	}
	ret = input_refuse(path, err);
	if (ret < 0)
		return ret;
	/* a link stays, and its target is replaced */
	placed = whole_file_descriptor(path) >= 0 ? 0 : file_place(path, place);
	f->path = strdup(placed > 0 ? place : path);
	if (!f->path)
		return tare_fail_nomem(err);
	there = stat(f->path, &st) == 0;
	if (placed < 0) {
		file_part_failed(path, -placed, err);
		whole_file_abandon(f);
		return placed;
	}
	if (placed == 0) {
		open_direct(f, path);
	} else if (!there || access(place, W_OK) == 0) { /* a rename would bypass its permissions */
		if (open_beside(f) < 0 && there && (errno == EACCES || errno == EPERM)) {
			f->in_place = true;
			f->fd = memfd_create("tare", MFD_CLOEXEC);
		} else if (there && f->fd >= 0) {
			keep_mode(f->fd, &st);
		}
	}
	if (f->fd >= 0)
		return 0;
	fail(f, err);
	whole_file_abandon(f);
	return -err->code;
}

/* An unnamed file gets a hidden name, and is then renamed. */
static int name_it(struct whole_file *f)
{
	char name[FILE_PART_ROOM];
	int ret = file_part_link(f->fd, f->path, name);

	if (ret < 0) {
		errno = -ret;
		return -1;
	}
	return hidden_name(f, name);
}

/* The old contents are only removed when there is room for the new ones. */
static int write_over(struct whole_file *f)
{
	off_t n = lseek(f->fd, 0, SEEK_END), at = 0;
	int over = open(f->path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC),
	    ret = over < 0 || n < 0 ? -1 : 0, code;

	if (ret == 0) {
		errno = -file_reserve(over, 0, n);
		ret = errno ? -1 : 0;
	}
	while (ret == 0 && at < n) {
		ssize_t some = sendfile(over, f->fd, &at, (size_t)(n - at));

		if (some == 0)
			errno = EIO;
		if (some == 0 || (some < 0 && errno != EINTR))
			ret = -1;
	}
	if (ret == 0)
		ret = ftruncate(over, n);
	code = errno;
	if (over >= 0 && close(over) < 0 && errno != EINTR && ret == 0)
		return -1;
	errno = code;
	return ret;
}

/*
 * Another user's file in a sticky folder, or a mount point, cannot be replaced by a rename, but may
 * be writable.
 */
static bool only_in_place(int code)
{
	return code == EPERM || code == EACCES || code == EBUSY;
}

static int put_in_place(struct whole_file *f)
{
	int ret;

	if (f->direct)
		return 0;
	if (f->in_place)
		return write_over(f);
	ret = file_sync(f->fd);
	if (ret < 0) {
		errno = -ret;
		return -1;
	}
	if (!f->temp && name_it(f) < 0)
		return -1;
	if (rename(f->temp, f->path) < 0) {
		if (!only_in_place(errno))
			return -1;
		unlink(f->temp);
		if (write_over(f) < 0)
			return -1;
	}
	temp_cleanup_forget(f->temp);
	free(f->temp);
	f->temp = NULL;
	return 0;
}

int whole_file_commit(struct whole_file *f, struct tare_error *err)
{
	sigset_t before = temp_cleanup_block();
	int ret = put_in_place(f) < 0 ? fail(f, err) : 0;

	temp_cleanup_unblock(&before);
	if (ret == 0 && f->path) {
		int fd = f->fd;

		f->fd = -1;
		if (close(fd) < 0 && errno != EINTR) /* a network file system reports errors here */
			ret = fail(f, err);
	}
	whole_file_abandon(f);
	return ret;
}

void whole_file_abandon(struct whole_file *f)
{
	if (f->temp) {
		unlink(f->temp);
		temp_cleanup_forget(f->temp);
	}
	if (f->fd >= 0 && f->path)
		close(f->fd);
	free(f->temp);
	free(f->path);
	*f = (struct whole_file){ .fd = -1 };
}
