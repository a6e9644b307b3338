/* SPDX-License-Identifier: MIT */
/* See watch.h. */
#include "watch.h"

#include <Zydis/Zydis.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

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
	return size >= 6 && code[0] == 0x3e && code[1] == 0x3e && code[2] == 0x3e &&
		code[4] == 0x8b && (code[5] & 0xc7) == 5;
}

static void registers(ZydisRegisterContext *c, const struct user_regs_struct *r, uint64_t next)
{
	const uint64_t general[] = {
		r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi,
		r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15
	};

	memset(c, 0, sizeof(*c));
	for (int i = 0; i < 16; i++) {
		c->values[ZYDIS_REGISTER_RAX + i] = general[i];
		c->values[ZYDIS_REGISTER_EAX + i] = (uint32_t)general[i];
	}
	c->values[ZYDIS_REGISTER_AL] = (uint8_t)r->rax;
	c->values[ZYDIS_REGISTER_RIP] = next;
}

/*
 * Corrections of the decoder's operands: a push writes below the stack pointer, bt reaches further.
 */
static bool plain(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o)
{
	if (o->mem.type != ZYDIS_MEMOP_TYPE_MEM)
		return false;
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_BT:
	case ZYDIS_MNEMONIC_BTS:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTC:
	case ZYDIS_MNEMONIC_ENTER:
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_XLAT:
		return false;
	default:
		return true;
	}
}

static bool address_of(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, uint64_t at,
		       const struct user_regs_struct *r, bool reads, uint64_t *out)
{
	ZydisRegisterContext c;
	ZyanU64 address;

	registers(&c, r, at + z->length);
	if (!plain(z, o) || !ZYAN_SUCCESS(ZydisCalcAbsoluteAddressEx(z, o, at, &c, &address)))
		return false;
	if (o->mem.segment == ZYDIS_REGISTER_FS)
		address += r->fs_base;
	if (o->mem.segment == ZYDIS_REGISTER_GS)
		address += r->gs_base;
	/* The stack's own address has full size, whatever the prefixes are. */
	if (o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN && o->mem.base == ZYDIS_REGISTER_RSP)
		address = r->rsp - (reads ? 0 : z->operand_width == 16 ? 2 : 8);
	*out = address;
	return true;
}

/* Is the operand one of those, and how is it accessed? */
static bool chosen(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o, bool read_first,
		   char *what)
{
	bool reads = o->actions & ZYDIS_OPERAND_ACTION_MASK_READ,
	     writes = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;

	bool accesses = o->mem.type == ZYDIS_MEMOP_TYPE_MEM || o->mem.type == ZYDIS_MEMOP_TYPE_VSIB;

	if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || !accesses || z->mnemonic == ZYDIS_MNEMONIC_NOP)
		return false;
	if (z->meta.category == ZYDIS_CATEGORY_PREFETCH)
		*what++ = 'p';
	else if (reads)
		*what++ = 'r';
	if (writes)
		*what++ = 'w';
	if (z->attributes & ZYDIS_ATTRIB_HAS_LOCK || z->mnemonic == ZYDIS_MNEMONIC_XCHG)
		*what++ = 'l';
	*what = 0;
	if (of == C_ACCESSES)
		return read_first == reads;
	return read_first && (of == C_LOADS ? reads : writes);
}

static size_t read_memory(pid_t tid, uint64_t at, void *to, size_t n)
{
	ssize_t got = process_vm_readv(tid, &(struct iovec){ to, n }, 1,
				       &(struct iovec){ (void *)at, n }, 1, 0);

	return got > 0 ? (size_t)got : 0;
}

/* Bytes of an operand; 0 if unknown: the processor's state, cache lines, hints. */
static uint64_t bytes_of(const ZydisDecodedInstruction *z, const ZydisDecodedOperand *o)
{
	switch (z->meta.category) {
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_XSAVE:
	case ZYDIS_CATEGORY_XSAVEOPT:
		return 0;
	default:
		return strncmp(ZydisMnemonicGetString(z->mnemonic), "cl", 2) != 0 ? o->size / 8 : 0;
	}
}

/* A rep with a count of 0 accesses nothing. */
static bool is_empty(const ZydisDecodedInstruction *z, const struct user_regs_struct *r)
{
	bool repeats = z->meta.category == ZYDIS_CATEGORY_STRINGOP &&
		(z->attributes &
		 (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE));

	return repeats && !(z->address_width == 32 ? (uint32_t)r->rcx : r->rcx);
}

unsigned watch_accesses(uint64_t at, const uint8_t *code, unsigned size,
			const struct user_regs_struct *r, struct watch_access out[WATCH_ACCESSES])
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;
	ZydisDecoder d;
	unsigned n = 0;

	if (!samples || (of != C_LOADS && of != C_STORES && of != C_ACCESSES))
		return 0;
	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d, code, size, &z, ops)) || is_empty(&z, r))
		return 0;
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < z.operand_count && n < WATCH_ACCESSES; i++) {
			struct watch_access *a = &out[n];
			bool reads = ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_READ;

			if (!chosen(&z, &ops[i], pass == 0, a->what))
				continue;
			a->bytes = bytes_of(&z, &ops[i]);
			a->known = address_of(&z, &ops[i], at, r, reads, &a->address);
			n++;
		}
	return n;
}

static bool executable(pid_t tid, uint64_t at)
{
	char path[64], line[4400], prot[8];
	unsigned long start, end;
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)tid);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%lx-%lx %7s", &start, &end, prot) == 3 && prot[2] == 'x' &&
			at >= start && at < end;
	if (f)
		fclose(f);
	return found;
}

void watch_state(pid_t tid, const struct user_regs_struct *r, struct watch_state *out)
{
	uint64_t at = r->rbp, below = r->rsp, frame[2];

	if (!samples)
		return;
	out->registers = *r;
	out->n_stack = read_memory(tid, r->rsp, out->stack, sizeof(out->stack));
	out->n_chain = 0;
	/*
	 * Each frame is further up the stack, aligned, less than 16 MiB away, and returns to code.
	 */
	while (out->n_chain < WATCH_CHAIN && at >= below && at - below < 1 << 24 && at % 8 == 0 &&
	       read_memory(tid, at, frame, sizeof(frame)) == sizeof(frame) &&
	       executable(tid, frame[1])) {
		out->chain[out->n_chain++] = frame[1];
		below = at + 1;
		at = frame[0];
	}
}

/*
 * Only the direction flag: flags that a program overwrites before it reads them are not preserved.
 * r11, the flags after a system call, contains the trap flag that we set for stepping.
 */
static void state_line(const struct watch_state *s)
{
	const struct user_regs_struct *r = &s->registers;
	const unsigned long long all[] = {
		r->rax, r->rcx, r->rdx, r->rbx, r->rsp,           r->rbp,
		r->rsi, r->rdi, r->r8,  r->r9,  r->r10,           r->r11 & ~0x100ull,
		r->r12, r->r13, r->r14, r->r15, r->eflags & 0x400
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		fprintf(samples, "%s%#llx", i ? "," : " =", all[i]);
	fprintf(samples, " ^");
	for (size_t i = 0; i < s->n_stack; i++)
		fprintf(samples, "%02x", s->stack[i]);
	for (unsigned i = 0; i < s->n_chain; i++)
		fprintf(samples, " <%#llx", (unsigned long long)s->chain[i]);
}

/* The target of a branch, and whether it was taken: !; ? if both ways lead there. */
static void branch_words(const struct insn *in, pid_t tid, uint64_t next)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction z;
	uint8_t code[15];
	ZydisDecoder d;
	ZyanU64 to = next;

	if (!in->adds[C_BRANCHES])
		return;
	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (ZYAN_SUCCESS(ZydisDecoderDecodeFull(
		    &d, code, read_memory(tid, in->at, code, sizeof(code)), &z, ops)) &&
	    ops[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && ops[0].imm.is_relative)
		ZydisCalcAbsoluteAddress(&z, ops, in->at, &to);
	fprintf(samples, " >%#llx%s", (unsigned long long)to,
		in->to_next                                              ? "?"
			: in->conditional && next == in->at + in->length ? ""
									 : "!");
}

/* How far a repeated string instruction has advanced, the same for all of its operands. */
static int64_t came(pid_t tid, const struct insn *in, const struct user_regs_struct *before)
{
	struct user_regs_struct now;
	uint64_t far;
	uint8_t code[15] = { 0 };
	unsigned at = 0;

	if (!in->rep_string || ptrace(PTRACE_GETREGS, tid, 0, &now) != 0)
		return 0;
	read_memory(tid, in->at, code, sizeof(code));
	far = now.rdi != before->rdi ? now.rdi - before->rdi : now.rsi - before->rsi;
	while (at < in->length && code[at] != 0x67)
		at++;
	return at < in->length ? (int32_t)far : (int64_t)far;
}

static void access_words(const struct watch_access *a, int64_t far)
{
	uint64_t bytes = far ? (uint64_t)(far < 0 ? -far : far) : a->bytes;

	fprintf(samples, " @%#llx#%llu",
		(unsigned long long)(a->address - (far < 0 ? bytes - a->bytes : 0)),
		(unsigned long long)bytes);
}

static void counts_line(FILE *f, const uint64_t counts[C_COUNT])
{
	for (int c = 0; c < C_COUNT; c++)
		fprintf(f, " %llu", (unsigned long long)counts[c]);
	fputc('\n', f);
}

void watch_retired(unsigned thread, pid_t tid, const struct insn *in, bool asks,
		   const uint64_t before[C_COUNT], const uint64_t after[C_COUNT],
		   const struct watch_access *accesses, unsigned n_accesses,
		   const struct watch_state *state, uint64_t next)
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

		fprintf(samples, "%u %llu %#llx", thread, (unsigned long long)k,
			(unsigned long long)in->at);
		for (int c = 0; c < C_COUNT; c++)
			fprintf(samples, " %llu", (unsigned long long)after[c]);
		if (which < n_accesses)
			fprintf(samples, " %s", accesses[which].what);
		branch_words(in, tid, next);
		if (which < n_accesses && accesses[which].known)
			access_words(&accesses[which], came(tid, in, &state->registers));
		state_line(state);
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
