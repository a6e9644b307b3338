/* SPDX-License-Identifier: MIT */
/*
 * Finds cache lines that threads take from each other, and whether they have to: from sampled
 * accesses of any vendor, with or without HITM information.
 *
 * The accesses of a line are sorted by time. Where one thread follows another and one of the two
 * stores, the line had to move: a switch. The switch is for the same bytes if the two accesses
 * overlap. Bytes that only one thread uses, or that no thread writes, would not make the line move.
 * If they share a line with bytes that other threads write, that is false sharing; if one thread
 * writes bytes that another uses, it is true sharing. The number of switches, compared with that of
 * shuffled accesses, distinguishes concurrent sharing from a line that is handed over.
 *
 * Threads that seldom run at the same time, as on a busy machine, show few switches on any line. So
 * a line with few is compared with everything that its threads did. A line that each thread uses
 * the whole time that it runs, turn after turn, becomes contended as soon as the threads run at the
 * same time; a line that is handed over is used by each for a part of its time. After only a few
 * turns this can be decided only if threads ran, and did not use the line, while another had it;
 * otherwise there is no verdict.
 *
 * Programs have phases: if the whole run shows no contention, parts of it are judged separately.
 * The owners of bytes are decided only if the same bytes were seen often enough, and in enough
 * turns.
 */
#ifndef MEMORY_SHARING_SHARING_H
#define MEMORY_SHARING_SHARING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "tare/access.h"

/*
 * The possible bytes of an access of unknown size: as many as an AVX access of memcpy, or a pair of
 * arm64 vectors.
 */
enum { SHARING_WIDE = 32 };

/*
 * Bytes of memory until everything is judged: for each access (for each line that it touches), and
 * for each line (a third more with physical addresses). Results come on top: about 300 for each
 * cell.
 */
enum { SHARING_MEMORY_EACH = 44, SHARING_MEMORY_LINE = 72 };

enum sharing_verdict {
	SHARING_NONE, /* one thread only, or no stores */
	/*
	 * threads use bytes of their own, or read-only bytes, next to bytes that another thread
	 * writes
	 */
	SHARING_FALSE,
	SHARING_TRUE, /* threads use the same bytes */
	SHARING_BOTH,
	SHARING_MIGRATORY, /* by one thread after another, not at the same time */
	SHARING_UNCLEAR,   /* too few samples to tell */
	/*
	 * shared, in the way that `kind` says; without times it is not known whether at the same
	 * time
	 */
	SHARING_UNTIMED,
};

/* One thread's accesses to a range of bytes from one place in the code. */
struct sharing_cell {
	uint8_t offset;
	uint16_t size; /* bytes in the line; 0: not known */
	uint32_t pid, tid;
	uint64_t ip;
	uint64_t time_ns; /* of one of them; UINT64_MAX: not known */
	bool kernel;
	uint64_t loads, stores;          /* samples; an update counts as both */
	uint64_t hitm;                   /* found the line modified in another core's cache */
	uint64_t latency_sum, latency_n; /* cycles, summed over those that were measured */
};

struct sharing_line {
	uint64_t address; /* of its first byte: virtual, or physical if `physical` */
	uint32_t pid;     /* owner of the virtual address; 0 in the kernel, and if physical */
	bool physical;
	uint64_t
		/* its first byte's virtual address in process `seen_by`; 0 if no access had one */
		seen_at;
	uint32_t seen_by;
	uint64_t time_ns; /* of its last access; UINT64_MAX: not known */
	enum sharing_verdict verdict;
	double confidence; /* 0 to 1: confidence in the verdict */
	/* ... and in the owners of the bytes; for FALSE, TRUE, BOTH and UNTIMED */
	double bytes_confidence;
	enum sharing_verdict kind; /* for UNTIMED: FALSE, TRUE or BOTH */
	/* ... for which an access of SHARING_WIDE bytes would make it another kind */
	bool sizes_open;
	/*
	 * its threads use it the whole time that they run, but seldom run at once: the verdict is
	 * for when they do
	 */
	bool in_turns;
	/*
	 * its threads took turns, too few to distinguish that from a hand-over, or the owners of
	 * its bytes are unclear: no verdict
	 */
	bool few_turns;
	bool few_bytes; /* too few samples of the same bytes to find their owners: no verdict */
	bool seldom;    /* it moved a few times only: no verdict */
	uint64_t part;  /* the verdict is for a part of the time: its samples; 0: for all */
	/*
	 * 0 to 1: share of what the threads did that was done while using it, less the uncertainty
	 * of few turns
	 */
	double steady;
	uint64_t samples, loads, stores, hitm;
	uint64_t switches_true, switches_false; /* to the same bytes; to others; 0 where UNTIMED */
	uint64_t switches_open;                 /* of the false: depends on an unknown size */
	double expected;      /* expected switches for shuffled accesses; 0 if there are no times */
	uint32_t threads;     /* number that accessed it */
	size_t cell, n_cells; /* sharing_cells() from this index on: by offset, then thread */
};

struct sharing_options {
	uint32_t line_size; /* bytes, a power of two up to 256; 0: 64 */
	uint32_t least;     /* lines with fewer samples are only counted; 0: 4 */
};

struct sharing;

struct sharing *sharing_new(const struct sharing_options *opt, struct tare_error *err);
/*
 * The position of an access in a shared file mapping: it matches processes that map the file at
 * different addresses.
 */
struct sharing_file {
	uint32_t number;
	uint64_t offset;
};

/*
 * Loads, stores and updates with an address count in every line that they touch; others are
 * ignored. `file` may be NULL; a physical address takes precedence over it. Of an access larger
 * than 1 MiB only that much is used, and over all accesses at most 4194304 lines beyond the first
 * of each: totals say if it was less.
 */
int sharing_add(struct sharing *s, const struct tare_access *a, const struct sharing_file *file,
		struct tare_error *err);
/* Judges all lines. Results are available afterwards; nothing may be added. */
int sharing_finish(struct sharing *s, struct tare_error *err);
/* Lines used by several threads with at least one store, the most contended first. */
const struct sharing_line *sharing_lines(const struct sharing *s, size_t *n);
const struct sharing_cell *sharing_cells(const struct sharing *s);
/*
 * How many accesses were used; how many of them had no time; whether any hardware reported modified
 * lines.
 */
struct sharing_totals {
	uint64_t used, passed_over, without_time, lines;
	uint64_t cut_short; /* of `used`: too large to look at all its lines */
	uint64_t
		/* lines of several threads with a store that have fewer samples than `least` */
		too_few;
	uint32_t processes;                            /* of the accesses used */
	bool knows_hitm, knows_physical, knows_shared; /* of some; shared: in a file */
};
struct sharing_totals sharing_totals(const struct sharing *s);
void sharing_free(struct sharing *s);

/*
 * Of so many accesses to some bytes one thread made `his`, and so many stored. Except for a tenth
 * (initialization, summing up, rare writes), did one thread make all of them, or did no thread
 * write? Then no thread takes these bytes from another.
 */
bool sharing_apart(uint64_t hits, uint64_t his, uint64_t stores);
const char *sharing_verdict_name(enum sharing_verdict v);

#endif
