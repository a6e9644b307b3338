/* SPDX-License-Identifier: MIT */
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
#include "output/temp_cleanup.h"
#include "output/state_file.h"

/* A relative path must be ignored: XDG Base Directory Specification. NULL: not set. */
static const char *state_home(void)
{
	const char *state = getenv("XDG_STATE_HOME");

	return state && state[0] == '/' ? state : NULL;
}

bool state_home_set(void)
{
	return state_home() != NULL;
}

bool state_path(char *out, size_t room, const char *name)
{
	const char *state = state_home(), *home = getenv("HOME");

	if (state)
		return snprintf(out, room, "%s/tare/%s", state, name) < (int)room;
	if (geteuid() == 0)
		return snprintf(out, room, STATE_EVERYBODYS "/%s", name) < (int)room;
	return home && home[0] == '/' &&
		snprintf(out, room, "%s/.local/state/tare/%s", home, name) < (int)room;
}

/* Create all folders above the file. */
static int make_folders(char *path, struct tare_error *err)
{
	for (char *p = path + 1; (p = strchr(p, '/')); p++) {
		int ret;

		*p = '\0';
		ret = mkdir(path, 0755) < 0 && errno != EEXIST ? errno : 0;
		if (ret)
			tare_fail(err, ret, "cannot create the directory %.200s: %s", path,
				  strerror(ret));
		*p = '/';
		if (ret)
			return -ret;
	}
	return 0;
}

/* The holder of the lock writes; others wait, or fail. The lock file stays, empty. */
static int lock_beside(const char *path, bool wait, struct tare_error *err)
{
	char name[PATH_MAX];
	int fd;

	if (snprintf(name, sizeof(name), "%s.lock", path) >= (int)sizeof(name))
		return tare_fail(err, ENAMETOOLONG, "%.200s: the name is too long", path);
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return tare_fail(err, errno, "cannot write in the directory of %.200s: %s", path,
				 strerror(errno));
	while (flock(fd, wait ? LOCK_EX : LOCK_EX | LOCK_NB) < 0)
		if (errno != EINTR) {
			int code = errno;

			close(fd);
			if (code == EWOULDBLOCK)
				return tare_fail(err, code,
						 "another tare process is writing %.200s", path);
			return tare_fail(err, code, "cannot lock %.200s: %s", name, strerror(code));
		}
	return fd;
}

int state_replace(const char *path, const struct text *text, struct tare_error *err)
{
	char name[PATH_MAX];
	sigset_t before;
	int fd, ret;

	if (snprintf(name, sizeof(name), "%s.XXXXXX", path) >= (int)sizeof(name))
		return tare_fail(err, ENAMETOOLONG, "%.200s: the name is too long", path);
	before = temp_cleanup_block();
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0) {
		temp_cleanup_unblock(&before);
		return tare_fail(err, errno, "cannot write in the directory of %.200s: %s", path,
				 strerror(errno));
	}
	fchmod(fd, 0644);
	ret = file_write_all(fd, text->s, text->len);
	if (ret == 0)
		ret = file_sync(fd);
	if (close(fd) < 0 && ret == 0)
		ret = -errno;
	if (ret == 0 && rename(name, path) < 0)
		ret = -errno;
	if (ret < 0)
		unlink(name);
	temp_cleanup_unblock(&before);
	return ret < 0 ? tare_fail(err, -ret, "cannot write %.200s: %s", path, strerror(-ret)) : 0;
}

static int lock(const char *path, bool wait, struct tare_error *err)
{
	char folders[PATH_MAX];
	int ret;

	if (snprintf(folders, sizeof(folders), "%s", path) >= (int)sizeof(folders))
		return tare_fail(err, ENAMETOOLONG, "%.200s: the name is too long", path);
	ret = make_folders(folders, err);
	return ret < 0 ? ret : lock_beside(path, wait, err);
}

int state_lock(const char *path, struct tare_error *err)
{
	return lock(path, true, err);
}

int state_lock_now(const char *path, struct tare_error *err)
{
	return lock(path, false, err);
}
