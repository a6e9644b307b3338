/* SPDX-License-Identifier: MIT */
/**
 * One sampled operation of the processor - mostly an access to memory - in one form for Intel PEBS, AMD IBS and
 * Arm SPE, and a reader of such records from any perf.data.
 *
 * What a vendor's hardware does not give is absent: its bit in `has` is 0 and the member means nothing. Nothing
 * is ever 0 because it was not measured.
 */
#ifndef TARE_ACCESS_H
#define TARE_ACCESS_H

#include <stdbool.h>
#include <stdint.h>
#include "tare/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Which hardware wrote it. */
enum tare_access_origin {
	TARE_FROM_PEBS, /**< Intel, or any PMU that fills the kernel's data source (PERF_SAMPLE_DATA_SRC) */
	TARE_FROM_IBS_OP,
	TARE_FROM_IBS_FETCH,
	TARE_FROM_SPE,
	TARE_FROM_EXACT /**< the exact engine: address and kind, and nothing of caches or time */
};

enum tare_access_kind {
	TARE_ACCESS_OTHER, /**< an operation that does not access memory, or none that the hardware tells */
	TARE_ACCESS_LOAD,
	TARE_ACCESS_STORE,
	TARE_ACCESS_UPDATE, /**< loads and stores; atomically where `locked` */
	TARE_ACCESS_PREFETCH,
	TARE_ACCESS_BRANCH,
	TARE_ACCESS_FETCH /**< of instructions */
};

/** What served the data. How far away that is: enum tare_access_distance. */
enum tare_access_place {
	TARE_AT_L1,
	TARE_AT_FILL_BUFFER, /**< on its way already, for an earlier access to the same line */
	TARE_AT_L2,
	TARE_AT_L3, /**< or the system level cache */
	TARE_AT_L4,
	TARE_AT_CACHE, /**< which one is not told: a shared one, or one of other cores */
	TARE_AT_MEMORY,
	TARE_AT_PERSISTENT_MEMORY,
	TARE_AT_EXTENSION_MEMORY, /**< CXL and its kin */
	TARE_AT_IO,		  /**< devices and their registers */
	TARE_AT_UNCACHED,
	TARE_AT_L1_MISS, /**< all that is known is that it was not L1 */
	TARE_AT_L3_MISS, /**< all that is known is that it was no cache of this socket up to L3 */
	TARE_ACCESS_PLACES
};

enum tare_access_distance {
	TARE_OWN,     /**< this core's */
	TARE_NEAR,    /**< shared with neighbours: same cluster or core complex */
	TARE_SOCKET,  /**< elsewhere on this socket or node */
	TARE_REMOTE  /**< another socket or node */
};

/** What other caches had of the line. */
enum tare_access_snoop {
	TARE_SNOOP_NONE,     /**< they were not asked */
	TARE_SNOOP_MISS,     /**< they did not have it */
	TARE_SNOOP_HIT,      /**< one had it, unchanged */
	TARE_SNOOP_MODIFIED, /**< one had it changed: HITM */
	TARE_SNOOP_FORWARD,  /**< one passed it on, unchanged */
	TARE_SNOOP_PEER     /**< another core's cache gave it; changed or not is not told */
};

enum tare_access_tlb { TARE_TLB_L1, TARE_TLB_L2, TARE_TLB_WALK, TARE_TLB_HIT /**< level not told */ };

/**
 * Latencies in cycles, each with its own meaning: those of different vendors are no two measurements of one thing.
 */
enum tare_access_latency {
	TARE_LATENCY_TOTAL,	      /**< SPE: from dispatch to completion */
	TARE_LATENCY_ISSUE,	      /**< SPE: from dispatch to issue */
	TARE_LATENCY_TRANSLATION,     /**< SPE: of the address; IBS: TLB refill */
	TARE_LATENCY_USE,	      /**< PEBS: from the load's issue to the data's arrival */
	TARE_LATENCY_INSTRUCTION,     /**< PEBS: of the instruction, from dispatch */
	TARE_LATENCY_RETIRE,	      /**< PEBS: to retirement; POWER: stages */
	TARE_LATENCY_MISS,	      /**< IBS: from L1 data cache miss to data */
	TARE_LATENCY_TAG_TO_RETIRE,   /**< IBS: from dispatch to retirement */
	TARE_LATENCY_COMPLETE_TO_RETIRE, /**< IBS */
	TARE_LATENCY_FETCH,	      /**< IBS fetch: of instruction bytes */
	TARE_LATENCY_STORE,	      /**< PEBS: of a store, as the processor's store latency facility says */
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
	uint32_t event;	   /**< index of the event in the recording; SPE: UINT32_MAX */
	bool exact_ip;	   /**< `ip` is the instruction's own address; else it may be a later one */
	bool kernel;	   /**< `ip` is in the kernel */
	uint64_t time_ns;  /**< of the recording's clock */
	int32_t cpu;
	uint32_t pid, tid;
	uint64_t ip;
	uint64_t target;   /**< of a branch */
	uint64_t address;  /**< of the data, virtual */
	uint64_t physical; /**< of the data */
	uint32_t size;	   /**< bytes accessed */
	uint64_t page_size; /**< bytes, of the data's page */
	uint64_t period;   /**< events or operations this sample stands for */
	enum tare_access_place place;
	enum tare_access_distance distance;
	enum tare_access_snoop snoop;
	enum tare_access_tlb tlb;
	bool locked, taken, mispredicted, retired;
	uint32_t has_latency; /**< bit i: latency[i] was measured */
	uint32_t latency[TARE_LATENCIES];
};

/** Names as the commands print them: "load", "L3", "another core's cache, modified". Never NULL. */
TARE_API const char *tare_access_kind_name(enum tare_access_kind kind);
TARE_API const char *tare_access_place_name(enum tare_access_place place);
TARE_API const char *tare_access_distance_name(enum tare_access_distance distance);
TARE_API const char *tare_access_snoop_name(enum tare_access_snoop snoop);
TARE_API const char *tare_access_tlb_name(enum tare_access_tlb tlb);
TARE_API const char *tare_access_latency_name(enum tare_access_latency latency);
TARE_API const char *tare_access_origin_name(enum tare_access_origin origin);

/** What of a recording did not become a record. */
struct tare_access_loss {
	uint64_t lost;	    /**< samples that the kernel dropped, as the recording says */
	uint64_t truncated; /**< pieces of AUX data with a gap or an end too early */
	uint64_t collided;  /**< pieces in which the hardware itself dropped samples because two collided */
	uint64_t damaged;   /**< bytes of AUX data that are part of no whole record */
	uint64_t unreadable; /**< samples of IBS that hold no registers */
	uint64_t other;	    /**< samples that say nothing of an access: no address, no data source */
	bool unknown_cpu;   /**< data sources of SPE were left out: their meaning on this core is not known */
	uint64_t missing;   /**< bytes of AUX data that the kernel told of and that the file does not hold; complete at the end */
	uint64_t unknown_sources; /**< data sources of SPE that this core's table does not have: told by the events alone */
	bool broke_off;	    /**< the recorder did not come to its end: what came last may be missing */
	uint64_t without_pc; /**< records of SPE without the instruction's address, as the end of one whose begin was cut off */
};

/** A reader; one thread at a time. */
struct tare_accesses;

/**
 * Open a perf.data (a file, a directory, or "-"). NULL and `err` when it is none. Free with tare_accesses_close().
 */
TARE_API struct tare_accesses *tare_accesses_open(const char *path, struct tare_error *err);
/**
 * The next record, in the order of the file: 1 and *out, 0 at the end, a negative errno on damage, after which every call
 * fails the same way. Costs some 100 ns.
 */
TARE_API int tare_accesses_next(struct tare_accesses *a, struct tare_access *out, struct tare_error *err);
/** So far. Valid until the next call. */
TARE_API const struct tare_access_loss *tare_accesses_loss(const struct tare_accesses *a);
TARE_API void tare_accesses_close(struct tare_accesses *a);

#ifdef __cplusplus
}
#endif
#endif
