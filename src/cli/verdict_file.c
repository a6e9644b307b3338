/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "cli/verdict_file.h"

static const char everybodys[] = "/var/lib/tare/verdicts";

/* A relative one is to be ignored: XDG Base Directory Specification. NULL: not set. */
static const char *state_home(void)
{
	const char *state = getenv("XDG_STATE_HOME");

	return state && state[0] == '/' ? state : NULL;
}

bool verdict_path(char *out, size_t room)
{
	const char *state = state_home(), *home = getenv("HOME");

	if (state)
		return snprintf(out, room, "%s/tare/verdicts", state) < (int)room;
	if (geteuid() == 0)
		return snprintf(out, room, "%s", everybodys) < (int)room;
	return home && home[0] == '/' && snprintf(out, room, "%s/.local/state/tare/verdicts", home) < (int)room;
}

static int read_one(struct verdicts *out, const char *path, struct tare_error *err)
{
	char *text;
	size_t len;
	int ret = file_read(NULL, path, VERDICTS_MOST_BYTES, &text, &len, err);

	*out = (struct verdicts){ 0 };
	if (ret == -ENOENT || ret == -ENOTDIR)
		return 0;
	if (ret < 0)
		return ret;
	ret = verdicts_parse(out, text, len, err);
	if (ret < 0) {
		tare_prefix(err, "%.200s: ", path);
		tare_hint(err, "rm %.140s; then tare verify", path);
		verdicts_free(out);
	}
	free(text);
	return ret;
}

int verdict_load(struct verdicts *out, struct tare_error *err)
{
	struct verdicts own = { 0 };
	char path[PATH_MAX];
	int ret = 0, other = 0;

	*out = (struct verdicts){ 0 };
	if (!state_home())
		ret = read_one(out, everybodys, err);

	if (verdict_path(path, sizeof(path)) && strcmp(path, everybodys))
		other = read_one(&own, path, err);
	for (size_t i = 0; ret != -ENOMEM && i < own.n; i++)
		if (verdicts_put(out, &own.entry[i], err) < 0)
			ret = -ENOMEM;
	verdicts_free(&own);
	return ret < 0 ? ret : other;
}

/* All folders above the file. */
static int make_folders(char *path, struct tare_error *err)
{
	for (char *p = path + 1; (p = strchr(p, '/')); p++) {
		int ret;

		*p = '\0';
		ret = mkdir(path, 0755) < 0 && errno != EEXIST ? errno : 0;
		if (ret)
			tare_fail(err, ret, "cannot make the folder %.200s: %s", path, strerror(ret));
		*p = '/';
		if (ret)
			return -ret;
	}
	return 0;
}

/* Whoever holds it writes; others wait. It stays, empty. */
static int lock(const char *path, struct tare_error *err)
{
	char name[PATH_MAX];
	int fd;

	if (snprintf(name, sizeof(name), "%s.lock", path) >= (int)sizeof(name))
		return tare_fail(err, ENAMETOOLONG, "%.200s: too long a name", path);
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return tare_fail(err, errno, "cannot write beside %.200s: %s", path, strerror(errno));
	while (flock(fd, LOCK_EX) < 0)
		if (errno != EINTR) {
			int code = errno;

			close(fd);
			return tare_fail(err, code, "cannot lock %.200s: %s", name, strerror(code));
		}
	return fd;
}

static int replace(const char *path, const struct text *text, struct tare_error *err)
{
	char name[PATH_MAX];
	int fd, ret;

	if (snprintf(name, sizeof(name), "%s.XXXXXX", path) >= (int)sizeof(name))
		return tare_fail(err, ENAMETOOLONG, "%.200s: too long a name", path);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		return tare_fail(err, errno, "cannot write beside %.200s: %s", path, strerror(errno));
	fchmod(fd, 0644);
	ret = file_write_all(fd, text->s, text->len);
	if (ret == 0 && fsync(fd) < 0)
		ret = -errno;
	if (close(fd) < 0 && ret == 0)
		ret = -errno;
	if (ret == 0 && rename(name, path) < 0)
		ret = -errno;
	if (ret == 0)
		return 0;
	unlink(name);
	return tare_fail(err, -ret, "cannot write %.200s: %s", path, strerror(-ret));
}

int verdict_keep(const struct verdict *one, size_t n, struct tare_error *err)
{
	struct verdicts all = { 0 };
	struct text text = { 0 };
	char path[PATH_MAX];
	int held, ret;

	if (!verdict_path(path, sizeof(path)))
		return tare_fail(err, ENOENT, "there is no folder for it: neither XDG_STATE_HOME nor HOME is set");
	ret = make_folders(path, err);
	held = ret < 0 ? ret : lock(path, err);
	if (held < 0)
		return held;
	ret = read_one(&all, path, err);
	for (size_t i = 0; ret == 0 && i < n; i++)
		ret = verdicts_put(&all, &one[i], err);
	verdicts_write(&text, &all);
	if (ret == 0)
		ret = text.failed ? tare_fail_nomem(err) : replace(path, &text, err);
	text_free(&text);
	verdicts_free(&all);
	close(held);
	return ret;
}
