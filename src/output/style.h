/* SPDX-License-Identifier: MIT */
/* How text for people looks, and the pieces it is made of. Machine output uses none of this. */
#ifndef OUTPUT_STYLE_H
#define OUTPUT_STYLE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/text.h"

struct style {
	bool colour;
	bool thousands; /* 1,234,567 */
	bool utf8;      /* else +- and .. */
	int width;      /* columns to fill at most */
};

enum ink { INK_PLAIN, INK_STRONG, INK_FAINT, INK_CAREFUL, INK_BAD };

const char *ink_on(const struct style *s, enum ink ink); /* "" without colour */
const char *ink_off(const struct style *s);

/* With separators if the style has them. */
void put_count(struct text *out, const struct style *s, uint64_t n);
void put_real(struct text *out, const struct style *s, double v, unsigned digits);
/* With four digits that say something, at the least those before the point: 0.0001235, 0.5000, 1.235, 12,345. */
void put_significant(struct text *out, const struct style *s, double v);
/* The unit that suits: "12.3 us", "1.234 s"; at most 11 characters wide. */
void put_time(struct text *out, const struct style *s, uint64_t ns);
/* 0.41 -> "0.41 %", with as many digits as say something: "12 %", "0.0004 %", "0 %" only for
 * exactly 0. */
void put_percent(struct text *out, double percent);

/* Characters as shown: bytes that begin one. */
size_t shown_width(const char *text);

/*
 * A table: cells of text per row, columns as wide as their widest cell. Columns are left out from
 * `drop`, in its order, until the width fits.
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
	bool right[GRID_COLUMNS];     /* aligned to the right */
	unsigned least[GRID_COLUMNS]; /* width, where the column is not empty */
	unsigned drop[GRID_COLUMNS];  /* column numbers, the first to go first */
	unsigned drops;
	bool failed;
};

void grid_row(struct grid *g);
/* Into the current row; takes the text over (t becomes empty). */
void grid_put(struct grid *g, unsigned column, enum ink ink, struct text *t);
/* A cell of a fixed text. */
void grid_word(struct grid *g, unsigned column, enum ink ink, const char *word);
/* How many columns that are not empty grid_write() would drop. */
unsigned grid_left_out(const struct grid *g, const struct style *s, unsigned indent);
void grid_write(struct text *out, const struct grid *g, const struct style *s, unsigned indent);
void grid_free(struct grid *g);

/* Lines of the text that are wider than the style is are broken between words, and go on with an indent. */
void put_paragraph(struct text *out, const struct style *s, enum ink ink, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif
