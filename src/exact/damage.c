/* SPDX-License-Identifier: MIT */
/*
 * Detects damage to the shared state. Every counted program maps the shared state, so a hostile or
 * very broken program can write to it. That cannot be prevented, but overwriting the shared state's
 * head or its lists is detected here.
 */
#include "exact/supervisor.h"
#include "exact/thread.h"

enum { LOOKS = 1000 };

/* The slot may have been given to another thread. */
static bool thread_damaged(struct shared_state *b, uint32_t i)
{
	const struct thread *t = (const struct thread *)shared_thread(b, i);

	for (int tries = 0; tries < LOOKS; tries++) {
		uint32_t process = READ_ONCE(t->process);

		if ((process < PROCESSES && READ_ONCE(t->not_process) == ~process) ||
		    b->thread_states[i] != THREAD_LIVE)
			return false;
	}
	return true;
}

/*
 * An ended process is in both lists; between two steps of the supervisor it is only in the first.
 */
static bool too_many_uncounted(const struct shared_state *b)
{
	uint32_t uncounted = b->n_uncounted, past = b->n_past;

	return past < PAST_MAX && uncounted > past + 1;
}

/* FNV-1a. Source: Fowler, Noll, Vo, draft-eastlake-fnv. */
uint64_t uncounted_hash_add(uint64_t hash, const struct uncounted *u)
{
	const uint8_t *bytes = (const uint8_t *)u;

	for (size_t i = 0; i < sizeof *u; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3ull;
	return hash;
}

uint64_t uncounted_hash(struct shared_state *b, uint32_t n)
{
	uint64_t hash = 0;
	struct uncounted u;

	for (uint32_t i = 0; i < n && i < UNCOUNTED_MAX; i++) {
		copy_once(&u, &b->uncounted[i], sizeof u);
		hash = uncounted_hash_add(hash, &u);
	}
	return hash;
}

bool shared_damaged(struct shared_state *b)
{
	if (too_many_uncounted(b))
		return true;
	if (READ_ONCE(b->magic) != SHARED_MAGIC || READ_ONCE(b->magic_behind) != SHARED_MAGIC ||
	    b->threads_top > THREADS || b->processes_top > PROCESSES || b->n_past > PAST_MAX ||
	    b->n_modules > MODULES_MAX || b->n_mappings > MAPPINGS_MAX || b->n_code > CODE_MAX)
		return true;
	for (uint32_t i = 0; i < shared_processes(b); i++) {
		const struct process *p = shared_process(b, i);

		if (p->state > PROCESS_TAKEN || READ_ONCE(p->lineage) >= LINEAGES ||
		    READ_ONCE(p->parent) >= PROCESSES)
			return true;
	}
	for (uint32_t i = 0; i < shared_threads(b); i++)
		if (b->thread_states[i] > THREAD_TAKEN || thread_damaged(b, i))
			return true;
	return false;
}
