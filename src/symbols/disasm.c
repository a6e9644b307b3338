/* SPDX-License-Identifier: MIT */
/* See disasm.h. Source: capstone.h, x86.h, arm64.h of Capstone 4. */
#include <capstone/capstone.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include "symbols/disasm.h"
#include "base/library.h"
#include "exact/exact.h"

#define FUNCTIONS(F)                                                                               \
	F(cs_open)                                                                                 \
	F(cs_close) F(cs_option) F(cs_malloc) F(cs_free) F(cs_disasm_iter) F(cs_regs_access)

LIBRARY(lib, "libcapstone.so.4", FUNCTIONS)

struct disasm {
	csh handle;
	cs_insn *insn;
	uint16_t machine;
};

int disasm_open(struct disasm **out, uint16_t machine, bool intel_syntax, struct tare_error *err)
{
	struct disasm *d;
	cs_err why;

	*out = NULL;
	if (!lib_load()) {
		return library_missing(err, ENOENT, "libcapstone.so.4, which disassembles",
				       "install it (Debian: libcapstone4)");
	}
	if (machine != EM_X86_64 && machine != EM_386 && machine != EM_AARCH64)
		return tare_fail(err, ENOTSUP, "disassembly of ELF machine %u is not supported",
				 machine);
	d = calloc(1, sizeof(*d));
	if (!d)
		return tare_fail_nomem(err);
	d->machine = machine;
	why = machine == EM_AARCH64
		? lib.cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &d->handle)
		: lib.cs_open(CS_ARCH_X86, machine == EM_386 ? CS_MODE_32 : CS_MODE_64, &d->handle);
	if (why != CS_ERR_OK) {
		free(d);
		return tare_fail(err, ENOTSUP, "this Capstone does not know ELF machine %u",
				 machine);
	}
	lib.cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
	if (machine != EM_AARCH64 && !intel_syntax)
		lib.cs_option(d->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	d->insn = lib.cs_malloc(d->handle);
	if (!d->insn) {
		disasm_close(d);
		return tare_fail_nomem(err);
	}
	*out = d;
	return 0;
}

/* A direct branch has one operand, a number; on arm64 it is the last one. */
static uint64_t target_of(const struct disasm *d)
{
	const cs_detail *detail = d->insn->detail;
	bool branches = false;

	for (unsigned i = 0; i < detail->groups_count; i++)
		branches |= detail->groups[i] == CS_GRP_JUMP || detail->groups[i] == CS_GRP_CALL ||
			detail->groups[i] == CS_GRP_BRANCH_RELATIVE;
	if (d->machine == EM_AARCH64) {
		const cs_arm64 *a = &detail->arm64;

		branches |= d->insn->id == ARM64_INS_BL;
		if (branches && a->op_count && a->operands[a->op_count - 1].type == ARM64_OP_IMM)
			return (uint64_t)a->operands[a->op_count - 1].imm;
		return 0;
	}
	if (branches && detail->x86.op_count == 1 && detail->x86.operands[0].type == X86_OP_IMM)
		return (uint64_t)detail->x86.operands[0].imm;
	return 0;
}

void disasm_next(struct disasm *d, const uint8_t *bytes, size_t n, uint64_t address,
		 struct disasm_insn *out)
{
	const uint8_t *p = bytes;
	size_t left = n;
	uint8_t length;

	*out = (struct disasm_insn){ .size = 1 };
	if (lib.cs_disasm_iter(d->handle, &p, &left, &address, d->insn)) {
		out->size = (uint8_t)d->insn->size;
		snprintf(out->text, sizeof(out->text), "%s%s%s", d->insn->mnemonic,
			 d->insn->op_str[0] ? " " : "", d->insn->op_str);
		out->target = target_of(d);
		return;
	}
	/* Newer than Capstone's tables: its length may still be known. */
	if (d->machine == EM_AARCH64)
		out->size = n >= 4 ? 4 : 1;
	else if (d->machine == EM_X86_64)
		for (size_t k = 1; k <= 15 && k <= n; k++)
			if (exact_lengths(bytes, k, &length, 1) == 1) {
				out->size = (uint8_t)k;
				break;
			}
}

/* ---- effects ---- */

/* The number of a general register or a part of it, in the order of the encoding. */
static int general(x86_reg r)
{
	static const x86_reg rows[16][5] = {
		{ X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL, X86_REG_AH },
		{ X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL, X86_REG_CH },
		{ X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL, X86_REG_DH },
		{ X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL, X86_REG_BH },
		{ X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL },
		{ X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL },
		{ X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL },
		{ X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL },
		{ X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B },
		{ X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B },
		{ X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B },
		{ X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B },
		{ X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B },
		{ X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B },
		{ X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B },
		{ X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B },
	};

	for (int i = 0; r != X86_REG_INVALID && i < 16; i++)
		for (int k = 0; k < 5; k++)
			if (rows[i][k] == r)
				return i;
	return -1;
}

static int vector(x86_reg r)
{
	if (r >= X86_REG_XMM0 && r <= X86_REG_XMM31)
		return (int)(r - X86_REG_XMM0);
	if (r >= X86_REG_YMM0 && r <= X86_REG_YMM31)
		return (int)(r - X86_REG_YMM0);
	if (r >= X86_REG_ZMM0 && r <= X86_REG_ZMM31)
		return (int)(r - X86_REG_ZMM0);
	return -1;
}

static void add_register(x86_reg r, uint32_t *general_bits, uint32_t *vector_bits)
{
	int g = general(r), v = vector(r);

	if (g >= 0)
		*general_bits |= 1u << g;
	if (v >= 0)
		*vector_bits |= 1u << v;
	if (r == X86_REG_EFLAGS)
		*general_bits |= EFFECT_FLAGS;
}

static const struct {
	unsigned id;
	enum effect_kind kind;
} kinds[] = {
	{ X86_INS_SYSCALL, EFFECT_SYSCALL }, { X86_INS_RDTSC, EFFECT_TICKS },
	{ X86_INS_RDTSCP, EFFECT_TICKS },    { X86_INS_RDPMC, EFFECT_TICKS },
	{ X86_INS_CPUID, EFFECT_CPUID },     { X86_INS_XGETBV, EFFECT_CPUID },
	{ X86_INS_RDRAND, EFFECT_RANDOM },   { X86_INS_RDSEED, EFFECT_RANDOM },
	{ X86_INS_CALL, EFFECT_JUMP },       { X86_INS_RET, EFFECT_JUMP },
};

/* Capstone decodes it as rdseed. F3 0F C7 /7. Source: Intel SDM vol. 2B, "RDPID". */
static bool is_rdpid(const cs_insn *in, const uint8_t *bytes)
{
	return in->id == X86_INS_RDSEED && bytes[0] == 0xf3;
}

static enum effect_kind kind_of(const cs_insn *in, const uint8_t *bytes)
{
	if (is_rdpid(in, bytes))
		return EFFECT_CPU_NUMBER;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].id == in->id)
			return kinds[i].kind;
	for (unsigned i = 0; i < in->detail->groups_count; i++)
		if (in->detail->groups[i] == CS_GRP_JUMP)
			return EFFECT_JUMP;
	return EFFECT_PLAIN;
}

static void add_memory(struct disasm_effects *e, struct effect_memory m)
{
	if (e->n_memory < sizeof(e->memory) / sizeof(*e->memory) && (m.read || m.write))
		e->memory[e->n_memory++] = m;
}

static uint8_t number_or_none(x86_reg r)
{
	int g = general(r);

	return g < 0 ? EFFECT_NO_REGISTER : (uint8_t)g;
}

/* Explicit memory operands, and implicit ones on the stack. */
static void add_memories(struct disasm_effects *e, const cs_insn *in, uint64_t address)
{
	const cs_x86 *x = &in->detail->x86;
	bool repeated = x->prefix[0] == X86_PREFIX_REP || x->prefix[0] == X86_PREFIX_REPNE;
	struct effect_memory stack = { .base = 4, .index = EFFECT_NO_REGISTER, .size = 8 };

	for (unsigned i = 0; i < x->op_count; i++) {
		const cs_x86_op *op = &x->operands[i];
		struct effect_memory m = { .base = number_or_none(op->mem.base),
					   .index = number_or_none(op->mem.index),
					   .scale = (uint8_t)op->mem.scale,
					   .offset = op->mem.disp,
					   .size = op->size,
					   .read = op->access & CS_AC_READ,
					   .write = op->access & CS_AC_WRITE };

		if (op->type != X86_OP_MEM || in->id == X86_INS_LEA || in->id == X86_INS_NOP)
			continue;
		if (op->mem.base == X86_REG_RIP)
			m.offset += (int64_t)(address + in->size);
		m.fs = op->mem.segment == X86_REG_FS;
		m.repeated = repeated &&
			(op->mem.base == X86_REG_RDI || op->mem.base == X86_REG_RSI) &&
			op->mem.disp == 0;
		if (!m.read && !m.write)
			m.read = true; /* Capstone does not say: at least this */
		add_memory(e, m);
	}
	switch (in->id) {
	case X86_INS_PUSH:
	case X86_INS_PUSHFQ:
	case X86_INS_CALL:
		stack.offset = -8;
		stack.write = true;
		add_memory(e, stack);
		break;
	case X86_INS_POP:
	case X86_INS_POPFQ:
	case X86_INS_RET:
		stack.read = true;
		add_memory(e, stack);
		break;
	case X86_INS_LEAVE:
		stack.base = 5;
		stack.read = true;
		add_memory(e, stack);
		break;
	default:
		break;
	}
}

/*
 * Corrects Capstone's errors in memory operands and flags: it treats stos, cmpxchg, movnti, vector
 * and x87 stores as loads, and test as an update, and lacks the flags of cmpxchg and xadd. The
 * engine's own table has them.
 */
static void mend(struct disasm_effects *e, const cs_insn *in, const struct exact_effects *known)
{
	bool stack = in->id == X86_INS_PUSH || in->id == X86_INS_PUSHFQ || in->id == X86_INS_POP ||
		in->id == X86_INS_POPFQ || in->id == X86_INS_CALL || in->id == X86_INS_RET ||
		in->id == X86_INS_LEAVE;

	for (unsigned i = 0;
	     i < e->n_memory && !stack && !(known->string && known->loads && known->stores); i++) {
		e->memory[i].read = known->loads;
		e->memory[i].write = known->stores;
	}
	if (known->writes_flags)
		e->writes |= EFFECT_FLAGS;
	if (known->string) /* the direction flag, which never changes */
		e->reads &= ~(uint32_t)EFFECT_FLAGS;
	if (known->branches)
		e->kind = EFFECT_JUMP;
	if (in->id == X86_INS_CMPXCHG)
		e->writes |= EFFECT_RAX;
	if (in->id == X86_INS_XLATB) {
		e->reads |= EFFECT_RAX | 1u << 3;
		e->writes |= EFFECT_RAX;
	}
}

static bool is_modelled(x86_reg r)
{
	return general(r) >= 0 || vector(r) >= 0 || r == X86_REG_EFLAGS || r == X86_REG_RIP ||
		r == X86_REG_FS || r == X86_REG_GS || r == X86_REG_EIP || r == X86_REG_DS ||
		r == X86_REG_ES || r == X86_REG_SS || r == X86_REG_CS;
}

/* xor eax, eax: does not depend on the old value. */
static bool clears(const cs_insn *in)
{
	const cs_x86 *x = &in->detail->x86;
	unsigned n = x->op_count;

	switch (in->id) {
	case X86_INS_XOR:
	case X86_INS_SUB:
	case X86_INS_PXOR:
	case X86_INS_XORPS:
	case X86_INS_XORPD:
	case X86_INS_VPXOR:
	case X86_INS_VXORPS:
		return n >= 2 && x->operands[n - 1].type == X86_OP_REG &&
			x->operands[n - 2].type == X86_OP_REG &&
			x->operands[n - 1].reg == x->operands[n - 2].reg;
	default:
		return false;
	}
}

bool disasm_effects(struct disasm *d, const uint8_t *bytes, size_t n, uint64_t address,
		    struct disasm_effects *out)
{
	const uint8_t *p = bytes;
	size_t left = n;
	uint64_t at = address;
	cs_regs reads, writes;
	uint8_t n_reads = 0, n_writes = 0;
	struct exact_effects known = { 0 };
	bool is_known = exact_effects(bytes, n, &known);

	*out = (struct disasm_effects){ .in_part = true };
	if (d->machine != EM_X86_64 || !lib.cs_disasm_iter(d->handle, &p, &left, &at, d->insn))
		return false;
	out->size = (uint8_t)d->insn->size;
	out->kind = kind_of(d->insn, bytes);
	out->moves = d->insn->id == X86_INS_MOV;
	out->swaps = d->insn->id == X86_INS_XCHG;
	add_memories(out, d->insn, address);
	if (lib.cs_regs_access(d->handle, d->insn, reads, &n_reads, writes, &n_writes) != CS_ERR_OK)
		return false;
	out->in_part = !is_known || known.other_registers;
	for (unsigned i = 0; i < n_reads; i++) {
		out->in_part |= !is_modelled((x86_reg)reads[i]);
		add_register((x86_reg)reads[i], &out->reads, &out->vec_reads);
	}
	for (unsigned i = 0; i < n_writes; i++) {
		out->in_part |= !is_modelled((x86_reg)writes[i]);
		add_register((x86_reg)writes[i], &out->writes, &out->vec_writes);
	}
	if (is_known)
		mend(out, d->insn, &known);
	/* A write to part of a register keeps the rest. */
	for (unsigned i = 0; i < d->insn->detail->x86.op_count; i++) {
		const cs_x86_op *op = &d->insn->detail->x86.operands[i];

		if (op->type == X86_OP_REG && (op->access & CS_AC_WRITE) && general(op->reg) >= 0 &&
		    op->size < 4)
			out->reads |= 1u << general(op->reg);
	}
	if (out->kind == EFFECT_SYSCALL)
		out->writes |= EFFECT_RAX;
	if (clears(d->insn))
		out->reads = out->vec_reads = 0;
	return true;
}

/*
 * The most bytes that an instruction with an EVEX prefix accesses: its vector length, or one
 * broadcast element; Capstone assumes 64 bytes for vectors of any length. 0: it has no such prefix.
 * Source: Intel SDM vol. 2A, 2.7, "Intel AVX-512 Encoding".
 */
static unsigned evex_most(const uint8_t *bytes, size_t n)
{
	enum { EVEX = 0x62, SEGMENT_FS = 0x64, SEGMENT_GS = 0x65, ADDRESS = 0x67, HALF_MAPS = 4 };
	size_t at = 0;

	while (at < n &&
	       (bytes[at] == SEGMENT_FS || bytes[at] == SEGMENT_GS || bytes[at] == ADDRESS))
		at++;
	if (n - at < 4 || bytes[at] != EVEX)
		return 0;
	if (bytes[at + 3] & 0x10)
		return bytes[at + 1] & HALF_MAPS ? 2 : bytes[at + 2] & 0x80 ? 8 : 4;
	/* addss to maxsd, sqrt: one element. */
	if ((bytes[at + 1] & 7) == 1 && (bytes[at + 2] & 2) && n - at > 4 &&
	    (bytes[at + 4] == 0x51 || ((bytes[at + 4] & 0xf8) == 0x58 && bytes[at + 4] != 0x5b)))
		return bytes[at + 2] & 1 ? 8 : 4;
	return 16u << (bytes[at + 3] >> 5 & 3);
}

/*
 * Capstone's read and write flags are ignored: all memory operands of an instruction have the same
 * size.
 */
struct access_width disasm_width(struct disasm *d, const uint8_t *bytes, size_t n, uint64_t address)
{
	struct access_width w = { 0 };
	const uint8_t *p = bytes;
	size_t left = n;
	uint64_t at = address;
	struct disasm_effects e = { 0 };
	unsigned most;

	if (d->machine == EM_AARCH64 && n >= 4)
		w.bytes = (uint16_t)arm64_width(bytes[0] | bytes[1] << 8 | bytes[2] << 16 |
						(uint32_t)bytes[3] << 24);
	if (d->machine == EM_AARCH64 || !lib.cs_disasm_iter(d->handle, &p, &left, &at, d->insn))
		return w;
	add_memories(&e, d->insn, address);
	for (unsigned i = 0; i < e.n_memory; i++) {
		w.bytes = e.memory[i].size > w.bytes ? e.memory[i].size : w.bytes;
		w.repeats |= e.memory[i].repeated;
	}
	most = d->machine == EM_X86_64 ? evex_most(bytes, n) : 0;
	if (most && w.bytes > most)
		w.bytes = (uint16_t)most;
	return w;
}

void disasm_close(struct disasm *d)
{
	if (!d)
		return;
	if (d->insn)
		lib.cs_free(d->insn, 1);
	lib.cs_close(&d->handle);
	free(d);
}
