/* SPDX-License-Identifier: MIT */
#include "bench/bench_load.h"

int bench_load(const char *path, const char *function, struct tare_bench_test *out,
	       void (**call)(void), struct tare_error *err)
{
	(void)path, (void)function, (void)out, (void)call;
	tare_fail(err, ENOTSUP, "this tare is linked statically and loads no shared objects");
	tare_hint(err, "make the test a program of its own with tare_bench_main() (tare/bench.h)");
	return -ENOTSUP;
}
