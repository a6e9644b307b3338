/* SPDX-License-Identifier: MIT */
/* The page of tare stat --html: a file that is there when all is counted, or not at all. */
#ifndef CLI_STAT_PAGE_H
#define CLI_STAT_PAGE_H

#include <time.h>
#include "base/text.h"
#include "cli/whole_file.h"
#include "view/stat.h"

struct stat_page {
	struct whole_file file;
	struct text intervals; /* documents, one in a line */
};

#define STAT_PAGE_INIT                                                                             \
	{                                                                                          \
		.file = { .fd = -1 }                                                               \
	}

/* Before anything runs: a page that cannot be written is said then. */
int stat_page_open(struct stat_page *p, const char *path, struct tare_error *err);
int stat_page_interval(struct stat_page *p, const struct stat_table *t, const struct stat_metrics *m, struct tare_error *err);
/* The whole, and the file takes its place. */
int stat_page_write(struct stat_page *p, const struct stat_table *t, const struct stat_metrics *m, const struct stat_about *about,
		    time_t started, struct tare_error *err);
void stat_page_close(struct stat_page *p);

#endif
