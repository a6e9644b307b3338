/* SPDX-License-Identifier: MIT */
/*
 * Where two runs of a command part: the first instruction behind which one goes another way than the other. Both are run
 * under the exact engine and compared at checkpoints, every so many instructions of each thread; the interval in which they
 * part is divided by running them again, with closer checkpoints there alone, down to single instructions. The last pair of runs is
 * the one that is told of: what is said of it is true of it. Memory is bounded by the checkpoints, not by the program.
 */
#ifndef SESSION_DIVERGE_H
#define SESSION_DIVERGE_H

#include "exact/exact.h"
#include "session/fixed.h"

enum diverge_verdict {
	DIVERGE_SAME,	/* both went the same way, to the last instruction */
	DIVERGE_PARTED, /* at a place that is known to the instruction */
	DIVERGE_SETTLED, /* a pair parted, a later one did not: the first run left something behind, or runs part now and then */
	DIVERGE_MOVES,	/* each pair of runs parts elsewhere: only roughly known */
};

/* What one instruction found, before it was executed. */
struct diverge_step {
	int64_t number; /* of the thread's instructions, from 1 */
	uint64_t pc;
	uint64_t regs[EXACT_REGISTERS]; /* as in struct exact_sample */
};

/* What was mapped, and what became of processes, in the order in which it was told. */
struct diverge_happening {
	enum exact_sample_kind kind; /* PROGRAM, FORK, MAPPING */
	uint32_t serial, parent;
	uint64_t start, end, offset, time_ns;
	enum exact_module_kind module;
	char *path; /* or the program's name */
};

/* One of the two runs, in the last pair. */
struct diverge_run {
	int64_t instructions; /* all threads */
	int wait_status;
	uint64_t output; /* a hash */
	uint32_t threads;

	uint32_t serial; /* of the process of the thread that parts */
	int pid;
	struct diverge_step *step; /* before they part and a little behind; step[0] is instruction number `first` */
	size_t n;
	uint64_t until_ns; /* when the last of them was executed */
	struct diverge_happening *happening;
	size_t happenings, happenings_room;
	/* Before step[0], unless that is the thread's first instruction; pc 0: not had. */
	uint64_t stack_pc, stack_regs[EXACT_REGISTERS];
	uint8_t *stack;
	size_t n_stack;
	/* Its system calls up to there, where they were asked for. */
	struct diverge_step *call;
	size_t calls, calls_room;
};

struct divergence {
	enum diverge_verdict verdict;
	uint32_t born;	 /* the thread, by order of creation */
	int64_t first;	 /* number of step[0], from 1 */
	size_t at;	 /* step[at] is the last instruction that both executed */
	int64_t low, high; /* roughly: between these instructions of the thread */
	unsigned pairs;	 /* how many times two runs were compared */
	bool output_differs, end_differs;
	bool ended;	 /* one of them ends there */
	int64_t shortest, longest; /* instructions of all runs that went to their end */
	struct diverge_run run[2];
};

struct diverge_plan {
	char *const *argv;
	char *const *envp;
	struct fixed *fixed;
	uint64_t timeout_ns; /* of one run; 0: none */
	uint64_t every;	     /* instructions between the first checkpoints; 0: 2^16 */
	/* Told before each run: for a progress line. May be NULL. */
	void (*progress)(void *with, unsigned pair, unsigned run);
	void *with;
	int exec_code; /* out: errno of a command that cannot be executed */
};

/* diverge_free() after use, also after an error. */
int diverge_search(struct diverge_plan *plan, struct divergence *out, struct tare_error *err);
/* The system calls of the two runs' thread before they part, into run[].call. Two more runs. */
int diverge_calls(struct diverge_plan *plan, struct divergence *d, struct tare_error *err);
void diverge_free(struct divergence *d);

#endif
