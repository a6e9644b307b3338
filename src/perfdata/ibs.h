/* SPDX-License-Identifier: MIT */
/*
 * AMD's Instruction-Based Sampling: the registers that the kernel puts into the raw data of a sample, and
 * their fields as rows. Pure. Sources: AMD64 Architecture Programmer's Manual volume 2, "Instruction-Based
 * Sampling"; Linux, arch/x86/include/asm/amd/ibs.h for the bits that only some families have, and
 * arch/x86/events/amd/ibs.c for those that only some models have.
 */
#ifndef PERFDATA_IBS_H
#define PERFDATA_IBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

enum ibs_kind { IBS_FETCH, IBS_OP };

/* In the order of the raw data. */
enum ibs_register {
	IBS_FETCH_CTL = 0,
	IBS_FETCH_LINEAR,
	IBS_FETCH_PHYSICAL,
	IBS_FETCH_EXTENDED,

	IBS_OP_CTL = 0,
	IBS_OP_RIP,
	IBS_OP_DATA,
	IBS_OP_DATA2,
	IBS_OP_DATA3,
	IBS_DC_LINEAR,
	IBS_DC_PHYSICAL,
	IBS_BRANCH_TARGET,
	IBS_OP_DATA4,

	IBS_REGISTERS,
};

/* CPUID 8000_001B EAX. */
enum {
	IBS_CAP_BRANCH_TARGET = 1 << 5,
	IBS_CAP_BRANCH_FUSE = 1 << 8, /* came with DATA3's L2 miss */
	IBS_CAP_FETCH_EXTENDED = 1 << 9,
	IBS_CAP_DATA4 = 1 << 10,
	IBS_CAP_ZEN4 = 1 << 11,
	IBS_CAP_LOAD_LATENCY = 1 << 12,
	IBS_CAP_PAGE_SIZE = 1 << 19, /* DATA3 tells the page size in a field of its own, and nothing of the TLB without a physical address */
};

/* Which CPU recorded: extensions and errata of its registers. */
struct ibs_rules {
	bool unknown;  /* its model is not recorded */
	bool zen4;     /* L3-miss filter, data source of five bits */
	bool no_state; /* it has no CacheHitSt: the bit reads 0, which elsewhere says modified */
	bool no_node;  /* it has no RmtNode */
	bool no_l2;    /* of DATA3 it has no L2 miss, prefetch, width, open requests and TLB latency: they read 0 */
	bool no_fetch_l2; /* it has no L2 miss of fetches: the bit reads 0 */
	bool no_miss;  /* erratum 1238: the instruction cache miss bit means nothing */
	bool no_data2; /* erratum 1293: with some loads DATA2, L2 miss and open requests mean nothing */
	bool by_physical; /* what a fetch did means nothing without a physical address */
	bool pages_16k; /* erratum 1347: another table of page sizes */
};

struct ibs {
	enum ibs_kind kind;
	uint32_t caps;
	struct ibs_rules rules;
	uint32_t has; /* bit i: register i is there */
	uint64_t reg[IBS_REGISTERS];
};

/* One field of a register. */
struct ibs_field {
	const char *name; /* AMD's */
	uint8_t reg, shift, width;
	/* Whether it means something in these registers; NULL: always. */
	bool (*valid)(const struct ibs *s);
	/* What stands in the register -> what it says; NULL: the number itself. */
	uint64_t (*value)(const struct ibs *s, uint64_t bits);
	/* A number -> words, NULL where there are none. */
	const char *(*words)(const struct ibs *s, uint64_t value);
};

extern const struct ibs_field ibs_fetch_fields[], ibs_op_fields[]; /* end at a name of NULL */
extern const char *const ibs_fetch_registers[IBS_REGISTERS], *const ibs_op_registers[IBS_REGISTERS];

/* `cpuid`: as a perf.data names it, "AuthenticAMD,25,97,2", or NULL. */
struct ibs_rules ibs_rules_of(const char *cpuid, bool zen4);

/* PERF_SAMPLE_RAW of an ibs_fetch or ibs_op event. -EINVAL when the size does not fit its capabilities. */
int ibs_read(enum ibs_kind kind, const struct ibs_rules *rules, const void *raw, size_t size, struct ibs *out,
	     struct tare_error *err);

/* Enabled and valid: the registers hold a sample. */
bool ibs_valid(const struct ibs *s);

/* The bits of a field, and what they say. Whether the field is valid is asked of f->valid. */
uint64_t ibs_field_value(const struct ibs *s, const struct ibs_field *f);

/* A register as it stands is shown only where it holds what its name says. */
bool ibs_register_shown(const struct ibs *s, unsigned reg);

/* The bit CacheHitSt says in which state another cache had the line of a load. Not on every model; the dump shows it on all, as perf does. */
bool ibs_tells_state(const struct ibs *s);

/* DATA3 has the fields that came after family 15h's first models: L2 miss, prefetch, width, TLB latency. Where the model is not known, by capabilities. */
bool ibs_tells_l2(const struct ibs *s);

/* DATA3 says what the first and second TLB did. With a linear address only. */
bool ibs_tells_tlb(const struct ibs *s);

/* DATA3's latency of filling the TLB means something. */
bool ibs_tells_refill(const struct ibs *s);

/* A fetch says what it did: TLBs, caches, latencies. */
bool ibs_tells_fetch(const struct ibs *s);

/* A fetch says whether it missed L2. */
bool ibs_tells_fetch_l2(const struct ibs *s);

/* The field of that name; NULL when there is none. */
const struct ibs_field *ibs_field_named(enum ibs_kind kind, const char *name);

#endif
