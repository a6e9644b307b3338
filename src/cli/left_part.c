/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/file.h"
#include "cli/left_part.h"
#include "record/perfdata.h"
#include "view/escape.h"

void tell_left_part(const char *command, const char *path)
{
	char place[PATH_MAX], part[FILE_PART_ROOM];
	struct stat st, of;
	struct text out = { 0 };

	if (stat(path, &st) < 0 || file_place(path, place) <= 0 || !file_part_left(place, perfdata_unfinished, part) || stat(part, &of) < 0)
		return;
	if (of.st_mtim.tv_sec < st.st_mtim.tv_sec || (of.st_mtim.tv_sec == st.st_mtim.tv_sec && of.st_mtim.tv_nsec <= st.st_mtim.tv_nsec))
		return;
	escape(&out, part, strlen(part));
	if (!out.failed)
		fprintf(stderr, "tare %s: note: %s is newer: a recording whose recorder was killed\n", command, out.s);
	text_free(&out);
}
