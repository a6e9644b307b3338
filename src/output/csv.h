/* SPDX-License-Identifier: MIT */
/*
 * A table of a document, as CSV by RFC 4180. A feature writes its result once, by calls of
 * output/json.h. They produce JSON or, with a layout, the rows of one table:
 *
 *	static const struct table_layout cells = {
 *		.rows = "lines/cells",
 *		.columns = "line=../address,offset,size,source_line=line",
 *	};
 *	struct json j = document_as(format, &cells);
 *
 *	json_object(&j, NULL);
 *	...
 *	json_end(&j);
 *	json_into(out, &j);
 */
#ifndef OUTPUT_CSV_H
#define OUTPUT_CSV_H

#include "base/text.h"
#include "output/json.h"

struct table_layout {
	/*
	 * The path of the objects that are rows: keys, separated by '/'. "*" is any key. An element
	 * of an array has the path of the array.
	 */
	const char *rows;
	/* the path of the objects that contain rows: one without rows is itself a row; or NULL */
	const char *outer;
	/*
	 * In their order, separated by commas: NAME[=PATH][%x|%DIGITS][?NONE]. PATH starts at the
	 * row; it is NAME if missing; ".." is the object around it, "." the row's own key. %x: in
	 * hexadecimal. NONE is written if the value is missing or null. An array of scalars is one
	 * cell, its elements separated by \x1e.
	 */
	const char *columns;
	unsigned digits;      /* significant ones, of real numbers without %DIGITS */
	const char *line_end; /* NULL: "\n" */
};

/* A document: its table if it is FORMAT_CSV. `csv` must remain valid as long as the document. */
struct json document_as(enum output_format format, const struct table_layout *csv);
/*
 * A further column: the value of `key` in the object at `path`, which starts at the row ("": the
 * row). `none`, which must remain valid, as in a layout; NULL: nothing.
 */
void table_column(struct json *j, const char *name, const char *path, const char *key,
		  const char *none);

/* The innermost object is not a row. */
void table_no_row(struct json *j);
/* Values that are only in the table, not in JSON. */
void table_string(struct json *j, const char *key, const char *value);
void table_uint(struct json *j, const char *key, uint64_t value);
void table_real(struct json *j, const char *key, double value);

/* Called by json.c, which has a table. `value` NULL: null. */
void table_open(struct json *j, const char *key, char closing);
void table_value(struct json *j, const char *key, const char *value, bool number);
void table_number(struct json *j, const char *key, double value);
void table_end(struct json *j);
void table_free(struct json *j);

/* ---- fields ---- */

/*
 * s as the content of a cell: control characters become \\xNN (escape_cell()); a name that a
 * spreadsheet would take for a formula, because it starts with = + - or @, gets an apostrophe in
 * front. Numbers are unchanged.
 */
void csv_safe(struct text *out, const char *s);

/*
 * csv_safe() of s (NULL: nothing), quoted if a reader would otherwise split it into several cells.
 */
void csv_cell(struct text *out, const char *s, const char *separator);

/*
 * csv_safe() of s, quoted if necessary (NULL: an empty field), then the separator: a comma, or a
 * newline after the last.
 */
void csv_field(struct text *out, const char *s, char after);

#endif
