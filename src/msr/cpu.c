/* SPDX-License-Identifier: MIT */
/* Counters of CPUs other than this one. On this one CPUID is used instead. */
#include <stdio.h>
#include <string.h>
#include "msr/plan.h"

/*
 * The first matching row applies. "*": any. Sources: Intel SDM vol. 3B, the chapters per
 * microarchitecture; AMD PPRs. Silvermont and Airmont: what Linux prints at boot on E3815, N2930,
 * N3050, N3150, N3700 and Z8300 ("full-width counters", "bit width: 40"). The width of the counters
 * of Knights Landing and Mill is not published: there is no row, so plans for them can only be made
 * on such a machine.
 */
static const struct {
	const char *bound, *libpfm, *name;
	unsigned maker, version;
	bool full_width;
	unsigned width; /* of all counters; 0: 48 */
} rows[] = {
	{ "-", "coreduo", "*", TARE_MSR_INTEL, 1, false, 40 },
	{ "core2", "*", "*", TARE_MSR_INTEL, 2, false, 40 },
	{ "nhm", "*", "*", TARE_MSR_INTEL, 3, false },
	{ "wsm", "*", "*", TARE_MSR_INTEL, 3, false },
	{ "snb", "*", "*", TARE_MSR_INTEL, 3, false },
	{ "ivb", "*", "*", TARE_MSR_INTEL, 3, true },
	{ "hsw", "*", "*", TARE_MSR_INTEL, 3, true },
	{ "bdw", "*", "*", TARE_MSR_INTEL, 3, true },
	{ "skl", "*", "*", TARE_MSR_INTEL, 4, true },
	{ "icl", "*", "*", TARE_MSR_INTEL, 5, true },
	{ "spr", "*", "*", TARE_MSR_INTEL, 5, true },
	{ "grt", "*", "*", TARE_MSR_INTEL, 5, true },
	{ "slm", "glm", "*", TARE_MSR_INTEL, 4, true },
	{ "slm", "tmt", "*", TARE_MSR_INTEL, 5, true },
	{ "slm", "slm", "*", TARE_MSR_INTEL, 3, true, 40 },
	{ "amd17h", "amd64_fam19h_zen4", "*", TARE_MSR_AMD, 2, true },
	{ "amd17h", "*", "AMD Zen 5", TARE_MSR_AMD, 2, true },
	{ "amd17h", "*", "*", TARE_MSR_AMD, 1, true },
	{ "amd16h", "*", "*", TARE_MSR_AMD, 0, true },
	{ "amd15h", "*", "*", TARE_MSR_AMD, 1, true },
	{ "*", "amd64_fam10h_barcelona", "*", TARE_MSR_AMD, 0, true },
};

static bool matches(const char *pattern, const char *s)
{
	return !strcmp(pattern, "*") || !strcmp(pattern, s);
}

int msr_cpu_of(struct msr_cpu *out, const char *bound, const char *libpfm, const char *name,
	       unsigned programmable, unsigned fixed, struct tare_error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!matches(rows[i].bound, bound) || !matches(rows[i].libpfm, libpfm) ||
		    !matches(rows[i].name, name))
			continue;
		*out = (struct msr_cpu){ .maker = rows[i].maker,
					 .version = rows[i].version,
					 .programmable = programmable,
					 .fixed = fixed,
					 .width = rows[i].width ? rows[i].width : 48,
					 .fixed_width = rows[i].width ? rows[i].width : 48,
					 .full_width = rows[i].full_width,
					 .extras = msr_extras_of(bound, libpfm) };
		snprintf(out->name, sizeof(out->name), "%s", name);
		return 0;
	}
	tare_fail(err, ENODATA, "the counter registers of %.60s are unknown", name);
	tare_hint(
		err,
		"on such a machine itself, without --cpu, CPUID says how many there are and how wide");
	return -ENODATA;
}
