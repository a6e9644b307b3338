/* SPDX-License-Identifier: MIT */
/*
 * The event that counts interrupts, and when it is trusted. Needs no PMU: the counts are literals.
 */
#include "pmu/table.h"
#include "regions/runtime/region_irqs.h"
#include "tap.h"

TEST(rows_of_known_cpus)
{
	static const struct {
		const char *cpu, *event, *known;
	} rows[] = {
		{ "GenuineIntel-6-55-7", "cpu/event=0xcb,umask=0x1/u", "documented" },
		{ "GenuineIntel-6-2A-7", "cpu/event=0xcb,umask=0x1/u", "seen" },
		{ "GenuineIntel-6-8F-8", "cpu/event=0xcb,umask=0x1/u", "documented" },
		{ "GenuineIntel-6-7E-5", "cpu/event=0xcb,umask=0x1/u", "guessed" },
		{ "GenuineIntel-6-1A-5", "cpu/event=0x1d,umask=0x1/u", "seen" },
		{ "AuthenticAMD-23-1-2", "cpu/event=0x2c/u", "seen" },
		/* Linux lists it for Zen 2 and later */
		{ "AuthenticAMD-23-8-2", "cpu/event=0x2c/u", "seen" },
		{ "AuthenticAMD-23-11-0", "cpu/event=0x2c/u", "seen" },
		{ "AuthenticAMD-23-18-1", "cpu/event=0x2c/u", "seen" },
		{ "AuthenticAMD-23-20-1", "cpu/event=0x2c/u", "guessed" },
		{ "AuthenticAMD-23-71-0", "cpu/event=0x2c/u", "documented" },
		{ "GenuineIntel-18-1-0", "cpu_core/event=0xcb,umask=0x1/u", "documented" },
		{ "GenuineIntel-6-97-2", "cpu_core/event=0xcb,umask=0x1/u", "guessed" },
		{ "GenuineIntel-6-CC-1", "cpu_core/event=0xcb,umask=0x1/u", "guessed" },
		{ "GenuineIntel-6-4D-8", "cpu/event=0xcb,umask=0x1/u", "seen" },
		{ "GenuineIntel-6-F-6", "cpu/event=0xc8/u", "seen" },
		{ "AuthenticAMD-23-31-0", "cpu/event=0x2c/u", "documented" },
		{ "AuthenticAMD-25-11-1", "cpu/event=0x2c/u", "documented" },
		{ "AuthenticAMD-16-2-3", "cpu/event=0xcf/u", "seen" },
		{ "AuthenticAMD-22-0-1", "cpu/event=0xcf/u", "guessed" },
		/* Alder Lake with E cores only, Sierra Forest, Arm: not known. */
		{ "GenuineIntel-6-BE-0", NULL, NULL },
		{ "GenuineIntel-6-AF-3", NULL, NULL },
		{ "0x00000000410fd0c0", NULL, NULL },
		{ "", NULL, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct interrupts_event got;
		int ret = interrupts_of_cpu(&got, rows[i].cpu, &err);

		CHECK_EQ(ret, rows[i].event ? 0 : -ENOENT, "%s", rows[i].cpu);
		if (ret == 0) {
			CHECK_STR(got.event, rows[i].event);
			CHECK_STR(got.known, rows[i].known);
			/* The note always contains the reason. */
			CHECK(!strncmp(got.note, rows[i].known, strlen(rows[i].known)) &&
				      strstr(got.note, ": "),
			      "%s", got.note);
		} else {
			CHECK(strstr(err.what, "no event is known") && err.hint[0]);
		}
	}
}

TEST(every_row_is_whole)
{
	const char *p = embedded_text("interrupts.txt");
	unsigned line = 0, rows = 0;
	struct column c[4];
	size_t n;

	while ((n = table_next(&p, &line, c, 4))) {
		char known[16];

		CHECK_EQ(n, 4, "line %u", line);
		column_copy(&c[2], known, sizeof(known));
		CHECK(!strcmp(known, "documented") || !strcmp(known, "seen") ||
			      !strcmp(known, "guessed"),
		      "line %u: %s", line, known);
		rows++;
	}
	CHECK(rows > 20);
}

TEST(what_is_believed)
{
	enum { KNOWN = 10000000 };
	static const struct {
		int line;
		int ret;
		struct irq_run run[4]; /* repeated */
		const char *what;
	} rows[] = {
		{ __LINE__,
		  0,
		  { { KNOWN + 12, 0 }, { KNOWN + 13, 1 }, { KNOWN + 14, 2 }, { KNOWN + 13, 1 } },
		  NULL },
		/* The event counts nothing although interrupts occur. */
		{ __LINE__,
		  -EAGAIN,
		  { { KNOWN + 12, 0 }, { KNOWN + 13, 0 }, { KNOWN + 14, 0 }, { KNOWN + 13, 0 } },
		  "counted 0" },
		/* It counts some interrupts only. */
		{ __LINE__,
		  -EOPNOTSUPP,
		  { { KNOWN + 12, 0 }, { KNOWN + 14, 1 }, { KNOWN + 14, 2 }, { KNOWN + 13, 1 } },
		  "does not count correctly" },
		/* It counts other things, too. */
		{ __LINE__,
		  -EOPNOTSUPP,
		  { { KNOWN + 12, 5 }, { KNOWN + 13, 1 }, { KNOWN + 14, 2 }, { KNOWN + 13, 1 } },
		  "does not count" },
		/* The counts are the same each time, but too far from the loop's size. */
		{ __LINE__,
		  -EOPNOTSUPP,
		  { { KNOWN + 300, 0 },
		    { KNOWN + 301, 1 },
		    { KNOWN + 302, 2 },
		    { KNOWN + 301, 1 } },
		  "does not count" },
		{ __LINE__,
		  -EOPNOTSUPP,
		  { { KNOWN - 1, 0 }, { KNOWN, 1 }, { KNOWN + 1, 2 }, { KNOWN, 1 } },
		  "does not count" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tare_error err = TARE_ERROR_INIT;
		struct irq_run run[16];

		for (size_t k = 0; k < ARRAY_SIZE(run); k++)
			run[k] = rows[i].run[k % 4];
		CHECK_EQ(region_irqs_judge(run, ARRAY_SIZE(run), KNOWN, &err), rows[i].ret,
			 "row at line %d: %s", rows[i].line, err.what);
		if (rows[i].what)
			CHECK(strstr(err.what, rows[i].what), "row at line %d: %s", rows[i].line,
			      err.what);
	}
}

TEST_MAIN()
