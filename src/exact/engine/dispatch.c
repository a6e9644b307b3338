/* SPDX-License-Identifier: MIT */
/* A thread comes out of translated code: where does it go on? */
#include <linux/signal.h>
#include "exact/engine/engine.h"

/* Instructions the engine executes itself, because a copy would touch what is the engine's. */
static bool execute_special(struct thread *t)
{
	const uint8_t *code = (const uint8_t *)t->target;
	size_t room = code_room(t->target);
	struct insn in;

	if (!room || !insn_decode(&in, code, room))
		return false;
	switch (in.kind) {
	case K_XBEGIN:
		/* A transaction that aborts at once, with no reason given: go to its fallback. */
		t->regs[RAX] = 0;
		count_special(t, &in);
		t->target += in.len + (uint64_t)in.imm;
		return true;
	case K_GS:
		refuse("the program uses the GS segment register, which the exact engine needs; at", t->target);
	case K_REFUSED:
		refuse("a far transfer, an int instruction or a 16-bit branch, which the exact engine does "
		       "not run; at", t->target);
	default:
		refuse("the program addresses memory through GS, which the exact engine needs; at", t->target);
	}
}

static bool bytes_as_copied(const struct block *b)
{
	return code_room(b->pc) && !memcmp((const void *)b->pc, eng.map_pool + b->copy, b->src_len);
}

/* The block for t->target; NULL when its first instruction is special. */
static struct block *block_for(struct thread *t, bool indirect)
{
	struct block *b;

	if (t->one_shot) {
		t->one_shot = 0;
		return translate(t->target, false, true);
	}
	b = block_find(t->target);
	if (b && (b->flags & B_CHECKED) && !bytes_as_copied(b)) {
		b->flags |= B_DEAD;
		b = NULL;
	}
	if (!b)
		return translate(t->target, indirect, false);
	if (indirect && !b->indirect && !(b->flags & (B_CHECKED | B_ONCE)))
		add_indirect(b);
	return b;
}

void dispatch(struct thread *t)
{
	uint64_t from = t->edge;
	struct block *b;

	lock();
	if (from)
		t->target = eng.edges[from].target;
	while (!(b = block_for(t, !from))) {
		from = 0;
		if (!execute_special(t)) {
			/*
			 * Nothing that can be executed, or an instruction the table does not know: let
			 * the processor say which, at the program's own address. signal.c takes it on.
			 */
			unlock();
			step_natively(t);
			return;
		}
	}
	if (from)
		link_edge(&eng.edges[from], b);
	t->jump = (uint64_t)b->code;
	unlock();
}
