/* SPDX-License-Identifier: MIT */
#include "event/metric.h"
#include "tap.h"

static double worth(const char *name)
{
	static const struct {
		const char *name;
		double value;
	} rows[] = {
		{ "a", 6 },
		{ "b", 4 },
		{ "zero", 0 },
		{ "branch-misses", 5 },
		{ "branches", 50 },
		{ "instructions:u", 12 },
		{ "cpu_core/instructions/", 7 },
		{ "exact/conditional-branches/", 20 },
		{ "exact/loads/u", 8 },
		{ "exact", 40 },
		{ "cpu/event=0x3c,umask=1/u", 9 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].name, name))
			return rows[i].value;
	CHECK(false, "a name that should not be: '%s'", name);
	return -1;
}

TEST(values)
{
	static const struct {
		int line;
		const char *text;
		double value;
		int ret;
	} rows[] = {
		{ __LINE__, "a", 6, 0 },
		{ __LINE__, "2", 2, 0 },
		{ __LINE__, "a / 1", 6, 0 },
		{ __LINE__, " a/b ", 1.5, 0 },
		{ __LINE__, "a - b - 1", 1, 0 },
		{ __LINE__, "24 / b / 2", 3, 0 },
		{ __LINE__, "a + b * 2", 14, 0 },
		{ __LINE__, "(a + b) * 2", 20, 0 },
		{ __LINE__, "-a + 1", -5, 0 },
		{ __LINE__, "branch-misses / branches * 100", 10, 0 },
		{ __LINE__, "branch\\-misses/branches", 0.1, 0 },
		{ __LINE__, "min(a, b) + max(a,b)*10", 64, 0 },
		{ __LINE__, "d_ratio(a, zero)", 0, 0 },
		{ __LINE__, "d_ratio(a, b)", 1.5, 0 },
		{ __LINE__, "instructions:u / b", 3, 0 },
		{ __LINE__, "cpu_core@instructions@ * 2", 14, 0 },
		{ __LINE__, "cpu@event\\=0x3c\\,umask\\=1@u", 9, 0 },
		{ __LINE__, "cpu@event=0x3c,umask=1@u", 9, 0 },
		{ __LINE__, "exact/conditional-branches/ / exact/loads/u", 2.5, 0 },
		{ __LINE__, "exact/conditional-branches//exact/loads/u", 2.5, 0 },
		{ __LINE__, "exact / b", 10, 0 },
		{ __LINE__, "1e3 * .5", 500, 0 },
		{ __LINE__, "a / zero", 0, -EDOM },
		{ __LINE__, "zero / zero", 0, -EDOM },
		{ __LINE__, "1e308 * 10", 0, -EDOM },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct formula *f;
		double value[8], out = 0;

		if (!CHECK(formula_parse(rows[i].text, &f, &err) == 0, "%s: %s", rows[i].text,
			   err.what))
			continue;
		for (size_t k = 0; k < formula_names(f); k++)
			value[k] = worth(formula_name(f, k));
		CHECK_EQ(formula_eval(f, value, &out), rows[i].ret, "row at line %d", rows[i].line);
		CHECK(out == rows[i].value, "%g, row at line %d", out, rows[i].line);
		formula_free(f);
	}
}

TEST(names_once)
{
	struct formula *f;

	formula_parse("a / (a + b)", &f, NULL);
	CHECK_EQ(formula_names(f), 2);
	CHECK_STR(formula_name(f, 0), "a");
	CHECK_STR(formula_name(f, 1), "b");
	formula_free(f);
}

TEST(refused)
{
	static const struct {
		int line;
		const char *text;
		int at;
	} rows[] = {
		{ __LINE__, "", 0 },         { __LINE__, "a +", 3 }, { __LINE__, "a b", 2 },
		{ __LINE__, "(a", 2 },       { __LINE__, "a)", 1 },  { __LINE__, "min(a)", 5 },
		{ __LINE__, "min(a, b", 8 }, { __LINE__, "1x", 0 },  { __LINE__, "a $ b", 2 },
		{ __LINE__, "* a", 0 },      { __LINE__, "a@b", 3 },
	};
	char deep[300], many[2000] = "1";
	struct formula *f = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_error err = TARE_ERROR_INIT;

		CHECK_EQ(formula_parse(rows[i].text, &f, &err), -EINVAL, "row at line %d",
			 rows[i].line);
		CHECK_EQ(err.at, rows[i].at, "row at line %d: %s", rows[i].line, err.what);
		CHECK(!f);
	}
	memset(deep, '(', 299);
	deep[299] = '\0';
	CHECK_EQ(formula_parse(deep, &f, NULL), -EINVAL);
	memset(deep, '-', 299);
	CHECK_EQ(formula_parse(deep, &f, NULL), -EINVAL);
	for (int i = 0; i < 600; i++)
		strcat(many, "+1");
	CHECK_EQ(formula_parse(many, &f, NULL), -EINVAL, "1201 steps");
}

TEST_MAIN()
