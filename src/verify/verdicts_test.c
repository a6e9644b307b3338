/* SPDX-License-Identifier: MIT */
/* The verdict file, written and read again; invalid files are rejected with the line number. */
#include <string.h>
#include "verify/verdicts.h"
#include "arch/kernels.h"
#include "base/error.h"
#include "tap.h"

static const char head[] = "tare verdicts 1\n";

static struct verdict made(unsigned i)
{
	struct verdict v = { .time = 1700000000 + i,
			     .boot = "5a7f",
			     .result = { .verdict = (enum verify_verdict)(i % VERIFY_VERDICTS),
					 .fixed = -3 + (int)i,
					 .per_fault = i % 4,
					 .per_syscall = -(int)i,
					 .kinds = i * 77,
					 .per_turn = i / 4.0 - 1,
					 .as = (int)(i % WORK_CLASSES) - 1,
					 .per_interrupt = i % 3,
					 .interrupts = i,
					 .over = 2 * i,
					 .spread = 3 * i,
					 .factor = 1 + i / 8.0,
					 .share = 0.5,
					 .samples = 40 } };

	snprintf(v.event, sizeof(v.event), "perf hardware %#x 0x0 0x0 u", i);
	snprintf(v.machine, sizeof(v.machine),
		 "GenuineIntel-6-85-7 microcode 0x5 Linux 6.1.0 #1 SMP KVMKVMKVM");
	return v;
}

TEST(written_and_read)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct verdicts v = { 0 }, again;
	struct text text = { 0 }, twice = { 0 };

	for (unsigned i = 0; i < 30; i++) {
		struct verdict one = made(i);

		CHECK_EQ(verdicts_put(&v, &one, &err), 0);
	}
	verdicts_write(&text, &v);
	CHECK_EQ(verdicts_parse(&again, text.s, text.len, &err), 0, "%s", err.what);
	CHECK_EQ(again.n, 30);
	for (size_t i = 0; i < again.n; i++) {
		struct verdict one = made((unsigned)i);
		const struct verify_result *a = &one.result, *b = &again.entry[i].result;

		CHECK_STR(again.entry[i].event, one.event);
		CHECK_STR(again.entry[i].machine, one.machine);
		CHECK_STR(again.entry[i].boot, one.boot);
		CHECK_EQ(again.entry[i].time, one.time);
		CHECK(a->verdict == b->verdict && a->fixed == b->fixed &&
		      a->per_fault == b->per_fault && a->per_interrupt == b->per_interrupt);
		CHECK(a->interrupts == b->interrupts && a->over == b->over &&
		      a->spread == b->spread && a->factor == b->factor);
		CHECK(a->share == b->share && a->samples == b->samples &&
		      a->per_syscall == b->per_syscall);
		CHECK(a->kinds == b->kinds && a->per_turn == b->per_turn && a->as == b->as);
	}
	verdicts_write(&twice, &again);
	CHECK_STR(twice.s, text.s);
	text_free(&text);
	text_free(&twice);
	verdicts_free(&v);
	verdicts_free(&again);
}

TEST(a_newer_one_takes_the_place)
{
	struct tare_error err = TARE_ERROR_INIT;
	struct verdicts v = { 0 };
	struct verdict one = made(3), other = made(4);
	const struct verdict *found;

	verdicts_put(&v, &one, &err);
	verdicts_put(&v, &other, &err);
	one.result.spread = 77;
	verdicts_put(&v, &one, &err);
	CHECK_EQ(v.n, 2);
	found = verdicts_find(&v, one.event, one.machine);
	CHECK(found && found->result.spread == 77);
	one.machine[0] = 'X'; /* another machine, with the same home directory */
	CHECK(!verdicts_find(&v, one.event, one.machine));
	verdicts_put(&v, &one, &err);
	CHECK_EQ(v.n, 3);
	verdicts_free(&v);
}

TEST(what_is_no_verdict_is_refused)
{
#define GOOD "e\tm\texact\t0\t0\t0\t0\t0\t0\t0\t0\t0\t1\t1\t40\t-\t5\tb\n"
	static const struct {
		int at;
		const char *text, *says;
	} rows[] = {
		{ __LINE__, GOOD, NULL },
		{ __LINE__, "", NULL },
		{ __LINE__, GOOD "e\tm\n", "line 3" },
		{ __LINE__, "e\tm\tsplendid\t0\t0\t0\t0\t0\t0\t0\t0\t0\t1\t1\t40\t-\t5\tb\n",
		  "line 2" },
		{ __LINE__, "e\tm\texact\t0\t0\t0\t0\tfew\t0\t0\t0\t0\t1\t1\t40\t-\t5\tb\n",
		  "line 2" },
		{ __LINE__, "e\tm\texact\tx\t0\t0\t0\t0\t0\t0\t0\t0\t1\t1\t40\t-\t5\tb\n",
		  "line 2" },
		{ __LINE__, "e\tm\texact\t0\t0\t0\t-1\t0\t0\t0\t0\t0\t1\t1\t40\t-\t5\tb\n",
		  "line 2" },
		{ __LINE__, "e\tm\texact\t0\t0\t0\t0\t0\t0\t0\t0\t0\tnan\t1\t40\t-\t5\tb\n",
		  "line 2" },
		{ __LINE__, "e\tm\texact\t0\t0\t0\t0\t0\t0\t0\t0\t0\t1\t1\t40\t-\t5\tb\tmore\n",
		  "line 2" },
		{ __LINE__, "e\tm\texact\t0\t0\t0\t0\t0\t0\t0\t0\t0\t1\t1\t40\t-\t5\tb",
		  "line 2" }, /* truncated */
		{ __LINE__, "e\tm\texact\t0\t0\t0\t0\t0\t0\t0\t0\t0\t1\t1\t40\tno class\t5\tb\n",
		  "line 2" },
		{ __LINE__, "e\x1b[31m\tm\texact\t0\t0\t0\t0\t0\t0\t0\t0\t0\t1\t1\t40\t-\t5\tb\n",
		  "line 2" },
		{ __LINE__,
		  "e\tm\texact\t99999999999999999999\t0\t0\t0\t0\t0\t0\t0\t0\t1\t1\t40\t-\t5\tb\n",
		  "line 2" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct verdicts v;
		char text[1024];
		int ret;

		snprintf(text, sizeof(text), "%s%s", head, rows[i].text);
		ret = verdicts_parse(&v, text, strlen(text), &err);
		CHECK_EQ(ret, rows[i].says ? -EBADMSG : 0, "row at line %d: %s", rows[i].at,
			 err.what);
		CHECK(!rows[i].says || strstr(err.what, rows[i].says), "row at line %d: %s",
		      rows[i].at, err.what);
		verdicts_free(&v);
	}
	for (size_t n = 0; n < sizeof(head) - 1; n++) {
		struct verdicts v;

		CHECK_EQ(verdicts_parse(&v, head, n, NULL), -EBADMSG, "%zu bytes of the first line",
			 n);
	}
}

/* Two names of one event are the same event; a difference in what is counted makes another. */
TEST(what_is_meant_by_an_event)
{
	struct encoding a = { .source = &source_perf,
			      .attr = { .type = PERF_TYPE_RAW,
					.config = 0xc0,
					.exclude_kernel = 1 } },
			b = a;
	char x[96], y[96];

	snprintf(b.name, sizeof(b.name), "cpu/event=0xc0/u");
	snprintf(b.pmu, sizeof(b.pmu), "cpu");
	CHECK(verdict_event(x, sizeof(x), &a) && verdict_event(y, sizeof(y), &b));
	CHECK_STR(x, y);
	b.attr.exclude_kernel = 0;
	verdict_event(y, sizeof(y), &b);
	CHECK(strcmp(x, y), "with the kernel");
	b = a;
	b.attr.config1 = 1;
	verdict_event(y, sizeof(y), &b);
	CHECK(strcmp(x, y), "another config1");
	b = a;
	b.source = &source_msr;
	verdict_event(y, sizeof(y), &b);
	CHECK(strcmp(x, y), "by registers");
	b = a;
	b.place = PLACE_CORE;
	snprintf(b.pmu, sizeof(b.pmu), "cpu_atom");
	verdict_event(y, sizeof(y), &b);
	CHECK(strcmp(x, y), "on the other kind of core");
	CHECK(!verdict_event(x, 8, &a), "no room");
	b = a;
	b.unencoded = true;
	CHECK(!verdict_event(x, sizeof(x), &b), "its numbers mean nothing");
}

static void put_file(const char *root, const char *path, const char *text)
{
	char whole[256];
	FILE *f;

	snprintf(whole, sizeof(whole), "mkdir -p $(dirname %s%s)", root, path);
	CHECK_EQ(system(whole), 0);
	snprintf(whole, sizeof(whole), "%s%s", root, path);
	f = fopen(whole, "w");
	if (CHECK(f != NULL, "%s", whole)) {
		fputs(text, f);
		fclose(f);
	}
}

/* A verdict is invalidated by a change of the microcode or the kernel, and by nothing else. */
TEST(a_machine_by_what_it_tells)
{
	char root[] = "/tmp/tare-verdicts-XXXXXX", machine[224], clean[64];

	CHECK(mkdtemp(root) != NULL);
	verdict_machine(machine, sizeof(machine), root, "");
	CHECK_STR(machine, "unknown microcode unknown Linux unknown unknown -");
	put_file(root, "/proc/cpuinfo", "processor\t: 0\nmodel\t: 1\nmicrocode\t: 0xd0003a5\n\n");
	put_file(root, "/proc/sys/kernel/osrelease", "6.1.0-18\n");
	put_file(root, "/proc/sys/kernel/version", "#1 SMP\tDebian\n");
	verdict_machine(machine, sizeof(machine), root, "GenuineIntel-6-6A-6");
	CHECK_STR(machine,
		  "GenuineIntel-6-6A-6 microcode 0xd0003a5 Linux 6.1.0-18 #1 SMP?Debian -");
	put_file(root, "/sys/devices/system/cpu/cpu0/microcode/version", "0xd0003b9\n");
	verdict_machine(machine, sizeof(machine), root, "GenuineIntel-6-6A-6");
	CHECK(strstr(machine, "microcode 0xd0003b9 "), "%s", machine);
	snprintf(clean, sizeof(clean), "rm -r %s", root);
	CHECK_EQ(system(clean), 0);
}

TEST(generic_events_of_hybrid_machines)
{
	struct encoding a = { .attr = { .type = PERF_TYPE_HARDWARE, .config = 1 } }, b = a;
	char x[96], y[96];

	b.attr.config |= UINT64_C(8)
		<< 32; /* the kernel's PMU type number, which differs from boot to boot */
	CHECK(verdict_event(x, sizeof(x), &a) && verdict_event(y, sizeof(y), &b));
	CHECK_STR(x, y);
	a.attr.type = b.attr.type = PERF_TYPE_RAW; /* there it is a bit of the event */
	CHECK(verdict_event(x, sizeof(x), &a) && verdict_event(y, sizeof(y), &b));
	CHECK(strcmp(x, y));
}

TEST(the_machine_is_one_field)
{
	char machine[224], boot[40];

	verdict_machine(machine, sizeof(machine), NULL, "GenuineIntel-6-85-7");
	CHECK(!strncmp(machine, "GenuineIntel-6-85-7 microcode ", 30), "%s", machine);
	CHECK(!strpbrk(machine, "\t\n"));
	verdict_boot(boot, sizeof(boot), "/nowhere");
	CHECK_STR(boot, "");
}

TEST_MAIN()
