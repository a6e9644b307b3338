/* SPDX-License-Identifier: MIT */
/*
 * The interface of a test for `tare bench`: a C file or shared object with some of these functions.
 *
 *	#include <sys/time.h>
 *	#include <tare/bench.h>
 *
 *	void execute_test(tare_bench_mark *start, tare_bench_mark *stop)
 *	{
 *		struct timeval tv;
 *
 *		start();
 *		gettimeofday(&tv, NULL);
 *		stop();
 *	}
 *
 *	tare bench gettimeofday.c
 *
 * Only execute_test() is required, and it does not need this header. tare calls it once per run and
 * records the counts between start and stop of each run, minus the overhead of the pair itself.
 */
#ifndef TARE_BENCH_H
#define TARE_BENCH_H

#include <stddef.h>
#include <stdint.h>
#include "tare/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A mark: start or stop. It preserves all registers, flags and vector state, so it can surround the
 * smallest piece of assembly. (Exceptions on arm64: the link register, as in every call; and if
 * counters are read by a system call, the part that SVE adds to the vector registers.) Pairs must
 * not be nested. With several pairs in a run, their counts are added; at most TARE_BENCH_PAIRS_MAX
 * pairs. Call it only from the thread that called execute_test().
 *
 * A compiler may turn the last call of a function into a jump. Then the instructions before stop()
 * differ from those before the stop of the baseline. tare compiles with
 * -fno-optimize-sibling-calls; use it, too.
 */
typedef void tare_bench_mark(void);

enum { TARE_BENCH_PAIRS_MAX = 16384 };

/** One run. The measured code is between start() and stop(). */
void execute_test(tare_bench_mark *start, tare_bench_mark *stop);

/**
 * Optional: the baseline of a pair of marks, `times` times: start(), any surrounding code whose
 * cost is to be subtracted, and stop(). Without this function, start() and stop() are called with
 * nothing in between.
 */
void execute_baseline(int times, tare_bench_mark *start, tare_bench_mark *stop);

/** Optional: called once before all runs, and once after them. */
void setup(void);
void teardown(void);

/**
 * Optional: the number of operations in one run, and the number of bytes they process (1 to 2^53
 * each). The results are then also shown per operation and per byte. Without ops(), a pair of start
 * and stop is one operation. Called after setup().
 */
uint64_t ops(void);
uint64_t bytes(void);

/**
 * Optional: memory that `tare bench --cold flush` evicts from all caches before each run. Fills at
 * most `most` entries and returns their number. Called after setup().
 */
struct tare_bench_buffer {
	void *at;
	size_t size;
};
size_t buffers(struct tare_bench_buffer *out, size_t most);

/** A test that is part of a program. Unused members are NULL. */
struct tare_bench_test {
	void (*execute_test)(tare_bench_mark *start, tare_bench_mark *stop);
	void (*execute_baseline)(int times, tare_bench_mark *start, tare_bench_mark *stop);
	void (*setup)(void), (*teardown)(void);
	uint64_t (*ops)(void), (*bytes)(void);
	size_t (*buffers)(struct tare_bench_buffer *out, size_t most);
};

/**
 * The whole main() of a program that is itself a test (static programs, or those with a main of
 * their own).
 *
 * @argc, @argv  of main(): `tare bench PROGRAM` starts the program with its own arguments.
 * @test         the program's functions, as above.
 * @err          says what went wrong; may be NULL.
 *
 * Returns 0 if everything was measured; -EINVAL if the program was not started by `tare bench`;
 * another negative errno if the measurement failed, which tare then reports, too.
 */
TARE_API int tare_bench_main(int argc, char **argv, const struct tare_bench_test *test,
			     struct tare_error *err);

#ifdef __cplusplus
}
#endif
#endif
