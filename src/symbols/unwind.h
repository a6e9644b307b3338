/* SPDX-License-Identifier: MIT */
/*
 * The callers of a sample, from its registers and the copied piece of user stack (perf record
 * --call-graph dwarf), by the call frame information of the programs' files. Uses libdw, which is
 * loaded on first use.
 */
#ifndef SYMBOLS_UNWIND_H
#define SYMBOLS_UNWIND_H

#include "symbols/elf_head.h"
#include "symbols/address_spaces.h"
#include "perfdata/perfdata.h"

struct unwinder;

/* Opens a file with code for the unwinder. */
struct unwind_file {
	const char *path;
	int fd; /* stays the caller's */
	const struct elf_head *head;
};

/* False if the file of `module` is not available. */
typedef bool unwind_file_of(void *arg, uint32_t module, struct unwind_file *out);

/* NULL with err if stacks cannot be unwound here. */
struct unwinder *unwinder_new(unwind_file_of *file_of, void *arg, struct tare_error *err);
void unwinder_free(struct unwinder *u);

/*
 * The addresses of the sample's user stack, the innermost first; for callers, the return address
 * minus one. `maps` are the process's current mappings. At least 1 if the sample has registers; 0
 * without, or with registers of another machine. *whole is false if it ended before the outermost
 * frame for lack of stack or call frame information.
 */
unsigned unwind(struct unwinder *u, const struct maps *maps, const struct perfdata_sample *s,
		uint64_t *out, unsigned max, bool *whole);
/*
 * The same from a call in the middle of a stack, step by step: a call returns to `pc` with these
 * registers. Callbacks provide mappings and memory; both return false if unknown. With another
 * `machine` (ELF's): no steps.
 */
struct unwind_call {
	uint16_t machine;
	uint64_t pc, sp, fp;
	bool (*map_of)(void *arg, uint64_t pc, struct map *out);
	bool (*memory)(void *arg, uint64_t at, uint64_t *out);
	void *arg; /* of both; file_of() has its own */
};

void unwind_from(struct unwinder *u, const struct unwind_call *call);
/*
 * True with the return address of the next function's call. False at the end, or if it is not
 * known. *call has to stay at its address until then.
 */
bool unwind_next(struct unwinder *u, uint64_t *returns);
/* Did the last unwind() end for lack of stack although as much was copied as requested? */
bool unwinder_ran_out(const struct unwinder *u);

#endif
