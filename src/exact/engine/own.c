/* SPDX-License-Identifier: MIT */
/*
 * The ranges of the engine's memory: shared state, image, tables, the jump table below 2 GiB, code.
 * Natively nothing is mapped there, so system calls of the program that change a range of memory
 * skip them (map_calls.c). All functions need the lock.
 */
#include "exact/engine/engine.h"

static uint64_t rounded(uint64_t size)
{
	return (size + PAGE - 1) & ~(uint64_t)(PAGE - 1);
}

/* Publish the engine's ranges for other processes that read the maps of this one: proc_files.c. */
void own_show(struct process *p)
{
	if (!p)
		return;
	p->n_own = 0;
	if (eng.n_own > OWN_SHOWN)
		return;
	memcpy(p->own, eng.own, eng.n_own * sizeof eng.own[0]);
	p->n_own = eng.n_own;
}

void own_add(uint64_t start, uint64_t size)
{
	uint32_t i = eng.n_own;

	if (i == OWN_MAX)
		refuse("the exact engine has more pieces of memory than it can follow; one more at",
		       start);
	for (eng.n_own++; i && eng.own[i - 1].start > start; i--)
		eng.own[i] = eng.own[i - 1];
	eng.own[i] = (struct range){ start, start + rounded(size) };
	own_show(eng.process);
}

void own_remove(uint64_t start)
{
	uint32_t i = 0;

	while (i < eng.n_own && eng.own[i].start != start)
		i++;
	if (i == eng.n_own)
		return;
	for (eng.n_own--; i < eng.n_own; i++)
		eng.own[i] = eng.own[i + 1];
	own_show(eng.process);
}

/* The lowest of the engine's ranges that overlaps [start, end), or NULL. */
const struct range *own_first(uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < eng.n_own; i++)
		if (eng.own[i].start < end && start < eng.own[i].end)
			return &eng.own[i];
	return NULL;
}

/* The highest one. */
const struct range *own_last(uint64_t start, uint64_t end)
{
	for (uint32_t i = eng.n_own; i-- > 0;)
		if (eng.own[i].start < end && start < eng.own[i].end)
			return &eng.own[i];
	return NULL;
}
