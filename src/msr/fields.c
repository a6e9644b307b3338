/* SPDX-License-Identifier: MIT */
/*
 * What the bits of a register mean. Sources: Intel SDM vol. 4, table 2-2, and vol. 3B,
 * "Architectural Performance Monitoring", versions 1 to 5; AMD64 APM vol. 2, 13.2; Linux's use of
 * TSC_AUX, arch/x86/include/asm/segment.h.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "msr/table.h"

/* clang-format off */
static const struct {
	const char *row;
	struct msr_field field;
} fields[] = {
	{ "IA32_PERFEVTSEL", { "EVENT", 0, 8, 1, 0 } },
	{ "IA32_PERFEVTSEL", { "UMASK", 8, 8, 1, 0 } },
	{ "IA32_PERFEVTSEL", { "USR", 16, 1, 1, 0 } },
	{ "IA32_PERFEVTSEL", { "OS", 17, 1, 1, 0 } },
	{ "IA32_PERFEVTSEL", { "EDGE", 18, 1, 1, 0 } },
	{ "IA32_PERFEVTSEL", { "PC", 19, 1, 1, 0 } },
	{ "IA32_PERFEVTSEL", { "INT", 20, 1, 1, 0 } },
	{ "IA32_PERFEVTSEL", { "ANY", 21, 1, 1, 0 } },
	{ "IA32_PERFEVTSEL", { "EN", 22, 1, 1, 0 } },
	{ "IA32_PERFEVTSEL", { "INV", 23, 1, 1, 0 } },
	{ "IA32_PERFEVTSEL", { "CMASK", 24, 8, 1, 0 } },
	{ "IA32_PERFEVTSEL", { "IN_TX", 32, 1, 1, 0 } },
	{ "IA32_PERFEVTSEL", { "IN_TXCP", 33, 1, 1, 0 } },
	{ "IA32_FIXED_CTR_CTRL", { "EN#", 0, 2, 4, 4 } },
	{ "IA32_FIXED_CTR_CTRL", { "ANY#", 2, 1, 4, 4 } },
	{ "IA32_FIXED_CTR_CTRL", { "PMI#", 3, 1, 4, 4 } },
	{ "IA32_PERF_GLOBAL_CTRL", { "EN_PMC#", 0, 1, 8, 1 } },
	{ "IA32_PERF_GLOBAL_CTRL", { "EN_FIXED_CTR#", 32, 1, 4, 1 } },
	{ "IA32_PERF_GLOBAL_CTRL", { "EN_PERF_METRICS", 48, 1, 1, 0 } },
	{ "IA32_PERF_GLOBAL_STATUS", { "OVF_PMC#", 0, 1, 8, 1 } },
	{ "IA32_PERF_GLOBAL_STATUS", { "OVF_FIXED_CTR#", 32, 1, 4, 1 } },
	{ "IA32_PERF_GLOBAL_STATUS", { "OVF_PERF_METRICS", 48, 1, 1, 0 } },
	{ "IA32_PERF_GLOBAL_STATUS", { "TRACE_TOPA_PMI", 55, 1, 1, 0 } },
	{ "IA32_PERF_GLOBAL_STATUS", { "LBR_FRZ", 58, 1, 1, 0 } },
	{ "IA32_PERF_GLOBAL_STATUS", { "CTR_FRZ", 59, 1, 1, 0 } },
	{ "IA32_PERF_GLOBAL_STATUS", { "ASCI", 60, 1, 1, 0 } },
	{ "IA32_PERF_GLOBAL_STATUS", { "OVF_UNCORE", 61, 1, 1, 0 } },
	{ "IA32_PERF_GLOBAL_STATUS", { "OVF_BUFFER", 62, 1, 1, 0 } },
	{ "IA32_PERF_GLOBAL_STATUS", { "COND_CHANGED", 63, 1, 1, 0 } },
	{ "IA32_PERF_GLOBAL_OVF_CTRL", { "CLR_PMC#", 0, 1, 8, 1 } },
	{ "IA32_PERF_GLOBAL_OVF_CTRL", { "CLR_FIXED_CTR#", 32, 1, 4, 1 } },
	{ "MSR_PERF_METRICS", { "RETIRING", 0, 8, 1, 0 } },
	{ "MSR_PERF_METRICS", { "BAD_SPEC", 8, 8, 1, 0 } },
	{ "MSR_PERF_METRICS", { "FE_BOUND", 16, 8, 1, 0 } },
	{ "MSR_PERF_METRICS", { "BE_BOUND", 24, 8, 1, 0 } },
	{ "MSR_PERF_METRICS", { "HEAVY_OPS", 32, 8, 1, 0 } },
	{ "MSR_PERF_METRICS", { "BR_MISPRED", 40, 8, 1, 0 } },
	{ "MSR_PERF_METRICS", { "FETCH_LAT", 48, 8, 1, 0 } },
	{ "MSR_PERF_METRICS", { "MEM_BOUND", 56, 8, 1, 0 } },
	{ "IA32_PERF_CAPABILITIES", { "LBR_FORMAT", 0, 6, 1, 0 } },
	{ "IA32_PERF_CAPABILITIES", { "PEBS_TRAP", 6, 1, 1, 0 } },
	{ "IA32_PERF_CAPABILITIES", { "PEBS_REGS", 7, 1, 1, 0 } },
	{ "IA32_PERF_CAPABILITIES", { "PEBS_FORMAT", 8, 4, 1, 0 } },
	{ "IA32_PERF_CAPABILITIES", { "SMM_FREEZE", 12, 1, 1, 0 } },
	{ "IA32_PERF_CAPABILITIES", { "FULL_WIDTH_WRITE", 13, 1, 1, 0 } },
	{ "IA32_PERF_CAPABILITIES", { "PEBS_BASELINE", 14, 1, 1, 0 } },
	{ "IA32_PERF_CAPABILITIES", { "PERF_METRICS", 15, 1, 1, 0 } },
	{ "IA32_PERF_STATUS", { "STATE", 0, 16, 1, 0 } },
	{ "IA32_MISC_ENABLE", { "FAST_STRINGS", 0, 1, 1, 0 } },
	{ "IA32_MISC_ENABLE", { "THERMAL_CONTROL", 3, 1, 1, 0 } },
	{ "IA32_MISC_ENABLE", { "PERFMON", 7, 1, 1, 0 } },
	{ "IA32_MISC_ENABLE", { "NO_BTS", 11, 1, 1, 0 } },
	{ "IA32_MISC_ENABLE", { "NO_PEBS", 12, 1, 1, 0 } },
	{ "IA32_MISC_ENABLE", { "SPEEDSTEP", 16, 1, 1, 0 } },
	{ "IA32_MISC_ENABLE", { "MONITOR", 18, 1, 1, 0 } },
	{ "IA32_MISC_ENABLE", { "LIMIT_CPUID", 22, 1, 1, 0 } },
	{ "PERF_CTL", { "EVENT", 0, 8, 1, 0 } },
	{ "PERF_CTL", { "UMASK", 8, 8, 1, 0 } },
	{ "PERF_CTL", { "USR", 16, 1, 1, 0 } },
	{ "PERF_CTL", { "OS", 17, 1, 1, 0 } },
	{ "PERF_CTL", { "EDGE", 18, 1, 1, 0 } },
	{ "PERF_CTL", { "INT", 20, 1, 1, 0 } },
	{ "PERF_CTL", { "EN", 22, 1, 1, 0 } },
	{ "PERF_CTL", { "INV", 23, 1, 1, 0 } },
	{ "PERF_CTL", { "CMASK", 24, 8, 1, 0 } },
	{ "PERF_CTL", { "EVENT_HIGH", 32, 4, 1, 0 } },
	{ "PERF_CTL", { "GUEST", 40, 1, 1, 0 } },
	{ "PERF_CTL", { "HOST", 41, 1, 1, 0 } },
	{ "PERF_GLOBAL_CTL", { "EN#", 0, 1, 6, 1 } },
	{ "PERF_GLOBAL_STATUS", { "OVF#", 0, 1, 6, 1 } },
	{ "PERF_GLOBAL_STATUS", { "LBR_FRZ", 58, 1, 1, 0 } },
	{ "PERF_GLOBAL_STATUS", { "PMC_FRZ", 59, 1, 1, 0 } },
	{ "PERF_GLOBAL_STATUS_CLR", { "CLR#", 0, 1, 6, 1 } },
	{ "TSC_AUX", { "CPU", 0, 12, 1, 0 } },
	{ "TSC_AUX", { "NODE", 12, 20, 1, 0 } },
};
/* clang-format on */

bool msr_field_nth(const struct msr_row *row, size_t i, struct msr_bits *out)
{
	/* The event selects of family 10h have the same bits under other register numbers. */
	const char *name = !strcmp(row->name, "PERF_LEGACY_CTL") ? "PERF_CTL" : row->name;

	for (size_t f = 0; f < ARRAY_SIZE(fields); f++) {
		const struct msr_field *field = &fields[f].field;
		size_t stem = strlen(field->name);

		if (strcmp(fields[f].row, name))
			continue;
		if (i >= field->count) {
			i -= field->count;
			continue;
		}
		if (field->name[stem - 1] == '#')
			snprintf(out->name, sizeof(out->name), "%.*s%zu", (int)stem - 1,
				 field->name, i);
		else
			snprintf(out->name, sizeof(out->name), "%s", field->name);
		out->low = field->low + (unsigned)i * field->step;
		out->bits = field->bits;
		return true;
	}
	return false;
}

int msr_field_by_name(const struct msr_row *row, const char *name, struct msr_bits *out,
		      struct tare_error *err)
{
	struct text all = { 0 };
	struct msr_bits f;

	for (size_t i = 0; msr_field_nth(row, i, out); i++)
		if (!strcasecmp(out->name, name))
			return 0;
	for (size_t i = 0; msr_field_nth(row, i, &f); i++)
		text_add(&all, "%s%s", all.len ? ", " : "", f.name);
	if (all.len) {
		tare_fail(err, ENOENT, "%s has no field '%.40s'", row->name, name);
		tare_hint(err, "its fields: %s", all.s);
	} else {
		tare_fail(err, ENOENT, "no fields of %s are known", row->name);
		tare_hint(err, "name the register alone: all of its bits");
	}
	text_free(&all);
	return -ENOENT;
}

void msr_fields_text(struct text *out, const struct msr_row *row, uint64_t value)
{
	struct msr_bits f;

	for (size_t i = 0; row && msr_field_nth(row, i, &f); i++) {
		uint64_t v = value >> f.low & ((UINT64_C(1) << f.bits) - 1);

		if (v && f.bits == 1)
			text_add(out, " %s", f.name);
		else if (v)
			text_add(out, " %s=0x%llx", f.name, (unsigned long long)v);
	}
}

unsigned msr_counts_up(const struct msr_row *row)
{
	static const struct {
		const char *name;
		unsigned bits;
	} rows[] = {
		{ "IA32_TIME_STAMP_COUNTER", 64 },
		{ "MSR_SMI_COUNT", 32 },
		{ "IA32_PMC", 48 },
		{ "IA32_MPERF", 64 },
		{ "IA32_APERF", 64 },
		{ "IA32_FIXED_CTR", 48 },
		{ "IA32_A_PMC", 48 },
		{ "MSR_PPERF", 64 },
		{ "MPERF_READONLY", 64 },
		{ "APERF_READONLY", 64 },
		{ "PERF_LEGACY_CTR", 48 },
		{ "PERF_CTR", 48 },
	};

	for (size_t i = 0; row && i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].name, row->name))
			return rows[i].bits;
	return 0;
}
