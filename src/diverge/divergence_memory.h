/* SPDX-License-Identifier: MIT */
/* Finds what wrote the memory in which two runs differ; see divergence.h. */
#ifndef DIVERGE_DIVERGENCE_MEMORY_H
#define DIVERGE_DIVERGENCE_MEMORY_H

#include "diverge/divergence_cause.h"

struct memory_cause {
	enum cause_kind kind;
	bool found; /* a place differed: all other members describe it */
	uint64_t address, value[2];
	unsigned size;  /* how many bytes of it were read */
	char file[160]; /* the file mapped there, or "" */
	uint64_t from;  /* the instruction that wrote it, or 0 */
	int64_t number; /* of that instruction */
	int call;
	const char *value_in; /* the register that held value[], or NULL: memory */
	/* CAUSE_STORED, if a pair of runs is known in which the stored value differed: its
	 * source, with steps from `trail_first`. */
	struct cause trail;
	int64_t trail_first;
};

/* On the vdso's clock page. */
bool is_clock_page(const struct diverge_run *run, uint64_t address);
/* Whether the diverging thread's program has other threads; those before an exec have ended. */
bool has_threads(const struct divergence *d);
/* One run still has a thread ID there, the other already has 0. */
bool is_thread_id(const struct divergence *d, const uint64_t value[2]);
/* `c` has places. It and `d` are replaced by those of a later pair of runs, if there is one. */
int memory_cause_find(struct memory_cause *out, struct divergence *d, struct cause *c,
		      struct diverge_plan *plan, code_at_fn *code, void *with,
		      struct tare_error *err);

#endif
