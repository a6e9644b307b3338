/* SPDX-License-Identifier: MIT */
/* Pass the regions of a recording to an exporter. */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "regions/region_profile.h"
#include "export/export_private.h"

enum { CHECK_EVERY = 4096 };

/* The timeline's labels, shortened to at most EXPORT_NAME_MAX bytes. */
struct names {
	struct timeline *t;
	struct timeline_label cut, thread;
	const char *program;
	char program_room[256], room[EXPORT_NAME_ROOM];
};

static const struct timeline_label *label_of(void *with, uint32_t index)
{
	struct names *n = with;
	const struct timeline_info *info = timeline_info(n->t);
	const struct timeline_label *l;
	static const struct timeline_label none = { .name = "?", .kind = "" };

	if (index >= info->n_labels) {
		size_t thread = index - info->n_labels;

		if (thread > info->n_threads)
			return &none;
		n->thread = (struct timeline_label){ .kind = "", .group = index };
		n->thread.name = thread < info->n_threads
			? export_thread_name(&info->thread[thread], n->room)
			: n->program;
		return &n->thread;
	}
	l = timeline_label(n->t, index);
	if (!l)
		return &none;
	if (l->name && l->kind && export_name_fits(l->name))
		return l;
	n->cut = *l;
	n->cut.name = l->name ? export_shorten(l->name, n->room) : "?";
	if (!l->kind)
		n->cut.kind = "";
	return &n->cut;
}

/* ---- points ---- */

struct opened {
	uint32_t label;
	uint64_t at;
	bool at_unknown;
	uint8_t repaired, missing; /* repaired: enum timeline_repair */
	uint64_t value[TIMELINE_COUNTERS_MAX];
};

struct points {
	struct export *x;
	struct timeline *t;
	struct opened *open;
	size_t depth, room;
	uint64_t last; /* position of the previous point */
	bool held;     /* the region begun last is a gap with an unknown begin */
	struct export_told *told;
};

/* A gap region begins and ends where points are missing. It is not a region of the program. */
static bool is_gap(const struct points *w, const struct timeline_point *p)
{
	return timeline_label(w->t, p->label)->gap;
}

/* A begin or end of the program's that is not in the recording. */
static void note_repaired(struct points *w, const struct timeline_point *p)
{
	struct export_told *told = w->told;
	uint32_t group;

	if (p->repaired == TIMELINE_AS_RECORDED || is_gap(w, p))
		return;
	told->repaired++;
	group = timeline_label(w->t, p->label)->group;
	for (size_t i = 0; i < told->n_repaired_of; i++)
		if (told->repaired_of[i] == group)
			return;
	if (told->n_repaired_of < EXPORT_REPAIRED_NAMED)
		told->repaired_of[told->n_repaired_of++] = group;
	else
		told->repaired_of_more = true;
}

/*
 * The position of the point on the axis. Detached timings are not in order (timeline.h,
 * TIMELINE_START).
 */
static uint64_t place(struct points *w, const struct timeline_point *p, bool *unknown)
{
	size_t c = w->x->of->counter;
	bool missing = p->missing >> c & 1,
	     async = p->kind == TIMELINE_START || p->kind == TIMELINE_FINISH;

	*unknown = missing || (p->value[c] < w->last && !async);
	if (*unknown)
		/* measureme's integers have no time */
		w->told->unplaced += p->kind != TIMELINE_INTEGER;
	else if (p->value[c] >= w->last)
		w->last = p->value[c];
	return *unknown ? w->last : p->value[c];
}

static void show_begun(struct points *w)
{
	const struct opened *o = &w->open[w->depth - 1];
	struct export_span s = { .label = o->label,
				 .depth = (unsigned)w->depth - 1,
				 .begin = o->at,
				 .begin_unknown = o->at_unknown,
				 .from = o->value,
				 .missing = o->missing,
				 .repaired = o->repaired };

	if (w->x->how->open)
		w->x->how->open(w->x, &s);
}

/*
 * A gap before a thread's first point has no known begin, so it gets no length and the position of
 * the point after it.
 */
static void place_gap(struct points *w, const struct timeline_point *behind)
{
	struct opened *o = &w->open[w->depth - 1];
	size_t c = w->x->of->counter;

	if (!(behind->missing >> c & 1) && behind->value[c] > o->at)
		o->at = behind->value[c];
	w->held = false;
	show_begun(w);
}

static int begin_region(struct points *w, const struct timeline_point *p, struct tare_error *err)
{
	struct opened *o;

	if (!array_reserve(&w->open, &w->room, w->depth + 1, sizeof(*w->open)))
		return tare_fail_nomem(err);
	o = &w->open[w->depth];
	o->label = p->label;
	o->missing = p->missing;
	o->repaired = p->repaired;
	memcpy(o->value, p->value, w->x->of->info->n_counters * sizeof(*o->value));
	o->at = place(w, p, &o->at_unknown);
	note_repaired(w, p);
	w->depth++;
	w->held = o->at_unknown && p->repaired == TIMELINE_AT_GAP && is_gap(w, p);
	if (!w->held)
		show_begun(w);
	return 0;
}

/* NULL: at neither end, or it is the gap itself. */
static const char *at_gap(const struct points *w, const struct opened *o,
			  const struct timeline_point *end)
{
	static const char *const names[] = { NULL, "begin", "end", "begin and end" };

	return is_gap(w, end)
		? NULL
		: names[(o->repaired == TIMELINE_AT_GAP) + 2 * (end->repaired == TIMELINE_AT_GAP)];
}

static void end(struct points *w, const struct timeline_point *p)
{
	struct opened *o;
	struct export_span s;

	if (w->depth == 0)
		return; /* the reader balances points, so this one is not from it */
	o = &w->open[--w->depth];
	s = (struct export_span){
		/* a region may be renamed at its end */
		.label = p->label == o->label ? o->label : p->label,
		.depth = (unsigned)w->depth,
		.begin = o->at,
		.begin_unknown = o->at_unknown,
		.from = o->value,
		.to = p->value,
		.missing = o->missing | p->missing,
		.to_missing = p->missing,
		.repaired = o->repaired || p->repaired,
		.at_gap = at_gap(w, o, p),
	};
	s.end = place(w, p, &s.end_unknown);
	w->told->missing += s.missing != 0;
	note_repaired(w, p);
	w->x->how->close(w->x, &s);
}

static void mark(struct points *w, const struct timeline_point *p)
{
	struct export_mark m = { .kind = p->kind,
				 .label = p->label,
				 .depth = (unsigned)w->depth,
				 .number = p->number,
				 .value = p->value,
				 .missing = p->missing };

	if (p->kind == TIMELINE_LOST)
		w->told->lost += p->number;
	m.at = place(w, p, &m.at_unknown);
	w->x->how->mark(w->x, &m);
}

static int one_thread(struct points *w, struct tare_error *err)
{
	struct timeline_point p;
	struct cursor *c = NULL;
	int ret = timeline_thread(w->t, w->x->thread, &c, err);

	w->depth = 0;
	w->held = false;
	w->last = 0;
	if (ret == 0 && w->x->how->thread)
		w->x->how->thread(w->x);
	for (uint64_t i = 0; ret >= 0 && (ret = cursor_next(c, &p, err)) == 1; i++) {
		if (w->held)
			place_gap(w, &p);
		if (p.kind == TIMELINE_BEGIN)
			ret = begin_region(w, &p, err);
		else if (p.kind == TIMELINE_END)
			end(w, &p);
		else
			mark(w, &p);
		if (i % CHECK_EVERY == 0 && w->x->out->error)
			break; /* reported by the caller */
	}
	cursor_close(c);
	return ret < 0 ? ret : 0;
}

static int points(struct export *x, struct timeline *t, struct export_told *told,
		  struct tare_error *err)
{
	struct points w = { .x = x, .t = t, .told = told };
	int ret = 0;

	for (x->thread = 0; ret == 0 && !x->out->error && x->thread < x->of->info->n_threads;
	     x->thread++)
		ret = one_thread(&w, err);
	free(w.open);
	return ret;
}

static int regions_as_stacks(struct out *out, const struct exporter *how, struct timeline *t,
			     const struct export_options *opt, struct export_told *told,
			     struct tare_error *err)
{
	struct call_tree *s = call_tree_new(err);
	struct export_options with = *opt;
	struct region_profile_losses said;
	int ret = s ? region_profile(s, t, &said, err) : -ENOMEM;

	if (ret == 0) {
		told->lost += said.lost;
		told->too_deep = said.too_deep;
		told->missing = said.missing + said.backwards;
		with.regions = t;
		ret = export_stacks(out, how, s, timeline_info(t), &with, err);
	}
	call_tree_free(s);
	return ret;
}

int export_timeline(struct out *out, const struct exporter *how, struct timeline *t,
		    const struct export_options *opt, struct export_told *told,
		    struct tare_error *err)
{
	const struct timeline_info *info = timeline_info(t);
	struct names names = { .t = t };
	struct export_source of = { .info = info, .label = label_of, .with = &names };
	struct export x = {
		.how = how, .of = &of, .out = out, .own = calloc(1, how->own_size + 1)
	};
	int ret;

	*told = (struct export_told){ .lost = info->lost };
	of.program = names.program = export_program_of(info->command, names.program_room,
						       sizeof(names.program_room));
	ret = x.own ? export_counter_of(info, opt->counter, err) : tare_fail_nomem(err);
	if (ret >= 0 && !how->close) {
		ret = regions_as_stacks(out, how, t, opt, told, err);
		goto out;
	}
	of.counter = (size_t)ret;
	if (ret >= 0)
		ret = how->begin(&x, err);
	if (ret == 0)
		ret = points(&x, t, told, err);
	if (ret == 0)
		how->end(&x);
	if (how->free && x.own)
		how->free(&x);
	if (ret == 0 && out->error)
		ret = tare_fail(err, -out->error, "cannot write: %s", strerror(-out->error));
out:
	free(x.own);
	return ret;
}
