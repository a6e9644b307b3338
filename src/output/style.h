/* SPDX-License-Identifier: MIT */
/* The style of text for people, and its building blocks. Not used for machine output. */
#ifndef OUTPUT_STYLE_H
#define OUTPUT_STYLE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/text.h"

struct style {
	bool colour;
	bool thousands; /* 1,234,567 */
	bool utf8;      /* otherwise +- and .. */
	int width;      /* maximum width in columns */
};

enum ink { INK_PLAIN, INK_STRONG, INK_FAINT, INK_CAREFUL, INK_BAD };

const char *ink_on(const struct style *s, enum ink ink); /* "" without colour */
const char *ink_off(const struct style *s);

/* With thousands separators if the style has them. */
void put_count(struct text *out, const struct style *s, uint64_t n);
void put_real(struct text *out, const struct style *s, double v, unsigned digits);
/*
 * With four significant digits, or more if needed before the point: 0.0001235, 0.5000, 1.235,
 * 12,345.
 */
void put_significant(struct text *out, const struct style *s, double v);
/* With a suitable unit: "12.3 us", "1.234 s"; at most 11 characters wide. */
void put_time(struct text *out, const struct style *s, uint64_t ns);
/* 0.41 -> "0.41 %", with significant digits only: "12 %", "0.0004 %", "0 %" only for exactly 0. */
void put_percent(struct text *out, double percent);

/* Number of characters shown: bytes that start one. */
size_t shown_width(const char *text);

/*
 * A table: one text cell per row and column, columns as wide as their widest cell. Columns are
 * dropped in the order of `drop` until the width fits.
 */
enum { GRID_COLUMNS = 12 };

struct grid_cell {
	char *text; /* owned; NULL: empty */
	enum ink ink;
};

struct grid {
	struct grid_cell (*row)[GRID_COLUMNS];
	size_t rows, room;
	unsigned columns;
	bool right[GRID_COLUMNS];     /* right-aligned */
	unsigned least[GRID_COLUMNS]; /* minimum width of a column that is not empty */
	unsigned drop[GRID_COLUMNS];  /* column numbers, in the order in which they are dropped */
	unsigned drops;
	unsigned next; /* column of grid_next() */
	bool failed;
};

/* A column of a grid, for grid_begin(). */
struct grid_column {
	const char *title;
	bool right;
	unsigned drop; /* from 1, in this order; 0: it is not dropped */
};

/* An empty grid with these columns, and the titles as its first row. */
struct grid grid_begin(const struct grid_column *columns, unsigned n);
void grid_row(struct grid *g);
/* Set a cell of the current row; takes ownership of the text (t becomes empty). */
void grid_put(struct grid *g, unsigned column, enum ink ink, struct text *t);
/* A cell with a formatted text; a number; a constant text. */
void grid_add(struct grid *g, unsigned column, enum ink ink, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void grid_count(struct grid *g, unsigned column, enum ink ink, const struct style *s, uint64_t n);
void grid_word(struct grid *g, unsigned column, enum ink ink, const char *word);
/*
 * Sets the cell after the one of the previous call; for columns that depend on the result, at most
 * GRID_COLUMNS. The text becomes empty.
 */
void grid_next(struct grid *g, bool right, enum ink ink, struct text *t);
void grid_title(struct grid *g, bool right, const char *words);
/* Number of non-empty columns that grid_write() would drop. */
unsigned grid_left_out(const struct grid *g, const struct style *s, unsigned indent);
void grid_write(struct text *out, const struct grid *g, const struct style *s, unsigned indent);
void grid_free(struct grid *g);
/* grid_write(), then grid_free(). */
void grid_end(struct text *out, struct grid *g, const struct style *s, unsigned indent);

/*
 * Lines of at most `width` columns, broken between words. The first begins at `column`, and the
 * others are indented. Returns the number of breaks.
 */
size_t put_wrapped(struct text *out, const char *words, size_t column, size_t indent, size_t width);
/* Break lines that are wider than the style between words; continuation lines are indented. */
void put_paragraph(struct text *out, const struct style *s, enum ink ink, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
