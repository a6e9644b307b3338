/* SPDX-License-Identifier: MIT */
/* Open, start, read and close all event groups in all their places. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/process.h"
#include "count/counting.h"

enum { GROUP_MAX = 512 };

static void refuse(struct counting *c, unsigned event, int code, const char *why,
		   const char *remedy)
{
	struct encoding *e = &c->enc[event];
	size_t len = strlen(e->name);

	if (e->unavailable)
		return;
	e->unavailable = code;
	/* It is shown below the event's name, or after it. */
	if (!strncmp(why, e->name, len) && why[len] == ' ')
		snprintf(e->why, sizeof(e->why), "it%.250s", why + len);
	else
		snprintf(e->why, sizeof(e->why), "%.255s", why);
	snprintf(e->remedy, sizeof(e->remedy), "%.199s", remedy);
}

static void refuse_group(struct counting *c, const unsigned *event, size_t n, size_t failed,
			 const struct tare_error *err)
{
	char why[sizeof(err->what) + 32];

	refuse(c, event[failed], err->code, err->what, err->hint);
	snprintf(why, sizeof(why), "its group cannot be counted: %s", err->what);
	for (size_t i = 0; i < n; i++)
		refuse(c, event[i], err->code, why, err->hint);
}

/*
 * As in perf: for a user who may not count the kernel, the user part is counted, with a name that
 * shows it. A clock has no such part, and is available to everyone.
 */
static bool leave_out_kernel(struct counting *c, const unsigned *event, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		struct encoding *e = &c->enc[event[i]];

		if (encoding_modes(e) == MODES_CLOCK || e->attr.exclude_user ||
		    (e->attr.exclude_kernel && e->attr.exclude_hv))
			continue;
		any = true;
		encoding_restrict(e, true);
	}
	return any;
}

static int open_cell(struct counting *c, struct cell *cell, const struct counting_options *opt,
		     size_t *failed, struct tare_error *err)
{
	const struct encoding *enc[GROUP_MAX];
	const unsigned *event = c->order + cell->first;
	struct target on = {
		.pid = cell->at.pid,
		.cpu = cell->at.cpu,
		.cgroup_fd = opt->cgroup_fd ? opt->cgroup_fd[event[0]] : -1,
		.inherit = opt->target->inherit && cell->at.pid >= 0,
		.enable_on_exec = opt->on_exec && (cell->at.pid > 0 || opt->launched),
		.launched = opt->launched,
	};
	bool grown = false;

	*failed = 0;
	if (opt->sheds && cell->at.pid > 0 && on.cgroup_fd < 0) {
		tare_fail(err, EPERM, "the kernel takes counters off %s", opt->sheds);
		tare_hint(
			err,
			"count it as a user who needs no extra rights to run it, or count whole CPUs (-a)");
		return -EPERM;
	}
	for (size_t i = 0; i < cell->n; i++)
		enc[i] = &c->enc[event[i]];
	for (;;) {
		*failed = 0;

		int ret = cell->source->open(&cell->open, enc, cell->n, &on, failed, err);

		if (*failed >= cell->n)
			*failed = 0;
		if (ret == -EMFILE && !grown && process_more_descriptors()) {
			grown = true;
			continue;
		}
		if ((ret == -EACCES || ret == -EPERM) && leave_out_kernel(c, event, cell->n))
			continue;
		cell->on_exec = ret == 0 && on.enable_on_exec;
		return ret;
	}
}

static int add_cell(struct counting *c, struct cell cell, struct tare_error *err)
{
	if (!array_one_more(&c->cell, c->n, sizeof(*c->cell))) {
		if (cell.open)
			cell.source->close(cell.open);
		return tare_fail_nomem(err);
	}
	c->cell[c->n++] = cell;
	return 0;
}

static void drop_cells_from(struct counting *c, size_t n)
{
	while (c->n > n) {
		c->n--;
		c->cell[c->n].source->close(c->cell[c->n].open);
	}
}

/* Open a group in all its places, or in none: a partial sum over CPUs is useless. */
static int open_group(struct counting *c, size_t first, size_t n,
		      const struct counting_options *opt, struct tare_error *err)
{
	const unsigned *event = c->order + first;
	const struct encoding *lead = &c->enc[event[0]];
	struct tare_error why = TARE_ERROR_INIT;
	size_t before = c->n, failed = 0, gone = 0;
	struct places places;
	const struct source *source = opt->source ? opt->source : encoding_source(lead);
	int ret = places_for(lead, opt->tasks, opt->target, opt->online, &places, err);

	if (ret < 0)
		return ret;
	if (!places.n) {
		tare_fail(&why, ENODEV, "none of the requested CPUs can count it");
		refuse_group(c, event, n, 0, &why);
	}
	for (size_t p = 0; ret == 0 && p < places.n; p++) {
		struct cell cell = { .source = source,
				     .at = places.place[p],
				     .cgroup = opt->cgroup ? opt->cgroup[event[0]] : NULL,
				     .first = first,
				     .n = n };
		int got = open_cell(c, &cell, opt, &failed, &why);

		if (got == -ESRCH) { /* the thread ended meanwhile; the others still count */
			gone++;
			continue;
		}
		if (got < 0) {
			drop_cells_from(c, before);
			refuse_group(c, event, n, failed, &why);
			break;
		}
		ret = add_cell(c, cell, err);
	}
	if (ret == 0 && gone && gone == places.n)
		ret = tare_fail(err, ESRCH, "the process to be counted is gone");
	places_free(&places);
	c->any_open |= c->n > before;
	return ret;
}

/* A weak group that does not fit is counted event by event instead (:W). */
static int open_weak(struct counting *c, size_t first, size_t n, const struct counting_options *opt,
		     struct tare_error *err)
{
	for (size_t i = first; i < first + n; i++) {
		struct encoding *e = &c->enc[c->order[i]];

		e->unavailable = 0;
		e->why[0] = e->remedy[0] = '\0';

		int ret = open_group(c, i, 1, opt, err);

		if (ret < 0)
			return ret;
	}
	return 0;
}

static int prepare(struct counting *c, const struct encoding_list *events, struct tare_error *err)
{
	*c = (struct counting){ .n_enc = events->n,
				.enc = calloc(events->n + 1, sizeof(*c->enc)),
				.order = calloc(events->n + 1, sizeof(*c->order)) };
	if (!c->enc || !c->order)
		return tare_fail_nomem(err);
	/* `cpus` is shared with the list */
	memcpy(c->enc, events->enc, events->n * sizeof(*c->enc));
	return 0;
}

int counting_open(struct counting *c, const struct encoding_list *events,
		  const struct counting_options *opt, struct tare_error *err)
{
	bool *done = calloc(events->n + 1, sizeof(*done));
	int ret = prepare(c, events, err);
	size_t filled = 0;

	c->parts = opt->parts;
	c->partial = opt->partial;
	if (!done)
		ret = tare_fail_nomem(err);
	for (size_t i = 0; ret == 0 && i < events->n; i++) {
		size_t first = filled, refused = events->n;

		if (done[i])
			continue;
		for (size_t j = i; j < events->n; j++) {
			const struct encoding *e = &c->enc[j];

			if (e->group != c->enc[i].group || done[j])
				continue;
			done[j] = true;
			if ((opt->only && !opt->only[j]) || encoding_source(e)->clock)
				continue;
			if (e->unavailable && refused == events->n)
				refused = filled - first;
			c->order[filled++] = (unsigned)j;
		}

		size_t n = filled - first;

		if (!n)
			continue;
		if (n > GROUP_MAX) {
			ret = tare_fail(err, E2BIG,
					"a group of %zu events; at most %d can be one group", n,
					GROUP_MAX);
			break;
		}
		if (refused < n) {
			const struct encoding *bad = &c->enc[c->order[first + refused]];
			struct tare_error why = { .code = bad->unavailable, .at = -1 };

			snprintf(why.what, sizeof(why.what), "%s", bad->why);
			snprintf(why.hint, sizeof(why.hint), "%s", bad->remedy);
			refuse_group(c, c->order + first, n, refused, &why);
			continue;
		}
		ret = open_group(c, first, n, opt, err);
		if (ret == 0 && n > 1 && c->enc[c->order[first]].weak &&
		    c->enc[c->order[first]].unavailable == EINVAL)
			ret = open_weak(c, first, n, opt, err);
	}
	free(done);
	if (ret < 0)
		counting_close(c);
	return ret;
}

static bool has_event(const struct counting *c, const struct cell *cell, int event)
{
	for (size_t i = 0; event >= 0 && i < cell->n; i++)
		if (c->order[cell->first + i] == (unsigned)event)
			return true;
	return event < 0;
}

int counting_start(struct counting *c, int event, struct tare_error *err)
{
	for (size_t i = 0; i < c->n; i++) {
		struct cell *cell = &c->cell[i];

		if (cell->on || cell->on_exec || !has_event(c, cell, event))
			continue;

		int ret = cell->source->start(cell->open, err);

		if (ret < 0)
			return ret;
		cell->on = true;
	}
	return 0;
}

int counting_stop(struct counting *c, int event, struct tare_error *err)
{
	for (size_t i = 0; i < c->n; i++) {
		struct cell *cell = &c->cell[i];

		if (!(cell->on || cell->on_exec) || !has_event(c, cell, event))
			continue;

		int ret = cell->source->stop(cell->open, err);

		if (ret < 0)
			return ret;
		cell->on = cell->on_exec = false;
	}
	return 0;
}

struct part_sink {
	const struct counting *c;
	const struct cell *cell;
	struct fact f;
	struct sink *to;
	struct tare_error *err;
};

static int put_part(void *with, const struct part *part, const struct tare_reading *value)
{
	struct part_sink *p = with;

	p->f.reading.place.part = part->number;
	p->f.reading.place.who = part->who;
	p->f.reading.place.comm = part->name;
	p->f.reading.without = part->partial;
	for (size_t k = 0; k < p->cell->n; k++) {
		p->f.reading.event = p->c->order[p->cell->first + k];
		p->f.reading.value = value[k];

		int ret = value[k].quality == TARE_UNAVAILABLE ? 0
							       : p->to->put(p->to, &p->f, p->err);

		if (ret < 0)
			return ret;
	}
	return 0;
}

int counting_read(struct counting *c, unsigned run, uint64_t time_ns, struct sink *to,
		  struct tare_error *err)
{
	struct tare_reading value[GROUP_MAX];

	for (size_t i = 0; i < c->n; i++) {
		struct cell *cell = &c->cell[i];
		struct tare_error why = TARE_ERROR_INIT;
		struct fact f = { .kind = FACT_READING, .run = run, .time_ns = time_ns };
		int ret = cell->source->read(cell->open, value, &why);

		if (ret == 0 && cell->source->without)
			f.reading.without = cell->source->without(cell->open);
		if (f.reading.without && !c->partial) {
			f.reading.without = 0;
			ret = -ENODATA;
		}
		f.reading.place = cell->at.shown;
		f.reading.place.comm = cell->at.comm[0] ? cell->at.comm : NULL;
		f.reading.place.cgroup = cell->cgroup;
		for (size_t k = 0; k < cell->n; k++) {
			f.reading.event = c->order[cell->first + k];
			f.reading.value = value[k];
			f.reading.why = why.what[0] ? why.what : NULL;
			if (ret < 0)
				f.reading.value = (struct tare_reading){
					.quality = TARE_UNAVAILABLE
				};

			int put = to->put(to, &f, err);

			if (put < 0)
				return put;
		}
		if (ret == 0 && c->parts && cell->source->parts) {
			struct part_sink each = { c, cell, f, to, err };

			each.f.reading.why = NULL;
			each.f.reading.without = 0;
			ret = cell->source->parts(cell->open, c->parts, put_part, &each, err);
			if (ret < 0)
				return ret;
		}
	}
	return 0;
}

void counting_close(struct counting *c)
{
	drop_cells_from(c, 0);
	free(c->cell);
	free(c->enc);
	free(c->order);
	*c = (struct counting){ 0 };
}
