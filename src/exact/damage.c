/* SPDX-License-Identifier: MIT */
/*
 * The board lies in the memory of every program that is counted, and a hostile one, or a very broken one, can write to it.
 * Nothing keeps it from that; what it writes over the board's head and its lists shows here.
 */
#include "exact/supervisor.h"
#include "exact/thread.h"

bool board_damaged(struct board *b)
{
	if (b->magic != BOARD_MAGIC || b->magic_behind != BOARD_MAGIC || b->threads_top > THREADS ||
	    b->processes_top > PROCESSES || b->n_past > PAST_MAX)
		return true;
	for (uint32_t i = 0; i < board_processes(b); i++) {
		const struct process *p = board_process(b, i);

		if (p->state > PROCESS_TAKEN || p->lineage >= LINEAGES || p->parent >= PROCESSES)
			return true;
	}
	for (uint32_t i = 0; i < board_threads(b); i++)
		if (b->thread_states[i] > THREAD_TAKEN ||
		    (b->thread_states[i] == THREAD_LIVE && thread_process(b, i) >= PROCESSES))
			return true;
	return false;
}
