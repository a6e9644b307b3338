/* SPDX-License-Identifier: MIT */
/*
 * An indirect branch to a non-canonical address (bits 63 to 47 differ) faults at the branch and
 * does not retire. But translated code has already counted it, and has left the block when the
 * engine is notified. Branches record nothing for this case, since every return would pay for it.
 * The branch is inferred from the registers, the stack, and the thread's executed blocks.
 */
#include "exact/engine/engine.h"

struct suspects {
	struct insn insn; /* the first */
	uint64_t pc;
	struct block_facts facts;
	bool several, unlike;
};

static uint64_t rsp_before(const struct thread *t, const struct insn *in)
{
	uint64_t sp = t->regs[RSP];

	return in->kind == K_CALL_IND ? sp + 8
		: in->kind == K_RET   ? sp - 8 - (in->imm & 0xffff)
				      : sp;
}

/* Would it have jumped to t->target? */
static bool leads_there(struct thread *t, const struct insn *in, uint64_t pc)
{
	uint64_t sp = t->regs[RSP], to = ~t->target, at;

	if (in->kind == K_CALL_IND &&
	    (copy_bytes(&at, (const void *)sp, sizeof at) != sizeof at || at != pc + in->len))
		return false;
	t->regs[RSP] = rsp_before(t, in);
	if (in->modrm_at && !insn_has_memory(in))
		to = t->regs[(in->modrm & 7) | (in->rex & 1) << 3];
	else if ((access_of(t, in, pc, EXACT_LOADS, 0, &at) & SAMPLE_HAS_ADDRESS) &&
		 copy_bytes(&to, (const void *)at, sizeof to) != sizeof to)
		to = ~t->target;
	t->regs[RSP] = sp;
	return to == t->target;
}

static void suspect(struct suspects *s, const struct insn *in, uint64_t pc)
{
	struct block_facts f = { 0 };

	facts_add(&f, in);
	if (!s->pc) {
		s->insn = *in;
		s->pc = pc;
		s->facts = f;
	} else if (s->pc != pc) {
		s->several = true;
		s->unlike |= memcmp(s->facts.adds, f.adds, sizeof f.adds) != 0;
	}
}

/* Indirect branches that this thread has executed and that may be the cause. */
static void find(struct thread *t, struct suspects *s)
{
	for (uint32_t i = eng.first_block; i < eng.n_blocks; i++) {
		const struct block *b = &eng.blocks[i];
		const uint8_t *map = eng.map_pool + b->map;
		uint64_t pc = b->pc;
		struct insn in;

		if (!(b->flags & B_RCX) || (b->flags & B_DEAD) || !counters_of(t)[b->counter])
			continue;
		for (unsigned k = 0; k + 1 < b->n; k++, map += MAP_ENTRY)
			pc += *map;
		if (code_room(pc) && insn_decode(&in, (const uint8_t *)pc, *map) &&
		    in.kind != K_SYSCALL && leads_there(t, &in, pc))
			suspect(s, &in, pc);
	}
}

/*
 * Undo the count of the branch. If it is known, the processor executes it in place; otherwise its
 * target is reported as the address of the fault. If not even its kind is known, there is no count.
 * Returns whether it is known.
 */
bool noncanonical_branch(struct thread *t)
{
	struct suspects s = { 0 };

	if ((int64_t)(t->target << 16) >> 16 == (int64_t)t->target)
		return false;
	lock();
	find(t, &s);
	unlock();
	if (!s.pc || s.unlike) {
		note_wrong(
			eng.process,
			"the exact engine cannot tell which kind of branch led to a non-canonical address,",
			t->target);
		return false;
	}
	uncount_special(t, &s.insn, s.pc);
	if (s.several)
		return false;
	t->regs[RSP] = rsp_before(t, &s.insn);
	t->target = s.pc;
	return true;
}
