/* SPDX-License-Identifier: MIT */
/* Adds up the counts in the shared state. */
#include <errno.h>
#include <unistd.h>
#include "exact/supervisor.h"
#include "exact/thread.h"

enum { SETTLING_MAX = 1000 /* attempts to read a thread that is adding to its sums */ };

uint32_t thread_process(struct shared_state *b, uint32_t i)
{
	return READ_ONCE(((const struct thread *)shared_thread(b, i))->process);
}

struct exact_thread thread_facts(struct shared_state *b, uint32_t i)
{
	const struct thread *t = (const struct thread *)shared_thread(b, i);

	return (struct exact_thread){ .born = READ_ONCE(t->born),
				      .stable_id = READ_ONCE(t->stable_id),
				      .tid = READ_ONCE(t->tid) };
}

uint32_t lineage_counters(const struct shared_state *b, uint32_t lineage)
{
	uint32_t top = lineage < LINEAGES ? b->lineage_top[lineage] : 0;

	return top < COUNTERS_MAX ? top : COUNTERS_MAX;
}

/* Kinds are numbered consecutively, so their facts have no hole. */
uint32_t lineage_facts(int fd, uint32_t lineage)
{
	const uint64_t at = SHARED_BLOCKS + (lineage < LINEAGES ? lineage : 0) * LINEAGE_STRIDE;
	off_t hole = lseek(fd, (off_t)at, SEEK_HOLE);
	uint64_t n = hole < 0 ? COUNTERS_MAX : ((uint64_t)hole - at) / sizeof(struct block_facts);

	return n < COUNTERS_MAX ? (uint32_t)n : COUNTERS_MAX;
}

uint32_t data_from(int fd, uint64_t at, uint32_t i, uint32_t n, uint32_t *end)
{
	off_t to = (off_t)(at + n * 8ull), data, hole;

	*end = n;
	if (i >= n)
		return n;
	data = lseek(fd, (off_t)(at + i * 8ull), SEEK_DATA);
	if (data < 0)
		return errno == ENXIO ? n : i; /* call not supported: assume data throughout */
	if (data >= to)
		return n;
	hole = lseek(fd, data, SEEK_HOLE);
	if (hole > data && hole < to)
		*end = (uint32_t)(((uint64_t)hole - at) / 8);
	return data > (off_t)(at + i * 8ull) ? (uint32_t)(((uint64_t)data - at) / 8) : i;
}

bool add_sums(int64_t into[EXACT_CLASSES], const int64_t *sums, const uint64_t *check)
{
	int64_t own[EXACT_CLASSES];
	bool over = false;

	copy_once(own, sums, sizeof own);
	if (READ_ONCE(*check) != sums_check(own))
		return false;
	for (int c = 0; c < EXACT_CLASSES; c++)
		over |= __builtin_add_overflow(into[c], own[c], &into[c]);
	return !over;
}

static bool add_settled(const struct thread *t, int64_t into[EXACT_CLASSES])
{
	int64_t before[EXACT_CLASSES];

	__builtin_memcpy(before, into, sizeof before);
	for (int i = 0; i < SETTLING_MAX; i++) {
		if (add_sums(into, t->settled, &t->settled_check))
			return true;
		__builtin_memcpy(into, before, sizeof before);
	}
	return false;
}

bool add_thread(struct shared_state *b, int fd, uint32_t lineage, uint32_t thread,
		int64_t into[EXACT_CLASSES])
{
	uint8_t *slot = shared_thread(b, thread);
	const volatile uint64_t *counters = (const volatile uint64_t *)(slot + THREAD_COUNTERS);
	const uint64_t at = (uint64_t)(slot - (uint8_t *)b) + THREAD_COUNTERS;
	uint32_t top = lineage_counters(b, lineage), kinds = lineage_facts(fd, lineage), end;
	int64_t sums[EXACT_CLASSES] = { 0 };
	uint64_t executions = 0;
	bool over = !add_settled((const struct thread *)slot, into);

	for (uint32_t i = data_from(fd, at, 0, top, &end); i < top;
	     i = data_from(fd, at, end, top, &end))
		for (; i < end; i++) {
			int64_t n = (int64_t)counters[i];

			if (!n)
				continue;

			const struct block_facts *f = shared_facts(b, lineage, i, kinds);
			uint64_t times = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;

			if (!f || times >> EXECUTIONS_BITS ||
			    (executions += times) >> EXECUTIONS_BITS)
				return false;
			facts_times(sums, f, n);
		}
	for (int c = 0; c < EXACT_CLASSES; c++)
		over |= __builtin_add_overflow(into[c], sums[c], &into[c]);
	return !over;
}
