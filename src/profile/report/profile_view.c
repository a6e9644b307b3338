/* SPDX-License-Identifier: MIT */
/* Names come from untrusted files: they are escaped, and shortened if long. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/path.h"
#include "output/csv.h"
#include "output/escape.h"
#include "profile/report/profile_view.h"

enum {
	NAME_BYTES = 4096, /* of a name, in machine output */
	NAME_SHOWN = 100,  /* for people; fewer in a narrow window */
	NAME_LEAST = 24,
	BESIDE = 60,           /* columns of the rest of the row, without the line */
	BESIDE_LEAST = 32,     /* the same, with some columns left out */
	NAME_BESIDE_LINE = 12, /* minimum, if the line takes the room */
	FILE_SHOWN = 40,
	GAPS_MAX = 12,
};

enum { COL_SELF, COL_SHARE, COL_SUM, COL_FUNCTION, COL_LINE, COL_WHERE, COL_VARIED };

static double share(const struct profile_table *t, int64_t n)
{
	return t->total ? 100.0 * (double)n / (double)t->total : 0;
}

static void put_name(struct text *out, const char *name, size_t most)
{
	size_t n = strlen(name);

	escape(out, name, n < most ? n : most);
	if (n > most)
		text_add(out, "...");
}

static void put_signed(struct text *out, const struct style *s, int64_t n)
{
	if (n < 0)
		text_put(out, "-", 1);
	put_count(out, s, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}

static void grid_signed(struct grid *g, unsigned column, enum ink ink, const struct style *s,
			int64_t n)
{
	struct text t = { 0 };

	put_signed(&t, s, n);
	grid_put(g, column, ink, &t);
}

/* The file and line of a row, "" if it has none. */
static void put_line(struct text *out, const struct profile_row *r)
{
	if (!r->file)
		return;
	put_name(out, path_base(r->file), FILE_SHOWN);
	text_add(out, ":%u", r->line);
}

/* The widest line of all rows shown, with its gap; 0 in a profile by function. */
static size_t line_width(const struct profile_table *t, size_t shown)
{
	size_t most = 0;

	for (size_t i = 0; i < shown; i++) {
		struct text line = { 0 };
		size_t w;

		put_line(&line, &t->row[i]);
		w = line.len ? shown_width(line.s) + 2 : 0;
		most = w > most ? w : most;
		text_free(&line);
	}
	return most;
}

/*
 * The room for a function's name beside lines of that width. Lines are never left out, as they were
 * asked for.
 */
static size_t name_width(const struct style *s, size_t line)
{
	size_t width = s->width, beside = BESIDE + line;

	if (width > beside + NAME_SHOWN)
		return NAME_SHOWN;
	if (width >= beside + NAME_LEAST)
		return width - beside;
	beside = BESIDE_LEAST + line;
	if (!line || width >= beside + NAME_LEAST)
		return NAME_LEAST;
	return width >= beside + NAME_BESIDE_LINE ? width - beside : NAME_BESIDE_LINE;
}

/* The cells of all rows; `sum`: with the rows above. */
static void add_counts(struct grid *g, const struct profile_table *t, int64_t instructions,
		       int64_t sum, const struct style *s)
{
	grid_row(g);
	grid_signed(g, COL_SELF, INK_STRONG, s, instructions);
	grid_add(g, COL_SHARE, INK_PLAIN, "%.2f", share(t, instructions));
	grid_add(g, COL_SUM, INK_FAINT, "%.2f", share(t, sum));
}

static void add_row(struct grid *g, const struct profile_table *t, const struct profile_row *r,
		    int64_t sum, size_t name_most, const struct style *s)
{
	struct text cell = { 0 };

	add_counts(g, t, r->instructions, sum, s);
	put_name(&cell, r->function ? r->function : "[no symbol]", name_most);
	grid_put(g, COL_FUNCTION, r->why ? INK_CAREFUL : INK_PLAIN, &cell);
	put_line(&cell, r);
	grid_put(g, COL_LINE, INK_FAINT, &cell);
	put_name(&cell, path_base(r->module), NAME_SHOWN);
	grid_put(g, COL_WHERE, INK_FAINT, &cell);
	if (r->min == r->max)
		return;
	put_signed(&cell, s, r->min);
	text_add(&cell, " %s ", s->utf8 ? "\u2026" : "..");
	put_signed(&cell, s, r->max);
	grid_put(g, COL_VARIED, INK_CAREFUL, &cell);
}

/* ---- code without symbols ---- */

struct gap {
	const struct profile_row *row; /* the first one; why and remedy are the same for all */
	int64_t instructions;
};

static int by_size(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;

	return x->instructions != y->instructions ? (x->instructions > y->instructions ? -1 : 1)
						  : strcmp(x->row->module, y->row->module);
}

/* One per module; NULL when out of memory. The caller frees it. */
static struct gap *find_gaps(const struct profile_table *t, size_t *n)
{
	struct gap *gaps = calloc(t->n + 1, sizeof(*gaps));

	*n = 0;
	for (size_t i = 0; gaps && i < t->n; i++) {
		size_t k = 0;

		if (!t->row[i].why)
			continue;
		while (k < *n && strcmp(gaps[k].row->module, t->row[i].module))
			k++;
		if (k == *n)
			gaps[(*n)++].row = &t->row[i];
		gaps[k].instructions += t->row[i].instructions;
	}
	if (gaps)
		qsort(gaps, *n, sizeof(*gaps), by_size);
	return gaps;
}

static bool same_words(const struct gap *a, const struct gap *b)
{
	return !strcmp(a->row->why, b->row->why) && !strcmp(a->row->remedy, b->row->remedy);
}

/* Prints each reason once, with the files it applies to. */
static void put_gap(struct text *out, const struct profile_table *t, const struct gap *gap,
		    size_t n, size_t first, const struct style *s)
{
	size_t shown = 0, more = 0;
	int64_t sum = 0;

	for (size_t k = 0; k < first; k++)
		if (same_words(&gap[k], &gap[first]))
			return;
	for (size_t k = first; k < n; k++)
		sum += same_words(&gap[k], &gap[first]) ? gap[k].instructions : 0;
	text_add(out, " %sno symbol%s  ", ink_on(s, INK_CAREFUL), ink_off(s));
	put_percent(out, share(t, sum));
	text_add(out, ": ");
	for (size_t k = first; k < n; k++) {
		if (!same_words(&gap[k], &gap[first]))
			continue;
		if (shown == GAPS_MAX) {
			more++;
			continue;
		}
		text_add(out, "%s", shown++ ? ", " : "");
		put_name(out, path_base(gap[k].row->module), NAME_SHOWN);
	}
	if (more)
		text_add(out, " and %zu more", more);
	text_add(out, "\n   ");
	escape(out, gap[first].row->why, strlen(gap[first].row->why));
	text_add(out, "%s%s\n", gap[first].row->remedy[0] ? "\n   " : "", gap[first].row->remedy);
}

static void put_gaps(struct text *out, const struct profile_table *t, const struct style *s)
{
	size_t n;
	struct gap *gaps = find_gaps(t, &n);

	out->failed |= !gaps;
	for (size_t i = 0; gaps && i < n; i++)
		put_gap(out, t, gaps, n, i, s);
	if (n)
		text_put(out, "\n", 1);
	free(gaps);
}

/* ---- text ---- */

static void put_title(struct text *out, const struct profile_table *t, const struct style *s)
{
	text_add(out, " %sinstructions by %s%s   ", ink_on(s, INK_STRONG),
		 t->by == PROFILE_LINE ? "line" : "function", ink_off(s));
	put_signed(out, s, t->total);
	if (t->runs > 1)
		text_add(out, " in run %u of %u, the median", t->shown + 1, t->runs);
	text_add(out, "\n\n");
}

static size_t rows_shown(const struct profile_table *t, size_t limit)
{
	return limit && limit < t->n ? limit : t->n;
}

/* Functions that have no row, because they were inlined. */
static void put_inlined(struct text *out, const struct profile_table *t, size_t shown)
{
	bool any = false;

	for (size_t i = 0; i < shown; i++) {
		const struct profile_row *r = &t->row[i];

		if (!r->inlined)
			continue;
		text_add(out, " ");
		put_name(out, r->function, NAME_SHOWN);
		text_add(out, " includes inlined functions, mainly ");
		put_name(out, r->inlined, NAME_SHOWN);
		text_add(out, ".\n");
		any = true;
	}
	if (any)
		text_add(out,
			 " --profile=line shows lines; for inlined functions: tare record "
			 "--engine exact, then tare report --inline.\n\n");
}

void profile_text(struct text *out, const struct profile_table *t, size_t limit,
		  const struct style *s)
{
	const struct grid_column columns[] = {
		{ "instructions", true },
		{ "%", true },
		{ "sum %", true, 1 },
		{ "function" },
		{ t->by == PROFILE_LINE ? "line" : NULL },
		{ "file", false, 2 },
		{ t->varied ? "differs between runs" : NULL },
	};
	struct grid g = grid_begin(columns, ARRAY_SIZE(columns));
	size_t shown = rows_shown(t, limit), varied = 0,
	       name_most = name_width(s, line_width(t, shown));
	int64_t sum = 0;

	put_title(out, t, s);
	g.least[COL_SELF] = 16;
	for (size_t i = 0; i < shown; i++) {
		sum += t->row[i].instructions;
		varied += t->row[i].min != t->row[i].max;
		add_row(&g, t, &t->row[i], sum, name_most, s);
	}
	if (shown < t->n) {
		add_counts(&g, t, t->total - sum, t->total, s);
		grid_add(&g, COL_FUNCTION, INK_FAINT, "%zu more", t->n - shown);
	}
	grid_end(out, &g, s, 1);
	text_put(out, "\n", 1);
	if (t->runs > 1 && !t->varied)
		text_add(out, " every %s had the same count in all %u runs.\n\n",
			 t->by == PROFILE_LINE ? "line" : "function", t->runs);
	else if (t->varied > varied)
		text_add(out,
			 " %zu more rows that are not shown differ between runs "
			 "(--profile-limit 0 "
			 "shows all).\n\n",
			 t->varied - varied);
	if (t->unsplit) {
		text_add(out, " ");
		put_percent(out, share(t, t->unsplit));
		text_add(out,
			 " are in basic blocks that span several rows, and are shown in "
			 "the first of these.\n\n");
	}
	put_inlined(out, t, shown);
	put_gaps(out, t, s);
}

/* ---- JSON and CSV ---- */

static void json_name(struct json *j, const char *key, const char *name)
{
	char *cut = name && strlen(name) > NAME_BYTES ? strndup(name, NAME_BYTES) : NULL;

	json_string(j, key, cut ? cut : name);
	free(cut);
}

static void table_fraction(struct json *j, const char *key, double fraction)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%.6f", fraction);
	table_string(j, key, digits);
}

/* `sum`: with the rows above. */
static void json_row(struct json *j, const struct profile_table *t, const struct profile_row *r,
		     int64_t sum)
{
	json_object(j, NULL);
	json_name(j, "function", r->function);
	json_name(j, "module", r->module);
	if (t->by == PROFILE_LINE) {
		json_name(j, "file", r->file);
		json_uint_if(j, "line", r->file, r->line);
	}
	json_int(j, "instructions", r->instructions);
	table_fraction(j, "share", share(t, r->instructions) / 100);
	table_fraction(j, "sum_share", share(t, sum) / 100);
	if (t->runs > 1 || j->table) {
		json_int(j, "min", r->min);
		json_int(j, "max", r->max);
		json_array(j, "runs");
		for (unsigned k = 0; k < t->runs; k++)
			json_int(j, NULL, r->run[k]);
		json_end(j);
	}
	if (r->why)
		json_string(j, "reason", r->why);
	json_end(j);
}

void profile_json(struct json *j, const struct profile_table *t, size_t limit)
{
	size_t shown = rows_shown(t, limit);
	int64_t sum = 0;

	json_array(j, "profile");
	for (size_t i = 0; i < shown; i++) {
		sum += t->row[i].instructions;
		json_row(j, t, &t->row[i], sum);
	}
	json_end(j);
	json_object(j, "profile_about");
	json_string(j, "by", t->by == PROFILE_LINE ? "line" : "function");
	json_string(j, "event", "instructions:u");
	json_int(j, "total", t->total);
	json_uint(j, "run", t->shown);
	json_uint(j, "rows", t->n);
	json_int(j, "left_out", t->total - sum);
	json_uint(j, "varied", t->varied);
	json_int(j, "unsplit", t->unsplit);
	json_end(j);
}

void profile_csv(struct text *out, const struct profile_table *t, size_t limit)
{
	static const struct table_layout rows = {
		.rows = "profile",
		.columns = "instructions,min,max,share,sum_share,function,module,file,line,reason",
	};
	struct json document = document_as(FORMAT_CSV, &rows), *j = &document;

	json_object(j, NULL);
	profile_json(j, t, limit);
	json_end(j);
	json_into(out, j);
}
