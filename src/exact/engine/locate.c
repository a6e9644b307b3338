/* SPDX-License-Identifier: MIT */
/*
 * Where was the program when a signal arrived? Translated code matches the program's state only at
 * instruction boundaries. There the interrupted context is converted to the program's own, and the
 * block's count is corrected.
 */
#include "exact/engine/engine.h"
#include "exact/engine/context.h"

enum { FLAG_SYSCALL_LEN = 2 };

static bool between(uint64_t rip, const char *from, const char *to)
{
	return rip >= (uint64_t)from && rip < (uint64_t)to;
}

static void context_from(struct context *c, const struct thread *t)
{
	const uint64_t *r = t->regs;

	c->rax = r[RAX], c->rcx = r[RCX], c->rdx = r[RDX], c->rbx = r[RBX];
	c->rsp = r[RSP], c->rbp = r[RBP], c->rsi = r[RSI], c->rdi = r[RDI];
	c->r8 = r[R8], c->r9 = r[R9], c->r10 = r[R10], c->r11 = r[R11];
	c->r12 = r[R12], c->r13 = r[R13], c->r14 = r[R14], c->r15 = r[R15];
	c->eflags = t->flags;
}

static void uncount_syscall(struct thread *t)
{
	struct insn in = { .len = FLAG_SYSCALL_LEN, .kind = K_SYSCALL };

	uncount_special(t, &in, t->target - FLAG_SYSCALL_LEN);
}

static bool is_syscall_go(uint64_t rip)
{
	return rip == (uint64_t)syscall_go || rip == (uint64_t)syscall_go_back;
}

/* Undoes the replacement of the program's deadline: see clock.c. */
static void give_deadline_back(struct thread *t, struct context *c)
{
	if (t->wait_register == R10)
		c->r10 = t->wait_kept;
	else if (t->wait_register == R8)
		c->r8 = t->wait_kept;
	t->wait_register = 0;
}

/* In the instructions of a system call: it was made, must be restarted, or was not made yet. */
static void at_syscall(struct thread *t, struct context *c, uint64_t insn, uint64_t after)
{
	if (c->rip >= after) {
		c->rcx = t->target;
		c->rip = t->target;
		return;
	}
	if (c->rip == insn && c->rcx == after) {
		/* Interrupted, and to be restarted: it was executed once, and counted. */
		c->rcx = t->target;
	} else {
		uncount_syscall(t);
		c->rcx = t->regs[RCX];
	}
	c->rip = t->target - FLAG_SYSCALL_LEN;
}

/* Restore the register that replaced an operand out of reach. */
static void give_back(const struct thread *t, struct context *c, uint8_t displaced)
{
	uint64_t *regs[16] = {
		[RSI] = &c->rsi, [RDI] = &c->rdi, [R8] = &c->r8,   [R9] = &c->r9,   [R10] = &c->r10,
		[R11] = &c->r11, [R12] = &c->r12, [R13] = &c->r13, [R14] = &c->r14, [R15] = &c->r15,
	};

	if (displaced & DISPLACED)
		*regs[displaced & 15] = t->scratch;
}

static enum place in_block(struct thread *t, struct context *c, const struct block *b, bool fault)
{
	const uint8_t *map = eng.map_pool + b->map;
	uint64_t code = runs_at(b->code), pc = b->pc;

	for (unsigned i = 0; i < b->n; i++) {
		uint64_t end = code + map[i * MAP_ENTRY + 1] + (i ? 0 : block_head(b));

		if (c->rip == code && !(fault && i > b->count_at)) {
			settle(t, b, i, i > b->count_at);
			c->rip = pc;
			return AT_BORDER;
		}
		if (c->rip < end) {
			if (!fault)
				return AT_WORK;
			settle(t, b, i, i >= b->count_at);
			if ((b->flags & B_RCX) && i == b->n - 1u)
				c->rcx = t->rcx;
			give_back(t, c, map[i * MAP_ENTRY + 2]);
			c->rip = pc;
			return AT_BORDER;
		}
		code = end;
		pc += map[i * MAP_ENTRY];
	}
	return AT_WORK;
}

uint64_t program_address(uint64_t rip)
{
	const struct block *b = in_cache(rip) ? block_of_code(rip) : NULL;

	if (!b)
		return 0;

	const uint8_t *map = eng.map_pool + b->map;
	uint64_t end = runs_at(b->code), pc = b->pc;

	for (unsigned i = 0; i < b->n; i++) {
		end += map[i * MAP_ENTRY + 1];
		if (rip < end)
			return pc;
		pc += map[i * MAP_ENTRY];
	}
	return pc;
}

/* `fault`: the instruction at rip faulted. */
enum place locate(struct thread *t, struct context *c, bool fault)
{
	uint64_t rip = c->rip;

	if (in_cache(rip)) {
		const struct block *b = block_of_code(rip);

		return b ? in_block(t, c, b, fault) : AT_WORK;
	}
	if (between(rip, leave_begin, leave_end) || rip == (uint64_t)unblock_after) {
		context_from(c, t);
		give_deadline_back(t, c);
		c->rip = t->target;
		if (is_syscall_go(t->jump)) {
			uncount_syscall(t);
			c->rip -= FLAG_SYSCALL_LEN;
		}
		return AT_BORDER;
	}
	if (between(rip, syscall_go, syscall_done)) {
		at_syscall(t, c, (uint64_t)syscall_insn, (uint64_t)syscall_after);
		return AT_BORDER;
	}
	if (rip >= (uint64_t)syscall_go_back && rip <= (uint64_t)syscall_after_back) {
		give_deadline_back(t, c);
		at_syscall(t, c, (uint64_t)syscall_insn_back, (uint64_t)syscall_after_back);
		return AT_BORDER;
	}
	if (rip >= eng.image && rip < eng.image + eng.image_size)
		return IN_ENGINE;
	return OUTSIDE;
}
