/* SPDX-License-Identifier: MIT */
/*
 * What a child process makes of the recording that it has of its parent: it goes on with it as its own, from its next point. Of fork() it is
 * told, by pthread_atfork(3); where clone(2) made it, it finds out by itself (region_process_look()), whatever its parent's other threads were at.
 */
#include <pthread.h>
#include <string.h>
#include "base/pages.h"
#include "regions/runtime/region_map.h"
#include "regions/runtime/region_private.h"

/* A handler that interrupts fork() may fork, too. */
static __thread unsigned forking __attribute__((tls_model("initial-exec")));
static __thread bool locked_for_fork __attribute__((tls_model("initial-exec")));
/* No handler comes in between: in the child, its points would change the stream that in_child() examines. */
static __thread sigset_t mask_of_fork __attribute__((tls_model("initial-exec")));

static void before_fork(void)
{
	if (forking++)
		return;
	region_block_signals(&mask_of_fork);
	locked_for_fork = region_lock();
}

static void after_fork(void)
{
	sigset_t mask = mask_of_fork;

	if (--forking)
		return;
	if (locked_for_fork)
		region_unlock();
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

/* How many they were. */
static uint32_t forget_streams(struct region_stream *s)
{
	uint32_t n = 0;

	while (s) {
		struct region_stream *next = s->next;

		region_stream_forget(s);
		s = next;
		n++;
	}
	return n;
}

void region_go_on(struct region_recording *r)
{
	unsigned process = region_process_next();

	memset(&region_state.early, 0, sizeof(region_state.early)); /* the parent tells it */
	if (r) {
		r->references -= forget_streams(r->streams); /* whom a handler interrupted may have one, too */
		forget_streams(r->spare);
		r->streams = r->spare = NULL;
		r->being_measured = r->measured;
		r->forked = true;
		r->lost = 0;
		r->lost_errno = 0;
		if (r->block) {
			region_unmap(r->block, FILE_PAGE);
			r->parent = r->serial;
			r->inherited = r->labels.next;
		}
		r->block = NULL;
		r->process = NULL;
		r->no_block = 0;
		r->file.process = process;
		region_labels_forked(&r->labels);
	}
	region_set_current(r);
	if (region_mine && !region_mine->page)
		region_mine->process = process; /* measuring goes on */
	region_process_begin(process);
}

/*
 * A copy of the parent's recording that needs nothing of what its other threads may have been in the midst of: no stream is of it,
 * so that whoever has one forgets it, and labels are looked for among its own only; those that were given out stay as they are.
 * What is not in it is never freed. NULL: out of memory.
 */
static struct region_recording *without_threads(const struct region_recording *r)
{
	struct region_recording *own = pages_new(sizeof(*own));

	if (!own)
		return NULL;
	*own = *r;
	own->references = 1;
	own->streams = own->spare = NULL;
	/* What this thread is naming just now has the number that its parent gives it. */
	own->labels = (struct region_labels){ .next = r->labels.next + (region_locking() ? 1 + EARLY_REGIONS : 0), .nameless = r->labels.nameless };
	return own;
}

/* Of clone(2). Threads that are not here cannot finish what they were at. */
void region_child_begins(void)
{
	struct region_recording *r = region_state.recording, *own = r && !region_state.changing ? without_threads(r) : NULL;

	if (r && !own) {
		__atomic_add_fetch(&r->file.head->untold_processes, 1, __ATOMIC_RELAXED);
		__atomic_add_fetch(&region_state.generation, 1, __ATOMIC_RELEASE);
	}
	if (region_state.changing) {
		region_state.torn = true; /* labels are of two recordings */
		region_state.known = NULL;
		region_state.n_known = region_state.known_room = 0;
	}
	if (region_state.looking) {
		region_state.looked = region_state.from_environment = r != NULL; /* or looks itself */
		region_state.looking = false;
	}
	if (own && region_mine && region_mine->of == r)
		region_stream_bury(region_mine);
	region_go_on(own);
}

static void in_child(void)
{
	if (region_mine && region_mine->of == region_state.recording)
		pthread_setspecific(region_state.at_thread_end, NULL);
	if (region_is_held(tare_place_look(&tare_region_thread.place))) {
		if (region_mine && region_mine->page)
			region_stream_bury(region_mine); /* in a handler that interrupted a point, which is written when it returns */
	} else if (!region_mine || region_mine->page) {
		tare_region_thread = (struct tare_region_here){ .end = &region_no_room };
		region_mine = NULL; /* one of a recording that was stopped is left as it is */
	}
	if (locked_for_fork)
		region_go_on(region_state.recording);
	else
		region_child_begins(); /* in a handler that interrupted who has the lock */
	after_fork();
}

void region_child_set_up(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}
