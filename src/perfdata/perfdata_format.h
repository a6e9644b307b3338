/* SPDX-License-Identifier: MIT */
/*
 * The numbers of the perf.data format. Those in Linux 6.1's linux/perf_event.h are taken from it. A
 * file may come from a newer kernel than the headers, so newer numbers are defined here. Source of
 * the others: perf.data-file-format.txt of the kernel's tools (PD_RECORD from 64, PD_FEAT); struct
 * perf_event_attr for PD_ATTR, because its bits have no names.
 */
#ifndef PERFDATA_PERFDATA_FORMAT_H
#define PERFDATA_PERFDATA_FORMAT_H

#include <linux/perf_event.h>

/* perf_event_header.type */
enum {
	PD_RECORD_MMAP = PERF_RECORD_MMAP,
	PD_RECORD_LOST = PERF_RECORD_LOST,
	PD_RECORD_COMM = PERF_RECORD_COMM,
	PD_RECORD_EXIT = PERF_RECORD_EXIT,
	PD_RECORD_THROTTLE = PERF_RECORD_THROTTLE,
	PD_RECORD_UNTHROTTLE = PERF_RECORD_UNTHROTTLE,
	PD_RECORD_FORK = PERF_RECORD_FORK,
	PD_RECORD_READ = PERF_RECORD_READ,
	PD_RECORD_SAMPLE = PERF_RECORD_SAMPLE,
	PD_RECORD_MMAP2 = PERF_RECORD_MMAP2,
	PD_RECORD_AUX = PERF_RECORD_AUX,
	PD_RECORD_ITRACE_START = PERF_RECORD_ITRACE_START,
	PD_RECORD_LOST_SAMPLES = PERF_RECORD_LOST_SAMPLES,
	PD_RECORD_SWITCH = PERF_RECORD_SWITCH,
	PD_RECORD_SWITCH_CPU_WIDE = PERF_RECORD_SWITCH_CPU_WIDE,
	PD_RECORD_NAMESPACES = PERF_RECORD_NAMESPACES,
	PD_RECORD_KSYMBOL = PERF_RECORD_KSYMBOL,
	PD_RECORD_BPF_EVENT = PERF_RECORD_BPF_EVENT,
	PD_RECORD_CGROUP = PERF_RECORD_CGROUP,
	PD_RECORD_TEXT_POKE = PERF_RECORD_TEXT_POKE,
	PD_RECORD_AUX_OUTPUT_HW_ID = PERF_RECORD_AUX_OUTPUT_HW_ID,
	PD_RECORD_CALLCHAIN_DEFERRED, /* newer */

	PD_RECORD_USER = 64, /* from here on written by the perf tool, not by the kernel */
	PD_RECORD_ATTR = 64,
	PD_RECORD_EVENT_TYPE,
	PD_RECORD_TRACING_DATA,
	PD_RECORD_BUILD_ID,
	PD_RECORD_FINISHED_ROUND,
	PD_RECORD_ID_INDEX,
	PD_RECORD_AUXTRACE_INFO,
	PD_RECORD_AUXTRACE,
	PD_RECORD_AUXTRACE_ERROR,
	PD_RECORD_THREAD_MAP,
	PD_RECORD_CPU_MAP,
	PD_RECORD_STAT_CONFIG,
	PD_RECORD_STAT,
	PD_RECORD_STAT_ROUND,
	PD_RECORD_EVENT_UPDATE,
	PD_RECORD_TIME_CONV,
	PD_RECORD_FEATURE,
	PD_RECORD_COMPRESSED,
	PD_RECORD_FINISHED_INIT,
	PD_RECORD_COMPRESSED2,
	PD_RECORD_BPF_METADATA,
	PD_RECORD_KNOWN, /* one past the last */
};

/* perf_event_header.misc */
enum {
	PD_MISC_CPUMODE =
		/* 1 kernel, 2 user, 3 hypervisor, 4 guest kernel, 5 guest user */
	PERF_RECORD_MISC_CPUMODE_MASK,
	PD_MISC_PROC_MAP_TIMEOUT = PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT,
	PD_MISC_13 = 1 << 13, /* MMAP: data; COMM: exec; FORK: exec; SWITCH: out */
	PD_MISC_14 = 1
		<< 14, /* SAMPLE: exact ip; SWITCH: out, preempted; MMAP2: holds a build id */
	PD_MISC_BUILD_ID_SIZE = 1 << 15, /* BUILD_ID: byte 20 of the id is its size */
};

/* perf_event_attr.sample_type */
#define PD_SAMPLE_IP             PERF_SAMPLE_IP
#define PD_SAMPLE_TID            PERF_SAMPLE_TID
#define PD_SAMPLE_TIME           PERF_SAMPLE_TIME
#define PD_SAMPLE_ADDR           PERF_SAMPLE_ADDR
#define PD_SAMPLE_READ           PERF_SAMPLE_READ
#define PD_SAMPLE_CALLCHAIN      PERF_SAMPLE_CALLCHAIN
#define PD_SAMPLE_ID             PERF_SAMPLE_ID
#define PD_SAMPLE_CPU            PERF_SAMPLE_CPU
#define PD_SAMPLE_PERIOD         PERF_SAMPLE_PERIOD
#define PD_SAMPLE_STREAM_ID      PERF_SAMPLE_STREAM_ID
#define PD_SAMPLE_RAW            PERF_SAMPLE_RAW
#define PD_SAMPLE_BRANCH_STACK   PERF_SAMPLE_BRANCH_STACK
#define PD_SAMPLE_REGS_USER      PERF_SAMPLE_REGS_USER
#define PD_SAMPLE_STACK_USER     PERF_SAMPLE_STACK_USER
#define PD_SAMPLE_WEIGHT         PERF_SAMPLE_WEIGHT
#define PD_SAMPLE_DATA_SRC       PERF_SAMPLE_DATA_SRC
#define PD_SAMPLE_IDENTIFIER     PERF_SAMPLE_IDENTIFIER
#define PD_SAMPLE_TRANSACTION    PERF_SAMPLE_TRANSACTION
#define PD_SAMPLE_REGS_INTR      PERF_SAMPLE_REGS_INTR
#define PD_SAMPLE_PHYS_ADDR      PERF_SAMPLE_PHYS_ADDR
#define PD_SAMPLE_AUX            PERF_SAMPLE_AUX
#define PD_SAMPLE_CGROUP         PERF_SAMPLE_CGROUP
#define PD_SAMPLE_DATA_PAGE_SIZE PERF_SAMPLE_DATA_PAGE_SIZE
#define PD_SAMPLE_CODE_PAGE_SIZE PERF_SAMPLE_CODE_PAGE_SIZE
#define PD_SAMPLE_WEIGHT_STRUCT  PERF_SAMPLE_WEIGHT_STRUCT
#define PD_SAMPLE_ALL            (2 * PERF_SAMPLE_WEIGHT_STRUCT - 1) /* all of the above */

/* The first fields of a sample, one word each. */
#define PD_SAMPLE_PLAIN                                                                            \
	(PD_SAMPLE_IDENTIFIER | PD_SAMPLE_IP | PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_ADDR |   \
	 PD_SAMPLE_ID | PD_SAMPLE_STREAM_ID | PD_SAMPLE_CPU | PD_SAMPLE_PERIOD)

/* The fields at the end of every record but SAMPLE if sample_id_all is set. */
#define PD_SAMPLE_TRAILER                                                                          \
	(PD_SAMPLE_TID | PD_SAMPLE_TIME | PD_SAMPLE_ID | PD_SAMPLE_STREAM_ID | PD_SAMPLE_CPU |     \
	 PD_SAMPLE_IDENTIFIER)

/* perf_event_attr.read_format */
#define PD_READ_ENABLED PERF_FORMAT_TOTAL_TIME_ENABLED
#define PD_READ_RUNNING PERF_FORMAT_TOTAL_TIME_RUNNING
#define PD_READ_ID      PERF_FORMAT_ID
#define PD_READ_GROUP   PERF_FORMAT_GROUP
#define PD_READ_LOST    PERF_FORMAT_LOST
#define PD_READ_ALL     (2 * PERF_FORMAT_LOST - 1) /* all of the above */

/* perf_event_attr.branch_sample_type: only bits that change the layout of a sample */
#define PD_BRANCH_HW_INDEX PERF_SAMPLE_BRANCH_HW_INDEX
#define PD_BRANCH_COUNTERS (1u << 19) /* Linux 6.8 */

/* Bits of perf_event_attr.flags: the bit fields at offset 40, lowest first. */
#define PD_ATTR_EXCLUDE_USER   (1ull << 4)
#define PD_ATTR_EXCLUDE_KERNEL (1ull << 5)
#define PD_ATTR_EXCLUDE_HV     (1ull << 6)
#define PD_ATTR_FREQ           (1ull << 10)
#define PD_ATTR_PRECISE_SHIFT  15
#define PD_ATTR_SAMPLE_ID_ALL  (1ull << 18)
#define PD_ATTR_EXCLUDE_HOST   (1ull << 19)
#define PD_ATTR_EXCLUDE_GUEST  (1ull << 20)

/* Bits of the feature bitmap, and feat_id of FEATURE records. */
enum {
	PD_FEAT_TRACING_DATA = 1,
	PD_FEAT_BUILD_ID,
	PD_FEAT_HOSTNAME,
	PD_FEAT_OS_RELEASE,
	PD_FEAT_VERSION,
	PD_FEAT_ARCH,
	PD_FEAT_NR_CPUS,
	PD_FEAT_CPU_DESC,
	PD_FEAT_CPUID,
	PD_FEAT_TOTAL_MEM,
	PD_FEAT_CMDLINE,
	PD_FEAT_EVENT_DESC,
	PD_FEAT_CPU_TOPOLOGY,
	PD_FEAT_NUMA_TOPOLOGY,
	PD_FEAT_BRANCH_STACK,
	PD_FEAT_PMU_MAPPINGS,
	PD_FEAT_GROUP_DESC,
	PD_FEAT_AUXTRACE,
	PD_FEAT_STAT,
	PD_FEAT_CACHE,
	PD_FEAT_SAMPLE_TIME,
	PD_FEAT_MEM_TOPOLOGY,
	PD_FEAT_CLOCKID,
	PD_FEAT_DIR_FORMAT,
	PD_FEAT_BPF_PROG_INFO,
	PD_FEAT_BPF_BTF,
	PD_FEAT_COMPRESSED,
	PD_FEAT_CPU_PMU_CAPS,
	PD_FEAT_CLOCK_DATA,
	PD_FEAT_HYBRID_TOPOLOGY,
	PD_FEAT_PMU_CAPS,
	PD_FEAT_CPU_DOMAIN_INFO,

	/* Android's simpleperf. Source: record_file.h of platform/system/extras/simpleperf. */
	PD_FEAT_SIMPLEPERF_FILE = 128,
	PD_FEAT_SIMPLEPERF_META_INFO = 129,

	/*
	 * tare's own, from the exact engine; perf ignores unknown bits.
	 *
	 *	TARE_EXACT, offset  bytes  what
	 *	0                   4      version: 1
	 *	4                   4      n: number of events
	 *	8                   8 n    total count of each event, in the order of
	 *	                           EVENT_DESC; PD_NO_TOTAL: not known
	 */
	PD_FEAT_TARE_EXACT = 240,

	/*
	 * Counts of each event per instruction. An instruction is identified by its offset in
	 * its file, as in mappings.
	 *
	 *	TARE_PLACES, offset  bytes  what
	 *	0                    4      version: 1
	 *	4                    4      n: number of events, the same ones as in TARE_EXACT
	 *	8                    4      m: number of modules
	 *	12                   4      0
	 *	16                   8 n    by event: its count in code outside any file
	 *	16 + 8 n                    m modules: u64 instructions; u64 bytes of their numbers; string path; the numbers
	 *
	 * The numbers of an instruction: its offset, relative to the previous one (at first 0), and
	 * per event its encoded count: 0 for 0, 1 for the same as the last count other than 0 in
	 * this module (initially 0), else the count + 1. Each number is in base 128, the lowest
	 * digit first, with 0x80 set on all but the last. The counts of an event add up to its
	 * total in TARE_EXACT.
	 */
	PD_FEAT_TARE_PLACES = 241,

	/*
	 * Processes that the exact engine counted only partly: the rest of their run, and the
	 * processes they started then, have no samples.
	 *
	 *	TARE_PARTIAL, offset  bytes  what
	 *	0                     4      version: 1
	 *	4                     4      n: number of all such processes
	 *	8                     4      m: number in the list: all, 16 at most
	 *	12                           m processes: u32 pid (0: not known); u32 number;
	 *	                             u32 1: the engine ended it, 0: it continued without
	 *	                             the engine; string program; string reason
	 */
	PD_FEAT_TARE_PARTIAL = 242,

	PD_FEAT_BITS = 256,
};

#define PD_NO_TOTAL UINT64_MAX

/*
 * Context markers of a call chain, which separate its contexts; all are values above
 * PD_CONTEXT_MAX.
 */
#define PD_CONTEXT_MAX ((uint64_t)-4095)

/* Of TARE_PLACES. */
enum { PD_PLACES_VERSION = 1, PD_PLACES_EVENTS_MOST = 64 };

#endif
