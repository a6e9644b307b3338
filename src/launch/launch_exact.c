/* SPDX-License-Identifier: MIT */
/*
 * The exact engine as a launcher, and as the source of its events. The launcher's state reaches the
 * source through the target; the engine itself exists only after release.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/program.h"
#include "exact/exact.h"
#include "exact/isa.h"
#include "launch/launch.h"
#include "launch/launch_fix.h"

struct exact_run {
	struct exact *engine; /* NULL until released */
	uint64_t begun_ns;
	struct isa_model isa; /* with FIXED(ISA) */
};

/* A model asked for by name must be had; the usual one may be missed. */
static int choose_isa(struct determinism *f, struct isa_model *to, struct tare_error *err)
{
	struct tare_error why = TARE_ERROR_INIT;
	struct isa_model host;
	int ret;

	if (f)
		f->isa_model[0] = '\0';
	if (!(determinism_tried(f) & FIXED(ISA)))
		return 0;
	isa_abilities(&host);
	ret = f->isa[0] ? isa_choose(to, f->isa, &host, err) : isa_choose_usual(to, &host, &why);
	if (ret < 0 && f->isa[0])
		return ret;
	if (ret < 0)
		determinism_miss(f, FIXED_ISA, "%s", why.what);
	else
		snprintf(f->isa_model, sizeof(f->isa_model), "%s", to->name);
	return 0;
}

int launch_choose_isa(struct determinism *f, struct tare_error *err)
{
	struct isa_model m;

	return choose_isa(f, &m, err);
}

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
	if (!l->own)
		return tare_fail_nomem(err);
	if (determinism_tried(l->fixed) & FIXED(CLOCK))
		determinism_clock(l->fixed);
	return choose_isa(l->fixed, &((struct exact_run *)l->own)->isa, err);
}

/*
 * The command gets the signal settings with which tare was started: they are restored for the
 * launch.
 */
static int release(struct launched *l, char *const argv[], const struct launch_signals *sig,
		   struct tare_error *err)
{
	struct exact_run *run = l->own;
	struct sigaction pipe_now, child_now;
	struct fix_before before;
	unsigned set;
	int ret;

	run->begun_ns = clock_now_ns();
	fix_begin(l->fixed, &before); /* the command has it from us */
	set = determinism_tried(l->fixed);
	sigaction(SIGPIPE, &sig->sigpipe, &pipe_now);
	sigaction(SIGCHLD, &sig->sigchld, &child_now);
	ret = exact_launch(&run->engine, argv, l->envp,
			   &(struct exact_options){ .mask = &sig->mask,
						    .aslr = !(set & FIXED(ASLR)),
						    .same_random = set & FIXED(RANDOM),
						    .same_readdir = set & FIXED(READDIR),
						    .same_terminal = set & FIXED(TERMINAL),
						    .turns = set & FIXED(TURNS),
						    .turned_readdir = l->fixed && l->fixed->turned,
						    .no_vdso = set & FIXED(VDSO),
						    .clock_start = set & FIXED(CLOCK)
							    ? l->fixed->clock_start * 1000000000
							    : 0,
						    .isa = set & FIXED(ISA) ? &run->isa : NULL,
						    .cpus = set & FIXED(CPUS) ? l->fixed->cpus : 0,
						    .profile = l->profile,
						    .running = l->running,
						    .every = l->every },
			   err);
	fix_end(l->fixed, &before);
	sigaction(SIGPIPE, &pipe_now, NULL);
	sigaction(SIGCHLD, &child_now, NULL);
	if (ret < 0)
		return ret == -ENOTSUP ? ret : launch_not_executed(argv[0], -ret, err);
	l->pid = exact_pid(run->engine);
	return 0;
}

static void signalled(const struct launched *l, int number)
{
	const struct exact_run *run = l->own;

	if (run->engine)
		exact_signalled(run->engine, number);
}

static int wake_fd(const struct launched *l)
{
	const struct exact_run *run = l->own;

	return run->engine ? exact_fd(run->engine) : -1;
}

/*
 * The engine does not run it, so it gets its rights, except where the kernel grants none: in a user
 * namespace of an unprivileged user.
 */
static void look_at_rights(struct launched *l, const struct exact *x)
{
	const char *rights = NULL;
	char path[128];

	if (!geteuid() || !exact_gainer(x, path, sizeof(path)))
		return;
	if (path[0] == '/')
		rights = program_rights(path);
	determinism_strip(l->fixed, path, rights ? rights : "setuid, setgid or file capabilities",
			  FIXED(PID) | FIXED(CWD));
}

/* Timers and the like, if the command used them. */
static void look_at_clock(struct determinism *f, const struct exact *x)
{
	const char *what = exact_clock_beyond(x);

	if (!(determinism_had(f) & FIXED(CLOCK)))
		return;
	f->partly = what ? f->partly | FIXED(CLOCK) : f->partly & ~FIXED(CLOCK);
	snprintf(f->clock_leaves, sizeof(f->clock_leaves), "%s", what ? what : "");
}

static void look_at_turns(struct determinism *f, const struct exact *x)
{
	if (!(determinism_had(f) & FIXED(TURNS)))
		return;
	if (exact_turns_beyond(x, f->turns_leaves, sizeof(f->turns_leaves)))
		f->partly |= FIXED(TURNS);
	else
		f->partly &= ~FIXED(TURNS);
}

static int reap(struct launched *l, int *status, struct rusage *used)
{
	struct exact_run *run = l->own;
	int64_t counts[EXACT_CLASSES];
	const char *beyond;
	struct exact_end end;
	char program[24];

	if (!run->engine || exact_wait(run->engine, 0, &end, NULL) != 1)
		return 0;
	exact_counts(run->engine, counts,
		     NULL); /* if this finds damage, the rest reports nothing */
	if (exact_layout_lost(run->engine))
		determinism_lose(
			l->fixed, FIXED_ASLR,
			"lost on the way to %s: it was started with other rights, or its personality "
			"was changed",
			exact_layout_lost(run->engine));
	beyond = exact_isa_beyond(run->engine, program);
	if (beyond)
		determinism_lose(
			l->fixed, FIXED_ISA,
			"%s executed an instruction of the extension %s, which %s does not have",
			program, beyond, l->fixed->isa_model);
	look_at_clock(l->fixed, run->engine);
	look_at_turns(l->fixed, run->engine);
	look_at_rights(l, run->engine);
	l->stops = exact_stops(run->engine);
	l->left = end.left;
	exact_partial(run->engine, &l->partial);
	exact_slow(run->engine, &l->slow);
	l->never_began = end.never_began;
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

int launched_samples(const struct launched *l, exact_sample_fn *each, void *with,
		     struct tare_error *err)
{
	const struct exact_run *run = l->own;

	if (!run || !run->engine)
		return tare_fail(err, ENODATA, "the command has not begun");
	return exact_samples(run->engine, each, with, err);
}

int launched_counts(const struct launched *l, int64_t out[EXACT_CLASSES], struct tare_error *err)
{
	const struct exact_run *run = l->own;

	if (!run || !run->engine)
		return tare_fail(err, ENODATA, "the command has not begun");
	return exact_counts(run->engine, out, err);
}

int launched_intact(const struct launched *l, struct tare_error *err)
{
	const struct exact_run *run = l->own;
	struct tare_error why = TARE_ERROR_INIT;
	int64_t counts[EXACT_CLASSES];

	if (!run || !run->engine || exact_counts(run->engine, counts, &why) >= 0 ||
	    !exact_damaged(run->engine))
		return 0;
	if (err)
		*err = why;
	return -why.code;
}

void launched_partial(const struct launched *l, struct exact_partial *out)
{
	const struct exact_run *run = l->own;

	*out = (struct exact_partial){ 0 };
	if (run && run->engine)
		exact_partial(run->engine, out);
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
	.engine = &source_exact,
	.adds_work = true,
	.late = true,
	.prepare = prepare,
	.release = release,
	.signalled = signalled,
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
	unsigned without; /* number of processes, at the last reading */
};

/* Source: src/pmu/exact_events.c, in the order of the classes. */
static int class_of(const struct encoding *e)
{
	return encoding_source(e)->needs_engine && e->attr.config < EXACT_CLASSES
		? (int)e->attr.config
		: -1;
}

static int open_group(struct counters **out, const struct encoding *const *enc, size_t n,
		      const struct target *on, size_t *failed, struct tare_error *err)
{
	struct exact_group *g;

	if (failed)
		*failed = 0;
	if (!on->launched || on->pid != 0 || !on->inherit) {
		tare_fail(
			err, EOPNOTSUPP,
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

/* It counts from the command's first instruction to its last, and cannot be disabled. */
static int no_switch(struct counters *c, struct tare_error *err)
{
	(void)c;
	(void)err;
	return 0;
}

static uint64_t counted_ns(const struct exact_run *run)
{
	return clock_now_ns() - run->begun_ns;
}

static int read_group(struct counters *c, struct tare_reading *out, struct tare_error *err)
{
	struct exact_group *g = (struct exact_group *)c;
	struct exact_partial partial = { 0 };
	int64_t counts[EXACT_CLASSES];
	uint64_t ns;
	int ret;

	if (!g->run->engine)
		return tare_fail(err, ENODATA, "the command has not begun");
	ret = exact_counts(g->run->engine, counts, err);
	if (ret < 0 && ret != -ENODATA)
		return ret;
	if (ret < 0)
		exact_partial(g->run->engine, &partial);
	g->without = partial.n;
	ns = counted_ns(g->run);
	for (size_t i = 0; i < g->n; i++)
		out[i] = (struct tare_reading){ (uint64_t)counts[g->class[i]], ns, ns, TARE_EXACT };
	return 0;
}

/* After reading a list, which reports no errors itself: fails if the counts were lost. */
static int still_counted(const struct exact_group *g, struct tare_error *err)
{
	int64_t counts[EXACT_CLASSES];
	int ret = exact_counts(g->run->engine, counts, err);

	return ret == -ENODATA ? 0 : ret;
}

static int each_process(const struct exact_group *g, uint64_t ns, part_fn *each, void *with,
			struct tare_error *err)
{
	size_t n = exact_processes(g->run->engine, NULL, 0), now;
	struct exact_process *p = calloc(n + 1, sizeof(*p));
	int ret = p ? 0 : tare_fail_nomem(err);

	/* more may have been created meanwhile */
	now = p ? exact_processes(g->run->engine, p, n) : 0;
	if (ret == 0)
		ret = still_counted(g, err);
	for (size_t i = 0; ret == 0 && i < n && i < now; i++) {
		struct tare_reading r[GROUP_MAX];

		for (size_t k = 0; k < g->n; k++)
			r[k] = (struct tare_reading){ (uint64_t)p[i].counts[g->class[k]], ns, ns,
						      TARE_EXACT };
		ret = each(
			with,
			&(struct part){ p[i].serial + 1, p[i].stable_id, p[i].name, p[i].partial },
			r);
	}
	free(p);
	return ret;
}

static int by_serial(const void *a, const void *b)
{
	const struct exact_process *x = a, *y = b;

	return (x->serial > y->serial) - (x->serial < y->serial);
}

/* p: sorted by_serial(). There may be as many processes as threads, and 100,000 of each. */
static const struct exact_process *process_of(const struct exact_process *p, size_t n,
					      uint32_t serial)
{
	static const struct exact_process unknown = { .name = "?" };
	const struct exact_process *found = bsearch(&(struct exact_process){ .serial = serial }, p,
						    n, sizeof(*p), by_serial);

	return found ? found : &unknown;
}

static int each_thread(const struct exact_group *g, uint64_t ns, part_fn *each, void *with,
		       struct tare_error *err)
{
	size_t n = exact_threads(g->run->engine, NULL, 0), now;
	size_t n_processes = exact_processes(g->run->engine, NULL, 0), now_processes;
	struct exact_thread *t = calloc(n + 1, sizeof(*t));
	struct exact_process *p = calloc(n_processes + 1, sizeof(*p));
	int ret = t && p ? 0 : tare_fail_nomem(err);

	now = ret == 0 ? exact_threads(g->run->engine, t, n) : 0;
	now_processes = ret == 0 ? exact_processes(g->run->engine, p, n_processes) : 0;
	if (now_processes < n_processes)
		n_processes = now_processes;
	if (ret == 0)
		ret = still_counted(g, err);
	if (ret == 0)
		qsort(p, n_processes, sizeof(*p), by_serial);
	for (size_t i = 0; ret == 0 && i < n && i < now; i++) {
		const struct exact_process *of = process_of(p, n_processes, t[i].serial);
		struct tare_reading r[GROUP_MAX];

		for (size_t k = 0; k < g->n; k++)
			r[k] = (struct tare_reading){ (uint64_t)t[i].counts[g->class[k]], ns, ns,
						      TARE_EXACT };
		ret = each(with,
			   &(struct part){ t[i].born + 1, t[i].stable_id, of->name, of->partial },
			   r);
	}
	free(t);
	free(p);
	return ret;
}

static int parts(struct counters *c, enum parts by, part_fn *each, void *with,
		 struct tare_error *err)
{
	const struct exact_group *g = (const struct exact_group *)c;
	uint64_t ns = counted_ns(g->run);

	return by == PARTS_PROCESSES ? each_process(g, ns, each, with, err)
				     : each_thread(g, ns, each, with, err);
}

static unsigned without(const struct counters *c)
{
	return ((const struct exact_group *)c)->without;
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
	.exact = true,
	.needs_engine = true,
	.adds_overhead = true,
	.probe = probe,
	.open = open_group,
	.start = no_switch,
	.stop = no_switch,
	.read = read_group,
	.without = without,
	.parts = parts,
	.close = close_group,
};
