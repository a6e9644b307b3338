/* SPDX-License-Identifier: MIT */
/*
 * Bytes accessed by instructions: encodings from the LLVM and GNU assemblers, widths from the
 * manuals.
 */
#include <elf.h>
#include "symbols/disasm.h"
#include "tap.h"

TEST(arm64)
{
	static const struct {
		int line;
		const char *text;
		uint32_t insn;
		unsigned bytes;
	} rows[] = {
		{ __LINE__, "ldrb w0,[x1]", 0x39400020, 1 },
		{ __LINE__, "strh w0,[x1,#2]", 0x79000420, 2 },
		{ __LINE__, "ldr w0,[x1]", 0xb9400020, 4 },
		{ __LINE__, "str x0,[x1,x2]", 0xf8226820, 8 },
		{ __LINE__, "ldrsw x0,[x1]", 0xb9800020, 4 },
		{ __LINE__, "ldr q0,[x1]", 0x3dc00020, 16 },
		{ __LINE__, "str d0,[x1,#8]!", 0xfc008c20, 8 },
		{ __LINE__, "ldr b0,[x1]", 0x3d400020, 1 },
		{ __LINE__, "stur s0,[x1,#-4]", 0xbc1fc020, 4 },
		{ __LINE__, "ldp x0,x1,[x2]", 0xa9400440, 16 },
		{ __LINE__, "ldpsw x0,x1,[x2]", 0x69400440, 8 },
		{ __LINE__, "stp w0,w1,[x2,#-8]!", 0x29bf0440, 8 },
		{ __LINE__, "stp q0,q1,[x2]", 0xad000440, 32 },
		{ __LINE__, "ldp s0,s1,[x2]", 0x2d400440, 8 },
		{ __LINE__, "ldnp d0,d1,[x2]", 0x6c400440, 16 },
		{ __LINE__, "ldr x0, .", 0x58000000, 8 },
		{ __LINE__, "ldr q0, .", 0x9c000000, 16 },
		{ __LINE__, "ldr w0, .", 0x18000000, 4 },
		{ __LINE__, "ldxr w0,[x1]", 0x885f7c20, 4 },
		{ __LINE__, "stlxr w2,x0,[x1]", 0xc802fc20, 8 },
		{ __LINE__, "ldaxp x0,x1,[x2]", 0xc87f8440, 16 },
		{ __LINE__, "ldarb w0,[x1]", 0x08dffc20, 1 },
		{ __LINE__, "stlrh w0,[x1]", 0x489ffc20, 2 },
		{ __LINE__, "cas x0,x1,[x2]", 0xc8a07c41, 8 },
		{ __LINE__, "casp w0,w1,w2,w3,[x4]", 0x08207c82, 8 },
		{ __LINE__, "casp x0,x1,x2,x3,[x4]", 0x48207c82, 16 },
		{ __LINE__, "ldadd w0,w1,[x2]", 0xb8200041, 4 },
		{ __LINE__, "swpalb w0,w1,[x2]", 0x38e08041, 1 },
		{ __LINE__, "ldraa x0,[x1]", 0xf8200420, 8 },
		{ __LINE__, "prfm pldl1keep,[x0]", 0xf9800000, 0 },
		{ __LINE__, "ld1 {v0.16b},[x0]", 0x4c407000, 16 },
		{ __LINE__, "st1 {v0.8b,v1.8b},[x0]", 0x0c00a000, 16 },
		{ __LINE__, "ld4 {v0.4s,v1.4s,v2.4s,v3.4s},[x0]", 0x4c400800, 64 },
		{ __LINE__, "st3 {v0.2s,v1.2s,v2.2s},[x0],#24", 0x0c9f4800, 24 },
		{ __LINE__, "ldtr x0,[x1]", 0xf8400820, 8 },
		{ __LINE__, "ldapr w0,[x1]", 0xb8bfc020, 4 },
		{ __LINE__, "stgp x0,x1,[x2]", 0x69000440, 0 },
		{ __LINE__, "dc zva, x0", 0xd50b7420, 0 },
		{ __LINE__, "add x0,x1,x2", 0x8b020020, 0 },
		{ __LINE__, "b .", 0x14000000, 0 },
		{ __LINE__, "ret", 0xd65f03c0, 0 },
		{ __LINE__, "ldr h1,[x2,w3,uxtw]", 0x7c634841, 2 },
		{ __LINE__, "ldapur x0,[x1]", 0xd9400020, 8 },
		{ __LINE__, "ld1 {v0.s}[1],[x0]", 0x0d409000, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_EQ(arm64_width(rows[i].insn), rows[i].bytes, "row at line %d: %s",
			 rows[i].line, rows[i].text);
}

/* Only encodings in the group of loads and stores access memory: op1 of x1x0, bits 28 to 25. */
TEST(arm64_of_anything)
{
	uint64_t seed = 88172645463325252ull;

	for (unsigned i = 0; i < 1000000; i++) {
		uint32_t insn;

		seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
		insn = (uint32_t)seed;
		if (arm64_width(insn) > 64 ||
		    (arm64_width(insn) && ((insn >> 27 & 1) == 0 || (insn >> 25 & 1) != 0))) {
			CHECK(false, "0x%08x: %u", insn, arm64_width(insn));
			return;
		}
	}
}

TEST(x86)
{
	static const struct {
		int line;
		const char *text;
		uint8_t bytes[12];
		unsigned bytes_accessed;
	} rows[] = {
		{ __LINE__, "mov (%rax), %al", { 0x8a, 0x00 }, 1 },
		{ __LINE__, "movw %ax, (%rdi)", { 0x66, 0x89, 0x07 }, 2 },
		{ __LINE__, "addl $1, (%rax)", { 0x83, 0x00, 0x01 }, 4 },
		{ __LINE__, "incq 8(%rsp)", { 0x48, 0xff, 0x44, 0x24, 0x08 }, 8 },
		{ __LINE__, "movdqu (%rsi), %xmm0", { 0xf3, 0x0f, 0x6f, 0x06 }, 16 },
		{ __LINE__, "vmovdqu %ymm0, (%rdi)", { 0xc5, 0xfe, 0x7f, 0x07 }, 32 },
		{ __LINE__, "vmovdqu64 %zmm0, (%rdi)", { 0x62, 0xf1, 0xfe, 0x48, 0x7f, 0x07 }, 64 },
		{ __LINE__, "movss (%rax), %xmm0", { 0xf3, 0x0f, 0x10, 0x00 }, 4 },
		{ __LINE__, "push %rax", { 0x50 }, 8 },
		{ __LINE__, "pop %rax", { 0x58 }, 8 },
		{ __LINE__, "call *(%rax)", { 0xff, 0x10 }, 8 },
		{ __LINE__, "ret", { 0xc3 }, 8 },
		{ __LINE__, "lock cmpxchg16b (%rdi)", { 0xf0, 0x48, 0x0f, 0xc7, 0x0f }, 16 },
		{ __LINE__, "movzbl (%rax), %eax", { 0x0f, 0xb6, 0x00 }, 1 },
		{ __LINE__, "lea 8(%rax), %rax", { 0x48, 0x8d, 0x40, 0x08 }, 0 },
		{ __LINE__, "nop", { 0x90 }, 0 },
		{ __LINE__, "xchg %eax, (%rdx)", { 0x87, 0x02 }, 4 },
		{ __LINE__, "leave", { 0xc9 }, 8 },
		{ __LINE__, "vmovdqu64 (%rsi),%ymm16", { 0x62, 0xe1, 0xfe, 0x28, 0x6f, 0x06 }, 32 },
		{ __LINE__,
		  "vmovdqu64 %ymm17,-0x20(%rdi,%rdx,1)",
		  { 0x62, 0xe1, 0xfe, 0x28, 0x7f, 0x4c, 0x17, 0xff },
		  32 },
		{ __LINE__, "vmovdqu64 %xmm16,(%rdi)", { 0x62, 0xe1, 0xfe, 0x08, 0x7f, 0x07 }, 16 },
		{ __LINE__,
		  "vmovdqu64 %zmm16,%fs:(%rdi)",
		  { 0x64, 0x62, 0xe1, 0xfe, 0x48, 0x7f, 0x07 },
		  64 },
		{ __LINE__,
		  "vpaddd (%rdi){1to16},%zmm1,%zmm2",
		  { 0x62, 0xf1, 0x75, 0x58, 0xfe, 0x17 },
		  4 },
		{ __LINE__,
		  "vpaddq (%rdi){1to4},%ymm1,%ymm2",
		  { 0x62, 0xf1, 0xf5, 0x38, 0xd4, 0x17 },
		  8 },
		{ __LINE__, "vmovss (%rdi),%xmm16", { 0x62, 0xe1, 0x7e, 0x08, 0x10, 0x07 }, 4 },
		{ __LINE__, "vmovsd %xmm17,(%rdi)", { 0x62, 0xe1, 0xff, 0x08, 0x11, 0x0f }, 8 },
		{ __LINE__, "vpmovzxbd (%rdi),%zmm16", { 0x62, 0xe2, 0x7d, 0x48, 0x31, 0x07 }, 16 },
		{ __LINE__,
		  "vaddsd (%rdi),%xmm16,%xmm17",
		  { 0x62, 0xe1, 0xff, 0x00, 0x58, 0x0f },
		  8 },
		{ __LINE__, "vmovdqu (%rdi),%ymm3", { 0xc5, 0xfe, 0x6f, 0x1f }, 32 },
		{ __LINE__,
		  "vbroadcastss (%rdi),%zmm1",
		  { 0x62, 0xf2, 0x7d, 0x48, 0x18, 0x0f },
		  4 },
		{ __LINE__, "vmovq %xmm16,(%rdi)", { 0x62, 0xe1, 0xfd, 0x08, 0x7e, 0x07 }, 8 },
		{ __LINE__,
		  "vextracti64x2 $0x1,%zmm1,(%rdi)",
		  { 0x62, 0xf3, 0xfd, 0x48, 0x39, 0x0f, 0x01 },
		  0 /* Capstone does not tell */ },
		{ __LINE__,
		  "vinserti32x4 $0x1,(%rdi),%ymm1,%ymm16",
		  { 0x62, 0xe3, 0x75, 0x28, 0x38, 0x07, 0x01 },
		  0 /* nor this */ },
		{ __LINE__, "vaddsd (%rdi), %xmm1, %xmm2", { 0xc5, 0xf3, 0x58, 0x17 }, 8 },
		{ __LINE__, "addsd (%rdi), %xmm0", { 0xf2, 0x0f, 0x58, 0x07 }, 8 },
		{ __LINE__, "cvtsi2sdq (%rdi), %xmm0", { 0xf2, 0x48, 0x0f, 0x2a, 0x07 }, 8 },
		{ __LINE__, "fstpt (%rdi)", { 0xdb, 0x3f }, 10 },
	};
	struct tare_error err = TARE_ERROR_INIT;
	struct disasm *d;

	if (disasm_open(&d, EM_X86_64, true, &err) < 0)
		tap_skip("capstone", "%s", err.what);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct access_width w = disasm_width(d, rows[i].bytes, sizeof(rows[i].bytes),
						     0x1000);

		CHECK_EQ(w.bytes, rows[i].bytes_accessed, "row at line %d: %s", rows[i].line,
			 rows[i].text);
		CHECK(!w.repeats, "%s", rows[i].text);
	}
	CHECK(disasm_width(d, (const uint8_t *)"\xf3\xa4", 2, 0).repeats, "rep movsb");
	CHECK_EQ(disasm_width(d, (const uint8_t *)"\x48\xa5", 2, 0).bytes, 8, "movsq");
	disasm_close(d);
}

TEST_MAIN()
