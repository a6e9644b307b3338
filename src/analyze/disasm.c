/* SPDX-License-Identifier: MIT */
/* See disasm.h. Source: capstone.h, x86.h, arm64.h of Capstone 4. */
#include <capstone/capstone.h>
#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "analyze/disasm.h"
#include "exact/exact.h"

#define FUNCTIONS(F) F(cs_open) F(cs_close) F(cs_option) F(cs_malloc) F(cs_free) F(cs_disasm_iter)

static struct {
#define POINTER(name) typeof(&name) name;
	FUNCTIONS(POINTER)
#undef POINTER
	bool usable;
} lib;

struct disasm {
	csh handle;
	cs_insn *insn;
	uint16_t machine;
};

static void bind(void)
{
	void *cs = dlopen("libcapstone.so.4", RTLD_NOW | RTLD_LOCAL);

	if (!cs)
		return;
	lib.usable = true;
#define LOOK_UP(name)                                                                              \
	lib.name = (typeof(lib.name))dlsym(cs, #name);                                             \
	lib.usable &= lib.name != NULL;
	FUNCTIONS(LOOK_UP)
#undef LOOK_UP
}

int disasm_open(struct disasm **out, uint16_t machine, bool intel_syntax, struct tare_error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct disasm *d;
	cs_err why;

	*out = NULL;
	pthread_once(&once, bind);
	if (!lib.usable) {
		tare_fail(err, ENOENT, "libcapstone.so.4, which disassembles, cannot be loaded");
		tare_hint(err, "install it (Debian: libcapstone4)");
		return -ENOENT;
	}
	if (machine != EM_X86_64 && machine != EM_386 && machine != EM_AARCH64)
		return tare_fail(err, ENOTSUP, "instructions of ELF machine %u are not disassembled",
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
		return tare_fail(err, ENOTSUP, "this Capstone does not know ELF machine %u", machine);
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

/* Direct ones have one operand that is a number, or on arm64 one as their last. */
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
	/* Newer than its tables: at least how long it is may be known. */
	if (d->machine == EM_AARCH64)
		out->size = n >= 4 ? 4 : 1;
	else if (d->machine == EM_X86_64)
		for (size_t k = 1; k <= 15 && k <= n; k++)
			if (exact_lengths(bytes, k, &length, 1) == 1) {
				out->size = (uint8_t)k;
				break;
			}
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
