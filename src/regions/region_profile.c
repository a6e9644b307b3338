/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "regions/region_profile.h"

/* An open region: the counters at its begin, and the cost of the regions inside. */
struct open_region {
	uint32_t node;
	/* bit i: counter i was not read at its begin; its cost is not known for a region inside */
	uint8_t missing, spoilt;
	uint64_t at[TIMELINE_COUNTERS_MAX], inside[TIMELINE_COUNTERS_MAX];
};

struct walk {
	struct call_tree *s;
	struct timeline *t;
	size_t n_counters;
	uint32_t task;
	uint32_t *frame; /* by label, + 1; 0: not created yet */
	size_t n_frames;
	/* REGION_DEPTH_MAX + 1 entries: the first one is the thread itself */
	struct open_region *open;
	size_t depth; /* of regions; those deeper than REGION_DEPTH_MAX are only counted */
	bool any;     /* an outermost region has ended in this thread */
	struct region_profile_losses *told;
};

static int frame_of(struct walk *w, uint32_t index, uint32_t *out, struct tare_error *err)
{
	const struct timeline_label *l = timeline_label(w->t, index);
	uint32_t group = l ? l->group : index;
	struct call_tree_frame f = { 0 };

	if (!array_reserve_zeroed(&w->frame, &w->n_frames, group + 1ull, sizeof(*w->frame)))
		return tare_fail_nomem(err);
	if (!w->frame[group]) {
		l = timeline_label(w->t, group);
		f.function = call_tree_add_name(w->s, l && l->name ? l->name : "?");
		f.module = call_tree_add_name(w->s, l && l->kind ? l->kind : "");
		f.file = l && l->file ? call_tree_add_name(w->s, l->file) : 0;
		f.line = l && l->file ? l->line : 0;
		if (f.function == SET_NONE || f.module == SET_NONE || f.file == SET_NONE)
			return tare_fail_nomem(err);
		w->frame[group] = call_tree_add_frame(w->s, &f) + 1;
		if (!w->frame[group])
			return tare_fail_nomem(err);
	}
	*out = w->frame[group] - 1;
	return 0;
}

static int node_of(struct walk *w, uint32_t label, uint32_t parent, uint32_t *out,
		   struct tare_error *err)
{
	uint32_t frame = 0;
	int ret = frame_of(w, label, &frame, err);

	if (ret < 0)
		return ret;
	*out = call_tree_add_node(w->s, parent, frame);
	if (*out == SET_NONE)
		return tare_fail_nomem(err);
	if (*out < REGION_PROFILE_MAX)
		return 0;
	tare_fail(err, E2BIG, "there are more than %d different stacks of regions",
		  REGION_PROFILE_MAX);
	tare_hint(
		err,
		"use a timeline format, such as chrome, perfetto or csv, which has no such limit");
	return -E2BIG;
}

/*
 * The self cost of r: from `r->at` to here, minus the regions inside. Unknown costs are not added.
 */
static int give(struct walk *w, struct open_region *r, struct open_region *around,
		const struct timeline_point *p, uint64_t times, struct tare_error *err)
{
	uint8_t missing = r->missing | p->missing, spoilt = r->spoilt;
	int ret = 0;

	w->told->missing += missing != 0;
	for (size_t c = 0; ret == 0 && c < w->n_counters; c++) {
		uint64_t all = p->value[c] - r->at[c];
		struct call_tree_row row = { r->node, w->task, (uint32_t)c,
					     0,       times,   all - r->inside[c] };

		if (!(missing >> c & 1) && (p->value[c] < r->at[c] || all < r->inside[c])) {
			w->told->backwards++;
			missing |= (uint8_t)(1u << c);
		}
		if (missing >> c & 1 || spoilt >> c & 1)
			row.amount = 0;
		if (around && !(missing >> c & 1))
			around->inside[c] += all;
		if (row.samples || row.amount)
			ret = call_tree_count(w->s, &row, 0, err);
	}
	if (around)
		around->spoilt |= missing;
	return ret;
}

static void remember(struct walk *w, struct open_region *r, uint32_t node,
		     const struct timeline_point *p)
{
	*r = (struct open_region){ .node = node, .missing = p->missing };
	if (w->n_counters)
		memcpy(r->at, p->value, w->n_counters * sizeof(*r->at));
}

static int begin_region(struct walk *w, const struct timeline_point *p, struct tare_error *err)
{
	uint32_t node;
	int ret = 0;

	if (w->depth >= REGION_DEPTH_MAX) {
		w->told->too_deep++;
		w->depth++;
		return 0;
	}
	if (w->depth == 0 && w->any)
		ret = give(w, &w->open[0], NULL, p, 0, err);
	if (ret == 0)
		ret = node_of(w, p->label, w->depth ? w->open[w->depth].node : 0, &node, err);
	if (ret == 0)
		remember(w, &w->open[++w->depth], node, p);
	return ret;
}

static int end(struct walk *w, const struct timeline_point *p, struct tare_error *err)
{
	int ret = 0;

	if (w->depth == 0)
		return 0;
	if (w->depth <= REGION_DEPTH_MAX)
		ret = give(w, &w->open[w->depth], w->depth > 1 ? &w->open[w->depth - 1] : NULL, p,
			   1, err);
	if (--w->depth == 0) {
		remember(w, &w->open[0], 0, p);
		w->any = true;
	}
	return ret;
}

static int one_thread(struct walk *w, size_t thread, struct tare_error *err)
{
	const struct timeline_thread *about = &timeline_info(w->t)->thread[thread];
	uint32_t name = call_tree_add_name(w->s, about->name ? about->name : "");
	struct timeline_point p;
	struct cursor *c = NULL;
	int ret;

	w->task = name == SET_NONE
		? SET_NONE
		: call_tree_add_task(w->s, (uint32_t)about->pid, (uint32_t)about->tid, name);
	if (w->task == SET_NONE)
		return tare_fail_nomem(err);
	w->depth = 0;
	w->any = false;
	ret = timeline_thread(w->t, thread, &c, err);
	while (ret >= 0 && (ret = cursor_next(c, &p, err)) == 1) {
		if (p.kind == TIMELINE_BEGIN)
			ret = begin_region(w, &p, err);
		else if (p.kind == TIMELINE_END)
			ret = end(w, &p, err);
		else if (p.kind == TIMELINE_LOST)
			w->told->lost += p.number;
	}
	cursor_close(c);
	return ret;
}

int region_profile(struct call_tree *s, struct timeline *t, struct region_profile_losses *told,
		   struct tare_error *err)
{
	const struct timeline_info *info = timeline_info(t);
	struct walk w = { .s = s, .t = t, .n_counters = info->n_counters, .told = told };
	int ret = 0;

	*told = (struct region_profile_losses){ 0 };
	for (size_t i = 0; i < info->n_counters; i++)
		if (call_tree_add_column(s, info->counter[i].name, info->counter[i].unit) ==
		    SET_NONE)
			return tare_fail_nomem(err);
	w.open = calloc(REGION_DEPTH_MAX + 1, sizeof(*w.open));
	if (!w.open)
		return tare_fail_nomem(err);
	for (size_t i = 0; ret == 0 && i < info->n_threads; i++)
		ret = one_thread(&w, i, err);
	free(w.open);
	free(w.frame);
	return ret;
}
