/* SPDX-License-Identifier: MIT */
/*
 * Passes samples from the engine to tare. Each thread slot has a ring that its thread writes and
 * tare reads; the thread waits while the ring is full, so nothing is lost. Other information for
 * the reader (programs, forks, mappings) is in one list.
 *
 *	in a thread slot, offset    what
 *	SAMPLE_RING                 struct sample_ring
 *	SAMPLE_DRAFT                the draft of a sample: a struct sample_record
 *	SAMPLE_BYTES                the ring's bytes, up to the counters
 */
#ifndef EXACT_SAMPLES_H
#define EXACT_SAMPLES_H

#include <stdint.h>
#include "exact/classes.h"

enum {
	SAMPLE_RING = 0x40000,
	SAMPLE_DRAFT = 0x41000,
	SAMPLE_BYTES = 0x80000,
	SAMPLE_BYTES_SIZE = 0x80000,
	SAMPLE_CHAIN_MAX = 127,
	SAMPLE_STACK_MAX = 65528, /* the same limit as perf_event_attr.sample_stack_user */
	SAMPLE_PEEKS = 16,
	SAMPLE_REGISTERS = 17, /* rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15, flags */
	SAMPLE_EVENTS = 8,     /* events sampled in one run */
	COUNTDOWNS = SAMPLE_EVENTS + 1, /* and the one of engine/callback.c */
};

/* The sampled events: in the shared state, written once before the command starts. */
struct every {
	struct every_event {
		uint64_t n; /* distance between samples */
		uint32_t class, pad;
	} event[COUNTDOWNS];
	uint32_t n_events;    /* 0: nothing is sampled */
	uint32_t jitter;      /* or one in every n, at a pseudorandom position */
	uint64_t first, most; /* per thread, if there is one event: 0: n; 0: no limit */
	uint64_t only;        /* a thread's descent; 0: all */
	uint32_t stack, chain;
	uint32_t counts, counts_once, registers;
	uint32_t n_peek, peek_fs;
	uint64_t peek[SAMPLE_PEEKS];
	volatile uint32_t nobody;  /* tare no longer reads the rings */
	volatile uint32_t waiting; /* a ring is half full */
	volatile uint32_t said;    /* tare has been notified */
};

struct sample_ring {
	volatile uint64_t head;  /* bytes written so far */
	volatile uint64_t tail;  /* bytes read so far */
	volatile uint32_t moved; /* futex: incremented with tail */
	/* ticks: the record being written has this time or a later one; 0: none is */
	volatile uint64_t since;
};

enum {
	SAMPLE_HAS_ADDRESS = 1,
	SAMPLE_HAS_COUNTS = 2,
	SAMPLE_HAS_REGISTERS = 4,
	SAMPLE_HAS_PEEKS = 128,
	/* The kind of access. */
	SAMPLE_READS = 8,
	SAMPLE_WRITES = 16,
	SAMPLE_LOCKED = 32,
	SAMPLE_PREFETCHES = 64,
	/* Branches. */
	SAMPLE_HAS_TARGET = 256,
	SAMPLE_HAS_OUTCOME = 512,
	SAMPLE_TAKEN = 1024,
	SAMPLE_OPERAND = SAMPLE_HAS_ADDRESS | SAMPLE_READS | SAMPLE_WRITES | SAMPLE_LOCKED |
		SAMPLE_PREFETCHES,
};

/*
 * One sample; then, each as requested: counts and path, registers, fs base, rseq area and peeked
 * memory, chain, stack.
 */
struct sample_record {
	uint32_t size; /* total size, a multiple of 8 */
	uint32_t has;
	uint32_t serial, born; /* of its process; of the thread */
	uint64_t stable_id;
	int32_t pid, tid;
	uint64_t number; /* in its event, from 1 */
	uint64_t tsc, pc, address;
	uint64_t bytes;        /* size of the access at `address`; 0: unknown */
	uint64_t target;       /* the target of a branch */
	uint32_t chain, stack; /* number of entries; of bytes */
	uint32_t event;        /* index in struct every */
	/* by class, what one execution of the surrounding straight run of code adds */
	uint8_t adds[20];
};

_Static_assert(EXACT_CLASSES <= 20, "struct sample_record");

enum happening_kind { HAPPENED_PROGRAM = 1, HAPPENED_FORK, HAPPENED_MAPPING, HAPPENED_NAME };

/* The file and offset of a shared mapping (MAP_SHARED), which shows what others write. */
struct shared_part {
	uint64_t inode; /* 0: not shared */
	uint64_t dev, offset;
};

struct happening {
	volatile uint32_t ready; /* enum happening_kind, written last */
	uint32_t serial, parent;
	int32_t pid;
	uint32_t born; /* of a name: the thread, and */
	int32_t tid;
	uint64_t tsc, start, end;
	uint32_t mapping;
	/*
	 * of a program, or of a thread; [stack:TID] if a mapping is the stack of a thread other
	 * than the first
	 */
	char name[24];
	uint32_t data; /* a mapping that is accessed, not executed */
	struct shared_part shared;
};

#endif
