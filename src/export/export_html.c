/* SPDX-License-Identifier: MIT */
/* A page with the flame graph of a recording, for any browser, offline. */
#include <stdlib.h>
#include "export/export_spans.h"
#include "output/page.h"
#include "profile/report/call_tree_json.h"

/*
 * Fraction of the whole below which frames are omitted: they would not be visible, and the page
 * must load fast.
 */
#define LEAST 1e-6

static int begin_html(struct export *x, struct tare_error *err)
{
	(void)x;
	return page_available(err);
}

static uint64_t count_regions(const struct call_tree *s)
{
	size_t n;
	const struct call_tree_row *row = call_tree_rows(s, &n);
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += row[i].column == 0 ? row[i].samples : 0;
	return sum;
}

/* The regions over time, by thread; none if there are too many to be drawn. */
static int add_spans(struct export *x, const struct call_tree *s, struct page *page,
		     struct tare_error *err)
{
	const struct export_options opt = { .counter = NULL };
	struct export_told told;

	if (!x->of->regions || count_regions(s) > EXPORT_SPANS_MOST)
		return 0;
	return export_timeline(page_document(page), &export_spans, x->of->regions, &opt, &told,
			       err);
}

static int profile(struct export *x, const struct call_tree *s, struct tare_error *err)
{
	const struct timeline_info *info = x->of->info;
	enum tare_quality *quality = calloc(info->n_counters + 1, sizeof(*quality));
	struct call_tree_about about = { .program = x->of->program,
					 .quality = x->of->has_quality ? quality : NULL,
					 .least = LEAST,
					 .broke_off = x->of->info->broke_off };
	struct page page;
	int ret;

	if (!quality)
		return tare_fail_nomem(err);
	for (size_t c = 0; c < info->n_counters; c++)
		quality[c] = info->counter[c].quality;
	ret = page_open(&page, x->out, "tare export", info->command ? info->command : info->path,
			info->start_ns, err);
	if (ret == 0) {
		ret = call_tree_json(page_document(&page), s, &about, err);
		if (ret == 0)
			ret = add_spans(x, s, &page, err);
		if (page_close(&page, err) < 0 && ret == 0)
			ret = -err->code;
	}
	free(quality);
	return ret;
}

static void end(struct export *x)
{
	(void)x;
}

const struct exporter export_html = {
	.name = "html",
	.about = "a page with a flame graph: any browser, offline",
	.ending = ".html",
	.begin = begin_html,
	.profile = profile,
	.end = end,
};
