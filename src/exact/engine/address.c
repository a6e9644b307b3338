/* SPDX-License-Identifier: MIT */
/* The address that an instruction is about to access, computed from the registers. */
#include <asm/prctl.h>
#include <asm/unistd.h>
#include "exact/engine/engine.h"

static uint64_t fs_base(void)
{
	uint64_t base = 0;

	sys(__NR_arch_prctl, ARCH_GET_FS, &base);
	return base;
}

static uint64_t segment(const struct thread *t, const struct insn *in)
{
	return in->prefix & P_FS ? fs_base() : in->prefix & P_GS ? t->user_gs : 0;
}

static uint64_t displacement(const struct insn *in, const uint8_t *s)
{
	int32_t d32;

	if (in->disp_size == 1)
		return (uint64_t)(int8_t)s[in->disp_at] << in->disp_shift;
	if (in->disp_size != 4)
		return 0;
	memcpy(&d32, s + in->disp_at, 4);
	return (uint64_t)(int64_t)d32;
}

/* bt, bts, btr and btc with a register: the bit may be far from the operand. */
static uint64_t bit_offset(const struct thread *t, const struct insn *in)
{
	unsigned reg = (in->modrm >> 3 & 7) | (in->rex & 4) << 1;
	int64_t bit = (int64_t)t->regs[reg];

	if (in->map != 1 || (in->opcode & 0xe7) != 0xa3)
		return 0;
	if (in->rex & 8)
		return (uint64_t)(bit >> 6) * 8;
	if (in->prefix & P_66)
		return (uint64_t)(int64_t)((int16_t)bit >> 4) * 2;
	return (uint64_t)(int64_t)((int32_t)bit >> 5) * 4;
}

static bool is_vector_sib(const struct insn *in)
{
	return in->encoding != E_LEGACY && in->map == 2 &&
		((in->opcode >= 0x90 && in->opcode <= 0x93) ||
		 (in->opcode >= 0xa0 && in->opcode <= 0xa3) || in->opcode == 0xc6 ||
		 in->opcode == 0xc7);
}

/* The operand of ModRM. `popped`: uses the value of rsp after the pop. */
static bool modrm_address(const struct thread *t, const struct insn *in, uint64_t pc,
			  uint64_t popped, uint64_t *out)
{
	const uint8_t *s = (const uint8_t *)pc;
	uint64_t a = displacement(in, s);
	unsigned rm = in->modrm & 7;

	if (is_vector_sib(in) || (in->disp_size == 1 && in->disp_shift == S_UNKNOWN))
		return false;
	if (insn_rip_relative(in)) {
		a += pc + in->len;
	} else if (rm == 4) {
		uint8_t sib = s[in->modrm_at + 1];
		unsigned index = (sib >> 3 & 7) | (in->rex & 2) << 2,
			 base = (sib & 7) | (in->rex & 1) << 3;

		if ((base & 7) != 5 || in->modrm >> 6)
			a += t->regs[base] + (base == RSP ? popped : 0);
		if (index != RSP)
			a += t->regs[index] << (sib >> 6);
	} else {
		a += t->regs[rm | (in->rex & 1) << 3];
	}
	a += bit_offset(t, in);
	*out = (in->prefix & P_67 ? (uint32_t)a : a) + segment(t, in);
	return true;
}

/* Does a mask select the bytes that are accessed? Which ones is not known here. */
static bool is_masked(const struct insn *in, uint64_t pc)
{
	if (in->encoding == E_EVEX)
		return ((const uint8_t *)pc)[in->opcode_at - 1] & 7; /* aaa */
	if (in->encoding == E_VEX)
		return (in->map == 2 &&
			((in->opcode >= 0x2c && in->opcode <= 0x2f) || in->opcode == 0x8c ||
			 in->opcode == 0x8e)) ||
			(in->map == 1 && in->opcode == 0xf7); /* vmaskmov, vpmaskmov, vmaskmovdqu */
	return in->encoding == E_LEGACY && in->map == 1 &&
		in->opcode == 0xf7; /* maskmovq, maskmovdqu */
}

/* Is it a repeated instruction with a count of 0? */
static bool is_empty(const struct thread *t, const struct insn *in)
{
	return insn_repeats(in) && !(in->prefix & P_67 ? (uint32_t)t->regs[RCX] : t->regs[RCX]);
}

/* rsi and rdi of string instructions. */
static bool string_address(const struct thread *t, const struct insn *in, bool load, unsigned which,
			   uint64_t *out)
{
	unsigned op = in->opcode & 0xfe;
	bool by_rsi = load && which == 0 && op != 0xae;
	uint64_t a = t->regs[by_rsi ? RSI : RDI];

	*out = (in->prefix & P_67 ? (uint32_t)a : a) + (by_rsi ? segment(t, in) : 0);
	return true;
}

static bool pushes(const struct insn *in)
{
	unsigned reg = in->modrm >> 3 & 7;

	if (in->kind == K_CALL || in->kind == K_CALL_IND)
		return true;
	if (in->encoding != E_LEGACY)
		return false;
	if (in->map == 1)
		return in->opcode == 0xa0 || in->opcode == 0xa8; /* fs, gs */
	return in->map == 0 &&
		((in->opcode & 0xf8) == 0x50 || in->opcode == 0x68 || in->opcode == 0x6a ||
		 in->opcode == 0x9c || (in->opcode == 0xff && reg == 6));
}

static bool pops(const struct insn *in)
{
	if (in->kind == K_RET)
		return true;
	if (in->encoding != E_LEGACY)
		return false;
	if (in->map == 1)
		return in->opcode == 0xa1 || in->opcode == 0xa9;
	return in->map == 0 &&
		((in->opcode & 0xf8) == 0x58 || in->opcode == 0x9d || in->opcode == 0x8f);
}

static unsigned stack_size(const struct insn *in)
{
	return in->kind == K_PLAIN && (in->prefix & P_66) && !(in->rex & 8) ? 2 : 8;
}

/* Operands that are not in ModRM. */
static bool implied_address(const struct thread *t, const struct insn *in, uint64_t *out)
{
	uint64_t a;

	if (in->encoding != E_LEGACY || in->map != 0)
		return false;
	switch (in->opcode) {
	case 0xc9: /* leave */
		*out = t->regs[RBP];
		return true;
	case 0xd7: /* xlat */
		a = t->regs[RBX] + (uint8_t)t->regs[RAX];
		*out = (in->prefix & P_67 ? (uint32_t)a : a) + segment(t, in);
		return true;
	case 0xa0:
	case 0xa1:
	case 0xa2:
	case 0xa3:
		*out = (uint64_t)in->imm + segment(t, in);
		return true;
	default:
		return false;
	}
}

/* Address of its `which`-th load or store, from 0; false: unknown. */
static bool address_of(const struct thread *t, const struct insn *in, uint64_t pc, bool load,
		       unsigned which, uint64_t *out)
{
	if (in->bits & R_STRING)
		return string_address(t, in, load, which, out);
	if (which || is_masked(in, pc))
		return false;
	if (!load && pushes(in)) {
		*out = t->regs[RSP] - stack_size(in);
		return true;
	}
	if (load && pops(in)) {
		*out = t->regs[RSP];
		return true;
	}
	if (insn_has_memory(in))
		return modrm_address(t, in, pc, pops(in) ? stack_size(in) : 0, out);
	return implied_address(t, in, out);
}

/*
 * The `which`-th operand of the class (loads, stores, accesses), from 0: SAMPLE_* flags of the
 * access, and its address if SAMPLE_HAS_ADDRESS is set. 0: no such operand, or a repeat count of 0.
 * For accesses, operands that are read come first.
 */
uint32_t access_of(const struct thread *t, const struct insn *in, uint64_t pc,
		   enum exact_class class, unsigned which, uint64_t *out)
{
	bool update = in->bits & R_UPDATE,
	     load = class == EXACT_LOADS || (class == EXACT_ACCESSES && which < in->loads);
	uint32_t what = load ? SAMPLE_READS : SAMPLE_WRITES;

	if ((class != EXACT_LOADS && class != EXACT_STORES && class != EXACT_ACCESSES) ||
	    is_empty(t, in))
		return 0;
	if (class == EXACT_ACCESSES && !load)
		which += update - in->loads;
	if (which >= (load ? in->loads : in->stores))
		return 0;
	if (update && which + 1 == (load ? in->loads : in->stores))
		what = SAMPLE_READS | SAMPLE_WRITES;
	if (in->bits & R_PREFETCH)
		what = SAMPLE_PREFETCHES;
	if (insn_atomic(in))
		what |= SAMPLE_LOCKED;
	return what | (address_of(t, in, pc, load, which, out) ? SAMPLE_HAS_ADDRESS : 0);
}
