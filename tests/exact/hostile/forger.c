/* SPDX-License-Identifier: MIT */
/*
 * forger HOW: changes data in the shared state of the exact engine (src/exact/shared_state.h) that
 * the supervisor or the profile has written: the number of `unplaced` instructions, the number of
 * `uncounted` processes, the `reason` why there are no counts, or the list of `past` processes.
 * `none` changes nothing. It waits until there is something to change.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "exact/shared_state.h"

/* supervisor.h, shared_places */
static struct shared_state *const board = (struct shared_state *)0x559000000000;

static struct process *self(void)
{
	struct process *p = (struct process *)((uint8_t *)board + SHARED_PROCESSES);

	while (p->pid != getpid())
		p++;
	return p;
}

static void work(int turns)
{
	for (volatile int i = 0; i < turns; i++)
		;
}

/* A child that records why it was refused. */
static void lose_child(enum refused how)
{
	int status;

	if (fork() == 0) {
		work(20000);
		strcpy(self()->reason, "as it says");
		self()->refused = how;
		_exit(0);
	}
	wait(&status);
}

static void await(const volatile void *there)
{
	while (!*(const volatile char *)there)
		usleep(1000);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "none";

	work(20000);
	if (!strcmp(how, "unplaced")) {
		board->unplaced += 1000;
	} else if (!strcmp(how, "uncounted")) {
		lose_child(REFUSED_ENDED);
		await(&board->n_uncounted);
		board->n_uncounted = 0;
	} else if (!strcmp(how, "reason")) {
		lose_child(REFUSED_WRONG);
		await(board->reason);
		memset(board->reason, 0, sizeof board->reason);
	} else if (!strcmp(how, "past")) {
		lose_child(REFUSED_NOT);
		await(&board->n_past);
		board->n_past = 0;
		board->not_past = ~0u;
	}
	return 0;
}
