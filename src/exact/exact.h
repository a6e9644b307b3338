/* SPDX-License-Identifier: MIT */
/*
 * The exact engine: runs a command and counts every instruction that it and its children retire in
 * user mode, exactly. Needs no PMU and no privilege. x86-64 only; elsewhere exact_launch() fails
 * with -ENOTSUP.
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

enum {
	EXACT_STACK_MAX = 65528,
	EXACT_CHAIN_MAX = 127,
	EXACT_REGISTERS = 17,
	EXACT_PEEK_MAX = 16,
	EXACT_EVENTS_MAX = 8
};

/*
 * A sample every n-th instruction, or every n-th of another class, of each thread. Based on the
 * count of retired instructions, so each run of a deterministic program gives the same samples.
 */
struct exact_every {
	uint64_t n;             /* 0: no samples */
	uint64_t first;         /* for each thread; 0: n */
	uint64_t most;          /* samples per thread; 0: no limit */
	uint64_t only;          /* only of the thread with this `stable_id`; 0: all threads */
	enum exact_class class; /* not EXACT_TAKEN */
	/*
	 * Further events, each with the samples it would have as the only event. `first`, `most`
	 * and `counts_once` require a single event.
	 */
	uint16_t n_more; /* at most EXACT_EVENTS_MAX - 1 */
	struct exact_more {
		uint64_t n;
		enum exact_class class;
	} more[EXACT_EVENTS_MAX - 1];
	bool counts; /* with the counts of all classes at that point: rows of windows */
	/* the same, for a thread's first sample only: counts cost more than the rest of a sample */
	bool counts_once;
	/*
	 * a hash of the path up to the sample, with `counts` or `counts_once`: costs about 4
	 * instructions per block
	 */
	bool path;
	bool registers;
	/* one of every n, at a pseudorandom position that is the same in each run */
	bool jitter;
	uint32_t stack; /* bytes from the stack pointer, at most EXACT_STACK_MAX */
	/* callers, at most EXACT_CHAIN_MAX: by frame pointers, so the code must maintain them */
	uint16_t chain;
	/* Memory contents: 8 bytes at each of these addresses. */
	uint16_t n_peek;  /* at most EXACT_PEEK_MAX */
	uint32_t peek_fs; /* bit mask: the entry is an offset from the fs base */
	uint64_t peek[EXACT_PEEK_MAX];
};

/* All zero: every class, with a fixed memory layout so that counts repeat. */
struct exact_options {
	const sigset_t *mask; /* the command's initial signal mask; NULL: the caller's */
	/*
	 * constant bytes from getrandom, /dev/urandom and AT_RANDOM, for the command and its
	 * children
	 */
	bool same_random;
	bool same_readdir;   /* directories are read sorted by name */
	bool turned_readdir; /* with same_readdir: in reverse order */
	bool no_vdso;        /* hide the vdso: clocks are read by system call */
	/* the CPU that the command sees (exact/isa.h); NULL: this machine */
	const struct isa_model *isa;
	/* a virtual clock, with this CLOCK_REALTIME at the start, ns since 1970; 0: real clocks */
	int64_t clock_start;
	bool same_terminal; /* a terminal has 24 rows and 80 columns */
	bool turns;         /* one thread at a time, in the same order in each run */
	unsigned cpus;   /* how many CPUs it sees, at most CPUS_MAX (exact/cpu_files.h); 0: all */
	bool keep_code;  /* processes use the code that earlier ones of their program translated */
	bool aslr;       /* keep address space layout randomisation */
	bool total_only; /* instructions only: a little faster, without taken branches */
	/* keep a running count that the program can read: tare_exact_now(); about half as fast */
	bool running;
	bool profile;             /* also where instructions were executed: exact_profile() */
	struct exact_every every; /* exact_samples(); with `profile` also mappings */
};

/*
 * Counted processes that still ran when the command ended; the pid of one of them, if known (else
 * 0).
 */
struct exact_left {
	unsigned n;
	pid_t pid;
	char name[24];
};

struct exact_end {
	int status; /* wait(2) status */
	/* a signal ended it before its first instruction: all its counts are 0 */
	bool never_began;
	struct exact_left left;
	struct rusage usage; /* of the command and its children; includes the engine's overhead */
};

enum { EXACT_UNCOUNTED_MAX = 16, EXACT_REASON_MAX = 200 };

/*
 * A process that was not counted to its end. The counts include what it executed before, but no
 * process that it started after.
 */
struct exact_missing {
	pid_t pid;
	uint32_t serial;
	/*
	 * the engine ended it because it could not be counted any further; otherwise it continued
	 * without the engine
	 */
	bool ended;
	char name[24]; /* of the uncounted program */
	char reason[EXACT_REASON_MAX];
};

/* Number of such processes; the first EXACT_UNCOUNTED_MAX are listed. */
struct exact_partial {
	unsigned n;
	struct exact_missing process[EXACT_UNCOUNTED_MAX];
};

/* What makes a run slow. The counts are exact nevertheless. */
struct exact_slow {
	/*
	 * executions of blocks that first compared their code, as writes to it cannot be detected
	 */
	uint64_t compared;
	uint64_t stepped; /* instructions that were single-stepped */
};

struct exact_process {
	pid_t pid, parent;
	uint32_t serial; /* unique in a run, unlike a pid */
	/*
	 * the descent (see exact_thread) of its first thread when it was created; exec does not
	 * change it
	 */
	uint64_t stable_id;
	char name[24];
	bool live;
	bool partial; /* see struct exact_missing */
	int64_t counts[EXACT_CLASSES];
};

struct exact_thread {
	uint32_t serial; /* of its process */
	uint32_t born;   /* order of creation, in this run */
	/* the same in each run that takes the same path: never 0; changes at an exec */
	uint64_t stable_id;
	pid_t tid;
	int64_t counts[EXACT_CLASSES];
};

enum exact_module_kind {
	EXACT_FILE,
	EXACT_VDSO,    /* kernel code that is mapped into every program */
	EXACT_MEMORY,  /* written at run time: the code has no location outside the process */
	EXACT_UNKNOWN, /* unknown */
};

/* Where code came from. */
struct exact_module {
	enum exact_module_kind kind;
	bool elsewhere;                  /* `path` is in another root or mount namespace, or gone */
	int64_t size, mtime_s, mtime_ns; /* of the file when it was mapped */
	char *path;                      /* from /proc/PID/maps */
};

/*
 * A straight run of instructions and its number of executions: negative for one that was left
 * early. With 0 instructions: how often the conditional branch that ends at `offset` was not taken;
 * subtract these from EXACT_TAKEN.
 */
struct exact_code {
	uint64_t offset; /* in the file; for the vdso, from its start; without a location 0 */
	int64_t executions;
	uint32_t module;
	uint16_t size, instructions; /* in bytes; per execution */
	/* per execution, by class; assumes that every conditional branch is taken */
	uint8_t adds[EXACT_CLASSES];
};

struct exact_profile {
	struct exact_module *module;
	size_t n_modules;
	struct exact_code *code; /* unordered; the same code may appear several times */
	size_t n_code;
	int64_t unplaced; /* instructions that did not fit */
};

enum exact_sample_kind {
	EXACT_SAMPLE,
	EXACT_SAMPLE_END,     /* a thread ended: its final counts */
	EXACT_SAMPLE_PROGRAM, /* a program starts: the command, or by exec in an existing process */
	EXACT_SAMPLE_FORK,    /* a process starts as a copy of its parent, with its mappings */
	/* code that is about to be executed for the first time: with `profile` */
	EXACT_SAMPLE_MAPPING,
	/*
	 * a thread got a name that differs from its program's, or a new one; there may be no sample
	 * of it yet
	 */
	EXACT_SAMPLE_NAME,
	/* the last event of a call: no later SAMPLE has a time before time_ns */
	EXACT_SAMPLE_SETTLED,
};

/* Valid during the callback, with everything it points to. */
struct exact_sample {
	enum exact_sample_kind kind;
	uint32_t serial; /* of its process: unique in a run, and not changed by exec */
	/* FORK, PROGRAM: the serial of the parent process; its own if there is none */
	uint32_t parent;
	/*
	 * SAMPLE, END, NAME: the thread, by order of creation; new after an exec. PROGRAM: threads
	 * from this number on belong to it
	 */
	uint32_t born;
	/* SAMPLE, END: the thread, the same in each run that takes the same path */
	uint64_t stable_id;
	pid_t pid, tid;
	uint64_t time_ns; /* CLOCK_MONOTONIC when it was taken, accurate to about a microsecond */

	/*
	 * SAMPLE: its event: 0, or 1 + index in `more`. END: 0, the event of `number` and `count`
	 */
	unsigned event;
	/*
	 * SAMPLE: the index among the samples of its thread and event, from 1; END: their number.
	 */
	uint64_t number; /* END with `jitter`: approximate */
	/* of the class: first + (number - 1) * n, with `jitter` approximately; END: the total */
	int64_t count;
	/* EXACT_CLASSES counts of the thread, including the sampled instruction; or NULL */
	const int64_t *counts;
	uint64_t way; /* END, and SAMPLE with counts: hash of all instructions executed, in order */

	/*
	 * SAMPLE: the instruction that retired as the count-th. Everything else is the state before
	 * it.
	 */
	uint64_t pc;
	/*
	 * by class, what one execution of the straight run of code around `pc` adds; for `class`
	 * never 0
	 */
	const uint8_t *adds;
	/*
	 * Accesses, loads and stores: the count-th operand. A repeated string instruction is one
	 * operand with all its bytes.
	 */
	bool reads, writes, locked, prefetches;
	bool has_address; /* not for gather, scatter, ... */
	uint64_t address;
	/*
	 * size from `address` on; of a repeated string instruction all that it accessed; 0: unknown
	 */
	uint64_t bytes;
	bool has_target, has_outcome, taken; /* branches: its target; whether it was taken */
	uint64_t target;
	const uint64_t
		*registers; /* rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15, flags; or NULL */
	const uint64_t *chain; /* return addresses, innermost first; all in executable memory */
	size_t n_chain;
	const uint8_t *stack; /* from rsp upwards, as far as it is mapped */
	size_t n_stack;
	/* contents before the instruction, as far as mapped; else 0; or NULL */
	const uint64_t *peek;
	/*
	 * with `peek`: the fs base, and the address of the rseq area registered with the kernel, or
	 * 0
	 */
	uint64_t fs_base, rseq;

	/*
	 * PROGRAM, NAME; MAPPING: "[stack:TID]" for the stack of a thread other than the first,
	 * else ""
	 */
	const char *name;
	/* MAPPING: `path` is mapped at [start, end), from file offset `offset` on. */
	bool data; /* contains data that a sampled instruction accesses, not code */
	uint64_t start, end, offset;
	enum exact_module_kind module;
	const char *path;
	/* MAP_SHARED: the file, and the file offset of `start`; inode 0: not shared */
	uint64_t shared_inode, shared_dev, shared_offset;
};

/* Negative: stop, and exact_samples() returns it; the sample counts as delivered. */
typedef int exact_sample_fn(void *with, const struct exact_sample *s);

struct exact;

/* The events' names: "instructions", "conditional-branches", ... */
extern const char *const exact_class_names[EXACT_CLASSES];

/* 0 if commands can be counted here; otherwise the reason. */
int exact_probe(struct tare_error *err);
/*
 * Counts a program with a known number of instructions. 0: the counts are right. 1: the program
 * could not be started, so the result is unknown. Negative errno: the counts are wrong, or the
 * program did not end as expected.
 */
int exact_check(struct tare_error *err);

/*
 * Start argv[0], searched along PATH, with counting set up before its first instruction. `o` may be
 * NULL. -ENOENT, -EACCES, ... if it cannot be executed; -ENOTSUP if it cannot be counted.
 */
int exact_launch(struct exact **out, char *const argv[], char *const envp[],
		 const struct exact_options *o, struct tare_error *err);

/* The command's pid. */
pid_t exact_pid(const struct exact *x);

/*
 * A descriptor that becomes readable when the command has ended, for poll(2). Owned by x. It may
 * change after exact_wait(); -1 if only SIGCHLD reports the end.
 */
int exact_fd(const struct exact *x);

/*
 * Wait up to timeout_ms (-1: forever) for the command's end: 1 ended, 0 not yet, or an error. With
 * `every` also returns 0 as soon as samples fill half of a buffer. Then exact_samples() must be
 * called: the program waits for it rather than lose a sample. exact_fd() becomes readable for that,
 * too. If the supervisor process is killed, the command continues and is still waited for (the
 * caller becomes its reaper, see PR_SET_CHILD_SUBREAPER in prctl(2)); its counts are lost, and
 * exact_counts() reports that.
 */
int exact_wait(struct exact *x, int timeout_ms, struct exact_end *end, struct tare_error *err);

/*
 * The functions below read memory that the command can write to. If it was overwritten, as far as
 * exact_counts() and exact_wait() found, they report nothing.
 */

/*
 * The name of the first program with random addresses although `aslr` was not set: one with other
 * rights, or its personality was changed. NULL: none. After exact_wait() returned 1.
 */
const char *exact_layout_lost(const struct exact *x);

/*
 * The extension of the first instruction that the CPU model lacks, and the program that executed
 * it; NULL: none, or there is no model.
 */
const char *exact_isa_beyond(struct exact *x, char program[24]);

/* What the command used that the virtual clock does not include; NULL: nothing. */
const char *exact_clock_beyond(const struct exact *x);

/* With `turns`: the part of the command without a fixed order. False: none, and `to` is "". */
bool exact_turns_beyond(const struct exact *x, char *to, size_t room);

/*
 * The path, truncated to `room`, of the first program with a file that changes its rights (setuid,
 * setgid, file capabilities). It ran outside the engine. False: none, and `to` is "".
 */
bool exact_gainer(const struct exact *x, char *to, size_t room);

/* How many programs began with the code that earlier processes of the run had translated. */
uint32_t exact_warm(const struct exact *x);

/*
 * How often the command and its children were stopped (SIGSTOP, a terminal's ^Z); a lower bound.
 * One stop may be sent by the command, seen and found: the largest of these numbers. After
 * exact_wait() returned 1. For each stop, a thread that was in a system call may have executed that
 * once more, which is not counted.
 */
unsigned exact_stops(const struct exact *x);

/*
 * The counts so far, of the command and its children. With total_only, all but EXACT_INSTRUCTIONS
 * are 0 and meaningless. -ENODATA if some processes were not counted to their end: `out` is then
 * exact without those, which exact_partial() lists. -ENOTSUP with the reason if there are no
 * counts: `out` is meaningless.
 */
int exact_counts(struct exact *x, int64_t out[EXACT_CLASSES], struct tare_error *err);

/* Did a program overwrite the memory that contains its counts, as found so far? */
bool exact_damaged(const struct exact *x);

/* Up to the last exact_counts(), which bounds them; approximate while the command runs. */
void exact_slow(struct exact *x, struct exact_slow *out);

/* The processes that the counts lack, so far. */
void exact_partial(struct exact *x, struct exact_partial *out);

/*
 * The counts per process, in the order of their ends, the live ones last; at most `n`. Returns
 * their number.
 */
size_t exact_processes(struct exact *x, struct exact_process *out, size_t n);

/* The threads, ended ones first; at most `n`. Returns their number. */
size_t exact_threads(struct exact *x, struct exact_thread *out, size_t n);

/*
 * Where the instructions were executed, so far; requires `o->profile`. With `unplaced` the sum
 * equals exact_counts(). Call exact_profile_free() after use, also after an error.
 */
int exact_profile(struct exact *x, struct exact_profile *out, struct tare_error *err);
void exact_profile_free(struct exact_profile *p);

/*
 * The lengths of the instructions in `size` bytes of code. Returns their number; 0 if they do not
 * end exactly at `size`, or are more than `n`.
 */
size_t exact_lengths(const uint8_t *code, size_t size, uint8_t *length, size_t n);

/*
 * What one execution of the first instruction in `code` adds to each class, as in struct
 * exact_code. Returns its length; 0: unknown instruction.
 */
size_t exact_adds(const uint8_t *code, size_t size, uint8_t adds[EXACT_CLASSES]);

/* The effects of the first instruction in a piece of code, as the engine counts them. */
struct exact_effects {
	uint8_t loads, stores; /* memory operands */
	bool branches, string, writes_flags;
	bool other_registers; /* x87 or MMX registers */
};

/* `code` has `size` bytes; false: unknown instruction. */
bool exact_effects(const uint8_t *code, size_t size, struct exact_effects *out);

/*
 * Pass all new samples to `each`, in the caller's thread. Events that explain a sample come before
 * it. Samples of one thread are in order, those of several threads are not: sort by time_ns where
 * it matters. Call it regularly (every 100 ms), when exact_wait() asks for it, and once more when
 * that has returned 1: then everything is delivered. If SIGKILL or another thread's exit ends a
 * thread inside the system call that would be its next sample, there is an END without that sample.
 * Returns 0; the result of `each`; -ENODATA without `every`; -ENOSPC if there were too many threads
 * or mappings for a list.
 */
int exact_samples(struct exact *x, exact_sample_fn *each, void *with, struct tare_error *err);

/*
 * To be called after signal `number` was sent to the command. A stopped supervisor would not report
 * the command's end: continue it or, after SIGKILL, kill it. In that case the counts are lost.
 */
void exact_signalled(const struct exact *x, int number);

/* Free x. A command that still runs continues uncounted. NULL is allowed. */
void exact_close(struct exact *x);

#endif
