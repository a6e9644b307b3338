/* SPDX-License-Identifier: MIT */
/*
 * AMD IBS as an access. Source: AMD64 Architecture Programmer's Manual volume 2, "Instruction-Based
 * Sampling". Where it does not say (which fields are valid for a store, a miss buffer that was
 * allocated already): Linux, arch/x86/events/amd/ibs.c, perf_ibs_get_data_src().
 */
#include "memory/decode/access.h"

#define BIT(s, r, b) ((s)->reg[r] >> (b)&1)

enum { NOT_TOLD = -1, BY_NODE = -2 /* RmtNode says whether it is this node's or another's */ };

/*
 * Data sources, without and with Zen 4's extension. RmtNode refers to the memory. "Far" core
 * complexes are on another node; without the extension a local cache shows only the node. Source:
 * Linux, the same file, g_data_src and g_zen4_data_src.
 */
static const struct source_row {
	uint8_t code;
	enum tare_access_place place;
	int distance;
} plain[] = {
	{ 2, TARE_AT_CACHE, TARE_SOCKET }, /* L3, or another core's */
	{ 3, TARE_AT_MEMORY, BY_NODE },
	{ 4, TARE_AT_CACHE, TARE_REMOTE },
	{ 7, TARE_AT_IO, NOT_TOLD },
}, extended[] = {
	{ 1, TARE_AT_L3, TARE_NEAR }, /* or another core's L1 or L2 of the complex */
	{ 2, TARE_AT_CACHE, TARE_SOCKET },
	{ 3, TARE_AT_MEMORY, BY_NODE },
	{ 5, TARE_AT_CACHE, TARE_REMOTE },
	{ 6, TARE_AT_PERSISTENT_MEMORY, BY_NODE },
	{ 7, TARE_AT_IO, NOT_TOLD },
	{ 8, TARE_AT_EXTENSION_MEMORY, BY_NODE },
	{ 12, TARE_AT_MEMORY, NOT_TOLD }, /* of another kind of processor */
};

enum field { DATA_SOURCE, MEM_WIDTH, L2_MISS, L1_TLB_PAGE, IC_MISS, FIELDS };

static uint64_t field(const struct ibs *s, enum field which, bool *valid)
{
	static const struct {
		enum ibs_kind kind;
		const char *name;
	} names[FIELDS] = { { IBS_OP, "DataSrc" },
			    { IBS_OP, "OpMemWidth" },
			    { IBS_OP, "L2Miss" },
			    { IBS_FETCH, "L1TlbPgSz" },
			    { IBS_FETCH, "IcMiss" } };
	static _Thread_local const struct ibs_field *known[FIELDS]; /* names are looked up once */
	const struct ibs_field *f = known[which];

	if (!f)
		f = known[which] = ibs_field_named(names[which].kind, names[which].name);
	*valid = f && (!f->valid || f->valid(s));
	return *valid ? ibs_field_value(s, f) : 0;
}

/* Where a load was served that is not known to have hit L1 or L2. */
static void far_source(const struct ibs *s, struct tare_access *a)
{
	const struct source_row *rows = s->rules.zen4 ? extended : plain, *row = NULL;
	size_t n = s->rules.zen4 ? ARRAY_SIZE(extended) : ARRAY_SIZE(plain);
	bool valid;
	uint64_t source = field(s, DATA_SOURCE, &valid);

	for (size_t i = 0; valid && i < n && !row; i++)
		row = rows[i].code == source ? &rows[i] : NULL;
	if (!row)
		return;
	access_served(a, row->place);
	if (row->distance == BY_NODE && !s->rules.no_node)
		access_distance(a, BIT(s, IBS_OP_DATA2, 4) ? TARE_REMOTE : TARE_SOCKET);
	else if (row->distance >= 0)
		access_distance(a, (enum tare_access_distance)row->distance);
	if (ibs_tells_state(s) &&
	    !BIT(s, IBS_OP_DATA2, 5)) /* else owned, which is also modified, but shared by now */
		access_snoop(a, TARE_SNOOP_MODIFIED);
}

static void level(const struct ibs *s, bool load, struct tare_access *a)
{
	bool l2_known, l2_miss;

	if (!BIT(s, IBS_OP_DATA3, 7)) {
		access_served(a, TARE_AT_L1);
		access_distance(a, TARE_OWN);
		return;
	}
	l2_miss = field(s, L2_MISS, &l2_known);
	if (l2_known && !l2_miss && ibs_tells_l2(s)) {
		access_served(a, TARE_AT_L2);
		access_distance(a, TARE_OWN);
		return;
	}
	if (load)
		far_source(s, a); /* DATA2 is valid for loads only */
	if (a->has & TARE_ACCESS_PLACE)
		return;
	if (BIT(s, IBS_OP_DATA3, 16)) { /* the line had already been requested */
		access_served(a, TARE_AT_FILL_BUFFER);
		access_distance(a, TARE_OWN);
	} else {
		access_served(a, TARE_AT_L1_MISS);
	}
}

/* Miss bits, the other sources and the latency are then invalid. */
static void uncached(const struct ibs *s, bool load, struct tare_access *a)
{
	bool valid;

	access_served(a,
		      load && field(s, DATA_SOURCE, &valid) == 7 && valid ? TARE_AT_IO
									  : TARE_AT_UNCACHED);
}

/*
 * For an address that was translated. Before Zen 5, a page of 4 KiB and a TLB miss cannot be
 * distinguished. Source: Linux, commit 56c8b3445ca1, "Incorporate Zen5 DTLB and PageSize
 * information".
 */
static void page_size(const struct ibs *s, struct tare_access *a)
{
	static const uint64_t sizes[] = { 1 << 12, 1 << 21, 1 << 30, 0 };
	bool huge = BIT(s, IBS_OP_DATA3, 5) || BIT(s, IBS_OP_DATA3, 19),
	     large = BIT(s, IBS_OP_DATA3, 4) || BIT(s, IBS_OP_DATA3, 6);

	if (s->caps & IBS_CAP_PAGE_SIZE)
		a->page_size = sizes[s->reg[IBS_OP_DATA3] >> 4 & 3];
	else
		a->page_size = huge ? 1 << 30 : large ? 1 << 21 : 0;
	if (a->page_size)
		a->has |= TARE_ACCESS_PAGE_SIZE;
}

/* The TLB result for the address. */
static void translation(const struct ibs *s, struct tare_access *a)
{
	bool l1_miss = BIT(s, IBS_OP_DATA3, 2), l2_miss = BIT(s, IBS_OP_DATA3, 3);

	access_tlb(a, !l1_miss ? TARE_TLB_L1 : !l2_miss ? TARE_TLB_L2 : TARE_TLB_WALK);
	if (ibs_tells_l2(s) && ibs_tells_refill(s) && l1_miss && l2_miss)
		access_latency(a, TARE_LATENCY_TRANSLATION, (uint32_t)(s->reg[IBS_OP_DATA3] >> 48));
	page_size(s, a);
}

static void data(const struct ibs *s, struct tare_access *a)
{
	bool load = BIT(s, IBS_OP_DATA3, 0), store = BIT(s, IBS_OP_DATA3, 1),
	     newer = ibs_tells_l2(s), width;
	uint64_t bytes = field(s, MEM_WIDTH, &width);

	a->kind = newer && BIT(s, IBS_OP_DATA3, 21) ? TARE_ACCESS_PREFETCH
		: load && store                     ? TARE_ACCESS_UPDATE
		: load                              ? TARE_ACCESS_LOAD
						    : TARE_ACCESS_STORE;
	if (newer && width && bytes <= 64) {
		a->has |= TARE_ACCESS_SIZE;
		a->size = (uint32_t)bytes;
	}
	a->has |= TARE_ACCESS_LOCKED;
	a->locked = BIT(s, IBS_OP_DATA3, 15);
	if (ibs_register_shown(s, IBS_DC_PHYSICAL)) {
		a->has |= TARE_ACCESS_PHYSICAL;
		a->physical = s->reg[IBS_DC_PHYSICAL];
	}
	if (ibs_register_shown(s, IBS_DC_LINEAR)) {
		a->has |= TARE_ACCESS_ADDRESS;
		a->address = s->reg[IBS_DC_LINEAR];
		if (ibs_tells_tlb(s))
			translation(s, a);
	}
	if (BIT(s, IBS_OP_DATA3, 14)) {
		uncached(s, load, a);
		return;
	}
	level(s, load, a);
	if (load && BIT(s, IBS_OP_DATA3, 7) && a->kind != TARE_ACCESS_PREFETCH)
		access_latency(a, TARE_LATENCY_MISS, s->reg[IBS_OP_DATA3] >> 32 & 0xffff);
}

static void op(const struct ibs *s, struct tare_access *a)
{
	uint64_t d = s->reg[IBS_OP_DATA];

	a->origin = TARE_FROM_IBS_OP;
	a->exact_ip = ibs_register_shown(s, IBS_OP_RIP);
	if (a->exact_ip)
		a->ip = s->reg[IBS_OP_RIP];
	a->has |= TARE_ACCESS_RETIRED;
	a->retired = true;
	access_latency(a, TARE_LATENCY_COMPLETE_TO_RETIRE, d & 0xffff);
	access_latency(a, TARE_LATENCY_TAG_TO_RETIRE, d >> 16 & 0xffff);
	if (s->reg[IBS_OP_DATA3] & 3 || (ibs_tells_l2(s) && BIT(s, IBS_OP_DATA3, 21)))
		data(s, a);
	if (!BIT(s, IBS_OP_DATA, 37))
		return;
	if (a->kind == TARE_ACCESS_OTHER)
		a->kind = TARE_ACCESS_BRANCH;
	a->has |= TARE_ACCESS_TAKEN | TARE_ACCESS_MISPREDICTED;
	a->taken = BIT(s, IBS_OP_DATA, 35);
	a->mispredicted = BIT(s, IBS_OP_DATA, 36);
	if (ibs_register_shown(s, IBS_BRANCH_TARGET)) {
		a->has |= TARE_ACCESS_TARGET;
		a->target = s->reg[IBS_BRANCH_TARGET];
	}
}

static void fetch(const struct ibs *s, struct tare_access *a)
{
	uint64_t ctl = s->reg[IBS_FETCH_CTL];
	bool complete = ctl >> 50 & 1, miss_known, miss, page_known;
	static const uint64_t plain_pages[] = { 1 << 12, 1 << 21, 1 << 30, 0 },
			      erratum_1347[] = { 1 << 12, 1 << 14, 1 << 21, 1 << 30 };
	uint64_t page = field(s, L1_TLB_PAGE, &page_known);

	a->origin = TARE_FROM_IBS_FETCH;
	a->kind = TARE_ACCESS_FETCH;
	a->exact_ip = true;
	a->ip = s->reg[IBS_FETCH_LINEAR];
	if (ibs_register_shown(s, IBS_FETCH_PHYSICAL)) {
		a->has |= TARE_ACCESS_PHYSICAL;
		a->physical = s->reg[IBS_FETCH_PHYSICAL];
	}
	if (!ibs_tells_fetch(s))
		return;
	if (page_known)
		a->page_size = s->rules.pages_16k ? erratum_1347[page] : plain_pages[page];
	if (page_known && a->page_size)
		a->has |= TARE_ACCESS_PAGE_SIZE;
	access_tlb(a,
		   !(ctl >> 55 & 1)           ? TARE_TLB_L1
			   : !(ctl >> 56 & 1) ? TARE_TLB_L2
					      : TARE_TLB_WALK);
	if (s->has >> IBS_FETCH_EXTENDED & 1 && a->tlb != TARE_TLB_L1)
		access_latency(a, TARE_LATENCY_TRANSLATION, s->reg[IBS_FETCH_EXTENDED] & 0xffff);
	if (!complete)
		return; /* aborted: no data arrived */
	access_latency(a, TARE_LATENCY_FETCH, ctl >> 32 & 0xffff);
	miss = field(s, IC_MISS, &miss_known);
	if (!miss_known)
		return;
	if (miss && !ibs_tells_fetch_l2(s)) {
		access_served(a, TARE_AT_L1_MISS);
	} else if (!miss || !(ctl >> 58 & 1)) {
		access_served(a, miss ? TARE_AT_L2 : TARE_AT_L1);
		access_distance(a, TARE_OWN);
	} else if (s->rules.zen4) {
		access_served(a, ctl >> 61 & 1 ? TARE_AT_L3_MISS : TARE_AT_L3);
	} else {
		access_served(a, TARE_AT_L1_MISS);
	}
}

bool access_from_ibs(const struct ibs *s, struct tare_access *out)
{
	if (!ibs_valid(s))
		return false;
	if (s->kind == IBS_FETCH)
		fetch(s, out);
	else
		op(s, out);
	return true;
}
