/* SPDX-License-Identifier: MIT */
/*
 * When a process dumps core, its other threads are traced, brought to their own state in the
 * program, as engine/park.c explains, and kept stopped until the kernel kills them.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/futex.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include "base/array.h"
#include "base/clock.h"
#include "exact/supervise.h"

/* Is the core passed to a program or a socket? Source: core(5). */
bool cores_are_piped(void)
{
	int fd = open("/proc/sys/kernel/core_pattern", O_RDONLY | O_CLOEXEC);
	char first = '|';

	if (fd < 0)
		return true;
	if (read(fd, &first, 1) < 0)
		first = '|';
	close(fd);
	return first == '|' || first == '@';
}

static struct parking *parking_of(const struct supervisor *s, pid_t tid)
{
	for (unsigned i = 0; i < s->n_parking; i++)
		if (s->parking[i].tid == tid)
			return &s->parking[i];
	return NULL;
}

static struct thread *slot_of(const struct supervisor *s, const struct parking *k)
{
	for (uint32_t i = 0; i < shared_threads(s->b); i++) {
		struct thread *t = (struct thread *)shared_thread(s->b, i);

		if (s->b->thread_states[i] == THREAD_LIVE && t->process == k->process &&
		    t->tid == k->tid)
			return t;
	}
	return NULL;
}

static struct parking *parking_new(struct supervisor *s)
{
	if (!array_reserve(&s->parking, &s->room_for_parking, s->n_parking + 1,
			   sizeof(*s->parking)))
		return NULL;
	return &s->parking[s->n_parking++];
}

static uint64_t now_ms(void)
{
	return clock_now_ns() / 1000000;
}

static void park(struct parking *k)
{
	k->parked = true;
	k->parked_ms = now_ms();
}

/* Address of a field's target in the image, in a process with the shared state at `place`. */
static uint64_t in_image(uint64_t place, size_t field, int32_t value)
{
	return place - IMAGE_BELOW + field + (uint64_t)(int64_t)value;
}

/* In a system call of the program, or right after: all but a few registers are its own. */
static bool correct_call(uint64_t place, const struct thread *t, struct user_regs_struct *regs)
{
	const struct image_head *head = (const struct image_head *)exact_image;

	if (regs->rip != in_image(place, offsetof(struct image_head, call_over), head->call_over) &&
	    regs->rip !=
		    in_image(place, offsetof(struct image_head, call_over_back),
			     head->call_over_back))
		return false;
	regs->rip = regs->rcx = t->target;
	regs->gs_base = t->user_gs;
	return true;
}

/* It stopped at the place where it was interrupted. */
static void look_at(struct supervisor *s, struct parking *k)
{
	struct thread *t = slot_of(s, k);
	struct member m;
	struct user_regs_struct regs;
	union {
		struct {
			int32_t signo, error, code;
		} head;
		uint8_t all[128];
	} info = { .head = { .signo = SIGTRAP, .code = PARK_CODE } };

	/*
	 * By now the TID may belong to another process, or execute another program. It is stopped,
	 * so the check stays valid.
	 */
	if (member_open(&m, k->pid, k->tid) < 0) {
		ptrace(PTRACE_DETACH, k->tid, 0, 0);
		park_end(s, k->tid);
		return;
	}
	member_close(&m);
	if (t && ptrace(PTRACE_GETREGS, k->tid, 0, &regs) == 0 && correct_call(m.place, t, &regs) &&
	    ptrace(PTRACE_SETREGS, k->tid, 0, &regs) == 0) {
		park(k);
		return;
	}
	if (t)
		__atomic_store_n(
			&t->park, 1,
			/* before the signal: the thread must see that it is to leave the engine */
			__ATOMIC_RELEASE);
	syscall(SYS_rt_tgsigqueueinfo, k->pid, k->tid, SIGTRAP, &info);
	ptrace(PTRACE_CONT, k->tid, 0, 0);
}

bool park_stop(struct supervisor *s, pid_t tid, int status)
{
	struct parking *k = parking_of(s, tid);
	siginfo_t info = { 0 };

	if (!s->n_parking)
		return false;
	if (status >> 16 == PTRACE_EVENT_EXEC) {
		unsigned long former = (unsigned long)tid;

		/* Exec: the new program must not be parked. */
		ptrace(PTRACE_GETEVENTMSG, tid, 0, &former);
		park_end(s, (pid_t)former);
		park_end(s, tid);
		return false;
	}
	if (!k)
		return false;
	if (status >> 16 == PTRACE_EVENT_STOP) {
		look_at(s, k);
		return true;
	}
	if (ptrace(PTRACE_GETSIGINFO, tid, 0, &info) == 0 && info.si_code == PARKED_CODE)
		park(k);
	else
		ptrace(PTRACE_CONT, tid, 0, WSTOPSIG(status));
	return true;
}

void park_end(struct supervisor *s, pid_t tid)
{
	struct parking *k = parking_of(s, tid);

	if (k)
		*k = s->parking[--s->n_parking];
}

/* The kernel's state letter; 'X' when there is no such thread. */
static char state_of(pid_t pid, pid_t tid)
{
	char path[64], text[512], *state;
	int fd;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 'X';
	n = read(fd, text, sizeof text - 1);
	close(fd);
	if (n <= 0)
		return 'X';
	text[n] = 0;
	state = strrchr(text, ')');
	return state && state[1] ? state[2] : '?';
}

static bool is_over(pid_t pid, pid_t tid)
{
	char state = state_of(pid, tid);

	return state == 'Z' || state == 'X';
}

enum { AGAIN_MS = 20 /* time to leave the engine, after the request */ };

enum outcome { OUT_ALL, OUT_SOME, OUT_NOT_YET };

/*
 * Trace one thread. A thread that was asked and has not left the engine may be waiting in a system
 * call meanwhile: check again.
 */
static enum outcome park_thread(struct supervisor *s, uint32_t process, pid_t pid, pid_t tid)
{
	struct parking *k = parking_of(s, tid);

	if (k && k->parked)
		return OUT_ALL;
	if (!k) {
		if (ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACEEXEC) < 0)
			return is_over(pid, tid) ? OUT_ALL : OUT_SOME;
		k = parking_new(s);
		if (!k) {
			ptrace(PTRACE_INTERRUPT, tid, 0, 0); /* detached when it stops */
			return OUT_SOME;
		}
		*k = (struct parking){ .tid = tid, .pid = pid, .process = process };
	}
	if (now_ms() - k->told_ms >= AGAIN_MS) {
		k->told_ms = now_ms();
		ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	}
	return OUT_NOT_YET;
}

static enum outcome park_process(struct supervisor *s, uint32_t process)
{
	const struct process *p = shared_process(s->b, process);
	const pid_t pid = __atomic_load_n(&p->pid, __ATOMIC_RELAXED),
		    dying = __atomic_load_n(&p->dying_tid, __ATOMIC_RELAXED);
	enum outcome all = OUT_ALL;
	struct dirent *e;
	struct member m;
	DIR *d = NULL;
	int fd;

	/* Its first thread may have ended; then that has no memory. */
	if (p->foreign || member_open(&m, pid, dying > 0 ? dying : pid) < 0)
		return OUT_SOME;
	fd = openat(m.dir, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && !(d = fdopendir(fd)))
		close(fd);
	member_close(&m);
	if (!d)
		return OUT_SOME;
	while ((e = readdir(d))) {
		pid_t tid = (pid_t)atoi(e->d_name);
		enum outcome one = tid > 0 && tid != dying ? park_thread(s, process, pid, tid)
							   : OUT_ALL;

		if (one > all)
			all = one;
	}
	closedir(d);
	return all;
}

enum { DEATH_MS = 30000 };

/*
 * A parked thread has the program's registers, so it cannot continue under the engine. The kernel
 * kills it as soon as its process begins to dump core. If it is still stopped, its process reported
 * a fatal signal but did not die: end the process.
 */
static void end_the_undead(struct supervisor *s)
{
	for (unsigned i = 0; i < s->n_parking; i++) {
		const struct parking *k = &s->parking[i];

		if (!k->parked || now_ms() - k->parked_ms < DEATH_MS ||
		    state_of(k->pid, k->tid) != 't')
			continue;
		note_reason(s,
			    "a process did not die of the signal that it reported, and was ended");
		syscall(SYS_tgkill, k->pid, k->tid, SIGKILL);
	}
}

/* Answer processes that ask before they die. */
void park_threads(struct supervisor *s)
{
	for (uint32_t i = 0; i < shared_processes(s->b); i++) {
		struct process *p = shared_process(s->b, i);
		enum outcome out;

		if (p->state != PROCESS_LIVE || (p->dying != DYING_ASKED && p->dying != DYING_SEEN))
			continue;
		p->dying = DYING_SEEN;
		out = park_process(s, i);
		if (out == OUT_NOT_YET)
			continue;
		__atomic_store_n(&p->dying, out == OUT_ALL ? DYING_PARKED : DYING_ALONE,
				 __ATOMIC_RELEASE);
		syscall(SYS_futex, &p->dying, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
	end_the_undead(s);
}
