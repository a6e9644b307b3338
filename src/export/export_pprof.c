/* SPDX-License-Identifier: MIT */
/*
 * pprof's profile.proto, in gzip: each stack with its number of entries and every counter. A
 * function is written at its first use. Source: github.com/google/pprof, proto/profile.proto.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/text.h"
#include "perfdata/perfdata.h"
#include "export/export.h"
#include "output/gzip.h"
#include "output/json.h"
#include "output/protobuf.h"

enum { /* fields of Profile */
       SAMPLE_TYPE = 1,
       SAMPLE = 2,
       MAPPING = 3,
       LOCATION = 4,
       FUNCTION = 5,
       STRING_TABLE = 6,
       TIME_NANOS = 9,
       COMMENT = 13,
       DEFAULT_SAMPLE_TYPE = 14,
};

struct pprof {
	struct gzip *z;
	struct out *out;
	struct export_ids ids;     /* label -> location */
	struct set functions;      /* struct function_key */
	struct set words;          /* struct word_at */
	struct export_ids modules; /* of samples: module -> mapping */
	struct pb inner, message;
	uint64_t *location, *value;
	size_t room, strings;
};

/* Strings are numbered by their order in the file, independent of other fields in between. */
static uint64_t string(struct pprof *p, struct out *o, const char *s)
{
	struct text t = { 0 };

	text_utf8(&t, s);
	pb_clear(&p->inner);
	p->inner.failed |= t.failed;
	if (t.s)
		pb_bytes(&p->inner, STRING_TABLE, t.s, t.len);
	else
		pb_bytes(&p->inner, STRING_TABLE, "", 0);
	if (p->inner.failed && o->error == 0)
		o->error = -ENOMEM;
	out_put(o, p->inner.b, p->inner.n);
	text_free(&t);
	return p->strings++;
}

static void value_type(struct pprof *p, const char *type, const char *unit)
{
	uint64_t t = string(p, p->out, type), u = string(p, p->out, unit);

	pb_clear(&p->message);
	pb_int(&p->message, 1, t);
	pb_int(&p->message, 2, u);
	pb_write(p->out, SAMPLE_TYPE, &p->message);
}

/* A numeric field of Profile. */
static void put_number(struct pprof *p, unsigned field, uint64_t value)
{
	pb_clear(&p->inner);
	pb_int(&p->inner, field, value);
	out_put(p->out, p->inner.b, p->inner.n);
}

/*
 * The mapping of a module, from 1, or 0; written at its first use. Samples of an instruction are
 * summed over all processes. So addresses are file addresses, and the mapping is the executable
 * segment at its file address. pprof's base address is then 0, for ET_DYN and ET_EXEC.
 *
 * Source: github.com/google/pprof, internal/elfexec, GetBase().
 */
static uint64_t mapping(struct export *x, uint32_t module)
{
	struct pprof *p = x->own;
	const struct call_tree_module *at = module ? call_tree_module(x->of->call_tree, module)
						   : NULL;
	const char *build_id;
	uint64_t id, name, build = 0;
	bool fresh;

	if (!module)
		return 0;
	id = export_id(&p->modules, module, &fresh) + UINT64_C(1);
	if (!fresh)
		return id;
	build_id = call_tree_build_id(x->of->call_tree, module);
	name = string(p, p->out, call_tree_name(x->of->call_tree, module));
	if (*build_id)
		build = string(p, p->out, build_id);
	pb_clear(&p->message);
	pb_int(&p->message, 1, id);
	if (at && at->size) {
		pb_int(&p->message, 2, at->address);
		pb_int(&p->message, 3, at->address + at->size);
		pb_int(&p->message, 4, at->offset);
	}
	pb_int(&p->message, 5, name);
	if (build)
		pb_int(&p->message, 6, build);
	/* has_functions, has_filenames, has_line_numbers: no symbol lookup needed */
	for (unsigned has = 7; has <= 9; has++)
		pb_int(&p->message, has, 1);
	pb_write(p->out, MAPPING, &p->message);
	return id;
}

static int begin_pprof(struct export *x, struct tare_error *err)
{
	struct pprof *p = x->own;
	const struct timeline_info *info = x->of->info;

	int ret = gzip_open(&p->z, x->out, err);

	if (ret < 0)
		return ret;
	p->value = calloc(info->n_counters + 1, sizeof(*p->value));
	if (!p->value)
		return tare_fail_nomem(err);
	p->out = gzip_out(p->z);
	string(p, p->out, "");
	value_type(p, "count", "count");
	for (size_t c = 0; c < info->n_counters; c++) {
		const char *unit = info->counter[c].unit;
		uint64_t type = p->strings;

		value_type(p, info->counter[c].name,
			   !strcmp(unit, "ns") ? "nanoseconds"
				   : *unit     ? unit
					       : "count");
		if (c == x->of->counter)
			put_number(p, DEFAULT_SAMPLE_TYPE, type);
	}
	put_number(p, TIME_NANOS, info->start_ns);
	if (info->command)
		put_number(p, COMMENT, string(p, p->out, info->command));
	if (info->broke_off)
		put_number(p, COMMENT, string(p, p->out, PERFDATA_BROKE_OFF));
	if (info->damage)
		put_number(p, COMMENT, string(p, p->out, info->damage));
	if (x->of->call_tree) /* pprof assumes that the first mapping is the program's */
		mapping(x, x->of->call_tree->main);
	return 0;
}

/*
 * String numbers of a function's name, module and source file; for anything else (a region, a
 * thread) of the label.
 */
struct function_key {
	uint32_t name, module, file, label;
};

/* The function of a label, from 1. Many addresses share one function. */
static uint64_t function(struct export *x, const struct call_tree_frame *f, uint32_t label)
{
	struct pprof *p = x->own;
	const struct timeline_label *l = export_label(x, label);
	struct function_key key = { .label = label };
	uint64_t id, name, file = 0;
	bool fresh;

	if (f)
		key = (struct function_key){ f->function, f->module, f->file, SET_NONE };
	id = set_add(&p->functions, &key, sizeof(key), sizeof(key), &fresh);
	if (id == SET_NONE) {
		p->ids.failed = true;
		return 0;
	}
	if (!fresh)
		return id + 1;
	name = string(p, p->out, l->name);
	if (l->file)
		file = string(p, p->out, l->file);
	pb_clear(&p->message);
	pb_int(&p->message, 1, id + 1);
	pb_int(&p->message, 2, name);
	pb_int(&p->message, 3, name);
	if (l->file)
		pb_int(&p->message, 4, file);
	pb_write(p->out, FUNCTION, &p->message);
	return id + 1;
}

/* The location of a label, from 1; written with its function at its first use. */
static uint64_t location(struct export *x, uint32_t label)
{
	struct pprof *p = x->own;
	size_t n = 0;
	const struct call_tree_frame *all = x->of->call_tree
		? call_tree_frames(x->of->call_tree, &n)
		: NULL,
				     *f = label < n ? &all[label] : NULL;
	const struct timeline_label *l = export_label(x, label);
	uint32_t line = l->file ? l->line : 0;
	bool fresh;
	uint64_t id = export_id(&p->ids, label, &fresh) + UINT64_C(1), of, is;

	if (!fresh)
		return id;
	of = f ? mapping(x, f->module) : 0;
	is = function(x, f, label);
	pb_clear(&p->inner);
	pb_int(&p->inner, 1, is);
	if (line)
		pb_int(&p->inner, 2, line);
	pb_clear(&p->message);
	pb_int(&p->message, 1, id);
	if (of)
		pb_int(&p->message, 2, of);
	if (f && f->address)
		pb_int(&p->message, 3, f->address);
	pb_message(&p->message, 4, &p->inner);
	pb_write(p->out, LOCATION, &p->message);
	return id;
}

struct word_at {
	uint32_t word, string;
};

/* The string of a word of the stacks, written at its first use. */
static uint64_t word(struct export *x, uint32_t number)
{
	struct pprof *p = x->own;
	struct word_at key = { number, (uint32_t)p->strings };
	bool fresh;
	uint32_t at = set_add(&p->words, &key, sizeof(key), sizeof(key.word), &fresh);

	if (at == SET_NONE) {
		p->ids.failed = true;
		return 0;
	}
	if (fresh)
		string(p, p->out, call_tree_name(x->of->call_tree, number));
	return ((const struct word_at *)p->words.item)[at].string;
}

/*
 * The fields of a tracepoint are labels, all of them strings, because pprof drops a number that is
 * 0. Source: profile/encode.go, postDecode().
 */
static void labels(struct export *x, uint32_t trace)
{
	enum { LABEL = 3, KEY = 1, STRING = 2 };
	struct pprof *p = x->own;
	const struct call_tree_trace *value[CALL_TREE_TRACE_MOST];
	size_t n = trace ? call_tree_trace_values(x->of->call_tree, trace, value) : 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t key = word(x, value[i]->name), text = word(x, value[i]->value);

		pb_clear(&p->inner);
		pb_int(&p->inner, KEY, key);
		pb_int(&p->inner, STRING, text);
		pb_message(&p->message, LABEL, &p->inner);
	}
}

static void stack(struct export *x, const struct export_stack *s)
{
	struct pprof *p = x->own;
	size_t n_counters = x->of->info->n_counters;
	bool any = s->samples[x->of->counter] != 0;

	p->value[0] = s->samples[x->of->counter];
	for (size_t c = 0; c < n_counters; c++) {
		p->value[c + 1] = s->self[c];
		any |= s->self[c] != 0;
	}
	if (!any)
		return;
	if (!array_reserve(&p->location, &p->room, s->n + 1, sizeof(*p->location))) {
		p->out->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < s->n; i++)
		p->location[i] = location(x, s->label[s->n - 1 - i]);
	p->location[s->n] = location(x, export_program(x));
	pb_clear(&p->message);
	pb_ints(&p->message, 1, p->location, s->n + 1);
	pb_ints(&p->message, 2, p->value, n_counters + 1);
	labels(x, s->trace);
	pb_write(p->out, SAMPLE, &p->message);
}

static void end(struct export *x)
{
	struct pprof *p = x->own;

	if ((p->ids.failed || p->modules.failed || p->message.failed) && p->out->error == 0)
		p->out->error = -ENOMEM;
	gzip_close(p->z);
	p->z = NULL;
}

static void release(struct export *x)
{
	struct pprof *p = x->own;

	gzip_close(p->z);
	export_ids_free(&p->ids);
	pb_free(&p->inner);
	pb_free(&p->message);
	export_ids_free(&p->modules);
	set_free(&p->functions);
	set_free(&p->words);
	free(p->location);
	free(p->value);
}

const struct exporter export_pprof = {
	.name = "pprof",
	.about = "pprof's profile.proto (gzip): go tool pprof, every counter",
	.ending = ".pb.gz",
	.binary = true,
	.by_address = true,
	.fields = true,
	.own_size = sizeof(struct pprof),
	.begin = begin_pprof,
	.stack = stack,
	.end = end,
	.free = release,
};
