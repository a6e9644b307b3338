/* SPDX-License-Identifier: MIT */
/*
 * speedscope's own format: a profile for each thread, in which regions open and close, or with a
 * list of samples. Frames come after the profiles, when all of them are known. Source: speedscope,
 * "file-format-schema.json".
 */
#include "export/export.h"

enum { PATH_MAX_FRAMES = 4096 }; /* the innermost frames of a deeper stack */

struct speedscope {
	struct export_ids ids;
	struct spool frames, weights;
	bool in_profile, any_event;
	size_t profiles;
	uint64_t first, last;
};

static int begin_speedscope(struct export *x, struct tare_error *err)
{
	struct speedscope *s = x->own;

	(void)err;
	spool_open(&s->frames);
	spool_open(&s->weights);
	out_text(
		x->out,
		"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"exporter\":\"tare " TARE_VERSION
		"\",\n\"name\":");
	out_json(x->out, x->of->info->command ? x->of->info->command : x->of->info->path);
	out_text(x->out, ",\n\"profiles\":[");
	return 0;
}

static void end_profile(struct export *x)
{
	struct speedscope *s = x->own;

	if (!s->in_profile)
		return;
	if (x->of->call_tree) {
		out_text(x->out, "],\"weights\":[");
		spool_pour(&s->weights, x->out);
	}
	out_text(x->out, "],\"startValue\":");
	out_u64(x->out, s->any_event ? s->first : 0);
	out_text(x->out, ",\"endValue\":");
	out_u64(x->out, s->last);
	out_text(x->out, "}");
	s->in_profile = false;
}

static void thread(struct export *x)
{
	struct speedscope *s = x->own;
	const struct timeline_thread *t = &x->of->info->thread[x->thread];
	char room[EXPORT_THREAD_ROOM];

	end_profile(x);
	out_text(x->out, s->profiles++ ? ",\n" : "\n");
	out_text(x->out,
		 x->of->call_tree ? "{\"type\":\"sampled\",\"name\":"
				  : "{\"type\":\"evented\",\"name\":");
	out_json(x->out, export_thread_name(t, room));
	out_text(x->out,
		 export_is_time(x->of) ? ",\"unit\":\"nanoseconds\"" : ",\"unit\":\"none\"");
	out_text(x->out, x->of->call_tree ? ",\"samples\":[" : ",\"events\":[");
	s->in_profile = true;
	s->any_event = false;
	s->first = s->last = 0;
}

static uint32_t frame(struct export *x, uint32_t label)
{
	struct speedscope *s = x->own;
	const struct timeline_label *l = export_label(x, label);
	uint32_t group = l->group;
	bool fresh;
	uint32_t id = export_id(&s->ids, group, &fresh);
	struct out *o = &s->frames.out;

	if (!fresh)
		return id;
	l = export_label(x, group);
	out_text(o, id ? ",\n{\"name\":" : "\n{\"name\":");
	out_json(o, l->name);
	if (l->file) {
		out_text(o, ",\"file\":");
		out_json(o, l->file);
		out_text(o, ",\"line\":");
		out_u64(o, l->line);
	}
	out_text(o, "}");
	return id;
}

static void event(struct export *x, const char *type, uint32_t label, uint64_t at)
{
	struct speedscope *s = x->own;

	if (!s->any_event)
		s->first = at;
	out_text(x->out, s->any_event ? ",\n{\"type\":\"" : "\n{\"type\":\"");
	out_text(x->out, type);
	out_text(x->out, "\",\"frame\":");
	out_u64(x->out, frame(x, label));
	out_text(x->out, ",\"at\":");
	out_u64(x->out, at);
	out_text(x->out, "}");
	s->any_event = true;
	s->last = at;
}

static void open_span(struct export *x, const struct export_span *s)
{
	event(x, "O", s->label, s->begin);
}

static void close_span(struct export *x, const struct export_span *s)
{
	event(x, "C", s->label, s->end);
}

static void mark(struct export *x, const struct export_mark *m)
{
	(void)x;
	(void)m; /* not supported by the format */
}

/* Of the selected event: a stack and its amount. */
static void sample(struct export *x, const struct export_sample *e)
{
	struct speedscope *s = x->own;
	size_t n;
	const struct call_tree_node *node = call_tree_nodes(x->of->call_tree, &n);
	uint32_t path[PATH_MAX_FRAMES];
	size_t depth = 0;

	if (e->counter != x->of->counter)
		return;
	for (uint32_t up = e->node; up && depth < PATH_MAX_FRAMES; up = node[up].parent)
		path[depth++] = node[up].frame;
	out_text(x->out, s->any_event ? ",\n[" : "\n[");
	while (depth) {
		out_u64(x->out, frame(x, path[--depth]));
		out_text(x->out, depth ? "," : "");
	}
	out_text(x->out, "]");
	out_text(&s->weights.out, s->any_event ? "," : "");
	out_u64(&s->weights.out, e->amount);
	s->any_event = true;
	s->last += e->amount;
}

static void end(struct export *x)
{
	struct speedscope *s = x->own;

	end_profile(x);
	out_text(x->out, "\n],\n\"shared\":{\"frames\":[");
	spool_pour(&s->frames, x->out);
	out_text(x->out, "\n]}}\n");
	if (s->ids.failed && x->out->error == 0)
		x->out->error = -ENOMEM;
}

static void release(struct export *x)
{
	struct speedscope *s = x->own;

	export_ids_free(&s->ids);
	spool_close(&s->frames);
	spool_close(&s->weights);
}

const struct exporter export_speedscope = {
	.name = "speedscope",
	.about = "speedscope (JSON): www.speedscope.app, a profile for each thread",
	.ending = ".speedscope.json",
	.own_size = sizeof(struct speedscope),
	.begin = begin_speedscope,
	.thread = thread,
	.open = open_span,
	.close = close_span,
	.mark = mark,
	.sample = sample,
	.end = end,
	.free = release,
};
