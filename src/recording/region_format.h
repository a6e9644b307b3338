/* SPDX-License-Identifier: MIT */
/*
 * The file format of a recording of regions. region_*.c write it, timeline_tare.c reads it; this
 * comment is the specification. All numbers are little-endian, except in a file from a big-endian
 * machine (see `order`).
 *
 *	offset 0	struct file_head, one page
 *	then		blocks, each at a multiple of 4096: struct block_head and `used` bytes of data;
 *			pages between them without a block were freed, or never filled
 *
 * Several processes write one file at once: each allocates space by adding to file_head.next, which
 * all of them map. A process maps a block for itself, one for labels and one for each live thread
 * (`OPEN`), and writes to shared file mappings, so nothing is lost when it is killed. When a
 * thread's block is full, it is appended to the file as a `SEALED` block with a checksum, and begun
 * again.
 *
 * A reader of a file that is being written still finds all earlier data. `SEALED` blocks do not
 * change, except the blocks that threads write to. Such a block is first appended after all
 * existing data; then its state becomes FREE, and then its data are zeroed. So if a block's head is
 * unchanged after reading its data, the data are valid. A head's magic is written last, and so is
 * the first word of a wide point. A process's block is FREE until it is filled.
 *
 * Points. A block of points begins with the values of all counters (block_head.value), for readers
 * that do not have the previous block. Readers that have it continue from its end, because counts
 * during the writing of a block are in no difference. Each point is one record; for n counters it
 * contains n differences to the previous point:
 *
 *	a word w of 3, 4 or 8 bytes:	bits 0-1	1, 2 or 3: its size; 0: no more points here
 *					bit  2		0 begin, 1 end
 *					bits 3-13	label, or POINT_WIDE
 *					bits 14-	first counter's difference (0 if no counters)
 *	for each further counter, x:	bits 0-1	1, 2 or 3: 2, 4 or 8 bytes
 *					bits 2-		its difference
 *
 * All other points are wide points. The word w of a wide point has 8 bytes and is followed by u64s:
 *
 *	w:	bits 0-13	3, 0, POINT_WIDE
 *		bits 14-19	enum point_op
 *		bits 20-63	label
 *	number	(depends on the op; 0 for begin and instant; for an end, 1 means: the region did
 *		not end here, and it is not known where it ended)
 *	then one difference for each counter
 *
 * Differences are modulo 2^64: a clock that steps back has a huge one. After OP_MISSING, whose
 * `number` has a bit for each counter, the counters with a set bit are undefined until the next
 * OP_MISSING.
 *
 * Labels. A block of labels contains records:
 *
 *	offset	size
 *	0	4	bytes of the record, a multiple of 8; written last; 0: no more labels here
 *	4	4	its number, used by points
 *	8	3	line in the source, or 0
 *	11	1	how its points are recorded: an enum tare_region_path
 *	12	4	number of arguments
 *	16		name, source file ("" if none), arguments: each ended by a byte 0
 *
 * A label is in the file before the first point that uses it. A process made by fork inherits its
 * parent's labels below `inherited`.
 *
 * The checksum covers the 64-bit words of the data, the last one padded with 0. Four lanes begin at
 * 1, 2, 3, 4. Word i goes to lane i mod 4: lane = (lane ^ word) * SUM_FACTOR. At the end the lanes
 * are joined, h = (h ^ h >> 29 ^ lane) * SUM_FACTOR, starting from h = `used`. A block's checksum
 * has lost * SUM_FACTOR + flags added.
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
	FILE_COUNTERS = 8,        /* maximum */
	BLOCK_MAGIC = 0x31425254, /* "TRB1" */
	BLOCK_BYTES = 65536,      /* maximum size of a thread's block, and of a block of labels */
};

#define SUM_FACTOR 0x9e3779b97f4a7c15ull

struct file_head {
	char magic[8];
	uint32_t order, version;
	uint64_t next;      /* offset of the next block; shared by all writers */
	uint32_t processes; /* number of processes that have begun; shared */
	uint32_t machine;   /* ELF machine number of the CPU */
	uint64_t start_ns;  /* since 1970 */
	uint64_t lost;      /* points of processes that could not get a block; shared */
	uint32_t lost_processes, lost_errno;
	char counters[1024]; /* as requested */
	char command[2048];
	char cpu[64]; /* its model name, or the model that the program saw; "": not known */
	/*
	 * further processes that wrote nothing, not even the number of lost points, nor did their
	 * children; shared
	 */
	uint32_t untold_processes;
	/*
	 * not created by a recorder, but by a program that found no file with the name in
	 * TARE_REGIONS
	 */
	uint32_t by_program;
	uint64_t pid_namespace; /* inode of the creator's pid namespace; 0: not known */
	/* the command could use only one CPU, as far as its recorder or the file's creator knew */
	uint32_t one_cpu;
	/*
	 * bytes allocated that the disk did not have, and that could not be freed; bit 0: they are
	 * counted; shared
	 */
	uint64_t unfilled;
	char pad[FILE_PAGE - 3224];
};

enum block_kind { BLOCK_PROCESS = 1, BLOCK_LABELS, BLOCK_POINTS };
enum block_state {
	BLOCK_OPEN = 1, /* being written: no checksum, ends where its records do */
	BLOCK_SEALED,
	BLOCK_FREE, /* has no data any more */
};
enum { BLOCK_LAST = 1 /* the thread ended, or the recording did */ };

struct block_head {
	uint32_t magic;
	uint16_t kind, state;
	uint32_t size;    /* bytes to the next possible block, a multiple of 4096 */
	uint32_t used;    /* bytes of data; 0 while it is open */
	uint32_t process; /* 0, 1, ... in the file */
	uint32_t thread;  /* 0, 1, ... in the process */
	uint32_t pid, tid;
	/* 0, 1, ...: index among the thread's blocks, or among the process's blocks of labels */
	uint64_t seq;
	uint64_t lost; /* points lost between the previous block and this one */
	/*
	 * both clocks, read together at the beginning of the block: the CPU's and
	 * CLOCK_MONOTONIC_RAW
	 */
	uint64_t ticks, clock_ns;
	char name[16]; /* of the thread */
	uint32_t flags;
	uint32_t missing; /* bit per counter: undefined at the beginning of the block */
	uint64_t value[FILE_COUNTERS];
	uint64_t first;    /* points of the thread before this block, including lost ones */
	uint64_t head_sum; /* of the fields above, with state, used, lost, flags and name as 0 */
	uint64_t sum;      /* of the data, lost, flags and name, when sealed */
	/* number of points when sealed: the number missing if the data is damaged */
	uint64_t points;
	uint64_t seal_sum; /* of a block of points when sealed: of all fields above */
};

enum counter_kind {
	COUNTER_CLOCK = 1, /* ticks of the CPU's clock */
	COUNTER_CLOCK_NS,  /* ns of CLOCK_MONOTONIC_RAW */
	COUNTER_COUNT,
};

struct file_counter {
	char name[64], unit[16], note[200];
	uint32_t kind;    /* enum counter_kind */
	uint32_t quality; /* enum tare_quality */
};

enum {
	FILE_PATHS = 7,                  /* those of enum tare_region_path, and */
	FILE_PATH_WIDE = FILE_PATHS - 1, /* C with a label above the 2046th */
};

/* The bits of file_process.lost_label. Several labels may share a bit. */
enum {
	FILE_LOST_WORDS = 3,
	LOST_UNNAMED = 0, /* a label without a number */
	LOST_ANY = 1,     /* not known which */
	/*
	 * the first label's bit: label n has LOST_LABELS + (n - 1) % (64 * FILE_LOST_WORDS -
	 * LOST_LABELS)
	 */
	LOST_LABELS = 2,
};

/*
 * The overhead of a region, in the counter's unit or in ticks: the cost between begin and end of an
 * empty region, the cost that its surroundings see, and the largest error of both.
 */
struct file_own {
	float inside, outside, inside_off, outside_off;
};

/* The data of a process's block. */
struct file_process {
	uint32_t ended;     /* it ended properly */
	uint32_t parent;    /* the process that it was forked from; its own number if not forked */
	uint32_t inherited; /* labels below this number are the parent's */
	uint32_t n_counters;
	/*
	 * ns = ticks * mult >> shift, if mult is not 0; otherwise computed from the ticks and
	 * clock_ns of blocks.
	 */
	uint32_t mult, shift;
	/* both clocks, read together when the recording was requested */
	uint64_t start_ticks, start_clock_ns;
	uint64_t end_ticks, end_clock_ns; /* and when it ended */
	/*
	 * points of threads without a block, and of handlers that interrupted a point, minus those
	 * written later
	 */
	uint64_t lost;
	uint32_t lost_threads, lost_errno;
	struct file_counter counter[FILE_COUNTERS];
	struct file_own own[FILE_PATHS][FILE_COUNTERS];
	uint32_t measured; /* bit per path: `own` has its overhead; set last */
	/*
	 * not terminated by a byte 0 here: written by an older tare; then the fields up to
	 * `threads` belong to it
	 */
	char command[572];
	/*
	 * number of its own labels that could not be written, each counted once, and the errno of
	 * the last one
	 */
	uint32_t lost_labels, lost_labels_errno;
	/*
	 * number of its own labels in the file, each counted after its text is written; 0: not
	 * known
	 */
	uint32_t labels;
	/* number of threads with a block, each counted before its first block; 0: not known */
	uint32_t threads;
	/*
	 * inode of its pid namespace; start time of the process, in ticks of USER_HZ since boot; 0:
	 * not known
	 */
	uint64_t pid_namespace, born;
	/*
	 * labels of points that handlers lost, or kept for some time; all 0 with some lost: not
	 * known
	 */
	uint64_t lost_label[FILE_LOST_WORDS];
};

enum { POINT_WIDE = 0x7ff, POINT_MAX = 16 + 8 * FILE_COUNTERS };

enum point_op {
	OP_BEGIN,
	OP_END,
	OP_INSTANT,
	OP_INTEGER, /* number: the value */
	OP_START,   /* number: matches it with its finish, in the same process */
	OP_FINISH,
	/*
	 * number: bit per counter that is undefined from here on. Readers do not see it as a point
	 */
	OP_MISSING,
	OP_COUNT,
};

_Static_assert(sizeof(struct file_head) == FILE_PAGE, "one page");
_Static_assert(sizeof(struct block_head) == 192, "as drawn");
_Static_assert(sizeof(struct block_head) + sizeof(struct file_process) <= FILE_PAGE, "one page");

uint64_t format_sum(const void *data, size_t n);
uint64_t format_block_sum(const struct block_head *b, const void *data);
/* Of the fields of `b` that do not change while the block is open. */
uint64_t format_head_sum(const struct block_head *b);
/* Of `b` with state BLOCK_SEALED. */
uint64_t format_seal_sum(const struct block_head *b);

/*
 * Copy a head to the beginning of its block, the magic last: if the process is killed meanwhile,
 * there is no block and no damage.
 */
void format_begin_block(struct block_head *b, const struct block_head *head);
/* Is this a page in which a head was being copied: a head without magic, and no data? */
bool format_is_begun(const void *page, size_t n);
/* The reason in file_process.lost_labels_errno, in words. */
const char *format_why_lost(uint32_t code);
/* The bit of a label in file_process.lost_label; 0 is no label: LOST_ANY. */
unsigned format_lost_bit(uint32_t label);

struct format_point {
	enum point_op op;
	uint32_t label;
	uint64_t number;
	uint64_t gap[FILE_COUNTERS];
};

/*
 * The size of the record at p, in a file with n counters; 0 if there is no complete record before
 * `end`.
 */
size_t format_point(const uint8_t *p, const uint8_t *end, unsigned n, struct format_point *out);

#endif
