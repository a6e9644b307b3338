/* SPDX-License-Identifier: MIT */
/*
 * What a test for `tare bench` looks like: a C file or shared object that has some of these functions.
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
 * Only execute_test() must be there, and a test needs no header for it. tare calls it once per run and keeps what each run
 * counted between start and stop, less what the pair itself costs.
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
 * A mark: start or stop. Changes no register, no flag and no vector state (arm64: the link register, as every call; and where
 * counters are read by a system call, what SVE adds to the vector registers), so that it can stand around the smallest
 * piece of assembly. A pair must not lie within another. Calling start and stop several times in a run adds their
 * counts up; at most TARE_BENCH_PAIRS_MAX times. From the thread that called execute_test() only.
 *
 * A compiler may turn the last call of a function into a jump, and then other instructions stand before stop() than before
 * the stop of the baseline: tare compiles with -fno-optimize-sibling-calls; do so, too.
 */
typedef void tare_bench_mark(void);

enum { TARE_BENCH_PAIRS_MAX = 16384 };

/** The run: what to measure lies between start() and stop(). */
void execute_test(tare_bench_mark *start, tare_bench_mark *stop);

/**
 * Optional: what a pair of marks costs as it stands in execute_test(), `times` times: start(), whatever of the surroundings is
 * to be taken off, too, and stop(). Without it start() and stop() are called with nothing between them.
 */
void execute_baseline(int times, tare_bench_mark *start, tare_bench_mark *stop);

/** Optional: once before all runs, and once after them. */
void setup(void);
void teardown(void);

/** Optional: how many operations one run does, and over how many bytes (1 to 2^53 each): results are then shown per operation and per byte
 *  too. Without ops() an operation is a pair of start and stop. Asked after setup(). */
uint64_t ops(void);
uint64_t bytes(void);

/** Optional: memory that `tare bench --cold flush` throws out of all caches before each run: fills at most `most`, says how
 *  many there are. Asked after setup(). */
struct tare_bench_buffer {
	void *at;
	size_t size;
};
size_t buffers(struct tare_bench_buffer *out, size_t most);

/** A test that is part of a program. NULL: not there. */
struct tare_bench_test {
	void (*execute_test)(tare_bench_mark *start, tare_bench_mark *stop);
	void (*execute_baseline)(int times, tare_bench_mark *start, tare_bench_mark *stop);
	void (*setup)(void), (*teardown)(void);
	uint64_t (*ops)(void), (*bytes)(void);
	size_t (*buffers)(struct tare_bench_buffer *out, size_t most);
};

/**
 * For a program that is itself a test (static programs, those that need a main of their own): the whole of its main().
 *
 * @argc, @argv  of main(): `tare bench PROGRAM` starts the program with words of its own.
 * @test         what the program has of the above.
 * @err          says what went wrong; may be NULL.
 *
 * Returns 0 when all is measured; -EINVAL when the program was not started by `tare bench`; another negative errno when it
 * could not be measured, which tare then says too.
 */
TARE_API int tare_bench_main(int argc, char **argv, const struct tare_bench_test *test, struct tare_error *err);

#ifdef __cplusplus
}
#endif
#endif
