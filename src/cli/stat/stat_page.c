/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "cli/stat/stat_page.h"

enum { TITLE_WORDS = 4 };

int stat_page_interval(struct stat_page *p, const struct stat_table *t,
		       const struct stat_metrics *m, struct tare_error *err)
{
	stat_json_interval(&p->intervals, t, m);
	return p->intervals.failed ? tare_fail_nomem(err) : 0;
}

static void title(struct text *out, const struct stat_about *about)
{
	text_add(out, "tare stat:");
	for (int i = 0; about->argv && about->argv[i] && i < TITLE_WORDS; i++)
		text_add(out, " %.60s", about->argv[i]);
	if (about->target)
		text_add(out, " %.200s", about->target);
}

int stat_page_write(struct stat_page *p, const struct stat_table *t, const struct stat_metrics *m,
		    const struct stat_about *about, time_t started, struct tare_error *err)
{
	struct text name = { 0 }, document = { 0 };
	int ret;

	title(&name, about);
	stat_json(&document, t, m, about);
	ret = name.failed || document.failed ? tare_fail_nomem(err)
					     : page_file_begin(&p->file, "tare stat", name.s,
							       (uint64_t)started * 1000000000, err);
	if (ret == 0) {
		page_add(&p->file.page, document.s, document.len);
		for (const char *at = p->intervals.s, *end; at && *at; at = end + 1) {
			end = strchr(at, '\n'); /* each is a line */
			page_add(&p->file.page, at, (size_t)(end - at));
		}
		ret = page_file_end(&p->file, err);
	}
	text_free(&name);
	text_free(&document);
	return ret;
}

void stat_page_close(struct stat_page *p)
{
	page_file_abandon(&p->file);
	text_free(&p->intervals);
}
