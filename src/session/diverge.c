/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "session/diverge.h"
#include "session/exact_follow.h"
#include "session/hidden.h"

enum {
	EVERY_USUAL = 1 << 16,
	CLOSE = 1 << 16,  /* an interval that is looked at instruction by instruction */
	NARROW = 1024,	  /* one pass divides a larger one by so much */
	BEFORE = 1 << 18, /* instructions before the place, looked at one by one for its cause */
	BEHIND = 8,
	STACK_BYTES = 65528,
	THREADS_MOST = 1 << 20,
	TRACKS_BYTES = 1 << 30, /* of checkpoints, in all */
	CALLS_MOST = 1 << 20,
	TRIES = 4, /* to find a place that moves */
};

/* One checkpoint: what the thread had executed, and when. */
struct mark {
	uint64_t hash, time_ns;
};

struct track {
	struct mark *mark;
	size_t n, room;
	bool ended;
	struct mark end;
	int64_t count; /* instructions, at its end */
};

/* What one run is listened to for. */
struct pass {
	struct diverge_run *run;
	struct track *track; /* by the thread's number */
	size_t tracks, bytes;
	bool steps, calls, stack;
	uint32_t born; /* of the thread whose steps are kept */
	struct tare_error *err;
};

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

/* Where it is, and how much of each class it took to come there: two ways that differ do not come to the same. */
static uint64_t hash_of(const struct exact_sample *s)
{
	uint64_t h = s->pc;

	for (int c = 0; s->counts && c < EXACT_CLASSES; c++)
		h = mix(h, (uint64_t)s->counts[c]);
	return h;
}

static void free_tracks(struct pass *p)
{
	for (size_t i = 0; i < p->tracks; i++)
		free(p->track[i].mark);
	free(p->track);
	p->track = NULL;
	p->tracks = p->bytes = 0;
}

static struct track *track_of(struct pass *p, uint32_t born)
{
	if (born >= THREADS_MOST) {
		tare_fail(p->err, E2BIG, "more than %d threads", THREADS_MOST);
		return NULL;
	}
	if (born >= p->tracks) {
		size_t n = born + 64 + born / 2;
		struct track *more = realloc(p->track, n * sizeof(*more));

		if (!more) {
			tare_fail_nomem(p->err);
			return NULL;
		}
		memset(more + p->tracks, 0, (n - p->tracks) * sizeof(*more));
		p->track = more;
		p->tracks = n;
	}
	return &p->track[born];
}

static int keep_mark(struct pass *p, const struct exact_sample *s)
{
	struct track *t = track_of(p, s->born);
	struct mark mark = { hash_of(s), s->time_ns };

	if (!t)
		return -p->err->code;
	if (s->kind == EXACT_SAMPLE_END) {
		t->ended = true;
		t->end = mark;
		t->count = s->count;
		p->run->instructions += s->count;
		p->run->threads++;
		return 0;
	}
	if (t->n == t->room) {
		size_t room = t->room ? 2 * t->room : 16;
		struct mark *more = NULL;

		p->bytes += (room - t->room) * sizeof(*more);
		if (p->bytes <= TRACKS_BYTES)
			more = realloc(t->mark, room * sizeof(*more));
		if (!more)
			return tare_fail(p->err, ENOMEM, "too many checkpoints: --every must be larger");
		t->mark = more;
		t->room = room;
	}
	t->mark[t->n++] = mark;
	return 0;
}

static int keep_step(struct diverge_step **list, size_t *n, size_t *room, const struct exact_sample *s, struct tare_error *err)
{
	if (*n == *room) {
		size_t more_room = *room ? 2 * *room : 1024;
		struct diverge_step *more = realloc(*list, more_room * sizeof(*more));

		if (!more)
			return tare_fail_nomem(err);
		*list = more;
		*room = more_room;
	}
	(*list)[*n].number = s->counts ? s->counts[EXACT_INSTRUCTIONS] : s->count;
	(*list)[*n].pc = s->pc;
	memcpy((*list)[*n].regs, s->registers, sizeof((*list)[*n].regs));
	++*n;
	return 0;
}

static int keep_happening(struct pass *p, const struct exact_sample *s)
{
	struct diverge_run *r = p->run;
	const char *path = s->kind == EXACT_SAMPLE_MAPPING ? s->path : s->name;

	if (r->happenings == r->happenings_room) {
		size_t room = r->happenings_room ? 2 * r->happenings_room : 64;
		struct diverge_happening *more = realloc(r->happening, room * sizeof(*more));

		if (!more)
			return tare_fail_nomem(p->err);
		r->happening = more;
		r->happenings_room = room;
	}
	r->happening[r->happenings] = (struct diverge_happening){ .kind = s->kind,
								  .serial = s->serial,
								  .parent = s->parent,
								  .start = s->start,
								  .end = s->end,
								  .offset = s->offset,
								  .time_ns = s->time_ns,
								  .module = s->module,
								  .path = path ? strdup(path) : NULL };
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

static int hear(void *with, const struct exact_sample *s)
{
	struct pass *p = with;
	struct diverge_run *r = p->run;
	size_t room = r->n;

	if (s->kind == EXACT_SAMPLE_END)
		return keep_mark(p, s);
	if (s->kind != EXACT_SAMPLE)
		return p->steps || p->stack ? keep_happening(p, s) : 0;
	if (!p->steps && !p->calls && !p->stack)
		return keep_mark(p, s);
	if (s->born != p->born)
		return 0;
	r->serial = s->serial;
	r->pid = s->pid;
	if (p->stack)
		return keep_stack(p, s);
	if (p->calls)
		return r->calls < CALLS_MOST ? keep_step(&r->call, &r->calls, &r->calls_room, s, p->err) : 0;
	r->until_ns = s->time_ns;
	/* its room was made for all of them at once */
	return room < BEFORE + CLOSE + BEHIND + 8 ? keep_step(&r->step, &r->n, &(size_t){ BEFORE + CLOSE + BEHIND + 8 }, s, p->err)
						   : 0;
}

static void forget(struct diverge_run *r)
{
	for (size_t i = 0; i < r->happenings; i++)
		free(r->happening[i].path);
	r->happenings = 0;
	r->n = r->calls = 0;
	r->instructions = 0;
	r->threads = 0;
}

static int run_one(struct diverge_plan *plan, struct pass *p, const struct exact_every *every, unsigned pair, unsigned nth)
{
	const struct where where = { .inherit = true };
	struct exact_follow how = {
		.who = { .argv = plan->argv, .launcher = &launch_exact, .envp = plan->envp, .fixed = plan->fixed, .where = &where },
		.every = *every,
		.mappings = p->steps || p->stack,
		.timeout_ns = plan->timeout_ns,
		.each = hear,
		.with = p,
	};
	struct exact_followed end;
	struct hidden hidden;
	int ret;

	if (plan->progress)
		plan->progress(plan->with, pair, nth);
	ret = hidden_begin(&hidden, p->err);
	if (ret < 0)
		return ret;
	ret = exact_follow(&how, &end, p->err);
	p->run->output = hidden_end(&hidden);
	p->run->wait_status = end.wait_status;
	plan->exec_code = end.exec_code;
	if (ret == 0 && end.by_signal)
		ret = tare_fail(p->err, EINTR, "stopped by signal %d", end.by_signal);
	if (ret == 0 && end.timed_out)
		ret = tare_fail(p->err, ETIMEDOUT, "a run did not end within --timeout");
	return ret;
}

/* Two runs, listened to by p[0] and p[1]. */
static int run_pair(struct diverge_plan *plan, struct divergence *d, struct pass p[2], const struct exact_every *every,
		    struct tare_error *err)
{
	int ret = 0;

	d->pairs++;
	for (unsigned i = 0; ret == 0 && i < 2; i++) {
		struct diverge_run *r = &d->run[i];

		p[i].run = r;
		p[i].err = err;
		p[i].born = d->born;
		if (!p[i].calls && !p[i].stack)
			forget(r);
		if (p[i].steps && !r->step) {
			r->step = malloc((BEFORE + CLOSE + BEHIND + 8) * sizeof(*r->step));
			if (!r->step)
				return tare_fail_nomem(err);
		}
		ret = run_one(plan, &p[i], every, d->pairs, i);
		if (ret == 0 && (!d->shortest || r->instructions < d->shortest))
			d->shortest = r->instructions;
		if (ret == 0 && r->instructions > d->longest)
			d->longest = r->instructions;
	}
	if (ret == 0) {
		d->output_differs |= d->run[0].output != d->run[1].output;
		d->end_differs |= d->run[0].wait_status != d->run[1].wait_status;
	}
	return ret;
}

/* ---- comparing ---- */

/* The first checkpoint of the two that differs: `n` when only their ends do; SIZE_MAX: nothing differs. */
static size_t parted(const struct track *a, const struct track *b)
{
	size_t n = a->n < b->n ? a->n : b->n, i = 0;

	while (i < n && a->mark[i].hash == b->mark[i].hash)
		i++;
	if (i < n || a->n != b->n)
		return i;
	return a->ended == b->ended && a->end.hash == b->end.hash ? SIZE_MAX : i;
}

static uint64_t time_of(const struct track *t, size_t i)
{
	return i < t->n ? t->mark[i].time_ns : t->ended ? t->end.time_ns : UINT64_MAX - 1;
}

/* The thread that parts first, and between which of its instructions; false: none does. */
static bool first_parted(const struct pass p[2], uint64_t every, struct divergence *d)
{
	static const struct track none;
	size_t n = p[0].tracks > p[1].tracks ? p[0].tracks : p[1].tracks;
	uint64_t best = UINT64_MAX;

	for (size_t i = 0; i < n; i++) {
		const struct track *a = i < p[0].tracks ? &p[0].track[i] : &none, *b = i < p[1].tracks ? &p[1].track[i] : &none;
		size_t at = parted(a, b);
		uint64_t when = at == SIZE_MAX ? UINT64_MAX : time_of(a, at);

		if (when >= best)
			continue;
		best = when;
		d->born = (uint32_t)i;
		d->low = (int64_t)(at * every);
		d->high = d->low + (int64_t)every;
	}
	return best != UINT64_MAX;
}

/*
 * Look between d->low and d->high, every `n` instructions. 1: they part there, and low and high are closer; 0: not here, this
 * time.
 */
static int narrow(struct diverge_plan *plan, struct divergence *d, uint64_t n, struct tare_error *err)
{
	int64_t low = d->low > 0 ? d->low : 1;
	struct exact_every every = { .n = n, .first = (uint64_t)low, .most = (uint64_t)(d->high - low) / n + 2, .counts = true,
				     .only = d->born + 1 };
	struct pass p[2] = { { 0 } };
	int ret = run_pair(plan, d, p, &every, err);

	if (ret == 0 && d->born < p[0].tracks && d->born < p[1].tracks) {
		size_t at = parted(&p[0].track[d->born], &p[1].track[d->born]);
		bool at_once = at == 0 && d->low > 0; /* before the interval, then */

		if (at != SIZE_MAX && !at_once) {
			d->low = at ? low + (int64_t)((at - 1) * n) : 0;
			d->high = low + (int64_t)(at * n);
			ret = 1;
		}
	}
	free_tracks(&p[0]);
	free_tracks(&p[1]);
	return ret;
}

static bool same_way(const struct diverge_step *a, const struct diverge_step *b)
{
	return a->pc == b->pc;
}

/* Instruction by instruction, from well before the place. 1: found; 0: not here, this time. */
static int look_closely(struct diverge_plan *plan, struct divergence *d, struct tare_error *err)
{
	int64_t first = d->low > BEFORE ? d->low - BEFORE : 1;
	struct exact_every every = { .n = 1, .first = (uint64_t)first, .most = (uint64_t)(d->high - first) + BEHIND + 1, .registers = true,
				     .only = d->born + 1 };
	struct pass p[2] = { { .steps = true }, { .steps = true } };
	const struct diverge_run *a = &d->run[0], *b = &d->run[1];
	size_t n, i = 0;
	int ret = run_pair(plan, d, p, &every, err);

	free_tracks(&p[0]);
	free_tracks(&p[1]);
	if (ret < 0)
		return ret;
	n = a->n < b->n ? a->n : b->n;
	while (i < n && same_way(&a->step[i], &b->step[i]))
		i++;
	d->ended = i == n && a->n != b->n;
	if (i == 0 || (i == n && !d->ended))
		return 0;
	d->first = first;
	d->at = i - 1;
	d->low = first + (int64_t)d->at;
	d->high = d->low + 1;
	return 1;
}

/*
 * The stack at the first step, where runs still are alike from pair to pair: the callers from before. Without it there are
 * fewer to tell, and that is all.
 */
static int take_stacks(struct diverge_plan *plan, struct divergence *d, struct tare_error *err)
{
	struct exact_every every = { .n = 1, .first = (uint64_t)d->first, .most = 1, .registers = true, .stack = STACK_BYTES,
				     .only = d->born + 1 };
	struct pass p[2] = { { .stack = true }, { .stack = true } };
	int ret = 0;

	for (unsigned i = 0; ret == 0 && i < 2; i++) {
		struct diverge_run other = { 0 };

		p[i].run = &other;
		p[i].err = err;
		p[i].born = d->born;
		ret = run_one(plan, &p[i], &every, d->pairs + 1, i);
		free_tracks(&p[i]);
		if (ret == 0 && other.stack_pc == d->run[i].step[0].pc) {
			d->run[i].stack = other.stack;
			d->run[i].n_stack = other.n_stack;
			d->run[i].stack_pc = other.stack_pc;
			memcpy(d->run[i].stack_regs, other.stack_regs, sizeof(other.stack_regs));
			other.stack = NULL;
		}
		forget(&other);
		free(other.happening);
		free(other.stack);
	}
	d->pairs++;
	return ret;
}

static int search_once(struct diverge_plan *plan, struct divergence *d, struct tare_error *err)
{
	uint64_t n = plan->every ? plan->every : EVERY_USUAL;
	struct pass p[2] = { { 0 } };
	struct exact_every every = { .n = n, .counts = true };
	int ret = run_pair(plan, d, p, &every, err);
	bool any = ret == 0 && first_parted(p, n, d);

	free_tracks(&p[0]);
	free_tracks(&p[1]);
	if (ret < 0)
		return ret;
	if (!any) {
		d->verdict = DIVERGE_SAME; /* this time */
		return 1;
	}
	for (ret = 1; ret == 1 && n > CLOSE;) {
		n = n / NARROW ? n / NARROW : 1;
		ret = narrow(plan, d, n, err);
	}
	if (ret == 1)
		ret = look_closely(plan, d, err);
	if (ret == 1)
		d->verdict = DIVERGE_PARTED;
	return ret;
}

int diverge_search(struct diverge_plan *plan, struct divergence *out, struct tare_error *err)
{
	int ret = 0;

	*out = (struct divergence){ .verdict = DIVERGE_MOVES };
	for (int i = 0; ret == 0 && i < TRIES; i++)
		ret = search_once(plan, out, err);
	if (ret == 1 && out->verdict == DIVERGE_SAME && out->pairs > 1)
		out->verdict = DIVERGE_SETTLED;
	if (ret == 1 && out->verdict == DIVERGE_PARTED && out->first > 1)
		ret = take_stacks(plan, out, err);
	return ret < 0 ? ret : 0;
}

int diverge_calls(struct diverge_plan *plan, struct divergence *d, struct tare_error *err)
{
	struct exact_every every = { .n = 1, .class = EXACT_SYSCALLS, .registers = true, .counts = true, .only = d->born + 1 };
	struct pass p[2] = { { .calls = true }, { .calls = true } };
	int ret = 0;

	for (unsigned i = 0; ret == 0 && i < 2; i++) {
		p[i].run = &d->run[i];
		p[i].err = err;
		p[i].born = d->born;
		d->run[i].calls = 0;
		ret = run_one(plan, &p[i], &every, d->pairs + 1, i);
		free_tracks(&p[i]);
	}
	d->pairs++;
	return ret;
}

void diverge_free(struct divergence *d)
{
	for (unsigned i = 0; i < 2; i++) {
		struct diverge_run *r = &d->run[i];

		forget(r);
		free(r->step);
		free(r->happening);
		free(r->stack);
		free(r->call);
	}
	*d = (struct divergence){ 0 };
}
