/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "memory/sharing/sharing_named.h"

static int name_cells(struct sharing_named *n, struct tare_error *err)
{
	const struct sharing_cell *cell = sharing_cells(n->s);
	struct memory_samples_code *code;
	uint64_t *samples;
	size_t cells = 0;
	int ret;

	for (size_t i = 0; i < n->n; i++)
		cells += n->line[i].line->n_cells;
	code = calloc(cells + 1, sizeof(*code));
	samples = calloc(cells + 1, sizeof(*samples));
	n->name = calloc(cells + 1, sizeof(*n->name));
	ret = code && samples && n->name ? 0 : tare_fail_nomem(err);
	for (size_t i = 0; ret == 0 && i < cells; i++) {
		struct tare_access a = { .ip = cell[i].ip,
					 .pid = cell[i].pid,
					 .kernel = cell[i].kernel,
					 .time_ns = cell[i].time_ns,
					 .has = cell[i].time_ns == UINT64_MAX ? 0
									      : TARE_ACCESS_TIME };

		code[i] = memory_samples_code(n->of, &a);
		samples[i] = cell[i].loads + cell[i].stores;
	}
	if (ret == 0)
		ret = memory_samples_name(n->of, code, samples, cells, n->name, err);
	free(code);
	free(samples);
	return ret;
}

struct byte_named {      /* a byte of a line */
	uint32_t object; /* SET_NONE: out of memory */
	bool is_variable;
	char variable[700];
	struct symbol_field field;
};

/*
 * "loc.0" from gcc and "f.loc" from clang are linker names of the source variable "loc", and would
 * look like a member.
 */
static const char *variable_name(const char *symbol, const struct symbol_field *f)
{
	return f->variable && strchr(symbol, '.') ? f->variable : symbol;
}

static void name_byte(struct memory_samples *c, const struct sharing_line *l, uint64_t offset,
		      bool last, struct byte_named *out)
{
	uint64_t at;
	const struct object *o;
	struct symbol unused;

	*out = (struct byte_named){ .object = memory_samples_object(c, l->seen_by, l->time_ns,
								    l->seen_at + offset, &at) };
	o = out->object == SET_NONE ? NULL : memory_samples_object_at(c, out->object);
	if (!o || o->kind != OBJECT_SYMBOL)
		return;
	out->is_variable = true;
	modules_find(&c->modules, o->module, 0, &unused); /* has its symbols read */
	if (c->modules.module[o->module].symbols)
		symbols_field(c->modules.module[o->module].symbols, o->start, at, last,
			      &out->field);
	snprintf(out->variable, sizeof(out->variable), "%s",
		 variable_name(words_at(&c->modules.words, o->name), &out->field));
}

struct cell_named {
	struct byte_named first, last; /* bytes that belong to a member */
};

static bool is_open(const struct byte_named *b)
{
	return b->field.hole || !b->is_variable;
}

/* An access may touch more than one field, and begin or end in padding. */
static void name_ends(struct memory_samples *c, const struct sharing_line *l,
		      const struct sharing_cell *cell, struct cell_named *out)
{
	struct byte_named other;
	uint64_t end = cell->offset + (cell->size ? cell->size - 1u : 0), at;

	name_byte(c, l, cell->offset, false, &out->first);
	for (at = cell->offset;
	     is_open(&out->first) && out->first.object != SET_NONE && at < end;) {
		name_byte(c, l, ++at, false, &other);
		if (!is_open(&other))
			out->first = other;
	}
	name_byte(c, l, end, cell->size != 0, &out->last);
	for (at = end; is_open(&out->last) && out->last.object != SET_NONE && at > cell->offset;) {
		name_byte(c, l, --at, true, &other);
		if (!is_open(&other))
			out->last = other;
	}
}

/* WORDS_NONE: out of memory. */
static uint32_t word_of(struct memory_samples *c, const struct cell_named *n)
{
	char first[1024], last[1024], whole[sizeof(first) + sizeof(last) + 2];
	int k;

	if (n->first.object == SET_NONE || n->last.object == SET_NONE)
		return WORDS_NONE;
	if (!n->first.is_variable)
		return 0;
	snprintf(first, sizeof(first), "%s%s", n->first.variable, n->first.field.name);
	snprintf(last, sizeof(last), "%s%s", n->last.variable, n->last.field.name);
	k = n->last.is_variable && strcmp(first, last)
		? snprintf(whole, sizeof(whole), "%s..%s", first, last)
		: snprintf(whole, sizeof(whole), "%s", first);
	return words_add(&c->modules.words, whole, (size_t)k);
}

/* The variable and the first members that a byte belongs to. */
static uint32_t word_up_to(struct memory_samples *c, const struct byte_named *b, unsigned parts)
{
	char whole[1024];
	int n = snprintf(whole, sizeof(whole), "%s%.*s", b->variable,
			 (int)b->field.part[parts - 1].end, b->field.name);

	return words_add(&c->modules.words, whole, (size_t)n);
}

/*
 * The level, counted from 1, at which two bytes of a variable are in different members, the second
 * of which can be aligned. 0: there is none.
 */
static unsigned parting(const struct byte_named *a, const struct byte_named *b)
{
	unsigned from = 0;

	if (a->object != b->object || is_open(a) || is_open(b))
		return 0;
	for (unsigned i = 0; i < a->field.parts && i < b->field.parts;
	     from = a->field.part[i++].end)
		if (a->field.part[i].end != b->field.part[i].end ||
		    memcmp(a->field.name + from, b->field.name + from, a->field.part[i].end - from))
			return a->field.name[from] == '.' && b->field.part[i].mine ? i + 1 : 0;
	return 0;
}

/* Between two cells of different owners. */
static int find_cut(struct sharing_named *n, struct sharing_named_line *line, size_t at,
		    struct tare_error *err)
{
	const struct sharing_cell *cell = sharing_cells(n->s);
	struct cell_named before, here;
	unsigned part;

	name_ends(n->of, line->line, &cell[at - 1], &before);
	name_ends(n->of, line->line, &cell[at], &here);
	part = parting(&before.last, &here.first);
	if (!part)
		return 0;
	n->aligned[at] = word_up_to(n->of, &here.first, part);
	if (!line->cuts++)
		line->keeps = word_up_to(n->of, &before.last, part);
	return n->aligned[at] == WORDS_NONE || line->keeps == WORDS_NONE ? tare_fail_nomem(err) : 1;
}

struct sharing_owner sharing_owner(const struct sharing_cell *cell, size_t n)
{
	struct sharing_owner o = { 0 };
	uint64_t his = 0;

	for (; o.cells < n && cell[o.cells].offset == cell->offset; o.cells++) {
		const struct sharing_cell *c = &cell[o.cells];

		if (!o.cells || c->tid != c[-1].tid)
			o.threads++, his = 0;
		his += c->loads + c->stores;
		o.hits += c->loads + c->stores;
		o.stores += c->stores;
		if (his > o.his)
			o.his = his, o.tid = c->tid;
	}
	o.one = sharing_apart(o.hits, o.his, o.hits);
	o.read = !o.one && sharing_apart(o.hits, o.his, o.stores);
	return o;
}

/*
 * The owning thread of each cell of a line; bytes that are only read get a thread number that does
 * not exist.
 */
static uint32_t *owners_of(const struct sharing_cell *cell, size_t n)
{
	uint32_t *owner = malloc((n + 1) * sizeof(*owner));

	for (size_t i = 0; owner && i < n;) {
		struct sharing_owner o = sharing_owner(cell + i, n - i);

		for (size_t end = i + o.cells; i < end; i++)
			owner[i] = o.one ? o.tid : o.read ? UINT32_MAX : cell[i].tid;
	}
	return owner;
}

/* No suggestion if a thread's bytes are on both sides of another's: no cut separates them. */
static int find_cuts(struct sharing_named *n, struct sharing_named_line *line,
		     struct tare_error *err)
{
	const struct sharing_line *l = line->line;
	const struct sharing_cell *cell = sharing_cells(n->s);
	uint32_t *owner = owners_of(cell + l->cell, l->n_cells);
	unsigned end = 0; /* end of the bytes so far */
	int ret = owner ? 1 : tare_fail_nomem(err);

	for (size_t i = l->cell; ret == 1 && i < l->cell + l->n_cells; i++) {
		unsigned until = cell[i].offset + (cell[i].size ? cell[i].size : 1u);

		if (i > l->cell && owner[i - l->cell] != owner[i - 1 - l->cell]) {
			ret = cell[i].offset >= end;
			for (size_t k = l->cell; ret == 1 && k < i; k++)
				ret = owner[k - l->cell] != owner[i - l->cell];
			if (ret == 1)
				ret = find_cut(n, line, i, err);
		}
		end = until > end ? until : end;
	}
	if (ret == 0) {
		line->cuts = 0;
		memset(n->aligned + l->cell, 0, l->n_cells * sizeof(*n->aligned));
	}
	free(owner);
	return ret < 0 ? ret : 0;
}

/* If a line has several variables, each cell has its own. */
static int name_fields_of(struct sharing_named *n, struct sharing_named_line *line,
			  struct tare_error *err)
{
	const struct sharing_line *l = line->line;
	const struct sharing_cell *cell = sharing_cells(n->s);

	for (size_t k = l->cell; k < l->cell + l->n_cells; k++) {
		struct cell_named named;

		if (k > l->cell && cell[k].offset == cell[k - 1].offset &&
		    cell[k].size == cell[k - 1].size) {
			n->field[k] = n->field[k - 1];
			continue;
		}
		name_ends(n->of, l, &cell[k], &named);
		n->field[k] = word_of(n->of, &named);
		if (n->field[k] == WORDS_NONE)
			return tare_fail_nomem(err);
	}
	return l->verdict == SHARING_FALSE ? find_cuts(n, line, err) : 0;
}

static int name_fields(struct sharing_named *n, struct tare_error *err)
{
	size_t cells = 0;
	int ret = 0;

	for (size_t i = 0; i < n->n; i++)
		cells += n->line[i].line->n_cells;
	n->field = calloc(cells + 1, sizeof(*n->field));
	n->aligned = calloc(cells + 1, sizeof(*n->aligned));
	if (!n->field || !n->aligned)
		return tare_fail_nomem(err);
	for (size_t i = 0; ret == 0 && i < n->n; i++)
		if (n->line[i].line->seen_at)
			ret = name_fields_of(n, &n->line[i], err);
	return ret;
}

/*
 * The offset in the line of the object with the most samples: the first byte with the most of them.
 */
static unsigned busiest(const struct sharing *s, const struct sharing_line *l)
{
	const struct sharing_cell *cell = sharing_cells(s);
	uint64_t most = 0, here = 0;
	unsigned at = cell[l->cell].offset;

	for (size_t i = l->cell; i < l->cell + l->n_cells; i++) {
		here = (i > l->cell && cell[i].offset == cell[i - 1].offset ? here : 0) +
			cell[i].loads + cell[i].stores;
		if (here > most) {
			most = here;
			at = cell[i].offset;
		}
	}
	return at;
}

static int name_lines(struct sharing_named *n, struct tare_error *err)
{
	const struct sharing_line *line = sharing_lines(n->s, &n->n);
	unsigned at;

	n->line = calloc(n->n + 1, sizeof(*n->line));
	if (!n->line)
		return tare_fail_nomem(err);
	for (size_t i = 0; i < n->n; i++) {
		n->line[i] = (struct sharing_named_line){ .line = &line[i], .object = SET_NONE };
		if (!line[i].seen_at)
			continue;
		at = busiest(n->s, &line[i]);
		n->line[i].object = memory_samples_object(n->of, line[i].seen_by, line[i].time_ns,
							  line[i].seen_at + at, &n->line[i].offset);
		n->line[i].offset -= at; /* from that byte to the line's first */
		if (n->line[i].object == SET_NONE)
			return tare_fail_nomem(err);
	}
	return 0;
}

static void find_size(struct memory_samples *c, struct tare_access *a)
{
	a->size = memory_samples_width(c, a);
	if (a->size)
		a->has |= TARE_ACCESS_SIZE;
}

/* The kind of object: neighbours in an array or blocks of one kind are interchangeable. */
static bool adds_up(const struct memory_samples *c, uint32_t object)
{
	static const unsigned kinds = 1 << OBJECT_SYMBOL | 1 << OBJECT_MEMORY | 1 << OBJECT_BLOCK;

	return object != SET_NONE && kinds >> memory_samples_object_at(c, object)->kind & 1;
}

static int group_lines(struct sharing_named *n, struct tare_error *err)
{
	struct key {
		uint32_t object, verdict, line, group;
	};
	struct set known = { 0 };

	n->group = calloc(n->n + 1, sizeof(*n->group));
	for (size_t i = 0; n->group && i < n->n; i++) {
		const struct sharing_line *l = n->line[i].line;
		uint32_t object = n->line[i].object;
		bool adds = adds_up(n->of, object), fresh;
		struct key key = { object, l->verdict, adds ? 0 : (uint32_t)i + 1,
				   (uint32_t)n->groups };
		uint32_t at = set_add(&known, &key, sizeof(key), 12, &fresh);
		struct sharing_group *g;

		if (at == SET_NONE) {
			set_free(&known);
			return tare_fail_nomem(err);
		}
		if (fresh)
			n->group[n->groups++] = (struct sharing_group){ .object = adds ? object
										       : SET_NONE,
									.verdict = l->verdict,
									.first = i };
		n->line[i].group = ((struct key *)known.item)[at].group;
		g = &n->group[n->line[i].group];
		g->lines++;
		g->samples += l->samples;
		g->loads += l->loads;
		g->stores += l->stores;
		g->hitm += l->hitm;
		g->switches_true += l->switches_true;
		g->switches_false += l->switches_false;
	}
	set_free(&known);
	return n->group ? 0 : tare_fail_nomem(err);
}

int sharing_named_read(struct sharing_named *n, struct memory_samples *c,
		       const struct sharing_options *opts, struct tare_error *err)
{
	struct tare_access a;
	struct sharing_file file;
	int ret = 0;

	*n = (struct sharing_named){ .of = c, .s = sharing_new(opts, err) };
	if (!n->s)
		return -ENOMEM;
	while (ret == 0 && (ret = memory_samples_next(c, &a, err)) == 1) {
		bool memory = a.kind == TARE_ACCESS_LOAD || a.kind == TARE_ACCESS_STORE ||
			a.kind == TARE_ACCESS_UPDATE || a.kind == TARE_ACCESS_PREFETCH;

		if (memory && !(a.has & TARE_ACCESS_SIZE))
			find_size(c, &a);
		n->no_accesses += !memory;
		n->origins |= 1u << a.origin;
		file.number = memory ? memory_samples_shared(c, &a, &file.offset) : 0;
		ret = memory ? sharing_add(n->s, &a, file.number ? &file : NULL, err) : 0;
	}
	if (ret == 0)
		ret = sharing_finish(n->s, err);
	if (ret == 0)
		ret = name_lines(n, err);
	if (ret == 0)
		ret = group_lines(n, err);
	if (ret == 0)
		ret = name_fields(n, err);
	return ret < 0 ? ret : name_cells(n, err);
}

void sharing_named_free(struct sharing_named *n)
{
	sharing_free(n->s);
	free(n->line);
	free(n->group);
	free(n->name);
	free(n->field);
	free(n->aligned);
	*n = (struct sharing_named){ 0 };
}
