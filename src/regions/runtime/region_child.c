/* SPDX-License-Identifier: MIT */
/*
 * Continue the parent's recording in a child process, from the child's next point. After fork(),
 * pthread_atfork(3) handlers do this. After clone(2), the child detects it by itself
 * (region_process_look()), whatever the parent's other threads were doing.
 */
#include <pthread.h>
#include <string.h>
#include "base/pages.h"
#include "regions/runtime/region_map.h"
#include "regions/runtime/region_private.h"

/* Counts nesting: a handler that interrupts fork() may fork, too. */
static __thread unsigned forking __attribute__((tls_model("initial-exec")));
static __thread bool locked_for_fork __attribute__((tls_model("initial-exec")));
/*
 * Signals stay blocked: a handler's points in the child would change the stream that in_child()
 * examines.
 */
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

/* Returns the number of streams. */
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

	memset(&region_state.early, 0, sizeof(region_state.early)); /* the parent reports it */
	if (r) {
		/* a thread interrupted by the handler may have a reference, too */
		r->references -= forget_streams(r->streams);
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
		region_mine->process = process; /* the measurement continues */
	region_process_begin(process);
}

/*
 * A copy of the parent's recording that does not depend on what the parent's other threads were
 * doing. It has no streams, so each thread drops its stream. It has no labels, so only new ones are
 * looked up; numbers already assigned stay valid. Memory of the original is never freed. NULL: out
 * of memory.
 */
static struct region_recording *without_threads(const struct region_recording *r)
{
	struct region_recording *own = pages_new(sizeof(*own));

	if (!own)
		return NULL;
	*own = *r;
	own->references = 1;
	own->streams = own->spare = NULL;
	/* The label that this thread is naming just now gets the same number in the parent. */
	own->labels = (struct region_labels){ .next = r->labels.next +
						      (region_locking() ? 1 + EARLY_REGIONS : 0),
					      .nameless = r->labels.nameless };
	return own;
}

/*
 * After clone(2). Other threads of the parent do not exist here and cannot finish their operations.
 */
void region_child_begins(void)
{
	struct region_recording *r = region_state.recording,
				*own = r && !region_state.changing ? without_threads(r) : NULL;

	if (r && !own) {
		__atomic_add_fetch(&r->file.head->untold_processes, 1, __ATOMIC_RELAXED);
		__atomic_add_fetch(&region_state.generation, 1, __ATOMIC_RELEASE);
	}
	if (region_state.changing) {
		region_state.torn = true; /* labels belong to two recordings */
		region_state.known = NULL;
		region_state.n_known = region_state.known_room = 0;
	}
	if (region_state.looking) {
		/* or else the child looks itself */
		region_state.looked = region_state.from_environment = r != NULL;
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
			/*
			 * in a handler that interrupted a point, which is written when the handler
			 * returns
			 */
			region_stream_bury(region_mine);
	} else if (!region_mine || region_mine->page) {
		tare_region_thread = (struct tare_region_here){ .end = &region_no_room };
		region_mine = NULL; /* a stream of a stopped recording is left as it is */
	}
	if (locked_for_fork)
		region_go_on(region_state.recording);
	else
		region_child_begins(); /* in a handler that interrupted the lock's holder */
	after_fork();
}

void region_child_set_up(void)
{
	pthread_atfork(before_fork, after_fork, in_child);
}
