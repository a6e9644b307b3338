/* SPDX-License-Identifier: MIT */
/*
 * Decide which threads of several runs correspond. The order in a file is the order of the first
 * write, and thread numbers change between runs. Only the order of creation is stable, and it
 * follows from the thread numbers.
 */
#ifndef REGIONS_PAIR_THREADS_H
#define REGIONS_PAIR_THREADS_H

#include "regions/timeline/timeline.h"

enum thread_pairing {
	PAIRED_BY_NUMBER, /* and name: every run has all threads of the smallest run */
	PAIRED_BY_NAME,   /* and order of creation within a name: every run has as many of each */
	PAIRED_BY_ORDER,  /* of creation only: as many threads in every run, with different names */
	/* name and first label, and order of creation within them: the numbers of threads differ */
	PAIRED_BY_LABEL,
};

struct thread_pairs {
	enum thread_pairing how;
	size_t n, n_runs;
	size_t *thread; /* pair * n_runs + run: index of the run's thread; SIZE_MAX: it has none */
};

int pair_threads(struct thread_pairs *out, struct timeline **timelines, size_t n,
		 struct tare_error *err);
void thread_pairs_free(struct thread_pairs *p);
/* "by number", for text output. */
const char *thread_pairing_words(enum thread_pairing how);
/* "number", for JSON. */
const char *thread_pairing_name(enum thread_pairing how);

#endif
