/* SPDX-License-Identifier: MIT */
/* See watch.h. */
#include "watch.h"

#include <stdio.h>
#include <string.h>

static FILE *reads, *samples;
static uint64_t every;
static int of;

bool watch_reads(const char *path)
{
	return (reads = fopen(path, "we"));
}

bool watch_every(const char *path, uint64_t n, const char *class)
{
	every = n;
	for (of = 0; of < C_COUNT && strcmp(class_names[of], class) != 0; of++)
		;
	return n && of < C_COUNT && (samples = fopen(path, "we"));
}

bool watch_is_now(const uint8_t *code, unsigned size)
{
	return size >= 6 && code[0] == 0x3e && code[1] == 0x3e && code[2] == 0x3e && code[4] == 0x8b &&
	       (code[5] & 0xc7) == 5;
}

static void counts_line(FILE *f, const uint64_t counts[C_COUNT])
{
	for (int c = 0; c < C_COUNT; c++)
		fprintf(f, " %llu", (unsigned long long)counts[c]);
	fputc('\n', f);
}

void watch_retired(unsigned thread, const struct insn *in, bool asks, const uint64_t before[C_COUNT],
		   const uint64_t after[C_COUNT])
{
	if (reads && in->reads_now)
		fprintf(reads, "%u now %llu\n", thread, (unsigned long long)after[C_INSTRUCTIONS]);
	if (reads && asks) {
		fprintf(reads, "%u all", thread);
		counts_line(reads, after);
	}
	if (!samples)
		return;
	for (uint64_t k = before[of] / every + 1; k <= after[of] / every; k++) {
		fprintf(samples, "%u %llu %#llx", thread, (unsigned long long)k, (unsigned long long)in->at);
		counts_line(samples, after);
	}
}

bool watch_end(void)
{
	bool fine = true;

	if (reads)
		fine &= fclose(reads) == 0;
	if (samples)
		fine &= fclose(samples) == 0;
	return fine;
}
