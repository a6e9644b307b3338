/* SPDX-License-Identifier: MIT */
/*
 * Emits the engine's own parts of translated code: counting, jumps that can be linked, stubs, and
 * entries for indirect branches. Each function writes bytes at `p` and returns the end.
 */
#include "exact/engine/emit.h"

uint8_t *put32(uint8_t *p, uint32_t v)
{
	__builtin_memcpy(p, &v, 4);
	return p + 4;
}

uint8_t *put64(uint8_t *p, uint64_t v)
{
	__builtin_memcpy(p, &v, 8);
	return p + 8;
}

/* mov r, gs:[disp] and mov gs:[disp], r */
static uint8_t *gs_mov(uint8_t *p, unsigned opcode, unsigned r, uint32_t disp)
{
	*p++ = 0x65;
	*p++ = (uint8_t)(0x48 | (r >> 3) << 2);
	*p++ = (uint8_t)opcode;
	*p++ = (uint8_t)(0x04 | (r & 7) << 3);
	*p++ = 0x25;
	return put32(p, disp);
}

uint8_t *gs_load(uint8_t *p, unsigned r, uint32_t disp)
{
	return gs_mov(p, 0x8b, r, disp);
}

uint8_t *gs_store(uint8_t *p, unsigned r, uint32_t disp)
{
	return gs_mov(p, 0x89, r, disp);
}

/* jmp gs:[disp] */
uint8_t *gs_jump(uint8_t *p, uint32_t disp)
{
	PUT(p, 0x65, 0xff, 0x24, 0x25);
	return put32(p, disp);
}

/* lea r, [rip + to]. The arena was chosen so that `to` is within reach. */
uint8_t *lea_rip(uint8_t *p, unsigned r, uint64_t to)
{
	int64_t d = (int64_t)(to - runs_at(p + 7));

	if (d != (int32_t)d) {
		*p++ = (uint8_t)(0x48 | r >> 3);
		*p++ = (uint8_t)(0xb8 | (r & 7));
		return put64(p, to);
	}
	*p++ = (uint8_t)(0x48 | (r >> 3) << 2);
	*p++ = 0x8d;
	*p++ = (uint8_t)(0x05 | (r & 7) << 3);
	return put32(p, (uint32_t)d);
}

/* ---- counting ---- */

/* inc qword gs:[disp] */
static uint8_t *count_by_inc(uint8_t *p, uint32_t disp)
{
	PUT(p, 0x65, 0x48, 0xff, 0x04, 0x25);
	return put32(p, disp);
}

/* add qword gs:[disp], n */
static uint8_t *count_by_add(uint8_t *p, uint32_t disp, unsigned n)
{
	PUT(p, 0x65, 0x48, 0x83, 0x04, 0x25);
	p = put32(p, disp);
	*p++ = (uint8_t)n;
	return p;
}

/* Uses register `r`, which is clobbered, and preserves flags. */
static uint8_t *count_by_lea(uint8_t *p, unsigned r, uint32_t disp, unsigned n)
{
	p = gs_load(p, r, disp);
	*p++ = (uint8_t)(0x48 | (r >> 3) * 5);
	*p++ = 0x8d;
	*p++ = (uint8_t)(0x40 | (r & 7) << 3 | (r & 7));
	*p++ = (uint8_t)n;
	return gs_store(p, r, disp);
}

/* Add `n` to the running count, if there is one, and 1 to `counter`. */
uint8_t *count_both(uint8_t *p, bool flags_free, unsigned r, unsigned n, unsigned counter)
{
	uint32_t disp = (uint32_t)THREAD_COUNTERS + counter * 8;

	if (n && (eng.mode & COUNT_RUNNING))
		p = flags_free ? count_by_add(p, T_COUNT, n) : count_by_lea(p, r, T_COUNT, n);
	return flags_free ? count_by_inc(p, disp) : count_by_lea(p, r, disp, 1);
}

/*
 * The register is saved to memory and restored. Using the same register in every block would make
 * the program wait for that store, so blocks alternate.
 */
uint8_t *count_here(uint8_t *p, bool flags_free, unsigned n, unsigned counter)
{
	static const uint8_t turns[] = { RAX, R8,  RCX, R9,  RDX, R10, RSI,
					 R11, RDI, R14, RBX, R15, RBP, R13 };
	unsigned r = turns[counter % sizeof turns];

	if (!flags_free)
		p = gs_store(p, r, T_SCRATCH);
	p = count_both(p, flags_free, r, n, counter);
	return flags_free ? p : gs_load(p, r, T_SCRATCH);
}

/* ---- jumps ---- */

uint8_t *emit_stub(uint8_t *cold, uint32_t edge)
{
	uint8_t *p = cold - 21;

	PUT(p, 0x65, 0x48, 0xc7, 0x04, 0x25);
	p = put32(p, T_EDGE);
	p = put32(p, edge);
	gs_jump(p, T_DISPATCH);
	return cold - 21;
}

void set_rel32(uint8_t *site, const uint8_t *to)
{
	int32_t d = (int32_t)(to - (site + 4));

	/*
	 * Another thread may be executing it: patch with one store, within an aligned quadword.
	 * Source: AMD64 APM vol. 2, 7.6.1, "Cache and Memory Characteristics" (cross-modifying
	 * code).
	 */
	__atomic_store_n((int32_t *)site, d, __ATOMIC_RELEASE);
}

/*
 * Link the branch to `code` in block `b`, or code that continues there, until the block is killed.
 */
void lead(uint32_t edge, struct block *b, const uint8_t *code)
{
	struct edge *e = &eng.edges[edge];

	e->next = b->incoming;
	b->incoming = edge;
	set_rel32(e->site, code);
}

/* The opcode of jmp or jcc, placed so that its displacement is within an aligned quadword. */
static uint8_t *jump_opcode(uint8_t *p, unsigned condition)
{
	while (((uint64_t)(p + (condition ? 2 : 1)) & 7) > 4)
		*p++ = 0x90;
	if (condition)
		*p++ = 0x0f, *p++ = (uint8_t)condition;
	else
		*p++ = 0xe9;
	return p;
}

/* Return to the engine on every execution; it continues at the program's `target`. */
uint8_t *jump_out(struct arena *a, uint8_t *p, unsigned condition, uint64_t target)
{
	p = jump_opcode(p, condition);
	eng.edges[eng.n_edges] = (struct edge){ .target = target };
	a->cold = emit_stub(a->cold, eng.n_edges++);
	set_rel32(p, a->cold);
	return p + 4;
}

/*
 * A branch to the program's `target`. Until it is linked it leads to a stub that enters the engine.
 */
static uint32_t new_edge(struct arena *a, uint8_t *site, uint64_t target)
{
	uint32_t edge = eng.n_edges++;

	a->cold = emit_stub(a->cold, edge);
	eng.edges[edge] = (struct edge){ .target = target, .site = site, .stub = a->cold };
	set_rel32(site, a->cold);
	return edge;
}

/*
 * jmp or jcc (opcode of 1 or 2 bytes) to the program's `target`: to its block if it exists, else to
 * a stub that enters the engine.
 */
uint8_t *jump_to(struct arena *a, uint8_t *p, unsigned condition, uint64_t target)
{
	struct block *b = block_find(target);

	p = jump_opcode(p, condition);
	uint32_t edge = new_edge(a, p, target);

	if (b && !(b->flags & B_CHECKED) && b->code >= a->start && b->code < a->end)
		lead(edge, b, b->code);
	return p + 4;
}

/* The same, back to a block that is being translated. */
uint8_t *jump_back(struct arena *a, uint8_t *p, unsigned condition, struct block *b)
{
	p = jump_opcode(p, condition);
	lead(new_edge(a, p, b->pc), b, b->code);
	return p + 4;
}

/* Is the branch already linked to a block? Several threads may have left through one stub. */
static bool leads_on(const struct edge *e)
{
	return e->site + 4 + __atomic_load_n((const int32_t *)e->site, __ATOMIC_RELAXED) != e->stub;
}

/* The branch was taken for the first time: link it directly to the block. */
bool link_edge(uint32_t edge, struct block *b)
{
	struct edge *e = &eng.edges[edge];
	int64_t d;

	if (edge < eng.first_edge || edge >= eng.n_edges) /* it belongs to retired code */
		return false;
	if (!e->site || (b->flags & (B_CHECKED | B_ONCE)))
		return false;
	/* a block's edges are a list; adding an edge twice would make it circular */
	if (leads_on(e))
		return true;
	d = b->code - (e->site + 4);
	if (d == (int32_t)d) {
		lead(edge, b, b->code);
		return true;
	}
	/*
	 * Another arena, out of reach. The stub is not overwritten: another thread may be inside
	 * it.
	 */
	struct arena *a = arena_with(e->site);

	if (a->cold - a->hot < 64)
		return false;
	a->cold -= 14;

	uint8_t *p = a->cold;

	PUT(p, 0xff, 0x25); /* jmp [rip] */
	p = put32(p, 0);
	put64(p, runs_at(b->code));
	lead(edge, b, a->cold);
	return true;
}

/*
 * Continue at the target of an indirect branch: target in rcx, the program's rcx in T_RCX.
 * Preserves flags.
 */
uint8_t *emit_bucket_jump(uint8_t *p)
{
	p = gs_store(p, RAX, T_RAX);
	PUT(p, 0x0f, 0xb7, 0xc1, /* movzx eax, cx */ 0x0f, 0xb7, 0x04,
	    0x45 /* movzx eax, word [rax * 2 + ...] */);
	p = put32(p, (uint32_t)(uint64_t)eng.numbers);
	PUT(p, 0xff, 0x24, 0xc5); /* jmp [rax * 8 + ...] */
	return put32(p, (uint32_t)(uint64_t)eng.buckets);
}

/* Continue after a system call, like an indirect branch. The program's rcx is the target, too. */
void emit_tail(void)
{
	uint8_t *p = code_memory(PAGE);

	eng.tail = runs_at(p);

	p = gs_store(p, RCX, T_RCX);
	emit_bucket_jump(p);
}

/*
 * The entry for indirect branches. A bucket is selected by the low 16 bits of the target (rcx), so
 * the full target is compared here, without flags. If it differs, jump to the next block of the
 * bucket:
 *
 *	lea rax, pc;  not rax;  lea rcx, [rcx + rax + 1];  jrcxz mine
 *	not rax;  lea rcx, [rcx + rax];  jmp [next]
 * mine: mov rcx, gs:[T_RCX]; mov rax, gs:[T_RAX]
 *
 * The block's number is stored in front of the entry, for bucket_remove().
 */
uint8_t *emit_indirect_entry(struct block *b, struct arena *a, uint8_t *p)
{
	uint8_t *next;

	a->cold -= 8;
	a->cold = (uint8_t *)((uint64_t)a->cold & ~7ull);
	next = a->cold;
	p = put32(p, (uint32_t)(b - eng.blocks));
	b->indirect = p;
	b->next = (int32_t)(next - p);
	p = lea_rip(p, RAX, b->pc);
	PUT(p, 0x48, 0xf7, 0xd0, 0x48, 0x8d, 0x4c, 0x01, 0x01, 0xe3, 13);
	PUT(p, 0x48, 0xf7, 0xd0, 0x48, 0x8d, 0x0c, 0x01, 0xff, 0x25);
	p = put32(p, (uint32_t)(next - (p + 4)));
	p = gs_load(p, RCX, T_RCX);
	return gs_load(p, RAX, T_RAX);
}

/* Add an entry to an existing block, out of line. */
void add_indirect(struct block *b)
{
	struct arena *a = arena_near(runs_at(b->code));
	uint8_t *p;
	int64_t d;

	a->cold -= 72;
	p = a->cold;
	p = emit_indirect_entry(b, a, p);
	d = b->code - (p + 5);
	if (d != (int32_t)d) {
		PUT(p, 0xff, 0x25);
		p = put32(p, 0);
		put64(p, runs_at(b->code));
	} else {
		*p++ = 0xe9;
		put32(p, (uint32_t)d);
	}
	bucket_add(b);
}
