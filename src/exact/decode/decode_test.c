/* SPDX-License-Identifier: MIT */
/* Decodes instructions with known parts. tests/exact/widths.c compares the decoder with Zydis. */
#include "base/error.h"
#include "exact/decode/decode.h"
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
	{ __LINE__, "\xf1", 1, 1, K_REFUSED, F_ALL, 0, 0, 0, V_NONE }, /* int1 */
	{ __LINE__, "\xcb", 1, 1, K_REFUSED, F_ALL, 0, 1, 0, V_NONE },
	{ __LINE__, "\xc5\xfc\x10\x00", 4, 4, K_PLAIN, 0, 0, 1, 0, V_256 },
	{ __LINE__, "\xc5\xf8\x54\x00", 4, 4, K_PLAIN, 0, 0, 1, 0, V_128 },
	{ __LINE__, "\xc4\xe2\x5d\x90\x1c\x88", 6, 6, K_PLAIN, 0, 0, 1, 0,
	  V_256 }, /* vpgatherdd ymm3, [rax + ymm1*4], ymm4 */
	{ __LINE__, "\xc4\xe2\x65\x90\x0c\x90", 6, 6, K_PLAIN, 0, 0, 1, 0,
	  V_256 }, /* ymm1, [rax + ymm2*4], ymm3 */
	{ __LINE__, "\x62\xf2\x7d\x49\x90\x1c\x88", 7, 7, K_PLAIN, 0, 0, 1, 0, V_512 },
	{ __LINE__, "\x62\xf2\x7d\x49\xa0\x1c\x88", 7, 7, K_PLAIN, 0, 0, 0, 1,
	  V_512 }, /* vpscatterdd */
	/* mov rax, cr0: every mod means a register */
	{ __LINE__, "\x0f\x20\x00", 3, 3, K_PLAIN, 0, 0, 0, 0, V_NONE },
	{ __LINE__, "\x0f\x23\x45", 3, 3, K_PLAIN, 0, 0, 0, 0, V_NONE },
	/* 16-bit instruction pointer */
	{ __LINE__, "\x66\xc3", 2, 2, K_REFUSED, 0, 0, 1, 0, V_NONE },
	{ __LINE__, "\x66\x74\x00", 3, 3, K_REFUSED, F_ZF, 0, 0, 0, V_NONE },
	{ __LINE__, "\x66\xe2\x00", 3, 3, K_REFUSED, 0, 0, 0, 0, V_NONE },
	{ __LINE__, "\xf0\xeb\x00", 3, 0, 0, 0, 0, 0, 0, 0 }, /* lock jmp: #UD */
	{ __LINE__, "\xf0\x0f\x05", 3, 0, 0, 0, 0, 0, 0, 0 },
	{ __LINE__, "\x06", 1, 0, 0, 0, 0, 0, 0, 0 },       /* push es: invalid in 64-bit mode */
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

/* Which prefixes are in effect, and REX or its equivalent in VEX, EVEX and XOP. */
TEST(prefixes)
{
	static const struct {
		int line;
		const char *bytes;
		unsigned size, prefix, rex, map, opcode_at;
	} prefixed[] = {
		{ __LINE__, "\x64\x65\x8b\x00", 4, P_GS, 0, 0, 2 }, /* the last of fs and gs wins */
		{ __LINE__, "\x65\x64\x8b\x00", 4, P_FS, 0, 0, 2 },
		/* the others have no effect */
		{ __LINE__, "\x65\x2e\x36\x3e\x26\x8b\x00", 7, P_GS, 0, 0, 5 },
		{ __LINE__, "\xf2\xf3\x0f\x58\xc1", 5, P_F3, 0, 1, 3 },
		{ __LINE__, "\xf3\xf2\x0f\x58\xc1", 5, P_F2, 0, 1, 3 },
		{ __LINE__, "\x66\xf3\x0f\xb8\xc3", 5, P_66 | P_F3, 0, 1, 3 },
		{ __LINE__, "\xf0\x67\x01\x00", 4, P_LOCK | P_67, 0, 0, 2 },
		{ __LINE__, "\x48\x01\xd8", 3, 0, 0x48, 0, 1 },
		/* cancelled by another prefix */
		{ __LINE__, "\x48\x66\x01\xd8", 4, P_66, 0, 0, 2 },
		{ __LINE__, "\x48\x41\x01\xd8", 4, 0, 0x41, 0, 2 }, /* the last REX wins */
		{ __LINE__, "\x66\x4f\x01\xd8", 4, P_66, 0x4f, 0, 2 },
		{ __LINE__, "\xc5\xfc\x10\x00", 4, 0, 0x40, 1, 2 },
		{ __LINE__, "\xc5\x7c\x10\x00", 4, 0, 0x44, 1, 2 }, /* R */
		{ __LINE__, "\xc5\xdc\x58\x00", 4, 0, 0x40, 1, 2 }, /* vvvv is not part of it */
		{ __LINE__, "\xc4\x61\x7c\x10\x00", 5, 0, 0x44, 1, 3 },
		{ __LINE__, "\xc4\xa1\x7c\x10\x00", 5, 0, 0x42, 1, 3 },     /* X */
		{ __LINE__, "\xc4\xc1\x7c\x10\x00", 5, 0, 0x41, 1, 3 },     /* B */
		{ __LINE__, "\xc4\xe2\xf9\x90\x04\x08", 6, 0, 0x48, 2, 3 }, /* W */
		{ __LINE__, "\x62\x71\x7c\x48\x10\x00", 6, 0, 0x44, 1, 4 },
		{ __LINE__, "\x62\xb1\x7c\x48\x10\x00", 6, 0, 0x42, 1, 4 },
		{ __LINE__, "\x62\xd1\x7c\x48\x10\x00", 6, 0, 0x41, 1, 4 },
		{ __LINE__, "\x62\xf1\xfd\x48\x10\x00", 6, 0, 0x48, 1, 4 },
		{ __LINE__, "\x8f\xc9\x78\x81\x00", 5, 0, 0x41, 9, 3 }, /* vfrczpd */
	};

	for (size_t i = 0; i < ARRAY_SIZE(prefixed); i++) {
		struct insn in;

		CHECK(insn_decode(&in, (const uint8_t *)prefixed[i].bytes, prefixed[i].size),
		      "row at line %d", prefixed[i].line);
		CHECK_EQ(in.len, prefixed[i].size, "row at line %d", prefixed[i].line);
		CHECK_EQ(in.prefix, prefixed[i].prefix, "row at line %d", prefixed[i].line);
		CHECK_EQ(in.rex, prefixed[i].rex, "row at line %d", prefixed[i].line);
		CHECK_EQ(in.map, prefixed[i].map, "row at line %d", prefixed[i].line);
		CHECK_EQ(in.opcode_at, prefixed[i].opcode_at, "row at line %d", prefixed[i].line);
	}
}

/* Offsets of displacement and immediate, and the immediate's value. */
TEST(parts)
{
	static const struct {
		int line;
		const char *bytes;
		unsigned size, disp_at, disp_size, imm_at, imm_size;
		int64_t imm;
	} with[] = {
		{ __LINE__, "\x8b\x05\1\0\0\0", 6, 2, 4, 6, 0, 0 }, /* relative to RIP */
		{ __LINE__, "\x8b\x45\x80", 3, 2, 1, 3, 0, 0 },
		{ __LINE__, "\x8b\x85\1\0\0\0", 6, 2, 4, 6, 0, 0 },
		{ __LINE__, "\x8b\x04\x25\1\0\0\0", 7, 3, 4, 7, 0, 0 }, /* SIB without a base */
		{ __LINE__, "\x8b\x44\x25\1", 4, 3, 1, 4, 0, 0 },
		{ __LINE__, "\x8b\x04\x24", 3, 3, 0, 3, 0, 0 },
		{ __LINE__, "\x80\x05\1\0\0\0\x80", 7, 2, 4, 6, 1, -128 },
		{ __LINE__, "\x81\xc0\0\0\0\x80", 6, 0, 0, 2, 4, INT32_MIN },
		{ __LINE__, "\x66\x81\xc0\0\x80", 5, 0, 0, 3, 2, INT16_MIN },
		{ __LINE__, "\x66\x41\x81\xc0\0\x80", 6, 0, 0, 4, 2, INT16_MIN },
		/* REX.W takes precedence over 66 */
		{ __LINE__, "\x66\x48\x81\xc0\1\0\0\0", 8, 0, 0, 4, 4, 1 },
		{ __LINE__, "\x48\xb8\1\2\3\4\5\6\7\x08", 10, 0, 0, 2, 8, 0x0807060504030201 },
		{ __LINE__, "\x66\xb8\1\2", 4, 0, 0, 2, 2, 0x201 },
		{ __LINE__, "\xa0\1\2\3\4\5\6\7\x08", 9, 0, 0, 1, 8, 0x0807060504030201 },
		{ __LINE__, "\x67\xa0\1\2\3\4", 6, 0, 0, 2, 4, 0x4030201 },
		{ __LINE__, "\xc8\1\2\3", 4, 0, 0, 1, 3, 0x30201 }, /* enter */
		{ __LINE__, "\xc2\0\x80", 3, 0, 0, 1, 2, INT16_MIN },
		{ __LINE__, "\xeb\x80", 2, 0, 0, 1, 1, -128 },
		{ __LINE__, "\x0f\x84\xff\xff\xff\xff", 6, 0, 0, 2, 4, -1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(with); i++) {
		struct insn in;

		CHECK(insn_decode(&in, (const uint8_t *)with[i].bytes, with[i].size),
		      "row at line %d", with[i].line);
		CHECK_EQ(in.len, with[i].size, "row at line %d", with[i].line);
		CHECK_EQ(in.disp_at, with[i].disp_at, "row at line %d", with[i].line);
		CHECK_EQ(in.disp_size, with[i].disp_size, "row at line %d", with[i].line);
		CHECK_EQ(in.imm_at, with[i].imm_at, "row at line %d", with[i].line);
		CHECK_EQ(in.imm_size, with[i].imm_size, "row at line %d", with[i].line);
		CHECK_EQ(in.imm, with[i].imm, "row at line %d", with[i].line);
		for (unsigned cut = 1; cut < with[i].size; cut++)
			CHECK(!insn_decode(&in, (const uint8_t *)with[i].bytes, cut),
			      "row at line %d, %u bytes", with[i].line, cut);
	}
}

/* Instructions that the kernel emulates where there is UMIP. */
TEST(left_to_the_kernel)
{
	static const struct {
		const char *bytes;
		bool umip;
	} asked[] = {
		{ "\x0f\x00\xc0", true },  { "\x0f\x00\x08", true },
		{ "\x0f\x00\xe0", false }, /* sldt, str, verr */
		{ "\x0f\x01\x00", true },  { "\x0f\x01\x08", true },
		{ "\x0f\x01\x20", true }, /* sgdt, sidt, smsw */
		{ "\x0f\x01\xe0", true },  { "\x0f\x01\x10", false },
		{ "\x0f\x01\xd0", false }, /* smsw, lgdt, xgetbv */
		{ "\x0f\x01\xca", false }, { "\x0f\x02\x00", false },
		{ "\x01\x00", false }, /* clac, lar, add */
	};

	for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
		struct insn in;

		CHECK(insn_decode(&in, (const uint8_t *)asked[i].bytes, 3), "row %zu", i);
		CHECK_EQ(insn_umip(&in), asked[i].umip, "row %zu", i);
	}
}

/* The unit of an 8-bit displacement. */
TEST(short_displacements)
{
	static const struct {
		int line;
		const char *bytes;
		unsigned size, shift;
	} short_ones[] = {
		{ __LINE__, "\x8b\x40\x01", 3, 0 },
		{ __LINE__, "\xc5\xfc\x10\x40\x01", 5, 0 },         /* vmovups ymm0, [rax + 1] */
		{ __LINE__, "\x62\xf1\x7c\x48\x10\x40\x01", 7, 6 }, /* the same of zmm0, + 64 */
		{ __LINE__, "\x62\xf1\x7c\x28\x10\x40\x01", 7, 5 },
		{ __LINE__, "\x62\xf1\x7c\x08\x10\x40\x01", 7, 4 },
		{ __LINE__, "\x62\xf1\x7c\x58\x58\x40\x01", 7,
		  2 }, /* vaddps zmm0, zmm0, [rax + 4]{1to16} */
		{ __LINE__, "\x62\xf1\xfd\x58\x58\x40\x01", 7, 3 },
		{ __LINE__, "\x62\xf1\x7e\x08\x10\x40\x01", 7, 2 }, /* vmovss */
		{ __LINE__, "\x62\xf2\x7d\x48\x30\x40\x01", 7, 5 }, /* vpmovzxbw: half a vector */
		{ __LINE__, "\x62\xf2\x7d\x48\x31\x40\x01", 7, 4 }, /* vpmovzxbd: a quarter */
		{ __LINE__, "\x62\xf2\x7d\x08\x31\x40\x01", 7, 2 },
		{ __LINE__, "\x62\xf1\xff\x48\x12\x40\x01", 7, S_UNKNOWN }, /* vmovddup */
	};

	for (size_t i = 0; i < ARRAY_SIZE(short_ones); i++) {
		struct insn in;

		CHECK(insn_decode(&in, (const uint8_t *)short_ones[i].bytes, short_ones[i].size),
		      "row at line %d", short_ones[i].line);
		CHECK_EQ(in.disp_size, 1, "row at line %d", short_ones[i].line);
		CHECK_EQ(in.disp_shift, short_ones[i].shift, "row at line %d", short_ones[i].line);
	}
}

/* Compares all but the bytes between imm_size and imm, which are never written. */
static bool same(const struct insn *a, const struct insn *b)
{
	return memcmp(a, b, offsetof(struct insn, imm_size) + 1) == 0 && a->imm == b->imm;
}

/*
 * With enough bytes the decoder takes a fast path, which must give the same result: all opcodes,
 * without further prefixes.
 */
TEST(both_ways_say_the_same)
{
	static const uint8_t prefixes[] = { 0, 0x66, 0xf2, 0xf3, 0x2e, 0xf0, 0x64, 0x65, 0x67 },
			     rexes[] = { 0, 0x40, 0x41, 0x44, 0x48, 0x4f }, sibs[] = { 0x24, 0x85 };
	unsigned decoded = 0, differ = 0;

	for (unsigned n = 0; n < ARRAY_SIZE(prefixes) * ARRAY_SIZE(rexes) * 2 * 256 * 256; n++) {
		uint8_t b[INSN_ROOM] = { 0 };
		unsigned at = 0, prefix = n >> 17;
		struct insn one, other;
		bool is;

		b[at] = prefixes[prefix % ARRAY_SIZE(prefixes)];
		at += b[at] != 0;
		b[at] = rexes[prefix / ARRAY_SIZE(prefixes)];
		at += b[at] != 0;
		b[at] = 0x0f;
		at += n >> 16 & 1;
		b[at++] = (uint8_t)(n >> 8);
		b[at++] = (uint8_t)n;
		b[at++] = sibs[n % 3 % 2];
		for (unsigned i = 0; at < sizeof b; i++)
			b[at++] = (uint8_t)(0x81 + 37 * i);
		is = insn_decode(&one, b, INSN_ROOM);
		differ += is != insn_decode(&other, b, 15) || (is && !same(&one, &other));
		decoded += is;
		if (differ == 1) {
			CHECK_EQ(differ, 0, "%02x %02x %02x %02x %02x %02x", b[0], b[1], b[2], b[3],
				 b[4], b[5]);
			return;
		}
	}
	CHECK(decoded > 1000000, "%u", decoded);
}

TEST(never_reads_past_size)
{
	uint8_t b[INSN_ROOM + 1];
	unsigned seed = 1;

	for (int n = 0; n < 200000; n++) {
		struct insn in;
		unsigned size = (unsigned)n % sizeof b + 1;
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
