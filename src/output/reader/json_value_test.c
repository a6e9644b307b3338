/* SPDX-License-Identifier: MIT */
#include <stdint.h>
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

TEST_MAIN()
