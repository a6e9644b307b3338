/* SPDX-License-Identifier: MIT */
/*
 * The feature sections of a perf.data, decoded: recorder, command and machine. Strings live as long
 * as the reader. The members of an absent or damaged feature are 0 or NULL.
 */
#ifndef PERFDATA_PERFDATA_FEATURES_H
#define PERFDATA_PERFDATA_FEATURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "exact/exact.h"
#include "perfdata/perfdata_format.h"
#include "exact/exact_places.h"

struct perfdata;

struct perfdata_section {
	uint64_t offset, size;
};

struct perfdata_strings {
	const char **s;
	size_t n;
};

struct perfdata_build_id_row {
	int32_t pid;
	uint16_t misc;
	uint8_t id[20], id_size;
	const char *file;
};

struct perfdata_cpu_row {
	uint32_t core, socket, die;
};

struct perfdata_node_row {
	uint32_t node;
	uint64_t total_kb, free_kb;
	const char *cpus;
};

struct perfdata_cache_row {
	uint32_t level, line_size, sets, ways;
	const char *type, *size, *cpus;
};

struct perfdata_group_row {
	const char *name;
	uint32_t leader, members; /* event indexes: leader to leader + members - 1 */
};

struct perfdata_pmu_row {
	uint32_t type;
	const char *name;
};

struct perfdata_pair { /* a capability; a hybrid PMU and its CPUs; simpleperf's meta info */
	const char *name, *value;
};

struct perfdata_caps {
	const char *pmu;
	struct perfdata_pair *cap;
	size_t n;
};

struct perfdata_memory_row {
	uint64_t node, size; /* size in blocks, bits of `blocks` */
	uint64_t n_words;
	const uint64_t *blocks;
};

struct perfdata_feature_bytes {
	struct perfdata_section at; /* in the file; offset 0 in a pipe */
	const unsigned char *bytes; /* NULL if not loaded (TRACING_DATA) */
};

struct perfdata_features {
	uint64_t present[PD_FEAT_BITS / 64];
	uint64_t damaged[PD_FEAT_BITS / 64];
	struct perfdata_feature_bytes raw[PD_FEAT_BITS];

	struct perfdata_build_id_row *build_ids;
	size_t n_build_ids;
	const char *hostname, *os_release, *version, *arch, *cpu_desc, *cpuid;
	uint32_t cpus_available, cpus_online;
	uint64_t total_mem_kb;
	struct perfdata_strings cmdline;
	size_t n_event_desc; /* the names are stored in the events */
	struct perfdata_strings core_siblings, thread_siblings, die_siblings;
	struct perfdata_cpu_row *cpus;
	size_t n_cpus;
	bool has_dies;
	struct perfdata_node_row *nodes;
	size_t n_nodes;
	struct perfdata_pmu_row *pmus;
	size_t n_pmus;
	struct perfdata_group_row *groups;
	size_t n_groups;
	struct perfdata_section
		*auxtrace; /* offset and size of each AUXTRACE record with its data */
	size_t n_auxtrace;
	struct perfdata_cache_row *caches;
	size_t n_caches;
	uint64_t first_sample_time, last_sample_time;
	uint64_t memory_block_size;
	struct perfdata_memory_row *memory;
	size_t n_memory;
	uint64_t clock_resolution_ns;
	uint32_t clockid;
	uint64_t clock_wall_ns, clock_ns; /* the same instant by both clocks */
	uint64_t dir_version;
	uint32_t n_bpf_programs, n_btf;
	uint32_t compression_version, compression_type, compression_level, compression_ratio;
	uint32_t compression_mmap_len;
	struct perfdata_pair *cpu_caps;
	size_t n_cpu_caps;
	struct perfdata_pair *hybrid;
	size_t n_hybrid;
	struct perfdata_caps *pmu_caps;
	size_t n_pmu_caps;
	struct perfdata_pair *meta; /* simpleperf */
	size_t n_meta;
	uint64_t *exact_total; /* of the exact engine: per event, PD_NO_TOTAL if not known */
	size_t n_exact_total;
	struct exact_places places; /* ... and by instruction; 0 events: not known */
	/* ... processes that it counted only partly; NULL: none */
	const struct exact_partial *partial;

	/* memory of the above; private */
	uint64_t decoded[PD_FEAT_BITS / 64];
	void *blocks;
	uint64_t loaded; /* bytes of sections in memory */
};

const struct perfdata_features *perfdata_features(const struct perfdata *r);
bool perfdata_has_feature(const struct perfdata *r, unsigned feature);
/* "HOSTNAME", ...; NULL for an unnamed bit. */
const char *perfdata_feature_name(unsigned feature);

/* Decodes one feature; its bytes must stay valid for the reader's life. Private to src/perfdata. */
int feature_decode(struct perfdata *r, unsigned feature, const unsigned char *bytes, size_t n,
		   struct tare_error *err);
/* Zeroed memory that lives as long as the reader; private to src/record. */
void *features_keep(struct perfdata *r, size_t n, size_t each);
void features_free(struct perfdata *r);

#endif
