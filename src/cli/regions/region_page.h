/* SPDX-License-Identifier: MIT */
/* The HTML page of commands that read recordings of regions: their JSON, and the flame graph if
 * there is only one recording. */
#ifndef CLI_REGIONS_REGION_PAGE_H
#define CLI_REGIONS_REGION_PAGE_H

#include <stddef.h>
#include "base/error.h"
#include "base/text.h"
#include "output/page_file.h"

/* `p` was opened with page_file_open() before the work; `kind` is the command: "tare summarize". */
int region_page(struct page_file *p, const char *kind, const struct text *json, char **files,
		size_t n, struct tare_error *err);

#endif
