/* SPDX-License-Identifier: MIT */
/*
 * Writes a table as an Apache Parquet file, compressed by zstd if that is built in. Rows are
 * buffered up to PARQUET_GROUP_ROWS, then written as a row group: memory is bounded. Source: the
 * Parquet format specification (parquet.thrift, Encodings.md): data pages of version 1, PLAIN
 * values, RLE definition levels.
 *
 *	p = parquet_open(out, columns, n, &err);
 *	parquet_number(p, 0, 5), parquet_end_row(p, &err);
 *	parquet_close(p, &err);
 *
 * Write errors are kept in `out`; the functions here only fail when out of memory.
 */
#ifndef OUTPUT_PARQUET_H
#define OUTPUT_PARQUET_H

#include <stdbool.h>
#include <stdint.h>
#include "output/out.h"

enum { PARQUET_GROUP_ROWS = 1 << 17 };

enum parquet_type {
	PARQUET_U64,
	PARQUET_I64,
	PARQUET_U32,
	PARQUET_I32,
	PARQUET_DOUBLE,
	PARQUET_STRING,
	PARQUET_BOOL
};

struct parquet_column {
	const char *name;
	enum parquet_type type;
	bool optional; /* may be null */
};

struct parquet;

/* `column` must outlive the writer; `out` remains the caller's, and must be empty. */
struct parquet *parquet_open(struct out *out, const struct parquet_column *column, size_t n,
			     struct tare_error *err);
/* An entry of the file's key-value metadata; the strings are copied. */
int parquet_note(struct parquet *p, const char *key, const char *value, struct tare_error *err);

/*
 * The value of a column in this row; once per row. Columns without a value are null, or 0 if they
 * are not optional.
 */
/* for all types of whole numbers, and bool */
void parquet_number(struct parquet *p, size_t column, uint64_t v);
void parquet_double(struct parquet *p, size_t column, double v);
void parquet_string(struct parquet *p, size_t column, const char *s);

int parquet_end_row(struct parquet *p, struct tare_error *err);

/*
 * Write the remaining rows and the footer, and free p. Without it, the file is not a valid Parquet
 * file.
 */
int parquet_close(struct parquet *p, struct tare_error *err);
/* Free it without writing. */
void parquet_free(struct parquet *p);

#endif
