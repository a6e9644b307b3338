/* SPDX-License-Identifier: MIT */
/*
 * Which threads of several runs go together. The order of a file is that of first writes and says nothing, and numbers change from
 * run to run; what stays is the order in which the threads were created, which their numbers have.
 */
#ifndef REGIONS_PAIR_THREADS_H
#define REGIONS_PAIR_THREADS_H

#include "regions/timeline/timeline.h"

enum thread_pairing {
	PAIRED_BY_NUMBER, /* and name: the least run's threads are in every run */
	PAIRED_BY_NAME,	  /* and order of creation among those of a name: as many of each in every run */
	PAIRED_BY_ORDER,  /* of creation alone: as many threads in every run, by other names */
	PAIRED_BY_LABEL,  /* name and first label, and order of creation among those: not as many threads in every run */
};

struct thread_pairs {
	enum thread_pairing how;
	size_t n, n_runs;
	size_t *thread; /* pair * n_runs + run: index of the run's thread; SIZE_MAX: it has none */
};

int pair_threads(struct thread_pairs *out, struct timeline **timelines, size_t n, struct tare_error *err);
void thread_pairs_free(struct thread_pairs *p);
/* "by number", for people. */
const char *thread_pairing_words(enum thread_pairing how);
/* "number", for programs. */
const char *thread_pairing_name(enum thread_pairing how);

#endif
