/* SPDX-License-Identifier: MIT */
/* Follows a value back; see divergence.h. */
#ifndef DIVERGE_DIVERGENCE_CAUSE_H
#define DIVERGE_DIVERGENCE_CAUSE_H

#include "diverge/divergence.h"

/* Bytes of the program's code at `pc`, as it stood at the place; how many of n. */
typedef size_t code_at_fn(void *with, uint64_t pc, void *to, size_t n);

/* Memory from which the value may have come: nothing that was looked at wrote it, or wrote what differs. */
struct cause_place {
	uint64_t address;
	bool fs; /* an offset from the thread's own base */
	unsigned size; /* bytes, at most 8 */
	size_t at; /* the step that read it, the last one */
	/* It must: what was read into a register does, and nothing else was read. In each run: */
	bool differs;
	uint64_t value[2];
};

struct cause {
	enum cause_kind kind;
	size_t step;	  /* where it came in, of kinds that have a step */
	bool has_step;
	uint64_t address;
	int held_in; /* -1: none */
	int call;
	int value_in; /* register; -1: none */
	size_t value_at; /* the step before which it stands there */
	unsigned hops;
	struct cause_place place[DIVERGE_PLACES_MAX];
	unsigned places;
	/*
	 * Nothing was found, and all ways were followed to their ends: to memory, each place of which the thread itself last wrote the same
	 * in both runs, or never in its life. So somebody else wrote one of them.
	 */
	bool somebody_else;
	bool from_start; /* one of them it never wrote: it may have been other from the start */
	bool from_file;	 /* one of them it mapped, from a file or shared, and did not write */
};

/*
 * Of the branch at the place; with `stored`, what the instruction there, which is no branch then, stored to that. 0, or -errno when code
 * cannot be disassembled.
 */
int cause_find(struct cause *out, const struct divergence *d, const struct cause_place *stored, code_at_fn *code, void *with,
	       struct tare_error *err);
/* How the instruction of a step writes to `p`, which is also at `absolute`. */
enum cause_writer { WRITER_NONE, WRITER_STORE, WRITER_CALL };

enum cause_writer cause_writer(const struct diverge_step *step, const struct cause_place *p, uint64_t absolute, code_at_fn *code, void *with);
/* What is known of call `nr` does not say where it writes, or nothing is known of it. */
bool call_may_write(int nr);
bool call_has_row(int nr);
/* Whether call `nr`, with these registers, writes to `address`. */
bool call_writes(const uint64_t regs[EXACT_REGISTERS], uint64_t address);
/* Its name, or "system call 999". */
void call_name(char out[32], int nr);
/* rax, rcx, ... */
extern const char *const register_names[16];

#endif
