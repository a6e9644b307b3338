/* SPDX-License-Identifier: MIT */
/*
 * Accesses to memory added up: by what made them, by what they were made to, by what served them. Memory grows with how
 * many different rows there are, up to a limit, not with how many accesses.
 */
#ifndef MEMORY_MEMORY_H
#define MEMORY_MEMORY_H

#include "memory/accessed.h"
#include "statistics/distribution.h"

enum memory_by {
	MEMORY_BY_LINE,
	MEMORY_BY_FUNCTION,
	MEMORY_BY_INSTRUCTION,
	MEMORY_BY_SYMBOL, /* of data: variables, stacks, blocks */
	MEMORY_BY_PAGE,
	MEMORY_BY_LEVEL,  /* what served it, and how far away that is */
	MEMORY_BY_TLB,
	MEMORY_BY_NODE,	  /* NUMA: the CPU's, the memory's */
	MEMORY_BY_THREAD,
	MEMORY_BYS,
};

enum memory_sort {
	MEMORY_SORT_DEFAULT, /* latency where there is one, else samples */
	MEMORY_SORT_SAMPLES,
	MEMORY_SORT_WEIGHT,
	MEMORY_SORT_LATENCY, /* the sum of its samples' */
	MEMORY_SORT_P50,
	MEMORY_SORT_P99,
	MEMORY_SORT_LOADS,
	MEMORY_SORT_STORES,
	MEMORY_SORT_MISSES, /* known not to be served by L1 */
	MEMORY_SORT_REMOTE,
	MEMORY_SORT_MODIFIED,
	MEMORY_SORTS,
};

struct memory_latency {
	uint64_t sum;
	struct distribution d;
};

enum { MEMORY_DISTANCES = TARE_REMOTE + 1, MEMORY_SNOOPS = TARE_SNOOP_PEER + 1, MEMORY_TLBS = TARE_TLB_HIT + 1, MEMORY_PAGE = 4096 };

/* What a row is, by the table's kind. */
struct memory_what {
	uint32_t key[4];	     /* private */
	struct accessed_name name;   /* LINE, FUNCTION, INSTRUCTION */
	struct accessed_code code;   /* INSTRUCTION; an instruction of it for LINE and FUNCTION */
	uint32_t object;	     /* SYMBOL; PAGE: the one with most samples. SET_NONE: it has no address, or which one is not known */
	uint32_t objects;	     /* PAGE: different ones that were accessed there; 0: more than there was room for, or no address */
	uint64_t object_samples;     /* PAGE: of `object` */
	uint32_t pid, tid;	     /* THREAD, PAGE; both 0: not told */
	int8_t place, distance, tlb; /* LEVEL, NODE, TLB; -1: not told */
	bool rest;		     /* all that did not fit */
	int cpu_node, memory_node;   /* NODE; -1: not told */
	uint64_t address;	     /* PAGE: its first byte */
};

struct memory_row {
	struct memory_what is;
	uint64_t samples; /* loads, stores, updates and prefetches */
	uint64_t weight;  /* events or operations that they stand for; of those that have a period */
	uint64_t loads, stores, updates, prefetches, locked;
	/* samples of which it is told, by what is told */
	uint64_t placed, place[TARE_ACCESS_PLACES];
	uint64_t distanced, distance[MEMORY_DISTANCES];
	uint64_t snooped, snoop[MEMORY_SNOOPS];
	uint64_t translated, tlb[MEMORY_TLBS];
	struct memory_latency *latency[TARE_LATENCIES]; /* NULL: none was measured */
};

struct memory_table {
	enum memory_by by;
	struct memory_row *row; /* sorted */
	size_t n;
	uint64_t unkept; /* samples in the row of the rest */
	struct set rows, shares; /* private */
	struct memory_row others;
};

struct memory {
	struct accessed *of;
	struct memory_table *table; /* as asked for */
	size_t tables;
	struct memory_row total;
	uint64_t no_accesses;	  /* records of operations that access no memory: branches, fetches */
	uint64_t without_address, kernel_addresses;
	uint64_t first_ns, last_ns;
	int latency;		  /* the one that tells how long data took here; -1: none was measured */
	unsigned origins;	  /* bit by enum tare_access_origin */
};

struct memory_options {
	enum memory_sort sort;
	uint32_t rows_max; /* different rows of a table; 0: 512 K */
};

/* Read all accesses of `c` into the tables `by`. Free with memory_free(), on failure too; `c` must live as long. */
int memory_read(struct memory *m, struct accessed *c, const enum memory_by *by, size_t n, const struct memory_options *opts,
		struct tare_error *err);
void memory_free(struct memory *m);

/* Samples that L1 is known not to have served; that were served by another node. */
uint64_t memory_misses(const struct memory_row *r);
uint64_t memory_remote(const struct memory_row *r);
/* A percentile of a latency of a row, which must have it. */
uint64_t memory_percentile(const struct memory_row *r, int latency, double q);

/* As --by and --sort spell them. */
const char *memory_by_name(enum memory_by by);
const char *memory_sort_name(enum memory_sort sort);

#endif
