/* SPDX-License-Identifier: MIT */
/*
 * Explains the place where two runs diverge: the function, the line, the callers, and what
 * differed. The value that decided is followed back through registers and memory, instruction by
 * instruction, to its source.
 */
#ifndef DIVERGE_DIVERGENCE_H
#define DIVERGE_DIVERGENCE_H

#include "symbols/disasm.h"
#include "diverge/initial_stack.h"
#include "symbols/modules.h"
#include "symbols/address_spaces.h"
#include "diverge/diverge.h"

enum { FILE_NAME_MAX = 160 };

enum cause_kind {
	CAUSE_UNKNOWN,
	CAUSE_CALL,       /* return value of a system call */
	CAUSE_WRITTEN,    /* memory that a system call wrote */
	CAUSE_TICKS,      /* the time stamp counter: rdtsc */
	CAUSE_CPUID,      /* the processor's identification */
	CAUSE_CPU,        /* the number of the CPU: rdtscp's rcx, rdpid */
	CAUSE_RANDOM,     /* rdrand, rdseed */
	CAUSE_CLOCK,      /* the page from which clocks are read without a system call */
	CAUSE_STARTUP,    /* on the initial stack: arguments, environment, random bytes */
	CAUSE_SIGNAL,     /* a signal arrived in one run only, or at different places */
	CAUSE_THREADS,    /* memory written by another thread */
	CAUSE_PROCESS,    /* shared memory written by another process */
	CAUSE_THREAD_END, /* a thread ID, which the kernel clears when the thread ends */
	CAUSE_RSEQ,       /* the processor number, which the kernel writes on scheduling */
	CAUSE_FILE,       /* contents of a mapped file */
	CAUSE_START,      /* memory that differed when the thread started */
	CAUSE_STORED,     /* memory that the thread wrote before the recorded steps */
	CAUSE_MEMORY,     /* memory with an unknown writer */
	CAUSE_BEFORE,     /* a register set before the recorded steps */
	CAUSE_PROGRAM,    /* the thread executed a different program in each run */
	CAUSE_END,        /* one run was killed from outside */
};

/* A place in a program; strings are valid as long as the report. */
struct code_place {
	uint64_t pc;
	const char *function; /* or NULL */
	uint64_t into;        /* bytes from its start */
	const char *module;   /* file, or a description */
	uint64_t offset;      /* in it */
	char file[160];       /* source file, or "" */
	unsigned line;
	char text[DISASM_TEXT]; /* the instruction, or "" */
};

enum { CALLERS_MOST = 40, HOPS_MOST = 64, ROUGHLY_MOST = 4 };

struct divergence_report {
	const struct divergence *d;
	struct code_place at, next[2];
	struct code_place caller[CALLERS_MOST];
	unsigned callers;
	bool callers_whole;

	enum cause_kind cause;
	struct code_place from; /* where the value came in; pc 0: unknown */
	int64_t back;           /* how many instructions before the place */
	uint64_t address;       /* the memory's address, or 0 */
	char memory[160];       /* its name: the variable and its module, or the file; or "" */
	unsigned
		/* CAUSE_THREADS: which thread wrote it, in further runs; 0: unknown */
		writer_thread;
	struct code_place writer;           /* the instruction that last changed it */
	struct initial_stack_place started; /* CAUSE_STARTUP: the data at `address` */
	const char *held_in;                /* CAUSE_BEFORE: the register, or NULL */
	int call; /* number of the system call, for CAUSE_CALL and CAUSE_WRITTEN */
	char call_name[32];
	char file[FILE_NAME_MAX]; /* of the call, as the program named it; or "" */
	int signal;               /* CAUSE_SIGNAL: its number, or 0 */
	bool has_value;
	uint64_t value[2];    /* as first seen in a register */
	const char *value_in; /* the register's name */
	unsigned hops;        /* instructions that passed it on */
	bool forked; /* the process executed no program of its own: it was forked from its parent */
	const char *program[2]; /* of the diverging thread; "" if unknown */

	/* DIVERGE_MOVES: functions of the interval, in the order in which one run reached them;
	 * whether there are more. `at` is the start of the interval. */
	struct code_place roughly[ROUGHLY_MOST];
	unsigned n_roughly;
	bool roughly_more;

	/* private */
	struct modules modules;
	struct address_spaces address_spaces;
};

/*
 * `plan`: used to run the command again if memory differed, see diverge_watch(); may be NULL. `d`
 * then describes a later pair of runs.
 */
int divergence_explain(struct divergence_report *out, struct divergence *d,
		       size_t environment_bytes, struct diverge_plan *plan, struct tare_error *err);
void divergence_free(struct divergence_report *r);

#endif
