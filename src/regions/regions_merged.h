/* SPDX-License-Identifier: MIT */
/*
 * One row per name: the kinds of event that rustc records for one query, merged as measureme's
 * summarize merges them. Source: measureme, analyzeme/src/analysis.rs, perform_analysis().
 */
#ifndef REGIONS_REGIONS_MERGED_H
#define REGIONS_REGIONS_MERGED_H

#include "regions/regions.h"

/* One counter. All but `share` are in its unit. */
struct regions_merged_sum {
	double self;   /* of all kinds */
	double nested; /* self without async spans: the part of regions_whole() */
	/*
	 * every region counts, nested ones of the same name too; without hashing, which is within
	 * its query
	 */
	double time;
	double blocked; /* QueryBlocked: waiting for another thread that computes the query */
	double load;    /* self of IncrementalLoadResult: results read from the incremental cache */
	double hashing; /* self of IncrementalResultHashing */
	uint64_t unknown; /* regions without a count; no sum includes them */
};

struct regions_merged_row {
	const char *name; /* lives as long as the regions */
	uint64_t count;   /* executions: blocked waits, loads and hashings are not counted */
	uint64_t hits;    /* cache hits: QueryCacheHitCount, else QueryCacheHit */
	struct regions_merged_sum *sum; /* per counter */
};

struct regions_merged {
	struct regions_merged_row *row;
	size_t n;
	struct regions_merged_sum *sums;
};

/*
 * Merges the rows of r with names that contain `match` (NULL: all), sorted by key for this counter;
 * median, p99 and max have no meaning here and sort by self. -ENOMEM.
 */
int regions_merge(struct regions_merged *m, const struct regions *r, const char *match,
		  enum regions_key key, size_t counter, struct tare_error *err);
/* Sorts again, for another counter's table. */
void regions_merged_sort(struct regions_merged *m, enum regions_key key, size_t counter);
void regions_merged_free(struct regions_merged *m);

#endif
