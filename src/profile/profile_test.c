/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "symbols/elf_sample.h"
#include "profile/profile.h"
#include "symbols/symbols.h"
#include "base/error.h"
#include "tap.h"

static char path[] = "/tmp/tare-profile-test-XXXXXX";

/* The sample as a file, and the engine's output for it. */
static struct exact_module sample_file(uint8_t fill)
{
	static uint8_t bytes[SAMPLE_SIZE];
	struct stat st;
	int fd = mkstemp(path);

	sample_elf(bytes, fill);
	CHECK_EQ(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	close(fd);
	CHECK_EQ(stat(path, &st), 0);
	return (struct exact_module){ EXACT_FILE,         false, st.st_size, st.st_mtim.tv_sec,
				      st.st_mtim.tv_nsec, path };
}

static int add_exact_profile(struct profile *p, struct exact_module m, struct exact_code *code,
			     size_t n, int64_t unplaced)
{
	struct exact_module modules[] = {
		{ EXACT_UNKNOWN, false, 0, 0, 0, (char[]){ "[unknown]" } }, m
	};
	const struct exact_profile of = { modules, 2, code, n, unplaced };
	struct tare_error err = TARE_ERROR_INIT;

	return profile_add(p, &of, &err);
}

static const struct profile_row *row_of(const struct profile_table *t, const char *function)
{
	for (size_t i = 0; i < t->n; i++)
		if (function ? t->row[i].function && !strcmp(t->row[i].function, function)
			     : !t->row[i].function)
			return &t->row[i];
	return NULL;
}

static int64_t count_of(const struct profile_table *t, const char *function)
{
	const struct profile_row *r = row_of(t, function);

	return r ? r->instructions : -1;
}

static void need_symbols(void)
{
	struct tare_error err = TARE_ERROR_INIT;

	if (symbols_probe(&err) < 0)
		tap_skip("symbols", "%s", err.what);
}

static void need_decoder(void)
{
	const uint8_t nop = 0x90;
	uint8_t length;

	if (exact_lengths(&nop, 1, &length, 1) != 1)
		tap_skip("exact", "the exact engine counts x86-64 programs only");
}

TEST(blocks_go_to_their_functions)
{
	struct profile *p = profile_new(PROFILE_FUNCTION, NULL);
	struct exact_code code[] = {
		{ 0x200, 5, 1, 16, 16 }, /* in alpha */
		{ 0x210, 7, 1, 4, 1 },   /* so is this */
		{ 0x218, 3, 1, 16, 16 }, /* half alpha, half nothing */
		{ 0x23c, 2, 1, 8, 8 },   /* beta, then assembly */
		{ 0x288, 1, 1, 32, 32 }, /* outer, nested, outer */
		{ 0x200, -1, 1, 1, 1 },  /* a correction */
		{ 0, 1000, 0, 0, 1 },
	};
	const struct profile_table *t;
	int64_t sum = 0;

	need_symbols();
	need_decoder();
	CHECK_EQ(add_exact_profile(p, sample_file(0x90), code, ARRAY_SIZE(code), 11), 0);
	unlink(path);
	t = profile_table(p, NULL);
	CHECK_EQ(count_of(t, "alpha"), 5 * 16 + 7 + 3 * 8 - 1);
	CHECK_EQ(count_of(t, "beta"), 8);
	CHECK_EQ(count_of(t, "assembly"), 8);
	CHECK_EQ(count_of(t, "outer"), 16);
	CHECK_EQ(count_of(t, "nested"), 16);
	for (size_t i = 0; i < t->n; i++) {
		sum += t->row[i].instructions;
		CHECK(!i || t->row[i].instructions <= t->row[i - 1].instructions, "order");
		CHECK(t->row[i].function || t->row[i].why[0], "a reason");
	}
	CHECK_EQ(t->total, 5 * 16 + 7 + 48 + 16 + 32 - 1 + 1000 + 11);
	CHECK_EQ(sum, t->total);
	CHECK_EQ(t->unsplit, 0);
	CHECK_EQ(t->n, 8);
	profile_free(p);
}

TEST(bytes_that_do_not_decode_stay_together)
{
	struct profile *p = profile_new(PROFILE_FUNCTION, NULL);
	struct exact_code code[] = {
		{ 0x218, 3, 1, 16, 16 }, /* 0x06 is not an instruction */
		{ 0x200, 1, 1, 16, 16 },
	};
	const struct profile_table *t;

	need_symbols();
	CHECK_EQ(add_exact_profile(p, sample_file(0x06), code, ARRAY_SIZE(code), 0), 0);
	unlink(path);
	t = profile_table(p, NULL);
	CHECK_EQ(t->unsplit, 48);
	CHECK_EQ(count_of(t, "alpha"), 64);
	CHECK_EQ(t->total, 64);
	profile_free(p);
}

/* A row reduced to nothing by corrections is dropped. */
TEST(nothing_is_no_row)
{
	struct profile *p = profile_new(PROFILE_FUNCTION, NULL);
	struct exact_code code[] = {
		{ 0x200, 7, 1, 4, 1 },
		{ 0x200, -7, 1, 1, 1 },
		{ 0x230, 2, 1, 4, 4 },
	};
	const struct profile_table *t;

	need_symbols();
	CHECK_EQ(add_exact_profile(p, sample_file(0x90), code, ARRAY_SIZE(code), 0), 0);
	unlink(path);
	t = profile_table(p, NULL);
	CHECK_EQ(t->n, 1);
	CHECK_EQ(count_of(t, "beta"), 8);
	CHECK_EQ(t->total, 8);
	/* It may return. */
	CHECK_EQ(add_exact_profile(p,
				   (struct exact_module){ EXACT_MEMORY, false, 0, 0, 0,
							  (char[]){ "[heap]" } },
				   code, 1, 0),
		 0);
	t = profile_table(p, NULL);
	CHECK_EQ(t->n, 2);
	CHECK_EQ(t->varied, 2);
	profile_free(p);
}

/* The number of instructions must be the engine's, or the bytes are not those that ran. */
TEST(another_number_of_instructions_is_not_split)
{
	struct profile *p = profile_new(PROFILE_FUNCTION, NULL);
	struct exact_code code[] = { { 0x218, 1, 1, 16, 7 } };
	const struct profile_table *t;

	need_symbols();
	need_decoder();
	CHECK_EQ(add_exact_profile(p, sample_file(0x90), code, 1, 0), 0);
	unlink(path);
	t = profile_table(p, NULL);
	CHECK_EQ(t->unsplit, 7);
	CHECK_EQ(count_of(t, "alpha"), 7);
	profile_free(p);
}

TEST(the_run_with_the_median_total_is_shown)
{
	static const int64_t runs[] = { 50, 10, 30, 10 };
	struct profile *p = profile_new(PROFILE_FUNCTION, NULL);
	struct exact_module file = sample_file(0x90);
	const struct profile_table *t;
	const struct profile_row *r;

	need_symbols();
	for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
		struct exact_code code[] = { { 0x200, runs[i], 1, 4, 4 },
					     { 0x230, 6, 1, 4, 4 },
					     { 0x260, i == 3, 1, 4, 4 } };

		CHECK_EQ(add_exact_profile(p, file, code, ARRAY_SIZE(code), 0), 0);
		t = profile_table(p, NULL); /* reading the result in between changes nothing */
		CHECK_EQ(t->runs, i + 1);
	}
	unlink(path);
	CHECK_EQ(t->shown, 3, "64, 68, 144, 224: the lower of the two in the middle is run 3");
	CHECK_EQ(t->total, 4 * 10 + 24 + 4);
	CHECK_EQ(t->varied, 2);
	r = row_of(t, "alpha");
	CHECK_EQ(r->min, 40);
	CHECK_EQ(r->max, 200);
	r = row_of(t, "beta");
	CHECK_EQ(r->min, r->max);
	r = row_of(t, "a::b()");
	CHECK_EQ(r->min, 0);
	CHECK_EQ(r->max, 4);
	CHECK_EQ(r->run[0], 0);
	CHECK_EQ(r->run[3], 4);
	profile_free(p);
}

static const struct {
	int line;
	struct exact_module m;
	const char *why;
} untrusted[] = {
	{ __LINE__,
	  { EXACT_MEMORY, false, 0, 0, 0, (char[]){ "[heap]" } },
	  "generated at run time" },
	{ __LINE__,
	  { EXACT_FILE, true, 0, 0, 0, (char[]){ "/bin/sh" } },
	  "deleted, or in another root" },
	{ __LINE__,
	  { EXACT_FILE, false, 1, 1, 1, (char[]){ "/proc/self/exe" } },
	  "was changed after it ran" },
	{ __LINE__, { EXACT_FILE, false, 1, 1, 1, (char[]){ "/none/such" } }, "No such file" },
	{ __LINE__,
	  { EXACT_FILE, false, 1, 1, 1, (char[]){ "/dev/null" } },
	  "it is not a regular file" },
};

TEST(what_is_not_the_file_that_ran_names_its_reason)
{
	for (size_t i = 0; i < ARRAY_SIZE(untrusted); i++) {
		struct profile *p = profile_new(PROFILE_LINE, NULL);
		struct exact_code code = { 0x200, 3, 1, 8, 8 };
		const struct profile_table *t;

		CHECK_EQ(add_exact_profile(p, untrusted[i].m, &code, 1, 0), 0);
		t = profile_table(p, NULL);
		CHECK_EQ(t->n, 1, "row at line %d", untrusted[i].line);
		CHECK(!t->row[0].function && !t->row[0].file, "row at line %d", untrusted[i].line);
		CHECK(strstr(t->row[0].why, untrusted[i].why), "row at line %d: %s",
		      untrusted[i].line, t->row[0].why);
		CHECK_EQ(t->total, 24);
		profile_free(p);
	}
}

TEST(what_makes_no_sense_is_refused)
{
	struct profile *p = profile_new(PROFILE_FUNCTION, NULL);
	struct exact_module m = { EXACT_MEMORY, false, 0, 0, 0, (char[]){ "[heap]" } };
	struct exact_code code = { 0x200, 3, 2, 8, 8 };
	struct tare_error err = TARE_ERROR_INIT;

	CHECK(!profile_table(p, &err));
	CHECK_STR(err.what, "no run was profiled");
	CHECK_EQ(add_exact_profile(p, m, &code, 1, 0), -EINVAL);
	profile_free(p);
	profile_free(NULL);

	p = profile_new(PROFILE_FUNCTION, NULL);
	code.module = 1;
	for (int i = 0; i < PROFILE_RUNS_MAX; i++)
		CHECK_EQ(add_exact_profile(p, m, &code, 1, 0), 0);
	CHECK_EQ(add_exact_profile(p, m, &code, 1, 0), -E2BIG);
	profile_free(p);
}

TEST_MAIN()
