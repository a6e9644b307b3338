/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include "history/history_functions.h"

static int by_name(const void *a, const void *b)
{
	const struct history_row *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->module, y->module);
}

static uint64_t change_of(const struct history_row *r)
{
	return r->after > r->before ? r->after - r->before : r->before - r->after;
}

static int by_size(const struct history_row *x, const struct history_row *y, uint64_t a, uint64_t b)
{
	if (!*x->name != !*y->name)
		return *x->name ? -1 : 1;
	return a != b ? (a < b ? 1 : -1) : by_name(x, y);
}

static int by_change(const void *a, const void *b)
{
	return by_size(a, b, change_of(a), change_of(b));
}

static int by_count(const void *a, const void *b)
{
	return by_size(a, b, ((const struct history_row *)a)->after,
		       ((const struct history_row *)b)->after);
}

static void add_all(struct history_rows *out, const struct history_finding *f, bool after)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct history_function *of = &f->function[i];
		uint64_t n = of->count;

		out->row[out->n++] = (struct history_row){ of->name, of->module, after ? 0 : n,
							   after ? n : 0 };
	}
}

/* Rows of one function become one. */
static void join(struct history_rows *out)
{
	size_t n = 0;

	qsort(out->row, out->n, sizeof(*out->row), by_name);
	for (size_t i = 0; i < out->n; i++) {
		struct history_row *last = n ? &out->row[n - 1] : NULL;

		if (!last || by_name(last, &out->row[i]) != 0) {
			out->row[n++] = out->row[i];
			continue;
		}
		last->before += out->row[i].before;
		last->after += out->row[i].after;
	}
	out->n = n;
}

int history_functions(struct history_rows *out, const struct history_finding *before,
		      const struct history_finding *after, struct tare_error *err)
{
	*out = (struct history_rows){ .both = before->n && after->n };
	out->row = calloc(before->n + after->n + 1, sizeof(*out->row));
	if (!out->row)
		return tare_fail_nomem(err);
	add_all(out, after, true);
	if (out->both)
		add_all(out, before, false);
	join(out);
	qsort(out->row, out->n, sizeof(*out->row), out->both ? by_change : by_count);
	return 0;
}

size_t history_rows_shown(const struct history_rows *rows, size_t most)
{
	size_t n = rows->n && !*rows->row[rows->n - 1].name ? rows->n - 1 : rows->n;

	return n < most ? n : most;
}

struct history_row history_other_rows(const struct history_rows *rows, size_t from)
{
	struct history_row sum = { .name = "", .module = "" };

	for (size_t i = from; i < rows->n; i++) {
		sum.before += rows->row[i].before;
		sum.after += rows->row[i].after;
	}
	return sum;
}
