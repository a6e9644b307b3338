/* SPDX-License-Identifier: MIT */
/*
 * Translates the program's code to code that counts. A fragment is a run of basic blocks, each of
 * which falls through into the next. Every block counts itself once, its instructions are copied,
 * and only position-dependent ones are rewritten:
 *
 *	[entry for indirect branches: is rcx my pc? else jump to the next of the bucket]
 *	block:	insn, insn,
 *		add gs:[counter], n          where no flag is live; else a sequence with lea
 *		insn,
 *		jcc -> block or stub         falls through into the next block
 */
#include "exact/engine/emit.h"

enum {
	FRAGMENT_BLOCKS = 6,
	COUNT_INSN_MAX = 127, /* fits in the add's imm8 */
};

/* A block that is being translated. */
struct draft {
	struct block *b;
	struct arena *a;
	uint8_t *p; /* where the next byte is written */
	struct insn insns[BLOCK_INSNS];
	uint64_t pcs[BLOCK_INSNS];
	unsigned n;
	uint64_t end; /* the pc after the last instruction */
	uint8_t bytes
		[BLOCK_INSNS *
		 INSN_ROOM]; /* of a block that compares its bytes: from before they were decoded */
	unsigned counter;    /* of the block */
	/*
	 * number of its instructions that retire: all, except for a single one that the kernel
	 * emulates
	 */
	unsigned retires;
	bool reads_count; /* its only instruction loads the running count */
	/* For a loop: its first block, how many copies follow, and their exits. */
	struct block *loop;
	uint8_t **exits;
	unsigned copies_left;
};

/* Push the return address with one 8-byte store, so that a load can be forwarded from it. */
static uint8_t *push_return(struct draft *d, uint8_t *p, uint64_t address)
{
	d->a->cold = (uint8_t *)((uint64_t)(d->a->cold - 8) & ~7ull);
	put64(d->a->cold, address);
	PUT(p, 0xff, 0x35);
	return put32(p, (uint32_t)(d->a->cold - (p + 4)));
}

/* Save rcx and, if the block is not counted yet, count by it. */
static uint8_t *save_rcx(struct draft *d, uint8_t *p, bool count, bool reload)
{
	p = gs_store(p, RCX, T_RCX);
	if (count) {
		p = count_both(p, false, RCX, d->retires, d->counter);
		if (reload)
			p = gs_load(p, RCX, T_RCX);
	}
	return p;
}

/* Continue at the address in rcx. Code that is executed only once returns to the engine instead. */
static uint8_t *go_by_rcx(const struct draft *d, uint8_t *p)
{
	return d->b->flags & (B_PART | B_ONCE) ? gs_jump(gs_store(p, RAX, T_RAX), T_MISS)
					       : emit_bucket_jump(p);
}

static uint8_t *go_to(struct draft *d, uint8_t *p, unsigned condition, uint64_t target)
{
	note_reach(target);
	return d->b->flags & (B_PART | B_ONCE) ? jump_out(d->a, p, condition, target)
					       : jump_to(d->a, p, condition, target);
}

static uint8_t *emit_return(struct draft *d, uint8_t *p, const struct insn *in, bool count)
{
	p = save_rcx(d, p, count, false);
	*p++ = 0x59; /* pop rcx */
	if (in->imm_size) {
		PUT(p, 0x48, 0x8d, 0xa4, 0x24); /* lea rsp, [rsp + imm] */
		p = put32(p, (uint32_t)in->imm & 0xffff);
	}
	return go_by_rcx(d, p);
}

static uint8_t *emit_indirect(struct draft *d, uint8_t *p, const struct insn *in, uint64_t pc,
			      bool count)
{
	p = save_rcx(d, p, count, true);
	p = load_target(p, in, pc);
	if (in->kind == K_CALL_IND)
		p = push_return(d, p, pc + in->len);
	return go_by_rcx(d, p);
}

static uint8_t *emit_syscall(struct draft *d, uint8_t *p, bool count)
{
	p = save_rcx(d, p, count, false);
	p = lea_rip(p, RCX, d->end);
	return gs_jump(p, T_SYSCALL);
}

/* The fall-through of a conditional branch was reached: it was not taken. */
static uint8_t *count_fall_through(struct draft *d, uint8_t *p)
{
	struct block_facts f = { .pc = d->end };

	if (!(eng.mode & COUNT_TAKEN))
		return p;
	f.adds[EXACT_TAKEN] = 0xff; /* -1 */
	if (eng.mode & COUNT_PROFILE)
		f.mapping = facts_of(eng.process->lineage, d->counter)->mapping;
	d->b->fall_counter = counter_for(&f);
	return count_here(p, !(flags_live_at(d->end) & ~(unsigned)F_CF), 0, d->b->fall_counter);
}

/* loop, jrcxz: they only have a short form, so this jumps over the fall-through. */
static uint8_t *emit_loop(struct draft *d, uint8_t *p, const struct insn *in, uint64_t pc)
{
	uint8_t *over;

	p = put_bytes(p, (const void *)pc, in->len - 1u);
	over = p++;
	p = count_fall_through(d, p);
	p = go_to(d, p, 0, d->end);
	*over = (uint8_t)(p - (over + 1));
	return go_to(d, p, 0, d->end + (uint64_t)in->imm);
}

/* ---- blocks ---- */

/*
 * Does the program read its running count here (include/tare/exact.h)? The load is a block of its
 * own, so the count includes everything up to the load.
 */
static bool reads_count(const struct insn *in, uint64_t pc)
{
	const uint8_t *s = (const uint8_t *)pc;
	char memory[EXACT_NOW_SIZE];

	return (eng.mode & COUNT_RUNNING) && in->len == 10 && s[0] == 0x3e && s[1] == 0x3e &&
		s[2] == 0x3e && in->map == 0 && in->opcode == 0x8b && (in->rex & 8) &&
		insn_rip_relative(in) && !(in->prefix & (P_FS | P_GS | P_67)) &&
		copy_bytes(memory, (const void *)operand_address(in, pc), sizeof memory) ==
		sizeof memory &&
		!memcmp(memory, EXACT_NOW_MEMORY, sizeof memory);
}

/*
 * Does it access memory through GS? Cache line flushes and the implicit operands of maskmovq or
 * clzero (0F 01) count no load or store, or have no visible operand.
 */
static bool through_gs(const struct insn *in)
{
	return (in->prefix & P_GS) &&
		(in->loads || in->stores || insn_has_memory(in) ||
		 (in->map == 1 && in->opcode == 0x01));
}

/*
 * Is it executed as a copy, rather than by the engine or in place? Always, if R_SPECIAL is not
 * among its bits and it does not read the virtual clock.
 */
bool insn_copied(const struct insn *in)
{
	return in->kind != K_XBEGIN && in->kind != K_GS && in->kind != K_REFUSED &&
		!insn_breakpoint(in) && !through_gs(in) && !isa_executes(in) && !clock_executes(in);
}

/* Decode the block, of at most `max` instructions; false if the first one cannot be copied. */
static bool read_block(struct draft *d, uint64_t pc, bool once, unsigned max)
{
	bool checked = once || (d->b->flags & B_CHECKED), reads = false;
	uint64_t whole = 0; /* up to this address INSN_ROOM bytes may be read */
	struct insn *in = d->insns;

	for (unsigned n = 0; n < max; n++, in++) {
		size_t room = INSN_ROOM;

		if (pc > whole) {
			room = code_room(pc);
			whole = room == INSN_ROOM ? (pc & ~(PAGE - 1ull)) + PAGE - INSN_ROOM : 0;
		}
		if (!room || !insn_decode(in, (const uint8_t *)pc, room))
			break;

		bool special = (in->bits & R_SPECIAL) || clock_executes(in);

		if (special && !insn_copied(in))
			break;
		reads = reads_count(in, pc);

		bool alone = reads || (special && insn_emulated(in));

		if (alone && n > 0) {
			reads = false;
			break;
		}
		d->pcs[n] = pc;
		pc += in->len;
		if (in->kind == K_PLAIN && !once && !(checked && in->stores) && !alone)
			continue;
		if (in->kind == K_JCC || in->kind == K_JMP || in->kind == K_CALL)
			block_expect(pc + (uint64_t)in->imm);
		in++;
		break;
	}
	block_expect(pc);
	d->reads_count = reads;
	d->n = (unsigned)(in - d->insns);
	d->end = pc;
	return d->n > 0;
}

/*
 * The same, of a block that will compare its bytes. Another process may write to them meanwhile:
 * the copy is made first, so a translation of newer bytes does not pass for one of the copy.
 */
static bool read_checked(struct draft *d, uint64_t pc, unsigned max)
{
	enum { TRIES = 8 };

	d->b->flags |= B_CHECKED;
	if (!read_block(d, pc, false, max))
		return false;
	for (int i = 0; i < TRIES; i++) {
		uint64_t end = d->end;

		put_bytes(d->bytes, (const void *)pc, (unsigned)(end - pc));
		if (!read_block(d, pc, false, max))
			return false;
		if (d->end == end)
			return true;
	}
	/* It changes all the time: a copy that never compares equal. */
	put_bytes(d->bytes, (const void *)pc, (unsigned)(d->end - pc));
	d->bytes[0] = (uint8_t) ~*(const volatile uint8_t *)pc;
	return true;
}

/* Flags that are live after the block. */
static unsigned live_behind(const struct draft *d)
{
	const struct insn *last = &d->insns[d->n - 1];

	switch (last->kind) {
	case K_JCC:
	case K_LOOP:
		return flags_live_at(d->end) | flags_live_at(d->end + (uint64_t)last->imm);
	case K_JMP:
	case K_CALL:
		return flags_live_at(d->end + (uint64_t)last->imm);
	case K_PLAIN:
		return flags_live_at(d->end);
	default:
		return F_ALL;
	}
}

/*
 * The last instruction before which all flags that counting changes are dead, or -1. `behind`: the
 * flags live after the block.
 */
static int dead_point(const struct draft *d, unsigned behind)
{
	unsigned live = behind;

	for (int i = (int)d->n - 1; i >= 0; i--) {
		live = (live & ~(unsigned)d->insns[i].writes) | d->insns[i].reads;
		if (!(live & count_changes()))
			return i;
	}
	return -1;
}

/* Flags that are live before its first instruction. */
static unsigned live_before(const struct draft *d, unsigned behind)
{
	for (unsigned i = d->n; i-- > 0;)
		behind = (behind & ~(unsigned)d->insns[i].writes) | d->insns[i].reads;
	return behind;
}

static void note_facts(struct draft *d)
{
	struct block_facts f = { .pc = d->b->pc,
				 .size = (uint16_t)(d->end - d->b->pc),
				 .mapping = mapping_of(d->b->pc) };
	unsigned n = 0, loads = 0, stores = 0, updates = 0;
	const struct insn *end = d->insns + d->n;

	for (const struct insn *in = d->insns; in < end; in++)
		if (in->kind == K_PLAIN &&
		    !(in->prefix | in->vec | (in->bits & ~(R_MODRM | R_UPDATE | R_STRING)))) {
			n++;
			loads += in->loads;
			stores += in->stores;
			updates += !!(in->bits & R_UPDATE);
		} else {
			facts_add(&f, in);
		}
	f.adds[EXACT_INSTRUCTIONS] += n;
	f.adds[EXACT_LOADS] += loads;
	f.adds[EXACT_STORES] += stores;
	f.adds[EXACT_ACCESSES] += loads + stores - updates;
	d->retires = f.adds[EXACT_INSTRUCTIONS];
	d->counter = d->b->counter = counter_for(&f);
}

/*
 * A block that branches back to itself would wait, in each iteration, for its counter's previous
 * store. So there are several copies, each with its own counter: all but the last fall through into
 * the next while the loop continues, and leave through `exits`.
 */
static uint8_t *loop_on(struct draft *d, uint8_t *p, const struct insn *in)
{
	if (!d->copies_left)
		return jump_back(d->a, p, 0x80 | (in->opcode & 15), d->loop);
	*p++ = 0x0f;
	*p++ = (uint8_t)(0x80 | ((in->opcode & 15) ^ 1));
	d->exits[d->copies_left - 1] = p;
	return p + 4;
}

/* Emit an instruction that is not copied unchanged. */
static uint8_t *emit_last(struct draft *d, uint8_t *p, unsigned i, bool count)
{
	const struct insn *in = &d->insns[i];

	switch (in->kind) {
	case K_PLAIN: /* reads the running count */
		return gs_load(p, (in->modrm >> 3 & 7) | (in->rex & 4) << 1, T_COUNT);
	case K_JCC:
		if (d->exits)
			return loop_on(d, p, in);
		/* jcc rel32 from either form: the condition is the opcode's low nibble. */
		return go_to(d, p, 0x80 | (in->opcode & 15), d->end + (uint64_t)in->imm);
	case K_LOOP:
		return emit_loop(d, p, in, d->pcs[i]);
	case K_JMP:
		return go_to(d, p, 0, d->end + (uint64_t)in->imm);
	case K_CALL:
		p = push_return(d, p, d->end);
		return go_to(d, p, 0, d->end + (uint64_t)in->imm);
	case K_JMP_IND:
	case K_CALL_IND:
		return emit_indirect(d, p, in, d->pcs[i], count);
	case K_RET:
		return emit_return(d, p, in, count);
	default:
		return emit_syscall(d, p, count);
	}
}

static bool counts_by_rcx(const struct insn *in)
{
	return in->kind == K_RET || in->kind == K_JMP_IND || in->kind == K_CALL_IND ||
		in->kind == K_SYSCALL;
}

static void put_head(const struct block *b, unsigned size, int n)
{
	uint8_t *head = eng.map_pool + b->map + n * MAP_ENTRY;

	head[0] = (uint8_t)size;
	head[1] = (uint8_t)(size >> 8);
}

/* Emit a block after its entry. Sets d->p to its end, its fall-through. */
static void emit_block(struct draft *d)
{
	struct block *b = d->b;
	uint8_t *map = eng.map_pool + b->map, *p = d->p, *start = p;
	const struct insn *last = &d->insns[d->n - 1];
	int at = dead_point(d, F_ALL), n = (int)d->n, plain;
	bool by_rcx = false, dead = true, every, path = eng.mode & COUNT_PATH;
	/* only in the last copy of a loop's body; not in code that returns to the engine anyway */
	bool turn = turn_counts(last) && !d->copies_left && !(b->flags & (B_PART | B_ONCE));
	/* a count of 0 means that the program has not started */
	bool first = b->pc == eng.process->entry;

	if (at < 0)
		at = dead_point(d, live_behind(d));
	if (at < 0) {
		dead = false;
		by_rcx = counts_by_rcx(last);
		at = by_rcx ? (int)d->n - 1 : 0;
	}
	b->n = (uint8_t)d->n;
	b->src_len = (uint16_t)(d->end - b->pc);
	if (counts_by_rcx(last))
		b->flags |= B_RCX;
	note_facts(d);
	isa_check(d->insns, d->n);
	every = (eng.mode & COUNT_EVERY) && period_counts(b);
	/* count all at the entry: the block was entered if and only if it was counted */
	if (every || path || first) {
		at = 0;
		dead = !(live_before(d, live_behind(d)) & F_ALL);
		by_rcx = false;
	}
	b->count_at = (uint8_t)at;
	if (turn)
		p = emit_turn(d->a, p, b->pc,
			      !(live_before(d, live_behind(d)) & F_ALL & ~(unsigned)F_CF));
	if (every)
		p = emit_period(d->a, p, b, dead, !(b->flags & (B_PART | B_ONCE)));
	if (path)
		p = emit_path(p, d->insns, d->pcs, d->n);
	put_head(b, (unsigned)(p - start), n);
	start = p;
	plain = d->reads_count ? 0 : last->kind == K_PLAIN ? n : n - 1;
	for (int i = 0; i < n; i++, map += MAP_ENTRY) {
		const struct insn *in = &d->insns[i];

		map[2] = 0;
		if (i == at && !by_rcx)
			p = count_here(p, dead, d->retires, d->counter);
		p = i < plain ? emit_plain(p, in, d->pcs[i], &map[2])
			      : emit_last(d, p, (unsigned)i, by_rcx);
		if (eng.mode & (SAME_ISA | SAME_CPUS))
			p = isa_after(p, in);
		map[0] = in->len;
		map[1] = (uint8_t)(p - start);
		start = p;
	}
	d->p = p;
	eng.map_used += d->n * MAP_ENTRY + MAP_HEAD;
}

static void keep_copy(struct draft *d)
{
	struct block *b = d->b;

	if (!(b->flags & B_CHECKED))
		return;
	b->copy = eng.map_used;
	put_bytes(eng.map_pool + b->copy, d->bytes, b->src_len);
	eng.map_used += b->src_len;
}

/* Number of copies of the block: more than one for a short loop of one block. */
static unsigned copies_wanted(const struct draft *d)
{
	const struct insn *last = &d->insns[d->n - 1];

	if (last->kind != K_JCC || d->end + (uint64_t)last->imm != d->b->pc ||
	    (d->b->flags & (B_CHECKED | B_ONCE)))
		return 1;
	return d->n <= 4 ? 8 : d->n <= 8 ? 4 : d->n <= 12 ? 2 : 1;
}

/* The block and its copies, from its entry; then the fall-through. */
static void emit_copies(struct draft *d)
{
	uint8_t *exits[8];
	unsigned n = copies_wanted(d);
	struct block *first = d->b;

	d->exits = n > 1 ? exits : NULL;
	d->loop = first;
	for (unsigned i = 0; i < n; i++) {
		d->copies_left = n - 1 - i;
		if (i) {
			d->b = block_new(first->pc);
			*d->b = (struct block){ .pc = first->pc,
						.map = eng.map_used,
						.flags = B_COPY | B_FALLS };
		}
		d->b->code = d->p;
		emit_block(d);
		d->b->code_len = (uint16_t)(d->p - d->b->code);
		keep_copy(d);
		if (!(d->b->flags & B_ONCE))
			page_join(d->b);
		block_done(d->b, d->a);
	}
	for (unsigned i = 0; i + 1 < n; i++)
		set_rel32(exits[i], d->p);
	d->b = first;
}

/* A fragment from `pc`: its first block, not yet reachable for indirect branches. */
static struct block *fragment(uint64_t pc, bool indirect, bool once)
{
	struct block *first = NULL;
	struct arena *a;
	struct draft d;

	if (!region_of(pc))
		return NULL;
	a = arena_near(pc);
	d.a = a;
	d.p = a->hot;
	for (unsigned blocks = 0; blocks < FRAGMENT_BLOCKS; blocks++) {
		mapping_of(pc); /* may divide the region */

		const struct region *r = region_of(pc);
		struct block *b = block_new(pc);
		const struct insn *last;
		bool more;

		*b = (struct block){ .pc = pc,
				     .map = b->map,
				     .flags = once   ? B_ONCE
					     : first ? B_FALLS
						     : 0 };
		d.b = b;
		if (!r)
			break;
		eng.near = (struct range){ r->start, r->end };
		eng.reaches_far = false;
		if (!once && can_change(r) && watch_code(pc, pc + 1))
			b->flags |= B_CHECKED;
		if (blocks && (b->flags & B_CHECKED))
			break;
		if (!read_block(&d, pc, once, BLOCK_INSNS))
			break;
		if (blocks && isa_lacking(d.insns, d.n)) /* it may never run */
			break;
		if (!once && can_change(r) && watch_code(pc, d.end)) {
			if (blocks && !(b->flags & B_CHECKED))
				break;
			b->flags |= B_CHECKED;
		}
		if ((b->flags & B_CHECKED) && !read_checked(&d, pc, BLOCK_INSNS))
			break;
		if (indirect && !first && !(b->flags & (B_CHECKED | B_ONCE)))
			d.p = emit_indirect_entry(b, a, d.p);
		emit_copies(&d);
		if (!first)
			first = b;

		last = &d.insns[d.n - 1];
		if (last->kind == K_JCC)
			d.p = count_fall_through(&d, d.p);
		note_reach(d.end - 1);
		if (last->kind == K_JCC || last->kind == K_PLAIN)
			note_reach(d.end);
		if (eng.reaches_far)
			b->flags |= B_FAR;
		if (last->kind != K_JCC && last->kind != K_PLAIN)
			return a->hot = d.p, first;
		more = last->kind == K_JCC && !(b->flags & (B_CHECKED | B_ONCE)) &&
			blocks + 1 < FRAGMENT_BLOCKS && !block_find(d.end);
		pc = d.end;
		if (!more) {
			d.p = go_to(&d, d.p, 0, pc);
			return a->hot = d.p, first;
		}
		a->hot = d.p;
	}
	if (!first)
		return NULL;
	/* The next block could not be translated: link the previous one to it. */
	a->hot = jump_to(d.a, d.p, 0, pc);
	return first;
}

/*
 * Translate from `pc`; NULL when the instruction there cannot be copied. With `indirect`, indirect
 * branches find it. `once`: a single instruction that is executed once; it may write to its own
 * memory.
 *
 * Other threads take indirect branches without the lock, so the first block becomes reachable only
 * when everything that it falls through to is complete.
 */
struct block *translate(uint64_t pc, bool indirect, bool once)
{
	struct block *first = fragment(pc, indirect, once);

	if (first && once) {
		eng.dead_blocks++;
		counter_free(first->counter);
		counter_free(first->fall_counter);
	}
	if (first && first->indirect)
		bucket_add(first);
	return first;
}

/*
 * The first `n` instructions from `pc`, or fewer, as a block that always returns to the engine. It
 * is kept for reuse, and compares its bytes then.
 */
struct block *translate_part(uint64_t pc, unsigned n)
{
	uint32_t *head = &eng.parts[(pc * 0x9e3779b97f4a7c15ull >> 40 ^ n) %
				    (sizeof eng.parts / sizeof *eng.parts)];
	struct draft d = { 0 };
	const struct region *r;
	struct block *b;

	for (uint32_t i = *head; i; i = eng.blocks[i].part_next) {
		b = &eng.blocks[i];
		if (b->pc == pc && b->part == n && !(b->flags & B_DEAD) &&
		    code_is(pc, eng.map_pool + b->copy, b->src_len))
			return b;
	}
	if (!region_of(pc))
		return NULL;
	d.a = arena_near(pc);
	d.p = d.a->hot;
	mapping_of(pc); /* may divide the region */
	r = region_of(pc);
	b = d.b = block_new(pc);
	*b = (struct block){ .pc = pc, .map = b->map, .part = (uint8_t)n, .flags = B_PART };
	if (!r)
		return NULL;
	if (!read_block(&d, pc, false, n))
		return NULL;
	if (can_change(r))
		watch_code(pc, d.end);
	if (!read_checked(&d, pc, n))
		return NULL;
	b->part_next = *head;
	*head = eng.n_blocks;
	emit_copies(&d);
	switch (d.insns[d.n - 1].kind) {
	case K_JCC:
		d.p = count_fall_through(&d, d.p);
		/* fall through */
	case K_PLAIN:
		d.p = jump_out(d.a, d.p, 0, d.end);
		break;
	default:
		break;
	}
	d.a->hot = d.p;
	return b;
}
