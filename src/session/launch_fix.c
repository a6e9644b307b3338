/* SPDX-License-Identifier: MIT */
/* What is fixed by the state of a process, before and at its exec. */
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
#include "session/launch_fix.h"
#include "session/pidspace.h"

/* Asks for the personality, and changes nothing. Source: personality(2). */
#define PERSONALITY_AS_IT_IS 0xffffffff

/* What is done at the exec stop. */
#define AT_EXEC (FIXED(RANDOM) | FIXED(VDSO))

static bool has(const struct fixed *f, unsigned items)
{
	return fixed_had(f) & items;
}

void fix_begin(struct fixed *f, cpu_set_t *before)
{
	cpu_set_t one;
	int cpu = 0;

	if (has(f, FIXED(PID)))
		pidspace_rewind(f);
	if (has(f, FIXED(CWD)) && (!f->cwd[0] || chdir(f->cwd) < 0))
		fixed_miss(f, FIXED_CWD, "%s", f->cwd[0] ? strerror(errno) : "it needs a mount namespace");
	if (!has(f, FIXED(CPU)))
		return;
	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(*before), before) == 0) {
		while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, before))
			cpu++;
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one) == 0)
			return;
	}
	fixed_miss(f, FIXED_CPU, "cannot be bound to CPU %d: %s", cpu, strerror(errno));
}

void fix_end(struct fixed *f, const cpu_set_t *before)
{
	if (has(f, FIXED(CPU)))
		sched_setaffinity(0, sizeof(*before), before);
	if (has(f, FIXED(CWD)) && chdir(f->cwd[f->cwd_from] ? f->cwd + f->cwd_from : "/") < 0)
		fixed_miss(f, FIXED_CWD, "the way back: %s", strerror(errno));
}

void fix_personality(const struct fixed *f)
{
	if (has(f, FIXED(ASLR)))
		personality((unsigned long)personality(PERSONALITY_AS_IT_IS) | ADDR_NO_RANDOMIZE);
}

void fix_check(struct fixed *f, pid_t pid)
{
	char path[64], text[16] = "";
	int fd;

	if (!has(f, FIXED(ASLR)))
		return;
	snprintf(path, sizeof(path), "/proc/%d/personality", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return; /* gone already, or of another user */
	if (read(fd, text, sizeof(text) - 1) > 0 && !(strtoul(text, NULL, 16) & ADDR_NO_RANDOMIZE))
		fixed_miss(f, FIXED_ASLR, "lost at the command's exec, which gave it other rights");
	close(fd);
}

static bool changes_rights(const char *command)
{
	char path[PATH_MAX];

	return geteuid() && program_find(command, path, sizeof(path)) && program_changes_rights(path);
}

/* A filter or a tracer would take those rights away, and with them the program's work. */
void fix_rights(struct fixed *f, const char *command)
{
	static const char why[] = "the command changes its rights, which it could not with this";

	if (!has(f, AT_EXEC | FIXED(ASLR)) || !changes_rights(command))
		return;
	fixed_miss(f, FIXED_ASLR, "the command changes its rights, and is then given random addresses");
	fixed_miss(f, FIXED_RANDOM, "%s", why);
	fixed_miss(f, FIXED_VDSO, "%s", why);
}

void fix_watch(struct fixed *f, pid_t pid)
{
	if (!has(f, AT_EXEC) || ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXEC) == 0)
		return;
	fixed_miss(f, FIXED_RANDOM, "ptrace is not permitted here");
	fixed_miss(f, FIXED_VDSO, "ptrace is not permitted here");
}

void fix_executed(struct fixed *f, pid_t pid)
{
	siginfo_t info = { 0 };
	int status;

	/* Its end, should that come first, is left to who reaps it. */
	while (has(f, AT_EXEC)) {
		if (waitid(P_PID, (id_t)pid, &info, WSTOPPED | WEXITED | WNOWAIT | __WALL) < 0 && errno != EINTR)
			break;
		if (info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED)
			break;
		if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
			break;
		if (status >> 16 == PTRACE_EVENT_EXEC) {
			if (auxv_fix(pid, has(f, FIXED(RANDOM)), has(f, FIXED(VDSO))) < 0)
				fixed_miss(f, FIXED_VDSO, "what the kernel told the command cannot be changed");
			fix_check(f, pid);
			ptrace(PTRACE_DETACH, pid, 0, 0);
			return;
		}
		ptrace(PTRACE_CONT, pid, 0, status >> 16 ? 0 : WSTOPSIG(status));
	}
	fix_check(f, pid);
}
