/* SPDX-License-Identifier: MIT */
/* Where a thread continues after it leaves translated code. */
#include <linux/signal.h>
#include "exact/engine/engine.h"

static const uint64_t VSYSCALL = 0xffffffffff600000;

/*
 * System calls by the 32-bit gate that cannot harm the engine: read, write, close, time, lseek,
 * getpid, getuid, getgid, geteuid, getegid, getppid, gettimeofday.
 */
static bool old_call(struct thread *t)
{
	static const uint8_t harmless[] = { 3, 4, 6, 13, 19, 20, 24, 47, 49, 50, 64, 78 };
	uint64_t *r = t->regs, gate[] = { r[RAX], r[RBX], r[RCX], r[RDX], r[RSI], r[RDI] };
	bool known = false;
	long ret;

	if ((t->filter || t->strict) && !seccomp_allows_old(t, &ret)) {
		r[RAX] = (uint64_t)ret;
		return true;
	}
	for (size_t i = 0; i < sizeof harmless; i++)
		known |= r[RAX] == harmless[i];
	if (!known)
		return false;
	old_gate(gate);
	r[RAX] = gate[0];
	return true;
}

/* Kernels without 32-bit support have no such gate: the instruction faults. */
static bool has_old_gate(void)
{
	static int known; /* 1: yes, -1: no */
	uint64_t getpid[6] = { 20 };

	if (!known)
		known = old_gate(getpid) ? 1 : -1;
	return known > 0;
}

static const char *why_refused(const struct insn *in)
{
	if (in->map == 0 && in->opcode == 0xcf)
		return "an iret instruction, which the exact engine does not run, at";
	if (in->map == 0 && in->opcode == 0xcd)
		return "an int instruction, which the exact engine does not run, at";
	if (in->map == 0 && in->opcode == 0xf1)
		return "an int1 instruction, which the exact engine does not run, at";
	if (in->map == 1 && (in->opcode == 0x34 || in->opcode == 0x07 || in->opcode == 0x35))
		return "a sysenter or sysret instruction, which the exact engine does not run, at";
	if (in->prefix & P_66)
		return "a branch with a 16-bit operand, which the exact engine does not run, at";
	return "a far call, jump or return, which the exact engine does not run, at";
}

/* RTM in EBX[11]; RTM_ALWAYS_ABORT in EDX[11]. Without either, xbegin raises #UD. */
static bool has_transactions(void)
{
	static struct cpuid_7 cpu;

	return (cpuid_7(&cpu)->b | cpu.d) & 1u << 11;
}

/* Instructions that the engine executes itself, because a copy would use the engine's state. */
static bool execute_special(struct thread *t)
{
	const uint8_t *code = (const uint8_t *)t->target;
	size_t room = code_room(t->target);
	struct insn in;

	if (!room || !insn_decode(&in, code, room))
		return false;
	switch (in.kind) {
	case K_XBEGIN:
		if (!has_transactions())
			return false;
		/*
		 * Emulate a transaction that aborts at once, without a reason: go to its fallback.
		 */
		t->regs[RAX] = 0;
		count_special(t, &in, t->target, 0);
		t->target += in.len + (uint64_t)in.imm;
		return true;
	case K_REFUSED:
		if (in.opcode == 0xcd && in.imm == (int8_t)0x80) {
			if (!has_old_gate())
				return false;
			if (old_call(t)) {
				in.kind = K_SYSCALL;
				count_special(t, &in, t->target, 0);
				t->target += in.len;
				return true;
			}
		}
		if (insn_breakpoint(&in)) /* executed natively, in place */
			return false;
		refuse(why_refused(&in), t->target);
	default:
		if (clock_executes(&in)) {
			if (!read_ticks()) /* disabled by the program: it faults */
				return false;
			count_special(t, &in, t->target, 0);
			clock_instruction(t, &in);
			t->target += in.len;
			return true;
		}
		if (isa_executes(&in)) {
			if (!isa_instruction(t, &in))
				return false;
			count_special(t, &in, t->target, 0);
			t->target += in.len;
			return true;
		}
		if (insn_emulated(&in)) /* the next instruction would be stepped, too */
			refuse("an sldt, str, sgdt, sidt or smsw instruction that names GS, which the kernel executes, at",
			       t->target);
		/* accesses memory through GS: single-step it with the program's own base */
		return false;
	}
}

/* The block for t->target; NULL when its first instruction is special. */
static struct block *block_for(struct thread *t, bool indirect)
{
	struct block *b;

	if ((eng.mode & COUNT_EVERY) && (t->sampling || t->one_shot) && (b = period_block(t)))
		return b;
	if (t->one_shot) {
		t->one_shot = 0;
		return translate(t->target, false, true);
	}
	b = block_find(t->target);
	if (b && (b->flags & B_CHECKED))
		eng.process->compared++;
	if (b && (b->flags & B_CHECKED) && !code_is(b->pc, eng.map_pool + b->copy, b->src_len)) {
		page_changes(b->pc);
		block_dead(b);
		b = NULL;
	} else if (b && (b->flags & B_CHECKED) && page_settles(b)) {
		b = NULL;
	}
	if (!b)
		return translate(t->target, indirect, false);
	if (indirect && !b->indirect && !(b->flags & (B_CHECKED | B_ONCE)))
		add_indirect(b);
	else if (indirect && b->indirect && !*next_of(b)) /* from a snapshot */
		bucket_add(b);
	return b;
}

/*
 * A restartable sequence: if it were interrupted, the kernel would move the program to its abort
 * handler, based on addresses that translated code does not have. Its first execution always passes
 * through here. Source: linux/rseq.h, struct rseq, rseq_cs.
 */
static void check_rseq(const struct thread *t)
{
	const uint64_t *area = (const uint64_t *)t->rseq;

	if (area && area[1])
		refuse("a restartable sequence (rseq), which the exact engine does not support, at",
		       t->target);
}

/*
 * The kernel emulates these calls of old static programs and returns to an address with no
 * translated code. Source: arch/x86/entry/vsyscall/vsyscall_64.c, addr_to_vsyscall_nr().
 */
static void check_vsyscall(const struct thread *t)
{
	if ((t->target & ~0xc00ull) == VSYSCALL && (t->target & 0xc00) != 0xc00)
		refuse("a call into the [vsyscall] page, which the kernel executes itself, at",
		       t->target);
}

void dispatch(struct thread *t)
{
	bool missed = t->edge == (uint64_t)EDGE_MISS;
	uint64_t from = t->edge = missed ? 0 : t->edge;
	struct block *b;

	check_rseq(t);
	if (missed && noncanonical_branch(t)) {
		step_natively(t);
		return;
	}
	turn_enter(t);
	if (eng.mode & COUNT_EVERY)
		period_enter(t);
	lock();
	eng.tid = t->tid;
	eng.page_there = ~0ull;
	if (from)
		t->target = eng.edges[from].target;
	check_vsyscall(t);
	retire_check(t);
	while (!(b = block_for(t, !from))) {
		from = 0;
		if (!execute_special(t)) {
			/*
			 * Not executable, or an instruction that is not in the table: let the
			 * processor raise the fault, at the program's own address. step.c handles
			 * it.
			 */
			unlock();
			step_natively(t);
			return;
		}
	}
	if (from)
		link_edge((uint32_t)from, b);
	t->jump = runs_at(b->code);
	unlock();
}
