/* SPDX-License-Identifier: MIT */
/* The list of registers: what it must forbid, and its names. */
#include <stdio.h>
#include "msr/table.h"
#include "tap.h"

static struct tare_error err;

TEST(rows_do_not_overlap)
{
	const struct msr_row *a, *b;

	for (size_t i = 0; (a = msr_row_nth(i)); i++)
		for (size_t k = 0; k < i; k++) {
			b = msr_row_nth(k);
			if (!(a->maker & b->maker))
				continue;
			for (uint32_t n = 0; n < a->count; n++) {
				uint32_t msr = a->number + n * a->step;

				CHECK(msr_row_of(msr, a->maker & b->maker) == a,
				      "%s and %s share 0x%x", a->name, b->name, msr);
			}
		}
}

/* What no row may allow: interrupts, pin control, both threads of a core. */
TEST(no_row_allows_what_is_out_for_good)
{
	static const struct {
		uint32_t msr;
		unsigned maker;
		uint64_t bits;
	} never[] = {
		{ 0x186, TARE_MSR_INTEL, 1 << 20 | 1 << 19 | 1 << 21 },
		{ 0x18d, TARE_MSR_INTEL, 1 << 20 | 1 << 19 | 1 << 21 },
		{ 0x38d, TARE_MSR_INTEL, 0xcccc },
		{ 0xc0010200, TARE_MSR_AMD, 1 << 20 },
		{ 0xc0010003, TARE_MSR_AMD, 1 << 20 },
		{ 0x10, TARE_MSR_INTEL, UINT64_MAX },
		{ 0x1a0, TARE_MSR_INTEL, UINT64_MAX },
		{ 0xc0000103, TARE_MSR_ANY, UINT64_MAX },
	};
	static const uint32_t absent[] = { 0x3f1, 0x1d9,      0x600, 0x6e1, 0x402,
					   0x17a, 0xc0000080, 0x79,  0x3f6 };

	for (size_t i = 0; i < ARRAY_SIZE(never); i++) {
		const struct msr_row *row = msr_row_of(never[i].msr, never[i].maker);

		CHECK(row && !(row->write & never[i].bits), "0x%x", never[i].msr);
	}
	for (size_t i = 0; i < ARRAY_SIZE(absent); i++)
		CHECK(!msr_row_of(absent[i], TARE_MSR_ANY), "0x%x is on the list", absent[i]);
}

TEST(registers_of_counters_are_written_whole)
{
	const struct msr_row *row;

	for (size_t i = 0; (row = msr_row_nth(i)); i++) {
		CHECK(!(row->write & row->zero), "%s: a bit is both", row->name);
		CHECK(!row->write || !(row->flags & TARE_MSR_PMU) ||
			      (row->write | row->zero) == UINT64_MAX,
		      "%s keeps bits of an earlier owner", row->name);
		CHECK(row->about[0], "%s has no description", row->name);
	}
}

TEST(names_and_numbers)
{
	static const struct {
		int line;
		const char *name;
		unsigned maker;
		uint32_t msr;
		int ret;
	} rows[] = {
		{ __LINE__, "IA32_PMC0", TARE_MSR_INTEL, 0xc1, 0 },
		{ __LINE__, "ia32_perfevtsel7", TARE_MSR_INTEL, 0x18d, 0 },
		{ __LINE__, "PERF_CTL5", TARE_MSR_AMD, 0xc001020a, 0 },
		{ __LINE__, "PERF_CTR5", TARE_MSR_AMD, 0xc001020b, 0 },
		{ __LINE__, "PERF_LEGACY_CTR3", TARE_MSR_AMD, 0xc0010007, 0 },
		{ __LINE__, "MSR_OFFCORE_RSP_1", TARE_MSR_INTEL, 0x1a7, 0 },
		{ __LINE__, "0x38f", TARE_MSR_AMD, 0x38f, 0 },
		{ __LINE__, "911", TARE_MSR_AMD, 911, 0 },
		{ __LINE__, "IA32_PMC8", TARE_MSR_INTEL, 0, -ENOENT },
		{ __LINE__, "IA32_PMC", TARE_MSR_INTEL, 0, -ENOENT },
		{ __LINE__, "IA32_PMC0", TARE_MSR_AMD, 0, -ENOENT },
		{ __LINE__, "0x100000000", TARE_MSR_INTEL, 0, -EINVAL },
		{ __LINE__, "", TARE_MSR_INTEL, 0, -ENOENT },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t msr = 0;

		CHECK_EQ(msr_by_name(rows[i].name, rows[i].maker, &msr, &err), rows[i].ret,
			 "row at line %d", rows[i].line);
		CHECK_EQ(msr, rows[i].msr, "row at line %d", rows[i].line);
	}
	for (unsigned maker = TARE_MSR_INTEL; maker <= TARE_MSR_AMD; maker++)
		for (size_t i = 0; msr_row_nth(i); i++)
			for (uint32_t k = 0; k < msr_row_nth(i)->count; k++) {
				uint32_t msr = msr_row_nth(i)->number + k * msr_row_nth(i)->step,
					 back;
				char room[MSR_NAME_ROOM];

				if (!(msr_row_nth(i)->maker & maker))
					continue;
				CHECK_EQ(
					msr_by_name(msr_name(msr, maker, room), maker, &back, NULL),
					0, "%s", room);
				CHECK_EQ(back, msr, "%s", room);
			}
}

TEST(a_wrong_name_is_answered)
{
	uint32_t msr;

	msr_by_name("IA32_PERF_GLOBAL_CTL", TARE_MSR_INTEL, &msr, &err);
	CHECK(strstr(err.hint, "IA32_PERF_GLOBAL_CTRL"), "%s", err.hint);
	msr_by_name("PERF_CTL0", TARE_MSR_INTEL, &msr, &err);
	CHECK(strstr(err.what, "AMD"), "%s", err.what);
}

TEST(fields)
{
	static const struct {
		int line;
		uint32_t msr;
		unsigned maker;
		uint64_t value;
		const char *text;
	} rows[] = {
		{ __LINE__, 0x186, TARE_MSR_INTEL, 0x4100c5, " EVENT=0xc5 USR EN" },
		{ __LINE__, 0x186, TARE_MSR_INTEL, 0x15301a1,
		  " EVENT=0xa1 UMASK=0x1 USR OS INT EN CMASK=0x1" },
		{ __LINE__, 0x38d, TARE_MSR_INTEL, 0x22a, " EN0=0x2 EN1=0x2 EN2=0x2 PMI0" },
		{ __LINE__, 0x38f, TARE_MSR_INTEL, 0x300000001,
		  " EN_PMC0 EN_FIXED_CTR0 EN_FIXED_CTR1" },
		{ __LINE__, 0xc0010200, TARE_MSR_AMD, 0x1004301cf,
		  " EVENT=0xcf UMASK=0x1 USR OS EN EVENT_HIGH=0x1" },
		{ __LINE__, 0xc0010000, TARE_MSR_AMD, 0x430076, " EVENT=0x76 USR OS EN" },
		{ __LINE__, 0xc1, TARE_MSR_INTEL, 5, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct text t = { 0 };

		msr_fields_text(&t, msr_row_of(rows[i].msr, rows[i].maker), rows[i].value);
		CHECK_STR(t.s ? t.s : "", rows[i].text ? rows[i].text : "", "row at line %d",
			  rows[i].line);
		text_free(&t);
	}
}

/* A field is inside its register and overlaps no other field. */
TEST(fields_do_not_overlap)
{
	const struct msr_row *row;
	struct msr_bits f;

	for (size_t i = 0; (row = msr_row_nth(i)); i++) {
		uint64_t taken = 0;

		for (size_t k = 0; msr_field_nth(row, k, &f); k++) {
			uint64_t bits = ((UINT64_C(1) << f.bits) - 1) << f.low;

			CHECK(!(taken & bits) && f.low + f.bits <= 64, "%s.%s", row->name, f.name);
			taken |= bits;
		}
	}
}

TEST(what_the_module_would_say)
{
	static const struct {
		int line;
		struct tare_msr_op op;
		int ret;
		const char *words;
	} rows[] = {
		{ __LINE__, { .msr = 0x38f, .kind = TARE_MSR_READ }, 0, "" },
		{ __LINE__, { .msr = 0x186, .kind = TARE_MSR_WRITE, .value = 0x4300c0 }, 0, "" },
		{ __LINE__,
		  { .msr = 0x186, .kind = TARE_MSR_WRITE, .value = 0x5300c0 },
		  -EINVAL,
		  "INT" },
		{ __LINE__,
		  { .msr = 0x38d, .kind = TARE_MSR_WRITE, .value = 0x22a },
		  -EINVAL,
		  "PMI0" },
		{ __LINE__,
		  { .msr = 0xc1, .kind = TARE_MSR_WRITE, .value = UINT64_C(1) << 48 },
		  -EINVAL,
		  "0x1000000000000" },
		{ __LINE__,
		  { .msr = 0xc2, .kind = TARE_MSR_WRITE, .value = UINT64_C(1) << 32 },
		  -EINVAL,
		  "would become 0x0; IA32_A_PMC1 takes" },
		{ __LINE__,
		  { .msr = 0xc2, .kind = TARE_MSR_WRITE, .value = UINT64_C(1) << 31 },
		  -EINVAL,
		  "would become 0xffff80000000" },
		{ __LINE__, { .msr = 0xc2, .kind = TARE_MSR_WRITE, .value = 0x7fffffff }, 0, "" },
		{ __LINE__,
		  { .msr = 0xc2, .kind = TARE_MSR_WRITE, .value = 0xffff80000000 },
		  0,
		  "" },
		{ __LINE__,
		  { .msr = 0x4c2, .kind = TARE_MSR_WRITE, .value = UINT64_C(1) << 47 },
		  0,
		  "" },
		{ __LINE__, { .msr = 0x38e, .kind = TARE_MSR_WRITE }, -EPERM, "not to be written" },
		{ __LINE__,
		  { .msr = 0xc0000080, .kind = TARE_MSR_READ },
		  -EPERM,
		  "not on the list" },
		{ __LINE__, { .msr = 7, .kind = TARE_MSR_RDPMC }, 0, "" },
		{ __LINE__, { .msr = 8, .kind = TARE_MSR_RDPMC }, -EPERM, "index 0x8" },
		{ __LINE__, { .msr = 0x40000000, .kind = TARE_MSR_RDPMC }, 0, "" },
		{ __LINE__,
		  { .msr = 0x40000004, .kind = TARE_MSR_RDPMC },
		  -EPERM,
		  "index 0x40000004" },
		{ __LINE__, { .msr = 0x20000000, .kind = TARE_MSR_RDPMC }, 0, "" },
		{ __LINE__, { .kind = TARE_MSR_TSC }, 0, "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		err = (struct tare_error)TARE_ERROR_INIT;
		CHECK_EQ(msr_op_check(&rows[i].op, TARE_MSR_INTEL, &err), rows[i].ret,
			 "row at line %d", rows[i].line);
		CHECK(strstr(err.what, rows[i].words), "row at line %d: %s", rows[i].line,
		      err.what);
	}
}

TEST_MAIN()
