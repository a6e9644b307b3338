/* SPDX-License-Identifier: MIT */
#include "pmu/interrupts.h"
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include "pmu/table.h"

int interrupts_of_cpu(struct interrupts_event *out, const char *cpu, struct tare_error *err)
{
	const char *p = embedded_text("interrupts.txt");
	struct column c[4];
	unsigned line = 0;
	char pattern[64], by[72];
	int ret;

	while (table_next(&p, &line, c, 4) == 4) {
		column_copy(&c[0], pattern, sizeof(pattern));
		if (fnmatch(pattern, cpu, 0))
			continue;
		column_copy(&c[1], out->event, sizeof(out->event));
		column_copy(&c[2], out->known, sizeof(out->known));
		column_copy(&c[3], by, sizeof(by));
		snprintf(out->note, sizeof(out->note), "%s: %s", out->known, by);
		return 0;
	}
	ret = tare_fail(
		err, ENOENT,
		"instructions-minus-irqs:u: no event is known that counts interrupts on this CPU (%s)",
		cpu[0] ? cpu : "unnamed");
	tare_hint(
		err,
		"record instructions:u; branches that may fall through (conditional branches) are exact on most CPUs");
	return ret;
}
