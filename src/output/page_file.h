/* SPDX-License-Identifier: MIT */
/* --html FILE: a page, in a file that appears when it is complete. */
#ifndef OUTPUT_PAGE_FILE_H
#define OUTPUT_PAGE_FILE_H

#include "base/text.h"
#include "output/whole_file.h"
#include "output/page.h"

struct page_file {
	struct whole_file file;
	struct out out;
	struct page page; /* documents are written here, between begin and end */
	bool begun;
};

#define PAGE_FILE_INIT                                                                             \
	{                                                                                          \
		.file = {.fd = -1 }                                                                \
	}

/*
 * Called before anything is measured or read, so that errors are reported early. `output`: the
 * other output (-o), which must be another file; or NULL.
 */
int page_file_open(struct page_file *p, const char *path, const char *output,
		   struct tare_error *err);
/* Like page_open(). */
int page_file_begin(struct page_file *p, const char *kind, const char *title, uint64_t recorded_ns,
		    struct tare_error *err);
/* Begin, add one JSON document, and end. */
int page_file_document(struct page_file *p, const char *kind, const char *title,
		       const struct text *json, struct tare_error *err);
/* The page is complete: rename it to its final name. */
int page_file_end(struct page_file *p, struct tare_error *err);
/* Discard a page that was not ended. After page_file_end() and on PAGE_FILE_INIT does nothing. */
void page_file_abandon(struct page_file *p);

#endif
