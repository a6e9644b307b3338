/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "regions/region_profile.h"
#include "cli/regions/region_page.h"
#include "export/export.h"
#include "profile/report/call_tree_json.h"

/* Reads the recording a second time: a summary keeps no stacks. */
static int put_flame(struct page *p, struct timeline *t, struct tare_error *err)
{
	const struct timeline_info *info = timeline_info(t);
	enum tare_quality quality[TIMELINE_COUNTERS_MAX];
	char program[256];
	struct call_tree_about about = { .program = export_program_of(info->command, program,
								      sizeof(program)),
					 .quality = quality,
					 .least = 1e-6 };
	struct call_tree *s = call_tree_new(err);
	struct region_profile_losses told;
	int ret = s ? region_profile(s, t, &told, err) : -ENOMEM;

	for (size_t c = 0; c < info->n_counters; c++)
		quality[c] = info->counter[c].quality;
	if (ret == 0)
		ret = call_tree_json(page_document(p), s, &about, err);
	call_tree_free(s);
	return ret;
}

int region_page(struct page_file *p, const char *kind, const struct text *json, char **files,
		size_t n, struct tare_error *err)
{
	struct timeline *t = NULL;
	const struct timeline_info *info = NULL;
	int ret = json->failed ? tare_fail_nomem(err) : 0;

	if (ret == 0 && n == 1 && strcmp(files[0], "-")) /* data from a pipe cannot be read again */
		ret = timeline_open(&t, files[0], err);
	if (t)
		info = timeline_info(t);
	if (ret == 0)
		ret = page_file_begin(p, kind, info && info->command ? info->command : files[0],
				      info ? info->start_ns : 0, err);
	if (ret == 0 && info && info->n_counters)
		ret = put_flame(&p->page, t, err);
	if (ret == 0) {
		page_add(&p->page, json->s, json->len);
		ret = page_file_end(p, err);
	}
	timeline_close(t);
	return ret;
}
