/* SPDX-License-Identifier: MIT */
/*
 * Memory accesses summed by the code that made them, by the object accessed and by data source.
 * Memory use grows with the number of different rows, up to a limit, not with the number of
 * accesses.
 */
#ifndef MEMORY_MEMORY_H
#define MEMORY_MEMORY_H

#include "memory/memory_samples.h"
#include "statistics/distribution.h"

enum memory_by {
	MEMORY_BY_LINE,
	MEMORY_BY_FUNCTION,
	MEMORY_BY_INSTRUCTION,
	MEMORY_BY_SYMBOL, /* of data: variables, stacks, blocks */
	MEMORY_BY_PAGE,
	MEMORY_BY_LEVEL, /* data source: the level and how far away it is */
	MEMORY_BY_TLB,
	MEMORY_BY_NODE, /* NUMA: node of the CPU, node of the memory */
	MEMORY_BY_THREAD,
	MEMORY_BYS,
};

enum memory_sort {
	MEMORY_SORT_DEFAULT, /* latency where there is one, else samples */
	MEMORY_SORT_SAMPLES,
	MEMORY_SORT_WEIGHT,
	MEMORY_SORT_LATENCY, /* sum over its samples */
	MEMORY_SORT_P50,
	MEMORY_SORT_P99,
	MEMORY_SORT_LOADS,
	MEMORY_SORT_STORES,
	MEMORY_SORT_MISSES, /* known not to be L1 hits */
	MEMORY_SORT_REMOTE,
	MEMORY_SORT_HITM,
	MEMORY_SORTS,
};

struct memory_latency {
	uint64_t sum;
	struct distribution d;
};

enum {
	MEMORY_DISTANCES = TARE_REMOTE + 1,
	MEMORY_SNOOPS = TARE_SNOOP_PEER + 1,
	MEMORY_TLBS = TARE_TLB_HIT + 1,
	MEMORY_PAGE = 4096
};

/* The key of a row, by the table's kind. */
struct memory_what {
	uint32_t key[4];                 /* private */
	struct memory_samples_name name; /* LINE, FUNCTION, INSTRUCTION */
	/* INSTRUCTION; LINE and FUNCTION: one of their instructions */
	struct memory_samples_code code;
	uint32_t
		/*
		 * SYMBOL; PAGE: the one with most samples. SET_NONE: it has no address, or the
		 * object is not known
		 */
		object;
	uint32_t
		/* PAGE: number of objects accessed there; 0: too many to count, or no address */
		objects;
	uint64_t object_samples;     /* PAGE: of `object` */
	uint32_t pid, tid;           /* THREAD, PAGE; both 0: not known */
	int8_t place, distance, tlb; /* LEVEL, NODE, TLB; -1: not known */
	bool rest;                   /* the row of everything that did not fit */
	int cpu_node, memory_node;   /* NODE; -1: not known */
	uint64_t address;            /* PAGE: its first address */
};

struct memory_row {
	struct memory_what is;
	uint64_t samples; /* loads, stores, updates and prefetches */
	uint64_t
		/* events or operations that the samples represent; only of samples with a period */
		weight;
	uint64_t loads, stores, updates, prefetches, locked;
	/* samples with this kind of information, by kind */
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
	uint64_t unkept;         /* samples in the row of everything that did not fit */
	struct set rows, shares; /* private */
	struct memory_row others;
};

struct memory {
	struct memory_samples *of;
	struct memory_table *table; /* as requested */
	size_t tables;
	struct memory_row total;
	uint64_t
		/* records of operations that do not access memory: branches, fetches */
		no_accesses;
	uint64_t without_address, kernel_addresses;
	uint64_t first_ns, last_ns;
	int latency; /* the kind that measures how long data took here; -1: none was measured */
	unsigned origins; /* bit by enum tare_access_origin */
};

struct memory_options {
	enum memory_sort sort;
	uint32_t rows_max; /* maximum number of rows of a table; 0: 512 K */
};

/*
 * Reads all accesses of `c` into the tables `by`. Free with memory_free(), also on failure; `c`
 * must outlive it.
 */
int memory_read(struct memory *m, struct memory_samples *c, const enum memory_by *by, size_t n,
		const struct memory_options *opts, struct tare_error *err);
void memory_free(struct memory *m);

/* Samples known not to be L1 hits; samples served by another node. */
uint64_t memory_misses(const struct memory_row *r);
uint64_t memory_remote(const struct memory_row *r);
/* A percentile of a latency of a row, which must have that latency. */
uint64_t memory_percentile(const struct memory_row *r, int latency, double q);

/* As spelled in --by and --sort. */
const char *memory_by_name(enum memory_by by);
const char *memory_sort_name(enum memory_sort sort);

#endif
