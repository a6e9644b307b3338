/* SPDX-License-Identifier: MIT */
/*
 * Writes src/exact/decode/insn_table.h: the properties of every encoding that the engine needs,
 * from Zydis.
 *
 * Every (encoding, map, opcode) is probed with W and mandatory prefix, ModRM.reg and register or
 * memory form. If all 128 results agree the table has one row, otherwise a block of 16 forms: 8 row
 * numbers each, by ModRM.reg, which many blocks share.
 *
 *	cc -I src scripts/exact-tables.c -lZydis -o /tmp/t && /tmp/t > src/exact/decode/insn_table.h
 *	/tmp/t widths > src/exact/decode/width_table.h
 *
 * The second one has the size of each memory operand, which only samples need.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <Zydis/Zydis.h>
#include "exact-width.h"
#include "exact/decode/insn_kinds.h"

enum { LEGACY, VEX, EVEX, XOP };

static ZydisDecoder decoder;
static struct insn_row rows[1024];
static int n_rows = 1; /* row 0: invalid */
enum { FORMS = 128 };

static unsigned short blocks[2048][FORMS];
static int n_blocks;
enum { REGS = 8 };
static unsigned short forms[4096][REGS];
static int n_forms;

static unsigned flags_of(unsigned z)
{
	return (z & ZYDIS_CPUFLAG_CF ? F_CF : 0) | (z & ZYDIS_CPUFLAG_PF ? F_PF : 0) |
		(z & ZYDIS_CPUFLAG_AF ? F_AF : 0) | (z & ZYDIS_CPUFLAG_ZF ? F_ZF : 0) |
		(z & ZYDIS_CPUFLAG_SF ? F_SF : 0) | (z & ZYDIS_CPUFLAG_OF ? F_OF : 0);
}

static int kind_of(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o)
{
	bool rel = z->raw.imm[0].is_relative;

	switch (z->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		if (z->mnemonic == ZYDIS_MNEMONIC_XBEGIN)
			return K_XBEGIN;
		return z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && z->opcode >= 0xe0 ? K_LOOP
										      : K_JCC;
	case ZYDIS_CATEGORY_UNCOND_BR:
		if (z->mnemonic != ZYDIS_MNEMONIC_JMP ||
		    z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
			return z->mnemonic == ZYDIS_MNEMONIC_XABORT ? K_PLAIN : K_REFUSED;
		return rel ? K_JMP : K_JMP_IND;
	case ZYDIS_CATEGORY_CALL:
		if (z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ||
		    z->mnemonic != ZYDIS_MNEMONIC_CALL)
			return K_REFUSED;
		return rel ? K_CALL : K_CALL_IND;
	case ZYDIS_CATEGORY_RET:
		if (z->mnemonic != ZYDIS_MNEMONIC_RET ||
		    z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
			return K_REFUSED;
		return K_RET;
	default:
		break;
	}
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_XBEGIN:
		return K_XBEGIN;
	case ZYDIS_MNEMONIC_SYSCALL:
		return K_SYSCALL;
	case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_SYSEXIT:
	case ZYDIS_MNEMONIC_SYSRET:
	case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_INTO:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_ENCLU:
	case ZYDIS_MNEMONIC_UIRET:
		return K_REFUSED;
	case ZYDIS_MNEMONIC_RDGSBASE:
	case ZYDIS_MNEMONIC_WRGSBASE:
	case ZYDIS_MNEMONIC_LGS:
		return K_GS;
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_POP:
		if (o[0].type == ZYDIS_OPERAND_TYPE_REGISTER && o[0].reg.value == ZYDIS_REGISTER_GS)
			return K_GS;
		return K_PLAIN;
	default:
		return K_PLAIN;
	}
}

static int imm_of(const ZydisDecodedInstruction *z)
{
	int bits = z->raw.imm[0].size + z->raw.imm[1].size;

	if (z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
	    z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY) {
		if (z->opcode >= 0xa0 && z->opcode <= 0xa3)
			return I_A;
		if (z->opcode >= 0xb8 && z->opcode <= 0xbf)
			return I_V;
		if (z->opcode == 0xc2 || z->opcode == 0xca)
			return I_16;
		if (z->opcode == 0xc8)
			return I_24;
		if (bits == 16)
			return I_Z;
	}
	return bits == 0 ? I_NONE : bits == 8 ? I_8 : bits == 16 ? I_16 : I_Z;
}

static int vec_of(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o)
{
	int vec = V_NONE;

	for (int i = 0; i < z->operand_count_visible; i++) {
		if (o[i].type != ZYDIS_OPERAND_TYPE_REGISTER)
			continue;

		ZydisRegisterClass c = ZydisRegisterGetClass(o[i].reg.value);
		int v = c == ZYDIS_REGCLASS_ZMM   ? V_512
			: c == ZYDIS_REGCLASS_YMM ? V_256
			: c == ZYDIS_REGCLASS_XMM ? V_128
						  : V_NONE;

		if (v > vec)
			vec = v;
	}
	return vec;
}

/* The extension that an instruction belongs to; endbr64 and the like do nothing elsewhere. */
static int isa_of(const ZydisDecodedInstruction *z)
{
	static const struct {
		int first, last, isa;
	} sets[] = {
		{ ZYDIS_ISA_SET_ADOX_ADCX, ZYDIS_ISA_SET_ADOX_ADCX, ISA_ADX },
		{ ZYDIS_ISA_SET_AES, ZYDIS_ISA_SET_AES, ISA_AES },
		{ ZYDIS_ISA_SET_AMD3DNOW, ZYDIS_ISA_SET_AMD3DNOW, ISA_AMD3DNOW },
		{ ZYDIS_ISA_SET_AMX_BF16, ZYDIS_ISA_SET_AMX_BF16, ISA_AMX_BF16 },
		{ ZYDIS_ISA_SET_AMX_INT8, ZYDIS_ISA_SET_AMX_INT8, ISA_AMX_INT8 },
		{ ZYDIS_ISA_SET_AMX_TILE, ZYDIS_ISA_SET_AMX_TILE, ISA_AMX_TILE },
		{ ZYDIS_ISA_SET_AVX, ZYDIS_ISA_SET_AVX, ISA_AVX },
		{ ZYDIS_ISA_SET_AVX2, ZYDIS_ISA_SET_AVX2GATHER, ISA_AVX2 },
		{ ZYDIS_ISA_SET_AVX512BW_128, ZYDIS_ISA_SET_AVX512BW_KOP, ISA_AVX512BW },
		{ ZYDIS_ISA_SET_AVX512CD_128, ZYDIS_ISA_SET_AVX512CD_512, ISA_AVX512CD },
		{ ZYDIS_ISA_SET_AVX512DQ_128, ZYDIS_ISA_SET_AVX512DQ_SCALAR, ISA_AVX512DQ },
		{ ZYDIS_ISA_SET_AVX512ER_512, ZYDIS_ISA_SET_AVX512ER_SCALAR, ISA_AVX512ER },
		{ ZYDIS_ISA_SET_AVX512F_128, ZYDIS_ISA_SET_AVX512F_SCALAR, ISA_AVX512F },
		{ ZYDIS_ISA_SET_AVX512PF_512, ZYDIS_ISA_SET_AVX512PF_512, ISA_AVX512PF },
		{ ZYDIS_ISA_SET_AVX512_BF16_128, ZYDIS_ISA_SET_AVX512_BF16_512, ISA_AVX512BF16 },
		{ ZYDIS_ISA_SET_AVX512_BITALG_128, ZYDIS_ISA_SET_AVX512_BITALG_512,
		  ISA_AVX512BITALG },
		{ ZYDIS_ISA_SET_AVX512_FP16_128, ZYDIS_ISA_SET_AVX512_FP16_SCALAR, ISA_AVX512FP16 },
		{ ZYDIS_ISA_SET_AVX512_GFNI_128, ZYDIS_ISA_SET_AVX512_GFNI_512, ISA_GFNI },
		{ ZYDIS_ISA_SET_AVX512_IFMA_128, ZYDIS_ISA_SET_AVX512_IFMA_512, ISA_AVX512IFMA },
		{ ZYDIS_ISA_SET_AVX512_VAES_128, ZYDIS_ISA_SET_AVX512_VAES_512, ISA_VAES },
		{ ZYDIS_ISA_SET_AVX512_VBMI2_128, ZYDIS_ISA_SET_AVX512_VBMI2_512, ISA_AVX512VBMI2 },
		{ ZYDIS_ISA_SET_AVX512_VBMI_128, ZYDIS_ISA_SET_AVX512_VBMI_512, ISA_AVX512VBMI },
		{ ZYDIS_ISA_SET_AVX512_VNNI_128, ZYDIS_ISA_SET_AVX512_VNNI_512, ISA_AVX512VNNI },
		{ ZYDIS_ISA_SET_AVX512_VP2INTERSECT_128, ZYDIS_ISA_SET_AVX512_VP2INTERSECT_512,
		  ISA_AVX512VP2 },
		{ ZYDIS_ISA_SET_AVX512_VPCLMULQDQ_128, ZYDIS_ISA_SET_AVX512_VPCLMULQDQ_512,
		  ISA_VPCLMUL },
		{ ZYDIS_ISA_SET_AVX512_VPOPCNTDQ_128, ZYDIS_ISA_SET_AVX512_VPOPCNTDQ_512,
		  ISA_AVX512VPOPCNT },
		{ ZYDIS_ISA_SET_AVXAES, ZYDIS_ISA_SET_AVXAES, ISA_AES },
		{ ZYDIS_ISA_SET_AVX_GFNI, ZYDIS_ISA_SET_AVX_GFNI, ISA_GFNI },
		{ ZYDIS_ISA_SET_AVX_VNNI, ZYDIS_ISA_SET_AVX_VNNI, ISA_AVX_VNNI },
		{ ZYDIS_ISA_SET_BMI1, ZYDIS_ISA_SET_BMI1, ISA_BMI1 },
		{ ZYDIS_ISA_SET_BMI2, ZYDIS_ISA_SET_BMI2, ISA_BMI2 },
		{ ZYDIS_ISA_SET_CLFLUSHOPT, ZYDIS_ISA_SET_CLFLUSHOPT, ISA_CLFLUSHOPT },
		{ ZYDIS_ISA_SET_CLWB, ZYDIS_ISA_SET_CLWB, ISA_CLWB },
		{ ZYDIS_ISA_SET_CLZERO, ZYDIS_ISA_SET_CLZERO, ISA_CLZERO },
		{ ZYDIS_ISA_SET_CMPXCHG16B, ZYDIS_ISA_SET_CMPXCHG16B, ISA_CX16 },
		{ ZYDIS_ISA_SET_ENQCMD, ZYDIS_ISA_SET_ENQCMD, ISA_ENQCMD },
		{ ZYDIS_ISA_SET_F16C, ZYDIS_ISA_SET_F16C, ISA_F16C },
		{ ZYDIS_ISA_SET_FMA, ZYDIS_ISA_SET_FMA, ISA_FMA },
		{ ZYDIS_ISA_SET_FMA4, ZYDIS_ISA_SET_FMA4, ISA_FMA4 },
		{ ZYDIS_ISA_SET_GFNI, ZYDIS_ISA_SET_GFNI, ISA_GFNI },
		{ ZYDIS_ISA_SET_KEYLOCKER, ZYDIS_ISA_SET_KEYLOCKER_WIDE, ISA_KL },
		{ ZYDIS_ISA_SET_LAHF, ZYDIS_ISA_SET_LAHF, ISA_LAHF },
		{ ZYDIS_ISA_SET_LWP, ZYDIS_ISA_SET_LWP, ISA_LWP },
		{ ZYDIS_ISA_SET_LZCNT, ZYDIS_ISA_SET_LZCNT, ISA_LZCNT },
		{ ZYDIS_ISA_SET_MCOMMIT, ZYDIS_ISA_SET_MCOMMIT, ISA_MCOMMIT },
		{ ZYDIS_ISA_SET_MONITORX, ZYDIS_ISA_SET_MONITORX, ISA_MWAITX },
		{ ZYDIS_ISA_SET_MOVBE, ZYDIS_ISA_SET_MOVBE, ISA_MOVBE },
		{ ZYDIS_ISA_SET_MOVDIR, ZYDIS_ISA_SET_MOVDIR, ISA_MOVDIRI },
		{ ZYDIS_ISA_SET_PCLMULQDQ, ZYDIS_ISA_SET_PCLMULQDQ, ISA_PCLMUL },
		{ ZYDIS_ISA_SET_PKU, ZYDIS_ISA_SET_PKU, ISA_PKU },
		{ ZYDIS_ISA_SET_POPCNT, ZYDIS_ISA_SET_POPCNT, ISA_POPCNT },
		{ ZYDIS_ISA_SET_RDPID, ZYDIS_ISA_SET_RDPID, ISA_RDPID },
		{ ZYDIS_ISA_SET_RDPRU, ZYDIS_ISA_SET_RDPRU, ISA_RDPRU },
		{ ZYDIS_ISA_SET_RDRAND, ZYDIS_ISA_SET_RDRAND, ISA_RDRAND },
		{ ZYDIS_ISA_SET_RDSEED, ZYDIS_ISA_SET_RDSEED, ISA_RDSEED },
		{ ZYDIS_ISA_SET_RDWRFSGS, ZYDIS_ISA_SET_RDWRFSGS, ISA_FSGSBASE },
		{ ZYDIS_ISA_SET_RTM, ZYDIS_ISA_SET_RTM, ISA_RTM },
		{ ZYDIS_ISA_SET_SERIALIZE, ZYDIS_ISA_SET_SERIALIZE, ISA_SERIALIZE },
		{ ZYDIS_ISA_SET_SHA, ZYDIS_ISA_SET_SHA, ISA_SHA },
		{ ZYDIS_ISA_SET_SSE3, ZYDIS_ISA_SET_SSE3X87, ISA_SSE3 },
		{ ZYDIS_ISA_SET_SSE4, ZYDIS_ISA_SET_SSE4, ISA_SSE4_1 },
		{ ZYDIS_ISA_SET_SSE42, ZYDIS_ISA_SET_SSE42, ISA_SSE4_2 },
		{ ZYDIS_ISA_SET_SSE4A, ZYDIS_ISA_SET_SSE4A, ISA_SSE4A },
		{ ZYDIS_ISA_SET_SSSE3, ZYDIS_ISA_SET_SSSE3MMX, ISA_SSSE3 },
		{ ZYDIS_ISA_SET_TBM, ZYDIS_ISA_SET_TBM, ISA_TBM },
		{ ZYDIS_ISA_SET_TSX_LDTRK, ZYDIS_ISA_SET_TSX_LDTRK, ISA_TSXLDTRK },
		{ ZYDIS_ISA_SET_UINTR, ZYDIS_ISA_SET_UINTR, ISA_UINTR },
		{ ZYDIS_ISA_SET_VAES, ZYDIS_ISA_SET_VAES, ISA_VAES },
		{ ZYDIS_ISA_SET_VPCLMULQDQ, ZYDIS_ISA_SET_VPCLMULQDQ, ISA_VPCLMUL },
		{ ZYDIS_ISA_SET_WAITPKG, ZYDIS_ISA_SET_WAITPKG, ISA_WAITPKG },
		{ ZYDIS_ISA_SET_XOP, ZYDIS_ISA_SET_XOP, ISA_XOP },
		{ ZYDIS_ISA_SET_XSAVE, ZYDIS_ISA_SET_XSAVE, ISA_XSAVE },
		{ ZYDIS_ISA_SET_XSAVEC, ZYDIS_ISA_SET_XSAVEC, ISA_XSAVEC },
		{ ZYDIS_ISA_SET_XSAVEOPT, ZYDIS_ISA_SET_XSAVEOPT, ISA_XSAVEOPT },
	};

	/* Compilers write it for bsf, which older processors execute in its place. */
	if (z->mnemonic == ZYDIS_MNEMONIC_TZCNT)
		return ISA_ALWAYS;
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
		if ((int)z->meta.isa_set >= sets[i].first && (int)z->meta.isa_set <= sets[i].last)
			return sets[i].isa;
	return ISA_ALWAYS;
}

/* The engine can answer these in the processor's place; xgetbv is special by its opcode. */
static bool asks_processor(const ZydisDecodedInstruction *z)
{
	return z->mnemonic == ZYDIS_MNEMONIC_CPUID || z->mnemonic == ZYDIS_MNEMONIC_RDPID;
}

static struct insn_row row_of(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o)
{
	struct insn_row r = { .kind = (uint8_t)kind_of(z, o), .imm = (uint8_t)imm_of(z) };
	bool legacy = z->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY;
	bool one_byte = legacy && z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT;

	if (z->attributes & ZYDIS_ATTRIB_HAS_MODRM)
		r.bits |= R_MODRM;
	if (z->meta.isa_ext == ZYDIS_ISA_EXT_X87)
		r.bits |= R_X87;
	if (z->meta.category == ZYDIS_CATEGORY_STRINGOP)
		r.bits |= R_STRING;
	if (z->cpu_flags) {
		r.reads = (uint8_t)flags_of(z->cpu_flags->tested);
		r.writes = (uint8_t)flags_of(
			(z->cpu_flags->modified | z->cpu_flags->set_0 | z->cpu_flags->set_1) &
			~z->cpu_flags->undefined);
	}
	/*
	 * and, or, xor and test leave AF "undefined", and every processor clears it; so after these
	 * frequent instructions all six flags are dead. Shifts by imm8 or cl change nothing if the
	 * count is 0, and a repeated string comparison changes nothing if rcx is 0.
	 */
	if (z->mnemonic == ZYDIS_MNEMONIC_AND || z->mnemonic == ZYDIS_MNEMONIC_OR ||
	    z->mnemonic == ZYDIS_MNEMONIC_XOR || z->mnemonic == ZYDIS_MNEMONIC_TEST)
		r.writes |= F_AF;
	if (one_byte &&
	    (z->opcode == 0xc0 || z->opcode == 0xc1 || z->opcode == 0xd2 || z->opcode == 0xd3))
		r.writes = 0;
	if (z->mnemonic == ZYDIS_MNEMONIC_SHLD || z->mnemonic == ZYDIS_MNEMONIC_SHRD)
		r.writes = 0;
	if ((r.bits & R_STRING) &&
	    (z->attributes &
	     (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)))
		r.writes = 0;
	/* int3 and int n; sldt, sgdt and similar ones, which the kernel may emulate */
	if (r.kind == K_REFUSED || r.kind == K_XBEGIN || r.kind == K_GS ||
	    (one_byte && (z->opcode & 0xfe) == 0xcc) ||
	    (legacy && z->opcode_map == ZYDIS_OPCODE_MAP_0F && z->opcode <= 1) || asks_processor(z))
		r.bits |= R_SPECIAL;
	if (r.kind == K_SYSCALL || r.kind == K_REFUSED || r.kind == K_XBEGIN || r.kind == K_GS)
		r.reads = F_ALL, r.writes = 0;
	for (int i = 0; i < z->operand_count; i++)
		if (o[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    (o[i].mem.type == ZYDIS_MEMOP_TYPE_MEM ||
		     o[i].mem.type == ZYDIS_MEMOP_TYPE_VSIB)) {
			bool reads = o[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ;
			bool writes = o[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;

			/* A nop has an operand only to make it longer. */
			if (z->mnemonic == ZYDIS_MNEMONIC_NOP)
				continue;
			r.loads += reads;
			r.stores += writes;
			if (reads && writes)
				r.bits |= R_UPDATE;
			if (z->meta.category == ZYDIS_CATEGORY_PREFETCH)
				r.bits |= R_PREFETCH;
			if (z->mnemonic == ZYDIS_MNEMONIC_XCHG)
				r.bits |= R_LOCKED;
		}
	for (int i = 0; i < z->operand_count_visible; i++)
		if (o[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ZydisRegisterGetClass(o[i].reg.value) == ZYDIS_REGCLASS_MMX)
			r.bits |= R_MMX;
	r.vec = (uint8_t)vec_of(z, o);
	r.isa = (uint8_t)isa_of(z);
	return r;
}

static bool probe(const uint8_t *b, int enc, int op, ZydisDecodedInstruction *z,
		  ZydisDecodedOperand *o)
{
	static const int encodings[] = { ZYDIS_INSTRUCTION_ENCODING_LEGACY,
					 ZYDIS_INSTRUCTION_ENCODING_VEX,
					 ZYDIS_INSTRUCTION_ENCODING_EVEX,
					 ZYDIS_INSTRUCTION_ENCODING_XOP };

	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, b, 15, z, o)) &&
		(int)z->encoding == encodings[enc] && z->opcode == op;
}

/* Bytes of one encoding; `len` 0..2 is the vector length, `w` VEX.W or REX.W. */
static int build(uint8_t *b, int enc, int map, int op, int pp, int modrm, int w, int len, int v,
		 int k)
{
	static const uint8_t prefix[] = { 0, 0x66, 0xf3, 0xf2 };
	int n = 0;

	memset(b, 0, 15);
	if (enc == LEGACY) {
		if (pp)
			b[n++] = prefix[pp];
		if (w)
			b[n++] = 0x48;
		if (map)
			b[n++] = 0x0f;
		if (map == 2 || map == 3)
			b[n++] = map == 2 ? 0x38 : 0x3a;
	} else if (enc == EVEX) {
		b[n++] = 0x62;
		b[n++] = (uint8_t)(0xf0 | map);
		b[n++] = (uint8_t)(w << 7 | (~v & 15) << 3 | 4 | pp);
		b[n++] = (uint8_t)(len << 5 | 8 | k);
	} else {
		b[n++] = enc == VEX ? 0xc4 : 0x8f;
		b[n++] = (uint8_t)(0xe0 | map);
		b[n++] = (uint8_t)(w << 7 | (~v & 15) << 3 | len << 2 | pp);
	}
	b[n++] = (uint8_t)op;
	b[n++] = (uint8_t)modrm;
	b[n] = (modrm >> 3 & 7) == 1
		? 0x10
		/* as SIB: [rax + rcx], or rdx: of a gather no register may be the one it fills */
		: 0x08;
	return n;
}

static bool ask(int enc, int map, int op, int w, int pp, int mem, int reg, int len,
		struct insn_row *out)
{
	ZydisDecodedInstruction z;
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
	uint8_t b[15];

	for (int rm = 0; rm < 8; rm++)
		for (int v = 0; v < (enc == LEGACY ? 1 : 3); v++)
			for (int k = 0; k < (enc == EVEX ? 2 : 1); k++) {
				int modrm = (mem ? 0 : 0xc0) | reg << 3 | (mem && rm ? 4 : rm);

				build(b, enc, map, op, pp, modrm, w, len, v, k);
				if (probe(b, enc, op, &z, o)) {
					*out = row_of(&z, o);
					return true;
				}
				if (mem && rm > 1)
					return false;
			}
	return false;
}

static int log2_of(long n)
{
	return n > 0 && !(n & (n - 1)) ? __builtin_ctzl((unsigned long)n) : -1;
}

/*
 * The unit of an 8-bit displacement, as a power of 2; -1: no such encoding, or no memory operand.
 */
static int scale_of(int map, int op, int w, int pp, int reg, int len, int broadcast)
{
	ZydisDecodedInstruction z;
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
	uint8_t b[15];

	for (int v = 0; v < 3; v++)
		for (int k = 0; k < 2; k++) {
			int n = build(b, EVEX, map, op, pp, 0x40 | reg << 3, w, len, v, k);

			b[n] = 1;
			b[3] |= (uint8_t)(broadcast << 4);
			if (!probe(b, EVEX, op, &z, o))
				continue;
			for (int i = 0; i < z.operand_count; i++)
				if (o[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
				    o[i].mem.type == ZYDIS_MEMOP_TYPE_MEM)
					return log2_of((long)o[i].mem.disp.value);
		}
	return -1;
}

static uint8_t scale(int map, int op, int w, int pp, int reg)
{
	int of[3], element = -1, first = -1;
	bool same = true, doubles = true;

	for (int len = 0; len < 3; len++) {
		int e = scale_of(map, op, w, pp, reg, len, 1);

		of[len] = scale_of(map, op, w, pp, reg, len, 0);
		element = e > 0 ? e : element;
		if (of[len] < 0)
			continue;
		if (first < 0)
			first = len;
		same &= of[len] == of[first];
		doubles &= of[len] == of[first] + len - first;
	}
	if (first < 0 || (!same && (!doubles || of[first] < first)))
		return S_UNKNOWN | (uint8_t)((element > 0 ? element : 0) << S_ELEMENT_AT);
	return (uint8_t)((same ? of[first] : of[first] - first) | (same ? 0 : S_DOUBLES) |
			 (element > 0 ? element : 0) << S_ELEMENT_AT);
}

static int row_number(const struct insn_row *r)
{
	for (int i = 1; i < n_rows; i++)
		if (!memcmp(&rows[i], r, sizeof *r))
			return i;
	rows[n_rows] = *r;
	return n_rows++;
}

static int answer(int enc, int map, int op, int w, int pp, int mem, int reg)
{
	struct insn_row r, longer;
	bool any = false, by_length = true, by_half = true;
	int forms = 0;

	for (int len = 0; len < (enc == LEGACY ? 1 : enc == EVEX ? 3 : 2); len++) {
		if (!ask(enc, map, op, w, pp, mem, reg, len, &longer) &&
		    !ask(enc, map, op, !w, pp, mem, reg, len, &longer))
			continue;
		forms++;
		by_length &= longer.vec == V_128 + len;
		by_half &= longer.vec == V_128 + len / 2;
		if (!any || longer.vec > r.vec)
			r = longer;
		any = true;
	}
	if (!any)
		return 0;
	if (enc != LEGACY && forms > 1 && by_length)
		r.vec = V_BY_LENGTH;
	else if (forms == 3 && by_half)
		r.vec = V_BY_HALF;
	r.scale = 0;
	if (enc == EVEX && mem) {
		r.scale = scale(map, op, w, pp, reg);
		if (r.scale == S_UNKNOWN)
			r.scale = scale(map, op, !w, pp, reg);
	}
	return row_number(&r);
}

/* Bit 15 set: the number of a block; otherwise of a row. */
static int cell(int enc, int map, int op)
{
	unsigned short b[FORMS];
	bool same = true;

	for (int i = 0; i < FORMS; i++) {
		b[i] = (unsigned short)answer(enc, map, op, i >> 6, i >> 4 & 3, i >> 3 & 1, i & 7);
		same &= b[i] == b[0];
	}
	if (same)
		return b[0];
	for (int i = 0; i < n_blocks; i++)
		if (!memcmp(blocks[i], b, sizeof b))
			return i | 0x8000;
	memcpy(blocks[n_blocks], b, sizeof b);
	return n_blocks++ | 0x8000;
}

/* ---- bytes of the operands in memory ---- */

enum { WIDTH_FORMS = 96 };

static struct width {
	/* by the vector's length; of one element, if broadcast. 0: unknown */
	int bytes[3], element;
} widths[256];
static int n_widths = 1; /* 0: unknown */
static unsigned char width_blocks[1024][WIDTH_FORMS];
static int n_width_blocks;

/* `mandatory`: 0 none, 2 F3, 3 F2, as in build(). -1: no such encoding. */
static int width_asked(int enc, int map, int op, int w, int p66, int mandatory, int reg, int len,
		       int broadcast)
{
	ZydisDecodedInstruction z;
	ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
	uint8_t b[16];

	if (enc != LEGACY && p66 && mandatory)
		return -1;
	for (int form = 0; form < 2; form++)
		for (int v = 0; v < (enc == LEGACY ? 1 : 3); v++)
			for (int k = 0; k < (enc == EVEX ? 2 : 1); k++) {
				bool both = p66 && mandatory;

				build(b + both, enc, map, op, mandatory ? mandatory : p66,
				      (form ? 0xc0 : 0) | reg << 3, w, len, v, k);
				if (both)
					b[0] = 0x66;
				if (broadcast)
					b[3] |= 0x10;
				if (probe(b, enc, op, &z, o))
					return exact_width(&z, o);
				if (broadcast && form)
					return -1;
			}
	return -1;
}

static unsigned char width_number(int enc, int map, int op, int w, int p66, int mandatory, int reg)
{
	struct width x = { 0 };

	for (int len = 0; len < 3; len++) {
		int bytes = len && enc == LEGACY ? x.bytes[0]
			: len == 2 && enc != EVEX
			? 0
			: width_asked(enc, map, op, w, p66, mandatory, reg, len, 0);
		int element = enc == EVEX
			? width_asked(enc, map, op, w, p66, mandatory, reg, len, 1)
			: 0;

		x.bytes[len] = bytes > 0 ? bytes : 0;
		x.element = element > 0 ? element : x.element;
	}
	for (int i = 0; i < n_widths; i++)
		if (!memcmp(&widths[i], &x, sizeof x))
			return (unsigned char)i;
	if (n_widths == 256)
		abort();
	widths[n_widths] = x;
	return (unsigned char)n_widths++;
}

/* Bit 15 set: the number of a block; otherwise of a row of widths. */
static int width_cell(int enc, int map, int op)
{
	static const int mandatory[] = { 0, 2, 3 };
	unsigned char b[WIDTH_FORMS];
	bool same = true;

	for (int i = 0; i < WIDTH_FORMS; i++) {
		b[i] = width_number(enc, map, op, i / 48, i / 24 % 2, mandatory[i / 8 % 3], i % 8);
		same &= b[i] == b[0];
	}
	if (same)
		return b[0];
	for (int i = 0; i < n_width_blocks; i++)
		if (!memcmp(width_blocks[i], b, sizeof b))
			return i | 0x8000;
	memcpy(width_blocks[n_width_blocks], b, sizeof b);
	return n_width_blocks++ | 0x8000;
}

static const struct {
	int enc, map;
} maps[] = {
	{ LEGACY, 0 }, { LEGACY, 1 }, { LEGACY, 2 }, { LEGACY, 3 }, { VEX, 1 },
	{ VEX, 2 },    { VEX, 3 },    { EVEX, 1 },   { EVEX, 2 },   { EVEX, 3 },
	{ EVEX, 5 },   { EVEX, 6 },   { XOP, 8 },    { XOP, 9 },    { XOP, 10 },
};

static int write_widths(void)
{
	int n = sizeof maps / sizeof *maps;

	printf("/* SPDX-License-Identifier: MIT */\n"
	       "/* Written by scripts/exact-tables.c from Zydis %d.%d; not to be edited by hand. */\n\n"
	       "/* [as insn_cells][opcode] */\n"
	       "static const uint16_t width_cells[%d][256] = {\n",
	       (int)ZYDIS_VERSION_MAJOR(ZYDIS_VERSION), (int)ZYDIS_VERSION_MINOR(ZYDIS_VERSION), n);
	for (int m = 0; m < n; m++) {
		printf("\t{\n");
		for (int op = 0; op < 256; op++)
			printf("%s%#x,%s", op % 16 ? " " : "\t\t",
			       width_cell(maps[m].enc, maps[m].map, op), op % 16 == 15 ? "\n" : "");
		printf("\t},\n");
	}
	printf("};\n\n/* [block][W][66][none, F3, F2][ModRM.reg] -> row */\n"
	       "static const uint8_t width_blocks[%d][%d] = {\n",
	       n_width_blocks, WIDTH_FORMS);
	for (int i = 0; i < n_width_blocks; i++) {
		printf("\t{ ");
		for (int j = 0; j < WIDTH_FORMS; j++)
			printf("%d,%s", width_blocks[i][j],
			       j == WIDTH_FORMS - 1   ? " },\n"
				       : j % 24 == 23 ? "\n\t  "
						      : " ");
	}
	printf("};\n\n/* bytes by the vector's length: 128, 256, 512; of one element that is broadcast; 0: unknown */\n"
	       "static const uint16_t width_rows[%d][4] = {\n",
	       n_widths);
	for (int i = 0; i < n_widths; i++)
		printf("\t{ %d, %d, %d, %d },\n", widths[i].bytes[0], widths[i].bytes[1],
		       widths[i].bytes[2], widths[i].element);
	printf("};\n");
	return 0;
}

static int form(const unsigned short f[REGS])
{
	for (int i = 0; i < n_forms; i++)
		if (!memcmp(forms[i], f, sizeof forms[i]))
			return i;
	memcpy(forms[n_forms], f, sizeof forms[n_forms]);
	return n_forms++;
}

int main(int argc, char **argv)
{
	int n = sizeof maps / sizeof *maps;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (argc > 1 && !strcmp(argv[1], "widths"))
		return write_widths();
	printf("/* SPDX-License-Identifier: MIT */\n"
	       "/* Written by scripts/exact-tables.c from Zydis %d.%d; not to be edited by hand. "
	       "*/\n\n"
	       "/* [legacy 0, 0F, 0F38, 0F3A; VEX 1-3; EVEX 1, 2, 3, 5, 6; XOP 8-10][opcode] */\n"
	       "static const uint16_t insn_cells[%d][256] = {\n",
	       (int)ZYDIS_VERSION_MAJOR(ZYDIS_VERSION), (int)ZYDIS_VERSION_MINOR(ZYDIS_VERSION), n);
	for (int m = 0; m < n; m++) {
		printf("\t{\n");
		for (int op = 0; op < 256; op++)
			printf("%s%#x,%s", op % 16 ? " " : "\t\t",
			       cell(maps[m].enc, maps[m].map, op), op % 16 == 15 ? "\n" : "");
		printf("\t},\n");
	}
	printf("};\n\n/* [block][W, prefix none, 66, F3, F2, memory form] -> form */\n"
	       "static const uint16_t insn_blocks[%d][%d] = {\n",
	       n_blocks, FORMS / REGS);
	for (int i = 0; i < n_blocks; i++) {
		printf("\t{ ");
		for (int j = 0; j < FORMS / REGS; j++)
			printf("%d,%s", form(blocks[i] + j * REGS),
			       j == FORMS / REGS - 1 ? " },\n" : " ");
	}
	printf("};\n\n/* [form][ModRM.reg] -> row */\n"
	       "static const uint16_t insn_forms[%d][%d] = {\n",
	       n_forms, REGS);
	for (int i = 0; i < n_forms; i++) {
		printf("\t{ ");
		for (int j = 0; j < REGS; j++)
			printf("%d,%s", forms[i][j], j == REGS - 1 ? " },\n" : " ");
	}
	printf("};\n\n/* kind, imm, flags read, written, loads, stores, vector, bits, scale, extension */\n"
	       "static const struct insn_row insn_rows[%d] = {\n",
	       n_rows);
	for (int i = 0; i < n_rows; i++)
		printf("\t{ %d, %d, %#x, %#x, %d, %d, %d, %#x, %#x, %d },\n", rows[i].kind,
		       rows[i].imm, rows[i].reads, rows[i].writes, rows[i].loads, rows[i].stores,
		       rows[i].vec, rows[i].bits, rows[i].scale, rows[i].isa);
	printf("};\n");
	return 0;
}
