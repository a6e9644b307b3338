/* SPDX-License-Identifier: MIT */
/*
 * The running thread's counts so far, in every class. Each reading adds the counters' changes since
 * the one before: most counters do not change between two readings.
 */
#include "exact/engine/engine.h"

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
