/* SPDX-License-Identifier: MIT */
/*
 * What is known of the place where two runs part: which function and line, who called it, and what differed. The value that
 * decided is followed back through registers and memory, instruction by instruction, to where it came in.
 */
#ifndef DIVERGE_DIVERGENCE_H
#define DIVERGE_DIVERGENCE_H

#include "symbols/disasm.h"
#include "diverge/first_stack.h"
#include "symbols/modules.h"
#include "symbols/spaces.h"
#include "diverge/diverge.h"

enum cause_kind {
	CAUSE_UNKNOWN,
	CAUSE_CALL,	/* what a system call returned */
	CAUSE_WRITTEN,	/* what a system call wrote into memory */
	CAUSE_TICKS,	/* the processor's clock: rdtsc */
	CAUSE_CPUID,	/* what the processor says of itself */
	CAUSE_RANDOM,	/* rdrand, rdseed */
	CAUSE_CLOCK,	/* the page from which clocks are read without a system call */
	CAUSE_STARTUP,	/* what the kernel put onto the first stack: arguments, environment, random bytes */
	CAUSE_SIGNAL,	/* a signal came in one of them, or in both at different places */
	CAUSE_THREADS,	/* memory that another thread wrote */
	CAUSE_PROCESS,	/* memory that another process wrote, which shares it */
	CAUSE_THREAD_END, /* the id of a thread, which the kernel clears when that ends */
	CAUSE_RSEQ,	/* the number of the processor, which the kernel writes into memory as it schedules the thread */
	CAUSE_FILE,	/* what the file held that was mapped there */
	CAUSE_START,	/* memory that differed when the thread began */
	CAUSE_STORED,	/* memory that the thread wrote before what was looked at */
	CAUSE_MEMORY,	/* memory, and it was not found who wrote it */
	CAUSE_BEFORE,	/* a register: it was in place before what was looked at */
	CAUSE_PROGRAM,	/* the thread executed another program in each run */
	CAUSE_END,	/* one of them was ended from outside */
};

/* A place in a program; strings live as long as the report. */
struct code_place {
	uint64_t pc;
	const char *function; /* or NULL */
	uint64_t into;	      /* bytes behind its start */
	const char *module;   /* file, or what it is in words */
	uint64_t offset;      /* in it */
	char file[160];	      /* of its source line, or "" */
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
	struct code_place from; /* the instruction by which it came in; pc 0: not known */
	int64_t back;		/* so many instructions before the place */
	uint64_t address;	/* of the memory, or 0 */
	char memory[160];	/* its name: the variable and its module, or the file; or "" */
	unsigned writer_thread;	/* CAUSE_THREADS: which wrote there, in further runs; 0: not seen */
	struct code_place writer; /* by this instruction, the last time that it changed */
	struct first_stack_place started; /* CAUSE_STARTUP: what lies at `address` */
	const char *held_in;	/* CAUSE_BEFORE: the register, or NULL */
	int call;		/* its number, of CAUSE_CALL and CAUSE_WRITTEN */
	char call_name[32];
	bool has_value;
	uint64_t value[2]; /* as first seen in a register */
	const char *value_in; /* the register's name */
	unsigned hops;	      /* instructions that carried it on */
	bool forked; /* the process executed no program of its own: it began as a copy of its parent */
	const char *program[2]; /* of the thread that parts; "" where it is not known */

	/* DIVERGE_MOVES: functions of the interval, in the order in which one run came to them; whether there are more. `at` is where it begins. */
	struct code_place roughly[ROUGHLY_MOST];
	unsigned n_roughly;
	bool roughly_more;

	/* private */
	struct modules modules;
	struct spaces spaces;
};

/*
 * `plan`: by which the command is run again where memory is what differed, see diverge_watch(); may be NULL. `d` is then of a later
 * pair of runs.
 */
int divergence_explain(struct divergence_report *out, struct divergence *d, size_t environment_bytes, struct diverge_plan *plan,
		       struct tare_error *err);
void divergence_free(struct divergence_report *r);

#endif
