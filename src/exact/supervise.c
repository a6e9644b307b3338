/* SPDX-License-Identifier: MIT */
/*
 * The supervisor: a process of its own between tare and the counted command, so that tare's signal
 * handlers and children stay tare's. It starts the command, puts the engine into every program that
 * the command's processes execute, and adds up what ended processes leave in the shared state.
 * Between those moments it sleeps in the shared state's bell; nothing is traced.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "exact/supervise.h"

enum { IDLE_MS = 200, PARKING_MS = 10, GRACE_US = 700000 };

/* For signal handlers. */
static struct shared_state *rung;
static pid_t tare;
static volatile sig_atomic_t told_by; /* the signal that requests the end */

static void ring(int sig)
{
	int saved = errno;

	(void)sig;
	__atomic_fetch_add(&rung->bell, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &rung->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
	errno = saved;
}

/*
 * SIGTERM ends the supervisor after GRACE_US; if the command has not ended by then, its counts are
 * lost. Signals from the terminal are for tare and the command: ignore them as long as tare runs.
 */
static void on_told(int sig)
{
	if (sig != SIGTERM && getppid() == tare)
		return;
	told_by = sig;
	ualarm(GRACE_US, 0);
}

/*
 * Traced threads continue untraced; `gone` tells processes under the engine that no supervisor
 * serves them.
 */
static void on_grace_over(int sig)
{
	(void)sig;
	if (!told_by)
		return;
	rung->gone = 1;
	signal(told_by, SIG_DFL);
	raise(told_by);
}

/* By a raw system call: the C library's sigprocmask() excludes two signals that it uses. */
static void hear_only(uint64_t signals)
{
	uint64_t others = ~signals;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &others, NULL, sizeof others);
}

#define BIT_OF(sig) (1ull << ((sig)-1))

/* After start_command(): from now on, signals are not meant for tare's process group. */
static void obey(void)
{
	static const int ends[] = { SIGTERM, SIGINT, SIGHUP };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		signal(ends[i], SIG_IGN); /* and discard pending ones */
		sigaction(ends[i],
			  &(struct sigaction){ .sa_handler = on_told, .sa_flags = SA_RESTART },
			  NULL);
	}
	sigaction(SIGALRM,
		  &(struct sigaction){ .sa_handler = on_grace_over, .sa_flags = SA_RESTART }, NULL);
	hear_only(BIT_OF(SIGCHLD) | BIT_OF(SIGTERM) | BIT_OF(SIGINT) | BIT_OF(SIGHUP) |
		  BIT_OF(SIGALRM));
}

static void futex_sleep(volatile uint32_t *word, uint32_t value, long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	syscall(SYS_futex, word, FUTEX_WAIT, value, &t, NULL, 0);
}

void send_report(const struct supervisor *s, const struct report *r)
{
	ssize_t n = write(s->l->report_fd, r, sizeof *r);

	(void)n; /* tare is gone: the command continues */
}

void note_reason(struct supervisor *s, const char *reason)
{
	if (s->reason[0])
		return;
	snprintf(s->reason, sizeof s->reason, "%.*s", REASON_MAX - 1, reason);
	memcpy(s->b->reason, s->reason, sizeof s->reason);
}

/* Includes fields that only the supervisor writes: the command can change and restore them. */
static void look_for_damage(struct supervisor *s)
{
	struct shared_state *b = s->b;

	s->damaged |= shared_damaged(b) || b->n_past != s->n_past ||
		b->n_uncounted != s->n_uncounted ||
		uncounted_hash(b, s->n_uncounted) != s->uncounted_hash ||
		memcmp(b->reason, s->reason, sizeof s->reason) != 0;
}

static void note_mapping(struct shared_state *b, const struct process *p)
{
	const struct question *q = &p->question;
	struct happening h = { .serial = p->serial,
			       .pid = p->pid,
			       .tsc = q->data ? q->tsc : clock_ticks(),
			       .start = q->start,
			       .end = q->end,
			       .mapping = q->mapping,
			       .data = q->data,
			       .shared = q->shared };

	/* Names of data are less important than space for code. */
	if (q->data && (q->mapping == MAPPING_UNKNOWN || b->n_happenings > HAPPENINGS_MAX / 2))
		return;
	if (q->data && q->tid != p->pid && q->sp >= q->start && q->sp < q->end)
		snprintf(h.name, sizeof h.name, "[stack:%d]", (int)q->tid);
	note_happening(b, HAPPENED_MAPPING, &h);
}

/* Answer processes that ask for a mapping. */
static void answer_questions(struct supervisor *s)
{
	if (!(s->l->mode & COUNT_PROFILE))
		return;
	for (uint32_t i = 0; i < shared_processes(s->b); i++) {
		struct question *q = &shared_process(s->b, i)->question;

		if (__atomic_load_n(&q->state, __ATOMIC_ACQUIRE) != QUESTION_ASKED)
			continue;
		maps_answer(s->b, q);
		note_mapping(s->b, shared_process(s->b, i));
		__atomic_store_n(&q->state, QUESTION_ANSWERED, __ATOMIC_RELEASE);
		syscall(SYS_futex, &q->state, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

/* Samples are waiting: notify tare, once; if tare is gone, tell the writers. */
static void see_to_samples(struct supervisor *s)
{
	struct every *e = &s->b->every;

	if (!e->n_events || e->nobody)
		return;
	if (getppid() != s->l->tare)
		e->nobody = 1;
	if (e->waiting && !e->said) {
		struct report r = { .samples = 1 };

		e->said = 1;
		send_report(s, &r);
	}
}

void pass_on(pid_t tid, int stop)
{
	int event = stop >> 8, sig = stop & 0xff;
	bool stays = event == PTRACE_EVENT_STOP &&
		(sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU);

	ptrace(stays ? PTRACE_LISTEN : PTRACE_CONT, tid, 0, event ? 0 : sig);
}

static void on_stop(struct supervisor *s, pid_t pid, int status)
{
	int event = status >> 16, sig = WSTOPSIG(status), i = watched_index(s, pid);

	if (park_stop(s, pid, status))
		return;
	if (event == PTRACE_EVENT_EXEC) {
		look_for_damage(s);
		on_exec(s, pid);
	} else if (!event && sig == SIGTRAP && i >= 0) {
		/* The exec failed, as the engine reports. */
		unwatch(s, (unsigned)i);
		ptrace(PTRACE_DETACH, pid, 0, 0);
	} else if (i >= 0) {
		pass_on(pid, status >> 8);
	} else {
		ptrace(PTRACE_DETACH, pid, 0, event ? 0 : sig); /* not one that is to be traced */
	}
}

static void on_end(struct supervisor *s, pid_t pid, int status, const struct rusage *usage)
{
	int i = watched_index(s, pid);

	if (i >= 0)
		unwatch(s, (unsigned)i);
	park_end(s, pid);
	if (!s->damaged && WIFSIGNALED(status))
		look_at_death(s, pid, WTERMSIG(status));
	if (pid != s->command)
		return;
	s->end = (struct report){ .ended = 1, .pid = pid, .status = status, .usage = *usage };
	s->command_ended = true;
}

/*
 * Did a signal end it with a count of 0: inside its exec, while the engine was set up, or at its
 * first instruction?
 */
static bool never_began(const struct supervisor *s)
{
	struct shared_state *b = s->b;

	if (s->damaged || s->reason[0] || !WIFSIGNALED(s->end.status))
		return false;
	return !s->command_started ||
		(s->n_past == 1 && !shared_past(b, 0)->may_have_begun &&
		 !shared_past(b, 0)->counts[EXACT_INSTRUCTIONS]);
}

/* The command has ended, and all counts of it and its children are in the shared state. */
static void say_end(struct supervisor *s, unsigned live)
{
	if (!s->command_ended || s->end_said)
		return;
	s->end_said = true;
	s->b->turns_over = 1;
	s->end.alone = !live;
	if (!s->damaged)
		s->end.left = look_at_left(s->b);
	s->end.never_began = never_began(s);
	s->end.damaged = s->damaged;
	s->end.n_past = s->n_past;
	s->end.n_uncounted = s->n_uncounted;
	s->end.uncounted_hash = s->uncounted_hash;
	s->end.stops_over = s->stops_over;
	s->end.stops_found = s->stops_found;
	memcpy(s->end.layout_lost, s->layout_lost, sizeof s->layout_lost);
	memcpy(s->end.reason, s->reason, sizeof s->reason);
	send_report(s, &s->end);
}

void supervise(const struct launch *l)
{
	struct supervisor s = { .l = l, .b = l->shared };
	unsigned live = 1;
	time_t swept = time(NULL);

	rung = s.b;
	tare = l->tare;
	s.b->supervisor = getpid();
	s.b->shared_fd = l->shared_fd;
	s.damaged = !members_begin(l->shared_fd);
	s.b->cores_piped = cores_are_piped();
	if (l->mode & COUNT_PROFILE)
		maps_begin(s.b);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = ring, .sa_flags = SA_RESTART },
		  &s.former);
	/* other signals are meant for the command; when it ends, so does the supervisor */
	hear_only(BIT_OF(SIGCHLD));
	start_command(&s);
	obey();
	forget_descriptors(l);
	if (s.command_executed)
		on_exec(&s, s.command);

	while (!s.command_ended || live) {
		uint32_t bell = s.b->bell;
		struct rusage usage;
		bool childless;
		time_t now;
		int status;
		pid_t pid;

		while ((pid = wait4(-1, &status, WNOHANG | WCONTINUED | __WALL, &usage)) > 0)
			if (WIFCONTINUED(status))
				s.stops_over++;
			else if (WIFSTOPPED(status))
				on_stop(&s, pid, status);
			else
				on_end(&s, pid, status, &usage);
		childless = pid < 0 && errno == ECHILD;
		look_for_damage(&s);
		if (s.damaged)
			/* Processes of the command must not wait for answers. */
			__atomic_store_n(&s.b->gone, 1, __ATOMIC_SEQ_CST);
		if (!s.damaged) {
			watch_execs(&s);
			park_threads(&s);
			answer_questions(&s);
			see_to_samples(&s);
		}
		now = time(NULL);
		/*
		 * Orphaned processes become our children. If no child is left, processes that look
		 * alive were killed, maybe before they could record their pid.
		 */
		if (s.damaged || (s.command_ended && getppid() != l->tare))
			/*
			 * tare has ended, or the shared state is damaged: wait only for the
			 * command's end
			 */
			live = 0;
		else if (childless)
			live = sweep(&s, ALL_GONE);
		else
			live = sweep(&s,
				     now != swept || (s.command_ended && !s.end_said)
					     ? LOOK_FOR_KILLED
					     : LOOK_FOR_ENDED);
		swept = now;
		say_end(&s, live);
		if (s.b->bell == bell && (!s.command_ended || live))
			futex_sleep(&s.b->bell, bell, s.n_parking ? PARKING_MS : IDLE_MS);
	}
	s.b->gone = 1;
	_exit(0);
}
