/* SPDX-License-Identifier: MIT */
/*
 * strangers HOW VICTIM PC|PROGRAM: writes to the counter's memory the number of a process that does
 * not belong to the command, so that the supervisor takes it for the command's, or a count above a
 * list's size; or has its own exec of PROGRAM, which gains rights, traced. Status 1: the supervisor
 * acted on it. Natively there is none.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include "maps_with_engine.h"
#include "exact/shared_state.h"
#include "exact/thread.h"

enum { FREE_SLOT = 100, TRIES = 200 };

static struct shared_state *board(void)
{
	static char line[4096];
	unsigned long from;
	FILE *f = maps_with_engine();

	while (f && fgets(line, sizeof line, f))
		if (strstr(line, "rw-s") && strstr(line, "tare-exact") &&
		    sscanf(line, "%lx", &from) == 1)
			return (struct shared_state *)from;
	return NULL;
}

static void ring(struct shared_state *b)
{
	__atomic_fetch_add(&b->bell, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &b->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Wait for the supervisor's answer, and a while longer. */
static void wait_for(volatile uint32_t *word, uint32_t asked)
{
	for (int i = 0; i < TRIES && *word == asked; i++)
		usleep(10000);
	usleep(200000);
}

int main(int argc, char **argv)
{
	struct shared_state *b = board();
	struct process *p = (struct process *)((char *)b + SHARED_PROCESSES);
	struct thread *t = (struct thread *)((char *)b + SHARED_THREADS +
					     FREE_SLOT * THREAD_STRIDE);
	const char *how = argv[1];
	int victim = atoi(argv[2]), pid = getpid(), fd, wrong = 0;
	char path[64];

	if (!b)
		return 0;
	if (!strcmp(how, "parked")) {
		p->pid = victim;
		p->dying = DYING_ASKED;
		ring(b);
		wait_for(&p->dying, DYING_SEEN);
		p->dying = DYING_NOT;
		p->pid = pid;
	} else if (!strcmp(how, "traced") || !strcmp(how, "gains")) {
		t->process = 0;
		t->not_process = ~0u;
		t->tid = *how == 'g' ? pid : victim;
		t->exec = EXEC_ASKED;
		b->threads_top = FREE_SLOT + 1;
		b->thread_states[FREE_SLOT] = THREAD_LIVE;
		ring(b);
		wait_for(&t->exec, EXEC_ASKED);
		if (*how == 'g')
			return execl(argv[3], argv[3], "1", (char *)NULL);
		wrong = t->exec != EXEC_UNWATCHED;
		b->thread_states[FREE_SLOT] = THREAD_FREE;
	} else if (!strcmp(how, "asked")) {
		p->question.tid = victim;
		p->question.pc = strtoul(argv[3], NULL, 16);
		p->question.state = QUESTION_ASKED;
		ring(b);
		wait_for(&p->question.state, QUESTION_ASKED);
		wrong = p->question.state != QUESTION_ANSWERED || p->question.start;
		p->question.state = QUESTION_NONE;
	} else if (!strcmp(how, "cut")) {
		snprintf(path, sizeof path, "/proc/%d/fd/%d", b->supervisor, b->shared_fd);
		fd = open(path, O_RDWR);
		wrong = fd < 0 || !ftruncate(fd, 4096) || !ftruncate(fd, (off_t)SHARED_SIZE * 2);
	} else if (!strcmp(how, "counts")) {
		b->n_modules = b->n_mappings = b->n_code = b->n_uncounted = 0x7fffffff;
		memset(b->reason, 'x', sizeof b->reason);
	}
	printf("%d\n", wrong);
	return wrong;
}
