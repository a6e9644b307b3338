/* SPDX-License-Identifier: MIT */
/* The state of this process's regions, for region.c and for what a child makes of it (region_child.c). */
#ifndef REGIONS_RUNTIME_REGION_PRIVATE_H
#define REGIONS_RUNTIME_REGION_PRIVATE_H

#include <pthread.h>
#include <signal.h>
#include "regions/runtime/region_process.h"
#include "regions/runtime/region_stream.h"

enum { EARLY_REGIONS = 16 };

extern struct region_state {
	struct region_recording *recording; /* region_self()->current, which a child needs to go on */
	unsigned generation; /* odd: recording */
	bool looked;	     /* at the environment */
	bool looking;	     /* or is at it */
	bool from_environment; /* it began the recording that there is */
	pthread_key_t at_thread_end;

	/* What handlers lost while there was no recording to say it in: they interrupted the thread before it had one. */
	struct {
		uint64_t points, label[FILE_LOST_WORDS];
		bool any; /* of it was not told; set last */
		struct tare_region *region[EARLY_REGIONS]; /* which have no number yet, whoever was interrupted */
	} early;

	/*
	 * Regions that were begun; one of a library that was closed since is recognised by being nowhere.
	 *
	 * What the lock guards is whole at every moment, as far as a child needs it that is made while another thread has the lock
	 * (region_child_begins()): what is pointed to is stored before what points to it. Only while labels are `changing` it is not.
	 */
	struct known_region {
		struct tare_region *region;
		const char *name, *file; /* its: what lies there now may be of another library */
	} *known;
	size_t n_known, known_room;
	bool changing; /* the labels of known regions, to those of another recording */
	bool torn;     /* this process was made meanwhile */
} region_state;

/* The calling thread's stream, or NULL. */
extern __thread struct region_stream *region_mine __attribute__((tls_model("initial-exec")));

static inline void region_set_current(struct region_recording *r)
{
	__atomic_store_n(&region_state.recording, r, __ATOMIC_RELEASE);
	__atomic_store_n(&region_self()->current, r, __ATOMIC_RELEASE);
}

static inline struct region_recording *region_current(void)
{
	return __atomic_load_n(&region_self()->current, __ATOMIC_ACQUIRE);
}

static inline uint32_t region_label_number(tare_label label)
{
	return (label & ~TARE_LABEL_END) == TARE_LABEL_UNKNOWN ? 0 : label >> 3 & 0x0fffffff;
}

/* In region_names.c, with the lock. */

/* This process's command line. */
void region_command(char *out, size_t room);
/* Its own block, at its first point. 0 or a negative errno. */
int region_open_process(struct region_recording *r);
/* The label of a text, made when it is new; 0: nothing is recorded. errno stays as it is. */
tare_label region_label_of(const char *name, const char *file, uint32_t line, const char *const *args, unsigned n);
/* Give a region its label, and remember that it has one. False: out of memory. */
bool region_number(struct tare_region *r);
/* The labels of all regions, after the recording began or ended. */
void region_set_labels(void);
/* Count in this recording the losses from before a recording could note them (region_state.early). */
void region_tell_early(struct region_recording *r);
/* The same, and let go of the lock. */
void region_unlock_and_tell(void);

/* For what changes the calling thread's stream: no handler writes a point from region_enter() to region_leave(). False: this is one
 * that interrupted a point. */
bool region_enter(void);
void region_leave(void);
/* In between: seal the calling thread's stream, which it has no more; and the label of that text, 0 where it cannot be had. */
void region_close_mine(bool reuse);
tare_label region_label_held(const char *name);

/* No handler comes on the calling thread until *kept is its mask again, but of signals that the program's own instructions raise. */
void region_block_signals(sigset_t *kept);

/* Is that the recording that there is? */
static inline bool region_is_recording(const struct region_recording *r)
{
	return __atomic_load_n(&region_state.recording, __ATOMIC_ACQUIRE) == r;
}

/* The label of a region that a handler kept a point of; 0: nothing is recorded. False: this thread has the lock. */
bool region_name(struct tare_region *r, tare_label *label);

/* Is a point being written, by a thread whose position this is? One that has no block has 0. */
static inline bool region_is_held(uint64_t at)
{
	return at - (region_mine ? (uintptr_t)region_mine->block : 0) > BLOCK_BYTES;
}

/* Once, before the first recording: fork() is known of from then on. */
void region_child_set_up(void);
/* What this process has of its parent's recording (NULL: none) goes on as its own, from its next point. */
void region_go_on(struct region_recording *r);

#endif
