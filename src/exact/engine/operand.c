/* SPDX-License-Identifier: MIT */
/*
 * Copies an instruction so that its memory operand has the same address, regardless of where the
 * copy is.
 */
#include "exact/engine/emit.h"

/* Address of a RIP-relative operand. */
uint64_t operand_address(const struct insn *in, uint64_t pc)
{
	int32_t d;

	__builtin_memcpy(&d, (const uint8_t *)pc + in->disp_at, 4);
	pc += in->len + (uint64_t)(int64_t)d;
	return in->prefix & P_67 ? (uint32_t)pc : pc;
}

/*
 * A register that the instruction does not use and that can be a plain base: one of r8-r15, but one
 * of the first eight if there is no REX, since with REX, ah to bh would be other registers. No
 * instruction with a ModRM memory operand uses rsi or rdi implicitly.
 */
static unsigned free_register(const struct insn *in, const uint8_t *s)
{
	static const uint8_t usable[] = { 8, 9, 10, 11, 14, 15 };
	unsigned reg = (in->modrm >> 3 & 7) | (in->rex & 4) << 1, v = 16;

	if (in->encoding == E_LEGACY && !in->rex)
		return reg == RDI ? RSI : RDI;
	if (in->encoding != E_LEGACY)
		v = ~(s[in->opcode_at - (in->encoding == E_EVEX ? 2 : 1)] >> 3) & 15;
	for (unsigned i = 0; i < sizeof usable; i++)
		if (usable[i] != reg && usable[i] != v)
			return usable[i];
	return 8;
}

/*
 * The instruction with [r] in place of its RIP-relative operand: ModRM without displacement, and
 * the bit that extends the base set in REX, VEX, XOP or EVEX.
 */
static uint8_t *emit_with_base(uint8_t *p, const struct insn *in, const uint8_t *s, unsigned r)
{
	unsigned at = 0, escape = in->map == 0 ? 0 : in->map == 1 ? 1 : 2;

	/* A REX followed by another prefix has no effect: the effective one is emitted last. */
	for (; in->encoding != E_LEGACY || at < in->opcode_at - escape; at++) {
		uint8_t b = s[at];

		if (in->encoding != E_LEGACY && (b == 0xc4 || b == 0xc5 || b == 0x62 || b == 0x8f))
			break;
		if (b != 0x67 && (b & 0xf0) != 0x40)
			*p++ = b;
	}
	if (in->encoding == E_LEGACY) {
		if (r & 8)
			*p++ = (uint8_t)(0x40 | (in->rex & 0xc) | 1);
	} else if (s[at] == 0xc5) { /* the short form cannot encode it */
		*p++ = 0xc4;
		*p++ = (uint8_t)((s[at + 1] & 0x80) | 0x41);
		*p++ = s[at + 1] & 0x7f;
		at += 2;
	} else {
		*p++ = s[at];
		*p++ = (uint8_t)((s[at + 1] | 0x40) & ~0x20);
		at += 2;
	}
	p = put_bytes(p, s + at, in->modrm_at - at);
	*p++ = (uint8_t)((in->modrm & 0x38) | (r & 7));
	return put_bytes(p, s + in->disp_at + 4, in->len - in->disp_at - 4u);
}

/* Copy a plain instruction; its RIP-relative operand keeps its address. */
uint8_t *emit_relative(uint8_t *p, const struct insn *in, uint64_t pc, uint8_t *displaced)
{
	const uint8_t *s = (const uint8_t *)pc;
	uint8_t *start = p;
	int64_t d;
	unsigned r;

	d = (int64_t)(operand_address(in, pc) - runs_at(p + in->len));
	if (d == (int32_t)d && !(in->prefix & P_67)) {
		p = put_bytes(p, s, in->len);
		put32(start + in->disp_at, (uint32_t)d);
		return p;
	}
	r = free_register(in, s);
	*displaced = (uint8_t)(DISPLACED | r);
	p = gs_store(p, r, T_SCRATCH);
	*p++ = (uint8_t)(0x48 | r >> 3);
	*p++ = (uint8_t)(0xb8 | (r & 7));
	p = put64(p, operand_address(in, pc));
	p = emit_with_base(p, in, s, r);
	return gs_load(p, r, T_SCRATCH);
}

/* mov rcx, [operand of an indirect jump or call]; register or memory form. */
uint8_t *load_target(uint8_t *p, const struct insn *in, uint64_t pc)
{
	const uint8_t *s = (const uint8_t *)pc;
	unsigned rest = in->len - in->modrm_at - 1u;

	if (insn_rip_relative(in) && !(in->prefix & P_FS)) {
		uint64_t address = operand_address(in, pc);
		int64_t d = (int64_t)(address - runs_at(p + 7));

		if (d != (int32_t)d) {
			PUT(p, 0x48, 0xb9); /* movabs rcx, address */
			p = put64(p, address);
			PUT(p, 0x48, 0x8b, 0x09);
			return p;
		}
		PUT(p, 0x48, 0x8b, 0x0d);
		return put32(p, (uint32_t)d);
	}
	if (in->prefix & P_FS)
		*p++ = 0x64;
	if (in->prefix & P_67)
		*p++ = 0x67;
	*p++ = (uint8_t)(0x48 | (in->rex & 3));
	*p++ = 0x8b;
	*p++ = (uint8_t)((in->modrm & 0xc7) | RCX << 3);
	if (insn_rip_relative(in))
		refuse("a jump through FS relative to RIP at", pc);
	return put_bytes(p, s + in->modrm_at + 1, rest);
}
