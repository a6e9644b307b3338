/* SPDX-License-Identifier: MIT */
/* Fields of a CSV file as RFC 4180 has them. */
#ifndef OUTPUT_CSV_H
#define OUTPUT_CSV_H

#include "base/text.h"

/*
 * s as the content of a cell: what a terminal would act on becomes \\xNN (escape_cell()); a name that a spreadsheet would take for a
 * formula, as it begins with = + - or @, gets an apostrophe before it. Numbers stay as they are.
 */
void csv_safe(struct text *out, const char *s);

/* csv_safe() of s (NULL: nothing), quoted where a reader would else take it for more than one cell. */
void csv_cell(struct text *out, const char *s, const char *separator);

/* csv_safe() of s, quoted where it must be (NULL: an empty field), then the separator: a comma, or a newline after the last. */
void csv_field(struct text *out, const char *s, char after);

#endif
