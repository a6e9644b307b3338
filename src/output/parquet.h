/* SPDX-License-Identifier: MIT */
/*
 * A table as an Apache Parquet file, column by column, compressed by zstd where that is built in. Rows are held
 * until there are PARQUET_GROUP_ROWS of them, then written as a row group: memory is bounded. Source: the Parquet format
 * specification (parquet.thrift, Encodings.md): data pages of version 1, PLAIN values, RLE definition levels.
 *
 *	p = parquet_open(out, columns, n, &err);
 *	parquet_number(p, 0, 5), parquet_end_row(p, &err);
 *	parquet_close(p, &err);
 *
 * Errors of writing stick in `out`; the functions here fail for want of memory only.
 */
#ifndef OUTPUT_PARQUET_H
#define OUTPUT_PARQUET_H

#include <stdbool.h>
#include <stdint.h>
#include "output/out.h"

enum { PARQUET_GROUP_ROWS = 1 << 17 };

enum parquet_type { PARQUET_U64, PARQUET_I64, PARQUET_U32, PARQUET_I32, PARQUET_DOUBLE, PARQUET_STRING, PARQUET_BOOL };

struct parquet_column {
	const char *name;
	enum parquet_type type;
	bool optional; /* may be null */
};

struct parquet;

/* `column` must live as long; `out` stays the caller's, and holds nothing before. */
struct parquet *parquet_open(struct out *out, const struct parquet_column *column, size_t n, struct tare_error *err);
/* A note in the file's own key-value list; the strings are copied. */
int parquet_note(struct parquet *p, const char *key, const char *value, struct tare_error *err);

/* The value of a column in this row; each once a row. Columns without a value are null, or 0 where they cannot be. */
void parquet_number(struct parquet *p, size_t column, uint64_t v); /* of every type of whole number, and of bool */
void parquet_double(struct parquet *p, size_t column, double v);
void parquet_string(struct parquet *p, size_t column, const char *s);

int parquet_end_row(struct parquet *p, struct tare_error *err);

/* Write what is left and the footer, and free p. Without it, what was written is no Parquet file. */
int parquet_close(struct parquet *p, struct tare_error *err);
/* Free it and write nothing more. */
void parquet_free(struct parquet *p);

#endif
