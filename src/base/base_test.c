/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/cpus.h"
#include "base/error.h"
#include "base/file.h"
#include "base/num.h"
#include "base/text.h"
#include "base/path.h"
#include "base/temp_folder.h"
#include "tap.h"

TEST(numbers)
{
	static const struct {
		int line;
		const char *text;
		uint64_t n;
		int ret;
	} rows[] = {
		{ __LINE__, "0", 0, 0 },
		{ __LINE__, "0x1f", 31, 0 },
		{ __LINE__, "100k", 100000, 0 },
		{ __LINE__, "2M", 2000000, 0 },
		{ __LINE__, "3G", 3000000000, 0 },
		{ __LINE__, "18446744073709551615", UINT64_MAX, 0 },
		{ __LINE__, "18446744073709551616", 7, -ERANGE },
		{ __LINE__, "99999999999999999G", 7, -ERANGE },
		{ __LINE__, "", 7, -EINVAL },
		{ __LINE__, "k", 7, -EINVAL },
		{ __LINE__, "0x", 7, -EINVAL },
		{ __LINE__, "1kk", 7, -EINVAL },
		{ __LINE__, "-1", 7, -EINVAL },
		{ __LINE__, " 1", 7, -EINVAL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t n = 7;

		CHECK_EQ(num_parse(rows[i].text, &n, NULL), rows[i].ret, "row at line %d",
			 rows[i].line);
		CHECK_EQ(n, rows[i].ret ? 7 : rows[i].n, "row at line %d", rows[i].line);
	}
}

TEST(times)
{
	static const struct {
		int line;
		const char *text;
		uint64_t ns;
		int ret;
	} rows[] = {
		{ __LINE__, "10", 10000000, 0 },
		{ __LINE__, "10ms", 10000000, 0 },
		{ __LINE__, "1.5s", 1500000000, 0 },
		{ __LINE__, "0.25us", 250, 0 },
		{ __LINE__, "3ns", 3, 0 },
		{ __LINE__, "2min", 120000000000, 0 },
		{ __LINE__, "1h", 7, -EINVAL },
		{ __LINE__, "s", 7, -EINVAL },
		{ __LINE__, "99999999999s", 7, -ERANGE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t ns = 7;

		CHECK_EQ(num_parse_ns(rows[i].text, 1000000, &ns, NULL), rows[i].ret,
			 "row at line %d", rows[i].line);
		CHECK_EQ(ns, rows[i].ret ? 7 : rows[i].ns, "row at line %d", rows[i].line);
	}
}

TEST(cpu_lists)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{ "", "" },     { "0", "0" }, { "0-3,8\n", "0-3,8" }, { "8,0-3,2", "0-3,8" },
		{ "5-5", "5" },
	};
	struct cpus a, b, c;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct text t = { 0 };

		CHECK_EQ(cpus_parse(rows[i].in, &a, NULL), 0, "%s", rows[i].in);
		cpus_write(&t, &a);
		CHECK_STR(t.s ? t.s : "", rows[i].out);
		text_free(&t);
		cpus_free(&a);
	}

	static const char *const bad[] = { "a", "3-1", "1-", "0;1", "99999", "-1", "0 1" };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(cpus_parse(bad[i], &a, NULL) < 0, "%s", bad[i]);

	cpus_parse("0-3,8", &a, NULL);
	cpus_parse("2-8", &b, NULL);
	CHECK_EQ(cpus_and(&c, &a, &b, NULL), 0);
	CHECK_EQ(c.n, 3);
	CHECK(cpus_has(&c, 2) && cpus_has(&c, 3) && cpus_has(&c, 8) && !cpus_has(&c, 4));
	cpus_free(&a);
	cpus_free(&b);
	cpus_free(&c);
}

TEST(errors)
{
	struct tare_error err = TARE_ERROR_INIT;

	CHECK_EQ(tare_fail_at(&err, 3, ENOENT, "no event %s", "x"), -ENOENT);
	tare_hint(&err, "try %s", "y");
	tare_prefix(&err, "stat: ");
	CHECK_STR(err.what, "stat: no event x");
	CHECK_STR(err.hint, "try y");
	CHECK_EQ(err.at, 3);
	CHECK_EQ(tare_fail(NULL, EIO, "no error struct"), -EIO);
}

TEST(texts)
{
	struct text t = { 0 };
	static const char *const names[] = { "cycles", "instructions", "branches",
					     "branch-misses" };

	for (int i = 0; i < 100; i++)
		text_add(&t, "%d,", i % 10);
	CHECK_EQ(t.len, 200);
	text_free(&t);
	text_nearest(&t, "instrctions", names, ARRAY_SIZE(names), 2);
	CHECK_STR(t.s, "instructions");
	text_free(&t);
	text_nearest(&t, "zzz", names, ARRAY_SIZE(names), 2);
	CHECK_EQ(t.len, 0);
	text_free(&t);
}

TEST(files)
{
	struct tare_error err = TARE_ERROR_INIT;
	char line[8], *all;
	size_t n;

	CHECK_EQ(file_read(NULL, "/nonexistent/x", 10, &all, &n, &err), -ENOENT);
	CHECK_STR(err.what, "cannot open /nonexistent/x: No such file or directory");
	CHECK_EQ(file_read(NULL, "/proc/self/maps", 10, &all, &n, &err), -EFBIG);
	CHECK_EQ(file_line("/proc", "/self/comm", line, 2, &err), -ENOSPC);
}

static void put_file(const char *path, const char *bytes)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fputs(bytes, f) >= 0 && fclose(f) == 0, "%s", path);
}

static bool holds(const char *path, const char *bytes)
{
	char line[16] = "";
	bool is = file_line(NULL, path, line, sizeof(line), NULL) == 0 && !strcmp(line, bytes);

	return is;
}

TEST(where_a_file_takes_its_name)
{
	char folder[] = "/tmp/tare-place-XXXXXX", path[80], target[80], name[PATH_MAX];
	int fd;

	CHECK(mkdtemp(folder) != NULL, "a folder");
	snprintf(path, sizeof(path), "%s/f", folder);
	CHECK(file_place(path, name) == 1 && !strcmp(name, path), "no file yet: %s", name);
	CHECK_EQ(symlink("next", path), 0);
	snprintf(target, sizeof(target), "%s/next", folder);
	CHECK(file_place(path, name) == 1 && !strcmp(name, target), "a link to nothing yet: %s",
	      name);
	put_file(target, "a");
	CHECK(file_place(path, name) == 1 && !strcmp(name, target), "a link to a file: %s", name);
	fd = open(target, O_RDONLY);
	unlink(path);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	CHECK_EQ(symlink(name, path), 0);
	CHECK(file_place(path, name) == 1 && !strcmp(name, target), "a link to an open file: %s",
	      name);
	unlink(target);
	CHECK(file_place(path, name) == 0, "which is gone");
	put_file(target, "b");
	CHECK(file_place(path, name) == 0, "and has a successor");
	close(fd);
	unlink(path);
	CHECK_EQ(symlink("f", path), 0);
	CHECK_EQ(file_place(path, name), -ELOOP);
	unlink(path);
	unlink(target);
	CHECK_EQ(mkfifo(target, 0600), 0);
	CHECK_EQ(symlink(target, path), 0);
	CHECK(file_place(path, name) == 0 && file_place(target, name) == 0 &&
		      file_place("/dev/null", name) == 0,
	      "no regular file");
	unlink(path);
	unlink(target);
	CHECK_EQ(rmdir(folder), 0);
}

/* The folder is sticky and any user may write to it; OTHER is neither its owner nor the user. */
TEST(links_of_other_users_in_sticky_folders)
{
	enum { OTHER = 65534 };
	char folder[] = "/tmp/tare-place-XXXXXX", link[80], target[80], fifo[80], name[PATH_MAX];
	struct tare_error err = { 0 };

	if (geteuid() != 0)
		tap_skip("root", "only root can give files to another user");
	CHECK(mkdtemp(folder) != NULL, "a folder");
	CHECK_EQ(chmod(folder, 01777), 0);
	snprintf(link, sizeof(link), "%s/link", folder);
	snprintf(target, sizeof(target), "%s/target", folder);
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	put_file(target, "a");
	CHECK_EQ(symlink("target", link), 0);
	CHECK_EQ(mkfifo(fifo, 0666), 0);
	CHECK_EQ(file_place(link, name), 1);
	CHECK_EQ(file_place(fifo, name), 0);

	CHECK(lchown(link, OTHER, OTHER) == 0 && chown(fifo, OTHER, OTHER) == 0, "another user's");
	CHECK_EQ(file_place(link, name), -EACCES);
	CHECK_EQ(file_place(fifo, name), -EACCES);
	CHECK_EQ(file_part_failed(link, EACCES, &err), -EACCES);
	CHECK(strstr(err.hint, "another user"), "%s", err.hint);
	unlink(target);
	CHECK_EQ(file_place(link, name), -EACCES);

	CHECK_EQ(chmod(folder, 0777), 0); /* not sticky: the kernel follows it, too */
	CHECK_EQ(file_place(link, name), 1);
	CHECK_EQ(chmod(folder, 01755), 0);
	CHECK_EQ(file_place(link, name), 1);
	CHECK_EQ(chmod(folder, 01777), 0);
	CHECK_EQ(chown(folder, OTHER, OTHER), 0); /* the link belongs to the folder's owner */
	CHECK_EQ(file_place(link, name), 1);
	unlink(link);
	unlink(fifo);
	CHECK_EQ(rmdir(folder), 0);
}

TEST(files_under_a_name_of_their_own)
{
	char folder[] = "/tmp/tare-part-XXXXXX", path[64], old[64], name[2][FILE_PART_ROOM];
	int fd = -1;

	CHECK(mkdtemp(folder) != NULL, "a folder");
	snprintf(path, sizeof(path), "%s/f", folder);
	snprintf(old, sizeof(old), "%s/f.old", folder);
	for (int i = 0; i < 2; i++) {
		if (fd >= 0)
			close(fd);
		fd = file_part_open(path, 0600, name[i]);
		CHECK(fd >= 0);
		put_file(name[i], i ? "b" : "a");
	}
	CHECK(!strcmp(name[0] + strlen(path), ".part") &&
		      !strcmp(name[1] + strlen(path), ".part-2"),
	      "%s, %s", name[0], name[1]);
	CHECK_EQ(file_part_check(fd, name[1], NULL), 0);
	CHECK_EQ(file_part_check(fd, name[0], NULL), -ESTALE);
	CHECK_EQ(symlink(name[1], path), 0);
	CHECK_EQ(file_part_check(fd, path, NULL), -ESTALE);
	unlink(path);
	CHECK_EQ(file_part_check(fd, path, NULL), -ENOENT);
	CHECK_EQ(file_part_check(-1, path, NULL), -EBADF);
	CHECK_EQ(file_part_place(fd, name[1], path, old), 0);
	CHECK(holds(path, "b") && access(old, F_OK) < 0 && access(name[1], F_OK) < 0,
	      "where there was none");
	CHECK_EQ(file_part_place(fd, name[0], path, old), 0);
	CHECK(holds(path, "a") && holds(old, "b") && access(name[0], F_OK) < 0,
	      "the old file is kept");
	put_file(name[0], "c");
	CHECK_EQ(file_part_place(-1, name[0], path, NULL), -EBADF);
	CHECK_EQ(file_part_place(-1, name[0], path, old), -EBADF);
	CHECK(holds(path, "a") && holds(old, "b"),
	      "what cannot be put on the disk replaces nothing");
	CHECK_EQ(file_part_place(fd, name[0], path, NULL), 0);
	CHECK(holds(path, "c") && holds(old, "b"), "or not");
	CHECK_EQ(file_part_place(fd, name[0], path, old), -ENOENT);
	CHECK(holds(path, "c") && holds(old, "b"), "a missing file replaces nothing");
	unlink(old);
	put_file(name[0], "d");
	CHECK_EQ(mkdir(old, 0700), 0);
	CHECK_EQ(file_part_place(fd, name[0], path, old), -EISDIR);
	close(fd);
	struct tare_error err = TARE_ERROR_INIT;

	CHECK_EQ(file_part_failed(path, EACCES, &err), -EACCES);
	CHECK(strstr(err.what, path) && strstr(err.hint, "its folder"), "%s; %s", err.what,
	      err.hint);
	err = (struct tare_error)TARE_ERROR_INIT;
	CHECK_EQ(file_part_failed("/proc/none/f", EACCES, &err), -EACCES);
	CHECK(!*err.hint, "no file there: %s", err.hint);
	CHECK(holds(path, "c") && holds(name[0], "d"), "what cannot be kept is not replaced");
	rmdir(old);
	unlink(name[0]);
	CHECK_EQ(file_part_open("/proc/none/f", 0600, name[0]), -ENOENT);
	unlink(path);
	unlink(old);
	CHECK_EQ(rmdir(folder), 0);
}

TEST(path_base_is_what_follows_the_last_slash)
{
	CHECK_STR(path_base("/usr/bin/true"), "true");
	CHECK_STR(path_base("true"), "true");
	CHECK_STR(path_base("/true"), "true");
	CHECK_STR(path_base("/usr/lib/"), "/usr/lib/", "nothing follows");
	CHECK_STR(path_base(""), "");
}

TEST(a_folder_is_locked_until_it_is_closed)
{
	char folder[] = "/tmp/tare-lock-XXXXXX", path[64];
	int held, other;

	CHECK(mkdtemp(folder), "%s", folder);
	snprintf(path, sizeof(path), "%s/f", folder);
	held = file_lock_folder(path);
	other = open(folder, O_RDONLY | O_DIRECTORY);
	CHECK(held >= 0 && other >= 0, "both open");
	CHECK(flock(other, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK, "locked");
	close(held);
	CHECK_EQ(flock(other, LOCK_EX | LOCK_NB), 0, "no longer");
	close(other);
	snprintf(path, sizeof(path), "%s/none/f", folder);
	CHECK_EQ(file_lock_folder(path), -1, "no such folder");
	rmdir(folder);
}

static void remove_folder(const char *folder, void *unused)
{
	(void)unused;
	rmdir(folder);
}

/* Another tare may remove a folder before its creator has locked it. */
TEST(folders_made_while_stale_ones_are_removed)
{
	char parent[] = "/tmp/base_test-XXXXXX", name[64] = "";
	int made = 0, fd = 0;
	pid_t pid;

	CHECK(mkdtemp(parent) != NULL, "mkdtemp");
	pid = fork();
	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (pid == 0)
		temp_folders_stale(parent, "tare-", remove_folder, NULL);
	while (fd >= 0 && made < 2000) {
		snprintf(name, sizeof(name), "%s/tare-XXXXXX", parent);
		fd = temp_folder_make(name);
		if (fd < 0)
			break;
		made += access(name, F_OK) == 0;
		rmdir(name);
		close(fd);
	}
	CHECK_EQ(fd < 0 ? fd : 0, 0, "temp_folder_make() after %d folders", made);
	CHECK_EQ(made, 2000, "folders that exist once locked");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	rmdir(parent);
}

TEST_MAIN()
