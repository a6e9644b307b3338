/* SPDX-License-Identifier: MIT */
/* Any text as /proc/interrupts: the sum of columns that are there. */
#include "launch/system_noise.h"
#include "fuzz.h"

static bool is_even(void *with, int cpu)
{
	(void)with;
	return cpu % 2 == 0;
}

static bool none(void *with, int cpu)
{
	(void)with, (void)cpu;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text = fuzz_text(bytes, n);
	uint64_t sum;

	system_noise_interrupts(text, is_even, NULL, &sum);
	must(!system_noise_interrupts(text, none, NULL, &sum) && sum == 0);
	free(text);
	return 0;
}
