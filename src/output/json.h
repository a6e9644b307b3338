/* SPDX-License-Identifier: MIT */
/*
 * A document, written value by value: as JSON, indented by two spaces per level; or the rows of one
 * of its tables, as CSV (output/csv.h).
 */
#ifndef OUTPUT_JSON_H
#define OUTPUT_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include "base/text.h"

enum output_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_OTHER };

enum { JSON_DEPTH_MAX = 32 };

struct out;
struct table;

/*
 * Zero-initialise. With `to` (output/out.h), text is written there as it grows, in bounded memory.
 * Keys are NULL inside arrays and for the outermost value.
 */
struct json {
	struct text out;
	struct out *to;
	struct table *table; /* CSV */
	char closing[JSON_DEPTH_MAX];
	unsigned depth;
	bool started; /* the innermost object or array already has a member */
};

/* jansson has functions of these names, and a static build of tare links both. */
#define JSON_SYMBOL(name) __asm__("tare_view_" #name)

void json_object(struct json *j, const char *key) JSON_SYMBOL(json_object);
void json_array(struct json *j, const char *key) JSON_SYMBOL(json_array);
/* of the innermost object or array; adds a newline after the outermost */
void json_end(struct json *j);
void json_into(struct text *out, struct json *j); /* the whole document; frees its memory */
void json_pass(struct json *j);   /* with `to`: writes a large text; called before each value */
void json_finish(struct json *j); /* instead of json_into(), with `to` */

/* NULL is written as null. Invalid UTF-8 becomes U+FFFD, so that the document stays valid. */
void json_string(struct json *j, const char *key, const char *value) JSON_SYMBOL(json_string);
/*
 * An array of the notes of a text output, one per line. A line that begins with three spaces
 * continues the previous one. Frees `lines`.
 */
void json_notes(struct json *j, const char *key, struct text *lines);
/* Whole numbers up to 2^53, strings of digits above: readers that use doubles lose no precision. */
void json_int(struct json *j, const char *key, int64_t value);
void json_uint(struct json *j, const char *key, uint64_t value);
/* The shortest text that parses to the same double; null if not finite. Requires LC_NUMERIC "C". */
void json_real(struct json *j, const char *key, double value) JSON_SYMBOL(json_real);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key) JSON_SYMBOL(json_null);
/* null if not known. */
void json_int_if(struct json *j, const char *key, bool known, int64_t value);
void json_uint_if(struct json *j, const char *key, bool known, uint64_t value);
void json_real_if(struct json *j, const char *key, bool known, double value);
void json_bool_if(struct json *j, const char *key, bool known, bool value);
void json_hex(struct json *j, const char *key, uint64_t value); /* "0x1f" */
/* An array of strings; `s` ends with NULL. */
void json_strings(struct json *j, const char *key, const char *const *s);

/* A string with U+FFFD for invalid UTF-8. */
void text_utf8(struct text *out, const char *s);
/* The string alone, in quotes. */
void json_quote(struct text *out, const char *value);

/* A counter's "12 ns" as a number: a whole number if it is one. */
void json_amount(struct json *j, const char *key, double amount);

#endif
