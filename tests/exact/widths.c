/* SPDX-License-Identifier: MIT */
/*
 * Instruction lengths and sizes of memory accesses, compared with Zydis: pseudorandom encodings of
 * every kind.
 */
#include "../../scripts/exact-width.h"
#include "exact/decode/decode.h"
#include "tap.h"

enum { ENCODINGS = 4000000 };

static uint64_t seed = 88172645463325252ull;

static uint64_t chance(void)
{
	seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
	return seed;
}

static unsigned legacy(uint8_t *b)
{
	static const uint8_t prefixes[] = { 0x66, 0xf2, 0xf3, 0x64, 0x67, 0xf0 };
	uint64_t r = chance();
	unsigned at = 0, map = r >> 32 & 7;

	for (unsigned i = 0; i < sizeof prefixes; i++)
		if ((r >> 2 * i & 3) == 3)
			b[at++] = prefixes[i];
	if (r >> 20 & 1)
		b[at++] = 0x40 | (r >> 24 & 15);
	if (map > 2)
		b[at++] = 0x0f;
	if (map > 5)
		b[at++] = map == 6 ? 0x38 : 0x3a;
	return at;
}

static unsigned vex(uint8_t *b)
{
	uint64_t r = chance();
	unsigned at = 0, kind = r & 7;

	if (kind < 2) {
		b[at++] = 0xc5;
		b[at++] = (uint8_t)(r >> 8);
		return at;
	}
	b[at++] = kind < 4 ? 0xc4 : kind == 4 ? 0x8f : 0x62;
	b[at] = (uint8_t)(r >> 8 | 0xc0);
	b[at] = (uint8_t)((b[at] & 0xf0) |
			  (kind == 4          ? 8 + (r >> 16) % 3
				   : kind < 4 ? 1 + (r >> 16) % 3
					      : 1 + (r >> 16) % 6));
	at++;
	b[at++] = (uint8_t)(r >> 24 | (kind > 4 ? 4 : 0));
	if (kind > 4)
		b[at++] = (uint8_t)(r >> 32 | 8);
	return at;
}

TEST(lengths_and_widths)
{
	ZydisDecoder decoder;
	unsigned compared = 0, told = 0, of_vectors = 0;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (unsigned n = 0; n < ENCODINGS; n++) {
		uint8_t b[INSN_ROOM];
		unsigned at = n & 1 ? vex(b) : legacy(b);
		ZydisDecodedInstruction z;
		ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
		struct insn in;
		int width;

		for (; at < sizeof b; at++)
			b[at] = (uint8_t)(chance() >> 24);
		if (!insn_decode(&in, b, sizeof b) ||
		    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, b, 15, &z, o)))
			continue;
		/*
		 * branches of 16 bits, for which Intel and AMD have different lengths, and others
		 * that are not supported
		 */
		if (in.kind == K_REFUSED)
			continue;
		CHECK_EQ(in.len, z.length, "%02x %02x %02x %02x %02x %02x %02x %02x: %s", b[0],
			 b[1], b[2], b[3], b[4], b[5], b[6], b[7],
			 ZydisMnemonicGetString(z.mnemonic));
		if (!in.loads && !in.stores)
			continue;
		width = exact_width(&z, o);
		compared++;
		told += width > 0;
		of_vectors += width > 0 && in.encoding != E_LEGACY;
		CHECK_EQ(insn_width(&in, b), (unsigned)width,
			 "%02x %02x %02x %02x %02x %02x %02x %02x (%u bytes): %s", b[0], b[1], b[2],
			 b[3], b[4], b[5], b[6], b[7], z.length,
			 ZydisMnemonicGetString(z.mnemonic));
	}
	CHECK(compared > ENCODINGS / 8, "%u", compared);
	CHECK(told > ENCODINGS / 20 && of_vectors > ENCODINGS / 100, "%u, of vectors %u", told,
	      of_vectors);
	printf("# %u compared, %u with a width, %u of them of vectors\n", compared, told,
	       of_vectors);
}

TEST_MAIN()
