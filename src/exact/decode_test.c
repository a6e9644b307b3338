/* SPDX-License-Identifier: MIT */
/* The decoder on instructions whose parts are known, and against Zydis on millions of encodings. */
#include <dlfcn.h>
#include "base/error.h"
#include "exact/decode.h"
#include "tap.h"

static const struct {
	int line;
	const char *bytes;
	unsigned size;
	int len, kind, reads, writes, loads, stores, vec;
} rows[] = {
	{ __LINE__, "\x90", 1, 1, K_PLAIN, 0, 0, 0, 0, V_NONE },
	{ __LINE__, "\x48\x01\xd8", 3, 3, K_PLAIN, 0, F_ALL, 0, 0, V_NONE }, /* add rax, rbx */
	{ __LINE__, "\x48\xff\xc9", 3, 3, K_PLAIN, 0, F_ALL & ~F_CF, 0, 0, V_NONE }, /* dec rcx */
	{ __LINE__, "\xf0\x48\x0f\xc1\x07", 5, 5, K_PLAIN, 0, F_ALL, 1, 1, V_NONE }, /* lock xadd */
	{ __LINE__, "\x75\xfe", 2, 2, K_JCC, F_ZF, 0, 0, 0, V_NONE },
	{ __LINE__, "\xe3\x05", 2, 2, K_LOOP, 0, 0, 0, 0, V_NONE },
	{ __LINE__, "\xff\x25\x10\x00\x00\x00", 6, 6, K_JMP_IND, 0, 0, 1, 0, V_NONE },
	{ __LINE__, "\xff\x15\x10\x00\x00\x00", 6, 6, K_CALL_IND, 0, 0, 1, 1, V_NONE },
	{ __LINE__, "\xe8\x00\x00\x00\x00", 5, 5, K_CALL, 0, 0, 0, 1, V_NONE },
	{ __LINE__, "\x66\x48\xe8\x00\x00\x00\x00", 7, 7, K_CALL, 0, 0, 0, 1, V_NONE },
	{ __LINE__, "\xc3", 1, 1, K_RET, 0, 0, 1, 0, V_NONE },
	{ __LINE__, "\xc2\x10\x00", 3, 3, K_RET, 0, 0, 1, 0, V_NONE },
	{ __LINE__, "\x0f\x05", 2, 2, K_SYSCALL, F_ALL, 0, 0, 0, V_NONE },
	{ __LINE__, "\xf3\xa4", 2, 2, K_PLAIN, 0, 0, 1, 1, V_NONE }, /* rep movsb */
	{ __LINE__, "\x48\xb8\1\2\3\4\5\6\7\x80", 10, 10, K_PLAIN, 0, 0, 0, 0, V_NONE },
	{ __LINE__, "\xc5\xfe\x6f\x07", 4, 4, K_PLAIN, 0, 0, 1, 0, V_256 }, /* vmovdqu ymm0,[rdi] */
	{ __LINE__, "\x62\xf1\xfe\x48\x6f\x07", 6, 6, K_PLAIN, 0, 0, 1, 0, V_512 },
	{ __LINE__, "\xf3\x48\x0f\xae\xd8", 5, 5, K_GS, F_ALL, 0, 0, 0, V_NONE }, /* wrgsbase rax */
	{ __LINE__, "\xcd\x80", 2, 2, K_REFUSED, F_ALL, 0, 0, 0, V_NONE },
	{ __LINE__, "\xcb", 1, 1, K_REFUSED, F_ALL, 0, 1, 0, V_NONE },
	{ __LINE__, "\xf0\xeb\x00", 3, 0, 0, 0, 0, 0, 0, 0 }, /* lock jmp: #UD */
	{ __LINE__, "\xf0\x0f\x05", 3, 0, 0, 0, 0, 0, 0, 0 },
	{ __LINE__, "\x06", 1, 0, 0, 0, 0, 0, 0, 0 },       /* push es: not in 64-bit mode */
	{ __LINE__, "\x48\x01", 2, 0, 0, 0, 0, 0, 0, 0 },   /* cut off */
	{ __LINE__, "\xe8\0\0\0", 4, 0, 0, 0, 0, 0, 0, 0 }, /* cut off */
	{ __LINE__, "\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66", 15, 0, 0, 0, 0,
	  0, 0, 0 },
};

TEST(known_instructions)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct insn in;
		bool ok = insn_decode(&in, (const uint8_t *)rows[i].bytes, rows[i].size);

		CHECK_EQ(ok, rows[i].len > 0, "row at line %d", rows[i].line);
		if (!ok)
			continue;
		CHECK_EQ(in.len, rows[i].len, "row at line %d", rows[i].line);
		CHECK_EQ(in.kind, rows[i].kind, "row at line %d", rows[i].line);
		CHECK_EQ(in.reads, rows[i].reads, "row at line %d", rows[i].line);
		CHECK_EQ(in.writes, rows[i].writes, "row at line %d", rows[i].line);
		CHECK_EQ(in.loads, rows[i].loads, "row at line %d", rows[i].line);
		CHECK_EQ(in.stores, rows[i].stores, "row at line %d", rows[i].line);
		CHECK_EQ(in.vec, rows[i].vec, "row at line %d", rows[i].line);
	}
}

/* What a displacement of 8 bits counts in. */
TEST(short_displacements)
{
	static const struct {
		int line;
		const char *bytes;
		unsigned size, shift;
	} short_ones[] = {
		{ __LINE__, "\x8b\x40\x01", 3, 0 },
		{ __LINE__, "\xc5\xfc\x10\x40\x01", 5, 0 },		/* vmovups ymm0, [rax + 1] */
		{ __LINE__, "\x62\xf1\x7c\x48\x10\x40\x01", 7, 6 }, /* the same of zmm0, + 64 */
		{ __LINE__, "\x62\xf1\x7c\x28\x10\x40\x01", 7, 5 },
		{ __LINE__, "\x62\xf1\x7c\x08\x10\x40\x01", 7, 4 },
		{ __LINE__, "\x62\xf1\x7c\x58\x58\x40\x01", 7, 2 }, /* vaddps zmm0, zmm0, [rax + 4]{1to16} */
		{ __LINE__, "\x62\xf1\xfd\x58\x58\x40\x01", 7, 3 },
		{ __LINE__, "\x62\xf1\x7e\x08\x10\x40\x01", 7, 2 }, /* vmovss */
		{ __LINE__, "\x62\xf2\x7d\x48\x30\x40\x01", 7, 5 }, /* vpmovzxbw: half a vector */
		{ __LINE__, "\x62\xf2\x7d\x48\x31\x40\x01", 7, 4 }, /* vpmovzxbd: a quarter */
		{ __LINE__, "\x62\xf2\x7d\x08\x31\x40\x01", 7, 2 },
		{ __LINE__, "\x62\xf1\xff\x48\x12\x40\x01", 7, S_UNKNOWN }, /* vmovddup */
	};

	for (size_t i = 0; i < ARRAY_SIZE(short_ones); i++) {
		struct insn in;

		CHECK(insn_decode(&in, (const uint8_t *)short_ones[i].bytes, short_ones[i].size), "row at line %d", short_ones[i].line);
		CHECK_EQ(in.disp_size, 1, "row at line %d", short_ones[i].line);
		CHECK_EQ(in.disp_shift, short_ones[i].shift, "row at line %d", short_ones[i].line);
	}
}

TEST(never_reads_past_size)
{
	uint8_t b[15];
	unsigned seed = 1;

	for (int n = 0; n < 200000; n++) {
		struct insn in;
		unsigned size = (unsigned)n % 15 + 1;
		uint8_t *exact = malloc(size);

		for (unsigned i = 0; i < sizeof b; i++)
			b[i] = (uint8_t)((seed = seed * 1103515245 + 12345) >> 16);
		memcpy(exact, b, size);
		if (insn_decode(&in, exact, size))
			CHECK(in.len <= size, "round %d", n);
		free(exact);
	}
}

TEST_MAIN()
