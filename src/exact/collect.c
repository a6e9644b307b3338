/* SPDX-License-Identifier: MIT */
/*
 * Collects the counts that threads and processes leave in the shared state when they end, and frees
 * their slots.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/wait.h>
#include "exact/supervise.h"

enum { COUNTERS_FEW = 1 << 14 /* of a finished thread they are 0: not worth a system call */ };

static void free_thread(struct supervisor *s, uint32_t i)
{
	off_t at = (off_t)(SHARED_THREADS + i * THREAD_STRIDE + THREAD_COUNTERS);

	fallocate(s->l->shared_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at,
		  COUNTERS_MAX * 8l * 2);
	s->b->thread_states[i] = THREAD_FREE;
}

/* The lineage of its code; 0 if the shared state has none. */
uint32_t lineage_of(const struct process *p)
{
	uint32_t lineage = __atomic_load_n(&p->lineage, __ATOMIC_RELAXED);

	return lineage < LINEAGES ? lineage : 0;
}

void leave_lineage(struct supervisor *s, uint32_t lineage)
{
	if (lineage >= LINEAGES ||
	    __atomic_sub_fetch(&s->b->lineage_users[lineage], 1, __ATOMIC_ACQ_REL))
		return;
	if (s->l->mode & COUNT_PROFILE)
		profile_lineage(s->b, s->l->shared_fd, lineage);
}

/* Allocate an unused lineage. Only the supervisor does this. */
int64_t new_lineage(struct supervisor *s)
{
	for (uint32_t i = 0; i < LINEAGES; i++)
		if (!s->b->lineage_users[i]) {
			/* of the lineage before; the last one is never emptied */
			if (s->b->lineage_top[i])
				fallocate(s->l->shared_fd,
					  FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					  (off_t)(SHARED_BLOCKS + i * LINEAGE_STRIDE),
					  (off_t)LINEAGE_STRIDE);
			s->b->lineage_users[i] = 1;
			s->b->lineage_top[i] = s->b->lineage_kinds[i] = 0;
			return i;
		}
	return -1;
}

static void note_failure(struct supervisor *s, const struct process *p, const char *how);

/* The process's threads have ended: add their counts to the process. */
void fold_threads(struct supervisor *s, uint32_t process)
{
	struct process *p = shared_process(s->b, process);
	const uint32_t lineage = lineage_of(p);

	__atomic_fetch_add(&s->b->changes, 1, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < shared_threads(s->b); i++) {
		const struct thread *t = (const struct thread *)shared_thread(s->b, i);
		uint32_t state = s->b->thread_states[i];

		if ((state != THREAD_LIVE && state != THREAD_DONE) || t->process != process)
			continue;
		if (state == THREAD_DONE) {
			if (s->b->lineage_top[lineage] < COUNTERS_FEW)
				s->b->thread_states[i] = THREAD_FREE;
			else
				free_thread(s, i);
			continue;
		}
		int64_t sums[EXACT_CLASSES] = { 0 };

		if (!add_thread(s->b, s->l->shared_fd, lineage, i, sums))
			note_failure(s, p, ", or it was killed as it wrote down its counts");
		note_ended(s->b, p,
			   &(struct ended_thread){ .born = t->born,
						   .stable_id = t->stable_id,
						   .tid = t->tid,
						   .tsc = clock_ticks(),
						   .path = t->path,
						   .check = sums_check(sums) },
			   sums);
		for (int c = 0; c < EXACT_CLASSES; c++)
			p->done[c] = (int64_t)((uint64_t)p->done[c] + (uint64_t)sums[c]);
		p->done_check += sums_check(sums);
		if (s->l->mode & COUNT_PROFILE)
			profile_thread(s->b, s->l->shared_fd, lineage, i);
		free_thread(s, i);
	}
	p->threads = 0;
	__atomic_fetch_add(&s->b->changes, 1, __ATOMIC_SEQ_CST);
}

void process_name(const struct process *p, char to[24])
{
	const char *path = p->refused == REFUSED_EXEC ? p->program : "",
		   *last = memrchr(path, '/', strnlen(path, sizeof p->program));

	snprintf(to, 24, "%.23s", path[0] ? last ? last + 1 : path : p->name);
}

void uncounted_of(const struct process *p, struct uncounted *to)
{
	*to = (struct uncounted){ .pid = p->pid, .serial = p->serial, .how = p->refused };
	process_name(p, to->name);
	snprintf(to->reason, sizeof to->reason, "%.*s", REASON_MAX - 1, p->reason);
}

static void note_failure(struct supervisor *s, const struct process *p, const char *how)
{
	char reason[REASON_MAX];

	snprintf(reason, sizeof reason, "the exact engine failed in process %d (%.23s)%s",
		 (int)p->pid, p->name, how);
	note_reason(s, reason);
}

/* Signals that dump core by default; the engine handles these. */
static bool leaves_core(int sig)
{
	static const int those[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT };

	for (size_t i = 0; i < ARRAY_SIZE(those); i++)
		if (those[i] == sig)
			return true;
	return false;
}

/*
 * Process `pid` was ended by signal `sig`. The engine handles signals that dump core and sets
 * `ending` before the program dies of one. If it did not, the engine itself crashed, and its counts
 * are invalid.
 */
/*
 * Has it entered execve(2) of a program that the kernel cannot start? It dies there, and the engine
 * is not the cause.
 */
static bool is_at_exec(struct shared_state *b, uint32_t process)
{
	for (uint32_t i = 0; i < shared_threads(b); i++) {
		const struct thread *t = (const struct thread *)shared_thread(b, i);

		if (b->thread_states[i] == THREAD_LIVE && t->process == process &&
		    (t->exec == EXEC_WATCHED || t->exec == EXEC_UNWATCHED))
			return true;
	}
	return false;
}

void look_at_death(struct supervisor *s, pid_t pid, int sig)
{
	struct shared_state *b = s->b;
	bool hears = leaves_core(sig);

	for (uint32_t i = 0; hears && i < shared_processes(b); i++) {
		const struct process *p = shared_process(b, i);

		if (p->state == PROCESS_LIVE && p->pid == pid && !p->refused &&
		    p->ending != (uint32_t)sig && !is_at_exec(b, i))
			note_failure(s, p, ", which it brought down");
	}
}

/*
 * No death was recorded: did a thread die inside the signal handler, where a fault kills at once?
 */
static void look_for_failure(struct supervisor *s, uint32_t process)
{
	struct shared_state *b = s->b;
	const struct process *p = shared_process(b, process);

	if (READ_ONCE(p->folding) && !p->refused) {
		note_failure(s, p, ", or it was killed as a thread added up its counts");
		return;
	}
	if (p->state != PROCESS_LIVE || p->refused || p->ending != ENDING_NOT)
		return;
	for (uint32_t i = 0; i < shared_threads(b); i++) {
		const struct thread *t = (const struct thread *)shared_thread(b, i);

		if (b->thread_states[i] == THREAD_LIVE && t->process == process && t->handling) {
			note_failure(s, p, ", or it was killed as the engine handled a signal");
			return;
		}
	}
}

/* Process p has ended: check whether part of it was not counted. */
static void note_uncounted(struct supervisor *s, const struct process *p)
{
	struct uncounted u;

	if (refused_all(s->b, p)) {
		note_reason(s, p->reason);
	} else if (p->refused) {
		if (s->n_uncounted < UNCOUNTED_MAX) {
			uncounted_of(p, &u);
			s->b->uncounted[s->n_uncounted] = u;
			s->uncounted_hash = uncounted_hash_add(s->uncounted_hash, &u);
		}
		s->b->n_uncounted = ++s->n_uncounted;
	}
}

static void collect(struct supervisor *s, uint32_t process)
{
	struct process *p = shared_process(s->b, process);
	struct shared_state *b = s->b;

	look_for_failure(s, process);
	fold_threads(s, process);
	__atomic_fetch_add(&b->changes, 1, __ATOMIC_SEQ_CST);
	note_uncounted(s, p);
	b->compared += p->compared;
	b->stepped += p->stepped;
	if (s->n_past < PAST_MAX) {
		struct past *past = shared_past(b, s->n_past);

		past->pid = p->pid;
		past->parent = p->parent_pid;
		past->serial = p->serial;
		past->refused = p->refused;
		past->may_have_begun = p->first_stepped && p->ending == ENDING_NOT;
		past->stable_id = p->stable_id;
		process_name(p, past->name);
		memcpy(past->counts, p->done, sizeof past->counts);
		past->check = p->done_check;
		b->n_past = ++s->n_past;
		b->not_past = ~s->n_past;
	} else {
		for (int c = 0; c < EXACT_CLASSES; c++)
			b->past_overflow[c] = (int64_t)((uint64_t)b->past_overflow[c] +
							(uint64_t)p->done[c]);
		b->past_overflow_check += p->done_check;
	}
	leave_lineage(s, lineage_of(p));
	memset(p->done, 0, sizeof p->done);
	p->done_check = 0;
	p->question.state = QUESTION_NONE;
	p->dying = DYING_NOT;
	p->dying_tid = 0;
	p->ending = ENDING_NOT;
	p->found_stopped = 0;
	p->state = PROCESS_FREE;
	__atomic_fetch_add(&b->changes, 1, __ATOMIC_SEQ_CST);
}

enum { STATE_THREADS = 20 }; /* a field of /proc/PID/stat */

/*
 * The kernel's state letter: 'Z', 'T', ...; 'X' if there is no such process. A process whose first
 * thread has ended while others run has the letter 'Z', too: then this returns 'z'. `status`: the
 * wait(2) status of a zombie. Source: proc_pid_stat(5).
 */
static char state_of(pid_t pid, int *status)
{
	char path[64], text[1024], *at, *last;
	unsigned field = 3;
	char state;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ESRCH ? 'X' : '?';
	n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n <= 0)
		return 'X';
	text[n] = 0;
	at = strrchr(text, ')');
	last = strrchr(text, ' '); /* exit_code */
	*status = last ? atoi(last + 1) : 0;
	if (!at || !at[1])
		return '?';
	state = at[2];
	for (at += 2; field < STATE_THREADS && (at = strchr(at, ' ')); at++)
		field++;
	return state == 'Z' && at && atoi(at) > 1 ? 'z' : state;
}

/* Has the process ended, reaped or not? Also notices that it is stopped. */
static bool is_dead(struct supervisor *s, struct process *p)
{
	int status = 0;
	char state = state_of(p->pid, &status);
	bool stopped = state == 'T';

	s->stops_found += stopped && !p->found_stopped;
	p->found_stopped = stopped;
	if (state == 'Z' && WIFSIGNALED(status))
		look_at_death(s, p->pid, WTERMSIG(status));
	return state == 'Z' || state == 'X';
}

/* False: the process has given up its memory, or is gone. */
static bool has_memory(pid_t pid)
{
	char path[64], pages = '0';
	int fd;

	snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read(fd, &pages, 1) != 1)
		pages = '0';
	close(fd);
	return pages != '0';
}

/* A dying process gives up its memory before it is a zombie. */
bool has_ended(pid_t tid)
{
	int status;
	char state = state_of(tid, &status);

	return state == 'Z' || state == 'X' || !has_memory(tid);
}

/* Free the slots of ended processes. Returns how many still run. */
unsigned sweep(struct supervisor *s, enum looks looks)
{
	unsigned live = 0;

	for (uint32_t i = 0; i < shared_processes(s->b); i++) {
		struct process *p = shared_process(s->b, i);

		if (p->state == PROCESS_TAKEN && looks == ALL_GONE)
			p->state = PROCESS_FREE; /* its parent was killed while creating it */
		if (p->state == PROCESS_FREE)
			continue;
		if (p->state == PROCESS_TAKEN)
			live++;
		else if (p->state == PROCESS_ENDED || looks == ALL_GONE ||
			 (looks == LOOK_FOR_KILLED && p->pid > 0 && is_dead(s, p)))
			collect(s, i);
		else
			live++;
	}
	return live;
}

/*
 * After a sweep: which processes still run. One that was just forked may not have recorded its pid
 * yet: it is counted, but not named.
 */
struct exact_left look_at_left(struct shared_state *b)
{
	struct exact_left left = { 0 };

	for (uint32_t i = 0; i < shared_processes(b); i++) {
		const struct process *p = shared_process(b, i);

		if (p->state != PROCESS_LIVE)
			continue;
		left.n++;
		if (p->pid > 0 && !left.pid) {
			left.pid = p->pid;
			snprintf(left.name, sizeof left.name, "%.*s", (int)sizeof p->name - 1,
				 p->name);
		}
	}
	return left;
}
