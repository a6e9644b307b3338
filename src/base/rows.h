/* SPDX-License-Identifier: MIT */
/*
 * tare's own files of rows: a header line with the format, then one line per row, fields separated
 * by tabs. Anything else is refused with the line number.
 */
#ifndef BASE_ROWS_H
#define BASE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct rows {
	const char *text, *refusal;
	size_t len, at, number; /* of the current line, from 1 */
	char line[1024];
	char *field; /* the next field; NULL: there is none */
};

/*
 * text: len bytes that must remain valid during reading. head: the first line, with its '\n'.
 * refusal: the message for a bad line, as in "is no verdict". 0; -EBADMSG: another header.
 */
int rows_begin(struct rows *r, const char *head, const char *text, size_t len, const char *refusal,
	       struct tare_error *err);
/* 1: a row was read; 0: end; -EBADMSG: a line without a newline, with a NUL in it, or too long. */
int rows_next(struct rows *r, struct tare_error *err);
/* -EBADMSG for the current line. */
int rows_refuse(const struct rows *r, struct tare_error *err);

/*
 * Each function takes the next field; false: there is none, or it is not of this type or within
 * these limits (inclusive).
 */
bool row_text(struct rows *r, char *to, size_t room);
bool row_int(struct rows *r, int64_t *to);
bool row_count(struct rows *r, uint64_t *to, uint64_t most);
bool row_real(struct rows *r, double *to, double least, double most);
/* Index among n names; -1: it is `none` (may be NULL). */
bool row_name(struct rows *r, int *to, const char *const *names, int n, const char *none);
/* No field is left. */
bool row_ends(const struct rows *r);

/* Can a text be a field: is all of it printable? */
bool row_fits(const char *s);

#endif
