/* SPDX-License-Identifier: MIT */
/*
 * A recording of regions that this process writes, and the stream of points of each of its threads. Points are
 * written by their own thread, without a lock; everything else here is done under region_lock().
 */
#ifndef REGIONS_RUNTIME_REGION_STREAM_H
#define REGIONS_RUNTIME_REGION_STREAM_H

#include "regions/runtime/region_counters.h"
#include "regions/runtime/region_file.h"
#include "regions/runtime/region_labels.h"
#include "tare/region.h"

/* Kept as long as anybody refers to it: the process while it records, and each stream. */
struct region_recording {
	uint32_t references;
	unsigned generation;
	struct region_file file;
	struct region_counters counters;
	struct region_labels labels;
	struct block_head *block;     /* of the process, or NULL: not yet (after fork) */
	struct file_process *process; /* in it */
	int no_block;		      /* errno: it could not have one, and all its points are lost */
	uint32_t serial, parent, inherited, threads;
	bool forked; /* this process is a child of the one that began it */
	uint64_t start_ticks, start_clock_ns;
	struct file_own own[FILE_PATHS][FILE_COUNTERS];
	uint32_t measured, being_measured; /* bit per path */
	struct region_stream *streams; /* of live threads */
	struct region_stream *spare;   /* of ended ones, for their blocks */
	uint64_t lost;		       /* points that could not be written */
	int lost_errno;
};

enum { SMALL_BYTES = 16384, STREAM_NAME = 16 };

/* A stream's page that child processes find empty. */
struct region_page {
	uint8_t *end;
	struct iovec out; /* what is being written to the file */
};

struct region_stream {
	struct region_stream *next, **link;
	struct region_recording *of;
	struct tare_region_here *here; /* `last` (of the first counter) is there */
	struct region_page *page;      /* NULL: one that is in no list, into memory of its own */
	uint8_t **end;		       /* what the thread's here->end points to: page->end, or private_end */
	uint8_t *at;		       /* where the next point goes, while the inline functions do not have it in `here` */
	struct block_head *block;      /* NULL: there was no room for one, and points are lost */
	uint64_t offset;	       /* of it in the file */
	uint32_t bytes;		       /* of it: BLOCK_BYTES, or SMALL_BYTES until it was full once */
	uint8_t *limit;		       /* from here on, it must be written first */
	bool single;		       /* one counter, which can be read */
	unsigned process;	       /* region_process() when it was opened */
	bool scratch;		       /* `block` is no file's */
	uint8_t *private_end;
	struct thread_counters counters;
	uint64_t last[FILE_COUNTERS];
	uint32_t missing; /* as the file says */
	uint32_t thread;
	uint32_t tid;		  /* of a fiber, with its name; 0: the thread's own */
	char name[STREAM_NAME];
	uint64_t timings;
	uint64_t first;	 /* points before this block */
	uint64_t beyond; /* bytes of its points, less three for each: what tells how many they are */
};

/* Let go; frees with the last reference. */
void region_recording_put(struct region_recording *r);
/* Points that are lost beyond what blocks say. */
void region_recording_lose(struct region_recording *r, uint64_t points, int code);
/* Some are of the label that this bit of file_process.lost_label stands for. */
void region_recording_lose_of(struct region_recording *r, unsigned bit);

/* Points that were counted as lost and are written now. */
void region_recording_found(struct region_recording *r, uint64_t points);

/* The calling thread's. Never NULL with memory left; one without a block counts what is lost. */
struct region_stream *region_stream_open(struct region_recording *r, struct tare_region_here *here);
/* From its own thread, at its end: seal. reuse: the recording goes on, and another thread may have the block. */
void region_stream_close(struct region_stream *s, bool reuse);

/* In a child of fork: counters and what is in the block are the parent's. */
void region_stream_forget(struct region_stream *s);
/* The same, of one whose thread may be in the midst of a point, or comes by later: what is still written goes nowhere. It is of
 * region_nobody then, and its thread forgets it. */
void region_stream_bury(struct region_stream *s);
extern struct region_recording region_nobody;
extern uint8_t *const region_no_room; /* here->end of a thread without a stream */

/* `label` as tare/region.h has it, TARE_LABEL_END included; clock: 0, or the ticks, read already. */
void region_stream_point(struct region_stream *s, tare_label label, enum point_op op, uint64_t number, uint64_t clock);

/* The same for the most frequent points. */
void region_stream_begin_or_end(struct region_stream *s, tare_label label, uint64_t clock);

/* Counts between pause and resume, the recorder's overhead, are in no interval of the calling thread. Clocks continue. */
struct region_pause {
	struct region_stream *of; /* NULL: there is nothing to pause */
	uint64_t value[FILE_COUNTERS];
};
void region_stream_pause(struct region_stream *s, struct region_pause *p);
void region_stream_resume(const struct region_pause *p);
/* The same from the point where the counters had the values `out`, perhaps on another thread. Clocks continue: a label makes the time
 * since then a region. */
void region_stream_skip(struct region_stream *s, tare_label label, const uint64_t *out);

/*
 * Points that a handler kept (region_kept.h), with the counter values of that time. Call it between before_kept and behind_kept; counts
 * between these two are in no interval. A clock value that is not after the stream's last one is written as missing: the thread
 * switched to another fiber meanwhile.
 */
struct region_before {
	struct region_pause pause;
	uint64_t last[FILE_COUNTERS];
};
void region_stream_before_kept(struct region_stream *s, struct region_before *b);
void region_stream_kept(struct region_stream *s, tare_label label, enum point_op op, uint64_t number, const uint64_t *value,
			uint32_t missing);
void region_stream_behind_kept(struct region_stream *s, const struct region_before *b);

/* Into private memory instead of a file, to measure the overhead (region_cost.c). */
void region_stream_private(struct region_stream *s, struct region_recording *r, struct tare_region_here *here,
			   void *memory);

#endif
