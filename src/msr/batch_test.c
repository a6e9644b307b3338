/* SPDX-License-Identifier: MIT */
/* Parsing of operations. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/file.h"
#include "msr/batch.h"
#include "tap.h"

static struct tare_error err;

TEST(a_file_of_operations)
{
	static const char text[] =
		"# stop, choose, start\n"
		"write IA32_PERF_GLOBAL_CTRL 0\n"
		"\n"
		"write IA32_PERFEVTSEL0 EVENT=0xc5 USR=1 EN=1   # branch misses\n"
		"write 0x38d 0x222\r\n"
		"\ttsc\n"
		"rdpmc 0x40000000\n"
		"read ia32_pmc0";
	static const struct tare_msr_op want[] = {
		{ .msr = 0x38f, .kind = TARE_MSR_WRITE, .value = 0 },
		{ .msr = 0x186, .kind = TARE_MSR_WRITE, .value = 0x4100c5 },
		{ .msr = 0x38d, .kind = TARE_MSR_WRITE, .value = 0x222 },
		{ .kind = TARE_MSR_TSC },
		{ .msr = 0x40000000, .kind = TARE_MSR_RDPMC },
		{ .msr = 0xc1, .kind = TARE_MSR_READ },
	};
	static const unsigned lines[] = { 2, 4, 5, 6, 7, 8 };
	struct msr_batch b;

	CHECK_EQ(msr_batch_parse(&b, text, TARE_MSR_INTEL, &err), 0, "%s", err.what);
	CHECK_EQ(b.n, 6, "operations");
	for (size_t i = 0; i < 6; i++) {
		CHECK(!memcmp(&b.op[i], &want[i], sizeof(want[i])), "operation %zu", i);
		CHECK_EQ(b.line[i], lines[i], "operation %zu", i);
	}
}

TEST(what_is_written_reads_back)
{
	static const struct tare_msr_op ops[] = {
		{ .msr = 0x186, .kind = TARE_MSR_WRITE, .value = UINT64_MAX },
		{ .msr = 0x12345, .kind = TARE_MSR_READ },
		{ .kind = TARE_MSR_TSC },
		{ .msr = 7, .kind = TARE_MSR_RDPMC },
	};
	struct text t = { 0 };
	struct msr_batch b;

	for (size_t i = 0; i < 4; i++) {
		msr_op_text(&t, &ops[i], TARE_MSR_INTEL);
		text_add(&t, "\n");
	}
	CHECK_EQ(msr_batch_parse(&b, t.s, TARE_MSR_INTEL, &err), 0, "%s", err.what);
	CHECK(b.n == 4 && !memcmp(b.op, ops, sizeof(ops)), "%s", t.s);
	text_free(&t);
}

TEST(mistakes_name_their_line)
{
	static const struct {
		int line, ret;
		const char *text, *words;
	} rows[] = {
		{ __LINE__, -EINVAL, "", "no operation" },
		{ __LINE__, -EINVAL, "# only words\n", "no operation" },
		{ __LINE__, -EINVAL, "tsc\npeek IA32_PMC0", "line 2: 'peek' is no operation" },
		{ __LINE__, -EINVAL, "read", "line 1: read with 0 words" },
		{ __LINE__, -EINVAL, "read a b", "line 1: read with 2 words" },
		{ __LINE__, -EINVAL, "write IA32_PMC0", "line 1: write with 1 word after" },
		{ __LINE__, -ENOENT, "read IA32_PMD0", "line 1: no register 'IA32_PMD0'" },
		{ __LINE__, -ERANGE, "write IA32_PERFEVTSEL0 EVENT=0x1c0",
		  "line 1: EVENT has 8 bits" },
		{ __LINE__, -EINVAL, "write IA32_PMC0 many", "line 1: 'many' is not a number" },
		{ __LINE__, -ERANGE, "write IA32_PMC0 0x10000000000000000", "too large" },
		{ __LINE__, -ENOENT, "write IA32_PERFEVTSEL0 EVNT=1", "no field 'EVNT'" },
		{ __LINE__, -ERANGE, "write IA32_PERFEVTSEL0 EVENT=0x100", "EVENT has 8 bits" },
		{ __LINE__, -ERANGE, "write IA32_PERFEVTSEL0 EN=2", "EN has 1 bit:" },
		{ __LINE__, -EINVAL, "write IA32_PERFEVTSEL0 1 EN=1", "neither" },
		{ __LINE__, -ENOENT, "write 0x12345 A=1", "not known" },
		{ __LINE__, -ERANGE, "rdpmc 0x100000000", "32 bits" },
		{ __LINE__, -EINVAL, "tsc tsc", "tsc with 1 word" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct msr_batch b;

		CHECK_EQ(msr_batch_parse(&b, rows[i].text, TARE_MSR_INTEL, &err), rows[i].ret,
			 "row at line %d", rows[i].line);
		CHECK(strstr(err.what, rows[i].words), "row at line %d: %s", rows[i].line,
		      err.what);
	}
}

TEST(sixty_four_and_no_more)
{
	struct text t = { 0 };
	struct msr_batch b;

	for (int i = 0; i < 64; i++)
		text_add(&t, "tsc\n");
	CHECK_EQ(msr_batch_parse(&b, t.s, TARE_MSR_INTEL, &err), 0, "%s", err.what);
	CHECK_EQ(b.n, 64, "all of them");
	text_add(&t, "# a comment\ntsc\n");
	CHECK_EQ(msr_batch_parse(&b, t.s, TARE_MSR_INTEL, &err), -E2BIG, "one more");
	CHECK(strstr(err.what, "line 66"), "%s", err.what);
	text_free(&t);
}

TEST(long_words_and_lines)
{
	struct text t = { 0 };
	struct msr_batch b;

	text_add(&t, "read %0200d", 1);
	CHECK_EQ(msr_batch_parse(&b, t.s, TARE_MSR_INTEL, &err), -EINVAL, "a long word");
	text_free(&t);
	for (int i = 0; i < 60; i++)
		text_add(&t, "a ");
	CHECK_EQ(msr_batch_parse(&b, t.s, TARE_MSR_INTEL, &err), -EINVAL, "many words");
	text_free(&t);
}

TEST(words_of_the_command_line)
{
	static const struct {
		int line;
		const char *word;
		int ret;
		uint32_t msr;
		int low; /* of the field; -1: none */
		bool has_value;
		uint64_t value;
	} rows[] = {
		{ __LINE__, "IA32_PMC1", 0, 0xc2, -1, false, 0 },
		{ __LINE__, "0x10", 0, 0x10, -1, false, 0 },
		{ __LINE__, "IA32_FIXED_CTR_CTRL.EN1", 0, 0x38d, 4, false, 0 },
		{ __LINE__, "IA32_FIXED_CTR_CTRL.EN1=2", 0, 0x38d, 4, true, 2 },
		{ __LINE__, "0x38d.en0=3", 0, 0x38d, 0, true, 3 },
		{ __LINE__, "IA32_PMC1=-1", -EINVAL, 0, -1, false, 0 },
		{ __LINE__, "IA32_FIXED_CTR_CTRL.EN1=4", -ERANGE, 0, -1, false, 0 },
		{ __LINE__, "IA32_FIXED_CTR_CTRL.EN9", -ENOENT, 0, -1, false, 0 },
		{ __LINE__, "IA32_PMC1.X", -ENOENT, 0, -1, false, 0 },
		{ __LINE__, "0x999.X", -ENOENT, 0, -1, false, 0 },
		{ __LINE__, "=1", -EINVAL, 0, -1, false, 0 },
		{ __LINE__, "", -EINVAL, 0, -1, false, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct msr_word w;
		int ret = msr_word_parse(&w, rows[i].word, TARE_MSR_INTEL, &err);

		CHECK_EQ(ret, rows[i].ret, "row at line %d: %s", rows[i].line, err.what);
		if (ret < 0)
			continue;
		CHECK_EQ(w.msr, rows[i].msr, "row at line %d", rows[i].line);
		CHECK_EQ(w.one_field ? (int)w.field.low : -1, rows[i].low, "row at line %d",
			 rows[i].line);
		CHECK_EQ(w.has_value, rows[i].has_value, "row at line %d", rows[i].line);
		CHECK_EQ(w.value, rows[i].value, "row at line %d", rows[i].line);
	}
}

/*
 * The files in examples/ are valid: every line is one operation for that maker, and its write is
 * allowed.
 */
TEST(examples)
{
	static const struct {
		const char *file;
		unsigned maker;
		size_t n, writes;
	} rows[] = {
		{ "msr_clock", TARE_MSR_INTEL, 4, 0 },
		{ "msr_clock", TARE_MSR_AMD, 4, 0 },
		{ "msr_counters_intel", TARE_MSR_INTEL, 6, 0 },
		{ "msr_counters_amd", TARE_MSR_AMD, 6, 0 },
		{ "msr_count_intel", TARE_MSR_INTEL, 5, 4 },
	};

	if (access(TESTS_DIR "/../examples", F_OK) < 0)
		tap_skip("examples", "this is no source tree: no examples/ next to the tests");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct msr_batch b;
		char path[512], *text = NULL;
		size_t writes = 0;

		snprintf(path, sizeof(path), "%s/../examples/%s.batch", TESTS_DIR, rows[i].file);
		if (!CHECK(file_read("", path, 1 << 16, &text, NULL, &err) == 0, "%s", err.what))
			continue;
		CHECK_EQ(msr_batch_parse(&b, text, rows[i].maker, &err), 0, "%s: %s", rows[i].file,
			 err.what);
		CHECK_EQ(b.n, rows[i].n, "%s: operations", rows[i].file);
		for (size_t k = 0; k < b.n; k++) {
			writes += b.op[k].kind == TARE_MSR_WRITE;
			if (b.op[k].kind == TARE_MSR_WRITE)
				CHECK_EQ(msr_op_check(&b.op[k], rows[i].maker, &err), 0, "%s: %s",
					 rows[i].file, err.what);
		}
		CHECK_EQ(writes, rows[i].writes, "%s: writes", rows[i].file);
		free(text);
	}
}

TEST_MAIN()
