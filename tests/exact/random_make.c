/* SPDX-License-Identifier: MIT */
/*
 * Makes random instruction sequences, for random_run.
 *
 *	random_make SEED COUNT [nogs] >FILE
 *
 * Most instructions come from random bytes that the decoder accepts, with their memory operands
 * pointed into the data area; control flow, stack and system calls come from shapes that are
 *bounded by construction. What the manual leaves undefined is followed: a flag that is undefined is
 *neither read nor compared. A sequence may fault; where and with what is part of its result.
 */
#include "random.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARITH 0x8d5u /* CF PF AF ZF SF OF */

enum { SCRATCH = DATA_AT + DATA_SIZE, COUNTERS = SCRATCH + 256, MAX_SEQUENCE = 16384 };

struct maker {
	uint64_t seed;
	uint8_t *code, *p, *start; /* all, here, of this sequence */
	unsigned undefined;        /* flags, here */
	unsigned keep;             /* general registers that must not be written: bit = number */
	int depth, counters, calls; /* calls: how deep in subroutines */
	bool wide[3]; /* what the CPU has: SSE, AVX2, AVX-512 */
	bool in_rsp_play;
	bool no_gs; /* leave GS alone */
};

static ZydisDecoder decoder;
static char cpu_flags[8192];

static uint64_t next(struct maker *m)
{
	uint64_t z = m->seed += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static unsigned below(struct maker *m, unsigned n)
{
	return (unsigned)(next(m) % n);
}

static bool chance(struct maker *m, unsigned percent)
{
	return below(m, 100) < percent;
}

static void put(struct maker *m, unsigned n, const void *bytes)
{
	memcpy(m->p, bytes, n);
	m->p += n;
}

static void put1(struct maker *m, unsigned byte)
{
	*m->p++ = (uint8_t)byte;
}

static void put4(struct maker *m, uint64_t value)
{
	put(m, 4, &value);
}

#define PUT(m, ...) put(m, sizeof((uint8_t[]){ __VA_ARGS__ }), (uint8_t[]){ __VA_ARGS__ })

static uint64_t here(const struct maker *m)
{
	return CODE_AT + (uint64_t)(m->p - m->code);
}

static void rel32(struct maker *m, uint64_t target)
{
	put4(m, target - (here(m) + 4));
}

/* Give all six flags a defined value: cmp r, r. */
static void define_flags(struct maker *m)
{
	unsigned r = below(m, 8), s = below(m, 8);

	PUT(m, 0x48, 0x39, 0xc0 | r << 3 | s);
	m->undefined = 0;
}

/* A general register that may be written; never rsp. */
static unsigned free_register(struct maker *m)
{
	unsigned r;

	do
		r = below(m, 16);
	while (r == 4 || m->keep >> r & 1);
	return r;
}

/* mov $value, %r32: touches no flag. */
static void set_register(struct maker *m, unsigned r, uint32_t value)
{
	if (r & 8)
		put1(m, 0x41);
	put1(m, 0xb8 | (r & 7));
	put4(m, value);
}

/* lea target(%rip), %r64 */
static void lea(struct maker *m, unsigned r, uint64_t target)
{
	PUT(m, 0x48 | (r & 8) >> 1, 0x8d, 0x05 | (r & 7) << 3);
	rel32(m, target);
}

static uint64_t place(struct maker *m)
{
	uint64_t at = DATA_AT + 640 + below(m, 640);

	return chance(m, 85) ? at & ~63ull : at;
}

static bool cpu_has(const char *flag)
{
	char word[64];

	snprintf(word, sizeof(word), " %s ", flag);
	return strstr(cpu_flags, word);
}

/* Instruction sets by Zydis's names, each with the CPU's flag for it ("" : always there). */
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

/* Never at random: what traps, blocks, depends on time or place, or saves the x87 pointers. */
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

/* May this run here: does it write only what it may, and is its memory operand one we can aim? */
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
		if ((m->in_rsp_play || m->calls) && o->mem.base == ZYDIS_REGISTER_RSP)
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

/* Point the memory operand into the data area, by what stands before the instruction or in it. */
static void aim(struct maker *m, struct candidate *c)
{
	const ZydisDecodedOperand *o = explicit_memory(c);
	bool align = o && o->size >= 128 && chance(m, 90); /* else #GP, often */
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
		may_leave = true; /* a count of 0 leaves them all */
	if (!may_leave)
		m->undefined &= ~(f->modified | f->set_0 | f->set_1);
	m->undefined |= f->undefined & ARITH;
}

/* One instruction out of random bytes. */
static void any_instruction(struct maker *m)
{
	struct candidate c;

	for (;;) {
		random_bytes(m, c.bytes);
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, c.bytes, 15, &c.z, c.ops)) ||
		    !acceptable(m, &c))
			continue;
		/* the common ones must not drown the rest, nor quotients that overflow end
		 * everything */
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

static void element(struct maker *m);

static void elements(struct maker *m, unsigned most)
{
	for (unsigned n = 1 + below(m, most); n; n--)
		element(m);
}

/* Code that a jump may or may not skip: afterwards, undefined is what either way leaves undefined.
 */
static void skipped(struct maker *m, uint8_t *rel, unsigned size)
{
	unsigned before = m->undefined;
	uint8_t *start = m->p;

	m->depth++;
	elements(m, 3);
	m->depth--;
	m->undefined |= before;

	int64_t distance = m->p - start;

	if (size == 1 && distance > 127) { /* too far for a short jump: skip nothing instead */
		*rel = 0;
		return;
	}
	memcpy(rel, &distance, size);
}

static void forward(struct maker *m)
{
	unsigned kind = below(m, 20);

	if (kind < 16 && m->undefined)
		define_flags(m);
	if (kind < 16 && chance(m, 50)) {
		PUT(m, 0x0f, 0x80 | kind);
		m->p += 4;
		skipped(m, m->p - 4, 4);
		return;
	}
	if (kind >= 18) {
		put1(m, 0xe9);
		m->p += 4;
		skipped(m, m->p - 4, 4);
		return;
	}
	if (kind == 17)
		put1(m, 0x67); /* jecxz */
	put1(m, kind < 16 ? 0x70 | kind : 0xe3);
	m->p++;
	skipped(m, m->p - 1, 1);
}

/* A loop whose counter lies in memory, or in rcx. */
static void loop(struct maker *m)
{
	unsigned saved = m->keep, slot = COUNTERS + 8 * (unsigned)m->counters++;
	unsigned rounds = 1 + below(m, 5);
	bool by_rcx = !(m->keep & 2) && chance(m, 50);

	if (by_rcx) {
		set_register(m, 1, rounds);
		m->keep |= 2;
	} else {
		PUT(m, 0xc7, 0x04, 0x25);
		put4(m, slot);
		put4(m, rounds);
	}
	m->undefined = ARITH; /* what the end of the body leaves is not known yet */

	uint8_t *top = m->p;

	m->depth++;
	elements(m, 3);
	m->depth--;

	unsigned kind = by_rcx ? below(m, 3) : 0;

	if (by_rcx) {
		if (kind && m->undefined)
			define_flags(m);
		if (m->p - top > 120) { /* too far for loop: leave it once through */
			m->keep = saved;
			return;
		}
		PUT(m, 0xe2 - kind, 0);
		m->p[-1] = (uint8_t)(top - m->p);
	} else {
		PUT(m, 0xff, 0x0c, 0x25);
		put4(m, slot);
		m->undefined &= 1;
		PUT(m, 0x0f, 0x85);
		put4(m, (uint64_t)(top - (m->p + 4)));
	}
	m->keep = saved;
}

static void subroutine(struct maker *m)
{
	unsigned drop = chance(m, 30) ? below(m, 3) * 8 : 0, r = free_register(m), i;
	uint8_t *over, *sub;

	put1(m, 0xe9);
	over = m->p += 4;
	sub = m->p;

	unsigned before = m->undefined;

	m->undefined = ARITH;
	m->depth++;
	m->calls++;
	elements(m, 2);
	m->calls--;
	m->depth--;
	if (drop)
		PUT(m, 0xc2, drop, 0);
	else if (chance(m, 20))
		PUT(m, 0xf3, 0xc3);
	else
		put1(m, 0xc3);

	int32_t d = (int32_t)(m->p - over);
	unsigned after = m->undefined;

	memcpy(over - 4, &d, 4);
	m->undefined = before;
	for (unsigned calls = 1 + below(m, 2); calls; calls--) {
		for (i = 0; i < drop; i += 8)
			put1(m, 0x50 | below(m, 8));
		switch (below(m, 4)) {
		case 0:
			put1(m, 0xe8);
			put4(m, (uint64_t)(sub - (m->p + 4)));
			break;
		case 1:
			lea(m, r, CODE_AT + (uint64_t)(sub - m->code));
			if (r & 8)
				put1(m, 0x41);
			PUT(m, 0xff, 0xd0 | (r & 7));
			break;
		case 2:
			lea(m, r, CODE_AT + (uint64_t)(sub - m->code));
			PUT(m, 0x48 | (r & 8) >> 1, 0x89, 0x04 | (r & 7) << 3, 0x25);
			put4(m, SCRATCH);
			PUT(m, 0xff, 0x14, 0x25);
			put4(m, SCRATCH);
			break;
		default: /* the return address by hand, then a jump */
			lea(m, r, here(m) + 7 + (r & 8 ? 2 : 1) + 5);
			if (r & 8)
				put1(m, 0x41);
			put1(m, 0x50 | (r & 7));
			put1(m, 0xe9);
			put4(m, (uint64_t)(sub - (m->p + 4)));
		}
	}
	m->undefined = after;
}

static void indirect(struct maker *m)
{
	unsigned r = free_register(m), n = 1 + below(m, 4), pick = below(m, n);
	uint8_t *table;

	switch (below(m, 4)) {
	case 0: /* lea; jmp *r */
		lea(m, r, here(m) + 7 + (r & 8 ? 3 : 2) + n);
		if (r & 8)
			put1(m, 0x41);
		PUT(m, 0xff, 0xe0 | (r & 7));
		break;
	case 1: /* push; ret */
		lea(m, r, here(m) + 7 + (r & 8 ? 2 : 1) + 1 + n);
		if (r & 8)
			put1(m, 0x41);
		PUT(m, 0x50 | (r & 7), 0xc3);
		break;
	case 2: /* call over nothing; pop */
		PUT(m, 0xe8, 0, 0, 0, 0);
		if (r & 8)
			put1(m, 0x41);
		put1(m, 0x58 | (r & 7));
		return;
	default: /* a table in the code: mov $pick, r; jmp *table(, r, 8) */
		set_register(m, r, pick);
		if (r & 8)
			put1(m, 0x42);
		PUT(m, 0xff, 0x24, 0xc5 | (r & 7) << 3);
		put4(m, here(m) + 4);
		table = m->p;
		m->p += 8 * n;
		for (unsigned i = 0; i < n; i++) {
			uint64_t to = here(m) + i;

			memcpy(table + 8 * i, &to, 8);
		}
		for (unsigned i = 0; i < n; i++)
			put1(m, 0x90);
		return;
	}
	for (; n; n--)
		PUT(m, 0xcc); /* jumped over */
}

/* Over an opcode byte, into what decoded differently from there: eb 01 b8 / nops and a short jump.
 */
static void middle(struct maker *m)
{
	unsigned r = free_register(m) & 7;

	if (r == 4 || m->keep >> r & 1)
		return;
	if (chance(m, 50)) {
		PUT(m, 0xeb, 0x01, 0xb8 | r, 0x90, 0xf9, 0xeb, 0x00); /* nop; stc; jmp .+0 */
		m->undefined &= ~1u;
		return;
	}
	/* the same five bytes, from the first and then from the second; rounds in memory */
	unsigned slot = COUNTERS + 8 * (unsigned)m->counters++;

	PUT(m, 0xc7, 0x04, 0x25);
	put4(m, slot);
	put4(m, 2);
	uint8_t *twice = m->p;

	PUT(m, 0xb8 | r, 0x90, 0x90, 0xf5, 0xf5);
	PUT(m, 0xff, 0x0c, 0x25);
	put4(m, slot);
	PUT(m, 0x75, 0);
	m->p[-1] = (uint8_t)(twice + 1 - m->p);
	m->undefined &= 1;
}

static void stack(struct maker *m)
{
	unsigned r = free_register(m), s = below(m, 16);

	switch (below(m, 8)) {
	case 0:
	case 1: /* push, something, pop */
		if (s & 8)
			put1(m, 0x41);
		put1(m, 0x50 | (s & 7));
		m->depth++;
		element(m);
		m->depth--;
		if (r & 8)
			put1(m, 0x41);
		put1(m, 0x58 | (r & 7));
		return;
	case 2:
		PUT(m, 0x6a, below(m, 256), 0x66, 0x68, below(m, 256), 7);
		PUT(m, 0x66, 0x8f, 0x04, 0x25);
		put4(m, place(m));
		PUT(m, 0x8f, 0x04, 0x25);
		put4(m, place(m));
		return;
	case 3:
		PUT(m, 0xff, 0x34, 0x25);
		put4(m, place(m));
		PUT(m, 0x8f, 0x05);
		rel32(m, place(m));
		return;
	case 4: /* flags through the stack; nobody's trap flag */
		if (m->undefined)
			define_flags(m);
		PUT(m, 0x9c, 0x48, 0x81, 0x24, 0x24);
		put4(m, 0xcd5);
		PUT(m, 0x48, 0x81, 0x34, 0x24);
		put4(m, next(m) & 0x8d5);
		put1(m, 0x9d);
		m->undefined = 0;
		return;
	case 5:
		if (m->keep & 1 << 5)
			return;
		PUT(m, 0xc8, 8 * below(m, 4), 0, below(m, 2));
		m->keep |= 1 << 5;
		m->depth++;
		element(m);
		m->depth--;
		m->keep &= ~(1u << 5);
		put1(m, 0xc9);
		return;
	case 6: /* the red zone and what is above: [rsp - 8 .. ] */
		PUT(m, 0x48, 0x89, 0x44 | (s & 7) << 3, 0x24,
		    (0x100 - 8 * (1 + below(m, 16))) & 0xff);
		return;
	default:
		PUT(m, 0x48, 0x8d, 0x64, 0x24, 0xf8, 0x48, 0x87, 0x44 | (r & 7) << 3, 0x24, 0x00);
		if ((r & 7) == 4 || m->keep >> (r & 7) & 1)
			m->p -= 5;
		PUT(m, 0x48, 0x8d, 0x64, 0x24, 0x08);
	}
}

/* rsp holds something that is no stack for a while. */
static void rsp_play(struct maker *m)
{
	if (m->in_rsp_play || m->depth > 2)
		return;
	PUT(m, 0x48, 0x89, 0x24, 0x25); /* mov %rsp, SCRATCH + 8 */
	put4(m, SCRATCH + 8);
	switch (below(m, 3)) {
	case 0:
		PUT(m, 0x48, 0x89, 0xc4 | below(m, 4) << 3); /* mov r, %rsp */
		break;
	case 1:
		put1(m, 0xbc); /* mov $imm, %esp */
		put4(m, next(m));
		break;
	default:
		PUT(m, 0x48, 0x8d, 0x64, 0x04, below(m, 128)); /* lea d(%rsp, %rax), %rsp */
	}
	m->in_rsp_play = true;
	for (unsigned n = 1 + below(m, 3); n; n--)
		any_instruction(m);
	if (chance(m, 50)) {
		if (m->undefined)
			define_flags(m);
		PUT(m, 0x70 | below(m, 16), 0x00);
	}
	PUT(m, 0x48, 0x01, 0x24, 0x25); /* add %rsp, a word of the data */
	put4(m, place(m));
	m->undefined = 0;
	m->in_rsp_play = false;
	PUT(m, 0x48, 0x8b, 0x24, 0x25);
	put4(m, SCRATCH + 8);
}

/* A system call that changes nothing: getuid, or none at all. r11 gets the flags: cleared. */
static void system_call(struct maker *m)
{
	if (m->keep & (1 << 0 | 1 << 1 | 1 << 11))
		return;
	set_register(m, 0, chance(m, 50) ? 102 : 5000);
	PUT(m, 0x0f, 0x05);
	set_register(m, 11, 0);
}

static void gather_scatter(struct maker *m)
{
	unsigned r = free_register(m) & 7;

	if (!m->wide[1] || r == 4 || r == 5 || m->keep >> r & 1)
		return;
	lea(m, r, DATA_AT + 640);
	if (m->wide[2] && chance(m, 60)) {
		PUT(m, 0x62, 0xf1, 0x75, 0x48, 0x72, 0xd2, 26);     /* vpsrld $26, %zmm2, %zmm1 */
		PUT(m, 0xc5, 0xfc, 0x46, 0xc8 | (1 + below(m, 2))); /* kxnorw %k, %k0, %k1 */
		if (chance(m, 50))
			PUT(m, 0x62, 0xf2, 0x7d, 0x49, 0x90, 0x1c,
			    0x80 | 1 << 3 | r); /* vpgatherdd */
		else
			PUT(m, 0x62, 0xf2, 0x7d, 0x49, 0xa0, 0x1c,
			    0x80 | 1 << 3 | r); /* vpscatterdd */
		return;
	}
	PUT(m, 0xc5, 0xf5, 0x72, 0xd2, 26); /* vpsrld $26, %ymm2, %ymm1 */
	PUT(m, 0xc5, 0xdd, 0x76, 0xe4);     /* vpcmpeqd %ymm4, %ymm4, %ymm4 */
	PUT(m, 0xc4, 0xe2, 0x5d, 0x90, 0x1c,
	    0x80 | 1 << 3 | r); /* vpgatherdd %ymm4, (r, %ymm1, 4), %ymm3 */
}

static void bit_string(struct maker *m)
{
	unsigned r = free_register(m);

	set_register(m, r, below(m, 2048));
	if (chance(m, 30))
		put1(m, 0xf0);
	PUT(m, 0x48 | (r & 8) >> 1, 0x0f, 0xab | below(m, 3) * 8, 0x05 | (r & 7) << 3);
	rel32(m, DATA_AT + 640);
	/* CF is set, ZF left alone, the others undefined: SDM vol. 2, "BTS" */
	m->undefined |= ARITH & ~0x41u;
	m->undefined &= ~1u;
}

static void rounding(struct maker *m)
{
	static const uint32_t modes[] = { 0x1f80, 0x3f80, 0x5f80, 0x7f80, 0x9fc0 };

	PUT(m, 0xc7, 0x04, 0x25);
	put4(m, SCRATCH + 16);
	put4(m, modes[below(m, 5)]);
	PUT(m, 0x0f, 0xae, 0x14, 0x25);
	put4(m, SCRATCH + 16);
}

/* The sequence ends here, by a fault of one kind or another. The flags that count at it. */
static unsigned fault(struct maker *m)
{
	unsigned r = free_register(m) & 7;

	if (r == 4 || r == 5)
		r = 0;
	switch (below(m, 9)) {
	case 0:
		PUT(m, 0x0f, 0x0b);
		break;
	case 1: /* load from where nothing is */
		PUT(m, 0x48, 0x8b, 0x04, 0x25);
		put4(m, 0x1000 + below(m, 4096));
		break;
	case 2: /* adc there: of the flags before it, it reads CF and overwrites the rest */
		PUT(m, 0x11, 0x04, 0x25);
		put4(m, 0x2000);
		return 0x401;
	case 3: /* no canonical address */
		PUT(m, 0x48, 0xb8 | r);
		put4(m, next(m));
		put4(m, 0x12345678);
		PUT(m, 0x48, 0x8b, r);
		break;
	case 4:
		set_register(m, 1, 0);
		PUT(m, 0xf7, 0xf1);
		break;
	case 5:
		put1(m, 0xcc);
		break;
	case 6: /* a jump to where nothing is */
		set_register(m, r, 0x3000 + below(m, 4096));
		PUT(m, 0xff, 0xe0 | r);
		break;
	case 7:
		put1(m, 0xf4); /* hlt */
		break;
	default: /* an aligned load that is not */
		PUT(m, 0x0f, 0x28, 0x04, 0x25);
		put4(m, DATA_AT + 641);
	}
	return 0xcd5;
}

static void element(struct maker *m)
{
	unsigned kind = below(m, 100);

	if (m->p - m->start > MAX_SEQUENCE / 2 || m->depth > 4 || kind < 62)
		any_instruction(m);
	else if (kind < 72)
		forward(m);
	else if (kind < 77)
		loop(m);
	else if (kind < 81)
		subroutine(m);
	else if (kind < 85)
		indirect(m);
	else if (kind < 87)
		middle(m);
	else if (kind < 92)
		stack(m);
	else if (kind < 94)
		rsp_play(m);
	else if (kind < 95)
		system_call(m);
	else if (kind < 97)
		gather_scatter(m);
	else if (kind < 98)
		bit_string(m);
	else if (kind < 99)
		rounding(m);
	else
		PUT(m, chance(m, 50) ? 0xfc : 0xfd);
}

static struct entry sequence(struct maker *m)
{
	struct entry e = { .offset = (unsigned)(m->p - m->code) };

	m->start = m->p;
	m->undefined = m->keep = 0;
	m->depth = m->counters = m->calls = 0;
	for (unsigned n = 2 + below(m, 14); n; n--)
		element(m);
	e.end_flags = (unsigned short)(0xcd5 & ~m->undefined);
	e.fault_flags = e.end_flags;
	if (chance(m, 8)) {
		e.fault_at = (unsigned)(m->p - m->code);
		e.fault_flags &= fault(m);
	}
	put1(m, 0xe9);
	rel32(m, CODE_AT);
	e.size = (unsigned)(m->p - m->code) - e.offset;
	return e;
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

int main(int argc, char **argv)
{
	struct header h = { .magic = MAGIC };
	struct maker m = { 0 };
	struct entry *entries;
	size_t room;

	if (argc < 3 || (h.count = (unsigned)strtoul(argv[2], NULL, 0)) == 0 || h.count > 1000000) {
		fprintf(stderr, "usage: random_make SEED COUNT [nogs] >FILE\n");
		return 125;
	}
	h.seed = m.seed = strtoull(argv[1], NULL, 0);
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	read_cpu_flags();
	m.no_gs = argc > 3 && !strcmp(argv[3], "nogs");
	m.wide[0] = true;
	m.wide[1] = cpu_has("avx2");
	m.wide[2] =
	    cpu_has("avx512f") && cpu_has("avx512bw") && cpu_has("avx512dq") && cpu_has("avx512vl");
	h.level = m.wide[2] ? LEVEL_AVX512 : m.wide[1] ? LEVEL_AVX2 : LEVEL_SSE;

	room = (size_t)h.count * 1024 + (1 << 20);
	m.code = m.p = calloc(1, room);
	entries = calloc(h.count, sizeof(*entries));
	if (!m.code || !entries) {
		fprintf(stderr, "random_make: out of memory\n");
		return 125;
	}
	PUT(&m, 0xff, 0x24, 0x25);
	put4(&m, STATE_AT);
	while (m.p - m.code < 64)
		put1(&m, 0x90);
	for (unsigned i = 0; i < h.count; i++) {
		entries[i] = sequence(&m);
		if ((size_t)(m.p - m.code) + MAX_SEQUENCE > room) {
			fprintf(stderr, "random_make: sequences are longer than thought\n");
			return 125;
		}
	}
	h.entries_size =
	    (unsigned)((sizeof(h) + h.count * sizeof(*entries) + PAGE - 1) / PAGE * PAGE);
	h.code_offset = h.entries_size;
	h.code_size = ((unsigned long)(m.p - m.code) + PAGE - 1) / PAGE * PAGE;
	fwrite(&h, sizeof(h), 1, stdout);
	fwrite(entries, sizeof(*entries), h.count, stdout);
	for (size_t n = sizeof(h) + h.count * sizeof(*entries); n < h.entries_size; n++)
		putchar(0);
	fwrite(m.code, 1, h.code_size, stdout);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "random_make: cannot write: %s\n", strerror(errno));
		return 125;
	}
	return 0;
}
