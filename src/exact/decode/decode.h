/* SPDX-License-Identifier: MIT */
/*
 * x86-64 decoder, limited to what copying and counting an instruction needs: its length, the
 * offsets of its parts, the flags it reads and writes, its classes. Bytes in, a struct insn out; no
 * side effects.
 */
#ifndef EXACT_DECODE_DECODE_H
#define EXACT_DECODE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include "exact/decode/insn_kinds.h"

enum insn_prefix {
	P_66 = 1,
	P_67 = 2,
	P_F2 = 4,
	P_F3 = 8,
	P_LOCK = 16,
	P_FS = 32,
	P_GS = 64,
};

enum insn_encoding { E_LEGACY, E_VEX, E_EVEX, E_XOP };

struct insn {
	/* In the order of struct insn_row: see decode_common(). */
	uint8_t kind;          /* enum insn_kind */
	uint8_t imm_kind;      /* enum insn_imm */
	uint8_t reads, writes; /* flags, F_* */
	uint8_t loads, stores;
	uint8_t vec;  /* V_NONE .. V_512 */
	uint8_t bits; /* R_* from the row */

	uint8_t len;    /* 0: unknown instruction, or truncated */
	uint8_t prefix; /* enum insn_prefix, those in effect */
	uint8_t rex;    /* the REX byte, or 0; VEX and EVEX: their R, X, B, W in REX format */
	uint8_t encoding;
	uint8_t map; /* 0: one byte; 1: 0F; 2: 0F38; 3: 0F3A; 5, 6, 8-10 */
	uint8_t opcode;
	uint8_t opcode_at;
	uint8_t modrm_at; /* 0: none */
	uint8_t modrm;
	uint8_t disp_at, disp_size;
	uint8_t isa;        /* enum isa_feature: the extension that it belongs to */
	uint8_t disp_shift; /* log2 of the unit of an 8-bit displacement; 7: unknown */
	uint8_t imm_at, imm_size;
	int64_t imm; /* sign extended */
};

/*
 * Decode the instruction at `bytes`; `size` bytes are readable. 15 are always enough; with
 * INSN_ROOM bytes decoding is faster.
 */
enum { INSN_ROOM = 24 };
bool insn_decode(struct insn *in, const uint8_t *bytes, size_t size);

/*
 * Size in bytes of its memory operands; of one element if the instruction repeats. `bytes` are the
 * instruction's. 0: unknown, if a mask or the processor's state decides it, or no access, as for a
 * prefetch hint.
 */
unsigned insn_width(const struct insn *in, const uint8_t *bytes);

/* int3 or its long form int 3: the program's own, or a uprobe of the kernel. */
static inline bool insn_breakpoint(const struct insn *in)
{
	return in->encoding == E_LEGACY && in->map == 0 &&
		(in->opcode == 0xcc || (in->opcode == 0xcd && in->imm == 3));
}

/*
 * sldt, str, sgdt, sidt, smsw: on processors with UMIP they fault, and the kernel emulates them.
 * Source: arch/x86/kernel/umip.c
 */
static inline bool insn_umip(const struct insn *in)
{
	unsigned what = in->modrm >> 3 & 7;

	return in->encoding == E_LEGACY && in->map == 1 &&
		((in->opcode == 0x00 && what < 2) ||
		 (in->opcode == 0x01 && (what == 4 || (what < 2 && in->modrm < 0xc0))));
}

/* cpuid, xgetbv, rdpid: their answer depends on the processor. */
static inline bool insn_rdpid(const struct insn *in)
{
	return in->encoding == E_LEGACY && in->map == 1 && in->opcode == 0xc7 &&
		(in->prefix & P_F3) && in->modrm >= 0xf8;
}

static inline bool insn_asks_processor(const struct insn *in)
{
	return in->encoding == E_LEGACY && in->map == 1 &&
		(in->opcode == 0xa2 || (in->opcode == 0x01 && in->modrm == 0xd0) || insn_rdpid(in));
}

static inline bool insn_rdtscp(const struct insn *in)
{
	return in->encoding == E_LEGACY && in->map == 1 && in->opcode == 0x01 && in->modrm == 0xf9;
}

static inline bool insn_rdtsc(const struct insn *in)
{
	return in->encoding == E_LEGACY && in->map == 1 && in->opcode == 0x31;
}

/* Is its memory operand relative to RIP? */
static inline bool insn_rip_relative(const struct insn *in)
{
	return in->modrm_at && (in->modrm & 0xc7) == 5;
}

static inline bool insn_has_memory(const struct insn *in)
{
	return in->modrm_at && in->modrm < 0xc0;
}

/* Does it have a rep, repe or repne prefix that makes it repeat? */
static inline bool insn_repeats(const struct insn *in)
{
	return (in->bits & R_STRING) && (in->prefix & (P_F2 | P_F3));
}

/* Number of memory operands that it reads, writes, or both. */
static inline uint8_t insn_accesses(const struct insn *in)
{
	return (uint8_t)(in->loads + in->stores - !!(in->bits & R_UPDATE));
}

/* Is it atomic: a lock prefix, or xchg with memory? */
static inline bool insn_atomic(const struct insn *in)
{
	return (in->prefix & P_LOCK) || (in->bits & R_LOCKED);
}

#endif
