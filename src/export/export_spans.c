/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include "base/array.h"
#include "export/export_spans.h"
#include "output/base64_column.h"

struct span {
	uint64_t begin, end;
	uint32_t thread, label, depth;
};

struct spans {
	struct span *span;
	size_t n, room;
	uint32_t *label; /* of each number of `ids` */
	size_t labels, labels_room;
	struct export_ids ids;
	uint64_t first, tick;
	bool failed;
};

static int begin_spans(struct export *x, struct tare_error *err)
{
	struct spans *s = x->own;

	(void)err;
	s->first = UINT64_MAX;
	return 0;
}

static uint32_t number_of(struct spans *s, uint32_t label)
{
	bool fresh = false;
	uint32_t id = export_id(&s->ids, label, &fresh);

	if (fresh && !array_reserve(&s->label, &s->labels_room, s->labels + 1, sizeof(*s->label)))
		s->failed = true;
	else if (fresh)
		s->label[s->labels++] = label;
	s->failed |= s->ids.failed;
	return id;
}

static void close_span(struct export *x, const struct export_span *of)
{
	struct spans *s = x->own;

	if (s->failed || s->n == EXPORT_SPANS_MOST)
		return;
	if (!array_reserve(&s->span, &s->room, s->n + 1, sizeof(*s->span))) {
		s->failed = true;
		return;
	}
	s->span[s->n++] = (struct span){ .begin = of->begin,
					 .end = of->end > of->begin ? of->end : of->begin,
					 .thread = (uint32_t)x->thread,
					 .label = number_of(s, of->label),
					 .depth = of->depth };
	s->first = of->begin < s->first ? of->begin : s->first;
}

static void no_mark(struct export *x, const struct export_mark *m)
{
	(void)x;
	(void)m;
}

static uint64_t begin_of(void *with, size_t i)
{
	const struct spans *s = with;

	return (s->span[i].begin - s->first) / s->tick;
}

static uint64_t length_of(void *with, size_t i)
{
	const struct spans *s = with;

	return (s->span[i].end - s->first) / s->tick - begin_of(with, i);
}

static uint64_t thread_of(void *with, size_t i)
{
	return ((struct spans *)with)->span[i].thread;
}

static uint64_t label_of(void *with, size_t i)
{
	return ((struct spans *)with)->span[i].label;
}

static uint64_t depth_of(void *with, size_t i)
{
	return ((struct spans *)with)->span[i].depth;
}

static void put_names(struct json *j, struct export *x)
{
	const struct timeline_info *info = x->of->info;
	const struct spans *s = x->own;
	char room[EXPORT_THREAD_ROOM];

	json_array(j, "threads");
	for (size_t i = 0; i < info->n_threads; i++) {
		json_object(j, NULL);
		json_uint(j, "pid", info->thread[i].pid);
		json_uint(j, "tid", info->thread[i].tid);
		json_string(j, "name", export_thread_name(&info->thread[i], room));
		json_end(j);
	}
	json_end(j);
	json_array(j, "labels");
	for (size_t i = 0; i < s->labels; i++)
		json_string(j, NULL, export_label(x, s->label[i])->name);
	json_end(j);
}

static void end_spans(struct export *x)
{
	const struct timeline_counter *axis = &x->of->info->counter[x->of->counter];
	struct spans *s = x->own;
	struct json j = { .to = x->out };
	uint64_t last = 0;

	for (size_t i = 0; i < s->n; i++)
		last = s->span[i].end > last ? s->span[i].end : last;
	s->first = s->n ? s->first : 0;
	s->tick = (last - s->first) / UINT32_MAX + 1; /* offsets fit in 32 bits */
	if (s->failed)
		x->out->error = x->out->error ? x->out->error : -ENOMEM;
	json_object(&j, NULL);
	json_string(&j, "schema", "tare/spans/1");
	json_object(&j, "axis");
	json_string(&j, "name", axis->name);
	json_string(&j, "unit", axis->unit ? axis->unit : "");
	json_uint(&j, "first", s->first);
	json_uint(&j, "tick", s->tick);
	json_end(&j);
	put_names(&j, x);
	base64_uints(&j, "begin", begin_of, s, s->n);
	base64_uints(&j, "length", length_of, s, s->n);
	base64_uints(&j, "thread", thread_of, s, s->n);
	base64_uints(&j, "label", label_of, s, s->n);
	base64_uints(&j, "depth", depth_of, s, s->n);
	json_end(&j);
	json_finish(&j);
}

static void free_spans(struct export *x)
{
	struct spans *s = x->own;

	export_ids_free(&s->ids);
	free(s->span);
	free(s->label);
}

const struct exporter export_spans = {
	.name = "spans",
	.own_size = sizeof(struct spans),
	.begin = begin_spans,
	.close = close_span,
	.mark = no_mark,
	.end = end_spans,
	.free = free_spans,
};
