/* SPDX-License-Identifier: MIT */
/*
 * A sample's own fields as an access: what the kernel derives from Intel PEBS, and from other
 * hardware that fills the same fields. Source: Linux, include/uapi/linux/perf_event.h, union
 * perf_mem_data_src.
 */
#include <linux/perf_event.h>
#include <string.h>
#include "perfdata/perfdata_bytes.h"
#include "memory/decode/access.h"
#include "exact/exact_raw.h"

enum {
	MISC_MODE = PERF_RECORD_MISC_CPUMODE_MASK,
	MISC_KERNEL = PERF_RECORD_MISC_KERNEL,
	MISC_EXACT_IP = PERF_RECORD_MISC_EXACT_IP,

	OP_NA = PERF_MEM_OP_NA,
	OP_LOAD = PERF_MEM_OP_LOAD,
	OP_STORE = PERF_MEM_OP_STORE,
	OP_PREFETCH = PERF_MEM_OP_PFETCH,
	OP_EXEC = PERF_MEM_OP_EXEC,

	LVL_HIT = PERF_MEM_LVL_HIT,
	LVL_MISS = PERF_MEM_LVL_MISS,
	LVL_L3 = PERF_MEM_LVL_L3,
	LVL_CACHE = PERF_MEM_LVL_L1 | PERF_MEM_LVL_LFB | PERF_MEM_LVL_L2 | PERF_MEM_LVL_L3,
	LVL_MEMORY = PERF_MEM_LVL_LOC_RAM | PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2,

	NUM_NA = PERF_MEM_LVLNUM_NA,

	/* PERF_MEM_REGION_*, which Linux 6.1 does not have. */
	REGION_OTHER_IO = 4, /* from here on: outside this caching agent */
	REGION_MMIO = 7,

	LOCK_NA = PERF_MEM_LOCK_NA,
	LOCK_LOCKED = PERF_MEM_LOCK_LOCKED,

	TLB_HIT = PERF_MEM_TLB_HIT,
	TLB_MISS = PERF_MEM_TLB_MISS,
	TLB_L1 = PERF_MEM_TLB_L1,
	TLB_L2 = PERF_MEM_TLB_L2,
	TLB_WALKER = PERF_MEM_TLB_WK,
	TLB_OS = PERF_MEM_TLB_OS,
};

struct source { /* the parts of data_src */
	unsigned op, lvl, snoop, lock, tlb, num, remote, snoopx, hops, region;
};

static struct source parts(uint64_t v)
{
	return (struct source){ .op = v & 31,
				.lvl = v >> 5 & 0x3fff,
				.snoop = v >> 19 & 31,
				.lock = v >> 24 & 3,
				.tlb = v >> 26 & 127,
				.num = v >> 33 & 15,
				.remote = v >> 37 & 1,
				.snoopx = v >> 38 & 3,
				.hops = v >> 43 & 7,
				.region = v >> 46 & 31 };
}

struct served_by {
	enum tare_access_place place;
	int distance;
};

enum { NOT_TOLD = -1 };

/* The bits of mem_lvl after hit and miss, from bit 3 on. */
static const struct served_by levels[] = {
	{ TARE_AT_L1, TARE_OWN },        { TARE_AT_FILL_BUFFER, TARE_OWN },
	{ TARE_AT_L2, TARE_OWN },        { TARE_AT_L3, TARE_SOCKET },
	{ TARE_AT_MEMORY, TARE_SOCKET }, { TARE_AT_MEMORY, TARE_REMOTE },
	{ TARE_AT_MEMORY, TARE_REMOTE }, { TARE_AT_CACHE, TARE_REMOTE },
	{ TARE_AT_CACHE, TARE_REMOTE },  { TARE_AT_IO, NOT_TOLD },
	{ TARE_AT_UNCACHED, NOT_TOLD },
};

/* By mem_lvl_num, if there is one. */
static const struct served_by numbers[NUM_NA] = {
	{ 0, NOT_TOLD },
	{ TARE_AT_L1, TARE_OWN },
	{ TARE_AT_L2, TARE_OWN },
	{ TARE_AT_L3, TARE_SOCKET },
	{ TARE_AT_L4, TARE_SOCKET },
	{ TARE_AT_FILL_BUFFER, TARE_OWN },
	{ TARE_AT_L4, TARE_SOCKET },
	{ TARE_AT_L1, TARE_OWN },
	{ TARE_AT_UNCACHED, NOT_TOLD },
	{ TARE_AT_EXTENSION_MEMORY, NOT_TOLD },
	{ TARE_AT_IO, NOT_TOLD },
	{ TARE_AT_CACHE, TARE_SOCKET },
	{ TARE_AT_FILL_BUFFER, TARE_OWN },
	{ TARE_AT_MEMORY, TARE_SOCKET },
	{ TARE_AT_PERSISTENT_MEMORY, TARE_SOCKET },
};

static void served(struct tare_access *a, const struct served_by *by)
{
	access_served(a, by->place);
	if (by->distance >= 0)
		access_distance(a, (enum tare_access_distance)by->distance);
}

/* Where there is no number, older kernels leave 0 and later ones say so. */
static bool numbered(const struct source *s)
{
	return s->num && s->num != NUM_NA;
}

/*
 * ... from the known level: a miss together with the number of memory or the like is a miss in one
 * of the caches before it.
 */
static bool missed(const struct source *s)
{
	bool cache = (s->num >= 1 && s->num <= 7) || s->num == 11 || s->num == 12;

	return s->lvl & LVL_MISS && !(s->lvl & LVL_HIT) && (cache || !numbered(s));
}

/* The level after the last cache that is known to have missed served the access. */
static void served_behind(const struct source *s, struct tare_access *a)
{
	if (s->lvl & LVL_L3 || s->num == 3 || s->num == 4 || s->num == 6)
		access_served(a, TARE_AT_L3_MISS);
	else if (s->lvl & LVL_CACHE || numbered(s))
		access_served(a, TARE_AT_L1_MISS);
}

/*
 * How Linux encodes the IBS sources that access_ibs.c decodes. For another node's data it sets
 * remote and one hop, since IBS says no more; for this node's memory it sets neither. Source:
 * Linux, arch/x86/events/amd/ibs.c, perf_ibs_get_mem_lvl(), g_data_src and g_zen4_data_src.
 */
static void level_of_ibs(const struct source *s, struct tare_access *a)
{
	enum { MEMORY_OF_OTHER = 0x300, CACHE_OF_NODE = 0x400, CACHE_OF_OTHER = 0x800 };
	bool memory = a->place == TARE_AT_MEMORY || a->place == TARE_AT_PERSISTENT_MEMORY ||
		a->place == TARE_AT_EXTENSION_MEMORY;

	/* Set together with L3 where it may be either */
	if (s->lvl & (CACHE_OF_NODE | CACHE_OF_OTHER)) {
		access_served(a, TARE_AT_CACHE);
		access_distance(a, s->lvl & CACHE_OF_OTHER ? TARE_REMOTE : TARE_SOCKET);
	} else if (a->place == TARE_AT_L3) {
		access_distance(a, TARE_NEAR);
	} else if (a->place == TARE_AT_IO) {
		a->has &= ~(uint32_t)TARE_ACCESS_DISTANCE;
	} else if (memory) {
		access_distance(a,
				s->remote || s->lvl & MEMORY_OF_OTHER ? TARE_REMOTE : TARE_SOCKET);
	}
}

/*
 * If another core supplied the data and the level is named like one of this core's, it is as near
 * as that level, as SPE's L2 of another core.
 */
static void not_ones_own(const struct source *s, struct tare_access *a)
{
	enum { PEER = 2 };

	if (s->snoopx & PEER && a->has & TARE_ACCESS_DISTANCE && a->distance == TARE_OWN)
		access_distance(a, TARE_NEAR);
}

static void level(const struct source *s, bool amd, struct tare_access *a)
{
	enum { FIRST = 3 };
	static const enum tare_access_distance hops[] = { 0, TARE_NEAR, TARE_SOCKET, TARE_REMOTE,
							  TARE_REMOTE };

	if (missed(s)) {
		served_behind(s, a);
		return;
	}
	if (numbered(s) &&
	    !(!amd && s->num == 3 &&
	      s->lvl &
		      /* on Sandy Bridge to Broadwell, memory of other sockets has L3's number */
		      LVL_MEMORY))
		served(a, &numbers[s->num]);
	else if (s->lvl >> FIRST)
		served(a, &levels[__builtin_ctz(s->lvl >> FIRST)]);
	else
		return;
	if (s->hops && s->hops < ARRAY_SIZE(hops))
		access_distance(a, hops[s->hops]);
	else if (s->remote)
		access_distance(a, TARE_REMOTE);
	if (s->region == REGION_MMIO)
		access_served(a, TARE_AT_IO);
	if (s->region >= REGION_OTHER_IO) /* the distance is not known */
		a->has &= ~(uint32_t)TARE_ACCESS_DISTANCE;
	if (amd)
		level_of_ibs(s, a);
	not_ones_own(s, a);
}

static void snoop(const struct source *s, struct tare_access *a)
{
	static const struct {
		unsigned bit;
		enum tare_access_snoop snoop;
	} rows[] = {
		{ 16, TARE_SNOOP_MODIFIED },
		{ 4, TARE_SNOOP_HIT },
		{ 8, TARE_SNOOP_MISS },
		{ 2, TARE_SNOOP_NONE },
	};

	/*
	 * The supplier is given separately from the state of its cache; modified is the most
	 * specific.
	 */
	if (s->snoopx && !(s->snoop & rows[0].bit)) {
		access_snoop(a, s->snoopx & 1 ? TARE_SNOOP_FORWARD : TARE_SNOOP_PEER);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (s->snoop & rows[i].bit) {
			access_snoop(a, rows[i].snoop);
			return;
		}
}

static void translation(const struct source *s, struct tare_access *a)
{
	bool walked = s->tlb & (TLB_WALKER | TLB_OS) && !(s->tlb & (TLB_L1 | TLB_L2));

	if (s->tlb & TLB_MISS || (s->tlb & TLB_HIT && walked))
		access_tlb(a, TARE_TLB_WALK);
	else if (s->tlb & TLB_HIT)
		access_tlb(a,
			   (s->tlb & (TLB_L1 | TLB_L2)) == TLB_L1           ? TARE_TLB_L1
				   : (s->tlb & (TLB_L1 | TLB_L2)) == TLB_L2 ? TARE_TLB_L2
									    : TARE_TLB_HIT);
}

/*
 * Kernels before 6.0 report "load" for samples of Intel's store latency facility:
 * MEM_TRANS_RETIRED.STORE_SAMPLE, and on the small cores MEM_UOPS_RETIRED.STORE_LATENCY. Source:
 * Linux, arch/x86/events/intel/ds.c, store_latency_data(), and its change in 6.0.
 */
static bool samples_stores(const struct perfdata_event *event)
{
	enum { RAW = 4, STORE_SAMPLE = 0x2cd, STORE_LATENCY = 0x6d0, CODE = 0xffff };

	return event &&
		((event->attr.type == RAW && (event->attr.config & CODE) == STORE_SAMPLE) ||
		 (event->attr.config & CODE) == STORE_LATENCY);
}

/*
 * The kernel writes 0 if nothing was measured. For a store this is Intel's store latency, from
 * Sapphire Rapids and Alder Lake on, which is not comparable to a load's. The meaning of its second
 * word is then not documented. For operations that are neither load nor store (TSX) it is not an
 * access latency at all. Source: Linux, arch/x86/events/intel/ds.c: PERF_X86_EVENT_PEBS_STLAT,
 * intel_get_tsx_weight().
 */
static void weights(const struct perfdata_record *rec, bool amd, struct tare_access *a)
{
	static const enum tare_access_latency intel[] = { TARE_LATENCY_USE,
							  TARE_LATENCY_INSTRUCTION,
							  TARE_LATENCY_RETIRE },
					      ibs[] = { TARE_LATENCY_MISS,
							TARE_LATENCY_TAG_TO_RETIRE,
							TARE_LATENCY_TAG_TO_RETIRE };
	const enum tare_access_latency *meaning = amd ? ibs : intel;
	bool load = a->kind == TARE_ACCESS_LOAD, store = a->kind == TARE_ACCESS_STORE;
	uint64_t w = rec->has & (PD_SAMPLE_WEIGHT | PD_SAMPLE_WEIGHT_STRUCT) ? rec->sample.weight
									     : 0;

	if (!(rec->has & PD_SAMPLE_WEIGHT_STRUCT) && w > UINT32_MAX)
		return;
	if ((uint32_t)w && (amd || load))
		access_latency(a, meaning[0], (uint32_t)w);
	if ((uint32_t)w && !amd && store)
		access_latency(a, TARE_LATENCY_STORE, (uint32_t)w);
	if (!(rec->has & PD_SAMPLE_WEIGHT_STRUCT))
		return;
	if (w >> 32 & 0xffff && (amd || load))
		access_latency(a, meaning[1], w >> 32 & 0xffff);
	if (w >> 48 && !amd)
		access_latency(a, meaning[2], (uint32_t)(w >> 48));
}

bool access_from_exact(const struct perfdata_record *rec, struct tare_access *out)
{
	const uint8_t *raw = rec->sample.raw;
	uint64_t value;
	uint32_t told;

	if (out->origin != TARE_FROM_EXACT || !(rec->has & PD_SAMPLE_RAW) ||
	    rec->sample.raw_size != EXACT_RAW_SIZE)
		return false;
	told = load32(raw, false);
	value = load64(raw + 4, false);
	if (told & EXACT_RAW_BYTES && value && value <= UINT32_MAX) {
		out->has |= TARE_ACCESS_SIZE;
		out->size = (uint32_t)value;
	}
	if (told & EXACT_RAW_TARGET) {
		out->has |= TARE_ACCESS_TARGET;
		out->target = value;
	}
	if (told & EXACT_RAW_OUTCOME) {
		out->has |= TARE_ACCESS_TAKEN;
		out->taken = told & EXACT_RAW_TAKEN;
	}
	return told != 0;
}

void access_common(const struct perfdata_record *rec, struct tare_access *out)
{
	*out = (struct tare_access){ .event = rec->event ? (uint32_t)rec->event->index : UINT32_MAX,
				     .exact_ip = rec->misc & MISC_EXACT_IP,
				     .kernel = (rec->misc & MISC_MODE) == MISC_KERNEL,
				     .ip = rec->sample.ip };
	if (rec->has & PD_SAMPLE_TIME) {
		out->has |= TARE_ACCESS_TIME;
		out->time_ns = rec->time;
	}
	if (rec->has & PD_SAMPLE_CPU) {
		out->has |= TARE_ACCESS_CPU;
		out->cpu = (int32_t)rec->cpu;
	}
	if (rec->has & PD_SAMPLE_TID) {
		out->has |= TARE_ACCESS_TASK;
		out->pid = rec->pid;
		out->tid = rec->tid;
	}
	if (rec->sample.period) {
		out->has |= TARE_ACCESS_PERIOD;
		out->period = rec->sample.period;
	}
}

bool access_from_sample(const struct perfdata_record *rec, bool amd, struct tare_access *out)
{
	struct source s = parts(rec->has & PD_SAMPLE_DATA_SRC ? rec->sample.data_src : 0);

	out->origin = rec->event && !strncmp(rec->event->name, "exact/", 6) ? TARE_FROM_EXACT
									    : TARE_FROM_PEBS;
	if (rec->has & PD_SAMPLE_ADDR && rec->sample.addr) {
		out->has |= TARE_ACCESS_ADDRESS;
		out->address = rec->sample.addr;
	}
	if (rec->has & PD_SAMPLE_PHYS_ADDR && rec->sample.phys_addr) {
		out->has |= TARE_ACCESS_PHYSICAL;
		out->physical = rec->sample.phys_addr;
	}
	if (rec->has & PD_SAMPLE_DATA_PAGE_SIZE && rec->sample.data_page_size) {
		out->has |= TARE_ACCESS_PAGE_SIZE;
		out->page_size = rec->sample.data_page_size;
	}
	out->kind = (s.op & (OP_LOAD | OP_STORE)) == (OP_LOAD | OP_STORE) ? TARE_ACCESS_UPDATE
		: s.op & OP_LOAD                                          ? TARE_ACCESS_LOAD
		: s.op & OP_STORE                                         ? TARE_ACCESS_STORE
		: s.op & OP_PREFETCH                                      ? TARE_ACCESS_PREFETCH
		: s.op & OP_EXEC                                          ? TARE_ACCESS_FETCH
									  : TARE_ACCESS_OTHER;
	if (!amd && out->kind == TARE_ACCESS_LOAD && samples_stores(rec->event))
		out->kind = TARE_ACCESS_STORE;
	level(&s, amd, out);
	snoop(&s, out);
	translation(&s, out);
	if (s.op > OP_NA && !(s.lock & LOCK_NA)) {
		out->has |= TARE_ACCESS_LOCKED;
		out->locked = s.lock & LOCK_LOCKED;
	}
	weights(rec, amd, out);
	access_from_exact(rec, out);
	return out->kind != TARE_ACCESS_OTHER || out->has & TARE_ACCESS_PLACE;
}
