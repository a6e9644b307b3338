/* SPDX-License-Identifier: MIT */
/* Valid and invalid rows of fields; the files that use them have their own tests. */
#include <string.h>
#include "base/rows.h"
#include "tap.h"

static const char head[] = "tare rows 1\n";

/* A row with a single field, read as one type of field. */
static bool takes(const char *field, char kind)
{
	static const char *const names[] = { "one", "two" };
	struct rows r;
	char text[64], s[4];
	int64_t i;
	uint64_t n;
	double x;
	int name, len = snprintf(text, sizeof(text), "%s%s\n", head, field);
	bool good;

	if (!CHECK(rows_begin(&r, head, text, (size_t)len, "is bad", NULL) == 0 &&
		   rows_next(&r, NULL) == 1))
		return false;
	good = kind == 't'    ? row_text(&r, s, sizeof(s))
		: kind == 'i' ? row_int(&r, &i)
		: kind == 'n' ? row_count(&r, &n, 100)
		: kind == 'x' ? row_real(&r, &x, -1, 2.5)
			      : row_name(&r, &name, names, 2, kind == '-' ? "-" : NULL);
	return good && row_ends(&r);
}

TEST(fields_of_each_kind)
{
	static const struct {
		char kind;
		const char *good[5], *bad[8];
	} rows[] = {
		{ 't', { "", "a", "a b" }, { "abcd", "a\x01", "\xc3\xa4", "a\tb" } },
		{ 'i',
		  { "0", "-1", "9223372036854775807", "-9223372036854775808" },
		  { "", "-", " 1", "+1", "1 ", "0x1", "9223372036854775808", "1\t" } },
		{ 'n',
		  { "0", "100", "007" },
		  { "", "-0", " 1", "+1", "101", "1.0", "18446744073709551617" } },
		{ 'x',
		  { "0", "-1", "2.5", "1e-3" },
		  { "", "-1.001", "2.6", "nan", "-nan", "inf", "-inf", ".5" } },
		{ 'w', { "one", "two" }, { "", "-", "on", "twos", "two\t" } },
		{ '-', { "one", "-" }, { "", "--", "three" } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		for (size_t k = 0; k < 5 && rows[i].good[k]; k++)
			CHECK(takes(rows[i].good[k], rows[i].kind), "%c: '%s'", rows[i].kind,
			      rows[i].good[k]);
		for (size_t k = 0; k < 8 && rows[i].bad[k]; k++)
			CHECK(!takes(rows[i].bad[k], rows[i].kind), "%c: '%s'", rows[i].kind,
			      rows[i].bad[k]);
	}
}

TEST(a_row_has_as_many_fields_as_it_has)
{
	static const char text[] = "tare rows 1\n1\t-2\n\n";
	struct rows r;
	uint64_t n;
	int64_t i;

	CHECK_EQ(rows_begin(&r, head, text, sizeof(text) - 1, "is bad", NULL), 0);
	CHECK_EQ(rows_next(&r, NULL), 1);
	CHECK(row_count(&r, &n, 5) && n == 1 && !row_ends(&r));
	CHECK(row_int(&r, &i) && i == -2 && row_ends(&r));
	CHECK(!row_int(&r, &i) && !row_count(&r, &n, 5), "there is none left");
	CHECK_EQ(rows_next(&r, NULL), 1);
	CHECK(!row_ends(&r), "an empty line is an empty field");
	CHECK_EQ(rows_next(&r, NULL), 0);
}

TEST(lines_that_are_none)
{
	struct tare_error err = TARE_ERROR_INIT;
	char text[1100] = "tare rows 1\n";
	const size_t at = sizeof(head) - 1;
	struct rows r;

	for (size_t n = 0; n < at; n++)
		CHECK_EQ(rows_begin(&r, head, text, n, "is bad", &err), -EBADMSG,
			 "%zu bytes of the head", n);
	CHECK_STR(err.what, "line 1 is not 'tare rows 1'");
	memset(text + at, 'x', sizeof(text) - at);
	for (size_t n = 1020; n < 1030; n++) { /* a NUL is written after the text */
		text[at + n] = '\n';
		CHECK_EQ(rows_begin(&r, head, text, at + n + 1, "is bad", &err), 0);
		CHECK_EQ(rows_next(&r, &err), n < sizeof(r.line) ? 1 : -EBADMSG, "%zu bytes", n);
		text[at + n] = 'x';
	}
	CHECK_STR(err.what, "line 2 is bad");
	CHECK_EQ(rows_begin(&r, head, text, at + 5, "is bad", &err), 0);
	CHECK_EQ(rows_next(&r, &err), -EBADMSG, "no end");
	memcpy(text + at, "a\nb\0c\n", 6);
	CHECK_EQ(rows_begin(&r, head, text, at + 6, "is bad", &err), 0);
	CHECK_EQ(rows_next(&r, &err), 1);
	CHECK_EQ(rows_next(&r, &err), -EBADMSG, "a NUL");
	CHECK_STR(err.what, "line 3 is bad");
}

TEST_MAIN()
