/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "export/firefox_stacks.h"

enum { MS_DECIMALS = 6 };

static struct spool *spool(struct firefox_stacks *f, int i)
{
	struct spool *const all[] = { &f->time,     &f->stack, &f->weight,   &f->prefix,  &f->frame,
				      &f->category, &f->name,  &f->resource, &f->address, &f->line,
				      &f->module,   &f->func,  &f->file,     &f->lib };

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
	export_ids_free(&f->libs);
	free(f->lib_module);
	set_free(&f->funcs);
}

static void separate(struct spool *s, uint64_t n)
{
	if (n)
		out_text(&s->out, ",");
}

/* Words have separate numbers, after all labels. */
static uint64_t word(struct export *x, uint32_t number, firefox_string *string)
{
	return string(x, export_program(x) + 2 + number, call_tree_name(x->of->call_tree, number));
}

/* The lib of a module, for the whole profile; SET_NONE: not a file. */
static uint32_t add_lib(struct export *x, struct firefox_stacks *f, uint32_t module)
{
	bool fresh;
	uint32_t lib;

	if (call_tree_name(x->of->call_tree, module)[0] != '/')
		return SET_NONE;
	lib = export_id(&f->libs, module, &fresh);
	if (fresh &&
	    !array_reserve(&f->lib_module, &f->libs_room, lib + 1, sizeof(*f->lib_module))) {
		f->libs.failed = true;
		return SET_NONE;
	}
	if (fresh)
		f->lib_module[lib] = module;
	return lib;
}

static uint32_t add_module(struct export *x, struct firefox_stacks *f, uint32_t module,
			   firefox_string *string)
{
	bool fresh;
	uint32_t id = export_id(&f->modules, module, &fresh);

	if (fresh) {
		uint32_t lib = add_lib(x, f, module);

		separate(&f->module, id);
		separate(&f->lib, id);
		out_u64(&f->module.out, word(x, module, string));
		if (lib == SET_NONE)
			out_text(&f->lib.out, "null");
		else
			out_u64(&f->lib.out, lib);
	}
	return id;
}

/* Many addresses share one function. */
static uint32_t add_func(struct export *x, struct firefox_stacks *f,
			 const struct call_tree_frame *frame, firefox_string *string)
{
	const uint32_t key[4] = { frame->function, frame->module, frame->file };
	bool fresh;
	uint32_t id = set_add(&f->funcs, key, sizeof(key), sizeof(key), &fresh);

	if (id == SET_NONE) {
		f->frames.failed = true;
		return 0;
	}
	if (!fresh)
		return id;
	separate(&f->name, id);
	separate(&f->file, id);
	separate(&f->resource, id);
	out_u64(&f->name.out, word(x, frame->function, string));
	if (frame->module) /* placeholders for missing frames have no module */
		out_u64(&f->resource.out, add_module(x, f, frame->module, string));
	else
		out_text(&f->resource.out, "-1");
	if (frame->file)
		out_u64(&f->file.out, word(x, frame->file, string));
	else
		out_text(&f->file.out, "null");
	return id;
}

/*
 * Relative to the first segment of its lib. Source: the profiler's src/types/profile.ts,
 * FrameTable, "address".
 */
static bool address_in_lib(struct export *x, const struct call_tree_frame *frame, uint64_t *address)
{
	const struct call_tree_module *m = frame->module
		? call_tree_module(x->of->call_tree, frame->module)
		: NULL;

	if (!frame->address || !m || call_tree_name(x->of->call_tree, frame->module)[0] != '/' ||
	    frame->address < m->base)
		return false;
	*address = frame->address - m->base;
	return true;
}

static uint32_t add_frame(struct export *x, struct firefox_stacks *f, uint32_t index,
			  firefox_string *string)
{
	size_t n;
	const struct call_tree_frame *frame = call_tree_frames(x->of->call_tree, &n) + index;
	bool fresh;
	uint32_t id = export_id(&f->frames, index, &fresh);
	uint64_t address;

	if (!fresh)
		return id;
	separate(&f->func, id);
	separate(&f->address, id);
	separate(&f->line, id);
	out_u64(&f->func.out, add_func(x, f, frame, string));
	if (address_in_lib(x, frame, &address))
		out_u64(&f->address.out, address);
	else
		out_text(&f->address.out, "-1");
	if (frame->line)
		out_u64(&f->line.out, frame->line);
	else
		out_text(&f->line.out, "null");
	return id;
}

/* A stack refers to its parent, which is therefore written first. */
static uint32_t add_node(struct export *x, struct firefox_stacks *f, uint32_t node,
			 firefox_string *string)
{
	size_t n;
	const struct call_tree_node *nodes = call_tree_nodes(x->of->call_tree, &n);
	const struct call_tree_frame *frames = call_tree_frames(x->of->call_tree, &n);
	uint32_t id = 0;
	bool fresh = true;

	for (;;) { /* from the outermost missing one to the node */
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
				out_u64(&f->prefix.out,
					export_id(&f->nodes, nodes[up].parent, &fresh));
			else
				out_text(&f->prefix.out, "null");
			out_u64(&f->frame.out, frame);
			out_u64(&f->category.out,
				frames[nodes[up].frame].flags & CALL_TREE_KERNEL ? FIREFOX_KERNEL
										 : FIREFOX_USER);
		}
		if (up == node || f->nodes.failed)
			return id;
	}
}

void firefox_stacks_add(struct export *x, struct firefox_stacks *f, const struct export_sample *e,
			firefox_string *string)
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

/* The same value n times. */
static void constant(struct export *x, const char *name, const char *value, uint64_t n)
{
	out_add(x->out, ",\"%s\":[", name);
	for (uint64_t i = 0; i < n; i++) {
		out_text(x->out, i ? "," : "");
		out_text(x->out, value);
	}
	out_text(x->out, "]");
}

static void begin_table(struct export *x, const char *name, uint64_t n)
{
	out_add(x->out, "\"%s\":{\"length\":%llu", name, (unsigned long long)n);
}

void firefox_stacks_pour(struct export *x, struct firefox_stacks *f)
{
	uint64_t frames = f->frames.n, call_tree = f->nodes.n, modules = f->modules.n,
		 funcs = f->funcs.n;
	/* the profiler supports weights in ms, but not in events */
	bool weighed = x->of->call_tree && export_is_time(x->of);

	begin_table(x, "samples", f->samples);
	column(x, "stack", &f->stack);
	column(x, "time", &f->time);
	if (weighed)
		column(x, "weight", &f->weight);
	else
		out_text(x->out, ",\"weight\":null");
	out_text(x->out,
		 weighed ? ",\"weightType\":\"tracing-ms\"},\n"
			 : ",\"weightType\":\"samples\"},\n");
	begin_table(x, "stackTable", call_tree);
	column(x, "frame", &f->frame);
	column(x, "category", &f->category);
	constant(x, "subcategory", "0", call_tree);
	column(x, "prefix", &f->prefix);
	out_text(x->out, "},\n");
	begin_table(x, "frameTable", frames);
	column(x, "address", &f->address);
	constant(x, "inlineDepth", "0", frames);
	constant(x, "category", "null", frames);
	constant(x, "subcategory", "null", frames);
	column(x, "func", &f->func);
	constant(x, "nativeSymbol", "null", frames);
	constant(x, "innerWindowID", "0", frames);
	constant(x, "implementation", "null", frames);
	column(x, "line", &f->line);
	constant(x, "column", "null", frames);
	out_text(x->out, "},\n");
	begin_table(x, "funcTable", funcs);
	constant(x, "isJS", "false", funcs);
	constant(x, "relevantForJS", "false", funcs);
	column(x, "name", &f->name);
	column(x, "resource", &f->resource);
	column(x, "fileName", &f->file);
	constant(x, "lineNumber", "null", funcs);
	constant(x, "columnNumber", "null", funcs);
	out_text(x->out, "},\n");
	begin_table(x, "resourceTable", modules);
	column(x, "lib", &f->lib);
	column(x, "name", &f->module);
	constant(x, "host", "null", modules);
	constant(x, "type", "1", modules); /* a library */
	out_text(
		x->out,
		"},\n"
		"\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[]},\n");
	spool_clear(&f->weight);
	if ((f->nodes.failed || f->frames.failed || f->modules.failed || f->libs.failed) &&
	    x->out->error == 0)
		x->out->error = -ENOMEM;
	export_ids_clear(&f->nodes);
	export_ids_clear(&f->frames);
	export_ids_clear(&f->modules);
	set_free(&f->funcs);
	f->funcs = (struct set){ 0 };
	f->samples = 0;
}

/*
 * A build id in the form of the profiler's symbol servers: its first 16 bytes as a GUID of three
 * little-endian fields and 8 bytes, then an age of 0.
 *
 * Source: github.com/google/breakpad, src/common/linux/file_id.cc, ConvertIdentifierToUUIDString().
 */
static void breakpad_id(char out[34], const char *build_id)
{
	static const int order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	size_t bytes = strlen(build_id) / 2;

	for (int i = 0; i < 16; i++)
		for (int k = 0; k < 2; k++) {
			char c = (size_t)order[i] < bytes ? build_id[2 * order[i] + k] : '0';

			out[2 * i + k] = (char)(c >= 'a' ? c - 'a' + 'A' : c);
		}
	strcpy(out + 32, "0");
}

void firefox_stacks_libs(struct export *x, struct firefox_stacks *f)
{
	struct out *o = x->out;

	for (uint32_t i = 0; i < f->libs.n; i++) {
		const char *path = call_tree_name(x->of->call_tree, f->lib_module[i]),
			   *build = call_tree_build_id(x->of->call_tree, f->lib_module[i]);
		const char *name = strrchr(path, '/') + 1;
		char id[34];

		breakpad_id(id, build);
		out_text(o, i ? ",\n{\"arch\":\"\",\"name\":" : "\n{\"arch\":\"\",\"name\":");
		out_json(o, name);
		out_text(o, ",\"path\":");
		out_json(o, path);
		out_text(o, ",\"debugName\":");
		out_json(o, name);
		out_text(o, ",\"debugPath\":");
		out_json(o, path);
		out_text(o, ",\"breakpadId\":");
		out_json(o, id);
		out_text(o, ",\"codeId\":");
		if (*build)
			out_json(o, build);
		else
			out_text(o, "null");
		out_text(o, "}");
	}
}
