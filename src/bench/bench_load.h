/* SPDX-License-Identifier: MIT */
/* Loads a test from a shared object. */
#ifndef BENCH_BENCH_LOAD_H
#define BENCH_BENCH_LOAD_H

#include "tare/bench.h"
#include "base/error.h"

/*
 * -ENOENT: it has neither execute_test() nor, if `function` is given, that function, which is
 * stored in *call. It is never closed: threads that it started may still run.
 */
int bench_load(const char *path, const char *function, struct tare_bench_test *out,
	       void (**call)(void), struct tare_error *err);

#endif
