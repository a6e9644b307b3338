/* SPDX-License-Identifier: MIT */
/*
 * A page that opens in a browser, offline: documents of JSON and the script that shows them (web/),
 * in one file.
 *
 *	page_open(&p, &out, "tare stat: gcc -c x.c", &err);
 *	stat_json(&text, ...); page_add(&p, text.s, text.len);
 *	ret = page_close(&p, &err);
 *
 * The documents are the ones that --format json writes, identified by their schema; web/src/main.js
 * has a row for each, and names unknown ones. Their contents cannot be executed: '<' is written as
 * a JSON escape.
 */
#ifndef OUTPUT_PAGE_H
#define OUTPUT_PAGE_H

#include <stdbool.h>
#include "output/out.h"

struct page {
	struct out in; /* documents, before the escape filter */
	struct out *to;
	size_t documents;
};

/* -ENOTSUP if the program was built without a page: check before measuring. */
int page_available(struct tare_error *err);
/*
 * `kind`: the command, "tare stat"; `title`: of the page. `recorded_ns`: time since 1970; 0 to omit
 * it.
 */
int page_open(struct page *p, struct out *to, const char *kind, const char *title,
	      uint64_t recorded_ns, struct tare_error *err);
/* One JSON document. */
void page_add(struct page *p, const char *json, size_t n);
/*
 * The next document: all text written to this until the next page_add(), page_document() or
 * page_close().
 */
struct out *page_document(struct page *p);
/* End the page; `to` stays open. Returns 0 or the first error. */
int page_close(struct page *p, struct tare_error *err);

#endif
