/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "base/program.h"
#include "launch/follow.h"

/*
 * Events are removed at an exec that makes the process non-dumpable. Source: linux, fs/exec.c,
 * begin_new_exec().
 */
static int check_keeps_events(const struct follow *f, struct tare_error *err)
{
	char path[PATH_MAX];
	const char *why = NULL;

	if (!f->counts_command || !program_find(f->plan->argv[0], path, sizeof(path)))
		return 0;
	if (program_changes_rights(path))
		why = "a program that changes its rights (setuid, setgid or file capabilities)";
	else if (access(path, R_OK))
		why = "a program that this user may not read";
	if (!why)
		return 0;
	tare_fail(err, EPERM, "the kernel removes events from %s", why);
	tare_hint(err,
		  "measure it as a user for whom it is an ordinary program, or whole CPUs (-a)");
	return -EPERM;
}

static int find_tasks(struct follow *f, struct tare_error *err)
{
	const struct count_target *w = f->plan->target;

	if (f->counts_command) {
		f->tasks.place = calloc(1, sizeof(*f->tasks.place));
		if (!f->tasks.place)
			return tare_fail_nomem(err);
		f->tasks.place[0] = (struct place){ .pid = f->plan->launcher->late ? 0
										   : f->child.pid,
						    .cpu = -1,
						    .shown = { .cpu = -1 } };
		f->tasks.n = 1;
		return 0;
	}
	if (w->pids)
		return places_of_tasks(f->plan->root, w->pids, true, &f->tasks, err);
	if (w->tids)
		return places_of_tasks(f->plan->root, w->tids, false, &f->tasks, err);
	return 0;
}

int follow_prepare(struct follow *f, const struct follow_plan *plan, struct tare_error *err)
{
	const struct count_target *w = plan->target;
	int ret;

	*f = (struct follow){ .plan = plan,
			      .child = { .go_fd = -1,
					 .result_fd = -1,
					 .envp = plan->envp ? plan->envp : environ,
					 .fixed = plan->fixed,
					 .running = plan->running } };
	f->counts_command = plan->argv && !w->pids && !w->tids && !w->all_cpus && !w->cpus.n;
	ret = check_keeps_events(f, err);
	if (ret == 0)
		ret = signals_open(&f->signals, err);
	if (ret < 0) {
		f->signals.fd = -1;
		return ret;
	}
	f->prepared = true;
	if (plan->argv)
		ret = plan->launcher->prepare(&f->child, plan->argv, &f->signals.before, err);
	return ret < 0 ? ret : find_tasks(f, err);
}

int follow_release(struct follow *f, struct tare_error *err)
{
	int ret = 0;

	if (f->plan->argv)
		ret = f->plan->launcher->release(&f->child, f->plan->argv, &f->signals.before, err);
	f->exec_code = ret == -ENOTSUP ? 0 : -ret;
	f->released = ret == 0;
	return ret;
}

int follow_wake_fd(const struct follow *f)
{
	return f->child.pid ? f->plan->launcher->wake_fd(&f->child) : -1;
}

/* Only for a command: tare has other children. */
static void reap(struct follow *f)
{
	struct rusage used;

	if (!f->child.pid || !f->plan->launcher->reap(&f->child, &f->wait_status, &used))
		return;
	f->has_status = true;
	f->child.pid = 0;
}

static bool take_signal(struct follow *f, const struct signal_seen *s)
{
	if (s->number == SIGCHLD)
		return false;
	f->by_signal = s->number;
	f->asked_to_stop++;
	if (f->child.pid && s->hand_on)
		launch_signal(f->plan->launcher, &f->child, s->number);
	if (f->plan->kills)
		grace_ask(&f->grace);
	return !f->child.pid;
}

static bool tasks_gone(const struct follow *f)
{
	if (!f->tasks.n || f->counts_command)
		return false;
	for (size_t i = 0; i < f->tasks.n; i++)
		if (!process_ended(f->plan->root, f->tasks.place[i].pid))
			return false;
	return true;
}

bool follow_ended(struct follow *f)
{
	bool ending = false;

	for (struct signal_seen s; signals_next(&f->signals, &s);)
		ending |= take_signal(f, &s);
	if (f->child.pid && clock_now_ns() >= grace_end_ns(&f->grace)) {
		launch_signal(f->plan->launcher, &f->child, SIGKILL);
		f->grace = (struct grace){ 0 };
	}
	reap(f);
	return ending || f->has_status || tasks_gone(f);
}

static int ms_until(uint64_t until_ns)
{
	uint64_t now = clock_now_ns();

	return now >= until_ns                          ? 0
		: (until_ns - now) / 1000000 >= INT_MAX ? INT_MAX
							: (int)((until_ns - now) / 1000000) + 1;
}

bool follow_to_end(struct follow *f, uint64_t until_ns)
{
	while (f->child.pid && !follow_ended(f)) {
		int wait = until_ns ? ms_until(until_ns) : -1;
		struct pollfd fds[2] = { { .fd = f->signals.fd, .events = POLLIN },
					 { .fd = follow_wake_fd(f), .events = POLLIN } };

		if (!wait)
			break;
		poll(fds, ARRAY_SIZE(fds), wait);
	}
	return f->has_status;
}

void follow_end(struct follow *f)
{
	unsigned patience = f->asked_to_stop + SIGNALS_MEANT;

	if (!f->released || !f->child.pid)
		return;
	launch_signal(f->plan->launcher, &f->child, SIGTERM);
	while (f->child.pid && f->asked_to_stop < patience) {
		struct pollfd fds[2] = { { .fd = f->signals.fd, .events = POLLIN },
					 { .fd = follow_wake_fd(f), .events = POLLIN } };

		poll(fds, 2, -1);
		for (struct signal_seen s; signals_next(&f->signals, &s);)
			take_signal(f, &s);
		reap(f);
	}
	f->child.pid = 0;
}

void follow_close(struct follow *f)
{
	follow_end(f);
	if (f->prepared && f->plan->argv)
		f->plan->launcher->close(&f->child);
	if (f->prepared)
		signals_close(&f->signals);
	places_free(&f->tasks);
	f->prepared = false;
}

/* From /proc/TID/status the id after `key`, for instance "\nTgid:"; 0: none. */
static pid_t status_id(const char *root, pid_t tid, const char *key)
{
	char path[64], *all;
	const char *line;
	pid_t pid = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	if (file_read(root, path, 65536, &all, NULL, NULL) < 0)
		return 0;
	line = strstr(all, key);
	if (line)
		pid = (pid_t)atoi(line + strlen(key));
	free(all);
	return pid;
}

pid_t follow_process_of(const char *root, pid_t tid)
{
	return status_id(root, tid, "\nTgid:");
}

pid_t follow_tracer_of(pid_t tid)
{
	return status_id("", tid, "\nTracerPid:");
}

int follow_command(const struct follow_plan *plan, struct follow *f, struct tare_error *err)
{
	int ret = follow_prepare(f, plan, err);

	if (ret == 0)
		ret = follow_release(f, err);
	while (ret == 0 && !follow_ended(f)) {
		struct pollfd fds[2] = { { .fd = f->signals.fd, .events = POLLIN },
					 { .fd = follow_wake_fd(f), .events = POLLIN } };

		poll(fds, 2, -1);
	}
	if (ret == 0 && plan->launcher == &launch_exact)
		ret = launched_intact(&f->child, err);
	follow_end(f);
	follow_close(f);
	return ret;
}

int follow_status(const struct follow *f)
{
	if (!f->has_status)
		return 128 + f->by_signal;
	return WIFSIGNALED(f->wait_status) ? 128 + WTERMSIG(f->wait_status)
					   : WEXITSTATUS(f->wait_status);
}
