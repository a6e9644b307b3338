/* SPDX-License-Identifier: MIT */
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/array.h"
#include "base/file.h"
#include "output/input.h"

/* Global, as a process runs one command. */
static struct {
	dev_t dev;
	ino_t ino;
} * noted;
static size_t n_noted;
static bool lacks_memory;

void input_note(const char *path)
{
	struct stat st;

	if ((strcmp(path, "-") ? stat(path, &st) : fstat(STDIN_FILENO, &st)) < 0)
		return; /* whoever opens it says why */
	if (!array_one_more(&noted, n_noted, sizeof(*noted))) {
		lacks_memory = true;
		return;
	}
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
	return is
		? tare_fail(
			  err, EINVAL,
			  "%.200s is an input and would be overwritten: give the output another name",
			  path)
		: 0;
}
