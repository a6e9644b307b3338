/* SPDX-License-Identifier: MIT */
/* The page of tare stat --html: the data of --format json, and each interval. */
#ifndef CLI_STAT_STAT_PAGE_H
#define CLI_STAT_STAT_PAGE_H

#include <time.h>
#include "base/text.h"
#include "output/page_file.h"
#include "stat/stat_view.h"

struct stat_page {
	struct page_file file;
	struct text intervals; /* documents, one per line */
};

#define STAT_PAGE_INIT                                                                             \
	{                                                                                          \
		.file = PAGE_FILE_INIT                                                             \
	}

int stat_page_interval(struct stat_page *p, const struct stat_table *t,
		       const struct stat_metrics *m, struct tare_error *err);
/* Writes the whole page and moves the file to its final name. */
int stat_page_write(struct stat_page *p, const struct stat_table *t, const struct stat_metrics *m,
		    const struct stat_about *about, time_t started, struct tare_error *err);
void stat_page_close(struct stat_page *p);

#endif
