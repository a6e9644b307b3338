/* SPDX-License-Identifier: MIT */
/*
 * A recording of regions as a file. region_*.c write it, timeline_tare.c reads it, and this drawing is the
 * specification. All numbers are little-endian, but in a file of a machine that is not (its `order` says so).
 *
 *	offset 0	struct file_head, one page
 *	then		blocks, each at a multiple of 4096: struct block_head and `used` bytes of data;
 *			pages between that hold no block are space that was given back, or never filled
 *
 * Several processes write one file at once: each takes space by adding to file_head.next, which all map. A process
 * keeps one block for itself, one for labels and one for each live thread mapped (`OPEN`), and writes into memory
 * that is the file's: nothing that it wrote is lost when it is killed. When a thread's block is full, it is written
 * elsewhere as a `SEALED` one, with its sum, and begun anew.
 *
 * Who reads meanwhile finds what was there once: `SEALED` blocks stay as they are but for those that threads write into, and what
 * was in such a one is written elsewhere, behind all that was there, before its state is FREE and its data are 0. So of a block that has the
 * same head after its data were read, the data are its own. A head's magic is written last, and so is the first word of a wide point; a
 * process's block is FREE until it is filled.
 *
 * Points. Their block begins with the values of all counters (block_head.value), for who does not have the block before;
 * who has goes on from its end, for what counters counted while the block was written is in no difference. Each point
 * is one record; for n counters it holds n differences to the point before:
 *
 *	a word w of 3, 4 or 8 bytes:	bits 0-1	1, 2 or 3: its size; 0: no more points here
 *					bit  2		0 begin, 1 end
 *					bits 3-13	label, or POINT_WIDE
 *					bits 14-	difference of the first counter (0 where there are none)
 *	for each further counter, x:	bits 0-1	1, 2 or 3: 2, 4 or 8 bytes
 *					bits 2-		its difference
 *
 * A wide point is for everything else. Its w has 8 bytes, then come u64s:
 *
 *	w:	bits 0-13	3, 0, POINT_WIDE
 *		bits 14-19	enum point_op
 *		bits 20-63	label
 *	number	(whatever the op says; 0 for begin and instant; of an end 1: what it ends did not end there, but is not known
 *		to have ended elsewhere either)
 *	then one difference for each counter
 *
 * Differences are taken modulo 2^64: a clock that steps back has a huge one. After OP_MISSING, whose `number` has a
 * bit for each counter, those counters mean nothing until the next OP_MISSING.
 *
 * Labels. A block of them holds records of
 *
 *	offset	size
 *	0	4	bytes of the record, a multiple of 8; written last; 0: no more labels here
 *	4	4	its number, which points say
 *	8	3	line in the source, or 0
 *	11	1	how points of it are recorded: an enum tare_region_path
 *	12	4	how many arguments
 *	16		name, source file ("" for none), arguments: each ended by a byte 0
 *
 * A label is in the file before the first point that says it. A process made by fork has the labels of its parent
 * below `inherited`.
 *
 * The sum, over the 64-bit words of the data, the last one filled up with 0: four lanes begin at 1, 2, 3, 4; word i
 * goes to lane i mod 4: lane = (lane ^ word) * SUM_FACTOR; in the end lanes are joined, h = (h ^ h >> 29 ^ lane) *
 * SUM_FACTOR, from h = `used`. A block's has its lost * SUM_FACTOR + flags added.
 */
#ifndef RECORDING_REGION_FORMAT_H
#define RECORDING_REGION_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FILE_MAGIC "tareRGN\n"

enum {
	FILE_ORDER = 0x01020304,
	FILE_VERSION = 2,
	FILE_PAGE = 4096,
	FILE_COUNTERS = 8, /* at most */
	BLOCK_MAGIC = 0x31425254, /* "TRB1" */
	BLOCK_BYTES = 65536, /* of a thread's block, at most, and of one of labels */
};

#define SUM_FACTOR 0x9e3779b97f4a7c15ull

struct file_head {
	char magic[8];
	uint32_t order, version;
	uint64_t next;	    /* offset of the next block; shared by all who write */
	uint32_t processes; /* how many have begun; shared */
	uint32_t machine;   /* ELF's number of the CPU's kind */
	uint64_t start_ns;  /* since 1970 */
	uint64_t lost;	    /* points of processes that could not even have a block; shared */
	uint32_t lost_processes, lost_errno;
	char counters[1024]; /* as they were asked for */
	char command[2048];
	char cpu[64];	    /* its model, in its own words; "": not known */
	uint32_t untold_processes; /* further ones, which wrote nothing, nor how much that is, nor did their children; shared */
	uint32_t by_program; /* no recorder made the file, but a program that found none of the name that TARE_REGIONS says */
	uint64_t pid_namespace;	   /* the inode of who made the file; 0: not known */
	uint32_t one_cpu;	   /* the command may use one only, as far as its recorder or who made the file knew */
	uint64_t unfilled;	   /* bytes taken that the disk did not have, and that could not be given back; bit 0: they are counted; shared */
	char pad[FILE_PAGE - 3224];
};

enum block_kind { BLOCK_PROCESS = 1, BLOCK_LABELS, BLOCK_POINTS };
enum block_state {
	BLOCK_OPEN = 1, /* being written: no sum, ends where it says */
	BLOCK_SEALED,
	BLOCK_FREE, /* holds nothing any more */
};
enum { BLOCK_LAST = 1 /* the thread ended, or the recording did */ };

struct block_head {
	uint32_t magic;
	uint16_t kind, state;
	uint32_t size;	  /* bytes to where the next one may begin, a multiple of 4096 */
	uint32_t used;	  /* bytes of data; 0 while it is open */
	uint32_t process; /* 0, 1, ... in the file */
	uint32_t thread;  /* 0, 1, ... in the process */
	uint32_t pid, tid;
	uint64_t seq;		  /* 0, 1, ...: the thread's blocks, or the process's of labels */
	uint64_t lost;		  /* points lost between the block before and this one */
	uint64_t ticks, clock_ns; /* read together when the block began: the clock, CLOCK_MONOTONIC_RAW */
	char name[16];		  /* of the thread */
	uint32_t flags;
	uint32_t missing; /* counters that mean nothing, at its beginning */
	uint64_t value[FILE_COUNTERS];
	uint64_t first;	   /* points of the thread before this block, those that were lost included */
	uint64_t head_sum; /* of what is above, with state, used, lost, flags and name as 0 */
	uint64_t sum;	   /* of the data, of lost, flags and name, when sealed */
	uint64_t points;   /* in it, when sealed: what is missing where the data is damaged */
	uint64_t seal_sum; /* of a block of points when sealed: of all that is above */
};

enum counter_kind {
	COUNTER_CLOCK = 1, /* ticks of the CPU's clock */
	COUNTER_CLOCK_NS,  /* ns of CLOCK_MONOTONIC_RAW */
	COUNTER_COUNT,
};

struct file_counter {
	char name[64], unit[16], note[200];
	uint32_t kind;	  /* enum counter_kind */
	uint32_t quality; /* enum tare_quality */
};

enum {
	FILE_PATHS = 7, /* those of enum tare_region_path, and */
	FILE_PATH_WIDE = FILE_PATHS - 1, /* that of C with a label above the 2046th */
};

/* The bits of file_process.lost_label: a label's may be another's, too. */
enum {
	FILE_LOST_WORDS = 3,
	LOST_UNNAMED = 0, /* a label that has no number yet */
	LOST_ANY = 1,     /* nobody knows which */
	LOST_LABELS = 2,  /* from here on: label n's is LOST_LABELS + (n - 1) % (64 * FILE_LOST_WORDS - LOST_LABELS) */
};

/* What an empty region costs, in the counter's unit or in ticks: what it shows itself, what beside that is around it sees;
 * and how far either can be off. */
struct file_own {
	float inside, outside, inside_off, outside_off;
};

/* The data of a process's block. */
struct file_process {
	uint32_t ended;	    /* in order */
	uint32_t parent;    /* the process that it was forked from; its own number when it was not */
	uint32_t inherited; /* labels below this are the parent's */
	uint32_t n_counters;
	/* ns = ticks * mult >> shift, when mult is not 0; else as the ticks and clock_ns of blocks tell. */
	uint32_t mult, shift;
	uint64_t start_ticks, start_clock_ns; /* read together when the recording was asked for */
	uint64_t end_ticks, end_clock_ns;     /* and when it ended */
	uint64_t lost; /* points of threads without a block; of handlers that interrupted a point, less each that is written later */
	uint32_t lost_threads, lost_errno;
	struct file_counter counter[FILE_COUNTERS];
	struct file_own own[FILE_PATHS][FILE_COUNTERS];
	uint32_t measured; /* bit per path: `own` says what it costs; set last */
	char command[572]; /* not ended here by a byte 0: of an older tare, and what is up to `threads` belongs to it */
	uint32_t lost_labels, lost_labels_errno; /* of its own that could not be written, each counted once, and why the last of them */
	uint32_t labels;  /* of its own that are there, each counted behind its text; 0: not known */
	uint32_t threads; /* that had a block, each counted before its first; 0: not known */
	uint64_t pid_namespace, born; /* its inode, in which pids are its own; when the process was made, in ticks of USER_HZ since boot; 0: not known */
	uint64_t lost_label[FILE_LOST_WORDS]; /* labels of points that handlers lost, or kept for a time; all 0 with some lost: not known */
};

enum { POINT_WIDE = 0x7ff, POINT_MAX = 16 + 8 * FILE_COUNTERS };

enum point_op {
	OP_BEGIN,
	OP_END,
	OP_INSTANT,
	OP_INTEGER, /* number: the value */
	OP_START,   /* number: joins it with its finish, in the same process */
	OP_FINISH,
	OP_MISSING, /* number: which counters from here on. No point for who reads */
	OP_COUNT,
};

_Static_assert(sizeof(struct file_head) == FILE_PAGE, "one page");
_Static_assert(sizeof(struct block_head) == 192, "as drawn");
_Static_assert(sizeof(struct block_head) + sizeof(struct file_process) <= FILE_PAGE, "one page");

uint64_t format_sum(const void *data, size_t n);
uint64_t format_block_sum(const struct block_head *b, const void *data);
/* Over `b` as drawn: what never changes while the block is open. */
uint64_t format_head_sum(const struct block_head *b);
/* Over `b` as it is when its state is BLOCK_SEALED. */
uint64_t format_seal_sum(const struct block_head *b);

/* Copy a head to where its block begins, the magic last: who is killed on the way leaves no block, and no damage. */
void format_begin_block(struct block_head *b, const struct block_head *head);
/* A page in which that was going on: a head without magic, and no data. */
bool format_is_begun(const void *page, size_t n);
/* Why labels are lost, in words: file_process.lost_labels_errno. */
const char *format_why_lost(uint32_t code);
/* Which bit of file_process.lost_label is the label's; 0 is no label: LOST_ANY. */
unsigned format_lost_bit(uint32_t label);

struct format_point {
	enum point_op op;
	uint32_t label;
	uint64_t number;
	uint64_t gap[FILE_COUNTERS];
};

/* The record at p, of a file with n counters, when it lies whole before `end`: its bytes; 0 when there is none. */
size_t format_point(const uint8_t *p, const uint8_t *end, unsigned n, struct format_point *out);

#endif
