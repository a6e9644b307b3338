/* SPDX-License-Identifier: MIT */
/*
 * With SAME_TURNS one thread of the run executes at a time (turn_order.c). A thread that waits for
 * another one in a busy loop would never pass its turn on, so each thread passes it on after TURN
 * backward or indirect branches. Every loop has one, except a loop with no branch but `ret`.
 * Their number depends only on the instructions that the thread executed. A block that ends with
 * such a branch begins with
 *
 *	dec qword gs:[turn] ; js hit           if no flag but CF is live; else through rcx:
 *	mov gs:[scratch], rcx ; mov rcx, gs:[turn] ; lea rcx, [rcx - 1] ; mov gs:[turn], rcx
 *	mov ecx, gs:[turn + 4] ; jecxz on ; jmp hit ; on: mov rcx, gs:[scratch]
 */
#include "exact/engine/emit.h"

enum { TURN = 1 << 16 };

void turn_first(struct thread *t)
{
	t->turn = TURN;
}

/* ---- in translated code ---- */

/* Is `last`, the last instruction of a block, a backward or indirect branch? Loops have one. */
bool turn_counts(const struct insn *last)
{
	if (!(eng.mode & SAME_TURNS))
		return false;
	return last->kind == K_JMP_IND ||
		((last->kind == K_JCC || last->kind == K_JMP || last->kind == K_LOOP) &&
		 last->imm < 0);
}

static uint8_t *emit_hit(struct arena *a, uint64_t pc, bool give_rcx_back)
{
	eng.edges[eng.n_edges] = (struct edge){ .target = pc, .hit_event = HIT_TURN };
	a->cold = emit_stub(a->cold, eng.n_edges++);
	if (give_rcx_back)
		gs_load(a->cold -= 9, RCX, T_SCRATCH);
	return a->cold;
}

/* For the block at `pc`. `flags_free`: no flag but CF is live there. */
uint8_t *emit_turn(struct arena *a, uint8_t *p, uint64_t pc, bool flags_free)
{
	const uint8_t *hit = emit_hit(a, pc, !flags_free);

	if (flags_free) {
		PUT(p, 0x65, 0x48, 0xff, 0x0c, 0x25); /* dec qword gs:[turn] */
		p = put32(p, T_TURN);
		PUT(p, 0x0f, 0x88); /* js */
		return put32(p, (uint32_t)(hit - (p + 4)));
	}
	p = gs_store(p, RCX, T_SCRATCH);
	p = gs_load(p, RCX, T_TURN);
	PUT(p, 0x48, 0x8d, 0x49, 0xff); /* lea rcx, [rcx - 1] */
	p = gs_store(p, RCX, T_TURN);
	PUT(p, 0x65, 0x8b, 0x0c, 0x25); /* mov ecx, gs:[turn + 4] */
	p = put32(p, T_TURN + 4);
	PUT(p, 0x67, 0xe3, 5, 0xe9); /* jecxz over the jmp */
	p = put32(p, (uint32_t)(hit - (p + 4)));
	return gs_load(p, RCX, T_SCRATCH);
}

/* ---- in the engine ---- */

static void turn_over(struct thread *t)
{
	t->turn = TURN;
	if (turns_on(t))
		turn_yield(t);
}

/* Entry from translated code; the reason may be that its turn is over. */
void turn_enter(struct thread *t)
{
	const struct edge *edge = &eng.edges[t->edge];

	if (t->ordered)
		turn_take(t);
	if (t->edge && edge->hit_event == HIT_TURN && !edge->hit)
		turn_over(t);
}

/* A return from a signal handler counts: a loop may consist of a fault and its handler. */
void turn_returns(struct thread *t)
{
	if ((eng.mode & SAME_TURNS) && --t->turn < 0)
		turn_over(t);
}
