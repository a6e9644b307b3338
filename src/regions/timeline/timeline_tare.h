/* SPDX-License-Identifier: MIT */
/* A recording in tare's own format (recording/region_format.h), opened: shared by the files that read it. */
#ifndef REGIONS_TIMELINE_TIMELINE_TARE_H
#define REGIONS_TIMELINE_TIMELINE_TARE_H

#include "base/text.h"
#include "recording/region_format.h"
#include "regions/timeline/timeline_format.h"

/* A thread's block: candidates with the same seq stand side by side, the sealed one first. */
struct tare_block {
	uint64_t offset, seq, lost;
	uint64_t first, points; /* points before it; in it, or NOT_COUNTED */
	uint32_t process, thread;
	uint32_t pid, tid;
	uint32_t used; /* of data; what there may be, in an open one */
	uint32_t name; /* in the text of names */
	uint8_t sealed, flags, cut;
	uint8_t bad; /* cannot be read, or has a wrong sum */
};

/* Of a process that did not end in order. */
enum tare_now {
	TARE_NOT_KNOWN, /* it cannot be seen from here */
	TARE_GONE,
	TARE_GOES_ON, /* with the recording */
	TARE_JUST_ENDED, /* in order, since its block was read */
};

struct tare_process {
	bool known;
	uint32_t pid, parent, inherited;
	uint64_t pid_namespace, born;
	uint32_t threads; /* that have begun; 0: not known */
	uint32_t labels; /* of its own that were there; 0: not known, or lost_labels are all */
	uint32_t lost_labels; /* of its own that could not be written */
	uint32_t seen_pid; /* apart: by itself; `pid` is a number of ours, see number_apart() */
	bool ended, apart;
	bool beginning, has_blocks; /* its own is not filled yet; and there are some of points */
	bool left_out; /* that is said */
	enum tare_now now;
	uint64_t offset; /* of its block */
	uint64_t handlers; /* points that they lost, of these labels: */
	uint64_t lost_label[FILE_LOST_WORDS];
	uint32_t *label; /* by number, from `inherited` on: its index, or NO_LABEL */
	size_t n_labels;
	uint32_t found; /* of them */
	uint64_t label_blocks; /* that are there; they are numbered from 0 */
	bool label_gap;
};

enum { TARE_SHOWN = 3 }; /* of processes that lost points of handlers; of the others, how many */
enum { NO_LABEL = UINT32_MAX, PROCESSES_MAX = 1 << 22, LABEL_LEAST = 24 /* bytes of one in the file */ };
#define NOT_COUNTED UINT64_MAX

/* All labels of a recording, each once. */
struct tare_labels {
	struct timeline_label *label;
	uint64_t *hash; /* of each */
	uint32_t *slot; /* index + 1 by hash, open addressing */
	size_t n, room, slots;
	void *arena; /* of their texts */
	const char *file; /* the last of them, in it */
	const char **args; /* of the one that is read */
	size_t args_room;
};

/* Its index, new or not; texts are copied. -ENOMEM. */
int tare_labels_add(struct tare_labels *l, const char *name, const char *file, uint32_t line, uint8_t way,
		    const char **args, size_t n_args, uint32_t *index);
/* Where to list n arguments for it, NULL behind them; valid until the next call. NULL: out of memory. */
const char **tare_labels_args(struct tare_labels *l, size_t n);
/* All labels are there: what only finds them is freed. */
void tare_labels_settle(struct tare_labels *l);
void tare_labels_free(struct tare_labels *l);

struct tare_timeline {
	struct timeline base;
	int fd;
	uint64_t size, first_size; /* of the file: as far as it was looked at, and when that began */
	uint64_t behind; /* what was written elsewhere since lies there: not before the first page in which nothing was yet, or block that was not all there */
	bool changed;		   /* it was being written meanwhile */
	bool look_again;	   /* what is missing may be about to come */
	struct tare_labels labels;
	uint32_t nameless; /* the label of points whose own is not there */
	uint32_t gap;	   /* that of what was lost */
	struct tare_process *process;
	size_t n_processes, process_room;
	struct tare_block *block;
	size_t n_blocks, block_room;
	struct tare_names { char *s; size_t len, room; } names;
	struct { size_t first, n; } *span; /* of each thread's blocks */
	struct tare_between { uint32_t process, thread; bool last; } *between; /* blocks that were being begun anew, or whose thread ended (last) */
	size_t n_between;
	uint32_t lost_errno; /* space was asked for points and not had */
	struct timeline_thread *threads;
	struct timeline_counter counters[FILE_COUNTERS];
	struct file_process first; /* whose counters these are */
	uint32_t is_clock;	   /* bit per counter: in ticks */
	uint32_t is_clock_ns;
	uint64_t zero_ticks, zero_ns;
	uint64_t scale; /* ns per tick, times 2^SCALE_SHIFT */
	char *command;
	struct text damage, remark, live;
	unsigned lost_in_handlers;
};

enum { SCALE_SHIFT = 56 };

/* Pids of the kernel end at 2^22, which is the most that there are of processes, too. */
enum { APART_PID = 5000000, APART_TID = 10000000 };

static inline void tare_note_pair(uint64_t ticks, uint64_t ns, uint64_t last[2])
{
	if (ticks > last[0]) {
		last[0] = ticks;
		last[1] = ns;
	}
}

/* That of this number, known or not; NULL: there cannot be one, or no memory. */
struct tare_process *tare_process_at(struct tare_timeline *t, uint32_t serial);
/* What a process's block says becomes known; last: the latest reading of both clocks. What of it cannot be, or is lost, is damage. */
int tare_process_add(struct tare_timeline *t, const struct block_head *h, uint64_t offset, uint64_t last[2]);
/*
 * Each pid namespace has a pid 1, and its inode is soon another's. A process that is of another than the recorder gets a number of its own; so does the
 * program that it goes on as after exec, which is one that was not ended by itself, of the same pid, made in the same moment.
 */
int tare_processes_number_apart(struct tare_timeline *t, uint64_t recorder);
/* A program that called exec had no time to say that it ended; the one after it in the same process is nobody's child. */
int tare_processes_note_execs(struct tare_timeline *t);

/* Blocks that are missing, wrong or cut off become damage, and their threads incomplete. After all threads are known. *copying: what
 * copies take of blocks that are there, for the other. */
int tare_check_threads(struct tare_timeline *t, uint64_t *copying);
/* What began and is not there; after that and all labels. */
void tare_check_whole(struct tare_timeline *t, const struct file_head *head, uint64_t copying);
__attribute__((format(printf, 2, 3))) void tare_damage(struct tare_timeline *t, const char *fmt, ...);
/* n bytes of the file, all of them; false where they are not there or cannot be read. */
bool tare_read(const struct tare_timeline *t, void *out, size_t n, uint64_t offset);

/* As long as the file is now. */
uint64_t tare_size(const struct tare_timeline *t);
/* The head of the block that begins there, if one does. */
bool tare_block_at(const struct tare_timeline *t, uint64_t at, struct block_head *h);
/* How far behind it the next one may begin. */
uint64_t tare_block_step(const struct block_head *h);

/* Whether all of a sealed block is there; data: room for h->used bytes, which are its own then. */
bool tare_block_is_whole(const struct tare_timeline *t, const struct block_head *h, uint64_t at, uint8_t *data);

/*
 * The data of a block as it is or was when *b was made, its first b->used bytes; data: BLOCK_BYTES. Where its thread has filled it since
 * and written it elsewhere, *b is that one: sealed, and not shorter. False: it is not there, or damaged.
 */
bool tare_block_fetch(const struct tare_timeline *t, struct tare_block *b, struct block_head *h, uint8_t *data);
/* Which processes go on, of those that did not end: process.now. Before their blocks are looked at. */
void tare_look_who_goes_on(struct tare_timeline *t);

/* The index of a label that a point of a process says. */
uint32_t tare_timeline_label(const struct tare_timeline *t, uint32_t process, uint32_t number);

int tare_cursor_open(struct timeline *t, size_t thread, struct cursor **out, struct tare_error *err);
int tare_cursor_read(struct cursor *c, size_t most, const struct timeline_point **points, struct tare_error *err);
void tare_cursor_close(struct cursor *c);

extern const struct timeline_format timeline_tare;

#endif
