/* SPDX-License-Identifier: MIT */
/*
 * The Arm Statistical Profiling Extension's byte stream in AUX data: packets, and the records that
 * they form. Pure functions; little-endian on any machine. Source: Arm ARM (DDI 0487), chapter "The
 * Statistical Profiling Extension Sample Record Specification".
 *
 *	struct spe_walk w = { .data = bytes, .n = size };
 *	while (spe_next(&w, &rec)) ...
 *	w.skipped, w.headless, w.tail: bytes that were not part of a record
 */
#ifndef PERFDATA_SPE_H
#define PERFDATA_SPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum spe_kind {
	SPE_BAD, /* no packet begins with this byte */
	SPE_PAD,
	SPE_END,
	SPE_TIMESTAMP,
	SPE_EVENTS,
	SPE_SOURCE,
	SPE_CONTEXT,
	SPE_OPERATION,
	SPE_ADDRESS,
	SPE_COUNTER,
};

struct spe_packet {
	enum spe_kind kind;
	uint8_t index; /* index of the address, counter or context; class of the operation */
	uint8_t width; /* bytes of payload */
	uint32_t size; /* total bytes */
	uint64_t payload;
};

/* Indices of addresses and counters. 8 and above occur in extended packets, and are reserved. */
enum {
	SPE_PC,
	SPE_TARGET,
	SPE_DATA_VIRTUAL,
	SPE_DATA_PHYSICAL,
	SPE_PREVIOUS_TARGET,
	SPE_ADDRESSES = 8
};
enum { SPE_TOTAL, SPE_ISSUE, SPE_TRANSLATION, SPE_COUNTERS = 8 };

/* Classes of operations. */
enum { SPE_OTHER, SPE_LOAD_STORE, SPE_BRANCH };

/* Bits of an events packet. */
enum {
	SPE_EV_EXCEPTION = 1 << 0,
	SPE_EV_RETIRED = 1 << 1,
	SPE_EV_L1D_ACCESS = 1 << 2,
	SPE_EV_L1D_REFILL = 1 << 3,
	SPE_EV_TLB_ACCESS = 1 << 4,
	SPE_EV_TLB_WALK = 1 << 5,
	SPE_EV_NOT_TAKEN = 1 << 6,
	SPE_EV_MISPREDICTED = 1 << 7,
	SPE_EV_LLC_ACCESS = 1 << 8,
	SPE_EV_LLC_MISS = 1 << 9,
	SPE_EV_REMOTE = 1 << 10,
	SPE_EV_MISALIGNED = 1 << 11,
	SPE_EV_TRANSACTIONAL = 1 << 16,
	SPE_EV_L2D_ACCESS = 1 << 19,
	SPE_EV_L2D_MISS = 1 << 20,
	SPE_EV_MODIFIED = 1 << 21,
	SPE_EV_RECENTLY_FETCHED = 1 << 22,
	SPE_EV_SNOOPED = 1 << 23,
};

/*
 * Indices of contexts: the exception level of the CONTEXTIDR. Each is written if it is enabled, so
 * there may be both.
 */
enum { SPE_EL1, SPE_EL2, SPE_CONTEXTS = 4 };

/* spe_record.has: addresses from bit 0, counters from bit 8, contexts from bit 24. */
#define SPE_HAS_ADDRESS(i) (1u << (i))
#define SPE_HAS_COUNTER(i) (1u << (SPE_ADDRESSES + (i)))
#define SPE_HAS_CONTEXT(i) (1u << (24 + (i)))
enum {
	SPE_HAS_EVENTS = 1 << 16,
	SPE_HAS_SOURCE = 1 << 17,
	SPE_HAS_OPERATION = 1 << 19,
	SPE_HAS_TIMESTAMP = 1 << 20,
};

/* One sampled operation; members are valid where `has` says so. */
struct spe_record {
	uint32_t has;
	size_t offset;                   /* of its first packet */
	uint64_t address[SPE_ADDRESSES]; /* raw payloads: use spe_address() */
	uint16_t counter[SPE_COUNTERS];  /* cycles; most cores saturate at 4095 */
	uint64_t events, source, timestamp;
	uint32_t context[SPE_CONTEXTS];
	uint8_t class, operation;
};

struct spe_walk {
	const uint8_t *data;
	size_t n, at;
	uint64_t skipped;  /* bytes in damaged records, and from there to the next whole one */
	uint64_t damages;  /* number of such places */
	uint64_t headless; /* records without a PC: their start was before the data */
	size_t tail;       /* bytes of a record that continues past the end */
};

/*
 * Decodes the packet at data[at]. SPE_BAD with size 1 if it is invalid; size 0 if it continues past
 * the n bytes. The alignment packet fills up to a multiple counted from data[0].
 */
struct spe_packet spe_packet(const uint8_t *data, size_t n, size_t at);

/*
 * The next whole record: true and *out. After damage it continues at the next offset with a
 * complete record (PC and operation, no duplicates, closed by END or a timestamp).
 */
bool spe_next(struct spe_walk *w, struct spe_record *out);

/*
 * The 64-bit address of a payload, sign-extended according to its exception level or its own bits.
 */
uint64_t spe_address(unsigned index, uint64_t payload);

#endif
