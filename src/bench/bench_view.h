/* SPDX-License-Identifier: MIT */
/* A bench as text, as the document tare/bench/1, and as tables of runs: CSV, Parquet, kdb+. */
#ifndef BENCH_BENCH_VIEW_H
#define BENCH_BENCH_VIEW_H

#include "bench/cost.h"
#include "output/out.h"
#include "output/style.h"

struct bench_about {
	const struct bench_plan *plan;
	const struct bench_result *result;
	const struct bench_stats *stats;
	const char *const *remarks; /* complete sentences, ends with NULL */
	bool all;                   /* text: also show counters that are 0 */
};

void bench_text(struct text *out, const struct bench_about *b, const struct style *style);
void bench_json(struct text *out, const struct bench_about *b);

/*
 * One row per run, variant and counter: variant, run, counter, pairs, value (as read),
 * less_baseline, per_operation.
 */
void bench_csv(struct text *out, const struct bench_about *b);
int bench_parquet(struct out *out, const struct bench_about *b, struct tare_error *err);

/*
 * The same rows as a splayed table of kdb+: BENCH_KDB_FILES files in one folder, named by
 * bench_kdb_name() ("runs/.d"). Appends the contents of each to `out`.
 */
enum { BENCH_KDB_FILES = 11 };
const char *bench_kdb_name(unsigned file);
void bench_kdb(struct text *out, unsigned file, const struct bench_about *b);

/* With --cross-check: "equal", "agree", "differ", "untested". */
const char *bench_cross_name(const struct bench_verdict *d);

#endif
