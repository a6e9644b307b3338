/* SPDX-License-Identifier: MIT */
/*
 * An open recording in tare's own format (recording/region_format.h), shared by the files that read
 * it.
 */
#ifndef REGIONS_TIMELINE_TIMELINE_TARE_H
#define REGIONS_TIMELINE_TIMELINE_TARE_H

#include "base/text.h"
#include "recording/region_format.h"
#include "regions/timeline/timeline_format.h"

/* A thread's block. Candidates with the same seq are adjacent, the sealed one first. */
struct tare_block {
	uint64_t offset, seq, lost;
	uint64_t first, points; /* points before it; points in it, or NOT_COUNTED */
	uint32_t process, thread;
	uint32_t pid, tid;
	uint32_t used; /* bytes of data; in an open block, the maximum */
	uint32_t name; /* offset in the names' text */
	uint8_t sealed, flags, cut;
	uint8_t bad; /* unreadable, or with a wrong checksum */
};

/* The state of a process that did not end properly. */
enum tare_now {
	TARE_NOT_KNOWN, /* it cannot be determined from here */
	TARE_GONE,
	TARE_GOES_ON,    /* it continues the recording */
	TARE_JUST_ENDED, /* properly, since its block was read */
};

struct tare_process {
	bool known;
	uint32_t pid, parent, inherited;
	uint64_t pid_namespace, born;
	uint32_t threads; /* number of threads that began; 0: not known */
	/* number of its own labels in the file; 0: not known, or lost_labels are all */
	uint32_t labels;
	uint32_t lost_labels; /* number of its own labels that could not be written */
	/*
	 * the pid in its own namespace; `pid` is assigned by tare, see
	 * tare_processes_number_apart()
	 */
	uint32_t seen_pid;
	bool ended, apart;
	bool beginning, has_blocks; /* its own block is not filled yet; it has blocks of points */
	bool left_out;              /* already reported */
	enum tare_now now;
	uint64_t offset;   /* offset of its block */
	uint64_t handlers; /* lost points of handlers, with these labels: */
	uint64_t lost_label[FILE_LOST_WORDS];
	uint32_t *label; /* by number minus `inherited`: index of the label, or NO_LABEL */
	size_t n_labels;
	uint32_t found;        /* number of labels found */
	uint64_t label_blocks; /* number of blocks of labels; they are numbered from 0 */
	bool label_gap;
};

/* processes with lost points of handlers that are listed; the others are counted */
enum { TARE_SHOWN = 3 };
enum {
	NO_LABEL = UINT32_MAX,
	PROCESSES_MAX = 1 << 22,
	LABEL_LEAST = 24 /* bytes of one in the file */
};
#define NOT_COUNTED UINT64_MAX

/* All labels of a recording, without duplicates. */
struct tare_labels {
	struct timeline_label *label;
	uint64_t *hash; /* of each label */
	uint32_t *slot; /* open addressing by hash: index + 1 */
	size_t n, room, slots;
	void *arena;       /* memory of their texts */
	const char *file;  /* the last file name, in the arena */
	const char **args; /* of the label being read */
	size_t args_room;
};

/* The index of a label, added if new. Texts are copied. -ENOMEM. */
int tare_labels_add(struct tare_labels *l, const char *name, const char *file, uint32_t line,
		    uint8_t record_path, const char **args, size_t n_args, uint32_t *index);
/*
 * An array for n arguments with a terminating NULL, valid until the next call. NULL: out of memory.
 */
const char **tare_labels_args(struct tare_labels *l, size_t n);
/* All labels were read: free the lookup tables. */
void tare_labels_settle(struct tare_labels *l);
void tare_labels_free(struct tare_labels *l);

struct tare_timeline {
	struct timeline base;
	int fd;
	uint64_t size, first_size; /* file size at the last scan; at the first scan */
	/*
	 * later writes elsewhere are after this offset: the first empty page, or the first
	 * incomplete block
	 */
	uint64_t behind;
	uint64_t blank;  /* bytes read that contain nothing */
	bool changed;    /* it was being written during the scan */
	bool look_again; /* missing parts may be there at the next scan */
	struct tare_labels labels;
	uint32_t nameless; /* the label of points with a missing label */
	uint32_t gap;      /* the label for lost points */
	struct tare_process *process;
	size_t n_processes, process_room;
	struct tare_block *block;
	size_t n_blocks, block_room;
	struct tare_names {
		char *s;
		size_t len, room;
	} names;
	struct {
		size_t first, n;
	} * span; /* blocks of each thread */
	/* blocks that were being begun again, or after the end of their thread (last) */
	struct tare_between {
		uint32_t process, thread;
		bool last;
	} * between;
	size_t n_between;
	uint32_t lost_errno; /* errno if space for points could not be allocated */
	struct timeline_thread *threads;
	struct timeline_counter counters[FILE_COUNTERS];
	struct file_process first; /* the process that defines the counters */
	uint32_t is_clock;         /* bit per counter: measured in ticks */
	uint32_t is_clock_ns;
	uint64_t zero_ticks, zero_ns;
	uint64_t scale; /* ns per tick, times 2^SCALE_SHIFT */
	char *command;
	struct text damage, remark, live;
	unsigned lost_in_handlers;
};

enum { SCALE_SHIFT = 56 };

/* The kernel's pids are below 2^22, which is also the maximum number of processes. */
enum { APART_PID = 5000000, APART_TID = 10000000 };

static inline void tare_note_pair(uint64_t ticks, uint64_t ns, uint64_t last[2])
{
	if (ticks > last[0]) {
		last[0] = ticks;
		last[1] = ns;
	}
}

/* The process with this number, known or not; NULL: invalid number, or out of memory. */
struct tare_process *tare_process_at(struct tare_timeline *t, uint32_t serial);
/*
 * Read a process's block; last: the latest reading of both clocks. Invalid or lost parts are added
 * to the damage.
 */
int tare_process_add(struct tare_timeline *t, const struct block_head *h, uint64_t offset,
		     uint64_t last[2]);
/*
 * Each pid namespace has a pid 1, and the inode of a namespace is soon reused. A process in another
 * namespace than the recorder's gets a number assigned by tare. The program that it executes by
 * exec gets the same number: a process that did not end before, with the same pid and the same
 * start time.
 */
int tare_processes_number_apart(struct tare_timeline *t, uint64_t recorder);
/*
 * A program that called exec could not mark its end. The next program in the same process is not a
 * child.
 */
int tare_processes_note_execs(struct tare_timeline *t);

/*
 * Report missing, wrong or truncated blocks as damage, and mark their threads as incomplete. Call
 * it after all threads are known. *copying: the size of incomplete copies of existing blocks, for
 * tare_check_whole().
 */
int tare_check_threads(struct tare_timeline *t, uint64_t *copying);
/*
 * Report processes and threads that began and are missing. Call it after that and after all labels.
 */
void tare_check_whole(struct tare_timeline *t, const struct file_head *head, uint64_t copying);
__attribute__((format(printf, 2, 3))) void tare_damage(struct tare_timeline *t, const char *fmt,
						       ...);
/* Read n bytes of the file; false if they are missing or unreadable. */
bool tare_read(const struct tare_timeline *t, void *out, size_t n, uint64_t offset);

/* The current size of the file. */
uint64_t tare_size(const struct tare_timeline *t);
/* The head of the block at this offset, if there is one. */
bool tare_block_at(const struct tare_timeline *t, uint64_t at, struct block_head *h);
/* The minimum distance to the next block. */
uint64_t tare_block_step(const struct block_head *h);
/* The next page to read, up to `size`, if the one at `at` has no block. */
uint64_t tare_after_blank(struct tare_timeline *t, uint64_t at, uint64_t size);

/* Is a sealed block complete? data: room for h->used bytes, which are its data then. */
bool tare_block_is_whole(const struct tare_timeline *t, const struct block_head *h, uint64_t at,
			 uint8_t *data);

/*
 * The first b->used bytes of a block's data, as they were when *b was read, or later. data:
 * BLOCK_BYTES. If its thread has filled it and written it elsewhere since then, *b becomes that
 * block: sealed, and at least as long. False: missing or damaged.
 */
bool tare_block_fetch(struct tare_timeline *t, struct tare_block *b, struct block_head *h,
		      uint8_t *data);
/*
 * Determine which processes without an end still continue: process.now. Call it before their blocks
 * are scanned.
 */
void tare_look_who_goes_on(struct tare_timeline *t);

/* The index of the label with the number in a process's point. */
uint32_t tare_timeline_label(const struct tare_timeline *t, uint32_t process, uint32_t number);

int tare_cursor_open(struct timeline *t, size_t thread, struct cursor **out,
		     struct tare_error *err);
int tare_cursor_read(struct cursor *c, size_t most, const struct timeline_point **points,
		     struct tare_error *err);
void tare_cursor_close(struct cursor *c);

extern const struct timeline_format timeline_tare;

#endif
