/* SPDX-License-Identifier: MIT */
/**
 * A sampled operation of the processor, mostly a memory access, in a common form for Intel PEBS,
 * AMD IBS and Arm SPE, and a reader of such records from any perf.data.
 *
 * Data that a vendor's hardware does not report is absent: its bit in `has` is 0 and the member is
 * undefined. A value that was not measured is never reported as 0.
 */
#ifndef TARE_ACCESS_H
#define TARE_ACCESS_H

#include <stdbool.h>
#include <stdint.h>
#include "tare/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The hardware that wrote the record. */
enum tare_access_origin {
	/** Intel, or any PMU that fills the kernel's data source (PERF_SAMPLE_DATA_SRC) */
	TARE_FROM_PEBS,
	TARE_FROM_IBS_OP,
	TARE_FROM_IBS_FETCH,
	TARE_FROM_SPE,
	TARE_FROM_EXACT /**< the exact engine: address and kind only, no caches and no latencies */
};

enum tare_access_kind {
	TARE_ACCESS_OTHER, /**< an operation without a memory access, or without a known one */
	TARE_ACCESS_LOAD,
	TARE_ACCESS_STORE,
	TARE_ACCESS_UPDATE, /**< a load and a store; atomic if `locked` */
	TARE_ACCESS_PREFETCH,
	TARE_ACCESS_BRANCH,
	TARE_ACCESS_FETCH /**< instruction fetch */
};

/** The data source. enum tare_access_distance is its distance. */
enum tare_access_place {
	TARE_AT_L1,
	/** line fill buffer: already requested by an earlier access to the same line */
	TARE_AT_FILL_BUFFER,
	TARE_AT_L2,
	TARE_AT_L3, /**< or the system level cache */
	TARE_AT_L4,
	TARE_AT_CACHE, /**< a shared cache, or one of another core; not known which */
	TARE_AT_MEMORY,
	TARE_AT_PERSISTENT_MEMORY,
	TARE_AT_EXTENSION_MEMORY, /**< CXL and similar */
	TARE_AT_IO,               /**< devices and their registers */
	TARE_AT_UNCACHED,
	TARE_AT_L1_MISS, /**< only known: an L1 miss */
	TARE_AT_L3_MISS, /**< only known: a miss in all caches of this socket up to L3 */
	TARE_ACCESS_PLACES
};

enum tare_access_distance {
	TARE_OWN,    /**< this core's */
	TARE_NEAR,   /**< shared with neighbours: same cluster or core complex */
	TARE_SOCKET, /**< elsewhere on this socket or node */
	TARE_REMOTE  /**< another socket or node */
};

/** The snoop result: the state of the line in other caches. */
enum tare_access_snoop {
	TARE_SNOOP_NONE,     /**< no snoop */
	TARE_SNOOP_MISS,     /**< no cache had it */
	TARE_SNOOP_HIT,      /**< a cache had it, unmodified */
	TARE_SNOOP_MODIFIED, /**< a cache had it modified: HITM */
	TARE_SNOOP_FORWARD,  /**< a cache forwarded it, unmodified */
	TARE_SNOOP_PEER      /**< another core's cache supplied it; modified or not is not known */
};

/** level not known */
enum tare_access_tlb { TARE_TLB_L1, TARE_TLB_L2, TARE_TLB_WALK, TARE_TLB_HIT };

/**
 * Latencies in cycles. Each has its own meaning, so latencies of different vendors are not
 * comparable.
 */
enum tare_access_latency {
	TARE_LATENCY_TOTAL,              /**< SPE: from dispatch to completion */
	TARE_LATENCY_ISSUE,              /**< SPE: from dispatch to issue */
	TARE_LATENCY_TRANSLATION,        /**< SPE: address translation; IBS: TLB refill */
	TARE_LATENCY_USE,                /**< PEBS: from the load's issue to the data's arrival */
	TARE_LATENCY_INSTRUCTION,        /**< PEBS: of the instruction, from dispatch */
	TARE_LATENCY_RETIRE,             /**< PEBS: to retirement; POWER: pipeline stages */
	TARE_LATENCY_MISS,               /**< IBS: from L1 data cache miss to data */
	TARE_LATENCY_TAG_TO_RETIRE,      /**< IBS: from dispatch to retirement */
	TARE_LATENCY_COMPLETE_TO_RETIRE, /**< IBS */
	TARE_LATENCY_FETCH,              /**< IBS fetch: of instruction bytes */
	TARE_LATENCY_STORE, /**< PEBS: store latency, by the processor's store latency facility */
	TARE_LATENCIES
};

/** tare_access.has */
enum {
	TARE_ACCESS_TIME = 1 << 0,
	TARE_ACCESS_CPU = 1 << 1,
	TARE_ACCESS_TASK = 1 << 2,
	TARE_ACCESS_TARGET = 1 << 3,
	TARE_ACCESS_ADDRESS = 1 << 4,
	TARE_ACCESS_PHYSICAL = 1 << 5,
	TARE_ACCESS_SIZE = 1 << 6,
	TARE_ACCESS_PLACE = 1 << 7,
	TARE_ACCESS_DISTANCE = 1 << 8,
	TARE_ACCESS_SNOOP = 1 << 9,
	TARE_ACCESS_TLB = 1 << 10,
	TARE_ACCESS_LOCKED = 1 << 11,
	TARE_ACCESS_TAKEN = 1 << 12,
	TARE_ACCESS_MISPREDICTED = 1 << 13,
	TARE_ACCESS_PAGE_SIZE = 1 << 14,
	TARE_ACCESS_PERIOD = 1 << 15,
	TARE_ACCESS_RETIRED = 1 << 16
};

struct tare_access {
	enum tare_access_origin origin;
	enum tare_access_kind kind;
	uint32_t has;
	uint32_t event; /**< index of the event in the recording; SPE: UINT32_MAX */
	/** `ip` is the address of the sampled instruction; otherwise it may be a later one */
	bool exact_ip;
	bool kernel;      /**< `ip` is in the kernel */
	uint64_t time_ns; /**< of the recording's clock */
	int32_t cpu;
	uint32_t pid, tid;
	uint64_t ip;
	uint64_t target;    /**< of a branch */
	uint64_t address;   /**< of the data, virtual */
	uint64_t physical;  /**< of the data */
	uint32_t size;      /**< bytes accessed */
	uint64_t page_size; /**< bytes, of the data's page */
	uint64_t period;    /**< events or operations that this sample represents */
	enum tare_access_place place;
	enum tare_access_distance distance;
	enum tare_access_snoop snoop;
	enum tare_access_tlb tlb;
	bool locked, taken, mispredicted, retired;
	uint32_t has_latency; /**< bit i: latency[i] was measured */
	uint32_t latency[TARE_LATENCIES];
};

/** Names as printed by the commands: "load", "L3", "another core's cache, modified". Never NULL. */
TARE_API const char *tare_access_kind_name(enum tare_access_kind kind);
TARE_API const char *tare_access_place_name(enum tare_access_place place);
TARE_API const char *tare_access_distance_name(enum tare_access_distance distance);
TARE_API const char *tare_access_snoop_name(enum tare_access_snoop snoop);
TARE_API const char *tare_access_tlb_name(enum tare_access_tlb tlb);
TARE_API const char *tare_access_latency_name(enum tare_access_latency latency);
TARE_API const char *tare_access_origin_name(enum tare_access_origin origin);

/** The parts of a recording that did not become a record. */
struct tare_access_loss {
	uint64_t lost;      /**< samples that the kernel dropped, according to the recording */
	uint64_t truncated; /**< chunks of AUX data with a gap or a premature end */
	/** chunks in which the hardware dropped samples because of a collision */
	uint64_t collided;
	uint64_t damaged;    /**< bytes of AUX data that are not part of a complete record */
	uint64_t unreadable; /**< IBS samples without registers */
	uint64_t other;      /**< samples without access data: no address, no data source */
	/** SPE data sources were ignored, because their encoding on this core is not known */
	bool unknown_cpu;
	/** bytes of AUX data reported by the kernel but missing in the file; complete at the end */
	uint64_t missing;
	/** SPE data sources missing in this core's table: decoded from the events only */
	uint64_t unknown_sources;
	bool broke_off; /**< the recorder did not finish: the last records may be missing */
	/**
	 * SPE records without the instruction's address, for example the rest of a truncated one
	 */
	uint64_t without_pc;
};

/** A reader. Use it from one thread at a time. */
struct tare_accesses;

/**
 * Open a perf.data (a file, a directory, or "-"). Returns NULL and sets `err` if it is not one.
 * Free with tare_accesses_close().
 */
TARE_API struct tare_accesses *tare_accesses_open(const char *path, struct tare_error *err);
/**
 * Read the next record in file order. Returns 1 and sets *out; 0 at the end; a negative errno on
 * damage, after which every call fails the same way. Costs about 100 ns.
 */
TARE_API int tare_accesses_next(struct tare_accesses *a, struct tare_access *out,
				struct tare_error *err);
/** The losses so far. Valid until the next call. */
TARE_API const struct tare_access_loss *tare_accesses_loss(const struct tare_accesses *a);
TARE_API void tare_accesses_close(struct tare_accesses *a);

#ifdef __cplusplus
}
#endif
#endif
