/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include "base/path.h"
#include "diverge/divergence_file.h"
#include "diverge/divergence_memory.h"
#include "symbols/unwind.h"

/* Without randomisation. Source: Linux, arch/x86/include/asm/page_64_types.h */
#define STACK_TOP 0x7ffffffff000ull

static enum module_kind kind_of(enum exact_module_kind kind)
{
	switch (kind) {
	case EXACT_FILE:
		return MODULE_FILE;
	case EXACT_VDSO:
		return MODULE_VDSO;
	case EXACT_MEMORY:
		return MODULE_MEMORY;
	default:
		return MODULE_UNKNOWN;
	}
}

enum { TOLD_LATE_NS = 100000 };

/*
 * Processes are identified by serial numbers, which are never reused. An exec after the steps has
 * removed all earlier mappings.
 */
static int take_mappings(struct divergence_report *r, const struct diverge_run *run,
			 struct tare_error *err)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < run->happenings; i++) {
		const struct diverge_happening *h = &run->happening[i];
		struct map map = { .start = h->start, .last = h->end - 1, .offset = h->offset };

		if (h->serial == run->serial && h->kind == EXACT_SAMPLE_PROGRAM &&
		    h->time_ns > run->until_ns + TOLD_LATE_NS)
			break;
		if (h->kind == EXACT_SAMPLE_FORK)
			ret = address_spaces_fork(&r->address_spaces, h->serial, h->parent, err);
		else if (h->kind == EXACT_SAMPLE_PROGRAM)
			address_spaces_exec(&r->address_spaces, h->serial);
		if (h->kind != EXACT_SAMPLE_MAPPING)
			continue;
		map.module = modules_add(&r->modules, kind_of(h->module), h->path ? h->path : "?",
					 NULL, 0, h->serial);
		if (map.module == SET_NONE)
			return tare_fail_nomem(err);
		ret = address_spaces_map(&r->address_spaces, h->serial, &map, err);
	}
	return ret;
}

static const struct map *map_of(struct divergence_report *r, uint64_t pc)
{
	const struct maps *maps = address_spaces_of(&r->address_spaces, r->d->run[0].serial);

	return maps ? maps_find(maps, pc) : NULL;
}

static size_t code_at(void *with, uint64_t pc, void *to, size_t n)
{
	struct divergence_report *r = with;
	const struct map *m = map_of(r, pc);

	if (!m)
		return 0;
	if (r->modules.module[m->module].kind ==
	    MODULE_VDSO) { /* the same kernel gave tare this vdso */
		const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
		uint64_t in_it = pc - m->start + m->offset;

		if (!vdso || m->last - pc < n)
			return 0;
		memcpy(to, vdso + in_it, n);
		return n;
	}
	return modules_bytes(&r->modules, m->module, pc - m->start + m->offset, to, n);
}

static void name_line(struct divergence_report *r, struct code_place *p, uint32_t number)
{
	const struct module *m = &r->modules.module[number];
	const char *file;

	if (!m->symbols || !symbols_line(m->symbols, p->offset, &file, &p->line))
		return;
	snprintf(p->file, sizeof(p->file), "%s", file);
}

static void disassemble(struct divergence_report *r, struct code_place *p)
{
	struct disasm *d;
	struct disasm_insn in;
	uint8_t bytes[16];
	size_t n = code_at(r, p->pc, bytes, sizeof(bytes));

	if (!n || disasm_open(&d, 62 /* EM_X86_64 */, false, NULL) < 0)
		return;
	disasm_next(d, bytes, n, p->pc, &in);
	memcpy(p->text, in.text, sizeof(p->text));
	disasm_close(d);
}

static void place_name(struct divergence_report *r, struct code_place *p, uint64_t pc)
{
	const struct map *m = map_of(r, pc);
	struct symbol symbol;

	*p = (struct code_place){ .pc = pc, .module = "anonymous memory" };
	if (!m)
		return;
	p->offset = pc - m->start + m->offset;
	p->module = words_at(&r->modules.words, r->modules.module[m->module].path);
	if (modules_find(&r->modules, m->module, p->offset, &symbol)) {
		p->function = symbol.name;
		p->into = p->offset - symbol.start;
	}
	name_line(r, p, m->module);
	disassemble(r, p);
}

/* ---- callers ---- */

static bool elf_of(void *arg, uint32_t number, struct unwind_file *out)
{
	struct divergence_report *r = arg;
	struct module *of;

	if (!modules_elf(&r->modules, number, &of))
		return false;
	*out = (struct unwind_file){ words_at(&r->modules.words, of->path), of->fd, &of->head };
	return true;
}

/*
 * Return addresses minus one of the functions active before the first step, innermost first. The
 * unwinder uses perf's register order. Source: asm/perf_regs.h.
 */
static unsigned callers_before(struct divergence_report *r, uint64_t at[CALLERS_MOST])
{
	static const uint8_t from[] = {
		0, 3, 1, 2, 6, 7, 5, 4
	}; /* AX BX CX DX SI DI BP SP, then IP, FLAGS, R8 ... */
	const struct diverge_run *run = &r->d->run[0];
	const struct maps *maps = address_spaces_of(&r->address_spaces, run->serial);
	uint64_t reg[18];
	struct perfdata_sample s = { .ip = run->stack_pc,
				     .stack = run->stack,
				     .stack_size = run->n_stack,
				     .stack_dyn_size = run->n_stack,
				     .regs_user = {
					     .abi = 2, .mask = 0xff03ff, .reg = reg, .n = 18 } };
	struct unwinder *u = run->stack_pc && maps ? unwinder_new(elf_of, r, NULL) : NULL;
	unsigned n;

	if (!u)
		return 0;
	for (unsigned i = 0; i < 8; i++)
		reg[i] = run->stack_regs[from[i]];
	reg[8] = run->stack_pc;
	reg[9] = run->stack_regs[16];
	memcpy(reg + 10, run->stack_regs + 8, 8 * sizeof(*reg));
	n = unwind(u, maps, &s, at, CALLERS_MOST, &r->callers_whole);
	unwinder_free(u);
	if (!n)
		return 0;
	memmove(at, at + 1, (n - 1) * sizeof(*at)); /* the first entry is the current function */
	return n - 1;
}

/* A recorded call: it is active until the stack pointer is above its return address. */
struct active {
	uint64_t at, slot;
};

enum { ACTIVE_MOST = 4096, RSP = 4 };

/* The callers before the first step, and calls since that have not returned. */
static void find_callers(struct divergence_report *r)
{
	const struct diverge_run *run = &r->d->run[0];
	struct active *active = calloc(ACTIVE_MOST, sizeof(*active));
	uint64_t before[CALLERS_MOST];
	unsigned n = 0, m = callers_before(r, before), gone = 0;

	r->callers_whole |= r->d->first == 1;
	for (size_t i = 0; active && i < r->d->at; i++) {
		const struct diverge_step *here = &run->step[i], *then = here + 1;
		uint64_t sp = here->regs[RSP], sp_then = then->regs[RSP],
			 behind = then->pc - here->pc;

		while (n && active[n - 1].slot < sp_then)
			n--;
		/* ret n returns elsewhere and leaves the stack pointer higher */
		if (sp_then > sp && !n && m > gone && then->pc == before[gone] + 1)
			gone++;
		if (sp_then == sp - 8 && (behind > 16 || behind == 0) && n < ACTIVE_MOST)
			active[n++] = (struct active){ here->pc, sp_then };
	}
	for (unsigned i = n; active && i-- > 0 && r->callers < CALLERS_MOST;)
		place_name(r, &r->caller[r->callers++], active[i].at);
	for (unsigned i = gone; i < m && r->callers < CALLERS_MOST; i++)
		place_name(r, &r->caller[r->callers++], before[i]);
	for (unsigned i = 0; i < r->callers;
	     i++) /* an address inside the call instruction, not the start of one */
		r->caller[i].text[0] = '\0';
	r->callers_whole |= m && gone == m; /* all calls active at that point have returned */
	free(active);
}

/* ---- the cause ---- */

/* The variable at this address, from the mapped files: "name+0x4 (module)". */
static void name_memory(struct divergence_report *r, uint64_t address)
{
	const struct diverge_run *run = &r->d->run[0];

	for (size_t i = 0; i < run->happenings && !r->memory[0]; i++) {
		const struct diverge_happening *h = &run->happening[i];
		uint64_t at, start;
		struct symbol_data *data = NULL;
		struct module *of;
		uint32_t number;
		size_t n = 0;

		if (h->kind != EXACT_SAMPLE_MAPPING || h->data || h->module != EXACT_FILE ||
		    !h->path)
			continue;
		number = modules_add(&r->modules, MODULE_FILE, h->path, NULL, 0, h->serial);
		if (number == SET_NONE || !modules_elf(&r->modules, number, &of) ||
		    !elf_offset_to_address(&of->head, h->offset, &start))
			continue;
		at = address - (h->start - start);
		if (modules_find(&r->modules, number, h->offset, &(struct symbol){ 0 }) ||
		    of->symbols)
			symbols_data(of->symbols, &data, &n, NULL);
		for (size_t k = 0; k < n && !r->memory[0]; k++)
			if (at >= data[k].start && at < data[k].end) {
				char into[24] = "";

				if (at != data[k].start)
					snprintf(into, sizeof(into), "+%#llx",
						 (unsigned long long)(at - data[k].start));
				snprintf(r->memory, sizeof(r->memory), "%.80s%s (%.40s)",
					 data[k].name, into, path_base(h->path));
			}
		free(data);
	}
}

static bool on_initial_stack(uint64_t address, size_t environment_bytes)
{
	return address < STACK_TOP && STACK_TOP - address < environment_bytes + 4096;
}

/* On the page of the clocks, or on the initial stack that the kernel set up: no further search
 * is needed. */
static bool from_kernel(struct divergence_report *r, const struct cause *c,
			const struct memory_cause *m, size_t environment_bytes)
{
	uint64_t address = m->address ? m->address : c->address;
	/* Not found in new runs, but everything the program's only thread did is known, and it
	 * did not write there. */
	bool untouched = !m->found && c->kind == CAUSE_BEFORE && r->d->first == 1 &&
		r->d->run[0].threads == 1;

	if (address && is_clock_page(&r->d->run[0], address))
		r->cause = CAUSE_CLOCK;
	else if ((m->kind == CAUSE_START || untouched) &&
		 on_initial_stack(address, environment_bytes))
		r->cause = CAUSE_STARTUP;
	else
		return false;
	r->address = address;
	return true;
}

/* Makes two more runs, which must agree on the entry of the initial stack at this address. */
static int name_initial_stack(struct divergence_report *r, struct divergence *d,
			      struct diverge_plan *plan, struct tare_error *err)
{
	enum { SP = 4 };
	struct initial_stack_place place[2] = { { 0 } };
	struct diverge_run run[2];
	int ret = diverge_beginning(plan, d, run, err);

	for (unsigned i = 0; i < 2; i++) {
		if (ret == 0 && run[i].stack)
			initial_stack_find(run[i].stack, run[i].n_stack, run[i].stack_regs[SP],
					   r->address, &place[i]);
		diverge_run_free(&run[i]);
	}
	if (place[0].part == place[1].part && place[0].number == place[1].number &&
	    !strcmp(place[0].name, place[1].name))
		r->started = place[0];
	return ret;
}

static bool one_process(const struct diverge_run *run)
{
	for (size_t i = 0; i < run->ended; i++)
		if (run->thread[i].serial != run->serial)
			return false;
	return true;
}

static bool is_id(const struct divergence *d, const uint64_t value[2])
{
	for (unsigned r = 0; r < 2; r++)
		for (size_t i = 0; i < d->run[r].ended; i++)
			if ((uint64_t)d->run[r].thread[i].tid == value[r])
				return true;
	return false;
}

/*
 * Memory that another thread wrote, or that the kernel cleared when a thread ended: concluded from
 * this pair of runs alone, because the thread itself, the kernel and other processes did not write
 * it. False: not certain. Memory without a variable's name may be a file's contents, or the ID of
 * a thread that it created, which the kernel writes there.
 */
static bool from_another_thread(struct divergence_report *r, const struct cause *c,
				size_t environment_bytes, unsigned fixed, struct memory_cause *out)
{
	const unsigned stack = FIXED(ENVIRONMENT) | FIXED(RANDOM) | FIXED(VDSO); /* the kernel's
										  * data on it is
										  * the same */
	const struct diverge_run *run = &r->d->run[0];
	const struct cause_place *place = c->places == 1 ? &c->place[0] : NULL;
	bool first_thread = run->tid == run->pid, ended,
	     from_start = c->from_start && (first_thread || (fixed & stack) != stack);

	if (!c->somebody_else || !has_threads(r->d) || !one_process(run) ||
	    (c->from_start && first_thread && r->forked))
		return false;
	for (unsigned i = 0; i < c->places; i++) {
		if ((from_start && on_initial_stack(c->place[i].address, environment_bytes)) ||
		    is_clock_page(run, c->place[i].address))
			return false;
		if (!place && c->place[i].differs)
			place = &c->place[i];
	}
	if (!place)
		return false;
	r->memory[0] = '\0';
	name_memory(r, place->address);
	ended = place->differs && is_thread_id(r->d, place->value);
	if (!ended && !r->memory[0] &&
	    (c->from_file || (place->size < 8 && (!place->differs || is_id(r->d, place->value)))))
		return false;
	*out = (struct memory_cause){ .kind = ended ? CAUSE_THREAD_END : CAUSE_THREADS,
				      .found = place->differs,
				      .address = place->address,
				      .size = place->size,
				      .value = { place->value[0], place->value[1] } };
	return true;
}

enum { WRITERS_MOST = 3 };

/*
 * Finds the writer: a further run is examined thread by thread. A thread is named if its own
 * instruction wrote there when the value changed. Others may have written there, too.
 */
static int find_writer(struct divergence_report *r, struct divergence *d, unsigned size,
		       struct diverge_plan *plan, struct tare_error *err)
{
	const struct cause_place place = { .address = r->address, .size = size };
	const struct diverge_run *run = &d->run[0];
	unsigned tried = 0;
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < run->ended && tried < WRITERS_MOST && !r->writer_thread;
	     i++) {
		struct diverge_step step;
		bool since_exec, wrote = false;

		if (run->thread[i].stable_id == d->stable_id ||
		    !diverge_same_program(run->thread, run->ended, run->thread[i].stable_id,
					  d->stable_id) ||
		    run->thread[i].instructions < 2)
			continue;
		tried++;
		ret = diverge_changed_by(plan, d, &run->thread[i], r->address, size, &step, err);
		if (ret == 1) {
			enum cause_writer how = cause_writer(&step, &place, r->address, code_at, r);

			wrote = how == WRITER_STORE ||
				(how == WRITER_CALL && call_writes(step.regs, r->address));
		}
		ret = ret < 0 ? ret : 0;
		if (!wrote)
			continue;
		r->writer_thread = diverge_number(run->thread, run->ended, run->thread[i].stable_id,
						  &since_exec);
		place_name(r, &r->writer, step.pc);
	}
	return ret;
}

/*
 * The signal that has its handler called after the place in one run; 0: unknown. On entry, rdi is
 * the number of the signal and rdx the address of the context, just above the return address.
 * Source: linux/arch/x86/kernel/signal_64.c, struct rt_sigframe.
 */
static int signal_of(const struct divergence *d)
{
	enum { RDX = 2, RSP = 4, RDI = 7, SIGNALS = 64 };

	for (unsigned r = 0; r < 2; r++) {
		const uint64_t *regs;

		if (d->at + 1 >= d->run[r].n)
			continue;
		regs = d->run[r].step[d->at + 1].regs;
		if (regs[RDX] == regs[RSP] + 8 && regs[RDI] > 0 && regs[RDI] <= SIGNALS)
			return (int)regs[RDI];
	}
	return 0;
}

/* The step at which the value came in; false: it is not recorded. */
static bool find_step(const struct divergence *d, const struct cause *c,
		      const struct memory_cause *m, size_t *out)
{
	*out = c->has_step ? c->step : (size_t)(m->number - d->first);
	return c->has_step ||
		(m->from && m->number >= d->first && *out <= d->at &&
		 d->run[0].step[*out].pc == m->from);
}

static int find_cause(struct divergence_report *r, struct divergence *d, size_t environment_bytes,
		      struct diverge_plan *plan, struct tare_error *err)
{
	struct memory_cause m = { 0 };
	struct cause c;
	size_t step;
	int ret = cause_find(&c, d, NULL, code_at, r, err);
	bool open = c.kind == CAUSE_UNKNOWN || c.kind == CAUSE_BEFORE || c.kind == CAUSE_THREADS,
	     other;

	if (ret < 0)
		return ret;
	other = from_another_thread(r, &c, environment_bytes,
				    plan ? determinism_had(plan->fixed) : 0, &m);
	if (!other && open && c.places && plan &&
	    !(c.address && is_clock_page(&d->run[0], c.address)))
		ret = memory_cause_find(&m, d, &c, plan, code_at, r, err);
	if (ret < 0)
		return ret;
	if (c.has_step) {
		r->from.pc = d->run[0].step[c.step].pc;
		r->back = (int64_t)(d->at - c.step);
	}
	r->cause = c.kind;
	r->address = c.address;
	r->call = c.call;
	r->hops = c.hops;
	open = c.kind == CAUSE_UNKNOWN || c.kind == CAUSE_BEFORE || c.kind == CAUSE_THREADS;
	if (open && !from_kernel(r, &c, &m, environment_bytes)) {
		if (m.found || other || c.held_in < 0)
			r->cause = m.found || c.places ? (m.kind ? m.kind : CAUSE_MEMORY)
						       : CAUSE_UNKNOWN;
		r->address = m.found || other ? m.address : c.address;
		if (m.found && m.file[0])
			snprintf(r->memory, sizeof(r->memory), "%s", m.file);
		if (r->address && !(m.file[0] && m.kind == CAUSE_FILE)) {
			r->memory[0] = '\0';
			name_memory(r, r->address);
		}
		r->call = m.call;
		r->from.pc = m.from;
		r->back = m.from ? d->low - m.number : 0;
	}
	if (ret == 0 && r->cause == CAUSE_THREADS && plan && r->address)
		ret = find_writer(r, d, m.size ? m.size : 8, plan, err);
	if (ret == 0 && r->cause == CAUSE_STARTUP && plan && !r->forked)
		ret = name_initial_stack(r, d, plan, err);
	if (c.held_in >= 0)
		r->held_in = register_names[c.held_in];
	if (r->cause == CAUSE_CALL || r->cause == CAUSE_WRITTEN || r->cause == CAUSE_FILE ||
	    (r->cause == CAUSE_SIGNAL && c.has_step))
		call_name(r->call_name, r->call);
	if (r->cause == CAUSE_SIGNAL)
		r->signal = signal_of(d);
	if (ret == 0 && plan && (r->cause == CAUSE_CALL || r->cause == CAUSE_WRITTEN) &&
	    find_step(d, &c, &m, &step))
		ret = divergence_file(d, step, plan, code_at, r, r->file, err);
	if (c.value_in >= 0 && c.value_at <= d->at) {
		r->has_value = true;
		r->value_in = register_names[c.value_in];
		for (int i = 0; i < 2; i++)
			r->value[i] = d->run[i].step[c.value_at].regs[c.value_in];
	} else if (m.found) {
		r->has_value = true;
		r->value_in = m.value_in ? m.value_in : "memory";
		memcpy(r->value, m.value, sizeof(r->value));
	}
	return ret;
}

/* The program of the thread's process then: the last one it executed, or the one of the process
 * it was forked from. */
static const char *program_of(const struct diverge_run *run, bool *forked)
{
	const char *name = "";
	uint32_t serial = run->serial;

	*forked = false;

	for (size_t i = run->happenings; i-- > 0;) {
		const struct diverge_happening *h = &run->happening[i];

		if (h->serial != serial || h->time_ns > run->until_ns + TOLD_LATE_NS)
			continue;
		if (h->kind == EXACT_SAMPLE_PROGRAM && h->path) {
			name = h->path;
			break;
		}
		if (h->kind == EXACT_SAMPLE_FORK) {
			serial = h->parent;
			*forked = true;
		}
	}
	return name;
}

static bool same_function(const struct code_place *a, const struct code_place *b)
{
	return !strcmp(a->function, b->function) && !strcmp(a->module, b->module);
}

/* For an interval: the code executed there. */
static int explain_roughly(struct divergence_report *r, struct tare_error *err)
{
	const struct diverge_run *run = &r->d->run[0];
	int ret = run->n ? take_mappings(r, run, err) : 0;

	if (ret < 0 || !run->n)
		return ret;
	r->program[0] = program_of(run, &r->forked);
	place_name(r, &r->at, run->step[0].pc);
	find_callers(r);
	for (size_t i = 0; i < run->n; i++) {
		struct code_place p;
		unsigned k = 0;

		place_name(r, &p, run->step[i].pc);
		while (p.function && k < r->n_roughly && !same_function(&r->roughly[k], &p))
			k++;
		if (!p.function || k < r->n_roughly)
			continue;
		if (k < ROUGHLY_MOST)
			r->roughly[r->n_roughly++] = p;
		else
			r->roughly_more = true;
	}
	return 0;
}

int divergence_explain(struct divergence_report *out, struct divergence *d,
		       size_t environment_bytes, struct diverge_plan *plan, struct tare_error *err)
{
	int ret;

	*out = (struct divergence_report){ .d = d,
					   .program = { "", "" },
					   .modules.opts.force_names = true };
	if (d->verdict == DIVERGE_MOVES)
		return explain_roughly(out, err);
	if (d->verdict != DIVERGE_PARTED)
		return 0;
	ret = take_mappings(out, &d->run[0], err);
	if (ret < 0)
		return ret;
	if (strcmp(program_of(&d->run[0], &out->forked), program_of(&d->run[1], &out->forked)))
		out->cause = CAUSE_PROGRAM;
	else
		ret = find_cause(out, d, environment_bytes, plan, err);
	if (ret < 0)
		return ret;
	for (int i = 0; i < 2; i++)
		out->program[i] = program_of(&d->run[i], &out->forked);
	place_name(out, &out->at, d->run[0].step[d->at].pc);
	if (out->from.pc)
		place_name(out, &out->from, out->from.pc);
	for (int i = 0; i < 2; i++)
		if (d->at + 1 < d->run[i].n)
			place_name(out, &out->next[i], d->run[i].step[d->at + 1].pc);
	find_callers(out);
	return 0;
}

void divergence_free(struct divergence_report *r)
{
	address_spaces_free(&r->address_spaces);
	modules_free(&r->modules);
}
