/* SPDX-License-Identifier: MIT */
/* --html FILE: a page, in a file that is there when it is whole. */
#ifndef OUTPUT_PAGE_FILE_H
#define OUTPUT_PAGE_FILE_H

#include "base/text.h"
#include "output/whole_file.h"
#include "output/page.h"

struct page_file {
	struct whole_file file;
	struct out out;
	struct page page; /* documents go here, between begin and end */
	bool begun;
};

#define PAGE_FILE_INIT                                                                             \
	{                                                                                          \
		.file = { .fd = -1 }                                                               \
	}

/* Before anything is measured or read: what stands against a page is said then. `output`: what else is written (-o), which is another file; or NULL. */
int page_file_open(struct page_file *p, const char *path, const char *output, struct tare_error *err);
/* As page_open(). */
int page_file_begin(struct page_file *p, const char *kind, const char *title, uint64_t recorded_ns, struct tare_error *err);
/* Begins it, puts one document of JSON there, and ends it. */
int page_file_document(struct page_file *p, const char *kind, const char *title, const struct text *json, struct tare_error *err);
/* The page is whole, and takes its place. */
int page_file_end(struct page_file *p, struct tare_error *err);
/* Gives up what was not ended. After page_file_end() and on PAGE_FILE_INIT does nothing. */
void page_file_abandon(struct page_file *p);

#endif
