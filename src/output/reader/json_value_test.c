/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "output/reader/json_value.h"
#include "tap.h"

static struct json_t *parsed(const char *text)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct json_t *v;
	int ret = json_parse(&v, text, strlen(text), "t", 1, &err);

	if (ret == -EOPNOTSUPP)
		tap_skip("jansson", "built without it");
	CHECK_EQ(ret, 0, "%s", err.what);
	return v;
}

TEST(whole_numbers)
{
	static const struct {
		const char *text;
		bool whole;
		uint64_t n;
	} rows[] = {
		{ "[0]", true, 0 },
		{ "[9007199254740992]", true, UINT64_C(1) << 53 },
		{ "[\"18446744073709551615\"]", true, UINT64_MAX },
		{ "[\"18446744073709551616\"]", false, 0 },
		{ "[\"\"]", false, 0 },
		{ "[\"0x10\"]", false, 0 },
		{ "[\"1k\"]", false, 0 },
		{ "[-1]", false, 0 },
		{ "[1.0]", false, 0 },
		{ "[null]", false, 0 },
		{ "[[]]", false, 0 },
		{ "[]", false, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct json_t *root = parsed(rows[i].text);
		uint64_t n = 0;

		CHECK_EQ(json_whole(json_element(root, 0), &n), rows[i].whole, "%s", rows[i].text);
		CHECK_EQ(n, rows[i].n, "%s", rows[i].text);
		json_release(root);
	}
}

TEST(values_of_any_kind)
{
	struct json_t *root = parsed("{\"a\": \"x\", \"b\": [1, 2.5, true], \"c\": null}");
	const struct json_t *list = json_member(root, "b");
	double d = 0;
	size_t n = 0;

	CHECK(!strcmp(json_member_text(root, "a"), "x"), "a");
	CHECK(!json_member_text(root, "b") && !json_member_text(root, "none"), "no strings");
	CHECK_EQ(json_length(list), 3, "array");
	CHECK_EQ(json_length(root), 3, "object");
	CHECK_EQ(json_length(json_member(root, "a")), 0, "string");
	CHECK(json_double(json_element(list, 1), &d) && d == 2.5, "a real number");
	CHECK(json_double(json_element(list, 0), &d) && d == 1, "a whole number");
	CHECK(!json_double(json_element(list, 2), &d), "no number");
	CHECK(json_is_set(json_element(list, 2)) && !json_is_set(list), "true");
	CHECK_EQ(json_kind(json_member(root, "c")), JSON_IS_NULL, "null");
	CHECK_EQ(json_kind(json_member(list, "x")), JSON_IS_ABSENT, "a member of an array");
	CHECK(!json_element(root, 0) && !json_element(NULL, 0) && !json_first(list), "none");
	for (void *at = json_first(root); at; at = json_next(root, at))
		n += json_at(at) == json_member(root, json_key(at));
	CHECK_EQ(n, 3, "members");
	json_release(root);
}

TEST(wrong_text_is_refused)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct json_t *v;
	int ret = json_parse(&v, "{\n\"a\": 1,\n\"a\": 2}", 18, "name", 10, &err);

	if (ret == -EOPNOTSUPP)
		tap_skip("jansson", "built without it");
	CHECK_EQ(ret, -EINVAL, "a key twice");
	CHECK(!v && strstr(err.what, "name: line 12: not JSON"), "%s", err.what);
	json_release(NULL);
}

/* n times `part` in an array. */
static char *repeated(const char *part, size_t n, size_t *len)
{
	size_t size = strlen(part), at = 1;
	char *text = malloc(n * (size + 1) + 2);

	CHECK(text != NULL, "memory");
	text[0] = '[';
	for (size_t i = 0; i < n; i++) {
		memcpy(text + at, part, size);
		text[at + size] = i + 1 < n ? ',' : ']';
		at += size + 1;
	}
	*len = at;
	return text;
}

TEST(values_that_need_much_more_memory_than_their_text)
{
	static const struct {
		int line;
		const char *part;
		size_t n;
		int ret;
	} rows[] = {
		{ __LINE__, "{}", 3000000, -EFBIG }, /* 9 MB */
		{ __LINE__, "{}", 400000, 0 },
		{ __LINE__, "[]", 1000000, -EFBIG },
		{ __LINE__, "1", 5000000, 0 }, /* 20 times */
		{ __LINE__, "\"\\\"{[,:\"", 1000000, 0 },
		{ __LINE__, "{\"name\":\"x\",\"value\":12,\"unit\":\"ns\"}", 300000, 0 },
		{ __LINE__, "{\"a\":{\"b\":{}}}", 1000000, -EFBIG },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		size_t n;
		char *text = repeated(rows[i].part, rows[i].n, &n);
		struct json_t *v = NULL;
		int ret = json_parse(&v, text, n, "t", 1, &err);

		if (ret == -EOPNOTSUPP)
			tap_skip("jansson", "built without it");
		CHECK_EQ(ret, rows[i].ret, "row at line %d: %s", rows[i].line, err.what);
		json_release(v);
		free(text);
	}
}

TEST_MAIN()
