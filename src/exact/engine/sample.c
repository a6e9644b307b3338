/* SPDX-License-Identifier: MIT */
/*
 * Takes samples. A draft is made before the sampled instruction is executed, since that may change
 * registers. It becomes a sample when the instruction has retired, and is discarded if the
 * instruction faults or a signal arrives first. Then the thread waits until its ring has room, so
 * nothing is lost.
 */
#include <asm/prctl.h>
#include <asm/unistd.h>
#include <linux/errno.h>
#include "exact/engine/engine.h"

enum { WAIT_MS = 100, FRAME_MAX = 1 << 24, MANY = 8, FRAMELESS = 16, APART = 1000 };

static struct sample_ring *ring_of(struct thread *t)
{
	return (struct sample_ring *)((uint8_t *)t + SAMPLE_RING);
}

static struct sample_record *draft_of(struct thread *t)
{
	return (struct sample_record *)((uint8_t *)t + SAMPLE_DRAFT);
}

/*
 * The call chain. First functions without a frame, or without one at this pc, are unwound by their
 * code, up to the first one that has a frame; all others by frame pointers, as long as these are
 * valid: further up the stack, return address in code.
 */
static uint32_t callers(const struct thread *t, uint64_t pc, uint64_t *out, uint32_t n)
{
	uint64_t at = t->regs[RBP], below = t->regs[RSP], frame[2];
	uint32_t found = 0;
	struct call_frame f;

	while (found < n && found < FRAMELESS && frame_find(pc, below, at, &f)) {
		bool has_frame = f.slot == at + 8;

		out[found++] = pc = f.to;
		below = f.slot + 8;
		at = f.bp;
		if (has_frame)
			break;
	}
	while (found < n && at >= below && at - below < FRAME_MAX && !(at & 7) &&
	       copy_bytes(frame, (const void *)at, sizeof frame) == sizeof frame &&
	       region_of(frame[1])) {
		out[found++] = frame[1];
		below = at + 1;
		at = frame[0];
	}
	return found;
}

static uint8_t *put_counts(uint8_t *p)
{
	return p + (EXACT_CLASSES + 1) * sizeof(int64_t); /* filled in when the sample is taken */
}

/* The addresses of thread-local memory, and the current contents of the requested memory. */
static uint8_t *put_peeks(uint8_t *p, const struct thread *t, uint64_t tsc)
{
	const struct every *e = &eng.every;
	uint64_t *out = (uint64_t *)p;

	out[0] = 0;
	sys(__NR_arch_prctl, ARCH_GET_FS, out);
	out[1] = t->rseq;
	for (uint32_t i = 0; i < e->n_peek; i++) {
		uint64_t at = e->peek[i] + (e->peek_fs >> i & 1 ? *out : 0);

		out[i + 2] = 0;
		if (copy_bytes(&out[i + 2], (const void *)at, 8))
			mapping_of_data(at, t->regs[RSP], tsc);
	}
	return p + (e->n_peek + 2) * 8;
}

static uint8_t *put_registers(uint8_t *p, const struct thread *t)
{
	memcpy(p, t->regs, sizeof t->regs);
	memcpy(p + sizeof t->regs, &t->flags, sizeof t->flags);
	return p + SAMPLE_REGISTERS * 8;
}

/* The target of a branch, if it is encoded in the instruction. */
static void draft_branch(struct thread *t, const struct insn *in, uint64_t pc,
			 struct sample_record *r)
{
	t->draft.branch = in->kind >= K_JCC && in->kind <= K_RET ? in->kind : 0;
	if (!t->draft.branch)
		return;
	t->draft.to_next = in->kind <= K_LOOP && !in->imm;
	if (in->kind != K_JCC && in->kind != K_LOOP && in->kind != K_JMP && in->kind != K_CALL)
		return;
	r->has |= SAMPLE_HAS_TARGET;
	r->target = pc + in->len + (uint64_t)in->imm;
}

/*
 * The branch went to `next`. A conditional branch to the next instruction does not show whether it
 * was taken.
 */
static void take_branch(const struct thread *t, uint64_t next, struct sample_record *r)
{
	if (!(r->has & SAMPLE_HAS_TARGET)) {
		r->has |= SAMPLE_HAS_TARGET;
		r->target = next;
	}
	if (t->draft.branch > K_LOOP || (next == r->target && !t->draft.to_next))
		r->has |= SAMPLE_HAS_OUTCOME | SAMPLE_TAKEN;
	else if (!t->draft.to_next)
		r->has |= SAMPLE_HAS_OUTCOME;
}

static void draft_repeats(struct thread *t, const struct insn *in)
{
	unsigned by = (in->opcode & 0xfe) == 0xac ? RSI : RDI; /* lods; all others move rdi */

	t->draft.by = insn_repeats(in) ? by : 0;
	t->draft.narrow = !!(in->prefix & P_67);
	t->draft.moved = t->regs[by];
}

/* Number of bytes that a string instruction advanced; negative: downwards. */
static int64_t came(const struct thread *t)
{
	uint64_t by = t->regs[t->draft.by] - t->draft.moved;

	return t->draft.narrow ? (int32_t)by : (int64_t)by;
}

/* The whole range that a string instruction accessed, from the lowest byte on. */
static void put_operand(const struct thread *t, const struct operand *o, struct sample_record *r)
{
	int64_t by = t->draft.by ? came(t) : 0;

	r->has |= o->what;
	r->address = o->address;
	r->bytes = o->what ? t->draft.width : 0;
	if (t->draft.by)
		r->bytes = by < 0 ? -(uint64_t)by : (uint64_t)by;
	if (by < 0)
		r->address -= r->bytes - t->draft.width;
}

/*
 * A straight run of code is executed as a whole, so a sample in it shows what the whole run adds.
 * If samples are so close that one execution may contain several, only the instruction's own
 * amounts count.
 */
static void draft_adds(struct thread *t, const struct block_facts *own, uint64_t pc,
		       struct sample_record *r)
{
	if (eng.every.n_events == 1 && eng.every.event[0].n >= APART && pc >= t->around.from &&
	    pc < t->around.to)
		memcpy(r->adds, t->around.adds, sizeof t->around.adds);
	else
		memcpy(r->adds, own->adds, sizeof own->adds);
	t->around.to = 0; /* the rest of the run is a block of its own */
}

/* Operand `which` of the event's class; few instructions have one. */
static struct operand operand_of(const struct thread *t, const struct insn *in, uint64_t pc,
				 unsigned event, uint64_t which)
{
	struct operand o = { 0 };

	if (which < MANY)
		o.what = access_of(t, in, pc, eng.every.event[event].class, (unsigned)which,
				   &o.address);
	return o;
}

/*
 * The event's next sample is operand `which`. If an instruction has several loads or stores, each
 * one may be a sample.
 */
static void draft_operands(struct thread *t, const struct insn *in, uint64_t pc, unsigned event,
			   uint64_t which)
{
	const struct every *e = &eng.every;
	struct operand *o = t->sampler[event].operand;

	memset(o, 0, sizeof t->sampler[event].operand);
	o[0] = operand_of(t, in, pc, event, which);
	for (unsigned i = 1; i <= LATER_MAX && (e->jitter || e->event[event].n < MANY); i++)
		o[i] = operand_of(t, in, pc, event, which + period_ahead(t, event, i));
	if (o[0].what)
		t->draft.width = insn_width(in, (const uint8_t *)pc);
}

/* The reader needs the mappings of the accessed memory before the sample. */
static void explain_operands(const struct thread *t, unsigned event, uint64_t tsc)
{
	for (unsigned i = 0; i <= LATER_MAX; i++)
		if (t->sampler[event].operand[i].what & SAMPLE_HAS_ADDRESS)
			mapping_of_data(t->sampler[event].operand[i].address, t->regs[RSP], tsc);
}

/*
 * Is the instruction, which adds `own`, a sample? It may only be the one before a call of
 * callback.c.
 */
static bool is_sampled(const int64_t left[COUNTDOWNS], const struct block_facts *own)
{
	for (unsigned e = 0; e < eng.every.n_events; e++)
		if (left[e] < own->adds[eng.every.event[e].class])
			return true;
	return false;
}

static bool is_due(const struct thread *t)
{
	for (unsigned e = 0; e < eng.every.n_events; e++)
		if (t->left[e] < 0)
			return true;
	return false;
}

/*
 * The instruction at `pc` is the next sample of each event e if it adds more than left[e] to the
 * class of e; `left` is the value before the instruction. The sample is operand left[e] of that
 * class, from 0.
 */
void sample_draft(struct thread *t, const struct insn *in, uint64_t pc,
		  const int64_t left[COUNTDOWNS])
{
	const struct every *e = &eng.every;
	struct sample_record *r = draft_of(t);
	struct block_facts own = { 0 };
	uint8_t *p = (uint8_t *)(r + 1);
	uint32_t chain, stack;

	facts_add(&own, in);
	t->drafted = 1;
	t->draft.branch = 0;
	draft_repeats(t, in);
	if (!is_sampled(left, &own))
		return;
	*r = (struct sample_record){ .pc = pc, .tsc = read_ticks() };
	draft_adds(t, &own, pc, r);
	t->draft.width = 0;
	for (unsigned i = 0; i < e->n_events; i++)
		if (left[i] < own.adds[e->event[i].class]) {
			draft_operands(t, in, pc, i, (uint64_t)left[i]);
			explain_operands(t, i, r->tsc);
		}
	draft_branch(t, in, pc, r);
	if (e->counts || (e->counts_once && !t->sampler[0].samples)) {
		r->has |= SAMPLE_HAS_COUNTS;
		p = put_counts(p);
	}
	if (e->registers) {
		r->has |= SAMPLE_HAS_REGISTERS;
		p = put_registers(p, t);
	}
	if (e->n_peek) {
		r->has |= SAMPLE_HAS_PEEKS;
		p = put_peeks(p, t, r->tsc);
	}
	r->chain = chain = callers(t, pc, (uint64_t *)p, e->chain);
	p += chain * 8;
	r->stack = stack = (uint32_t)copy_bytes(p, (const void *)t->regs[RSP], e->stack);
	memset(p + stack, 0, -stack & 7);
	r->size = (uint32_t)(p - (uint8_t *)r) + ((stack + 7) & ~7u);
}

/* Wait for room for `size` bytes; false if there is no reader. */
static bool wait_for_room(struct sample_ring *r, uint32_t size)
{
	struct every *e = &eng.shared->every;

	for (;;) {
		uint32_t moved = r->moved;
		uint64_t used = r->head - __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE);

		if (used > SAMPLE_BYTES_SIZE)
			refuse_overwritten();
		if (used + size <= SAMPLE_BYTES_SIZE)
			return true;
		if (e->nobody || supervisor_gone())
			return false;
		e->waiting = 1;
		ring();
		futex_wait(&r->moved, moved, WAIT_MS);
	}
}

static void push(struct thread *t, const struct sample_record *record)
{
	struct sample_ring *r = ring_of(t);
	uint8_t *bytes = (uint8_t *)t + SAMPLE_BYTES;
	uint64_t at = r->head % SAMPLE_BYTES_SIZE, first = SAMPLE_BYTES_SIZE - at;
	uint32_t size = __atomic_load_n(&record->size, __ATOMIC_RELAXED);

	if (size > SAMPLE_BYTES - SAMPLE_DRAFT)
		refuse_overwritten();
	if (!wait_for_room(r, size))
		return;
	if (first > size)
		first = size;
	memcpy(bytes + at, record, first);
	memcpy(bytes, (const uint8_t *)record + first, size - first);
	__atomic_store_n(&r->head, r->head + size, __ATOMIC_RELEASE);
	if (r->head - r->tail > SAMPLE_BYTES_SIZE / 2 && !eng.shared->every.waiting) {
		eng.shared->every.waiting = 1;
		ring();
	}
}

/* Take the samples of one event, until its `left` is positive again. */
static void take_of_event(struct thread *t, unsigned event, struct sample_record *r)
{
	const struct every *e = &eng.every;
	struct sampler *s = &t->sampler[event];
	uint32_t has = r->has;

	r->event = event;
	for (unsigned i = 0; t->left[event] < 0; i++) {
		r->number = ++s->samples;
		if (e->most && s->samples > e->most) {
			period_restart(t, event, NEVER);
			break;
		}
		period_restart(t, event, t->left[event] + period_gap(t, event));
		r->has = has;
		put_operand(t, i <= LATER_MAX ? &s->operand[i] : &(struct operand){ 0 }, r);
		push(t, r);
	}
	r->has = has;
}

/*
 * The draft's instruction has retired, if the counts have reached the sample. `next`: the
 * instruction at which the thread continues; 0: not known yet.
 */
void sample_take(struct thread *t, uint64_t next)
{
	const struct every *e = &eng.every;
	const struct process *p = process_at(t->process);
	struct sample_record *r = draft_of(t);

	if (!t->drafted)
		return;
	t->drafted = 0;
	period_check(t);
	if (!period_run_out(t)) {
		t->sampling = 1; /* not retired: the sample is the next instruction that retires */
		return;
	}
	callback_take(t);
	if (!is_due(t))
		return;
	if (t->draft.branch && next)
		take_branch(t, next, r);
	/*
	 * Time of retirement: a system call may have taken long. Published first, as the thread may
	 * wait or be preempted before it writes the sample.
	 */
	__atomic_store_n(&ring_of(t)->since, read_ticks(), __ATOMIC_SEQ_CST);
	r->tsc = read_ticks();
	r->serial = p->serial;
	r->born = t->born;
	r->stable_id = t->stable_id;
	r->pid = p->pid;
	r->tid = t->tid;
	if (r->has & SAMPLE_HAS_COUNTS) {
		thread_sums(t, (int64_t *)(r + 1));
		((uint64_t *)(r + 1))[EXACT_CLASSES] = t->path;
	}
	for (unsigned i = 0; i < e->n_events; i++)
		take_of_event(t, i, r);
	__atomic_store_n(&ring_of(t)->since, 0, __ATOMIC_RELEASE);
}
