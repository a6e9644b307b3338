/* SPDX-License-Identifier: MIT */
/* Any bytes as the beginning of a file: one of the kinds, and no more is read than there is. */
#include <string.h>
#include "bench/bench_object.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	uint8_t *own = malloc(n ? n : 1);
	size_t at, size;

	must(own);
	memcpy(own, bytes, n);
	must(bench_object_kind(own, n) <= OBJECT_PROGRAM);
	if (bench_object_text(own, n, &at, &size))
		must(at <= n && size <= n - at);
	free(own);
	return 0;
}
