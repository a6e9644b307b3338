/* SPDX-License-Identifier: MIT */
/* Windows by the exact engine: each ends exactly at the instruction that completes its count. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "launch/exact_follow.h"
#include "windows/window.h"

struct thread {
	int64_t counts[EXACT_CLASSES];
	uint64_t time_ns; /* 0: not known */
	bool named;
	char name[24]; /* set by the thread; "": the program's name */
};

/* The programs of a process, in order: the first is a copy of its parent's. */
struct program {
	uint32_t since;   /* threads with a `born` from here on belong to it */
	uint64_t time_ns; /* when it began */
	char name[24];
};

struct process {
	struct program *program;
	size_t n, room;
};

struct exact_windows {
	const struct window_plan *plan;
	struct window_sink *to;
	struct tare_error *err;
	struct thread *thread; /* by `born` */
	size_t threads;
	struct process *process; /* by serial */
	size_t processes;
	uint64_t *value;
};

/* Threads are reported later than the next program of their process. NULL: not known. */
static const struct program *program_of(const struct exact_windows *x, const struct exact_sample *s)
{
	const struct process *p = s->serial < x->processes ? &x->process[s->serial] : NULL;
	size_t i = p ? p->n : 0;

	while (i && p->program[i - 1].since > s->born)
		i--;
	return i ? &p->program[i - 1] : NULL;
}

static int name_process(struct exact_windows *x, const struct exact_sample *s)
{
	uint32_t highest = s->serial > s->parent ? s->serial : s->parent;
	struct process *p;
	struct program begun = { .since = s->kind == EXACT_SAMPLE_PROGRAM ? s->born : 0,
				 .time_ns = s->time_ns };

	if (!array_reserve_zeroed(&x->process, &x->processes, highest + 1ull, sizeof(*x->process)))
		return tare_fail_nomem(x->err);
	p = &x->process[s->serial];
	if (s->kind == EXACT_SAMPLE_PROGRAM)
		strncpy(begun.name, s->name, sizeof(begun.name) - 1);
	else if (x->process[s->parent].n)
		memcpy(begun.name, x->process[s->parent].program[x->process[s->parent].n - 1].name,
		       sizeof(begun.name));
	if (!array_reserve(&p->program, &p->room, p->n + 1, sizeof(*p->program)))
		return tare_fail_nomem(x->err);
	p->program[p->n++] = begun;
	return 0;
}

static struct thread *find_thread(struct exact_windows *x, const struct exact_sample *s)
{
	if (!array_reserve_zeroed(&x->thread, &x->threads, s->born + 1ull, sizeof(*x->thread))) {
		tare_fail_nomem(x->err);
		return NULL;
	}
	return &x->thread[s->born];
}

static int tell_thread(struct exact_windows *x, const struct exact_sample *s, struct thread *t)
{
	const struct program *program = program_of(x, s);
	const struct window_thread told = { s->born, (uint32_t)s->pid, (uint32_t)s->tid,
					    t->name[0]        ? t->name
						    : program ? program->name
							      : "" };

	t->named = true;
	return x->to->thread(x->to, &told, x->err);
}

static int name_thread(struct exact_windows *x, const struct exact_sample *s)
{
	struct thread *t = find_thread(x, s);

	if (!t)
		return -ENOMEM;
	strncpy(t->name, s->name, sizeof(t->name) - 1);
	return t->named ? tell_thread(x, s, t) : 0;
}

static int put_window(struct exact_windows *x, const struct exact_sample *s)
{
	struct thread *t = find_thread(x, s);
	const struct encoding_list *events = x->plan->events;
	struct window w = { .thread = s->born,
			    .time_ns = s->time_ns,
			    .cpu = -1,
			    .rest = s->kind == EXACT_SAMPLE_END,
			    .value = x->value };
	bool any = false;
	int ret;

	if (!t)
		return -ENOMEM;
	/* a process's first thread begins with it; the begin of other threads is not reported */
	if (!t->time_ns && s->tid == s->pid && program_of(x, s))
		t->time_ns = program_of(x, s)->time_ns;
	if (!s->counts)
		return tare_fail(x->err, EIO, "the exact engine gave a sample without counts");
	if (s->counts[EXACT_INSTRUCTIONS] < t->counts[EXACT_INSTRUCTIONS])
		return tare_fail(
			x->err, EIO,
			"the exact engine gave a thread fewer instructions than before: its memory was overwritten");
	for (size_t i = 0; i < events->n; i++) {
		enum exact_class c = exact_class_of(&events->enc[i]);

		x->value[i] = (uint64_t)s->counts[c] - (uint64_t)t->counts[c];
		any |= x->value[i] > 0;
	}
	w.begin = (uint64_t)t->counts[exact_class_of(&events->enc[0])];
	w.wall_ns = t->time_ns && s->time_ns > t->time_ns ? s->time_ns - t->time_ns : 0;
	memcpy(t->counts, s->counts, sizeof(t->counts));
	t->time_ns = s->time_ns;
	if (w.rest && !any)
		return 0;
	ret = t->named ? 0 : tell_thread(x, s, t);
	return ret < 0 ? ret : x->to->window(x->to, &w, x->err);
}

static int take_sample(void *with, const struct exact_sample *s)
{
	switch (s->kind) {
	case EXACT_SAMPLE_PROGRAM:
	case EXACT_SAMPLE_FORK:
		return name_process(with, s);
	case EXACT_SAMPLE_NAME:
		return name_thread(with, s);
	case EXACT_SAMPLE:
	case EXACT_SAMPLE_END:
		return put_window(with, s);
	default:
		return 0;
	}
}

int window_exact(const struct window_plan *plan, struct window_sink *to, struct window_end *end,
		 struct tare_error *err)
{
	struct exact_windows x = { .plan = plan,
				   .to = to,
				   .err = err,
				   .value = calloc(plan->events->n + 1, sizeof(uint64_t)) };
	const struct count_target everywhere = { .inherit = true };
	const struct exact_follow how = {
		.who = { .root = plan->root,
			 .argv = plan->argv,
			 .launcher = &launch_exact,
			 .envp = plan->envp,
			 .fixed = plan->fixed,
			 .target = &everywhere },
		.every = { .n = plan->every,
			   .class = exact_class_of(&plan->events->enc[0]),
			   .counts = true },
		.timeout_ns = plan->timeout_ns,
		.each = take_sample,
		.with = &x,
		.goes_on = true,
	};
	struct exact_followed f = { .began = false };
	int ret = x.value ? exact_follow(&how, &f, err) : tare_fail_nomem(err);

	*end = (struct window_end){ .has_status = f.has_status,
				    .timed_out = f.timed_out,
				    .began = f.began,
				    .never_began = f.never_began,
				    .wait_status = f.wait_status,
				    .by_signal = f.by_signal,
				    .exec_code = f.exec_code,
				    .wall_ns = f.wall_ns };
	memcpy(end->uncounted, f.uncounted, sizeof(end->uncounted));
	end->partial = f.partial;
	for (size_t i = 0; i < x.processes; i++)
		free(x.process[i].program);
	free(x.thread);
	free(x.process);
	free(x.value);
	return ret;
}
