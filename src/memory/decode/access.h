/* SPDX-License-Identifier: MIT */
/*
 * From what each vendor's hardware writes to one form (include/tare/access.h). Pure, but for the reader
 * in access.c, which walks a perf.data and calls these.
 */
#ifndef MEMORY_DECODE_ACCESS_H
#define MEMORY_DECODE_ACCESS_H

#include "perfdata/ibs.h"
#include "perfdata/perfdata.h"
#include "perfdata/spe.h"
#include "tare/access.h"

/* What the reader could not decode: perfdata_undecoded(), with Arm SPE read. Lives as long as `a`. */
const struct perfdata *accesses_file(const struct tare_accesses *a);

/* What every sample has: task, time, CPU, address of the instruction. */
void access_common(const struct perfdata_record *rec, struct tare_access *out);

/*
 * From the kernel's own fields: data address, data source, weights. False when they say nothing of an access. `amd`: weights
 * have the meaning that Linux gives them for IBS.
 */
bool access_from_sample(const struct perfdata_record *rec, bool amd, struct tare_access *out);

/*
 * From an event that counts branches, or those mispredicted: which branch, and what the branch records (LBR) say of it where they were
 * recorded and the newest is of this one. False for other events. `intel`: events of its core PMUs have the meaning that Intel gives them.
 */
bool access_from_branch(const struct perfdata_record *rec, bool intel, struct tare_access *out);

/* What the exact engine told in a sample's raw bytes: of memory how many bytes it is, of a branch where it leads. False: nothing. */
bool access_from_exact(const struct perfdata_record *rec, struct tare_access *out);

/* From IBS registers; false when they hold no sample. Call access_common() first. */
bool access_from_ibs(const struct ibs *s, struct tare_access *out);

/* What a core's data source codes mean: row `code`, where has is not 0. */
enum { SPE_CODES = 32 };

struct spe_codes {
	struct {
		uint32_t has; /* TARE_ACCESS_PLACE, _DISTANCE, _SNOOP */
		enum tare_access_place place;
		enum tare_access_distance distance;
		enum tare_access_snoop snoop;
	} code[SPE_CODES];
};

/* By MIDR_EL1, from data/spe-sources.txt; false when that core's codes are not known. */
bool spe_codes_of(uint64_t midr, struct spe_codes *out);

/* From a record of SPE, without time, task and CPU; `codes` may be NULL. */
void access_from_spe(const struct spe_record *r, const struct spe_codes *codes, struct tare_access *out);

static inline void access_latency(struct tare_access *a, enum tare_access_latency which, uint32_t cycles)
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
