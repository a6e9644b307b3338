/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyze/sharing_named.h"

static int name_cells(struct sharing_named *n, struct tare_error *err)
{
	const struct sharing_cell *cell = sharing_cells(n->s);
	struct accessed_code *code;
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
		struct tare_access a = { .ip = cell[i].ip, .pid = cell[i].pid, .kernel = cell[i].kernel, .time_ns = cell[i].time_ns,
					 .has = cell[i].time_ns == UINT64_MAX ? 0 : TARE_ACCESS_TIME };

		code[i] = accessed_code(n->of, &a);
		samples[i] = cell[i].loads + cell[i].stores;
	}
	if (ret == 0)
		ret = accessed_name(n->of, code, samples, cells, n->name, err);
	free(code);
	free(samples);
	return ret;
}

/* Of several variables in one line each cell has its own. */
static uint32_t field_of(struct accessed *c, const struct sharing_line *l, const struct sharing_cell *cell)
{
	char part[256], whole[1024];
	uint64_t at;
	uint32_t number = accessed_object(c, l->seen_by, l->time_ns, l->seen_at + cell->offset, &at);
	const struct object *o = number == SET_NONE ? NULL : accessed_object_at(c, number);
	struct symbol unused;
	int n;

	if (!o || o->kind != OBJECT_SYMBOL)
		return number == SET_NONE ? WORDS_NONE : 0;
	modules_find(&c->modules, o->module, 0, &unused); /* has its symbols read */
	if (!c->modules.module[o->module].symbols || !symbols_field(c->modules.module[o->module].symbols, o->start, at, part, sizeof(part)))
		*part = 0;
	n = snprintf(whole, sizeof(whole), "%.700s%s", words_at(&c->modules.words, o->name), part);
	return words_add(&c->modules.words, whole, (size_t)n);
}

static int name_fields(struct sharing_named *n, struct tare_error *err)
{
	const struct sharing_cell *cell = sharing_cells(n->s);
	size_t cells = 0;

	for (size_t i = 0; i < n->n; i++)
		cells += n->line[i].line->n_cells;
	n->field = calloc(cells + 1, sizeof(*n->field));
	if (!n->field)
		return tare_fail_nomem(err);
	for (size_t i = 0; i < n->n; i++) {
		const struct sharing_line *l = n->line[i].line;

		for (size_t k = l->cell; l->seen_at && k < l->cell + l->n_cells; k++) {
			bool same = k > l->cell && cell[k].offset == cell[k - 1].offset;

			n->field[k] = same ? n->field[k - 1] : field_of(n->of, l, &cell[k]);
			if (n->field[k] == WORDS_NONE)
				return tare_fail_nomem(err);
		}
	}
	return 0;
}

static int name_lines(struct sharing_named *n, struct tare_error *err)
{
	const struct sharing_line *line = sharing_lines(n->s, &n->n);

	n->line = calloc(n->n + 1, sizeof(*n->line));
	if (!n->line)
		return tare_fail_nomem(err);
	for (size_t i = 0; i < n->n; i++) {
		n->line[i] = (struct sharing_named_line){ .line = &line[i], .object = SET_NONE };
		if (!line[i].seen_at)
			continue;
		n->line[i].object = accessed_object(n->of, line[i].seen_by, line[i].time_ns, line[i].seen_at + sharing_cells(n->s)[line[i].cell].offset,
						    &n->line[i].offset);
		n->line[i].offset -= sharing_cells(n->s)[line[i].cell].offset; /* of the first byte that is used to the line's first */
		if (n->line[i].object == SET_NONE)
			return tare_fail_nomem(err);
	}
	return 0;
}

static void find_size(struct accessed *c, struct tare_access *a)
{
	a->size = accessed_width(c, a);
	if (a->size)
		a->has |= TARE_ACCESS_SIZE;
}

/* Of what one line is as good as another: neighbours in an array, blocks of one kind. */
static bool adds_up(const struct accessed *c, uint32_t object)
{
	static const unsigned kinds = 1 << OBJECT_SYMBOL | 1 << OBJECT_MEMORY | 1 << OBJECT_BLOCK;

	return object != SET_NONE && kinds >> accessed_object_at(c, object)->kind & 1;
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
		struct key key = { object, l->verdict, adds ? 0 : (uint32_t)i + 1, (uint32_t)n->groups };
		uint32_t at = set_add(&known, &key, sizeof(key), 12, &fresh);
		struct sharing_group *g;

		if (at == SET_NONE) {
			set_free(&known);
			return tare_fail_nomem(err);
		}
		if (fresh)
			n->group[n->groups++] = (struct sharing_group){ .object = adds ? object : SET_NONE, .verdict = l->verdict, .first = i };
		n->line[i].group = ((struct key *)known.item)[at].group;
		g = &n->group[n->line[i].group];
		g->lines++;
		g->samples += l->samples;
		g->loads += l->loads;
		g->stores += l->stores;
		g->modified += l->modified;
		g->switches_true += l->switches_true;
		g->switches_false += l->switches_false;
	}
	set_free(&known);
	return n->group ? 0 : tare_fail_nomem(err);
}

int sharing_named_read(struct sharing_named *n, struct accessed *c, const struct sharing_options *opts, struct tare_error *err)
{
	struct tare_access a;
	struct sharing_file file;
	int ret = 0;

	*n = (struct sharing_named){ .of = c, .s = sharing_new(opts, err) };
	if (!n->s)
		return -ENOMEM;
	while (ret == 0 && (ret = accessed_next(c, &a, err)) == 1) {
		bool memory = a.kind == TARE_ACCESS_LOAD || a.kind == TARE_ACCESS_STORE || a.kind == TARE_ACCESS_UPDATE ||
			      a.kind == TARE_ACCESS_PREFETCH;

		if (memory && !(a.has & TARE_ACCESS_SIZE))
			find_size(c, &a);
		n->no_accesses += !memory;
		n->origins |= 1u << a.origin;
		file.number = memory ? accessed_shared(c, &a, &file.offset) : 0;
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
	*n = (struct sharing_named){ 0 };
}
