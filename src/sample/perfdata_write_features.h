/* SPDX-License-Identifier: MIT */
/*
 * The feature sections of a perf.data file that describe the machine, the events and the recording.
 */
#ifndef SAMPLE_PERFDATA_WRITE_FEATURES_H
#define SAMPLE_PERFDATA_WRITE_FEATURES_H

#include "perfdata/perfdata_mapped.h"
#include "sample/sample.h"

enum {
	DEFLATE_MOST = 1 << 20
}; /* maximum size of the contents of one COMPRESSED record: mmap_len of its feature */

struct written_event {
	struct perf_event_attr attr;
	char name[160];
	size_t leader;
	uint64_t *ids;
	size_t n_ids;
};

struct section { /* of the file, in bytes */
	uint64_t offset, size;
};

struct feature_source {
	const char *root;
	char *const *argv;
	const struct written_event *event;
	size_t n_events;
	const struct mapped *mapped; /* NULL: no build ids */
	int clockid;
	const char *cpu_model; /* NULL: this machine's */
	int compress;
	double ratio;               /* of compression */
	uint64_t first_ns, last_ns; /* of samples; 0: unknown */
	const struct section
		*aux; /* the AUXTRACE records: their offsets, and their sizes without the data */
	size_t n_aux;
	const struct sample_outcome *outcome; /* NULL: not known yet */
	struct tare_error *
		/* why the file lacks tracepoint formats; code 0: it has them, or there are none */
		no_fields;
};

struct feature_row {
	unsigned bit;
	/*
	 * Adds the section's bytes; false: the machine does not provide the data, and the section
	 * is left out.
	 */
	bool (*write)(struct text *out, const struct feature_source *from);
	bool early; /* known before the first record */
};

/*
 * A number in the machine's byte order; a string as its padded length, its bytes, and zeros up to a
 * multiple of 64.
 */
void feature_u32(struct text *out, uint32_t v);
void feature_u64(struct text *out, uint64_t v);
bool feature_string(struct text *out, const char *s); /* true */

/*
 * From sysfs: memory, caches and PMUs, with the signature of feature_row: NUMA_TOPOLOGY, CACHE,
 * MEM_TOPOLOGY, CPU_PMU_CAPS, PMU_CAPS.
 */
bool feature_numa(struct text *out, const struct feature_source *from);
bool feature_caches(struct text *out, const struct feature_source *from);
bool feature_memory(struct text *out, const struct feature_source *from);
bool feature_cpu_caps(struct text *out, const struct feature_source *from);
bool feature_pmu_caps(struct text *out, const struct feature_source *from);

/*
 * perfdata_write_places.c: the exact engine's event counts of each instruction, with the signature
 * of feature_row.
 */
bool feature_places(struct text *out, const struct feature_source *from);

/* In order of their bits; terminated by bit 0. */
extern const struct feature_row feature_rows[];

/*
 * The CPU as perf names it in a recording's header: "AuthenticAMD,25,17,1"; on Arm the MIDR of the
 * first CPU. False: unknown.
 */
bool feature_cpuid(char *out, size_t room, const char *root);

#endif
