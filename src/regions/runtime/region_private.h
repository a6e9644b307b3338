/* SPDX-License-Identifier: MIT */
/* The state of this process's regions, shared by region.c and region_child.c. */
#ifndef REGIONS_RUNTIME_REGION_PRIVATE_H
#define REGIONS_RUNTIME_REGION_PRIVATE_H

#include <pthread.h>
#include <signal.h>
#include "regions/runtime/region_process.h"
#include "regions/runtime/region_stream.h"

enum { EARLY_REGIONS = 16 };

extern struct region_state {
	struct region_recording *recording; /* like region_self()->current, but kept in a child */
	unsigned generation;                /* odd: recording */
	bool looked;                        /* the environment was checked */
	bool looking;                       /* the check is in progress */
	bool from_environment;              /* the environment started the recording */
	pthread_key_t at_thread_end;

	/*
	 * Losses of handlers that interrupted a thread before it had a recording to count them in.
	 */
	struct {
		uint64_t points, label[FILE_LOST_WORDS];
		bool any; /* there are losses not counted yet; set last */
		struct tare_region *region[EARLY_REGIONS]; /* regions without a number */
	} early;

	/*
	 * The regions that were begun. A region of a closed library is recognised by its address,
	 * which is not mapped.
	 *
	 * A child may be forked while another thread holds the lock. So the data under the lock is
	 * consistent at every moment, as far as a child needs it (region_child_begins()): data is
	 * stored before the pointer to it. The only exception is while labels are `changing`.
	 */
	struct known_region {
		struct tare_region *region;
		/* the region's, because its memory may now belong to another library */
		const char *name, *file;
	} * known;
	size_t n_known, known_room;
	bool changing; /* known regions are getting the labels of another recording */
	bool torn;     /* this process was forked during such a change */
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

/* In region_names.c; call with the lock held. */

/* This process's command line. */
void region_command(char *out, size_t room);
/* Create the process's own block, at its first point. 0 or a negative errno. */
int region_open_process(struct region_recording *r);
/* The label of a text, created if new; 0: no recording. Preserves errno. */
tare_label region_label_of(const char *name, const char *file, uint32_t line,
			   const char *const *args, unsigned n);
/* Assign a label to a region and remember the region. False: out of memory. */
bool region_number(struct tare_region *r);
/* Update the labels of all regions, after the recording began or ended. */
void region_set_labels(void);
/* Count the losses from before the recording could note them (region_state.early). */
void region_tell_early(struct region_recording *r);
/* The same, then release the lock. */
void region_unlock_and_tell(void);

/*
 * Bracket changes to the calling thread's stream: no handler writes a point from region_enter() to
 * region_leave(). False: this is a handler that interrupted a point.
 */
bool region_enter(void);
void region_leave(void);
/*
 * Between the two: seal and close the calling thread's stream; and the label of a text, 0 if it
 * cannot be created.
 */
void region_close_mine(bool reuse);
tare_label region_label_held(const char *name);

/*
 * Block signals on the calling thread, except those raised by the program's own instructions. *kept
 * gets the previous mask.
 */
void region_block_signals(sigset_t *kept);

/* Is r the current recording? */
static inline bool region_is_recording(const struct region_recording *r)
{
	return __atomic_load_n(&region_state.recording, __ATOMIC_ACQUIRE) == r;
}

/*
 * The label of a region that a handler kept a point for; 0: no recording. False: this thread has
 * the lock.
 */
bool region_name(struct tare_region *r, tare_label *label);

/* Is the thread with this position writing a point? A thread without a block has position 0. */
static inline bool region_is_held(uint64_t at)
{
	return at - (region_mine ? (uintptr_t)region_mine->block : 0) > BLOCK_BYTES;
}

/* Called once, before the first recording: installs the fork handlers. */
void region_child_set_up(void);
/* Continue the parent's recording (NULL: none) as the child's own, from its next point. */
void region_go_on(struct region_recording *r);

#endif
