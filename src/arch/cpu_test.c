/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <time.h>
#include "arch/cpu.h"
#include "tap.h"

TEST(description_is_text)
{
	struct cpu_description d;

	memset(&d, 0xff, sizeof(d));
	cpu_describe(&d);
	for (const char *p = d.vendor; *p; p++)
		CHECK(isprint((unsigned char)*p), "vendor has byte %d", *p);
	for (const char *p = d.model; *p; p++)
		CHECK(isprint((unsigned char)*p), "model has byte %d", *p);
	CHECK(strlen(d.vendor) < sizeof(d.vendor) && strlen(d.model) < sizeof(d.model), "ends");
	CHECK(d.programmable <= 32 && d.fixed <= 31, "%u programmable, %u fixed", d.programmable,
	      d.fixed);
	CHECK(d.counters_known || (!d.programmable && !d.fixed), "counters without knowing");
	CHECK(d.hypervisor || !d.signature[0], "signature without a hypervisor");
#if defined(__x86_64__)
	CHECK_EQ(strlen(d.vendor), 12, "x86 always has a vendor: '%s'", d.vendor);
#endif
}

static double seconds(uint64_t turns)
{
	struct timespec a, b;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	cpu_loop(turns);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	return (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
}

/*
 * The time is proportional to the turns: ten times the turns takes much longer. One attempt may
 * include a hypervisor's work.
 */
TEST(loop_takes_its_turns)
{
	double one = seconds(2000000), ten = seconds(20000000);

	for (int i = 0; i < 9; i++) {
		double again = seconds(2000000);

		one = again < one ? again : one;
	}
	CHECK(ten > 3 * one, "2e6 turns took %g s, 2e7 took %g s", one, ten);
}

TEST_MAIN()
