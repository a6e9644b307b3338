/* SPDX-License-Identifier: MIT */
/*
 * Names the instructions that made the accesses, module by module, so that only one module's
 * symbols are read at a time.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "memory/memory_samples_private.h"

static int by_place(const void *pa, const void *pb, void *arg)
{
	const struct memory_samples_code *code = arg, *a = &code[*(const uint32_t *)pa],
					 *b = &code[*(const uint32_t *)pb];

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static const char *shown_module(struct memory_samples *c, uint32_t number)
{
	const struct module *of = &c->modules.module[number];

	return of->kind == MODULE_MEMORY    ? "[anonymous memory]"
		: of->kind == MODULE_SYMBOL ? "[bpf]"
					    : words_at(&c->modules.words, of->path);
}

static uint32_t word(struct memory_samples *c, const char *s)
{
	return words_add(&c->modules.words, s, strlen(s));
}

bool memory_samples_name_one(struct memory_samples *c, const struct memory_samples_code *code,
			     struct memory_samples_name *out)
{
	struct symbol symbol;
	const char *file;
	unsigned line;
	bool found = modules_find(&c->modules, code->module, code->offset, &symbol) && symbol.name;
	struct module *of = &c->modules.module[code->module];

	*out = (struct memory_samples_name){ .function = found ? word(c, symbol.name) : 0,
					     .module = word(c, shown_module(c, code->module)) };
	if (of->symbols && symbols_line(of->symbols, code->offset, &file, &line)) {
		out->file = word(c, file);
		out->line = line;
	}
	return out->function != WORDS_NONE && out->module != WORDS_NONE && out->file != WORDS_NONE;
}

/* C++ library code that is compiled into programs. */
static bool of_library(const char *file)
{
	return file && strstr(file, "/include/c++/");
}

bool memory_samples_name_caller(struct memory_samples *c, const struct memory_samples_code *code,
				struct memory_samples_name *out, bool *library)
{
	struct symbols *symbols;
	struct symbol_inlined in[SYMBOL_INLINED_MAX];
	unsigned n;

	*library = false;
	if (!memory_samples_name_one(c, code, out))
		return false;
	symbols = c->modules.module[code->module].symbols;
	if (!out->file || !of_library(words_at(&c->modules.words, out->file)))
		return true;
	n = symbols_inlined(symbols, code->offset, in);
	for (unsigned i = 0; i < n; i++) {
		if (!in[i].call_file || of_library(in[i].call_file))
			continue;
		out->file = word(c, in[i].call_file);
		out->line = in[i].call_line;
		return out->file != WORDS_NONE;
	}
	*library = true;
	return true;
}

static int add_unnamed(struct memory_samples *c, uint32_t module, uint64_t samples,
		       struct tare_error *err)
{
	const struct module *why = modules_why(&c->modules, module);
	struct samples_unnamed *row;

	if (!array_one_more(&c->unnamed, c->n_unnamed, sizeof(*c->unnamed)))
		return tare_fail_nomem(err);
	row = &c->unnamed[c->n_unnamed++];
	*row = (struct samples_unnamed){ strdup(shown_module(c, module)), strdup(why->why),
					 strdup(why->remedy), samples };
	return row->module && row->why && row->remedy ? 0 : tare_fail_nomem(err);
}

static int most_first(const void *pa, const void *pb)
{
	const struct samples_unnamed *a = pa, *b = pb;

	return a->samples < b->samples    ? 1
		: a->samples > b->samples ? -1
					  : strcmp(a->module, b->module);
}

void memory_samples_forget_unnamed(struct memory_samples *c)
{
	for (size_t i = 0; i < c->n_unnamed; i++) {
		free(c->unnamed[i].module);
		free(c->unnamed[i].why);
		free(c->unnamed[i].remedy);
	}
	free(c->unnamed);
	c->unnamed = NULL;
	c->n_unnamed = 0;
}

int memory_samples_name(struct memory_samples *c, const struct memory_samples_code *code,
			const uint64_t *samples, size_t n, struct memory_samples_name *out,
			struct tare_error *err)
{
	uint32_t *order = calloc(n ? n : 1, sizeof(*order));
	uint64_t unnamed = 0;
	int ret = 0;

	if (!order)
		return tare_fail_nomem(err);
	memory_samples_forget_unnamed(c);
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, n, sizeof(*order), by_place, (void *)code);
	for (size_t i = 0; ret == 0 && i < n; i++) {
		uint32_t module = code[order[i]].module;

		if (!memory_samples_name_one(c, &code[order[i]], &out[order[i]]))
			ret = tare_fail_nomem(err);
		if (!out[order[i]].function)
			unnamed += samples[order[i]];
		if (ret < 0 || (i + 1 < n && code[order[i + 1]].module == module))
			continue;
		if (unnamed)
			ret = add_unnamed(c, module, unnamed, err);
		unnamed = 0;
		modules_close(&c->modules, module);
	}
	if (c->n_unnamed)
		qsort(c->unnamed, c->n_unnamed, sizeof(*c->unnamed), most_first);
	free(order);
	return ret;
}
