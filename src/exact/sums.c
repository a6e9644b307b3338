/* SPDX-License-Identifier: MIT */
/* Adding up what stands on the board. */
#include "exact/supervisor.h"
#include "exact/thread.h"

uint32_t thread_process(struct board *b, uint32_t i)
{
	return ((const struct thread *)board_thread(b, i))->process;
}

struct exact_thread thread_facts(struct board *b, uint32_t i)
{
	const struct thread *t = (const struct thread *)board_thread(b, i);

	return (struct exact_thread){ .born = t->born, .descent = t->descent, .tid = t->tid };
}

void add_thread(struct board *b, const struct process *p, uint32_t thread,
		int64_t into[EXACT_CLASSES])
{
	uint8_t *slot = board_thread(b, thread);
	const struct thread *t = (const struct thread *)slot;
	const volatile uint64_t *counters = (const volatile uint64_t *)(slot + THREAD_COUNTERS);
	uint32_t top = p->lineage < LINEAGES ? b->lineage_top[p->lineage] : 0;

	for (int c = 0; c < EXACT_CLASSES; c++)
		into[c] += t->settled[c];
	for (uint32_t i = 0; i < top && i < COUNTERS_MAX; i++) {
		int64_t n = (int64_t)counters[i];

		if (!n)
			continue;

		const struct block_facts *f = board_facts(b, p->lineage, i);

		facts_times(into, f, n);
	}
}
