/* SPDX-License-Identifier: MIT */
/*
 * AMD's Instruction-Based Sampling: decodes the registers that the kernel puts into the raw data of
 * a sample. Pure functions. Sources: AMD64 Architecture Programmer's Manual volume 2,
 * "Instruction-Based Sampling"; Linux, arch/x86/include/asm/amd/ibs.h for bits that only some
 * families have, and arch/x86/events/amd/ibs.c for those that only some models have.
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
	IBS_CAP_BRANCH_FUSE = 1 << 8, /* introduced together with DATA3's L2 miss */
	IBS_CAP_FETCH_EXTENDED = 1 << 9,
	IBS_CAP_DATA4 = 1 << 10,
	IBS_CAP_ZEN4 = 1 << 11,
	IBS_CAP_LOAD_LATENCY = 1 << 12,
	/*
	 * DATA3 has the page size in its own field, and no TLB information without a physical
	 * address
	 */
	IBS_CAP_PAGE_SIZE = 1 << 19,
};

/* Properties of the recording CPU: extensions and errata of its registers. */
struct ibs_rules {
	bool unknown;  /* model not recorded */
	bool zen4;     /* L3-miss filter, 5-bit data source */
	bool no_state; /* no CacheHitSt: the bit reads 0, which on other models means modified */
	bool no_node;  /* no RmtNode */
	/* DATA3 has no L2 miss, prefetch, width, open requests and TLB latency: they read 0 */
	bool no_l2;
	bool no_fetch_l2; /* no L2 miss of fetches: the bit reads 0 */
	bool no_miss;     /* erratum 1238: the instruction cache miss bit is not valid */
	/* erratum 1293: for some loads DATA2, L2 miss and open requests are not valid */
	bool no_data2;
	bool by_physical; /* the results of a fetch are not valid without a physical address */
	bool pages_16k;   /* erratum 1347: another table of page sizes */
};

struct ibs {
	enum ibs_kind kind;
	uint32_t caps;
	struct ibs_rules rules;
	uint32_t has; /* bit i: register i is present */
	uint64_t reg[IBS_REGISTERS];
};

/* One field of a register. */
struct ibs_field {
	const char *name; /* AMD's name */
	uint8_t reg, shift, width;
	/* Is the field valid with these registers? NULL: always. */
	bool (*valid)(const struct ibs *s);
	/* Converts the register's bits to the value; NULL: the number itself. */
	uint64_t (*value)(const struct ibs *s, uint64_t bits);
	/* Converts a number to words, NULL if it has none. */
	const char *(*words)(const struct ibs *s, uint64_t value);
};

extern const struct ibs_field ibs_fetch_fields[], ibs_op_fields[]; /* ends with a NULL name */
extern const char *const ibs_fetch_registers[IBS_REGISTERS], *const ibs_op_registers[IBS_REGISTERS];

/* `cpuid`: as in a perf.data, "AuthenticAMD,25,97,2", or NULL. */
struct ibs_rules ibs_rules_of(const char *cpuid, bool zen4);

/*
 * PERF_SAMPLE_RAW of an ibs_fetch or ibs_op event. -EINVAL if the size does not match its
 * capabilities.
 */
int ibs_read(enum ibs_kind kind, const struct ibs_rules *rules, const void *raw, size_t size,
	     struct ibs *out, struct tare_error *err);

/* Enabled and valid: the registers hold a sample. */
bool ibs_valid(const struct ibs *s);

/* The field's value. Check f->valid first. */
uint64_t ibs_field_value(const struct ibs *s, const struct ibs_field *f);

/* A whole register is shown only if its content is valid. */
bool ibs_register_shown(const struct ibs *s, unsigned reg);

/*
 * CacheHitSt is the state in which another cache had a load's line. Not on every model; the dump
 * shows it on all, like perf.
 */
bool ibs_tells_state(const struct ibs *s);

/*
 * DATA3 has the fields introduced after family 15h's first models: L2 miss, prefetch, width, TLB
 * latency. If the model is not known, decided by capabilities.
 */
bool ibs_tells_l2(const struct ibs *s);

/* DATA3 has the results of the first- and second-level TLB. Only with a linear address. */
bool ibs_tells_tlb(const struct ibs *s);

/* DATA3's TLB refill latency is valid. */
bool ibs_tells_refill(const struct ibs *s);

/* The results of a fetch are valid: TLBs, caches, latencies. */
bool ibs_tells_fetch(const struct ibs *s);

/* The fetch's L2 miss bit is valid. */
bool ibs_tells_fetch_l2(const struct ibs *s);

/* The field with that name; NULL if there is none. */
const struct ibs_field *ibs_field_named(enum ibs_kind kind, const char *name);

#endif
