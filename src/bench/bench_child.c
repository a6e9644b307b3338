/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/process.h"
#include "bench/bench_child.h"
#include "launch/environment.h"
#include "launch/orphans.h"
#include "launch/signals.h"

enum { LOOK_MS = 50 };

/*
 * The child inherits what tare has while it is started: descriptors 0 to 2, and where it may run.
 */
struct lent {
	int kept[3];
	bool pinned;
	cpu_set_t cpus;
};

/* Copies of tare's own descriptors 0 to 2; -1: not open in tare. */
static int keep_own(struct lent *l, struct tare_error *err)
{
	for (int i = 0; i < 3; i++)
		l->kept[i] = -1;
	for (int i = 0; i < 3; i++) {
		l->kept[i] = fcntl(i, F_DUPFD_CLOEXEC, 3);
		if (l->kept[i] < 0 && errno != EBADF) {
			int code = errno;

			while (i--)
				if (l->kept[i] >= 0)
					close(l->kept[i]);
			tare_fail(err, code, "cannot copy a descriptor for the child process: %s",
				  strerror(code));
			process_limit_hint(err, code);
			return -code;
		}
	}
	return 0;
}

static int lend(struct lent *l, const struct bench_child *c, struct tare_error *err)
{
	const int given[3] = { c->in, c->out, c->err };
	int ret = keep_own(l, err);
	cpu_set_t one;

	if (ret < 0)
		return ret;
	for (int i = 0; i < 3; i++)
		if (given[i] >= 0)
			dup2(given[i], i);
	l->pinned = c->cpu >= 0 && sched_getaffinity(0, sizeof(l->cpus), &l->cpus) == 0;
	if (l->pinned) {
		CPU_ZERO(&one);
		CPU_SET(c->cpu, &one);
		l->pinned = sched_setaffinity(0, sizeof(one), &one) == 0;
	}
	return 0;
}

static void take_back(struct lent *l, const struct bench_child *c)
{
	const int given[3] = { c->in, c->out, c->err };

	for (int i = 0; i < 3; i++) {
		if (l->kept[i] >= 0) {
			dup2(l->kept[i], i);
			close(l->kept[i]);
		} else if (given[i] >= 0) {
			close(i);
		}
	}
	if (l->pinned)
		sched_setaffinity(0, sizeof(l->cpus), &l->cpus);
}

static void end_it(const struct bench_child *c, const struct launcher *by, const struct launched *l)
{
	if (l->pid <= 0)
		return;
	if (c->own_group)
		kill(-l->pid, SIGKILL);
	launch_signal(by, l, SIGKILL);
}

/* A stopped process gets SIGTERM only after it is continued. */
static void ask_to_end(const struct launched *l)
{
	kill(-l->pid, SIGTERM);
	kill(-l->pid, SIGCONT);
}

static void watch(const struct bench_child *c, const struct launcher *by, struct launched *l,
		  struct signals *s, const struct orphans *o, struct bench_child_end *end)
{
	uint64_t seen = 0, since = clock_now_ns();
	unsigned asked_to_stop = 0;
	struct rusage used;

	while (!by->reap(l, &end->status, &used)) {
		struct pollfd fds[2] = { { .fd = s->fd, .events = POLLIN },
					 { .fd = by->wake_fd(l), .events = POLLIN } };
		struct signal_seen signal;

		poll(fds, ARRAY_SIZE(fds), LOOK_MS);
		orphans_reap(o, l->pid);
		if (c->look)
			c->look(c->with);
		/* a process outside its group may have stopped the engine's supervisor since */
		if ((end->by_signal || end->timed_out) && !c->tidies && by->signalled)
			by->signalled(l, SIGKILL);
		while (signals_next(s, &signal)) {
			if (signal.number == SIGCHLD)
				continue;
			if (c->tidies && ++asked_to_stop < SIGNALS_MEANT && l->pid > 0)
				ask_to_end(l);
			else
				end_it(c, by, l);
			if (!end->by_signal)
				end->by_signal = signal.number;
		}
		if (c->progress && *c->progress != seen) {
			seen = *c->progress;
			since = clock_now_ns();
		}
		if (c->timeout_ns && !end->timed_out && clock_now_ns() - since >= c->timeout_ns) {
			end->timed_out = true;
			end_it(c, by, l);
		}
	}
}

int bench_child(const struct bench_child *c, struct bench_child_end *end, struct tare_error *err)
{
	const struct launcher *by = c->exact ? &launch_exact : &launch_plain;
	struct launched l = { .go_fd = -1, .result_fd = -1, .fixed = c->fixed, .envp = environ };
	struct environment env = { 0 };
	struct orphans left = { 0 };
	struct signals s;
	struct lent lent;
	int64_t counts[EXACT_CLASSES];
	pid_t pid;
	int ret = 0;

	*end = (struct bench_child_end){ 0 };
	if (c->fixed) {
		ret = environment_fix(&env, c->fixed->set, c->fixed->kept, c->argv, environ, err);
		l.envp = env.envp;
	}
	if (ret == 0)
		ret = signals_open(&s, err);
	if (ret < 0)
		goto out;
	if (c->own_group)
		orphans_adopt(&left);
	ret = lend(&lent, c, err);
	if (ret == 0) {
		ret = by->prepare(&l, c->argv, &s.before, err);
		if (ret == 0 && c->tidies)
			setpgid(l.pid, l.pid);
		if (ret == 0)
			ret = by->release(&l, c->argv, &s.before, err);
		take_back(&lent, c);
	}
	if (ret == 0) {
		pid = l.pid;
		watch(c, by, &l, &s, &left, end);
		/* before orphans_end(), which ends the engine's supervisor, too */
		if (end->by_signal)
			ret = tare_fail(err, ECANCELED, "ended by signal %d", end->by_signal);
		else if (c->exact)
			ret = launched_counts(&l, counts, err);
		if (c->own_group && pid > 0)
			/*
			 * what it left running; processes that left its group are found by their
			 * parent
			 */
			kill(-pid, SIGKILL);
	}
	orphans_end(&left);
	by->close(&l);
	signals_close(&s);
out:
	environment_free(&env);
	return ret;
}
