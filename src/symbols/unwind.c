/* SPDX-License-Identifier: MIT */
/*
 * Unwinds from a sample's registers outwards: the module at pc, its rule (unwind_rules.h), the
 * caller's registers, until there is no rule, no more stack or no caller. Code without call frame
 * information, as from a JIT, is assumed to keep a frame pointer.
 *
 * Source: linux/arch/x86/include/uapi/asm/perf_regs.h and arm64's; System V ABI AMD64 3.7 and i386
 * 2.4.2, "DWARF Register Number Mapping"; DWARF for the Arm 64-bit Architecture, 4.1.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "symbols/unwind.h"
#include "symbols/unwind_rules.h"

/* A processor's properties for unwinding. Registers by their DWARF numbers. */
struct cpu {
	uint16_t machine;
	uint8_t sp, pc, fp, size;
	uint8_t perf_pc;
	uint8_t registers;
	uint64_t address_mask; /* arm64 may sign return addresses in their upper bits (PAC) */
	const uint8_t *perf;   /* DWARF number to perf's number */
};

/* perf's order on x86: AX BX CX DX SI DI BP SP IP FLAGS CS SS DS ES FS GS R8... */
static const uint8_t x86_64_perf[] = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8 };
static const uint8_t i386_perf[] = { 0, 2, 3, 1, 7, 6, 4, 5, 8 };
static const uint8_t arm64_perf[] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
				      11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
				      22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32 };

static const struct cpu x86_64 = { .machine = EM_X86_64,
				   .sp = 7,
				   .pc = 16,
				   .fp = 6,
				   .size = 8,
				   .perf_pc = 8,
				   .registers = 17,
				   .address_mask = UINT64_MAX,
				   .perf = x86_64_perf };
static const struct cpu i386 = { .machine = EM_386,
				 .sp = 4,
				 .pc = 8,
				 .fp = 5,
				 .size = 4,
				 .perf_pc = 8,
				 .registers = 9,
				 .address_mask = UINT32_MAX,
				 .perf = i386_perf };
static const struct cpu arm64 = { .machine = EM_AARCH64,
				  .sp = 31,
				  .pc = 32,
				  .fp = 29,
				  .size = 8,
				  .perf_pc = 32,
				  .registers = 33,
				  .address_mask = (1ull << 48) - 1,
				  .perf = arm64_perf };

struct unwinder {
	unwind_file_of *file_of;
	void *arg;
	struct rule_file *file; /* by module */
	size_t files;
	struct rules rules;

	/* the sample, or the call */
	const struct perfdata_sample *sample;
	const struct maps *maps;
	const struct unwind_call *call;
	struct map here;
	const struct cpu *cpu;
	uint64_t stack_at; /* the start of its recorded stack */
	uint64_t reg[RULE_REGISTERS], known;
	bool ran_out; /* bytes of stack */
};

static bool recorded(const struct perfdata_regs *r, unsigned number, uint64_t *out)
{
	if (!(r->mask >> number & 1))
		return false;
	*out = r->reg[__builtin_popcountll(r->mask & ((1ull << number) - 1))];
	return true;
}

static bool memory(void *arg, uint64_t at, uint64_t *out)
{
	struct unwinder *u = arg;
	uint64_t offset = at - u->stack_at;

	if (u->call)
		return u->call->memory(u->call->arg, at, out);
	if (offset > u->sample->stack_dyn_size ||
	    u->sample->stack_dyn_size - offset < u->cpu->size) {
		u->ran_out |= at > u->stack_at &&
			u->sample->stack_dyn_size >= u->sample->stack_size;
		return false;
	}
	*out = 0;
	/* little-endian, like tare's own machine */
	memcpy(out, (const char *)u->sample->stack + offset, u->cpu->size);
	return true;
}

static struct rule_file *file_of(struct unwinder *u, uint32_t module, struct unwind_file *file)
{
	if (!u->file_of(u->arg, module, file))
		return NULL;
	if (!array_reserve_zeroed(&u->file, &u->files, module + 1ull, sizeof(*u->file)))
		return NULL;
	if (!u->file[module].opened)
		rule_file_open(&u->file[module], file->path, file->fd);
	return &u->file[module];
}

static const struct map *map_at(struct unwinder *u, uint64_t pc)
{
	if (!u->call)
		return maps_find(u->maps, pc);
	return u->call->map_of(u->call->arg, pc, &u->here) ? &u->here : NULL;
}

/* The rule of the instruction at `pc`; NULL if its code has none. */
static const struct rule *rule_at(struct unwinder *u, uint64_t pc)
{
	const struct map *m = map_at(u, pc);
	struct unwind_file file;
	struct rule_file *f;
	const struct rule *rule;
	uint64_t address;

	if (!m || m->data || !(f = file_of(u, m->module, &file)) ||
	    file.head->machine != u->cpu->machine ||
	    !elf_offset_to_address(file.head, pc - m->start + m->offset, &address))
		return NULL;
	rule = rules_find(&u->rules, f, m->module, address, u->cpu->sp);
	return rule && rule->kind != RULE_NONE ? rule : NULL;
}

static bool by_simple_rule(struct unwinder *u, const struct rule *r)
{
	uint64_t cfa, known = u->known;
	uint64_t value[RULE_REGISTERS];

	if (!(u->known >> r->cfa_register & 1))
		return false;
	cfa = u->reg[r->cfa_register] + (uint64_t)r->cfa_offset;
	if (u->cpu->size == 4)
		cfa = (uint32_t)cfa;
	for (unsigned i = 0; i < r->saved; i++) {
		uint8_t reg = r->saved_register[i];

		if (memory(u, cfa + (uint64_t)(int64_t)r->saved_offset[i], &value[i]))
			known |= 1ull << reg;
		else
			known &= ~(1ull << reg);
	}
	for (unsigned i = 0; i < r->saved; i++)
		u->reg[r->saved_register[i]] = value[i];
	u->known = known | 1ull << u->cpu->sp;
	u->reg[u->cpu->sp] = cfa;
	return true;
}

static bool by_expressions(struct unwinder *u, const struct rule *r)
{
	struct rule_state s = { u->reg, u->known, 0, memory, u };
	uint64_t value[RULE_REGISTERS], known = u->known, changed = 0;
	Dwarf_Op *op, room[3];
	size_t n;
	bool is_place;

	if (libdw.dwarf_frame_cfa(r->frame, &op, &n) || n == 0 ||
	    !rule_evaluate(op, n, &s, &s.cfa, &is_place))
		return false;
	for (unsigned i = 0; i < u->cpu->registers; i++) {
		if (i == u->cpu->sp ||
		    libdw.dwarf_frame_register(r->frame, (int)i, room, &op, &n) || n == 0)
			continue;
		changed |= 1ull << i;
		known &= ~(1ull << i);
		if (rule_evaluate(op, n, &s, &value[i], &is_place) &&
		    (!is_place || memory(u, value[i], &value[i])))
			known |= 1ull << i;
	}
	for (unsigned i = 0; i < u->cpu->registers; i++)
		if (changed >> i & 1)
			u->reg[i] = value[i];
	u->known = known | 1ull << u->cpu->sp;
	u->reg[u->cpu->sp] = s.cfa;
	return true;
}

/*
 * The entry point of a program (of one with libraries, in the dynamic loader) is assembly code that
 * may have no rules; it has no caller. If it has rules, they are used.
 */
static bool is_entry(struct unwinder *u, uint64_t pc)
{
	enum { NEAR = 256 };
	const struct map *m = map_at(u, pc);
	struct unwind_file file;
	uint64_t address;

	return m && !m->data && u->file_of(u->arg, m->module, &file) && file.head->entry &&
		elf_offset_to_address(file.head, pc - m->start + m->offset, &address) &&
		address - file.head->entry < NEAR;
}

/* The frame pointer points to the caller's saved one, followed by the return address. */
static bool by_frame_pointer(struct unwinder *u)
{
	const struct cpu *c = u->cpu;
	uint64_t fp = u->reg[c->fp], caller_fp, ra;

	if (!(u->known >> c->fp & 1) || fp < u->reg[c->sp] || !memory(u, fp, &caller_fp) ||
	    !memory(u, fp + c->size, &ra))
		return false;
	u->reg[c->fp] = caller_fp;
	u->reg[c->pc] = ra & c->address_mask;
	u->reg[c->sp] = fp + 2 * c->size;
	u->known |= 1ull << c->pc;
	return true;
}

/*
 * Computes the caller's registers. On entry reg[pc] is the address; `exact` says whether it is that
 * of the executed instruction, otherwise it is a return address, and the call is before it. 1:
 * there is a caller, 0: there is none, -1: not known.
 */
static int to_caller(struct unwinder *u, bool *exact)
{
	const struct cpu *c = u->cpu;
	uint64_t pc = u->reg[c->pc], sp = u->reg[c->sp];
	const struct rule *r = rule_at(u, *exact ? pc : pc - 1);

	if ((r && r->outermost) || (!r && is_entry(u, pc)))
		return 0;
	if (!r) {
		const struct map *m = map_at(u, pc);

		/* In a file's code without a rule, do not guess. */
		if (!m || m->data || u->file_of(u->arg, m->module, &(struct unwind_file){ 0 }) ||
		    !by_frame_pointer(u))
			return -1;
		*exact = false;
	} else {
		uint8_t ra = r->return_register;

		if (!(r->kind == RULE_SIMPLE ? by_simple_rule(u, r) : by_expressions(u, r)) ||
		    !(u->known >> ra & 1))
			return -1;
		u->reg[c->pc] = u->reg[ra] & c->address_mask;
		u->known |= 1ull << c->pc;
		*exact = r->signal;
	}
	if (u->reg[c->pc] == 0)
		return 0;
	/*
	 * Stacks grow down: a caller's frame is at a higher address, or at the same one for a
	 * leaf's caller.
	 */
	return u->reg[c->sp] > sp || (u->reg[c->sp] == sp && u->reg[c->pc] != pc) || *exact ? 1
											    : -1;
}

static const struct cpu *cpu_of(struct unwinder *u, const struct maps *maps,
				const struct perfdata_regs *r)
{
	static const struct cpu *const all[] = { &x86_64, &arm64, &i386 };

	if (r->abi == 1)
		return &i386;
	for (size_t i = 0; maps && i < maps->n; i++) {
		struct unwind_file file;

		if (!maps->map[i].data && u->file_of(u->arg, maps->map[i].module, &file))
			for (size_t k = 0; k < ARRAY_SIZE(all); k++)
				if (file.head->machine == all[k]->machine)
					return all[k];
	}
	/* Detected by the registers: only arm64 has one of this number. */
	return r->mask >> arm64.perf_pc & 1 ? &arm64 : &x86_64;
}

unsigned unwind(struct unwinder *u, const struct maps *maps, const struct perfdata_sample *s,
		uint64_t *out, unsigned max, bool *whole)
{
	bool exact = true;
	unsigned n = 0;
	int more = -1;

	*whole = false;
	u->ran_out = false;
	if (!s->regs_user.reg || s->regs_user.abi == 0 || max == 0)
		return 0;
	u->sample = s;
	u->maps = maps;
	u->call = NULL;
	u->cpu = cpu_of(u, maps, &s->regs_user);
	u->known = 0;
	for (unsigned i = 0; i < u->cpu->registers; i++)
		if (recorded(&s->regs_user, u->cpu->perf[i], &u->reg[i]))
			u->known |= 1ull << i;
	if (!(u->known >> u->cpu->pc & 1))
		return 0;
	out[n++] = u->reg[u->cpu->pc];
	if (!maps || !(u->known >> u->cpu->sp & 1))
		return n;
	u->stack_at = u->reg[u->cpu->sp];
	while (n < max && (more = to_caller(u, &exact)) > 0)
		out[n++] = exact ? u->reg[u->cpu->pc] : u->reg[u->cpu->pc] - 1;
	*whole = n < max && more == 0;
	return n;
}

void unwind_from(struct unwinder *u, const struct unwind_call *call)
{
	u->call = call;
	u->cpu = call->machine == EM_X86_64 ? &x86_64 : call->machine == EM_AARCH64 ? &arm64 : NULL;
	if (!u->cpu)
		return;
	u->reg[u->cpu->pc] = call->pc;
	u->reg[u->cpu->sp] = call->sp;
	u->reg[u->cpu->fp] = call->fp;
	u->known = 1ull << u->cpu->pc | 1ull << u->cpu->sp | 1ull << u->cpu->fp;
}

bool unwind_next(struct unwinder *u, uint64_t *returns)
{
	bool exact = false;

	if (!u->cpu || to_caller(u, &exact) <= 0 || exact)
		return false;
	*returns = u->reg[u->cpu->pc];
	return true;
}

bool unwinder_ran_out(const struct unwinder *u)
{
	return u->ran_out;
}

struct unwinder *unwinder_new(unwind_file_of *of, void *arg, struct tare_error *err)
{
	struct unwinder *u;

	if (libdw_load(err) < 0)
		return NULL;
	u = calloc(1, sizeof(*u));
	if (!u) {
		tare_fail_nomem(err);
		return NULL;
	}
	u->file_of = of;
	u->arg = arg;
	return u;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	rules_free(&u->rules);
	for (size_t i = 0; i < u->files; i++)
		rule_file_close(&u->file[i]);
	free(u->file);
	free(u);
}
