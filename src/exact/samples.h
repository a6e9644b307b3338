/* SPDX-License-Identifier: MIT */
/*
 * Samples on their way from the engine to tare. Each thread slot has a ring that its thread writes and tare
 * reads; a full one makes the thread wait, so that nothing is lost. What else a reader must know (programs,
 * forks, what is mapped where) stands in one list.
 *
 *	in a thread slot, offset    what
 *	SAMPLE_RING                 struct sample_ring
 *	SAMPLE_DRAFT                the sample that is being made: a struct sample_record
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
	SAMPLE_STACK_MAX = 65528, /* as perf_event_attr.sample_stack_user has it */
	SAMPLE_PEEKS = 16,
	SAMPLE_REGISTERS = 17,    /* rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15, flags */
	SAMPLE_EVENTS = 8,        /* sampled in one run */
};

/* What is sampled: on the board, written once before the command begins. */
struct every {
	struct every_event {
		uint64_t n; /* from one sample to the next */
		uint32_t class, pad;
	} event[SAMPLE_EVENTS];
	uint32_t n_events; /* 0: nothing is sampled */
	uint32_t jitter;   /* or one in every n, at a place by chance */
	uint64_t first, most; /* of each thread, where there is one event: 0: n; 0: no limit */
	uint64_t only;	      /* thread, by its descent; 0: all */
	uint32_t stack, chain;
	uint32_t counts, counts_once, registers;
	uint32_t n_peek, peek_fs;
	uint64_t peek[SAMPLE_PEEKS];
	volatile uint32_t nobody; /* reads the rings any more */
	volatile uint32_t waiting; /* some ring is half full */
	volatile uint32_t said;    /* tare has been told so */
};

struct sample_ring {
	volatile uint64_t head; /* bytes ever written */
	volatile uint64_t tail; /* bytes ever read */
	volatile uint32_t moved; /* futex: goes up with tail */
	volatile uint64_t since; /* ticks: what is being written now is of this time or a later one; 0: nothing is */
};

enum {
	SAMPLE_HAS_ADDRESS = 1,
	SAMPLE_HAS_COUNTS = 2,
	SAMPLE_HAS_REGISTERS = 4,
	SAMPLE_HAS_PEEKS = 128,
	/* What the operand is for. */
	SAMPLE_READS = 8,
	SAMPLE_WRITES = 16,
	SAMPLE_LOCKED = 32,
	SAMPLE_PREFETCHES = 64,
	/* Of a branch. */
	SAMPLE_HAS_TARGET = 256,
	SAMPLE_HAS_OUTCOME = 512,
	SAMPLE_TAKEN = 1024,
	SAMPLE_OPERAND = SAMPLE_HAS_ADDRESS | SAMPLE_READS | SAMPLE_WRITES | SAMPLE_LOCKED | SAMPLE_PREFETCHES,
};

/* One sample; behind it, each as far as it is there: counts and path, registers, base of fs, area of rseq and what was peeked at, chain, stack. */
struct sample_record {
	uint32_t size; /* of all of it, a multiple of 8 */
	uint32_t has;
	uint32_t serial, born; /* its process; the thread */
	uint64_t descent;
	int32_t pid, tid;
	uint64_t number; /* of its event; the first is 1 */
	uint64_t tsc, pc, address;
	uint64_t bytes;	 /* that it accesses, from `address` on; 0: not known */
	uint64_t target; /* where a branch leads */
	uint32_t chain, stack; /* entries; bytes */
	uint32_t event;	       /* of struct every */
	uint8_t adds[20]; /* by class, what one execution of the straight run of code around it adds */
};

_Static_assert(EXACT_CLASSES <= 20, "struct sample_record");

enum happening_kind { HAPPENED_PROGRAM = 1, HAPPENED_FORK, HAPPENED_MAPPING, HAPPENED_NAME };

/* Of which file a mapping shows what others write there, too (MAP_SHARED), from where on. */
struct shared_part {
	uint64_t inode; /* 0: it is no such mapping */
	uint64_t dev, offset;
};

struct happening {
	volatile uint32_t ready; /* enum happening_kind, last of all */
	uint32_t serial, parent;
	int32_t pid;
	uint32_t born; /* of a name: the thread, and */
	int32_t tid;
	uint64_t tsc, start, end;
	uint32_t mapping;
	char name[24];	/* of a program, or a thread's own; [stack:TID] where a mapping is the stack of a thread other than the first */
	uint32_t data;	/* a mapping that is accessed, not executed */
	struct shared_part shared;
};

#endif
