/* SPDX-License-Identifier: MIT */
/*
 * Takes a sample every N instructions, or every N of another class, for several independent events.
 * A thread's `left` of an event is the number of events before the next sampled one. Each block
 * subtracts its own amounts when it is entered. If that makes a `left` negative, the block contains
 * a sample and is not entered: the engine adds the amounts back, executes the part before the first
 * sampled instruction, prepares the sample, executes the instruction itself, and takes the sample.
 * These two parts are blocks, too, and are kept. They return to the engine at every exit.
 *
 *	sub qword gs:[left], n ; js hit        if no flag is live; else through rcx:
 *	mov gs:[scratch], rcx ; mov rcx, gs:[left] ; lea rcx, [rcx - n] ; mov gs:[left], rcx
 *	mov ecx, gs:[left + 4] ; jecxz on ; jmp hit ; on: mov rcx, gs:[scratch]
 */
#include "exact/stable_id.h"
#include "exact/engine/emit.h"

enum {
	LEG = 0x7fffffff, /* the upper half of `left` is 0 unless it is negative */
	BELOW = 1 << 16,  /* no block, and no correction, makes `left` more negative */
};

/* Copy what to sample, as tare wrote it before the command started. */
void period_begin(void)
{
	struct every *e = &eng.every;
	bool fits;

	if (!(eng.mode & COUNT_EVERY))
		return;
	*e = eng.shared->every;
	fits = e->n_events && e->n_events <= SAMPLE_EVENTS && e->n_peek <= SAMPLE_PEEKS &&
		e->chain <= SAMPLE_CHAIN_MAX && e->stack <= SAMPLE_STACK_MAX;
	for (unsigned i = 0; fits && i < e->n_events; i++)
		fits = e->event[i].n && e->event[i].n <= INT64_MAX / 2 &&
			e->event[i].class < EXACT_CLASSES;
	if (!fits)
		refuse_overwritten();
	eng.countdowns = e->n_events;
}

/* A program that overwrites `left` must not make a thread take samples forever. */
void period_check(const struct thread *t)
{
	for (unsigned e = 0; e < eng.countdowns; e++)
		if (t->left[e] > LEG || t->left[e] < -BELOW)
			refuse_overwritten();
}

void period_restart(struct thread *t, unsigned event, int64_t left)
{
	t->left[event] = left > LEG ? LEG : left;
	t->sampler[event].left_more = left - t->left[event];
}

/* `left` has run out, or may have, but the sample is further away. */
static void next_legs(struct thread *t)
{
	for (unsigned e = 0; e < eng.countdowns; e++)
		if (t->sampler[e].left_more)
			period_restart(t, e, t->left[e] + t->sampler[e].left_more);
}

bool period_run_out(const struct thread *t)
{
	for (unsigned e = 0; e < eng.countdowns; e++)
		if (t->left[e] < 0)
			return true;
	return false;
}

static unsigned amount_of(const struct block_facts *f, unsigned event)
{
	return f->adds[eng.every.event[event].class];
}

/*
 * The distance to the next sample. With jitter each run of n events has one sample, at a random
 * position: every event has the same probability, no loop is in step with the samples, and a share
 * is known at least as precisely as from as many independent samples. The random numbers are
 * pseudorandom, so that they are the same in each run. Source: Cochran, "Sampling Techniques", 5.6
 * (stratified random sampling with one unit per stratum of equal size); Steele, Lea, Flood, "Fast
 * splittable pseudorandom number generators".
 */
static uint64_t next_gap(uint64_t n, uint64_t *random, uint64_t *offset)
{
	uint64_t before = *offset;

	if (!eng.every.jitter)
		return n;
	*random = stable_id_of(*random, STABLE_ID_RANDOM);
	*offset = (*random >> 8) % n;
	return n - before + *offset;
}

int64_t period_gap(struct thread *t, unsigned event)
{
	struct sampler *s = &t->sampler[event];

	if (s->offset >= eng.every.event[event].n)
		refuse_overwritten();
	return (int64_t)next_gap(eng.every.event[event].n, &s->random, &s->offset);
}

/* The sum of the event's next `i` distances. */
uint64_t period_ahead(const struct thread *t, unsigned event, unsigned i)
{
	uint64_t random = t->sampler[event].random, offset = t->sampler[event].offset, sum = 0;

	while (i--)
		sum += next_gap(eng.every.event[event].n, &random, &offset);
	return sum;
}

/*
 * All events start with the same random state, so each has the same samples as if it were the only
 * one.
 */
void period_first(struct thread *t)
{
	const struct every *e = &eng.every;

	for (unsigned i = e->n_events; i < COUNTDOWNS; i++)
		period_restart(t, i, NEVER);
	for (unsigned i = 0; i < e->n_events; i++) {
		t->sampler[i].random = t->stable_id;
		/* the first run of n starts with the thread */
		t->sampler[i].offset = e->event[i].n - 1;
		if (e->only && e->only != t->stable_id)
			period_restart(t, i, NEVER);
		else
			period_restart(t, i, (e->first ? (int64_t)e->first : period_gap(t, i)) - 1);
	}
}

/* ---- what blocks begin with ---- */

static uint8_t *take_off(uint8_t *p, unsigned event, unsigned n)
{
	PUT(p, 0x65, 0x48, 0x81, 0x2c, 0x25); /* sub qword gs:[left], n */
	p = put32(p, T_LEFT + 8 * event);
	return put32(p, n);
}

static uint8_t *take_off_by_rcx(uint8_t *p, unsigned event, unsigned n)
{
	p = gs_load(p, RCX, T_LEFT + 8 * event);
	PUT(p, 0x48, 0x8d, 0x89); /* lea rcx, [rcx - n] */
	p = put32(p, -n);
	return gs_store(p, RCX, T_LEFT + 8 * event);
}

/* Out of line: enter the engine, which finds block `id` by the edge. */
static uint8_t *emit_hit(struct arena *a, uint32_t id, unsigned event, bool give_rcx_back)
{
	struct edge *e = &eng.edges[eng.n_edges];

	*e = (struct edge){ .target = eng.blocks[id].pc, .hit = id, .hit_event = event };
	a->cold = emit_stub(a->cold, eng.n_edges++);
	if (give_rcx_back)
		gs_load(a->cold -= 9, RCX, T_SCRATCH);
	return a->cold;
}

/* Jump to `hit` if the countdown is negative. */
static uint8_t *hit_by_flags(uint8_t *p, const uint8_t *hit)
{
	PUT(p, 0x0f, 0x88); /* js */
	return put32(p, (uint32_t)(hit - (p + 4)));
}

static uint8_t *hit_by_rcx(uint8_t *p, unsigned event, const uint8_t *hit)
{
	PUT(p, 0x65, 0x8b, 0x0c, 0x25); /* mov ecx, gs:[left + 4] */
	p = put32(p, T_LEFT + 8 * event + 4);
	PUT(p, 0x67, 0xe3, 5, 0xe9); /* jecxz over the jmp */
	return put32(p, (uint32_t)(hit - (p + 4)));
}

bool period_counts(const struct block *b)
{
	const struct block_facts *f = facts_of(eng.process->lineage, b->counter);

	for (unsigned e = 0; e < eng.countdowns; e++)
		if (amount_of(f, e))
			return true;
	return false;
}

/*
 * Subtract the block's amounts. `check`: exit if it contains a sample; without, it is known that it
 * contains none, or that the sample is prepared.
 */
uint8_t *emit_period(struct arena *a, uint8_t *p, const struct block *b, bool flags_free,
		     bool check)
{
	const struct block_facts *f = facts_of(eng.process->lineage, b->counter);
	uint32_t id = (uint32_t)(b - eng.blocks);

	if (!flags_free)
		p = gs_store(p, RCX, T_SCRATCH);
	for (unsigned e = 0; e < eng.countdowns; e++) {
		unsigned n = amount_of(f, e);

		if (!n)
			continue;
		p = flags_free ? take_off(p, e, n) : take_off_by_rcx(p, e, n);
		if (check)
			p = flags_free ? hit_by_flags(p, emit_hit(a, id, e, false))
				       : hit_by_rcx(p, e, emit_hit(a, id, e, true));
	}
	return flags_free ? p : gs_load(p, RCX, T_SCRATCH);
}

/* ---- in the engine ---- */

/*
 * Entry from translated code: maybe from a block that contains a sample, maybe from a sampled
 * instruction.
 */
void period_enter(struct thread *t)
{
	const struct edge *edge = &eng.edges[t->edge];

	if (t->edge && edge->hit) {
		const struct block *b = &eng.blocks[edge->hit];
		const struct block_facts *f = facts_of(eng.process->lineage, b->counter);

		for (unsigned e = 0; e <= edge->hit_event; e++)
			t->left[e] += amount_of(f, e);
		t->around.from = b->pc;
		t->around.to = b->pc + b->src_len;
		memcpy(t->around.adds, f->adds, sizeof t->around.adds);
		t->sampling = 1;
		next_legs(t);
		period_check(t);
	}
	sample_take(t, t->edge ? edge->target : t->target);
}

/*
 * Number of instructions before the first sampled one in the straight-line code from `pc`, which is
 * `in`; -1: the sample is further away.
 */
static int distance(const struct thread *t, uint64_t pc, struct insn *in)
{
	int64_t left[COUNTDOWNS];

	memcpy(left, t->left, sizeof left);
	for (int i = 0; i < BLOCK_INSNS; i++) {
		struct block_facts f = { 0 };
		size_t room = code_room(pc);
		bool sampled = false;

		if (!room || !insn_decode(in, (const uint8_t *)pc, room) || !insn_copied(in))
			return -1;
		facts_add(&f, in);
		for (unsigned e = 0; e < eng.countdowns; e++) {
			left[e] -= amount_of(&f, e);
			sampled |= left[e] < 0;
		}
		if (sampled)
			return i;
		pc += in->len;
		if (in->kind != K_PLAIN)
			return -1;
	}
	return -1;
}

/*
 * The next sample may be near. Returns the part of the block at t->target before it, or the sampled
 * instruction after preparing the sample. NULL: the sample is further away.
 */
struct block *period_block(struct thread *t)
{
	bool once = t->one_shot;
	struct insn in;
	int n = distance(t, t->target, &in);

	if (n == 0) {
		t->sampling = 0;
		sample_draft(t, &in, t->target, t->left);
	} else if (n < 0 || once) {
		t->sampling = n > 0;
		return NULL;
	}
	t->one_shot = 0;
	return once ? translate(t->target, false, true)
		    : translate_part(t->target, n ? (unsigned)n : 1);
}

/* An instruction at `pc` that the engine executed was counted, or its count is undone. */
void period_correct(struct thread *t, const struct block_facts *f, int64_t sign)
{
	if (!(eng.mode & COUNT_EVERY))
		return;
	for (unsigned e = 0; e < eng.countdowns; e++)
		if (!callback_is_off(t, e))
			t->left[e] -= sign * amount_of(f, e);
}

void period_special(struct thread *t, const struct insn *in, uint64_t pc, uint64_t next)
{
	struct block_facts f = { 0 };
	int64_t before[COUNTDOWNS];

	if (!(eng.mode & COUNT_EVERY) || !period_run_out(t))
		return;
	next_legs(t);
	if (!period_run_out(t))
		return;
	facts_add(&f, in);
	for (unsigned e = 0; e < eng.countdowns; e++)
		before[e] = t->left[e] + amount_of(&f, e);
	sample_draft(t, in, pc, before);
	/* its progress is known at the next entry to the engine, which is immediate */
	if (!t->draft.by)
		sample_take(t, next);
}
