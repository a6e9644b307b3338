/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "regions/timeline/measureme_walk.h"

static bool put_point(struct mm_points *out, enum timeline_kind kind, uint32_t label,
		      uint64_t value, uint64_t offset)
{
	if (!out)
		return true;
	if (!array_reserve(&out->point, &out->room, out->n + 1, sizeof(*out->point)))
		return false;
	out->point[out->n++] = (struct mm_point){ value, offset, label, (uint8_t)kind };
	return true;
}

bool mm_walk_push(struct mm_walk *w, const struct mm_open *o)
{
	if (!array_reserve(&w->open, &w->room, w->depth + 1, sizeof(*w->open)))
		return false;
	w->open[w->depth++] = *o;
	return true;
}

static bool pop(struct mm_walk *w, struct mm_points *out)
{
	const struct mm_open *o = &w->open[--w->depth];

	if (w->saved > w->depth)
		w->saved = w->depth;
	w->limit = o->start;
	return put_point(out, TIMELINE_BEGIN, o->label, o->start, o->offset);
}

/*
 * Close open intervals until the innermost one contains start..end, inclusive of both ends, as in
 * measureme. Returns 1 on success; 0 if the innermost one overlaps start..end. Only intervals after
 * `end` are closed.
 */
static int leave(struct mm_walk *w, uint64_t start, uint64_t end, struct mm_points *out)
{
	while (w->depth) {
		const struct mm_open *top = &w->open[w->depth - 1];

		if (top->start <= start && end <= top->end)
			return 1;
		if (end > top->start)
			return 0;
		if (!pop(w, out))
			return -ENOMEM;
	}
	return 1;
}

int mm_walk(struct mm_walk *w, const struct mm_event *e, uint32_t label, uint64_t offset,
	    struct mm_points *out)
{
	bool instant = e->second == MM_INSTANT;
	uint64_t end = instant ? e->first : e->second;
	int nests;

	if (e->second == MM_INTEGER)
		return put_point(out, TIMELINE_INTEGER, label, e->first, offset) ? MM_NESTED
										 : -ENOMEM;
	if (e->first > end)
		return MM_WRONG;
	nests = end <= w->limit ? leave(w, e->first, end, out) : 0;
	if (nests < 0)
		return nests;
	if (instant) {
		w->limit = end < w->limit ? end : w->limit;
		if (!put_point(out, TIMELINE_INSTANT, label, end, offset))
			return -ENOMEM;
		return nests ? MM_NESTED : MM_ASYNC;
	}
	if (!nests) {
		if (!put_point(out, TIMELINE_FINISH, label, end, offset) ||
		    !put_point(out, TIMELINE_START, label, e->first, offset))
			return -ENOMEM;
		return MM_ASYNC;
	}
	w->limit = end;
	if (!put_point(out, TIMELINE_END, label, end, offset) ||
	    !mm_walk_push(w, &(struct mm_open){ e->first, end, offset, label, UINT32_MAX }))
		return -ENOMEM;
	return MM_NESTED;
}

int mm_walk_end(struct mm_walk *w, struct mm_points *out)
{
	while (w->depth)
		if (!pop(w, out))
			return -ENOMEM;
	return 0;
}
