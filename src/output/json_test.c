/* SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>
#include "base/error.h"
#include "tap.h"
#include "output/csv.h"
#include "output/json.h"

TEST(nests_with_commas_and_indent)
{
	struct json j = { 0 };

	json_object(&j, NULL);
	json_string(&j, "schema", "tare/x/1");
	json_array(&j, "rows");
	json_object(&j, NULL);
	json_int(&j, "n", -3);
	json_bool(&j, "ok", false);
	json_end(&j);
	json_null(&j, NULL);
	json_end(&j);
	json_array(&j, "none");
	json_end(&j);
	json_end(&j);
	CHECK_STR(j.out.s,
		  "{\n  \"schema\": \"tare/x/1\",\n  \"rows\": [\n    {\n      \"n\": -3,\n"
		  "      \"ok\": false\n    },\n    null\n  ],\n  \"none\": []\n}\n");
	CHECK_EQ(j.out.failed, false);
	text_free(&j.out);
}

static const struct {
	int line;
	const char *value, *written;
} strings[] = {
	{ __LINE__, "plain", "\"plain\"" },
	{ __LINE__, NULL, "null" },
	{ __LINE__, "a\"b\\c", "\"a\\\"b\\\\c\"" },
	{ __LINE__, "line\nfeed\ttab\x01\x7f", "\"line\\nfeed\\ttab\\u0001\\u007f\"" },
	{ __LINE__, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
	  "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"" },
	{ __LINE__, "\xff", "\"\xef\xbf\xbd\"" },
	{ __LINE__, "\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\"" },                 /* overlong */
	{ __LINE__, "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" }, /* surrogate */
	{ __LINE__, "\xf4\x90", "\"\xef\xbf\xbd\xef\xbf\xbd\"" }, /* above U+10FFFF */
	{ __LINE__, "\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\"" }, /* cut off */
};

TEST(strings_are_escaped_and_valid)
{
	for (size_t i = 0; i < ARRAY_SIZE(strings); i++) {
		struct json j = { 0 };

		json_string(&j, NULL, strings[i].value);
		CHECK_STR(j.out.s, strings[i].written, "row at line %d", strings[i].line);
		text_free(&j.out);
	}
}

TEST(what_a_terminal_acts_on_is_escaped)
{
	struct text t = { 0 };

	json_quote(&t,
		   "a\xc2\x9b"
		   "b\xe2\x80\xae"
		   "c\xd8\x9c"
		   "d\x1b\xc3\xa9");
	CHECK_STR(t.s, "\"a\\u009bb\\u202ec\\u061cd\\u001b\xc3\xa9\"", "C1 and marks of direction");
	text_free(&t);
}

TEST(cells_of_csv_are_harmless)
{
	static const struct {
		const char *name, *cell;
	} rows[] = {
		{ "plain", "plain," },
		{ "=1+1", "'=1+1," },
		{ "@SUM(A1)", "'@SUM(A1)," },
		{ "-5.5e3", "-5.5e3," },
		{ "-x", "'-x," },
		{ "\t=1", "\\x09=1," },
		{ "a\x1b[31m\x9b"
		  "b,c",
		  "\"a\\x1b[31m\\x9bb,c\"," },
		{ "a;=1+1", "\"a;=1+1\"," },
		{ "a\xe2\x81\xa6\"b\"", "\"a\\xe2\\x81\\xa6\"\"b\"\"\"," },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct text t = { 0 };

		csv_field(&t, rows[i].name, ',');
		CHECK_STR(t.s, rows[i].cell, "row %zu", i);
		text_free(&t);
	}
}

TEST(numbers_survive_readers_that_keep_doubles)
{
	struct json j = { 0 };

	json_array(&j, NULL);
	json_uint(&j, NULL, UINT64_C(1) << 53);
	json_uint(&j, NULL, (UINT64_C(1) << 53) + 1);
	json_uint(&j, NULL, UINT64_MAX);
	json_int(&j, NULL, INT64_MIN);
	json_int(&j, NULL, -(INT64_C(1) << 53));
	json_end(&j);
	CHECK_STR(j.out.s,
		  "[\n  9007199254740992,\n  \"9007199254740993\",\n  \"18446744073709551615\",\n"
		  "  \"-9223372036854775808\",\n  -9007199254740992\n]\n");
	text_free(&j.out);
}

TEST(reals_read_back_and_are_short)
{
	static const struct {
		double value;
		const char *written;
	} rows[] = {
		{ 0.1, "0.1" },
		{ 1.0, "1" },
		{ 1.0 / 3.0, "0.3333333333333333" },
		{ NAN, "null" },
		{ INFINITY, "null" },
		{ -INFINITY, "null" },
		{ DBL_MAX, "1.7976931348623157e+308" },
		{ -0.0, "-0" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct json j = { 0 };

		json_real(&j, NULL, rows[i].value);
		CHECK_STR(j.out.s, rows[i].written, "row %zu", i);
		text_free(&j.out);
	}
}

TEST_MAIN()
