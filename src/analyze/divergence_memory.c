/* SPDX-License-Identifier: MIT */
/*
 * Who wrote the memory in which two runs differ. It is not concluded but looked at: the runs are made once more, and the places
 * that may matter are read before each instruction. One that holds the same in both when it is read is no cause. Where one
 * begins to differ there is an instruction, and either that writes it, or the call that it is does, or somebody else did
 * meanwhile.
 */
#include <stdio.h>
#include <string.h>
#include "analyze/divergence_memory.h"

enum { PAIRS_MOST = 4 };
enum { RSEQ_BYTES = 32 }; /* that the kernel writes to. Source: linux/rseq.h, struct rseq */

struct search {
	struct memory_cause *out;
	const struct divergence *d;
	const struct cause_place *place;
	code_at_fn *code;
	void *with;
	uint64_t absolute;
	const struct diverge_happening *in; /* its mapping, or NULL */
};

static uint64_t low_bytes(uint64_t value, unsigned size)
{
	return size < 8 ? value & ((1ull << 8 * size) - 1) : value;
}

/* What a watched place held before step i. */
static uint64_t held(const struct divergence *d, unsigned run, unsigned watched, size_t i, unsigned size)
{
	return low_bytes(d->run[run].held[i * d->n_watched + watched], size);
}

static int watched_as(const struct divergence *d, const struct cause_place *p)
{
	for (unsigned i = 0; i < d->n_watched; i++)
		if (d->watched[i].address == p->address && d->watched[i].fs == p->fs)
			return (int)i;
	return -1;
}

/* What was told to be mapped there last; of the process itself if it was told, else of one that it was copied from. */
static const struct diverge_happening *mapping_at(const struct diverge_run *run, uint64_t address)
{
	const struct diverge_happening *found = NULL;

	for (size_t i = 0; i < run->happenings; i++) {
		const struct diverge_happening *h = &run->happening[i];

		if (h->kind == EXACT_SAMPLE_MAPPING && h->data && address >= h->start && address < h->end &&
		    (!found || h->serial == run->serial || found->serial != run->serial))
			found = h;
	}
	return found;
}

static bool is_file(const struct diverge_happening *h)
{
	return h && h->path && h->path[0] == '/' && strncmp(h->path, "/dev/zero", 9) && strncmp(h->path, "/memfd:", 7) &&
	       strncmp(h->path, "/SYSV", 5) && strncmp(h->path, "/dev/shm/", 9);
}

static bool may_be_shared(const struct diverge_happening *h)
{
	return h && h->path && h->path[0] == '/';
}

bool has_threads(const struct diverge_run *run)
{
	for (size_t i = 0; i < run->ended; i++)
		if (run->thread[i].serial == run->serial && run->thread[i].tid != run->tid)
			return true;
	return false;
}

bool is_thread_id(const struct divergence *d, const uint64_t value[2])
{
	for (unsigned r = 0; r < 2; r++)
		for (size_t i = 0; i < d->run[r].ended; i++)
			if (value[!r] == 0 && value[r] && value[r] == (uint64_t)d->run[r].thread[i].tid)
				return true;
	return false;
}

/* Nothing that the thread did wrote it. */
static void by_somebody(struct search *s)
{
	const struct diverge_run *run = &s->d->run[0];

	if (has_threads(run) && is_thread_id(s->d, s->out->value))
		s->out->kind = CAUSE_THREAD_END;
	else if (has_threads(run))
		s->out->kind = CAUSE_THREADS;
	else if (may_be_shared(s->in))
		s->out->kind = CAUSE_PROCESS;
	else
		s->out->kind = CAUSE_MEMORY;
}

/* It changed when `step` was executed. */
static void by_step(struct search *s, const struct diverge_step *step)
{
	int nr = (int)step->regs[0];

	if (s->d->run[0].rseq && s->absolute - s->d->run[0].rseq < RSEQ_BYTES) {
		s->out->kind = CAUSE_RSEQ;
		return;
	}
	s->out->from = step->pc;
	s->out->number = step->number;
	switch (cause_writer(step, s->place, s->absolute, s->code, s->with)) {
	case WRITER_STORE:
		s->out->kind = CAUSE_STORED;
		return;
	case WRITER_CALL:
		s->out->call = nr;
		if (nr == 9 && is_file(s->in)) /* mmap */
			s->out->kind = CAUSE_FILE;
		else if (call_writes(step->regs, s->absolute) || (call_may_write(nr) && !has_threads(&s->d->run[0]) && !may_be_shared(s->in)))
			s->out->kind = CAUSE_WRITTEN;
		else if (call_may_write(nr) && call_has_row(nr)) /* others might have, too, but it is the one that is for it */
			s->out->kind = CAUSE_WRITTEN;
		else
			break;
		return;
	default:
		break;
	}
	s->out->from = 0;
	by_somebody(s);
}

/* The last step before `at` up to which both hold the same there; false: they never did. */
static bool last_alike(const struct divergence *d, unsigned watched, size_t at, unsigned size, size_t *out)
{
	for (size_t i = at; i-- > 0;)
		if (held(d, 0, watched, i, size) == held(d, 1, watched, i, size)) {
			*out = i;
			return true;
		}
	return false;
}

static int by_history(struct search *s, unsigned watched, struct divergence *d, struct diverge_plan *plan, struct tare_error *err)
{
	struct diverge_written w;
	int ret;

	if (d->first == 1) {
		bool own_stack = d->run[0].tid == d->run[0].pid;

		s->out->kind = own_stack ? CAUSE_START : CAUSE_THREADS;
		return 0;
	}
	ret = diverge_history(plan, d, &d->watched[watched], s->place->size, &w, err);
	if (ret < 0)
		return ret;
	if (w.found)
		by_step(s, &w.step);
	else
		s->out->kind = !w.at_start ? CAUSE_MEMORY : d->run[0].tid == d->run[0].pid ? CAUSE_START : CAUSE_THREADS;
	return 0;
}

static int judge(struct search *s, unsigned watched, struct divergence *d, struct diverge_plan *plan, struct tare_error *err)
{
	const struct cause_place *p = s->place;
	size_t step;

	s->out->address = s->absolute = p->fs ? d->run[0].fs_base + p->address : p->address;
	for (unsigned r = 0; r < 2; r++)
		s->out->value[r] = held(d, r, watched, p->at, p->size);
	s->in = mapping_at(&d->run[0], s->absolute);
	s->out->file = is_file(s->in) ? s->in->path : NULL;
	if (!last_alike(d, watched, p->at, p->size, &step))
		return by_history(s, watched, d, plan, err);
	by_step(s, &d->run[0].step[step]);
	if (s->out->kind == CAUSE_STORED) { /* from what is the same in both: so somebody else wrote it at the same time */
		s->out->from = 0;
		by_somebody(s);
	}
	return 0;
}

/* The places of `c` beside those that were watched; how many. */
static unsigned to_watch(const struct divergence *d, const struct cause *c, struct diverge_place out[DIVERGE_PLACES_MAX])
{
	unsigned n = 0;

	for (unsigned i = 0; i < c->places && n < DIVERGE_PLACES_MAX; i++)
		out[n++] = (struct diverge_place){ c->place[i].address, c->place[i].fs };
	for (unsigned i = 0; i < d->n_watched && n < DIVERGE_PLACES_MAX; i++)
		out[n++] = d->watched[i];
	return n;
}

int memory_cause_find(struct memory_cause *out, struct divergence *d, struct cause *c, struct diverge_plan *plan, code_at_fn *code,
		      void *with, struct tare_error *err)
{
	*out = (struct memory_cause){ .kind = CAUSE_MEMORY };
	for (int again = 0; again < PAIRS_MOST && c->places; again++) {
		struct diverge_place place[DIVERGE_PLACES_MAX];
		unsigned n = to_watch(d, c, place);
		bool unwatched = false;
		int ret = diverge_watch(plan, d, place, n, err);

		if (ret > 0)
			ret = cause_find(c, d, code, with, err); /* these are other runs: it may have come by another place */
		else if (ret == 0)
			return 0;
		if (ret < 0)
			return ret;
		for (unsigned i = 0; i < c->places; i++) {
			struct search s = { .out = out, .d = d, .place = &c->place[i], .code = code, .with = with };
			int watched = watched_as(d, s.place);

			unwatched |= watched < 0;
			if (watched < 0 || held(d, 0, (unsigned)watched, s.place->at, s.place->size) ==
						   held(d, 1, (unsigned)watched, s.place->at, s.place->size))
				continue;
			out->found = true;
			return judge(&s, (unsigned)watched, d, plan, err);
		}
		if (!unwatched)
			break;
	}
	return 0;
}
