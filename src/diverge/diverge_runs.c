/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "base/array.h"
#include "base/signal_name.h"
#include "diverge/diverge_runs.h"
#include "launch/exact_follow.h"
#include "launch/output_hash.h"

enum {
	TRACKS_BYTES = 1 << 30, /* checkpoints in total */
};

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

/* The position, the path to it, and the count of each class. */
static uint64_t hash_of(const struct exact_sample *s)
{
	uint64_t h = mix(s->pc, s->way);

	for (int c = 0; s->counts && c < EXACT_CLASSES; c++)
		h = mix(h, (uint64_t)s->counts[c]);
	return h;
}

enum { STABLE_ID_BYTES = sizeof(uint64_t) };

void diverge_tracks_free(struct pass *p)
{
	const struct track *t = p->tracks.item;

	for (size_t i = 0; i < p->tracks.n; i++)
		free(t[i].mark);
	set_free(&p->tracks);
	p->tracks = (struct set){ 0 };
	p->bytes = 0;
}

const struct track *diverge_track(const struct pass *p, uint64_t stable_id)
{
	static const struct track none;
	uint32_t i = set_find(&p->tracks, &stable_id, sizeof(none), STABLE_ID_BYTES);

	return i == SET_NONE ? &none : (const struct track *)p->tracks.item + i;
}

static int too_many(struct pass *p)
{
	return tare_fail(p->err, ENOMEM, "too many checkpoints: --every must be larger");
}

static struct track *track_of(struct pass *p, const struct exact_sample *s)
{
	const struct track new = { .stable_id = s->stable_id, .born = s->born };
	struct track *t;
	bool fresh = false;
	uint32_t i;

	if (p->bytes > TRACKS_BYTES) {
		too_many(p);
		return NULL;
	}
	i = set_add(&p->tracks, &new, sizeof(new), STABLE_ID_BYTES, &fresh);
	if (i == SET_NONE) {
		tare_fail_nomem(p->err);
		return NULL;
	}
	p->bytes += fresh ? sizeof(new) : 0;
	t = (struct track *)p->tracks.item + i;
	if (t->born == s->born)
		return t;
	tare_fail(p->err, EIO, "threads %u and %u of a run cannot be distinguished", t->born + 1,
		  s->born + 1);
	return NULL;
}

static int keep_thread(struct pass *p, const struct exact_sample *s, int64_t instructions)
{
	struct diverge_run *r = p->run;

	if (!array_reserve(&r->thread, &r->ended_room, r->ended + 1, sizeof(*r->thread)))
		return tare_fail_nomem(p->err);
	r->thread[r->ended++] = (struct diverge_thread){ s->stable_id, s->serial, s->born,
							 s->pid,       s->tid,    instructions };
	return 0;
}

static int keep_mark(struct pass *p, const struct exact_sample *s)
{
	struct track *t = track_of(p, s);
	struct mark mark = { hash_of(s), s->time_ns,
			     s->counts ? s->counts[EXACT_INSTRUCTIONS] : s->count };
	size_t before;

	if (!t)
		return -p->err->code;
	if (s->kind == EXACT_SAMPLE_END) {
		t->ended = true;
		t->end = mark;
		p->run->instructions += mark.count;
		p->run->threads++;
		return keep_thread(p, s, mark.count);
	}
	before = t->room;
	if (!array_reserve(&t->mark, &t->room, t->n + 1, sizeof(*t->mark)))
		return too_many(p);
	p->bytes += (t->room - before) * sizeof(*t->mark);
	if (p->bytes > TRACKS_BYTES)
		return too_many(p);
	t->mark[t->n++] = mark;
	return 0;
}

static struct diverge_step step_of(const struct exact_sample *s)
{
	struct diverge_step step = { .number = s->count, .pc = s->pc };

	memcpy(step.regs, s->registers, sizeof(step.regs));
	return step;
}

/* The array was allocated at its full size. */
static void keep_step(struct pass *p, const struct exact_sample *s)
{
	struct diverge_run *r = p->run;

	r->until_ns = s->time_ns;
	if (r->n == DIVERGE_STEPS_MOST)
		return;
	if (p->peeks && s->peek) {
		memcpy(r->held + r->n * p->peeks, s->peek, p->peeks * sizeof(*r->held));
		r->fs_base = s->fs_base;
		r->rseq = s->rseq;
	}
	if (!r->n)
		r->way = s->way;
	r->step[r->n++] = step_of(s);
}

static int keep_happening(struct pass *p, const struct exact_sample *s)
{
	struct diverge_run *r = p->run;
	const char *path = s->kind == EXACT_SAMPLE_MAPPING ? s->path : s->name;

	if (!array_reserve(&r->happening, &r->happenings_room, r->happenings + 1,
			   sizeof(*r->happening)))
		return tare_fail_nomem(p->err);
	r->happening[r->happenings] = (struct diverge_happening){ .kind = s->kind,
								  .serial = s->serial,
								  .parent = s->parent,
								  .start = s->start,
								  .end = s->end,
								  .offset = s->offset,
								  .time_ns = s->time_ns,
								  .module = s->module,
								  .data = s->data,
								  .shared = s->shared_inode != 0,
								  .path = path ? strdup(path)
									       : NULL };
	r->happenings++;
	return 0;
}

static int keep_stack(struct pass *p, const struct exact_sample *s)
{
	struct diverge_run *r = p->run;

	free(r->stack);
	r->stack = malloc(s->n_stack + 1);
	if (!r->stack)
		return tare_fail_nomem(p->err);
	memcpy(r->stack, s->stack, s->n_stack);
	r->n_stack = s->n_stack;
	r->stack_pc = s->pc;
	memcpy(r->stack_regs, s->registers, sizeof(r->stack_regs));
	return 0;
}

static void keep_history(struct history *h, const struct exact_sample *s)
{
	uint64_t value = s->peek[0] & h->mask;

	if (!h->n++)
		h->first = value;
	else if (value != h->last) {
		h->any = true;
		h->before = h->now;
		h->behind = step_of(s);
	}
	h->last = value;
	h->now = step_of(s);
}

static int hear(void *with, const struct exact_sample *s)
{
	struct pass *p = with;
	struct diverge_run *r = p->run;

	if (s->kind == EXACT_SAMPLE_END)
		return keep_mark(p, s);
	if (s->kind == EXACT_SAMPLE_NAME || s->kind == EXACT_SAMPLE_SETTLED)
		return 0;
	if (s->kind != EXACT_SAMPLE)
		return p->steps || p->stack ? keep_happening(p, s) : 0;
	if (p->history) {
		keep_history(p->history, s);
		return 0;
	}
	if (!p->steps && !p->stack)
		return keep_mark(p, s);
	if (s->stable_id != p->stable_id)
		return 0;
	r->serial = s->serial;
	r->pid = s->pid;
	r->tid = s->tid;
	if (p->stack && !r->stack && keep_stack(p, s) < 0)
		return -p->err->code;
	if (p->steps)
		keep_step(p, s);
	return 0;
}

static void forget(struct diverge_run *r)
{
	for (size_t i = 0; i < r->happenings; i++)
		free(r->happening[i].path);
	r->happenings = 0;
	r->n = r->ended = 0;
	r->instructions = 0;
	r->threads = 0;
}

void diverge_run_free(struct diverge_run *r)
{
	forget(r);
	free(r->step);
	free(r->happening);
	free(r->thread);
	free(r->stack);
	free(r->held);
	*r = (struct diverge_run){ 0 };
}

int diverge_run_one(struct diverge_plan *plan, struct divergence *d, struct pass *p,
		    const struct exact_every *every, unsigned nth)
{
	const struct count_target target = { .inherit = true };
	struct exact_follow how = {
		.who = { .argv = plan->argv,
			 .launcher = &launch_exact,
			 .envp = plan->envp,
			 .fixed = plan->fixed,
			 .target = &target },
		.every = *every,
		.mappings = p->steps || p->stack,
		.timeout_ns = plan->timeout_ns,
		.each = hear,
		.with = p,
	};
	struct exact_followed end;
	struct output_hash hidden;
	char by[SIGNAL_NAME_ROOM];
	int ret = plan->input ? stdin_replay_again(plan->input, p->err) : 0;

	d->runs++;
	if (plan->progress)
		plan->progress(plan->with, d->pairs + 1, nth);
	if (ret == 0)
		ret = output_hash_begin(&hidden, p->err);
	if (ret < 0)
		return ret;
	ret = exact_follow(&how, &end, p->err);
	p->run->output = output_hash_end(&hidden);
	p->run->wait_status = end.wait_status;
	plan->exec_code = end.exec_code;
	if (end.uncounted[0])
		memcpy(d->uncounted, end.uncounted, sizeof(d->uncounted));
	plan->by_signal = end.by_signal;
	if (ret == 0 && end.by_signal)
		ret = tare_fail(p->err, EINTR, "stopped by %s", signal_name(end.by_signal, by));
	if (ret == 0 && end.timed_out)
		ret = tare_fail(p->err, ETIMEDOUT, "a run did not end within --timeout");
	if (ret == 0 && end.never_began)
		ret = tare_fail(
			p->err, ENODATA,
			"a run was ended by %s before its first instruction: there is nothing to compare",
			signal_name(WTERMSIG(end.wait_status), by));
	return ret;
}

static int make_room(struct diverge_run *r, unsigned peeks, struct tare_error *err)
{
	if (!r->step)
		r->step = malloc(DIVERGE_STEPS_MOST * sizeof(*r->step));
	if (peeks && !r->held)
		r->held = malloc(DIVERGE_STEPS_MOST * peeks * sizeof(*r->held));
	return r->step && (!peeks || r->held) ? 0 : tare_fail_nomem(err);
}

int diverge_run_of_pair(struct diverge_plan *plan, struct divergence *d, struct pass p[2],
			unsigned i, const struct exact_every *every, struct tare_error *err)
{
	struct diverge_run *r = &d->run[i];
	int ret;

	diverge_tracks_free(&p[i]);
	p[i].run = r;
	p[i].err = err;
	p[i].stable_id = d->stable_id;
	forget(r);
	ret = p[i].steps ? make_room(r, p[i].peeks, err) : 0;
	if (ret == 0)
		ret = diverge_run_one(plan, d, &p[i], every, i);
	if (ret < 0)
		return ret;
	if (!d->shortest || r->instructions < d->shortest) {
		d->shortest = r->instructions;
		d->shortest_run = d->runs;
	}
	if (r->instructions > d->longest) {
		d->longest = r->instructions;
		d->longest_run = d->runs;
	}
	return ret;
}

int diverge_run_until(struct diverge_plan *plan, struct divergence *d, struct pass p[2],
		      const struct exact_every *every, unsigned tries, parted_fn *parted,
		      struct tare_error *err)
{
	int ret = diverge_run_of_pair(plan, d, p, 0, every, err);

	for (unsigned i = 0; ret == 0 && i < tries; i++) {
		ret = diverge_run_of_pair(plan, d, p, 1, every, err);
		if (ret < 0)
			break;
		d->pairs++;
		d->output_differs |= d->run[0].output != d->run[1].output;
		d->end_differs |= d->run[0].wait_status != d->run[1].wait_status;
		ret = parted(p, every, d);
	}
	diverge_tracks_free(&p[0]);
	diverge_tracks_free(&p[1]);
	return ret;
}
