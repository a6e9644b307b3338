/* SPDX-License-Identifier: MIT */
/* Parsing of /proc/interrupts, with texts in the kernel's format. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/error.h"
#include "launch/system_noise.h"
#include "tap.h"

static bool in_set(void *with, int cpu)
{
	return *(unsigned *)with >> cpu & 1;
}

static const char three[] = "           CPU0       CPU2       CPU3       \n"
			    "  0:         10         20         30   IO-APIC   2-edge      timer\n"
			    "NMI:          1          2          3   Non-maskable interrupts\n"
			    "ERR:        500\n"
			    "MIS:          0\n"
			    " PIN:          0          0          0   Posted-interrupt 77 event\n";

TEST(columns_of_some_cpus)
{
	static const struct {
		int line;
		unsigned cpus;
		bool known;
		uint64_t sum;
	} rows[] = {
		/* the only number of ERR is in the column of CPU0 */
		{ __LINE__, 1 << 0, true, 10 + 1 + 500 }, { __LINE__, 1 << 2, true, 22 },
		{ __LINE__, 1 << 3, true, 33 },           { __LINE__, 1 << 2 | 1 << 3, true, 55 },
		{ __LINE__, 1 << 1, false, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned set = rows[i].cpus;
		uint64_t sum;
		bool known = system_noise_interrupts(three, in_set, &set, &sum);

		CHECK_EQ(known, rows[i].known, "row at line %d", rows[i].line);
		CHECK_EQ(sum, rows[i].sum, "row at line %d", rows[i].line);
	}
}

TEST(texts_that_are_none)
{
	static const char *const texts[] = { "",         "\n",           "CPU0",
					     "CPU0\n",   "CPU0\n:",      "CPU0\n0",
					     "CPU0\n0:", "CPU0\n0: x\n", "CPU0\n\n\n" };
	unsigned set = 1;
	uint64_t sum;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		system_noise_interrupts(texts[i], in_set, &set, &sum);
		CHECK_EQ(sum, 0, "text %zu", i);
	}
}

static void put_file(const char *root, const char *path, const char *text)
{
	char whole[256];
	FILE *f;

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	f = fopen(whole, "w");
	CHECK(f != NULL, "%s", whole);
	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

TEST(between_two_readings)
{
	char root[] = "/tmp/tare-around-XXXXXX", proc[64];
	struct system_noise a, b, d;
	long hz = sysconf(_SC_CLK_TCK);

	CHECK(mkdtemp(root) != NULL);
	snprintf(proc, sizeof(proc), "%s/proc", root);
	mkdir(proc, 0755);
	system_noise_read(&a, root);
	CHECK(!a.interrupts_known && !a.steal_known && !a.smi_known);
	put_file(root, "/proc/stat", "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n");
	system_noise_read(&a, root);
	put_file(root, "/proc/stat", "cpu  1 2 3 4 5 6 7 108 9 10\n");
	system_noise_read(&b, root);
	d = system_noise_between(&a, &b);
	CHECK(d.steal_known);
	CHECK_EQ(d.steal_ns, 100 * (1000000000 / hz));
	CHECK(!d.interrupts_known && !d.smi_known);
	d = system_noise_between(&b, &a); /* a counter that decreased counts as 0 */
	CHECK(!d.steal_known);
	snprintf(proc, sizeof(proc), "rm -r %s", root);
	CHECK_EQ(system(proc), 0);
}

TEST_MAIN()
