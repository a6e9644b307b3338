/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/array.h"
#include "base/file.h"
#include "launch/orphans.h"

enum { NAP_NS = 1000000, NAPS = 5000 };

/*
 * The parent of a process, from /proc/PID/stat: "pid (name) state parent ..."; the name may contain
 * any character.
 */
static pid_t parent_of(const char *pid)
{
	char path[300], line[512];
	const char *p;
	int parent = 0;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	if (file_line("", path, line, sizeof(line), NULL) < 0)
		return 0;
	p = strrchr(line, ')');
	return p && sscanf(p + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

/* All children of this process, including zombies; NULL: none, or there is no /proc. */
static pid_t *children(size_t *n)
{
	DIR *all = opendir("/proc");
	pid_t *out = NULL, me = getpid();
	const struct dirent *d;

	*n = 0;
	while (all && (d = readdir(all))) {

		if (d->d_name[0] < '1' || d->d_name[0] > '9' || parent_of(d->d_name) != me)
			continue;
		if (!array_one_more(&out, *n, sizeof(*out)))
			break;
		out[(*n)++] = (pid_t)atoi(d->d_name);
	}
	if (all)
		closedir(all);
	return out;
}

void orphans_adopt(struct orphans *o)
{
	int was = 0;

	*o = (struct orphans){ 0 };
	prctl(PR_GET_CHILD_SUBREAPER, &was);
	o->was = was;
	o->own = children(&o->n);
	o->adopting = prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

static bool is_own(const struct orphans *o, pid_t pid)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->own[i] == pid)
			return true;
	return false;
}

void orphans_reap(const struct orphans *o, pid_t but)
{
	siginfo_t ended = { 0 };

	while (o->adopting && waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       ended.si_pid && ended.si_pid != but && !is_own(o, ended.si_pid)) {
		waitpid(ended.si_pid, NULL, WNOHANG);
		ended = (siginfo_t){ 0 };
	}
}

/* One generation: their own children become ours. Returns how many there were. */
static size_t end_all(const struct orphans *o)
{
	size_t n, new = 0;
	pid_t *pid = children(&n);

	for (size_t i = 0; i < n; i++)
		if (!is_own(o, pid[i])) {
			kill(pid[i], SIGKILL);
			waitpid(pid[i], NULL, WNOHANG);
			new ++;
		}
	free(pid);
	return new;
}

void orphans_end(struct orphans *o)
{
	const struct timespec nap = { 0, NAP_NS };

	for (int i = 0; o->adopting && i < NAPS && end_all(o); i++)
		nanosleep(&nap, NULL);
	orphans_leave(o);
}

void orphans_leave(struct orphans *o)
{
	if (o->adopting && !o->was)
		prctl(PR_SET_CHILD_SUBREAPER, 0);
	free(o->own);
	*o = (struct orphans){ 0 };
}
