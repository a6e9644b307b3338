/* SPDX-License-Identifier: MIT */
/*
 * Checks the sizes of the kernels: run under the exact engine, this reads its own counts around
 * each of them. The listed numbers must equal the engine's counts, minus those of a call of a
 * function that only returns.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "arch/kernels.h"
#include "tare/exact.h"

_Static_assert((int)WORK_VECTOR == (int)TARE_EXACT_MMX, "up to here the classes are the engine's");

/* Retires one instruction: a return, which is a taken branch and a load. */
__asm__(".text\n.type nothing, @function\nnothing:\n\tret\n.size nothing, . - nothing\n");
void nothing(uint64_t turns, void *memory);

static int64_t counts[2][TARE_EXACT_CLASSES];

static int count(int64_t out[TARE_EXACT_CLASSES], void (*volatile run)(uint64_t, void *),
		 uint64_t turns, void *memory)
{
	struct tare_error err = { .code = -1, .what = "an earlier error" };
	int ret = tare_exact_read(counts[0], TARE_EXACT_CLASSES, &err);

	run(turns, memory);
	if (ret == 0)
		ret = tare_exact_read(counts[1], TARE_EXACT_CLASSES, &err);
	for (int c = 0; c < TARE_EXACT_CLASSES; c++)
		out[c] = counts[1][c] - counts[0][c];
	if (ret == 0 && err.code)
		ret = -1;
	if (ret < 0)
		printf("%s\n", err.what);
	return ret;
}

int main(void)
{
	static const int64_t of_nothing[TARE_EXACT_CLASSES] = { [TARE_EXACT_INSTRUCTIONS] = 1,
								[TARE_EXACT_BRANCHES] = 1,
								[TARE_EXACT_TAKEN] = 1,
								[TARE_EXACT_RETURNS] = 1,
								[TARE_EXACT_LOADS] = 1 };
	static const uint64_t turns[] = { 1, 2, 17, 1000 };
	char *memory = mmap(NULL, KERNEL_MEMORY, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int64_t empty[TARE_EXACT_CLASSES], got[TARE_EXACT_CLASSES];
	int wrong = 0, compared = 0;

	memset(memory, 0, KERNEL_MEMORY);
	if (count(empty, nothing, 1, memory) < 0)
		return 77;
	for (size_t i = 0; kernel_at(i); i++)
		for (size_t t = 0; t < sizeof(turns) / sizeof(*turns); t++) {
			const struct kernel *k = kernel_at(i);

			if (count(got, k->run, turns[t], memory) < 0)
				return 1;
			for (int c = 0; c <= TARE_EXACT_VEC128; c++) {
				enum work_class class = c == TARE_EXACT_VEC128 ? WORK_VECTOR
									       : (enum work_class)c;
				int64_t want = c == TARE_EXACT_MMX
					? 0
					: (int64_t)kernel_retires(k, class, turns[t]);

				compared++;
				if (got[c] - empty[c] + of_nothing[c] != want && ++wrong)
					printf("%s, %" PRIu64 " turns: %s %" PRId64 ", not %" PRId64
					       "\n",
					       k->name, turns[t],
					       tare_exact_class_name((enum tare_exact_class)c),
					       want, got[c] - empty[c] + of_nothing[c]);
			}
		}
	printf("%d comparisons, %d wrong\n", compared, wrong);
	return wrong != 0;
}
