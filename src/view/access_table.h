/* SPDX-License-Identifier: MIT */
/*
 * Normalised accesses (include/tare/access.h) as a table: CSV or Parquet, the same columns in both. docs/accesses.md
 * describes them; columns are only ever added.
 */
#ifndef VIEW_ACCESS_TABLE_H
#define VIEW_ACCESS_TABLE_H

#include <stdio.h>
#include "tare/access.h"

enum access_format { ACCESS_CSV, ACCESS_PARQUET };

/* Everything that `a` still has, to `out`: how many rows in *rows. What was lost is asked of `a` after it. */
int access_table_write(FILE *out, enum access_format format, struct tare_accesses *a, uint64_t *rows, struct tare_error *err);

#endif
