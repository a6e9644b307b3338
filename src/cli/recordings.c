/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/file.h"
#include "cli/recordings.h"
#include "output/escape.h"
#include "output/input.h"
#include "perfdata/alloc.h"
#include "perfdata/perfdata.h"
#include "recording/recording_input.h"

void input_say_parts(struct text *out, size_t n)
{
	if (n > 1)
		text_add(out,
			 ", the newest of %zu (.part, .part-2, ...): remove unneeded ones with rm",
			 n);
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
	if (of.st_mtim.tv_sec > st.st_mtim.tv_sec ||
	    (of.st_mtim.tv_sec == st.st_mtim.tv_sec && of.st_mtim.tv_nsec > st.st_mtim.tv_nsec))
		say_part(command, part, n, "is newer");
}

void input_tell_left_part(const char *command, const char *path)
{
	char place[PATH_MAX], part[FILE_PART_ROOM];
	size_t n = file_place(path, place) > 0 ? file_part_left(place, recording_unfinished, part)
					       : 0;

	if (n)
		say_part(command, part, n, "exists, too");
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
		fprintf(stderr, "tare %s: note: %s: " PERFDATA_BROKE_OFF "\n", command,
			name.s ? name.s : "");
	text_free(&name);
}
