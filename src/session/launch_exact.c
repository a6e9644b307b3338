/* SPDX-License-Identifier: MIT */
/*
 * The exact engine as a launcher, and as the source of what it counts. The launcher's state is
 * handed to the source through the target; the engine itself exists only once the command was
 * released.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "exact/exact.h"
#include "session/launch.h"

struct exact_run {
	struct exact *engine; /* NULL until released */
	struct timespec begun;
};

static int prepare(struct launched *l, char *const argv[], const struct launch_signals *sig,
		   struct tare_error *err)
{
	int ret = exact_probe(err);

	(void)argv;
	(void)sig;
	l->go_fd = l->result_fd = -1;
	if (ret < 0)
		return ret;
	l->own = calloc(1, sizeof(struct exact_run));
	return l->own ? 0 : tare_fail_nomem(err);
}

/* The command gets the signals as tare was started with them: they are put back for the launch. */
static int release(struct launched *l, char *const argv[], const struct launch_signals *sig,
		   struct tare_error *err)
{
	struct exact_run *run = l->own;
	struct sigaction pipe_now;
	sigset_t mask_now;
	int ret;

	clock_gettime(CLOCK_MONOTONIC, &run->begun);
	sigaction(SIGPIPE, &sig->sigpipe, &pipe_now);
	sigprocmask(SIG_SETMASK, &sig->mask, &mask_now);
	ret = exact_launch(&run->engine, argv, environ, &(struct exact_options){ .profile = l->profile }, err);
	sigprocmask(SIG_SETMASK, &mask_now, NULL);
	sigaction(SIGPIPE, &pipe_now, NULL);
	if (ret < 0)
		return ret;
	l->pid = exact_pid(run->engine);
	return 0;
}

static int wake_fd(const struct launched *l)
{
	const struct exact_run *run = l->own;

	return run->engine ? exact_fd(run->engine) : -1;
}

static int reap(struct launched *l, int *status, struct rusage *used)
{
	struct exact_run *run = l->own;
	struct exact_end end;

	if (!run->engine || exact_wait(run->engine, 0, &end, NULL) != 1)
		return 0;
	*status = end.status;
	*used = end.usage;
	l->pid = 0;
	return 1;
}

int launched_profile(const struct launched *l, struct exact_profile *out, struct tare_error *err)
{
	const struct exact_run *run = l->own;

	*out = (struct exact_profile){ 0 };
	if (!run || !run->engine)
		return tare_fail(err, ENODATA, "the command has not begun");
	return exact_profile(run->engine, out, err);
}

static void let_go(struct launched *l)
{
	struct exact_run *run = l->own;

	if (run)
		exact_close(run->engine);
	free(run);
	l->own = NULL;
	l->pid = 0;
}

const struct launcher launch_exact = {
	.name = "exact",
	.engine = "exact",
	.late = true,
	.prepare = prepare,
	.release = release,
	.wake_fd = wake_fd,
	.reap = reap,
	.close = let_go,
};

/* ---- the source ---- */

enum { GROUP_MAX = EXACT_CLASSES };

struct exact_group {
	const struct source *source;
	struct exact_run *run;
	enum exact_class class[GROUP_MAX];
	size_t n;
};

/* By the name of the engine's class, modifiers aside: it counts user mode, and nothing else. */
static int class_of(const struct encoding *e)
{
	if (!strcmp(e->pmu, "exact"))
		return e->attr.config < EXACT_CLASSES ? (int)e->attr.config : -1;

	size_t n = strcspn(e->name, ":");

	for (int c = 0; c < EXACT_CLASSES; c++)
		if (exact_class_names[c] && strlen(exact_class_names[c]) == n &&
		    !strncmp(exact_class_names[c], e->name, n))
			return c;
	return -1;
}

static int open_group(struct counters **out, const struct encoding *const *enc, size_t n,
		      const struct target *on, size_t *failed, struct tare_error *err)
{
	struct exact_group *g;

	if (failed)
		*failed = 0;
	if (!on->launched || on->pid != 0 || !on->inherit) {
		tare_fail(err, EOPNOTSUPP,
			  "the exact engine counts a command that it starts, with all its children");
		tare_hint(err, "--engine exact -- COMMAND");
		return -EOPNOTSUPP;
	}
	if (!n || n > GROUP_MAX)
		return tare_fail(err, EINVAL, "a group of %zu events", n);
	g = calloc(1, sizeof(*g));
	if (!g)
		return tare_fail_nomem(err);
	*g = (struct exact_group){ .source = &source_exact, .run = on->launched, .n = n };
	for (size_t i = 0; i < n; i++) {
		int class = class_of(enc[i]);

		if (class < 0 || !enc[i]->attr.exclude_kernel || enc[i]->attr.exclude_user) {
			free(g);
			if (failed)
				*failed = i;
			return tare_fail(err, ENOENT, "the exact engine does not count %s",
					 enc[i]->name);
		}
		g->class[i] = (enum exact_class) class;
	}
	*out = (struct counters *)g;
	return 0;
}

/* It counts from the command's first instruction to its last, and cannot be switched. */
static int no_switch(struct counters *c, struct tare_error *err)
{
	(void)c;
	(void)err;
	return 0;
}

static int read_group(struct counters *c, struct tare_reading *out, struct tare_error *err)
{
	const struct exact_group *g = (const struct exact_group *)c;
	int64_t counts[EXACT_CLASSES];
	struct timespec now;
	int ret;

	if (!g->run->engine)
		return tare_fail(err, ENODATA, "the command has not begun");
	ret = exact_counts(g->run->engine, counts, err);
	if (ret < 0)
		return ret;
	clock_gettime(CLOCK_MONOTONIC, &now);

	uint64_t ns = (uint64_t)(now.tv_sec - g->run->begun.tv_sec) * 1000000000 +
		      (uint64_t)(now.tv_nsec - g->run->begun.tv_nsec);

	for (size_t i = 0; i < g->n; i++)
		out[i] = (struct tare_reading){ (uint64_t)counts[g->class[i]], ns, ns, TARE_EXACT };
	return 0;
}

static void close_group(struct counters *c)
{
	free(c);
}

static int probe(struct tare_error *err)
{
	return exact_probe(err);
}

const struct source source_exact = {
	.name = "exact",
	.about = "the exact engine: every instruction of a command in user mode",
	.probe = probe,
	.open = open_group,
	.start = no_switch,
	.stop = no_switch,
	.read = read_group,
	.close = close_group,
};
