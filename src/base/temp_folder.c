/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "base/path.h"
#include "base/temp_folder.h"

enum { TRIES = 1000, DEEPEST = 100 };

static const char random_part[] = "XXXXXX";
/* In each folder of temp_folder_open(); a folder without it is not removed. */
static const char marker[] = ".tare-folder";

static int open_folder(int at, const char *name)
{
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
}

int temp_folder_make(char *name)
{
	size_t n = strlen(name) - strlen(random_part);

	for (int tries = 0; tries < TRIES; tries++) {
		struct stat st;
		int fd, code;

		memcpy(name + n, random_part, sizeof(random_part));
		if (!mkdtemp(name))
			return -errno;
		fd = open_folder(AT_FDCWD, name);
		code = fd < 0 || flock(fd, LOCK_EX) < 0 || fstat(fd, &st) < 0 ? errno : 0;
		if (!code && st.st_nlink)
			return fd;
		if (fd >= 0)
			close(fd);
		/* ENOENT or no link: another tare removed it as stale before it was locked */
		if (code && code != ENOENT) {
			rmdir(name);
			return -code;
		}
	}
	return -EBUSY;
}

/* False if another user could rename this user's folders in it. */
static bool is_safe(int parent)
{
	struct stat st;

	return fstat(parent, &st) == 0 && (st.st_uid == geteuid() || st.st_uid == 0) &&
		((st.st_mode & S_ISVTX) || !(st.st_mode & (S_IWGRP | S_IWOTH)));
}

static void call_if_stale(int at, const char *parent, const char *name,
			  void (*stale)(const char *folder, void *with), void *with)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", parent, name) >= (int)sizeof(path))
		return;
	fd = open_folder(at, name);
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0)
		stale(path, with);
	if (fd >= 0)
		close(fd);
}

void temp_folders_stale(const char *parent, const char *begin,
			void (*stale)(const char *folder, void *with), void *with)
{
	DIR *all = opendir(parent);
	struct dirent *entry;

	while (all && is_safe(dirfd(all)) && (entry = readdir(all)))
		if (!strncmp(entry->d_name, begin, strlen(begin)))
			call_if_stale(dirfd(all), parent, entry->d_name, stale, with);
	if (all)
		closedir(all);
}

/* ---- folders with a purpose ---- */

static int parent_name(char out[FILE_FOLDER_ROOM])
{
	const char *temp = getenv("TMPDIR");
	char *full = realpath(temp && *temp ? temp : "/tmp", NULL);
	int n = snprintf(out, FILE_FOLDER_ROOM, "%s", full ? full : "/tmp");

	free(full);
	return n < FILE_FOLDER_ROOM ? 0 : -ENAMETOOLONG;
}

static int make(struct temp_folder *f, const char *purpose)
{
	char parent[FILE_FOLDER_ROOM];
	int ret = parent_name(parent), fd;

	if (ret == 0 &&
	    snprintf(f->path, sizeof(f->path), "%s/tare-%s-%s", parent, purpose, random_part) >=
		    (int)sizeof(f->path))
		ret = -ENAMETOOLONG;
	if (ret == 0)
		f->lock = temp_folder_make(f->path);
	if (ret < 0 || f->lock >= 0)
		return ret;
	/* a file system without locks: its folders never count as stale */
	if (f->lock != -EBADF && f->lock != -ENOLCK && f->lock != -EOPNOTSUPP)
		return f->lock;
	memcpy(f->path + strlen(f->path) - strlen(random_part), random_part, sizeof(random_part));
	fd = mkdtemp(f->path) ? 0 : -errno;
	f->lock = -1;
	return fd;
}

int temp_folder_open(struct temp_folder *f, const char *purpose, struct tare_error *err)
{
	int ret = make(f, purpose), fd = -1, at;

	if (ret == 0) {
		at = f->lock < 0 ? open_folder(AT_FDCWD, f->path) : f->lock;
		fd = openat(at, marker, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		ret = fd < 0 ? -errno : 0;
		if (fd >= 0)
			close(fd);
		if (f->lock < 0 && at >= 0)
			close(at);
		if (ret < 0)
			temp_folder_close(f);
	}
	if (ret == 0)
		return 0;
	f->path[0] = '\0';
	tare_fail(err, -ret, "cannot create a folder tare-%s-%s for temporary files: %s", purpose,
		  random_part, strerror(-ret));
	tare_hint(err, "TMPDIR names another place for temporary files");
	return ret;
}

/* ---- removal ---- */

/* Closes fd. Removes only files on this device, not those of a file system mounted inside. */
static void remove_contents(int fd, dev_t device, int depth)
{
	DIR *all = fdopendir(fd);
	struct dirent *entry;
	struct stat st;

	if (!all)
		close(fd);
	while (all && (entry = readdir(all))) {
		const char *name = entry->d_name;
		int sub;

		if (!strcmp(name, ".") || !strcmp(name, "..") || unlinkat(fd, name, 0) == 0 ||
		    depth == DEEPEST)
			continue;
		sub = open_folder(fd, name);
		if (sub < 0)
			continue;
		if (fstat(sub, &st) == 0 && st.st_dev == device && st.st_uid == geteuid()) {
			fchmod(sub, 0700); /* a build may write-protect its folders */
			remove_contents(sub, device, depth + 1);
		} else {
			close(sub);
		}
		unlinkat(fd, name, AT_REMOVEDIR);
	}
	if (all)
		closedir(all);
}

struct removal {
	void (*before)(const char *folder);
};

static void remove_one(const char *folder, void *with)
{
	const struct removal *r = with;
	int fd = open_folder(AT_FDCWD, folder);
	struct stat st, is;

	if (fd >= 0 && fstat(fd, &st) == 0 && fstatat(fd, marker, &is, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(is.st_mode) && is.st_uid == geteuid()) {
		if (r->before)
			r->before(folder);
		remove_contents(fd, st.st_dev, 0);
	} else if (fd >= 0) {
		close(fd);
	}
	rmdir(folder); /* also an empty one, of a tare killed before it made the marker */
}

void temp_folder_remove(const char *path)
{
	struct removal r = { NULL };

	remove_one(path, &r);
}

void temp_folder_close(struct temp_folder *f)
{
	if (!f->path[0])
		return;
	temp_folder_remove(f->path);
	if (f->lock >= 0)
		close(f->lock);
	f->path[0] = '\0';
}

static void begin_name(char *out, size_t room, const char *purpose)
{
	snprintf(out, room, "tare-%s-", purpose);
}

void temp_folder_remove_stale(const char *purpose, void (*before)(const char *folder))
{
	char parent[FILE_FOLDER_ROOM], begin[64];
	struct removal r = { before };

	if (parent_name(parent) < 0)
		return;
	begin_name(begin, sizeof(begin), purpose);
	temp_folders_stale(parent, begin, remove_one, &r);
}

void temp_folder_remove_left(const char *path, const char *purpose,
			     void (*before)(const char *folder))
{
	const char *name = path_base(path);
	char parent[FILE_FOLDER_ROOM], begin[64];
	struct removal r = { before };
	int fd;

	begin_name(begin, sizeof(begin), purpose);
	if (path[0] != '/' || strncmp(name, begin, strlen(begin)) != 0 ||
	    snprintf(parent, sizeof(parent), "%.*s", (int)(name - path), path) >=
		    (int)sizeof(parent))
		return;
	fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && is_safe(fd))
		call_if_stale(fd, parent, name, remove_one, &r);
	if (fd >= 0)
		close(fd);
}
