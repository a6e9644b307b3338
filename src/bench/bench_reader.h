/* SPDX-License-Identifier: MIT */
/*
 * The counters that the marks read, in the process that runs the tests: opening them, and
 * evaluation of the marks' log.
 */
#ifndef BENCH_BENCH_READER_H
#define BENCH_BENCH_READER_H

#include "bench/bench_shared.h"
#include "source/events.h"
#include "msr/registers.h"
#include "source/source.h"
#include "tare/pinned.h"

struct bench_reader {
	struct marks marks;
	size_t n;           /* number of counters */
	size_t first, step; /* their position among the words of an entry */
	int64_t answer;     /* the expected result of a mark's system call; -1: there is none */
	uint64_t mask;      /* valid bits of the counters */
	unsigned char *log, *guard;
	struct tare_events events;
	struct tare_pinned *pinned;
	struct counters *group;
	struct registers *registers;
	uint32_t msr[MARK_COUNTERS];
	int cpu;                /* CPU of the registers */
	struct tare_error lost; /* why a mark could not read */
	uint32_t version;
};

int bench_reader_open(struct bench_reader *r, const struct bench_shared *b, struct tare_error *err);
/* Before each run: empty the log. false: the counters cannot be read this way now. */
bool bench_reader_begin(struct bench_reader *r);
/* After it: did all marks read the intended counters? */
bool bench_reader_held(const struct bench_reader *r);
/*
 * The log's pairs, by counter: summed up in `to` (n of them), or separately if `each` (n for each,
 * at most `most` pairs). Returns their number; a fault in *fault.
 */
size_t bench_reader_pairs(const struct bench_reader *r, int64_t *to, bool each, size_t most,
			  enum bench_fault *fault);
void bench_reader_close(struct bench_reader *r);

#endif
