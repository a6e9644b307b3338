/* SPDX-License-Identifier: MIT */
/*
 * One run: prepare the command, open the counters on it, release it, wait, read. Between release
 * and end, tare sleeps in poll(2), except for intervals, a time limit or the control.
 */
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/file.h"
#include "base/process.h"
#include "base/program.h"
#include "launch/signals.h"
#include "stat/stat.h"

enum { WATCHED_MAX = 64, GONE_CHECK_MS = 50, GRACE_CHECK_MS = 100 };

struct run {
	const struct stat_plan *plan;
	struct sink *to;
	struct tare_error *err;
	unsigned number;
	struct counting counting;
	struct launched child;
	struct places tasks;
	struct cpus online;
	uint64_t begin_ns, enabled_since_ns, next_interval_ns;
	unsigned intervals;
	int exec_code;
	bool enabled, delayed, released, ending;
	unsigned asked_to_stop;               /* number of signals received */
	struct grace grace;                   /* with plan->kills */
	const struct launch_signals *signals; /* for the command */
	struct fact_end end;
	struct system_noise before;
};

static bool counts_command(const struct stat_plan *plan)
{
	return plan->argv && !plan->target.pids && !plan->target.tids && !plan->target.all_cpus &&
		!plan->target.cpus.n;
}

/*
 * Counters do not survive an exec after which the process is not dumpable: they would show 0, or
 * the few instructions before it. Source: linux, fs/exec.c, begin_new_exec().
 */
static const char *sheds_counters(const struct stat_plan *plan)
{
	char path[PATH_MAX];

	if (!counts_command(plan) || !program_find(plan->argv[0], path, sizeof(path)))
		return NULL;
	if (program_changes_rights(path))
		return "a program that changes its rights (setuid, setgid or file capabilities)";
	return access(path, R_OK) ? "a program that this user may not read" : NULL;
}

static int find_tasks(struct run *r)
{
	const struct stat_plan *plan = r->plan;

	if (counts_command(plan)) {
		r->tasks.place = calloc(1, sizeof(*r->tasks.place));
		if (!r->tasks.place)
			return tare_fail_nomem(r->err);
		r->tasks.place[0] = (struct place){ .pid = plan->launcher->late ? 0 : r->child.pid,
						    .cpu = -1,
						    .shown = { .cpu = -1 } };
		r->tasks.n = 1;
		return 0;
	}
	if (plan->target.pids)
		return places_of_tasks(plan->root, plan->target.pids, true, &r->tasks, r->err);
	if (plan->target.tids)
		return places_of_tasks(plan->root, plan->target.tids, false, &r->tasks, r->err);
	return 0;
}

static int find_cpus(struct run *r)
{
	bool need = false;

	for (size_t i = 0; i < r->plan->events->n; i++)
		need |= count_target_needs_cpus(&r->plan->target, &r->plan->events->enc[i]);
	return need ? cpus_online(r->plan->root, &r->online, r->err) : 0;
}

static int open_counters(struct run *r)
{
	const struct stat_plan *plan = r->plan;
	struct counting_options opt = {
		.target = &plan->target,
		.tasks = &r->tasks,
		.online = &r->online,
		.cgroup = plan->cgroup,
		.cgroup_fd = plan->cgroup_fd,
		.only = plan->only,
		.on_exec = counts_command(plan) && !plan->delay_ns && !plan->start_disabled,
		.launched = r->child.own,
		.sheds = sheds_counters(plan),
		.parts = plan->parts,
		.partial = plan->partial,
		.source = plan->source,
	};
	int ret = find_tasks(r);

	if (ret == 0)
		ret = find_cpus(r);
	if (ret == 0)
		ret = counting_open(&r->counting, plan->events, &opt, r->err);
	if (ret == 0 && plan->opened)
		ret = plan->opened(plan->with, &r->counting, r->err);
	return ret;
}

/* ---- clocks: duration_time and similar ---- */

static int put_clocks(struct run *r, uint64_t time_ns)
{
	const struct fact_end *end = &r->end;
	const struct {
		uint64_t ns;
		bool at_end_only;
	} clocks[] = {
		[CLOCK_WALL] = { r->end.wall_ns ? r->end.wall_ns : time_ns, false },
		[CLOCK_USER] = { end->user_ns, true },
		[CLOCK_SYSTEM] = { end->system_ns, true },
	};

	/* For the whole machine: shown with its first CPU, as in perf. */
	const struct cpus *cpus = r->plan->target.cpus.n ? &r->plan->target.cpus : &r->online;
	int cpu = r->tasks.n || counts_command(r->plan) ? -1 : cpus->n ? cpus->cpu[0] : 0;

	for (size_t i = 0; i < r->plan->events->n; i++) {
		const struct encoding *e = &r->plan->events->enc[i];
		struct fact f = { .kind = FACT_READING,
				  .run = r->number,
				  .time_ns = time_ns,
				  .reading = { .event = (unsigned)i,
					       .place = { .cpu = cpu, .thread = -1 } } };

		if (!encoding_source(e)->clock || e->unavailable ||
		    e->attr.config >= ARRAY_SIZE(clocks) || (r->plan->only && !r->plan->only[i]))
			continue;
		if (clocks[e->attr.config].at_end_only && !end->has_status) {
			f.reading.why = "known once a command has ended";
		} else {
			uint64_t wall = clocks[CLOCK_WALL].ns;

			f.reading.value = (struct tare_reading){ clocks[e->attr.config].ns, wall,
								 wall, TARE_COUNTED };
		}

		int ret = r->to->put(r->to, &f, r->err);

		if (ret < 0)
			return ret;
	}
	return 0;
}

static int put_readings(struct run *r, uint64_t time_ns)
{
	int ret = counting_read(&r->counting, r->number, time_ns, r->to, r->err);

	return ret < 0 ? ret : put_clocks(r, time_ns);
}

/* ---- on and off ---- */

static int enable(struct run *r, int event)
{
	uint64_t at =
		/* before the first counts: no more is ever counted than the time in which it was */
		clock_now_ns();
	int ret = counting_start(&r->counting, event, r->err);

	if (ret == 0 && !r->enabled) {
		r->enabled = true;
		r->enabled_since_ns = at;
	}
	return ret;
}

static int disable(struct run *r, int event)
{
	int ret = counting_stop(&r->counting, event, r->err);

	if (ret == 0 && r->enabled && event < 0) {
		r->end.counted_ns += clock_now_ns() - r->enabled_since_ns;
		r->enabled = false;
	}
	return ret;
}

static int event_of(const struct run *r, const char *name)
{
	for (size_t i = 0; i < r->counting.n_enc; i++)
		if (!strcmp(r->counting.enc[i].name, name) ||
		    !strcmp(r->plan->events->enc[i].name, name))
			return (int)i;
	return -1;
}

static int obey(struct run *r)
{
	struct control *c = r->plan->control;
	enum control_word word;
	const char *name;
	int ret = 0;

	while (ret == 0 && (word = control_next(c, &name)) != CONTROL_NONE) {
		int event = name ? event_of(r, name) : -1;

		if (word == CONTROL_UNKNOWN) {
			control_answer(
				c, "error: not one of enable [EVENT], disable [EVENT], ping, stop");
			continue;
		}
		if (name && event < 0) {
			control_answer(c, "error: no such event is counted");
			continue;
		}
		if (word == CONTROL_ENABLE)
			ret = enable(r, event);
		else if (word == CONTROL_DISABLE)
			ret = disable(r, event);
		else if (word == CONTROL_STOP)
			r->ending = r->end.stopped = true;
		if (ret == 0)
			control_answer(c, "ack");
	}
	return ret;
}

/* ---- begin, wait, end ---- */

static int begin_run(struct run *r)
{
	const struct stat_plan *plan = r->plan;
	struct fact f = { .kind = FACT_RUN_BEGIN,
			  .run = r->number,
			  .begin = { .adds_work = plan->argv && plan->launcher->adds_work } };
	int ret = r->to->put(r->to, &f, r->err);

	if (plan->around)
		system_noise_read(&r->before, plan->root);
	r->delayed = plan->delay_ns > 0;
	if (ret == 0 && !r->delayed && !plan->start_disabled)
		ret = enable(r, -1);
	r->begin_ns = clock_now_ns();
	r->next_interval_ns = r->begin_ns + plan->interval_ns;
	if (r->enabled)
		r->enabled_since_ns = r->begin_ns;
	if (ret == 0 && plan->argv) {
		ret = plan->launcher->release(&r->child, plan->argv, r->signals, r->err);
		r->exec_code = ret == -ENOTSUP ? 0 : -ret;
		r->released = ret == 0;
	}
	for (size_t i = 0; i < r->counting.n; i++) {
		r->counting.cell[i].on |= r->counting.cell[i].on_exec;
		r->counting.cell[i].on_exec = false;
	}
	return ret;
}

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
}

static void reap(struct run *r)
{
	struct rusage used;
	int status;

	if (!r->child.pid || !r->plan->launcher->reap(&r->child, &status, &used))
		return;
	r->end.has_status = true;
	r->end.wait_status = status;
	r->end.user_ns = timeval_ns(used.ru_utime);
	r->end.system_ns = timeval_ns(used.ru_stime);
	r->end.max_rss_kib = (uint64_t)used.ru_maxrss;
	r->end.around.used_known = true;
	r->end.around.switches = (uint64_t)(used.ru_nvcsw + used.ru_nivcsw);
	r->end.around.faults = (uint64_t)(used.ru_minflt + used.ru_majflt);
	r->child.pid = 0;
}

/*
 * The command gets the signal, too, and decides about its end. Without a command, a signal ends the
 * counting.
 */
static void take_signal(struct run *r, const struct signal_seen *s)
{
	if (s->number == SIGCHLD)
		return;
	r->end.by_signal = s->number;
	r->asked_to_stop++;
	if (r->child.pid && s->hand_on)
		launch_signal(r->plan->launcher, &r->child, s->number);
	if (!r->child.pid)
		r->ending = true;
	if (r->plan->kills)
		grace_ask(&r->grace);
}

static void kill_in_time(struct run *r)
{
	if (!r->child.pid || clock_now_ns() < grace_end_ns(&r->grace))
		return;
	launch_signal(r->plan->launcher, &r->child, SIGKILL);
	r->grace = (struct grace){ 0 };
}

static bool all_gone(const struct run *r)
{
	if (!r->tasks.n || counts_command(r->plan))
		return false;
	for (size_t i = 0; i < r->tasks.n; i++)
		if (!process_ended(r->plan->root, r->tasks.place[i].pid))
			return false;
	return true;
}

/* The time of the next timer event; UINT64_MAX: none. */
static uint64_t next_due(const struct run *r)
{
	const struct stat_plan *plan = r->plan;
	uint64_t due = UINT64_MAX;

	if (plan->interval_ns)
		due = r->next_interval_ns;
	if (plan->timeout_ns && r->begin_ns + plan->timeout_ns < due)
		due = r->begin_ns + plan->timeout_ns;
	if (r->delayed && r->begin_ns + plan->delay_ns < due)
		due = r->begin_ns + plan->delay_ns;
	if (grace_end_ns(&r->grace) < due)
		due = grace_end_ns(&r->grace);
	return due;
}

static int do_what_is_due(struct run *r, uint64_t now)
{
	const struct stat_plan *plan = r->plan;
	int ret = 0;

	kill_in_time(r);
	if (r->delayed && now >= r->begin_ns + plan->delay_ns) {
		r->delayed = false;
		if (!plan->start_disabled)
			ret = enable(r, -1);
	}
	if (ret == 0 && plan->timeout_ns && now >= r->begin_ns + plan->timeout_ns) {
		r->end.timed_out = true;
		r->ending = true;
	}
	if (ret == 0 && !r->ending && plan->interval_ns && now >= r->next_interval_ns) {
		struct fact f = { .kind = FACT_INTERVAL,
				  .run = r->number,
				  .time_ns = now - r->begin_ns };

		ret = put_readings(r, f.time_ns);
		if (ret == 0)
			ret = r->to->put(r->to, &f, r->err);
		while (r->next_interval_ns <= now) /* missed intervals are skipped */
			r->next_interval_ns += plan->interval_ns;
		if (plan->intervals && ++r->intervals >= plan->intervals) {
			r->end.intervals_done = true;
			r->ending = true;
		}
	}
	return ret;
}

static int wait_for_end(struct run *r, struct signals *signals)
{
	struct control *control = r->plan->control;
	bool watch_tasks = r->tasks.n && !counts_command(r->plan);
	int ret = 0;

	while (ret == 0 && !r->ending) {
		struct pollfd fds[3] = { { .fd = signals->fd, .events = POLLIN },
					 { .fd = control ? control->in : -1, .events = POLLIN },
					 { .fd = -1, .events = POLLIN } };
		uint64_t due = next_due(r), now = clock_now_ns();
		struct timespec left = { 0 };

		if (watch_tasks && (due == UINT64_MAX || due > now + GONE_CHECK_MS * 1000000ull))
			due = now + GONE_CHECK_MS * 1000000ull;
		if (due > now) {
			left.tv_sec = (time_t)((due - now) / 1000000000);
			left.tv_nsec = (long)((due - now) % 1000000000);
		}
		if (r->child.pid)
			fds[2].fd = r->plan->launcher->wake_fd(&r->child);
		ppoll(fds, 3, due == UINT64_MAX ? NULL : &left, NULL);

		for (struct signal_seen s; signals_next(signals, &s);)
			take_signal(r, &s);
		reap(r);
		if (r->end.has_status)
			break;
		if (control && control->in >= 0)
			ret = obey(r);
		if (ret == 0 && !r->ending)
			ret = do_what_is_due(r, clock_now_ns());
		if (watch_tasks && all_gone(r))
			break;
	}
	return ret;
}

/*
 * Counting ended before the command did: ask the command to end, and wait for it. After
 * SIGNALS_MEANT more signals, tare exits without waiting.
 */
static void end_command(struct run *r, struct signals *signals)
{
	unsigned patience = r->asked_to_stop + SIGNALS_MEANT;

	if (!r->child.pid)
		return;
	launch_signal(r->plan->launcher, &r->child, SIGTERM);
	if (r->plan->kills)
		grace_ask(&r->grace);
	while (r->child.pid && r->asked_to_stop < patience) {
		struct pollfd fds[2] = { { .fd = signals->fd, .events = POLLIN },
					 { .fd = r->plan->launcher->wake_fd(&r->child),
					   .events = POLLIN } };

		poll(fds, 2, r->plan->kills ? GRACE_CHECK_MS : -1);
		for (struct signal_seen s; signals_next(signals, &s);)
			take_signal(r, &s);
		kill_in_time(r);
		reap(r);
	}
	r->child.pid = 0;
}

static int put_profile(struct run *r)
{
	struct exact_profile profile = { 0 };
	struct tare_error why = TARE_ERROR_INIT;
	int ret = r->child.never_began ? -ENOTSUP : launched_profile(&r->child, &profile, &why);

	if (ret == 0)
		ret = r->plan->profile(r->plan->with, &profile, &why);
	exact_profile_free(&profile);
	if (ret == -ENOTSUP) /* there are no counts; the readings have the reason */
		return 0;
	if (ret < 0)
		*r->err = why;
	return ret;
}

static void take_around(struct run *r)
{
	struct system_noise after, used = r->end.around;

	system_noise_read(&after, r->plan->root);
	r->end.around = system_noise_between(&r->before, &after);
	r->end.around.used_known = used.used_known;
	r->end.around.switches = used.switches;
	r->end.around.faults = used.faults;
}

static int end(struct run *r, struct signals *signals)
{
	struct fact f = { .kind = FACT_RUN_END, .run = r->number };
	uint64_t at = clock_now_ns();
	int ret = disable(r, -1);

	r->end.wall_ns = at - r->begin_ns;
	/* the counters stop shortly after the command's end */
	if (r->end.counted_ns > r->end.wall_ns)
		r->end.counted_ns = r->end.wall_ns;
	r->end.added_work = r->plan->argv && r->plan->launcher->adds_work;
	end_command(r, signals);
	f.time_ns = r->end.wall_ns;
	if (r->plan->around)
		take_around(r);
	f.end = r->end;
	f.end.never_began = r->child.never_began;
	f.end.stops = r->child.stops;
	f.end.left = r->child.left;
	f.end.slow = r->child.slow;
	if (r->plan->argv && r->plan->launcher == &launch_exact)
		launched_partial(&r->child, &f.end.partial);
	if (f.end.has_status && f.end.wait_status == 0)
		f.end.by_signal = 0;      /* the command took the signal and finished its work */
	if (ret == 0 && r->plan->profile) /* first: where it finds no sum, there are no counts */
		ret = put_profile(r);
	if (ret == 0)
		ret = put_readings(r, f.time_ns);
	return ret < 0 ? ret : r->to->put(r->to, &f, r->err);
}

/*
 * Run a shell command before or after a run, with the signal mask that tare was started with. If it
 * fails, the session ends.
 */
static int run_beside(const char *what, const char *script, const struct signals *signals,
		      struct tare_error *err)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		sigaction(SIGPIPE, &signals->before.sigpipe, NULL);
		sigaction(SIGCHLD, &signals->before.sigchld, NULL);
		sigprocmask(SIG_SETMASK, &signals->before.mask, NULL);
		execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(127);
	}
	if (pid < 0)
		return tare_fail(err, errno, "cannot start %s: %s", what, strerror(errno));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status)
		return tare_fail(err, ECANCELED, "%s '%.100s' failed: %s %d", what, script,
				 WIFSIGNALED(status) ? "signal" : "exit",
				 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return 0;
}

static int run_once(const struct stat_plan *plan, unsigned number, struct signals *signals,
		    struct sink *to, struct stat_outcome *outcome, struct tare_error *err)
{
	struct run r = { .plan = plan,
			 .to = to,
			 .err = err,
			 .number = number,
			 .signals = &signals->before,
			 .child = { .go_fd = -1,
				    .result_fd = -1,
				    .envp = plan->envp ? plan->envp : environ,
				    .fixed = plan->fixed,
				    .profile = plan->profile } };
	int ret = plan->pre ? run_beside("--pre", plan->pre, signals, err) : 0;

	if (plan->sync)
		sync();
	if (ret == 0 && plan->argv)
		ret = plan->launcher->prepare(&r.child, plan->argv, &signals->before, err);
	if (ret == 0)
		ret = open_counters(&r);
	if (ret == 0)
		ret = begin_run(&r);
	outcome->exec_code = r.exec_code;
	if (ret == 0)
		ret = wait_for_end(&r, signals);
	if (ret == 0) {
		ret = end(&r, signals);
		outcome->runs++;
		outcome->by_signal = r.end.by_signal;
	}
	if (r.released) /* after any error, do not leave a command running */
		end_command(&r, signals);
	if (plan->argv)
		plan->launcher->close(&r.child);
	if (ret == 0 && plan->post)
		ret = run_beside("--post", plan->post, signals, err);
	counting_close(&r.counting);
	places_free(&r.tasks);
	cpus_free(&r.online);
	return ret;
}

int stat_run(const struct stat_plan *plan, struct sink *to, struct stat_outcome *outcome,
	     struct tare_error *err)
{
	struct signals signals;
	int ret = signals_open(&signals, err);

	*outcome = (struct stat_outcome){ 0 };
	if (ret < 0)
		return ret;
	for (unsigned i = 0; ret == 0 && (!plan->runs || i < plan->runs) && !outcome->by_signal;
	     i++) {
		if (plan->begin)
			plan->begin(plan->with, plan->first_run + i);
		ret = run_once(plan, plan->first_run + i, &signals, to, outcome, err);
	}
	signals_close(&signals);
	return ret;
}
