/* SPDX-License-Identifier: MIT */
/* Items that are fixed by process attributes, before and at exec. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/auxv.h"
#include "base/program.h"
#include "launch/follow.h"
#include "launch/launch_fix.h"
#include "launch/pidspace.h"

/* Queries the personality without changing it. Source: personality(2). */
#define PERSONALITY_AS_IT_IS 0xffffffff

static const char refused[] = "personality(2), which switches it off, is refused here";

static bool has(const struct determinism *f, unsigned items)
{
	return determinism_tried(f) & items;
}

const char *fix_layout_refused(void)
{
	int now = personality(PERSONALITY_AS_IT_IS);

	if (now >= 0 && now & ADDR_NO_RANDOMIZE)
		return NULL;
	if (now >= 0 && personality((unsigned long)now | ADDR_NO_RANDOMIZE) >= 0) {
		personality((unsigned long)now);
		return NULL;
	}
	return refused;
}

static void begin_cpu(struct determinism *f, cpu_set_t *before)
{
	cpu_set_t one;
	int cpu = 0;

	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(*before), before) == 0) {
		while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, before))
			cpu++;
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one) == 0)
			return;
	}
	determinism_miss(f, FIXED_CPU, "cannot be bound to CPU %d: %s", cpu, strerror(errno));
}

void fix_begin(struct determinism *f, struct fix_before *before)
{
	if (has(f, FIXED(PID)))
		pidspace_rewind(f);
	if (has(f, FIXED(CWD)) && (!f->cwd[0] || chdir(f->cwd) < 0))
		determinism_miss(f, FIXED_CWD, "%s",
				 f->cwd[0] ? strerror(errno) : "it needs a mount namespace");
	if (has(f, FIXED(ASLR))) {
		before->personality = personality(PERSONALITY_AS_IT_IS);
		if (before->personality < 0 ||
		    personality((unsigned long)before->personality | ADDR_NO_RANDOMIZE) < 0)
			determinism_miss(f, FIXED_ASLR, "%s: %s", refused, strerror(errno));
	}
	if (has(f, FIXED(CPU) | FIXED(TURNS)))
		begin_cpu(f, &before->cpus);
}

void fix_end(struct determinism *f, const struct fix_before *before)
{
	if (has(f, FIXED(CPU) | FIXED(TURNS)))
		sched_setaffinity(0, sizeof(before->cpus), &before->cpus);
	if (has(f, FIXED(ASLR)))
		personality((unsigned long)before->personality);
	if (has(f, FIXED(CWD)) && chdir(f->cwd[f->cwd_from] ? f->cwd + f->cwd_from : "/") < 0)
		determinism_miss(f, FIXED_CWD, "the way back: %s", strerror(errno));
}

/* The name of a process, for messages. */
static const char *name_of(pid_t pid, char name[24])
{
	char path[64];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, name, 23);
		close(fd);
	}
	name[n > 0 ? n - 1 : 0] = '\0'; /* replaces the newline */
	return n > 1 ? name : "a program";
}

void fix_check(struct determinism *f, pid_t pid)
{
	char path[64], text[16] = "", name[24];
	int fd;

	if (!has(f, FIXED(ASLR)))
		return;
	snprintf(path, sizeof(path), "/proc/%d/personality", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return; /* it has ended, or belongs to another user */
	if (read(fd, text, sizeof(text) - 1) > 0 && !(strtoul(text, NULL, 16) & ADDR_NO_RANDOMIZE))
		determinism_lose(
			f, FIXED_ASLR,
			"lost on the way to %s: it was started with other rights, or its personality was changed",
			name_of(pid, name));
	close(fd);
}

static bool changes_rights(const char *command)
{
	char path[PATH_MAX];

	return geteuid() && program_find(command, path, sizeof(path)) &&
		program_changes_rights(path);
}

/* A filter or a tracer would remove those rights, and the program would fail. */
void fix_rights(struct determinism *f, const char *command)
{
	static const char why[] = "the command changes its rights, which this item prevents";

	if (!has(f, FIXED(RANDOM) | FIXED(VDSO) | FIXED(ASLR)) || !changes_rights(command))
		return;
	determinism_miss(f, FIXED_ASLR,
			 "the command changes its rights, and is then given random addresses");
	determinism_miss(f, FIXED_RANDOM, "%s", why);
	determinism_miss(f, FIXED_VDSO, "%s", why);
}

/* ---- at an exec ---- */

/*
 * The rights of its file are not granted to a traced program, nor under a filter that an
 * unprivileged user installed, nor in a user namespace.
 */
static void look_at_rights(struct determinism *f, pid_t pid)
{
	char link[64], path[PATH_MAX];
	const char *rights;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	rights = geteuid() && !f->stripped[0] ? program_rights(link) : NULL;
	n = rights ? readlink(link, path, sizeof(path) - 1) : -1;
	if (n <= 0)
		return;
	path[n] = '\0';
	determinism_strip(f, path, rights, FIXED(RANDOM) | FIXED(VDSO) | FIXED(PID) | FIXED(CWD));
}

static void change(struct determinism *f, pid_t pid)
{
	const struct auxv_change to = { .random = has(f, FIXED(RANDOM)),
					.values.no_vdso = has(f, FIXED(VDSO)) };
	char name[24];

	fix_check(f, pid);
	look_at_rights(f, pid);
	if (!has(f, FIXED(RANDOM) | FIXED(VDSO)) || auxv_fix(pid, &to) == 0)
		return;
	determinism_lose(f, FIXED_RANDOM, "the auxiliary vector of %s cannot be changed",
			 name_of(pid, name));
	determinism_lose(f, FIXED_VDSO, "the auxiliary vector of %s cannot be changed",
			 name_of(pid, name));
}

int exec_begin(struct execs *e, pid_t tid)
{
	if (e->n == EXECS_MAX)
		return ENOSPC;
	if (ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACEEXEC) < 0)
		return errno;
	e->tid[e->n] = tid;
	e->stranger[e->n] = false;
	e->process[e->n++] = follow_process_of("", tid);
	return 0;
}

void exec_missed(struct determinism *f, pid_t tid, int code)
{
	pid_t tracer = code == EPERM ? follow_tracer_of(tid) : 0;
	char name[24], why[160];

	if (tracer)
		snprintf(
			why, sizeof(why),
			"%s traces a process that executed a program, and a process has one tracer",
			name_of(tracer, name));
	else
		snprintf(why, sizeof(why), "%s could not be traced as it executed a program: %s",
			 name_of(tid, name), code == ENOSPC ? "too many at once" : strerror(code));
	determinism_lose(f, FIXED_RANDOM, "%s", why);
	determinism_lose(f, FIXED_VDSO, "%s", why);
}

void exec_disown(struct execs *e, pid_t tid)
{
	if (e->n && e->tid[e->n - 1] == tid)
		e->stranger[e->n - 1] = true;
}

void exec_stop(const struct execs *e, pid_t tid)
{
	if (e->n && e->tid[e->n - 1] == tid)
		ptrace(PTRACE_INTERRUPT, tid, 0, 0);
}

/*
 * A thread that executes a program becomes the first thread of its process. 0: not yet; -1: no such
 * tracee.
 */
static pid_t stopped(const struct execs *e, size_t i, siginfo_t *info)
{
	const pid_t ids[] = { e->tid[i], e->process[i] };

	for (size_t k = 0; k < 2; k++) {
		*info = (siginfo_t){ 0 };
		if (ids[k] > 0 &&
		    waitid(P_PID, (id_t)ids[k], info,
			   WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL | __WNOTHREAD) == 0)
			return info->si_pid;
	}
	return -1;
}

/* True once it was detached. The command's exit status is left for the caller to reap. */
static bool let_go(struct determinism *f, pid_t command, pid_t pid, bool stranger,
		   const siginfo_t *info)
{
	bool over = info->si_code != CLD_TRAPPED && info->si_code != CLD_STOPPED;
	int status;

	if ((over && pid == command) || waitpid(pid, &status, __WALL | __WNOTHREAD) != pid || over)
		return true;
	if (!(status >> 16)) {
		ptrace(PTRACE_CONT, pid, 0, WSTOPSIG(status));
		return false;
	}
	/* If it is killed now, its number is not reused until this thread has waited for it. */
	if (status >> 16 == PTRACE_EVENT_EXEC && !stranger)
		change(f, pid);
	ptrace(PTRACE_DETACH, pid, 0, 0);
	return true;
}

void exec_look(struct determinism *f, struct execs *e, pid_t command)
{
	size_t kept = 0;

	for (size_t i = 0; i < e->n; i++) {
		siginfo_t info;
		pid_t pid = stopped(e, i, &info);

		if (pid < 0 || (pid > 0 && let_go(f, command, pid, e->stranger[i], &info)))
			continue;
		e->tid[kept] = e->tid[i];
		e->stranger[kept] = e->stranger[i];
		e->process[kept++] = e->process[i];
	}
	e->n = kept;
}
