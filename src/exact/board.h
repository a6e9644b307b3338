/* SPDX-License-Identifier: MIT */
/*
 * The board: one sparse memory file that the supervisor and the engine in every process of a counted
 * program map. What stands here outlives a process that is killed, and is read at any time.
 *
 *	offset            size
 *	0                 HEAD        struct board
 *	BOARD_PROCESSES   PROCESSES * sizeof(struct process)
 *	BOARD_THREADS     THREADS * THREAD_STRIDE
 *	                  each: struct thread, stacks, then at THREAD_COUNTERS one u64 per counter, and at
 *	                  THREAD_SEEN as many
 *	BOARD_BLOCKS      LINEAGES * LINEAGE_STRIDE
 *	                  each: struct block_facts per kind of counter, shared by the processes forked from one
 *	                  exec; a u32 per counter: its kind; then, when COUNT_PROFILE, a u64 per counter: what ended threads have counted
 *	BOARD_PAST        PAST_MAX * sizeof(struct past)
 *	BOARD_ENDED       ENDED_MAX * sizeof(struct ended_thread)
 *	BOARD_MODULES, BOARD_MAPPINGS, BOARD_CODE: the profile of ended programs, see profile.c
 *	BOARD_FILTERS     FILTERS * sizeof(struct filter)
 *	BOARD_HAPPENINGS  HAPPENINGS_MAX * sizeof(struct happening), see samples.h
 */
#ifndef EXACT_BOARD_H
#define EXACT_BOARD_H

#include <stdbool.h>
#include <stdint.h>
#include "exact/classes.h"
#include "exact/descent.h"
#include "exact/samples.h"

#define BOARD_MAGIC      0x6472616f42657261ull /* "areBoard" */
#define BOARD_PROCESSES  0x1000000ull
#define PROCESSES        4096u
#define BOARD_THREADS    0x10000000ull
#define THREADS          4096u
#define THREAD_STRIDE    0x4000000ull /* 64 MiB: struct, stacks, counters */
#define THREAD_COUNTERS  0x100000ull
#define COUNTERS_MAX     0x380000u /* of 8 bytes: 28 MiB, twice (see THREAD_SEEN) */
#define COUNTER_APART    0x80000000u /* with the kind of one that is no block's */
#define THREAD_SEEN      (THREAD_COUNTERS + COUNTERS_MAX * 8ull) /* the counters at the thread's last reading */
#define BOARD_BLOCKS     (BOARD_THREADS + THREADS * THREAD_STRIDE)
#define LINEAGES         4096u
#define LINEAGE_KINDS    (COUNTERS_MAX * 32ull)
#define LINEAGE_SUMS     (LINEAGE_KINDS + COUNTERS_MAX * 4ull)
#define LINEAGE_STRIDE   (LINEAGE_SUMS + COUNTERS_MAX * 8ull)
#define BOARD_PAST       (BOARD_BLOCKS + LINEAGES * LINEAGE_STRIDE)
#define PAST_MAX         0x100000u
#define BOARD_ENDED      (BOARD_PAST + PAST_MAX * sizeof(struct past))
#define ENDED_MAX        0x100000u
#define BOARD_MODULES    (BOARD_ENDED + ENDED_MAX * sizeof(struct ended_thread))
#define MODULES_MAX      0x4000u
#define BOARD_MAPPINGS   (BOARD_MODULES + MODULES_MAX * sizeof(struct module))
#define MAPPINGS_MAX     0x100000u
#define BOARD_CODE       (BOARD_MAPPINGS + MAPPINGS_MAX * sizeof(struct mapping))
#define CODE_MAX         0x400000u
#define BOARD_FILTERS    (BOARD_CODE + CODE_MAX * sizeof(struct code_sum))
#define FILTERS          0x1000u
#define BOARD_HAPPENINGS (BOARD_FILTERS + FILTERS * sizeof(struct filter))
#define HAPPENINGS_MAX   0x100000u
#define BOARD_SIZE       (BOARD_HAPPENINGS + HAPPENINGS_MAX * sizeof(struct happening))

/* How the program is counted. */
enum {
	COUNT_RUNNING = 1, /* also a running instruction count in struct thread, for a plain load */
	COUNT_TAKEN = 2,   /* also the fall-throughs of conditional branches */
	COUNT_PROFILE = 4, /* also where each block came from */
	COUNT_EVERY = 8,   /* also a sample every so many of a class */
	SAME_RANDOM = 16,  /* getrandom gives constant bytes */
	SAME_READDIR = 32, /* directories are read by the names of their entries */
	COUNT_PATH = 64,   /* also a hash of the way that each thread went: engine/path.c */
	TURNED_READDIR = 128, /* likewise, from the last to the first */
};

/*
 * What a counter stands for. Most blocks add what some other adds, too: each such kind is written down once. Number 0 is
 * none.
 */
struct block_facts {
	uint64_t pc;
	uint8_t adds[EXACT_CLASSES]; /* per execution, by class; TAKEN is signed: a fall-through has -1 */
	uint16_t size;    /* of its code, in bytes */
	uint32_t mapping; /* what stood there, when COUNT_PROFILE */
};

_Static_assert(sizeof(struct block_facts) == 32, "LINEAGE_STRIDE counts on it");

/* What `n` executions add to each class: most blocks add to few. */
static inline void facts_times(int64_t sums[EXACT_CLASSES], const struct block_facts *f, int64_t n)
{
	uint64_t words[(EXACT_CLASSES + 7) / 8] = { 0 };

	__builtin_memcpy(words, f->adds, EXACT_CLASSES);
	for (int from = 0; from < EXACT_CLASSES; from += 8)
		for (uint64_t left = words[from / 8]; left;) {
			int at = __builtin_ctzll(left) & ~7;

			/* The counters are the program's to write: no overflow is undefined. */
			sums[from + at / 8] = (int64_t)((uint64_t)sums[from + at / 8] + (uint64_t)n * (uint64_t)(int64_t)(int8_t)(left >> at));
			left &= ~(0xffull << at);
		}
}

/*
 * Sums are on the board with their check: one word that is written over shows. It is additive, as sums are: what adds to the one
 * adds to the other. It is no secret: a program that knows it can forge both, as it can forge its counters.
 */
static inline uint64_t sum_weight(int class)
{
	uint64_t h = ((uint64_t)class + 1) * 0x9e3779b97f4a7c15ull;

	return (h ^ h >> 29) * 0xbf58476d1ce4e5b9ull | 1;
}

static inline uint64_t sums_check(const int64_t sums[EXACT_CLASSES])
{
	uint64_t check = 0;

	for (int c = 0; c < EXACT_CLASSES; c++)
		check += (uint64_t)sums[c] * sum_weight(c);
	return check;
}

/* A program's handler for one signal, as the kernel takes it. */
struct action {
	uint64_t handler, flags, restorer, mask;
};

/* Signals that wait, by the bit, and what the kernel said of them: see engine/kept.c. */
enum { KEPT_MAX = 5 };

struct kept {
	volatile uint64_t which;
	uint8_t info[KEPT_MAX][128];
};

enum { SIGNALS = 64, REASON_MAX = 200, GAINER_MAX = 120, EXEC_REGIONS = 24, UNCOUNTED_MAX = 16 };

/* What a program may limit itself to, and the engine's memory counts against. */
enum { LIMIT_SPACE, LIMIT_DATA, LIMITS };

/* As the kernel takes it. */
struct limit {
	uint64_t cur, max;
};

/* How far a process is that dies and leaves a core: see engine/park.c. */
enum dying_state { DYING_NOT, DYING_ASKED /* to have its other threads brought out */, DYING_SEEN, DYING_PARKED, DYING_ALONE /* not all could be */ };

/* In place of SI_USER and the like: come out of the engine; this thread has. */
enum { PARK_CODE = -0x7a4d, PARKED_CODE = -0x7a4c };

/* How a process ends that the engine has let end; else a signal's number. */
enum { ENDING_NOT = 0, ENDING_EXIT = 1000 };

/* Why a process is not counted to its end. */
enum refused {
	REFUSED_NOT,
	REFUSED_EXEC,  /* it has executed a program that runs without the engine: counted up to there */
	REFUSED_ENDED, /* the engine has ended it: counted up to there */
	REFUSED_WRONG, /* its counts may be wrong */
};

enum process_state { PROCESS_FREE, PROCESS_LIVE, PROCESS_ENDED /* all is in `done` */, PROCESS_TAKEN /* being made */ };

/* Memory that the program may execute when it starts. */
struct exec_region {
	uint64_t start, end;
	uint32_t writable, shared, checked, pad;
	uint64_t dev, inode, written_ns; /* of the file that is mapped; 0: none, or not known */
};

/* A process asks the supervisor what is mapped at `pc`; it answers with a mapping and how far it goes. */
struct question {
	volatile uint32_t state; /* enum question_state */
	int32_t tid;
	uint64_t pc;
	uint64_t start, end;
	uint32_t mapping;
	uint32_t data;	  /* `pc` is what a sampled instruction accesses, not code */
	uint64_t tsc, sp; /* of that instruction */
	struct shared_part shared;
};

enum { OWN_SHOWN = 64 };

enum question_state { QUESTION_NONE, QUESTION_ASKED, QUESTION_ANSWERED };

struct process {
	volatile uint32_t state;
	int32_t pid; /* as the supervisor knows it; 0: not known */
	int32_t parent_pid;
	uint32_t serial; /* never used twice in a run */
	uint64_t descent; /* of its first thread, as it was created */
	uint64_t begins_as; /* the descent of the thread that its program begins with */
	uint32_t foreign; /* in another pid namespace: the supervisor knows its threads by other numbers */
	uint32_t makes_foreign; /* its children will be */
	char name[24];
	uint32_t parent;  /* index of its process; its own when it has none */
	uint32_t lineage;
	volatile uint32_t threads; /* alive */
	volatile uint32_t refused; /* enum refused: `reason` says why */
	char reason[REASON_MAX];
	char program[GAINER_MAX]; /* the path that it executes, with REFUSED_EXEC */
	int64_t done[EXACT_CLASSES]; /* by threads that have ended */
	uint64_t done_check;	     /* sums_check() of it; in between two additions of another thread it is not */
	struct action actions[SIGNALS];
	/* For the engine's first instruction, by the supervisor. */
	uint64_t entry, image, image_size, tables_at, board_at, board_size, signal_mask;
	uint32_t mode, n_regions, filter;
	int32_t board_fd; /* to be closed */
	struct exec_region regions[EXEC_REGIONS];
	struct question question;
	struct limit limits[LIMITS]; /* as the program has set them, where `limited` has a bit */
	uint64_t mapped[LIMITS];     /* of the engine's, in bytes */
	uint32_t limited, pad2;
	struct kept kept;
	volatile uint32_t dying; /* enum dying_state */
	int32_t dying_tid;       /* of the thread whose death it is; 0: none */
	int32_t park_signal;     /* by which the others say that they are out */
	uint32_t found_stopped;  /* when the supervisor last looked */
	volatile uint64_t compared, stepped; /* see struct exact_slow */
	volatile uint32_t first_stepped; /* a single step executed its first instruction; it was counted after the step */
	volatile uint32_t renamed; /* the name of one of its threads may differ from its program's */
	volatile uint32_t n_own; /* entries in own[]: ranges of engine memory in its address space; 0: unknown, or too many for own[] */
	uint64_t own[OWN_SHOWN][2];
	volatile uint32_t ending; /* ENDING_EXIT, or the signal that the engine has it die by: what else kills it is no doing of the program's */
};

/* A process that was not counted to its end. */
struct uncounted {
	int32_t pid;
	uint32_t serial;
	uint32_t how; /* enum refused */
	char name[24];
	char reason[REASON_MAX];
};

/* A process that has ended and whose slots were freed. */
struct past {
	int32_t pid, parent;
	uint32_t serial;
	uint32_t refused; /* enum refused */
	uint32_t may_have_begun; /* something outside the process killed it; it may have executed an uncounted instruction */
	uint64_t descent;
	char name[24];
	uint64_t check; /* sums_check() of the next */
	int64_t counts[EXACT_CLASSES];
};

/* A thread that has ended. */
struct ended_thread {
	uint32_t serial; /* its process */
	uint32_t born;   /* order of creation, over all threads */
	uint64_t descent;
	int32_t pid, tid;
	volatile uint32_t ready; /* all is written */
	uint32_t pad;
	uint64_t tsc, path;
	uint64_t check; /* sums_check() of the next */
	int64_t counts[EXACT_CLASSES];
};

enum { MODULE_PATH_MAX = 4000 };

/* A file that code came from, or memory that is none. */
struct module {
	uint32_t kind; /* enum exact_module_kind */
	uint32_t elsewhere; /* the path names another file, or none, where tare looks */
	uint64_t dev, inode; /* as /proc/PID/maps says */
	int64_t size, mtime_s, mtime_ns; /* of the file, when it was mapped */
	char path[MODULE_PATH_MAX];
};

/* Code of `module` from `offset` in it stood at `start`. Number 1 is what nothing is known of. */
struct mapping {
	uint64_t start, offset;
	uint32_t module, pad;
};

enum { MAPPING_UNKNOWN = 1 };

/* Executions by ended programs of one block of code of a module, or of the path that follows a branch: struct exact_code. */
struct code_sum {
	uint64_t offset;
	int64_t executions;
	uint32_t module;
	uint16_t size, instructions;
	uint8_t adds[EXACT_CLASSES];
};

enum { FILTER_MAX = 4096 };

/* A seccomp filter of the program. Number 0 is none. */
struct filter {
	uint32_t ready;
	uint32_t before; /* the one installed before it */
	uint32_t n, flags;
	uint32_t by_prctl, pad;
	uint64_t allow_all; /* an instruction in front of the code: how the kernel holds it */
	uint64_t code[FILTER_MAX];
};

/* The image begins with a jump to its entry and says where its parts lie, each relative to the field. */
struct image_head {
	uint8_t jump[16];
	int32_t data, end;
	int32_t call_over, call_over_back; /* behind the two system calls that are made for the program */
};

enum thread_state {
	THREAD_FREE,
	THREAD_LIVE,
	THREAD_DONE, /* its sums are its process's; the supervisor frees the slot */
	THREAD_TAKEN, /* being made: what stands in the slot is another thread's */
};

enum exec_state { EXEC_NONE, EXEC_ASKED, EXEC_WATCHED, EXEC_UNWATCHED };

struct board {
	uint64_t magic;
	volatile uint32_t bell; /* futex: the engine has something for the supervisor */
	int32_t supervisor;     /* its pid */
	int32_t board_fd;       /* in the supervisor */
	volatile int32_t command; /* its pid, as soon as there is one */
	volatile uint32_t gone; /* the supervisor serves no longer */
	uint32_t cores_piped;   /* a program gets them, whatever a process's limit on them */
	volatile uint32_t threads_top; /* thread slots ever used */
	volatile uint32_t processes_top;
	volatile uint32_t changes; /* odd while the supervisor moves sums about */
	volatile uint32_t n_past, n_ended;
	volatile uint32_t births, serials;
	uint32_t not_past;	/* ~n_past, when `changes` is even */
	int64_t past_overflow[EXACT_CLASSES]; /* of those that found no room in the list */
	uint64_t past_overflow_check;	      /* sums_check() of it */
	volatile uint32_t n_modules, n_mappings, n_code;
	volatile uint32_t n_filters;
	volatile uint64_t shared_written; /* a file of memory that a process forked from its maker has written to; ~0: several. See engine/shared.c */
	volatile uint32_t maps_opened; /* a process has had /proc/PID/maps or its kin open: proc_files.c */
	/*
	 * Stops of the command and what it started: that it sent itself, of which the supervisor saw the end, that the
	 * supervisor found. One stop may be in all three.
	 */
	volatile uint32_t stops_sent, stops_over, stops_found;
	int64_t unplaced; /* instructions of which the profile knows no place */
	struct every every;
	volatile uint32_t n_happenings;
	char reason[REASON_MAX]; /* why there are no counts; "": there are */
	uint64_t compared, stepped; /* of ended processes */
	volatile uint32_t n_uncounted; /* ended processes that were not counted to their end; the first ones are listed */
	struct uncounted uncounted[UNCOUNTED_MAX];
	char layout_lost[24]; /* the first program with random addresses, where they were to be fixed */
	volatile uint32_t has_gainer; /* somebody writes, or has written, the next */
	char gainer[GAINER_MAX]; /* the first program, as it was called, whose file gives it other rights */
	volatile uint32_t thread_states[THREADS];
	volatile uint32_t lineage_top[LINEAGES]; /* counters in use */
	volatile uint32_t lineage_kinds[LINEAGES]; /* the last kind of them */
	volatile uint32_t lineage_users[LINEAGES];
	uint64_t magic_behind;
};

/*
 * How far its lists go. Every program that is counted can write to the board at any time: whoever reads it has bounds of his own,
 * and reads a count or an index once.
 */
static inline uint32_t board_threads(const struct board *b)
{
	uint32_t top = b->threads_top;

	return top < THREADS ? top : THREADS;
}

static inline uint32_t board_processes(const struct board *b)
{
	uint32_t top = b->processes_top;

	return top < PROCESSES ? top : PROCESSES;
}

static inline uint32_t board_pasts(const struct board *b)
{
	uint32_t n = b->n_past;

	return n < PAST_MAX ? n : PAST_MAX;
}

/* Write down that thread `t` ends, of process `p`, with the check of its counts. Those that find no room are in their process's sum all the same. */
static inline void note_ended(struct board *b, const struct process *p, const struct ended_thread *t, const int64_t counts[EXACT_CLASSES])
{
	struct ended_thread *list = (struct ended_thread *)((uint8_t *)b + BOARD_ENDED);
	uint32_t i = __atomic_fetch_add(&b->n_ended, 1, __ATOMIC_ACQ_REL);
	struct ended_thread *e = &list[i];

	if (i >= ENDED_MAX)
		return;
	*e = *t;
	e->serial = p->serial;
	e->pid = p->pid;
	for (int c = 0; c < EXACT_CLASSES; c++)
		e->counts[c] = counts[c];
	__atomic_store_n(&e->ready, 1, __ATOMIC_RELEASE);
}

/* Tell a reader of samples what happened; behind it come the samples that it explains. */
static inline void note_happening(struct board *b, enum happening_kind kind, const struct happening *h)
{
	struct happening *list = (struct happening *)((uint8_t *)b + BOARD_HAPPENINGS);
	uint32_t i;

	if (!b->every.n_events)
		return;
	i = __atomic_fetch_add(&b->n_happenings, 1, __ATOMIC_ACQ_REL);
	if (i >= HAPPENINGS_MAX)
		return;
	list[i] = *h;
	__atomic_store_n(&list[i].ready, kind, __ATOMIC_RELEASE);
}

#endif
