/* SPDX-License-Identifier: MIT */
/*
 * What an instruction adds to each class, corrections for blocks that were left early, and the sums
 * for a program that reads them.
 */
#include "exact/adds.h"
#include "exact/engine/engine.h"

/* UMIP, in ECX[2]. */
bool kernel_emulates(void)
{
	static struct cpuid_7 cpu;

	return cpuid_7(&cpu)->c & 1u << 2;
}

void facts_add(struct block_facts *f, const struct insn *in)
{
	if (!insn_emulated(in))
		insn_adds(f->adds, in);
}

static void add_block(struct thread *t, const struct block_facts *f, int64_t sign)
{
	if (eng.mode & COUNT_RUNNING)
		t->count += sign * f->adds[EXACT_INSTRUCTIONS];
	for (int c = 0; c < EXACT_CLASSES; c++) {
		t->settled[c] += sign * f->adds[c];
		t->settled_check += (uint64_t)(sign * f->adds[c]) * sum_weight(c);
	}
}

/*
 * The profile needs the location of a correction, so it becomes a count, possibly negative, of a
 * block of one instruction. False if the counters are nearly used up: the program needs the
 * remaining ones.
 */
static bool count_at(struct thread *t, const struct insn *in, uint64_t pc, uint32_t mapping,
		     int64_t sign)
{
	uint32_t lineage = eng.process->lineage,
		 *known = &eng.corrections[pc * 0x9e3779b97f4a7c15ull >> 56];
	uint32_t i = __atomic_load_n(known, __ATOMIC_ACQUIRE);
	struct block_facts f = { .pc = pc, .size = in->len, .mapping = mapping };

	facts_add(&f, in);
	if (!i || memcmp(facts_of(lineage, i), &f, sizeof f)) {
		if (eng.shared->lineage_top[lineage] > COUNTERS_MAX / 2)
			return false;
		i = counter_apart(&f);
		__atomic_store_n(known, i, __ATOMIC_RELEASE);
	}
	counters_of(t)[i] += (uint64_t)sign;
	if (eng.mode & COUNT_RUNNING)
		t->count += sign;
	return true;
}

static void correct(struct thread *t, const struct insn *in, uint64_t pc, uint32_t mapping,
		    int64_t sign)
{
	struct block_facts f = { 0 };

	facts_add(&f, in);
	period_correct(t, &f, sign);
	if (eng.mode & COUNT_PATH) {
		if (sign > 0)
			path_add(t, in, pc);
		else
			path_take_back(t, in, pc);
	}
	if ((eng.mode & COUNT_PROFILE) && count_at(t, in, pc, mapping, sign))
		return;
	add_block(t, &f, sign);
}

/*
 * The thread leaves a block after `executed` instructions. If the block was already counted as a
 * whole, subtract the rest, last instruction first. If not, add the executed ones.
 */
void settle(struct thread *t, const struct block *b, unsigned executed, bool counted)
{
	uint32_t mapping = eng.mode & COUNT_PROFILE
		? facts_of(eng.process->lineage, b->counter)->mapping
		: 0;
	const uint8_t *map = eng.map_pool + b->map;
	uint64_t pc = counted ? b->pc + b->src_len : b->pc;

	for (unsigned k = 0; k < b->n; k++) {
		unsigned i = counted ? b->n - 1 - k : k;
		struct insn in;

		if (counted)
			pc -= map[i * MAP_ENTRY];
		if ((i >= executed) == counted) {
			const uint8_t *bytes = b->copy ? eng.map_pool + b->copy + (pc - b->pc)
						       : (const uint8_t *)pc;

			if (!insn_decode(&in, bytes, map[i * MAP_ENTRY]))
				refuse_wrong("code changed without detection at", pc);
			correct(t, &in, pc, mapping, counted ? -1 : 1);
		}
		if (!counted)
			pc += map[i * MAP_ENTRY];
	}
}

/*
 * Count an instruction that the engine executed for the program, which continues at `next` (0: not
 * a branch). Needs the lock.
 */
void count_special(struct thread *t, const struct insn *in, uint64_t pc, uint64_t next)
{
	correct(t, in, pc, mapping_of(pc), 1);
	period_special(t, in, pc, next);
}

/* Undo the count of a system call that was not made. Called without the lock. */
void uncount_special(struct thread *t, const struct insn *in, uint64_t pc)
{
	uint32_t mapping = 0;

	if (eng.mode & COUNT_PROFILE) {
		lock();
		eng.tid = t->tid;
		mapping = mapping_of(pc);
		unlock();
	}
	correct(t, in, pc, mapping, -1);
}

/*
 * The running thread's counts so far, in every class. Each reading adds the counters' changes since
 * the one before: most counters do not change between two readings.
 */
void thread_sums(struct thread *t, int64_t out[EXACT_CLASSES])
{
	uint32_t lineage = process_at(t->process)->lineage, top = lineage_top(lineage);
	const volatile uint64_t *now = counters_of(t);
	uint64_t *before = counters_seen(t);

	t->has_seen = 1;
	for (uint32_t i = 0; i < top; i++) {
		int64_t moved = (int64_t)(now[i] - before[i]);

		if (!moved)
			continue;
		before[i] += (uint64_t)moved;

		const struct block_facts *f = facts_of(lineage, i);

		facts_times(t->seen, f, moved);
	}
	for (int c = 0; c < EXACT_CLASSES; c++)
		out[c] = t->seen[c] + t->settled[c];
}
