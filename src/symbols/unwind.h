/* SPDX-License-Identifier: MIT */
/*
 * The callers of a sample, from the registers and the piece of user stack that were recorded with it
 * (perf record --call-graph dwarf), by the call frame information of the programs' files. libdw does
 * it; it is opened when first needed.
 */
#ifndef SYMBOLS_UNWIND_H
#define SYMBOLS_UNWIND_H

#include "symbols/elf_head.h"
#include "symbols/spaces.h"
#include "perfdata/perfdata.h"

struct unwinder;

/* A file with code, as the unwinder asks for it. */
struct unwind_file {
	const char *path;
	int fd; /* stays the caller's */
	const struct elf_head *head;
};

/* False when the file of `module` is not there. */
typedef bool unwind_file_of(void *arg, uint32_t module, struct unwind_file *out);

/* NULL with err when stacks cannot be unwound here. */
struct unwinder *unwinder_new(unwind_file_of *file_of, void *arg, struct tare_error *err);
void unwinder_free(struct unwinder *u);

/*
 * The addresses of the sample's user stack, the innermost first: of the callers those of their
 * calls, one less than where they return to. `maps` are the process's now. At least 1 when the
 * sample has registers; 0 without, or with ones of another kind of machine. *whole is false when it
 * ended before the outermost frame for want of stack or of call frame information.
 */
unsigned unwind(struct unwinder *u, const struct maps *maps,
		const struct perfdata_sample *s, uint64_t *out, unsigned max, bool *whole);
/*
 * The same from a place in the middle of a walk, step by step: a call returns to `pc` with these registers. What was mapped and what is known of
 * memory is asked for; both answer false for what is not known. A `machine` (ELF's) of another kind: no steps.
 */
struct unwind_call {
	uint16_t machine;
	uint64_t pc, sp, fp;
	bool (*map_of)(void *arg, uint64_t pc, struct map *out);
	bool (*memory)(void *arg, uint64_t at, uint64_t *out);
	void *arg; /* of both; file_of() has its own */
};

void unwind_from(struct unwinder *u, const struct unwind_call *call);
/* Where the next function's call returns to: true. False at the end, or where nobody knows. Until then *call stays where it is. */
bool unwind_next(struct unwinder *u, uint64_t *returns);
/* Whether the last unwind() ended for want of stack, of which as much had been recorded as was asked for. */
bool unwinder_ran_out(const struct unwinder *u);

#endif
