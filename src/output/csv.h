/* SPDX-License-Identifier: MIT */
/* Fields of a CSV file according to RFC 4180. */
#ifndef OUTPUT_CSV_H
#define OUTPUT_CSV_H

#include "base/text.h"

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
