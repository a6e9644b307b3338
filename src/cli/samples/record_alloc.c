/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"
#include "cli/samples/record_alloc.h"
#include "perfdata/alloc.h"

#define RECORDER "libtare-alloc.so"

static bool beside(const char *exe, const char *where, char *out, size_t room)
{
	const char *slash = strrchr(exe, '/');
	int n = slash ? snprintf(out, room, "%.*s/%s/" RECORDER, (int)(slash - exe), exe, where)
		      : -1;

	return n > 0 && (size_t)n < room && access(out, R_OK) == 0;
}

/* In the build folder, or in the installation, which may have been moved. */
static int find_recorder(char *out, size_t room, struct tare_error *err)
{
	static const char *const places[] = { "memory/preload", "../" TARE_LIBDIR "/tare",
					      "../lib/tare" };
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	exe[n > 0 ? n : 0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (beside(exe, places[i], out, room)) {
			if (!strpbrk(out, " :"))
				return 0;
			return tare_fail(
				err, EINVAL,
				"%.200s: LD_PRELOAD does not support paths with a blank or colon",
				out);
		}
	tare_fail(err, ENOENT, "--alloc: %s was not found for this tare", RECORDER);
	tare_hint(
		err,
		"it is installed with tare in lib/tare, and built by ninja in a build directory; a static tare has none");
	return -ENOENT;
}

static int absolute(char *out, size_t room, const char *recording, struct tare_error *err)
{
	char here[PATH_MAX], file[PATH_MAX];
	int n;

	if (!alloc_path(file, sizeof(file), recording))
		return tare_fail(err, ENAMETOOLONG, "%.200s...: the name is too long", recording);
	if (file[0] != '/' && !getcwd(here, sizeof(here)))
		return tare_fail(err, errno, "cannot get the current directory: %s",
				 strerror(errno));
	n = file[0] == '/' ? snprintf(out, room, "%s", file)
			   : snprintf(out, room, "%s/%s", here, file);
	return n < 0 || (size_t)n >= room
		? tare_fail(err, ENAMETOOLONG, "%.200s...: the name is too long", file)
		: 0;
}

static int make_environment(struct record_alloc *a, const char *recorder, struct tare_error *err)
{
	const char *before = getenv("LD_PRELOAD");
	size_t n = 0;

	while (environ[n])
		n++;
	a->envp = calloc(n + 3, sizeof(*a->envp));
	if (!a->envp)
		return tare_fail_nomem(err);
	n = 0;
	for (char **e = environ; *e; e++)
		if (strncmp(*e, "LD_PRELOAD=", 11) && strncmp(*e, "TARE_ALLOC=", 11))
			a->envp[n++] = *e;
	text_add(&a->own[0], "LD_PRELOAD=%s%s%s", recorder, before && *before ? ":" : "",
		 before ? before : "");
	text_add(&a->own[1], "TARE_ALLOC=%s", a->path);
	if (a->own[0].failed || a->own[1].failed)
		return tare_fail_nomem(err);
	a->envp[n++] = a->own[0].s;
	a->envp[n] = a->own[1].s;
	return 0;
}

static int make_file(struct record_alloc *a, uint64_t most, struct tare_error *err)
{
	struct stat st;
	int fd, ret;

	a->path[0] = '\0';
	if (file_planted(a->place))
		return file_part_failed(a->place, EACCES, err);
	if (lstat(a->place, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode)) {
		tare_fail(err, EINVAL, "%.200s is not a regular file", a->place);
		tare_hint(err, "-o with another name, or remove it");
		return -EINVAL;
	}
	fd = file_part_open(a->place, 0600, a->path);
	if (fd >= 0) {
		ret = alloc_begin(fd, most);
		a->fd = fd;
		if (ret == 0)
			return 0;
		close(fd);
		unlink(a->path);
		fd = ret;
	}
	a->path[0] = '\0';
	return tare_fail(err, -fd, "cannot create %.200s: %s", a->place, strerror(-fd));
}

int record_alloc_begin(struct record_alloc *a, const char *recording, uint64_t most,
		       struct tare_error *err)
{
	char recorder[PATH_MAX];
	int ret = find_recorder(recorder, sizeof(recorder), err);

	if (ret == 0)
		ret = absolute(a->place, sizeof(a->place), recording, err);
	if (ret == 0)
		ret = make_file(a, most, err);
	if (ret < 0)
		return ret;
	return make_environment(a, recorder, err);
}

uint64_t record_alloc_size(const struct record_alloc *a)
{
	struct stat st;

	return a->path[0] && fstat(a->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void put_lost(struct text *out, const struct alloc_loss *loss)
{
	const double mib = 1 << 20;

	text_add(out, "  %" PRIu64 " more allocations, frees or mappings were lost: ", loss->lost);
	if (loss->full)
		text_add(out, "the file is full (%.1f MiB)\n", (double)loss->full / mib);
	else
		text_add(out,
			 "the file could not grow, or no file descriptor was free to open it\n");
}

static void put_counts(struct text *out, const struct record_alloc *a, const struct alloc_file *f)
{
	const struct alloc_loss *loss = alloc_loss(f);

	if (!alloc_count_of(f, ALLOC_PROGRAM) && !loss->lost) {
		text_add(
			out,
			"  no allocation was recorded: no program loaded the preloaded library: it is static, setuid, or is built with "
			"AddressSanitizer, which refuses them\n");
		return;
	}
	text_add(out, "  %s: %" PRIu64 " allocations, %" PRIu64 " frees; %" PRIu64 " mappings\n",
		 a->path, alloc_count_of(f, ALLOC_TAKEN), alloc_count_of(f, ALLOC_FREED),
		 alloc_count_of(f, ALLOC_MAPPED));
	if (loss->lost)
		put_lost(out, loss);
	else if (!alloc_count_of(f, ALLOC_TAKEN))
		text_add(
			out,
			"  no allocation by malloc: the program makes none, or has its own malloc, which is not recorded%s\n",
			alloc_count_of(f, ALLOC_MAPPED) ? "; its mappings are" : "");
	if (loss->damaged)
		text_add(out, "  %" PRIu64 " bytes of it are damaged\n", loss->damaged);
}

int record_alloc_place(struct record_alloc *a, struct tare_error *err)
{
	int ret = a->path[0] ? file_part_check(a->fd, a->path, err) : 0;

	if (ret < 0) {
		close(a->fd);
		a->path[0] = '\0';
		return ret;
	}
	if (a->path[0])
		ret = file_part_place(a->fd, a->path, a->place, NULL);
	if (ret < 0) {
		tare_fail(err, -ret, "cannot rename to %.150s: %s", a->place, strerror(-ret));
		tare_hint(err, "it is %.120s", a->path);
	} else if (a->path[0]) {
		snprintf(a->path, sizeof(a->path), "%s", a->place);
	}
	return ret;
}

void record_alloc_tell(const struct record_alloc *a, struct text *out)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct alloc_file *f = NULL;

	if (!a->path[0])
		return;
	if (alloc_open(&f, a->path, &err) < 0)
		text_add(out, "  %s\n", err.what);
	else
		put_counts(out, a, f);
	alloc_close(f);
}

void record_alloc_forget(const struct record_alloc *a)
{
	if (a->path[0] && file_part_check(a->fd, a->path, NULL) == 0)
		unlink(a->path);
}

void record_alloc_free(struct record_alloc *a)
{
	if (a->path[0])
		close(a->fd);
	free(a->envp);
	text_free(&a->own[0]);
	text_free(&a->own[1]);
}
