/* SPDX-License-Identifier: MIT */
/*
 * Counters on the board. One whose block is dead goes to the next block that adds the same: executions of either
 * mean the same, in every thread and in every process forked from this program, so nothing needs to be added up
 * first, and a program that makes code for ever uses no more counters than there are kinds of blocks.
 */
#include "exact/engine/engine.h"

enum { HEADS = 1 << 16 };

static uint32_t *heads; /* free counters, by their facts */
static uint32_t *next;
static uint32_t n_free;

void counters_first(void)
{
	heads = reserve(HEADS * sizeof *heads);
	next = reserve(COUNTERS_MAX * sizeof *next);
}

static uint32_t *head_of(const struct block_facts *f)
{
	uint64_t words[sizeof *f / 8], h = 0;

	memcpy(words, f, sizeof words);
	for (size_t i = 0; i < sizeof words / 8; i++)
		h = (h ^ words[i]) * 0x9e3779b97f4a7c15ull, h ^= h >> 29;
	return &heads[h >> 48];
}

/* Without a profile nobody asks where a block was; nor, for a part of it, when counters run short. */
static struct block_facts as_kept(struct block_facts f, uint32_t used)
{
	if (!(eng.mode & COUNT_PROFILE)) {
		f.pc = 0;
		f.size = 0;
	} else if (used > COUNTERS_MAX / 4 * 3) {
		f.pc = 0;
		f.mapping = MAPPING_UNKNOWN;
	}
	return f;
}

/* A counter of what adds `f`. */
unsigned counter_for(const struct block_facts *f)
{
	volatile uint32_t *top = &eng.board->lineage_top[eng.process->lineage];
	struct block_facts *all = facts_of(eng.process->lineage), kept = as_kept(*f, *top);
	uint32_t i;

	for (uint32_t *link = n_free ? head_of(&kept) : NULL; link && *link; link = &next[*link])
		if (!memcmp(&all[*link], &kept, sizeof kept)) {
			i = *link;
			*link = next[i];
			n_free--;
			return i;
		}
	i = __atomic_fetch_add(top, 1, __ATOMIC_RELAXED);
	if (i >= COUNTERS_MAX)
		refuse("the exact engine's block counters are used up", f->pc);
	all[i] = kept;
	return i;
}

/* Its block is executed no more, or has been executed the one time it was made for. */
void counter_free(unsigned i)
{
	uint32_t *head;

	if (!i) /* stands for none, here */
		return;
	head = head_of(&facts_of(eng.process->lineage)[i]);
	next[i] = *head;
	*head = i;
	n_free++;
}
