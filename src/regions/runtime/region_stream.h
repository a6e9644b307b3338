/* SPDX-License-Identifier: MIT */
/*
 * A recording of regions that this process writes, and the stream of points of each of its threads.
 * Points are written by their own thread, without a lock; everything else here is done under
 * region_lock().
 */
#ifndef REGIONS_RUNTIME_REGION_STREAM_H
#define REGIONS_RUNTIME_REGION_STREAM_H

#include "regions/runtime/region_counters.h"
#include "regions/runtime/region_file.h"
#include "regions/runtime/region_labels.h"
#include "tare/region.h"

/* Reference-counted: by the process while it records, and by each stream. */
struct region_recording {
	uint32_t references;
	unsigned generation;
	struct region_file file;
	struct region_counters counters;
	struct region_labels labels;
	struct block_head *block;     /* of the process, or NULL: not yet (after fork) */
	struct file_process *process; /* in it */
	int no_block; /* errno of the failed attempt to get one; then all points are lost */
	uint32_t serial, parent, inherited, threads;
	bool forked; /* this process is a child of the one that began the recording */
	uint64_t start_ticks, start_clock_ns;
	struct file_own own[FILE_PATHS][FILE_COUNTERS];
	uint32_t measured, being_measured; /* bit per path */
	struct region_stream *streams;     /* of live threads */
	struct region_stream *spare;       /* of ended threads, for reuse of their blocks */
	uint64_t lost;                     /* points that could not be written */
	int lost_errno;
};

enum { SMALL_BYTES = 16384, STREAM_NAME = 16 };

/* A stream's page that is wiped on fork. */
struct region_page {
	uint8_t *end;
	struct iovec out; /* the pending write to the file */
};

struct region_stream {
	struct region_stream *next, **link;
	struct region_recording *of;
	struct tare_region_here *here; /* has `last` of the first counter */
	struct region_page *page; /* NULL: a stream in no list, which writes to private memory */
	uint8_t **end; /* the target of the thread's here->end: page->end, or private_end */
	uint8_t *at; /* position of the next point, unless the inline functions have it in `here` */
	struct block_head *block; /* NULL: there was no space for one, and points are lost */
	uint64_t offset;          /* of the block in the file */
	/* size of the block: SMALL_BYTES until it was full once, then BLOCK_BYTES */
	uint32_t bytes;
	uint8_t *limit;   /* from this position on, the block must be written first */
	bool single;      /* there is one counter, and it can be read */
	unsigned process; /* region_process() when it was opened */
	bool scratch;     /* `block` is not part of a file */
	uint8_t *private_end;
	struct thread_counters counters;
	uint64_t last[FILE_COUNTERS];
	uint32_t missing; /* as in the file */
	uint32_t thread;
	uint32_t tid; /* of a fiber, with its name; 0: the thread's own */
	char name[STREAM_NAME];
	uint64_t timings;
	uint64_t first; /* points before this block */
	/* bytes of its points minus three per point, from which their number follows */
	uint64_t beyond;
};

/* Release a reference; the last one frees. */
void region_recording_put(struct region_recording *r);
/* Count points that are lost, in addition to those counted in blocks. */
void region_recording_lose(struct region_recording *r, uint64_t points, int code);
/* Mark the label of this bit in file_process.lost_label: some lost points may have it. */
void region_recording_lose_of(struct region_recording *r, unsigned bit);

/* Points that were counted as lost and are written now. */
void region_recording_found(struct region_recording *r, uint64_t points);

/*
 * Open the calling thread's stream. NULL only if out of memory. A stream without a block counts its
 * points as lost.
 */
struct region_stream *region_stream_open(struct region_recording *r, struct tare_region_here *here);
/*
 * Called by the thread itself, at its end: seals the block. reuse: the recording continues, and
 * another thread may get the block.
 */
void region_stream_close(struct region_stream *s, bool reuse);

/* In a child of fork: the counters and the contents of the block are the parent's. */
void region_stream_forget(struct region_stream *s);
/*
 * The same, if the thread may be within a point, or may use the stream later: further writes are
 * discarded. The stream then belongs to region_nobody, and its thread drops it.
 */
void region_stream_bury(struct region_stream *s);
extern struct region_recording region_nobody;
extern uint8_t *const region_no_room; /* here->end of a thread without a stream */

/*
 * `label` as in tare/region.h, including TARE_LABEL_END; clock: the ticks if they were read
 * already, else 0.
 */
void region_stream_point(struct region_stream *s, tare_label label, enum point_op op,
			 uint64_t number, uint64_t clock);

/* The same for the most frequent points. */
void region_stream_begin_or_end(struct region_stream *s, tare_label label, uint64_t clock);

/*
 * Counts between pause and resume, the recorder's overhead, are in no interval of the calling
 * thread. Clocks continue.
 */
struct region_pause {
	struct region_stream *of; /* NULL: no stream is paused */
	uint64_t value[FILE_COUNTERS];
};
void region_stream_pause(struct region_stream *s, struct region_pause *p);
void region_stream_resume(const struct region_pause *p);
/*
 * The same from the point where the counters had the values `out`, perhaps on another thread.
 * Clocks continue: a label makes the time
 * since then a region. */
void region_stream_skip(struct region_stream *s, tare_label label, const uint64_t *out);

/*
 * Points that a handler kept (region_kept.h), with the counter values of that time. Call it between
 * before_kept and behind_kept; counts between these two are in no interval. A clock value that is
 * not after the stream's last one is written as missing: the thread switched to another fiber
 * meanwhile.
 */
struct region_before {
	struct region_pause pause;
	uint64_t last[FILE_COUNTERS];
};
void region_stream_before_kept(struct region_stream *s, struct region_before *b);
void region_stream_kept(struct region_stream *s, tare_label label, enum point_op op,
			uint64_t number, const uint64_t *value, uint32_t missing);
void region_stream_behind_kept(struct region_stream *s, const struct region_before *b);

/* Into private memory instead of a file, to measure the overhead (region_cost.c). */
void region_stream_private(struct region_stream *s, struct region_recording *r,
			   struct tare_region_here *here, void *memory);

#endif
