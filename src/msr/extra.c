/* SPDX-License-Identifier: MIT */
/*
 * Events that need a second register, and the valid bits of that register, by CPU. Source: Linux,
 * arch/x86/events/intel/core.c, *_extra_regs and intel_pmu_init().
 */
#include <string.h>
#include "msr/plan.h"

enum { EXTRAS = 6, RSP_0 = 0x1a6, RSP_1 = 0x1a7, FRONTEND = 0x3f7 };

#define OFFCORE(first, mask_0, second, mask_1)                                                     \
	{ first, RSP_0, mask_0, "offcore_rsp" },                                                   \
	{                                                                                          \
		second, RSP_1, mask_1, "offcore_rsp"                                               \
	}
#define LATENCY(code)                                                                              \
	{                                                                                          \
		code, 0, 0, "ldlat"                                                                \
	}
#define FRONT(code, mask)                                                                          \
	{                                                                                          \
		code, FRONTEND, mask, "frontend"                                                   \
	}

/* The first matching row applies. "*": any. A row without events: the CPU has no such register. */
static const struct {
	const char *bound, *libpfm;
	struct msr_extra extra[EXTRAS];
} rows[] = {
	{ "-", "coreduo", { { 0 } } },
	{ "core2", "*", { { 0 } } },
	{ "nhm", "*", { { 0x01b7, RSP_0, 0xffff, "offcore_rsp" }, LATENCY(0x100b) } },
	{ "wsm", "*", { OFFCORE(0x01b7, 0xffff, 0x01bb, 0xffff), LATENCY(0x100b) } },
	{ "snb", "snb", { OFFCORE(0x01b7, 0x3f807f8fff, 0x01bb, 0x3f807f8fff), LATENCY(0x01cd) } },
	{ "ivb", "ivb", { OFFCORE(0x01b7, 0x3f807f8fff, 0x01bb, 0x3f807f8fff), LATENCY(0x01cd) } },
	{ "snb", "*", { OFFCORE(0x01b7, 0x3fffff8fff, 0x01bb, 0x3fffff8fff), LATENCY(0x01cd) } },
	{ "ivb", "*", { OFFCORE(0x01b7, 0x3fffff8fff, 0x01bb, 0x3fffff8fff), LATENCY(0x01cd) } },
	{ "hsw", "*", { OFFCORE(0x01b7, 0x3fffff8fff, 0x01bb, 0x3fffff8fff), LATENCY(0x01cd) } },
	{ "bdw", "*", { OFFCORE(0x01b7, 0x3fffff8fff, 0x01bb, 0x3fffff8fff), LATENCY(0x01cd) } },
	{ "skl",
	  "*",
	  { OFFCORE(0x01b7, 0x3fffff8fff, 0x01bb, 0x3fffff8fff), LATENCY(0x01cd),
	    FRONT(0x01c6, 0x7fff17) } },
	{ "icl",
	  "*",
	  { OFFCORE(0x01b7, 0x3fffffbfff, 0x01bb, 0x3fffffbfff), LATENCY(0x01cd),
	    FRONT(0x01c6, 0x7fff17) } },
	{ "spr",
	  "*",
	  { OFFCORE(0x012a, 0x3fffffffff, 0x012b, 0x3fffffffff), LATENCY(0x01cd),
	    FRONT(0x01c6, 0x7fff1f), FRONT(0x40ad, 0x7), FRONT(0x04c2, 0x8) } },
	{ "slm", "slm", { OFFCORE(0x01b7, 0x768005ffff, 0x02b7, 0x368005ffff) } },
	{ "slm", "glm", { OFFCORE(0x01b7, 0x760005ffbf, 0x02b7, 0x360005ffbf) } },
	{ "slm", "tmt", { OFFCORE(0x01b7, 0x800ff0ffffff9fff, 0x02b7, 0xff0ffffff9fff) } },
	{ "slm", "knl", { OFFCORE(0x01b7, 0x799ffbb6e7, 0x02b7, 0x399ffbffe7) } },
	{ "slm", "knm", { OFFCORE(0x01b7, 0x799ffbb6e7, 0x02b7, 0x399ffbffe7) } },
	{ "grt", "*", { OFFCORE(0x01b7, 0x3fffffffff, 0x02b7, 0x3fffffffff), LATENCY(0x05d0) } },
};

static bool matches(const char *pattern, const char *s)
{
	return !strcmp(pattern, "*") || !strcmp(pattern, s);
}

const struct msr_extra *msr_extras_of(const char *bound, const char *libpfm)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (matches(rows[i].bound, bound) && matches(rows[i].libpfm, libpfm))
			return rows[i].extra;
	return NULL;
}

const struct msr_extra *msr_extra_find(const struct msr_extra *extras, uint64_t config)
{
	for (size_t i = 0; extras && i < EXTRAS && extras[i].code; i++)
		if (extras[i].code == (config & 0xffff))
			return &extras[i];
	return NULL;
}

const struct msr_extra *msr_extra_beside(const struct msr_extra *extras,
					 const struct msr_extra *one)
{
	for (size_t i = 0; extras && i < EXTRAS && extras[i].code; i++)
		if (extras[i].msr && extras[i].msr != one->msr &&
		    !strcmp(extras[i].term, one->term))
			return &extras[i];
	return NULL;
}

bool msr_extra_anywhere(uint64_t config)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (msr_extra_find(rows[i].extra, config))
			return true;
	return false;
}
