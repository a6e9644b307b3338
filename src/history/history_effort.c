/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include "history/history_effort.h"

enum {
	FREE = 5000000,
	PER_BYTE = 40, /* a row has at least ten bytes, and takes 10 to 100 instructions */
};

static uint64_t size_of(const char *path, const char *ending)
{
	char name[PATH_MAX];
	struct stat st;

	if (snprintf(name, sizeof(name), "%s%s", path, ending) >= (int)sizeof(name) ||
	    stat(name, &st) < 0)
		return 0;
	return (uint64_t)st.st_size;
}

int history_effort_step(void *effort)
{
	struct history_effort *e = effort;

	e->steps += HISTORY_EFFORT_EACH;
	return e->steps > FREE + PER_BYTE * (size_of(e->path, "") + size_of(e->path, "-wal"));
}
