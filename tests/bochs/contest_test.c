/* SPDX-License-Identifier: MIT */
/*
 * The module and perf want the same counters: whoever has them, the other is refused, and says so.
 * On a machine with a Haswell's registers, where the kernel has brought up its driver of counters;
 * they hold what is written and count nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "tap.h"
#include <tare_msr.h>

enum { SELECT = 0x186, COUNTER = 0xc1, GATE = 0x38f, NO_COUNTER = 0xc5 };

static struct tare_msr_batch last;

static int run(int fd, struct tare_msr_op *op, unsigned n)
{
	last = (struct tare_msr_batch){ .version = TARE_MSR_VERSION, .n = n, .ops = (uintptr_t)op };
	return ioctl(fd, TARE_MSR_RUN, &last) < 0 ? -errno : 0;
}

static int device(void)
{
	int fd = open("/dev/tare_msr", O_RDWR | O_CLOEXEC);

	CHECK(fd >= 0, "%s", strerror(errno));
	return fd;
}

static int set(int fd, uint32_t msr, uint64_t value)
{
	struct tare_msr_op op = { .msr = msr, .kind = TARE_MSR_WRITE, .value = value };

	return run(fd, &op, 1);
}

static uint64_t now_in(uint32_t msr)
{
	int fd = open("/dev/cpu/0/msr", O_RDONLY | O_CLOEXEC);
	uint64_t value = 0;

	CHECK_EQ(pread(fd, &value, 8, msr), 8, "0x%x: %s", msr, strerror(errno));
	close(fd);
	return value;
}

/* perf counts branches on this CPU. */
static int perf(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = PERF_TYPE_RAW,
					.config = 0xc4 };
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int words(const char *command, char *out, size_t room)
{
	FILE *f = popen(command, "r");
	size_t n = fread(out, 1, room - 1, f);

	out[n] = '\0';
	return WEXITSTATUS(pclose(f));
}

TEST(perf_has_the_counters)
{
	char out[4096];
	int held = perf(), fd = device();
	uint64_t select;

	CHECK(held >= 0, "perf_event_open: %s", strerror(-held));
	select = now_in(SELECT);
	printf("# perf has written IA32_PERFEVTSEL0 = 0x%llx, IA32_PERF_GLOBAL_CTRL = 0x%llx\n",
	       (unsigned long long)select, (unsigned long long)now_in(GATE));
	CHECK_EQ(select & 0x10ffff, 0x1000c4, "it is perf that programmed it, with its interrupt");
	CHECK_EQ(set(fd, COUNTER, 1), -EBUSY, "the module gives way");
	CHECK_EQ(set(fd, GATE, 0), -EBUSY, "also for what stops all of them");
	CHECK_EQ(now_in(SELECT), select, "perf's register is untouched");
	CHECK_EQ(words("tare msr write -C 0 --via module IA32_PMC0=1 -- true 2>&1", out,
		       sizeof(out)),
		 125, "%s", out);
	CHECK(strstr(out, "perf has the counters: some process counts hardware events"), "%s", out);
	CHECK_EQ(words("tare stat --engine msr --via module -C 0 -e r00c5:u -- true 2>&1", out,
		       sizeof(out)),
		 125, "%s", out);
	CHECK(strstr(out, "perf has the counters"), "%s", out);
	CHECK_EQ(words("tare stat --engine msr --via msr -C 0 -e r00c5:u -- true 2>&1", out,
		       sizeof(out)),
		 125, "%s", out);
	CHECK(strstr(out, "already counts with it"),
	      "without the module it is seen in the registers: %s", out);
	close(held);
	CHECK_EQ(set(fd, COUNTER, 1), 0, "perf has closed");
	close(fd);
}

TEST(the_module_has_the_counters)
{
	int fd = device(), held;

	CHECK_EQ(set(fd, COUNTER, 1), 0, "the module holds them");
	CHECK_EQ(perf(), -EBUSY, "perf gives way");
	CHECK_EQ(set(fd, COUNTER, 2), 0, "and the module goes on");
	close(fd);
	held = perf();
	CHECK(held >= 0, "closed: %s", strerror(-held));
	close(held);
}

/*
 * perf leaves its select behind, with the interrupt's bit: it is not to live on under what we
 * write.
 */
TEST(no_bit_of_perfs_is_left)
{
	int held = perf(), fd = device();
	uint64_t stale;

	close(held);
	stale = now_in(SELECT);
	printf("# perf has left IA32_PERFEVTSEL0 = 0x%llx\n", (unsigned long long)stale);
	CHECK_EQ(set(fd, SELECT, 0x4300c0), 0, "written");
	CHECK_EQ(now_in(SELECT), 0x4300c0, "all of it, and nothing else");
	close(fd);
	CHECK_EQ(now_in(SELECT), stale, "put back as it was");
}

/* Not a model's fault: the CPU's own. */
TEST(a_register_that_is_not_there_faults)
{
	struct tare_msr_op op[] = { { .msr = COUNTER, .kind = TARE_MSR_WRITE, .value = 7 },
				    { .msr = NO_COUNTER, .kind = TARE_MSR_READ },
				    { .msr = COUNTER, .kind = TARE_MSR_READ } };
	uint64_t stood = now_in(COUNTER);
	int fd = device();

	CHECK_EQ(run(fd, op, 3), -EIO, "the fifth of four counters");
	CHECK(op[0].err == 0 && op[1].err == -EIO && op[2].err == -ECANCELED && last.done == 1,
	      "%d %d %d", op[0].err, op[1].err, op[2].err);
	CHECK_EQ(now_in(COUNTER), 7, "what was done before it");
	close(fd);
	CHECK_EQ(now_in(COUNTER), stood, "put back");
}

/* CPUID is a Haswell's: four counters and three fixed ones, of version 3. */
TEST(the_command_counts_on_what_cpuid_says)
{
	char out[8192];

	CHECK_EQ(words("tare msr plan -e r00c4,r00c5,r01c2,r81d0,r82d0 2>&1", out, sizeof(out)),
		 125, "%s", out);
	CHECK(strstr(out, "4 programmable and 3 fixed"), "%s", out);
	CHECK_EQ(
		words("tare stat --engine msr --via module -C 0 -e instructions:u,r00c5:u --format csv -o - -- true 2>&1",
		      out, sizeof(out)),
		0, "%s", out);
	CHECK(strstr(out, "counted") && !strstr(out, "unavailable"), "%s", out);
	CHECK_EQ(now_in(GATE) & ~0x70000000fULL, 0, "as it was");
	CHECK_EQ(now_in(SELECT) & 0xffff, 0xc4, "perf's leavings, put back");
}

TEST_MAIN()
