/* SPDX-License-Identifier: MIT */
/*
 * The scheduling policy with SAME_TURNS (engine/turns.c). The supervisor has it, and the command
 * and its processes inherit it.
 */
#include <errno.h>
#include <sched.h>
#include "exact/supervise.h"

int turns_set(pid_t tid, int priority)
{
	const struct sched_param param = { .sched_priority = priority };
	const int policy = priority ? SCHED_FIFO : SCHED_OTHER;

	return sched_setscheduler(tid, policy, &param) < 0 ? -errno : 0;
}

/*
 * Threads that the command leaves running get SCHED_OTHER. Threads that are created meanwhile, and
 * those of processes that are not found here, read turns_over and set it themselves.
 */
void turns_end(struct shared_state *b)
{
	b->turns_over = 1;
	for (uint32_t i = 0; i < shared_threads(b); i++) {
		const struct exact_thread t = thread_facts(b, i);
		const struct process *p = shared_process(b, thread_process(b, i));
		struct member m;

		if (b->thread_states[i] != THREAD_LIVE || member_open(&m, p->pid, t.tid) < 0)
			continue;
		if (member_has(&m, t.tid))
			turns_set(t.tid, 0);
		member_close(&m);
	}
	turns_set(0, 0);
}
