/* SPDX-License-Identifier: MIT */
/* A few instructions, or a statement of C, as the source text of a test. Pure: text -> text. */
#ifndef BENCH_BENCH_SNIPPET_H
#define BENCH_BENCH_SNIPPET_H

#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "base/text.h"

struct bench_snippet {
	const char *code; /* of one copy: instructions by ';' or newlines */
	const char *init; /* before start(); NULL: nothing */
	bool att;	  /* AT&T syntax, on x86 */
	uint32_t unroll;  /* copies */
	uint32_t loop;	  /* rounds over the copies; 0: no loop */
	bool bare_baseline; /* no loop in the baseline */
	unsigned vector;  /* width of the vector registers in bytes: 16, 32, 64 (x86); 16 (arm64) */
	bool in_turn;	  /* each copy writes to another register than the one before: bench_snippet_turns() */
};

enum { BENCH_TURNS = 8 };

/* As it is written: registers have a '%' in AT&T syntax. */
bool bench_snippet_is_att(const char *code);

/*
 * Whether it is one instruction that writes to a register which other registers can stand for, copy by copy: at least two
 * operands, the one written a register that no address is made of, and nothing else (a flag, a second register, memory) by which a copy
 * would wait for the one before. Only what is known to be so: of general registers by the instruction's name. `names` (may be NULL): which, "rax, r8, r9".
 */
bool bench_snippet_turns(const struct bench_snippet *s, struct text *names);

/* Whether code and init leave the register alone that counts the rounds, by its name. */
bool bench_snippet_may_loop(const struct bench_snippet *s);

/* The width of this CPU's vector registers, as the system lets programs use them. */
unsigned bench_vector_bytes(void);

/*
 * bench_registers.c: instructions that put defined values into the registers: 1.0 into each element of each vector register (of single or
 * half precision where the code has only such instructions), x87 st0 to st3 (mm0 to mm7 where named), ones into mask registers, 1 into general
 * registers, 0 into rdx. Part of bench_snippet_assembly().
 */
void bench_snippet_registers(struct text *out, const struct bench_snippet *s);

/* A file for the assembler, .S. */
void bench_snippet_assembly(struct text *out, const struct bench_snippet *s);

/* The same for C; `before` (declarations, #include) stands outside of the function. Without a ';' it is an
 * expression, whose value is kept. hide(x) makes the compiler forget what it knows of x, keep(x) makes it work x out. */
void bench_snippet_c(struct text *out, const struct bench_snippet *s, const char *before);

#endif
