/* SPDX-License-Identifier: MIT */
/*
 * Each kernel runs its turns and returns; together they distinguish all classes.
 * tests/exact/kernels.c checks their counts.
 */
#include <math.h>
#include <sys/mman.h>
#include "arch/kernels.h"
#include "tap.h"

TEST(each_kernel_comes_back)
{
	char *memory = mmap(NULL, KERNEL_MEMORY, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memset(memory, 0, KERNEL_MEMORY);
	for (size_t i = 0; kernel_at(i); i++) {
		kernel_at(i)->run(1, memory);
		kernel_at(i)->run(1000, memory);
	}
	CHECK(kernel_count() > 12 && kernel_count() <= KERNELS_MOST, "%zu kernels", kernel_count());
}

TEST(names_are_given_once)
{
	for (size_t i = 0; kernel_at(i); i++)
		for (size_t k = 0; k < i; k++)
			CHECK(strcmp(kernel_at(i)->name, kernel_at(k)->name), "%s",
			      kernel_at(i)->name);
	for (size_t c = 0; c < WORK_CLASSES; c++)
		CHECK(work_class_names[c] && work_class_names[c][0], "class %zu", c);
}

TEST(what_retires_is_once_and_each_turn)
{
	const struct kernel *k = kernel_at(0);

	CHECK_EQ(kernel_retires(k, WORK_INSTRUCTIONS, 1000), 2001u, "of the loop");
	CHECK_EQ(kernel_retires(k, WORK_TAKEN, 1000), 1000u,
		 "one of them falls through, and a return");
}

/*
 * No class is a linear combination of others on all kernels: by elimination, the rank is the number
 * of classes that any kernel has.
 */
TEST(classes_can_be_told_apart)
{
	double m[KERNELS_MOST][WORK_CLASSES];
	size_t rank = 0, present = 0, n = kernel_count();
	bool has[WORK_CLASSES] = { false };

	for (size_t i = 0; i < n; i++)
		for (size_t c = 0; c < WORK_CLASSES; c++) {
			m[i][c] = (double)kernel_at(i)->per_turn[c];
			has[c] |= m[i][c] != 0;
		}
	for (size_t c = 0; c < WORK_CLASSES; c++) {
		size_t best = rank;

		present += has[c];
		for (size_t i = rank; i < n; i++)
			best = fabs(m[i][c]) > fabs(m[best][c]) ? i : best;
		if (rank == n || fabs(m[best][c]) < 1e-9) {
			CHECK(!has[c], "%s is a sum of others", work_class_names[c]);
			continue;
		}
		for (size_t k = 0; k < WORK_CLASSES; k++) {
			double t = m[rank][k];

			m[rank][k] = m[best][k];
			m[best][k] = t;
		}
		for (size_t i = rank + 1; i < n; i++) {
			double f = m[i][c] / m[rank][c];

			for (size_t k = c; k < WORK_CLASSES; k++)
				m[i][k] -= f * m[rank][k];
		}
		rank++;
	}
	CHECK_EQ(rank, present, "rank");
	CHECK(!has[WORK_FAULTS], "no kernel touches new pages");
}

TEST_MAIN()
