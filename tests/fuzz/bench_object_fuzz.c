/* SPDX-License-Identifier: MIT */
/* Any bytes as the beginning of a file: one of the kinds, and no more is read than there is. */
#include <string.h>
#include "session/bench_object.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	uint8_t *own = malloc(n ? n : 1);

	must(own);
	memcpy(own, bytes, n);
	must(bench_object_kind(own, n) <= OBJECT_PROGRAM);
	free(own);
	return 0;
}
