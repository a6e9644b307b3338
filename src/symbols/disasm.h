/* SPDX-License-Identifier: MIT */
/* Instructions as text, by Capstone, which is opened when first needed. */
#ifndef SYMBOLS_DISASM_H
#define SYMBOLS_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct disasm;

enum { DISASM_TEXT = 200, DISASM_BYTES = 16 };

struct disasm_insn {
	uint8_t size;	   /* in bytes; at least 1 */
	char text[DISASM_TEXT]; /* "" for what is no instruction that it knows */
	uint64_t target;   /* of a direct branch or call; 0: none */
};

/* For ELF machines EM_X86_64, EM_386, EM_AARCH64. -ENOENT when Capstone is not there, -ENOTSUP for
 * other machines. */
int disasm_open(struct disasm **out, uint16_t machine, bool intel_syntax, struct tare_error *err);
/* The instruction in n bytes at `address`. */
void disasm_next(struct disasm *d, const uint8_t *bytes, size_t n, uint64_t address,
		 struct disasm_insn *out);
void disasm_close(struct disasm *d);

/* ---- what an instruction does to values; x86-64 only ---- */

enum effect_kind {
	EFFECT_PLAIN,
	EFFECT_SYSCALL,
	EFFECT_TICKS,  /* rdtsc, rdtscp, rdpmc */
	EFFECT_CPUID,  /* and xgetbv, rdpid: what the processor says of itself */
	EFFECT_RANDOM, /* rdrand, rdseed */
	EFFECT_JUMP,   /* any branch, call or return */
};

/* Bits of general registers: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15. */
enum { EFFECT_RAX = 1, EFFECT_FLAGS = 1 << 16, EFFECT_NO_REGISTER = 255 };

struct effect_memory {
	uint8_t base, index, scale; /* numbers of registers, or EFFECT_NO_REGISTER */
	bool fs;		    /* relative to a thread's own memory */
	bool read, write;
	bool repeated; /* rcx times: as many as are left, forwards */
	int64_t offset; /* of base and index; whole where there are none */
	uint16_t size;
};

struct disasm_effects {
	enum effect_kind kind;
	uint8_t size; /* 0: not known */
	bool moves;   /* mov: what was read, and no more */
	bool swaps;   /* xchg: each becomes the other, as it was */
	bool in_part; /* it also does what is not told here: to registers of x87, MMX, masks; or nothing is known of it */
	uint32_t reads, writes;		/* registers and EFFECT_FLAGS */
	uint32_t vec_reads, vec_writes; /* xmm0 to xmm31, by number */
	uint8_t n_memory;
	struct effect_memory memory[2];
};

/* Of the instruction in n bytes at `address`. False when it is not known. */
bool disasm_effects(struct disasm *d, const uint8_t *bytes, size_t n, uint64_t address, struct disasm_effects *out);

/* ---- how many bytes it accesses ---- */

struct access_width {
	uint16_t bytes; /* of its operand in memory; 0: none, or not known */
	bool repeats;	/* a string instruction: of one repetition; hardware may do several at once */
};

/*
 * Of the instruction in n bytes at `address`: what masks leave out counts, too. 0 where it is not known, as of gathers, arm64's
 * vectors of unknown length and its copies of memory.
 */
struct access_width disasm_width(struct disasm *d, const uint8_t *bytes, size_t n, uint64_t address);
/* arm64's, from its encoding alone. Source: Arm ARM (DDI 0487), C4.1.94, "Loads and Stores". */
unsigned arm64_width(uint32_t insn);

#endif
