/* SPDX-License-Identifier: MIT */
/*
 * The exact engine: run a command so that every instruction it retires in user mode is counted,
 *exactly, with all its children. Needs no PMU and no privilege. x86-64 only; elsewhere
 *exact_launch() says so.
 *
 *	struct exact *x;
 *	if (exact_launch(&x, argv, environ, &(struct exact_options){ 0 }, &err) == 0) {
 *		exact_wait(x, -1, &end, &err);
 *		exact_counts(x, counts, &err);
 *	}
 *	exact_close(x);
 */
#ifndef EXACT_EXACT_H
#define EXACT_EXACT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include "base/error.h"
#include "exact/classes.h"

enum { EXACT_STACK_MAX = 65528, EXACT_CHAIN_MAX = 127, EXACT_REGISTERS = 17, EXACT_PEEK_MAX = 16, EXACT_EVENTS_MAX = 8 };

/*
 * A sample every n-th instruction, or every n-th of another class, of each thread: by the count of what has
 * retired, so that each run of a program that repeats gives the same samples.
 */
struct exact_every {
	uint64_t n;             /* 0: no samples */
	uint64_t first;         /* of each thread; 0: n */
	uint64_t most;          /* samples of each thread; 0: no limit */
	uint64_t only;          /* of this thread alone: its `descent`; 0: of all */
	enum exact_class class; /* not EXACT_TAKEN */
	/* Further events, each with the samples that it would have alone. `first`, `most` and `counts_once` are of one event only. */
	uint16_t n_more; /* at most EXACT_EVENTS_MAX - 1 */
	struct exact_more {
		uint64_t n;
		enum exact_class class;
	} more[EXACT_EVENTS_MAX - 1];
	bool counts;            /* with all classes' counts at that instant: rows of windows */
	bool counts_once;       /* the same with a thread's first sample alone: they cost more than all else */
	bool path;              /* a hash of the way there, with `counts` or `counts_once`: costs some 4 instructions a block */
	bool registers;
	bool jitter;            /* of every n one, at a place by chance that is the same in each run */
	uint32_t stack; /* bytes from the stack pointer, at most EXACT_STACK_MAX */
	uint16_t chain; /* callers, at most EXACT_CHAIN_MAX: by frame pointers, so only where code keeps them */
	/* What memory holds, 8 bytes at each of these addresses. */
	uint16_t n_peek;	      /* at most EXACT_PEEK_MAX */
	uint32_t peek_fs;	      /* by bit: an offset from the base of fs */
	uint64_t peek[EXACT_PEEK_MAX];
};

/* All zero: every class, the layout of memory fixed so that counts repeat. */
struct exact_options {
	const sigset_t *mask; /* the signals that the command begins with blocked; NULL: those of the caller */
	bool same_random; /* constant bytes from getrandom, /dev/urandom and AT_RANDOM, to all it starts */
	bool same_readdir; /* directories are read in the order of their entries' names */
	bool turned_readdir; /* with same_readdir: from the last name to the first */
	bool no_vdso;     /* clocks are read by system call: what the kernel maps for them is not shown to it */
	bool aslr;       /* leave address space layout random, as it runs elsewhere */
	bool total_only; /* instructions alone: a little faster, and no taken branches */
	bool running;    /* keep a running count that the program can read: tare_exact_now(); about half as fast */
	bool profile;    /* also where they were executed: exact_profile() */
	struct exact_every every; /* exact_samples(); with `profile` also what is mapped where */
};

/* Counted processes that ran on when the command ended; one of them by name, if any has said its pid (else 0). */
struct exact_left {
	unsigned n;
	pid_t pid;
	char name[24];
};

struct exact_end {
	int status;          /* as wait(2) gives it */
	bool never_began;    /* a signal ended it before it had executed one instruction: all its counts are 0 */
	struct exact_left left;
	struct rusage usage; /* of the command and its children; includes translation */
};

enum { EXACT_UNCOUNTED_MAX = 16, EXACT_REASON_MAX = 200 };

/* A process that is not counted to its end. What it executed before is in the counts; what it started after is in none. */
struct exact_missing {
	pid_t pid;
	uint32_t serial;
	bool ended;	/* by the engine, which could not count it any further; else it ran on without the engine */
	char name[24];	/* of the program that is not counted */
	char reason[EXACT_REASON_MAX];
};

/* All of them, the first EXACT_UNCOUNTED_MAX listed. */
struct exact_partial {
	unsigned n;
	struct exact_missing process[EXACT_UNCOUNTED_MAX];
};

/* What makes a run slow: the counts are exact all the same. */
struct exact_slow {
	uint64_t compared; /* executions of blocks that compared their code first, as it may be written unseen */
	uint64_t stepped;  /* instructions executed by a single step each */
};

struct exact_process {
	pid_t pid, parent;
	uint32_t serial; /* never used twice in a run, as a pid may be */
	uint64_t descent; /* as of exact_thread, of its first thread as it was created: exec does not change it */
	char name[24];
	bool live;
	bool partial; /* see struct exact_missing */
	int64_t counts[EXACT_CLASSES];
};

struct exact_thread {
	uint32_t serial; /* its process */
	uint32_t born;   /* order of creation, in this run */
	uint64_t descent; /* the same in each run that goes the same way: never 0, and another one after an exec */
	pid_t tid;
	int64_t counts[EXACT_CLASSES];
};

enum exact_module_kind {
	EXACT_FILE,
	EXACT_VDSO,   /* code of the kernel's, mapped into every program */
	EXACT_MEMORY, /* written at run time: its code has no place that outlives the program */
	EXACT_UNKNOWN, /* could not be found out */
};

/* Where code came from. */
struct exact_module {
	enum exact_module_kind kind;
	bool elsewhere; /* `path` is in another root or mount namespace, or gone */
	int64_t size, mtime_s, mtime_ns; /* of the file, when it was mapped */
	char *path; /* as /proc/PID/maps names it */
};

/*
 * A straight run of instructions, and how often it was executed: below 0 for one that was left early. Without instructions it is how
 * often a conditional branch that ends at `offset` was not taken: those executions are to be taken from EXACT_TAKEN.
 */
struct exact_code {
	uint64_t offset; /* in the file; of the vdso, from its start; without a place 0 */
	int64_t executions;
	uint32_t module;
	uint16_t size, instructions; /* in bytes; of one execution */
	uint8_t adds[EXACT_CLASSES]; /* one execution, by class; every conditional branch as if it was taken */
};

struct exact_profile {
	struct exact_module *module;
	size_t n_modules;
	struct exact_code *code; /* in no order; the same code may come more than once */
	size_t n_code;
	int64_t unplaced; /* instructions that found no room in it */
};

enum exact_sample_kind {
	EXACT_SAMPLE,
	EXACT_SAMPLE_END,     /* a thread ended: its last counts */
	EXACT_SAMPLE_PROGRAM, /* a program begins: the command itself, or by exec in a process there was */
	EXACT_SAMPLE_FORK,    /* a process begins, as a copy of its parent, mappings included */
	EXACT_SAMPLE_MAPPING, /* code that is about to be executed for the first time: with `profile` */
	EXACT_SAMPLE_NAME,    /* a thread, of which no sample may have come yet, has another name than its program now, or again another */
	EXACT_SAMPLE_SETTLED, /* the last of a call: no SAMPLE that comes later is of a time before time_ns */
};

/* Valid during the callback, with all it points to. */
struct exact_sample {
	enum exact_sample_kind kind;
	uint32_t serial; /* its process: never used twice; one that executes another program keeps it */
	uint32_t parent; /* FORK, PROGRAM: the serial of the process it came from; its own if there is none */
	uint32_t born;   /* SAMPLE, END, NAME: the thread, by order of creation; a program begun by exec has a new one. PROGRAM: from this one on they are its */
	uint64_t descent; /* SAMPLE, END: the same, alike in each run that goes the same way */
	pid_t pid, tid;
	uint64_t time_ns; /* CLOCK_MONOTONIC, of when it was taken, within a microsecond or so */

	unsigned event; /* SAMPLE: which it is of: 0, or 1 + its place in `more`. END: 0, which `number` and `count` are of */
	/* SAMPLE: the number-th one of its thread and event, from 1; END: how many there were. */
	uint64_t number; /* with `jitter` END: about */
	int64_t count;         /* of the class: first + (number - 1) * n, with `jitter` about that; END: all of it */
	const int64_t *counts; /* EXACT_CLASSES of the thread, the sampled instruction being the last one in; or NULL */
	uint64_t way; /* END, and SAMPLE with counts: hash of all instructions that it has executed, in their order */

	/* SAMPLE: the very instruction that retired as the count-th; everything else is as before it. */
	uint64_t pc;
	const uint8_t *adds; /* by class, what one execution of the straight run of code around `pc` adds; of `class` never 0 */
	/* Of accesses, loads and stores: the count-th operand. A repeated string instruction is one, of all its bytes. */
	bool reads, writes, locked, prefetches;
	bool has_address; /* not of gather, scatter, ... */
	uint64_t address;
	uint64_t bytes; /* from `address` on, of a string instruction that repeats all that it accessed; 0: not known */
	bool has_target, has_outcome, taken; /* of branches: where it leads; whether it went there */
	uint64_t target;
	const uint64_t *registers; /* rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15, flags; or NULL */
	const uint64_t *chain;     /* return addresses, the innermost first; memory that may be executed */
	size_t n_chain;
	const uint8_t *stack;      /* from rsp upwards, as far as it is there */
	size_t n_stack;
	const uint64_t *peek;      /* what is there before it, as wide as there is memory; else 0; or NULL */
	uint64_t fs_base, rseq;    /* with `peek`: bases of fs, and of the area that it registered with the kernel, or 0 */

	const char *name; /* PROGRAM, NAME; of a MAPPING that is the stack of a thread other than the first "[stack:TID]", else "" */
	/* MAPPING: [start, end) holds `path` from `offset` on. */
	bool data; /* it is what a sampled instruction accesses, not code */
	uint64_t start, end, offset;
	enum exact_module_kind module;
	const char *path;
	uint64_t shared_inode, shared_dev, shared_offset; /* MAP_SHARED: the file, and where in it `start` is; inode 0: it is not */
};

/* Below 0: stop, and exact_samples() returns that; the sample counts as taken. */
typedef int exact_sample_fn(void *with, const struct exact_sample *s);

struct exact;

/* As events are named: "instructions", "conditional-branches", ... */
extern const char *const exact_class_names[EXACT_CLASSES];

/* 0 when commands can be counted here; else why not. */
int exact_probe(struct tare_error *err);
/*
 * Counts a program with a known number of instructions. 0: the counts are right. 1: that program could not be started, so
 * nothing is known. Negative errno: they are wrong, or the program did not end as it should.
 */
int exact_check(struct tare_error *err);

/*
 * Start argv[0], found along PATH, with all counting in place before its first instruction. `o` may
 * be NULL. -ENOENT, -EACCES, ... when it cannot be executed; -ENOTSUP when it cannot be counted.
 */
int exact_launch(struct exact **out, char *const argv[], char *const envp[],
		 const struct exact_options *o, struct tare_error *err);

/* The command's pid. */
pid_t exact_pid(const struct exact *x);

/*
 * A descriptor that becomes readable when the command has ended, for poll(2). Owned by x. It may be another one after
 * exact_wait(), and -1 where SIGCHLD alone tells the end.
 */
int exact_fd(const struct exact *x);

/*
 * Wait up to timeout_ms (-1: for ever) for the command's end: 1 ended, 0 not yet, or an error. With `every` also
 * 0 as soon as samples fill half of what waits for exact_samples(), which must be called then: the
 * program waits for it rather than lose one. exact_fd() becomes readable for that, too.
 * Should the supervisor process be killed, the command goes on and is waited for all the same (the caller is
 * its reaper, see PR_SET_CHILD_SUBREAPER in prctl(2)); its counts are lost, and exact_counts() says so.
 */
int exact_wait(struct exact *x, int timeout_ms, struct exact_end *end, struct tare_error *err);

/*
 * The name of the first program whose addresses were random, though `aslr` was not set: one with other rights, or that
 * something between changed its personality. NULL: none.
 */
const char *exact_layout_lost(struct exact *x);

/*
 * The first program whose file gives it other rights (setuid, setgid, file capabilities): as it was called, cut at `room`. It ran outside the
 * engine. False: there was none, and `to` is "".
 */
bool exact_gainer(const struct exact *x, char *to, size_t room);

/*
 * How often the command, or what it started, was stopped (SIGSTOP, a terminal's ^Z) until now, as far as is known: at least so
 * often. A thread that was asleep in a system call may have executed that once more for each, which is not counted.
 */
unsigned exact_stops(const struct exact *x);

/*
 * The counts so far, of the command and everything it started. In a run with total_only, all but
 * EXACT_INSTRUCTIONS are 0 and mean nothing. -ENODATA when some processes are not counted to their end: `out` is then
 * exact without those, which exact_partial() lists. -ENOTSUP with the reason when there are no counts: `out` means nothing.
 */
int exact_counts(struct exact *x, int64_t out[EXACT_CLASSES], struct tare_error *err);

/* Until now; about, while the command runs. */
void exact_slow(struct exact *x, struct exact_slow *out);

/* The processes that the counts are without, until now. */
void exact_partial(struct exact *x, struct exact_partial *out);

/* The same per process, in the order they ended, the live ones last; at most `n`. How many there
 * are. */
size_t exact_processes(struct exact *x, struct exact_process *out, size_t n);

/* Its threads, ended ones first; at most `n`. How many there are. */
size_t exact_threads(struct exact *x, struct exact_thread *out, size_t n);

/*
 * Where the instructions were executed, until now; `o->profile` must have been set. With `unplaced` they
 * are as many as exact_counts() says. exact_profile_free() after use, also after an error.
 */
int exact_profile(struct exact *x, struct exact_profile *out, struct tare_error *err);
void exact_profile_free(struct exact_profile *p);

/*
 * The lengths of the instructions in `size` bytes of code, which they must fill: how many, or 0 when they
 * do not, or are more than `n`.
 */
size_t exact_lengths(const uint8_t *code, size_t size, uint8_t *length, size_t n);

/*
 * What one execution of the instruction that begins a piece of code adds to each class, as in struct exact_code: its length; 0: it is
 * none that is known.
 */
size_t exact_adds(const uint8_t *code, size_t size, uint8_t adds[EXACT_CLASSES]);

/* What the instruction that begins a piece of code does, as the engine counts it. */
struct exact_effects {
	uint8_t loads, stores; /* operands in memory */
	bool branches, string, writes_flags;
	bool other_registers; /* of x87 or MMX */
};

/* In `size` bytes; false: it is none that is known. */
bool exact_effects(const uint8_t *code, size_t size, struct exact_effects *out);

/*
 * Everything that was sampled and has not been given yet: to `each`, in the thread of the caller. What explains a sample
 * comes before it. Samples of one thread come in their order, those of several threads do not: sort by
 * time_ns where it matters. Call it now and then (every 100 ms), when exact_wait() says so, and once more when that
 * has returned 1: then all is given. A thread that SIGKILL or another thread's exit ends inside the very
 * system call that would be its next sample has an END and not that sample.
 * 0; what `each` returned; -ENODATA without `every`; -ENOSPC when threads or mappings found no room in a list.
 */
int exact_samples(struct exact *x, exact_sample_fn *each, void *with, struct tare_error *err);

/* Let go of it; a command that still runs goes on uncounted. NULL is fine. */
void exact_close(struct exact *x);

#endif
