/* SPDX-License-Identifier: MIT */
/*
 * SQLite follows links, blocks on a FIFO, and applies a journal, regardless of their owner. In a
 * sticky folder such as /tmp any user can create them. Source: sqlite.org, tempfiles.html.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include "base/array.h"
#include "base/file.h"
#include "history/history_place.h"

static int refuse(const char *name, struct tare_error *err)
{
	tare_fail(err, EACCES, "%.200s belongs to another user, or is not a regular file", name);
	tare_hint(err, "remove it, or name another file");
	return -EACCES;
}

/*
 * A journal of several databases ends with the name of their super-journal, which SQLite deletes
 * after it has restored the database: it could be any file. tare uses one database at a time, so
 * its journals have none. Source: SQLite, pager.c, "super-journal".
 */
static bool names_another_file(const char *journal)
{
	static const unsigned char magic[] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
	unsigned char end[sizeof(magic)];
	int fd = open(journal, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	bool found = false;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= (off_t)sizeof(end))
		found = pread(fd, end, sizeof(end), st.st_size - (off_t)sizeof(end)) ==
				(ssize_t)sizeof(end) &&
			!memcmp(end, magic, sizeof(end));
	close(fd);
	return found;
}

static int refuse_journal(const char *name, struct tare_error *err)
{
	tare_fail(err, EACCES, "%.200s names another file, which SQLite would delete", name);
	tare_hint(err, "tare does not write such a journal: remove it");
	return -EACCES;
}

int history_place(const char *name, struct tare_error *err)
{
	static const char *const endings[] = { "-journal", "-wal", "-shm" };
	char place[PATH_MAX], beside[PATH_MAX + 16];
	struct stat st, db;
	int ret = file_place(name, place);

	if (ret == -EACCES && file_planted(name))
		return refuse(name, err);
	if (ret <= 0)
		return 0;
	if (stat(place, &db) < 0)
		db.st_uid = geteuid();
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		snprintf(beside, sizeof(beside), "%s%s", place, endings[i]);
		if (lstat(beside, &st) == 0 &&
		    (!S_ISREG(st.st_mode) || (file_planted(beside) && st.st_uid != db.st_uid)))
			return refuse(beside, err);
	}
	snprintf(beside, sizeof(beside), "%s%s", place, endings[0]);
	return names_another_file(beside) ? refuse_journal(beside, err) : 0;
}
