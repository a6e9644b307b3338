/* SPDX-License-Identifier: MIT */
/* Fields of a CSV file as RFC 4180 has them. */
#ifndef VIEW_CSV_H
#define VIEW_CSV_H

#include "base/text.h"

/* s, quoted where it must be (NULL: an empty field), then the separator: a comma, or a newline after the last. */
void csv_field(struct text *out, const char *s, char after);

#endif
