/* SPDX-License-Identifier: MIT */
/* See classify.h. */
#include "classify.h"

#include <Zydis/Zydis.h>

const char *const class_names[C_COUNT] = {
	[C_INSTRUCTIONS] = "instructions",
	[C_BRANCHES] = "branches",
	[C_CONDITIONAL] = "conditional-branches",
	[C_TAKEN] = "taken-branches",
	[C_CALLS] = "calls",
	[C_RETURNS] = "returns",
	[C_INDIRECT] = "indirect-branches",
	[C_LOADS] = "loads",
	[C_STORES] = "stores",
	[C_ATOMICS] = "atomics",
	[C_REP] = "rep",
	[C_SYSCALLS] = "syscalls",
	[C_X87] = "x87",
	[C_MMX] = "mmx",
	[C_VEC128] = "vector-128",
	[C_VEC256] = "vector-256",
	[C_VEC512] = "vector-512",
	[C_ACCESSES] = "accesses",
};

static const ZydisDecoder *decoder(void)
{
	static ZydisDecoder d;
	static bool ready;

	if (!ready) {
		ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
		ready = true;
	}
	return &d;
}

static void branches(struct insn *in, const ZydisDecodedInstruction *z,
		     const ZydisDecodedOperand *ops)
{
	bool indirect = z->operand_count_visible && ops[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE;

	switch (z->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		if (z->mnemonic == ZYDIS_MNEMONIC_XBEGIN)
			return;
		in->conditional = true;
		in->adds[C_CONDITIONAL] = 1;
		in->to_next = z->raw.imm[0].value.s == 0;
		break;
	case ZYDIS_CATEGORY_UNCOND_BR:
		if (z->mnemonic != ZYDIS_MNEMONIC_JMP)
			return;
		in->adds[C_INDIRECT] = indirect;
		break;
	case ZYDIS_CATEGORY_CALL:
		in->adds[C_CALLS] = 1;
		in->adds[C_INDIRECT] = indirect;
		break;
	case ZYDIS_CATEGORY_RET:
		if (z->mnemonic != ZYDIS_MNEMONIC_RET)
			return;
		in->adds[C_RETURNS] = 1;
		break;
	default:
		return;
	}
	in->adds[C_BRANCHES] = 1;
	in->adds[C_TAKEN] = !in->conditional;
}

static void operands(struct insn *in, const ZydisDecodedInstruction *z,
		     const ZydisDecodedOperand *ops)
{
	unsigned widest = 0;

	for (int i = 0; i < z->operand_count; i++) {
		const ZydisDecodedOperand *o = &ops[i];

		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    (o->mem.type == ZYDIS_MEMOP_TYPE_MEM || o->mem.type == ZYDIS_MEMOP_TYPE_VSIB) &&
		    z->mnemonic != ZYDIS_MNEMONIC_NOP) {
			in->adds[C_ACCESSES]++;
			in->adds[C_LOADS] += !!(o->actions & ZYDIS_OPERAND_ACTION_MASK_READ);
			in->adds[C_STORES] += !!(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE);
		}
		if (o->type != ZYDIS_OPERAND_TYPE_REGISTER || i >= z->operand_count_visible)
			continue;

		ZydisRegisterClass c = ZydisRegisterGetClass(o->reg.value);
		unsigned width = c == ZYDIS_REGCLASS_ZMM ? 512
			: c == ZYDIS_REGCLASS_YMM        ? 256
			: c == ZYDIS_REGCLASS_XMM        ? 128
							 : 0;

		if (width > widest)
			widest = width;
		if (c == ZYDIS_REGCLASS_MMX)
			in->adds[C_MMX] = 1;
	}
	in->adds[C_VEC128] = widest == 128;
	in->adds[C_VEC256] = widest == 256;
	in->adds[C_VEC512] = widest == 512;
	in->adds[C_X87] = z->meta.isa_ext == ZYDIS_ISA_EXT_X87;
}

struct insn classify(uint64_t at, const uint8_t *bytes, unsigned size)
{
	struct insn in = { .at = at };
	ZydisDecodedInstruction z;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder(), bytes, size, &z, ops)))
		return in;

	in.length = z.length;
	in.mnemonic = (uint16_t)z.mnemonic;
	in.adds[C_INSTRUCTIONS] = 1;
	branches(&in, &z, ops);
	operands(&in, &z, ops);

	bool locked = z.attributes & ZYDIS_ATTRIB_HAS_LOCK;

	if (z.mnemonic == ZYDIS_MNEMONIC_XCHG)
		locked = ops[0].type == ZYDIS_OPERAND_TYPE_MEMORY ||
			ops[1].type == ZYDIS_OPERAND_TYPE_MEMORY;
	in.adds[C_ATOMICS] = locked;

	in.rep_string = z.meta.category == ZYDIS_CATEGORY_STRINGOP &&
		(z.attributes &
		 (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE));
	in.adds[C_REP] = in.rep_string;
	in.umip = z.mnemonic == ZYDIS_MNEMONIC_SLDT || z.mnemonic == ZYDIS_MNEMONIC_STR ||
		z.mnemonic == ZYDIS_MNEMONIC_SGDT || z.mnemonic == ZYDIS_MNEMONIC_SIDT ||
		z.mnemonic == ZYDIS_MNEMONIC_SMSW;
	in.cpuid = z.mnemonic == ZYDIS_MNEMONIC_CPUID;
	in.trap = z.mnemonic == ZYDIS_MNEMONIC_INT3 || z.mnemonic == ZYDIS_MNEMONIC_INT;
	in.syscall = z.mnemonic == ZYDIS_MNEMONIC_SYSCALL ||
		(z.mnemonic == ZYDIS_MNEMONIC_INT && z.raw.imm[0].value.u == 0x80);
	in.adds[C_SYSCALLS] = in.syscall;
	in.straight = z.meta.branch_type == ZYDIS_BRANCH_TYPE_NONE && !in.syscall && !in.trap &&
		!in.rep_string && z.meta.category != ZYDIS_CATEGORY_SYSCALL &&
		z.meta.category != ZYDIS_CATEGORY_SYSRET &&
		z.meta.category != ZYDIS_CATEGORY_INTERRUPT;
	in.holds_traps = z.mnemonic == ZYDIS_MNEMONIC_MOV &&
		ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER && ops[0].reg.value == ZYDIS_REGISTER_SS;
	return in;
}

bool branch_holds(const struct insn *in, uint64_t rflags, uint64_t rcx)
{
	bool cf = rflags & 1, pf = rflags >> 2 & 1, zf = rflags >> 6 & 1, sf = rflags >> 7 & 1,
	     of = rflags >> 11 & 1;

	switch ((ZydisMnemonic)in->mnemonic) {
	case ZYDIS_MNEMONIC_JO:
		return of;
	case ZYDIS_MNEMONIC_JNO:
		return !of;
	case ZYDIS_MNEMONIC_JB:
		return cf;
	case ZYDIS_MNEMONIC_JNB:
		return !cf;
	case ZYDIS_MNEMONIC_JZ:
		return zf;
	case ZYDIS_MNEMONIC_JNZ:
		return !zf;
	case ZYDIS_MNEMONIC_JBE:
		return cf || zf;
	case ZYDIS_MNEMONIC_JNBE:
		return !cf && !zf;
	case ZYDIS_MNEMONIC_JS:
		return sf;
	case ZYDIS_MNEMONIC_JNS:
		return !sf;
	case ZYDIS_MNEMONIC_JP:
		return pf;
	case ZYDIS_MNEMONIC_JNP:
		return !pf;
	case ZYDIS_MNEMONIC_JL:
		return sf != of;
	case ZYDIS_MNEMONIC_JNL:
		return sf == of;
	case ZYDIS_MNEMONIC_JLE:
		return zf || sf != of;
	case ZYDIS_MNEMONIC_JNLE:
		return !zf && sf == of;
	case ZYDIS_MNEMONIC_JRCXZ:
		return rcx == 0;
	case ZYDIS_MNEMONIC_JECXZ:
		return (uint32_t)rcx == 0;
	case ZYDIS_MNEMONIC_LOOP:
		return rcx != 1;
	case ZYDIS_MNEMONIC_LOOPE:
		return rcx != 1 && zf;
	case ZYDIS_MNEMONIC_LOOPNE:
		return rcx != 1 && !zf;
	default:
		return true;
	}
}
