/* SPDX-License-Identifier: MIT */
/* perf-PID.map and kallsyms, valid and invalid. */
#include "symbols/text_symbols.h"
#include "tap.h"

static const char *at(const struct text_symbols *l, uint64_t address)
{
	const struct text_symbol *e = text_symbols_find(l, address);

	return e ? e->name : "(none)";
}

TEST(a_perf_map)
{
	struct text_symbols l;

	CHECK_EQ(text_symbols_perf_map(&l,
				       strdup("2000 10 LazyCompile:~f a.js:3\n"
					      "0x1000 0x100 Stub: \x1b[31m x\r\n"
					      "nonsense\n\n"
					      "3000 0 empty\n"
					      "ffffffffffffffff 2 over\n"
					      "10000000000000000 2 long\n"
					      "1080 8 newer within\n"
					      "2000 8 second tier"),
				       NULL),
		 0, "read");
	CHECK_EQ(l.n, (size_t)4, "entries");
	CHECK_EQ(l.bad, (size_t)4, "lines that are none");
	CHECK_STR(at(&l, 0x1000), "Stub: \x1b[31m x", "the first byte");
	CHECK_STR(at(&l, 0x10ff), "Stub: \x1b[31m x", "the last byte");
	CHECK_STR(at(&l, 0x1080), "newer within", "the later line wins");
	CHECK_STR(at(&l, 0x1088), "Stub: \x1b[31m x", "after it");
	CHECK_STR(at(&l, 0x2000), "second tier", "written over");
	CHECK_STR(at(&l, 0x2008), "LazyCompile:~f a.js:3", "what it left");
	CHECK_STR(at(&l, 0x1100), "(none)", "between");
	CHECK_STR(at(&l, 0xfff), "(none)", "before");
	CHECK_STR(at(&l, 0x2010), "(none)", "after");
	CHECK_STR(at(&l, UINT64_MAX), "(none)", "far after");
	text_symbols_free(&l);
}

TEST(no_map_at_all)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct text_symbols l;

	CHECK_EQ(text_symbols_perf_map(&l,
				       strdup("\x7f"
					      "ELF\n\n\n"),
				       &err),
		 -EINVAL, "no line is right");
	CHECK_EQ(text_symbols_perf_map(&l, strdup(""), &err), 0, "an empty one");
	CHECK_STR(at(&l, 0), "(none)", "finds nothing");
	text_symbols_free(&l);
}

TEST(kallsyms)
{
	struct text_symbols l;

	CHECK_EQ(text_symbols_kallsyms(&l,
				       strdup("ffffffff81000000 T _stext\n"
					      "ffffffff81000000 T _text\n"
					      "ffffffff81000100 t helper\n"
					      "ffffffff81000180 d table\n"
					      "ffffffff81000200 W weak\n"
					      "ffffffffc0000000 t open_it\t[ext4]\n"),
				       NULL),
		 0, "read");
	CHECK_STR(at(&l, 0xffffffff81000000), "_stext", "the first of two");
	CHECK_STR(at(&l, 0xffffffff810000ff), "_stext", "up to the next");
	CHECK_STR(at(&l, 0xffffffff810001ff), "helper", "data is no function");
	CHECK_STR(at(&l, 0xffffffffc0000010), "open_it", "a module's");
	CHECK_STR(text_symbols_find(&l, 0xffffffffc0000010)->module, "ext4", "its module");
	CHECK_STR(at(&l, 0xffffffffc0001000), "(none)", "the last is no larger than a page");
	CHECK_STR(at(&l, 0xffffffff80ffffff), "(none)", "before the first");
	text_symbols_free(&l);
}

TEST(a_symbol_at_the_last_byte_of_all)
{
	struct text_symbols l;

	CHECK_EQ(text_symbols_kallsyms(&l,
				       strdup("bf000 T _zext\nff0 t f\nffffffff t f\nffff0 t f\n"
					      "ffffffffffffffff t c\nfffff"),
				       NULL),
		 0, "read");
	CHECK_EQ(l.n, (size_t)4, "no place is left for it");
	CHECK_EQ(l.bad, (size_t)2, "lines that are none");
	CHECK_EQ(l.entry[3].end, (uint64_t)0xffffffff + 4096, "the last that has one");
	CHECK_STR(at(&l, UINT64_MAX), "(none)", "nothing is found there");
	text_symbols_free(&l);

	CHECK_EQ(text_symbols_kallsyms(&l, strdup("fffffffffffffffe t c\n"), NULL), 0,
		 "one byte is room enough");
	CHECK_STR(at(&l, UINT64_MAX - 1), "c", "which is its own");
	text_symbols_free(&l);
}

TEST(kallsyms_that_are_kept_secret)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct text_symbols l;

	CHECK_EQ(text_symbols_kallsyms(
			 &l, strdup("0000000000000000 T _text\n0000000000000000 t x\n"), &err),
		 -EACCES, "all zeros");
	CHECK(strstr(err.hint, "kptr_restrict"), "says what to change");
	CHECK_EQ(text_symbols_kallsyms(&l, strdup(""), &err), -EACCES, "empty");
}

TEST_MAIN()
