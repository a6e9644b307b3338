/* SPDX-License-Identifier: MIT */
/*
 * The shared state: one sparse memory file that the supervisor and the engine in every process of a
 * counted program map. Its contents survive a process that is killed, and it can be read at any
 * time.
 *
 *	offset            size
 *	0                 HEAD        struct shared_state
 *	SHARED_PROCESSES   PROCESSES * sizeof(struct process)
 *	SHARED_THREADS     THREADS * THREAD_STRIDE
 *	                  each: struct thread, stacks, then at THREAD_COUNTERS one u64 per counter, and at
 *	                  THREAD_SEEN as many
 *	SHARED_BLOCKS      LINEAGES * LINEAGE_STRIDE
 *	                  each: struct block_facts per kind of counter, shared by the processes forked from one
 *	                  exec; a u32 per counter: its kind; then, when COUNT_PROFILE, a u64 per counter: sum of ended threads
 *	SHARED_PAST        PAST_MAX * sizeof(struct past)
 *	SHARED_ENDED       ENDED_MAX * sizeof(struct ended_thread)
 *	SHARED_MODULES, SHARED_MAPPINGS, SHARED_CODE: the profile of ended programs, see profile.c
 *	SHARED_FILTERS     FILTERS * sizeof(struct filter)
 *	SHARED_HAPPENINGS  HAPPENINGS_MAX * sizeof(struct happening), see samples.h
 *	SNAPSHOTS_AT       SNAPSHOTS * SNAPSHOT_SIZE: translated code of programs, not mapped there
 */
#ifndef EXACT_SHARED_STATE_H
#define EXACT_SHARED_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/auxv_pair.h"
#include "exact/classes.h"
#include "exact/stable_id.h"
#include "exact/cpu_files.h"
#include "exact/isa_model.h"
#include "exact/samples.h"

#define SHARED_MAGIC     0x6472616f42657261ull /* "areBoard" */
#define SHARED_PROCESSES 0x1000000ull
#define PROCESSES        4096u
#define SHARED_TIMES     0x8000000ull
#define TIMES_MAX        0x100000u
#define SHARED_THREADS   0x10000000ull
#define THREADS          4096u
#define THREAD_STRIDE    0x4000000ull /* 64 MiB: struct, stacks, counters */
#define THREAD_COUNTERS  0x100000ull
#define COUNTERS_MAX     0x380000u   /* of 8 bytes: 28 MiB, twice (see THREAD_SEEN) */
#define COUNTER_APART    0x80000000u /* flag on the kind of a counter that belongs to no block */
#define THREAD_SEEN                                                                                \
	(THREAD_COUNTERS + COUNTERS_MAX * 8ull) /* the counters at the thread's last reading */
#define SHARED_BLOCKS     (SHARED_THREADS + THREADS * THREAD_STRIDE)
#define LINEAGES          4096u
#define LINEAGE_KINDS     (COUNTERS_MAX * 32ull)
#define LINEAGE_SUMS      (LINEAGE_KINDS + COUNTERS_MAX * 4ull)
#define LINEAGE_STRIDE    (LINEAGE_SUMS + COUNTERS_MAX * 8ull)
#define SHARED_PAST       (SHARED_BLOCKS + LINEAGES * LINEAGE_STRIDE)
#define PAST_MAX          0x100000u
#define SHARED_ENDED      (SHARED_PAST + PAST_MAX * sizeof(struct past))
#define ENDED_MAX         0x100000u
#define SHARED_MODULES    (SHARED_ENDED + ENDED_MAX * sizeof(struct ended_thread))
#define MODULES_MAX       0x4000u
#define SHARED_MAPPINGS   (SHARED_MODULES + MODULES_MAX * sizeof(struct module))
#define MAPPINGS_MAX      0x100000u
#define SHARED_CODE       (SHARED_MAPPINGS + MAPPINGS_MAX * sizeof(struct mapping))
#define CODE_MAX          0x400000u
#define SHARED_FILTERS    (SHARED_CODE + CODE_MAX * sizeof(struct code_sum))
#define FILTERS           0x1000u
#define SHARED_HAPPENINGS (SHARED_FILTERS + FILTERS * sizeof(struct filter))
#define HAPPENINGS_MAX    0x100000u
#define SHARED_SIZE       (SHARED_HAPPENINGS + HAPPENINGS_MAX * sizeof(struct happening))
/* Next in the file, not part of that mapping, is translated code: engine/snapshot.c. */
#define SNAPSHOTS_AT     ((SHARED_SIZE + 0xfff) & ~0xfffull)
#define SNAPSHOTS        64u
#define SNAPSHOT_SIZE    (256ull << 20)
#define SNAPSHOT_READY   0x59444152u /* the first word of one that is complete */
#define SHARED_FILE_SIZE (SNAPSHOTS_AT + SNAPSHOTS * SNAPSHOT_SIZE)

/* Options of counting. */
enum {
	/* also a running instruction count in struct thread, read by a plain load */
	COUNT_RUNNING = 1,
	COUNT_TAKEN = 2,      /* also the fall-throughs of conditional branches */
	COUNT_PROFILE = 4,    /* also where each block came from */
	COUNT_EVERY = 8,      /* also a sample every N instructions of a class */
	SAME_RANDOM = 16,     /* getrandom returns constant bytes */
	SAME_READDIR = 32,    /* directories are read sorted by name */
	COUNT_PATH = 64,      /* also a hash of each thread's control-flow path: engine/path.c */
	TURNED_READDIR = 128, /* directories are read sorted by name, in reverse */
	SAME_ISA = 256,       /* cpuid and the like answer as the shared state's `isa` */
	SAME_CLOCK = 512,     /* a virtual clock: engine/clock.c; needs COUNT_RUNNING */
	SAME_TERMINAL = 1024, /* a terminal has 24 rows and 80 columns */
	SAME_CPUS = 2048,     /* the CPUs are those of the shared state's `cpu_files` */
	/* one thread runs at a time, in the engine's order: engine/turns/turn_order.c */
	SAME_TURNS = 4096,
	/* a program's translated code is kept for its next processes: engine/snapshot.c */
	KEEP_CODE = 8192,
};

/*
 * What a counter adds. Many blocks add the same, so each such kind is stored once. Number 0 means
 * none.
 */
struct block_facts {
	uint64_t pc;
	/* per execution, by class; TAKEN is signed: -1 for a fall-through */
	uint8_t adds[EXACT_CLASSES];
	uint16_t size;    /* of the block's code, in bytes */
	uint32_t mapping; /* which mapping it came from, when COUNT_PROFILE */
};

_Static_assert(sizeof(struct block_facts) == 32, "LINEAGE_STRIDE counts on it");

/* What `n` executions add to each class. Most blocks add to few classes. */
static inline void facts_times(int64_t sums[EXACT_CLASSES], const struct block_facts *f, int64_t n)
{
	uint64_t words[(EXACT_CLASSES + 7) / 8] = { 0 };

	__builtin_memcpy(words, f->adds, EXACT_CLASSES);
	for (int from = 0; from < EXACT_CLASSES; from += 8)
		for (uint64_t left = words[from / 8]; left;) {
			int at = __builtin_ctzll(left) & ~7;

			/*
			 * The program can write to the counters, so this must not overflow a signed
			 * integer.
			 */
			sums[from + at / 8] = (int64_t)((uint64_t)sums[from + at / 8] +
							(uint64_t)n *
								(uint64_t)(int64_t)(int8_t)(left >>
											    at));
			left &= ~(0xffull << at);
		}
}

/*
 * Sums are stored with a check, so that a single overwritten word is detected. The check is
 * additive, like the sums: add to both. It is not secret: a program that knows it can forge both,
 * as it can forge its counters.
 */
static inline uint64_t sum_weight(int class)
{
	uint64_t h = ((uint64_t) class + 1) * 0x9e3779b97f4a7c15ull;

	return (h ^ h >> 29) * 0xbf58476d1ce4e5b9ull | 1;
}

static inline uint64_t sums_check(const int64_t sums[EXACT_CLASSES])
{
	uint64_t check = 0;

	for (int c = 0; c < EXACT_CLASSES; c++)
		check += (uint64_t)sums[c] * sum_weight(c);
	return check;
}

/*
 * The number of stops with its check in one word, so that one atomic addition changes both: the
 * upper half is the negative of the lower one.
 */
#define STOP_UNIT (1 - (1ull << 32))

/* A program's handler for one signal, in the kernel's layout. */
struct action {
	uint64_t handler, flags, restorer, mask;
};

/*
 * Pending signals, one bit each, and their siginfo from the kernel: see engine/pending_signals.c.
 */
enum { PENDING_MAX = 5 };

struct pending_signals {
	volatile uint64_t which;
	uint8_t info[PENDING_MAX][128];
};

enum { SIGNALS = 64, REASON_MAX = 200, GAINER_MAX = 120, EXEC_REGIONS = 24, UNCOUNTED_MAX = 16 };

/* Resource limits of the program that the engine's own memory would count against. */
enum { LIMIT_SPACE, LIMIT_DATA, LIMITS };

/* In the kernel's layout. */
struct limit {
	uint64_t cur, max;
};

/* Progress of a process that dumps core: see engine/park.c. */
enum dying_state {
	DYING_NOT,
	DYING_ASKED /* to park its threads */,
	DYING_SEEN,
	DYING_PARKED,
	DYING_ALONE /* not all parked */
};

/* si_code values, in place of SI_USER and the like: leave the engine; this thread has left it. */
enum { PARK_CODE = -0x7a4d, PARKED_CODE = -0x7a4c };

/* How the engine ends a process; otherwise a signal's number. */
enum { ENDING_NOT = 0, ENDING_EXIT = 1000 };

/* Why a process was not counted to its end. */
enum refused {
	REFUSED_NOT,
	REFUSED_EXEC,  /* it executed a program that runs without the engine: counted up to there */
	REFUSED_ENDED, /* the engine ended it: counted up to there */
	REFUSED_WRONG, /* its counts may be wrong */
};

enum process_state {
	PROCESS_FREE,
	PROCESS_LIVE,
	PROCESS_ENDED /* all counts are in `done` */,
	PROCESS_TAKEN /* being created */
};

/*
 * A file at one time: as long as all of this is equal, its contents are, too. Inode 0: there is no
 * file, or it is unknown, or was changed so recently that a later change may have the same time.
 */
struct file_version {
	uint64_t dev, inode, size, written_ns, changed_ns;
};

/* Are times of the file system, of `changed_ns` and now, too close to tell two changes apart? */
static inline bool changed_just_now(uint64_t changed_ns, uint64_t now_ns)
{
	/* some file systems store whole seconds only, or multiples of two */
	uint64_t tick = changed_ns % 1000000000 ? 50000000ull : 3000000000ull;

	return changed_ns + tick > now_ns;
}

/* Memory that is executable when the program starts. */
struct exec_region {
	uint64_t start, end;
	uint32_t writable, shared, checked;
	uint32_t kernel;                 /* [vdso]: the same in all processes */
	uint64_t dev, inode, written_ns; /* of the mapped file; 0: none, or unknown */
	struct file_version version;
};

/*
 * A process asks the supervisor for the mapping at `pc`; the answer includes how far it extends.
 */
struct question {
	volatile uint32_t state; /* enum question_state */
	int32_t tid;
	uint64_t pc;
	uint64_t start, end;
	uint32_t mapping;
	/* `pc` is the address of data that a sampled instruction accesses, not of code */
	uint32_t data;
	uint64_t tsc, sp; /* of the sampled instruction */
	struct shared_part shared;
};

enum { OWN_SHOWN = 64 };

enum question_state { QUESTION_NONE, QUESTION_ASKED, QUESTION_ANSWERED };

struct process {
	volatile uint32_t state;
	int32_t pid; /* in the supervisor's pid namespace; 0: unknown */
	int32_t parent_pid;
	uint32_t serial;    /* unique in a run */
	uint64_t stable_id; /* of its first thread, when it was created */
	uint64_t begins_as; /* the descent of the thread that starts its program */
	/* in another pid namespace: the supervisor knows its threads by other numbers */
	uint32_t foreign;
	uint32_t makes_foreign; /* its children will be foreign */
	char name[24];
	uint32_t parent; /* index of its parent process; its own index if it has none */
	uint32_t lineage;
	volatile uint32_t threads; /* alive */
	volatile uint32_t refused; /* enum refused: `reason` says why */
	char reason[REASON_MAX];
	char program[GAINER_MAX];    /* the path it executes, with REFUSED_EXEC */
	int64_t done[EXACT_CLASSES]; /* sum of the threads that have ended */
	/* sums_check() of `done`; does not match while another thread adds to it */
	uint64_t done_check;
	struct action actions[SIGNALS];
	/* Written by the supervisor, for the engine's first instructions. */
	uint64_t entry, image, image_size, tables_at, shared_at, shared_size, signal_mask;
	uint32_t mode, n_regions, filter;
	uint64_t cpus;     /* the affinity of the thread that executed it: struct thread */
	int32_t shared_fd; /* to be closed by the engine */
	struct exec_region regions[EXEC_REGIONS];
	struct question question;
	struct limit limits[LIMITS]; /* as set by the program, where `limited` has a bit */
	uint64_t mapped[LIMITS];     /* by the engine, in bytes */
	uint32_t limited, pad2;
	struct pending_signals kept;
	volatile uint32_t dying; /* enum dying_state */
	int32_t dying_tid;       /* the thread that dies; 0: none */
	/* the signal by which the other threads report that they left the engine */
	int32_t park_signal;
	uint32_t found_stopped;              /* when the supervisor last looked */
	volatile uint64_t compared, stepped; /* see struct exact_slow */
	volatile uint32_t
		/* a single step executed its first instruction; it was counted after the step */
		first_stepped;
	volatile uint32_t
		renamed; /* the name of one of its threads may differ from its program's */
	/*
	 * entries in own[]: ranges of engine memory in its address space; 0: unknown, or too many
	 * for own[]
	 */
	volatile uint32_t n_own;
	uint64_t own[OWN_SHOWN][2];
	/*
	 * ENDING_EXIT, or the signal with which the engine ends it; another cause of death is
	 * external
	 */
	volatile uint32_t ending;
	/* its threads that add their counts to `done`; others must not begin (engine/thread.c) */
	volatile uint32_t folding, hold_folds;
	/* with SAME_CLOCK, see engine/clock.c: the virtual time at its last exec */
	int64_t clock;
	/* the snapshot from which it begins, and the one it is to write at its end; plus 1 */
	uint32_t snapshot;
	volatile uint32_t save;
	/* it set a timer: its clock also runs with the real one, and is `by_real` ahead of it */
	volatile uint32_t has_timer, pad3;
	int64_t by_real;
};

/* A process that was not counted to its end. */
struct uncounted {
	int32_t pid;
	uint32_t serial;
	uint32_t how; /* enum refused */
	char name[24];
	char reason[REASON_MAX];
};

/* An ended process, after its slots were freed. */
struct past {
	int32_t pid, parent;
	uint32_t serial;
	uint32_t refused; /* enum refused */
	uint32_t
		/*
		 * something outside the process killed it; it may have executed an uncounted
		 * instruction
		 */
		may_have_begun;
	uint64_t stable_id;
	char name[24];
	uint64_t check; /* sums_check() of the next field */
	int64_t counts[EXACT_CLASSES];
};

/* A thread that has ended. */
struct ended_thread {
	uint32_t serial; /* of its process */
	uint32_t born;   /* order of creation among all threads */
	uint64_t stable_id;
	int32_t pid, tid;
	volatile uint32_t ready; /* the entry is complete */
	uint32_t pad;
	uint64_t tsc, path;
	uint64_t check; /* sums_check() of the next field */
	int64_t counts[EXACT_CLASSES];
};

enum { MODULE_PATH_MAX = 4000 };

/* A file that code came from, or memory without a file. */
struct module {
	uint32_t kind;       /* enum exact_module_kind */
	uint32_t elsewhere;  /* from tare's point of view the path is another file, or missing */
	uint64_t dev, inode; /* from /proc/PID/maps */
	int64_t size, mtime_s, mtime_ns; /* of the file, when it was mapped */
	char path[MODULE_PATH_MAX];
};

/* Code of `module`, from file offset `offset`, mapped at `start`. Number 1 is unknown code. */
struct mapping {
	uint64_t start, offset;
	uint32_t module, pad;
};

enum { MAPPING_UNKNOWN = 1 };

/*
 * Executions, by ended programs, of one block of a module's code, or of the path that follows a
 * branch: struct exact_code.
 */
struct code_sum {
	uint64_t offset;
	int64_t executions;
	uint32_t module;
	uint16_t size, instructions;
	uint8_t adds[EXACT_CLASSES];
};

enum { FILTER_MAX = 4096 };

/* A seccomp filter of the program. Number 0 means none. */
struct filter {
	uint32_t ready;
	uint32_t before; /* the one installed before it */
	uint32_t n, flags;
	uint32_t by_prctl, pad;
	/* an allow-all instruction in front of the code, as the kernel stores it */
	uint64_t allow_all;
	uint64_t code[FILTER_MAX];
};

/*
 * The image begins with a jump to its entry point and the offsets of its parts, each relative to
 * the field.
 */
struct image_head {
	uint8_t jump[16];
	int32_t data, end;
	/* the instructions after the two system calls that are made for the program */
	int32_t call_over, call_over_back;
};

enum thread_state {
	THREAD_FREE,
	THREAD_LIVE,
	THREAD_DONE,  /* its counts were added to its process; the supervisor frees the slot */
	THREAD_TAKEN, /* being created: the slot still contains another thread's data */
};

enum exec_state { EXEC_NONE, EXEC_ASKED, EXEC_WATCHED, EXEC_UNWATCHED };

/* What a program used that the virtual clock does not include. */
enum clock_beyond { BEYOND_TIMER = 1, BEYOND_CPU_TIME = 2 };

/* What the order of the threads does not include: a bit each. The texts are in exact.c. */
enum turns_beyond {
	TURNS_NETWORK = 1,
	TURNS_OUTSIDE = 2,   /* a local socket of another process */
	TURNS_UNCOUNTED = 4, /* a process without the engine */
	TURNS_TRACES = 8,    /* ptrace(2) */
	TURNS_TIMER = 16,
	TURNS_REAL_TIME = 32, /* a sleep or a timeout, without SAME_CLOCK */
	TURNS_CALL = 64,      /* `blocked` waited in the kernel */
	TURNS_STOPPED = 128,  /* a thread was stopped while it had its turn */
	TURNS_LATE = 256,     /* a thread did not end within the time limit */
};

/*
 * With SAME_TURNS: the thread that may execute, and what the others wait for. Only the holder
 * changes it, except where the holder is lost: engine/turns/turn_order.c.
 */
struct turns {
	volatile uint32_t holder;  /* its slot, plus 1; 0: none */
	volatile uint32_t calls;   /* grows with calls that may end a wait for a descriptor */
	volatile uint32_t signals; /* grows with what may end any wait: a signal, a thread's end */
	volatile uint32_t idle;    /* every thread waits: the holder sleeps */
	volatile uint32_t rounds;  /* how often in a row */
	volatile uint32_t beyond;  /* enum turns_beyond */
	volatile uint32_t blocked; /* number of a call that waited in the kernel */
	volatile int32_t execs;    /* the process that executes another program, with the turn */
	/* it ends: the next holder waits until it has; `dying_tid` 0: the whole process */
	volatile int32_t dying_pid, dying_tid;
	volatile uint64_t tickets;   /* the last one: struct thread */
	volatile int64_t idle_since; /* real time; 0: not idle */
};

/* A time of a file that was written during the run: the kernel's, and the program's for it. */
struct file_time {
	int64_t real, shown; /* ns since 1970 */
};

enum { CLOCK_PIPES = 16 };

/*
 * With SAME_CLOCK; the pipes also with SAME_TURNS. Virtual times are ns since the start of the run.
 * Each thread has its own, and none reads a time before the latest that any has read.
 */
struct virtual_clock {
	int64_t start;            /* CLOCK_REALTIME at virtual time 0, ns since 1970 */
	int64_t real_start;       /* the real one then, by CLOCK_REALTIME_COARSE as files have it */
	volatile int64_t latest;  /* that any thread has read */
	volatile int64_t timers;  /* a timer may expire before this real time (CLOCK_MONOTONIC) */
	volatile uint32_t beyond; /* enum clock_beyond */
	volatile uint32_t lock;   /* of the list of file times: SHARED_TIMES */
	volatile uint32_t n_times;
	uint32_t n_pipes;            /* if more than CLOCK_PIPES, the list is not complete */
	uint64_t pipes[CLOCK_PIPES]; /* inodes of pipes that the command inherits */
};

struct shared_state {
	uint64_t magic;
	volatile uint32_t bell;       /* futex: the engine has a request for the supervisor */
	int32_t supervisor;           /* its pid */
	int32_t shared_fd;            /* in the supervisor */
	volatile int32_t command;     /* its pid, once it is known */
	volatile uint32_t gone;       /* the supervisor has stopped serving */
	volatile uint32_t turns_over; /* the command has ended, or traces: no more turns */
	/* core dumps are piped to a program, regardless of a process's limit on their size */
	uint32_t cores_piped;
	volatile uint32_t threads_top; /* thread slots ever used */
	volatile uint32_t processes_top;
	volatile uint32_t changes; /* odd while the supervisor moves sums between lists */
	volatile uint32_t n_past, n_ended;
	volatile uint32_t births, serials;
	uint32_t not_past;                    /* ~n_past, when `changes` is even */
	int64_t past_overflow[EXACT_CLASSES]; /* sums of processes that did not fit the list */
	uint64_t past_overflow_check;         /* sums_check() of past_overflow */
	volatile uint32_t n_modules, n_mappings, n_code;
	volatile uint32_t n_filters;
	/*
	 * a memory file that a process wrote to after it was forked from the creator; ~0: several.
	 * See engine/shared.c
	 */
	volatile uint64_t shared_written;
	/* a process has opened /proc/PID/maps or a similar file: proc_files.c */
	volatile uint32_t maps_opened;
	volatile uint64_t stops_sent; /* by the command and its descendants, times STOP_UNIT */
	int64_t unplaced;             /* instructions that the profile cannot place */
	struct every every;
	volatile uint32_t n_happenings;
	char reason[REASON_MAX];      /* why there are no counts; "": there are counts */
	uint64_t compared, stepped;   /* of ended processes */
	volatile uint32_t began_warm; /* programs that began with a snapshot */
	/* ended processes that were not counted to their end; only the first ones are listed */
	volatile uint32_t n_uncounted;
	struct uncounted uncounted[UNCOUNTED_MAX];
	volatile uint32_t has_gainer; /* set before the next field is written */
	/* path of the first program that changes its rights (setuid, setgid or capabilities) */
	char gainer[GAINER_MAX];
	struct isa_model isa;       /* with SAME_ISA */
	struct cpu_files cpu_files; /* with SAME_CPUS */
	struct auxv_values auxv;    /* of each program */
	/* the first program that executed an instruction `isa` lacks, set before isa_beyond */
	char isa_beyond_program[24];
	volatile uint32_t isa_beyond; /* enum isa_feature; 0: none */
	struct virtual_clock clock;
	struct turns turns;
	volatile uint32_t thread_states[THREADS];
	volatile uint32_t lineage_top[LINEAGES];   /* counters in use */
	volatile uint32_t lineage_kinds[LINEAGES]; /* the last kind in use */
	volatile uint32_t lineage_users[LINEAGES];
	uint64_t magic_behind;
};

_Static_assert(SHARED_PROCESSES + PROCESSES * sizeof(struct process) <= SHARED_TIMES &&
		       SHARED_TIMES + TIMES_MAX * sizeof(struct file_time) <= SHARED_THREADS,
	       "no list reaches into the next");

/*
 * Length of its lists. Every counted program can write to the shared state at any time, so readers
 * check bounds themselves and read a count or an index once.
 */
static inline uint32_t shared_threads(const struct shared_state *b)
{
	uint32_t top = b->threads_top;

	return top < THREADS ? top : THREADS;
}

static inline uint32_t shared_processes(const struct shared_state *b)
{
	uint32_t top = b->processes_top;

	return top < PROCESSES ? top : PROCESSES;
}

static inline uint32_t shared_pasts(const struct shared_state *b)
{
	uint32_t n = b->n_past;

	return n < PAST_MAX ? n : PAST_MAX;
}

/*
 * Record that thread `t` of process `p` ends, with the check of its counts. If the list is full,
 * the counts are still in the process's sum.
 */
static inline void note_ended(struct shared_state *b, const struct process *p,
			      const struct ended_thread *t, const int64_t counts[EXACT_CLASSES])
{
	struct ended_thread *list = (struct ended_thread *)((uint8_t *)b + SHARED_ENDED);
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

/* Record an event for the reader of samples. It precedes the samples that it explains. */
static inline void note_happening(struct shared_state *b, enum happening_kind kind,
				  const struct happening *h)
{
	struct happening *list = (struct happening *)((uint8_t *)b + SHARED_HAPPENINGS);
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
