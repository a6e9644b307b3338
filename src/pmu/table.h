/* SPDX-License-Identifier: MIT */
/* Text tables: '#' lines are comments, columns are parted by blanks, the last column takes the rest
 * of its line. */
#ifndef PMU_TABLE_H
#define PMU_TABLE_H

#include <stddef.h>

/* A file of data/, as built in. Ends with a row of zeros. */
struct embedded {
	const char *name, *text;
};
extern const struct embedded embedded[];

/* The text of a built-in file; NULL if there is none. */
const char *embedded_text(const char *name);

struct column {
	const char *s; /* not terminated */
	size_t n;
};

/*
 * The next row of `columns` columns, from *p on, counting lines in *line (start at 0). Returns how
 * many columns it has (blank lines and comments are passed over); 0 at the end.
 */
size_t table_next(const char **p, unsigned *line, struct column *out, size_t columns);

/* Copy a column, cut to what there is room for. */
void column_copy(const struct column *c, char *to, size_t room);

#endif
