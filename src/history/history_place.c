/* SPDX-License-Identifier: MIT */
/*
 * SQLite follows links, blocks on a FIFO, and applies a journal, regardless of their owner. In a
 * sticky folder such as /tmp any user can create them. Source: sqlite.org, tempfiles.html.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
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
	return 0;
}
