/* SPDX-License-Identifier: MIT */
/* A build without jansson: there are no documents, and thus no values. */
#include "output/reader/json_value.h"

int json_parse(struct json_t **out, const char *text, size_t n, const char *name, int first_line,
	       struct tare_error *err)
{
	(void)text, (void)n, (void)first_line;
	*out = NULL;
	tare_fail(err, EOPNOTSUPP, "%.150s is JSON, and this tare was built without jansson", name);
	tare_hint(err, "build with -Djansson=enabled");
	return -EOPNOTSUPP;
}

void json_release(struct json_t *document)
{
	(void)document;
}

enum json_kind json_kind(const struct json_t *v)
{
	(void)v;
	return JSON_IS_ABSENT;
}

const struct json_t *json_member(const struct json_t *object, const char *key)
{
	(void)object, (void)key;
	return NULL;
}

size_t json_length(const struct json_t *v)
{
	(void)v;
	return 0;
}

const struct json_t *json_element(const struct json_t *array, size_t i)
{
	(void)array, (void)i;
	return NULL;
}

const char *json_text(const struct json_t *v)
{
	(void)v;
	return NULL;
}

const char *json_member_text(const struct json_t *object, const char *key)
{
	(void)object, (void)key;
	return NULL;
}

bool json_is_set(const struct json_t *v)
{
	(void)v;
	return false;
}

bool json_whole(const struct json_t *v, uint64_t *out)
{
	(void)v, (void)out;
	return false;
}

bool json_double(const struct json_t *v, double *out)
{
	(void)v, (void)out;
	return false;
}

void *json_first(const struct json_t *object)
{
	(void)object;
	return NULL;
}

void *json_next(const struct json_t *object, void *at)
{
	(void)object, (void)at;
	return NULL;
}

const char *json_key(void *at)
{
	(void)at;
	return NULL;
}

const struct json_t *json_at(void *at)
{
	(void)at;
	return NULL;
}
