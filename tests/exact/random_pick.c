/* SPDX-License-Identifier: MIT */
/*
 * Which instructions from random bytes may be used in a sequence, and adjustment of their operands.
 */
#include "random_maker.h"

#include <Zydis/Zydis.h>
#include <stdio.h>
#include <string.h>

static ZydisDecoder decoder;
static char cpu_flags[8192];

static bool cpu_has(const char *flag)
{
	char word[64];

	snprintf(word, sizeof(word), " %s ", flag);
	return strstr(cpu_flags, word);
}

/* Instruction sets by Zydis's names, each with the CPU's flag for it ("" : always present). */
static const struct {
	const char *start, *flag;
} sets[] = {
	{ "I86", "" },
	{ "I186", "" },
	{ "I286", "" },
	{ "I386", "" },
	{ "I486", "" },
	{ "PENTIUM", "" },
	{ "PPRO", "" },
	{ "CMOV", "" },
	{ "FCMOV", "" },
	{ "X87", "" },
	{ "FCOMI", "" },
	{ "FAT_NOP", "" },
	{ "LONGMODE", "" },
	{ "FMA4", "none" },
	{ "SSE3X87", "" },
	{ "LAHF", "" },
	{ "CMPXCHG16B", "cx16" },
	{ "POPCNT", "popcnt" },
	{ "LZCNT", "abm" },
	{ "BMI1", "bmi1" },
	{ "BMI2", "bmi2" },
	{ "ADOX", "adx" },
	{ "MOVBE", "movbe" },
	{ "PENTIUMMMX", "mmx" },
	{ "SSEMXCSR", "" },
	{ "SSE_PREFETCH", "" },
	{ "SSE4A", "sse4a" },
	{ "SSE2MMX", "" },
	{ "SSE42", "sse4_2" },
	{ "SSE4", "sse4_1" },
	{ "SSSE3", "ssse3" },
	{ "SSE", "" },
	{ "AESNI", "aes" },
	{ "PCLMULQDQ", "pclmulqdq" },
	{ "SHA", "sha_ni" },
	{ "GFNI", "gfni" },
	{ "AVX_GFNI", "gfni" },
	{ "AVX512_GFNI", "avx512vl" },
	{ "AVXAES", "avx" },
	{ "VAES", "vaes" },
	{ "VPCLMULQDQ", "vpclmulqdq" },
	{ "AVX2GATHER", "avx2" },
	{ "AVX2", "avx2" },
	{ "FMA", "fma" },
	{ "F16C", "f16c" },
	{ "AVX512F", "avx512f" },
	{ "AVX512BW", "avx512bw" },
	{ "AVX512DQ", "avx512dq" },
	{ "AVX512CD", "avx512cd" },
	{ "AVX512_VBMI2", "avx512_vbmi2" },
	{ "AVX512_VBMI", "avx512vbmi" },
	{ "AVX512_IFMA", "avx512ifma" },
	{ "AVX512_VNNI", "avx512_vnni" },
	{ "AVX512_BITALG", "avx512_bitalg" },
	{ "AVX512_VPOPCNTDQ", "avx512_vpopcntdq" },
	{ "AVX512_BF16", "avx512_bf16" },
	{ "AVX512_VAES", "vaes" },
	{ "AVX512_VPCLMULQDQ", "vpclmulqdq" },
	{ "AVX512_", "none" },
	{ "AVX512", "none" },
	{ "AVX_", "none" },
	{ "AVX", "avx" },
	{ "CLFLUSHOPT", "clflushopt" },
	{ "CLFSH", "" },
	{ "PAUSE", "" },
	{ "RDWRFSGS", "fsgsbase" },
};

static bool set_is_there(ZydisISASet set)
{
	static signed char known[ZYDIS_ISA_SET_MAX_VALUE + 1];

	if (known[set] == 0) {
		const char *name = ZydisISASetGetString(set);

		known[set] = -1;
		for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++)
			if (!strncmp(name, sets[i].start, strlen(sets[i].start))) {
				known[set] = !*sets[i].flag || cpu_has(sets[i].flag) ? 1 : -1;
				break;
			}
	}
	return known[set] > 0;
}

/* Excluded: instructions that trap, block, depend on time or address, or save the x87 pointers. */
static bool unwanted(const ZydisDecodedInstruction *z)
{
	switch (z->meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_IO:
	case ZYDIS_CATEGORY_IOSTRINGOP:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_VTX:
	case ZYDIS_CATEGORY_PUSH:
	case ZYDIS_CATEGORY_POP:
	case ZYDIS_CATEGORY_XSAVE:
	case ZYDIS_CATEGORY_XSAVEOPT:
	case ZYDIS_CATEGORY_RDRAND:
	case ZYDIS_CATEGORY_RDSEED:
	case ZYDIS_CATEGORY_SEGOP:
	case ZYDIS_CATEGORY_GATHER:
	case ZYDIS_CATEGORY_SCATTER:
	case ZYDIS_CATEGORY_CET:
		return true;
	default:
		break;
	}
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_RDTSC:
	case ZYDIS_MNEMONIC_RDTSCP:
	case ZYDIS_MNEMONIC_RDPMC:
	case ZYDIS_MNEMONIC_RDPID:
	case ZYDIS_MNEMONIC_CPUID:
	case ZYDIS_MNEMONIC_XGETBV:
	case ZYDIS_MNEMONIC_LDMXCSR:
	case ZYDIS_MNEMONIC_VLDMXCSR:
	case ZYDIS_MNEMONIC_FLDCW:
	case ZYDIS_MNEMONIC_FLDENV:
	case ZYDIS_MNEMONIC_FRSTOR:
	case ZYDIS_MNEMONIC_FXRSTOR:
	case ZYDIS_MNEMONIC_FXRSTOR64:
	case ZYDIS_MNEMONIC_FNSAVE:
	case ZYDIS_MNEMONIC_FNSTENV:
	case ZYDIS_MNEMONIC_FXSAVE:
	case ZYDIS_MNEMONIC_FXSAVE64:
	case ZYDIS_MNEMONIC_ENTER:
	case ZYDIS_MNEMONIC_LEAVE:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_CLZERO:
	case ZYDIS_MNEMONIC_MONITOR:
	case ZYDIS_MNEMONIC_MWAIT:
	case ZYDIS_MNEMONIC_WRFSBASE:
	case ZYDIS_MNEMONIC_WRGSBASE:
	case ZYDIS_MNEMONIC_STI:
	case ZYDIS_MNEMONIC_CLI:
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_SMSW:
	case ZYDIS_MNEMONIC_SLDT:
	case ZYDIS_MNEMONIC_STR:
	case ZYDIS_MNEMONIC_LFS:
	case ZYDIS_MNEMONIC_LGS:
	case ZYDIS_MNEMONIC_LSS:
	case ZYDIS_MNEMONIC_PTWRITE:
	case ZYDIS_MNEMONIC_FFREEP:
		return true;
	default:
		return z->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED || !set_is_there(z->meta.isa_set);
	}
}

static int gpr_number(ZydisRegister r)
{
	ZydisRegister full = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);

	return full >= ZYDIS_REGISTER_RAX && full <= ZYDIS_REGISTER_R15
		? (int)(full - ZYDIS_REGISTER_RAX)
		: -1;
}

struct candidate {
	ZydisDecodedInstruction z;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	uint8_t bytes[15];
};

static const ZydisDecodedOperand *explicit_memory(const struct candidate *c)
{
	for (int i = 0; i < c->z.operand_count_visible; i++)
		if (c->ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			return &c->ops[i];
	return NULL;
}

static bool is_string(const struct candidate *c)
{
	return c->z.meta.category == ZYDIS_CATEGORY_STRINGOP;
}

static bool is_xlat(const struct candidate *c)
{
	return c->z.mnemonic == ZYDIS_MNEMONIC_XLAT;
}

static bool is_maskmov(const struct candidate *c)
{
	return c->z.mnemonic == ZYDIS_MNEMONIC_MASKMOVDQU ||
		c->z.mnemonic == ZYDIS_MNEMONIC_MASKMOVQ ||
		c->z.mnemonic == ZYDIS_MNEMONIC_VMASKMOVDQU;
}

static bool is_bit_string(const struct candidate *c)
{
	switch (c->z.mnemonic) {
	case ZYDIS_MNEMONIC_BT:
	case ZYDIS_MNEMONIC_BTS:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTC:
		return c->ops[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
			c->ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
	default:
		return false;
	}
}

/* May it be used here: does it write only what it may, and can we set its memory operand? */
static bool acceptable(struct maker *m, const struct candidate *c)
{
	if (unwanted(&c->z) || is_bit_string(c))
		return false;
	if (m->no_gs && c->z.mnemonic == ZYDIS_MNEMONIC_RDGSBASE)
		return false;
	for (int i = 0; i < c->z.raw.prefix_count; i++)
		if (m->no_gs && c->z.raw.prefixes[i].value == 0x65)
			return false;
	for (int i = 0; i < c->z.operand_count; i++) {
		const ZydisDecodedOperand *o = &c->ops[i];

		if (o->type == ZYDIS_OPERAND_TYPE_REGISTER) {
			int r = gpr_number(o->reg.value);
			bool writes = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;

			if (r >= 0 && writes && (r == 4 || m->keep >> r & 1))
				return false;
			if (m->in_rsp_play && r == 4)
				return false;
			if (ZydisRegisterGetClass(o->reg.value) == ZYDIS_REGCLASS_SEGMENT && writes)
				return false;
		}
		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		if (o->mem.type == ZYDIS_MEMOP_TYPE_VSIB || o->size > 512)
			return false;
		if (i >= c->z.operand_count_visible && !is_string(c) && !is_xlat(c) &&
		    !is_maskmov(c))
			return false;
		/* not over a return address: see prog/end_noncanonical.S */
		if ((m->in_rsp_play || m->calls) && gpr_number(o->mem.base) == 4)
			return false;
		if (o->mem.segment == ZYDIS_REGISTER_FS || o->mem.segment == ZYDIS_REGISTER_GS) {
			if (o->mem.base != ZYDIS_REGISTER_NONE ||
			    o->mem.index != ZYDIS_REGISTER_NONE || c->z.raw.disp.size != 32)
				return false;
			continue;
		}

		int base = gpr_number(o->mem.base), index = gpr_number(o->mem.index);

		if (o->mem.type != ZYDIS_MEMOP_TYPE_MEM)
			continue;
		if (o->mem.base == ZYDIS_REGISTER_NONE && o->mem.index != ZYDIS_REGISTER_NONE)
			return false;
		if (index >= 0 && (index == base || m->keep >> index & 1))
			return false;
		if (base >= 0 && base != 4 && m->keep >> base & 1)
			return false;
		if (base == 4 && c->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
			return false;
	}
	if (is_string(c) && m->keep & (1 << 1 | 1 << 6 | 1 << 7))
		return false;
	return !((is_xlat(c) && m->keep & 1 << 3) || (is_maskmov(c) && m->keep & 1 << 7));
}

static void random_bytes(struct maker *m, uint8_t b[15])
{
	static const uint8_t prefixes[] = { 0x66, 0xf2, 0xf3, 0xf0, 0x2e, 0x3e, 0x67, 0x64, 0x65 };
	unsigned n = 0, kind = below(m, 100);

	for (unsigned i = 0; i < 15; i++)
		b[i] = (uint8_t)next(m);
	if (kind < 70) {
		while (n < 4 && chance(m, 22))
			b[n++] = prefixes[chance(m, 60) ? below(m, 3) : below(m, sizeof(prefixes))];
		if (chance(m, 55))
			b[n++] = 0x40 | below(m, 16);
		if (kind >= 32) {
			b[n++] = 0x0f;
			if (kind >= 56)
				b[n++] = kind & 1 ? 0x38 : 0x3a;
		}
	} else if (kind < 85 && m->wide[1]) {
		b[n++] = 0xc4;
		b[n] = (uint8_t)((b[n] & 0xe0) | (1 + below(m, 3)));
	} else if (m->wide[2]) {
		b[n++] = 0x62;
		b[n] = (uint8_t)((b[n] & 0xf0) | (1 + below(m, 3)));
		b[n + 1] |= 4;
		if (chance(m, 60))
			b[n + 2] &= 0x78 | (chance(m, 50) ? 7 : 0) | (chance(m, 70) ? 0 : 0x90);
	}
}

/* Make the memory operand point into the data area, by instructions before it or its own bytes. */
static void aim(struct maker *m, struct candidate *c)
{
	const ZydisDecodedOperand *o = explicit_memory(c);
	bool align = o && o->size >= 128 && chance(m, 90); /* otherwise often #GP */
	uint64_t at = place(m) & (align ? ~63ull : ~0ull);
	uint8_t *disp = c->bytes + c->z.raw.disp.offset;

	if (is_string(c)) {
		lea(m, 6, at);
		lea(m, 7, place(m));
		if (c->z.attributes &
		    (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
			set_register(m, 1, chance(m, 30) ? below(m, 2) : below(m, 20));
		return;
	}
	if (is_xlat(c))
		lea(m, 3, at);
	if (is_maskmov(c))
		lea(m, 7, at);
	if (!o || o->mem.type != ZYDIS_MEMOP_TYPE_MEM)
		return;
	if (o->mem.segment == ZYDIS_REGISTER_FS || o->mem.segment == ZYDIS_REGISTER_GS)
		at -= DATA_AT;

	int base = gpr_number(o->mem.base), index = gpr_number(o->mem.index);

	if (base >= 0 && base != 4)
		lea(m, (unsigned)base, at);
	if (index >= 0)
		set_register(m, (unsigned)index, align ? below(m, 2) * 64 : below(m, 16));

	int32_t d = (int32_t)below(m, 256) - 128;

	if (align || chance(m, 60))
		d &= ~63;
	if (o->mem.base == ZYDIS_REGISTER_NONE) {
		memcpy(disp, &at, c->z.raw.disp.size / 8);
	} else if (c->z.raw.disp.size == 32 && base >= 0) {
		memcpy(disp, &d, 4);
	} else if (c->z.raw.disp.size == 8 && c->z.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) {
		*disp = (uint8_t)(below(m, 3) - 1);
	} else if (c->z.raw.disp.size == 8 && (align || chance(m, 60))) {
		*disp &= 0xc0;
	}
	if (base < 0 && o->mem.base != ZYDIS_REGISTER_NONE) { /* RIP */
		uint32_t rel = (uint32_t)(at - (here(m) + c->z.length));

		memcpy(disp, &rel, 4);
	}
}

static void follow_flags(struct maker *m, const struct candidate *c)
{
	const ZydisAccessedFlags *f = c->z.cpu_flags;
	bool may_leave = c->z.attributes & (ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE);

	if (!f)
		return;
	if (c->z.meta.category == ZYDIS_CATEGORY_SHIFT ||
	    c->z.meta.category == ZYDIS_CATEGORY_ROTATE)
		may_leave = true; /* a count of 0 leaves them all unchanged */
	if (!may_leave)
		m->undefined &= ~(f->modified | f->set_0 | f->set_1);
	m->undefined |= f->undefined & ARITH;
}

/* One instruction from random bytes. */
void any_instruction(struct maker *m)
{
	struct candidate c;

	for (;;) {
		random_bytes(m, c.bytes);
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, c.bytes, 15, &c.z, c.ops)) ||
		    !acceptable(m, &c))
			continue;
		/*
		 * limit frequent instructions, and quotients that overflow and so end the sequence
		 */
		if (c.z.meta.category == ZYDIS_CATEGORY_NOP && chance(m, 80))
			continue;
		if ((c.z.mnemonic == ZYDIS_MNEMONIC_DIV || c.z.mnemonic == ZYDIS_MNEMONIC_IDIV)) {
			if (m->keep & 5 || explicit_memory(&c))
				continue;
			set_register(m, 2, 0);
			set_register(m, 0, below(m, 100));
		}
		break;
	}
	if (c.z.cpu_flags && c.z.cpu_flags->tested & m->undefined)
		define_flags(m);
	aim(m, &c);
	put(m, c.z.length, c.bytes);
	follow_flags(m, &c);
}

static void read_cpu_flags(void)
{
	FILE *f = fopen("/proc/cpuinfo", "re");

	while (f && fgets(cpu_flags, sizeof(cpu_flags) - 1, f))
		if (!strncmp(cpu_flags, "flags", 5))
			break;
	if (f)
		fclose(f);
	cpu_flags[strcspn(cpu_flags, "\n")] = ' ';
}

/* The CPU's features. */
void pick_begin(struct maker *m, bool no_gs)
{
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	read_cpu_flags();
	m->no_gs = no_gs;
	m->wide[0] = true;
	m->wide[1] = cpu_has("avx2");
	m->wide[2] = cpu_has("avx512f") && cpu_has("avx512bw") && cpu_has("avx512dq") &&
		cpu_has("avx512vl");
}
