/* SPDX-License-Identifier: MIT */
/*
 * A hash of a thread's control-flow path: a polynomial over its branches. The coefficient of each
 * straight run of code, up to and including a branch or another instruction that may continue
 * elsewhere, is the sum over its instructions. The hash does not depend on how samples, signals or
 * faults divided the run into blocks, so two runs of a program can be compared:
 *
 *	path += of(pc)  for each instruction;  path *= 9  after a branch
 *
 */
#include "exact/engine/emit.h"

enum { OF_BITS = 21 };

/* A block adds a displacement, which must not become negative. */
_Static_assert(9ull * BLOCK_INSNS << OF_BITS <= 0x7fffffff, "the sum of a block fits");

#define INVERSE_OF_9 0x8e38e38e38e38e39ull /* modulo 2^64 */

/* Source: Knuth, The Art of Computer Programming, vol. 3, 6.4, multiplicative hashing. */
static uint64_t of(uint64_t pc)
{
	return pc * 0x9e3779b97f4a7c15ull >> (64 - OF_BITS);
}

uint8_t *emit_path(uint8_t *p, const struct insn *insns, const uint64_t *pcs, unsigned n)
{
	bool branch = insns[n - 1].kind != K_PLAIN;
	uint64_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += of(pcs[i]);
	p = gs_store(p, RCX, T_SCRATCH);
	p = gs_load(p, RCX, T_PATH);
	if (branch)
		PUT(p, 0x48, 0x8d, 0x8c, 0xc9); /* lea rcx, [rcx + rcx * 8 + ...] */
	else
		PUT(p, 0x48, 0x8d, 0x89); /* lea rcx, [rcx + ...] */
	p = put32(p, (uint32_t)(branch ? 9 * sum : sum));
	p = gs_store(p, RCX, T_PATH);
	return gs_load(p, RCX, T_SCRATCH);
}

void path_add(struct thread *t, const struct insn *in, uint64_t pc)
{
	t->path += of(pc);
	if (in->kind != K_PLAIN)
		t->path *= 9;
}

/* Undo the last instruction added; instructions other than branches can be undone in any order. */
void path_take_back(struct thread *t, const struct insn *in, uint64_t pc)
{
	if (in->kind != K_PLAIN)
		t->path *= INVERSE_OF_9;
	t->path -= of(pc);
}
