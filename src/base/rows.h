/* SPDX-License-Identifier: MIT */
/*
 * Files of rows that tare keeps of its own: a head line that says what they are, then a line per row, its fields separated by tabs.
 * What is anything else is refused with the line's number.
 */
#ifndef BASE_ROWS_H
#define BASE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct rows {
	const char *text, *refusal;
	size_t len, at, number; /* of the line that is read, from 1 */
	char line[1024];
	char *field; /* the one to be taken next; NULL: there is none */
};

/*
 * Of len bytes of text, which outlives the reading. head: the first line, with its '\n'. refusal: what a bad line is told to be,
 * as in "is no verdict". 0; -EBADMSG: another head.
 */
int rows_begin(struct rows *r, const char *head, const char *text, size_t len, const char *refusal, struct tare_error *err);
/* 1: a row is there; 0: all were read; -EBADMSG: a line without an end, with a NUL in it, or longer than fits. */
int rows_next(struct rows *r, struct tare_error *err);
/* -EBADMSG for the present line. */
int rows_refuse(const struct rows *r, struct tare_error *err);

/* Each takes the next field; false: there is none, or it is not of this kind or within these limits, both included. */
bool row_text(struct rows *r, char *to, size_t room);
bool row_int(struct rows *r, int64_t *to);
bool row_count(struct rows *r, uint64_t *to, uint64_t most);
bool row_real(struct rows *r, double *to, double least, double most);
/* Which of n names it is; -1: it is `none` (may be NULL). */
bool row_name(struct rows *r, int *to, const char *const *names, int n, const char *none);
/* No field is left. */
bool row_ends(const struct rows *r);

/* Whether a text can be a field: all of it printable. */
bool row_fits(const char *s);

#endif
