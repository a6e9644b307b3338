/* SPDX-License-Identifier: MIT */
/* A test out of a shared object. */
#ifndef BENCH_BENCH_LOAD_H
#define BENCH_BENCH_LOAD_H

#include "tare/bench.h"
#include "base/error.h"

/*
 * -ENOENT: it has neither execute_test() nor, when `function` is given, that one, which goes to *call. It is
 * never closed: what it has started may run on.
 */
int bench_load(const char *path, const char *function, struct tare_bench_test *out, void (**call)(void), struct tare_error *err);

#endif
