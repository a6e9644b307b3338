/* SPDX-License-Identifier: MIT */
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <fcntl.h>
#include "symbols/elf_sample.h"
#include "symbols/symbols.h"
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
	{ __LINE__, 0x210, "alpha", 0x200, 0x220 }, /* a label within belongs to it */
	{ __LINE__, 0x21f, "alpha", 0x200, 0x220 },
	{ __LINE__, 0x220, NULL, 0x220, 0x230 },
	{ __LINE__, 0x230, "beta", 0x230,
	  0x240 }, /* preferred to its weak name with an underscore */
	{ __LINE__, 0x25f, "assembly", 0x240, 0x260 }, /* no size: extends to the next */
	{ __LINE__, 0x26f, "a::b()", 0x260, 0x270 },   /* preferred to a symbol without a type */
	{ __LINE__, 0x270, NULL, 0x270, 0x280 },
	{ __LINE__, 0x28f, "outer", 0x280, 0x290 },
	{ __LINE__, 0x290, "nested", 0x290, 0x2a0 },
	{ __LINE__, 0x2a0, "outer", 0x280, 0x2c0 }, /* continues after the nested one */
	{ __LINE__, 0x2d0, NULL, 0, 0 },            /* data is not a function */
	{ __LINE__, 0x2e0, NULL, 0, 0 },            /* nor is an absolute value */
	{ __LINE__, 0x310, "[.plt]", 0x300, 0x320 },
	{ __LINE__, 0x320, NULL, 0, 0 },
	{ __LINE__, 0x400, NULL, 0, 0 }, /* after the executable segment */
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

/* This test itself: the file offset of one of its functions. */
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

struct frames {
	uint8_t bytes[1024];
	size_t n;
};

static void put_bytes(struct frames *f, const void *bytes, size_t n)
{
	memcpy(f->bytes + f->n, bytes, n);
	f->n += n;
}

/* An entry that begins with `word` after its length. */
static size_t put_entry(struct frames *f, uint32_t word, const void *bytes, size_t n)
{
	size_t at = f->n;
	uint32_t length = (uint32_t)((sizeof(word) + n + 3) & ~3u);

	put_bytes(f, &length, sizeof(length));
	put_bytes(f, &word, sizeof(word));
	put_bytes(f, bytes, n);
	f->n = at + sizeof(length) + length;
	return at;
}

static size_t put_cie(struct frames *f, const char *augmentation, const void *data, uint8_t n)
{
	static const uint8_t middle[] = { 1 /* code */, 0x78 /* data: -8 */,
					  16 /* return address */ };
	uint8_t bytes[64] = { 1 /* version */ };
	size_t at = 1 + strlen(augmentation) + 1;

	strcpy((char *)bytes + 1, augmentation);
	memcpy(bytes + at, middle, sizeof(middle));
	at += sizeof(middle);
	if (augmentation[0] == 'z')
		bytes[at++] = n;
	memcpy(bytes + at, data, n);
	return put_entry(f, 0, bytes, at + n);
}

/* Numbers of `size` bytes each; the first one relative to itself if `relative`. */
static void put_fde(struct frames *f, size_t cie, uint64_t start, uint64_t length, size_t size,
		    bool relative)
{
	uint8_t bytes[32] = { 0 };

	start -= relative ? SAMPLE_BASE + SAMPLE_FRAMES + f->n + 8 : 0;
	memcpy(bytes, &start, size);
	memcpy(bytes + size, &length, size);
	put_entry(f, (uint32_t)(f->n + 4 - cie), bytes, 2 * size + 1);
}

/*
 * All encodings of addresses, in the gaps between the sample's symbols; unknown encodings yield no
 * function.
 */
TEST(finds_functions_without_symbols)
{
	static const struct {
		int line;
		uint64_t offset;
		const char *name;
		uint64_t start, end;
	} rows[] = {
		{ __LINE__, 0x2bf, "outer", 0x280, 0x2c0 },
		{ __LINE__, 0x2c0, "0x4002c0", 0x2c0, 0x2c8 },
		{ __LINE__, 0x2c7, "0x4002c0", 0x2c0, 0x2c8 },
		{ __LINE__, 0x2c8, "0x4002c8", 0x2c8, 0x2d0 },
		{ __LINE__, 0x2d5, "0x4002d0", 0x2d0, 0x2d8 },
		{ __LINE__, 0x2df, "0x4002d8", 0x2d8, 0x2e0 },
		{ __LINE__, 0x2e0, "0x4002e0", 0x2e0, 0x2e8 },
		{ __LINE__, 0x2e8, NULL, 0, 0 }, /* relative to data */
		{ __LINE__, 0x2f0, NULL, 0, 0 }, /* indirect, with an unknown augmentation */
		/* the rest belongs to the next one */
		{ __LINE__, 0x2f8, "0x4002f8", 0x2f8, 0x2fc },
		{ __LINE__, 0x2fc, "0x4002fc", 0x2fc, 0x2fe },
		{ __LINE__, 0x2fe, NULL, 0, 0 },
		{ __LINE__, 0x310, "[.plt]", 0x300, 0x320 },
		{ __LINE__, 0x229, "0x400220", 0x220, 0x230 }, /* no further than the next symbol */
		{ __LINE__, 0x235, "beta", 0x230, 0x240 },
	};
	static uint8_t bytes[SAMPLE_FRAMES + 1024];
	struct tare_error err = TARE_ERROR_INIT;
	struct frames f = { .n = 0 };
	struct symbols *s;
	size_t cie;

	need_symbols();
	cie = put_cie(&f, "zR", (uint8_t[]){ 0x1b }, 1); /* pcrel sdata4 */
	put_fde(&f, cie, SAMPLE_BASE + 0x2c0, 8, 4, true);
	put_fde(&f, cie, SAMPLE_BASE + 0x220, 0x20, 4, true);
	put_fde(&f, cie, SAMPLE_BASE + 0x2fc, 2, 4, true);
	put_fde(&f, cie, SAMPLE_BASE + 0x2f8, 5, 4, true);
	put_fde(&f, cie, SAMPLE_BASE + 0x2fe, 0, 4, true);
	put_fde(&f, put_cie(&f, "zPLR", (uint8_t[]){ 0x03, 1, 2, 3, 4, 0x1b, 0x00 }, 7),
		SAMPLE_BASE + 0x2c8, 8, 8, false); /* absptr */
	put_fde(&f, put_cie(&f, "", "", 0), SAMPLE_BASE + 0x2d0, 8, 8, false);
	put_fde(&f, cie, SAMPLE_BASE + 0x2e0, 8, 4, true); /* back to the first */
	put_fde(&f, put_cie(&f, "zRS", (uint8_t[]){ 0x03 }, 1), SAMPLE_BASE + 0x2d8, 8, 4,
		false); /* udata4 */
	put_fde(&f, put_cie(&f, "zR", (uint8_t[]){ 0x3b }, 1), SAMPLE_BASE + 0x2e8, 8, 4, false);
	put_fde(&f, put_cie(&f, "zR", (uint8_t[]){ 0x83 }, 1), SAMPLE_BASE + 0x2f0, 8, 4, false);
	put_fde(&f, put_cie(&f, "zQR", (uint8_t[]){ 0x03, 0x03 }, 2), SAMPLE_BASE + 0x2f0, 8, 4,
		false);
	put_fde(&f, put_cie(&f, "zR", "", 0), SAMPLE_BASE + 0x2f0, 8, 4, false);
	put_fde(&f, put_cie(&f, "zP", (uint8_t[]){ 0x03, 1 }, 2), SAMPLE_BASE + 0x2f0, 8, 4, false);
	sample_elf(bytes, 0x90);
	sample_elf_frames(bytes, f.bytes, f.n);
	CHECK_EQ(symbols_open(&s, "sample", file_of(bytes, SAMPLE_FRAMES + f.n), &err), 0, "%s",
		 err.what);
	for (size_t i = 0; s && i < ARRAY_SIZE(rows); i++) {
		struct symbol found = { 0 };
		bool is = symbols_find(s, rows[i].offset, &found);

		CHECK_EQ(is, rows[i].name != NULL, "row at line %d", rows[i].line);
		if (!is || !rows[i].name)
			continue;
		CHECK_STR(found.name, rows[i].name, "row at line %d", rows[i].line);
		CHECK(found.start == rows[i].start && found.end == rows[i].end, "row at line %d",
		      rows[i].line);
		CHECK_EQ(found.nameless, found.name[0] == '0', "row at line %d", rows[i].line);
	}
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

/* Any changed byte or truncation gives an answer or an error. */
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
