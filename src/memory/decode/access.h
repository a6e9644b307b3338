/* SPDX-License-Identifier: MIT */
/*
 * Converts each vendor's hardware format to the common form of include/tare/access.h. All functions
 * are pure, except for the reader in access.c, which walks a perf.data file and calls them.
 */
#ifndef MEMORY_DECODE_ACCESS_H
#define MEMORY_DECODE_ACCESS_H

#include "perfdata/ibs.h"
#include "perfdata/perfdata.h"
#include "perfdata/spe.h"
#include "tare/access.h"

/*
 * What the reader could not decode: perfdata_undecoded(), including Arm SPE. Valid as long as `a`.
 */
const struct perfdata *accesses_file(const struct tare_accesses *a);

/* The fields of every sample: task, time, CPU, instruction address. */
void access_common(const struct perfdata_record *rec, struct tare_access *out);

/*
 * From the kernel's own fields: data address, data source, weights. False if they describe no
 * access. `amd`: weights have the meaning that Linux gives them for IBS.
 */
bool access_from_sample(const struct perfdata_record *rec, bool amd, struct tare_access *out);

/*
 * From an event that counts branches or mispredicted branches: the branch, and the outcome from the
 * branch records (LBR) if they were recorded and the newest is of this branch. False for other
 * events. `intel`: core PMU events have Intel's encodings.
 */
bool access_from_branch(const struct perfdata_record *rec, bool intel, struct tare_access *out);

/*
 * The exact engine's raw bytes of a sample: the size of a memory access, or the target of a branch.
 * False: no such data.
 */
bool access_from_exact(const struct perfdata_record *rec, struct tare_access *out);

/* From IBS registers; false if they hold no sample. Call access_common() first. */
bool access_from_ibs(const struct ibs *s, struct tare_access *out);

/* The meaning of a core's data source codes: row `code`, valid if `has` is not 0. */
enum { SPE_CODES = 32 };

struct spe_codes {
	struct {
		uint32_t has; /* TARE_ACCESS_PLACE, _DISTANCE, _SNOOP */
		enum tare_access_place place;
		enum tare_access_distance distance;
		enum tare_access_snoop snoop;
	} code[SPE_CODES];
};

/* By MIDR_EL1, from data/spe-sources.txt; false if that core's codes are not known. */
bool spe_codes_of(uint64_t midr, struct spe_codes *out);

/* From an SPE record, without time, task and CPU; `codes` may be NULL. */
void access_from_spe(const struct spe_record *r, const struct spe_codes *codes,
		     struct tare_access *out);

static inline void access_latency(struct tare_access *a, enum tare_access_latency which,
				  uint32_t cycles)
{
	a->has_latency |= 1u << which;
	a->latency[which] = cycles;
}

static inline void access_served(struct tare_access *a, enum tare_access_place place)
{
	a->has |= TARE_ACCESS_PLACE;
	a->place = place;
}

static inline void access_distance(struct tare_access *a, enum tare_access_distance distance)
{
	a->has |= TARE_ACCESS_DISTANCE;
	a->distance = distance;
}

static inline void access_snoop(struct tare_access *a, enum tare_access_snoop snoop)
{
	a->has |= TARE_ACCESS_SNOOP;
	a->snoop = snoop;
}

static inline void access_tlb(struct tare_access *a, enum tare_access_tlb tlb)
{
	a->has |= TARE_ACCESS_TLB;
	a->tlb = tlb;
}

#endif
