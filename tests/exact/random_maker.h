/* SPDX-License-Identifier: MIT */
/* Shared by the parts of the maker of random sequences. See random_make.c. */
#ifndef TESTS_EXACT_RANDOM_MAKER_H
#define TESTS_EXACT_RANDOM_MAKER_H

#include "random.h"

#include <stdbool.h>
#include <stdint.h>

#define ARITH 0x8d5u /* CF PF AF ZF SF OF */

enum { SCRATCH = DATA_AT + DATA_SIZE, COUNTERS = SCRATCH + 256, MAX_SEQUENCE = 16384 };

struct maker {
	uint64_t seed;
	uint8_t *code, *p, *start;  /* all code; current position; start of this sequence */
	unsigned undefined;         /* flags at the current position */
	unsigned keep;              /* general registers that must not be written: bit = number */
	int depth, counters, calls; /* calls: depth of subroutines */
	bool wide[3];               /* vector extensions of the CPU: SSE, AVX2, AVX-512 */
	bool in_rsp_play;
	bool no_gs; /* do not use GS */
};

/* random_maker.c: numbers, bytes, registers and addresses. `place`: an address in the data area. */
uint64_t next(struct maker *m);
unsigned below(struct maker *m, unsigned n);
bool chance(struct maker *m, unsigned percent);
void put(struct maker *m, unsigned n, const void *bytes);
void put1(struct maker *m, unsigned byte);
void put4(struct maker *m, uint64_t value);
uint64_t here(const struct maker *m);
void rel32(struct maker *m, uint64_t target);
void define_flags(struct maker *m);
unsigned free_register(struct maker *m);
void set_register(struct maker *m, unsigned r, uint32_t value);
void lea(struct maker *m, unsigned r, uint64_t target);
uint64_t place(struct maker *m);

#define PUT(m, ...) put(m, sizeof((uint8_t[]){ __VA_ARGS__ }), (uint8_t[]){ __VA_ARGS__ })

/* random_pick.c: the CPU's features; one instruction from random bytes. */
void pick_begin(struct maker *m, bool no_gs);
void any_instruction(struct maker *m);

/* random_flow.c: branches, loops and calls, which terminate by construction. */
void forward(struct maker *m);
void loop(struct maker *m);
void subroutine(struct maker *m);
void indirect(struct maker *m);
void middle(struct maker *m);

/*
 * random_shape.c: patterns that random bytes do not produce; `fault`: the flags that are defined at
 * the fault.
 */
void stack(struct maker *m);
void rsp_play(struct maker *m);
void system_call(struct maker *m);
void gather_scatter(struct maker *m);
void bit_string(struct maker *m);
void rounding(struct maker *m);
unsigned fault(struct maker *m);

/* random_make.c: some elements of a sequence; one element. */
void element(struct maker *m);
void elements(struct maker *m, unsigned most);

#endif
