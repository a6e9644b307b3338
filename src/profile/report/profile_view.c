/* SPDX-License-Identifier: MIT */
/* Names come from untrusted files: they are escaped, and shortened if long. */
#include <inttypes.h>
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

static void put_range(struct text *out, const struct style *s, const struct profile_row *r)
{
	put_signed(out, s, r->min);
	text_add(out, " %s ", s->utf8 ? "\u2026" : "..");
	put_signed(out, s, r->max);
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

static void add_row(struct grid *g, const struct profile_table *t, const struct profile_row *r,
		    int64_t sum, size_t name_most, const struct style *s)
{
	struct text self = { 0 }, part = { 0 }, sums = { 0 }, name = { 0 }, line = { 0 },
		    where = { 0 }, varied = { 0 };

	put_signed(&self, s, r->instructions);
	text_add(&part, "%.2f", share(t, r->instructions));
	text_add(&sums, "%.2f", share(t, sum));
	if (r->function)
		put_name(&name, r->function, name_most);
	else
		text_add(&name, "[no symbol]");
	put_line(&line, r);
	put_name(&where, path_base(r->module), NAME_SHOWN);
	if (r->min != r->max)
		put_range(&varied, s, r);
	grid_row(g);
	grid_put(g, COL_SELF, INK_STRONG, &self);
	grid_put(g, COL_SHARE, INK_PLAIN, &part);
	grid_put(g, COL_SUM, INK_FAINT, &sums);
	grid_put(g, COL_FUNCTION, r->why ? INK_CAREFUL : INK_PLAIN, &name);
	grid_put(g, COL_LINE, INK_FAINT, &line);
	grid_put(g, COL_WHERE, INK_FAINT, &where);
	grid_put(g, COL_VARIED, INK_CAREFUL, &varied);
}

static void add_heading(struct grid *g, const struct profile_table *t)
{
	grid_row(g);
	grid_word(g, COL_SELF, INK_FAINT, "instructions");
	grid_word(g, COL_SHARE, INK_FAINT, "%");
	grid_word(g, COL_SUM, INK_FAINT, "sum %");
	grid_word(g, COL_FUNCTION, INK_FAINT, "function");
	if (t->by == PROFILE_LINE)
		grid_word(g, COL_LINE, INK_FAINT, "line");
	grid_word(g, COL_WHERE, INK_FAINT, "file");
	if (t->varied)
		grid_word(g, COL_VARIED, INK_FAINT, "differs between runs");
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

static void put_rest(struct grid *g, const struct profile_table *t, size_t shown, int64_t sum,
		     const struct style *s)
{
	struct text self = { 0 }, part = { 0 }, all = { 0 }, words = { 0 };

	if (shown == t->n)
		return;
	put_signed(&self, s, t->total - sum);
	text_add(&part, "%.2f", share(t, t->total - sum));
	text_add(&all, "%.2f", share(t, t->total));
	text_add(&words, "%zu more", t->n - shown);
	grid_row(g);
	grid_put(g, COL_SELF, INK_STRONG, &self);
	grid_put(g, COL_SHARE, INK_PLAIN, &part);
	grid_put(g, COL_SUM, INK_FAINT, &all);
	grid_put(g, COL_FUNCTION, INK_FAINT, &words);
}

void profile_text(struct text *out, const struct profile_table *t, size_t limit,
		  const struct style *s)
{
	struct grid g = { .columns = COL_VARIED + 1,
			  .right = { [COL_SELF] = true, [COL_SHARE] = true, [COL_SUM] = true },
			  .least = { [COL_SELF] = 16 },
			  .drop = { COL_SUM, COL_WHERE },
			  .drops = 2 };
	size_t shown = rows_shown(t, limit), varied = 0,
	       name_most = name_width(s, line_width(t, shown));
	int64_t sum = 0;

	put_title(out, t, s);
	add_heading(&g, t);
	for (size_t i = 0; i < shown; i++) {
		sum += t->row[i].instructions;
		varied += t->row[i].min != t->row[i].max;
		add_row(&g, t, &t->row[i], sum, name_most, s);
	}
	put_rest(&g, t, shown, sum, s);
	grid_write(out, &g, s, 1);
	grid_free(&g);
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
	put_gaps(out, t, s);
}

/* ---- machine forms ---- */

static void json_name(struct json *j, const char *key, const char *name)
{
	char *cut = name && strlen(name) > NAME_BYTES ? strndup(name, NAME_BYTES) : NULL;

	json_string(j, key, cut ? cut : name);
	free(cut);
}

static void json_row(struct json *j, const struct profile_table *t, const struct profile_row *r)
{
	json_object(j, NULL);
	json_name(j, "function", r->function);
	json_name(j, "module", r->module);
	if (t->by == PROFILE_LINE) {
		json_name(j, "file", r->file);
		json_uint_if(j, "line", r->file, r->line);
	}
	json_int(j, "instructions", r->instructions);
	if (t->runs > 1) {
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
		json_row(j, t, &t->row[i]);
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

static void put_field(struct text *out, const char *name)
{
	char *cut = name && strlen(name) > NAME_BYTES ? strndup(name, NAME_BYTES) : NULL;

	csv_field(out, cut ? cut : name, ',');
	free(cut);
}

void profile_csv(struct text *out, const struct profile_table *t, size_t limit)
{
	int64_t sum = 0;

	text_add(out, "instructions,min,max,share,sum_share,function,module,file,line,reason\n");
	for (size_t i = 0; i < rows_shown(t, limit); i++) {
		const struct profile_row *r = &t->row[i];

		sum += r->instructions;
		text_add(out, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%.6f,%.6f,", r->instructions,
			 r->min, r->max, share(t, r->instructions) / 100, share(t, sum) / 100);
		put_field(out, r->function);
		put_field(out, r->module);
		put_field(out, r->file);
		if (r->file)
			text_add(out, "%u", r->line);
		text_put(out, ",", 1);
		put_field(out, r->why);
		out->len -= out->len > 0; /* the last field's comma */
		text_put(out, "\n", 1);
	}
}
