/* SPDX-License-Identifier: MIT */
/* See watch.h. */
#include "watch.h"

#include <Zydis/Zydis.h>
#include <stdio.h>
#include <string.h>

static FILE *reads, *samples;
static uint64_t every;
static int of;

bool watch_reads(const char *path)
{
	return (reads = fopen(path, "we"));
}

bool watch_every(const char *path, uint64_t n, const char *class)
{
	every = n;
	for (of = 0; of < C_COUNT && strcmp(class_names[of], class) != 0; of++)
		;
	return n && of < C_COUNT && (samples = fopen(path, "we"));
}

bool watch_is_now(const uint8_t *code, unsigned size)
{
	return size >= 6 && code[0] == 0x3e && code[1] == 0x3e && code[2] == 0x3e && code[4] == 0x8b &&
	       (code[5] & 0xc7) == 5;
}

static void registers(ZydisRegisterContext *c, const struct user_regs_struct *r, uint64_t next)
{
	const uint64_t general[] = { r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi,
				     r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15 };

	memset(c, 0, sizeof(*c));
	for (int i = 0; i < 16; i++) {
		c->values[ZYDIS_REGISTER_RAX + i] = general[i];
		c->values[ZYDIS_REGISTER_EAX + i] = (uint32_t)general[i];
	}
	c->values[ZYDIS_REGISTER_AL] = (uint8_t)r->rax;
	c->values[ZYDIS_REGISTER_RIP] = next;
}

/* What the decoder's operands do not say: a push writes below the stack pointer, bt reaches further. */
static bool plain(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o)
{
	if (o->mem.type != ZYDIS_MEMOP_TYPE_MEM || z->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
		return false;
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_BT:
	case ZYDIS_MNEMONIC_BTS:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTC:
	case ZYDIS_MNEMONIC_ENTER:
	case ZYDIS_MNEMONIC_POP:
		return false;
	default:
		return true;
	}
}

unsigned watch_accesses(uint64_t at, const uint8_t *code, unsigned size, const struct user_regs_struct *r,
			uint64_t out[WATCH_ACCESSES])
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisRegisterContext c;
	ZydisDecodedInstruction z;
	ZydisDecoder d;
	unsigned n = 0;

	if (!samples || (of != C_LOADS && of != C_STORES))
		return 0;
	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d, code, size, &z, ops)))
		return 0;
	registers(&c, r, at + z.length);
	for (int i = 0; i < z.operand_count && n < WATCH_ACCESSES; i++) {
		const ZydisDecodedOperand *o = &ops[i];
		ZyanU64 address;

		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.type != ZYDIS_MEMOP_TYPE_MEM ||
		    !(o->actions & (of == C_LOADS ? ZYDIS_OPERAND_ACTION_MASK_READ : ZYDIS_OPERAND_ACTION_MASK_WRITE)))
			continue;
		if (!plain(&z, o) || !ZYAN_SUCCESS(ZydisCalcAbsoluteAddressEx(&z, o, at, &c, &address)))
			return 0;
		if (o->mem.segment == ZYDIS_REGISTER_FS)
			address += r->fs_base;
		if (o->mem.segment == ZYDIS_REGISTER_GS)
			address += r->gs_base;
		/* The stack's own address is whole, whatever the prefixes say. */
		if (i >= z.operand_count_visible && o->mem.base == ZYDIS_REGISTER_RSP)
			address = r->rsp - (of == C_LOADS ? 0 : z.operand_width == 16 ? 2 : 8);
		out[n++] = address;
	}
	return n;
}

static void counts_line(FILE *f, const uint64_t counts[C_COUNT])
{
	for (int c = 0; c < C_COUNT; c++)
		fprintf(f, " %llu", (unsigned long long)counts[c]);
	fputc('\n', f);
}

void watch_retired(unsigned thread, const struct insn *in, bool asks, const uint64_t before[C_COUNT],
		   const uint64_t after[C_COUNT], const uint64_t *accesses, unsigned n_accesses)
{
	if (reads && in->reads_now)
		fprintf(reads, "%u now %llu\n", thread, (unsigned long long)after[C_INSTRUCTIONS]);
	if (reads && asks) {
		fprintf(reads, "%u all", thread);
		counts_line(reads, after);
	}
	if (!samples)
		return;
	for (uint64_t k = before[of] / every + 1; k <= after[of] / every; k++) {
		uint64_t which = k * every - 1 - before[of];

		fprintf(samples, "%u %llu %#llx", thread, (unsigned long long)k, (unsigned long long)in->at);
		for (int c = 0; c < C_COUNT; c++)
			fprintf(samples, " %llu", (unsigned long long)after[c]);
		if (which < n_accesses)
			fprintf(samples, " @%#llx", (unsigned long long)accesses[which]);
		fputc('\n', samples);
	}
}

bool watch_end(void)
{
	bool fine = true;

	if (reads)
		fine &= fclose(reads) == 0;
	if (samples)
		fine &= fclose(samples) == 0;
	return fine;
}
