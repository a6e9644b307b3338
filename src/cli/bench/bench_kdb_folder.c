/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "cli/bench/bench_kdb_folder.h"

int bench_kdb_folder_check(const char *path, struct tare_error *err)
{
	DIR *d = opendir(path);
	int entries = 0;

	if (!d && errno == ENOENT)
		return 0;
	if (!d)
		return tare_fail(err, errno, "%.200s: %s", path, strerror(errno));
	while (readdir(d))
		entries++;
	closedir(d);
	if (entries <= 2)
		return 0;
	tare_fail(err, EEXIST, "%.200s is not empty", path);
	tare_hint(err, "name a new directory: existing files are not overwritten");
	return -EEXIST;
}

static int put_file(int folder, const char *path, unsigned file, const struct bench_about *b,
		    struct tare_error *err)
{
	struct text t = { 0 };
	int fd, ret = 0;

	bench_kdb(&t, file, b);
	if (t.failed)
		ret = tare_fail_nomem(err);
	fd = ret < 0 ? -1
		     : openat(folder, bench_kdb_name(file), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			      0666);
	if (ret == 0 && (fd < 0 || file_write_all(fd, t.s, t.len) < 0))
		ret = tare_fail(err, errno, "cannot write %.200s/%s: %s", path,
				bench_kdb_name(file), strerror(errno));
	if (fd >= 0 && close(fd) < 0 && ret == 0)
		ret = tare_fail(err, errno, "cannot write %.200s/%s: %s", path,
				bench_kdb_name(file), strerror(errno));
	if (fd >= 0 && ret < 0)
		unlinkat(folder, bench_kdb_name(file), 0);
	text_free(&t);
	return ret;
}

/* All or nothing: a table that could not be written is removed. Files that others put there
 * meanwhile stay. */
int bench_kdb_folder_write(const char *path, const struct bench_about *b, struct tare_error *err)
{
	bool made = mkdir(path, 0777) == 0, runs;
	int folder = made || errno == EEXIST ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1,
	    ret = 0;
	unsigned n = 0;

	if (folder < 0) {
		ret = tare_fail(err, errno, "cannot create the directory %.200s: %s", path,
				strerror(errno));
		if (made)
			rmdir(path);
		return ret;
	}
	runs = mkdirat(folder, "runs", 0777) == 0;
	if (!runs)
		ret = tare_fail(err, errno, "cannot create the directory %.200s/runs: %s", path,
				strerror(errno));
	while (ret == 0 && n < BENCH_KDB_FILES) {
		ret = put_file(folder, path, n, b, err);
		n += ret == 0;
	}
	while (ret < 0 && n > 0)
		unlinkat(folder, bench_kdb_name(--n), 0);
	if (ret < 0 && runs)
		unlinkat(folder, "runs", AT_REMOVEDIR);
	close(folder);
	if (ret < 0 && made)
		rmdir(path);
	return ret;
}
