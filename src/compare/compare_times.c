/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/signal_name.h"
#include "compare/compare_times.h"

/* Shared with the measuring process. */
struct answer {
	bool done;
	int ret;
	struct tare_error err;
	struct compare_times times;
};

static void take_set(struct compare_times *out, enum compare_time t,
		     const struct compare_values of[COMPARE_SIDES])
{
	for (size_t i = 0; i < of[0].n && i < of[1].n; i++) {
		uint64_t *pair = out->pair[t][out->pairs[t]];

		pair[COMPARE_BEFORE] = of[COMPARE_BEFORE].value[i];
		pair[COMPARE_AFTER] = of[COMPARE_AFTER].value[i];
		out->pairs[t] += pair[COMPARE_BEFORE] && pair[COMPARE_AFTER];
	}
}

static void take_time(struct compare_times *out, const struct compare_event *e)
{
	enum compare_time t = strcmp(e->name, compare_time_names[COMPARE_WALL]) ? COMPARE_CPU_TIME
										: COMPARE_WALL;
	struct compare_event *to = &out->event[t];

	take_set(out, t, e->of);
	take_set(out, t, e->again);
	*to = *e;
	to->name = NULL; /* it belongs to this process, as the values do */
	for (int side = 0; side < COMPARE_SIDES; side++)
		to->of[side].value = to->again[side].value = NULL;
}

static void measuring_process(struct answer *a, const struct compare_plan *plan,
			      char *const *environment, const struct revision_signals *s)
{
	struct compare_measured m;
	int none = open("/dev/null", O_RDONLY);

	revision_signals_child(s);
	dup2(none, STDIN_FILENO);
	close(none);
	for (char *const *v = environment; v && *v; v++)
		putenv(*v);
	a->ret = compare_measure(&m, plan, &a->err);
	if (a->ret < 0 && m.exec_code)
		tare_fail(&a->err, m.exec_code, "%.120s cannot be executed: %s", plan->argv[0][0],
			  strerror(m.exec_code));
	for (size_t i = 0; a->ret == 0 && i < m.n; i++)
		take_time(&a->times, &m.event[i]);
	a->done = true;
	_exit(0);
}

int compare_times(struct compare_times *out, const struct compare_plan *plan,
		  char *const *environment, struct revision_signals *s, struct tare_error *err)
{
	struct compare_plan times = *plan;
	struct answer *a = mmap(NULL, sizeof(*a), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char by[SIGNAL_NAME_ROOM];
	int pid, status, ret = 0;

	if (a == MAP_FAILED)
		return tare_fail_nomem(err);
	times.events = NULL;
	pid = fork();
	if (pid == 0)
		measuring_process(a, &times, environment, s);
	if (pid < 0) {
		ret = tare_fail(err, errno, "cannot fork: %s", strerror(errno));
		goto out;
	}
	status = revision_wait(s, pid, false);
	if (s->got) {
		ret = tare_fail(err, EINTR, "stopped by %s", signal_name(s->got, by));
	} else if (!a->done) {
		tare_fail(err, EIO, "the process that measured it ended early, with status %#x",
			  status);
		ret = 1;
	} else if (a->ret < 0) {
		*err = a->err;
		ret = 1;
	} else {
		*out = a->times;
		for (int t = 0; t < COMPARE_TIMES; t++)
			out->event[t].name = (char *)compare_time_names[t];
	}
out:
	munmap(a, sizeof(*a));
	return ret;
}
