/* SPDX-License-Identifier: MIT */
/*
 * Finds where two runs of a command diverge: the first instruction after which they execute
 * different instructions. Both run under the exact engine and are compared at checkpoints, every
 * so many instructions of each thread. Further runs divide the interval in which they diverge,
 * with closer checkpoints only there, down to single instructions. The result describes the last
 * pair of runs. Memory is bounded by the checkpoints, not by the program.
 */
#ifndef DIVERGE_DIVERGE_H
#define DIVERGE_DIVERGE_H

#include "exact/exact.h"
#include "launch/determinism.h"
#include "launch/stdin_replay.h"

enum diverge_verdict {
	DIVERGE_SAME,    /* all runs took the same path to the last instruction */
	DIVERGE_PARTED,  /* diverged at a known instruction */
	DIVERGE_SETTLED, /* a pair diverged and a later one did not: either the first run left
			  * a file, or runs diverge only sometimes */
	DIVERGE_MOVES,   /* each pair diverges elsewhere, so the place is only approximate;
			 * run[0].step[] and its stack are from one run there */
};

/* The state before an instruction is executed. */
struct diverge_step {
	int64_t number; /* number of the thread's instruction, from 1 */
	uint64_t pc;
	uint64_t regs[EXACT_REGISTERS]; /* as in struct exact_sample */
};

/* 8 bytes of memory. */
struct diverge_place {
	uint64_t address;
	bool fs; /* the address is an offset from the thread's FS base */
};

enum { DIVERGE_PLACES_MAX = EXACT_PEEK_MAX };

/* A thread that ended. */
struct diverge_thread {
	uint64_t stable_id;    /* identifies it in both runs */
	uint32_t serial, born; /* in this run */
	int pid, tid;
	int64_t instructions;
};

/* Mappings and process events, in the order in which they were reported. */
struct diverge_happening {
	enum exact_sample_kind kind; /* PROGRAM, FORK, MAPPING */
	uint32_t serial, parent;
	uint64_t start, end, offset, time_ns;
	enum exact_module_kind module;
	bool data;   /* memory that was accessed, not executed */
	bool shared; /* MAP_SHARED: it shows what other processes write */
	char *path;  /* or the program's name */
};

/* One of the last two runs. */
struct diverge_run {
	int64_t instructions; /* all threads */
	int wait_status;
	uint64_t output; /* a hash */
	uint32_t threads;

	uint32_t serial; /* of the process of the diverging thread */
	int pid, tid;
	struct diverge_thread *thread; /* all that ended */
	size_t ended, ended_room;
	struct diverge_step *step; /* before the divergence and a few after it; step[0] is
				    * instruction number `first` */
	size_t n;
	uint64_t way;      /* hash of everything the thread executed before step[0] */
	uint64_t until_ns; /* when the last step was executed */
	struct diverge_happening *happening;
	size_t happenings, happenings_room;
	/* Before step[0], unless that is the thread's first instruction; pc 0: not recorded. */
	uint64_t stack_pc, stack_regs[EXACT_REGISTERS];
	uint8_t *stack;
	size_t n_stack;
	/* Set by diverge_watch(): contents of the watched places before each step. */
	uint64_t *held;
	uint64_t fs_base, rseq; /* of the thread; 0: unknown */
};

struct divergence {
	enum diverge_verdict verdict;
	uint64_t stable_id; /* the thread; exec gives it a new one */
	uint32_t thread; /* its number in the first run that has it, from 1; the same after exec */
	bool since_exec; /* instructions count from exec: its process had run another program */
	int64_t first;   /* number of step[0], from 1 */
	size_t at;       /* step[at] is the last instruction that both executed */
	int64_t low, high;    /* they diverge between these instructions of the thread */
	unsigned pairs, runs; /* pairs compared; runs made */
	unsigned alike;       /* DIVERGE_SAME: number of runs */
	struct diverge_place watched[DIVERGE_PLACES_MAX];
	unsigned n_watched;
	bool output_differs, end_differs;
	char uncounted[200]; /* what could not be compared in some run, and why; "": nothing */
	bool ended;          /* one of the runs ends there */
	bool several;        /* more than one thread diverges */
	/*
	 * DIVERGE_MOVES: other threads of its process that lived at the same time (the smaller
	 * count of two runs): between low and high, or the nearest system calls around them; and
	 * at any time up to there.
	 */
	unsigned beside_there, beside;
	int64_t shortest, longest;          /* instructions of all runs that finished */
	unsigned shortest_run, longest_run; /* the first run with this count, from 1 */
	struct diverge_run run[2];
};

enum { DIVERGE_RUNS = 6 }; /* a divergence seen in half of all pairs is missed 1 time in 32 */

struct diverge_plan {
	char *const *argv;
	char *const *envp;
	struct determinism *fixed;
	uint64_t timeout_ns; /* of one run; 0: none */
	uint64_t every;      /* instructions between the first checkpoints; 0: 2^16 */
	unsigned runs;       /* runs that must be the same before DIVERGE_SAME; 0: DIVERGE_RUNS */
	struct stdin_replay *input; /* what each run reads; NULL: standard input, unchanged */
	/* Called before each run, for a progress line. May be NULL. */
	void (*progress)(void *with, unsigned pair, unsigned run);
	void *with;
	int exec_code; /* out: errno if the command cannot be executed */
	int by_signal; /* out: the signal that asked tare to stop */
};

/* The thread among those that ended; NULL: not found. */
const struct diverge_thread *diverge_thread_of(const struct diverge_thread *thread, size_t n,
					       uint64_t stable_id);

/*
 * The thread number that tare prints: among those that ended, in the order of creation, from 1.
 * exec does not start a new thread. 0: not found. `since_exec`: the thread continues in a process
 * that ran another program before. Quadratic in n.
 */
uint32_t diverge_number(const struct diverge_thread *thread, size_t n, uint64_t stable_id,
			bool *since_exec);

/* Whether two threads belong to the same process and the same program in it; exec ends all other
 * threads. */
bool diverge_same_program(const struct diverge_thread *thread, size_t n, uint64_t a, uint64_t b);

/* Call diverge_free() after use, also after an error. */
int diverge_search(struct diverge_plan *plan, struct divergence *out, struct tare_error *err);
/*
 * Makes the two runs again and records `n` places before each step, in run[].held. 1: they diverge
 * at the same instruction, or the same thread diverges earlier, and `d` describes the new pair; 0:
 * they do not, and `d` is unchanged. Two to six more runs if they diverge as before.
 */
int diverge_watch(struct diverge_plan *plan, struct divergence *d,
		  const struct diverge_place *place, unsigned n, struct tare_error *err);

/* What wrote to a place before step[0]. */
struct diverge_written {
	bool found;
	struct diverge_step step; /* of the thread: it changed the value */
	bool at_start; /* else: it already differed before the thread's first instruction */
};

/* Makes a few more runs, each with few samples. */
int diverge_history(struct diverge_plan *plan, struct divergence *d,
		    const struct diverge_place *place, unsigned size, struct diverge_written *out,
		    struct tare_error *err);
/*
 * Finds the last instruction of another thread at which the `size` bytes there changed, whatever
 * wrote them. 1: found; 0: none. Makes a few more runs, each with few samples of that thread;
 * `thread` is one of d->run[].
 */
int diverge_changed_by(struct diverge_plan *plan, struct divergence *d,
		       const struct diverge_thread *thread, uint64_t address, unsigned size,
		       struct diverge_step *out, struct tare_error *err);
/*
 * Makes two new runs and records into `out` what the thread of `d`, whose path is the same up to
 * there, did before its instruction `number`, with the contents of `n` places before each step.
 * step[at] is that instruction. 1: recorded; 0: the two paths differed this time. At most `tries`
 * + 1 runs; call diverge_free() after use.
 */
int diverge_earlier(struct diverge_plan *plan, struct divergence *d, int64_t number,
		    const struct diverge_place *place, unsigned n, unsigned tries,
		    struct divergence *out, struct tare_error *err);
/* The number of the first recorded step for instruction `number`, also in diverge_earlier(). */
int64_t diverge_first(int64_t number);
/* Makes two new runs and records the stack at the thread's first instruction of each in
 * out[].stack, which may be NULL. Call diverge_run_free() on each, also after an error. */
int diverge_beginning(struct diverge_plan *plan, struct divergence *d, struct diverge_run out[2],
		      struct tare_error *err);
void diverge_run_free(struct diverge_run *r);
void diverge_free(struct divergence *d);

#endif
