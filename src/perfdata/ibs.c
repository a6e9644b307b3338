/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include "perfdata/ibs.h"

#define BIT(s, r, b) ((s)->reg[r] >> (b)&1)

/* ---- when a field is valid ---- */

bool ibs_tells_fetch(const struct ibs *s)
{
	return !s->rules.by_physical || BIT(s, IBS_FETCH_CTL, 52);
}

static bool icache_known(const struct ibs *s)
{
	return !s->rules.no_miss && ibs_tells_fetch(s);
}

static bool physical_fetch(const struct ibs *s)
{
	return BIT(s, IBS_FETCH_CTL, 52);
}

static bool fetch_complete(const struct ibs *s)
{
	return BIT(s, IBS_FETCH_CTL, 50) && ibs_tells_fetch(s);
}

static bool zen4(const struct ibs *s)
{
	return s->rules.zen4;
}

static bool zen4_fetch(const struct ibs *s)
{
	return s->rules.zen4 && ibs_tells_fetch(s);
}

static bool load_latency(const struct ibs *s)
{
	return s->caps & IBS_CAP_LOAD_LATENCY;
}

static bool tlb_hits(const struct ibs *s)
{
	return !(s->caps & IBS_CAP_PAGE_SIZE);
}

static bool page_size(const struct ibs *s)
{
	return s->caps & IBS_CAP_PAGE_SIZE && BIT(s, IBS_OP_DATA3, 18);
}

/*
 * Source: Linux, arch/x86/events/amd/ibs.c, perf_ibs_get_tlb_lvl() (commit 0b347a4218da, "Update
 * DTLB/PageSize decode logic").
 */
bool ibs_tells_tlb(const struct ibs *s)
{
	return !(s->caps & IBS_CAP_PAGE_SIZE) || BIT(s, IBS_OP_DATA3, 18);
}

/* Source: Linux, tools/perf/util/amd-sample-raw.c, pr_ibs_op_data3(): from Zen 4 on. */
bool ibs_tells_refill(const struct ibs *s)
{
	return !(s->rules.zen4 || s->caps & IBS_CAP_PAGE_SIZE) || BIT(s, IBS_OP_DATA3, 18);
}

static bool branch(const struct ibs *s)
{
	return BIT(s, IBS_OP_DATA, 37);
}

/* Erratum 1293 of family 19h, models 0 to Fh: a miss without MAB, or a software prefetch. */
static bool data2_known(const struct ibs *s)
{
	return !(s->rules.no_data2 && (BIT(s, IBS_OP_DATA3, 16) || BIT(s, IBS_OP_DATA3, 21)));
}

static uint64_t data_source(const struct ibs *s, uint64_t low)
{
	return s->rules.zen4 ? (s->reg[IBS_OP_DATA2] >> 6 & 3) << 3 | low : low;
}

static bool sourced(const struct ibs *s)
{
	return data2_known(s) && data_source(s, s->reg[IBS_OP_DATA2] & 7);
}

/* The state of the line in another cache is valid if the data came from a cache. */
static bool from_cache(const struct ibs *s)
{
	uint64_t source = data_source(s, s->reg[IBS_OP_DATA2] & 7);

	return data2_known(s) && (source == 2 || (s->rules.zen4 && (source == 1 || source == 5)));
}

bool ibs_tells_state(const struct ibs *s)
{
	/* every model with Zen 4's extensions has the bit */
	return from_cache(s) && !s->rules.no_state && (s->rules.zen4 || !s->rules.unknown);
}

bool ibs_tells_l2(const struct ibs *s)
{
	return !s->rules.no_l2 && !(s->rules.unknown && !(s->caps & IBS_CAP_BRANCH_FUSE));
}

bool ibs_tells_fetch_l2(const struct ibs *s)
{
	return !s->rules.no_fetch_l2 && (s->rules.zen4 || !s->rules.unknown);
}

static bool has_width(const struct ibs *s)
{
	return s->reg[IBS_OP_DATA3] >> 22 & 15;
}

/* ---- values of fields ---- */

static uint64_t times_16(const struct ibs *s, uint64_t bits)
{
	(void)s;
	return bits << 4;
}

static uint64_t op_period(const struct ibs *s, uint64_t bits)
{
	return ((s->reg[IBS_OP_CTL] >> 20 & 0x7f) << 16 | bits) << 4;
}

static uint64_t width_bytes(const struct ibs *s, uint64_t bits)
{
	(void)s;
	return bits ? 1ull << (bits - 1) : 0;
}

static const char *page_words(const struct ibs *s, uint64_t v)
{
	static const char *const plain[] = { "4KB", "2MB", "1GB", "RESERVED" },
				 *const erratum_1347[] = { "4KB", "16KB", "2MB", "1GB" };

	return s->rules.pages_16k ? erratum_1347[v] : plain[v];
}

static const char *data_page_words(const struct ibs *s, uint64_t v)
{
	static const char *const sizes[] = { "4K", "2M", "1G", "??" };

	(void)s;
	return sizes[v];
}

static const char *count_words(const struct ibs *s, uint64_t v)
{
	(void)s;
	return v ? "uOps" : "cycles";
}

static const char *state_words(const struct ibs *s, uint64_t v)
{
	(void)s;
	return v ? "O-State" : "M-state";
}

static const char *source_words(const struct ibs *s, uint64_t v)
{
	static const char *const
		plain[8] = { NULL, NULL,   "Local node cache", "DRAM", "Remote node cache", NULL,
			     NULL, "Other" },
		*const extended[16] = { [1] = "Local L3 or other L1/L2 in CCX",
					[2] = "Peer cache in near CCX",
					[3] = "DRAM",
					[5] = "Peer cache in far CCX",
					[6] = "Long-latency DIMM",
					[7] = "MMIO/Config/PCI/APIC",
					[8] = "Extension memory",
					[12] = "Coherent memory of a different processor type" };
	const char *words = s->rules.zen4 ? v < 16 ? extended[v] : NULL : v < 8 ? plain[v] : NULL;

	return words ? words : "(reserved)";
}

/* ---- the rows ---- */

const char *const ibs_fetch_registers[IBS_REGISTERS] = { "ibs_fetch_ctl", "IbsFetchLinAd",
							 "IbsFetchPhysAd", "ic_ibs_ext_ctl" };
const char *const ibs_op_registers[IBS_REGISTERS] = {
	"ibs_op_ctl", "IbsOpRip",    "ibs_op_data", "ibs_op_data2", "ibs_op_data3",
	"IbsDCLinAd", "IbsDCPhysAd", "IbsBrTarget", "ibs_op_data4"
};

const struct ibs_field ibs_fetch_fields[] = {
	{ "MaxCnt", IBS_FETCH_CTL, 0, 16, NULL, times_16, NULL },
	{ "Cnt", IBS_FETCH_CTL, 16, 16, NULL, times_16, NULL },
	{ "Lat", IBS_FETCH_CTL, 32, 16, ibs_tells_fetch, NULL, NULL },
	{ "En", IBS_FETCH_CTL, 48, 1, NULL, NULL, NULL },
	{ "Val", IBS_FETCH_CTL, 49, 1, NULL, NULL, NULL },
	{ "Comp", IBS_FETCH_CTL, 50, 1, NULL, NULL, NULL },
	{ "IcMiss", IBS_FETCH_CTL, 51, 1, icache_known, NULL, NULL },
	{ "PhyAddrValid", IBS_FETCH_CTL, 52, 1, NULL, NULL, NULL },
	{ "L1TlbPgSz", IBS_FETCH_CTL, 53, 2, physical_fetch, NULL, page_words },
	{ "L1TlbMiss", IBS_FETCH_CTL, 55, 1, ibs_tells_fetch, NULL, NULL },
	{ "L2TlbMiss", IBS_FETCH_CTL, 56, 1, ibs_tells_fetch, NULL, NULL },
	{ "RandEn", IBS_FETCH_CTL, 57, 1, NULL, NULL, NULL },
	{ "L2Miss", IBS_FETCH_CTL, 58, 1, fetch_complete, NULL, NULL },
	{ "L3MissOnly", IBS_FETCH_CTL, 59, 1, zen4, NULL, NULL },
	{ "FetchOcMiss", IBS_FETCH_CTL, 60, 1, zen4_fetch, NULL, NULL },
	{ "FetchL3Miss", IBS_FETCH_CTL, 61, 1, zen4_fetch, NULL, NULL },
	{ "IbsItlbRefillLat", IBS_FETCH_EXTENDED, 0, 16, ibs_tells_fetch, NULL, NULL },
	{ NULL },
};

const struct ibs_field ibs_op_fields[] = {
	{ "MaxCnt", IBS_OP_CTL, 0, 16, NULL, op_period, NULL },
	{ "L3MissOnly", IBS_OP_CTL, 16, 1, zen4, NULL, NULL },
	{ "En", IBS_OP_CTL, 17, 1, NULL, NULL, NULL },
	{ "Val", IBS_OP_CTL, 18, 1, NULL, NULL, NULL },
	{ "CntCtl", IBS_OP_CTL, 19, 1, NULL, NULL, count_words },
	{ "CurCnt", IBS_OP_CTL, 32, 27, NULL, NULL, NULL },
	{ "LdLatThrsh", IBS_OP_CTL, 59, 4, load_latency, NULL, NULL },
	{ "LdLatEn", IBS_OP_CTL, 63, 1, load_latency, NULL, NULL },
	{ "CompToRetCtr", IBS_OP_DATA, 0, 16, NULL, NULL, NULL },
	{ "TagToRetCtr", IBS_OP_DATA, 16, 16, NULL, NULL, NULL },
	{ "OpReturn", IBS_OP_DATA, 34, 1, branch, NULL, NULL },
	{ "OpBrnTaken", IBS_OP_DATA, 35, 1, branch, NULL, NULL },
	{ "OpBrnMisp", IBS_OP_DATA, 36, 1, branch, NULL, NULL },
	{ "BrnRet", IBS_OP_DATA, 37, 1, NULL, NULL, NULL },
	{ "RipInvalid", IBS_OP_DATA, 38, 1, NULL, NULL, NULL },
	{ "BrnFuse", IBS_OP_DATA, 39, 1, NULL, NULL, NULL },
	{ "Microcode", IBS_OP_DATA, 40, 1, NULL, NULL, NULL },
	{ "CacheHitSt", IBS_OP_DATA2, 5, 1, from_cache, NULL, state_words },
	{ "RmtNode", IBS_OP_DATA2, 4, 1, data2_known, NULL, NULL },
	{ "DataSrc", IBS_OP_DATA2, 0, 3, sourced, data_source, source_words },
	{ "LdOp", IBS_OP_DATA3, 0, 1, NULL, NULL, NULL },
	{ "StOp", IBS_OP_DATA3, 1, 1, NULL, NULL, NULL },
	{ "DcL1TlbMiss", IBS_OP_DATA3, 2, 1, ibs_tells_tlb, NULL, NULL },
	{ "DcL2TlbMiss", IBS_OP_DATA3, 3, 1, ibs_tells_tlb, NULL, NULL },
	{ "DcPageSize", IBS_OP_DATA3, 4, 2, page_size, NULL, data_page_words },
	{ "DcL1TlbHit2M", IBS_OP_DATA3, 4, 1, tlb_hits, NULL, NULL },
	{ "DcL1TlbHit1G", IBS_OP_DATA3, 5, 1, tlb_hits, NULL, NULL },
	{ "DcL2TlbHit2M", IBS_OP_DATA3, 6, 1, tlb_hits, NULL, NULL },
	{ "DcMiss", IBS_OP_DATA3, 7, 1, NULL, NULL, NULL },
	{ "DcMisAcc", IBS_OP_DATA3, 8, 1, NULL, NULL, NULL },
	{ "DcWcMemAcc", IBS_OP_DATA3, 13, 1, NULL, NULL, NULL },
	{ "DcUcMemAcc", IBS_OP_DATA3, 14, 1, NULL, NULL, NULL },
	{ "DcLockedOp", IBS_OP_DATA3, 15, 1, NULL, NULL, NULL },
	{ "DcMissNoMabAlloc", IBS_OP_DATA3, 16, 1, NULL, NULL, NULL },
	{ "DcLinAddrValid", IBS_OP_DATA3, 17, 1, NULL, NULL, NULL },
	{ "DcPhyAddrValid", IBS_OP_DATA3, 18, 1, NULL, NULL, NULL },
	{ "DcL2TlbHit1G", IBS_OP_DATA3, 19, 1, tlb_hits, NULL, NULL },
	{ "L2Miss", IBS_OP_DATA3, 20, 1, data2_known, NULL, NULL },
	{ "SwPf", IBS_OP_DATA3, 21, 1, NULL, NULL, NULL },
	{ "OpMemWidth", IBS_OP_DATA3, 22, 4, has_width, width_bytes, NULL },
	{ "OpDcMissOpenMemReqs", IBS_OP_DATA3, 26, 6, data2_known, NULL, NULL },
	{ "DcMissLat", IBS_OP_DATA3, 32, 16, NULL, NULL, NULL },
	{ "TlbRefillLat", IBS_OP_DATA3, 48, 16, ibs_tells_refill, NULL, NULL },
	{ NULL },
};

/*
 * Source: AMD's revision guides; for family 19h's `no_state` Linux, arch/x86/events/amd/ibs.c,
 * perf_ibs_cache_hit_st_valid(). Before Zen: AMD Research IBS Toolkit, include/ibs-msr-index.h,
 * "KV+, BT+" and "Not valid in BT, JG", and its decoder, "Only CZ, ST, and ZN have" the L2 miss of
 * fetches; it does not mention family 14h, which is older than the families that it calls new, so
 * that is assumed to have neither. `by_physical`: Linux, tools/perf/util/amd-sample-raw.c,
 * fetch_ctl_depends_on_phy_addr_valid().
 */
static const struct {
	unsigned family, first, last; /* models */
	struct ibs_rules rules;
} models[] = {
	{ 0x10, 0x00, 0xff, { .no_l2 = true, .no_fetch_l2 = true } },
	{ 0x12, 0x00, 0xff, { .no_l2 = true, .no_fetch_l2 = true } },
	{ 0x14,
	  0x00,
	  0xff,
	  { .no_l2 = true, .no_fetch_l2 = true, .no_state = true, .no_node = true } },
	{ 0x15, 0x00, 0x1f, { .no_l2 = true, .no_fetch_l2 = true } },
	{ 0x15, 0x20, 0x5f, { .no_fetch_l2 = true } },
	{ 0x16, 0x00, 0xff, { .no_fetch_l2 = true, .no_state = true, .no_node = true } },
	{ 0x19,
	  0x00,
	  0x0f,
	  { .no_state = true, .no_miss = true, .no_data2 = true, .pages_16k = true } },
	{ 0x19, 0x20, 0x5f, { .no_state = true } },
	{ 0x1a, 0x50, 0x5f, { .by_physical = true } },
	{ 0x1a, 0x80, 0xaf, { .by_physical = true } },
	{ 0x1a, 0xc0, 0xcf, { .by_physical = true } },
};

struct ibs_rules ibs_rules_of(const char *cpuid, bool zen4)
{
	struct ibs_rules rules = { .unknown = true };
	unsigned family, model;

	if (cpuid && sscanf(cpuid, "AuthenticAMD,%u,%u,", &family, &model) == 2) {
		rules.unknown = false;
		for (size_t i = 0; i < ARRAY_SIZE(models); i++)
			if (family == models[i].family && model >= models[i].first &&
			    model <= models[i].last)
				rules = models[i].rules;
		rules.by_physical |= family > 0x1a;
	}
	rules.zen4 = zen4;
	return rules;
}

int ibs_read(enum ibs_kind kind, const struct ibs_rules *rules, const void *raw, size_t size,
	     struct ibs *out, struct tare_error *err)
{
	unsigned n = kind == IBS_FETCH ? IBS_FETCH_PHYSICAL + 1 : IBS_DC_PHYSICAL + 1;
	const uint8_t *p = raw;

	*out = (struct ibs){ .kind = kind, .rules = *rules };
	if (size < sizeof(out->caps))
		return tare_fail(err, EINVAL,
				 "raw data of %zu bytes is too short for IBS registers", size);
	memcpy(&out->caps, p, sizeof(out->caps));
	out->has = (1u << n) - 1;
	if (kind == IBS_FETCH && out->caps & IBS_CAP_FETCH_EXTENDED)
		out->has |= 1u << IBS_FETCH_EXTENDED;
	if (kind == IBS_OP && out->caps & IBS_CAP_BRANCH_TARGET)
		out->has |= 1u << IBS_BRANCH_TARGET;
	if (kind == IBS_OP && out->caps & IBS_CAP_DATA4)
		out->has |= 1u << IBS_OP_DATA4;
	p += sizeof(out->caps);
	size -= sizeof(out->caps);
	for (unsigned i = 0; i < IBS_REGISTERS; i++) {
		if (!(out->has >> i & 1))
			continue;
		if (size < sizeof(out->reg[i]))
			return tare_fail(
				err, EINVAL,
				"raw data ends before register %s, which capabilities 0x%x announce",
				(kind == IBS_FETCH ? ibs_fetch_registers : ibs_op_registers)[i],
				out->caps);
		memcpy(&out->reg[i], p, sizeof(out->reg[i]));
		p += sizeof(out->reg[i]);
		size -= sizeof(out->reg[i]);
	}
	return 0;
}

bool ibs_valid(const struct ibs *s)
{
	unsigned enable = s->kind == IBS_FETCH ? 48 : 17;

	return (s->reg[0] >> enable & 3) == 3;
}

uint64_t ibs_field_value(const struct ibs *s, const struct ibs_field *f)
{
	uint64_t bits = s->reg[f->reg] >> f->shift & (((uint64_t)1 << f->width) - 1);

	return f->value ? f->value(s, bits) : bits;
}

bool ibs_register_shown(const struct ibs *s, unsigned reg)
{
	if (!(s->has >> reg & 1))
		return false;
	if (s->kind == IBS_FETCH)
		return reg != IBS_FETCH_PHYSICAL || physical_fetch(s);
	switch (reg) {
	case IBS_OP_RIP:
		return !BIT(s, IBS_OP_DATA, 38);
	case IBS_OP_DATA2:
		return data2_known(s);
	case IBS_DC_LINEAR:
		return BIT(s, IBS_OP_DATA3, 17);
	case IBS_DC_PHYSICAL:
		return BIT(s, IBS_OP_DATA3, 18);
	case IBS_BRANCH_TARGET:
		return branch(s);
	default:
		return true;
	}
}

const struct ibs_field *ibs_field_named(enum ibs_kind kind, const char *name)
{
	const struct ibs_field *f = kind == IBS_FETCH ? ibs_fetch_fields : ibs_op_fields;

	for (; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}
