/* SPDX-License-Identifier: MIT */
/*
 * Finds what wrote the memory in which two runs differ. It is observed, not inferred: the runs are
 * repeated, and the candidate places are read before each instruction. A place that is the same in
 * both runs when it is read is no cause. Where a place starts to differ, either the instruction or
 * system call there wrote it, or something else did at that time.
 */
#include <stdio.h>
#include <string.h>
#include "diverge/divergence_memory.h"

enum { PAIRS_MOST = 4, STORES_MOST = 8, LOST_MOST = 2 };
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

enum {
	VVAR_BYTES = 0x8000
}; /* the clock pages end where the vdso starts. Source: Linux,
			       * arch/x86/entry/vdso/vma.c */

bool is_clock_page(const struct diverge_run *run, uint64_t address)
{
	for (size_t i = 0; i < run->happenings; i++)
		if (run->happening[i].kind == EXACT_SAMPLE_MAPPING &&
		    run->happening[i].module == EXACT_VDSO && address < run->happening[i].start &&
		    run->happening[i].start - address <= VVAR_BYTES)
			return true;
	return false;
}

static uint64_t low_bytes(uint64_t value, unsigned size)
{
	return size < 8 ? value & ((1ull << 8 * size) - 1) : value;
}

/* The contents of a watched place before step i. */
static uint64_t held(const struct divergence *d, unsigned run, unsigned watched, size_t i,
		     unsigned size)
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

/* The last mapping reported at this address: of the process itself, or else of the process it
 * was forked from. */
static const struct diverge_happening *mapping_at(const struct diverge_run *run, uint64_t address)
{
	const struct diverge_happening *found = NULL;

	for (size_t i = 0; i < run->happenings; i++) {
		const struct diverge_happening *h = &run->happening[i];

		if (h->kind == EXACT_SAMPLE_MAPPING && h->data && address >= h->start &&
		    address < h->end &&
		    (!found || h->serial == run->serial || found->serial != run->serial))
			found = h;
	}
	return found;
}

static bool is_file(const struct diverge_happening *h)
{
	return h && h->path && h->path[0] == '/' && strncmp(h->path, "/dev/zero", 9) &&
		strncmp(h->path, "/memfd:", 7) && strncmp(h->path, "/SYSV", 5) &&
		strncmp(h->path, "/dev/shm/", 9);
}

static bool may_be_shared(const struct diverge_happening *h)
{
	return h && h->shared;
}

bool has_threads(const struct divergence *d)
{
	const struct diverge_run *run = &d->run[0];

	for (size_t i = 0; i < run->ended; i++)
		if (run->thread[i].stable_id != d->stable_id &&
		    diverge_same_program(run->thread, run->ended, run->thread[i].stable_id,
					 d->stable_id))
			return true;
	return false;
}

bool is_thread_id(const struct divergence *d, const uint64_t value[2])
{
	for (unsigned r = 0; r < 2; r++)
		for (size_t i = 0; i < d->run[r].ended; i++)
			if (value[!r] == 0 && value[r] &&
			    value[r] == (uint64_t)d->run[r].thread[i].tid)
				return true;
	return false;
}

/* Not written by the thread. */
static void by_somebody(struct search *s)
{
	if (has_threads(s->d) && is_thread_id(s->d, s->out->value))
		s->out->kind = CAUSE_THREAD_END;
	else if (has_threads(s->d))
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
		else if (call_writes(step->regs, s->absolute) ||
			 (call_may_write(nr) && !has_threads(s->d) && !may_be_shared(s->in)))
			s->out->kind = CAUSE_WRITTEN;
		else if (call_may_write(nr) && call_has_row(nr)) /* other calls might write
								  * there, too, but this one is
								  * meant to */
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

/* The last step before `at` up to which both runs have the same value there; false: never. */
static bool last_alike(const struct divergence *d, unsigned watched, size_t at, unsigned size,
		       size_t *out)
{
	for (size_t i = at; i-- > 0;)
		if (held(d, 0, watched, i, size) == held(d, 1, watched, i, size)) {
			*out = i;
			return true;
		}
	return false;
}

static int by_history(struct search *s, unsigned watched, struct divergence *d,
		      struct diverge_plan *plan, struct tare_error *err)
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
		s->out->kind = !w.at_start               ? CAUSE_MEMORY
			: d->run[0].tid == d->run[0].pid ? CAUSE_START
							 : CAUSE_THREADS;
	return 0;
}

/* Finds the source of the stored value among the earlier instructions. */
static void come_in(struct memory_cause *out, const struct divergence *e, const struct cause *c)
{
	out->kind = c->kind;
	out->from = e->run[0].step[c->step].pc;
	out->number = e->run[0].step[c->step].number;
	out->call = c->call;
	if (c->kind == CAUSE_WRITTEN)
		out->address = c->address;
	if (c->value_in < 0)
		return;
	out->value_in = register_names[c->value_in];
	for (unsigned r = 0; r < 2; r++)
		out->value[r] = e->run[r].step[c->value_at].regs[c->value_in];
}

/* The thread stored to it at step `at`. The stored value came in before, or already differed
 * there, or was the same and something else wrote at the same time. */
static int by_store(struct search *s, const struct divergence *d, size_t at, struct tare_error *err)
{
	const struct cause_place stored = { .address = s->absolute, .size = s->place->size };
	struct divergence until = *d;
	struct cause *c = &s->out->trail;
	bool alike;
	int ret;

	until.at = at;
	until.ended = false;
	ret = cause_find(c, &until, &stored, s->code, s->with, err);
	if (ret < 0)
		return ret;
	s->out->trail_first = d->first;
	if (c->has_step) {
		come_in(s->out, &until, c);
		return 0;
	}
	alike = c->value_in < 0;
	for (unsigned i = 0; i < c->places; i++) {
		int w = watched_as(d, &c->place[i]);

		alike &= w >= 0 &&
			held(d, 0, (unsigned)w, c->place[i].at, c->place[i].size) ==
				held(d, 1, (unsigned)w, c->place[i].at, c->place[i].size);
	}
	if (alike) {
		s->out->from = 0;
		by_somebody(s);
	}
	return 0;
}

static int judge(struct search *s, unsigned watched, struct divergence *d,
		 struct diverge_plan *plan, struct tare_error *err)
{
	const struct cause_place *p = s->place;
	size_t step;

	s->out->size = p->size;
	s->out->address = s->absolute = p->fs ? d->run[0].fs_base + p->address : p->address;
	s->out->trail.places = 0;
	for (unsigned r = 0; r < 2; r++)
		s->out->value[r] = held(d, r, watched, p->at, p->size);
	s->in = mapping_at(&d->run[0], s->absolute);
	snprintf(s->out->file, sizeof(s->out->file), "%s", is_file(s->in) ? s->in->path : "");
	if (!last_alike(d, watched, p->at, p->size, &step))
		return by_history(s, watched, d, plan, err);
	by_step(s, &d->run[0].step[step]);
	return s->out->kind == CAUSE_STORED ? by_store(s, d, step, err) : 0;
}

/* Of the places of `c` that differed when they were read, the one read first: the others got the
 * value from it. */
static const struct cause_place *seen_to_differ(const struct divergence *d, const struct cause *c,
						unsigned *watched, bool *unwatched)
{
	const struct cause_place *first = NULL;

	for (unsigned i = 0; i < c->places; i++) {
		const struct cause_place *p = &c->place[i];
		int w = watched_as(d, p);

		*unwatched |= w < 0;
		if (w < 0 || (first && first->at <= p->at) ||
		    held(d, 0, (unsigned)w, p->at, p->size) ==
			    held(d, 1, (unsigned)w, p->at, p->size))
			continue;
		*watched = (unsigned)w;
		first = p;
	}
	return first;
}

/* The places of `c` and those already watched; returns how many. */
static unsigned to_watch(const struct divergence *d, const struct cause *c,
			 struct diverge_place out[DIVERGE_PLACES_MAX])
{
	unsigned n = 0;

	for (unsigned i = 0; i < c->places && n < DIVERGE_PLACES_MAX; i++)
		out[n++] = (struct diverge_place){ c->place[i].address, c->place[i].fs };
	for (unsigned i = 0; i < d->n_watched && n < DIVERGE_PLACES_MAX; i++)
		out[n++] = d->watched[i];
	return n;
}

/* Goes back one more store. 1: there may be more; 0: the end, or nothing more is known. `e` then
 * describes its own pair of runs. */
static int one_store_back(struct memory_cause *out, struct divergence *d, struct divergence *e,
			  unsigned size, struct diverge_plan *plan, code_at_fn *code, void *with,
			  struct tare_error *err)
{
	const struct cause_place stored = { .address = out->address, .size = size };
	struct diverge_place place[DIVERGE_PLACES_MAX];
	struct search s = { .out = out, .d = e, .code = code, .with = with };
	struct cause c = { 0 }, last = out->trail;
	const int64_t first = diverge_first(out->number);
	unsigned n, watched;
	bool unwatched = false;
	int ret = 0;

	for (unsigned i = 0; i < last.places; i++)
		last.place[i].at += (size_t)(out->trail_first - first);
	diverge_free(e);
	n = to_watch(e, &last, place);
	for (int again = 0; again < PAIRS_MOST; again++) {
		diverge_free(e);
		ret = diverge_earlier(plan, d, out->number, place, n, PAIRS_MOST, e, err);
		if (ret > 0)
			ret = cause_find(&c, e, &stored, code, with, err) < 0 ? -err->code : 1;
		if (ret <= 0)
			return ret;
		if (c.has_step) {
			come_in(out, e, &c);
			return 0;
		}
		if (c.places)
			last = c;
		else /* in these two runs it is the same by chance */
			c = last;
		s.place = seen_to_differ(e, &c, &watched, &unwatched);
		if (s.place)
			return judge(&s, watched, e, plan, err) < 0 ? -err->code
								    : out->kind == CAUSE_STORED;
		n = to_watch(e, &c, place);
		for (unsigned i = 0; i < c.places; i++)
			if (is_clock_page(&e->run[0], c.place[i].address)) {
				out->kind = CAUSE_CLOCK;
				out->address = c.place[i].address;
				return 0;
			}
	}
	return 0;
}

/* A value that the thread stored long before has a source, too. */
static int go_back(struct memory_cause *out, struct divergence *d, unsigned size,
		   struct diverge_plan *plan, code_at_fn *code, void *with, struct tare_error *err)
{
	struct divergence e = { 0 };
	int ret = out->kind == CAUSE_STORED;

	for (unsigned stores = 0; ret == 1 && stores < STORES_MOST; stores++)
		ret = one_store_back(out, d, &e, size, plan, code, with, err);
	diverge_free(&e);
	return ret < 0 ? ret : 0;
}

/*
 * If they do not diverge there again: use two runs that reach the read of the memory by the same
 * path. Only for the single place that must differ.
 */
static int look_before(struct memory_cause *out, struct divergence *d, const struct cause *c,
		       struct diverge_plan *plan, code_at_fn *code, void *with,
		       struct tare_error *err)
{
	struct divergence e = { 0 };
	const struct cause_place *p = c->places == 1 ? &c->place[0] : NULL;
	struct cause one = { .places = 1 };
	struct search s = { .out = out, .d = &e, .code = code, .with = with };
	struct diverge_place place;
	unsigned watched;
	bool unwatched = false;
	int ret;

	for (unsigned i = 0; i < c->places && !p; i++)
		if (c->place[i].differs)
			p = &c->place[i];
	if (!p)
		return 0;
	place = (struct diverge_place){ p->address, p->fs };
	ret = diverge_earlier(plan, d, d->first + (int64_t)p->at, &place, 1, PAIRS_MOST, &e, err);
	one.place[0] = *p;
	one.place[0].at = e.at;
	s.place = ret > 0 ? seen_to_differ(&e, &one, &watched, &unwatched) : NULL;
	if (s.place) {
		out->found = true;
		ret = judge(&s, watched, &e, plan, err);
		if (ret == 0)
			ret = go_back(out, &e, p->size, plan, code, with, err);
	}
	diverge_free(&e);
	return ret < 0 ? ret : 0;
}

int memory_cause_find(struct memory_cause *out, struct divergence *d, struct cause *c,
		      struct diverge_plan *plan, code_at_fn *code, void *with,
		      struct tare_error *err)
{
	unsigned lost = 0; /* how often the place was not found again */

	*out = (struct memory_cause){ .kind = CAUSE_MEMORY };
	for (int again = 0; again < PAIRS_MOST && c->places && lost < LOST_MOST; again++) {
		struct diverge_place place[DIVERGE_PLACES_MAX];
		struct search s = { .out = out, .d = d, .code = code, .with = with };
		unsigned n = to_watch(d, c, place), watched;
		bool unwatched = false, found_again;
		int ret = diverge_watch(plan, d, place, n, err);

		found_again = ret > 0;
		if (found_again)
			ret = cause_find(c, d, NULL, code, with, err); /* in these new runs the
								        * value may have come
								        * through another place */
		else if (ret == 0 && ++lost)
			ret = look_before(out, d, c, plan, code, with, err);
		if (ret < 0 || out->found)
			return ret;
		if (!found_again)
			continue;
		s.place = seen_to_differ(d, c, &watched, &unwatched);
		if (s.place) {
			out->found = true;
			ret = judge(&s, watched, d, plan, err);
			return ret == 0 ? go_back(out, d, s.place->size, plan, code, with, err)
					: ret;
		}
		if (!unwatched)
			break;
	}
	return 0;
}
