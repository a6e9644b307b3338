/* SPDX-License-Identifier: MIT */
/*
 * Where two runs of a command part: the first instruction behind which one goes another way than the other. Both are run
 * under the exact engine and compared at checkpoints, every so many instructions of each thread; the interval in which they
 * part is divided by running them again, with closer checkpoints there alone, down to single instructions. The last pair of runs is
 * the one that is told of: what is said of it is true of it. Memory is bounded by the checkpoints, not by the program.
 */
#ifndef DIVERGE_DIVERGE_H
#define DIVERGE_DIVERGE_H

#include "exact/exact.h"
#include "launch/fixed.h"
#include "launch/same_input.h"

enum diverge_verdict {
	DIVERGE_SAME,	/* all went the same way, to the last instruction */
	DIVERGE_PARTED, /* at a place that is known to the instruction */
	DIVERGE_SETTLED, /* a pair parted, a later one did not: the first run left something behind, or runs part now and then */
	DIVERGE_MOVES,	/* each pair of runs parts elsewhere: only roughly known; run[0].step[] and its stack are of what one run executed there */
};

/* What one instruction found, before it was executed. */
struct diverge_step {
	int64_t number; /* of the thread's instructions, from 1 */
	uint64_t pc;
	uint64_t regs[EXACT_REGISTERS]; /* as in struct exact_sample */
};

/* A place in memory, of 8 bytes. */
struct diverge_place {
	uint64_t address;
	bool fs; /* it is an offset from the thread's own base */
};

enum { DIVERGE_PLACES_MAX = EXACT_PEEK_MAX };

/* A thread that came to its end. */
struct diverge_thread {
	uint64_t descent; /* who it is, in both runs */
	uint32_t serial, born; /* in this run */
	int pid, tid;
	int64_t instructions;
};

/* What was mapped, and what became of processes, in the order in which it was told. */
struct diverge_happening {
	enum exact_sample_kind kind; /* PROGRAM, FORK, MAPPING */
	uint32_t serial, parent;
	uint64_t start, end, offset, time_ns;
	enum exact_module_kind module;
	bool data; /* it was looked at, not executed */
	bool shared; /* what others write there is seen (MAP_SHARED) */
	char *path; /* or the program's name */
};

/* One of the two runs, in the last pair. */
struct diverge_run {
	int64_t instructions; /* all threads */
	int wait_status;
	uint64_t output; /* a hash */
	uint32_t threads;

	uint32_t serial; /* of the process of the thread that parts */
	int pid, tid;
	struct diverge_thread *thread; /* all that ended */
	size_t ended, ended_room;
	struct diverge_step *step; /* before they part and a little behind; step[0] is instruction number `first` */
	size_t n;
	uint64_t way; /* a hash of all that the thread executed before step[0] */
	uint64_t until_ns; /* when the last of them was executed */
	struct diverge_happening *happening;
	size_t happenings, happenings_room;
	/* Before step[0], unless that is the thread's first instruction; pc 0: not had. */
	uint64_t stack_pc, stack_regs[EXACT_REGISTERS];
	uint8_t *stack;
	size_t n_stack;
	/* Of diverge_watch(): before each step, what the watched places held. */
	uint64_t *held;
	uint64_t fs_base, rseq; /* of the thread: 0: not known */
};

struct divergence {
	enum diverge_verdict verdict;
	uint64_t descent; /* the thread; a program begun by exec has a new one */
	uint32_t thread; /* its number in the first run that has it, from 1: exec begins no new one */
	bool since_exec; /* its instructions are numbered from there: the process had executed another program before */
	int64_t first;	 /* number of step[0], from 1 */
	size_t at;	 /* step[at] is the last instruction that both executed */
	int64_t low, high; /* roughly: between these instructions of the thread */
	unsigned pairs, runs; /* how many times two runs were compared; how many there were */
	unsigned alike;	      /* DIVERGE_SAME: so many runs */
	struct diverge_place watched[DIVERGE_PLACES_MAX];
	unsigned n_watched;
	bool output_differs, end_differs;
	char uncounted[200]; /* what of some run was not compared, and why; "": nothing */
	bool ended;	 /* one of them ends there */
	bool several;	 /* more threads than one part */
	/*
	 * DIVERGE_MOVES: other threads of its process that lived at once with it, the fewer of two runs: where it was between low and high,
	 * or at the nearest system calls around that; and at all up to there.
	 */
	unsigned beside_there, beside;
	int64_t shortest, longest; /* instructions of all runs that went to their end */
	unsigned shortest_run, longest_run; /* the first that had so many, from 1 */
	struct diverge_run run[2];
};

enum { DIVERGE_RUNS = 6 }; /* of those that part in half of all pairs, 1 in 32 is not found out */

struct diverge_plan {
	char *const *argv;
	char *const *envp;
	struct fixed *fixed;
	uint64_t timeout_ns; /* of one run; 0: none */
	uint64_t every;	     /* instructions between the first checkpoints; 0: 2^16 */
	unsigned runs;	     /* that must go the same way before it is said; 0: DIVERGE_RUNS */
	struct same_input *input; /* what each run reads; NULL: standard input, as it is */
	/* Told before each run: for a progress line. May be NULL. */
	void (*progress)(void *with, unsigned pair, unsigned run);
	void *with;
	int exec_code; /* out: errno of a command that cannot be executed */
	int by_signal; /* out: tare was asked to stop */
};

/* The thread, of those that ended; NULL: it is not among them. */
const struct diverge_thread *diverge_thread_of(const struct diverge_thread *thread, size_t n, uint64_t descent);

/*
 * A thread's number for people: of those that ended, in the order of their creation, from 1; exec begins no new one; 0: it is not among
 * them. `since_exec`: whether it goes on in a process that had run another program before. Quadratic in n.
 */
uint32_t diverge_number(const struct diverge_thread *thread, size_t n, uint64_t descent, bool *since_exec);

/* Whether two threads are of one process, and of the same program in it: exec ends all others. */
bool diverge_same_program(const struct diverge_thread *thread, size_t n, uint64_t a, uint64_t b);

/* diverge_free() after use, also after an error. */
int diverge_search(struct diverge_plan *plan, struct divergence *out, struct tare_error *err);
/*
 * The two runs anew, with what `n` places hold before each step, into run[].held. 1: they part by the same instruction again, or the
 * same thread before that, and `d` is of them; 0: they do not, and `d` is as it was. Two to six more runs where they part as they did.
 */
int diverge_watch(struct diverge_plan *plan, struct divergence *d, const struct diverge_place *place, unsigned n, struct tare_error *err);

/* Who wrote to a place before step[0]. */
struct diverge_written {
	bool found;
	struct diverge_step step; /* of the thread: before it another value was there than behind it */
	bool at_start; /* else: it differed already before the thread's first instruction */
};

/* A few more runs, each with few samples. */
int diverge_history(struct diverge_plan *plan, struct divergence *d, const struct diverge_place *place, unsigned size,
		    struct diverge_written *out, struct tare_error *err);
/*
 * Which instruction of another thread was the last by which the `size` bytes there changed, whoever wrote them: 1; 0: none. In a few
 * more runs, each with few samples of it; `thread` is of d->run[].
 */
int diverge_changed_by(struct diverge_plan *plan, struct divergence *d, const struct diverge_thread *thread, uint64_t address, unsigned size,
		       struct diverge_step *out, struct tare_error *err);
/*
 * Two runs anew: what the thread of `d`, which goes the same way up to there, did before its instruction `number`, with what `n` places
 * hold before each, into `out`, where step[at] is that instruction. 1; 0: they had not the same way now. `tries` and one runs at the most;
 * diverge_free() after use.
 */
int diverge_earlier(struct diverge_plan *plan, struct divergence *d, int64_t number, const struct diverge_place *place, unsigned n,
		    unsigned tries, struct divergence *out, struct tare_error *err);
/* The number of step[0] of what is looked at for instruction `number`, by diverge_earlier() too. */
int64_t diverge_first(int64_t number);
/* Two runs anew: the stack at the thread's first instruction in each, out[].stack, unless that is NULL. diverge_run_free() each, also after an error. */
int diverge_beginning(struct diverge_plan *plan, struct divergence *d, struct diverge_run out[2], struct tare_error *err);
void diverge_run_free(struct diverge_run *r);
void diverge_free(struct divergence *d);

#endif
