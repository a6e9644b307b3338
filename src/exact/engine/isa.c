/* SPDX-License-Identifier: MIT */
/*
 * The CPU that the program sees is a model, not the host, so that it takes the same path on every
 * host: cpuid and xgetbv are answered here, and the instructions that give the number of the CPU.
 */
#include "exact/engine/emit.h"

/* Does this file execute the instruction? */
bool isa_executes(const struct insn *in)
{
	return ((eng.mode & SAME_ISA) && insn_asks_processor(in)) ||
		((eng.mode & SAME_CPUS) && insn_rdpid(in));
}

static void put_cpuid(uint64_t *r)
{
	const struct isa_leaf *l = isa_leaf(&eng.shared->isa, (uint32_t)r[RAX], (uint32_t)r[RCX]);

	r[RAX] = l ? l->out[ISA_EAX] : 0;
	r[RBX] = l ? l->out[ISA_EBX] : 0;
	r[RCX] = l ? l->out[ISA_ECX] : 0;
	r[RDX] = l ? l->out[ISA_EDX] : 0;
}

/* False: the processor executes it, or raises the fault. */
static bool put_xgetbv(uint64_t *r)
{
	const struct isa_model *m = &eng.shared->isa;

	if (!m->has[ISA_XSAVE] || (uint32_t)r[RCX])
		return false;
	r[RAX] = (uint32_t)m->xcr0;
	r[RDX] = m->xcr0 >> 32;
	return true;
}

/* rdpid. For rdtscp, isa_after() adds code that replaces the CPU. */
bool isa_instruction(struct thread *t, const struct insn *in)
{
	switch (in->opcode) {
	case 0xa2:
		put_cpuid(t->regs);
		return true;
	case 0xc7:
		t->regs[(in->modrm & 7) | (in->rex & 1) << 3] = t->cpu;
		return true;
	default:
		return put_xgetbv(t->regs);
	}
}

/* Adds code after the copy of rdtscp that sets ecx to the CPU. Changes no flags. */
uint8_t *isa_after(uint8_t *p, const struct insn *in)
{
	const uint32_t at = offsetof(struct thread, cpu);

	if (!insn_rdtscp(in))
		return p;
	PUT(p, 0x65, 0x8b, 0x0c, 0x25); /* mov ecx, gs:[cpu] */
	memcpy(p, &at, sizeof at);
	return p + sizeof at;
}

/* The first instruction that needs an extension which the model lacks; NULL: none. */
const struct insn *isa_lacking(const struct insn *in, unsigned n)
{
	if (eng.mode & SAME_ISA)
		for (unsigned i = 0; i < n; i++)
			if (in[i].isa < ISA_FEATURES_N && in[i].isa != ISA_RDPID &&
			    !eng.shared->isa.has[in[i].isa])
				return &in[i];
	return NULL;
}

/* Code that is about to run: note the first extension that the model lacks. */
void isa_check(const struct insn *in, unsigned n)
{
	struct shared_state *b = eng.shared;
	const struct insn *lacking = b->isa_beyond ? NULL : isa_lacking(in, n);

	if (!lacking)
		return;
	memcpy(b->isa_beyond_program, eng.process->name, sizeof b->isa_beyond_program);
	__atomic_store_n(&b->isa_beyond, lacking->isa, __ATOMIC_RELEASE);
}
