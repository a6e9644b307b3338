/* SPDX-License-Identifier: MIT */
/*
 * Converts a few instructions, or a C statement, to the source text of a test. No side effects:
 * text -> text.
 */
#ifndef BENCH_BENCH_SNIPPET_H
#define BENCH_BENCH_SNIPPET_H

#include <stdbool.h>
#include <stdint.h>
#include "base/error.h"
#include "base/text.h"

struct bench_snippet {
	const char *code;   /* one copy: instructions separated by ';' or newlines */
	const char *init;   /* executed before start(); NULL: nothing */
	bool att;           /* AT&T syntax, on x86 */
	uint32_t unroll;    /* number of copies */
	uint32_t loop;      /* repetitions of all copies; 0: no loop */
	bool bare_baseline; /* without the loop in the baseline */
	unsigned vector; /* width of the vector registers in bytes: 16, 32, 64 (x86); 16 (arm64) */
	/* each copy writes to another register than the one before: bench_snippet_turns() */
	bool in_turn;
};

enum { BENCH_TURNS = 8 };

/* Is it AT&T syntax: do register names have a '%'? */
bool bench_snippet_is_att(const char *code);

/*
 * Is it a single instruction with a written register that other registers can replace, copy by
 * copy? It must have at least two operands; the written one must not be part of an address; and
 * nothing else (a flag, a second register, memory) may make a copy depend on the one before. Only
 * for instructions that are known to qualify. `names` (may be NULL): the registers, "rax, r8, r9".
 */
bool bench_snippet_turns(const struct bench_snippet *s, struct text *names);

/* Do code and init not use the register that counts the rounds? */
bool bench_snippet_may_loop(const struct bench_snippet *s);

/* The width of this CPU's vector registers, as enabled by the operating system. */
unsigned bench_vector_bytes(void);

/*
 * bench_registers.c: instructions that initialise the registers: 1.0 in each element of each vector
 * register (of single or half precision if the code has only such instructions), x87 st0 to st3
 * (mm0 to mm7 if named), ones in mask registers, 1 in general registers, 0 in rdx. Part of
 * bench_snippet_assembly().
 */
void bench_snippet_registers(struct text *out, const struct bench_snippet *s);

/* An assembler source file, .S. */
void bench_snippet_assembly(struct text *out, const struct bench_snippet *s);

/*
 * The same for C; `before` (declarations, #include) is placed outside of the function. Without a
 * ';' it is an expression, and its value is kept. hide(x) makes the compiler forget the value of x,
 * keep(x) makes it compute x.
 */
void bench_snippet_c(struct text *out, const struct bench_snippet *s, const char *before);

#endif
