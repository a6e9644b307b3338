/* SPDX-License-Identifier: MIT */
/*
 * What one execution of an instruction adds to each class. Used by the engine and by code that
 * splits its counts.
 */
#ifndef EXACT_ADDS_H
#define EXACT_ADDS_H

#include "exact/classes.h"
#include "exact/decode/decode.h"

/*
 * For an instruction that retires (not insn_umip() where the kernel emulates it). TAKEN: assumes
 * that a conditional branch is taken.
 */
static inline void insn_adds(uint8_t adds[EXACT_CLASSES], const struct insn *in)
{
	static const uint8_t vectors[] = {
		[V_128] = EXACT_VEC128, [V_256] = EXACT_VEC256, [V_512] = EXACT_VEC512
	};

	adds[EXACT_INSTRUCTIONS]++;
	if (in->loads | in->stores) {
		adds[EXACT_LOADS] += in->loads;
		adds[EXACT_STORES] += in->stores;
		adds[EXACT_ACCESSES] += insn_accesses(in);
	}
	if (in->prefix | (in->bits & (R_LOCKED | R_X87 | R_MMX))) {
		adds[EXACT_ATOMICS] += insn_atomic(in);
		adds[EXACT_REP] += insn_repeats(in);
		adds[EXACT_X87] += !!(in->bits & R_X87);
		adds[EXACT_MMX] += !!(in->bits & R_MMX);
	}
	if (in->vec)
		adds[vectors[in->vec]]++;
	if (in->kind == K_PLAIN)
		return;
	switch (in->kind) {
	case K_JCC:
	case K_LOOP:
		/* Counted as taken; the counter of its fall-through subtracts. */
		adds[EXACT_BRANCHES]++;
		adds[EXACT_CONDITIONAL]++;
		adds[EXACT_TAKEN]++;
		break;
	case K_CALL_IND:
	case K_CALL:
		adds[EXACT_CALLS]++;
		adds[EXACT_INDIRECT] += in->kind == K_CALL_IND;
		adds[EXACT_BRANCHES]++;
		adds[EXACT_TAKEN]++;
		break;
	case K_JMP:
	case K_JMP_IND:
		adds[EXACT_INDIRECT] += in->kind == K_JMP_IND;
		adds[EXACT_BRANCHES]++;
		adds[EXACT_TAKEN]++;
		break;
	case K_RET:
		adds[EXACT_RETURNS]++;
		adds[EXACT_BRANCHES]++;
		adds[EXACT_TAKEN]++;
		break;
	case K_SYSCALL:
		adds[EXACT_SYSCALLS]++;
		break;
	default:
		break;
	}
}

#endif
