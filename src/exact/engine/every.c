/* SPDX-License-Identifier: MIT */
/*
 * A sample every so many instructions, or others of a class. A thread's `left` says how many come before the
 * next sampled one. Each block takes its own amount off when it is entered; where that brings `left` below 0 the
 * sample lies inside, and the block is not entered: the engine gives the amount back, has the part before
 * the sampled instruction executed, drafts the sample, has the instruction itself executed, and takes it. Those two
 * parts are blocks too, kept for the next time; they come back to the engine by every way out.
 *
 *	sub qword gs:[left], n ; js hit        where no flag is live; else through rcx:
 *	mov gs:[scratch], rcx ; mov rcx, gs:[left] ; lea rcx, [rcx - n] ; mov gs:[left], rcx
 *	mov ecx, gs:[left + 4] ; jecxz on ; jmp hit ; on: mov rcx, gs:[scratch]
 */
#include "exact/descent.h"
#include "exact/engine/emit.h"

enum { LEG = 0x7fffffff }; /* the upper half of `left` is 0 unless it is below 0 */

void every_restart(struct thread *t, int64_t left)
{
	t->left = left > LEG ? LEG : left;
	t->left_more = left - t->left;
}

/* `left` has run out, but the sample is further on. */
static void next_leg(struct thread *t)
{
	if (t->left_more)
		every_restart(t, t->left + t->left_more);
}

/*
 * From one sample to the next. With jitter each run of n events has one sample, at a place by chance: every event has the same chance
 * to be one, no loop is in step with them, and a share is known at least as well as from as many independent samples.
 * By a generator of numbers, so that they are the same in each run. Source: Cochran, "Sampling Techniques", 5.6 (stratified random
 * sampling with one unit per stratum of equal size); Steele, Lea, Flood, "Fast splittable pseudorandom number generators".
 */
static uint64_t next_gap(uint64_t *random, uint64_t *offset)
{
	const struct every *e = &eng.board->every;
	uint64_t before = *offset;

	if (!e->jitter)
		return e->n;
	*random = descent_of(*random, DESCENT_RANDOM);
	*offset = (*random >> 8) % e->n;
	return e->n - before + *offset;
}

int64_t every_gap(struct thread *t)
{
	return (int64_t)next_gap(&t->random, &t->offset);
}

/* The sum of the next `i` gaps. */
uint64_t every_ahead(const struct thread *t, unsigned i)
{
	uint64_t random = t->random, offset = t->offset, sum = 0;

	while (i--)
		sum += next_gap(&random, &offset);
	return sum;
}

void every_first(struct thread *t)
{
	t->random = t->descent;
	t->offset = eng.board->every.n - 1; /* the first run of n begins with the thread */
	if (!(eng.mode & COUNT_EVERY))
		return;
	if (eng.board->every.only && eng.board->every.only != t->descent)
		every_restart(t, NEVER);
	else
		every_restart(t, (eng.board->every.first ? (int64_t)eng.board->every.first : every_gap(t)) - 1);
}

static unsigned amount_of(const struct insn *in)
{
	struct block_facts f = { 0 };

	facts_add(&f, in);
	return f.adds[eng.board->every.class];
}

unsigned every_amount(const struct block *b)
{
	return facts_of(eng.process->lineage, b->counter)->adds[eng.board->every.class];
}

/* ---- what blocks begin with ---- */

static uint8_t *take_off(uint8_t *p, unsigned n)
{
	PUT(p, 0x65, 0x48, 0x81, 0x2c, 0x25); /* sub qword gs:[left], n */
	p = put32(p, T_LEFT);
	return put32(p, n);
}

static uint8_t *take_off_by_rcx(uint8_t *p, unsigned n)
{
	p = gs_store(p, RCX, T_SCRATCH);
	p = gs_load(p, RCX, T_LEFT);
	PUT(p, 0x48, 0x8d, 0x89); /* lea rcx, [rcx - n] */
	p = put32(p, -n);
	return gs_store(p, RCX, T_LEFT);
}

/* Out of line: to the engine, which finds block `id` by the edge. */
static uint8_t *emit_hit(struct arena *a, uint32_t id, bool give_rcx_back)
{
	struct edge *e = &eng.edges[eng.n_edges];

	*e = (struct edge){ .target = eng.blocks[id].pc, .hit = id };
	a->cold = emit_stub(a->cold, eng.n_edges++);
	if (give_rcx_back)
		gs_load(a->cold -= 9, RCX, T_SCRATCH);
	return a->cold;
}

/*
 * Take the block's amount off. `check`: unless the sample lies in it; without, it is known that it does not, or
 * that it is drafted.
 */
uint8_t *emit_every(struct arena *a, uint8_t *p, const struct block *b, bool flags_free, bool check)
{
	uint32_t id = (uint32_t)(b - eng.blocks);
	unsigned n = every_amount(b);

	if (!n)
		return p;
	if (flags_free) {
		p = take_off(p, n);
		if (!check)
			return p;
		PUT(p, 0x0f, 0x88); /* js */
		put32(p, (uint32_t)(emit_hit(a, id, false) - (p + 4)));
		return p + 4;
	}
	p = take_off_by_rcx(p, n);
	if (check) {
		PUT(p, 0x65, 0x8b, 0x0c, 0x25); /* mov ecx, gs:[left + 4] */
		p = put32(p, T_LEFT + 4);
		PUT(p, 0x67, 0xe3, 5, 0xe9); /* jecxz over the jmp */
		put32(p, (uint32_t)(emit_hit(a, id, true) - (p + 4)));
		p += 4;
	}
	return gs_load(p, RCX, T_SCRATCH);
}

/* ---- in the engine ---- */

/* Out of translated code: maybe by a block that the next sample lies in; maybe from a sampled instruction. */
void every_enter(struct thread *t)
{
	uint32_t hit = t->edge ? eng.edges[t->edge].hit : 0;

	if (hit) {
		const struct block *b = &eng.blocks[hit];

		t->left += every_amount(b);
		t->around.from = b->pc;
		t->around.to = b->pc + b->src_len;
		memcpy(t->around.adds, facts_of(eng.process->lineage, b->counter)->adds, sizeof t->around.adds);
		t->sampling = 1;
		next_leg(t);
	}
	sample_take(t, t->edge ? eng.edges[t->edge].target : t->target);
}

/*
 * How many instructions come before the sampled one in the straight run of code from `pc`, which is `in`; -1 when it
 * is further on.
 */
static int distance(const struct thread *t, uint64_t pc, struct insn *in, unsigned *which)
{
	int64_t left = t->left;

	for (int i = 0; i < BLOCK_INSNS; i++) {
		size_t room = code_room(pc);
		unsigned amount;

		if (!room || !insn_decode(in, (const uint8_t *)pc, room) || !insn_copied(in))
			return -1;
		amount = amount_of(in);
		if (left < amount) {
			*which = (unsigned)left;
			return i;
		}
		left -= amount;
		pc += in->len;
		if (in->kind != K_PLAIN)
			return -1;
	}
	return -1;
}

/*
 * The next sample may be near: the part of the block at t->target up to it, or the sampled instruction with
 * its draft made. NULL: it is further on.
 */
struct block *every_block(struct thread *t)
{
	bool once = t->one_shot;
	struct insn in;
	unsigned which;
	int n = distance(t, t->target, &in, &which);

	if (n == 0) {
		t->sampling = 0;
		sample_draft(t, &in, t->target, which);
	} else if (n < 0 || once) {
		t->sampling = n > 0;
		return NULL;
	}
	t->one_shot = 0;
	return once ? translate(t->target, false, true) : translate_part(t->target, n ? (unsigned)n : 1);
}

/* An instruction at `pc` that the engine executed itself has been counted, or will no longer have been. */
void every_correct(struct thread *t, const struct block_facts *f, int64_t sign)
{
	if (eng.mode & COUNT_EVERY)
		t->left -= sign * f->adds[eng.board->every.class];
}

void every_special(struct thread *t, const struct insn *in, uint64_t pc, uint64_t next)
{
	if (!(eng.mode & COUNT_EVERY) || t->left >= 0)
		return;
	next_leg(t);
	if (t->left >= 0)
		return;
	sample_draft(t, in, pc, (unsigned)(t->left + amount_of(in)));
	if (!t->draft.by) /* how far that came is seen when the engine is entered again, at once */
		sample_take(t, next);
}
