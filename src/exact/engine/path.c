/* SPDX-License-Identifier: MIT */
/*
 * The way that a thread went, as one number: a polynomial over its branches, in which each straight run of code up to
 * and with a branch, or what else may go on elsewhere, is the sum of its instructions. It comes out the same however
 * the run was divided into blocks, by samples, signals or faults, so that two runs of a program can be compared:
 *
 *	path += of(pc)  of each instruction;  path *= 9  behind a branch
 *
 * 9 is odd, so nothing that came in is ever lost, and one lea does it, without flags.
 *
 *	mov gs:[scratch], rcx ; mov rcx, gs:[path] ; lea rcx, [rcx + rcx * 8 + 9 * sum] ; mov gs:[path], rcx ; mov rcx, gs:[scratch]
 */
#include "exact/engine/emit.h"

enum { OF_BITS = 21 };

/* What a block adds is a displacement, which must not become negative. */
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

/* The last that was added; of instructions that are no branches in any order. */
void path_take_back(struct thread *t, const struct insn *in, uint64_t pc)
{
	if (in->kind != K_PLAIN)
		t->path *= INVERSE_OF_9;
	t->path -= of(pc);
}
