/* SPDX-License-Identifier: MIT */
/*
 * libdw sees a process as its modules and, per sample, as one stopped thread. The modules are kept
 * from sample to sample: reading them is what takes long.
 *
 * Source: linux/arch/x86/include/uapi/asm/perf_regs.h and arm64's; System V ABI AMD64 3.7 and i386
 * 2.4.2, "DWARF Register Number Mapping"; DWARF for the Arm 64-bit Architecture, 4.1.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "analyze/libdw.h"
#include "analyze/unwind.h"

enum { PROCESSES_MAX = 64, REGISTERS_MAX = 32 };

struct placed {
	uint32_t module;
	uint64_t bias;
};

struct process {
	uint32_t pid, serial; /* of the maps that the modules are of */
	Dwfl *dwfl;
	bool attached;
	uint16_t machine;
	struct placed *placed;
	size_t n;
	uint64_t used; /* when, counted in samples */
};

struct unwinder {
	unwind_file_of *file_of;
	void *arg;
	struct process process[PROCESSES_MAX];
	unsigned n;
	uint64_t clock;

	/* the sample */
	struct process *now;
	const struct perfdata_sample *sample;
	uint64_t sp;
	uint64_t *out;
	unsigned frames, max;
	bool ended;
};

/* DWARF number to perf's number. Order of perf's x86 registers: AX BX CX DX SI DI BP SP IP ... */
static const uint8_t x86_64_regs[] = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8 };
static const uint8_t i386_regs[] = { 0, 2, 3, 1, 7, 6, 4, 5, 8 };
enum { X86_SP = 7, X86_IP = 8, ARM64_SP = 31, ARM64_PC = 32 };

static bool reg(const struct perfdata_regs *r, unsigned number, uint64_t *out)
{
	if (!(r->mask >> number & 1) || !r->reg)
		return false;
	*out = r->reg[__builtin_popcountll(r->mask & ((1ull << number) - 1))];
	return true;
}

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	(void)dwfl;
	if (*thread)
		return 0;
	*thread = arg;
	return 1;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
	(void)dwfl, (void)tid;
	*thread = arg;
	return true;
}

static bool memory(Dwfl *dwfl, Dwarf_Addr at, Dwarf_Word *out, void *arg)
{
	const struct unwinder *u = arg;
	unsigned size = u->sample->regs_user.abi == 1 ? 4 : 8;
	uint64_t offset = at - u->sp;

	(void)dwfl;
	if (offset > u->sample->stack_dyn_size || u->sample->stack_dyn_size - offset < size)
		return false;
	*out = 0;
	memcpy(out, (const char *)u->sample->stack + offset, size); /* little-endian, as tare is */
	return true;
}

static bool registers(Dwfl_Thread *thread, void *arg)
{
	struct unwinder *u = arg;
	const struct perfdata_regs *r = &u->sample->regs_user;
	Dwarf_Word value[REGISTERS_MAX] = { 0 };
	uint64_t pc;
	unsigned n;

	if (u->now->machine == EM_AARCH64) {
		for (n = 0; n <= ARM64_SP; n++)
			reg(r, n, &value[n]);
		return reg(r, ARM64_PC, &pc) && libdw.dwfl_thread_state_registers(thread, 0, n, value) &&
		       (libdw.dwfl_thread_state_register_pc(thread, pc), true);
	}

	bool is64 = u->now->machine == EM_X86_64;
	const uint8_t *map = is64 ? x86_64_regs : i386_regs;

	n = is64 ? sizeof(x86_64_regs) : sizeof(i386_regs);
	for (unsigned i = 0; i < n; i++)
		if (!reg(r, map[i], &value[i]))
			value[i] = 0;
	return libdw.dwfl_thread_state_registers(thread, 0, n, value);
}

static const Dwfl_Thread_Callbacks thread_calls = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = memory,
	.set_initial_registers = registers,
};

static int frame(Dwfl_Frame *state, void *arg)
{
	struct unwinder *u = arg;
	Dwarf_Addr pc;
	bool activation;

	if (!libdw.dwfl_frame_pc(state, &pc, &activation))
		return DWARF_CB_ABORT;
	if (pc == 0) { /* behind the outermost */
		u->ended = true;
		return DWARF_CB_ABORT;
	}
	u->out[u->frames++] = activation ? pc : pc - 1;
	return u->frames == u->max ? DWARF_CB_ABORT : DWARF_CB_OK;
}

static void forget(struct process *p)
{
	if (p->dwfl)
		libdw.dwfl_end(p->dwfl);
	free(p->placed);
	*p = (struct process){ .pid = p->pid };
}

static bool is_placed(const struct process *p, const struct placed *what)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->placed[i].module == what->module && p->placed[i].bias == what->bias)
			return true;
	return false;
}

/* Where the file's address 0 lies in memory, by a mapping of its code. */
static bool bias_of(const struct map *m, const struct elf_head *h, uint64_t *bias)
{
	uint64_t address;

	/* A mapping may begin before its segment does, at the page. */
	for (size_t i = 0; i < h->segments; i++) {
		const struct elf_segment *g = &h->segment[i];
		uint64_t page = g->offset & ~0xfffull;

		if (!g->executable || m->offset < page || m->offset - page >= g->size + 0x1000)
			continue;
		address = g->address + (m->offset - g->offset);
		*bias = m->start - address;
		return true;
	}
	return false;
}

/* All modules of `maps` that are not there yet; false when one that is there has gone. */
static bool report(struct unwinder *u, struct process *p, const struct maps *maps)
{
	struct placed *now = calloc(maps->n + 1, sizeof(*now));
	size_t n = 0, kept = 0;

	if (!now)
		return true;
	libdw.dwfl_report_begin_add(p->dwfl);
	for (size_t i = 0; i < maps->n; i++) {
		struct unwind_file file;
		struct placed this = { .module = maps->map[i].module };
		int fd;

		if (maps->map[i].data || !u->file_of(u->arg, this.module, &file) ||
		    !bias_of(&maps->map[i], file.head, &this.bias) ||
		    (n && now[n - 1].module == this.module && now[n - 1].bias == this.bias))
			continue;
		now[n++] = this;
		if (is_placed(p, &this)) {
			kept++;
			continue;
		}
		fd = dup(file.fd);
		if (fd < 0)
			continue;
		if (!libdw.dwfl_report_elf(p->dwfl, file.path, file.path, fd, this.bias, true)) {
			close(fd);
			n--; /* not reported: asked for again */
			continue;
		}
		if (!p->machine)
			p->machine = file.head->machine;
	}
	libdw.dwfl_report_end(p->dwfl, NULL, NULL);
	if (kept < p->n) {
		free(now);
		return false;
	}
	free(p->placed);
	p->placed = now;
	p->n = n;
	p->serial = maps->serial;
	return true;
}

static bool begin(struct unwinder *u, struct process *p, const struct maps *maps)
{
	static Dwfl_Callbacks calls;

	calls.find_elf = libdw.dwfl_build_id_find_elf;
	calls.find_debuginfo = libdw.dwfl_standard_find_debuginfo;
	calls.section_address = libdw.dwfl_offline_section_address;
	for (int tries = 0; tries < 2; tries++) {
		if (!p->dwfl)
			p->dwfl = libdw.dwfl_begin(&calls);
		if (!p->dwfl)
			return false;
		if (p->serial == maps->serial || report(u, p, maps))
			break;
		forget(p); /* something was mapped over a module: begin anew */
	}
	if (!p->attached && p->n)
		p->attached = libdw.dwfl_attach_state(p->dwfl, NULL, 1, &thread_calls, u);
	return p->attached;
}

static struct process *process_of(struct unwinder *u, uint32_t pid)
{
	struct process *oldest = &u->process[0];

	for (unsigned i = 0; i < u->n; i++) {
		if (u->process[i].pid == pid)
			return &u->process[i];
		if (u->process[i].used < oldest->used)
			oldest = &u->process[i];
	}
	if (u->n < PROCESSES_MAX)
		oldest = &u->process[u->n++];
	else
		forget(oldest);
	oldest->pid = pid;
	return oldest;
}

unsigned unwind(struct unwinder *u, uint32_t pid, const struct maps *maps,
		const struct perfdata_sample *s, uint64_t *out, unsigned max, bool *whole)
{
	struct process *p;
	uint64_t pc;

	*whole = false;
	if (!s->regs_user.reg || s->regs_user.abi == 0 || max == 0)
		return 0;
	p = maps ? process_of(u, pid) : NULL;
	u->sample = s;
	u->now = p;
	u->out = out;
	u->max = max;
	u->frames = 0;
	u->ended = false;
	if (p)
		p->used = ++u->clock;
	if (p && begin(u, p, maps) &&
	    reg(&s->regs_user, p->machine == EM_AARCH64 ? ARM64_SP : X86_SP, &u->sp))
		*whole = libdw.dwfl_getthread_frames(p->dwfl, 1, frame, u) == 0 || u->ended;
	if (u->frames)
		return u->frames;
	/* Nothing is known of its code: the place itself is. */
	if (!reg(&s->regs_user, p && p->machine == EM_AARCH64 ? ARM64_PC : X86_IP, &pc))
		return 0;
	out[0] = pc;
	return 1;
}

struct unwinder *unwinder_new(unwind_file_of *file_of, void *arg, struct tare_error *err)
{
	struct unwinder *u;

	if (libdw_load(err) < 0)
		return NULL;
	u = calloc(1, sizeof(*u));
	if (!u) {
		tare_fail_nomem(err);
		return NULL;
	}
	u->file_of = file_of;
	u->arg = arg;
	return u;
}

void unwinder_free(struct unwinder *u)
{
	for (unsigned i = 0; u && i < u->n; i++)
		forget(&u->process[i]);
	free(u);
}
