/* SPDX-License-Identifier: MIT */
/* Columns of numbers as base64 bytes: the smallest type that fits, and values that fit none. */
#include <math.h>
#include "base/error.h"
#include "tap.h"
#include "output/base64_column.h"

static uint64_t nth(void *with, size_t i)
{
	return ((const uint64_t *)with)[i];
}

static double every_second(void *with, size_t i)
{
	return ((const double *)with)[2 * i];
}

/* Without the line breaks. */
static const char *packed(const uint64_t *v, size_t n)
{
	static char out[512];
	struct json j = { 0 };
	size_t at = 0;

	base64_uints(&j, NULL, nth, (void *)v, n);
	text_put(&j.out, "", 1);
	for (const char *s = j.out.s; *s && at < sizeof(out) - 1; s++)
		if (*s != '\n' && *s != ' ')
			out[at++] = *s;
	out[at] = '\0';
	text_free(&j.out);
	return out;
}

TEST(the_shortest_kind)
{
	static const struct {
		int line;
		uint64_t v[4];
		size_t n;
		const char *want;
	} rows[] = {
		{ __LINE__, { 0 }, 0, "[]" },
		{ __LINE__, { 9 }, 1, "{\"packed\":\"u0\",\"n\":1,\"first\":9,\"base64\":\"\"}" },
		{ __LINE__,
		  { 7, 7, 7 },
		  3,
		  "{\"packed\":\"u0\",\"n\":3,\"first\":7,\"base64\":\"\"}" },
		{ __LINE__,
		  { 256, 1, 2 },
		  3,
		  "{\"packed\":\"u8\",\"n\":3,\"first\":1,\"base64\":\"/wAB\"}" },
		{ __LINE__,
		  { 257, 1 },
		  2,
		  "{\"packed\":\"u16\",\"n\":2,\"first\":1,\"base64\":\"AAEAAA==\"}" },
		{ __LINE__,
		  { 65537, 1 },
		  2,
		  "{\"packed\":\"u32\",\"n\":2,\"first\":1,\"base64\":\"AAABAAAAAAA=\"}" },
		/* differences: equal, and different */
		{ __LINE__,
		  { 5, 1005, 2005, 3005 },
		  4,
		  "{\"packed\":\"u0\",\"n\":4,\"first\":5,\"step\":1000,\"base64\":\"\"}" },
		{ __LINE__,
		  { 5, 1005, 2006 },
		  3,
		  "{\"packed\":\"u8\",\"n\":3,\"first\":5,\"step\":1000,\"base64\":\"AAE=\"}" },
		{ __LINE__,
		  { 0, UINT64_C(1) << 33, UINT64_C(1) << 34 },
		  3,
		  "{\"packed\":\"u0\",\"n\":3,\"first\":0,\"step\":8589934592,\"base64\":\"\"}" },
		/* as digits: too wide, too large */
		{ __LINE__, { UINT64_C(1) << 33, 0 }, 2, "[8589934592,0]" },
		{ __LINE__, { (UINT64_C(1) << 53) + 1 }, 1, "[\"9007199254740993\"]" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR(packed(rows[i].v, rows[i].n), rows[i].want, "row at line %d",
			  rows[i].line);
}

TEST(reals_and_long_columns)
{
	const double v[] = { 1.5, 0, NAN };
	uint64_t many[5000];
	struct json j = { 0 };

	base64_reals(&j, NULL, every_second, (void *)v, 2);
	text_put(&j.out, "", 1);
	CHECK(strstr(j.out.s, "\"f64\"") && strstr(j.out.s, "\"AAAAAAAA+D8AAAAAAAD4fw==\""), "%s",
	      j.out.s);
	text_free(&j.out);

	j = (struct json){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = i * 7919 % 256;
	base64_uints(&j, NULL, nth, many, ARRAY_SIZE(many));
	text_put(&j.out, "", 1);
	CHECK_EQ(strspn(strstr(j.out.s, "base64\": \"") + 10,
			"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="),
		 (ARRAY_SIZE(many) + 2) / 3 * 4, "no break between the pieces");
	text_free(&j.out);
}

TEST_MAIN()
