/* SPDX-License-Identifier: MIT */
/*
 * Text tables: '#' starts a comment line, columns are separated by blanks, the last column is the
 * rest of its line.
 */
#ifndef PMU_TABLE_H
#define PMU_TABLE_H

#include <stddef.h>

/* A built-in file of data/. The list ends with a row of zeros. */
struct embedded {
	const char *name, *text;
};
extern const struct embedded embedded[];

/* The text of a built-in file; NULL if there is none. */
const char *embedded_text(const char *name);

struct column {
	const char *s; /* not NUL-terminated */
	size_t n;
};

/*
 * The next row of `columns` columns, from *p on, counting lines in *line (start at 0). Returns its
 * number of columns (blank lines and comments are skipped); 0 at the end.
 */
size_t table_next(const char **p, unsigned *line, struct column *out, size_t columns);

/* Copy a column, truncated to `room`. */
void column_copy(const struct column *c, char *to, size_t room);

#endif
