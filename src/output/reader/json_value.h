/* SPDX-License-Identifier: MIT */
/*
 * Reads JSON documents, by jansson. A value that does not exist is NULL; all functions accept NULL,
 * and values of any kind. Strings and values live as long as their document.
 */
#ifndef OUTPUT_READER_JSON_VALUE_H
#define OUTPUT_READER_JSON_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct json_t; /* of jansson */

enum json_kind {
	JSON_IS_ABSENT,
	JSON_IS_NULL,
	JSON_IS_BOOL,
	JSON_IS_NUMBER,
	JSON_IS_STRING,
	JSON_IS_ARRAY,
	JSON_IS_OBJECT,
};

/*
 * The memory that jansson needs for the values of a text, estimated before it is parsed: "{}," is 3
 * bytes of text and 280 bytes of memory.
 */
uint64_t json_memory(const char *text, size_t n);
/*
 * 0, or -EFBIG if this is more than 1 GiB, or more than both 128 MiB and 32 times the size of the
 * text. Documents of tare and its imports need 5 to 20 times their size.
 */
int json_check_memory(const char *text, size_t n, const char *name, struct tare_error *err);

/*
 * Untrusted input; keys that occur twice are refused, and so is what json_check_memory() refuses.
 * `name` and `first_line`, the number of the text's first line, are for messages. -EOPNOTSUPP
 * without jansson.
 */
int json_parse(struct json_t **out, const char *text, size_t n, const char *name, int first_line,
	       struct tare_error *err);
void json_release(struct json_t *document);

enum json_kind json_kind(const struct json_t *v);
const struct json_t *json_member(const struct json_t *object, const char *key);
size_t json_length(const struct json_t *v); /* of an array or object; otherwise 0 */
const struct json_t *json_element(const struct json_t *array, size_t i);
const char *json_text(const struct json_t *v); /* NULL if it is no string */
const char *json_member_text(const struct json_t *object, const char *key);
bool json_is_set(const struct json_t *v); /* true, the value */
/* A whole number from 0 to 2^64-1; those above 2^53 may be strings of digits. */
bool json_whole(const struct json_t *v, uint64_t *out);
bool json_double(const struct json_t *v, double *out); /* any number of JSON */

/* for (void *at = json_first(object); at; at = json_next(object, at)) */
void *json_first(const struct json_t *object);
void *json_next(const struct json_t *object, void *at);
const char *json_key(void *at);
const struct json_t *json_at(void *at);

#endif
