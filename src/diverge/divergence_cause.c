/* SPDX-License-Identifier: MIT */
/*
 * Both runs took the same path up to the place, so each instruction is recorded twice, with its
 * input registers. The branch at which they diverge depends on flags, a register or memory. This
 * follows that dependency backwards: which instruction wrote it last, and from which inputs. A
 * register with the same value in both runs is no cause. For memory and vector registers the
 * values are unknown, so all of them are followed. It stops where a value came from outside.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "diverge/divergence_cause.h"

const char *const register_names[16] = { "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
					 "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15" };

enum { RAX = 0, RSP = 4, RCX = 1, RSI = 6, RDI = 7 };

#define BUDGET   100000000u   /* steps examined in total */
#define FS_SPACE (1ull << 62) /* addresses relative to the thread's FS base, which is unknown */

enum what { FLAGS, REGISTER, VECTOR, MEMORY };

/* The searched value: its value before step `at`. If later steps wrote part of it, the rest:
 * its value before step `since`. */
struct thing {
	enum what what;
	unsigned number; /* of the register */
	uint64_t address;
	unsigned size;
	size_t at, since;
	bool in_part;
	unsigned depth; /* instructions that passed it on from there */
};

/* The effects of each distinct instruction, found by its address. */
struct known {
	uint64_t pc;
	struct disasm_effects effects;
};

struct slice {
	const struct divergence *d;
	struct disasm *disasm;
	code_at_fn *code;
	void *with;
	struct known *known; /* open addressing */
	size_t mask, n;
	uint32_t *index; /* per step: index in known */
	uint64_t budget;
	uint64_t fs_base; /* or 0 */
	struct cause *out;
	struct cause places; /* of these only */
	struct cause open;   /* the first path that led out of the recorded steps */
	uint8_t *seen;       /* per step: its inputs were followed */
	struct thing *todo;  /* a stack: the last one is next */
	size_t n_todo, todo_room;
	bool doubt;      /* some path was not followed to its end */
	bool from_start; /* memory that the thread never wrote */
	bool from_file;  /* memory that it did not write after mapping it */
};

static const struct diverge_step *step_of(const struct slice *s, size_t i)
{
	return &s->d->run[0].step[i];
}

static const struct disasm_effects *effects_of(const struct slice *s, size_t i)
{
	return &s->known[s->index[i]].effects;
}

static bool differs(const struct slice *s, size_t i, unsigned reg)
{
	return s->d->run[0].step[i].regs[reg] != s->d->run[1].step[i].regs[reg];
}

static bool ends_handler(const struct slice *s, size_t i)
{
	enum { RT_SIGRETURN = 15 };

	return effects_of(s, i)->kind == EFFECT_SYSCALL && step_of(s, i)->regs[0] == RT_SIGRETURN;
}

/* A call with unknown effects: it writes somewhere, or it ends a signal handler. */
static bool is_obscure_call(const struct slice *s, size_t i)
{
	return ends_handler(s, i) ||
		(effects_of(s, i)->kind == EFFECT_SYSCALL &&
		 call_may_write((int)step_of(s, i)->regs[0]));
}

/* The next executed instruction is not the following one: a signal handler starts. */
static bool is_left(const struct slice *s, size_t i)
{
	const struct disasm_effects *e = effects_of(s, i);

	return i < s->d->at && e->kind != EFFECT_JUMP && e->size &&
		step_of(s, i + 1)->pc != step_of(s, i)->pc + e->size;
}

/*
 * After step i, which ends a signal handler, registers are as they were when the signal arrived:
 * before the returned step. That is the step after the interrupted call, or the call itself if it
 * is restarted. Returns i if it was not recorded.
 */
static size_t before_signal(const struct slice *s, size_t i)
{
	const struct diverge_step *then = step_of(s, i + 1);

	for (size_t k = i; k-- > 0;) {
		const struct diverge_step *left = step_of(s, k);
		bool again = then->pc == left->pc;

		if (left->regs[RSP] == then->regs[RSP] && is_left(s, k) &&
		    (again || then->pc == left->pc + effects_of(s, k)->size))
			return again ? k : k + 1;
	}
	return i;
}

/* The thread's FS base, from an instruction that reads the self pointer in the TCB. Source: the
 * x86-64 ABI. */
static uint64_t own_base(const struct slice *s, size_t steps)
{
	enum { SELF = 0x10 };

	for (size_t i = 0; i + 1 < steps; i++) {
		const struct disasm_effects *e = effects_of(s, i);
		uint32_t to = e->writes & 0xffff;

		if (e->n_memory == 1 && e->memory[0].fs && e->memory[0].read &&
		    e->memory[0].size == 8 && e->memory[0].offset == SELF &&
		    e->memory[0].base == EFFECT_NO_REGISTER &&
		    e->memory[0].index == EFFECT_NO_REGISTER && e->moves && to && !(to & (to - 1)))
			return step_of(s, i + 1)->regs[__builtin_ctz(to)];
	}
	return 0;
}

static int learn(struct slice *s)
{
	size_t steps = s->d->at + 1, room = 1024;

	while (room < 2 * steps)
		room *= 2;
	s->known = calloc(room, sizeof(*s->known));
	s->index = calloc(steps, sizeof(*s->index));
	s->seen = calloc(steps, sizeof(*s->seen));
	if (!s->known || !s->index || !s->seen)
		return -ENOMEM;
	s->mask = room - 1;
	for (size_t i = 0; i < steps; i++) {
		uint64_t pc = step_of(s, i)->pc;
		size_t at = (pc * 0x9e3779b97f4a7c15ull >> 20) & s->mask;
		uint8_t bytes[16];
		size_t n;

		while (s->known[at].pc && s->known[at].pc != pc)
			at = (at + 1) & s->mask;
		s->index[i] = (uint32_t)at;
		if (s->known[at].pc)
			continue;
		s->known[at].pc = pc;
		n = s->code(s->with, pc, bytes, sizeof(bytes));
		if (n)
			disasm_effects(s->disasm, bytes, n, pc, &s->known[at].effects);
	}
	s->fs_base = own_base(s, steps);
	for (size_t i = 0; i < steps; i++)
		s->doubt |= !effects_of(s, i)->size || is_obscure_call(s, i) || is_left(s, i);
	return 0;
}

static uint64_t address_in(const struct slice *s, size_t i, const struct effect_memory *m,
			   unsigned run)
{
	const uint64_t *regs = s->d->run[run].step[i].regs;
	uint64_t address = (uint64_t)m->offset;

	if (m->base != EFFECT_NO_REGISTER)
		address += regs[m->base];
	if (m->index != EFFECT_NO_REGISTER)
		address += regs[m->index] * m->scale;
	if (m->fs && s->fs_base)
		return address + s->fs_base;
	return m->fs ? address | FS_SPACE : address;
}

static uint64_t address_of(const struct slice *s, size_t i, const struct effect_memory *m)
{
	return address_in(s, i, m, 0);
}

/* How many bytes from there. */
static uint64_t extent_of(const struct slice *s, size_t i, const struct effect_memory *m)
{
	return m->repeated ? step_of(s, i)->regs[RCX] * m->size : m->size;
}

/* A register that step i wrote differs, no register that it read does, and it read one place in
 * memory. */
static bool read_what_differs(const struct slice *s, size_t i, uint64_t value[2])
{
	const struct disasm_effects *e = effects_of(s, i);
	unsigned read = 0;
	bool other = false;

	for (unsigned k = 0; k < e->n_memory; k++)
		read += e->memory[k].read;
	for (unsigned r = 0; r < 16; r++) {
		if ((e->reads & 1u << r) && differs(s, i, r))
			return false;
		if (!(e->writes & 1u << r) || i == s->d->at || !differs(s, i + 1, r))
			continue;
		other = true;
		for (unsigned run = 0; run < 2; run++)
			value[run] = s->d->run[run].step[i + 1].regs[r];
	}
	return other && read == 1 && !e->vec_reads && !(e->reads & EFFECT_FLAGS) && !e->in_part;
}

/* Memory that differs, and that no differing value was written to in the recorded steps: to be
 * watched. */
static void note_place(struct slice *s, const struct thing *t)
{
	struct cause *c = &s->places;

	for (unsigned done = 0; done < t->size; done += 8) {
		struct cause_place p = { .address = (t->address & ~FS_SPACE) + done,
					 .fs = t->address & FS_SPACE,
					 .size = t->size - done < 8 ? t->size - done : 8,
					 .at = t->at };
		unsigned i = 0;

		p.differs = t->size <= 8 && read_what_differs(s, t->at, p.value);
		while (i < c->places &&
		       (c->place[i].address != p.address || c->place[i].fs != p.fs))
			i++;
		if (i == DIVERGE_PLACES_MAX) {
			s->doubt = true;
			return;
		}
		if (i == c->places ||
		    c->place[i].at < p.at) /* an addition to memory also read it */
			c->place[i] = p;
		c->places += i == c->places;
	}
}

static bool arrive(struct slice *s, enum cause_kind kind, size_t step, unsigned depth)
{
	s->out->kind = kind;
	s->out->step = step;
	s->out->has_step = true;
	s->out->hops = depth;
	return true;
}

/* It changes the memory at that address, and its only other inputs are registers: add, cmpxchg. */
static bool updates(const struct slice *s, size_t i, uint64_t address)
{
	const struct disasm_effects *e = effects_of(s, i);

	return e->n_memory == 1 && e->memory[0].read && e->memory[0].write && !e->swaps &&
		address_of(s, i, &e->memory[0]) == address;
}

static void follow_later(struct slice *s, struct thing t)
{
	if (array_reserve(&s->todo, &s->todo_room, s->n_todo + 1, sizeof(*s->todo)))
		s->todo[s->n_todo++] = t;
	else
		s->doubt = true;
}

static void follow_registers(struct slice *s, size_t i, uint32_t which, unsigned depth)
{
	for (unsigned r = 16; r-- > 0;) {
		if (!(which & 1u << r) || !differs(s, i, r))
			continue;
		follow_later(
			s,
			(struct thing){ .what = REGISTER, .number = r, .at = i, .depth = depth });
		if (s->out->value_in < 0 || i <= s->out->value_at) {
			s->out->value_in = (int)r;
			s->out->value_at = i;
		}
	}
}

/* For movs: at the same offset as in the destination. */
static void follow_memory(struct slice *s, size_t i, const struct effect_memory *m,
			  uint64_t address, unsigned depth)
{
	struct thing t = { .what = MEMORY,
			   .size = m->size,
			   .at = i,
			   .address = address_of(s, i, m),
			   .depth = depth };

	if (m->repeated && address)
		t.address += address - step_of(s, i)->regs[RDI];
	follow_later(s, t);
}

/* Adds the inputs of `t` at step i; `t` NULL: everything that it read. The last one added is
 * followed first. */
static void follow_sources(struct slice *s, size_t i, const struct thing *t)
{
	const struct disasm_effects *e = effects_of(s, i);
	uint64_t address = t && t->what == MEMORY ? t->address : 0;
	bool repeated = e->n_memory && e->memory[0].repeated,
	     swapped = e->swaps && e->n_memory == 1 && t;
	unsigned depth = t ? t->depth + 1 : 1;

	s->doubt |= e->in_part;
	if (s->seen[i] && !swapped &&
	    !(repeated && address)) /* for movs, other bytes may be needed later */
		return;
	s->seen[i] = true;
	if (e->reads & EFFECT_FLAGS)
		follow_later(s, (struct thing){ .what = FLAGS, .at = i, .depth = depth });
	for (unsigned v = 32; v-- > 0;)
		if (e->vec_reads & 1u << v)
			follow_later(
				s,
				(struct thing){
					.what = VECTOR, .number = v, .at = i, .depth = depth });
	for (unsigned k = e->n_memory; k-- > 0;)
		if (e->memory[k].read && !(address && (swapped || updates(s, i, address))))
			follow_memory(s, i, &e->memory[k], address, depth);
	if (!(swapped && t->what == REGISTER))
		follow_registers(s, i, e->reads, depth);
}

/* Did step i write it? */
static bool writes(const struct slice *s, size_t i, const struct thing *t)
{
	const struct disasm_effects *e = effects_of(s, i);

	switch (t->what) {
	case FLAGS:
		return e->writes & EFFECT_FLAGS;
	case REGISTER:
		return e->writes & 1u << t->number;
	case VECTOR:
		return e->vec_writes & 1u << t->number;
	case MEMORY:
		if (e->kind == EFFECT_SYSCALL)
			return call_writes(step_of(s, i)->regs, t->address);
		for (unsigned k = 0; k < e->n_memory; k++)
			for (unsigned run = 0; run < 2 && e->memory[k].write && s->d->run[run].step;
			     run++) {
				uint64_t at = address_in(s, i, &e->memory[k], run);

				if (t->address < at + extent_of(s, i, &e->memory[k]) &&
				    at < t->address + t->size)
					return true;
			}
	}
	return false;
}

/* Did it write all of it, independent of the old value? */
static bool writes_all(const struct slice *s, size_t i, const struct thing *t)
{
	const struct disasm_effects *e = effects_of(s, i);

	if (t->what != MEMORY)
		return true;
	if (updates(s, i, t->address))
		return false;
	for (unsigned k = 0; k < e->n_memory; k++) {
		uint64_t at = address_of(s, i, &e->memory[k]);

		if (e->memory[k].write && at <= t->address &&
		    at + extent_of(s, i, &e->memory[k]) >= t->address + t->size)
			return true;
	}
	return false;
}

static void leave_open(struct slice *s, const struct thing *t)
{
	if (t->what == MEMORY)
		note_place(s, t);
	s->doubt |= t->what != MEMORY || (t->address & FS_SPACE) || s->d->first > 1;
	s->from_start = true;
	if (s->open.kind == CAUSE_THREADS ||
	    (s->open.kind == CAUSE_BEFORE && (s->open.address || t->what != MEMORY)))
		return; /* memory is more informative than a register */
	s->open = (struct cause){
		.kind = CAUSE_BEFORE, .held_in = -1, .value_in = -1, .hops = t->depth
	};
	if (t->what == MEMORY && !(t->address & FS_SPACE))
		s->open.address = t->address;
	if (t->what == REGISTER)
		s->open.held_in = (int)t->number;
}

/* Step i is a call that created the mapping. */
static bool maps(const struct slice *s, size_t i, const struct thing *t)
{
	enum { MMAP = 9 };
	const struct diverge_step *step = step_of(s, i);

	return t->what == MEMORY && effects_of(s, i)->kind == EFFECT_SYSCALL &&
		step->regs[0] == MMAP && i < s->d->at &&
		t->address - step_of(s, i + 1)->regs[0] < step->regs[RSI];
}

/* The contents of a new mapping: zeros or a file's. */
static void leave_mapped(struct slice *s, size_t i, const struct thing *t)
{
	enum { SHARED = 1, ANONYMOUS = 0x20, R10 = 10 };
	uint64_t flags = step_of(s, i)->regs[R10];

	note_place(s, t);
	s->from_file |= (flags & SHARED) || !(flags & ANONYMOUS);
	if (s->open.kind == CAUSE_UNKNOWN)
		s->open = (struct cause){
			.kind = CAUSE_BEFORE, .held_in = -1, .value_in = -1, .address = t->address
		};
}

/* Back to the last writer; true if the value came from outside there. */
static bool follow(struct slice *s, struct thing t)
{
	static const enum cause_kind outside[] = { [EFFECT_TICKS] = CAUSE_TICKS,
						   [EFFECT_CPUID] = CAUSE_CPUID,
						   [EFFECT_CPU_NUMBER] = CAUSE_CPU,
						   [EFFECT_RANDOM] = CAUSE_RANDOM };

	size_t behind = 0; /* the last handler that was skipped */

	for (size_t i = t.in_part ? t.since : t.at; i-- > 0 && s->budget;) {
		const struct disasm_effects *e = effects_of(s, i);

		s->budget--;
		if (t.what != MEMORY && i < s->d->at && ends_handler(s, i) &&
		    before_signal(s, i) < i) {
			behind = i + 1;
			i = before_signal(s, i);
			continue;
		}
		if (maps(s, i, &t)) {
			leave_mapped(s, i, &t);
			return false;
		}
		if (!writes(s, i, &t))
			continue;
		if (e->kind == EFFECT_SYSCALL) {
			s->out->call = (int)step_of(s, i)->regs[0];
			s->out->address = t.what == MEMORY ? t.address : 0;
			if (t.what != MEMORY) { /* what it returned */
				s->out->value_in = RAX;
				s->out->value_at = behind && is_left(s, i) ? behind : i + 1;
			}
			return arrive(s, t.what == MEMORY ? CAUSE_WRITTEN : CAUSE_CALL, i, t.depth);
		}
		if (e->kind == EFFECT_TICKS && t.what == REGISTER && t.number == RCX)
			return arrive(s, CAUSE_CPU, i, t.depth); /* rdtscp */
		if (e->kind == EFFECT_TICKS || e->kind == EFFECT_CPUID ||
		    e->kind == EFFECT_CPU_NUMBER || e->kind == EFFECT_RANDOM)
			return arrive(s, outside[e->kind], i, t.depth);
		if (writes_all(s, i, &t)) {
			/* If nothing is found: the thread last wrote the same value there in
			 * both runs. */
			if (t.what == MEMORY)
				note_place(s, &t);
			if (t.what == MEMORY && s->open.kind == CAUSE_UNKNOWN &&
			    s->d->run[0].threads > 1)
				s->open = (struct cause){ .kind = CAUSE_THREADS,
							  .held_in = -1,
							  .value_in = -1,
							  .address = t.address };
		} else { /* an earlier step wrote the rest */
			struct thing rest = t;

			rest.in_part = true;
			rest.since = i;
			follow_later(s, rest);
		}
		follow_sources(s, i, &t);
		return false;
	}
	leave_open(s, &t);
	return false;
}

/* The target of a direct branch that is taken; 0: the instruction does not encode it. */
static uint64_t target_of(const struct slice *s, size_t i)
{
	uint64_t pc = step_of(s, i)->pc;
	size_t size = effects_of(s, i)->size;
	uint8_t b[16];
	int32_t by;

	if (s->code(s->with, pc, b, sizeof(b)) < size)
		return 0;
	if (size == 2 && ((b[0] & 0xf0) == 0x70 || b[0] == 0xeb))
		return pc + size + (uint64_t)(int8_t)b[1];
	if ((size == 6 && b[0] == 0x0f && (b[1] & 0xf0) == 0x80) ||
	    (size == 5 && (b[0] & 0xfe) == 0xe8)) {
		memcpy(&by, b + size - sizeof(by), sizeof(by));
		return pc + size + (uint64_t)by;
	}
	return 0;
}

/* A branch goes to one of its targets; execution that continues elsewhere was interrupted by a
 * signal. */
static bool came_from_outside(const struct slice *s)
{
	size_t at = s->d->at;
	const struct disasm_effects *e = effects_of(s, at);
	uint64_t behind = step_of(s, at)->pc + e->size, target;

	if (!e->size || e->kind == EFFECT_SYSCALL)
		return false;
	if (e->kind != EFFECT_JUMP)
		return true;
	target = target_of(s, at);
	for (size_t r = 0; target && r < 2; r++)
		if (s->d->run[r].n > at + 1 && s->d->run[r].step[at + 1].pc != target &&
		    s->d->run[r].step[at + 1].pc != behind)
			return true;
	return false;
}

static bool is_open(enum cause_kind kind)
{
	return kind == CAUSE_UNKNOWN || kind == CAUSE_BEFORE || kind == CAUSE_THREADS;
}

/* Follows the value that decides at the place, or is stored there. */
static bool follow_from_place(struct slice *s, const struct cause_place *stored)
{
	const struct thing t = { .what = MEMORY,
				 .address = stored ? stored->address : 0,
				 .size = stored ? stored->size : 0,
				 .at = s->d->at };

	follow_sources(s, s->d->at, stored ? &t : NULL);
	while (s->n_todo)
		if (follow(s, s->todo[--s->n_todo]))
			return true;
	return false;
}

int cause_find(struct cause *out, const struct divergence *d, const struct cause_place *stored,
	       code_at_fn *code, void *with, struct tare_error *err)
{
	struct slice s = { .d = d, .code = code, .with = with, .budget = BUDGET, .out = out };
	const struct disasm_effects *e;
	int ret = disasm_open(&s.disasm, EM_X86_64, false, err);

	*out = (struct cause){ .held_in = -1, .value_in = -1 };
	if (ret == 0 && learn(&s) < 0)
		ret = tare_fail_nomem(err);
	if (ret < 0)
		goto out;
	e = effects_of(&s, d->at);
	if (d->ended) {
		out->kind = CAUSE_END;
	} else if (!stored && came_from_outside(&s)) {
		out->kind = CAUSE_SIGNAL;
	} else if (e->kind == EFFECT_SYSCALL) {
		out->call = (int)step_of(&s, d->at)->regs[0];
		arrive(&s, CAUSE_SIGNAL, d->at, 0);
	} else if (!follow_from_place(&s, stored) && s.open.kind != CAUSE_UNKNOWN) {
		s.open.value_in = out->value_in;
		s.open.value_at = out->value_at;
		*out = s.open;
	}
	memcpy(out->place, s.places.place, sizeof(out->place));
	out->places = s.places.places;
	out->somebody_else = is_open(out->kind) && out->places && !s.doubt && s.budget;
	out->from_start = s.from_start;
	out->from_file = s.from_file;
out:
	disasm_close(s.disasm);
	free(s.known);
	free(s.index);
	free(s.seen);
	free(s.todo);
	return ret;
}

enum cause_writer cause_writer(const struct diverge_step *step, const struct cause_place *p,
			       uint64_t absolute, code_at_fn *code, void *with)
{
	const struct divergence one = { .run[0].step = (struct diverge_step *)step };
	const struct thing t[2] = { { .what = MEMORY,
				      .address = p->fs ? p->address | FS_SPACE : p->address,
				      .size = p->size },
				    { .what = MEMORY, .address = absolute, .size = p->size } };
	struct known known = { .pc = step->pc };
	uint32_t index = 0;
	struct slice s = { .d = &one, .known = &known, .index = &index };
	enum cause_writer found = WRITER_NONE;
	uint8_t bytes[16];
	size_t n = code(with, step->pc, bytes, sizeof(bytes));

	if (!n || disasm_open(&s.disasm, EM_X86_64, false, NULL) < 0)
		return WRITER_NONE;
	disasm_effects(s.disasm, bytes, n, step->pc, &known.effects);
	if (known.effects.kind == EFFECT_SYSCALL)
		found = WRITER_CALL;
	else if (writes(&s, 0, &t[0]) || writes(&s, 0, &t[1]))
		found = WRITER_STORE;
	disasm_close(s.disasm);
	return found;
}
