/* SPDX-License-Identifier: MIT */
/* Follows a value back; see divergence.h. */
#ifndef DIVERGE_DIVERGENCE_CAUSE_H
#define DIVERGE_DIVERGENCE_CAUSE_H

#include "diverge/divergence.h"

/* Reads the program's code at `pc` at the time of the divergence; returns how many of n bytes. */
typedef size_t code_at_fn(void *with, uint64_t pc, void *to, size_t n);

/* Memory from which the value may have come: none of the recorded steps wrote it, or wrote a
 * differing value there. */
struct cause_place {
	uint64_t address;
	bool fs;       /* an offset from the thread's FS base */
	unsigned size; /* bytes, at most 8 */
	size_t at;     /* the last step that read it */
	/* It must differ: it was read into a register that differs, with no other input. Value
	 * in each run: */
	bool differs;
	uint64_t value[2];
};

struct cause {
	enum cause_kind kind;
	size_t step; /* the step where the value came in, for kinds that have one */
	bool has_step;
	uint64_t address;
	int held_in; /* -1: none */
	int call;
	int value_in;    /* the step before which the register holds it */
	size_t value_at; /* it is there before this step */
	unsigned hops;
	struct cause_place place[DIVERGE_PLACES_MAX];
	unsigned places;
	/*
	 * Nothing was found, and all paths were followed to their ends in memory. The thread last
	 * wrote the same value to each such place in both runs, or never wrote there. So something
	 * else wrote one of them.
	 */
	bool somebody_else;
	bool from_start; /* one of them it never wrote: it may have differed from the start */
	bool from_file;  /* it mapped one of them, from a file or shared, and did not write there */
};

/*
 * For the branch at the place; with `stored`, for the value that the instruction there, then not a
 * branch, stored to it. 0, or -errno when the code cannot be disassembled.
 */
int cause_find(struct cause *out, const struct divergence *d, const struct cause_place *stored,
	       code_at_fn *code, void *with, struct tare_error *err);
/* How a step's instruction writes to `p`, which is also at `absolute`. */
enum cause_writer { WRITER_NONE, WRITER_STORE, WRITER_CALL };

enum cause_writer cause_writer(const struct diverge_step *step, const struct cause_place *p,
			       uint64_t absolute, code_at_fn *code, void *with);
/* Call `nr` is unknown, or writes somewhere that is not known. */
bool call_may_write(int nr);
bool call_has_row(int nr);
/* Whether call `nr`, with these registers, writes to `address`. */
bool call_writes(const uint64_t regs[EXACT_REGISTERS], uint64_t address);
/* Its name, or "system call 999". */
void call_name(char out[32], int nr);
/* rax, rcx, ... */
extern const char *const register_names[16];

#endif
