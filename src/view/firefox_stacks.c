/* SPDX-License-Identifier: MIT */
#include "view/firefox_stacks.h"

enum { MS_DECIMALS = 6 };

static struct spool *spool(struct firefox_stacks *f, int i)
{
	struct spool *const all[] = { &f->time, &f->stack,    &f->weight,  &f->prefix, &f->frame, &f->category,
				      &f->name, &f->resource, &f->address, &f->line,   &f->module };

	return i < (int)ARRAY_SIZE(all) ? all[i] : NULL;
}

void firefox_stacks_open(struct firefox_stacks *f)
{
	for (int i = 0; spool(f, i); i++)
		spool_open(spool(f, i));
}

void firefox_stacks_close(struct firefox_stacks *f)
{
	for (int i = 0; spool(f, i); i++)
		spool_close(spool(f, i));
	export_ids_free(&f->nodes);
	export_ids_free(&f->frames);
	export_ids_free(&f->modules);
}

static void separate(struct spool *s, uint64_t n)
{
	if (n)
		out_text(&s->out, ",");
}

static uint32_t add_module(struct export *x, struct firefox_stacks *f, uint32_t module, firefox_string *string)
{
	bool fresh;
	uint32_t id = export_id(&f->modules, module, &fresh);

	if (fresh) {
		separate(&f->module, id);
		/* Modules have numbers of their own: they stand behind all labels. */
		out_u64(&f->module.out, string(x, export_program(x) + 2 + module, stacks_name(x->of->stacks, module)));
	}
	return id;
}

static uint32_t add_frame(struct export *x, struct firefox_stacks *f, uint32_t index, firefox_string *string)
{
	size_t n;
	const struct stacks_frame *frame = stacks_frames(x->of->stacks, &n) + index;
	bool fresh;
	uint32_t id = export_id(&f->frames, index, &fresh);

	if (!fresh)
		return id;
	separate(&f->name, id);
	separate(&f->resource, id);
	separate(&f->address, id);
	separate(&f->line, id);
	out_u64(&f->name.out, string(x, index, export_label(x, index)->name));
	if (frame->module) /* what stands for something that is missing is in none */
		out_u64(&f->resource.out, add_module(x, f, frame->module, string));
	else
		out_text(&f->resource.out, "-1");
	if (frame->address)
		out_u64(&f->address.out, frame->address);
	else
		out_text(&f->address.out, "-1");
	if (frame->line)
		out_u64(&f->line.out, frame->line);
	else
		out_text(&f->line.out, "null");
	return id;
}

/* A stack refers to the one below it, which therefore comes before it. */
static uint32_t add_node(struct export *x, struct firefox_stacks *f, uint32_t node, firefox_string *string)
{
	size_t n;
	const struct stacks_node *nodes = stacks_nodes(x->of->stacks, &n);
	const struct stacks_frame *frames = stacks_frames(x->of->stacks, &n);
	uint32_t id = 0;
	bool fresh = true;

	for (;;) { /* from the outermost that is not there yet, to the node */
		uint32_t up = node;

		while (nodes[up].parent && !export_ids_has(&f->nodes, nodes[up].parent))
			up = nodes[up].parent;
		id = export_id(&f->nodes, up, &fresh);
		if (fresh) {
			uint32_t frame = add_frame(x, f, nodes[up].frame, string);

			separate(&f->prefix, id);
			separate(&f->frame, id);
			separate(&f->category, id);
			if (nodes[up].parent)
				out_u64(&f->prefix.out, export_id(&f->nodes, nodes[up].parent, &fresh));
			else
				out_text(&f->prefix.out, "null");
			out_u64(&f->frame.out, frame);
			out_u64(&f->category.out, frames[nodes[up].frame].flags & STACKS_KERNEL ? FIREFOX_KERNEL : FIREFOX_USER);
		}
		if (up == node || f->nodes.failed)
			return id;
	}
}

void firefox_stacks_add(struct export *x, struct firefox_stacks *f, const struct export_sample *e, firefox_string *string)
{
	separate(&f->time, f->samples);
	separate(&f->stack, f->samples);
	separate(&f->weight, f->samples);
	out_fixed(&f->time.out, e->at, MS_DECIMALS);
	if (e->node)
		out_u64(&f->stack.out, add_node(x, f, e->node, string));
	else
		out_text(&f->stack.out, "null");
	out_fixed(&f->weight.out, e->amount, MS_DECIMALS);
	f->samples++;
}

static void column(struct export *x, const char *name, struct spool *s)
{
	out_add(x->out, ",\"%s\":[", name);
	spool_pour(s, x->out);
	out_text(x->out, "]");
}

/* n times the same. */
static void constant(struct export *x, const char *name, const char *value, uint64_t n)
{
	out_add(x->out, ",\"%s\":[", name);
	for (uint64_t i = 0; i < n; i++) {
		out_text(x->out, i ? "," : "");
		out_text(x->out, value);
	}
	out_text(x->out, "]");
}

static void begin(struct export *x, const char *name, uint64_t n)
{
	out_add(x->out, "\"%s\":{\"length\":%llu", name, (unsigned long long)n);
}

void firefox_stacks_pour(struct export *x, struct firefox_stacks *f)
{
	uint64_t frames = f->frames.n, stacks = f->nodes.n, modules = f->modules.n;
	bool weighed = x->of->stacks && export_is_time(x->of); /* the profiler knows weights in ms, and none in events */

	begin(x, "samples", f->samples);
	column(x, "stack", &f->stack);
	column(x, "time", &f->time);
	if (weighed)
		column(x, "weight", &f->weight);
	else
		out_text(x->out, ",\"weight\":null");
	out_text(x->out, weighed ? ",\"weightType\":\"tracing-ms\"},\n" : ",\"weightType\":\"samples\"},\n");
	begin(x, "stackTable", stacks);
	column(x, "frame", &f->frame);
	column(x, "category", &f->category);
	constant(x, "subcategory", "0", stacks);
	column(x, "prefix", &f->prefix);
	out_text(x->out, "},\n");
	begin(x, "frameTable", frames);
	column(x, "address", &f->address);
	constant(x, "inlineDepth", "0", frames);
	constant(x, "category", "null", frames);
	constant(x, "subcategory", "null", frames);
	out_text(x->out, ",\"func\":[");
	for (uint64_t i = 0; i < frames; i++) {
		out_text(x->out, i ? "," : "");
		out_u64(x->out, i);
	}
	out_text(x->out, "]");
	constant(x, "nativeSymbol", "null", frames);
	constant(x, "innerWindowID", "0", frames);
	constant(x, "implementation", "null", frames);
	column(x, "line", &f->line);
	constant(x, "column", "null", frames);
	out_text(x->out, "},\n");
	begin(x, "funcTable", frames);
	constant(x, "isJS", "false", frames);
	constant(x, "relevantForJS", "false", frames);
	column(x, "name", &f->name);
	column(x, "resource", &f->resource);
	constant(x, "fileName", "null", frames);
	constant(x, "lineNumber", "null", frames);
	constant(x, "columnNumber", "null", frames);
	out_text(x->out, "},\n");
	begin(x, "resourceTable", modules);
	constant(x, "lib", "null", modules);
	column(x, "name", &f->module);
	constant(x, "host", "null", modules);
	constant(x, "type", "1", modules); /* a library */
	out_text(x->out, "},\n"
			 "\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[]},\n");
	spool_clear(&f->weight);
	if ((f->nodes.failed || f->frames.failed || f->modules.failed) && x->out->error == 0)
		x->out->error = -ENOMEM;
	export_ids_clear(&f->nodes);
	export_ids_clear(&f->frames);
	export_ids_clear(&f->modules);
	f->samples = 0;
}
