/* SPDX-License-Identifier: MIT */
/*
 * The board lies in the memory of every program that is counted, and a hostile one, or a very broken one, can write to it.
 * Nothing keeps it from that; what it writes over the board's head and its lists shows here.
 */
#include "exact/supervisor.h"
#include "exact/thread.h"

enum { LOOKS = 1000 };

/* Its slot may be given to another thread meanwhile. */
static bool thread_damaged(struct board *b, uint32_t i)
{
	const struct thread *t = (const struct thread *)board_thread(b, i);

	for (int tries = 0; tries < LOOKS && b->thread_states[i] == THREAD_LIVE; tries++) {
		uint32_t process = READ_ONCE(t->process);

		if (process < PROCESSES && READ_ONCE(t->not_process) == ~process)
			return false;
	}
	return b->thread_states[i] == THREAD_LIVE;
}

/* An ended process is in both lists; in between two steps of the supervisor it is in the first alone. */
static bool too_many_uncounted(const struct board *b)
{
	uint32_t uncounted = b->n_uncounted, past = b->n_past;

	return past < PAST_MAX && uncounted > past + 1;
}

bool board_damaged(struct board *b)
{
	if (too_many_uncounted(b))
		return true;
	if (READ_ONCE(b->magic) != BOARD_MAGIC || READ_ONCE(b->magic_behind) != BOARD_MAGIC || b->threads_top > THREADS ||
	    b->processes_top > PROCESSES || b->n_past > PAST_MAX || b->n_modules > MODULES_MAX || b->n_mappings > MAPPINGS_MAX || b->n_code > CODE_MAX)
		return true;
	for (uint32_t i = 0; i < board_processes(b); i++) {
		const struct process *p = board_process(b, i);

		if (p->state > PROCESS_TAKEN || READ_ONCE(p->lineage) >= LINEAGES || READ_ONCE(p->parent) >= PROCESSES)
			return true;
	}
	for (uint32_t i = 0; i < board_threads(b); i++)
		if (b->thread_states[i] > THREAD_TAKEN || thread_damaged(b, i))
			return true;
	return false;
}
