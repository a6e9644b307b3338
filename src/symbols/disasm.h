/* SPDX-License-Identifier: MIT */
/* Disassembly by Capstone, which is loaded on first use. */
#ifndef SYMBOLS_DISASM_H
#define SYMBOLS_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct disasm;

enum { DISASM_TEXT = 200, DISASM_BYTES = 16 };

struct disasm_insn {
	uint8_t size;           /* in bytes; at least 1 */
	char text[DISASM_TEXT]; /* "" if it is not a known instruction */
	uint64_t target;        /* target of a direct branch or call; 0: none */
};

/*
 * For ELF machines EM_X86_64, EM_386, EM_AARCH64. -ENOENT if Capstone is missing, -ENOTSUP for
 * other machines.
 */
int disasm_open(struct disasm **out, uint16_t machine, bool intel_syntax, struct tare_error *err);
/* The instruction in n bytes at `address`. */
void disasm_next(struct disasm *d, const uint8_t *bytes, size_t n, uint64_t address,
		 struct disasm_insn *out);
void disasm_close(struct disasm *d);

/* ---- effects of an instruction on values; x86-64 only ---- */

enum effect_kind {
	EFFECT_PLAIN,
	EFFECT_SYSCALL,
	EFFECT_TICKS,      /* rdtsc, rdtscp, rdpmc */
	EFFECT_CPUID,      /* and xgetbv: the processor's state */
	EFFECT_CPU_NUMBER, /* rdpid */
	EFFECT_RANDOM,     /* rdrand, rdseed */
	EFFECT_JUMP,       /* any branch, call or return */
};

/* Bits of general registers: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15. */
enum { EFFECT_RAX = 1, EFFECT_FLAGS = 1 << 16, EFFECT_NO_REGISTER = 255 };

struct effect_memory {
	uint8_t base, index, scale; /* register numbers, or EFFECT_NO_REGISTER */
	bool fs;                    /* relative to the thread pointer */
	bool read, write;
	bool repeated;  /* repeated rcx times, forwards */
	int64_t offset; /* added to base and index; the whole address without them */
	uint16_t size;
};

struct disasm_effects {
	enum effect_kind kind;
	uint8_t size; /* 0: not known */
	bool moves;   /* mov: exactly the value read */
	bool swaps;   /* xchg: swaps both values */
	/* has other effects that are not listed: on x87, MMX or mask registers; or is unknown */
	bool in_part;
	uint32_t reads, writes;         /* registers and EFFECT_FLAGS */
	uint32_t vec_reads, vec_writes; /* xmm0 to xmm31, by number */
	uint8_t n_memory;
	struct effect_memory memory[2];
};

/* Decodes the instruction in n bytes at `address`. False if it is not known. */
bool disasm_effects(struct disasm *d, const uint8_t *bytes, size_t n, uint64_t address,
		    struct disasm_effects *out);

/* ---- how many bytes it accesses ---- */

struct access_width {
	uint16_t bytes; /* bytes of its memory operand; 0: none, or not known */
	/* a string instruction: of one repetition; hardware may do several at once */
	bool repeats;
};

/*
 * Decodes the instruction in n bytes at `address`; bytes that a mask excludes count, too. 0 if not
 * known, as for gathers, arm64's scalable vectors and its memory copy instructions.
 */
struct access_width disasm_width(struct disasm *d, const uint8_t *bytes, size_t n,
				 uint64_t address);
/* arm64's, from its encoding alone. Source: Arm ARM (DDI 0487), C4.1.94, "Loads and Stores". */
unsigned arm64_width(uint32_t insn);

#endif
