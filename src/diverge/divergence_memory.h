/* SPDX-License-Identifier: MIT */
/* Who wrote the memory in which two runs differ; see divergence.h. */
#ifndef DIVERGE_DIVERGENCE_MEMORY_H
#define DIVERGE_DIVERGENCE_MEMORY_H

#include "diverge/divergence_cause.h"

struct memory_cause {
	enum cause_kind kind;
	bool found; /* a place was seen to differ: all else is of it */
	uint64_t address, value[2];
	unsigned size; /* bytes of it that were read */
	char file[160];	  /* that is mapped there, or "" */
	uint64_t from;	  /* the instruction that wrote it, or 0 */
	int64_t number;	  /* of that instruction */
	int call;
	const char *value_in; /* the register that had value[], or NULL: the memory */
	/* Of CAUSE_STORED, if the pair of runs is known in which that differed: where it had it from, by steps from `trail_first`. */
	struct cause trail;
	int64_t trail_first;
};

/* On the page from which the kernel lets clocks be read. */
bool is_clock_page(const struct diverge_run *run, uint64_t address);
/* Whether the thread that parts had others beside it, of its program: those of one before exec have ended. */
bool has_threads(const struct divergence *d);
/* One run still has a thread's id there, the other has 0 already. */
bool is_thread_id(const struct divergence *d, const uint64_t value[2]);
/* `c` has places. It and `d` become those of a later pair of runs, where that was had. */
int memory_cause_find(struct memory_cause *out, struct divergence *d, struct cause *c, struct diverge_plan *plan, code_at_fn *code,
		      void *with, struct tare_error *err);

#endif
