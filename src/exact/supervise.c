/* SPDX-License-Identifier: MIT */
/*
 * The supervisor: a process of its own between tare and the counted command, so that tare's signal
 * handlers and children stay tare's. It starts the command, puts the engine into every program that
 * the command's processes execute, and adds up what ended processes leave on the board. Between
 * those moments it sleeps on the board's bell; nothing is traced.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "base/auxv.h"
#include "base/program.h"
#include "exact/supervisor.h"
#include "exact/thread.h"

enum { WATCHED_MAX = 1024, IDLE_MS = 200, COUNTERS_FEW = 1 << 14 /* of a thread that is done they are 0: not worth a call */ };

struct supervisor {
	const struct launch *l;
	struct board *b;
	pid_t command;
	bool command_started, command_ended, end_said;
	bool damaged; /* the board: see damage.c */
	struct report end; /* of the command */
	struct {
		pid_t tid;
		uint32_t thread;
	} watched[WATCHED_MAX]; /* threads about to exec */
	unsigned n_watched;
};

static struct board *rung; /* for the SIGCHLD handler */

static struct sigaction former; /* what tare does with SIGCHLD, for the command */

static void ring(int sig)
{
	int saved = errno;

	(void)sig;
	__atomic_fetch_add(&rung->bell, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &rung->bell, FUTEX_WAKE, 1, NULL, NULL, 0);
	errno = saved;
}

static void futex_sleep(volatile uint32_t *word, uint32_t value, long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	syscall(SYS_futex, word, FUTEX_WAIT, value, &t, NULL, 0);
}

static void say(const struct supervisor *s, const struct report *r)
{
	ssize_t n = write(s->l->report_fd, r, sizeof *r);

	(void)n; /* tare is gone: the command goes on */
}

static void note_reason(struct board *b, const char *reason)
{
	if (!b->reason[0])
		snprintf(b->reason, sizeof b->reason, "%s", reason);
}

/* ---- sums ---- */

static void free_thread(struct supervisor *s, uint32_t i)
{
	off_t at = (off_t)(BOARD_THREADS + i * THREAD_STRIDE + THREAD_COUNTERS);

	fallocate(s->l->board_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, COUNTERS_MAX * 8l * 2);
	s->b->thread_states[i] = THREAD_FREE;
}

static void leave_lineage(struct supervisor *s, uint32_t lineage)
{
	if (__atomic_sub_fetch(&s->b->lineage_users[lineage], 1, __ATOMIC_ACQ_REL))
		return;
	if (s->l->mode & COUNT_PROFILE)
		profile_lineage(s->b, lineage);
}

/* A lineage nobody uses; the supervisor alone hands them out. */
static int64_t new_lineage(struct supervisor *s)
{
	for (uint32_t i = 0; i < LINEAGES; i++)
		if (!s->b->lineage_users[i]) {
			if (s->b->lineage_top[i]) /* of the one before; the last of all is never emptied */
				fallocate(s->l->board_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					  (off_t)(BOARD_BLOCKS + i * LINEAGE_STRIDE), (off_t)LINEAGE_STRIDE);
			s->b->lineage_users[i] = 1;
			s->b->lineage_top[i] = 0;
			return i;
		}
	return -1;
}

/* The process's threads are no more: their counts become the process's. */
static void fold_threads(struct supervisor *s, uint32_t process)
{
	struct process *p = board_process(s->b, process);

	__atomic_fetch_add(&s->b->changes, 1, __ATOMIC_SEQ_CST);
	for (uint32_t i = 0; i < board_threads(s->b); i++) {
		const struct thread *t = (const struct thread *)board_thread(s->b, i);

		if ((s->b->thread_states[i] != THREAD_LIVE && s->b->thread_states[i] != THREAD_DONE) || t->process != process)
			continue;
		if (s->b->thread_states[i] == THREAD_DONE) {
			if (s->b->lineage_top[p->lineage] < COUNTERS_FEW)
				s->b->thread_states[i] = THREAD_FREE;
			else
				free_thread(s, i);
			continue;
		}
		int64_t sums[EXACT_CLASSES] = { 0 };

		add_thread(s->b, p, i, sums);
		note_ended(s->b, p, t->born, t->tid, clock_ticks(), sums);
		for (int c = 0; c < EXACT_CLASSES; c++)
			p->done[c] += sums[c];
		if (s->l->mode & COUNT_PROFILE)
			profile_thread(s->b, p->lineage, i);
		free_thread(s, i);
	}
	p->threads = 0;
	__atomic_fetch_add(&s->b->changes, 1, __ATOMIC_SEQ_CST);
}

static void collect(struct supervisor *s, uint32_t process)
{
	struct process *p = board_process(s->b, process);
	struct board *b = s->b;

	fold_threads(s, process);
	if (p->refused)
		note_reason(b, p->reason);
	__atomic_fetch_add(&b->changes, 1, __ATOMIC_SEQ_CST);
	if (b->n_past < PAST_MAX) {
		struct past *past = board_past(b, b->n_past);

		past->pid = p->pid;
		past->parent = p->parent_pid;
		past->serial = p->serial;
		memcpy(past->name, p->name, sizeof past->name);
		memcpy(past->counts, p->done, sizeof past->counts);
		b->n_past++;
	} else {
		for (int c = 0; c < EXACT_CLASSES; c++)
			b->past_overflow[c] += p->done[c];
	}
	leave_lineage(s, p->lineage);
	memset(p->done, 0, sizeof p->done);
	p->question.state = QUESTION_NONE;
	p->state = PROCESS_FREE;
	__atomic_fetch_add(&b->changes, 1, __ATOMIC_SEQ_CST);
}

/* Has the process ended, reaped or not? */
static bool is_dead(pid_t pid)
{
	char path[64], text[512], *state;
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ESRCH;
	n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n <= 0)
		return true;
	text[n] = 0;
	state = strrchr(text, ')');
	return state && (state[2] == 'Z' || state[2] == 'X');
}

enum looks { LOOK_FOR_ENDED, LOOK_FOR_KILLED, ALL_GONE /* not one process is left */ };

/* Free what processes have left. Returns how many still run. */
static unsigned sweep(struct supervisor *s, enum looks looks)
{
	unsigned live = 0;

	for (uint32_t i = 0; i < board_processes(s->b); i++) {
		struct process *p = board_process(s->b, i);

		if (p->state == PROCESS_TAKEN && looks == ALL_GONE)
			p->state = PROCESS_FREE; /* its parent was killed over it */
		if (p->state == PROCESS_FREE)
			continue;
		if (p->state == PROCESS_TAKEN)
			live++;
		else if (p->state == PROCESS_ENDED || looks == ALL_GONE ||
			 (looks == LOOK_FOR_KILLED && p->pid > 0 && is_dead(p->pid)))
			collect(s, i);
		else
			live++;
	}
	return live;
}

/* ---- exec ---- */

static void unwatch(struct supervisor *s, unsigned i)
{
	s->watched[i] = s->watched[--s->n_watched];
}

static int watched_index(const struct supervisor *s, pid_t tid)
{
	for (unsigned i = 0; i < s->n_watched; i++)
		if (s->watched[i].tid == tid)
			return (int)i;
	return -1;
}

/* Why PTRACE_SEIZE failed: mostly because a thread can have one tracer. */
static const char *why_untraced(pid_t tid, int code, char other[64])
{
	char path[64], line[128];
	int tracer = 0;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
	f = code == EPERM ? fopen(path, "re") : NULL;
	while (f && !tracer && fgets(line, sizeof line, f))
		sscanf(line, "TracerPid: %d", &tracer);
	if (f)
		fclose(f);
	if (!tracer)
		return strerror(code);
	snprintf(other, 64, "process %d traces it already", tracer);
	return other;
}

/* Answer the threads that are about to exec. */
static void watch_execs(struct supervisor *s)
{
	for (uint32_t i = 0; i < board_threads(s->b); i++) {
		struct thread *t = (struct thread *)board_thread(s->b, i);
		struct process *p;
		uint32_t answer = EXEC_WATCHED;

		if (s->b->thread_states[i] != THREAD_LIVE || t->exec != EXEC_ASKED)
			continue;
		p = board_process(s->b, t->process);
		if (p->foreign) {
			note_reason(s->b, "a program in a pid namespace of its own ran uncounted");
			answer = EXEC_UNWATCHED;
		} else if (s->n_watched == WATCHED_MAX ||
			   ptrace(PTRACE_SEIZE, t->tid, 0, PTRACE_O_TRACEEXEC) < 0) {
			char reason[REASON_MAX], other[64];

			snprintf(reason, sizeof reason,
				 "a program executed by pid %d ran uncounted: cannot trace its start: %s",
				 (int)t->tid, why_untraced(t->tid, errno, other));
			note_reason(s->b, reason);
			answer = EXEC_UNWATCHED;
		} else {
			s->watched[s->n_watched].tid = t->tid;
			s->watched[s->n_watched++].thread = i;
		}
		t->exec = answer;
		syscall(SYS_futex, &t->exec, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

static void note_mapping(struct board *b, const struct process *p)
{
	const struct question *q = &p->question;
	struct happening h = { .serial = p->serial,
			       .pid = p->pid,
			       .tsc = q->data ? q->tsc : clock_ticks(),
			       .start = q->start,
			       .end = q->end,
			       .mapping = q->mapping,
			       .data = q->data };

	/* Names for data are worth less than the room that code needs. */
	if (q->data && (q->mapping == MAPPING_UNKNOWN || b->n_happenings > HAPPENINGS_MAX / 2))
		return;
	if (q->data && q->tid != p->pid && q->sp >= q->start && q->sp < q->end)
		snprintf(h.name, sizeof h.name, "[stack:%d]", (int)q->tid);
	note_happening(b, HAPPENED_MAPPING, &h);
}

/* Answer the processes that want to know what is mapped. */
static void answer_questions(struct supervisor *s)
{
	if (!(s->l->mode & COUNT_PROFILE))
		return;
	for (uint32_t i = 0; i < board_processes(s->b); i++) {
		struct question *q = &board_process(s->b, i)->question;

		if (__atomic_load_n(&q->state, __ATOMIC_ACQUIRE) != QUESTION_ASKED)
			continue;
		maps_answer(s->b, q);
		note_mapping(s->b, board_process(s->b, i));
		__atomic_store_n(&q->state, QUESTION_ANSWERED, __ATOMIC_RELEASE);
		syscall(SYS_futex, &q->state, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

static void name_process(struct process *p, pid_t tid)
{
	char path[64];
	int fd;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/comm", (int)tid);
	memset(p->name, 0, sizeof p->name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, p->name, sizeof p->name - 1);
	if (n > 0 && p->name[n - 1] == '\n')
		p->name[n - 1] = 0;
	close(fd);
}

/* Was it laid out as it was meant to be? What runs with other rights is not, nor what has changed that. */
static void check_layout(const struct supervisor *s, const struct process *p)
{
	char path[64], text[16] = "";
	int fd;

	snprintf(path, sizeof path, "/proc/%d/personality", (int)p->pid);
	fd = s->l->aslr || s->b->layout_lost[0] ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (read(fd, text, sizeof text - 1) > 0 && !(strtoul(text, NULL, 16) & ADDR_NO_RANDOMIZE))
		snprintf(s->b->layout_lost, sizeof s->b->layout_lost, "%s", p->name[0] ? p->name : "?");
	close(fd);
}

static void note_program(struct board *b, const struct process *p)
{
	struct happening h = { .serial = p->serial, .parent = board_process(b, p->parent)->serial, .pid = p->pid,
			       .tsc = clock_ticks() };

	memcpy(h.name, p->name, sizeof h.name);
	note_happening(b, HAPPENED_PROGRAM, &h);
}

/* Samples wait for tare: tell it, once; or tell them that tare is gone. */
static void see_to_samples(struct supervisor *s)
{
	struct every *e = &s->b->every;

	if (!e->n || e->nobody)
		return;
	if (getppid() != s->l->tare)
		e->nobody = 1;
	if (e->waiting && !e->said) {
		struct report r = { .samples = 1 };

		e->said = 1;
		say(s, &r);
	}
}

/* The program has been replaced by a new one, which has not run an instruction yet. */
static void on_exec(struct supervisor *s, pid_t pid)
{
	unsigned long former = (unsigned long)pid;
	char reason[REASON_MAX] = "";
	struct process *p = NULL;
	int64_t lineage = -1;
	bool first = false;
	int i, ret;

	if (s->damaged) {
		ptrace(PTRACE_DETACH, pid, 0, 0);
		return;
	}
	ptrace(PTRACE_GETEVENTMSG, pid, 0, &former);
	i = watched_index(s, (pid_t)former);
	if (i >= 0) {
		struct thread *t = (struct thread *)board_thread(s->b, s->watched[i].thread);
		uint32_t process = t->process;

		p = board_process(s->b, process);
		p->signal_mask = t->mask;
		p->filter = t->filter;
		fold_threads(s, process);
		__atomic_fetch_add(&s->b->changes, 1, __ATOMIC_SEQ_CST);
		leave_lineage(s, p->lineage);
		__atomic_fetch_add(&s->b->changes, 1, __ATOMIC_SEQ_CST);
		unwatch(s, (unsigned)i);
	} else if (pid == s->command && !s->command_started) {
		p = board_process(s->b, 0);
		ptrace(PTRACE_GETSIGMASK, pid, 8, &p->signal_mask);
		p->state = PROCESS_LIVE;
		s->b->serials = 1;
		p->parent_pid = s->b->supervisor;
		s->b->processes_top = 1;
		s->command_started = first = true;
	} else {
		ptrace(PTRACE_DETACH, pid, 0, 0);
		return;
	}
	lineage = new_lineage(s);
	p->lineage = lineage < 0 ? 0 : (uint32_t)lineage;
	p->pid = pid;
	p->mode = s->l->mode;
	p->question.state = QUESTION_NONE;
	for (int k = 0; k < SIGNALS; k++)
		if (p->actions[k].handler > 1)
			p->actions[k] = (struct action){ 0 };
	name_process(p, pid);
	check_layout(s, p);
	if (s->l->same_random || s->l->no_vdso)
		auxv_fix(pid, s->l->same_random, s->l->no_vdso);
	note_program(s->b, p);
	if (lineage < 0) {
		snprintf(reason, sizeof reason,
			 "more programs at a time than the exact engine follows");
		ret = -EAGAIN;
	} else {
		/* With us its only hope would go: a program that is half prepared must not run. */
		ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL);
		ret = inject(s->b, s->l->board_fd, pid, p, reason);
	}
	if (ret < 0) {
		uint64_t mask = p->signal_mask;
		char full[REASON_MAX];

		snprintf(full, sizeof full, "%s ran uncounted: %.150s", p->name, reason);
		note_reason(s->b, full);
		ptrace(PTRACE_SETSIGMASK, pid, 8, &mask);
		p->state = PROCESS_ENDED;
		if (first) { /* the command itself: run nothing rather than count nothing */
			kill(pid, SIGKILL);
			ret = 0;
		}
	}
	if (first) {
		struct report r = { .pid = pid };

		snprintf(r.reason, sizeof r.reason, "%s", s->b->reason);
		say(s, &r);
	}
	ptrace(PTRACE_DETACH, pid, 0, ret > 0 ? ret : 0);
}

static void on_stop(struct supervisor *s, pid_t pid, int status)
{
	int event = status >> 16, sig = WSTOPSIG(status), i = watched_index(s, pid);

	if (event == PTRACE_EVENT_EXEC) {
		on_exec(s, pid);
	} else if (event == PTRACE_EVENT_STOP) {
		if (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU)
			ptrace(PTRACE_LISTEN, pid, 0, 0);
		else
			ptrace(PTRACE_CONT, pid, 0, 0);
	} else if (sig == SIGTRAP && i >= 0) {
		/* The exec failed, and the engine says so. */
		unwatch(s, (unsigned)i);
		ptrace(PTRACE_DETACH, pid, 0, 0);
	} else {
		ptrace(PTRACE_CONT, pid, 0, sig);
	}
}

static void on_end(struct supervisor *s, pid_t pid, int status, const struct rusage *usage)
{
	int i = watched_index(s, pid);

	if (i >= 0)
		unwatch(s, (unsigned)i);
	if (pid != s->command)
		return;
	s->end = (struct report){ .ended = 1, .pid = pid, .status = status, .usage = *usage };
	s->command_ended = true;
}

/* The command has ended, and what it and its children left is on the board. */
static void say_end(struct supervisor *s, unsigned live)
{
	if (!s->command_ended || s->end_said)
		return;
	s->end_said = true;
	s->end.alone = !live;
	if (!s->command_started)
		note_reason(s->b, "the command was ended by a signal before its first instruction");
	snprintf(s->end.reason, sizeof s->end.reason, "%s", s->b->reason);
	say(s, &s->end);
}

/* ---- the command ---- */

enum { CHANGES_RIGHTS = -1 }; /* in place of an errno */

/* Would the kernel give the command other rights? Not while it is watched at its exec. */
static bool changes_rights(const char *command)
{
	char path[4096];

	return program_find(command, path, sizeof(path)) && program_changes_rights(path);
}

/* The program itself: wait until it is watched, then execute. */
static void become_command(const struct launch *l, int go_fd, int error_fd)
{
	char c;
	int code;

	if (!l->aslr)
		personality(ADDR_NO_RANDOMIZE);
	if (read(go_fd, &c, 1) != 1)
		_exit(127);
	close(go_fd);
	if (changes_rights(l->argv[0])) {
		code = CHANGES_RIGHTS;
	} else {
		execvpe(l->argv[0], l->argv, l->envp);
		code = errno;
	}
	if (write(error_fd, &code, sizeof code) != sizeof code)
		_exit(126);
	_exit(127);
}

static void fail_launch(struct supervisor *s, int code, const char *reason)
{
	struct report r = { .error = code };

	snprintf(r.reason, sizeof r.reason, "%s", reason);
	say(s, &r);
	_exit(1);
}

static void start_command(struct supervisor *s)
{
	int go[2], error[2], code;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(error, O_CLOEXEC) < 0)
		fail_launch(s, errno, "cannot make a pipe");
	pid = fork();
	if (pid < 0)
		fail_launch(s, errno, "cannot fork");
	if (pid == 0) {
		close(go[1]);
		close(error[0]);
		sigaction(SIGCHLD, &former, NULL);
		sigprocmask(SIG_SETMASK, s->l->mask, NULL);
		become_command(s->l, go[0], error[1]);
	}
	close(go[0]);
	close(error[1]);
	s->command = pid;
	setsid(); /* signals for the command's process group or terminal do not reach us, SIGKILL and SIGSTOP included */
	/* Until it is let go it ends with us: tare may then start it again, without the engine. */
	if (ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) < 0) {
		code = errno;
		kill(pid, SIGKILL);
		fail_launch(
		    s, code,
		    "ptrace is not permitted here, and the exact engine needs it for a moment at "
		    "the start of each program");
	}
	if (write(go[1], "", 1) != 1)
		fail_launch(s, errno, "cannot start the command");
	close(go[1]);
	if (read(error[0], &code, sizeof code) == sizeof code)
		fail_launch(
		    s, code == CHANGES_RIGHTS ? ENOTSUP : code,
		    code == CHANGES_RIGHTS
			? "it changes its rights (setuid, setgid or file capabilities), which the "
			  "kernel does not let a program do that is watched at its start"
			: ""); /* else execve's own error */
	close(error[0]);
}

static void close_between(int first, int last)
{
	if (first > last || syscall(SYS_close_range, (unsigned)first, (unsigned)last, 0u) == 0)
		return;
	for (int fd = first; fd <= last && fd < 1024; fd++) /* forbidden, perhaps */
		close(fd);
}

static void forget_descriptors(const struct launch *l)
{
	int low = l->board_fd < l->report_fd ? l->board_fd : l->report_fd, high = l->board_fd + l->report_fd - low;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* ours may be among them, where tare was started with one of them closed */
	for (int fd = 0; fd < 3 && null >= 0; fd++)
		if (fd != l->board_fd && fd != l->report_fd)
			dup2(null, fd);
	/* A pipe end kept here would keep its reader waiting. */
	close_between(3, low - 1);
	close_between(low < 3 ? 3 : low + 1, high - 1);
	close_between(high < 3 ? 3 : high + 1, INT_MAX);
}

void supervise(const struct launch *l)
{
	struct supervisor s = { .l = l, .b = l->board };
	uint64_t all_but_child = ~(1ull << (SIGCHLD - 1));
	unsigned live = 1;
	time_t swept = 0;

	rung = s.b;
	s.b->supervisor = getpid();
	s.b->board_fd = l->board_fd;
	if (l->mode & COUNT_PROFILE)
		maps_begin(s.b);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = ring, .sa_flags = SA_RESTART }, &former);
	/* By the kernel itself: the C library keeps two of them to itself. They are meant for the command; its end is ours. */
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all_but_child, NULL, sizeof all_but_child);
	start_command(&s);
	forget_descriptors(l);

	while (!s.command_ended || live) {
		uint32_t bell = s.b->bell;
		struct rusage usage;
		bool childless;
		time_t now;
		int status;
		pid_t pid;

		while ((pid = wait4(-1, &status, WNOHANG | __WALL, &usage)) > 0)
			if (WIFSTOPPED(status))
				on_stop(&s, pid, status);
			else
				on_end(&s, pid, status, &usage);
		childless = pid < 0 && errno == ECHILD;
		s.damaged |= board_damaged(s.b);
		if (!s.damaged) {
			watch_execs(&s);
			answer_questions(&s);
			see_to_samples(&s);
		}
		now = time(NULL);
		/*
		 * Whoever loses its parent becomes our child. With no child left, what still looks alive was
		 * killed: a child, maybe, before it could write down its pid.
		 */
		if (s.damaged)
			live = 0; /* nobody knows any more: only the command's end is waited for */
		else if (childless)
			live = sweep(&s, ALL_GONE);
		else
			live = sweep(&s, now != swept || (s.command_ended && !s.end_said) ? LOOK_FOR_KILLED
											 : LOOK_FOR_ENDED);
		swept = now;
		say_end(&s, live);
		if (s.b->bell == bell && (!s.command_ended || live))
			futex_sleep(&s.b->bell, bell, IDLE_MS);
	}
	s.b->gone = 1;
	_exit(0);
}
