/* SPDX-License-Identifier: MIT */
/* For tests: two runs of a few instructions, given as bytes, with registers that differ from
 * some step on. */
#ifndef DIVERGE_DIVERGENCE_MADE_H
#define DIVERGE_DIVERGENCE_MADE_H

#include <string.h>
#include "diverge/divergence_cause.h"

enum { AX, CX, DX, BX, SP, BP, SI, DI };
enum { CODE = 0x1000, STEPS_MOST = 8, STACK = 0x7000 };

struct way {
	int line;
	const char *code
		[STEPS_MOST]; /* each instruction's bytes in hexadecimal; the last is the branch */
	/* The register differs from step `from` on; -1: no difference. rax is the call's number
	 * before a syscall. */
	struct {
		int reg, from;
	} differ[3];
	uint64_t rax;
	enum cause_kind kind;
	int step;
	uint64_t address;
	int hops_most;
};

struct code {
	uint8_t bytes[128];
	size_t n;
};

static size_t code_at(void *with, uint64_t pc, void *to, size_t n)
{
	const struct code *c = with;
	size_t at = pc - CODE, some = at < c->n ? c->n - at : 0;

	if (some > n)
		some = n;
	memcpy(to, c->bytes + at, some);
	return some;
}

static unsigned nibble(char c)
{
	return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a' + 10);
}

/* Fills in the steps of both runs; returns how many. */
static size_t lay_out(const struct way *w, struct code *code, struct diverge_step a[STEPS_MOST],
		      struct diverge_step b[STEPS_MOST])
{
	size_t n = 0;

	for (; n < STEPS_MOST && w->code[n]; n++) {
		a[n] = (struct diverge_step){ .pc = CODE + code->n,
					      .regs = { [AX] = w->rax,
							[CX] = 4,
							[SP] = STACK,
							[SI] = 0x5000,
							[DX] = 8,
							[DI] = 0x4000 } };
		for (const char *p = w->code[n]; *p; p += 2)
			code->bytes[code->n++] = (uint8_t)(nibble(p[0]) << 4 | nibble(p[1]));
		if (n && !strcmp(w->code[n - 1], "50"))
			a[n].regs[SP] -= 8;
		b[n] = a[n];
		for (size_t i = 0; i < ARRAY_SIZE(w->differ); i++)
			if (w->differ[i].reg >= 0 && (w->differ[i].reg || w->differ[i].from) &&
			    (int)n >= w->differ[i].from)
				b[n].regs[w->differ[i].reg] += 77;
	}
	return n;
}

#endif
