/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/file.h"
#include "base/temp_folder.h"
#include "bench/bench_build.h"
#include "bench/bench_child.h"

enum { WORDS_MAX = 64, SAID_MAX = 1 << 20 };

static const char begin[] = "tare-bench-";

static void remove_left(const char *folder, void *unused)
{
	(void)unused;
	file_remove_folder(folder);
}

/* 0, or a negative errno. */
static int make(struct bench_room *r, const char *parent)
{
	if (snprintf(r->path, sizeof(r->path), "%s/%sXXXXXX", parent, begin) >=
	    (int)sizeof(r->path))
		return -ENAMETOOLONG;
	r->lock = temp_folder_make(r->path);
	return r->lock < 0 ? r->lock : 0;
}

int bench_room_open(struct bench_room *r, const char *parent, struct tare_error *err)
{
	int code;

	if (r->path[0])
		return 0;
	temp_folders_stale(parent, begin, remove_left, NULL);
	code = -make(r, parent);
	if (!code)
		return 0;
	r->path[0] = '\0';
	tare_fail(err, code, "cannot make a folder in %.200s: %s", parent, strerror(code));
	tare_hint(err, "TMPDIR names another place");
	return -code;
}

static void name_file(struct bench_room *r, const char *ending, char *path, size_t size)
{
	snprintf(path, size, "%s/%u%s", r->path, r->files++, ending);
}

int bench_room_write(struct bench_room *r, const struct text *text, const char *ending, char *path,
		     size_t size, struct tare_error *err)
{
	int fd, ret = 0;

	if (text->failed)
		return tare_fail_nomem(err);
	name_file(r, ending, path, size);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || file_write_all(fd, text->s, text->len) < 0)
		ret = tare_fail(err, errno, "cannot write %.200s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ret;
}

void bench_room_close(struct bench_room *r)
{
	if (!r->path[0])
		return;
	file_remove_folder(r->path);
	if (r->lock >= 0)
		close(r->lock);
	r->path[0] = '\0';
}

static size_t split(char *words, char **argv, size_t n)
{
	char *rest = NULL;

	for (char *w = strtok_r(words, " \t\n", &rest); w && n < WORDS_MAX;
	     w = strtok_r(NULL, " \t\n", &rest))
		argv[n++] = w;
	return n;
}

static void keep_said(int fd, struct text *said)
{
	char bytes[4096];
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, bytes, sizeof(bytes))) > 0 && said->len < SAID_MAX)
		text_put(said, bytes, (size_t)n);
}

/* So the compiler's temporary files are removed with the folder, even if a signal ended it. */
static int run_in_room(const struct bench_room *r, const struct bench_child *child,
		       struct bench_child_end *end, struct tare_error *err)
{
	const char *own = getenv("TMPDIR");
	char *before = own ? strdup(own) : NULL;
	int ret;

	if ((own && !before) || setenv("TMPDIR", r->path, 1) < 0) {
		free(before);
		return tare_fail_nomem(err);
	}
	ret = bench_child(child, end, err);
	if (before)
		setenv("TMPDIR", before, 1);
	else
		unsetenv("TMPDIR");
	free(before);
	return ret;
}

int bench_build(struct bench_room *r, const struct bench_compiler *cc, const char *source,
		char *object, size_t size, struct text *said, int *by_signal,
		struct tare_error *err)
{
	static char *const own[] = { "-O2",
				     "-g",
				     "-fno-optimize-sibling-calls",
				     "-Werror=implicit-function-declaration",
				     "-fPIC",
				     "-shared",
				     "-o" };
	char *words = strdup(cc->words), *flags = strdup(cc->flags ? cc->flags : "");
	char *argv[2 * WORDS_MAX + 16];
	struct bench_child child = {
		.argv = argv, .in = -1, .cpu = -1, .own_group = true, .tidies = true
	};
	struct bench_child_end end = { 0 };
	size_t n = 0;
	int ret;

	child.out = child.err = memfd_create("tare-bench-cc", MFD_CLOEXEC);
	name_file(r, ".so", object, size);
	if (!words || !flags || child.out < 0) {
		ret = tare_fail_nomem(err);
		goto out;
	}
	n = split(words, argv, 0);
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		argv[n++] = own[i];
	argv[n++] = object;
	argv[n++] = (char *)source;
	n = split(flags, argv, n);
	argv[n] = NULL;
	ret = run_in_room(r, &child, &end, err);
	*by_signal = end.by_signal;
	if (ret == -ENOENT) {
		tare_fail(err, ENOENT, "there is no compiler '%.100s' to make the test with",
			  cc->words);
		tare_hint(
			err,
			"install one (apt install gcc), or name another: --cc, or CC in the environment");
	}
	if (ret < 0)
		goto out;
	keep_said(child.out, said);
	if (!WIFEXITED(end.status) || WEXITSTATUS(end.status))
		ret = tare_fail(err, EINVAL, "%.100s does not compile: this is what %.60s says",
				source, argv[0]);
out:
	if (child.out >= 0)
		close(child.out);
	free(words);
	free(flags);
	return ret;
}
