/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "profile/report/skid_kept.h"
#include "base/rows.h"
#include "perfdata/perfdata_features.h"
#include "perfdata/perfdata_format.h"

static const char head[] = "tare skid 1\n";

enum { MOST = 1024 };

/* Does it have the names by which a recording is matched? */
static bool named_all(const struct skid_kept *k)
{
	return k->event[0] && k->cpu[0] && k->release[0];
}

static bool take_row(struct skid_kept *k, struct rows *r)
{
	uint64_t type, level;

	*k = (struct skid_kept){ 0 };
	if (!row_text(r, k->event, sizeof(k->event)) || !row_count(r, &type, UINT32_MAX) ||
	    !row_count(r, &k->config, UINT64_MAX) || !row_count(r, &level, 3) ||
	    !row_text(r, k->cpu, sizeof(k->cpu)) || !row_text(r, k->release, sizeof(k->release)) ||
	    !row_count(r, &k->samples, UINT64_MAX) || !row_real(r, &k->exact, 0, 1) ||
	    !row_int(r, &k->median) || !row_int(r, &k->p99) || !row_int(r, &k->time) ||
	    !row_ends(r) || !named_all(k))
		return false;
	k->type = (uint32_t)type;
	k->level = (unsigned)level;
	return true;
}

int skids_kept_parse(struct skids_kept *out, const char *text, size_t len, struct tare_error *err)
{
	struct rows rows;
	int ret = rows_begin(&rows, head, text, len, "has no skid results", err);

	*out = (struct skids_kept){ 0 };
	while (ret == 0 && (ret = rows_next(&rows, err)) > 0) {
		struct skid_kept one;

		ret = take_row(&one, &rows) ? skids_kept_put(out, &one, err)
					    : rows_refuse(&rows, err);
	}
	return ret;
}

static bool same(const struct skid_kept *a, const struct skid_kept *b)
{
	return a->type == b->type && a->config == b->config && a->level == b->level &&
		!strcmp(a->cpu, b->cpu) && !strcmp(a->release, b->release);
}

int skids_kept_put(struct skids_kept *k, const struct skid_kept *one, struct tare_error *err)
{

	if (!named_all(one) || !row_fits(one->event) || !row_fits(one->cpu) ||
	    !row_fits(one->release))
		return tare_fail(err, EINVAL, "a name is too long for a line");
	for (size_t i = 0; i < k->n; i++)
		if (same(&k->row[i], one)) {
			k->row[i] = *one;
			return 0;
		}
	if (k->n == MOST) /* the oldest is removed */
		memmove(k->row, k->row + 1, --k->n * sizeof(*k->row));
	if (!array_one_more(&k->row, k->n, sizeof(*k->row)))
		return tare_fail_nomem(err);
	k->row[k->n++] = *one;
	return 0;
}

void skids_kept_write(struct text *out, const struct skids_kept *k)
{
	text_add(out, "%s", head);
	for (size_t i = 0; i < k->n; i++) {
		const struct skid_kept *r = &k->row[i];

		text_add(out,
			 "%s\t%" PRIu32 "\t%" PRIu64 "\t%u\t%s\t%s\t%" PRIu64 "\t%.6f\t%" PRId64
			 "\t%" PRId64 "\t%" PRId64 "\n",
			 r->event, r->type, r->config, r->level, r->cpu, r->release, r->samples,
			 r->exact, r->median, r->p99, r->time);
	}
}

void skids_kept_free(struct skids_kept *k)
{
	free(k->row);
	*k = (struct skids_kept){ 0 };
}

/* ---- of a recording ---- */

static const struct perfdata_event *named(const struct perfdata *file, const char *event)
{
	for (size_t i = 0; i < perfdata_event_count(file); i++)
		if (!strcmp(perfdata_event_at(file, i)->name, event))
			return perfdata_event_at(file, i);
	return NULL;
}

static bool of_software(uint32_t type)
{
	return type == PERF_TYPE_SOFTWARE || type == PERF_TYPE_TRACEPOINT ||
		type == PERF_TYPE_BREAKPOINT;
}

const struct skid_kept *skids_kept_of(const struct skids_kept *k, const struct perfdata *file,
				      const char *event, bool *other)
{
	const struct perfdata_features *f = perfdata_features(file);
	const struct perfdata_event *ev = named(file, event);
	const struct skid_kept *near = NULL;

	if (!ev || !f->cpuid || !f->os_release)
		return NULL;
	for (size_t i = 0; i < k->n; i++) {
		const struct skid_kept *r = &k->row[i];

		if (r->level != (ev->attr.flags >> PD_ATTR_PRECISE_SHIFT & 3) ||
		    strcmp(r->cpu, f->cpuid) || strcmp(r->release, f->os_release))
			continue;
		if (r->type == ev->attr.type && r->config == ev->attr.config) {
			*other = false;
			return r;
		}
		if (!of_software(r->type) && !of_software(ev->attr.type) &&
		    (!near || r->p99 > near->p99))
			near = r;
	}
	*other = true;
	return near;
}
