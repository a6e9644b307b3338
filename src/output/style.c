/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "output/style.h"

const char *ink_on(const struct style *s, enum ink ink)
{
	static const char *const codes[] = { "", "\033[1m", "\033[2m", "\033[33m", "\033[31m" };

	return s->colour ? codes[ink] : "";
}

const char *ink_off(const struct style *s)
{
	return s->colour ? "\033[0m" : "";
}

/* Copy digits, with a comma before every third from the end of the first `whole`. */
static void put_digits(struct text *out, const char *digits, size_t whole)
{
	for (size_t i = 0; i < whole; i++) {
		if (i && (whole - i) % 3 == 0)
			text_put(out, ",", 1);
		text_put(out, digits + i, 1);
	}
	text_put(out, digits + whole, strlen(digits + whole));
}

void put_count(struct text *out, const struct style *s, uint64_t n)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	put_digits(out, digits, s->thousands ? strlen(digits) : 0);
}

void put_real(struct text *out, const struct style *s, double v, unsigned digits)
{
	char buf[400];
	const char *p = buf;

	snprintf(buf, sizeof(buf), "%.*f", (int)digits, v);
	if (*p == '-' && p[1 + strspn(p + 1, "0.")]) /* a number shown as 0 has no sign */
		text_put(out, p, 1);
	p += *p == '-';
	put_digits(out, p, s->thousands ? strspn(p, "0123456789") : 0);
}

void put_significant(struct text *out, const struct style *s, double v)
{
	double size = fabs(v);
	int digits = size >= 1 || size == 0 ? 3 : 3 - (int)floor(log10(size));

	if (size != 0 && !(size >= 1e-12)) {
		text_add(out, "%.3e", v);
		return;
	}
	put_real(out, s, v,
		 size >= 1000 || size == 0 ? 0
			 : size >= 100     ? 1
			 : size >= 10      ? 2
					   : (unsigned)digits);
}

void put_time(struct text *out, const struct style *s, uint64_t ns)
{
	static const struct {
		uint64_t from, unit;
		const char *name;
		unsigned digits;
	} rows[] = {
		{ 100000000000, 1000000000, "s", 2 }, /* from 100 s */
		{ 1000000000, 1000000000, "s", 3 },
		{ 1000000, 1000000, "ms", 2 },
		{ 1000, 1000, "us", 1 },
		{ 0, 1, "ns", 0 },
	};
	size_t i = 0;

	while (ns < rows[i].from)
		i++;
	put_real(out, s, (double)ns / (double)rows[i].unit, rows[i].digits);
	text_add(out, " %s", rows[i].name);
}

void put_percent(struct text *out, double percent)
{
	unsigned digits = 1;

	if (percent == 0) {
		text_add(out, "0 %%");
		return;
	}
	for (double p = percent; p < 1 && digits < 9; p *= 10)
		digits++;
	text_add(out, "%.*f %%", percent >= 10 ? 0 : (int)digits, percent);
}

static size_t width_of(const char *text, size_t bytes)
{
	size_t n = 0;

	for (size_t i = 0; i < bytes; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

size_t shown_width(const char *text)
{
	return width_of(text, strlen(text));
}

void grid_row(struct grid *g)
{
	if (!array_reserve(&g->row, &g->room, g->rows + 1, sizeof(*g->row))) {
		g->failed = true;
		return;
	}
	memset(&g->row[g->rows++], 0, sizeof(*g->row));
	g->next = 0;
}

void grid_put(struct grid *g, unsigned column, enum ink ink, struct text *t)
{
	struct grid_cell *cell = g->rows ? &g->row[g->rows - 1][column] : NULL;
	char *text = text_take(t);

	if (!cell || !text || g->failed) {
		g->failed = true;
		free(text);
		return;
	}
	free(cell->text);
	*cell = (struct grid_cell){ text, ink };
}

/* Widths of all columns, 0 for empty or dropped ones. */
static void measure(const struct grid *g, const struct style *s, unsigned indent, size_t width[])
{
	size_t whole = indent;

	for (unsigned c = 0; c < g->columns; c++) {
		width[c] = 0;
		for (size_t r = 0; r < g->rows; r++) {
			size_t w = g->row[r][c].text ? shown_width(g->row[r][c].text) : 0;

			width[c] = w > width[c] ? w : width[c];
		}
		if (width[c] && width[c] < g->least[c])
			width[c] = g->least[c];
		whole += width[c] ? width[c] + 2 : 0;
	}
	for (unsigned d = 0; d < g->drops && whole > (size_t)s->width + 2; d++) {
		size_t *w = &width[g->drop[d]];

		whole -= *w ? *w + 2 : 0;
		*w = 0;
	}
}

unsigned grid_left_out(const struct grid *g, const struct style *s, unsigned indent)
{
	size_t fits[GRID_COLUMNS], all[GRID_COLUMNS];
	struct style wide = *s;
	unsigned n = 0;

	wide.width = INT_MAX / 2;
	measure(g, s, indent, fits);
	measure(g, &wide, indent, all);
	for (unsigned c = 0; c < g->columns; c++)
		n += all[c] && !fits[c];
	return n;
}

void grid_write(struct text *out, const struct grid *g, const struct style *s, unsigned indent)
{
	size_t width[GRID_COLUMNS];

	if (g->failed) {
		out->failed = true;
		return;
	}
	measure(g, s, indent, width);
	for (size_t r = 0; r < g->rows; r++) {
		/* added before the next text, so that no line ends in blanks */
		size_t pad = indent;

		for (unsigned c = 0; c < g->columns; c++) {
			const struct grid_cell *cell = &g->row[r][c];
			size_t w = cell->text ? shown_width(cell->text) : 0;

			if (!width[c])
				continue;
			if (w) {
				if (g->right[c])
					pad += width[c] - w;
				text_add(out, "%*s%s%s%s", (int)pad, "", ink_on(s, cell->ink),
					 cell->text, cell->ink == INK_PLAIN ? "" : ink_off(s));
				pad = g->right[c] ? 2 : width[c] - w + 2;
			} else {
				pad += width[c] + 2;
			}
		}
		text_put(out, "\n", 1);
	}
}

void grid_free(struct grid *g)
{
	for (size_t r = 0; r < g->rows; r++)
		for (unsigned c = 0; c < GRID_COLUMNS; c++)
			free(g->row[r][c].text);
	free(g->row);
	*g = (struct grid){ 0 };
}

void grid_word(struct grid *g, unsigned column, enum ink ink, const char *word)
{
	grid_add(g, column, ink, "%s", word);
}

void grid_add(struct grid *g, unsigned column, enum ink ink, const char *fmt, ...)
{
	struct text t = { 0 };
	char *words = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&words, fmt, ap) < 0)
		t.failed = true;
	else
		text_put(&t, words, strlen(words));
	va_end(ap);
	free(words);
	grid_put(g, column, ink, &t);
}

void grid_count(struct grid *g, unsigned column, enum ink ink, const struct style *s, uint64_t n)
{
	struct text t = { 0 };

	put_count(&t, s, n);
	grid_put(g, column, ink, &t);
}

void grid_next(struct grid *g, bool right, enum ink ink, struct text *t)
{
	if (g->next < GRID_COLUMNS) {
		g->right[g->next] = right;
		grid_put(g, g->next++, ink, t);
		g->columns = g->next > g->columns ? g->next : g->columns;
	}
	text_free(t);
}

void grid_title(struct grid *g, bool right, const char *words)
{
	struct text t = { 0 };

	text_add(&t, "%s", words);
	grid_next(g, right, INK_FAINT, &t);
}

struct grid grid_begin(const struct grid_column *columns, unsigned n)
{
	struct grid g = { .columns = n };

	grid_row(&g);
	for (unsigned i = 0; i < n; i++) {
		g.right[i] = columns[i].right;
		if (columns[i].drop) {
			g.drop[columns[i].drop - 1] = i;
			g.drops++;
		}
		if (columns[i].title)
			grid_word(&g, i, INK_FAINT, columns[i].title);
	}
	return g;
}

void grid_end(struct text *out, struct grid *g, const struct style *s, unsigned indent)
{
	grid_write(out, g, s, indent);
	grid_free(g);
}

size_t put_wrapped(struct text *out, const char *words, size_t column, size_t indent, size_t width)
{
	size_t breaks = 0;

	for (const char *word = words; *word;) {
		size_t n = strcspn(word, " "), shown = width_of(word, n);

		if (word > words && column + 1 + shown > width) {
			text_add(out, "\n%*s", (int)indent, "");
			column = indent;
			breaks++;
		} else if (word > words) {
			text_put(out, " ", 1);
			column++;
		}
		text_put(out, word, n);
		column += shown;
		word += n + strspn(word + n, " ");
	}
	text_put(out, "\n", 1);
	return breaks;
}

void put_paragraph(struct text *out, const struct style *s, enum ink ink, const char *fmt, ...)
{
	struct text line = { 0 };
	char words[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	text_add(&line, "%s ", ink_on(s, ink));
	put_wrapped(&line, words, 1, 3, (size_t)s->width);
	line.len--; /* the newline follows the colour */
	text_add(&line, "%s\n", ink == INK_PLAIN ? "" : ink_off(s));
	out->failed |= line.failed;
	if (line.s)
		text_put(out, line.s, line.len);
	text_free(&line);
}
