/* SPDX-License-Identifier: MIT */
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <fcntl.h>
#include "analyze/elf_sample.h"
#include "analyze/symbols.h"
#include "base/error.h"
#include "tap.h"

static int file_of(const void *bytes, size_t n)
{
	int fd = memfd_create("sample", MFD_CLOEXEC);

	CHECK_EQ(write(fd, bytes, n), n);
	return fd;
}

static void need_symbols(void)
{
	struct tare_error err = TARE_ERROR_INIT;

	if (symbols_probe(&err) < 0)
		tap_skip("symbols", "%s", err.what);
}

static const struct {
	int line;
	uint64_t offset;
	const char *name; /* NULL: none */
	uint64_t start, end;
} places[] = {
	{ __LINE__, 0x1ff, NULL, 0, 0 },
	{ __LINE__, 0x200, "alpha", 0x200, 0x220 },
	{ __LINE__, 0x210, "alpha", 0x200, 0x220 }, /* a label within is part of it */
	{ __LINE__, 0x21f, "alpha", 0x200, 0x220 },
	{ __LINE__, 0x220, NULL, 0x220, 0x230 },
	{ __LINE__, 0x230, "beta", 0x230,
	  0x240 }, /* rather than its weak name with an underscore */
	{ __LINE__, 0x25f, "assembly", 0x240, 0x260 }, /* no size: up to the next */
	{ __LINE__, 0x26f, "a::b()", 0x260, 0x270 },   /* rather than what has no type */
	{ __LINE__, 0x270, NULL, 0x270, 0x280 },
	{ __LINE__, 0x28f, "outer", 0x280, 0x290 },
	{ __LINE__, 0x290, "nested", 0x290, 0x2a0 },
	{ __LINE__, 0x2a0, "outer", 0x280, 0x2c0 }, /* on behind the one within */
	{ __LINE__, 0x2d0, NULL, 0, 0 },            /* data is no function */
	{ __LINE__, 0x2e0, NULL, 0, 0 },            /* nor is an absolute value */
	{ __LINE__, 0x310, "[.plt]", 0x300, 0x320 },
	{ __LINE__, 0x320, NULL, 0, 0 },
	{ __LINE__, 0x400, NULL, 0, 0 }, /* behind what can be executed */
	{ __LINE__, UINT64_MAX, NULL, 0, 0 },
};

TEST(finds_functions)
{
	static uint8_t bytes[SAMPLE_SIZE];
	struct symbols *s;
	struct tare_error err = TARE_ERROR_INIT;

	need_symbols();
	sample_elf(bytes, 0x90);
	CHECK_EQ(symbols_open(&s, "sample", file_of(bytes, sizeof(bytes)), &err), 0, "%s",
		 err.what);
	CHECK(symbols_complete(s));
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		struct symbol found = { 0 };
		const char *file;
		unsigned line;
		bool is = symbols_find(s, places[i].offset, &found);

		CHECK_EQ(is, places[i].name != NULL, "row at line %d", places[i].line);
		if (places[i].name && is)
			CHECK_STR(found.name, places[i].name, "row at line %d", places[i].line);
		if (places[i].end)
			CHECK_EQ(found.end, places[i].end, "row at line %d", places[i].line);
		if (places[i].end && places[i].name)
			CHECK_EQ(found.start, places[i].start, "row at line %d", places[i].line);
		CHECK(!symbols_line(s, places[i].offset, &file, &line), "a line without any");
	}
	symbols_close(s);
}

/* This test itself: where a function of it lies in its file. */
static int first_object(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uintptr_t *)base = info->dlpi_addr;
	return 1;
}

TEST(finds_itself_with_its_line)
{
	int here = __LINE__, fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct tare_error err = TARE_ERROR_INIT;
	uintptr_t base = 0;
	struct symbols *s;
	struct symbol found;
	const char *file = NULL;
	unsigned line = 0;
	uint64_t offset = 0;

	need_symbols();
	dl_iterate_phdr(first_object, &base);

	/* From address to offset, by the program headers in memory. */
	const Elf64_Phdr *p = (const Elf64_Phdr *)getauxval(AT_PHDR);
	uint64_t address = (uintptr_t)&test_finds_itself_with_its_line - base;

	for (unsigned long i = 0; i < getauxval(AT_PHNUM); i++)
		if (p[i].p_type == PT_LOAD && address - p[i].p_vaddr < p[i].p_filesz)
			offset = address - p[i].p_vaddr + p[i].p_offset;
	CHECK_EQ(symbols_open(&s, "self", fd, &err), 0, "%s", err.what);
	CHECK(symbols_find(s, offset, &found));
	CHECK_STR(found.name, "test_finds_itself_with_its_line");
	CHECK_EQ(found.start, offset);
	CHECK(symbols_line(s, offset, &file, &line), "line information");
	CHECK(file && strstr(file, "symbols_test.c"), "file %s", file);
	CHECK(line + 1 == (unsigned)here || line + 2 == (unsigned)here, "line %u, near %d", line,
	      here);
	symbols_close(s);
}

TEST(refuses_what_is_no_elf)
{
	static const char *const texts[] = { "", "#!/bin/sh\n",
					     "\x7f"
					     "ELF",
					     "\x7f"
					     "ELF\2\1\1" };
	struct tare_error err = TARE_ERROR_INIT;
	struct symbols *s;

	need_symbols();
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		CHECK(symbols_open(&s, "odd", file_of(texts[i], strlen(texts[i])), &err) < 0,
		      "row %zu", i);
		CHECK(!s && !strncmp(err.what, "odd: ", 5), "%s", err.what);
	}
	symbols_close(NULL);
}

/* Whatever a byte of the file is changed to, or where it ends: an answer or an error. */
TEST(survives_damage)
{
	static uint8_t bytes[SAMPLE_SIZE];
	struct tare_error err = TARE_ERROR_INIT;

	need_symbols();
	for (size_t at = 0; at < SAMPLE_SIZE; at += at < 0x80 || at >= SAMPLE_SYMBOLS ? 3 : 61) {
		for (int how = 0; how < 3; how++) {
			struct symbols *s;
			struct symbol found;
			int fd;

			sample_elf(bytes, 0x90);
			bytes[at] = (uint8_t)(how == 0 ? 0xff : bytes[at] ^ 0x80);
			fd = file_of(bytes, how == 2 ? at : sizeof(bytes));
			if (symbols_open(&s, "damaged", fd, &err) == 0)
				for (uint64_t o = 0; o < SAMPLE_SIZE; o += 16)
					if (symbols_find(s, o, &found))
						CHECK(found.name && found.end > o, "at %zu", at);
			symbols_close(s);
			close(fd);
		}
	}
}

TEST_MAIN()
