/* SPDX-License-Identifier: MIT */
/* What the marks read, in the process that runs the tests: how it is opened, and what their log says. */
#ifndef BENCH_BENCH_READER_H
#define BENCH_BENCH_READER_H

#include "bench/bench_board.h"
#include "source/events.h"
#include "msr/registers.h"
#include "source/source.h"
#include "tare/pinned.h"

struct bench_reader {
	struct marks marks;
	size_t n;	      /* counters */
	size_t first, step;   /* where they are among the words of an entry */
	int64_t answer;	      /* what the system call of a mark must say; -1: there is none */
	uint64_t mask;	      /* bits that counters have */
	unsigned char *log, *guard;
	struct tare_events events;
	struct tare_pinned *pinned;
	struct counters *group;
	struct registers *registers;
	uint32_t msr[MARK_COUNTERS];
	int cpu; /* whose registers */
	struct tare_error lost; /* why a mark could not read */
	uint32_t version;
};

int bench_reader_open(struct bench_reader *r, const struct bench_board *b, struct tare_error *err);
/* Before each run: the log is empty. false: the counters cannot be read so now. */
bool bench_reader_begin(struct bench_reader *r);
/* After it: did all marks read what they meant to read? */
bool bench_reader_held(const struct bench_reader *r);
/* The log's pairs, counter by counter: added up to `sum` (n of them), or one after the other when `each` (n for each, at most
 * `most` pairs). How many; a fault in *fault. */
size_t bench_reader_pairs(const struct bench_reader *r, int64_t *to, bool each, size_t most, enum bench_fault *fault);
void bench_reader_close(struct bench_reader *r);

#endif
