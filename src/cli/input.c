/* SPDX-License-Identifier: MIT */
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "cli/input.h"
#include "record/alloc.h"
#include "record/perfdata.h"
#include "record/perfdata_input.h"
#include "view/escape.h"

/* Of the process, which is one command. */
static struct {
	dev_t dev;
	ino_t ino;
} *noted;
static size_t n_noted;
static bool lacks_memory;

void input_note(const char *path)
{
	struct stat st;
	void *more;

	if ((strcmp(path, "-") ? stat(path, &st) : fstat(STDIN_FILENO, &st)) < 0)
		return; /* whoever opens it says why */
	more = realloc(noted, (n_noted + 1) * sizeof(*noted));
	lacks_memory |= !more;
	if (!more)
		return;
	noted = more;
	noted[n_noted].dev = st.st_dev;
	noted[n_noted++].ino = st.st_ino;
}

void input_note_all(char *const *paths, size_t n)
{
	for (size_t i = 0; i < n; i++)
		input_note(paths[i]);
}

static bool is_noted(const struct stat *st)
{
	for (size_t i = 0; i < n_noted; i++)
		if (noted[i].dev == st->st_dev && noted[i].ino == st->st_ino)
			return true;
	return false;
}

int input_refuse(const char *path, struct tare_error *err)
{
	char place[PATH_MAX];
	struct stat st;
	bool is;

	if (lacks_memory)
		return tare_fail_nomem(err);
	if (file_place(path, place) <= 0)
		return 0;
	is = stat(place, &st) == 0 && is_noted(&st);
	is |= stat(dirname(place), &st) == 0 && is_noted(&st);
	return is ? tare_fail(err, EINVAL, "%.200s is read here, and would be lost: the output wants another name", path) : 0;
}

void input_say_parts(struct text *out, size_t n)
{
	if (n > 1)
		text_add(out, ", the newest of %zu (.part, .part-2, ...): rm takes away what is not wanted", n);
}

static void say_part(const char *command, const char *part, size_t n, const char *is)
{
	struct text out = { 0 };

	escape(&out, part, strlen(part));
	text_add(&out, " %s: %s", is, recording_left(part));
	input_say_parts(&out, n);
	if (!out.failed)
		fprintf(stderr, "tare %s: note: %s\n", command, out.s);
	text_free(&out);
}

static void tell_newer_part(const char *command, const char *path)
{
	char place[PATH_MAX], part[FILE_PART_ROOM];
	struct stat st, of;
	size_t n;

	if (stat(path, &st) < 0 || file_place(path, place) <= 0)
		return;
	n = file_part_left(place, recording_unfinished, part);
	if (!n || stat(part, &of) < 0)
		return;
	if (of.st_mtim.tv_sec > st.st_mtim.tv_sec || (of.st_mtim.tv_sec == st.st_mtim.tv_sec && of.st_mtim.tv_nsec > st.st_mtim.tv_nsec))
		say_part(command, part, n, "is newer");
}

void input_tell_left_part(const char *command, const char *path)
{
	char place[PATH_MAX], part[FILE_PART_ROOM];
	size_t n = file_place(path, place) > 0 ? file_part_left(place, recording_unfinished, part) : 0;

	if (n)
		say_part(command, part, n, "is there, too");
}

void input_note_recording(const char *command, const char *path)
{
	char blocks[PATH_MAX];

	input_note(path);
	if (alloc_path(blocks, sizeof(blocks), path))
		input_note(blocks);
	tell_newer_part(command, path);
}

void input_note_recordings(const char *command, char *const *paths, size_t n)
{
	for (size_t i = 0; i < n; i++)
		input_note_recording(command, paths[i]);
}

void input_tell_broke_off(const char *command, const char *path, bool broke_off)
{
	struct text name = { 0 };

	escape(&name, path, strlen(path));
	if (broke_off && !name.failed)
		fprintf(stderr, "tare %s: note: %s: " PERFDATA_BROKE_OFF "\n", command, name.s ? name.s : "");
	text_free(&name);
}
