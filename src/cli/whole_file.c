/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "cli/whole_file.h"

static const int deadly[] = { SIGHUP, SIGINT, SIGTERM, SIGPIPE };
static const char *volatile doomed; /* unlinked when one of these comes */

static void on_signal(int number)
{
	if (doomed)
		unlink(doomed);
	signal(number, SIG_DFL);
	raise(number);
}

static void guard(const char *name)
{
	doomed = name;
	for (size_t i = 0; i < ARRAY_SIZE(deadly); i++)
		if (signal(deadly[i], name ? on_signal : SIG_DFL) == SIG_IGN)
			signal(deadly[i], SIG_IGN);
}

static int fail(const struct whole_file *f, struct tare_error *err)
{
	int code = errno;

	return tare_fail(err, code, "cannot write to %.200s: %s", f->path, strerror(code));
}

/* Beside its place: a rename must not cross file systems. */
static int open_beside(struct whole_file *f)
{
	char *copy = strdup(f->path);
	const char *dir = copy ? dirname(copy) : NULL;

	f->fd = dir ? open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666) : -1;
	if (f->fd < 0 && dir && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT || errno == EINVAL) &&
	    asprintf(&f->temp, "%s.tare-XXXXXX", f->path) > 0) {
		mode_t mask = umask(0);

		umask(mask);
		f->fd = mkostemp(f->temp, O_CLOEXEC);
		if (f->fd >= 0) {
			guard(f->temp);
			fchmod(f->fd, 0666 & ~mask);
		} else {
			free(f->temp);
			f->temp = NULL;
		}
	}
	free(copy);
	return f->fd < 0 ? -1 : 0;
}

int whole_file_open(struct whole_file *f, const char *path, bool binary, struct tare_error *err)
{
	char place[PATH_MAX];
	struct stat st;
	bool there;
	int placed;

	*f = (struct whole_file){ .fd = -1 };
	if (!path || !strcmp(path, "-")) {
		if (binary && isatty(STDOUT_FILENO)) {
			tare_fail(err, EINVAL, "this format is no text: it is not written to a terminal");
			tare_hint(err, "-o FILE, or > FILE");
			return -EINVAL;
		}
		f->fd = STDOUT_FILENO;
		f->direct = true;
		return fcntl(f->fd, F_GETFD) < 0 ? tare_fail(err, EBADF, "standard output is not open") : 0;
	}
	placed = file_place(path, place); /* a link stays a link to what is written */
	f->path = strdup(placed > 0 ? place : path);
	if (!f->path)
		return tare_fail_nomem(err);
	there = stat(f->path, &st) == 0;
	if (placed < 0) {
		errno = -placed;
	} else if (placed == 0) {
		f->direct = true;
		f->fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	} else if (!there || access(place, W_OK) == 0) { /* a rename would get around rights */
		if (open_beside(f) < 0 && there && (errno == EACCES || errno == EPERM)) {
			f->over = open(f->path, O_WRONLY | O_CLOEXEC);
			f->in_place = f->over >= 0;
			f->fd = f->over < 0 ? -1 : memfd_create("tare", MFD_CLOEXEC);
		} else if (there && f->fd >= 0)
			fchmod(f->fd, st.st_mode & 07777);
	}
	if (f->fd >= 0)
		return 0;
	fail(f, err);
	whole_file_abandon(f);
	return -err->code;
}

/* A file without a name gets a hidden one, which then takes the place. */
static int name_it(struct whole_file *f)
{
	char link_path[64];

	snprintf(link_path, sizeof(link_path), "/proc/self/fd/%d", f->fd);
	for (int i = 0; i < 100; i++) {
		if (asprintf(&f->temp, "%s.tare-%d-%d", f->path, (int)getpid(), i) < 0) {
			f->temp = NULL;
			return -1;
		}
		if (linkat(AT_FDCWD, link_path, AT_FDCWD, f->temp, AT_SYMLINK_FOLLOW) == 0)
			return 0;
		free(f->temp);
		f->temp = NULL;
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

static int write_over(struct whole_file *f)
{
	off_t n = lseek(f->fd, 0, SEEK_END), at = 0;

	if (n < 0 || (n && (errno = posix_fallocate(f->over, 0, n))))
		return -1;
	while (at < n) {
		ssize_t some = sendfile(f->over, f->fd, &at, (size_t)(n - at));

		if (some <= 0 && errno != EINTR)
			return -1;
	}
	return ftruncate(f->over, n);
}

int whole_file_commit(struct whole_file *f, struct tare_error *err)
{
	int ret = 0;

	if (f->in_place)
		ret = write_over(f) < 0 ? fail(f, err) : 0;
	else if (!f->direct && ((!f->temp && name_it(f) < 0) || rename(f->temp, f->path) < 0))
		ret = fail(f, err);
	if (ret == 0 && f->temp) {
		guard(NULL);
		free(f->temp);
		f->temp = NULL;
	}
	if (ret == 0 && f->path && close(f->fd) < 0 && errno != EINTR)
		ret = fail(f, err);
	if (ret == 0)
		f->fd = -1;
	whole_file_abandon(f);
	return ret;
}

void whole_file_abandon(struct whole_file *f)
{
	if (f->temp) {
		unlink(f->temp);
		guard(NULL);
	}
	if (f->fd >= 0 && f->path)
		close(f->fd);
	if (f->in_place)
		close(f->over);
	free(f->temp);
	free(f->path);
	*f = (struct whole_file){ .fd = -1 };
}
