/* SPDX-License-Identifier: MIT */
/*
 * Handles exec. A thread that is about to exec asks to be traced. In its exec stop the engine is
 * mapped into the new program, or the reason why it runs uncounted is recorded.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/futex.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include "base/auxv.h"
#include "exact/supervise.h"

void unwatch(struct supervisor *s, unsigned i)
{
	s->watched[i] = s->watched[--s->n_watched];
}

int watched_index(const struct supervisor *s, pid_t tid)
{
	for (unsigned i = 0; i < s->n_watched; i++)
		if (s->watched[i].tid == tid)
			return (int)i;
	return -1;
}

/* Why PTRACE_SEIZE failed: mostly because a thread can only have one tracer. */
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

/* Process p executes a program that runs without the engine. */
static void note_uncounted(struct process *p, const char *reason)
{
	if (p->refused)
		return;
	snprintf(p->reason, sizeof p->reason, "%s", reason);
	p->refused = REFUSED_EXEC;
}

/* Trace the thread, if it belongs to the command. -errno: it does not, or cannot be traced. */
static int watch(struct supervisor *s, uint32_t slot, pid_t tid)
{
	struct rights rights;
	struct member m;
	int ret;

	if (s->n_watched == WATCHED_MAX)
		return -EAGAIN;
	ret = member_open(&m, tid, tid);
	if (ret < 0)
		return ret;
	if (!rights_of(&rights, tid))
		ret = -EPERM;
	else if (ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACEEXEC) < 0)
		ret = -errno;
	else if (!member_has(&m, tid)) {
		ptrace(PTRACE_INTERRUPT, tid, 0,
		       0); /* the TID belongs to another process now: detach when it stops */
		ret = -ESRCH;
	}
	member_close(&m);
	if (ret < 0)
		return ret;
	for (int i; (i = watched_index(s, tid)) >= 0;)
		unwatch(s, (unsigned)i); /* another thread's exec ended that one */
	s->watched[s->n_watched].tid = tid;
	s->watched[s->n_watched].rights = rights;
	s->watched[s->n_watched++].thread = slot;
	return 0;
}

/* Answer threads that are about to exec. */
void watch_execs(struct supervisor *s)
{
	for (uint32_t i = 0; i < shared_threads(s->b); i++) {
		struct thread *t = (struct thread *)shared_thread(s->b, i);
		struct process *p;
		uint32_t answer = EXEC_WATCHED;
		pid_t tid;
		int ret;

		if (s->b->thread_states[i] != THREAD_LIVE || t->exec != EXEC_ASKED)
			continue;
		p = shared_process(s->b, t->process);
		tid = __atomic_load_n(&t->tid, __ATOMIC_RELAXED);
		ret = p->foreign ? 0 : watch(s, i, tid);
		if (p->foreign) {
			note_uncounted(p, "it is in a pid namespace of its own");
			answer = EXEC_UNWATCHED;
		} else if (ret < 0) {
			char reason[REASON_MAX], other[64];

			snprintf(reason, sizeof reason, "tare cannot trace its start: %s",
				 why_untraced(tid, -ret, other));
			if (ret == -EAGAIN || !has_ended(tid))
				note_uncounted(p, reason);
			answer = EXEC_UNWATCHED;
		}
		t->exec = answer;
		syscall(SYS_futex, &t->exec, FUTEX_WAKE, 1, NULL, NULL, 0);
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

/*
 * Does the program have the requested memory layout? Programs with other rights do not, and neither
 * do those with a changed personality.
 */
static void check_layout(struct supervisor *s, const struct process *p, pid_t pid)
{
	char path[64], text[16] = "";
	int fd;

	snprintf(path, sizeof path, "/proc/%d/personality", (int)pid);
	fd = s->l->aslr || s->layout_lost[0] ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (read(fd, text, sizeof text - 1) > 0 && !(strtoul(text, NULL, 16) & ADDR_NO_RANDOMIZE))
		snprintf(s->layout_lost, sizeof s->layout_lost, "%.*s", (int)sizeof p->name - 1,
			 p->name[0] ? p->name : "?");
	close(fd);
}

static void note_program(struct shared_state *b, const struct process *p)
{
	struct happening h = { .serial = p->serial,
			       .parent = shared_process(b, p->parent)->serial,
			       .born = b->births,
			       .pid = p->pid,
			       .tsc = clock_ticks() };

	memcpy(h.name, p->name, sizeof h.name);
	note_happening(b, HAPPENED_PROGRAM, &h);
}

/* It was killed in its stop: no further information is available. */
static bool is_dying(pid_t pid)
{
	uint64_t mask;

	return ptrace(PTRACE_GETSIGMASK, pid, sizeof mask, &mask) < 0 && errno == ESRCH;
}

/* A new program has replaced the old one, and has not executed an instruction yet. */
void on_exec(struct supervisor *s, pid_t pid)
{
	unsigned long former = (unsigned long)pid;
	struct rights before, now;
	char reason[REASON_MAX] = "";
	struct process *p = NULL;
	int64_t lineage = -1;
	bool first = false, gained = false;
	int i, ret;

	if (s->damaged) {
		ptrace(PTRACE_DETACH, pid, 0, 0);
		return;
	}
	ptrace(PTRACE_GETEVENTMSG, pid, 0, &former);
	i = watched_index(s, (pid_t)former);
	if (i >= 0) {
		struct thread *t = (struct thread *)shared_thread(s->b, s->watched[i].thread);
		uint32_t process = t->process;

		p = shared_process(s->b, process);
		p->signal_mask = t->mask;
		p->filter = t->filter;
		p->cpus = t->cpus;
		p->begins_as = stable_id_of(t->stable_id, STABLE_ID_EXEC);
		fold_threads(s, process);
		__atomic_fetch_add(&s->b->changes, 1, __ATOMIC_SEQ_CST);
		leave_lineage(s, lineage_of(p));
		__atomic_fetch_add(&s->b->changes, 1, __ATOMIC_SEQ_CST);
		before = s->watched[i].rights;
		gained = !rights_of(&now, pid) || rights_gained(&before, &now);
		unwatch(s, (unsigned)i);
	} else if (pid == s->command && !s->command_started) {
		p = shared_process(s->b, 0);
		ptrace(PTRACE_GETSIGMASK, pid, 8, &p->signal_mask);
		p->stable_id = p->begins_as = STABLE_ID_FIRST;
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
	p->ending = ENDING_NOT;
	p->folding = p->hold_folds = 0;
	p->snapshot = p->save = 0;
	p->renamed = 0;
	p->program[0] = 0;
	for (int k = 0; k < SIGNALS; k++)
		if (p->actions[k].handler > 1)
			p->actions[k] = (struct action){ 0 };
	name_process(p, pid);
	check_layout(s, p, pid);
	if (!gained && (s->l->auxv.random || s->b->auxv.no_vdso || s->b->auxv.hwcaps))
		auxv_fix(pid, &s->l->auxv);
	note_program(s->b, p);
	if (gained) {
		snprintf(reason, sizeof reason,
			 "it changes its rights (setuid, setgid or file capabilities)");
		ret = -ENOTSUP;
	} else if (lineage < 0) {
		snprintf(reason, sizeof reason,
			 "more programs at a time than the exact engine follows");
		ret = -EAGAIN;
	} else {
		/*
		 * If the supervisor dies now, a half-prepared program must not run: kill it, too.
		 */
		ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL);
		ret = inject(s->b, s->l, pid, p, reason);
		if (ret >= 0)
			snapshots_choose(s, p, pid);
	}
	if (ret < 0) {
		uint64_t mask = p->signal_mask;
		char full[REASON_MAX];

		ptrace(PTRACE_SETSIGMASK, pid, 8, &mask);
		p->state = PROCESS_ENDED;
		if (ret != -EFAULT && !is_dying(pid)) {
			/* If the command itself cannot be counted, do not run it at all. */
			snprintf(full, sizeof full, "%.23s cannot be counted: %.150s",
				 p->name[0] ? p->name : "the command", reason);
			if (first) {
				note_reason(s, full);
				kill(pid, SIGKILL);
			} else {
				note_uncounted(p, reason);
			}
		}
	}
	if (first) {
		struct report r = { .pid = pid };

		snprintf(r.reason, sizeof r.reason, "%.*s", REASON_MAX - 1, s->reason);
		send_report(s, &r);
	}
	ptrace(PTRACE_DETACH, pid, 0, ret > 0 ? ret : 0);
}
