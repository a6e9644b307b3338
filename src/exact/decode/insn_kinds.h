/* SPDX-License-Identifier: MIT */
/* Constants shared by the decoder's table and its users: kinds, immediates, flags, rows. */
#ifndef EXACT_DECODE_INSN_KINDS_H
#define EXACT_DECODE_INSN_KINDS_H

#include <stdint.h>
#include "exact/decode/isa_features.h"

/* Effect on control flow. Only PLAIN instructions are copied unchanged. */
enum insn_kind {
	K_INVALID, /* not in the table; the processor may know it */
	K_PLAIN,
	K_JCC,     /* jump on flags, relative */
	K_LOOP,    /* jrcxz, jecxz, loop, loope, loopne */
	K_JMP,     /* relative */
	K_JMP_IND, /* through a register or memory */
	K_CALL,
	K_CALL_IND,
	K_RET,
	K_SYSCALL,
	K_XBEGIN,
	K_GS,      /* reads or writes the gs base or selector */
	K_REFUSED, /* far transfers, int n, int1, sysenter: no x86-64 Linux program needs them */
};

/* Bytes of immediate or displacement-like data after ModRM. */
enum insn_imm {
	I_NONE,
	I_8,
	I_16,
	I_24, /* enter: imm16, imm8 */
	I_Z,  /* 4; 2 with operand size 66 */
	I_V,  /* as I_Z; 8 with REX.W */
	I_A,  /* moffs: 8; 4 with address size 67 */
};

/* The six arithmetic flags, packed. */
enum {
	F_CF = 1,
	F_PF = 2,
	F_AF = 4,
	F_ZF = 8,
	F_SF = 16,
	F_OF = 32,
	F_ALL = 63,
};

/* The widest vector register among the visible operands. */
enum insn_vec {
	V_NONE,
	V_128,
	V_256,
	V_512,
	V_BY_LENGTH, /* given by VEX.L or EVEX.L'L */
	/* half of that, at least 128 bits: conversions from memory to narrower elements */
	V_BY_HALF,
};

enum insn_row_bits {
	R_MODRM = 1,
	R_X87 = 2,
	R_LOCKED = 4,  /* xchg with memory: atomic without a prefix */
	R_STRING = 8,  /* rep makes it repeat */
	R_MMX = 16,    /* names an mmx register */
	R_UPDATE = 32, /* reads and writes the same operand */
	R_PREFETCH = 64,
	/* may need emulation, or may be the engine's own: the engine checks further */
	R_SPECIAL = 128,
};

/*
 * Powers of 2: of the shortest vector's operand; whether it doubles for each longer vector; of one
 * element, if broadcast.
 */
enum {
	S_LEAST = 7, /* 7: unknown */
	S_DOUBLES = 8,
	S_ELEMENT = 48,
	S_ELEMENT_AT = 4,
	S_UNKNOWN = 7,
};

struct insn_row {
	uint8_t kind, imm;
	uint8_t reads, writes; /* flags; `writes`: only those always set to a defined value */
	uint8_t loads, stores; /* memory operands read and written */
	uint8_t vec, bits;
	uint8_t scale; /* EVEX: the unit of an 8-bit displacement, S_* */
	uint8_t isa;   /* enum isa_feature: the extension that it belongs to */
};

#endif
