/* SPDX-License-Identifier: MIT */
/*
 * Switches between fibers (tare/fiber.h). The stream of a running fiber is the thread's,
 * region_mine; when the fiber is switched out, it keeps the stream and the values of the counters.
 * Counters belong to the thread: the running stream has them, and `kept` between two streams. On
 * resume, the fiber's last values advance by the counts since it was switched out.
 */
#include "regions/runtime/region_fiber.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/pages.h"
#include "regions/runtime/region_private.h"
#include "tare/fiber.h"

/* A thread number that no kernel gives: the largest pid_max is 2^22. */
enum { FIBER_TID = 20000000 };

#define AWAY    "(switched out)"
#define REFUSED "(switch refused: the fiber runs on another thread)"

struct tare_fiber {
	struct region_stream *stream; /* while it does not run; NULL: none */
	unsigned process;             /* in which it has that */
	struct tare_region_here here; /* the stream's */
	uint64_t out[FILE_COUNTERS];  /* of the thread that it ran on, when it was switched out */
	uint32_t missing; /* a counter that was missing once stays so: its value lacks a part */
	uint64_t running; /* token() while it runs and is recorded */
	uint32_t tid;
	char name[STREAM_NAME];
};

/* What a thread that has switched keeps. */
struct per_thread {
	struct tare_fiber own;    /* of the thread without a fiber */
	struct tare_fiber *bound; /* to which region_mine belongs; NULL: own */
	uint64_t held; /* token() when it was bound: in another recording the pointer is void */
	struct {
		struct thread_counters counters;
		bool open;
		unsigned process, generation;
		uint32_t added; /* to `missing` of the stream that has them now */
	} kept;
};

static __thread struct tare_fiber *now
	__attribute__((tls_model("initial-exec"))); /* as the program says */
static __thread struct per_thread *me
	__attribute__((tls_model("initial-exec"))); /* NULL: not needed so far */

/* Counters go from one stream to another: a handler that comes here must not read them. */
static __thread bool switching __attribute__((tls_model("initial-exec")));

static uint32_t made; /* fibers, of this process and those that it was forked from */

/* The recording, and the process: those of others are void. */
static uint64_t token(const struct region_recording *r)
{
	return r ? (uint64_t)region_process() << 32 | r->generation : 0;
}

/* False: it runs on another thread. */
static bool acquire(struct tare_fiber *f, const struct region_recording *r)
{
	uint64_t is = __atomic_load_n(&f->running, __ATOMIC_ACQUIRE), mine = token(r);

	return is != mine &&
		__atomic_compare_exchange_n(&f->running, &is, mine, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED);
}

static void close_kept(void)
{
	if (me->kept.open && me->kept.process == region_process())
		thread_counters_close(&me->kept.counters);
	me->kept.open = false;
}

static void keep_counters(struct region_stream *s)
{
	close_kept();
	me->kept.counters = s->counters;
	me->kept.counters.missing &= ~me->kept.added;
	me->kept.open = true;
	me->kept.process = s->process;
	me->kept.generation = s->of->generation;
	memset(&s->counters, 0, sizeof(s->counters));
}

static bool take_counters(struct region_stream *s)
{
	me->kept.added = 0;
	if (!me->kept.open || me->kept.process != region_process() ||
	    me->kept.generation != s->of->generation) {
		close_kept();
		return false;
	}
	s->counters = me->kept.counters;
	me->kept.open = false;
	return true;
}

static bool set_up_thread(void)
{
	if (!me)
		me = pages_new(sizeof(*me));
	return me != NULL;
}

bool region_fiber_switching(void)
{
	return switching;
}

static void set_switching(bool is)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	switching = is;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

const void *region_fiber_at_end(void)
{
	return &me;
}

/* The thread's end must come by, also where it opened no stream itself. */
static void note_end(void)
{
	if (pthread_getspecific(region_state.at_thread_end) != &me)
		pthread_setspecific(region_state.at_thread_end, &me);
}

bool region_fiber_begin(struct region_stream *s)
{
	s->tid = 0;
	if (!me)
		return false;
	if (me->bound) {
		s->tid = me->bound->tid;
		memcpy(s->name, me->bound->name, sizeof(s->name));
	}
	return take_counters(s);
}

/* The thread has a stream and a fiber of recording r only (NULL: there is none). */
static void drop_stale(struct region_recording *r)
{
	if (region_mine && region_mine->of != r)
		region_close_mine(false);
	if (me->bound && (!r || me->held != token(r)))
		me->bound = NULL; /* what it points to may be freed */
}

/* The thread's stream goes into its fiber, which another thread may have from now on. */
static void park(const uint64_t *out)
{
	struct tare_fiber *f = me->bound ? me->bound : &me->own;
	struct region_stream *s = region_mine;

	set_switching(true);
	if (s) {
		f->stream = s;
		f->process = s->process;
		f->missing = s->counters.missing;
		memcpy(f->out, out, sizeof(f->out));
		f->here.last = tare_region_thread.last;
		f->here.end = s->block ? s->end : &region_no_room;
		s->here = &f->here;
		if (s->block)
			keep_counters(s);
		region_mine = NULL;
		tare_region_thread.end = &region_no_room;
	}
	me->bound = NULL;
	set_switching(false);
	__atomic_store_n(&f->running, 0, __ATOMIC_RELEASE);
}

/* The fiber's stream, if it has one of recording r, is the thread's. */
static void resume(struct tare_fiber *f, struct region_recording *r)
{
	struct region_stream *s = f->process == region_process() ? f->stream
								 : NULL; /* else the parent's */

	f->stream = NULL;
	if (!s)
		return;
	region_mine = s;
	s->here = &tare_region_thread;
	tare_region_thread.last = f->here.last;
	tare_region_thread.end = f->here.end;
	if (s->of != r) {
		region_close_mine(false);
		return;
	}
	if (!s->block)
		return;
	if (!take_counters(s))
		thread_counters_open(&s->counters, &r->counters, NULL);
	me->kept.added = f->missing & ~s->counters.missing;
	s->counters.missing |= f->missing;
	region_stream_skip(s, r->counters.clocks ? region_label_held(AWAY) : 0, f->out);
}

/* Acquired, if it is one. */
static void bind(struct tare_fiber *f, struct region_recording *r)
{
	me->bound = f;
	me->held = token(r);
	note_end(); /* here: what follows the resume counts for the fiber */
	set_switching(true);
	resume(f ? f : &me->own, r);
	set_switching(false);
}

struct region_stream *region_fiber_settle(struct region_recording *r)
{
	if (!me && !(r && now))
		return NULL;
	if (!set_up_thread()) {
		now = NULL;
		return NULL;
	}
	drop_stale(r);
	if (me->bound && me->bound == now)
		return region_mine;
	if (me->bound)
		park(NULL); /* there is no stream */
	if (r && now && !acquire(now, r))
		now = NULL;
	bind(r ? now : NULL, r);
	return region_mine;
}

void region_fiber_thread_ends(void)
{
	struct region_recording *r = region_current();
	uint64_t out[FILE_COUNTERS] = { 0 };

	if (!me)
		return;
	drop_stale(r);
	if (region_mine && region_mine->block)
		thread_counters_read(&region_mine->counters, &r->counters, 0, out);
	if (me->bound)
		park(out);
	set_switching(true);
	if (!region_mine)
		resume(&me->own, r);
	set_switching(false);
	close_kept();
	pages_free(me, sizeof(*me));
	me = NULL;
	now = NULL;
}

/* With the place held. */
static int change(struct tare_fiber *to, struct region_recording *r)
{
	uint64_t out[FILE_COUNTERS] = { 0 };

	if (region_mine && !region_mine->page)
		return -EDEADLK;
	if (region_mine && region_mine->of == r && region_mine->block)
		thread_counters_read(&region_mine->counters, &r->counters, 0, out);
	if (!set_up_thread())
		return -ENOMEM;
	drop_stale(r);
	if (to == me->bound && to == now && (to || region_mine))
		return 0;
	if (to && to != me->bound && !acquire(to, r))
		return -EBUSY;
	now = to;
	if (to && to == me->bound)
		return 0;
	park(out);
	bind(to, r);
	return 0;
}

static __attribute__((noinline)) int switch_recorded(struct tare_fiber *to)
{
	struct region_recording *r;
	int ret = 0;

	if (!region_enter())
		return -EDEADLK;
	r = region_current();
	if (r)
		ret = change(to, r);
	else
		now = to;
	region_leave();
	if (ret == -EBUSY)
		tare_label_instant(tare_label_new(REFUSED, NULL, 0));
	return ret;
}

int tare_region_switch(struct tare_fiber *to)
{
	if (__builtin_expect(region_current() != NULL, 0))
		return switch_recorded(to);
	now = to;
	return 0;
}

struct tare_fiber *tare_fiber_current(void)
{
	return now;
}

struct tare_fiber *tare_fiber_new(const char *name)
{
	struct tare_fiber *f = calloc(1, sizeof(*f));
	uint32_t number;

	if (!f)
		return NULL;
	number = __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
	f->tid = FIBER_TID + number;
	if (name && *name)
		snprintf(f->name, sizeof(f->name), "%s", name);
	else
		snprintf(f->name, sizeof(f->name), "fiber %u", number);
	return f;
}

void tare_fiber_free(struct tare_fiber *f)
{
	struct region_recording *r;

	if (!f || !region_enter())
		return;
	r = region_current();
	if (now == f)
		now = NULL;
	if (me)
		drop_stale(r);
	if (me && me->bound == f) {
		if (region_mine)
			region_close_mine(true);
		me->bound = NULL;
	} else if (r && __atomic_load_n(&f->running, __ATOMIC_ACQUIRE) == token(r)) {
		region_leave();
		return;
	}
	if (f->stream && f->process == region_process())
		region_stream_close(f->stream, f->stream->of == r);
	region_leave();
	free(f);
}
