/* SPDX-License-Identifier: MIT */
/*
 * Normalised accesses (include/tare/access.h) as a table: CSV or Parquet, the same columns in both.
 * docs/internals/accesses.md describes them; columns are only ever added.
 */
#ifndef MEMORY_ACCESS_TABLE_H
#define MEMORY_ACCESS_TABLE_H

#include "tare/access.h"
#include "output/out.h"

enum access_format { ACCESS_CSV, ACCESS_PARQUET };

/*
 * Writes all remaining accesses of `a` to `out`; *rows is the number of rows. Returns a negative
 * errno (such as -EIO) if the recording is damaged; the rows before the damage are then written,
 * and the table is complete. Write errors stick in `out`.
 */
int access_table_write(struct out *out, enum access_format format, struct tare_accesses *a,
		       uint64_t *rows, struct tare_error *err);

#endif
