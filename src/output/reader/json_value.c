/* SPDX-License-Identifier: MIT */
#include <jansson.h>
#include <string.h>
#include "base/library.h"
#include "base/num.h"
#include "output/reader/json_value.h"

/* clang-format off */
#define FUNCTIONS(F) \
	F(json_array_get) F(json_array_size) F(json_delete) F(json_integer_value) F(json_loadb) \
	F(json_number_value) F(json_object_get) F(json_object_iter) F(json_object_iter_key) \
	F(json_object_iter_next) F(json_object_iter_value) F(json_object_size) F(json_string_value)
/* clang-format on */
LIBRARY(jansson, "libjansson.so.4", FUNCTIONS)

int json_parse(struct json_t **out, const char *text, size_t n, const char *name, int first_line,
	       struct tare_error *err)
{
	json_error_t where;

	*out = NULL;
	if (!jansson_load())
		return library_missing(err, EOPNOTSUPP, "libjansson.so.4, which reads JSON",
				       "apt install libjansson4");
	if (json_check_memory(text, n, name, err) < 0)
		return -EFBIG;
	*out = jansson.json_loadb(text, n, JSON_REJECT_DUPLICATES, &where);
	return *out ? 0
		    : tare_fail(err, EINVAL, "%.200s: line %d: not JSON: %.120s", name,
				first_line - 1 + where.line, where.text);
}

void json_release(struct json_t *document)
{
	if (document)
		jansson.json_delete(document);
}

enum json_kind json_kind(const struct json_t *v)
{
	static const enum json_kind kinds[] = {
		[JSON_OBJECT] = JSON_IS_OBJECT, [JSON_ARRAY] = JSON_IS_ARRAY,
		[JSON_STRING] = JSON_IS_STRING, [JSON_INTEGER] = JSON_IS_NUMBER,
		[JSON_REAL] = JSON_IS_NUMBER,   [JSON_TRUE] = JSON_IS_BOOL,
		[JSON_FALSE] = JSON_IS_BOOL,    [JSON_NULL] = JSON_IS_NULL,
	};

	return v ? kinds[json_typeof(v)] : JSON_IS_ABSENT;
}

const struct json_t *json_member(const struct json_t *object, const char *key)
{
	return object ? jansson.json_object_get(object, key) : NULL;
}

size_t json_length(const struct json_t *v)
{
	if (!v)
		return 0;
	return json_typeof(v) == JSON_OBJECT ? jansson.json_object_size(v)
					     : jansson.json_array_size(v);
}

const struct json_t *json_element(const struct json_t *array, size_t i)
{
	return array ? jansson.json_array_get(array, i) : NULL;
}

const char *json_text(const struct json_t *v)
{
	return v ? jansson.json_string_value(v) : NULL;
}

const char *json_member_text(const struct json_t *object, const char *key)
{
	return json_text(json_member(object, key));
}

bool json_is_set(const struct json_t *v)
{
	return v && json_typeof(v) == JSON_TRUE;
}

bool json_whole(const struct json_t *v, uint64_t *out)
{
	const char *s = json_text(v);

	if (s)
		return *s && strspn(s, "0123456789") == strlen(s) && num_parse(s, out, NULL) == 0;
	if (!v || json_typeof(v) != JSON_INTEGER || jansson.json_integer_value(v) < 0)
		return false;
	*out = (uint64_t)jansson.json_integer_value(v);
	return true;
}

bool json_double(const struct json_t *v, double *out)
{
	if (json_kind(v) != JSON_IS_NUMBER)
		return false;
	*out = jansson.json_number_value(v);
	return true;
}

void *json_first(const struct json_t *object)
{
	return object ? jansson.json_object_iter((json_t *)object) : NULL;
}

void *json_next(const struct json_t *object, void *at)
{
	return jansson.json_object_iter_next((json_t *)object, at);
}

const char *json_key(void *at)
{
	return jansson.json_object_iter_key(at);
}

const struct json_t *json_at(void *at)
{
	return jansson.json_object_iter_value(at);
}
